/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs side by side on the processor: blocks of columns, which threads take or share. */
#include "../cpu/rounding.h"
#include "work.h"
#include <stdlib.h>

/* The neighbouring outputs of a block: the first, and how many. */
static uint64_t block_of_outputs(const gp_pass_work *work, uint64_t block, uint64_t *width) {
    const unsigned i = (unsigned)(block % work->blocks), of = (unsigned)work->blocks;
    const uint64_t begin = gp_part_begin(work->row, i, of);
    *width = (gp_part_begin(work->row, i + 1, of) - begin) * work->unit;
    return (block / work->blocks * work->row + begin) * work->unit;
}

/* What of column j takes more than rounding a double. */
static void write_column(gp_pass_work *work, const gp_columns *c, size_t j, uint64_t output) {
    const gp_pass *pass = work->pass, *asked = work->asked;
    const uint64_t counted = gp_columns_count(pass) ? c->counted[j] : pass->length;
    const bool is_told = work->made == NULL || !(pass->wants & GP_WANT_PLACES); /* else what is unsure is the place */
    bool done = false;
    gp_accumulator a;
    gp_accumulator_clear(&a);
    if (!c->failed && counted > 0 && is_told)
        done = gp_columns_read(c, pass, j, &a);
    if (!done && work->alone) {
        work->failed = true;
        return;
    }
    if (done) {
        a.counted = counted;
        gp_write_as(work, gp_pass_of_results(work), &a, output);
    } else if (!c->failed && counted == 0) {
        gp_write_as(work, asked, &a, output);
    } else {
        gp_take_output(work, &a, output);
    }
}

/* The low bytes of each, `step` bytes apart. */
static inline __attribute__((always_inline)) void store_low(size_t bytes, const uint64_t *bits, uint64_t n,
                                                            unsigned char *to, int64_t step) {
    for (uint64_t j = 0; j < n; j++)
        memcpy(to + (int64_t)j * step, bits + j, bytes);
}

static inline __attribute__((always_inline)) void store_side_by_side(size_t bytes, const uint64_t *bits, uint64_t n,
                                                                     unsigned char *to) {
    store_low(bytes, bits, n, to, (int64_t)bytes);
}

/* Of result r. */
static void store_block(const gp_pass_work *work, const gp_columns *c, unsigned r, uint64_t first, uint64_t width) {
    const gp_pass_result *result = &work->pass->result[r];
    const int64_t step = result->stride[work->pass->kept - 1];
    const int64_t apart = work->unit > 1 ? result->stride[work->pass->kept - 2] : 0;
    const uint64_t some = work->unit > 1 && apart != (int64_t)work->unit * step ? work->unit : width;
    unsigned char *to = gp_pass_address(work->pass, r, first);
    for (uint64_t j = 0; j < width; j += some, to += apart)
        if (step == (int64_t)gp_type_bytes(result->type))
            GP_WITH_BYTES(store_side_by_side, gp_type_bytes(result->type), c->bits + j, some, to);
        else
            GP_WITH_BYTES(store_low, gp_type_bytes(result->type), c->bits + j, some, to, step);
}

/* False: bounds, if its sums are not `by_pairs`, leave many open; few are done by themselves. */
static bool write_block(gp_pass_work *work, gp_columns *c, uint64_t first, uint64_t width, bool by_pairs) {
    const gp_pass *pass = work->pass;
    bool quick = !c->failed;
    memset(c->unsure, 0, width * sizeof *c->unsure);
    for (unsigned r = 0; r < pass->results && quick; r++) {
        quick = work->loops.finish(c, pass, r, width);
        if (quick)
            store_block(work, c, r, first, width);
    }
    uint64_t unsure = quick || by_pairs || c->failed ? 0 : gp_columns_open(c, pass);
    uint64_t any = 0; /* first, as baseline processors count no zeros by vectors */
    for (uint64_t j = 0; j < width; j++)
        any |= c->unsure[j];
    for (uint64_t j = 0; j < width && quick && any != 0; j++)
        unsure += c->unsure[j] != 0;
    if (unsure > width / 16 && !by_pairs)
        return false;
    for (uint64_t j = 0; j < width && (unsure != 0 || !quick); j++)
        if (!quick || c->unsure[j] != 0)
            write_column(work, c, j, first + j);
    return true;
}

