/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes reduce_many does, and how it cuts them: rows, columns, and what lies between. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "fit.h"
#include "tiling.h"

#define SHORT_ROW 2048    /* bytes of a row at most that goes to shared memory first */
#define SHORT_TILE 16384  /* of rows that go there together, at most */
#define SHORT_THREAD 128  /* of a row, that a thread takes */
#define SHORT_FEW 32      /* and where rows are few */
#define SHORT_LEAST 64    /* threads of a block */
#define SHORT_ROUNDS 32   /* of rows that a block takes side by side, at most, in a tile */
#define SHORT_PANEL 22528 /* of a picture's rows that boxes are high, at most */
#define SHORT_BOX 512     /* and bytes of a box: of larger ones runs are long enough */
#define SHORT_SIDE 4      /* rows that a thread takes side by side where a tile has many, of moments half */
#define SHORT_SHARES 4    /* tiles of an SM at least for each of these, where they are not too short then */
#define SM_THREADS 1024   /* that an SM holds of 64 registers */
#define ROW_THREADS 256   /* blocks of rows */
#define COLUMN_THREADS 512
#define WIDE_LEAST (1 << 15)   /* loads of several columns, so that threads are enough */
#define LOW_LEAST (1 << 22)    /* bytes of few rows, for the same */
#define PACKED_LEAST (1 << 28) /* bytes of one output, so that all threads have several loads of 8 elements */
#define LOW 64                 /* columns that are not worth a second thread */
#define LOWEST 16              /* where they are fewer an SM than LOW_OUTPUTS */
#define LOW_OUTPUTS 256
#define LOW_THREADS 256        /* blocks of these */
#define WIDEST_LEAST (1 << 25) /* bytes of few rows, so that 16 columns a thread leave threads enough */
#define WIDTH 512              /* bytes of columns that a block takes at most */
#define WIDEST_MOST (1 << 24)  /* bytes of a column, whose sum 32 bits hold */
#define NARROW 64              /* and at least, where they are small */
#define FOLDED_ROWS 4          /* long ones at least */
#define FOLDED_LEAST 1024      /* units at least of each array, where there are several */
#define FOLDED_THREAD 64       /* of a thread at least, if blocks are to have more than 64 */
#define GROUPS 16              /* of a block, or up to twice as many */
#define LEAST_DRAWN 3          /* rounds, of which the last are drawn */
#define COLUMN_WAVES 8         /* blocks at most, times those that the GPU holds: each does several tiles */
#define ROW_WAVES 2
#define JOINED_BYTES 320 /* of parts that a thread joins at most, where all blocks are joined at once */

/* How a pass is walked. */
typedef struct walk {
    uint32_t n;       /* along the last reduced axis: units */
    uint64_t walks;   /* along the others */
    uint64_t outputs; /* or units of them */
    uint64_t across;  /* outputs side by side along the last kept axis */
    uint32_t unit;    /* elements that are loaded at once */
    uint32_t loaded;  /* bytes of these */
    uint32_t at_once; /* units of a thread that make a round, as blocks and slices are counted */
    uint32_t batch;   /* units that a thread loads at once */
    uint32_t fold;    /* rows of a long one */
    unsigned form;
    bool contiguous, columns, pairs;
    bool low;   /* so few elements that each output has one thread */
    bool dense; /* rows behind each other without gaps */
} walk;

/* Whether few rows of bytes are for the form of 16 columns, which has no way for results that are not quick then. */
static bool is_wide_and_quick(const gp_pass *pass) {
    const gp_pass_result *result = &pass->result[0];
    int64_t step;
    return pass->outputs * pass->length >= WIDEST_LEAST && pass->results == 1 && gp_pass_step_of(pass, 0, &step) &&
           result->op == GP_REDUCE_MEAN && result->type == GP_F32;
}

/* Rows of a long one, so that it has whole units; 0: there is none. */
static uint32_t fold_of(const walk *w, uint64_t row, unsigned unit) {
    const uint32_t fold = gp_to_u32(unit / gp_least(row & (0 - row), unit));
    const bool folds = w->dense && !w->pairs && row * fold / unit <= COLUMN_THREADS && w->across <= COLUMN_THREADS &&
                       w->n / fold >= FOLDED_ROWS && (w->across == w->outputs || w->n * row / unit >= FOLDED_LEAST);
    return fold == 1 || folds ? fold : 0;
}

