/* SPDX-License-Identifier: Apache-2.0 */
/* Exact results by the whole numbers of GMP: halves compared as whole numbers, floats put together by ldexp(). */
#include "oracle_exact.h"

#include <limits.h>
#include <math.h>

static bool is_float(gp_type type) {
    return type == GP_F16 || type == GP_BF16 || type == GP_F32 || type == GP_F64;
}

void oracle_sums_open(oracle_sums *o, gp_type type) {
    *o = (oracle_sums){.exponent = is_float(type) ? -1074 : 0};
    mpz_init(o->sum);
    mpz_init(o->square);
}

void oracle_sums_close(oracle_sums *o) {
    mpz_clear(o->sum);
    mpz_clear(o->square);
}

double oracle_half(gp_type type, uint16_t bits) {
    const int fraction_bits = type == GP_F16 ? 10 : 7, all_ones = type == GP_F16 ? 31 : 255;
    const int exponent = (bits & 0x7fff) >> fraction_bits, least = type == GP_F16 ? -14 : -126;
    const int fraction = bits % (1 << fraction_bits);
    double x = ldexp(fraction, least - fraction_bits);
    if (exponent == all_ones)
        x = fraction ? NAN : INFINITY;
    else if (exponent > 0)
        x = ldexp(1 + ldexp(fraction, -fraction_bits), exponent + least - 1);
    return bits & 0x8000 ? -x : x;
}

static double element(gp_type type, const void *from) {
    if (type == GP_F64)
        return *(const double *)from;
    return type == GP_F32 ? (double)*(const float *)from : oracle_half(type, *(const uint16_t *)from);
}

/* A finite x in units of 2^-1074. */
static void set_units(mpz_t units, double x) {
    int exponent;
    const double fraction = frexp(x, &exponent);
    mpz_set_d(units, ldexp(fraction, 53));
    if (exponent - 53 + 1074 >= 0)
        mpz_mul_2exp(units, units, (mp_bitcnt_t)(exponent - 53 + 1074));
    else
        mpz_tdiv_q_2exp(units, units, (mp_bitcnt_t)(53 - 1074 - exponent));
}

static void set_int(mpz_t value, gp_type type, const void *from) {
    switch (type) {
    case GP_U8:
        mpz_set_ui(value, *(const uint8_t *)from);
        break;
    case GP_S8:
        mpz_set_si(value, *(const int8_t *)from);
        break;
    case GP_U16:
        mpz_set_ui(value, *(const uint16_t *)from);
        break;
    case GP_S16:
        mpz_set_si(value, *(const int16_t *)from);
        break;
    case GP_U32:
        mpz_set_ui(value, *(const uint32_t *)from);
        break;
    case GP_S32:
        mpz_set_si(value, *(const int32_t *)from);
        break;
    case GP_U64:
        mpz_set_ui(value, *(const uint64_t *)from);
        break;
    default:
        mpz_set_si(value, *(const int64_t *)from);
        break;
    }
}

static void note(oracle_sums *o, int which, double special) {
    o->nan[which] |= isnan(special) != 0;
    o->plus[which] |= isinf(special) && special > 0;
    o->minus[which] |= isinf(special) && special < 0;
}

void oracle_sums_add(oracle_sums *o, gp_type type, const void *x, const void *y) {
    mpz_t a, b;
    mpz_init(a);
    mpz_init(b);
    o->n++;
    if (is_float(type)) {
        const double u = element(type, x), v = element(type, y);
        if (isfinite(u))
            set_units(a, u);
        else
            note(o, 0, u);
        if (isfinite(v))
            set_units(b, v);
        if (!isfinite(u) || !isfinite(v))
            note(o, 1, u * v);
    } else {
        set_int(a, type, x);
        set_int(b, type, y);
    }
    mpz_add(o->sum, o->sum, a);
    mpz_addmul(o->square, a, b);
    mpz_clear(a);
    mpz_clear(b);
}

/* k 2^exponent as a bit pattern; past the range infinite. k has no more bits than the type. */
static uint64_t encode(double k, long exponent, gp_type to) {
    const double x = ldexp(k, (int)exponent);
    uint64_t pattern64;
    uint32_t pattern32;
    const float narrow = x >= 0x1p128 ? INFINITY : to == GP_F64 ? 0 : (float)x;
    memcpy(&pattern64, &x, sizeof x);
    memcpy(&pattern32, &narrow, sizeof narrow);
    if (to == GP_F64)
        return pattern64;
    if (to == GP_F32)
        return pattern32;
    if (to == GP_BF16)
        return pattern32 >> 16;
    uint16_t low = 0, high = 0x7c00; /* patterns of f16 in the order of their values */
    while (low < high) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        if (oracle_half(GP_F16, middle) < x)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return low;
}

static uint64_t nan_of(gp_type to) {
    return to == GP_F64 ? 0x7ff8000000000000 : to == GP_F32 ? 0x7fc00000 : to == GP_BF16 ? 0x7fc0 : 0x7e00;
}

