/* SPDX-License-Identifier: Apache-2.0 */
/* Which boxes window_strip does, and how it cuts them. Pure. */
#include "fit.h"
#include "../arithmetic.h"
#include "../occupancy.h"
#include "box.h"
#include "tiling.h"

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
 * Most bits of magnitudes whose sums over an area stay below 2^31. Where squares are wanted, their sums stay below
 * 2^32; n times squares, and sums squared, below 2^53, as numerators of variances are computed in double.
 */
static unsigned bits_known(uint64_t area, bool squares) {
    const unsigned log2 = gp_log2(area - 1) + (area > 1); /* area <= 2^log2 */
    const unsigned linear = 30 - log2, square = (31 - log2) / 2, both = 26 - log2;
    return squares ? gp_to_u32(gp_least(gp_least(linear, square), both)) : linear;
}

/*
 * The number of warps with which the strips have the fewest columns in all; 0: the window is too wide. A warp alone
 * needs no barriers where floats are.
 */
static unsigned strip_warps(gp_strip_cut *cut, uint64_t columns, uint64_t each, unsigned most) {
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned warps = 1; warps <= most; warps += warps < STRIP_WARPS ? 1 : warps) {
        const uint64_t all = 32 * warps * each, lost = cut->reach + each - 1;
        if (all < lost + each || (all - lost) * 8 < all)
            continue;
        const uint64_t strips = gp_divide_up(columns, (all - lost) / each * each);
        const uint64_t barriers = warps > 1 ? 4 * warps : 0;
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

/* ---- a warp a strip ---- */

/*
 * entry_bytes: of prefix sums, the widest that may be needed; columns of a lane; registers of a thread; next: another
 * form for such boxes, which may take less time.
 */
static const struct {
    uint8_t entry_bytes, columns, regs, channels, next;
} walks[GP_WALK_BYTES - GP_WALK_LINEAR] = {{4, 8, 80, 1, GP_WALK_NARROW_ANY},
                                           {8, 8, 80, 1, GP_WALK_NARROW_ANY},
                                           {16, 8, 128, 1, GP_WALK_WIDE_2_ANY},
                                           {24, 8, 128, 1, GP_WALK_ANY_ANY},
                                           {8, 12, 128, 3, GP_WALK_NARROW_RGB_ANY},
                                           {8, 8, 96, 1, 0},
                                           {8, 8, 128, 1, 0},
                                           {8, 12, 128, 3, 0},
                                           {16, 12, 128, 3, 0},
                                           {16, 4, 128, 1, 0},
                                           {16, 4, 128, 1, 0},
                                           {24, 8, 128, 1, 0}};

/* Results that have code of their own there; of ints, for windows that are whole. */
static bool usual_results(const gp_window_box *box, const gp_strip_cut *cut) {
    const unsigned first = box->result[0].op, second = box->result[1].op;
    if (box->border == GP_BORDER_SHRINK && !gp_type_is_float(box->type))
        return false;
    if (box->results == 1)
        return first == GP_REDUCE_MEAN && (box->result[0].type == GP_F32 ||
                                           (box->result[0].type != GP_F64 && cut->area > 1 && cut->area < 1u << 18));
    return box->results == 2 && box->result[0].type == GP_F32 && box->result[1].type == GP_F32 &&
           ((first == GP_REDUCE_MEAN && second >= GP_REDUCE_VARIANCE && cut->area > 1) ||
            (first == GP_REDUCE_SUM && second == GP_REDUCE_SUM_SQUARES));
}

#define MEANS_AREA_MAX (1 << 13) /* units that 32 bits can sum of larger windows are too coarse */

/* 0: none. Channels without a form of theirs are batches, with gaps between their columns. */
static unsigned walk_form(const gp_window_box *box, gp_strip_cut *cut) {
    const unsigned bytes = gp_type_bytes(box->type), bits = 8 * bytes, is_signed = gp_type_is_signed(box->type);
    const bool squares = box->wants & GP_WANT_SQUARES, usual = usual_results(box, cut), rgb = box->channels == 3;
    const bool is_float = gp_type_is_float(box->type);
    const bool fits = bytes == 1 ? cut->area < 1u << 18 : bytes == 2 && cut->area < 1u << 15;
    if (is_float)
        return bytes <= 4 && usual && !squares && box->result[0].type == GP_F32 && cut->area <= MEANS_AREA_MAX
                   ? GP_WALK_MEANS
                   : 0;
    if (bytes > 4)
        return 0;
    if (bytes == 4) {
        const unsigned known = bits_known(cut->area, squares);
        cut->over = UINT32_MAX << known;
        cut->small = (uint64_t)cut->area << known <= 1u << 24 && cut->area < 1u << 22;
        return usual ? GP_WALK_ANY : GP_WALK_ANY_ANY;
    }
    cut->small = cut->area * (((uint64_t)1 << (bits - is_signed)) - !is_signed) <= 1u << 24;
    if (bytes == 2)
        return fits && rgb ? GP_WALK_LONG_2_RGB_ANY : fits && usual ? GP_WALK_LONG_2 : GP_WALK_WIDE_2_ANY;
    if (!fits)
        return GP_WALK_WIDE_ANY;
    if (rgb)
        return usual ? GP_WALK_NARROW_RGB : GP_WALK_NARROW_RGB_ANY;
    return !usual ? GP_WALK_NARROW_ANY : squares ? GP_WALK_NARROW : GP_WALK_LINEAR;
}

/*
 * The strips of a form, of a warp or several: as wide as can be, or of whole groups of 128 outputs, as a warp writes
 * them. Returns what they cost, by measurement of columns, of outputs and of barriers; 0: windows are too wide.
 */
static uint64_t cut_columns(gp_strip_cut *cut, unsigned form, uint64_t columns, int64_t before, unsigned warps_max) {
    const uint64_t each = walks[form - GP_WALK_LINEAR].columns, unit = each == 12 ? 24 : each < 8 ? 8 : each;
    uint64_t least = 0;
    cut->skew = gp_window_skew(before, each);
    warps_max = form == GP_WALK_MEANS ? 1 : form < GP_WALK_NARROW_ANY && warps_max > 4 ? 4 : warps_max;
    for (unsigned number = 0; 1u << number / 2 <= warps_max; number++) {
        const uint64_t warps = 1u << number / 2, group = number % 2 ? 128 : 1, all = 32 * each * warps,
                       lost = cut->reach + cut->skew,
                       most = all < lost ? 0 : (all - lost) / group * group / unit * unit,
                       strips = gp_divide_up(columns, gp_at_least_one(most)),
                       cols = gp_round_up(gp_divide_up(columns, gp_at_least_one(strips)), unit),
                       cost = strips * (all * 53 + gp_round_up(cols, 128) * 74) *
                              (form < GP_WALK_NARROW_ANY ? 2 : 3) *
                              (warps == 1   ? 103
                               : warps == 2 ? 100
                                            : 104);
        if (most * 8 < all || (least > 0 && cost >= least))
            continue;
        least = cost;
        cut->strips = gp_to_u32(strips);
        cut->cols = gp_to_u32(cols);
        cut->warps = warps & UINT16_MAX;
    }
    return least;
}

#define USUAL_ROWS 24 /* or more, by measurement */

static bool fit_walk(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_strip_cut *cut,
                     gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const unsigned bytes = gp_type_bytes(box->type), warps_max = 8 >> attempt;
    unsigned form = walk_form(box, cut);
    if (form == 0 || attempt > 2 || y->n > INT32_MAX / 2)
        return false;
    const unsigned channels = walks[form - GP_WALK_LINEAR].channels;
    const uint64_t columns = x->outputs * channels;
    cut->reach = gp_to_u32((uint64_t)x->window) * channels;
    const unsigned next = walks[form - GP_WALK_LINEAR].next, packs = next ? next : form; /* usual results do not */
    const uint64_t each_packed = walks[packs - GP_WALK_LINEAR].columns;
    cut->pack = gp_window_pack(box, 32 * each_packed, each_packed, channels);
    form = cut->pack.count > 0 ? packs : form;
    const gp_packed packed = gp_window_packed(box, cut->pack, channels);
    const uint64_t batches = packed.batches;
    cut->channels = channels & UINT16_MAX;
    if (columns > INT32_MAX / 2 || batches > INT32_MAX || x->in > INT32_MAX || x->in < INT32_MIN)
        return false;
    uint64_t least = cut->pack.count;
    if (least > 0) {
        cut->strips = gp_to_u32(packed.strips);
        cut->cols = gp_to_u32(columns);
        cut->warps = 1;
    }
    for (unsigned other = cut->pack.count > 0 ? 0 : form; other != 0; other = walks[other - GP_WALK_LINEAR].next) {
        gp_strip_cut tried = *cut;
        const uint64_t cost = cut_columns(&tried, other, columns, x->before * channels, warps_max);
        if (cost == 0 || (least > 0 && cost >= least))
            continue;
        *cut = tried;
        least = cost;
        form = other;
    }
    if (least == 0)
        return false;
    const unsigned warps = cut->warps;
    const uint64_t each = walks[form - GP_WALK_LINEAR].columns, all = 32 * each * warps;
    cut->vectors = x->in == (int64_t)(bytes * channels) &&
                   problem->in_align >= gp_least(each == 12 ? 4 * bytes : each * bytes, 16);
    if (form == GP_WALK_MEANS && (x->in != (int64_t)bytes || box->result[0].stride[box->outer + 1] != 4))
        return false;
    cut->vectors = cut->pack.count > 0                        ? GP_VECTORS_NONE
                   : cut->vectors                             ? GP_VECTORS_TOGETHER
                   : bytes == 1 && x->in == (int64_t)channels ? GP_VECTORS_ANYWHERE
                                                              : GP_VECTORS_NONE;
    /* outputs are computed up to the last column */
    const uint64_t room = ((all + cut->reach + each) / 4 * 5 + 5) * walks[form - GP_WALK_LINEAR].entry_bytes;
    cut->prefix_bytes = gp_to_u32(gp_round_up(room, 16)) + (warps > 1 ? GP_WALK_TOTALS : 0);
    cut->warp_bytes = cut->prefix_bytes + gp_to_u32(all * sizeof(int32_t));
    tiling->form = form;
    tiling->threads = warps > 1 ? 32 * warps : (unsigned)GP_WALK_THREADS >> attempt;
    const unsigned strips_each = tiling->threads / 32 / warps;
    tiling->smem = strips_each * cut->warp_bytes;
    const unsigned held = gp_occupancy_blocks(device, tiling->threads, walks[form - GP_WALK_LINEAR].regs,
                                              GP_STRIP_STATIC_SMEM + tiling->smem);
    const double window = (double)y->window,
                 begin = form == GP_WALK_MEANS ? window / 4 + 4 : 2 + window / (bytes == 4 ? 3 : 6);
    const uint64_t rows = (uint64_t)y->window * (bytes == 4 ? 3 : 1);
    gp_window_cut_walks(cut, &packed.y, begin,
                        form == GP_WALK_MEANS ? packed.y.outputs
                        : rows > USUAL_ROWS   ? rows
                                              : USUAL_ROWS,
                        cut->strips * batches * warps, device->multiprocessors,
                        gp_to_u32(gp_at_least_one(held)) * tiling->threads / 32);
    const uint64_t number = cut->strips * batches * cut->segments;
    cut->number = gp_to_u32(gp_least(number, INT32_MAX));
    tiling->blocks = gp_divide_up(number, strips_each);
    return number <= INT32_MAX;
}

/* ---- a warp a segment of a line ---- */

static bool has_doubles(const gp_window_box *box) {
    for (unsigned r = 0; r < box->results; r++)
        if (box->result[r].type == GP_F64)
            return true;
    return false;
}

#define LINE_LEAST 4096 /* outputs of a line, by measurement */

/*
 * Windows from so many elements on take less time along lines than down strips, by measurement: strips of a single
 * row take twice their time.
 */
static int64_t line_window_least(const gp_window_box *box, const gp_strip_cut *cut) {
    const unsigned bytes = gp_type_bytes(box->type);
    const bool squares = box->wants & GP_WANT_SQUARES, alone = gp_window_y(box)->outputs == 1;
    if (gp_window_x(box)->in != (int64_t)bytes || gp_window_x(box)->outputs < LINE_LEAST)
        return INT64_MAX;
    if (gp_type_is_float(box->type))
        return bytes == 2 && !squares && !alone ? 50 : 2;
    if (!squares)
        return bytes == 1 && !alone && usual_results(box, cut) ? 400 : 2;
    return bytes == 2 ? (alone ? 2 : 30) : bytes == 1 && alone ? 100 : 400;
}

static bool fit_line(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_strip_cut *cut,
                     gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *x = gp_window_x(box);
    const unsigned bytes = gp_type_bytes(box->type);
    const bool squares = box->wants & GP_WANT_SQUARES, is_float = gp_type_is_float(box->type);
    const uint64_t lines = box->outputs / x->outputs;
    if (gp_window_y(box)->window != 1 || x->window > 2 * (int64_t)x->n + 64 || bytes > 4 || attempt > 2)
        return false;
    const bool wide = has_doubles(box) || x->window >= GP_LINE_WIDE_LEAST;
    const bool is_short = bytes == 1 ? cut->area < 1u << 23 : bytes == 2 && cut->area < 1u << 15;
    const gp_strip_form first = is_float ? GP_LINE_FLOATS : is_short ? GP_LINE : GP_LINE_LONG;
    tiling->form = first + (is_float && wide ? 2u : 1u) * squares;
    tiling->threads = (unsigned)GP_WALK_THREADS >> attempt;
    tiling->smem = tiling->threads / 32 * GP_LINE_BYTES;
    const unsigned held =
        gp_occupancy_blocks(device, tiling->threads, GP_LINE_REGS, GP_STRIP_STATIC_SMEM + tiling->smem);
    const gp_window_axis chunks = {.outputs = gp_divide_up(x->outputs, GP_LINE_CHUNK)};
    const uint64_t of_window = (uint64_t)x->window / GP_LINE_CHUNK;
    if (held == 0)
        return false;
    gp_window_cut_walks(cut, &chunks, 4 + 0.4 * (double)of_window, gp_greatest(64, 4 * of_window), lines,
                        device->multiprocessors, held * tiling->threads / 32);
    const uint64_t number = lines * cut->segments, cols = (uint64_t)cut->rows * GP_LINE_CHUNK;
    cut->strips = cut->segments;
    cut->cols = gp_to_u32(gp_least(cols, INT32_MAX));
    cut->rows = cut->segments = 1;
    cut->number = gp_to_u32(gp_least(number, INT32_MAX));
    tiling->blocks = gp_divide_up(number, tiling->threads / 32);
    return number <= INT32_MAX && cols <= INT32_MAX;
}

/* ---- a block a strip, of floats ---- */

static bool fit_floats(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_strip_cut *cut,
                       gp_tiling *tiling) {
    static const uint8_t entry[GP_STRIP_FORMS] = {16, 8, 16, 24, 24};
    const uint64_t each = 8;
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const unsigned bytes = gp_type_bytes(box->type);
    const bool squares = box->wants & GP_WANT_SQUARES, wide = squares && has_doubles(box);
    *cut = (gp_strip_cut){.area = cut->area};
    cut->pack = gp_window_pack(box, 32 * each, each, 1);
    const gp_strip_form form = bytes == 2                       ? (wide ? GP_STRIP_F16_WIDE : GP_STRIP_F16)
                               : wide                           ? GP_STRIP_F32_WIDE
                               : squares || cut->pack.count > 0 ? GP_STRIP_F32
                                                                : GP_STRIP_F32_LINEAR;
    if (!gp_type_is_float(box->type) || x->window > 8 * 32 * 8)
        return false;
    cut->reach = gp_to_u32((uint64_t)x->window);
    const gp_packed packed = gp_window_packed(box, cut->pack, 1);
    const uint64_t batches = packed.batches;
    cut->skew = cut->pack.count > 0 ? 0 : gp_window_skew(x->before, each);
    cut->strips = gp_to_u32(packed.strips);
    cut->cols = gp_to_u32(x->outputs);
    const unsigned warps = cut->pack.count > 0 ? 1 : strip_warps(cut, x->outputs, each, 8 >> attempt);
    if (warps == 0)
        return false;
    cut->vectors = cut->pack.count == 0 && x->in == (int64_t)bytes &&
                   problem->in_align >= gp_least(each * bytes, 16) && box->border != GP_BORDER_SHRINK &&
                   y->n <= INT32_MAX / 2 && y->in <= INT32_MAX;
    tiling->form = form;
    tiling->threads = 32 * warps;
    /* outputs are computed up to the last column */
    const uint64_t computed = tiling->threads * each + cut->reach + each;
    cut->prefix_bytes = gp_to_u32(gp_round_up((computed + computed / 8 + 1) * entry[form], 16));
    tiling->smem = cut->prefix_bytes + tiling->threads * each * sizeof(int32_t);
    const unsigned held =
        gp_occupancy_blocks(device, tiling->threads, GP_STRIP_REGS, GP_STRIP_STATIC_SMEM + tiling->smem);
    gp_window_cut_rows(&cut->rows, &cut->segments, &packed.y, cut->strips * batches,
                       gp_at_least_one((uint64_t)held * device->multiprocessors));
    if (batches > INT32_MAX || (tiling->blocks = cut->strips * batches) > INT32_MAX)
        return false;
    tiling->blocks *= cut->segments;
    return tiling->blocks <= INT32_MAX;
}

bool gp_fit_window_strip(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    gp_strip_cut cut = {.rows = 0};
    if (box->kind == GP_PASS_EXTREMES)
        return gp_window_fit_extremes(problem, device, attempt, tiling);
    if (!does_strip(box) || attempt > 3 || y->outputs > UINT32_MAX)
        return false;
    cut.area = gp_to_u32((uint64_t)(x->window * y->window));
    const bool is_along = x->window >= line_window_least(box, &cut);
    const bool fits = (is_along && fit_line(problem, device, attempt, &cut, tiling)) ||
                      (attempt == 0 && gp_window_fit_bytes(problem, device, &cut, tiling)) ||
                      fit_walk(problem, device, attempt, &cut, tiling) ||
                      fit_floats(problem, device, attempt, &cut, tiling) ||
                      fit_line(problem, device, attempt, &cut, tiling);
    GP_TILING_PUT(tiling, cut);
    return fits;
}
