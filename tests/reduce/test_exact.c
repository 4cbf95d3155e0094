/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/host/exact.c against the whole numbers of GMP: every data set of every type to every result type, numbers made
 * to be halfway between two floats, or a little beside, and digits that are hard to divide by.
 * GPUPRIM_TEST_CASES: how many arrays and numbers, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "data_sets.h"
#include "oracle_exact.h"

#define LONGEST 200
#define MADE_LIMBS 40

static uint64_t state; /* of the draws */
static size_t compared;

static uint64_t draw(uint64_t below) {
    return cases_random(&state) % below;
}

static void same(uint64_t got, uint64_t want, const char *what, const char *label) {
    compared++;
    if (got != want)
        fail_msg("%s of %s: 0x%llx, not 0x%llx", what, label, (unsigned long long)got, (unsigned long long)want);
}

/* ---- arrays ---- */

static const char *const op_names[EXACT_OPS] = {"sum",
                                                "mean",
                                                "sum of products",
                                                "norm",
                                                "root mean square",
                                                "variance",
                                                "sample variance",
                                                "deviation",
                                                "sample deviation"};

static void check_sums(exact_sums *s, const oracle_sums *o, exact_op ops, const char *label) {
    static const char *const type_names[EXACT_TYPES] = {"f16", "bf16", "f32", "f64"};
    for (int op = 0; op < (int)ops; op++) {
        for (int t = 0; t < EXACT_TYPES; t++) {
            char what[48];
            snprintf(what, sizeof what, "%s to %s", op_names[op], type_names[t]);
            same(exact_sums_result(s, (exact_op)op, exact_types[t]),
                 oracle_sums_result(o, (exact_op)op, exact_types[t]), what, label);
        }
    }
}

/* The sum as 64 bits, and whether it is that. */
static void check_to_int(int64_t *limb, gp_exact_form form, const mpz_t want, const char *label) {
    uint64_t modulo;
    mpz_t low;
    mpz_init(low);
    mpz_fdiv_r_2exp(low, want, 64);
    same(gp_exact_to_int(limb, form, true, &modulo), mpz_fits_slong_p(want) != 0, "int64_t", label);
    same(modulo, mpz_get_ui(low), "modulo 2^64", label);
    same(gp_exact_to_int(limb, form, false, &modulo), mpz_fits_ulong_p(want) != 0, "uint64_t", label);
    same(modulo, mpz_get_ui(low), "modulo 2^64", label);
    mpz_clear(low);
}

/* Mostly a few elements; powers of two too, whose means are ties. */
static size_t draw_length(void) {
    const uint64_t choice = draw(8);
    return choice == 0 ? draw(LONGEST + 1) : choice < 3 ? (size_t)1 << draw(7) : draw(12);
}

static void check_array(gp_type type, data_set set) {
    static unsigned char x[LONGEST * 8], y[LONGEST * 8];
    const size_t n = draw_length(), bytes = data_set_element(type);
    const uint64_t seed = cases_random(&state);
    const bool products = draw(4) == 0;
    char label[160];
    data_set_label(type, n, set, seed, label, sizeof label);
    data_set_fill(x, type, n, set, seed);
    const data_set others[] = {set, DATA_SET_12_DECADES, DATA_SET_HALF_ZEROS};
    data_set_fill(y, type, n, others[draw(3)], ~seed);
    exact_sums s;
    oracle_sums o;
    exact_sums_clear(&s, type);
    oracle_sums_open(&o, type);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *a = x + i * bytes, *b = products ? y + i * bytes : a;
        exact_sums_add(&s, a, b, (unsigned)draw(4));
        oracle_sums_add(&o, type, a, b);
        if (draw(16) == 0)
            gp_exact_carry(s.limb, s.form.limbs);
    }
    check_sums(&s, &o, products ? EXACT_PRODUCT_OPS : EXACT_OPS, label);
    if (type <= GP_S64) {
        check_to_int(s.limb, s.form, o.sum, label);
        check_to_int(s.square, s.square_form, o.square, label);
    }
    oracle_sums_close(&o);
}

static void every_data_set_of_every_type(void **unused) {
    (void)unused;
    compared = 0;
    const size_t n = cases_drawn();
    for (size_t i = 0; i < n; i++)
        check_array((gp_type)(GP_U8 + i % 12), (data_set)(i / 12 % DATA_SETS));
    printf("%zu arrays, %zu results compared\n", n, compared);
}

/* ---- made numbers ---- */

