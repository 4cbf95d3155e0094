/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes the GPU rows that reduce views do, and how they cut them. */
#include "fit.h"
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "../status.h"
#include "accumulator.h"
#include "tiling.h"

static bool wants(const gp_pass *pass, unsigned all) {
    return (pass->wants & all) == all;
}

bool gp_pass_places_rise(const gp_pass *pass) {
    const gp_pass_axis *axis = &pass->axis[pass->kept];
    for (unsigned i = pass->reduced; (pass->wants & GP_WANT_PLACES) && i-- > 0;)
        if (axis[i].place <= 0 ||
            (i + 1u < pass->reduced && (uint64_t)axis[i].place < axis[i + 1].n * (uint64_t)axis[i + 1].place))
            return false;
    return true;
}

/* Not both a sum and one of magnitudes, and no squares of doubles. */
static bool adds(const gp_pass *pass) {
    return !gp_type_is_float(pass->type) ||
           (!wants(pass, GP_WANT_SUM | GP_WANT_ABS) && !(pass->type == GP_F64 && wants(pass, GP_WANT_SQUARES)));
}

static bool does_all(const gp_pass *pass) {
    return gp_pass_layout_of(pass) == GP_LAYOUT_ALL && pass->length > 0 && pass->with_type == 0 &&
           gp_pass_places_rise(pass) && adds(pass);
}

static unsigned form_of(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type)); /* 0 to 3 */
    if (pass->kind == GP_PASS_BITS)
        return GP_ALL_BITS;
    if (pass->kind == GP_PASS_EXTREMES)
        return GP_ALL_EXTREMES + width;
    if (!gp_type_is_float(pass->type))
        return GP_ALL_INTS + width;
    return (wants(pass, GP_WANT_SQUARES) ? GP_ALL_SQUARES : GP_ALL_FLOATS) + width - 1;
}

/* What the kernel's forms are compiled for; by gp_reduce_all_form. */
#define LIGHT GP_REDUCE_ALL_THREADS, GP_REDUCE_ALL_LIGHT_REGS
#define HEAVY GP_REDUCE_ALL_THREADS, GP_REDUCE_ALL_HEAVY_REGS
#define FEW GP_REDUCE_ALL_FEW_THREADS, GP_REDUCE_ALL_REGS
#define VECTORS GP_REDUCE_ALL_VECTORS

static const struct {
    unsigned threads, regs, vectors;
    size_t column;
} forms[GP_ALL_FORMS] = {
    {LIGHT, VECTORS, 0},
    {LIGHT, VECTORS, 0},
    {LIGHT, VECTORS, 0},
    {LIGHT, VECTORS, 0},
    {HEAVY, VECTORS, 0},
    {HEAVY, VECTORS, 0},
    {HEAVY, VECTORS, 0},
    {HEAVY, VECTORS, 0},
    {HEAVY, VECTORS, 0},
    {HEAVY, VECTORS, GP_ALL_COLUMN_FLOATS},
    {HEAVY, VECTORS, GP_ALL_COLUMN_FLOATS},
    {FEW, VECTORS, GP_ALL_COLUMN_F64},
    {HEAVY, 2, GP_ALL_COLUMN_FLOATS},
    {HEAVY, VECTORS, GP_ALL_COLUMN_FLOATS},
    {FEW, 1, GP_ALL_COLUMN_SQUARES},
    {FEW, VECTORS, GP_ALL_COLUMN_SQUARES},
};

uint32_t gp_dealt_of(uint64_t tiles, uint64_t blocks, unsigned least) {
    const uint64_t rounds = tiles / blocks;
    if (rounds < least || rounds >= (uint64_t)1 << 18)
        return UINT32_MAX;
    return gp_to_u32(blocks * (rounds - gp_divide_up(rounds, 5)));
}

