/* SPDX-License-Identifier: Apache-2.0 */
/* How window_strip cuts boxes of which a warp's lanes have some bytes of each row: of minima and maxima in windows of
 * few rows, and of means of bytes as bytes. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "box.h"
#include "fit.h"
#include "tiling.h"

/* What a kernel has: elements of a lane, and of what it loads and stores at once; registers; and what a row that it
 * takes before the first output costs, in rows of outputs. */
typedef struct lanes {
    uint64_t own, unit;
    unsigned regs;
    double begin;
} lanes;

/* What a window sees outside of a row is in the strip that has the row's end: that of the borders but
 * GP_BORDER_WRAP. */
static bool ends_within(const gp_window_box *box, const gp_strip_cut *cut, int64_t all) {
    const gp_window_axis *x = gp_window_x(box);
    const int64_t n = (int64_t)x->n, channels = box->channels, before = x->before > 0 ? x->before : 0,
                  beyond = (int64_t)x->outputs - x->before + x->window - 1 - n, skew = cut->skew;
    const int64_t strips = cut->pack.count > 0 ? 1 : cut->strips;
    const int64_t last = (strips - 1) * cut->cols - x->before * channels - skew; /* strip begins there */
    return before < n && beyond < n && (2 * before + 1) * channels + skew <= all &&
           (beyond <= 0 || (n - 1 - beyond) * channels >= last);
}

/* Rows of the input and of all results lie side by side, and have at least a lane's elements. */
static bool lies_dense(const gp_window_box *box, uint64_t own) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const int64_t bytes = gp_type_bytes(box->type), pixel = bytes * box->channels;
    const uint64_t row = x->n * box->channels;
    for (unsigned r = 0; r < box->results; r++) {
        const int64_t *stride = box->result[r].stride + box->outer;
        if (box->result[r].type != box->type || stride[1] != pixel || (box->channels > 1 && stride[-1] != bytes))
            return false;
    }
    return x->in == pixel && row >= own && row < INT32_MAX / 16 && y->n <= INT32_MAX / 2 &&
           (y->n == 1 || y->in >= (int64_t)row * bytes);
}

/* The strips, their rows, and the launch, but for the form and shared memory that are given. */
static bool cut_lanes(const gp_problem *problem, const gp_device *device, const lanes *of, uint64_t warp_bytes,
                      gp_strip_cut *cut, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const unsigned channels = box->channels, bytes = gp_type_bytes(box->type);
    uint64_t group = of->own;
    while (group % channels != 0)
        group += of->own;
    const uint64_t all = 32 * of->own, columns = x->outputs * channels, reach = (uint64_t)x->window * channels;
    cut->pack = gp_window_pack(box, all, of->own, channels);
    const bool narrow = cut->pack.count > 0;
    const gp_packed packed = gp_window_packed(box, cut->pack, channels);
    const uint64_t batches = packed.batches;
    if (box->border == GP_BORDER_WRAP || reach > all / 2 || (columns < all / 2 && !narrow) ||
        columns > INT32_MAX / 2 || batches > INT32_MAX)
        return false;
    cut->reach = gp_to_u32(reach);
    cut->channels = channels & UINT16_MAX;
    cut->warps = 1;
    cut->skew = narrow ? 0 : gp_window_skew(x->before * channels, of->unit);
    const uint64_t lost = gp_greatest(reach, of->unit) + cut->skew, most = (all - lost) / group * group;
    if (most == 0)
        return false;
    cut->strips = gp_to_u32(narrow ? packed.strips : gp_divide_up(columns, most));
    cut->cols = gp_to_u32(narrow ? columns : gp_round_up(gp_divide_up(columns, cut->strips), group));
    if (!ends_within(box, cut, (int64_t)(narrow ? cut->pack.span : all)))
        return false;
    cut->vectors = !narrow && problem->in_align >= of->unit * bytes && x->n * channels % of->unit == 0;
    cut->warp_bytes = gp_to_u32(warp_bytes);
    tiling->threads = GP_WALK_THREADS;
    const unsigned strips_each = GP_WALK_THREADS / 32;
    tiling->smem = strips_each * cut->warp_bytes;
    const unsigned held = gp_occupancy_blocks(device, tiling->threads, of->regs, GP_STRIP_STATIC_SMEM + tiling->smem);
    const uint64_t rows = (uint64_t)y->window;
    if (held == 0)
        return false;
    gp_window_cut_walks(cut, &packed.y, 1 + (double)rows * of->begin, rows > 32 ? rows : 32, cut->strips * batches,
                        device->multiprocessors, held * strips_each);
    const uint64_t number = cut->strips * batches * cut->segments;
    cut->number = gp_to_u32(gp_least(number, INT32_MAX));
    tiling->blocks = gp_divide_up(number, strips_each);
    return number <= INT32_MAX;
}

bool gp_window_fit_bytes(const gp_problem *problem, const gp_device *device, gp_strip_cut *out, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const unsigned channels = box->channels;
    const lanes of = {4 * GP_BYTES_WORDS(channels), GP_BYTES_UNIT(channels), channels == 3 ? 128 : 96, 1.0 / 6};
    const uint64_t sums = 32 * of.own + (uint64_t)gp_window_x(box)->window * channels; /* prefix sums up to there */
    gp_strip_cut cut = *out;
    if (box->type != GP_U8 || box->results != 1 || box->result[0].op != GP_REDUCE_MEAN ||
        box->border == GP_BORDER_SHRINK || (channels != 1 && channels != 3 && channels != 4) ||
        gp_window_y(box)->window > GP_BYTES_ROWS_MAX || cut.area > GP_BYTES_AREA_MAX || cut.area < 2 ||
        !lies_dense(box, of.own))
        return false;
    cut.prefix_bytes = gp_to_u32(gp_round_up((sums + sums / of.own + 1) * sizeof(uint32_t), 16));
    tiling->form = channels == 1 ? GP_WALK_BYTES : channels == 3 ? GP_WALK_BYTES_RGB : GP_WALK_BYTES_RGBA;
    if (!cut_lanes(problem, device, &of, cut.prefix_bytes + 32 * of.own * 2 * sizeof(uint16_t), &cut, tiling))
        return false;
    *out = cut;
    return true;
}

bool gp_window_fit_near(const gp_problem *problem, const gp_device *device, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const unsigned bytes = gp_type_bytes(box->type);
    const uint64_t own = 16 / bytes, rows = (uint64_t)gp_window_y(box)->window;
    const lanes of = {own, own, GP_NEAR_REGS(bytes), 1.0 / 4};
    gp_strip_cut cut = {.rows = 0};
    if (rows > GP_NEAR_ROWS_MAX(bytes) || gp_window_x(box)->window * box->channels > GP_NEAR_REACH_MAX(bytes) ||
        !lies_dense(box, own))
        return false;
    tiling->form = GP_STRIP_NEAR + gp_log2(bytes);
    if (!cut_lanes(problem, device, &of, 32 * (16 * (rows + 1) + own * sizeof(uint16_t)), &cut, tiling))
        return false;
    GP_TILING_PUT(tiling, cut);
    return true;
}
