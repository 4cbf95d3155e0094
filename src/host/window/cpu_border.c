/* SPDX-License-Identifier: Apache-2.0 */
/* What a window sees outside its row as runs of memory. Pure. */
#include "../window_array/box.h"
#include "cpu.h"
#include <string.h>

/* Far outside by a division, near the row without. */
gp_window_run gp_window_run_at(const gp_problem *problem, const int32_t *row, gp_i128 x) {
    static const int32_t zero = 0;
    const int64_t n = (int64_t)problem->cols, period = gp_window_period(problem->border, n);
    if (x >= 0 && x < n)
        return (gp_window_run){row + x, 1, (size_t)(n - x)};
    if (period == 0) {
        const int64_t at = gp_window_source(problem->border, n, x < 0 ? -1 : n);
        return (gp_window_run){at < 0 ? &zero : row + at, 0, x < 0 ? (size_t)-x : SIZE_MAX};
    }
    gp_i128 phase = x < 0 ? x + period : x < period ? x : x - period;
    if (phase < 0 || phase >= period) {
        phase = x % period;
        phase += phase < 0 ? period : 0;
    }
    if (phase < n)
        return (gp_window_run){row + phase, 1, (size_t)(n - phase)};
    return (gp_window_run){row + gp_window_source(problem->border, n, (int64_t)phase), -1, (size_t)(period - phase)};
}

static gp_window_run run_up_to(const gp_problem *problem, const int32_t *row, gp_i128 x, size_t most) {
    gp_window_run run = gp_window_run_at(problem, row, x);
    run.count = run.count < most ? run.count : most;
    return run;
}

void gp_window_visit_all(const gp_problem *problem, const int32_t *row, gp_i128 x, gp_window_visit visit,
                         void *argument) {
    const size_t window = problem->window, period = (size_t)gp_window_period(problem->border, (int64_t)problem->cols);
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

void gp_window_extend(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *to) {
    for (gp_window_run run; n > 0; x += (int64_t)run.count, n -= run.count, to += run.count) {
        run = run_up_to(problem, row, x, n);
        if (run.step > 0)
            memcpy(to, run.first, run.count * sizeof *to);
        else if (run.step < 0)
            for (size_t i = 0; i < run.count; ++i)
                to[i] = run.first[-(ptrdiff_t)i];
        else
            for (size_t i = 0; i < run.count; ++i)
                to[i] = *run.first;
    }
}