static void take_columns_of(const gp_pass_work *work, gp_columns *c, uint64_t first, uint64_t width, uint64_t begin,
                            uint64_t end) {
    const gp_pass *pass = work->asked;
    const gp_pass_axis way = gp_pass_way_to(pass, 0, pass->kept, first);
    if (work->made == NULL)
        gp_columns_take(c, pass, work->loops.columns, pass->in + way.in, width, begin, end);
    else
        gp_made_take(c, work->made, work->loops.make, work->loops.columns, pass->in + way.in,
                     pass->with != NULL ? pass->with + way.with : NULL, width, begin, end);
}

/* What leaves fewer open. */
static gp_paired more_paired(const gp_columns *c, const gp_pass *pass) {
    return pass->kind == GP_PASS_MOMENTS && (pass->wants & GP_WANT_SQUARES) && !gp_columns_pair(c, pass, GP_SQUARES)
               ? GP_PAIRED_SQUARES
               : GP_PAIRED_ALL;
}

#define LOOKED_AT 64 /* rows */

/*
 * Whether bounds would leave too many variances open, by a look at the first rows: they are so much less than squares
 * that these bounds, each addition's rounding apart, are further apart than floats are. In 2^5 columns one may be.
 */
static bool variances_cancel(const gp_pass_work *work, gp_columns *c, uint64_t first, uint64_t width, uint64_t rows) {
    const gp_pass *pass = work->asked;
    const unsigned both = GP_WANT_SUM | GP_WANT_SQUARES;
    if (work->made != NULL || pass->kind != GP_PASS_MOMENTS || (pass->wants & both) != both ||
        !gp_type_is_float(pass->type) || gp_columns_pair(c, pass, GP_SQUARES) || rows < 4 * LOOKED_AT)
        return false;
    const double n = (double)(pass->length / rows * LOOKED_AT),
                 additions = (double)(gp_least(rows, GP_SUMMED_ROWS) + rows / GP_SUMMED_ROWS);
    uint64_t open = 0;
    take_columns_of(work, c, first, width = gp_least(width, GP_COLUMNS), 0, LOOKED_AT);
    for (uint64_t j = 0; j < width; j++) {
        const double s = c->sums[GP_SUM].sum[j], squares = n * c->sums[GP_SQUARES].sum[j];
        open += (squares - s * s) * 0x1p23 < squares * additions;
    }
    return open > width / 2;
}

static gp_columns *allocate(size_t count) {
    return aligned_alloc(_Alignof(gp_columns), count * sizeof(gp_columns));
}

/* A thread's blocks of columns whose lanes are results. */
static void take_across(void *argument, unsigned part, unsigned parts) {
    const gp_pass_work *work = argument;
    GP_ROUNDS_TO_NEAREST;
    const uint64_t all = work->pass->outputs / work->row * work->blocks;
    for (uint64_t b = gp_part_begin(all, part, parts), end = gp_part_begin(all, part + 1, parts); b < end; b++) {
        uint64_t width;
        const uint64_t first = block_of_outputs(work, b, &width);
        work->loops.across(work->pass, first, width);
    }
}

/* A thread's blocks of columns; without memory for wide ones, of GP_COLUMNS at a time. */
static void take_blocks(void *argument, unsigned part, unsigned parts) {
    gp_pass_work *work = argument;
    const gp_pass *pass = work->pass;
    GP_ROUNDS_TO_NEAREST;
    const uint64_t all = pass->outputs / (work->row * work->unit) * work->blocks;
    const uint64_t begin = gp_part_begin(all, part, parts), end = gp_part_begin(all, part + 1, parts);
    const uint64_t rows = pass->axis[pass->kept + pass->reduced - 1].n;
    const size_t count = gp_divide_up(gp_divide_up(work->row, work->blocks) * work->unit, GP_COLUMNS);
    gp_columns narrow, *wide = count > 1 ? allocate(count) : NULL, *const c = wide != NULL ? wide : &narrow;
    const uint64_t most = wide != NULL ? count * GP_COLUMNS : GP_COLUMNS;
    uint64_t width, first = block_of_outputs(work, begin, &width);
    gp_columns_begin(c, pass);
    const bool pairs = begin < end && variances_cancel(work, c, first, width, rows);
    for (size_t i = 0; i < gp_divide_up(most, GP_COLUMNS); i++) {
        gp_columns_begin(c + i, pass);
        c[i].pairs = pairs ? GP_PAIRED_SQUARES : c[i].pairs;
    }
    for (uint64_t b = begin; b < end; b++) {
        first = block_of_outputs(work, b, &width);
        for (uint64_t some; width > 0; first += some, width -= some) {
            some = gp_least(width, most);
            take_columns_of(work, c, first, some, 0, rows);
            for (uint64_t j = 0, n; j < some; j += n) {
                n = gp_least(some - j, GP_COLUMNS);
                gp_columns *here = c + j / GP_COLUMNS;
                while (!write_block(work, here, first + j, n, here->pairs == GP_PAIRED_ALL)) {
                    here->pairs = more_paired(here, pass); /* of the blocks behind it too */
                    take_columns_of(work, here, first + j, n, 0, rows);
                }
            }
        }
    }
    free(wide);
}

