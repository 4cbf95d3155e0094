/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes reduce_many does, and how it cuts them: rows, columns, and what lies between. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "fit.h"
#include "tiling.h"

#define SHORT_ROW 2048   /* bytes of a row at most that goes to shared memory first */
#define SHORT_TILE 16384 /* of rows that go there together, at most */
#define SHORT_THREAD 128 /* of a row, that a thread takes */
#define SHORT_LEAST 64   /* threads of a block */
#define MANY_TILES 8     /* of a block, that are dealt to twice as many, since SMs differ in speed */
#define SM_THREADS 1024  /* that an SM holds of 64 registers */
#define ROW_THREADS 256  /* blocks of rows */
#define COLUMN_THREADS 512
#define WIDE_LEAST (4 << 20)   /* bytes, so that several columns a thread leave threads enough */
#define LOW 64                 /* columns that are not worth a second thread */
#define LOW_THREADS 256        /* blocks of these */
#define WIDEST_LEAST (1 << 27) /* bytes, so that 16 columns a thread leave threads enough; of few rows a quarter */
#define ALONE_LEAST 8          /* units of 16 bytes of a row that a block takes, so that it need not share a tile */
#define JOINED 4               /* blocks, of whose sums a thread joins those of an output at once */
#define COLUMN_WAVES 8         /* blocks at most, times those that the GPU holds: each does several tiles */
#define ROW_WAVES 2

/* How a pass is walked. */
typedef struct walk {
    uint32_t n;       /* along the last reduced axis: units */
    uint64_t walks;   /* along the others */
    uint64_t outputs; /* or units of them */
    uint32_t unit;    /* elements that are loaded at once */
    uint32_t at_once; /* units of a thread that make a round, as blocks and slices are counted */
    unsigned form;
    bool contiguous, columns;
    bool dense; /* rows behind each other without gaps */
} walk;

static bool wants_places(const gp_pass *pass) {
    return pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
}

static unsigned form_of_floats(const gp_pass *pass) {
    bool one = !pass->skip_nan && (pass->wants == GP_WANT_SUM || pass->wants == GP_WANT_ABS), doubles = false;
    for (unsigned r = 0; r < pass->results; r++) {
        const bool is_double = pass->result[r].type == GP_F64;
        doubles = doubles || is_double;
        if (pass->type == GP_F64 && pass->result[r].type < GP_F32)
            return GP_MANY_FORMS; /* would not be proved */
        if (is_double && pass->result[r].op >= GP_REDUCE_NORM && pass->result[r].op != GP_REDUCE_MEAN)
            return GP_MANY_FORMS;
    }
    if (pass->type == GP_F64)
        return one ? GP_MANY_DOUBLES_8 : GP_MANY_FORMS;
    if (pass->skip_nan || (pass->wants & GP_WANT_COUNT))
        return GP_MANY_MOMENTS_COUNTED;
    if (!one)
        return pass->type == GP_F32 ? GP_MANY_MOMENTS_4 : GP_MANY_MOMENTS_2;
    return pass->type != GP_F32 ? GP_MANY_FLOATS_2 : doubles ? GP_MANY_DOUBLES_4 : GP_MANY_FLOATS_4;
}

/* GP_MANY_FORMS: there is none. Of ints those results that a few machine instructions round. */
static unsigned form_of(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type));
    if (pass->kind == GP_PASS_BITS)
        return GP_MANY_BITS;
    if (pass->kind == GP_PASS_EXTREMES)
        return width == 2 && !pass->skip_nan && !wants_places(pass) ? GP_MANY_SPAN_4 : GP_MANY_EXTREMES_1 + width;
    if (gp_type_is_float(pass->type))
        return form_of_floats(pass);
    for (unsigned r = 0; r < pass->results; r++)
        if ((pass->result[r].op >= GP_REDUCE_NORM && pass->result[r].op != GP_REDUCE_MEAN) ||
            pass->result[r].type == GP_F16 || pass->result[r].type == GP_BF16)
            return GP_MANY_FORMS;
    return pass->wants == GP_WANT_SUM && width < 3 ? GP_MANY_SUM_1 + width : GP_MANY_INTS;
}

