/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of the catalogue earn their place over a sweep in which every row that could was timed at every point. A
 * row stays if without it enough of the points are slower by enough, against the best other row; or if it is named as
 * a last resort by its primitive.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROWS_LOSS 1.10  /* times as long without the row: a point that counts */
#define ROWS_SHARE 0.02 /* of the points: the bar */

/* One row's time at one point of its primitive; a point's rows follow each other, in the catalogue's order. What has
   no choice is no point: so are rows told of that can do none. */
void rows_note(const char *of, const char *point, const char *row, double us);
void rows_choice(const char *of, const char *point, const char *row); /* what the planner takes there */
void rows_read(const char *path);                /* notes what --rows --csv wrote, and nothing else */
bool rows_know(const char *of, const char *row); /* it was noted; row NULL: any of that primitive */

/* Prints a verdict on each row; false: one is below the bar. Those in `without` are as if they were not there. */
bool rows_judge(const char *const without[], size_t n_without);
