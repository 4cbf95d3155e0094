/* SPDX-License-Identifier: Apache-2.0 */
/* Which narrow pictures window_strip does side by side, so that a strip's columns all have something to do. Pure. */
#include "fit.h"

#define PARTS_ROWS 16 /* that a part of a picture has, or more */

/* The innermost axis of batches; NULL: there is none. */
static const gp_window_axis *batches_of(const gp_window_box *box, unsigned channels) {
    const unsigned behind = channels > 1 ? 2 : 1;
    return box->outer >= behind ? gp_window_y(box) - behind : NULL;
}

gp_strip_pack gp_window_pack(const gp_window_box *box, uint64_t columns, uint64_t each, unsigned channels) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const gp_window_axis *batch = batches_of(box, channels);
    const uint64_t span = gp_round_up((x->outputs + (uint64_t)x->window - 1) * channels, each);
    const int64_t unit = channels > 1 ? gp_type_bytes(box->type) : x->in;
    const uint64_t last = (x->outputs + (uint64_t)x->window) * channels; /* its windows end before the strip does */
    uint64_t count = last > columns || span > INT16_MAX ? 0 : gp_least((columns - last) / span + 1, INT16_MAX);
    if (count < 2 || unit <= 0)
        return (gp_strip_pack){.count = 0};
    const bool batches = batch != NULL && batch->in % unit == 0 &&
                         batch->in / unit < INT32_MAX / 2 / (int64_t)count && x->n * channels < INT32_MAX / 2;
    const bool down = (!batches || batch->n < count) && y->outputs >= count * PARTS_ROWS &&
                      y->outputs <= INT32_MAX / 2 && y->n <= INT32_MAX / 2;
    if (!down)
        count = batches ? gp_least(count, batch->n) : 0;
    if (count < 2)
        return (gp_strip_pack){.count = 0};
    return (gp_strip_pack){.count = gp_to_u32(count) & UINT16_MAX,
                           .span = gp_to_u32(span) & INT16_MAX,
                           .down = down,
                           .inverse = gp_to_u32(gp_divide_up((uint64_t)1 << 32, span))};
}

gp_packed gp_window_packed(const gp_window_box *box, gp_strip_pack pack, unsigned channels) {
    const gp_window_axis *y = gp_window_y(box), *batch = batches_of(box, channels);
    gp_packed packed = {1, box->outputs / y->outputs / (gp_window_x(box)->outputs * channels), *y};
    if (pack.down)
        packed.y.outputs = gp_divide_up(y->outputs, pack.count);
    else if (pack.count > 0) {
        packed.strips = gp_divide_up(batch->n, pack.count);
        packed.batches /= batch->n;
    }
    return packed;
}