static uint64_t negated(uint64_t pattern, gp_type to) {
    return pattern + (to == GP_F64 ? 0x8000000000000000 : to == GP_F32 ? 0x80000000 : 0x8000);
}

/* floor(log2(numerator / denominator)) */
static long log2_of(const mpz_t numerator, const mpz_t denominator) {
    const long shift = (long)mpz_sizeinbase(numerator, 2) - (long)mpz_sizeinbase(denominator, 2);
    mpz_t a, b;
    mpz_init(a);
    mpz_init(b);
    mpz_mul_2exp(a, numerator, shift < 0 ? (mp_bitcnt_t)-shift : 0);
    mpz_mul_2exp(b, denominator, shift > 0 ? (mp_bitcnt_t)shift : 0);
    const long log2 = mpz_cmp(a, b) >= 0 ? shift : shift - 1;
    mpz_clear(a);
    mpz_clear(b);
    return log2;
}

uint64_t oracle_round(const mpz_t numerator, const mpz_t denominator, long exponent, bool root, gp_type to) {
    const int sign = mpz_sgn(numerator), fraction_bits = to == GP_F64    ? 52
                                                         : to == GP_F32  ? 23
                                                         : to == GP_BF16 ? 7
                                                                         : 10;
    const long least = to == GP_F64 ? -1022 : to == GP_F16 ? -14 : -126;
    if (sign == 0 || (sign < 0 && root))
        return sign == 0 ? 0 : nan_of(to);
    mpz_t a, b, k, twice;
    mpz_inits(a, b, k, twice, NULL);
    mpz_abs(a, numerator);
    long log2 = log2_of(a, denominator) + exponent;
    if (root)
        log2 = (log2 - (log2 & 1)) / 2;
    const long unit = (log2 < least ? least : log2) - fraction_bits; /* of the last place */
    const long shift = exponent - (root ? 2 * unit : unit);
    mpz_mul_2exp(a, a, shift > 0 ? (mp_bitcnt_t)shift : 0);
    mpz_mul_2exp(b, denominator, shift < 0 ? (mp_bitcnt_t)-shift : 0);
    mpz_fdiv_q(k, a, b); /* the value is k units and less than one more */
    if (root)
        mpz_sqrt(k, k);
    mpz_mul_ui(twice, k, 2);
    mpz_add_ui(twice, twice, 1); /* k + 1/2, doubled */
    if (root)
        mpz_mul(twice, twice, twice);
    mpz_mul(b, b, twice);
    mpz_mul_ui(a, a, root ? 4 : 2);
    const int beside = mpz_cmp(a, b);
    if (beside > 0 || (beside == 0 && mpz_odd_p(k)))
        mpz_add_ui(k, k, 1);
    const uint64_t pattern = encode(mpz_get_d(k), unit, to);
    mpz_clears(a, b, k, twice, NULL);
    return sign < 0 ? negated(pattern, to) : pattern;
}

/* (n Q - S^2) / (n n), of a sample / (n (n - 1)), or its root. */
static uint64_t variance(const oracle_sums *o, bool sample, bool root, gp_type to) {
    if (o->nan[0] || o->plus[0] || o->minus[0] || o->n <= sample)
        return nan_of(to);
    mpz_t numerator, denominator;
    mpz_inits(numerator, denominator, NULL);
    mpz_mul_ui(numerator, o->square, o->n);
    mpz_submul(numerator, o->sum, o->sum);
    mpz_set_ui(denominator, o->n);
    mpz_mul_ui(denominator, denominator, o->n - sample);
    const uint64_t pattern = oracle_round(numerator, denominator, 2 * o->exponent, root, to);
    mpz_clears(numerator, denominator, NULL);
    return pattern;
}

uint64_t oracle_sums_result(const oracle_sums *o, exact_op op, gp_type to) {
    if (op >= EXACT_PRODUCT_OPS)
        return variance(o, op == EXACT_VARIANCE_SAMPLE || op == EXACT_STDDEV_SAMPLE,
                        op == EXACT_STDDEV || op == EXACT_STDDEV_SAMPLE, to);
    const bool of_products = op != EXACT_SUM && op != EXACT_MEAN;
    const bool root = op == EXACT_NORM || op == EXACT_ROOT_MEAN_SQUARE;
    const unsigned long n = op == EXACT_MEAN || op == EXACT_ROOT_MEAN_SQUARE ? o->n : 1;
    const bool plus = o->plus[of_products], minus = o->minus[of_products];
    if (n == 0 || o->nan[of_products] || (minus && (plus || root)))
        return nan_of(to);
    if (plus || minus)
        return minus ? negated(encode(INFINITY, 0, to), to) : encode(INFINITY, 0, to);
    mpz_t denominator;
    mpz_init_set_ui(denominator, n);
    const uint64_t pattern = oracle_round(of_products ? o->square : o->sum, denominator,
                                          of_products ? 2 * o->exponent : o->exponent, root, to);
    mpz_clear(denominator);
    return pattern;
}
