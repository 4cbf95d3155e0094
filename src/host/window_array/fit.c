/* SPDX-License-Identifier: Apache-2.0 */
/* Which boxes the GPU rows that slide windows over views do, and how they cut them. Pure. */
#include "fit.h"
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../reduce_array/accumulator.h"
#include "../status.h"
#include "box.h"
#include "tiling.h"

bool gp_fit_window_any(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    gp_occupancy_info held;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_ANY_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    tiling->smem = tiling->threads / 32 * sizeof(gp_accumulator);
    gp_occupancy_compute(device, tiling->threads, GP_WINDOW_ANY_REGS, GP_WINDOW_ANY_STATIC_SMEM + tiling->smem,
                         &held);
    tiling->blocks = gp_least(gp_divide_up(problem->n, tiling->threads / 32),
                              gp_at_least_one((uint64_t)held.blocks_per_sm * device->multiprocessors));
    return true;
}

gp_status gp_fit_window_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling) {
    for (unsigned attempt = 0; gp_fit_window_any(problem, device, attempt, tiling); attempt++) {
        gp_occupancy_info held;
        gp_occupancy_compute(device, tiling->threads, GP_WINDOW_ANY_REGS, GP_WINDOW_ANY_STATIC_SMEM + tiling->smem,
                             &held);
        if (held.blocks_per_sm > 0)
            return GP_OK;
    }
    return gp_fail(GP_ERR_NO_KERNEL, "the limits leave no room for what is launched behind window_strip");
}

/* ---- window_strip ---- */

#define STRIP_WARPS 8                     /* a block, unless windows are wide */
#define STRIP_AREA_MAX ((int64_t)1 << 26) /* its square is exact as a double */

static bool does_strip(const gp_window_box *box) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const bool shows_again = gp_window_period(box->border, (int64_t)y->n) != 0 || box->border == GP_BORDER_REPLICATE;
    return box->kind == GP_PASS_MOMENTS && box->outputs > 1 && x->window < STRIP_AREA_MAX &&
           y->window < STRIP_AREA_MAX && x->window * y->window < STRIP_AREA_MAX &&
           x->n * box->channels < INT32_MAX / 2 && y->window <= (int64_t)(shows_again ? 4 : 2) * (int64_t)y->n + 64;
}

/*
 * Most bits of magnitudes whose sums over an area stay below 2^31, and those of squares below 2^32; n times squares,
 * and sums squared, stay below 2^53, as numerators of variances are computed in double.
 */
static unsigned bits_known(uint64_t area) {
    const unsigned log2 = gp_log2(area - 1) + (area > 1); /* area <= 2^log2 */
    const unsigned linear = 30 - log2, square = (31 - log2) / 2, both = 26 - log2;
    return gp_to_u32(gp_least(gp_least(linear, square), both));
}

static bool wants_squares(const gp_window_box *box) {
    bool wants = false;
    for (unsigned r = 0; r < box->results; r++)
        wants = wants || box->result[r].op == GP_REDUCE_SUM_SQUARES;
    return wants;
}

/* Others than 3 channels are batches, with gaps between their columns. */
static gp_strip_form strip_form(const gp_window_box *box, gp_strip_cut *cut) {
    const unsigned bits = 8 * gp_type_bytes(box->type), is_signed = gp_type_is_signed(box->type);
    const bool squares = box->wants & GP_WANT_SQUARES, rgb = box->channels == 3;
    const uint64_t most = ((uint64_t)1 << (bits - is_signed)) - !is_signed;
    if (gp_type_is_float(box->type))
        return bits == 16 ? GP_STRIP_F16 : squares ? GP_STRIP_F32 : GP_STRIP_F32_LINEAR;
    if (bits == 32) {
        const unsigned known = bits_known(cut->area);
        cut->over = UINT32_MAX << known;
        cut->small = (uint64_t)cut->area << known <= 1u << 24 && cut->area < 1u << 22;
        return GP_STRIP_ANY;
    }
    cut->small = cut->area * most <= 1u << 24;
    if (bits == 16)
        return rgb ? GP_STRIP_WIDE_2_RGB : GP_STRIP_WIDE_2;
    const bool long_squares = squares && cut->area * most * most >> 32 != 0;
    if (long_squares && !is_signed && !rgb && !wants_squares(box) && (uint64_t)cut->area * 128 * 128 <= UINT32_MAX) {
        cut->pivot = 128;
        return GP_STRIP_PIVOT;
    }
    if (cut->area * most >> 31 != 0 || long_squares)
        return GP_STRIP_WIDE;
    return squares ? (rgb ? GP_STRIP_NARROW_RGB : GP_STRIP_NARROW) : (rgb ? GP_STRIP_LINEAR_RGB : GP_STRIP_LINEAR);
}