static bool fit_form(const gp_problem *problem, const gp_device *device, unsigned form, unsigned attempt,
                     gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    if (!does_all(pass))
        return false;
    const uint32_t bytes = gp_type_bytes(pass->type);
    tiling->threads = gp_threads_of_attempt(forms[form].threads, 32, attempt);
    if (tiling->threads == 0)
        return false;
    tiling->form = form;
    tiling->smem = tiling->threads * forms[form].column;
    if (forms[form].column > 0 && tiling->smem < sizeof(gp_accumulator))
        tiling->smem = sizeof(gp_accumulator); /* in which the last block rounds */
    const uint32_t tile = tiling->threads * forms[form].vectors * 16;
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, forms[form].regs, GP_REDUCE_ALL_STATIC_SMEM + tiling->smem, &held);
    /* as if the elements began as far behind a memory line as they may */
    const uint64_t all = pass->length * bytes + GP_ALIGN_MAX - problem->in_align;
    const uint64_t resident =
        gp_least((uint64_t)held.blocks_per_sm * device->multiprocessors, GP_REDUCE_ALL_GRID_MAX);
    tiling->blocks = gp_least(gp_divide_up(all, tile), resident);
    tiling->t[GP_TILE_COLS] = tile / bytes;
    tiling->t[GP_REDUCE_ALL_DEALT] = tiling->blocks > 0 ? gp_dealt_of(all / tile, tiling->blocks, 2) : UINT32_MAX;
    return true;
}

/* Sums of f16, bf16 and f32. */
static bool adds_floats(const gp_pass *pass) {
    return pass->kind == GP_PASS_MOMENTS && gp_type_is_float(pass->type) && pass->type != GP_F64;
}

bool gp_fit_reduce_all(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return (gp_device_has_doubles(device) || !adds_floats(problem->pass)) &&
           fit_form(problem, device, form_of(problem->pass), attempt, tiling);
}

bool gp_fit_reduce_all_singles(const gp_problem *problem, const gp_device *device, unsigned attempt,
                               gp_tiling *tiling) {
    const unsigned form = form_of(problem->pass), singles = GP_ALL_SINGLES - GP_ALL_FLOATS;
    return adds_floats(problem->pass) &&
           fit_form(problem, device, form < GP_ALL_SINGLES ? form + singles : form, attempt, tiling);
}

/* Outputs that are enough for a thread each; fewer have a block each, unless they have hardly an element a thread. */
#define MANY_OUTPUTS 4096
#define FEW_ELEMENTS 8

bool gp_fit_reduce_any(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_ANY_THREADS, 1, attempt);
    if (tiling->threads == 0)
        return false;
    const bool alone = pass->outputs >= MANY_OUTPUTS || pass->length <= FEW_ELEMENTS;
    const uint32_t team = alone ? 1 : tiling->threads;
    const uint64_t share = alone ? 1 : pass->length / (team * GP_REDUCE_ANY_SHARE),
                   outputs = gp_at_least_one(pass->outputs);
    const uint64_t splits = gp_at_least_one(gp_least(gp_least(share, device->multiprocessors / outputs),
                                                     GP_MANY_SENT_BYTES / sizeof(gp_accumulator) / outputs));
    tiling->smem = tiling->threads * sizeof(gp_accumulator);
    tiling->blocks = gp_least(gp_divide_up(pass->outputs, tiling->threads / team) * splits, GP_REDUCE_ANY_GRID_MAX);
    tiling->t[GP_REDUCE_ANY_TEAM] = team;
    tiling->t[GP_REDUCE_ANY_SPLITS] = gp_to_u32(splits);
    return true;
}

#define FAILED_GRID_MAX 256 /* blocks of reduce_any: few, as most often nothing has failed */

gp_status gp_fit_reduce_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling, bool *all) {
    *all = does_all(problem->pass);
    for (unsigned attempt = 0;; attempt++) {
        gp_occupancy_info held;
        memset(tiling, 0, sizeof *tiling);
        if (!(*all ? gp_fit_reduce_all : gp_fit_reduce_any)(problem, device, attempt, tiling))
            break;
        gp_occupancy_compute(device, tiling->threads, *all ? GP_REDUCE_ALL_REGS : GP_REDUCE_ANY_REGS,
                             tiling->smem + (*all ? GP_REDUCE_ALL_STATIC_SMEM : 0), &held);
        if (held.blocks_per_sm == 0)
            continue;
        tiling->blocks = *all ? tiling->blocks : gp_least(tiling->blocks, FAILED_GRID_MAX);
        return GP_OK;
    }
    return gp_fail(GP_ERR_NO_KERNEL, "the limits leave no room for what is launched behind reduce_many");
}
