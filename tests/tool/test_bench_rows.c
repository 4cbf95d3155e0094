/* SPDX-License-Identifier: Apache-2.0 */
/* The judgement of rows, from sweeps that are made up: which row is below the bar, and which is not. */
#include "../../bench/core/rows.h"
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { POINTS = 100 };

/* A row's times: `first` at the first `points` points, `rest` at the others; 0: it cannot. Of one that never can is
   told as of a row without a point. */
typedef struct made_up {
    const char *row;
    unsigned points;
    double first, rest;
} made_up;

/* Rows in the catalogue's order; the first that can is chosen. */
static bool judge(const made_up rows[], size_t count, const char *const masked[], size_t n_masked) {
    char path[] = "/tmp/test_bench_rows.XXXXXX";
    FILE *to = fdopen(mkstemp(path), "w");
    assert_non_null(to);
    fputs("who,role,shape,median_us,kernel,primitive\n# Made-up GPU\n", to);
    for (unsigned p = 0; p < POINTS; p++) {
        const char *choice = NULL;
        for (size_t i = 0; i < count; i++) {
            const double us = p < rows[i].points ? rows[i].first : rows[i].rest;
            if (us <= 0)
                continue;
            if (choice == NULL) {
                choice = rows[i].row;
                fprintf(to, "ours,ours,\"size %u, odd\",%f,%s 10x256,transpose\n", p, us, choice);
            }
            fprintf(to, "%s,row,\"size %u, odd\",%f,%s 10x256,transpose\n", rows[i].row, p, us, rows[i].row);
        }
        fprintf(to, "copy,floor,\"size %u, odd\",0.5,,transpose\n", p);
    }
    for (size_t i = 0; i < count; i++)
        if (rows[i].first <= 0 && rows[i].rest <= 0)
            fprintf(to, "%s,row,\"\",0,,transpose\n", rows[i].row);
    fclose(to);
    rows_read(path);
    unlink(path);
    return rows_judge(masked, n_masked);
}

static void a_row_needs_two_points_of_a_hundred(void **state) {
    (void)state;
    const made_up one[] = {{"quick", 1, 1.0, 0}, {"usual", POINTS, 1.5, 0}, {"transpose_naive", POINTS, 3.0, 0}};
    const made_up two[] = {{"quick", 2, 1.0, 0}, {"usual", POINTS, 1.5, 0}, {"transpose_naive", POINTS, 3.0, 0}};
    assert_false(judge(one, 3, NULL, 0));
    assert_true(judge(two, 3, NULL, 0));
}

static void points_count_from_ten_per_cent_on(void **state) {
    (void)state;
    const made_up little[] = {{"quick", 50, 1.0, 0}, {"usual", POINTS, 1.09, 1.0}, {"transpose_naive", POINTS, 3, 3}};
    const made_up enough[] = {{"quick", 50, 1.0, 0}, {"usual", POINTS, 1.11, 1.0}, {"transpose_naive", POINTS, 3, 3}};
    assert_false(judge(little, 3, NULL, 0));
    assert_true(judge(enough, 3, NULL, 0));
}

/* The best other row decides, not the next, and not one that is masked. */
static void the_best_other_row_decides(void **state) {
    (void)state;
    const char *const best[] = {"best"};
    const made_up rows[] = {{"quick", 50, 1.0, 0}, {"slow", POINTS, 9, 9}, {"best", POINTS, 1.0, 1.0}};
    assert_false(judge(rows, 3, NULL, 0));
    assert_true(judge(rows, 3, best, 1));
}

/* A row that is never chosen is below the bar, unless it is a last resort; without the others it is chosen. */
static void last_resorts_are_excused(void **state) {
    (void)state;
    const char *const quick[] = {"quick"};
    const made_up idle[] = {{"quick", POINTS, 1.0, 0}, {"idle", POINTS, 2.0, 0}};
    const made_up resort[] = {{"quick", POINTS, 1.0, 0}, {"transpose_naive", POINTS, 2.0, 0}};
    assert_false(judge(idle, 2, NULL, 0));
    assert_true(judge(idle, 2, quick, 1));
    assert_true(judge(resort, 2, NULL, 0));
}

/* What no other row can do is lost without it. */
static void the_only_row_stays(void **state) {
    (void)state;
    const made_up rows[] = {{"only", 2, 1.0, 0}, {"usual", 2, 0, 1.0}};
    assert_true(judge(rows, 2, NULL, 0));
}

static void a_row_that_never_can_is_below(void **state) {
    (void)state;
    const char *const usual[] = {"quick"};
    const made_up rows[] = {{"quick", 50, 1.0, 0}, {"usual", POINTS, 1.5, 1.0}, {"unused", 0, 0, 0}};
    assert_false(judge(rows, 3, NULL, 0));
    assert_false(judge(rows, 3, usual, 1));
    assert_true(judge(rows, 2, NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_needs_two_points_of_a_hundred),
        cmocka_unit_test(points_count_from_ten_per_cent_on),
        cmocka_unit_test(the_best_other_row_decides),
        cmocka_unit_test(last_resorts_are_excused),
        cmocka_unit_test(the_only_row_stays),
        cmocka_unit_test(a_row_that_never_can_is_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
