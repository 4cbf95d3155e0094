/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher of window_strip finds out about each result. */
#ifndef GP_WINDOW_ARRAY_RESULTS_CUH
#define GP_WINDOW_ARRAY_RESULTS_CUH

#include "extremes.cuh"
#include "strip.cuh"
#include "write.cuh"

/* Rows of the input: what windows see at i outside is i * sign and the one or the other, again if that is outside. */
struct row_fold {
    int32_t n, sign, low, high; /* sign 0: not again; -1 is no row */
    uint64_t in;
};

/* Results that have code of their own: a mean and a variance, of which the mean is a small sum's, or any; a sum and a
 * sum of squares; a mean in the elements' type. */
enum { GP_USUAL_NONE, GP_USUAL_SMALL, GP_USUAL_MOMENTS, GP_USUAL_SUMS, GP_USUAL_OWN };

struct strip_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    strip_result result[GP_PASS_RESULTS];
    uint32_t sizes;  /* bits 4 r on: bytes of result r */
    uint32_t stores; /* bit r: four of result r side by side are stored at once */
    row_fold fold;
    uint32_t usual;            /* GP_USUAL_... */
    int64_t less;              /* what a whole window's sum is less than that of its elements */
    uint32_t begin[4], end[4]; /* of windows of a lane's outputs k: entries of prefix sums, by k % 4 */
};

static size_t bytes_of_result(const gp_problem *problem, unsigned r) {
    const unsigned type = problem->box->result[r].type;
    return type == GP_F64 ? 8 : type == GP_F32 ? 4 : problem->elem_bytes;
}

/* Whether a thread's outputs are side by side and aligned: they are stored at once. */
static bool stores_together(const gp_problem *problem, unsigned r, unsigned channels) {
    const gp_pass_result *result = &problem->box->result[r];
    const unsigned x = problem->box->outer + 1u;
    const int64_t bytes = (int64_t)bytes_of_result(problem, r);
    uint64_t bits = (uint64_t)(uintptr_t)problem->box->to[r];
    for (unsigned axis = 0; axis < x; axis++)
        if (channels == 1 || axis != x - 2)
            bits |= (uint64_t)result->stride[axis];
    return result->stride[x] == bytes * channels && (channels == 1 || result->stride[x - 2] == bytes) &&
           bits % (uint64_t)(4 * bytes) == 0;
}

/* narrow: numerators are exact. */
static strip_result result_of_windows(const gp_problem *problem, const gp_strip_cut *cut, unsigned r, bool narrow) {
    const unsigned op = problem->box->result[r].op, type = problem->box->result[r].type;
    const double n = cut->area, by = op < GP_REDUCE_VARIANCE ? n : n * (n - (op >= GP_REDUCE_VARIANCE_SAMPLE));
    strip_result result = {WAY_OTHER, false, (float)(1 / n), 1 / by, 0, 0};
    const uint64_t whole = (uint64_t)by;
    const bool exact = whole > 0 && (whole & (whole - 1)) == 0;
    result.sure = exact && narrow && op != GP_REDUCE_STDDEV && op != GP_REDUCE_STDDEV_SAMPLE;
    result.below = exact ? result.inverse : result.inverse * (1 - 0x1p-52);
    result.above = exact ? result.inverse : result.inverse * (1 + 0x1p-52);
    if (op == GP_REDUCE_SUM || op == GP_REDUCE_SUM_SQUARES)
        result.way = op == GP_REDUCE_SUM ? WAY_SUM : WAY_SQUARES;
    else if (op == GP_REDUCE_MEAN)
        result.way = type == GP_F32         ? (cut->small ? WAY_SMALL_MEAN : WAY_MEAN)
                     : cut->area < 1u << 18 ? WAY_OWN_MEAN
                                            : WAY_OTHER;
    else if (by > 0)
        result.way = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE ? WAY_STDDEV : WAY_VARIANCE;
    if (type == GP_F64)
        result.way = WAY_OTHER;
    return result;
}

/* All that the launchers find out. */
static void find_results(const gp_problem *problem, const gp_plan *plan, unsigned channels, strip_arguments *a) {
    const unsigned form = plan->tiling.form;
    const bool narrow = form == GP_STRIP_LINEAR || form == GP_STRIP_NARROW || form == GP_STRIP_PIVOT ||
                        form == GP_STRIP_LINEAR_RGB || form == GP_STRIP_NARROW_RGB ||
                        (form >= GP_WALK_LINEAR && form != GP_WALK_LONG_2 && form != GP_WALK_ANY);
    a->box = *problem->box;
    memcpy(&a->cut, plan->tiling.t, sizeof a->cut);
    for (unsigned r = 0; r < a->box.results; r++) {
        a->result[r] = result_of_windows(problem, &a->cut, r, narrow);
        a->stores |= (uint32_t)stores_together(problem, r, channels) << r;
        a->sizes |= (uint32_t)bytes_of_result(problem, r) << 4 * r;
    }
}

#endif
