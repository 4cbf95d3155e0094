/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a box into tiles for the threads, and finds what each of them sees beyond its edges. */
#include "../cpu/rounding.h"
#include "cpu.h"
#include <stdlib.h>

/* Outputs of a row in a tile: what a kernel keeps of as many columns stays in a core's own cache. */
#define TILE_COUNT 4096
#define TILE_COUNT_ALONE 16384 /* of a row that is alone, which is all that is kept */

typedef struct work {
    gp_window_one one;
    gp_window_kernel *kernel;
    uint64_t batches, strips, pieces; /* of Y and of X */
    uint64_t first, rows;             /* of outputs */
} work;

/* Looking further than two axes' lengths beyond an edge shows nothing new, whatever the border. To sums, which are
 * differences of what enters and of what leaves, whole periods make no difference either. */
static void reduce(gp_window_axis *axis, unsigned border, bool sums) {
    const int64_t period = gp_window_period(border, (int64_t)axis->n);
    if (sums && period != 0) {
        axis->before %= axis->window >= period ? period : INT64_MAX;
        axis->window %= axis->window >= period ? period : INT64_MAX;
        return;
    }
    const uint64_t most = 2 * axis->n, after = gp_least((uint64_t)(axis->window - 1 - axis->before), most);
    axis->before = (int64_t)gp_least((uint64_t)axis->before, most);
    axis->window = axis->before + 1 + (int64_t)after;
}

/* The next run of the extended row from pixel `at` on, beyond the row's end up to `end`. */
static gp_window_run run_at(unsigned border, int64_t n, int64_t at, int64_t end) {
    const int64_t period = gp_window_period(border, n), left = end - at;
    if (period == 0)
        return (gp_window_run){at, left, gp_window_source(border, n, at), 0};
    int64_t phase = at < 0 ? at + period : at < period ? at : at - period;
    phase = phase >= 0 && phase < period ? phase : (at % period + period) % period;
    const bool forward = phase < n;
    const int64_t most = (forward ? n : period) - phase, back = period - phase - (border == GP_BORDER_REFLECT);
    return (gp_window_run){at, left < most ? left : most, forward ? phase : back, forward ? 1 : -1};
}

/* What the tile holds of a row, and what it sees elsewhere: where X is in pieces, these are wider than windows. */
static void see_row(gp_window_tile *tile, bool whole, gp_window_run *runs) {
    const unsigned border = tile->one->box->border;
    const int64_t n = (int64_t)tile->x.n, bytes = gp_type_bytes(tile->one->box->type), c = (int64_t)tile->channels,
                  begin = (int64_t)tile->x_begin - tile->x.before,
                  end = begin + (int64_t)tile->count + tile->x.window - 1;
    const bool wraps = border == GP_BORDER_WRAP && !whole;
    const int64_t first = whole ? 0 : wraps || begin > 0 ? begin : 0, last = whole ? n : wraps || end < n ? end : n;
    const int64_t ext_begin = begin < first ? begin : first, ext_end = end > last ? end : last;
    tile->first = first;
    tile->held = (size_t)((last - first) * c);
    tile->left = (size_t)((first - ext_begin) * c);
    tile->ext = (size_t)((ext_end - ext_begin) * c);
    tile->skew = (size_t)((begin - ext_begin) * c);
    tile->direct = tile->x.in == bytes * c && tile->side == bytes && first >= 0 && last <= n;
    tile->runs = runs;
    tile->n_runs = 0;
    for (int64_t at = ext_begin; at < ext_end; at += runs->count, runs++, tile->n_runs++) {
        at = at == first ? last : at;
        if (at == ext_end)
            return;
        *runs = run_at(border, n, at, at < first ? first : ext_end);
        runs->to = at - ext_begin;
        runs->from -= runs->from < 0 ? 0 : ext_begin;
    }
}

/* channels side by side, from which on pixels with gaps between them are copied one by one */
#define WHOLE_PIXEL 16

/* n elements; steps in bytes. Of constant bytes memcpy is a load and a store. */
static inline void copy_of(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step,
                           uint64_t n, size_t bytes) {
    for (uint64_t i = 0; i < n; i++, to += to_step, from += from_step)
        memcpy(to, from, bytes);
}

