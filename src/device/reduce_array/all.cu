/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_all, and their launcher. */
#include "all.cuh"

/* The row counts threads, vectors and shared memory. */
static_assert(floats<2, false, true>::VECTORS == 2, "f16, bf16");
static_assert(floats<2, false, false>::column() == GP_ALL_COLUMN_FLOATS, "f16, bf16, f32");
static_assert(floats<8, false, false>::column() == GP_ALL_COLUMN_F64, "f64");
static_assert(floats<2, true, true>::column() == GP_ALL_COLUMN_SQUARES && floats<2, true, true>::VECTORS == 1,
              "squares");
static_assert(LOADS == GP_REDUCE_ALL_VECTORS, "what a thread loads at once");
static_assert(sizeof(reduce_space) + sizeof(floats_partial<4, true>) / 4 * 8 * GP_REDUCE_ALL_GRID_MAX <=
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
    (const void *)reduce_all_floats<2, false, false>,
    (const void *)reduce_all_floats<4, false, false>,
    (const void *)reduce_all_floats<8, false, false>,
    (const void *)reduce_all_floats<2, false, true>,
    (const void *)reduce_all_floats<4, false, true>,
    (const void *)reduce_all_floats<2, true, true>,
    (const void *)reduce_all_floats<4, true, true>,
};

gp_status gp_reduce_all(gp_context *context, const gp_plan *plan, reduce_arguments *arguments) {
    arguments->dealt = plan->tiling.t[GP_REDUCE_ALL_DEALT];
    void *list[] = {arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form], list);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_all) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    return gp_reduce_all(context, plan, &arguments);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_all_singles) {
    return gp_launch_reduce_all(context, plan, problem);
}