static void choose_unit(const gp_pass *pass, unsigned aligned, walk *w) {
    const uint32_t bytes = gp_type_bytes(pass->type);
    const uint64_t all = pass->outputs * pass->length * bytes;
    if (pass->with_type != 0 && gp_type_bytes(pass->with_type) != bytes)
        return;
    for (unsigned i = 0; i < GP_MANY_IN_UNITS; i++) {
        const gp_many_units *in = &gp_many_in_units[i];
        const unsigned unit = w->columns ? in->wide_bytes : in->packed_bytes;
        const uint64_t row = (w->columns ? pass->axis[pass->kept - 1].n : w->n) * bytes;
        if (in->form != w->form || (in->takes != NULL && !in->takes(pass)) || unit == 0 || aligned < unit)
            continue;
        const uint32_t fold = w->columns ? fold_of(w, row, unit) : row % unit == 0 ? 1u : 0u;
        const bool few = !w->columns && pass->outputs == 1 && unit == 8 * bytes && all < PACKED_LEAST;
        if (fold == 0 || few || (w->columns && all < (w->low ? LOW_LEAST : (uint64_t)WIDE_LEAST * unit)))
            continue;
        if (w->low && (fold > 1 || (in->wide == GP_MANY_SUM_1_WIDEST && !is_wide_and_quick(pass))))
            continue;
        w->form = w->columns ? in->wide : in->packed;
        w->unit = unit / bytes;
        w->loaded = unit;
        w->fold = fold;
        w->at_once = unit == 16 ? 8 : 16;
        return;
    }
}

static bool walk_of(const gp_pass *pass, unsigned aligned, unsigned sms, walk *w) {
    static const gp_pass_axis one = {.n = 1};
    const gp_pass_axis *kept = pass->kept > 0 ? &pass->axis[pass->kept - 1] : &one;
    const gp_pass_axis *last = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &one;
    const uint64_t bytes = gp_type_bytes(pass->type);
    if (pass->outputs >> 31 != 0 || pass->length >> 30 != 0)
        return false;
    *w = (walk){.n = gp_to_u32(last->n),
                .unit = 1,
                .loaded = gp_to_u32(bytes),
                .fold = 1,
                .at_once = bytes == 8 ? 8 : 16,
                .form = gp_many_form_of(pass),
                .outputs = pass->outputs,
                .pairs = pass->with_type != 0};
    w->walks = pass->length / last->n;
    w->across = kept->n;
    w->contiguous = gp_pass_is_contiguous(pass, last);
    w->columns = pass->kept > 0 && !w->contiguous && (pass->reduced == 0 || kept->in <= last->in);
    w->low = w->columns && pass->length <= (pass->outputs < (uint64_t)sms * LOW_OUTPUTS ? LOWEST : LOW);
    w->dense =
        pass->reduced == 1 && (w->contiguous ? pass->kept == 1 && (uint64_t)kept->in == pass->length * bytes
                                             : kept->in == (int64_t)bytes && (uint64_t)last->in == kept->n * bytes);
    if (w->columns ? gp_pass_is_contiguous(pass, kept) : w->contiguous)
        choose_unit(pass, aligned, w);
    w->batch = w->loaded == 16 ? 4 : w->loaded == 8 ? 8 : 16;
    if (w->columns)
        w->outputs = w->outputs * w->fold / w->unit;
    w->n /= w->columns ? w->fold : w->unit;
    return w->form != GP_MANY_FORMS;
}

/* 2^k, at least 1 and at most `most`, itself 2^k. */
static uint32_t power_up_to(uint64_t n, uint32_t most) {
    return n < most ? (uint32_t)1 << gp_log2(gp_at_least_one(n)) : most;
}

/*
 * Threads of a row. One of each row writes its results, while the others wait: about half the square root of the
 * units is best whatever is written, on an H200, where memory lines are used whole. Few rows get more threads each.
 */
