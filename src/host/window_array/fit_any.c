/* SPDX-License-Identifier: Apache-2.0 */
/* How window_any is launched, by itself and behind window_strip. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../reduce_array/accumulator.h"
#include "../status.h"
#include "fit.h"

static unsigned any_blocks_per_sm(const gp_device *device, const gp_tiling *tiling) {
    return gp_occupancy_blocks(device, tiling->threads, GP_WINDOW_ANY_REGS, GP_WINDOW_ANY_STATIC_SMEM + tiling->smem);
}

bool gp_fit_window_any(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_ANY_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    tiling->smem = tiling->threads / 32 * sizeof(gp_accumulator);
    tiling->blocks = gp_least(gp_divide_up(problem->n, tiling->threads / 32),
                              gp_at_least_one((uint64_t)any_blocks_per_sm(device, tiling) * device->multiprocessors));
    return true;
}

#define SPECIAL_ROWS 32    /* of a tile, and columns, unless windows are higher and wider */
#define SPECIAL_LEAST 4096 /* outputs */
#define SPECIAL_COLS 224   /* 8 words with what windows of 32 see besides */

/* Tiles about as large as what their windows see besides, if an SM then holds two blocks. */
static gp_special_cut cut_specials(const gp_window_box *box, size_t most, size_t *smem) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    gp_special_cut cut = {gp_to_u32(gp_least(SPECIAL_ROWS, y->outputs)), SPECIAL_COLS};
    if ((uint64_t)x->window / 8 + (uint64_t)y->window > most)
        return (gp_special_cut){.rows = 0};
    while (cut.rows < (uint64_t)y->window && cut.rows < y->outputs)
        cut.rows *= 2;
    while ((cut.cols < (uint64_t)x->window || cut.rows * cut.cols < SPECIAL_LEAST) && cut.cols < x->outputs)
        cut.cols *= 2;
    for (;;) {
        const uint64_t map = gp_special_rows(&cut, y) * gp_special_words(&cut, x);
        *smem = GP_SPECIAL_MAPS * sizeof(uint32_t) * map;
        if (*smem <= most)
            return cut;
        if (cut.rows > 1 && (cut.rows >= cut.cols || cut.cols == 32))
            cut.rows /= 2;
        else if (cut.cols > 32)
            cut.cols = cut.cols / 64 * 32;
        else
            return (gp_special_cut){.rows = 0};
    }
}

gp_status gp_fit_window_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling) {
    const size_t share = gp_least(device->smem_per_block_optin, device->smem_per_sm / 2),
                 most = share - gp_least(share, 2 * GP_WINDOW_ANY_STATIC_SMEM);
    for (unsigned attempt = 0; gp_fit_window_any(problem, device, attempt, tiling); attempt++) {
        size_t smem = 0;
        gp_special_cut cut = cut_specials(problem->box, most, &smem);
        gp_tiling with = *tiling;
        with.smem = gp_greatest(smem, tiling->smem);
        GP_TILING_PUT(&with, cut);
        if (cut.rows > 0 && any_blocks_per_sm(device, &with) > 0)
            *tiling = with;
        if (any_blocks_per_sm(device, tiling) > 0)
            return GP_OK;
    }
    return gp_fail(GP_ERR_NO_KERNEL, "the limits leave no room for what is launched behind window_strip");
}
