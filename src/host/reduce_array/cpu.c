/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views on the processor: the reference row, and the walk that all rows share. */
#include "cpu.h"
#include "../cpu/rounding.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    const gp_pass *pass;
    gp_pass_loops loops;
    uint64_t unit;        /* outputs that stay in one block: see gp_columns_unit() */
    uint64_t row;         /* how many units stand in a row */
    uint64_t blocks;      /* of columns, in a row */
    atomic_bool overflow; /* an integer result was not held by its type */

    /* Of one output, or block of columns, that all threads share. */
    pthread_mutex_t lock;
    gp_accumulator *whole;
    unsigned ends;      /* 1, or 2: `whole` are bounds */
    atomic_bool failed; /* there are none, or columns leave `alone` open */
    bool alone;
    gp_columns *columns;
    bool pairs;
    uint64_t output;
} pass_work;

/* Elements of a thread between two spreads of carries. */
#define CARRY_LENGTH ((uint64_t)1 << 27)

/* Elements [begin, end) of an output, in runs along the last reduced axis. */
static void take_elements(const pass_work *work, gp_accumulator *a, uint64_t output, uint64_t begin, uint64_t end) {
    const gp_pass *pass = work->pass;
    const unsigned first = pass->kept, axes = pass->reduced;
    const gp_pass_axis origin = gp_pass_way_to(pass, 0, first, output);
    const unsigned char *in = pass->in != NULL ? pass->in + origin.in : NULL; /* where it is there are no elements */
    const unsigned char *with = pass->with != NULL ? pass->with + origin.with : NULL;
    for (uint64_t n; work->loops.columns != NULL && gp_gathers(pass) && begin < end; begin += n) {
        n = gp_least(end - begin, CARRY_LENGTH);
        gp_take_gathered(a, pass, work->loops.run, in, with, begin, begin + n, false);
        gp_accumulator_carry(a, pass);
    }
    if (axes == 0 || (axes == 1 && begin == 0 && end > 0 && end <= CARRY_LENGTH)) {
        work->loops.run(a, pass, in, with, pass->place_first, axes == 0 ? 1 : end);
        return;
    }
    const uint64_t inner = pass->axis[first + axes - 1].n;
    for (uint64_t at = begin, taken = 0, n; at < end; at += n) {
        const gp_pass_axis way = gp_pass_way_to(pass, first, first + axes, at);
        n = gp_least(gp_least(end - at, axes == 1 ? inner - at : inner - at % inner), CARRY_LENGTH);
        work->loops.run(a, pass, in + way.in, with != NULL ? with + way.with : NULL, pass->place_first + way.place,
                        n);
        taken += n;
        if (taken >= CARRY_LENGTH) {
            gp_accumulator_carry(a, pass);
            taken = 0;
        }
    }
}

static void write_results(pass_work *work, gp_accumulator *a, uint64_t output) {
    for (unsigned r = 0; r < work->pass->results; r++)
        if (!gp_accumulator_write(a, work->pass, r, gp_pass_address(work->pass, r, output)))
            atomic_store_explicit(&work->overflow, true, memory_order_relaxed);
}

/* Neighbouring outputs whose elements share lines of the cache, and how many elements of each at once. */
#define GROUP 4
#define GROUP_LENGTH 512

static bool has_groups(const pass_work *work) {
    const gp_pass *pass = work->pass;
    return pass->kept > 0 && gp_gathers(pass) && pass->length >= GP_MADE_MIN && work->loops.columns != NULL &&
           pass->axis[pass->kept - 1].in < pass->axis[pass->kept + pass->reduced - 1].in;
}

/* By itself, as a large frame takes a short call's time. */
__attribute__((noinline)) static void take_groups(pass_work *work, uint64_t begin, uint64_t end) {
    gp_accumulator a[GROUP];
    const uint64_t length = work->pass->length;
    for (uint64_t i = begin, n; i < end; i += n) {
        n = gp_least(end - i, GROUP);
        for (uint64_t k = 0; k < n; k++)
            gp_accumulator_clear(&a[k]);
        for (uint64_t at = 0; at < length; at += GROUP_LENGTH)
            for (uint64_t k = 0; k < n; k++)
                take_elements(work, &a[k], i + k, at, gp_least(at + GROUP_LENGTH, length));
        for (uint64_t k = 0; k < n; k++)
            write_results(work, &a[k], i + k);
    }
}

