/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts over a whole run: see verdict.h. */
#include "verdict.h"
#include "../../tools/tool.h"

#include <stdlib.h>
#include <string.h>

enum { STANDINGS_MAX = 64, SHOWN_MAX = 40 };

typedef struct miss {
    double value;
    char where[192];
} miss;

typedef struct standing {
    const verdict *verdict;
    const char *of; /* a primitive's name */
    size_t points, missed;
    miss *misses;
    double worst;
} standing;

static standing standings[STANDINGS_MAX];
static size_t n_standings;

bool verdict_met(const verdict *v, double value) {
    return v->at_most ? value <= v->wanted : value >= v->wanted;
}

static standing *find(const verdict *v, const char *of) {
    for (size_t i = 0; i < n_standings; i++)
        if (standings[i].verdict == v && strcmp(standings[i].of, of) == 0)
            return &standings[i];
    if (n_standings == STANDINGS_MAX)
        fail("%s: more verdicts than the bench holds", v->what);
    standings[n_standings] = (standing){.verdict = v, .of = of};
    return &standings[n_standings++];
}

void verdict_note(const verdict *v, const char *of, const char *where, double value) {
    standing *at = find(v, of);
    if (at->points == 0 || (v->at_most ? value > at->worst : value < at->worst))
        at->worst = value;
    at->points++;
    if (verdict_met(v, value))
        return;
    miss *more = realloc(at->misses, (at->missed + 1) * sizeof *more);
    if (more == NULL)
        fail("no memory");
    at->misses = more;
    more[at->missed].value = value;
    snprintf(more[at->missed++].where, sizeof more->where, "%s", where);
}

static int by_value(const void *a, const void *b) {
    const double x = ((const miss *)a)->value, y = ((const miss *)b)->value;
    return (x > y) - (x < y);
}

static void print_misses(const standing *at) {
    if (at->missed > 0)
        qsort(at->misses, at->missed, sizeof *at->misses, by_value);
    for (size_t i = 0; i < at->missed && i < SHOWN_MAX; i++) {
        const miss *m = &at->misses[at->verdict->at_most ? at->missed - 1 - i : i];
        printf("    %.3f  %s\n", m->value, m->where);
    }
    if (at->missed > SHOWN_MAX)
        printf("    and %zu more\n", at->missed - SHOWN_MAX);
}

void verdicts_print(void) {
    for (size_t i = 0; i < n_standings; i++) {
        const standing *at = &standings[i];
        const verdict *v = at->verdict;
        const size_t met = at->points - at->missed;
        const bool right = (double)met >= v->share * (double)at->points;
        printf("%s%s: %s, %.0f %% %s %.2f: %zu of %zu points, worst %.3f: %s\n", i == 0 ? "\n" : "", at->of, v->what,
               100 * v->share, v->at_most ? "<=" : ">=", v->wanted, met, at->points, at->worst,
               right ? "PASS" : "FAIL");
        print_misses(at);
    }
}
