/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that reduce, best first. */
#include "../../device/launch.h"
#include "../arithmetic.h"
#include "../occupancy.h"
#include "cpu.h"
#include "tiling.h"

GP_DECLARE_LAUNCHER(gp_launch_reduce_block);
GP_DECLARE_LAUNCHER(gp_launch_reduce_grid);

#define BLOCK_MAX \
    8192 /* what one block takes in one round of loads; in a trial on an H200 two blocks took 0.3 us longer */

/* What a block's threads load at once. */
static uint32_t tile_of(unsigned threads) {
    return threads * GP_REDUCE_LOADS * 4;
}

static bool fit_block(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_THREADS, 32, attempt);
    tiling->blocks = 1;
    tiling->t[GP_TILE_COLS] = tile_of(tiling->threads);
    return problem->n <= BLOCK_MAX && tiling->threads > 0;
}

/* At most as many blocks as the device holds at once. */
static bool fit_grid(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    tiling->threads = gp_threads_of_attempt(GP_REDUCE_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    const uint64_t tile = tile_of(tiling->threads), tiles = gp_divide_up(problem->n, tile);
    gp_occupancy_info held;
    gp_occupancy_compute(device, tiling->threads, GP_REDUCE_REGS, GP_REDUCE_STATIC_SMEM, &held);
    const uint64_t resident = (uint64_t)held.blocks_per_sm * device->multiprocessors;
    tiling->t[GP_TILE_COLS] = gp_to_u32(tile);
    tiling->blocks = gp_least(gp_least(tiles, GP_REDUCE_GRID_MAX), resident);
    return true;
}

/* Two threads need longer to meet than one needs for less than this, if its core has it in its own cache. */
#define BYTES_FOR_TWO ((uint64_t)1 << 20)

static uint64_t parts_of(const gp_problem *problem) {
    return problem->bytes_read < BYTES_FOR_TWO ? 1 : gp_parts_for_bytes(problem->bytes_read);
}

GP_SIMD_FITS(true, parts_of(problem))
GP_CPU_FIT(fit_cpu, 0, true, parts_of(problem))

const gp_kernel gp_reduce_rows[] = {
    GP_GPU_ROW(reduce_block, GP_REDUCE_BLOCK_REGS, GP_REDUCE_STATIC_SMEM, fit_block,
               "one block for few elements: no second pass over partial results"),
    GP_GPU_ROW(reduce_grid, GP_REDUCE_REGS, GP_REDUCE_STATIC_SMEM, fit_grid,
               "any number of elements, one launch: the last block to start joins the results"),
    GP_SIMD_ROWS(reduce, ", four vectors side by side, the next pages prefetched"),
    GP_CPU_ROW(reduce_cpu, fit_cpu, gp_launch_reduce_cpu,
               "portable C: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(reduce);
