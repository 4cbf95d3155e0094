/* SPDX-License-Identifier: Apache-2.0 */
/* How window_strip cuts boxes whose results are means of bytes, as bytes. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "box.h"
#include "fit.h"
#include "tiling.h"

#define REGS(channels) ((channels) == 3 ? 128 : 96)

/* What a window sees outside of a row is in the strip that has the row's end: that of the borders but
 * GP_BORDER_WRAP. */
static bool ends_within(const gp_window_box *box, const gp_strip_cut *cut, int64_t all) {
    const gp_window_axis *x = gp_window_x(box);
    const int64_t n = (int64_t)x->n, channels = box->channels, before = x->before,
                  beyond = (int64_t)x->outputs - before + x->window - 1 - n, skew = cut->skew;
    const int64_t last =
        (int64_t)(cut->strips - 1) * cut->cols - before * channels - skew; /* begins the last strip */
    return before >= 0 && before < n && beyond < n && (2 * before + 1) * channels + skew <= all &&
           (beyond < 0 || (n - 1 - beyond) * channels >= last);
}

bool gp_window_fit_bytes(const gp_problem *problem, const gp_device *device, gp_strip_cut *out, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    gp_strip_cut whole = *out, *const cut = &whole;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const unsigned channels = box->channels, words = GP_BYTES_WORDS(channels), unit = GP_BYTES_UNIT(channels);
    const int64_t *stride = box->result[0].stride + box->outer, row = (int64_t)x->n * channels;
    const uint64_t all = 32 * 4 * words, group = 4 * words, columns = x->outputs * channels,
                   reach = (uint64_t)x->window * channels, batches = box->outputs / (columns * y->outputs);
    if (box->type != GP_U8 || box->results != 1 || box->result[0].op != GP_REDUCE_MEAN ||
        box->result[0].type != box->type || (channels != 1 && channels != 3 && channels != 4) ||
        box->border == GP_BORDER_WRAP || box->border == GP_BORDER_SHRINK)
        return false;
    if (x->in != channels || stride[1] != channels || (channels > 1 && stride[-1] != 1) || y->n > INT32_MAX / 2 ||
        y->window > GP_BYTES_ROWS_MAX || reach > all / 2 || cut->area > GP_BYTES_AREA_MAX || cut->area < 2 ||
        columns < all / 2 || columns > INT32_MAX / 2 || row < (int64_t)(2 * group) || batches > INT32_MAX ||
        (y->n > 1 && y->in < row))
        return false;
    cut->reach = gp_to_u32(reach);
    cut->channels = channels & UINT16_MAX;
    cut->warps = 1;
    cut->skew = gp_window_skew(x->before * channels, unit);
    const uint64_t lost = gp_greatest(reach, unit) + cut->skew, most = (all - lost) / group * group;
    cut->strips = gp_to_u32(gp_divide_up(columns, most));
    cut->cols = gp_to_u32(gp_round_up(gp_divide_up(columns, cut->strips), group));
    if (!ends_within(box, cut, (int64_t)all))
        return false;
    cut->vectors = problem->in_align >= unit && row % unit == 0;
    cut->prefix_bytes = gp_to_u32(gp_round_up((all + reach + (all + reach) / group + 1) * sizeof(uint32_t), 16));
    cut->warp_bytes = cut->prefix_bytes + gp_to_u32(all * 2 * sizeof(uint16_t));
    tiling->form = channels == 1 ? GP_WALK_BYTES : channels == 3 ? GP_WALK_BYTES_RGB : GP_WALK_BYTES_RGBA;
    tiling->threads = GP_WALK_THREADS;
    const unsigned strips_each = GP_WALK_THREADS / 32;
    tiling->smem = strips_each * cut->warp_bytes;
    const unsigned held =
        gp_occupancy_blocks(device, tiling->threads, REGS(channels), GP_STRIP_STATIC_SMEM + tiling->smem);
    const uint64_t rows = (uint64_t)y->window;
    gp_window_cut_walks(cut, y, 1 + (double)rows / 6, rows > 32 ? rows : 32, cut->strips * batches,
                        device->multiprocessors, gp_to_u32(gp_at_least_one(held)) * strips_each);
    const uint64_t number = cut->strips * batches * cut->segments;
    cut->number = gp_to_u32(gp_least(number, INT32_MAX));
    tiling->blocks = gp_divide_up(number, strips_each);
    *out = whole;
    return number <= INT32_MAX;
}