static unsigned lanes_of(const walk *w, unsigned sms) {
    const unsigned log = gp_log2(gp_at_least_one(w->n)), root = (log + (w->unit == 1 ? 0 : w->pairs ? 1 : 2)) / 2;
    unsigned lanes = power_up_to(w->n / (w->unit == 1 ? 16 : 4), root > 1 ? 1u << (root - 1) : 1);
    while (lanes < 32 && w->n >= 8 * lanes && w->outputs * lanes < (uint64_t)sms * SM_THREADS)
        lanes *= 2;
    return lanes < 32 ? lanes : 32; /* of a warp */
}

/* Few outputs get more threads each, while these have elements enough. */
static unsigned cut_rows(const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    const uint64_t length = w->n * w->walks, at_once = w->at_once;
    cut->lanes = lanes_of(w, sms);
    cut->slices = power_up_to(length / (cut->lanes * 16 * at_once), threads / cut->lanes);
    while (cut->slices * cut->lanes < threads &&
           w->outputs * cut->slices * cut->lanes < (uint64_t)sms * SM_THREADS / 8 &&
           length > at_once / 2 * cut->slices * cut->lanes)
        cut->slices *= 2;
    while (threads >= 2 * cut->lanes * cut->slices && threads > ROW_THREADS / 2 &&
           w->outputs * cut->lanes * cut->slices < (uint64_t)sms * threads)
        threads /= 2;
    cut->outputs = threads / (cut->lanes * cut->slices);
    cut->lanes_first = true;
    return threads;
}

/* Of what is sent of a column; some forms send less. */
static uint64_t part_bytes(const walk *w) {
    return w->unit == 1 ? 16 : GP_REDUCE_MANY_STATE * (w->unit > 8 ? 2 : 1) / w->unit;
}

/*
 * Columns of a block. Nearly all blocks that the GPU holds have one tile each, of whole memory lines; else wide tiles
 * are shared, but so narrow ones, where lines allow it, that all blocks' parts of a column are joined at once.
 */
static uint64_t width_of(const walk *w, unsigned most, unsigned sms) {
    const uint64_t line = gp_at_least_one(GP_ALIGN_MAX / w->loaded), resident = (uint64_t)sms * (SM_THREADS / most);
    const uint64_t alone = gp_round_up(gp_divide_up(w->outputs, resident), line);
    uint64_t width = w->unit > 1 ? gp_least(WIDTH / w->loaded, most / w->unit) : most / 8;
    if (alone <= width && gp_divide_up(w->outputs, alone) * 16 >= resident * 15)
        return alone;
    width = gp_round_up(gp_divide_up(w->outputs, gp_divide_up(w->outputs, width)), line);
    while (width % (2 * line) == 0 && w->outputs % (width / 2) == 0 &&
           resident * width / w->outputs * width * w->unit * part_bytes(w) > JOINED_BYTES * most)
        width /= 2;
    return gp_least(width, gp_at_least_one(most / w->unit));
}

static unsigned cut_columns(const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    const uint64_t folded = w->fold > 1 ? w->across * w->fold / w->unit : 0; /* units of a long row */
    unsigned most = w->low && w->unit > 1 ? gp_to_u32(gp_least(threads, LOW_THREADS)) : threads;
    const uint64_t loads = w->outputs * w->n * w->walks, least = gp_at_least_one(NARROW / w->loaded);
    while (folded > 0 && most > 64 && w->n * folded < FOLDED_THREAD * most && most / 2 >= folded &&
           most / 2 >= w->across)
        most /= 2;
    const uint64_t width = folded > 0 ? folded : w->low ? most : width_of(w, most, sms);
    cut->outputs = gp_to_u32(gp_least(width, w->outputs));
    if (w->low && w->unit > 1 && w->outputs > most) { /* so that all blocks have as much */
        const uint64_t resident = (uint64_t)sms * (SM_THREADS / most);
        const uint64_t rounds = gp_divide_up(w->outputs, resident * most);
        cut->outputs = gp_to_u32(gp_least(most, gp_round_up(gp_divide_up(w->outputs, resident * rounds), 8)));
    }
    while (!w->low && w->fold == 1 && cut->outputs >= 2 * least && w->outputs / cut->outputs < sms &&
           loads < 2 * w->at_once * (uint64_t)most * sms)
        cut->outputs = (cut->outputs + 1) / 2;
    /* threads of a unit: at least so many that each of its columns has one, which may finish it */
    const uint64_t team = most / cut->outputs, fewest = w->low ? 1 : w->unit / w->fold;
    cut->lanes = gp_to_u32(gp_least(team, w->n));
    cut->slices = gp_to_u32(gp_least(gp_least(team / cut->lanes, gp_divide_up(fewest, cut->lanes)), w->walks));
    cut->by_columns = w->fold > 1 || (!w->low && w->form == GP_MANY_SUM_1_WIDEST);
    return gp_to_u32(gp_round_up(gp_greatest(cut->lanes * cut->slices, fewest) * cut->outputs, 32));
}

