/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes the GPU rows that reduce views do, and how they cut them. */
#include "fit.h"
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "accumulator.h"
#include "tiling.h"

static bool wants(const gp_pass *pass, unsigned all) {
    return (pass->wants & all) == all;
}

/* Places rise with the index, so that the first of equals is the first that is met. */
static bool places_rise(const gp_pass *pass) {
    return !(pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX)) || pass->reduced == 0 ||
           pass->axis[pass->kept + pass->reduced - 1].place > 0;
}

/* Of floats one sum besides that of squares; of doubles none of squares, whose products have 106 bits. */
static bool adds(const gp_pass *pass) {
    return !gp_type_is_float(pass->type) ||
           (!wants(pass, GP_WANT_SUM | GP_WANT_ABS) && !(pass->type == GP_F64 && wants(pass, GP_WANT_SQUARES)));
}

static bool does_all(const gp_pass *pass) {
    return gp_pass_layout_of(pass) == GP_LAYOUT_ALL && pass->length > 0 && pass->with_type == 0 &&
           places_rise(pass) && adds(pass);
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

static size_t column_of(unsigned form) {
    if (form >= GP_ALL_SQUARES)
        return GP_ALL_COLUMN_SQUARES;
    if (form < GP_ALL_FLOATS)
        return 0;
    return form == GP_ALL_FLOATS + 2 ? GP_ALL_COLUMN_F64 : GP_ALL_COLUMN_FLOATS;
}

/* Whether one machine instruction makes the result of what the kernel has gathered, whatever the data. */
static bool is_plain(const gp_pass *pass, const gp_pass_result *result) {
    const bool squares = result->op == GP_REDUCE_SUM_SQUARES, sum = result->op == GP_REDUCE_SUM;
    const unsigned bits = 8 * gp_type_bytes(pass->type) * (squares ? 2 : 1) + gp_log2(pass->length) + 1;
    if (pass->kind != GP_PASS_MOMENTS || result->op == GP_REDUCE_COUNT)
        return true;
    if (gp_type_is_float(pass->type) || (!squares && !sum && result->op != GP_REDUCE_SUM_ABS))
        return false;
    if (sum && result->type == GP_U64 && gp_type_is_signed(pass->type))
        return false;
    return bits < 64 && result->type != GP_F16 && result->type != GP_BF16;
}

bool gp_fit_reduce_all(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    if (!does_all(pass))
        return false;
    const unsigned form = form_of(pass);
    const unsigned most = form == GP_ALL_FLOATS + 2 ? GP_REDUCE_ALL_F64_THREADS : GP_REDUCE_ALL_THREADS;
    const uint32_t bytes = gp_type_bytes(pass->type);
    tiling->threads = gp_threads_of_attempt(most, 32, attempt);
    if (tiling->threads == 0)
        return false;
    tiling->form = form;
    tiling->smem = tiling->threads * column_of(form);
    const uint32_t tile = tiling->threads * GP_REDUCE_ALL_BYTES;
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_ALL_REGS, GP_REDUCE_ALL_STATIC_SMEM + tiling->smem,
                         &held);
    /* tiles are counted from the memory line in which the elements begin */
    const uint64_t tiles = gp_divide_up(pass->length * bytes + GP_ALIGN_MAX - problem->in_align, tile);
    const uint64_t resident =
        gp_least((uint64_t)held.blocks_per_sm * device->multiprocessors, GP_REDUCE_ALL_GRID_MAX);
    tiling->blocks = gp_least(tiles, resident);
    tiling->t[GP_TILE_COLS] = tile / bytes;
    for (unsigned r = 0; r < pass->results; r++)
        tiling->t[GP_REDUCE_ALL_REST] |= !is_plain(pass, &pass->result[r]);
    return true;
}

/* Outputs that are enough for a thread each; fewer have a block each, unless they have hardly an element a thread. */
#define MANY_OUTPUTS 4096
#define FEW_ELEMENTS 8

bool gp_fit_reduce_any(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_pass *pass = problem->pass;
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_ANY_THREADS, 1, attempt);
    if (tiling->threads == 0)
        return false;
    const bool alone = pass->outputs >= MANY_OUTPUTS || pass->length <= FEW_ELEMENTS;
    const uint32_t team = alone ? 1 : tiling->threads;
    tiling->smem = tiling->threads * sizeof(gp_accumulator);
    tiling->blocks = gp_least(gp_divide_up(pass->outputs, tiling->threads / team), GP_REDUCE_ANY_GRID_MAX);
    tiling->t[GP_REDUCE_ANY_TEAM] = team;
    return true;
}
