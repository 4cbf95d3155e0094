/* SPDX-License-Identifier: Apache-2.0 */
/* How the GPU rows that slide windows over views cut a box. */
#pragma once

#include "../arithmetic.h"
#include "../kernel.h"
#include "box.h"
#include "tiling.h"

GP_DECLARE_ROW(window_strip);
GP_DECLARE_ROW(window_any);

/* window_any, of what window_strip leaves. */
GP_C_LINKAGE gp_status gp_fit_window_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling);

/* Of a map of GP_SPECIAL_MAPS. */
GP_BOTH static inline uint64_t gp_special_rows(const gp_special_cut *cut, const gp_window_axis *y) {
    return cut->rows + (uint64_t)y->window - 1;
}

GP_BOTH static inline uint64_t gp_special_words(const gp_special_cut *cut, const gp_window_axis *x) {
    return (cut->cols + (uint64_t)x->window + 30) / 32;
}

/*
 * Rows a block, and in how many segments it cuts those of the outputs: as many blocks as `resident` where strips and
 * batches are `apart`, unless most of what they did were to begin, so no fewer rows than a quarter of a window.
 */
static inline void gp_window_cut_rows(uint32_t *rows, uint32_t *segments, const gp_window_axis *y, uint64_t apart,
                                      uint64_t resident) {
    uint64_t wanted = apart < resident ? resident / apart : gp_divide_up(gp_times(4, resident), apart);
    const uint64_t least = gp_at_least_one((uint64_t)y->window / 4);
    wanted = gp_at_least_one(gp_least(wanted, y->outputs / least));
    *rows = gp_to_u32(gp_divide_up(y->outputs, wanted));
    *segments = gp_to_u32(gp_divide_up(y->outputs, *rows));
}

#define GP_WAVES_MANY 4 /* of warps: rows are `usual` then */

/* Rows a warp: those with which the last warp on an SM ends first, unless there are many. begin: rows whose time a
 * warp takes before its first output; apart: strips and batches; warps: that an SM holds. */
static inline void gp_window_cut_walks(gp_strip_cut *cut, const gp_window_axis *y, double begin, uint64_t usual,
                                       uint64_t apart, unsigned sms, unsigned warps) {
    double least = 0;
    for (uint64_t each = 1, tried = 0; each <= 16 * warps && tried != 1; each++) {
        const uint64_t wanted = gp_at_least_one(gp_least(each * sms / apart, y->outputs));
        const uint64_t rows = gp_divide_up(y->outputs, wanted);
        if (least > 0 && rows == tried)
            continue;
        tried = rows;
        const uint64_t segments = gp_divide_up(y->outputs, rows), all = gp_divide_up(apart * segments, sms);
        const double cost = ((double)rows + begin) * (double)(all + gp_round_up(all, warps));
        if (least > 0 && cost >= least)
            continue;
        least = cost;
        cut->rows = gp_to_u32(rows);
        cut->segments = gp_to_u32(segments);
    }
    const uint64_t segments = gp_divide_up(y->outputs, usual);
    if (apart * segments < GP_WAVES_MANY * (uint64_t)sms * warps)
        return;
    cut->rows = gp_to_u32(gp_least(usual, y->outputs));
    cut->segments = gp_to_u32(segments);
}

/* How many columns behind a multiple of `each` a window begins whose output is at one. */
static inline uint32_t gp_window_skew(int64_t before, uint64_t each) {
    return gp_to_u32((each - (uint64_t)(before % (int64_t)each)) % each);
}

/* How many pictures, or parts of one, strips of `columns` have side by side, `each` of them a thread's; `channels`
 * are columns. 0: none. */
gp_strip_pack gp_window_pack(const gp_window_box *box, uint64_t columns, uint64_t each, unsigned channels);

/* Strips of a row, of batches that such strips then have; and Y of which they are the rows. */
typedef struct gp_packed {
    uint64_t strips, batches;
    gp_window_axis y;
} gp_packed;

gp_packed gp_window_packed(const gp_window_box *box, gp_strip_pack pack, unsigned channels);

/* window_strip of minima and maxima. */
bool gp_window_fit_extremes(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling);

/* Extremes along lines as those of rows that overlap: the part of a problem whose windows lie inside; and all parts,
 * each planned and launched. False: lines are not folded. */
bool gp_window_fold(const gp_problem *whole, gp_window_box *box, gp_problem *problem);
GP_C_LINKAGE gp_status gp_window_folded(gp_context *context, const gp_device *device, const gp_problem *whole);

/* window_strip of means of bytes as such, and of extremes in windows of few rows; false: of others. */
bool gp_window_fit_bytes(const gp_problem *problem, const gp_device *device, gp_strip_cut *cut, gp_tiling *tiling);
bool gp_window_fit_near(const gp_problem *problem, const gp_device *device, gp_tiling *tiling);