/* Forms that load a unit of several elements: along an output, or among outputs. */
static const struct {
    uint8_t form, packed, packed_bytes, wide, wide_bytes;
} in_units[] = {
    {GP_MANY_SUM_1, GP_MANY_SUM_1_VECTORS, 16, GP_MANY_SUM_1_WIDEST, 16},
    {GP_MANY_SUM_1, GP_MANY_SUM_1_PACKED, 4, GP_MANY_SUM_1_WIDE, 4},
    {GP_MANY_SUM_2, GP_MANY_SUM_2_PACKED, 4, GP_MANY_SUM_2_WIDE, 4},
    {GP_MANY_SUM_4, GP_MANY_SUM_4_PACKED, 16, GP_MANY_SUM_4_WIDE, 16},
    {GP_MANY_SPAN_4, GP_MANY_SPAN_4_PACKED, 16, GP_MANY_SPAN_4_WIDE, 16},
    {GP_MANY_FLOATS_4, GP_MANY_FLOATS_4_PACKED, 16, GP_MANY_FLOATS_4_WIDE, 16},
    {GP_MANY_MOMENTS_4, GP_MANY_MOMENTS_4_PACKED, 16, GP_MANY_MOMENTS_4_WIDE, 8},
};

/* What the form of 16 columns of bytes is for, which has no way for results that are not quick. */
static bool is_wide_and_quick(const gp_pass *pass) {
    const gp_pass_result *result = &pass->result[0];
    const bool is_sum =
        result->op == GP_REDUCE_SUM && (result->type == GP_S64 || (result->type == GP_U64 && pass->type == GP_U8));
    const bool is_mean = result->op == GP_REDUCE_MEAN && result->type == GP_F32;
    return pass->outputs * pass->length >= WIDEST_LEAST / (pass->length <= LOW ? 4 : 1) && pass->axis[0].n >= 512 &&
           pass->length <= 1 << 16 && pass->kept == 1 && pass->results == 1 && (is_sum || is_mean);
}

static void choose_unit(const gp_pass *pass, unsigned aligned, uint64_t side, walk *w) {
    const uint32_t bytes = gp_type_bytes(pass->type);
    if (w->columns && pass->outputs * pass->length * bytes < WIDE_LEAST)
        return;
    for (unsigned i = 0; i < sizeof in_units / sizeof *in_units; i++) {
        const unsigned unit = w->columns ? in_units[i].wide_bytes : in_units[i].packed_bytes;
        if (in_units[i].form != w->form || unit == 0 || aligned < unit || side * bytes % unit != 0)
            continue;
        if (w->columns && in_units[i].wide == GP_MANY_SUM_1_WIDEST && !is_wide_and_quick(pass))
            continue;
        w->form = w->columns ? in_units[i].wide : in_units[i].packed;
        w->unit = unit / bytes;
        w->at_once = unit == 16 ? 8 : 16;
        return;
    }
}

static bool walk_of(const gp_pass *pass, unsigned aligned, walk *w) {
    static const gp_pass_axis one = {.n = 1};
    const gp_pass_axis *kept = pass->kept > 0 ? &pass->axis[pass->kept - 1] : &one;
    const gp_pass_axis *last = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &one;
    const uint64_t bytes = gp_type_bytes(pass->type);
    if (pass->outputs >> 31 != 0 || pass->length >> 30 != 0)
        return false;
    *w = (walk){.n = gp_to_u32(last->n),
                .unit = 1,
                .at_once = bytes == 8 ? 8 : 16,
                .form = form_of(pass),
                .outputs = pass->outputs};
    w->walks = pass->length / last->n;
    w->contiguous = gp_pass_is_contiguous(pass, last);
    w->columns = pass->kept > 0 && !w->contiguous && (pass->reduced == 0 || kept->in <= last->in);
    w->dense = w->contiguous && pass->kept == 1 && pass->reduced == 1 && (uint64_t)kept->in == pass->length * bytes;
    if (w->columns ? gp_pass_is_contiguous(pass, kept) : w->contiguous)
        choose_unit(pass, aligned, w->columns ? kept->n : last->n, w);
    if (w->columns)
        w->outputs /= w->unit;
    else
        w->n /= w->unit;
    return w->form != GP_MANY_FORMS;
}

/* 2^k, at least 1 and at most `most`, itself 2^k. */
static uint32_t power_up_to(uint64_t n, uint32_t most) {
    return n < most ? (uint32_t)1 << gp_log2(gp_at_least_one(n)) : most;
}

/* Few outputs get more threads each, while these have elements enough. */
static unsigned cut_rows(const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    const uint64_t length = w->n * w->walks, at_once = w->at_once;
    cut->lanes = power_up_to(w->n / 4, 32);
    cut->slices = power_up_to(length / (cut->lanes * 16 * at_once), threads / cut->lanes);
    while (cut->slices * cut->lanes < threads &&
           w->outputs * cut->slices * cut->lanes < (uint64_t)sms * SM_THREADS / 8 &&
           length > at_once / 2 * cut->slices * cut->lanes)
        cut->slices *= 2;
    cut->outputs = threads / (cut->lanes * cut->slices);
    cut->lanes_first = true;
    return threads;
}

