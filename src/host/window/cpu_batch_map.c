/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a short row enter and leave its windows. Pure. */
#include "cpu_batch.h"
#include <string.h>

/* n columns of the extended row from x on, by run: where they begin, and what is from each to the next. */
typedef struct {
    size_t column;
    int step;
    size_t n;
} stretch;

static stretch stretch_at(const gp_problem *problem, int64_t x, size_t n) {
    const int32_t *row = problem->in;
    bool zero = problem->border == GP_BORDER_ZERO || problem->border == GP_BORDER_NONE;
    gp_window_run run = gp_window_run_at(problem, row, x);
    size_t column = zero && run.step == 0 ? problem->cols : (size_t)(run.first - row);
    return (stretch){column, run.step, run.count < n ? run.count : n};
}

static void list(const gp_problem *problem, int64_t x, size_t n, size_t lanes, uint32_t *columns) {
    for (size_t done = 0; done < n;) {
        stretch s = stretch_at(problem, x + (int64_t)done, n - done);
        const uint32_t step = (uint32_t)(s.step * (int)lanes);
        uint32_t column = (uint32_t)(s.column * lanes);
        for (size_t i = 0; i < s.n; ++i, column += step)
            columns[done + i] = column;
        done += s.n;
    }
    for (; n < GP_BATCH_FOUR; ++n)
        columns[n] = 0;
}

/* Adds to each column's count how often it is among n from x on. */
static void count(const gp_problem *problem, int64_t x, size_t n, int32_t times, int32_t *counts) {
    while (n > 0) {
        stretch s = stretch_at(problem, x, n);
        if (s.step == 0)
            counts[s.column] += times * (int32_t)s.n;
        else
            for (size_t i = 0; i < s.n; ++i)
                counts[s.step > 0 ? s.column + i : s.column - i] += times;
        x += (int64_t)s.n;
        n -= s.n;
    }
}

void gp_window_map_columns(const gp_problem *problem, size_t lanes, gp_window_map *map) {
    int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    int64_t first = (int64_t)problem->col_first;
    map->n = problem->col_end - problem->col_first;
    list(problem, first + after, map->n, lanes, map->enters);
    list(problem, first - 1 - before, map->n, lanes, map->leaves);

    int32_t counts[GP_BATCH_COLS_MAX + 1];
    memset(counts, 0, (problem->cols + 1) * sizeof *counts);
    size_t window = problem->window, period = gp_window_period(problem);
    if (period > 0 && window >= period) {
        count(problem, first - 1 - before, period, (int32_t)(window / period), counts);
        window %= period;
    }
    count(problem, first - 1 - before, window, 1, counts);
    map->n_first = 0;
    for (size_t c = 0; c < problem->cols; ++c) {
        if (counts[c] == 0)
            continue;
        map->first[map->n_first] = (uint32_t)(c * lanes);
        map->times[map->n_first++] = counts[c];
    }
}
