/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows were chosen over the whole run: one that never is, on any shape, has no place in the table. */
#include "bench.h"

#include <string.h>

#define KERNELS_MAX 128

static struct { unsigned freely, limited; } chosen[KERNELS_MAX]; /* by index in the catalogue */

void chosen_note(const char *kernel, bool under_limit) {
    for (size_t i = 0; i < gp_kernel_count() && i < KERNELS_MAX; i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        GP(gp_kernel_at(i, &info));
        if (strcmp(info.name, kernel) == 0)
            chosen[i].limited += under_limit, chosen[i].freely += !under_limit;
    }
}

static bool is_asked(int32_t operation) {
    for (size_t i = 0; i < gp_kernel_count() && i < KERNELS_MAX; i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        GP(gp_kernel_at(i, &info));
        if (info.operation == operation && chosen[i].freely + chosen[i].limited > 0)
            return true;
    }
    return false;
}

/* Of the operations that the run had. */
void chosen_report(void) {
    printf("\n%-28s %8s %14s\n", "row for the GPU", "chosen", "under limits");
    for (size_t i = 0; i < gp_kernel_count() && i < KERNELS_MAX; i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        GP(gp_kernel_at(i, &info));
        if ((info.flags & GP_KERNEL_GPU) && !(info.flags & GP_KERNEL_STUDY) && is_asked(info.operation))
            printf("%-28s %8u %14u%s\n", info.name, chosen[i].freely, chosen[i].limited,
                   chosen[i].freely == 0 ? "  NEVER freely" : "");
    }
}
