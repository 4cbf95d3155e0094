/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_all, and their launcher. */
#include "all.cuh"

static_assert(floats<2, false>::column() == GP_ALL_COLUMN_FLOATS, "the row counts the shared memory");
static_assert(floats<4, false>::column() == GP_ALL_COLUMN_FLOATS, "the row counts the shared memory");
static_assert(floats<8, false>::column() == GP_ALL_COLUMN_F64, "the row counts the shared memory");
static_assert(floats<4, true>::column() == GP_ALL_COLUMN_SQUARES, "the row counts the shared memory");
static_assert(sizeof(reduce_space) + sizeof(floats_total) / 4 * 8 * GP_REDUCE_ALL_GRID_MAX <=
                  GP_REDUCE_ARRAY_SPACE_BYTES,
              "all blocks can send");

/* By gp_reduce_all_form. */
static const void *const kernels[GP_ALL_FORMS] = {
    (const void *)reduce_all<bits>,
    (const void *)reduce_all<extremes<1>>,
    (const void *)reduce_all<extremes<2>>,
    (const void *)reduce_all<extremes<4>>,
    (const void *)reduce_all<extremes<8>>,
    (const void *)reduce_all<integers<1>>,
    (const void *)reduce_all<integers<2>>,
    (const void *)reduce_all<integers<4>>,
    (const void *)reduce_all<integers<8>>,
    (const void *)reduce_all_floats<2, false>,
    (const void *)reduce_all_floats<4, false>,
    (const void *)reduce_all_floats<8, false>,
    (const void *)reduce_all_floats<2, true>,
    (const void *)reduce_all_floats<4, true>,
};

GP_DECLARE_LAUNCHER(gp_launch_reduce_all) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    void *list[] = {&arguments};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return plan->tiling.t[GP_REDUCE_ALL_REST] ? gp_reduce_rest(context, plan, &arguments) : GP_OK;
}
