/* SPDX-License-Identifier: Apache-2.0 */
/* The accumulator of one output: taking elements one by one, and merging. The obviously right way, for all types. */
#include "accumulator.h"
#include <math.h>

GP_BOTH_OPEN void gp_accumulator_clear(gp_accumulator *a) {
#ifdef __CUDACC__
    memset(a, 0, offsetof(gp_accumulator, limb));
#else
    _Static_assert(offsetof(gp_accumulator, limb) >= 192, "the pieces are within it");
    char *bytes = (char *)a; /* in pieces: see gp_problem_clear() */
    memset(bytes, 0, 64);
    memset(bytes + 64, 0, 64);
    memset(bytes + 128, 0, 64);
    memset(bytes + 192, 0, offsetof(gp_accumulator, limb) - 192);
#endif
    a->bits_and = UINT64_MAX;
    a->min.key = UINT64_MAX;
    a->nan_place = UINT64_MAX;
}

/* An element's bits; above them all are 0. */
GP_BOTH static uint64_t load_bits(unsigned bytes, const unsigned char *at) {
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        return *at;
    case 2:
        memcpy(&two, at, sizeof two);
        return two;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

GP_BOTH_OPEN gp_number gp_number_load(unsigned type, const unsigned char *at) {
    const unsigned above = 64 - 8 * gp_type_bytes(type);
    const uint64_t bits = load_bits(gp_type_bytes(type), at);
    switch (type) {
    case GP_F16:
        return (gp_number){0, (double)gp_exact_widen_f16((uint16_t)bits)};
    case GP_BF16:
        return (gp_number){0, (double)gp_exact_widen_bf16((uint16_t)bits)};
    case GP_F32:
        return (gp_number){0, (double)gp_f32_of_bits((uint32_t)bits)};
    case GP_F64:
        return (gp_number){0, gp_f64_of_bits(bits)};
    default:
        return (gp_number){gp_type_is_signed(type) ? (uint64_t)((int64_t)(bits << above) >> above) : bits, 0};
    }
}

#define SIGN ((uint64_t)1 << 63)

GP_BOTH_OPEN uint64_t gp_number_key(unsigned type, gp_number e) {
    if (!gp_type_is_float(type))
        return gp_type_is_signed(type) ? e.whole ^ SIGN : e.whole;
    const uint64_t bits = gp_bits_of_f64(e.real);
    return bits & SIGN ? ~bits : bits | SIGN;
}

GP_BOTH_OPEN uint64_t gp_number_magnitude(unsigned type, gp_number e) {
    if (gp_type_is_float(type))
        return gp_bits_of_f64(fabs(e.real));
    return gp_type_is_signed(type) && (e.whole & SIGN) ? 0 - e.whole : e.whole;
}

GP_BOTH static void take_extreme(gp_extreme *to, uint64_t key, uint64_t place, bool better) {
    if (better || (key == to->key && place < to->place))
        *to = (gp_extreme){key, place};
}

GP_BOTH_OPEN void gp_accumulator_take_extremes(gp_accumulator *a, const gp_extreme *min, const gp_extreme *max) {
    take_extreme(&a->min, min->key, min->place, !a->some || min->key < a->min.key);
    take_extreme(&a->max, max->key, max->place, !a->some || max->key > a->max.key);
    a->some = true;
}

GP_BOTH static void take_bits(gp_accumulator *a, uint64_t bits) {
    a->bits_and &= bits;
    a->bits_or |= bits;
    a->bits_xor ^= bits;
}

GP_BOTH static void add_value(gp_accumulator *a, const gp_pass *pass, unsigned sum, gp_number e) {
    int64_t *limb = gp_accumulator_limbs(a, pass, sum);
    if (gp_type_is_float(pass->type))
        gp_exact_add_f64(limb, gp_accumulator_form(pass, sum), e.real, &a->flags[sum]);
    else if (gp_type_is_signed(pass->type))
        gp_exact_add_s64(limb, (int64_t)e.whole);
    else
        gp_exact_add_bits(limb, 0, e.whole, false);
}

GP_BOTH static void add_product(gp_accumulator *a, const gp_pass *pass, unsigned sum, gp_number x, gp_number y) {
    int64_t *limb = gp_accumulator_limbs(a, pass, sum);
    const unsigned type = pass->type;
    if (type == GP_F64)
        gp_exact_add_product_f64(limb, x.real, y.real, &a->flags[sum]);
    else if (gp_type_is_float(type))
        gp_exact_add_product_f32(limb, (float)x.real, (float)y.real, &a->flags[sum]);
    else
        gp_exact_add_product_bits(limb, 0, gp_number_magnitude(type, x), gp_number_magnitude(type, y),
                                  gp_type_is_signed(type) && ((x.whole ^ y.whole) & SIGN));
}

/* A magnitude of ints may need all 64 bits without a sign. */
GP_BOTH static void add_magnitude(gp_accumulator *a, const gp_pass *pass, unsigned sum, gp_number e) {
    if (gp_type_is_float(pass->type))
        add_value(a, pass, sum, (gp_number){0, fabs(e.real)});
    else
        gp_exact_add_bits(gp_accumulator_limbs(a, pass, sum), 0, gp_number_magnitude(pass->type, e), false);
}

GP_BOTH static void take_moments(gp_accumulator *a, const gp_pass *pass, gp_number e) {
    a->nonzero += e.whole != 0 || !(e.real == 0);
    if (pass->wants & GP_WANT_SUM)
        add_value(a, pass, GP_SUM, e);
    if (pass->wants & GP_WANT_ABS)
        add_magnitude(a, pass, GP_ABS, e);
    if (pass->wants & GP_WANT_SQUARES)
        add_product(a, pass, GP_SQUARES, e, e);
}

/* |x - y| of ints. */
GP_BOTH static uint64_t difference(unsigned type, gp_number x, gp_number y) {
    return gp_number_key(type, x) > gp_number_key(type, y) ? x.whole - y.whole : y.whole - x.whole;
}

GP_BOTH static void take_pair_of_ints(gp_accumulator *a, const gp_pass *pass, gp_number x, gp_number y) {
    const uint64_t apart = difference(pass->type, x, y);
    if (pass->wants & GP_WANT_ABS)
        gp_exact_add_bits(gp_accumulator_limbs(a, pass, GP_ABS), 0, apart, false);
    if (pass->wants & GP_WANT_SQUARES)
        gp_exact_add_product_bits(gp_accumulator_limbs(a, pass, GP_SQUARES), 0, apart, apart, false);
}

/* (x - y)^2 = x^2 + y^2 - x y - x y, and of numbers that are not finite, the difference alone tells. */
GP_BOTH static void take_pair_of_floats(gp_accumulator *a, const gp_pass *pass, gp_number x, gp_number y) {
    const bool finite = isfinite(x.real) && isfinite(y.real);
    const gp_number minus_x = {0, -x.real}, minus_y = {0, -y.real};
    const gp_number special = {0, fabs(x.real - y.real)};
    if (pass->wants & GP_WANT_ABS) {
        add_value(a, pass, GP_ABS, !finite ? special : x.real > y.real ? x : minus_x);
        if (finite)
            add_value(a, pass, GP_ABS, x.real > y.real ? minus_y : y);
    }
    if (!(pass->wants & GP_WANT_SQUARES))
        return;
    add_product(a, pass, GP_SQUARES, finite ? x : special, finite ? x : special);
    if (finite) {
        add_product(a, pass, GP_SQUARES, y, y);
        add_product(a, pass, GP_SQUARES, minus_x, y);
        add_product(a, pass, GP_SQUARES, minus_x, y);
    }
}

GP_BOTH static void take_pair(gp_accumulator *a, const gp_pass *pass, gp_number x, gp_number y) {
    const bool is_float = gp_type_is_float(pass->type);
    a->nonzero += is_float ? x.real != y.real : x.whole != y.whole;
    if (pass->wants & GP_WANT_DOT)
        add_product(a, pass, GP_DOT, x, y);
    if (is_float)
        take_pair_of_floats(a, pass, x, y);
    else
        take_pair_of_ints(a, pass, x, y);
}

/* Of floats narrower than a float the difference is rounded to float, and once more where it is written. That is as
 * if rounded once, as a float has more than twice their digits and two more. */
GP_BOTH static gp_number rounded_difference(unsigned type, gp_number x, gp_number y) {
    if (type == GP_F64)
        return (gp_number){0, x.real - y.real};
    if (gp_type_is_float(type))
        return (gp_number){0, (double)((float)x.real - (float)y.real)};
    return (gp_number){difference(type, x, y), 0};
}

GP_BOTH static void take_nan(gp_accumulator *a, uint64_t place) {
    if (!a->nan || place < a->nan_place)
        a->nan_place = place;
    a->nan = true;
}

GP_BOTH static void take_extreme_kinds(gp_accumulator *a, const gp_pass *pass, gp_number x, gp_number y,
                                       uint64_t place) {
    const bool pair = pass->kind == GP_PASS_PAIR_EXTREME;
    const gp_number e = pair ? rounded_difference(pass->type, x, y) : x;
    if (isnan(e.real)) {
        take_nan(a, place);
        return;
    }
    gp_accumulator_take_magnitude(a, pair && !gp_type_is_float(pass->type) ? e.whole
                                                                           : gp_number_magnitude(pass->type, e));
    const gp_extreme here = {gp_number_key(pass->type, e), place};
    gp_accumulator_take_extremes(a, &here, &here);
}

GP_BOTH_OPEN void gp_accumulator_take(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                                      const unsigned char *with, int64_t place) {
    const gp_number x = gp_number_load(pass->type, in);
    const gp_number y = with != NULL ? gp_number_load(pass->with_type, with) : (gp_number){0, 0};
    if (pass->where && y.whole == 0 && y.real == 0)
        return;
    if (pass->skip_nan && (isnan(x.real) || (!pass->where && isnan(y.real))))
        return;
    a->counted++;
    switch (pass->kind) {
    case GP_PASS_BITS:
        take_bits(a, x.whole);
        return;
    case GP_PASS_MOMENTS:
        take_moments(a, pass, x);
        return;
    case GP_PASS_PAIR:
        take_pair(a, pass, x, y);
        return;
    default:
        take_extreme_kinds(a, pass, x, y, (uint64_t)place);
    }
}

GP_BOTH_OPEN void gp_accumulator_carry(gp_accumulator *a, const gp_pass *pass) {
    for (unsigned sum = 0; sum < GP_SUMS; sum++)
        if (a->in_limbs[sum])
            gp_exact_carry(a->limb[sum], gp_accumulator_form(pass, sum).limbs);
}

GP_BOTH_OPEN void gp_accumulator_gather(gp_accumulator *a, const gp_pass *pass, unsigned sum) {
    int64_t *limb = gp_accumulator_limbs(a, pass, sum);
    if (a->exact[sum] != 0)
        gp_exact_add_f64(limb, gp_accumulator_form(pass, sum), a->exact[sum], &a->flags[sum]);
    if (a->whole[sum] != 0)
        gp_exact_add_128(limb, (uint64_t)a->whole[sum], (int64_t)(a->whole[sum] >> 64));
    a->exact[sum] = 0;
    a->whole[sum] = 0;
}

GP_BOTH_OPEN void gp_accumulator_merge(gp_accumulator *to, gp_accumulator *from, const gp_pass *pass) {
    to->counted += from->counted;
    to->nonzero += from->nonzero;
    to->bits_and &= from->bits_and;
    to->bits_or |= from->bits_or;
    to->bits_xor ^= from->bits_xor;
    if (from->some)
        gp_accumulator_take_extremes(to, &from->min, &from->max);
    gp_accumulator_take_magnitude(to, from->max_abs);
    if (from->nan)
        take_nan(to, from->nan_place);
    gp_accumulator_carry(from, pass);
    for (unsigned sum = 0; sum < GP_SUMS; sum++) {
        to->flags[sum] |= from->flags[sum];
        to->whole[sum] += from->whole[sum];
        gp_accumulator_add_exact(to, pass, sum, from->exact[sum]);
        for (unsigned l = 0; from->in_limbs[sum] && l < gp_accumulator_form(pass, sum).limbs; l++)
            gp_accumulator_limbs(to, pass, sum)[l] += from->limb[sum][l];
    }
    gp_accumulator_carry(to, pass);
}
