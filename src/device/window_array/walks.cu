/* SPDX-License-Identifier: Apache-2.0 */
/* window_strip, and its forms of ints, which warps compute. */
#include "walk.cuh"

#include "../../host/window_array/fit.h"

/* WIDER: of data that SUMS do not hold. */
template <class SUMS, class WIDER, int BYTES, int COLUMNS, int CHANNELS, bool USUAL, int BLOCKS>
__global__ void __launch_bounds__(USUAL ? GP_WALK_THREADS : GP_STRIP_THREADS_MAX,
                                  BLOCKS_OF(USUAL ? GP_WALK_THREADS : GP_STRIP_THREADS_MAX, BLOCKS))
    window_walk(const __grid_constant__ strip_arguments a) {
    __shared__ strip_place places[GP_WALK_THREADS / 32];
    const unsigned threads = 32 * a.cut.warps, mine = threadIdx.x / threads,
                   number = blockIdx.x * (blockDim.x / threads) + mine, own = mine * a.cut.warp_bytes;
    strip_place &place = places[mine];
    if (number >= a.cut.number)
        return;
    if (threadIdx.x % threads == 0)
        find_place(a.box, a.cut, number, CHANNELS, &place);
    if (threads > 32)
        __syncthreads();
    else
        __syncwarp();
    gp_grid_dependency_wait();
    unsigned row = 0;
    uint32_t seen = 0;
    bool done = false;
    if constexpr (!USUAL)
        if (a.cut.pack.count > 0) {
            walk<WIDER, BYTES, COLUMNS, CHANNELS, false, WALK_PACKED>(a, place, own).walk_down(0, 0, &seen);
            return;
        }
    walk<SUMS, BYTES, COLUMNS, CHANNELS, USUAL, WALK_TOGETHER> s(a, place, own);
    if (!s.any_of_strip(!s.stands_together())) { /* all warps of a strip go one way, and meet at its barriers */
        row = s.walk_down(0, a.cut.over, &seen);
        done = true;
    } else if constexpr (USUAL && BYTES == 1) {
        walk<SUMS, BYTES, COLUMNS, CHANNELS, USUAL, WALK_ANYWHERE> anywhere(a, place, own);
        walk<SUMS, BYTES, COLUMNS, CHANNELS, USUAL, WALK_GROUPS> groups(a, place, own);
        done = true;
        if (!anywhere.any_of_strip(!anywhere.stands_together()))
            row = anywhere.walk_down(0, a.cut.over, &seen);
        else if (!groups.any_of_strip(!groups.find_groups()))
            row = groups.walk_down(0, a.cut.over, &seen);
        else
            done = false;
    }
    if (!done)
        row = walk<SUMS, BYTES, COLUMNS, CHANNELS, USUAL, WALK_APART>(a, place, own).walk_down(0, a.cut.over, &seen);
    const uint32_t over = ~0u << (__clz((int)(a.cut.area - 1)) - 2); /* sums of up to 30 bits, of squares of 60 */
    if constexpr (BYTES == 4)
        if (row < place.rows && !s.any_of_strip((seen & over) != 0))
            row = walk<walk_long, BYTES, COLUMNS, CHANNELS, USUAL, WALK_APART>(a, place, own)
                      .walk_down(row, over, &seen);
    if constexpr (sizeof(WIDER) > sizeof(SUMS))
        if (row < place.rows)
            walk<WIDER, BYTES, COLUMNS, CHANNELS, false, WALK_APART>(a, place, own).walk_down(row, 0, &seen);
}

static gp_status launch_walks(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
#define FORM(sums, wider, bytes, columns, channels, usual, blocks) \
    (const void *)window_walk<walk_##sums, walk_##wider, bytes, columns, channels, usual, blocks>
    /* by gp_strip_form */
    static const void *const forms[] = {
        FORM(linear, linear, 1, 8, 1, true, 6),  FORM(narrow, narrow, 1, 8, 1, true, 6),
        FORM(long, long, 2, 8, 1, true, 4),      FORM(narrow, widest, 4, 8, 1, true, 4),
        FORM(narrow, narrow, 1, 12, 3, true, 4), NULL, /* means of floats */
        FORM(narrow, narrow, 1, 8, 1, false, 2), FORM(narrow, narrow, 1, 12, 3, false, 2),
        FORM(long, long, 2, 12, 3, false, 2),    FORM(wide, wide, 1, 4, 1, false, 2),
        FORM(wide, wide, 2, 4, 1, false, 2),     FORM(narrow, widest, 4, 8, 1, false, 2)};
    const unsigned form = plan->tiling.form;
    strip_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    for (unsigned r = 0; r < arguments.box.results; r++)
        arguments.result[r] = result_of_windows(problem, &arguments.cut, r);
    arguments.stores = stores_together(problem, arguments.cut.channels);
    const uint32_t all = (1u << arguments.box.results) - 1;
    arguments.moved = arguments.stores != all && stores_together(problem, arguments.cut.channels, 1) == all;
    for (unsigned r = 0; r < arguments.box.results; r++)
        arguments.moved = arguments.moved && problem->box->result[r].type == GP_F32;
    arguments.fours = arguments.cut.pack.count > 0 && arguments.cut.cols % 4 == 0 && arguments.stores == all;
    arguments.fold = fold_of(&arguments.box);
    const bool pivots = arguments.box.type == GP_U8 || arguments.box.type == GP_U16;
    arguments.less = pivots ? (int64_t)arguments.cut.area << (8 * problem->elem_bytes - 1) : 0;
    for (unsigned k = 0; k < 4; k++) {
        const uint32_t begin = arguments.cut.skew + k, end = begin + arguments.cut.reach;
        arguments.begin[k] = begin / 4 * 5 + begin % 4;
        arguments.end[k] = end / 4 * 5 + end % 4;
    }
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, forms[form - GP_WALK_LINEAR], list);
}

/* window_strip: by what a box's results and elements are. */
GP_DECLARE_LAUNCHER(gp_launch_window_strip) {
    if (plan->tiling.form == GP_STRIP_FOLDED)
        return gp_window_folded(context, &context->planned_on, problem);
    if (problem->box->kind == GP_PASS_EXTREMES)
        return plan->tiling.form < GP_STRIP_NEAR ? gp_window_launch_extremes(context, plan, problem)
                                                 : gp_window_launch_near(context, plan, problem);
    const unsigned form = plan->tiling.form;
    if (form >= GP_LINE)
        return gp_window_launch_line(context, plan, problem);
    if (form >= GP_WALK_BYTES)
        return gp_window_launch_bytes(context, plan, problem);
    return form < GP_STRIP_FORMS || form == GP_WALK_MEANS ? gp_window_launch_floats(context, plan, problem)
                                                          : launch_walks(context, plan, problem);
}
