/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of window_strip of ints by warps that are compiled, and how they are launched. */
#include "walk.cuh"

/* Goes `skipped` outputs of one channel on, and `walked` rows back. */
static __device__ void next_part(const strip_arguments &a, unsigned skipped, int outputs, unsigned walked,
                                 strip_place *p) {
    p->output += skipped;
    p->first += skipped;
    p->outputs = outputs;
    for (unsigned r = 0; r < a.box.results; r++) {
        const int64_t *stride = a.box.result[r].stride + a.box.outer;
        p->to[r] += skipped * stride[1] - walked * stride[0];
    }
}

/* Data that narrow sums do not hold, in parts of the strip that are as wide as there is room for prefix sums. */
template <class SUMS, int BYTES>
static __device__ void walk_again(const strip_arguments &a, strip_place &place, unsigned own, unsigned row) {
    constexpr unsigned columns = 4, width = 32 * columns;
    const unsigned lost = a.cut.reach + a.cut.skew,
                   room = (a.cut.prefix_bytes / SUMS::bytes - 5) / 5 * 4 / width * width,
                   cols = (room - lost) / width * width, passes = (cols + lost + width - 1) / width;
    const int outputs = place.outputs;
    for (int done = 0; done < outputs; done += (int)cols) {
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            next_part(a, done == 0 ? 0 : cols, min((int)cols, outputs - done), done == 0 ? 0 : place.rows - row,
                      &place);
        __syncwarp();
        walk<SUMS, BYTES, columns, 1, false, true> again(a, place, own, passes);
        again.walk_down(row, 0);
    }
}

/* WIDER: of data that SUMS do not hold. */
template <class SUMS, class WIDER, int BYTES, int COLUMNS, int CHANNELS, int BLOCKS>
__global__ void __launch_bounds__(GP_WALK_THREADS, BLOCKS_OF(GP_WALK_THREADS, BLOCKS))
    window_walk(const __grid_constant__ strip_arguments a) {
    __shared__ strip_place places[GP_WALK_THREADS / 32];
    const unsigned warp = threadIdx.x / 32, number = blockIdx.x * (blockDim.x / 32) + warp;
    const unsigned own = warp * a.cut.warp_bytes;
    strip_place &place = places[warp];
    gp_grid_dependency_wait();
    if (number >= a.cut.number)
        return;
    if (threadIdx.x % 32 == 0)
        find_place(a.box, a.cut, number, COLUMNS, CHANNELS, &place);
    __syncwarp();
    unsigned row;
    walk<SUMS, BYTES, COLUMNS, CHANNELS, false, false> s(a, place, own, 1);
    if (__all_sync(GP_FULL_WARP, s.stands_together(0)))
        row = s.walk_down(0, a.cut.over);
    else
        row = walk<SUMS, BYTES, COLUMNS, CHANNELS, true, false>(a, place, own, 1).walk_down(0, a.cut.over);
    if constexpr (sizeof(WIDER) > sizeof(SUMS))
        if (row < place.rows)
            walk_again<WIDER, BYTES>(a, place, own, row);
}

static uint32_t usual_of(const strip_arguments *a) {
    const strip_way first = a->result[0].way, second = a->box.results == 2 ? a->result[1].way : WAY_OTHER;
    if (a->box.border == GP_BORDER_SHRINK || a->box.results > 2 || a->stores != (1u << a->box.results) - 1)
        return GP_USUAL_NONE;
    return second == WAY_VARIANCE && first == WAY_SMALL_MEAN ? GP_USUAL_SMALL
           : second == WAY_VARIANCE && first == WAY_MEAN     ? GP_USUAL_MOMENTS
           : first == WAY_SUM && second == WAY_SQUARES       ? GP_USUAL_SUMS
           : first == WAY_OWN_MEAN && a->box.results == 1    ? GP_USUAL_OWN
                                                             : GP_USUAL_NONE;
}

static row_fold fold_of(const gp_window_box *box) {
    const gp_window_axis *y = &box->axis[box->outer];
    const int32_t n = (int32_t)y->n;
    row_fold fold = {n, 0, -1, -1, (uint64_t)y->in};
    if (box->border == GP_BORDER_WRAP)
        fold = {n, 1, n, -n, fold.in};
    else if (box->border == GP_BORDER_REFLECT)
        fold = {n, -1, -1, 2 * n - 1, fold.in};
    else if (box->border == GP_BORDER_REFLECT_101 && n > 1)
        fold = {n, -1, 0, 2 * n - 2, fold.in};
    else if (box->border == GP_BORDER_REFLECT_101 || box->border == GP_BORDER_REPLICATE)
        fold = {n, 0, 0, n - 1, fold.in};
    return fold;
}

gp_status gp_window_launch_walks(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
#define FORM(sums, wider, bytes, columns, channels, blocks) \
    (const void *)window_walk<walk_##sums, walk_##wider, bytes, columns, channels, blocks>
    /* by gp_strip_form */
    static const void *const forms[] = {FORM(linear, linear, 1, 8, 1, 6),  FORM(narrow, narrow, 1, 8, 1, 6),
                                        FORM(narrow, narrow, 1, 16, 1, 4), FORM(long, long, 2, 8, 1, 4),
                                        FORM(narrow, widest, 4, 8, 1, 4),  FORM(narrow, narrow, 1, 12, 3, 4)};
    const unsigned form = plan->tiling.form;
    strip_arguments arguments = {};
    find_results(problem, plan, form == GP_WALK_NARROW_RGB ? 3 : 1, &arguments);
    arguments.fold = fold_of(&arguments.box);
    const bool pivots = arguments.box.type == GP_U8 || arguments.box.type == GP_U16;
    arguments.less = pivots ? (int64_t)arguments.cut.area << (8 * problem->elem_bytes - 1) : 0;
    for (unsigned k = 0; k < 4; k++) {
        const uint32_t begin = arguments.cut.skew + k, end = begin + arguments.cut.reach;
        arguments.begin[k] = begin / 4 * 5 + begin % 4;
        arguments.end[k] = end / 4 * 5 + end % 4;
    }
    arguments.usual = usual_of(&arguments);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, forms[form - GP_WALK_LINEAR], list);
}
