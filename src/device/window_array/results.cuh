/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher of window_strip finds out about each result. */
#pragma once

#include "extremes.cuh"
#include "strip.cuh"
#include "write.cuh"

/* Rows of the input: what windows see at i outside is i * sign and the one or the other, again if that is outside. */
struct row_fold {
    int32_t n, sign, low, high; /* sign 0: not again; -1 is no row */
    uint64_t in;
};

struct strip_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    strip_result result[GP_PASS_RESULTS];
    uint32_t stores; /* bit r: four of result r side by side are stored at once */
    row_fold fold;
    int64_t less;              /* what a whole window's sum is less than that of its elements */
    uint32_t begin[4], end[4]; /* of windows of a lane's outputs k: entries of prefix sums, by k % 4 */
};

/* Whether a thread's outputs are side by side and aligned: they are stored at once. */
static bool stores_together(const gp_problem *problem, unsigned r, unsigned channels) {
    const gp_pass_result *result = &problem->box->result[r];
    const unsigned x = problem->box->outer + 1u, type = result->type;
    const int64_t bytes = type == GP_F64 ? 8 : type == GP_F32 ? 4 : (int64_t)problem->elem_bytes;
    uint64_t bits = (uint64_t)(uintptr_t)problem->box->to[r];
    for (unsigned axis = 0; axis < x; axis++)
        if (channels == 1 || axis != x - 2)
            bits |= (uint64_t)result->stride[axis];
    return result->stride[x] == bytes * channels && (channels == 1 || result->stride[x - 2] == bytes) &&
           bits % (uint64_t)(4 * bytes) == 0;
}
