/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls on every context and row, with data in all kinds of memory and in any mode of the floating-point unit.
 */
#include "run_calls.h"
#include "../check.h"
#include <fenv.h>

#define MODES 6

/*
 * Mode 0 is the default; 1 to 3 round otherwise, 4 flushes subnormal numbers too, 5 ends the program by a signal for
 * whatever is inexact, invalid, too large or too small, or subnormal.
 */
static void set_mode(unsigned mode) {
    static const int directions[MODES] = {FE_TONEAREST,  FE_DOWNWARD, FE_UPWARD,
                                          FE_TOWARDZERO, FE_DOWNWARD, FE_TONEAREST};
    fesetround(directions[mode]);
#if defined(__x86_64__)
    const unsigned flush = 0x8040, masks = 0x1f80, flags = 0x3f;
    const unsigned now = (__builtin_ia32_stmxcsr() | masks) & ~(flush | flags);
    __builtin_ia32_ldmxcsr(mode == 4 ? now | flush : mode == 5 ? now & ~masks : now);
#endif
}

static unsigned mode_now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & 0xffc0;
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
    set_mode((unsigned)(turn % MODES));
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

void run_call(harness *h, random_call *call, size_t turn) {
    for (size_t i = 0; i < h->n_subjects; i++) {
        const subject *s = &h->subjects[i];
        if (!harness_takes_turn(h, i, turn))
            continue;
        for (size_t k = 0; k < h->n_rows; k++)
            if (harness_pin(h, s, &h->rows[k], turn))
                run_one(h, s, &h->rows[k], call, turn);
    }
}

void run_calls_end(void) {
    arena_free(&memory);
}