/*
 * The number of warps with which the strips have the fewest columns in all; 0: the window is too wide. A warp alone
 * needs no barriers where floats are.
 */
static unsigned strip_warps(gp_strip_cut *cut, uint64_t columns, unsigned each, unsigned most, bool floats) {
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned warps = 1; warps <= most; warps += warps < STRIP_WARPS ? 1 : warps) {
        const uint64_t all = 32 * warps * each, lost = cut->reach + each - 1;
        if (all < lost + each || (all - lost) * 8 < all)
            continue;
        const uint64_t strips = gp_divide_up(columns, (all - lost) / each * each);
        const uint64_t barriers = floats ? (warps > 1 ? 4 * warps : 0) : 1 + (warps > STRIP_WARPS ? 4 * warps : 0);
        const uint64_t cost = strips * (16 * warps + barriers);
        if (cost >= least)
            continue;
        least = cost;
        best = warps;
        cut->strips = gp_to_u32(strips);
        cut->cols = gp_to_u32(gp_round_up(gp_divide_up(columns, strips), each));
    }
    return best;
}

bool gp_fit_window_strip(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    static const uint8_t entry[GP_STRIP_FORMS] = {4, 8, 8, 16, 16, 24, 4, 8, 16, 16, 8, 16};
    static const uint8_t columns_each[GP_STRIP_FORMS] = {8, 8, 8, 4, 4, 8, 12, 12, 12, 8, 8, 8};
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    gp_strip_cut cut = {.rows = 0};
    if (box->kind == GP_PASS_EXTREMES)
        return gp_window_fit_extremes(problem, device, attempt, tiling);
    if (!does_strip(box) || attempt > 3 || y->outputs > UINT32_MAX)
        return false;
    cut.area = gp_to_u32((uint64_t)(x->window * y->window));
    const gp_strip_form form = strip_form(box, &cut);
    const bool floats = form >= GP_STRIP_F16;
    const unsigned channels = form >= GP_STRIP_LINEAR_RGB && !floats ? 3 : 1, each = columns_each[form];
    const uint64_t columns = x->outputs * channels, batches = box->outputs / y->outputs / columns;
    if (x->window > 8 * 32 * 8)
        return false;
    cut.reach = gp_to_u32((uint64_t)x->window) * channels;
    const unsigned warps = strip_warps(&cut, columns, each, 8 >> attempt, floats);
    if (warps == 0)
        return false;
    const unsigned bytes = gp_type_bytes(box->type);
    cut.vectors = x->in == (int64_t)(bytes * channels) &&
                  problem->in_align >= gp_least(each == 12 ? 4 * bytes : each * bytes, 16);
    cut.vectors =
        cut.vectors && (!floats || (box->border != GP_BORDER_SHRINK && y->n <= INT32_MAX / 2 && y->in <= INT32_MAX));
    tiling->form = form;
    tiling->threads = 32 * warps;
    /* outputs of floats are computed up to the last column */
    const uint64_t computed = tiling->threads * each + cut.reach + each;
    const uint64_t entries = floats ? computed + computed / 8 + 1 : tiling->threads * (each / 4 * 5);
    cut.prefix_bytes = gp_to_u32(gp_round_up(entries * entry[form], 16));
    tiling->smem = cut.prefix_bytes + tiling->threads * each * sizeof(int32_t);
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, form <= GP_STRIP_PIVOT ? GP_STRIP_LESS_REGS : GP_STRIP_REGS,
                         GP_STRIP_STATIC_SMEM + tiling->smem, &held);
    gp_window_cut_rows(&cut.rows, &cut.segments, y, cut.strips * batches,
                       gp_at_least_one((uint64_t)held.blocks_per_sm * device->multiprocessors));
    if (batches > INT32_MAX || (tiling->blocks = cut.strips * batches) > INT32_MAX)
        return false;
    tiling->blocks *= cut.segments;
    GP_TILING_PUT(tiling, cut);
    return tiling->blocks <= INT32_MAX;
}
