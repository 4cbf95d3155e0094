/* SPDX-License-Identifier: Apache-2.0 */
/* What a window sees outside its row as runs of memory, and rounding of wide integers. Pure. */
#include "cpu.h"
#include <string.h>

size_t gp_window_period(const gp_problem *problem) {
    switch (problem->border) {
    case GP_BORDER_REFLECT:
        return 2 * problem->cols;
    case GP_BORDER_REFLECT_101:
        return problem->cols == 1 ? 0 : 2 * problem->cols - 2;
    case GP_BORDER_WRAP:
        return problem->cols;
    default:
        return 0;
    }
}

/* Borders that repeat nothing: the row, and one element for all columns on each side. */
static gp_window_run run_of_edge(const gp_problem *problem, const int32_t *row, int64_t x) {
    static const int32_t zero = 0;
    int64_t cols = (int64_t)problem->cols;
    bool replicate = problem->border != GP_BORDER_ZERO && problem->border != GP_BORDER_NONE;
    if (x < 0)
        return (gp_window_run){replicate ? row : &zero, 0, (size_t)-x};
    if (x < cols)
        return (gp_window_run){row + x, 1, (size_t)(cols - x)};
    return (gp_window_run){replicate ? row + cols - 1 : &zero, 0, SIZE_MAX};
}

gp_window_run gp_window_run_at(const gp_problem *problem, const int32_t *row, int64_t x) {
    int64_t cols = (int64_t)problem->cols, period = (int64_t)gp_window_period(problem);
    if (period == 0)
        return run_of_edge(problem, row, x);
    int64_t phase = x < 0 ? x + period : x < period ? x : x - period;
    if (phase < 0 || phase >= period) {
        phase = x % period;
        phase += phase < 0 ? period : 0;
    }
    if (phase < cols)
        return (gp_window_run){row + phase, 1, (size_t)(cols - phase)};
    /* On the way back: the last element first (REFLECT), or the one before it, and then not the first (REFLECT_101).
     */
    int64_t at = problem->border == GP_BORDER_REFLECT ? period - 1 - phase : period - phase;
    return (gp_window_run){row + at, -1, (size_t)(period - phase)};
}

/*
 * Bits below the upper 64 only matter to rounding as "there is something": they are folded into the lowest bit, which
 * is far below a float's 24. The one conversion then rounds right, and the scale is an exact power of two.
 */
float gp_window_round(gp_u128 value) {
    uint64_t high = (uint64_t)(value >> 64);
    if (high == 0)
        return (float)(uint64_t)value;
    int shift = 64 - __builtin_clzll(high);
    uint64_t top = (uint64_t)(value >> shift);
    top |= (value & (((gp_u128)1 << shift) - 1)) != 0;
    uint32_t scale_bits = (uint32_t)(127 + shift) << 23; /* 2^shift */
    float scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return (float)top * scale;
}

float gp_window_round_signed(gp_i128 value) {
    return value < 0 ? -gp_window_round(-(gp_u128)value) : gp_window_round((gp_u128)value);
}
