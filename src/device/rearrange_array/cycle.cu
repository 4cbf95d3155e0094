/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange_cycle: matrices in place that are not square, as cycle.h says. */
#include "../../host/arithmetic.h"
#include "../gpu.h"
#include "../reduce_array/space.cuh"
#include "cycle_units.cuh"

static_assert(GP_CYCLE_SPACE_FIRST >= GP_REDUCE_MANY_SPACE_FIRST + offsetof(many_space, failure),
              "counters that are to be zero are not overwritten");

static void (*const turns[])(cycle_pass) = {rearrange_cycle<1, false>, rearrange_cycle<2, false>,
                                            rearrange_cycle<4, false>, rearrange_cycle<8, false>,
                                            rearrange_cycle<16, false>};
static void (*const movers[])(cycle_units) = {rearrange_cycle_units<1>, rearrange_cycle_units<2>,
                                              rearrange_cycle_units<4>, rearrange_cycle_units<8>,
                                              rearrange_cycle_units<16>};

/* Bytes of rows that are walked together where they are loaded, and where they are stored. */
#define SHORT_LOADED 64u
#define SHORT_STORED 256u

static uint32_t magic_of(uint32_t n) {
    return (uint32_t)(((uint64_t)1 << 32) / n + 1);
}

/* Pieces' rows become units, or units rows. */
static gp_status turn(gp_context *context, const gp_plan *plan, const gp_cycle &c, uint32_t *arrived) {
    gp_cycle_tile tile;
    memcpy(&tile, plan->tiling.t, sizeof tile);
    const uint64_t run = c.others.run, piece = c.rows * c.across * run, cols = tile.cols, row = c.across * run;
    const uint32_t pieces = (uint32_t)run >> plan->tiling.form, pitch = (c.rows | 1) * pieces;
    const uint32_t flat = tile.parts == 1 && row < (c.tall ? SHORT_LOADED : SHORT_STORED) ? tile.cols : 0,
                   step = flat == 0 && pieces == 1 ? pitch : 0;
    const cycle_side rows = {UINT64_MAX, piece, cols * run, (uint32_t)row, pieces, pitch, step, flat, false};
    const cycle_side units = {c.cut, piece, cols * c.apart, (uint32_t)c.apart, pitch, pieces, 1, 0, true};
    cycle_pass p = {c,
                    {c.high, c.pieces, c.rows},
                    {c.across, tile.parts, tile.cols},
                    c.tall ? rows : units,
                    c.tall ? units : rows,
                    false,
                    pieces,
                    {pieces > 1 ? magic_of(pieces) : 0, flat > 1 ? magic_of(flat) : 0},
                    tile.parts,
                    0,
                    arrived};
    void *list[] = {&p};
    return gp_gpu_launch(context, plan, (const void *)turns[plan->tiling.form], list);
}

/* Lines of the padded matrix become those of a dense one, or the other way round: whole ones, or shares of one. */
static gp_status shift(gp_context *context, const gp_plan *plan, const gp_cycle &c, uint32_t *arrived) {
    const uint64_t line = c.high * c.others.run, apart = c.pieces * c.apart, room = plan->tiling.smem - 32;
    const uint32_t lines = (uint32_t)gp_at_least_one(gp_least(room / (line + 32), c.across));
    const uint32_t share = (uint32_t)gp_divide_up(line, gp_divide_up(line, room));
    const uint32_t pitch = (uint32_t)gp_round_up(share, 16) + 16;
    const cycle_side dense = {UINT64_MAX, lines * line, share, (uint32_t)line, pitch, 1, 1, 0, false};
    const cycle_side padded = {c.cut, lines * apart, share, (uint32_t)apart, pitch, 1, 1, 0, false};
    cycle_pass p = {c,
                    {c.across, gp_divide_up(c.across, lines), lines},
                    {line, gp_divide_up(line, share), share},
                    c.tall ? padded : dense,
                    c.tall ? dense : padded,
                    !c.tall,
                    1,
                    {0, 0},
                    1,
                    (uint32_t)gp_least((apart - line) * c.across / (lines * share / 2) + 3, plan->tiling.blocks - 1),
                    arrived};
    void *list[] = {&p};
    return gp_gpu_launch(context, plan, (const void *)rearrange_cycle<1, true>, list);
}

static gp_status move_units(gp_context *context, const gp_plan *plan, const gp_cycle &c, uint32_t *flags) {
    const uint64_t rows = c.tall ? c.pieces : c.across, cols = c.tall ? c.across : c.pieces;
    cycle_units u = {c, flags, (uint32_t)rows, (uint32_t)cols, UINT64_MAX / cols + 1};
    gp_plan moving = *plan;
    moving.tiling.smem = 0;
    void *list[] = {&u};
    return gp_gpu_launch(context, &moving, (const void *)movers[gp_log2(c.word)], list);
}

/* So many matrices at a time as the workspace holds flags and tails of. */
static gp_status transpose(gp_context *context, const gp_plan *plan, gp_cycle &c) {
    unsigned char *const space = (unsigned char *)context->gpu->workspace + GP_CYCLE_SPACE_FIRST;
    uint32_t *const arrived = (uint32_t *)space, *const flags = arrived + GP_CYCLE_COUNTERS;
    const size_t flag_bytes = (size_t)(c.at_once * c.slices * c.flags) * 4;
    const bool in_pieces = plan->tiling.smem > 0;
    c.space = (unsigned char *)flags + gp_round_up(flag_bytes, 16);
    GP_CUDA(cudaMemsetAsync(space, 0, GP_CYCLE_COUNTERS * 4 + flag_bytes, context->gpu->stream));
    if (in_pieces && c.tall)
        GP_TRY(turn(context, plan, c, arrived));
    if (c.tail > 0 && !c.tall)
        GP_TRY(shift(context, plan, c, arrived + GP_CYCLE_COUNTERS / 2));
    if (c.pieces > 1)
        GP_TRY(move_units(context, plan, c, flags));
    if (c.tail > 0 && c.tall)
        GP_TRY(shift(context, plan, c, arrived + GP_CYCLE_COUNTERS / 2));
    if (in_pieces && !c.tall)
        GP_TRY(turn(context, plan, c, arrived));
    return GP_OK;
}

GP_DECLARE_LAUNCHER(gp_launch_rearrange_cycle) {
    gp_cycle c;
    (void)gp_cycle_make(&c, problem->move, problem->out_align, plan->tiling.t[GP_TILE_ROWS]);
    for (const uint64_t at_once = c.at_once; c.first < c.matrices; c.first += at_once) {
        c.at_once = gp_least(at_once, c.matrices - c.first);
        GP_TRY(transpose(context, plan, c));
    }
    return GP_OK;
}
