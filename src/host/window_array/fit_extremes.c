/* SPDX-License-Identifier: Apache-2.0 */
/* How window_strip cuts boxes of extremes: strips of columns, whose last rows have room in shared memory. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "box.h"
#include "fit.h"
#include "tiling.h"

#define WORDS_MAX 8192 /* of a row; more than any GPU has shared memory for */

/* A block's threads for so many words of a row. */
static unsigned threads_of(uint32_t words, unsigned most) {
    return gp_to_u32(gp_round_up(gp_divide_up(words, gp_divide_up(words, most)), 32));
}

#define BLOCK_WHOLE 33 /* blocks are as long as windows up to here */
#define BLOCK_SMALL 9  /* columns of a thread where windows are small */

/* Columns of a block along rows: odd, so that threads side by side have words in different banks. Those of wide
 * windows are as many as threads: 101 x 101 of bytes takes 80 us with blocks half as long as windows, 70 with these.
 */
static uint32_t block_of(const gp_window_box *box) {
    const uint32_t window = gp_to_u32((uint64_t)gp_window_x(box)->window),
                   each = GP_EXTREMES_DOWN * 4 / gp_type_bytes(box->type);
    return window <= GP_EXTREMES_SMALL ? BLOCK_SMALL
           : window <= BLOCK_WHOLE     ? (window - 1) | 1
                                       : (window / 16 > each ? window / 16 : each) | 1;
}

static size_t smem_of(const gp_window_box *box, uint64_t words) {
    const uint64_t each = 4 / gp_type_bytes(box->type), height = (uint64_t)gp_window_y(box)->window;
    const uint64_t columns = words * each;
    return (size_t)(4 * ((height + 1) * words +
                         GP_EXTREMES_DOWN * (2 * (columns + GP_EXTREMES_GAP) + columns / block_of(box))));
}

/* Strips with the fewest words in all, and as many on an SM as hide what loads take. False: the window is too large.
 */
static bool choose_strips(const gp_window_box *box, const gp_device *device, uint64_t smem, unsigned threads,
                          gp_extremes_cut *cut, uint64_t *resident) {
    const uint64_t each = 4 / gp_type_bytes(box->type), unit = each * box->channels,
                   columns = gp_window_x(box)->outputs * box->channels, lost = cut->reach + each - 1;
    const double lines = (double)box->outputs / (double)columns;
    double least = 0;
    for (uint32_t words = 32; words <= WORDS_MAX && smem_of(box, words) <= smem; words += words < 512 ? 32 : 256) {
        if (words * each < lost + unit)
            continue;
        const gp_strip_pack pack = gp_window_pack(box, words * each, unit, box->channels);
        const uint64_t strips = pack.count > 0 ? gp_window_packed(box, pack, box->channels).strips
                                               : gp_divide_up(columns, (words * each - lost) / unit * unit);
        const double of_row = pack.count > 0 ? 1.0 / pack.count : (double)strips;
        const unsigned block = threads_of(words, threads);
        const unsigned held =
            gp_occupancy_blocks(device, block, GP_EXTREMES_REGS, GP_STRIP_STATIC_SMEM + smem_of(box, words));
        if (held == 0)
            continue;
        const double warps = held * (block / 32), blocks = (double)held * device->multiprocessors;
        const double rows = lines * of_row / blocks;
        const double cost = of_row * words * (1 + 16 / warps) * (1 + (double)gp_window_y(box)->window / rows);
        if (least > 0 && cost >= least)
            continue;
        least = cost;
        cut->words = words;
        cut->strips = gp_to_u32(strips);
        cut->cols = gp_to_u32(pack.count > 0 ? columns : gp_round_up(gp_divide_up(columns, strips), unit));
        cut->pack = pack;
        *resident = (uint64_t)held * device->multiprocessors;
    }
    return least > 0;
}

static bool fit_picture(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const uint64_t smem = attempt == 0 ? device->smem_per_block_optin : device->smem_per_block >> (attempt - 1);
    const unsigned bytes = gp_type_bytes(box->type), channels = box->channels;
    const uint32_t window = gp_to_u32((uint64_t)x->window);
    gp_extremes_cut cut = {.rows = 0};
    uint64_t resident = 0;
    if (attempt > 3 || box->outputs <= 1 || x->window > INT16_MAX || y->window > INT16_MAX ||
        y->window > 4 * (int64_t)y->n + 64 || y->outputs > INT32_MAX / 2 || x->n * channels >= INT32_MAX / 2 ||
        x->outputs * channels > INT32_MAX / 2)
        return false;
    for (unsigned r = 0; r < box->results; r++)
        if (box->result[r].type != box->type)
            return false;
    if (attempt == 0 && gp_window_fit_near(problem, device, tiling))
        return true;
    cut.reach = window * channels;
    cut.skew = gp_window_skew(x->before * channels, 4 / bytes);
    if (!choose_strips(box, device, smem, GP_EXTREMES_THREADS_MAX >> attempt, &cut, &resident))
        return false;
    cut.block = block_of(box);
    cut.vectors = x->in == (int64_t)(bytes * channels) && problem->in_align >= 4 && x->n * channels * bytes >= 4;
    const gp_packed packed = gp_window_packed(box, cut.pack, channels);
    const uint64_t batches = packed.batches, apart = cut.strips * batches;
    if (cut.pack.count > 0)
        cut.skew = 0;
    if (batches > INT32_MAX || apart > INT32_MAX)
        return false;
    gp_window_cut_rows(&cut.rows, &cut.segments, &packed.y, apart, resident);
    tiling->form = GP_STRIP_FORMS + gp_log2(bytes);
    tiling->threads = threads_of(cut.words, GP_EXTREMES_THREADS_MAX >> attempt);
    tiling->smem = smem_of(box, cut.words);
    tiling->blocks = apart * cut.segments;
    GP_TILING_PUT(tiling, cut);
    return tiling->blocks <= INT32_MAX;
}

bool gp_window_fit_extremes(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    gp_window_box box;
    gp_problem inside;
    const bool alone = gp_window_y(problem->box)->outputs == 1; /* strips would have one row */
    if ((attempt == 0 && gp_window_fit_near(problem, device, tiling)) ||
        (!alone && fit_picture(problem, device, attempt, tiling)))
        return true;
    if (gp_window_fold(problem, &box, &inside) && fit_picture(&inside, device, attempt, tiling)) {
        tiling->form = GP_STRIP_FOLDED;
        return true;
    }
    return alone && fit_picture(problem, device, attempt, tiling);
}
