/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue: the tables of rows, numbered through, and gp_kernel_count/at, which show them to users. */
#include "copy_out.h"
#include "kernel.h"
#include "status.h"
#include <string.h>

gp_rows gp_catalogue_rows(gp_operation operation) {
    switch (operation) {
    case GP_OPERATION_REDUCE:
        return (gp_rows){gp_reduce_rows, gp_reduce_row_count, gp_reduce_study_rows, gp_reduce_study_row_count};
    case GP_OPERATION_WINDOW:
        return (gp_rows){gp_window_rows, gp_window_row_count, gp_window_study_rows, gp_window_study_row_count};
    case GP_OPERATION_TRANSPOSE:
        return (gp_rows){gp_transpose_rows, gp_transpose_row_count, NULL, 0};
    case GP_OPERATION_NONE:
        break;
    }
    return (gp_rows){NULL, 0, NULL, 0};
}

const gp_kernel *gp_catalogue_at(size_t index) {
    for (int operation = GP_OPERATION_REDUCE; operation <= GP_OPERATION_TRANSPOSE; operation++) {
        gp_rows rows = gp_catalogue_rows((gp_operation)operation);
        if (index < rows.count + rows.study_count)
            return gp_rows_at(rows, index);
        index -= rows.count + rows.study_count;
    }
    return NULL;
}

size_t gp_catalogue_count(void) {
    return gp_reduce_row_count + gp_window_row_count + gp_transpose_row_count + gp_reduce_study_row_count +
           gp_window_study_row_count;
}

const gp_kernel *gp_catalogue_find(const char *name) {
    const gp_kernel *row;
    for (size_t i = 0; (row = gp_catalogue_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

size_t gp_kernel_count(void) {
    return gp_catalogue_count();
}

gp_status gp_kernel_at(size_t index, gp_kernel_info *info) {
    GP_TRY(gp_check_struct("info", info, sizeof *info));
    const gp_kernel *row = gp_catalogue_at(index);
    if (row == NULL)
        return gp_fail(GP_ERR_ARGUMENT, "index: %zu, but there are %zu kernels", index, gp_catalogue_count());
    const gp_kernel_info known = {
        .struct_size = sizeof known,
        .name = row->name,
        .about = row->about,
        .operation = (int32_t)row->operation,
        .flags = row->flags | (row->space == GP_SPACE_GPU ? GP_KERNEL_GPU : 0),
        .regs_per_thread = row->regs_per_thread,
        .smem_static = row->smem_static,
    };
    gp_copy_out(info, &known, sizeof known);
    return GP_OK;
}