/* A thread's outputs. */
static void take_outputs(void *argument, unsigned part, unsigned parts) {
    pass_work *work = argument;
    const gp_pass *pass = work->pass;
    GP_ROUNDS_TO_NEAREST;
    const uint64_t begin = gp_part_begin(pass->outputs, part, parts),
                   end = gp_part_begin(pass->outputs, part + 1, parts);
    if (has_groups(work)) {
        take_groups(work, begin, end);
        return;
    }
    for (uint64_t i = begin; i < end; i++) {
        gp_accumulator a;
        gp_accumulator_clear(&a);
        take_elements(work, &a, i, 0, pass->length);
        write_results(work, &a, i);
    }
}

/* A share of the elements of the one output. */
static void take_share(void *argument, unsigned part, unsigned share, unsigned shares) {
    pass_work *work = argument;
    (void)part;
    const gp_pass *pass = work->pass;
    const uint64_t begin = gp_part_begin(pass->length, share, shares),
                   end = gp_part_begin(pass->length, share + 1, shares);
    GP_ROUNDS_TO_NEAREST;
    gp_accumulator a[2];
    for (unsigned k = 0; k < work->ends; k++)
        gp_accumulator_clear(&a[k]);
    if (work->ends == 1)
        take_elements(work, a, work->output, begin, end);
    else if (work->failed || !gp_bounds_add(pass, work->loops.bounds, a, begin, end))
        work->failed = true;
    pthread_mutex_lock(&work->lock);
    for (unsigned k = 0; k < work->ends; k++)
        gp_accumulator_merge(&work->whole[k], &a[k], pass);
    pthread_mutex_unlock(&work->lock);
}

/* ---- blocks of columns ---- */

/* The neighbouring outputs of a block: the first, and how many. */
static uint64_t block_of_outputs(const pass_work *work, uint64_t block, uint64_t *width) {
    const unsigned i = (unsigned)(block % work->blocks), of = (unsigned)work->blocks;
    const uint64_t begin = gp_part_begin(work->row, i, of);
    *width = (gp_part_begin(work->row, i + 1, of) - begin) * work->unit;
    return (block / work->blocks * work->row + begin) * work->unit;
}

/* What of column j takes more than rounding a double. */
static void write_column(pass_work *work, const gp_columns *c, size_t j, uint64_t output) {
    gp_accumulator a;
    gp_accumulator_clear(&a);
    if (!gp_columns_read(c, work->pass, j, &a)) {
        if (work->alone) {
            work->failed = true;
            return;
        }
        gp_accumulator_clear(&a);
        take_elements(work, &a, output, 0, work->pass->length);
    }
    a.counted = work->pass->length;
    write_results(work, &a, output);
}

/* The low bytes of each, `step` bytes apart. */
static inline __attribute__((always_inline)) void store_low(size_t bytes, const uint64_t *bits, uint64_t n,
                                                            unsigned char *to, int64_t step) {
    for (uint64_t j = 0; j < n; j++)
        memcpy(to + (int64_t)j * step, bits + j, bytes);
}

/* Of result r. */
static void store_block(const pass_work *work, const gp_columns *c, unsigned r, uint64_t first, uint64_t width) {
    const gp_pass_result *result = &work->pass->result[r];
    const int64_t step = result->stride[work->pass->kept - 1];
    const int64_t apart = work->unit > 1 ? result->stride[work->pass->kept - 2] : 0;
    const uint64_t some = work->unit > 1 && apart != (int64_t)work->unit * step ? work->unit : width;
    unsigned char *to = gp_pass_address(work->pass, r, first);
    for (uint64_t j = 0; j < width; j += some, to += apart)
        GP_WITH_BYTES(store_low, gp_type_bytes(result->type), c->bits + j, some, to, step);
}

/* False: bounds, if its sums are not `by_pairs`, leave many open; few are done by themselves. */
static bool write_block(pass_work *work, gp_columns *c, uint64_t first, uint64_t width, bool by_pairs) {
    const gp_pass *pass = work->pass;
    bool quick = true;
    memset(c->unsure, 0, width * sizeof *c->unsure);
    for (unsigned r = 0; r < pass->results && quick; r++) {
        quick = work->loops.finish(c, pass, r, width);
        if (quick)
            store_block(work, c, r, first, width);
    }
    uint64_t unsure = quick || by_pairs ? 0 : gp_columns_open(c, pass);
    for (uint64_t j = 0; j < width && quick; j++)
        unsure += c->unsure[j] != 0;
    if (unsure > width / 16 && !by_pairs)
        return false;
    for (uint64_t j = 0; j < width && (unsure != 0 || !quick); j++)
        if (!quick || c->unsure[j] != 0)
            write_column(work, c, j, first + j);
    return true;
}

