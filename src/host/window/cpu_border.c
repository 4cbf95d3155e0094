/* SPDX-License-Identifier: Apache-2.0 */
/* What a window sees outside its row as runs of memory, and rounding of wide integers. Pure. */
#include "cpu.h"
#include <string.h>

/* After how many columns the extended row repeats; 0: never (zero and replicate). */
static size_t period_of(const gp_problem *problem) {
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
static gp_window_run run_of_edge(const gp_problem *problem, const int32_t *row, gp_i128 x) {
    static const int32_t zero = 0;
    const size_t cols = problem->cols;
    bool replicate = problem->border != GP_BORDER_ZERO && problem->border != GP_BORDER_NONE;
    if (x < 0)
        return (gp_window_run){replicate ? row : &zero, 0, (size_t)-x};
    if (x < (gp_i128)cols)
        return (gp_window_run){row + x, 1, cols - (size_t)x};
    return (gp_window_run){replicate ? row + cols - 1 : &zero, 0, SIZE_MAX};
}

gp_window_run gp_window_run_at(const gp_problem *problem, const int32_t *row, gp_i128 x) {
    const size_t cols = problem->cols, period = period_of(problem);
    if (period == 0)
        return run_of_edge(problem, row, x);
    gp_i128 inside = x < 0 ? x + (gp_i128)period : x < (gp_i128)period ? x : x - (gp_i128)period;
    if (inside < 0 || inside >= (gp_i128)period) {
        inside = x % (gp_i128)period;
        inside += inside < 0 ? (gp_i128)period : 0;
    }
    const size_t phase = (size_t)inside;
    if (phase < cols)
        return (gp_window_run){row + phase, 1, cols - phase};
    /* On the way back: the last element first (REFLECT), or the one before it, and then not the first (REFLECT_101).
     */
    const size_t at = problem->border == GP_BORDER_REFLECT ? period - 1 - phase : period - phase;
    return (gp_window_run){row + at, -1, period - phase};
}

static gp_window_run run_up_to(const gp_problem *problem, const int32_t *row, gp_i128 x, size_t most) {
    gp_window_run run = gp_window_run_at(problem, row, x);
    run.count = run.count < most ? run.count : most;
    return run;
}

void gp_window_visit_all(const gp_problem *problem, const int32_t *row, gp_i128 x, gp_window_visit visit,
                         void *argument) {
    const size_t window = problem->window, period = period_of(problem);
    const size_t whole = period > 0 ? window / period : 0, rest = period > 0 ? window % period : window;
    for (size_t done = 0, each = whole > 0 ? period : rest; done < each;) {
        const size_t times = whole + (done < rest);
        gp_window_run run = run_up_to(problem, row, x + (gp_i128)done, (done < rest ? rest : each) - done);
        done += run.count;
        if (run.step == 0)
            visit(argument, &(gp_window_run){run.first, 0, 1}, times * run.count);
        else
            visit(argument, &run, times);
    }
}

void gp_window_extend(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *to,
                      gp_window_reverse reverse) {
    for (gp_window_run run; n > 0; x += (int64_t)run.count, n -= run.count, to += run.count) {
        run = run_up_to(problem, row, x, n);
        if (run.step > 0)
            memcpy(to, run.first, run.count * sizeof *to);
        else if (run.step < 0)
            reverse(run.first, run.count, to);
        else
            for (size_t i = 0; i < run.count; ++i)
                to[i] = *run.first;
    }
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
