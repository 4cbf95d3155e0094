/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a box into tiles for the threads, and finds what each of them sees beyond its edges. */
#include "../cpu/rounding.h"
#include "cpu.h"
#include <stdlib.h>

/* Outputs of a row in a tile: what a kernel keeps of as many columns stays in a core's own cache. */
#define TILE_COUNT 4096

typedef struct work {
    gp_window_one one;
    const gp_window_kernels *kernels;
    uint64_t batches, strips, pieces; /* of Y and of X */
    uint64_t piece;                   /* outputs of X in one */
} work;

/* Looking further than two axes' lengths beyond an edge shows nothing new, whatever the border. To sums it makes no
 * difference where there are but zeros or nothing. */
static void clip(gp_window_axis *axis) {
    const int64_t most = 2 * (int64_t)axis->n;
    int64_t after = axis->window - 1 - axis->before;
    if (axis->before > most)
        axis->before = most;
    if (after > most)
        after = most;
    axis->window = axis->before + 1 + after;
}

/* Elements left of the middle, the middle, and the elements right of it. */
static void see_row(gp_window_tile *tile, int64_t *offset) {
    const gp_window_box *box = tile->one->box;
    const int64_t begin = (int64_t)tile->x_begin - tile->x.before, n = (int64_t)tile->x.n,
                  end = begin + (int64_t)(tile->ext / tile->channels), bytes = gp_type_bytes(box->type);
    const bool contiguous = tile->x.in == bytes * (int64_t)tile->channels;
    const int64_t first = begin > 0 ? begin : 0, last = end < n ? end : n;
    tile->middle = contiguous && last > first ? (size_t)(last - first) * tile->channels : 0;
    tile->left = tile->middle > 0 ? (size_t)(first - begin) * tile->channels : tile->ext;
    tile->middle_at = first * tile->x.in;
    tile->offset = offset;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = gp_window_source(box->border, n, i);
        for (size_t c = 0; c < tile->channels && !(tile->middle > 0 && i >= first && i < last); c++)
            *offset++ = at < 0 ? -1 : at * tile->x.in + (int64_t)c * bytes;
    }
}

/* The last resort: memory is short, or windows are too large for the kernel or for such a small array. */
static void compute_singly(const gp_window_tile *tile) {
    const gp_window_box *box = tile->one->box;
    gp_accumulator a;
    for (uint64_t y = tile->y_begin; y < tile->y_end; y++)
        for (uint64_t i = 0; i < tile->count * tile->channels; i++) {
            const uint64_t channel = i % tile->channels, x = tile->x_begin + i / tile->channels;
            unsigned char *to[GP_PASS_RESULTS];
            for (unsigned r = 0; r < box->results; r++) {
                const uint64_t batch = tile->batch * tile->channels + channel;
                to[r] = gp_pass_address(&tile->one->pass, r,
                                        (batch * box->axis[box->outer].outputs + y) * gp_window_x(box)->outputs + x);
            }
            gp_window_gather_one(&a, tile->one, tile->plane + channel * gp_type_bytes(box->type), y, x);
            gp_window_write_one(&a, tile->one, to);
        }
}

/* Elements of an axis that one output looks at: those that come again are counted, not read again. */
static uint64_t looked_at(const gp_window_axis *axis) {
    return gp_least((uint64_t)axis->window, 4 * axis->n);
}

/* The extended row has a place for all that a window sees again and again: more than a tiny row has elements. */
static bool is_less_singly(const gp_window_tile *tile) {
    uint64_t elements;
    return !__builtin_mul_overflow(looked_at(&tile->y), looked_at(&tile->x), &elements) &&
           !__builtin_mul_overflow(elements, tile->n, &elements) && elements < tile->ext;
}

static void run_tile(const work *w, gp_window_tile *tile) {
    const gp_window_box *box = w->one.box;
    uint64_t ext;
    int64_t *offset = NULL;
    const bool fits = !__builtin_add_overflow(tile->count, (uint64_t)tile->x.window - 1, &ext) &&
                      !__builtin_mul_overflow(ext, tile->channels, &ext) && ext < (uint64_t)1 << 40;
    if (fits) {
        tile->ext = ext;
        if (w->kernels != NULL && !is_less_singly(tile))
            offset = malloc(ext * sizeof *offset + tile->n * 8);
    }
    bool done = false;
    if (offset != NULL) {
        tile->row = (unsigned char *)(offset + ext);
        see_row(tile, offset);
        done = (box->kind == GP_PASS_EXTREMES ? w->kernels->extremes : w->kernels->moments)(tile);
    }
    if (!done)
        compute_singly(tile);
    free(offset);
}

static void take_tiles(void *argument, unsigned part, unsigned parts) {
    const work *w = argument;
    const gp_window_box *box = w->one.box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    GP_ROUNDS_TO_NEAREST;
    const uint64_t tiles = w->batches * w->strips * w->pieces, end = gp_part_begin(tiles, part + 1, parts);
    for (uint64_t i = gp_part_begin(tiles, part, parts); i < end; i++) {
        const uint64_t piece = i % w->pieces, strip = i / w->pieces % w->strips;
        gp_window_tile tile = {.one = &w->one, .y = *y, .x = *x, .plane = box->in, .channels = box->channels};
        uint64_t batch = tile.batch = i / w->pieces / w->strips;
        for (unsigned a = box->outer - (box->channels > 1 ? 1u : 0u); a-- > 0; batch /= box->axis[a].n)
            tile.plane += (int64_t)(batch % box->axis[a].n) * box->axis[a].in;
        if (box->kind == GP_PASS_EXTREMES)
            clip(&tile.y);
        if (box->kind == GP_PASS_EXTREMES || box->border == GP_BORDER_ZERO || box->border == GP_BORDER_SHRINK)
            clip(&tile.x);
        tile.y_begin = gp_part_begin(y->outputs, (unsigned)strip, (unsigned)w->strips);
        tile.y_end = gp_part_begin(y->outputs, (unsigned)strip + 1, (unsigned)w->strips);
        tile.x_begin = piece * w->piece;
        tile.count = gp_least(w->piece, x->outputs - tile.x_begin);
        tile.n = tile.count * tile.channels;
        run_tile(w, &tile);
    }
    gp_streams_done();
}

