/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of what is timed of windows over pictures. */
#include "../cases_timed.h"

static void box(const timed *t, box_what what, gp_type type, size_t rows, size_t cols, size_t channels,
                size_t window) {
    const data_kind data = type == GP_F32 ? DATA_FLOATS : type == GP_S32 ? DATA_8_BIT : DATA_RANDOM;
    const box_case c = {.rows = rows,
                        .cols = cols,
                        .channels = channels,
                        .window = window,
                        .type = type,
                        .what = what,
                        .data = data,
                        .seed = TIMED_SEED};
    t->visit(&c, t->series, t->user);
}

static void squares(const timed *t, box_what what, gp_type type, size_t side, size_t last) {
    static const size_t windows[] = {3, 15, 31, 63, 101, 301};
    for (size_t i = 0; i < TIMED_COUNT(windows) && windows[i] <= last; i++)
        box(t, what, type, side, side, 1, windows[i]);
}

static void device(const timed *t) {
    squares(t, BOX_MOMENTS, GP_U8, 16384, 301);
    squares(t, BOX_MOMENTS, GP_S32, 16384, 301);
    squares(t, BOX_SUMS, GP_U8, 16384, 31);
    squares(t, BOX_MOMENTS, GP_U8, 4096, 101);
    squares(t, BOX_MOMENTS, GP_S32, 4096, 101);
    squares(t, BOX_MEAN_U8, GP_U8, 4096, 101);
    squares(t, BOX_MIN, GP_U8, 4096, 101);
    squares(t, BOX_MAX, GP_U8, 4096, 15);
    squares(t, BOX_MEAN, GP_F32, 16384, 31);
    squares(t, BOX_MEAN, GP_F32, 4096, 31);
    squares(t, BOX_MOMENTS, GP_F32, 4096, 31);
    box(t, BOX_MOMENTS, GP_U8, 4000, 6000, 3, 31);
    box(t, BOX_MOMENTS, GP_U16, 4096, 4096, 1, 31);
}

static void processor(const timed *t) {
    squares(t, BOX_MOMENTS, GP_U8, 4096, 101);
    squares(t, BOX_MOMENTS, GP_S32, 4096, 31);
    squares(t, BOX_MEAN_U8, GP_U8, 4096, 31);
    squares(t, BOX_MIN, GP_U8, 4096, 31);
}

void cases_timed_box(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {{"device", device}, {"processor", processor}};
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}
