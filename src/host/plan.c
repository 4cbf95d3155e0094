/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: rows in order, tilings of each in order, the first that the device has room for. Pure. */
#include "plan.h"
#include "occupancy.h"
#include "primitive.h"
#include <stdio.h>

static gp_verdict_code row_applies(const gp_kernel *row, const gp_problem *problem, gp_pin pin) {
    if (pin.row != NULL && pin.row != row)
        return GP_VERDICT_NOT_PINNED;
    if (pin.row == NULL && (row->flags & GP_KERNEL_STUDY))
        return GP_VERDICT_STUDY;
    return row->space == problem->space ? GP_VERDICT_FITS : GP_VERDICT_OTHER_SPACE;
}

static gp_verdict_code block_fits(const gp_device *device, gp_verdict *verdict) {
    const gp_kernel *row = verdict->row;
    const gp_tiling *tiling = &verdict->tiling;
    verdict->regs = gp_occupancy_regs_checked(device, tiling->threads, tiling->regs);
    if (tiling->threads > device->threads_per_block || tiling->threads > device->threads_per_sm)
        return GP_VERDICT_THREADS;
    if (verdict->regs > device->regs_per_block)
        return GP_VERDICT_REGISTERS;
    if (row->smem_static + tiling->smem > device->smem_per_block_optin)
        return GP_VERDICT_SHARED_MEMORY;
    gp_occupancy_info occupancy;
    gp_occupancy_compute(device, tiling->threads, tiling->regs, row->smem_static + tiling->smem, &occupancy);
    verdict->blocks_per_sm = occupancy.blocks_per_sm;
    verdict->limited_by = (gp_limit)occupancy.limited_by;
    if (occupancy.blocks_per_sm > 0)
        return GP_VERDICT_FITS;
    if (occupancy.limited_by == GP_LIMIT_SHARED_MEMORY)
        return GP_VERDICT_SHARED_MEMORY;
    return occupancy.limited_by == GP_LIMIT_REGISTERS ? GP_VERDICT_REGISTERS : GP_VERDICT_THREADS;
}

/* The first of the row's tilings that the device has room for. */
static void try_tilings(const gp_problem *problem, const gp_device *device, unsigned pinned_threads,
                        gp_verdict *verdict) {
    const gp_kernel *row = verdict->row;
    gp_tiling tiling = {0};
    verdict->code = GP_VERDICT_SHAPE;
    for (unsigned attempt = 0; row->fit(problem, device, attempt, &tiling); attempt++, tiling = (gp_tiling){0}) {
        if (pinned_threads > 0 && tiling.threads != pinned_threads) {
            verdict->code = GP_VERDICT_PINNED_THREADS;
            verdict->tiling.threads = pinned_threads;
            continue;
        }
        if (tiling.blocks == 0)
            tiling.blocks = 1;
        if (tiling.regs == 0)
            tiling.regs = row->regs_per_thread;
        verdict->tiling = tiling;
        verdict->code = row->space == GP_SPACE_PROCESSOR ? GP_VERDICT_FITS : block_fits(device, verdict);
        if (verdict->code == GP_VERDICT_FITS || pinned_threads > 0)
            return;
    }
}

static void judge(gp_verdict *verdict, const gp_problem *problem, const gp_device *device, gp_pin pin) {
    verdict->code = row_applies(verdict->row, problem, pin);
    if (verdict->code != GP_VERDICT_FITS)
        return;
    try_tilings(problem, device, pin.threads, verdict);
    if (verdict->code == GP_VERDICT_FITS && verdict->tiling.blocks > GP_GRID_MAX)
        verdict->code = GP_VERDICT_GRID;
}

bool gp_plan_make(const gp_problem *problem, const gp_device *device, gp_rows rows, gp_pin pin, gp_plan *plan,
                  gp_verdict *verdicts) {
    const bool empty = problem->primitive->is_empty(problem);
    *plan = (gp_plan){0};
    for (size_t i = 0; i < rows.count + rows.study_count; i++) {
        gp_verdict verdict = {.row = gp_rows_at(rows, i), .code = GP_VERDICT_EMPTY};
        if (!empty)
            judge(&verdict, problem, device, pin);
        if (verdicts != NULL)
            verdicts[i] = verdict;
        if (verdict.code != GP_VERDICT_FITS || plan->row != NULL)
            continue;
        *plan = verdict;
        if (verdicts == NULL)
            break;
    }
    return plan->row != NULL;
}

