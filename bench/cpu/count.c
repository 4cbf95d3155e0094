/* SPDX-License-Identifier: Apache-2.0 */
/* Small jobs in cache for a tool that counts instructions: no timing, no threads. */
#include "bench.h"

#include <string.h>

static const struct {
    const char *name;
    job job;
} cases[] = {
    {"sum", {.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = (size_t)1 << 18}},
    {"min", {.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_MIN, .n = (size_t)1 << 18}},
    {"sum-of-one", {.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = 1}},
    {"window-3", {.operation = GP_OPERATION_WINDOW, .rows = 64, .cols = 1024, .elem_bytes = 4, .window = 3}},
    {"window-101", {.operation = GP_OPERATION_WINDOW, .rows = 64, .cols = 1024, .elem_bytes = 4, .window = 101}},
    {"transpose-1", {.operation = GP_OPERATION_TRANSPOSE, .rows = 512, .cols = 512, .elem_bytes = 1}},
    {"transpose-4", {.operation = GP_OPERATION_TRANSPOSE, .rows = 256, .cols = 256, .elem_bytes = 4}},
    {"transpose-16", {.operation = GP_OPERATION_TRANSPOSE, .rows = 128, .cols = 128, .elem_bytes = 16}},
};

void count_list(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const job *j = &cases[i].job;
        for (size_t k = 0; k < gp_kernel_count(); k++) {
            gp_kernel_info info = {.struct_size = sizeof info};
            GP(gp_kernel_at(k, &info));
            const size_t elements = j->n + j->rows * j->cols;
            if (!(info.flags & (GP_KERNEL_GPU | GP_KERNEL_STUDY)) && (size_t)info.operation == j->operation)
                printf("%s %s %zu\n", cases[i].name, info.name, elements);
        }
    }
}

int count_calls(const char *name, const char *kernel, unsigned calls) {
    memory m = {0};
    gp_context *context = NULL;
    const gp_options wish = {.struct_size = sizeof wish, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = 1};
    size_t i = 0;
    while (i < sizeof cases / sizeof *cases && strcmp(cases[i].name, name) != 0)
        i++;
    if (i == sizeof cases / sizeof *cases)
        die(name, "no such case");
    const size_t bytes = (size_t)1 << 20;
    memory_open(&m);
    memory_prepare(&m, DATA_16_BIT, bytes, bytes, 2, 0);
    GP(gp_context_create(&context, &wish));
    GP(gp_context_pin_kernel(context, kernel, 0));
    for (unsigned call = 0; call < calls; call++) {
        int64_t result;
        if (job_call(context, &cases[i].job, &m, 0, &result) != GP_OK)
            return 77; /* a row that this machine, or the tool's idea of it, cannot run */
    }
    gp_context_destroy(context);
    memory_free(&m);
    return 0;
}
