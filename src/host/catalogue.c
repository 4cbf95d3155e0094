/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue: the tables of rows, numbered through, and gp_kernel_count/at, which show them to users. */
#include "copy_out.h"
#include "primitive.h"
#include "status.h"
#include <string.h>

size_t gp_primitive_index(const gp_primitive *primitive) {
    size_t i = 0;
    while (gp_primitive_at(i) != primitive)
        i++;
    return i;
}

const gp_kernel *gp_catalogue_at(size_t index, const gp_primitive **of) {
    const gp_primitive *primitive;
    for (size_t i = 0; (primitive = gp_primitive_at(i)) != NULL; i++) {
        const gp_rows rows = gp_primitive_rows(primitive);
        if (of != NULL)
            *of = primitive;
        if (index < rows.count + rows.study_count)
            return gp_rows_at(rows, index);
        index -= rows.count + rows.study_count;
    }
    return NULL;
}

const gp_kernel *gp_catalogue_find(const char *name, const gp_primitive **of) {
    const gp_kernel *row;
    for (size_t i = 0; (row = gp_catalogue_at(i, of)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

size_t gp_kernel_count(void) {
    size_t count = 0;
    while (gp_catalogue_at(count, NULL) != NULL)
        count++;
    return count;
}

gp_status gp_kernel_at(size_t index, gp_kernel_info *info) {
    GP_TRY(gp_check_struct("info", info, sizeof *info));
    const gp_primitive *of;
    const gp_kernel *row = gp_catalogue_at(index, &of);
    if (row == NULL)
        return gp_fail(GP_ERR_ARGUMENT, "index: %zu, but there are %zu kernels", index, gp_kernel_count());
    const gp_kernel_info known = {
        .struct_size = sizeof known,
        .name = row->name,
        .about = row->about,
        .operation = (int32_t)of->operation,
        .flags = row->flags | (row->space == GP_SPACE_GPU ? GP_KERNEL_GPU : 0),
        .regs_per_thread = row->regs_per_thread,
        .smem_static = row->smem_static,
    };
    gp_copy_out(info, &known, sizeof known);
    return GP_OK;
}
