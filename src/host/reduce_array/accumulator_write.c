/* SPDX-License-Identifier: Apache-2.0 */
/* Results of an accumulator: each rounded once. */
#include "accumulator.h"
#include <math.h>

/* The quiet NaN, sign clear, no payload. */
GP_BOTH static uint64_t nan_of(unsigned type) {
    return type == GP_F64    ? UINT64_C(0x7ff8000000000000)
           : type == GP_F32  ? 0x7fc00000
           : type == GP_BF16 ? 0x7fc0
                             : 0x7e00;
}

/* A double, rounded to a float type. */
GP_BOTH static uint64_t narrowed(gp_accumulator *a, double x, unsigned type) {
    const gp_exact_form form = gp_exact_form_of(GP_F64, false);
    int64_t *limb = a->scratch;
    uint32_t flags = 0;
    memset(limb, 0, form.limbs * sizeof *limb);
    gp_exact_add_f64(limb, form, x, &flags);
    return gp_exact_round(limb, form, flags, (gp_type)type);
}

/* Of an element, or a difference of two, in the elements' type already. */
GP_BOTH static uint64_t float_of_bits(gp_accumulator *a, uint64_t bits, unsigned type) {
    const double x = gp_f64_of_bits(bits);
    if (type == GP_F64)
        return bits;
    if (x == 0) /* a zero's sign, which a sum has not */
        return bits >> 63 << (8 * gp_type_bytes(type) - 1);
    return type == GP_F32 ? gp_bits_of_f32((float)x) : narrowed(a, x, type);
}

#define SIGN ((uint64_t)1 << 63)

/* An element again, of its key, in the elements' type. */
GP_BOTH static uint64_t element_of(gp_accumulator *a, unsigned type, uint64_t key) {
    if (gp_type_is_float(type))
        return float_of_bits(a, key & SIGN ? key ^ SIGN : ~key, type);
    return gp_type_is_signed(type) ? key ^ SIGN : key;
}

/* Where a mask left no elements, those of ints are the far end of the type. */
GP_BOTH static uint64_t extreme_of_none(unsigned type, bool max) {
    const uint64_t all = UINT64_MAX >> (64 - 8 * gp_type_bytes(type));
    if (gp_type_is_float(type))
        return nan_of(type);
    const uint64_t greatest = gp_type_is_signed(type) ? all >> 1 : all;
    return max ? (gp_type_is_signed(type) ? ~greatest : 0) : greatest;
}

GP_BOTH static uint64_t extreme(gp_accumulator *a, unsigned type, bool max) {
    if (a->nan)
        return nan_of(type);
    if (!a->some)
        return extreme_of_none(type, max);
    return element_of(a, type, max ? a->max.key : a->min.key);
}

GP_BOTH static uint64_t place(const gp_accumulator *a, bool max) {
    if (a->nan)
        return a->nan_place;
    return !a->some ? 0 : max ? a->max.place : a->min.place;
}

GP_BOTH static uint64_t max_abs(gp_accumulator *a, unsigned type) {
    if (a->nan)
        return nan_of(type);
    return gp_type_is_float(type) ? float_of_bits(a, a->max_abs, type) : a->max_abs;
}

/* x / n, as bits: to a float by way of a double, unless that lies halfway between two floats or near the ends of
 * their range. False: not here. */
GP_BOTH static bool quick_ratio(double x, uint64_t n, unsigned to, uint64_t *bits) {
    if ((to != GP_F64 && to != GP_F32) || n == 0 || n >> 53 != 0)
        return false;
    const double quotient = n == 1 ? x : x / (double)n, magnitude = fabs(quotient);
    *bits = x == 0 ? 0 : gp_bits_of_f64(quotient);
    if (to == GP_F64 || x == 0)
        return true;
    const uint32_t low = gp_bits_of_f32((float)quotient);
    const bool halfway = n > 1 && (*bits & 0x1fffffff) == 0x10000000;
    const bool fits = magnitude > 0x1p-126 && magnitude < 0x1p127 && !halfway;
    *bits = low;
    return fits;
}

/* value / n, or its root. */
GP_BOTH static uint64_t ratio(gp_accumulator *a, const gp_pass *pass, unsigned sum, uint64_t n, bool root,
                              unsigned to) {
    uint64_t bits;
    double x;
    if (!root && a->flags[sum] == 0 && gp_accumulator_is_exact(a, sum, &x) && quick_ratio(x, n, to, &bits))
        return bits;
    gp_accumulator_gather(a, pass, sum);
    return gp_exact_ratio(a->limb[sum], gp_accumulator_form(pass, sum), a->flags[sum], n, root, (gp_type)to);
}