static void copy_apart(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step, uint64_t n,
                       size_t bytes) {
    if (bytes == 1)
        copy_of(to, to_step, from, from_step, n, 1);
    else if (bytes == 2)
        copy_of(to, to_step, from, from_step, n, 2);
    else if (bytes == 4)
        copy_of(to, to_step, from, from_step, n, 4);
    else
        copy_of(to, to_step, from, from_step, n, 8);
}

const void *gp_window_held_row(const gp_window_tile *tile, const unsigned char *row, void *copy) {
    const int64_t bytes = gp_type_bytes(tile->one->box->type), n = (int64_t)tile->x.n, c = (int64_t)tile->channels,
                  pixels = (int64_t)tile->held / c, pixel = bytes * c;
    if (tile->direct)
        return row + tile->first * tile->x.in;
    for (int64_t i = 0, count; i < pixels; i += count) {
        const int64_t beyond = tile->first + i, at = beyond < 0 ? beyond + n : beyond < n ? beyond : beyond - n;
        unsigned char *to = (unsigned char *)copy + i * pixel;
        const unsigned char *from = row + at * tile->x.in;
        count = at + pixels - i > n ? n - at : pixels - i;
        const bool side_by_side = tile->side == bytes && (tile->x.in == pixel || c >= WHOLE_PIXEL);
        const int64_t together = !side_by_side ? 0 : tile->x.in == pixel ? count : 1; /* pixels at once */
        for (int64_t done = 0; together > 0 && done < count; done += together)
            memcpy(to + done * pixel, from + done * tile->x.in, (size_t)(together * pixel));
        if (!side_by_side)
            for (int64_t k = 0; k < c; k++)
                copy_apart(to + k * bytes, pixel, from + k * tile->side, tile->x.in, (uint64_t)count, (size_t)bytes);
    }
    return copy;
}

static void gather(gp_accumulator *a, const gp_window_tile *tile, uint64_t y, size_t i) {
    const size_t c = tile->channels;
    gp_window_gather_one(a, tile->one, tile->plane + (int64_t)(i % c) * tile->side, y, tile->x_begin + i / c);
}

void gp_window_write_singly(const gp_window_tile *tile, unsigned r, uint64_t y, size_t i, unsigned char *to) {
    gp_accumulator a;
    gather(&a, tile, y, i);
    (void)gp_accumulator_write(&a, &tile->one->pass, r, to);
}

/* The last resort: memory is short, or windows are too large for the kernel or for such a small array. */
static void compute_singly(const gp_window_tile *tile) {
    const unsigned results = tile->one->box->results;
    gp_accumulator a;
    for (uint64_t y = tile->y_begin; y < tile->y_end; y++)
        for (size_t i = 0; i < tile->n; i++) {
            unsigned char *to[GP_PASS_RESULTS];
            for (unsigned r = 0; r < results; r++)
                to[r] = gp_window_output(tile, r, gp_window_result_row(tile, r, y), i);
            gather(&a, tile, y, i);
            gp_window_write_one(&a, tile->one, to);
        }
}

static void run_tile(const work *w, gp_window_tile *tile) {
    const size_t most = (size_t)(tile->x.before + tile->x.window + 1); /* pixels that are not held */
    gp_window_run *runs = w->kernel == NULL ? NULL : malloc(most * sizeof *runs);
    if (runs != NULL)
        see_row(tile, w->pieces == 1, runs);
    if (runs == NULL || !w->kernel(tile))
        compute_singly(tile);
    free(runs);
}

