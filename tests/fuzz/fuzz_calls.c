/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: sequences of public calls. Processor contexts of 1 and 3 threads give what the oracles say, whatever
 * is pinned; a model context takes the same calls and writes nothing; calls with a wrong argument are refused, and
 * nothing is written. libFuzzer's bytes are the draws of the tests' generators, until they are used up.
 */
#include "../devices.h"
#include "../oracle.h"
#include "../rearrange_array/random_move.h"
#include "../reduce_array/random_call.h"
#include "../window_array/random_window.h"
#include "fuzz.h"

#define CONTEXTS 3 /* the last is the model */

static fuzz bytes;
static gp_context *contexts[CONTEXTS];

uint64_t __real_cases_random(uint64_t *state);
uint64_t __wrap_cases_random(uint64_t *state);

uint64_t __wrap_cases_random(uint64_t *state) {
    const uint64_t drawn = __real_cases_random(state);
    return bytes.at < bytes.end ? fuzz_bits(&bytes, 2) : drawn;
}

static void open_contexts(void) {
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const bool model = i == CONTEXTS - 1;
        const gp_options options = {.struct_size = sizeof options,
                                    .backend = model ? GP_BACKEND_MODEL : GP_BACKEND_CPU,
                                    .device = -1,
                                    .cpu_threads = 1 + 2 * i,
                                    .model = model ? &devices[fuzz_below(&bytes, DEVICE_COUNT)] : NULL};
        REQUIRE(gp_context_create(&contexts[i], &options) == GP_OK);
    }
}

/* The status that a good call of context i owes instead of `owed`: a pinned row may not do it, a model computes
 * nothing.
 */
static bool is_owed(unsigned i, gp_status got, gp_status owed) {
    const bool model = i == CONTEXTS - 1;
    return got == owed || got == GP_ERR_NO_KERNEL || (model && owed == GP_ERR_OVERFLOW && got == GP_OK);
}

/* ---- gp_reduce(), gp_reduce_pair(), gp_window() ---- */

static bool is_untouched(const random_call *call) {
    for (size_t i = 0; i < call->count; i++)
        for (size_t b = 0; b < call->to[i].bytes; b++)
            if (call->to[i].memory[b] != RANDOM_FILL)
                return false;
    return true;
}

/* One argument out of its domain. */
static void spoil(random_call *call, unsigned way) {
    gp_result *last = &call->results[call->count - 1];
    switch (way % 8) {
    case 0:
        call->in.view.type = 13 + (int32_t)way;
        break;
    case 1:
        call->in.view.rank = GP_AXES + 1 + way;
        break;
    case 2:
        last->reserved = 1 + way;
        break;
    case 3:
        last->op = 1000;
        break;
    case 4:
        last->to.type = GP_BYTES;
        break;
    case 5:
        call->count = 0;
        break;
    case 6:
        last->to.rank = GP_AXES + 1;
        break;
    default:
        call->in.view.type = GP_BYTES;
    }
}

static void check_call(random_call *call) {
    char words[160];
    for (unsigned i = 0; i < CONTEXTS; i++) {
        random_call_reset(call);
        const gp_status status = random_call_run(call, contexts[i]);
        REQUIRE(is_owed(i, status, call->status));
        if (i == CONTEXTS - 1 || status == GP_ERR_NO_KERNEL)
            REQUIRE(is_untouched(call));
        else if (!random_call_check(call, words, sizeof words)) {
            fprintf(stderr, "context %u: %s: %s\n", i, call->label, words);
            abort();
        }
    }
    random_call spoilt = *call;
    spoil(&spoilt, fuzz_below(&bytes, 64));
    for (unsigned i = 0; i < CONTEXTS; i++) {
        random_call_reset(call);
        REQUIRE(random_call_run(&spoilt, contexts[i]) == GP_ERR_ARGUMENT);
        REQUIRE(is_untouched(call));
    }
}

/* ---- gp_rearrange() ---- */

static void check_move(const random_move *move) {
    const size_t in_bytes = move->in.bytes, out_bytes = move->out.bytes;
    unsigned char *in = malloc(in_bytes + 1), *out = malloc(out_bytes + 1), *wanted = malloc(out_bytes + 1);
    REQUIRE(in != NULL && out != NULL && wanted != NULL);
    for (size_t i = 0; i < in_bytes; i++)
        in[i] = (unsigned char)(i * 151 >> 3);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        unsigned char *from = move->in_place ? out : in;
        if (move->in_place)
            memcpy(out, in, out_bytes);
        else
            memset(out, RANDOM_FILL, out_bytes);
        memcpy(wanted, out, out_bytes);
        const gp_array a = random_move_in(move, from), b = random_move_out(move, out);
        const gp_status status = gp_rearrange(contexts[i], &a, &b);
        REQUIRE(is_owed(i, status, GP_OK) || (move->may_refuse && status == GP_ERR_UNSUPPORTED));
        if (i < CONTEXTS - 1 && status == GP_OK)
            random_move_oracle(move, in, wanted);
        REQUIRE(memcmp(out, wanted, out_bytes) == 0);
    }
    free(in);
    free(out);
    free(wanted);
}

/* ---- the calls of one matrix ---- */

enum { SIDE = 40 };

static void check_reduce_int(const int32_t *in) {
    const gp_reduce_op op = (gp_reduce_op)fuzz_below(&bytes, 6);
    const size_t n = fuzz_below(&bytes, 256);
    int64_t wanted = 77, got;
    const gp_status owed = oracle_reduce(op, in, n, &wanted);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        got = 77;
        const gp_status status = gp_reduce_int(contexts[i], op, in, n, &got);
        REQUIRE(is_owed(i, status, owed));
        REQUIRE(got == (i < CONTEXTS - 1 && status == GP_OK ? wanted : 77));
    }
}

