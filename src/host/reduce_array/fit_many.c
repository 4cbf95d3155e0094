/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes reduce_many does, and how it cuts them: rows, columns, and what lies between. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "fit.h"
#include "tiling.h"

#define AT_ONCE 8       /* elements that a thread loads at once */
#define STAGED_ROW 2048 /* bytes of a row at most that goes to shared memory first */
#define STAGED_TILE 16384
#define ROW_THREADS 256 /* blocks of rows */
#define COLUMN_THREADS 512
#define WAVES 4 /* blocks are to be so many times those that the GPU holds */

static unsigned form_of_floats(const gp_pass *pass) {
    bool one = !pass->skip_nan && pass->wants != 0 && (pass->wants & (pass->wants - 1)) == 0, doubles = false;
    one = one && (pass->wants & (GP_WANT_SUM | GP_WANT_ABS));
    for (unsigned r = 0; r < pass->results; r++) {
        const bool is_double = pass->result[r].type == GP_F64, is_short = pass->result[r].type < GP_F32;
        doubles = doubles || is_double;
        if (pass->type == GP_F64 && is_short)
            return GP_MANY_FORMS; /* would not be proved */
        if (is_double && pass->result[r].op >= GP_REDUCE_NORM && pass->result[r].op != GP_REDUCE_MEAN)
            return GP_MANY_FORMS;
    }
    if (pass->type == GP_F64)
        return one ? GP_MANY_DOUBLES + 1 : GP_MANY_FORMS;
    if (!one)
        return GP_MANY_MOMENTS;
    return pass->type != GP_F32 ? GP_MANY_FLOATS : doubles ? GP_MANY_DOUBLES : GP_MANY_FLOATS + 1;
}

/* GP_MANY_FORMS: there is none. Of ints those results that a few machine instructions round. */
static unsigned form_of(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type)), wants = pass->wants;
    if (pass->kind == GP_PASS_BITS)
        return GP_MANY_BITS;
    if (pass->kind == GP_PASS_EXTREMES)
        return GP_MANY_EXTREMES + width;
    if (gp_type_is_float(pass->type))
        return form_of_floats(pass);
    for (unsigned r = 0; r < pass->results; r++)
        if ((pass->result[r].op >= GP_REDUCE_NORM && pass->result[r].op != GP_REDUCE_MEAN) ||
            pass->result[r].type == GP_F16 || pass->result[r].type == GP_BF16)
            return GP_MANY_FORMS;
    return wants == GP_WANT_SUM && width < 3 ? GP_MANY_SUM + width : GP_MANY_INTS;
}

/* 2^k, at least 1 and at most `most`, itself 2^k. */
static uint32_t power_up_to(uint64_t n, uint32_t most) {
    return n < most ? (uint32_t)1 << gp_log2(gp_at_least_one(n)) : most;
}

typedef struct walk {
    uint32_t n;     /* along the last reduced axis */
    uint64_t walks; /* along the others */
    bool contiguous, columns, staged;
} walk;

static bool walk_of(const gp_pass *pass, walk *w) {
    static const gp_pass_axis one = {.n = 1};
    const gp_pass_axis *kept = &pass->axis[pass->kept - 1], *reduced = &pass->axis[pass->kept + pass->reduced - 1];
    const uint64_t bytes = gp_type_bytes(pass->type);
    const gp_pass_axis *last = pass->reduced > 0 ? reduced : &one;
    if (pass->outputs >> 32 != 0 || pass->length >> 31 != 0)
        return false;
    w->n = (uint32_t)last->n;
    w->walks = pass->length / last->n;
    w->contiguous = gp_pass_is_contiguous(pass, last);
    w->columns = pass->kept > 0 && !w->contiguous && (pass->reduced == 0 || kept->in <= last->in);
    w->staged = w->contiguous && pass->kept == 1 && pass->reduced == 1 && pass->length * bytes <= STAGED_ROW &&
                (uint64_t)kept->in == pass->length * bytes;
    return true;
}

/* Rows that are copied first: up to 128 bytes a thread. */
static unsigned cut_staged(const gp_pass *pass, unsigned threads, gp_many_cut *cut) {
    const uint32_t row = (uint32_t)pass->length * gp_type_bytes(pass->type);
    cut->lanes = power_up_to(row / 96, 32);
    cut->outputs = threads / cut->lanes;
    cut->groups = (uint32_t)gp_at_least_one(gp_least(STAGED_TILE / (cut->outputs * row), 16));
    cut->lanes_first = cut->staged = true;
    return threads;
}