/* At most, if blocks share outputs: so many rounds of what a thread loads at once are left to each. */
static uint64_t blocks_of(const walk *w, uint64_t team, uint64_t outputs, unsigned rounds) {
    return w->outputs / outputs * gp_at_least_one(w->n * w->walks / (team * rounds * w->at_once));
}

static unsigned cut_columns(const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    const bool low = w->n * w->walks <= LOW;
    const unsigned most = low && w->unit > 1 ? gp_to_u32(gp_least(threads, LOW_THREADS)) : threads;
    const uint32_t width = low ? most : w->unit > 1 ? 32 : 64; /* 512 bytes, or 256 */
    const uint64_t resident = (uint64_t)sms * (SM_THREADS / most), alone = gp_divide_up(w->outputs, resident);
    const bool is_vectors = w->unit > 1 && w->at_once == 8;
    cut->outputs = gp_to_u32(gp_least(w->outputs, gp_least(width, most)));
    if (!low && is_vectors && alone >= ALONE_LEAST && alone < cut->outputs &&
        gp_divide_up(w->outputs, alone) * 16 >= resident * 15)
        cut->outputs = gp_to_u32(alone);
    if (low && w->unit > 1 && w->outputs > most) { /* so that all blocks have as much */
        const uint64_t rounds = gp_divide_up(w->outputs, resident * most);
        cut->outputs = gp_to_u32(gp_least(most, gp_round_up(gp_divide_up(w->outputs, resident * rounds), 8)));
    }
    while (!low && cut->outputs > 32 && blocks_of(w, most / cut->outputs, cut->outputs, 4) < 2 * (uint64_t)sms)
        cut->outputs = (cut->outputs + 1) / 2;
    cut->lanes = gp_to_u32(gp_least(most / cut->outputs, w->n));
    return gp_to_u32(gp_round_up((uint64_t)cut->lanes * cut->outputs, 32));
}

/* Blocks share outputs where there are few of them, and elements enough. */
static uint32_t splits_of(const walk *w, uint64_t resident, unsigned sms, const gp_many_cut *cut) {
    const uint64_t team = (uint64_t)cut->lanes * cut->slices, sent = (uint64_t)cut->outputs * GP_REDUCE_MANY_STATE;
    if (cut->tiles >= resident || cut->tiles > GP_MANY_TILES_MAX / 2)
        return 1;
    uint64_t splits = gp_least(resident / cut->tiles, blocks_of(w, team, w->outputs, 4));
    if (splits * cut->tiles < sms)
        splits = gp_least(gp_divide_up(sms, cut->tiles), blocks_of(w, team, w->outputs, 1));
    splits = gp_least(splits, GP_MANY_SENT_BYTES / (sent * cut->tiles));
    return gp_to_u32(gp_at_least_one(gp_least(splits, GP_MANY_TILES_MAX / cut->tiles)));
}

/* A chunk for each slice of each block of an output, unless there are walks enough. */
static void cut_walks(const walk *w, gp_many_cut *cut) {
    const uint64_t workers = (uint64_t)cut->splits * cut->slices;
    cut->chunk = gp_to_u32(gp_divide_up(w->n, gp_least(gp_divide_up(workers, w->walks), w->n)));
    cut->chunks = gp_to_u32(gp_divide_up(w->n, cut->chunk));
    cut->parts = gp_to_u32(cut->chunks * w->walks);
}

/*
 * Of one output of contiguous elements only sums of squares, in doubles: reduce_all has all else at once, whatever
 * the data.
 */
static bool does_many(const gp_problem *problem, const gp_device *device, walk *w) {
    const gp_pass *pass = problem->pass;
    const bool squares =
        gp_type_is_float(pass->type) && (pass->wants & GP_WANT_SQUARES) && gp_device_has_doubles(device);
    return (squares || gp_pass_layout_of(pass) != GP_LAYOUT_ALL) && pass->with_type == 0 && pass->length > 0 &&
           gp_pass_adds(pass) && walk_of(pass, problem->in_align, w) &&
           !(wants_places(pass) && (pass->reduced > 1 || !gp_pass_places_rise(pass)));
}

