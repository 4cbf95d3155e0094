/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: rows in order, threads halved until a block fits; see docs/planner.md. Pure. */
#include "plan.h"
#include "occupancy.h"
#include <stdio.h>

static gp_verdict_code row_applies(const gp_kernel *row, const gp_problem *problem, const gp_device *device,
                                   gp_pin pin) {
    if (pin.row != NULL && pin.row != row)
        return GP_VERDICT_NOT_PINNED;
    if (pin.row == NULL && (row->flags & GP_KERNEL_STUDY))
        return GP_VERDICT_STUDY;
    if (row->space != problem->space)
        return GP_VERDICT_OTHER_SPACE;
    if (row->supports != NULL && !row->supports(problem, device))
        return GP_VERDICT_SHAPE;
    return GP_VERDICT_FITS;
}

static gp_verdict_code block_fits(const gp_kernel *row, const gp_problem *problem, const gp_device *device,
                                  gp_verdict *verdict) {
    verdict->smem = row->smem != NULL ? row->smem(problem, device, verdict->threads) : 0;
    verdict->regs = gp_occupancy_regs_checked(device, verdict->threads, row->regs_per_thread);
    if (verdict->smem == GP_SMEM_FEW_THREADS)
        return GP_VERDICT_FEW_THREADS;
    if (verdict->smem == GP_SMEM_OTHER_THREADS)
        return GP_VERDICT_OTHER_THREADS;
    if (verdict->threads > device->threads_per_block || verdict->threads > device->threads_per_sm)
        return GP_VERDICT_THREADS;
    if (verdict->regs > device->regs_per_block)
        return GP_VERDICT_REGISTERS;
    if (row->smem_static + verdict->smem > device->smem_per_block_optin)
        return GP_VERDICT_SHARED_MEMORY;
    gp_occupancy_info occupancy;
    gp_occupancy_compute(device, verdict->threads, row->regs_per_thread, row->smem_static + verdict->smem,
                         &occupancy);
    verdict->blocks_per_sm = occupancy.blocks_per_sm;
    verdict->limited_by = (gp_limit)occupancy.limited_by;
    if (occupancy.blocks_per_sm > 0)
        return GP_VERDICT_FITS;
    if (occupancy.limited_by == GP_LIMIT_SHARED_MEMORY)
        return GP_VERDICT_SHARED_MEMORY;
    return occupancy.limited_by == GP_LIMIT_REGISTERS ? GP_VERDICT_REGISTERS : GP_VERDICT_THREADS;
}

static gp_verdict_code grid_fits(const gp_kernel *row, const gp_problem *problem, const gp_device *device,
                                 gp_verdict *verdict) {
    uint64_t blocks = row->blocks_on != NULL ? row->blocks_on(problem, device, verdict->threads)
                                             : row->blocks(problem, verdict->threads);
    if (blocks == 0)
        blocks = 1;
    uint64_t resident = (uint64_t)verdict->blocks_per_sm * device->multiprocessors * row->waves;
    verdict->grid = row->waves > 0 && blocks > resident ? resident : blocks;
    return verdict->grid <= GP_GRID_MAX ? GP_VERDICT_FITS : GP_VERDICT_GRID;
}

/* Where fewer threads are too few, the verdict tells why more did not fit. */
static void halve_until_it_fits(const gp_kernel *row, const gp_problem *problem, const gp_device *device, gp_pin pin,
                                gp_verdict *verdict) {
    const unsigned first = pin.threads > 0 ? pin.threads : row->threads_max;
    const unsigned last = pin.threads > 0 ? pin.threads : row->threads_min;
    for (unsigned threads = first; threads >= last; threads /= 2) {
        gp_verdict tried = *verdict;
        tried.threads = threads;
        tried.code = block_fits(row, problem, device, &tried);
        if (tried.code == GP_VERDICT_FEW_THREADS && threads < first)
            return;
        *verdict = tried;
        if (tried.code == GP_VERDICT_FITS || tried.code == GP_VERDICT_FEW_THREADS)
            return;
    }
}