/* At most, if blocks share outputs: so many rounds of what a thread loads at once are left to each. */
static uint64_t blocks_of(const walk *w, uint64_t team, unsigned rounds) {
    return gp_at_least_one(w->n * w->walks / (team * rounds * w->at_once));
}

/* Of the parts that a tile's columns have; those of 16 columns of bytes are twice as long as their state. */
static uint64_t parts_bytes(const walk *w, const gp_many_cut *cut) {
    return (uint64_t)cut->outputs * GP_REDUCE_MANY_STATE * (w->unit > 8 ? 2 : 1);
}

/* Blocks share outputs where there are few of them, and elements enough. */
static uint32_t splits_of(const walk *w, uint64_t resident, unsigned sms, const gp_many_cut *cut) {
    const uint64_t team = (uint64_t)cut->lanes * cut->slices;
    const uint64_t sent = parts_bytes(w, cut) / w->fold;
    if (cut->tiles >= resident || cut->tiles > GP_MANY_TILES_MAX / 2)
        return 1;
    uint64_t splits = gp_least(resident / cut->tiles, blocks_of(w, team, 4));
    if (splits * cut->tiles < sms)
        splits = gp_least(gp_divide_up(sms, cut->tiles), blocks_of(w, team, 1));
    return gp_to_u32(gp_at_least_one(gp_least(splits, GP_MANY_SENT_BYTES / (sent * cut->tiles))));
}

/*
 * Chunks of whole rounds of what a thread loads at once, where there are rounds enough to draw some; else a chunk for
 * each slice of each block of an output, unless there are walks enough.
 */
static void cut_walks(const walk *w, gp_many_cut *cut) {
    const uint64_t workers = (uint64_t)cut->splits * cut->slices, round = (uint64_t)cut->lanes * w->batch;
    const uint64_t rounds = w->n * w->walks / (workers * round);
    const bool draws = cut->splits > 1 && rounds >= LEAST_DRAWN && w->n >= round;
    cut->chunk = gp_to_u32(draws ? round * gp_at_least_one(rounds / GROUPS)
                                 : gp_divide_up(w->n, gp_least(gp_divide_up(workers, w->walks), w->n)));
    cut->chunks = gp_to_u32(gp_divide_up(w->n, cut->chunk));
    cut->parts = gp_to_u32(cut->chunks * w->walks);
    cut->groups = gp_to_u32(gp_divide_up(cut->parts, cut->slices));
    cut->dealt = draws ? gp_dealt_of(cut->groups, cut->splits, LEAST_DRAWN) : UINT32_MAX;
}

/*
 * Of one output of contiguous elements only sums of squares, in doubles, and pairs: reduce_all has all else at once,
 * whatever the data.
 */
static bool does_many(const gp_problem *problem, const gp_device *device, walk *w) {
    const gp_pass *pass = problem->pass;
    const bool squares = gp_type_is_float(pass->type) && (pass->wants & GP_WANT_SQUARES) &&
                         (gp_device_has_doubles(device) || pass->type == GP_F64);
    return (squares || pass->with_type != 0 || gp_pass_layout_of(pass) != GP_LAYOUT_ALL) && pass->length > 0 &&
           walk_of(pass, problem->in_align, device->multiprocessors, w) && gp_pass_places_rise(pass);
}

/*
 * Whether outputs may be left to reduce_any. Sums and moments of floats that are not counted are done again at once;
 * of integers norms and variances may stay open, but for whole_spread()'s exceptions.
 */
