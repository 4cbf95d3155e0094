/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: src/host/exact.c against the whole numbers of GMP. Elements of any bits are added by any of the ways
 * to add them; or any limbs are divided by any number, or their root is taken.
 */
#include "../reduce/oracle_exact.h"
#include "fuzz.h"

#define LIMBS_MAX 40

static void check_sums(fuzz *f) {
    static const unsigned char bytes_of[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    const gp_type type = (gp_type)(GP_U8 + (int)fuzz_below(f, 12));
    const bool products = fuzz_below(f, 4) == 0;
    exact_sums s;
    oracle_sums o;
    exact_sums_clear(&s, type);
    oracle_sums_open(&o, type);
    for (unsigned n = 0; f->at < f->end && n < 64; n++) {
        const unsigned way = fuzz_below(f, 8);
        uint64_t x = fuzz_bits(f, bytes_of[type]), y = products ? fuzz_bits(f, bytes_of[type]) : x;
        exact_sums_add(&s, &x, &y, way);
        oracle_sums_add(&o, type, &x, &y);
        if (way & 4)
            gp_exact_carry(s.limb, s.form.limbs);
    }
    for (int op = 0; op < (int)(products ? EXACT_PRODUCT_OPS : EXACT_OPS); op++)
        for (int t = 0; t < EXACT_TYPES; t++)
            REQUIRE(exact_sums_result(&s, (exact_op)op, exact_types[t]) ==
                    oracle_sums_result(&o, (exact_op)op, exact_types[t]));
    oracle_sums_close(&o);
}

/* Limbs of either sign, so that there is much to carry; the value keeps below 2^(32 limbs - 1). */
static void draw_limbs(fuzz *f, int64_t *limb, unsigned limbs, mpz_t value) {
    mpz_t term;
    mpz_init(term);
    mpz_set_ui(value, 0);
    for (unsigned l = 0; l < limbs; l++) {
        const unsigned bits = l + 2 < limbs ? 24 + fuzz_below(f, 32) : 30;
        limb[l] = (int64_t)(fuzz_bits(f, 8) << (63 - bits)) >> (63 - bits);
        mpz_set_si(term, limb[l]);
        mpz_mul_2exp(term, term, 32 * l);
        mpz_add(value, value, term);
    }
    mpz_clear(term);
}

static void check_ratio(fuzz *f) {
    static const int16_t units[] = {0, -24, -149, -298, -1074, -2148, 900, -400};
    const gp_exact_form form = {units[fuzz_below(f, COUNT(units))], (uint16_t)(3 + fuzz_below(f, LIMBS_MAX - 2))};
    const uint64_t n = fuzz_size(f);
    int64_t limb[LIMBS_MAX];
    mpz_t value, divisor;
    mpz_init(value);
    mpz_init_set_ui(divisor, n);
    draw_limbs(f, limb, form.limbs, value);
    for (int t = 0; n > 0 && t < EXACT_TYPES; t++)
        for (int root = 0; root < 2; root++)
            REQUIRE(gp_exact_ratio(limb, form, 0, n, root, exact_types[t]) ==
                    oracle_round(value, divisor, form.unit, root, exact_types[t]));
    mpz_clear(value);
    mpz_clear(divisor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = {data, data + size};
    if (fuzz_below(&f, 2))
        check_sums(&f);
    else
        check_ratio(&f);
    return 0;
}
