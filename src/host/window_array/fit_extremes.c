/* SPDX-License-Identifier: Apache-2.0 */
/* How window_strip cuts boxes of extremes: tiles of outputs, whose elements have room in shared memory. Pure. */
#include "../arithmetic.h"
#include "box.h"
#include "fit.h"
#include "tiling.h"

/* Most shared memory of a block: two have room on an SM. */
#define SMEM ((uint64_t)100 << 10)

static uint64_t elements_of(const gp_window_box *box, uint64_t rows, uint64_t cols) {
    return (rows + (uint64_t)gp_window_y(box)->window - 1) * (cols + (uint64_t)gp_window_x(box)->window - 1);
}

/* The tile that loads the fewest elements an output. False: the window is too large for any. */
static bool choose_tile(const gp_window_box *box, uint64_t smem, gp_extremes_cut *cut) {
    const uint64_t bytes = gp_type_bytes(box->type);
    double least = 0;
    for (uint32_t cols = 32; cols <= GP_EXTREMES_COLS_MAX; cols *= 2)
        for (uint32_t rows = 8; rows <= 128; rows *= 2) {
            const uint64_t elements = elements_of(box, rows, cols);
            const double cost = (double)elements / (rows * cols) * (cols < 64 ? 1.25 : 1);
            if (elements * bytes > smem || (least > 0 && cost >= least))
                continue;
            least = cost;
            cut->rows = rows;
            cut->cols = cols;
        }
    return least > 0;
}

bool gp_window_fit_extremes(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const uint64_t most =
        attempt == 0 ? gp_least(device->smem_per_block_optin, SMEM) : device->smem_per_block >> attempt;
    gp_extremes_cut cut = {.rows = 0};
    if (attempt > 2 || box->outputs <= 1 || x->window > INT16_MAX || y->window > INT16_MAX ||
        y->outputs > INT32_MAX || x->outputs > INT32_MAX)
        return false;
    for (unsigned r = 0; r < box->results; r++)
        if (box->result[r].type != box->type)
            return false;
    if (!choose_tile(box, most, &cut))
        return false;
    cut.across = gp_to_u32(gp_divide_up(x->outputs, cut.cols));
    cut.down = gp_to_u32(gp_divide_up(y->outputs, cut.rows));
    const uint64_t batches = box->outputs / y->outputs / x->outputs;
    if (batches > INT32_MAX || cut.across * (uint64_t)cut.down > INT32_MAX / batches)
        return false;
    tiling->form = GP_STRIP_FORMS + gp_log2(gp_type_bytes(box->type));
    tiling->threads = GP_EXTREMES_THREADS;
    tiling->smem = (size_t)gp_round_up(elements_of(box, cut.rows, cut.cols) * gp_type_bytes(box->type), 16);
    tiling->blocks = cut.across * (uint64_t)cut.down * batches;
    GP_TILING_PUT(tiling, cut);
    return true;
}