/* Whether outputs may be left to reduce_any. Forms of floats that have one sum do them again themselves. */
static bool may_fail(const gp_pass *pass, unsigned form) {
    bool may = gp_type_is_float(pass->type) && pass->kind == GP_PASS_MOMENTS;
    if (form >= GP_MANY_FLOATS_2 && form <= GP_MANY_FLOATS_4_WIDE)
        return false;
    for (unsigned r = 0; r < pass->results; r++)
        may = may || !gp_pass_is_plain(pass, &pass->result[r]);
    return may;
}

bool gp_fit_reduce_short(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    const uint64_t row = pass->length * gp_type_bytes(pass->type);
    gp_short_cut cut = {.cols = gp_to_u32(pass->length), .lanes = 1};
    walk w;
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_SHORT_THREADS, 32, attempt);
    if (!does_many(problem, device, &w) || !w.dense || row > SHORT_ROW)
        return false;
    if (tiling->threads == 0)
        return false;
    cut.lanes = power_up_to(row / SHORT_THREAD, 32);
    while (tiling->threads > SHORT_LEAST && tiling->threads / cut.lanes * row > SHORT_TILE)
        tiling->threads /= 2;
    while (cut.lanes < 32 && tiling->threads / cut.lanes * row > SHORT_TILE)
        cut.lanes *= 2;
    cut.outputs = tiling->threads / cut.lanes;
    const uint64_t most = gp_least(SHORT_TILE / row, 16 * cut.outputs);
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_SHORT_REGS,
                         GP_REDUCE_SHORT_STATIC_SMEM + 2 * (most * row + 32), &held);
    /* tiles of one size for all blocks, whole groups of rows where there are many, and whole vectors */
    const uint64_t rows = most > cut.outputs ? most / cut.outputs * cut.outputs : most;
    const uint64_t resident = gp_at_least_one((uint64_t)held.blocks_per_sm * device->multiprocessors);
    const uint64_t rounds = gp_divide_up(pass->outputs, resident * rows);
    cut.rows = gp_to_u32(gp_least(rows, gp_round_up(gp_divide_up(pass->outputs, resident * rounds), 16)));
    cut.tiles = gp_to_u32(gp_divide_up(pass->outputs, cut.rows));
    cut.stage = gp_to_u32(gp_round_up(cut.rows * row + 16, 16));
    cut.rest = may_fail(pass, w.form);
    tiling->form = w.form;
    tiling->smem = 2 * cut.stage;
    tiling->blocks = gp_least(cut.tiles, resident * (rounds < MANY_TILES ? 1 : 2));
    GP_TILING_PUT(tiling, cut);
    return true;
}

bool gp_fit_reduce_many(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    gp_many_cut cut = {.lanes = 1, .outputs = 1, .slices = 1, .splits = 1};
    walk w;
    if (!does_many(problem, device, &w))
        return false;
    const unsigned most = gp_threads_of_attempt(w.columns ? COLUMN_THREADS : ROW_THREADS, 32, attempt);
    const unsigned sms = device->multiprocessors;
    if (most == 0)
        return false;
    tiling->form = w.form;
    tiling->threads = w.columns ? cut_columns(&w, most, sms, &cut) : cut_rows(&w, most, sms, &cut);
    tiling->smem = (size_t)tiling->threads / 2 * GP_REDUCE_MANY_STATE;
    cut.tiles = gp_to_u32(gp_divide_up(w.outputs, cut.outputs));
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_MANY_REGS, GP_REDUCE_MANY_STATIC_SMEM + tiling->smem,
                         &held);
    const uint64_t resident = gp_at_least_one((uint64_t)held.blocks_per_sm * sms);
    cut.splits = splits_of(&w, resident, sms, &cut);
    if (cut.splits > 1) /* parts of 16 outputs of bytes have twice as many bytes as their state */
        tiling->smem = gp_greatest(tiling->smem, (w.unit > 1 ? 2 : 1) * (size_t)cut.outputs * GP_REDUCE_MANY_STATE);
    cut.groups = 1;
    while (cut.splits > JOINED * (tiling->threads / cut.outputs) && gp_times(cut.groups, cut.groups) < cut.splits)
        cut.groups++;
    cut_walks(&w, &cut);
    cut.rows = cut.outputs * (w.columns ? w.unit : 1);
    cut.cols = gp_to_u32(gp_divide_up(pass->length, cut.splits));
    cut.rest = may_fail(pass, w.form);
    tiling->blocks = cut.splits > 1 ? (uint64_t)cut.tiles * cut.splits
                                    : gp_least(cut.tiles, gp_times(w.columns ? COLUMN_WAVES : ROW_WAVES, resident));
    GP_TILING_PUT(tiling, cut);
    return true;
}