static bool may_fail(const gp_pass *pass, unsigned form) {
    const bool few = pass->length <= 1 << 20 && gp_type_bytes(pass->type) <= 2;
    bool spread = false;
    for (unsigned r = 0; r < pass->results; r++)
        spread = spread || (pass->result[r].op >= GP_REDUCE_NORM && pass->result[r].op <= GP_REDUCE_STDDEV_SAMPLE &&
                            pass->result[r].op != GP_REDUCE_MEAN && (!few || pass->result[r].type == GP_F64));
    if (!gp_type_is_float(pass->type))
        return spread;
    if (form >= GP_MANY_MOMENTS_2)
        return pass->outputs == 1;
    return form >= GP_MANY_DOUBLES_4;
}

/* How many boxes stand side by side, of pictures behind each other that they cover; 0: it is not so. */
static uint64_t boxes_across(const gp_pass *pass, const walk *w) {
    if (pass->reduced != 2 || pass->kept < 1 || pass->kept > 2 || !w->contiguous || w->loaded == 8 ||
        pass->kind == GP_PASS_BITS || (pass->wants & GP_WANT_PLACES))
        return 0;
    const gp_pass_axis *across = &pass->axis[pass->kept - 1], *down = across + 1, *run = down + 1;
    const int64_t wide = (int64_t)run->n * run->in, row = (int64_t)across->n * wide;
    const bool behind = pass->kept == 1 || across[-1].in == (int64_t)down->n * row;
    return behind && across->in == wide && down->in == row ? across->n : 0;
}

bool gp_fit_reduce_short(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    const uint64_t row = pass->length * gp_type_bytes(pass->type), sms = device->multiprocessors;
    gp_short_cut cut = {.cols = gp_to_u32(pass->length)};
    walk w;
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_SHORT_THREADS, 32, attempt);
    if (!does_many(problem, device, &w) || pass->with_type != 0 || row > SHORT_ROW || tiling->threads == 0)
        return false;
    const uint64_t across = boxes_across(pass, &w);
    if (across == 0 ? !(w.dense && w.contiguous) : row > SHORT_BOX)
        return false;
    const unsigned together = w.form < GP_MANY_TWOFOLD ? SHORT_SIDE : SHORT_SIDE / 2;
    const unsigned most_lanes = across > 0 ? power_up_to(w.n, 32) : 32;
    const uint64_t share = pass->outputs * row / (sms * SHORT_SHARES * together);
    const uint64_t tile = gp_greatest(gp_least(SHORT_TILE, gp_greatest(SHORT_TILE / 4, share)), across * row);
    cut.lanes = power_up_to(row / SHORT_THREAD, most_lanes);
    if (together == SHORT_SIDE && tile / row > 2 * tiling->threads && tile / row < 4 * tiling->threads)
        tiling->threads /= 2; /* so that a tile has as many rows as the threads take together */
    while (tiling->threads > SHORT_LEAST && tiling->threads / cut.lanes * row > tile)
        tiling->threads /= 2;
    while (cut.lanes < most_lanes &&
           (tiling->threads / cut.lanes * row > tile ||
            (pass->outputs * cut.lanes < sms * SM_THREADS / 8 && row > cut.lanes * SHORT_FEW)))
        cut.lanes *= 2;
    cut.outputs = tiling->threads / cut.lanes;
    const uint64_t side = cut.outputs, many = across > 0 ? across : together * side;
    const uint64_t rows = gp_least(gp_at_least_one(tile / row / side), SHORT_ROUNDS) * side;
    const uint64_t most = rows > many ? rows / many * many : gp_greatest(rows, across);
    if (most > SHORT_ROUNDS * side || most * row > SHORT_PANEL)
        return false;
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_SHORT_REGS,
                         GP_REDUCE_SHORT_STATIC_SMEM + 2 * (most * row + 32), &held);
    /* tiles of one size for all blocks, whole groups of rows where there are many */
    const uint64_t resident = gp_at_least_one(held.blocks_per_sm * sms);
    const uint64_t even = gp_divide_up(pass->outputs, resident * gp_divide_up(pass->outputs, resident * most));
    const bool grouped = across > 0 || even > many / 2;
    cut.rows = gp_to_u32(gp_least(most, grouped ? gp_round_up(even, many) : even + gp_divide_up(16, row) - 1));
    cut.tiles = gp_to_u32(gp_divide_up(pass->outputs, cut.rows));
    cut.inner = cut.tiles < 3 ? 0 : cut.tiles - 3;
    cut.stage = gp_to_u32(gp_round_up(cut.rows * row + 16, 16));
    cut.rest = may_fail(pass, w.form);
    cut.across = gp_to_u32(across);
    cut.run = gp_to_u32(across > 0 ? (uint64_t)pass->axis[pass->kept - 1].in : row);
    tiling->form = w.form;
    tiling->smem = 2 * cut.stage;
    tiling->blocks = gp_least(cut.tiles, resident);
    cut.dealt = gp_dealt_of(cut.tiles, tiling->blocks, LEAST_DRAWN);
    GP_TILING_PUT(tiling, cut);
    return true;
}