static gp_verdict judge(const gp_kernel *row, const gp_problem *problem, const gp_device *device, gp_pin pin) {
    gp_verdict verdict = {.row = row, .code = row_applies(row, problem, device, pin)};
    if (verdict.code != GP_VERDICT_FITS)
        return verdict;
    if (row->space == GP_SPACE_PROCESSOR) {
        uint64_t useful = row->blocks(problem, 0);
        verdict.grid = useful < device->cpu_threads ? useful : device->cpu_threads;
        if (verdict.grid == 0)
            verdict.grid = 1;
        return verdict;
    }
    halve_until_it_fits(row, problem, device, pin, &verdict);
    if (verdict.code == GP_VERDICT_FITS)
        verdict.code = grid_fits(row, problem, device, &verdict);
    return verdict;
}

bool gp_plan_make(const gp_problem *problem, const gp_device *device, gp_rows rows, gp_pin pin, gp_plan *plan,
                  gp_verdict *verdicts) {
    *plan = (gp_plan){0};
    for (size_t i = 0; i < rows.count + rows.study_count; i++) {
        gp_verdict verdict = judge(gp_rows_at(rows, i), problem, device, pin);
        if (verdicts != NULL)
            verdicts[i] = verdict;
        if (verdict.code != GP_VERDICT_FITS || plan->row != NULL)
            continue;
        *plan = (gp_plan){.row = verdict.row,
                          .grid = verdict.grid,
                          .threads = verdict.threads,
                          .smem = verdict.smem,
                          .blocks_per_sm = verdict.blocks_per_sm,
                          .limited_by = verdict.limited_by};
        if (verdicts == NULL)
            break;
    }
    return plan->row != NULL;
}

static int describe_fit(const gp_verdict *verdict, bool chosen, char *text, size_t size) {
    const char *head = chosen ? "chosen" : "fits too, ranked lower";
    if (verdict->row->space == GP_SPACE_PROCESSOR)
        return snprintf(text, size, "%s: %llu thread%s", head, (unsigned long long)verdict->grid,
                        verdict->grid == 1 ? "" : "s");
    return snprintf(text, size,
                    "%s: %llu blocks of %u threads, at most %u registers a thread, %zu + %zu bytes shared, "
                    "%u blocks an SM (limit: %s)",
                    head, (unsigned long long)verdict->grid, verdict->threads, verdict->row->regs_per_thread,
                    verdict->row->smem_static, verdict->smem, verdict->blocks_per_sm,
                    gp_limit_name(verdict->limited_by));
}

static int describe_reason(const gp_verdict *verdict, const gp_device *device, char *text, size_t size) {
    const size_t smem = verdict->row->smem_static + verdict->smem;
    switch (verdict->code) {
    case GP_VERDICT_NOT_PINNED:
        return snprintf(text, size, "not considered: another kernel is pinned");
    case GP_VERDICT_STUDY:
        return snprintf(text, size, "not considered: for study, chosen only when pinned");
    case GP_VERDICT_OTHER_SPACE:
        return snprintf(text, size, "not considered: runs on the %s",
                        verdict->row->space == GP_SPACE_GPU ? "GPU" : "processor");
    case GP_VERDICT_SHAPE:
        return snprintf(text, size, "no: not for this shape or device (%s)", verdict->row->about);
    case GP_VERDICT_THREADS:
        return snprintf(text, size, "no: needs %u threads a block, the device allows %u", verdict->threads,
                        device->threads_per_block);
    case GP_VERDICT_FEW_THREADS:
        return snprintf(text, size, "no: %u threads are too few for this shape", verdict->threads);
    case GP_VERDICT_OTHER_THREADS:
        return snprintf(text, size, "no: blocks of %u threads are no use for this shape", verdict->threads);
    case GP_VERDICT_REGISTERS:
        if (device->regs_per_thread > 0 && verdict->row->regs_per_thread > device->regs_per_thread)
            return snprintf(text, size, "no: needs up to %u registers a thread, the device allows %u",
                            verdict->row->regs_per_thread, device->regs_per_thread);
        return snprintf(text, size, "no: %u threads need %llu registers, a block may have %u", verdict->threads,
                        (unsigned long long)verdict->regs, device->regs_per_block);
    case GP_VERDICT_SHARED_MEMORY:
        return snprintf(text, size, "no: %u threads need %zu bytes of shared memory, a block may have %zu",
                        verdict->threads, smem, device->smem_per_block_optin);
    case GP_VERDICT_GRID:
        return snprintf(text, size, "no: needs %llu blocks, a grid holds %u", (unsigned long long)verdict->grid,
                        GP_GRID_MAX);
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