/* Writes a number as limbs, then moves multiples of 2^32 about between neighbours, so that there is much to carry. */
static void set_limbs(int64_t *limb, unsigned limbs, const mpz_t value) {
    mpz_t rest, digit;
    mpz_init_set(rest, value);
    mpz_init(digit);
    for (unsigned l = 0; l < limbs; l++) {
        mpz_fdiv_r_2exp(digit, rest, 32);
        mpz_fdiv_q_2exp(rest, rest, 32);
        limb[l] = (int64_t)mpz_get_ui(digit);
    }
    limb[limbs - 1] += mpz_get_si(rest) * ((int64_t)1 << 32); /* 0 or -1 */
    for (unsigned l = 0; l + 1 < limbs && draw(2); l++) {
        const int64_t carry = (int64_t)draw((uint64_t)1 << 29) - (1 << 28);
        limb[l] -= carry * ((int64_t)1 << 32);
        limb[l + 1] += carry;
    }
    mpz_clears(rest, digit, NULL);
}

/* Whole numbers of up to so many bits, with runs of ones and zeros. */
static void draw_number(mpz_t value, unsigned bits) {
    mpz_set_ui(value, 0);
    for (unsigned at = 0; at < bits; at += 32) {
        const uint64_t kind = draw(5), random = cases_random(&state) & UINT32_MAX;
        mpz_mul_2exp(value, value, 32);
        mpz_add_ui(value, value, kind == 0 ? 0 : kind == 1 ? UINT32_MAX : kind == 2 ? random >> draw(32) : random);
    }
    mpz_fdiv_q_2exp(value, value, (mp_bitcnt_t)draw(bits));
}

static uint64_t draw_divisor(void) {
    const uint64_t power = (uint64_t)1 << draw(64), random = cases_random(&state);
    switch (draw(6)) {
    case 0:
        return power;
    case 1:
        return power - 1;
    case 2:
        return power + 1;
    case 3:
        return random | UINT32_MAX;
    case 4:
        return random & ~(uint64_t)UINT32_MAX;
    default:
        return random >> draw(64);
    }
}

/* -1, 0 or 1 units of any place below `bits`, or of one where the words end that are cut out of a number. */
static void nudge(mpz_t value, unsigned bits) {
    mpz_t one;
    mpz_init_set_si(one, (long)draw(3) - 1);
    const size_t length = mpz_sizeinbase(value, 2), cut = 64 * (1 + draw(3));
    const uint64_t place = draw(2) && length > cut + 2 ? length - cut - 2 + draw(4) : draw(bits);
    mpz_mul_2exp(one, one, (mp_bitcnt_t)place);
    mpz_add(value, value, one);
    mpz_clear(one);
}

/* A mantissa one bit longer than that of some type, so that it lies halfway, at some place. */
static void draw_halfway(mpz_t value, unsigned places) {
    static const unsigned precisions[] = {8, 11, 24, 53};
    const unsigned precision = precisions[draw(4)];
    mpz_set_ui(value, ((uint64_t)1 << precision | (cases_random(&state) & (((uint64_t)1 << precision) - 1))) | 1);
    mpz_mul_2exp(value, value, (mp_bitcnt_t)draw(places));
}

static void check_ratio(const mpz_t value, gp_exact_form form, uint64_t n, const char *label) {
    int64_t limb[MADE_LIMBS];
    mpz_t denominator;
    mpz_init_set_ui(denominator, n);
    set_limbs(limb, form.limbs, value);
    for (int t = 0; n > 0 && t < EXACT_TYPES; t++) {
        same(gp_exact_ratio(limb, form, 0, n, false, exact_types[t]),
             oracle_round(value, denominator, form.unit, false, exact_types[t]), "quotient", label);
        same(gp_exact_ratio(limb, form, 0, n, true, exact_types[t]),
             oracle_round(value, denominator, form.unit, true, exact_types[t]), "root", label);
    }
    mpz_clear(denominator);
}

/* Quotients and roots of any numbers, and of those that are t n or t^2 n for a t halfway between two floats. */
static void made_quotients_and_roots(void **unused) {
    (void)unused;
    compared = 0;
    const size_t n_cases = cases_drawn();
    mpz_t value;
    mpz_init(value);
    for (size_t i = 0; i < n_cases; i++) {
        const uint64_t n = draw_divisor(), kind = draw(4);
        const int units[] = {0, -24, -149, -298, -1074, -1000 + (int)draw(2000)};
        const gp_exact_form form = {(int16_t)units[draw(6)], (uint16_t)(3 + draw(MADE_LIMBS - 3))};
        char label[160];
        if (kind == 0 || form.limbs < 12) {
            draw_number(value, 32u * form.limbs);
        } else {
            draw_halfway(value, form.limbs * 8u);
            if (kind == 1)
                mpz_mul(value, value, value);
            if (draw(2))
                nudge(value, form.limbs * 16u);
            mpz_mul_ui(value, value, n);
            if (draw(2))
                nudge(value, form.limbs * 16u);
        }
        if (draw(4) == 0)
            mpz_neg(value, value);
        gmp_snprintf(label, sizeof label, "%Zx 2^%d, n %lu, case %zu", value, form.unit, (unsigned long)n, i);
        check_ratio(value, form, n, label);
    }
    mpz_clear(value);
    printf("%zu numbers, %zu results compared\n", n_cases, compared);
}

