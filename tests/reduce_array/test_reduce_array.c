/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_reduce() and gp_reduce_pair() on the processor against an oracle: random views, types, operations, data,
 * threads, pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "random_call.h"
#include <fenv.h>

static size_t cases(void) {
    const char *text = getenv("GPUPRIM_TEST_CASES");
    return text ? (size_t)strtoull(text, NULL, 0) : cases_reduced() ? 2000 : 20000;
}

/* Mode 0 is the default; 1 to 3 round otherwise, 4 flushes subnormal numbers too. */
static void set_mode(unsigned mode) {
    static const int directions[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_DOWNWARD};
    fesetround(directions[mode]);
#if defined(__x86_64__)
    const unsigned flush = 0x8040, now = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(mode == 4 ? now | flush : now & ~flush);
#endif
}

static unsigned mode_now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & 0xe040;
#else
    return (unsigned)fegetround();
#endif
}

static void run_one(harness *h, const subject *s, row *r, random_call *call, unsigned mode) {
    char words[160];
    random_call_reset(call);
    set_mode(mode);
    const unsigned before = mode_now();
    const gp_status status = random_call_run(call, s->context);
    const bool kept_mode = mode_now() == before;
    set_mode(0);
    if (!kept_mode)
        harness_fail(h, s, r, call->label, "another mode after the call");
    if (status == GP_ERR_NO_KERNEL && r->info.name != NULL) {
        r->declined++;
        return;
    }
    r->run++;
    if (status != call->status) {
        snprintf(words, sizeof words, "status %d, not %d: %s", (int)status, (int)call->status, gp_last_error());
        harness_fail(h, s, r, call->label, words);
    } else if (!random_call_check(call, words, sizeof words)) {
        harness_fail(h, s, r, call->label, words);
    }
}

static void run_rows(harness *h, random_call *call, size_t turn) {
    for (size_t i = 0; i < h->n_subjects; i++) {
        const subject *s = &h->subjects[i];
        if (s->gpu || !harness_takes_turn(h, i, turn))
            continue;
        for (size_t k = 0; k < h->n_rows; k++)
            if (harness_pin(h, s, &h->rows[k], turn))
                run_one(h, s, &h->rows[k], call, (unsigned)(turn % 5));
    }
}

static void random_calls(void **state) {
    (void)state;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    const size_t count = cases();
    for (size_t i = 0; i < count; i++) {
        random_call call;
        random_call_make(&call, cases_seed() + i, i % 50 == 0 ? 20000 : i % 5 == 0 ? 1000 : 100);
        run_rows(&h, &call, i);
        random_call_free(&call);
        h.cases++;
    }
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
