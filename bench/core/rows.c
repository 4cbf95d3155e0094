/* SPDX-License-Identifier: Apache-2.0 */
/* The judgement of rows: see rows.h. */
#include "rows.h"
#include "bench.h"
#include "csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 48, ROWS_MAX = 64 };

typedef struct point {
    char primitive[24], where[192], choice[NAME]; /* no choice: no point, but rows that can do none */
    size_t count;
    struct {
        char name[NAME];
        double us;
    } rows[ROWS_MAX];
} point;

static point *points;
static size_t n_points;
static const char *const *masked;
static size_t n_masked;

static point *point_of(const char *of, const char *where) {
    if (n_points > 0 && strcmp(points[n_points - 1].where, where) == 0)
        return &points[n_points - 1];
    point *more = realloc(points, (n_points + 1) * sizeof *more);
    if (more == NULL)
        fail("no memory");
    points = more;
    point *p = &points[n_points++];
    memset(p, 0, sizeof *p);
    snprintf(p->primitive, sizeof p->primitive, "%s", of);
    snprintf(p->where, sizeof p->where, "%s", where);
    return p;
}

void rows_note(const char *of, const char *where, const char *row, double us) {
    point *p = point_of(of, where);
    if (p->count == ROWS_MAX)
        fail("%s: more rows than the bench holds", where);
    snprintf(p->rows[p->count].name, NAME, "%s", row);
    p->rows[p->count++].us = us;
}

void rows_choice(const char *of, const char *where, const char *row) {
    snprintf(point_of(of, where)->choice, NAME, "%.*s", (int)strcspn(row, " "), row);
}

static void take(void *user, char *const text[]) {
    enum { PRIMITIVE, SHAPE, ROLE, WHO, KERNEL, US };
    (void)user;
    if (strcmp(text[ROLE], "ours") == 0)
        rows_choice(text[PRIMITIVE], text[SHAPE], text[KERNEL]);
    if (strcmp(text[ROLE], "row") == 0)
        rows_note(text[PRIMITIVE], text[SHAPE], text[WHO], strtod(text[US], NULL));
}

void rows_read(const char *path) {
    static const char *const columns[] = {"primitive", "shape", "role", "who", "kernel", "median_us"};
    char device[CSV_DEVICE] = "";
    n_points = 0;
    csv_read(&(csv_wish){.path = path, .count = sizeof columns / sizeof *columns, .columns = columns, .take = take},
             device);
    if (n_points == 0)
        fail("%s: no row was timed: it must come from --rows", path);
}

bool rows_know(const char *of, const char *row) {
    for (size_t i = 0; i < n_points; i++)
        for (size_t k = 0; k < points[i].count; k++)
            if (strcmp(points[i].primitive, of) == 0 && (row == NULL || strcmp(points[i].rows[k].name, row) == 0))
                return true;
    return false;
}

static bool is_masked_row(const char *row) {
    for (size_t i = 0; i < n_masked; i++)
        if (strcmp(masked[i], row) == 0)
            return true;
    return false;
}

/* Rows are tried in their order: with some masked, the first of the others is chosen. */
static const char *choice_at(const point *p) {
    for (size_t i = 0; i < p->count && n_masked > 0 && p->choice[0] != '\0'; i++)
        if (!is_masked_row(p->rows[i].name))
            return p->rows[i].name;
    return p->choice;
}

/* The best other's time over the row's own; infinite without another. */
static double gain_at(const point *p, const char *row) {
    double own = 0, other = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->rows[i].name, row) == 0)
            own = p->rows[i].us;
        else if (!is_masked_row(p->rows[i].name) && p->rows[i].us < other)
            other = p->rows[i].us;
    }
    return other / own;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *last_resort(const char *name, const char *row) {
    for (size_t i = 0; primitives[i] != NULL; i++)
        for (size_t k = 0; strcmp(primitives[i]->name, name) == 0 && primitives[i]->last_resort[k][0] != NULL; k++)
            if (strcmp(primitives[i]->last_resort[k][0], row) == 0)
                return primitives[i]->last_resort[k][1];
    return NULL;
}

/* False: below the bar. */
static bool judge(const char *of, const char *row) {
    double *gains = host_alloc(n_points, sizeof *gains); /* where it is chosen */
    size_t n = 0, chosen = 0, losing = 0;
    for (size_t i = 0; i < n_points; i++) {
        const bool counts = strcmp(points[i].primitive, of) == 0 && points[i].choice[0] != '\0';
        n += counts;
        if (!counts || strcmp(choice_at(&points[i]), row) != 0)
            continue;
        gains[chosen] = gain_at(&points[i], row);
        losing += gains[chosen++] >= ROWS_LOSS;
    }
    qsort(gains, chosen, sizeof *gains, ascending);
    const char *excuse = last_resort(of, row);
    const bool stays = (double)losing >= ROWS_SHARE * (double)n;
    char median[24] = "-";
    if (chosen > 0)
        snprintf(median, sizeof median, "%.3f", gains[chosen / 2]);
    free(gains);
    printf("%-28s %5zu of %-5zu %8s %8zu %6.1f %%  %s%s\n", row, chosen, n, median, losing,
           n > 0 ? 100 * (double)losing / (double)n : 0,
           stays    ? "stays"
           : excuse ? "last resort: "
                    : "BELOW THE BAR",
           !stays && excuse ? excuse : "");
    return stays || excuse != NULL;
}

bool rows_judge(const char *const without[], size_t n_without) {
    const char *seen[4 * ROWS_MAX];
    size_t n_seen = 0;
    bool right = true;
    masked = without;
    n_masked = n_without;
    printf("\n%-28s %14s %8s %8s %8s\n", "row", "chosen", "median", ">= 10 %", "points");
    for (size_t i = 0; i < n_points; i++)
        for (size_t k = 0; k < points[i].count; k++) {
            const char *row = points[i].rows[k].name;
            bool is_new = !is_masked_row(row) && n_seen < sizeof seen / sizeof *seen;
            for (size_t j = 0; j < n_seen && is_new; j++)
                is_new = strcmp(seen[j], row) != 0;
            if (!is_new)
                continue;
            seen[n_seen++] = row;
            right = judge(points[i].primitive, row) && right;
        }
    printf("chosen: points where the planner takes it; median: the best other's time there over its own; >= 10 %%:\n"
           "points that take %.2f times as long without it, or longer, of which it needs %.0f %%. Judged one by one: "
           "of\n"
           "two that do the same, neither is needed while both are there.\n",
           ROWS_LOSS, 100 * ROWS_SHARE);
    return right;
}
