/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views on the processor: the reference row, which takes each window's elements one by one. */
#include "cpu.h"
#include "../cpu/rounding.h"

__extension__ typedef unsigned __int128 u128;

void gp_window_compute_one(const gp_window_one *one, const unsigned char *in, uint64_t y, uint64_t x,
                           unsigned char *const to[GP_PASS_RESULTS]) {
    gp_accumulator a;
    gp_window_gather_one(&a, one, in, y, x);
    gp_window_write_one(&a, one, to);
}

/* sum 2^bit of a float sum's units. */
static void add_units(int64_t *limb, unsigned bit, gp_window_int sum) {
    const u128 magnitude = sum < 0 ? 0 - (u128)sum : (u128)sum;
    gp_exact_add_bits(limb, bit, (uint64_t)magnitude, sum < 0);
    if (magnitude >> 64 != 0)
        gp_exact_add_bits(limb, bit + 64, (uint64_t)(magnitude >> 64), sum < 0);
}

void gp_window_write_exact(const gp_window_one *one, unsigned r, int unit, gp_window_int sum, gp_window_int squares,
                           uint64_t n, unsigned char *to) {
    gp_accumulator a;
    gp_accumulator_clear(&a);
    a.counted = n;
    if (gp_type_is_float(one->box->type)) {
        add_units(gp_accumulator_limbs(&a, &one->pass, GP_SUM), (unsigned)(unit + 149), sum);
        add_units(gp_accumulator_limbs(&a, &one->pass, GP_SQUARES), 2 * (unsigned)(unit + 149), squares);
    } else {
        a.whole[GP_SUM] = sum;
        a.whole[GP_SQUARES] = squares;
    }
    (void)gp_accumulator_write(&a, &one->pass, r, to);
}

/* A thread's rows of outputs. */
static void take_rows(void *argument, unsigned part, unsigned parts) {
    const gp_window_one *one = argument;
    const gp_window_box *box = one->box;
    const gp_window_axis *axis_y = gp_window_y(box), *axis_x = gp_window_x(box);
    GP_ROUNDS_TO_NEAREST;
    const uint64_t rows = box->outputs / axis_x->outputs, end = gp_part_begin(rows, part + 1, parts);
    for (uint64_t row = gp_part_begin(rows, part, parts); row < end; row++) {
        const unsigned char *in = box->in;
        unsigned char *to[GP_PASS_RESULTS];
        uint64_t batch = row / axis_y->outputs;
        for (unsigned r = 0; r < box->results; r++)
            to[r] = gp_pass_address(&one->pass, r, row * axis_x->outputs);
        for (unsigned i = box->outer; i-- > 0; batch /= box->axis[i].n)
            in += (int64_t)(batch % box->axis[i].n) * box->axis[i].in;
        for (uint64_t x = 0; x < axis_x->outputs; x++) {
            gp_window_compute_one(one, in, row % axis_y->outputs, x, to);
            for (unsigned r = 0; r < box->results; r++)
                to[r] += box->result[r].stride[box->outer + 1];
        }
    }
}

/* Of one element of a window. */
#define ELEMENT_NS 4

gp_status gp_launch_window_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    gp_window_one one = {.box = problem->box};
    const gp_window_axis *y = gp_window_y(one.box), *x = gp_window_x(one.box);
    const uint64_t rows = one.box->outputs / x->outputs;
    const uint64_t ns =
        gp_times(gp_times((uint64_t)y->window, (uint64_t)x->window), gp_times(one.box->outputs, ELEMENT_NS));
    gp_window_as_pass(one.box, &one.pass);
    const unsigned parts = gp_threads_worth(context, gp_least(plan->tiling.blocks, rows), ns);
    gp_threads_run(context, parts, take_rows, &one);
    return GP_OK;
}