static void take_tiles(void *argument, unsigned part, unsigned share, unsigned shares) {
    const work *w = argument;
    const gp_window_box *box = w->one.box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const bool extremes = box->kind == GP_PASS_EXTREMES;
    GP_ROUNDS_TO_NEAREST;
    (void)part;
    const uint64_t tiles = w->batches * w->strips * w->pieces, end = gp_part_begin(tiles, share + 1, shares);
    for (uint64_t i = gp_part_begin(tiles, share, shares); i < end; i++) {
        const uint64_t piece = i % w->pieces, strip = i / w->pieces % w->strips;
        gp_window_tile tile = {.one = &w->one, .y = *y, .x = *x, .plane = box->in, .channels = box->channels};
        tile.side = tile.channels > 1 ? box->axis[box->outer - 1].in : gp_type_bytes(box->type);
        uint64_t batch = tile.batch = i / w->pieces / w->strips;
        for (unsigned a = box->outer - (box->channels > 1 ? 1u : 0u); a-- > 0; batch /= box->axis[a].n)
            tile.plane += (int64_t)(batch % box->axis[a].n) * box->axis[a].in;
        if (extremes)
            reduce(&tile.y, box->border, false);
        reduce(&tile.x, box->border, !extremes);
        tile.y_begin = w->first + gp_part_begin(w->rows, (unsigned)strip, (unsigned)w->strips);
        tile.y_end = w->first + gp_part_begin(w->rows, (unsigned)strip + 1, (unsigned)w->strips);
        tile.x_begin = gp_part_begin(x->outputs, (unsigned)piece, (unsigned)w->pieces);
        tile.count = gp_part_begin(x->outputs, (unsigned)piece + 1, (unsigned)w->pieces) - tile.x_begin;
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
    const int64_t step = result->stride[box->outer + 1];
    if (gp_window_is_contiguous(tile, r)) {
        memcpy(to + begin * bytes, tile->row, (end - begin) * bytes);
        return;
    }
    if (c >= WHOLE_PIXEL && result->stride[box->outer - 1] == (int64_t)bytes) {
        for (size_t i = begin, n; i < end; i += n) {
            n = c - i % c < end - i ? c - i % c : end - i;
            memcpy(gp_window_output(tile, r, to, i), tile->row + (i - begin) * bytes, n * bytes);
        }
        return;
    }
    for (size_t k = 0; k < c; k++) {
        const size_t first = begin + (c + k - begin % c) % c, n = first < end ? (end - first - 1) / c + 1 : 0;
        copy_apart(gp_window_output(tile, r, to, first), step, tile->row + (first - begin) * bytes,
                   (int64_t)(c * bytes), n, bytes);
    }
}

/* Of one thread. */
#define OUTPUTS_A_US 300
#define ELEMENT_NS 4 /* of a window, by the reference row */

void gp_window_run_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem, const gp_window_box *box,
                        gp_window_kernel *kernel, uint64_t first, uint64_t rows) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    work w = {.one = {.box = box},
              .kernel = kernel,
              .batches = box->outputs / y->outputs / x->outputs / box->channels,
              .first = first,
              .rows = rows};
    if (rows == 0)
        return;
    gp_window_as_pass(box, &w.one.pass);
    const uint64_t halo = gp_least((uint64_t)x->window, 3 * x->n);
    const uint64_t most = y->window > 1 ? TILE_COUNT : TILE_COUNT_ALONE;
    w.pieces = gp_divide_up(x->outputs, gp_greatest(gp_at_least_one(most / box->channels), 4 * halo));
    const uint64_t elements = gp_times((uint64_t)y->window, (uint64_t)x->window);
    const uint64_t outputs = box->outputs / y->outputs * rows;
    const uint64_t ns =
        kernel != NULL ? outputs * 1000 / OUTPUTS_A_US : gp_times(elements, gp_times(outputs, ELEMENT_NS));
    const unsigned parts = gp_threads_worth(context, plan->tiling.blocks, ns);
    const bool alone =
        y->window == 1; /* then strips cost nothing, and those of one row keep to the order of memory */
    const uint64_t bytes = alone ? problem->bytes_read + problem->bytes_written : 0;
    w.strips = alone && w.pieces > 1 ? rows
               : parts == 1          ? 1
                            : gp_divide_up(gp_greatest(parts, bytes / GP_SHARE_BYTES_MIN), w.batches * w.pieces);
    w.strips = gp_least(w.strips, rows);
    gp_threads_share(context, (unsigned)gp_least(parts, w.batches * w.pieces * w.strips), bytes, take_tiles, &w);
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
