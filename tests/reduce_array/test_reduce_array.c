/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_reduce() and gp_reduce_pair() against an oracle: random views, types, operations, data, threads, places in
 * memory, pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../reduce/data_sets.h"
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

/* Where a call's arrays are for a GPU; in turns. */
typedef enum place { PAGEABLE, ON_DEVICE, PINNED, RESULTS_PAGEABLE, PLACES } place;

/* Memory of each kind, for inputs and for results. */
typedef struct arena {
    gp_context *context;
    unsigned char *device[2], *pinned[2], *pageable[2];
    size_t bytes;
} arena;

static arena memory;

static void arena_free(arena *a) {
    for (unsigned i = 0; i < 2 && a->bytes > 0; i++) {
        assert_int_equal(gp_free(a->context, a->device[i]), GP_OK);
        assert_int_equal(gp_free(a->context, a->pinned[i]), GP_OK);
        free(a->pageable[i]);
    }
    a->bytes = 0;
}

static void arena_grow(arena *a, gp_context *context, size_t bytes) {
    if (bytes <= a->bytes)
        return;
    arena_free(a);
    *a = (arena){.context = context, .bytes = 2 * bytes};
    for (unsigned i = 0; i < 2; i++) {
        void *got = NULL;
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, a->bytes, &got), GP_OK);
        a->device[i] = got;
        assert_int_equal(gp_alloc(context, GP_MEMORY_HOST, a->bytes, &got), GP_OK);
        a->pinned[i] = got;
        a->pageable[i] = malloc(a->bytes);
        assert_non_null(a->pageable[i]);
    }
}

static gp_status call_at(random_call *call, gp_context *context, place where) {
    arena *a = &memory;
    const size_t in_bytes = random_call_input_bytes(call), out_bytes = random_call_result_bytes(call);
    if (where == PAGEABLE)
        return random_call_run(call, context);
    arena_grow(a, context, in_bytes > out_bytes ? in_bytes : out_bytes);
    unsigned char *in = where == PINNED ? a->pinned[0] : a->device[0];
    unsigned char *out = where == PINNED ? a->pinned[1] : where == ON_DEVICE ? a->device[1] : a->pageable[1];
    random_call moved;
    random_call_pack(call, a->pageable[0], a->pageable[1]);
    assert_int_equal(gp_copy(context, in, a->pageable[0], in_bytes), GP_OK);
    if (where != RESULTS_PAGEABLE)
        assert_int_equal(gp_copy(context, out, a->pageable[1], out_bytes), GP_OK);
    random_call_move(call, in, out, &moved);
    gp_status status = random_call_run(&moved, context);
    if (status == GP_OK)
        status = gp_context_synchronize(context);
    if (where != RESULTS_PAGEABLE)
        assert_int_equal(gp_copy(context, a->pageable[1], out, out_bytes), GP_OK);
    random_call_unpack(call, a->pageable[1]);
    return status;
}

static void run_one(harness *h, const subject *s, row *r, random_call *call, size_t turn) {
    char words[160];
    random_call_reset(call);
    set_mode((unsigned)(turn % 5));
    const unsigned before = mode_now();
    const gp_status status = call_at(call, s->context, s->gpu ? (place)(turn / BLOCK_SIZES % PLACES) : PAGEABLE);
    const bool kept_mode = mode_now() == before;
    set_mode(0);
    if (!kept_mode)
        harness_fail(h, s, r, call->label, "another mode after the call");
    if (status == GP_ERR_NO_KERNEL && r->info.name != NULL) {
        r->declined++;
        r->declined_with[r->block]++;
        return;
    }
    r->run++;
    r->ran_with[r->block]++;
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
        if (!harness_takes_turn(h, i, turn))
            continue;
        for (size_t k = 0; k < h->n_rows; k++)
            if (harness_pin(h, s, &h->rows[k], turn))
                run_one(h, s, &h->rows[k], call, turn);
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
    arena_free(&memory);
    harness_close(&h);
}

#define ORDER_RESULTS 4

/* Moments and the greatest of n elements. */
static void moments_of(gp_context *context, gp_type type, const void *data, size_t n, uint64_t bits[ORDER_RESULTS]) {
    static const uint32_t ops[ORDER_RESULTS] = {GP_REDUCE_SUM, GP_REDUCE_STDDEV, GP_REDUCE_SUM_SQUARES,
                                                GP_REDUCE_MAX};
    gp_array in = gp_vector(type, data, n);
    gp_result results[ORDER_RESULTS];
    memset(bits, 0, ORDER_RESULTS * sizeof *bits);
    for (size_t i = 0; i < ORDER_RESULTS; i++)
        results[i] = gp_want(ops[i], gp_scalar(ops[i] == GP_REDUCE_MAX ? type : GP_F64, &bits[i]));
    assert_int_equal(gp_reduce(context, &in, results, ORDER_RESULTS), GP_OK);
}

/* Large enough for several threads, batches and folds: every order, row and number of threads has the same bits. */
static void any_order_any_split(void **state) {
    (void)state;
    static const gp_type types[] = {GP_F32, GP_F64, GP_S16, GP_BF16};
    const size_t n = cases_reduced() ? 50021 : 300007;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    uint64_t draws = cases_seed(), *data = malloc(n * sizeof *data);
    for (size_t turn = 0; turn < 50; turn++) {
        const gp_type type = types[turn % COUNT(types)];
        const size_t bytes = data_set_element(type);
        const data_set set = (data_set)(turn / COUNT(types) % DATA_SETS);
        uint64_t first[ORDER_RESULTS], now[ORDER_RESULTS];
        data_set_fill(data, type, n, set, draws);
        assert_int_equal(gp_context_pin_kernel(h.subjects[0].context, "reduce_array_cpu", 0), GP_OK);
        moments_of(h.subjects[0].context, type, data, n, first);
        for (size_t i = n; i > 1; i--) { /* another order */
            unsigned char *a = (unsigned char *)data + (i - 1) * bytes,
                          *b = (unsigned char *)data + cases_random(&draws) % i * bytes, swap[8];
            memcpy(swap, a, bytes);
            memcpy(a, b, bytes);
            memcpy(b, swap, bytes);
        }
        for (size_t s = 0; s < h.n_subjects; s++)
            for (size_t k = 0; k < h.n_rows; k++) {
                row *r = &h.rows[k];
                if (h.subjects[s].gpu || !harness_pin(&h, &h.subjects[s], r, turn) || (turn + k) % 3 != 0)
                    continue;
                gp_array probe = gp_vector(type, data, 1);
                uint64_t bits;
                const gp_result any = gp_want(GP_REDUCE_MAX, gp_scalar(type, &bits));
                if (gp_reduce(h.subjects[s].context, &probe, &any, 1) == GP_ERR_NO_KERNEL)
                    continue;
                moments_of(h.subjects[s].context, type, data, n, now);
                r->run++;
                if (memcmp(now, first, sizeof now) != 0)
                    harness_fail(&h, &h.subjects[s], r, data_set_name(set), "other bits in another order");
            }
        h.cases++;
    }
    free(data);
    size_t failures = h.failures;
    for (size_t i = 0; i < h.n_subjects; i++)
        gp_context_destroy(h.subjects[i].context);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls), cmocka_unit_test(any_order_any_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
