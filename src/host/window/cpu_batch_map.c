/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a short row enter and leave its windows: what a row of columns' numbers has there. Pure. */
#include "cpu_batch.h"
#include <string.h>

static void count(void *argument, const gp_window_run *run, size_t times) {
    uint32_t *counts = argument;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)run->count; ++i)
        counts[run->first[i * run->step]] += (uint32_t)times;
}

/* Number 0 is what ZERO has outside the row. */
void gp_window_map_columns(const gp_problem *problem, size_t lanes, gp_window_reverse reverse, gp_window_map *map) {
    const int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    const int64_t first = (int64_t)problem->col_first;
    int32_t row[GP_BATCH_COLS_MAX];
    uint32_t counts[GP_BATCH_COLS_MAX + 1];
    memset(counts, 0, (problem->cols + 1) * sizeof *counts);
    for (size_t c = 0; c < problem->cols; ++c)
        row[c] = (int32_t)c + 1;
    map->n = problem->col_end - problem->col_first;
    map->n_first = 0;
    memset(map->enters, 0, GP_BATCH_FOUR * sizeof *map->enters);
    memset(map->leaves, 0, GP_BATCH_FOUR * sizeof *map->leaves);
    gp_window_extend(problem, row, first + after, map->n, map->enters, reverse);
    gp_window_extend(problem, row, first - 1 - before, map->n, map->leaves, reverse);
    for (size_t x = 0; x < map->n; ++x) {
        map->enters[x] *= (int32_t)lanes;
        map->leaves[x] *= (int32_t)lanes;
    }
    gp_window_visit_all(problem, row, first - 1 - before, count, counts);
    for (size_t c = 1; c <= problem->cols; ++c)
        if (counts[c] > 0) {
            map->first[map->n_first] = (uint32_t)(c * lanes);
            map->times[map->n_first++] = (int32_t)counts[c];
        }
}