/* An exact sum as it is: an integer, or rounded to a float. */
GP_BOTH static bool total(gp_accumulator *a, const gp_pass *pass, unsigned sum, unsigned to, uint64_t *bits) {
    if (gp_type_is_float(to)) {
        *bits = ratio(a, pass, sum, 1, false, to);
        return true;
    }
    if (!a->in_limbs[sum] && a->whole[sum] == (int64_t)a->whole[sum] && (a->whole[sum] >= 0 || to == GP_S64)) {
        *bits = (uint64_t)a->whole[sum];
        return true;
    }
    gp_accumulator_gather(a, pass, sum);
    return gp_exact_to_int(a->limb[sum], gp_accumulator_form(pass, sum), to == GP_S64, bits);
}

GP_BOTH static uint64_t variance(gp_accumulator *a, const gp_pass *pass, bool sample, bool root, unsigned to) {
    gp_accumulator_gather(a, pass, GP_SUM);
    gp_accumulator_gather(a, pass, GP_SQUARES);
    return gp_exact_variance(a->limb[GP_SUM], gp_accumulator_form(pass, GP_SUM), a->limb[GP_SQUARES],
                             gp_accumulator_form(pass, GP_SQUARES), a->flags[GP_SUM] | a->flags[GP_SQUARES],
                             a->counted, sample, root, (gp_type)to, a->scratch);
}

/* The bit pattern, in the low bytes. */
GP_BOTH static bool value_of(gp_accumulator *a, const gp_pass *pass, unsigned op, unsigned to, uint64_t *bits) {
    switch (op) {
    case GP_REDUCE_SUM:
        return total(a, pass, GP_SUM, to, bits);
    case GP_REDUCE_SUM_ABS:
    case GP_REDUCE_SUM_ABS_DIFF:
        return total(a, pass, GP_ABS, to, bits);
    case GP_REDUCE_SUM_SQUARES:
    case GP_REDUCE_SUM_SQUARE_DIFF:
        return total(a, pass, GP_SQUARES, to, bits);
    case GP_REDUCE_DOT:
        return total(a, pass, GP_DOT, to, bits);
    case GP_REDUCE_MIN:
    case GP_REDUCE_MAX:
        *bits = extreme(a, pass->type, op == GP_REDUCE_MAX);
        return true;
    case GP_REDUCE_ARGMIN:
    case GP_REDUCE_ARGMAX:
        *bits = place(a, op == GP_REDUCE_ARGMAX);
        return true;
    case GP_REDUCE_MAX_ABS:
    case GP_REDUCE_MAX_ABS_DIFF:
        *bits = max_abs(a, pass->type);
        return true;
    case GP_REDUCE_COUNT:
    case GP_REDUCE_COUNT_DIFF:
        *bits = a->nonzero;
        return true;
    case GP_REDUCE_NORM:
        *bits = ratio(a, pass, GP_SQUARES, 1, true, to);
        return true;
    case GP_REDUCE_MEAN:
        *bits = ratio(a, pass, GP_SUM, a->counted, false, to);
        return true;
    case GP_REDUCE_VARIANCE:
    case GP_REDUCE_STDDEV:
    case GP_REDUCE_VARIANCE_SAMPLE:
    case GP_REDUCE_STDDEV_SAMPLE:
        *bits = variance(a, pass, op >= GP_REDUCE_VARIANCE_SAMPLE,
                         op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE, to);
        return true;
    default:
        *bits = op == GP_REDUCE_AND ? a->bits_and : op == GP_REDUCE_OR ? a->bits_or : a->bits_xor;
        return true;
    }
}

GP_BOTH_OPEN void gp_result_store(unsigned type, uint64_t bits, unsigned char *to) {
    const uint8_t narrow1 = (uint8_t)bits;
    const uint16_t narrow2 = (uint16_t)bits;
    const uint32_t narrow4 = (uint32_t)bits;
    switch (gp_type_bytes(type)) {
    case 1:
        memcpy(to, &narrow1, sizeof narrow1);
        break;
    case 2:
        memcpy(to, &narrow2, sizeof narrow2);
        break;
    case 4:
        memcpy(to, &narrow4, sizeof narrow4);
        break;
    default:
        memcpy(to, &bits, sizeof bits);
    }
}

GP_BOTH_OPEN bool gp_accumulator_write(gp_accumulator *a, const gp_pass *pass, unsigned r, unsigned char *to) {
    uint64_t bits;
    const unsigned type = pass->result[r].type;
    const bool held = value_of(a, pass, pass->result[r].op, type, &bits);
    gp_result_store(type, bits, to);
    return held;
}