bool gp_window_is_contiguous(const gp_window_tile *tile, unsigned r) {
    const gp_window_box *box = tile->one->box;
    const gp_pass_result *result = &box->result[r];
    const int64_t bytes = gp_type_bytes(result->type), channels = (int64_t)tile->channels;
    return result->stride[box->outer + 1] == bytes * channels &&
           (channels == 1 || result->stride[box->outer - 1] == bytes);
}

bool gp_window_is_streamed(const gp_window_tile *tile, unsigned r) {
    const gp_window_box *box = tile->one->box;
    return gp_window_is_contiguous(tile, r) &&
           box->outputs * gp_type_bytes(box->result[r].type) >= GP_STREAMED_BYTES_MIN;
}

unsigned char *gp_window_result_row(const gp_window_tile *tile, unsigned r, uint64_t y) {
    const gp_window_box *box = tile->one->box;
    const int64_t *stride = box->result[r].stride;
    unsigned char *to = (unsigned char *)box->to[r] + (int64_t)y * stride[box->outer] +
                        (int64_t)tile->x_begin * stride[box->outer + 1];
    uint64_t batch = tile->batch;
    for (unsigned a = box->outer - (box->channels > 1 ? 1u : 0u); a-- > 0; batch /= box->axis[a].n)
        to += (int64_t)(batch % box->axis[a].n) * stride[a];
    return to;
}

void gp_window_put(const gp_window_tile *tile, unsigned r, unsigned char *to, size_t begin, size_t end) {
    const gp_window_box *box = tile->one->box;
    const gp_pass_result *result = &box->result[r];
    const size_t bytes = gp_type_bytes(result->type), c = tile->channels;
    const int64_t step = result->stride[box->outer + 1],
                  side = c > 1 ? result->stride[box->outer - 1] : (int64_t)bytes;
    if (gp_window_is_contiguous(tile, r)) {
        memcpy(to + begin * bytes, tile->row, (end - begin) * bytes);
        return;
    }
    for (size_t i = begin; i < end; i++)
        memcpy(to + (int64_t)(i / c) * step + (int64_t)(i % c) * side, tile->row + (i - begin) * bytes, bytes);
}

/* Of one thread. */
#define OUTPUTS_A_US 300
#define ELEMENT_NS 4 /* of a window, by the reference row */

gp_status gp_window_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             const gp_window_kernels *kernels) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    work w = {
        .one = {.box = box}, .kernels = kernels, .batches = box->outputs / y->outputs / x->outputs / box->channels};
    gp_window_as_pass(box, &w.one.pass);
    const uint64_t halo = gp_least((uint64_t)x->window, 3 * x->n);
    w.piece = gp_least(x->outputs, gp_greatest(gp_at_least_one(TILE_COUNT / box->channels), 4 * halo));
    w.pieces = gp_divide_up(x->outputs, w.piece);
    const uint64_t elements = gp_times((uint64_t)y->window, (uint64_t)x->window);
    const uint64_t ns =
        kernels != NULL ? box->outputs * 1000 / OUTPUTS_A_US : gp_times(elements, gp_times(box->outputs, ELEMENT_NS));
    const unsigned parts = gp_threads_worth(context, plan->tiling.blocks, ns);
    w.strips = parts == 1 ? 1 : gp_divide_up(parts, w.batches * w.pieces);
    w.strips = gp_least(w.strips, y->outputs);
    gp_threads_run(context, (unsigned)gp_least(parts, w.batches * w.pieces * w.strips), take_tiles, &w);
    return GP_OK;
}

/* The reference row: each output by itself. */
gp_status gp_launch_window_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_tiles(context, plan, problem, NULL);
}

/* sum 2^bit of a float sum's units. */
static void add_units(int64_t *limb, unsigned bit, gp_window_int sum) {
    const gp_window_unsigned magnitude = sum < 0 ? 0 - (gp_window_unsigned)sum : (gp_window_unsigned)sum;
    gp_exact_add_bits(limb, bit, (uint64_t)magnitude, sum < 0);
    if (magnitude >> 64 != 0)
        gp_exact_add_bits(limb, bit + 64, (uint64_t)(magnitude >> 64), sum < 0);
}

void gp_window_write_exact(const gp_window_one *one, unsigned r, int unit, gp_window_int sum, gp_window_int squares,
                           uint64_t n, unsigned char *to) {
    gp_accumulator a;
    gp_accumulator_clear(&a);
    a.counted = n;
    if (gp_type_is_float(one->box->type)) {
        add_units(gp_accumulator_limbs(&a, &one->pass, GP_SUM), (unsigned)(unit + 149), sum);
        add_units(gp_accumulator_limbs(&a, &one->pass, GP_SQUARES), 2 * (unsigned)(unit + 149), squares);
    } else {
        a.whole[GP_SUM] = sum;
        a.whole[GP_SQUARES] = squares;
    }
    (void)gp_accumulator_write(&a, &one->pass, r, to);
}