static void check_window_rows(const int32_t *in) {
    const size_t rows = fuzz_below(&bytes, SIDE), cols = fuzz_below(&bytes, SIDE),
                 pitch = cols + fuzz_below(&bytes, 3);
    const size_t window = 1 + fuzz_below(&bytes, 128);
    const gp_border border = (gp_border)fuzz_below(&bytes, GP_BORDER_WRAP + 1);
    static float wanted[2][SIDE * SIDE], got[2][SIDE * SIDE];
    memset(wanted, RANDOM_FILL, sizeof wanted);
    oracle_window(in, rows, cols, pitch, window, border, wanted[0], wanted[1], cols);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        memset(got, RANDOM_FILL, sizeof got);
        const gp_status status =
            gp_sum_and_square_window(contexts[i], in, rows, cols, pitch, window, border, got[0], got[1], cols);
        REQUIRE(is_owed(i, status, GP_OK));
        if (i < CONTEXTS - 1 && status == GP_OK)
            REQUIRE(memcmp(got, wanted, sizeof got) == 0);
    }
}

static void check_transpose(const int32_t *in) {
    const size_t elem_bytes = 1 + fuzz_below(&bytes, 4), rows = fuzz_below(&bytes, SIDE),
                 cols = fuzz_below(&bytes, SIDE);
    const size_t in_pitch = cols + fuzz_below(&bytes, 3), out_pitch = rows + fuzz_below(&bytes, 3);
    static unsigned char wanted[4 * (SIDE + 3) * SIDE], got[sizeof wanted];
    memset(wanted, RANDOM_FILL, sizeof wanted);
    oracle_transpose(elem_bytes, in, rows, cols, in_pitch, wanted, out_pitch);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        memset(got, RANDOM_FILL, sizeof got);
        const gp_status status = gp_transpose(contexts[i], elem_bytes, in, rows, cols, in_pitch, got, out_pitch);
        REQUIRE(is_owed(i, status, GP_OK));
        if (i < CONTEXTS - 1 && status == GP_OK)
            REQUIRE(memcmp(got, wanted, sizeof got) == 0);
    }
}

static void check_matrix(unsigned kind) {
    int32_t *in = malloc(sizeof *in * (SIDE + 3) * SIDE);
    REQUIRE(in != NULL);
    for (uint32_t i = 0; i < (SIDE + 3) * SIDE; i++)
        in[i] = (int32_t)(i % 3 == 0 ? fuzz_bits(&bytes, 4) : i * 2654435761u);
    if (kind == 0)
        check_reduce_int(in);
    else if (kind == 1)
        check_window_rows(in);
    else
        check_transpose(in);
    free(in);
}

/* ---- what calls leave, and what they run with ---- */

static void check_memory(void) {
    const size_t size = fuzz_below(&bytes, 256);
    for (unsigned i = 0; i < CONTEXTS - 1; i++) {
        unsigned char from[256], to[256] = {0};
        void *memory = NULL;
        memset(from, (int)size, sizeof from);
        REQUIRE(gp_alloc(contexts[i], (gp_memory)(size % 2), size, &memory) == GP_OK);
        REQUIRE((memory == NULL) == (size == 0) && (uintptr_t)memory % 256 == 0);
        REQUIRE(gp_copy(contexts[i], memory, from, size) == GP_OK && gp_copy(contexts[i], to, memory, size) == GP_OK);
        REQUIRE(memcmp(from, to, size) == 0 && gp_free(contexts[i], memory) == GP_OK);
        REQUIRE(gp_context_synchronize(contexts[i]) == GP_OK);
        REQUIRE(gp_context_limit(contexts[i], 1024, 0) == GP_ERR_ARGUMENT);
    }
}

static void check_explain(void) {
    static char text[1 << 16];
    for (unsigned i = 0; i < CONTEXTS; i++) {
        const size_t length = gp_context_explain(contexts[i], text, sizeof text);
        REQUIRE(length < sizeof text && (length == 0 || strlen(text) == length));
    }
}

/* The same row on all, or free choice again. */
static void pin(void) {
    gp_kernel_info kernel = {.struct_size = sizeof kernel};
    const bool free_choice = fuzz_below(&bytes, 2) || gp_kernel_at(fuzz_below(&bytes, 200), &kernel) != GP_OK;
    for (unsigned i = 0; i < CONTEXTS; i++)
        REQUIRE(gp_context_pin_kernel(contexts[i], free_choice ? NULL : kernel.name, 0) == GP_OK);
}

static void check_next(void) {
    random_call call;
    random_move move;
    const unsigned kind = fuzz_below(&bytes, 16);
    if (kind < 5) {
        random_call_make(&call, fuzz_bits(&bytes, 2), 300);
        check_call(&call);
        random_call_free(&call);
    } else if (kind < 8) {
        random_window_make(&call, fuzz_bits(&bytes, 2), 300);
        check_call(&call);
        random_call_free(&call);
    } else if (kind < 11) {
        random_move_make(&move, fuzz_bits(&bytes, 2), 500);
        check_move(&move);
    } else if (kind < 14) {
        check_matrix(kind - 11);
    } else if (kind == 14) {
        check_memory();
    } else {
        pin();
    }
    check_explain();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes = (fuzz){data, data + size};
    open_contexts();
    for (unsigned calls = 0; bytes.at < bytes.end && calls < 6; calls++)
        check_next();
    for (unsigned i = 0; i < CONTEXTS; i++)
        gp_context_destroy(contexts[i]);
    return 0;
}