static void take_columns_of(const pass_work *work, gp_columns *c, uint64_t first, uint64_t width, uint64_t begin,
                            uint64_t end) {
    const gp_pass *pass = work->pass;
    gp_columns_take(c, pass, work->loops.columns, pass->in + gp_pass_way_to(pass, 0, pass->kept, first).in, width,
                    begin, end);
}

/* A thread's blocks of columns; without memory for wide ones, of GP_COLUMNS at a time. */
static void take_blocks(void *argument, unsigned part, unsigned parts) {
    pass_work *work = argument;
    const gp_pass *pass = work->pass;
    GP_ROUNDS_TO_NEAREST;
    const uint64_t all = pass->outputs / (work->row * work->unit) * work->blocks;
    const uint64_t rows = pass->axis[pass->kept + pass->reduced - 1].n;
    const size_t count = gp_divide_up(gp_divide_up(work->row, work->blocks) * work->unit, GP_COLUMNS);
    gp_columns narrow, *wide = count > 1 ? aligned_alloc(_Alignof(gp_columns), count * sizeof *wide) : NULL;
    gp_columns *c = wide != NULL ? wide : &narrow;
    const uint64_t most = wide != NULL ? count * GP_COLUMNS : GP_COLUMNS;
    for (size_t i = 0; i < gp_divide_up(most, GP_COLUMNS); i++)
        gp_columns_begin(c + i, pass);
    for (uint64_t b = gp_part_begin(all, part, parts), end = gp_part_begin(all, part + 1, parts); b < end; b++) {
        uint64_t width;
        uint64_t first = block_of_outputs(work, b, &width);
        for (uint64_t some; width > 0; first += some, width -= some) {
            some = gp_least(width, most);
            take_columns_of(work, c, first, some, 0, rows);
            for (uint64_t j = 0, n; j < some; j += n) {
                n = gp_least(some - j, GP_COLUMNS);
                gp_columns *here = c + j / GP_COLUMNS;
                if (write_block(work, here, first + j, n, here->pairs))
                    continue;
                here->pairs = true; /* the blocks behind it too */
                take_columns_of(work, here, first + j, n, 0, rows);
                write_block(work, here, first + j, n, true);
            }
        }
    }
    free(wide);
}

