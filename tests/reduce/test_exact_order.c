/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums have one bit pattern: in any order, split and merged in any way, in any rounding mode, with FTZ and DAZ.
 */
#include "../cases.h"
#include "../check.h"
#include "data_sets.h"
#include "exact_sums.h"

#include <fenv.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LONGEST 300
#define ORDERS 50
#define PARTS 5

static unsigned char data[LONGEST * 8];
static uint64_t state;

static uint64_t draw(uint64_t below) {
    return cases_random(&state) % below;
}

/* `way` of the elements is that which does not compute with doubles: conversions to them obey DAZ. */
static void add_all(exact_sums *s, gp_type type, size_t n) {
    exact_sums_clear(s, type);
    for (size_t i = 0; i < n; i++)
        exact_sums_add(s, data + i * data_set_element(type), data + i * data_set_element(type), 3);
}

static void same(const uint64_t got[EXACT_RESULTS], const uint64_t want[EXACT_RESULTS], const char *how, gp_type type,
                 size_t n, data_set set, uint64_t seed) {
    char label[160];
    data_set_label(type, n, set, seed, label, sizeof label);
    for (int i = 0; i < EXACT_RESULTS; i++)
        if (got[i] != want[i])
            fail_msg("%s: result %d of %s is 0x%llx, was 0x%llx", how, i, label, (unsigned long long)got[i],
                     (unsigned long long)want[i]);
}

/* Every element to one of several sums in an order of its own; these are carried at times, then merged. */
static void add_shuffled(exact_sums *s, gp_type type, size_t n) {
    static exact_sums part[PARTS];
    size_t order[LONGEST];
    for (size_t i = 0; i < n; i++) {
        const size_t other = draw(i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int p = 0; p < PARTS; p++)
        exact_sums_clear(&part[p], type);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *x = data + order[i] * data_set_element(type);
        exact_sums *to = &part[draw(PARTS)];
        exact_sums_add(to, x, x, (unsigned)draw(4));
        if (draw(20) == 0)
            gp_exact_carry(to->limb, to->form.limbs);
    }
    exact_sums_clear(s, type);
    for (int p = 0; p < PARTS; p++)
        exact_sums_merge(s, &part[(p + 3) % PARTS]);
}

static void check_orders(gp_type type, size_t n, data_set set, uint64_t seed, const uint64_t want[EXACT_RESULTS]) {
    exact_sums s;
    uint64_t got[EXACT_RESULTS];
    for (int turn = 0; turn < ORDERS; turn++) {
        add_shuffled(&s, type, n);
        exact_sums_results(&s, got);
        same(got, want, "shuffled and split", type, n, set, seed);
    }
}

/* Flush results and operands that are subnormal to zero. */
static unsigned control_read(void) {
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

static void control_flush(unsigned before, unsigned which) {
#if defined(__x86_64__)
    _mm_setcsr(before | (which & 1 ? 0x8000u : 0) | (which & 2 ? 0x0040u : 0)); /* FTZ, DAZ */
#else
    (void)before;
    (void)which;
#endif
}

static void check_modes(gp_type type, size_t n, data_set set, uint64_t seed, const uint64_t want[EXACT_RESULTS]) {
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (unsigned turn = 0; turn < 16; turn++) {
        exact_sums s;
        uint64_t got[EXACT_RESULTS];
        fesetround(modes[turn / 4]);
        const unsigned before = control_read();
        control_flush(before, turn % 4);
        add_all(&s, type, n);
        exact_sums_results(&s, got);
        control_flush(before, 0);
        fesetround(FE_TONEAREST);
        same(got, want, "added in another rounding mode", type, n, set, seed);
    }
}

static void one_bit_pattern(void **unused) {
    (void)unused;
    state = cases_seed();
    const int rounds = cases_reduced() ? 1 : 2;
    for (int round = 0; round < rounds; round++) {
        for (int type = GP_U8; type <= GP_F64; type++) {
            for (int set = 0; set < DATA_SETS; set++) {
                const size_t n = 1 + draw(LONGEST);
                const uint64_t seed = cases_random(&state);
                uint64_t want[EXACT_RESULTS];
                exact_sums s;
                data_set_fill(data, (gp_type)type, n, (data_set)set, seed);
                add_all(&s, (gp_type)type, n);
                exact_sums_results(&s, want);
                check_orders((gp_type)type, n, (data_set)set, seed, want);
                check_modes((gp_type)type, n, (data_set)set, seed, want);
            }
        }
    }
}

/* No operation on floats, so none of its flags is raised: an fetestexcept() of the caller sees its own alone. */
static void no_exception_is_raised(void **unused) {
    (void)unused;
    data_set_fill(data, GP_F32, LONGEST, DATA_SET_ALL_BITS, cases_seed());
    exact_sums s;
    uint64_t results[EXACT_RESULTS];
    feclearexcept(FE_ALL_EXCEPT);
    add_all(&s, GP_F32, LONGEST);
    exact_sums_results(&s, results);
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_bit_pattern), cmocka_unit_test(no_exception_is_raised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