/* Squares of numbers halfway between two floats, and the lowest bit of their first 128: a root that halves an odd
 * exponent first shifts that bit away. */
static void made_roots_of_long_squares(void **unused) {
    (void)unused;
    compared = 0;
    const gp_exact_form form = {-298, 20};
    const size_t n_cases = cases_drawn() / 10;
    mpz_t value, bit;
    mpz_inits(value, bit, NULL);
    for (size_t i = 0; i < n_cases; i++) {
        char label[200];
        draw_halfway(value, 64);
        mpz_mul(value, value, value);
        mpz_mul_2exp(value, value, (mp_bitcnt_t)(129 + draw(200)));
        const size_t length = mpz_sizeinbase(value, 2);
        mpz_ui_pow_ui(bit, 2, length - 128);
        mpz_add(value, value, bit);
        gmp_snprintf(label, sizeof label, "%Zx 2^%d, case %zu", value, form.unit, i);
        check_ratio(value, form, 1, label);
    }
    mpz_clears(value, bit, NULL);
    printf("%zu numbers, %zu results compared\n", n_cases, compared);
}

static void check_variance(oracle_sums *o, const char *label) {
    exact_sums s;
    exact_sums_clear(&s, GP_F32);
    s.form.unit = (int16_t)o->exponent;
    s.square_form.unit = (int16_t)(2 * o->exponent);
    s.n = o->n;
    set_limbs(s.limb, s.form.limbs, o->sum);
    set_limbs(s.square, s.square_form.limbs, o->square);
    check_sums(&s, o, EXACT_OPS, label);
}

/* Variances of S = n s and Q = n (s^2 + v): v exactly, which is halfway between two floats, or is the square of that.
 */
static void made_variances(void **unused) {
    (void)unused;
    compared = 0;
    const size_t n_cases = cases_drawn() / 4; /* each of 36 results */
    for (size_t i = 0; i < n_cases; i++) {
        oracle_sums o;
        oracle_sums_open(&o, GP_F32);
        const long exponents[] = {0, -24, -149, -149, -400};
        o.exponent = exponents[draw(5)];
        do
            o.n = draw_divisor();
        while (o.n < 2);
        mpz_t v;
        mpz_init(v);
        draw_halfway(v, 200);
        if (draw(2))
            mpz_mul(v, v, v);
        draw_number(o.sum, 200);
        if (draw(2))
            mpz_neg(o.sum, o.sum);
        mpz_mul(o.square, o.sum, o.sum);
        mpz_add(o.square, o.square, v);
        mpz_mul_ui(o.sum, o.sum, o.n);
        mpz_mul_ui(o.square, o.square, o.n);
        if (draw(2))
            mpz_add_ui(o.square, o.square, draw(2));
        char label[160];
        gmp_snprintf(label, sizeof label, "S %Zx, Q %Zx, n %lu, case %zu", o.sum, o.square, o.n, i);
        check_variance(&o, label);
        mpz_clear(v);
        oracle_sums_close(&o);
    }
    printf("%zu sums of squares, %zu results compared\n", n_cases, compared);
}

/* ---- small things, all of them ---- */

static void every_half_is_widened(void **unused) {
    (void)unused;
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float got[] = {gp_exact_widen_f16((uint16_t)bits), gp_exact_widen_bf16((uint16_t)bits)};
        const float want[] = {(float)oracle_half(GP_F16, (uint16_t)bits),
                              (float)oracle_half(GP_BF16, (uint16_t)bits)};
        for (int i = 0; i < 2; i++)
            assert_true(want[i] != want[i] ? got[i] != got[i] : memcmp(&got[i], &want[i], sizeof(float)) == 0);
    }
}

/* 2^29 values of the most that an addition puts into a limb, and a carry that runs through all of them. */
static void as_many_additions_as_promised(void **unused) {
    (void)unused;
    const gp_exact_form form = {0, 6};
    int64_t limb[6] = {0};
    mpz_t want, one;
    mpz_init_set_ui(want, UINT64_MAX);
    mpz_init_set_ui(one, 1);
    mpz_mul(want, want, want);
    mpz_mul_2exp(want, want, 29);
    gp_exact_add_product_bits(limb, 0, UINT64_MAX, UINT64_MAX, false);
    for (unsigned l = 0; l < form.limbs; l++)
        limb[l] *= 1 << 29;
    same(gp_exact_round(limb, form, 0, GP_F64), oracle_round(want, one, 0, false, GP_F64), "sum", "2^29 squares");
    mpz_clears(want, one, NULL);
}

static int seed(void **unused) {
    (void)unused;
    state = cases_seed();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_data_set_of_every_type), cmocka_unit_test(made_quotients_and_roots),
        cmocka_unit_test(made_roots_of_long_squares),   cmocka_unit_test(made_variances),
        cmocka_unit_test(every_half_is_widened),        cmocka_unit_test(as_many_additions_as_promised),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