/* Blocks that the GPU holds. */
static uint64_t resident_of(const gp_device *device, const gp_tiling *tiling) {
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_MANY_REGS, GP_REDUCE_MANY_STATIC_SMEM + tiling->smem,
                         &held);
    return gp_at_least_one((uint64_t)held.blocks_per_sm * device->multiprocessors);
}

/* Tiles, and how many blocks share them. */
static bool cut_many(const walk *w, const gp_device *device, unsigned most, gp_tiling *tiling, gp_many_cut *cut) {
    const unsigned sms = device->multiprocessors;
    *cut = (gp_many_cut){.lanes = 1, .outputs = 1, .slices = 1, .splits = 1};
    tiling->threads = w->columns ? cut_columns(w, most, sms, cut) : cut_rows(w, most, sms, cut);
    cut->tiles = gp_to_u32(gp_divide_up(w->outputs, cut->outputs));
    cut->fold = w->fold;
    tiling->smem = gp_greatest(tiling->threads * GP_REDUCE_MANY_STATE / 4 * 3, parts_bytes(w, cut));
    cut->splits = splits_of(w, resident_of(device, tiling), sms, cut);
    cut->by_columns = cut->by_columns || cut->splits > 1;
    return w->form != GP_MANY_SUM_1_WIDEST || w->n * w->walks / cut->splits <= WIDEST_MOST;
}

/* Columns so short, and loads so few, that blocks of half the threads do, unless they would share outputs then. */
static bool is_small(const walk *w, unsigned sms) {
    const uint64_t length = w->n * w->walks;
    return w->columns && !w->low && w->fold == 1 && length <= COLUMN_THREADS / 2 &&
           w->outputs * length < 2 * w->at_once * (uint64_t)COLUMN_THREADS * sms;
}

bool gp_fit_reduce_many(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    gp_many_cut cut;
    walk w;
    if (!does_many(problem, device, &w))
        return false;
    const unsigned sms = device->multiprocessors, all = w.columns ? COLUMN_THREADS : ROW_THREADS;
    const unsigned most = gp_threads_of_attempt(all, 32, attempt);
    if (most == 0 || (w.fold > 1 && most < COLUMN_THREADS))
        return false;
    tiling->form = w.form;
    if (most < all || !is_small(&w, sms) || !cut_many(&w, device, most / 2, tiling, &cut) || cut.splits > 1)
        if (!cut_many(&w, device, most, tiling, &cut))
            return false;
    cut_walks(&w, &cut);
    cut.rows = cut.outputs * (w.columns ? w.unit : 1) / cut.fold;
    cut.cols = gp_to_u32(gp_divide_up(pass->length, cut.splits));
    cut.rest = may_fail(pass, w.form);
    tiling->blocks =
        cut.splits > 1
            ? (uint64_t)cut.tiles * cut.splits
            : gp_least(cut.tiles, gp_times(w.columns ? COLUMN_WAVES : ROW_WAVES, resident_of(device, tiling)));
    const uint64_t parts = cut.splits * cut.rows * part_bytes(&w);
    cut.joined = cut.splits;
    while (parts > JOINED_BYTES * tiling->threads && gp_times(cut.joined, cut.joined) > cut.splits)
        cut.joined--;
    GP_TILING_PUT(tiling, cut);
    return true;
}
