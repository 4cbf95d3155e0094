/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views on the processor: the reference row. */
#include "cpu.h"

void gp_pass_run_any(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n) {
    const gp_pass_axis none = {0}, *axis = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &none;
    for (uint64_t i = 0; i < n; i++, in += axis->in, place += axis->place) {
        gp_accumulator_take(a, pass, in, with, place);
        if (with != NULL)
            with += axis->with;
    }
}

__extension__ typedef unsigned __int128 product;

/* Products have 128 bits: their lower halves are added up, and their upper ones. */
bool gp_pass_run_dot(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     uint64_t n) {
    const bool is_signed = pass->type == GP_S64;
    if (pass->wants != GP_WANT_DOT || (!is_signed && pass->type != GP_U64) || pass->reduced == 0)
        return false;
    const gp_pass_axis *axis = &pass->axis[pass->kept + pass->reduced - 1];
    product low = 0;
    gp_total high = 0;
    for (uint64_t i = 0; i < n; i++, in += axis->in, with += axis->with) {
        uint64_t x, y;
        memcpy(&x, in, sizeof x);
        memcpy(&y, with, sizeof y);
        const product p = is_signed ? (product)((gp_total)(int64_t)x * (int64_t)y) : (product)x * y;
        low += (uint64_t)p;
        high += is_signed ? (gp_total)(int64_t)(p >> 64) : (gp_total)(p >> 64);
    }
    int64_t *limb = gp_accumulator_limbs(a, pass, GP_DOT);
    high += (gp_total)(low >> 64);
    gp_exact_add_bits(limb, 0, (uint64_t)low, false);
    gp_exact_add_128(limb + 2, (uint64_t)high, (int64_t)(high >> 64));
    a->counted += n;
    return true;
}

gp_status gp_launch_reduce_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, (gp_pass_loops){.run = gp_pass_run_any});
}