/* A GPU's tiling: "tile 64 x 64, 256 threads, 1024 blocks". */
static int describe_fit(const gp_verdict *verdict, bool chosen, char *text, size_t size) {
    const char *head = chosen ? "chosen" : "fits too, ranked lower";
    const gp_tiling *tiling = &verdict->tiling;
    const uint32_t rows = tiling->t[GP_TILE_ROWS], cols = tiling->t[GP_TILE_COLS];
    const unsigned long long blocks = tiling->blocks;
    const char *plural = blocks == 1 ? "" : "s";
    char tile[48] = "";
    if (verdict->row->space == GP_SPACE_PROCESSOR)
        return snprintf(text, size, "%s: %llu thread%s", head, blocks, plural);
    if (rows > 0)
        (void)snprintf(tile, sizeof tile, "tile %u x %u, ", rows, cols);
    else if (cols > 0)
        (void)snprintf(tile, sizeof tile, "tile of %u elements, ", cols);
    return snprintf(text, size,
                    "%s: %s%u threads, %llu block%s, at most %u registers a thread, %zu + %zu bytes shared, "
                    "%u blocks an SM (limit: %s)",
                    head, tile, tiling->threads, blocks, plural, tiling->regs, verdict->row->smem_static,
                    tiling->smem, verdict->blocks_per_sm, gp_limit_name(verdict->limited_by));
}

static int describe_reason(const gp_verdict *verdict, const gp_device *device, char *text, size_t size) {
    const size_t smem = verdict->row->smem_static + verdict->tiling.smem;
    switch (verdict->code) {
    case GP_VERDICT_EMPTY:
        return snprintf(text, size, "not considered: there is nothing to compute");
    case GP_VERDICT_NOT_PINNED:
        return snprintf(text, size, "not considered: another kernel is pinned");
    case GP_VERDICT_STUDY:
        return snprintf(text, size, "not considered: for study, chosen only when pinned");
    case GP_VERDICT_OTHER_SPACE:
        return snprintf(text, size, "not considered: runs on the %s",
                        verdict->row->space == GP_SPACE_GPU ? "GPU" : "processor");
    case GP_VERDICT_SHAPE:
        return snprintf(text, size, "no: not for this shape or device (%s)", verdict->row->about);
    case GP_VERDICT_PINNED_THREADS:
        return snprintf(text, size, "no: blocks of %u threads are no use for this shape", verdict->tiling.threads);
    case GP_VERDICT_THREADS:
        return snprintf(text, size, "no: needs %u threads a block, the device allows %u", verdict->tiling.threads,
                        device->threads_per_block);
    case GP_VERDICT_REGISTERS:
        if (device->regs_per_thread > 0 && verdict->tiling.regs > device->regs_per_thread)
            return snprintf(text, size, "no: needs up to %u registers a thread, the device allows %u",
                            verdict->tiling.regs, device->regs_per_thread);
        return snprintf(text, size, "no: %u threads need %llu registers, a block may have %u",
                        verdict->tiling.threads, (unsigned long long)verdict->regs, device->regs_per_block);
    case GP_VERDICT_SHARED_MEMORY:
        return snprintf(text, size, "no: %u threads need %zu bytes of shared memory, a block may have %zu",
                        verdict->tiling.threads, smem, device->smem_per_block_optin);
    case GP_VERDICT_GRID:
        return snprintf(text, size, "no: needs %llu blocks, a grid holds %u",
                        (unsigned long long)verdict->tiling.blocks, GP_GRID_MAX);
    case GP_VERDICT_FITS:
        break;
    }
    return 0;
}

int gp_verdict_describe(const gp_verdict *verdict, const gp_device *device, bool chosen, char *text, size_t size) {
    char words[320];
    if (verdict->code == GP_VERDICT_FITS)
        (void)describe_fit(verdict, chosen, words, sizeof words);
    else
        (void)describe_reason(verdict, device, words, sizeof words);
    return snprintf(text, size, "  %-26s %s\n", verdict->row->name, words);
}