/* A thread's rows of the one block. */
static void take_rows_of_block(void *argument, unsigned part, unsigned parts) {
    pass_work *work = argument;
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

/* Few blocks: all threads work on one after the other. */
static void share_blocks(gp_context *context, pass_work *work, unsigned parts, uint64_t all) {
    gp_columns columns;
    work->columns = &columns;
    gp_columns_begin(&columns, work->pass);
    work->pairs = columns.pairs || work->pass->type == GP_F64; /* whose bounds differ */
    columns.pairs = true;                                      /* as merged ones are */
    pthread_mutex_init(&work->lock, NULL);
    for (work->output = 0; work->output < all;) {
        uint64_t width;
        const uint64_t first = block_of_outputs(work, work->output, &width);
        columns.outputs = width;
        gp_columns_clear(&columns, work->pass, width);
        gp_threads_run(context, parts, take_rows_of_block, work);
        GP_ROUNDS_TO_NEAREST;
        if (write_block(work, &columns, first, width, work->pairs))
            work->output++;
        else
            work->pairs = true;
    }
    pthread_mutex_destroy(&work->lock);
}

/* As many blocks as threads, if a block has some dozens of outputs left then; only narrow ones are shared. */
static void take_columns(gp_context *context, pass_work *work, unsigned parts) {
    const gp_pass *pass = work->pass;
    work->unit = gp_columns_unit(pass);
    const uint64_t row = pass->axis[pass->kept - (work->unit > 1 ? 2 : 1)].n;
    const uint64_t outer = pass->outputs / (row * work->unit);
    work->row = row;
    work->blocks = gp_divide_up(row, gp_columns_width(pass));
    if (work->blocks * outer < parts && row > 64 * (uint64_t)parts)
        work->blocks = parts;
    if (work->blocks * outer < parts)
        work->blocks = gp_greatest(work->blocks, gp_divide_up(row, GP_COLUMNS));
    if (work->blocks * outer < parts)
        share_blocks(context, work, parts, work->blocks * outer);
    else
        gp_threads_run(context, parts, take_blocks, work);
}

/* All threads work on one output: its sums, or bounds of these. */
static void share_output(gp_context *context, pass_work *work, unsigned parts, gp_accumulator *whole, unsigned ends) {
    const gp_pass *pass = work->pass;
    work->whole = whole;
    work->ends = ends;
    atomic_init(&work->failed, false);
    for (unsigned k = 0; k < ends; k++)
        gp_accumulator_clear(&whole[k]);
    pthread_mutex_init(&work->lock, NULL);
    gp_threads_share(context, parts, pass->length * gp_type_bytes(pass->type), take_share, work);
    pthread_mutex_destroy(&work->lock);
}

/* Few outputs, one after the other. By itself too. */
__attribute__((noinline)) static void share_outputs(gp_context *context, pass_work *work, unsigned parts) {
    gp_accumulator whole;
    for (work->output = 0; work->output < work->pass->outputs; work->output++) {
        share_output(context, work, parts, &whole, 1);
        GP_ROUNDS_TO_NEAREST;
        write_results(work, &whole, work->output);
    }
}

/* The one output by bounds, if these prove it. By itself too. */
__attribute__((noinline)) static bool take_bounds(gp_context *context, pass_work *work, unsigned parts) {
    gp_accumulator ends[2];
    work->output = 0;
    share_output(context, work, parts, ends, 2);
    GP_ROUNDS_TO_NEAREST;
    return !work->failed && gp_bounds_write(work->pass, ends);
}

/*
 * Passes that are columns with one more axis, of one element: kept elements are columns of one row, and squares of 64
 * bits to one output, if that can be proved. False: it is another, or was not proved.
 */
__attribute__((noinline)) static bool take_as_columns(gp_context *context, pass_work *work, unsigned parts) {
    const gp_pass *pass = work->pass;
    gp_pass more = *pass;
    work->alone = pass->kept == 0;
    if (work->alone) {
        memmove(more.axis + 1, more.axis, pass->reduced * sizeof *more.axis);
        more.axis[0] = (gp_pass_axis){1, (int64_t)gp_pass_input_span(pass, false).bytes, 0, 0};
        for (unsigned r = 0; r < pass->results; r++)
            more.result[r].stride[0] = 0;
        more.kept = 1;
    } else {
        more.axis[pass->kept] = (gp_pass_axis){1, pass->axis[pass->kept - 1].in, 0, 0};
        more.reduced = 1;
    }
    if (!gp_columns_can(&more))
        return false;
    work->pass = &more;
    take_columns(context, work, parts);
    work->pass = pass;
    return !work->failed;
}

/* Of one thread of the slowest row and type. */
#define BYTES_A_NS 1

gp_status gp_reduce_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                            gp_pass_loops loops) {
    const gp_pass *pass = problem->pass;
    pass_work work; /* not cleared: its other members are set where they are used */
    work.pass = pass;
    work.loops = loops;
    atomic_init(&work.overflow, false);
    const uint64_t most = gp_least(plan->tiling.blocks, gp_greatest(pass->outputs, pass->length));
    const unsigned parts = gp_threads_worth(context, gp_at_least_one(most), problem->bytes_read / BYTES_A_NS);
    if (loops.bounds != NULL && gp_bounds_can(pass) && take_bounds(context, &work, parts))
        return GP_OK;
    work.alone = false;
    atomic_init(&work.failed, false);
    const bool more = loops.columns != NULL && pass->kept + pass->reduced < GP_AXES &&
                      (pass->kept == 0 ? gp_has_wide_squares(pass) : pass->reduced == 0);
    if (more && take_as_columns(context, &work, parts)) {
        /* all is written; an overflow is told below */
    } else if (loops.columns != NULL && gp_columns_can(pass)) {
        take_columns(context, &work, parts);
    } else if (parts > pass->outputs) {
        share_outputs(context, &work, parts);
    } else if (parts > 1) {
        gp_threads_run(context, parts, take_outputs, &work);
    } else {
        take_outputs(&work, 0, 1);
    }
    if (work.overflow)
        return gp_fail(GP_ERR_OVERFLOW, "an integer result of %llu elements passes its 64 bits",
                       (unsigned long long)pass->length);
    return GP_OK;
}

void gp_pass_run_any(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n) {
    const gp_pass_axis none = {0}, *axis = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &none;
    for (uint64_t i = 0; i < n; i++, in += axis->in, place += axis->place) {
        gp_accumulator_take(a, pass, in, with, place);
        if (with != NULL)
            with += axis->with;
    }
}

gp_status gp_launch_reduce_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, (gp_pass_loops){.run = gp_pass_run_any});
}