/* A thread's rows of the one block. */
static void take_rows_of_block(void *argument, unsigned part, unsigned parts) {
    gp_pass_work *work = argument;
    GP_ROUNDS_TO_NEAREST;
    gp_columns c;
    uint64_t width;
    const uint64_t first = block_of_outputs(work, work->output, &width);
    const uint64_t rows = work->pass->axis[work->pass->kept + work->pass->reduced - 1].n;
    c.pairs = work->pairs;
    take_columns_of(work, &c, first, width, gp_part_begin(rows, part, parts), gp_part_begin(rows, part + 1, parts));
    pthread_mutex_lock(&work->lock);
    gp_columns_merge(work->columns, &c, work->pass);
    pthread_mutex_unlock(&work->lock);
}

/* Few blocks: all threads work on one after the other. False: without memory. */
static bool share_blocks(gp_context *context, gp_pass_work *work, unsigned parts, uint64_t all) {
    gp_columns *const columns = allocate(1);
    if (columns == NULL)
        return false;
    const uint64_t rows = work->pass->axis[work->pass->kept + work->pass->reduced - 1].n;
    uint64_t width, first = block_of_outputs(work, 0, &width);
    work->columns = columns;
    gp_columns_begin(columns, work->pass);
    if (work->pass->type == GP_F64) /* whose bounds differ */
        columns->pairs = GP_PAIRED_ALL;
    else if (variances_cancel(work, columns, first, width, rows))
        columns->pairs = GP_PAIRED_SQUARES;
    work->pairs = columns->pairs;
    columns->pairs = GP_PAIRED_ALL; /* as merged ones are */
    pthread_mutex_init(&work->lock, NULL);
    for (work->output = 0; work->output < all;) {
        first = block_of_outputs(work, work->output, &width);
        columns->outputs = width;
        gp_columns_clear(columns, work->pass, width);
        gp_threads_run(context, parts, take_rows_of_block, work);
        GP_ROUNDS_TO_NEAREST;
        if (write_block(work, columns, first, width, work->pairs == GP_PAIRED_ALL)) {
            work->output++;
            continue;
        }
        columns->pairs = work->pairs;
        work->pairs = more_paired(columns, work->pass);
        columns->pairs = GP_PAIRED_ALL;
    }
    pthread_mutex_destroy(&work->lock);
    free(columns);
    return true;
}

/* As many blocks as threads, if a block has some dozens of outputs left then; only narrow ones are shared. */
void gp_take_columns(gp_context *context, gp_pass_work *work, unsigned parts) {
    const gp_pass *pass = work->pass;
    const uint64_t across = work->made != NULL ? 0 : gp_across_width(pass);
    work->unit = work->made != NULL || across > 0 ? 1 : gp_columns_unit(pass);
    const uint64_t row = pass->axis[pass->kept - (work->unit > 1 ? 2 : 1)].n;
    const uint64_t outer = pass->outputs / (row * work->unit);
    work->row = row;
    work->blocks = gp_divide_up(row, across > 0           ? across
                                     : work->made != NULL ? gp_made_width(work->made)
                                                          : gp_columns_width(pass));
    if (work->blocks * outer < parts && row > 64 * (uint64_t)parts)
        work->blocks = parts;
    if (work->blocks * outer < parts)
        work->blocks = gp_greatest(work->blocks, gp_divide_up(row, GP_COLUMNS));
    const uint64_t all = work->blocks * outer;
    if (all >= parts && across > 0)
        gp_threads_run(context, parts, take_across, work);
    else if (all >= parts || !share_blocks(context, work, parts, all))
        gp_threads_run(context, parts, take_blocks, work);
}