static unsigned cut_rows(const gp_pass *pass, const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    cut->lanes = power_up_to(w->n / 4, 32);
    cut->slices = power_up_to(pass->length / (cut->lanes * 4 * AT_ONCE), threads / cut->lanes);
    while (cut->slices * cut->lanes < threads && pass->outputs * cut->slices * cut->lanes < (uint64_t)sms * threads &&
           (uint64_t)cut->slices * cut->lanes * AT_ONCE < pass->length)
        cut->slices *= 2;
    cut->outputs = threads / (cut->lanes * cut->slices);
    cut->lanes_first = true;
    return threads;
}

/* At most, if blocks share outputs. */
static uint64_t blocks_of(const gp_pass *pass, uint64_t team, uint64_t outputs) {
    return pass->outputs / outputs * gp_at_least_one(pass->length / (team * 4 * AT_ONCE));
}

static unsigned cut_columns(const gp_pass *pass, const walk *w, unsigned threads, unsigned sms, gp_many_cut *cut) {
    cut->outputs = (uint32_t)gp_least(pass->outputs, threads / 2);
    while (cut->outputs > 32 && blocks_of(pass, threads / cut->outputs, cut->outputs) < 2 * (uint64_t)sms)
        cut->outputs = (cut->outputs + 1) / 2;
    if (w->n < 2 * AT_ONCE)
        cut->outputs = (uint32_t)gp_least(pass->outputs, threads);
    cut->lanes = (uint32_t)gp_least(threads / cut->outputs, w->n);
    return (unsigned)gp_round_up((uint64_t)cut->lanes * cut->outputs, 32);
}

/* Blocks share outputs where there are few of them, and elements enough. */
static uint32_t splits_of(const gp_pass *pass, uint64_t resident, const gp_many_cut *cut) {
    const uint64_t team = (uint64_t)cut->lanes * cut->slices, sent = (uint64_t)cut->outputs * GP_REDUCE_MANY_STATE;
    if (cut->staged || cut->tiles >= resident || cut->tiles > GP_MANY_TILES_MAX)
        return 1;
    uint64_t splits = gp_least(WAVES * resident / cut->tiles, blocks_of(pass, team, pass->outputs));
    splits = gp_least(splits, GP_MANY_SENT_BYTES / (sent * cut->tiles));
    return (uint32_t)gp_at_least_one(splits);
}

bool gp_fit_reduce_many(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
    gp_many_cut cut = {.lanes = 1, .outputs = 1, .slices = 1, .splits = 1, .groups = 1};
    walk w;
    if (pass->with_type != 0 || pass->length == 0 || !walk_of(pass, &w) || !gp_pass_adds(pass) ||
        (places && (pass->reduced > 1 || !gp_pass_places_rise(pass))))
        return false;
    tiling->form = form_of(pass);
    const unsigned most = gp_threads_of_attempt(w.columns ? COLUMN_THREADS : ROW_THREADS, 32, attempt);
    if (tiling->form == GP_MANY_FORMS || most == 0)
        return false;
    const unsigned sms = device->multiprocessors;
    tiling->threads = w.staged    ? cut_staged(pass, most, &cut)
                      : w.columns ? cut_columns(pass, &w, most, sms, &cut)
                                  : cut_rows(pass, &w, most, sms, &cut);
    tiling->smem = cut.staged ? (size_t)cut.outputs * cut.groups * pass->length * gp_type_bytes(pass->type) + 32
                              : (size_t)tiling->threads / 2 * GP_REDUCE_MANY_STATE;
    const uint64_t tiles = gp_divide_up(pass->outputs, (uint64_t)cut.outputs * cut.groups);
    if (tiles >> 31 != 0)
        return false;
    cut.tiles = (uint32_t)tiles;
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_MANY_REGS, GP_REDUCE_MANY_STATIC_SMEM + tiling->smem,
                         &held);
    cut.splits = splits_of(pass, (uint64_t)held.blocks_per_sm * sms, &cut);
    const uint64_t workers = (uint64_t)cut.splits * cut.slices;
    cut.chunks = (uint32_t)gp_least(gp_divide_up(workers, w.walks), w.n);
    cut.parts = (uint32_t)(cut.chunks * w.walks);
    cut.rows = cut.outputs * cut.groups;
    cut.cols = (uint32_t)gp_divide_up(pass->length, cut.splits);
    for (unsigned r = 0; r < pass->results; r++)
        cut.rest = cut.rest || !gp_pass_is_plain(pass, &pass->result[r]) ||
                   (gp_type_is_float(pass->type) && pass->kind == GP_PASS_MOMENTS);
    tiling->blocks = gp_least((uint64_t)cut.tiles * cut.splits, 2 * WAVES * (uint64_t)held.blocks_per_sm * sms);
    GP_TILING_PUT(tiling, cut);
    return true;
}
