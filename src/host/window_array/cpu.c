/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views on the processor: single outputs, from elements one by one and from sums. */
#include "cpu.h"

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
