/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that return before their work is done, on made-up GPUs whose streams work as late as they may: they keep
 * their order, over changes of stream too, and calls that promise a result have waited for it. Link as fake_cuda.h
 * says, with fake_pieces.c.
 */
#include "../cases.h"
#include "../check.h"
#include "fake_memory.h"
#include "fake_pieces.h"

#define CHAINS 200
#define STEPS 40
#define MATRICES 4
#define SIDE 24
#define N ((size_t)SIDE * SIDE)
#define BYTES (N * sizeof(int32_t))

typedef struct matrix {
    int32_t *data;   /* device memory of the program's own */
    int32_t held[N]; /* what it holds once all calls so far are done */
} matrix;

static gp_context *context;
static cudaStream_t current;
static matrix matrices[MATRICES], *from, *to; /* those of a step */
static int32_t host[N];
static uint64_t luck;

static uint64_t draw(uint64_t below) {
    return cases_random(&luck) % below;
}

static void is_right(gp_status status, const char *what) {
    if (status != GP_OK)
        fail_msg("%s: status %d: %s", what, (int)status, gp_last_error());
}

static void compare(const int32_t *seen, const int32_t *wanted, const char *what) {
    if (memcmp(seen, wanted, BYTES) != 0)
        fail_msg("%s: wrong bytes", what);
}

static gp_context *open_context(gp_backend backend) {
    gp_options options = {.struct_size = sizeof options, .backend = (int32_t)backend, .device = 1, .cpu_threads = 1};
    gp_context *made = NULL;
    is_right(gp_context_create(&made, &options), "gp_context_create");
    return made;
}

static void turn_held(void) {
    int32_t turned[N];
    for (size_t i = 0; i < N; i++)
        turned[i % SIDE * SIDE + i / SIDE] = from->held[i];
    memcpy(to->held, turned, BYTES);
}

/* ---- steps ---- */

static void transpose(void) {
    is_right(gp_transpose(context, 4, from->data, SIDE, SIDE, SIDE, to->data, SIDE), "gp_transpose");
    turn_held();
}

static void reverse(void) {
    const gp_array in = gp_vector(GP_S32, from->data, N);
    gp_array out = gp_vector(GP_S32, to->data + N - 1, N);
    if (from == to)
        return;
    out.stride[0] = -1;
    is_right(gp_rearrange(context, &in, &out), "gp_rearrange");
    for (size_t i = 0; i < N; i++)
        to->held[N - 1 - i] = from->held[i];
}

static void copy_on_device(void) {
    if (from == to)
        return;
    is_right(gp_copy(context, to->data, from->data, BYTES), "gp_copy");
    memcpy(to->held, from->held, BYTES);
}

static void copy_in(void) {
    int32_t source[N];
    cases_fill_bytes(source, BYTES, cases_random(&luck));
    is_right(gp_copy(context, to->data, source, BYTES), "gp_copy");
    memcpy(to->held, source, BYTES);
    memset(source, 0, sizeof source);
}

static void copy_out(void) {
    is_right(gp_copy(context, host, from->data, BYTES), "gp_copy");
    compare(host, from->held, "gp_copy to the host");
}

/* Staged: rearranged as a whole, or transposed in pieces. */
static void turn_to_host(void) {
    const gp_array in = gp_permuted(gp_matrix(GP_S32, from->data, SIDE, SIDE, SIDE), (const unsigned[]){1, 0});
    const gp_array out = gp_matrix(GP_S32, host, SIDE, SIDE, SIDE);
    is_right(draw(2) ? gp_rearrange(context, &in, &out)
                     : gp_transpose(context, 4, from->data, SIDE, SIDE, SIDE, host, SIDE),
             "to the host");
    to = from;
    turn_held();
    compare(host, from->held, "transposed to the host");
    is_right(gp_copy(context, from->data, host, BYTES), "gp_copy");
}

/* The program's own copy fills pinned memory, which is then an input. */
static void turn_from_pinned(void) {
    unsigned char *pinned = fake_memory_make(context, FAKE_PINNED, BYTES);
    fake_memory_fill(FAKE_PINNED, pinned, (const unsigned char *)from->data, BYTES, current);
    is_right(gp_transpose(context, 4, pinned, SIDE, SIDE, SIDE, to->data, SIDE), "from pinned memory");
    memset(pinned, 0, BYTES);
    turn_held();
    fake_memory_free(context, FAKE_PINNED, pinned);
}

/* Freed when both kernels that use it are only enqueued. */
static void by_way_of_new_memory(void) {
    void *memory = NULL;
    is_right(gp_alloc(context, GP_MEMORY_DEVICE, BYTES, &memory), "gp_alloc");
    is_right(gp_transpose(context, 4, from->data, SIDE, SIDE, SIDE, memory, SIDE), "gp_transpose");
    is_right(gp_copy(context, to->data, memory, BYTES), "gp_copy");
    is_right(gp_free(context, memory), "gp_free");
    turn_held();
}

static void sum_to_host(void) {
    int64_t wanted = 0, sum = 0, sums[2] = {0};
    const gp_array all = gp_vector(GP_S32, from->data, N), halves = gp_matrix(GP_S32, from->data, 2, N / 2, N / 2);
    const gp_result one = gp_want(GP_REDUCE_SUM, gp_scalar(GP_S64, &sum)),
                    two = gp_want(GP_REDUCE_SUM, gp_matrix(GP_S64, sums, 2, 1, 1));
    const uint64_t way = draw(3);
    for (size_t i = 0; i < N; i++)
        wanted += from->held[i];
    is_right(way == 0   ? gp_reduce_int(context, GP_REDUCE_SUM, from->data, N, &sum)
             : way == 1 ? gp_reduce(context, &all, &one, 1)
                        : gp_reduce(context, &halves, &two, 1),
             "a sum");
    if (sum + sums[0] + sums[1] != wanted)
        fail_msg("a sum to the host, way %d: wrong", (int)way);
}

static void change_stream(void) {
    current = fake_stream[draw(FAKE_STREAMS)];
    is_right(gp_context_set_stream(context, current), "gp_context_set_stream");
}

static void begin_anew(void) {
    gp_context_destroy(context);
    context = open_context(GP_BACKEND_CUDA);
    is_right(gp_context_set_stream(context, current), "gp_context_set_stream");
}

static void chains(void **state) {
    (void)state;
    static void (*const steps[])(void) = {transpose,   reverse,       copy_on_device,   copy_in,
                                          copy_out,    turn_to_host,  turn_from_pinned, by_way_of_new_memory,
                                          sum_to_host, change_stream, change_stream,    begin_anew,
                                          transpose,   reverse};
    fake_cut.piece = 1 << 9;
    context = open_context(GP_BACKEND_CUDA);
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    for (size_t i = 0; i < MATRICES; i++) {
        void *memory = NULL;
        assert_int_equal(cudaMalloc(&memory, BYTES), cudaSuccess);
        matrices[i].data = memory;
        is_right(gp_copy(context, memory, matrices[i].held, BYTES), "gp_copy");
    }
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    for (unsigned i = 0; i < CHAINS; i++) {
        for (unsigned k = 0; k < STEPS; k++) {
            from = &matrices[draw(MATRICES)];
            to = &matrices[draw(MATRICES)];
            steps[draw(COUNT(steps))]();
        }
        is_right(gp_context_synchronize(context), "gp_context_synchronize");
        for (size_t m = 0; m < MATRICES; m++)
            compare(matrices[m].data, matrices[m].held, "at a chain's end");
        assert_int_equal(fake.too_early, 0);
    }
    for (size_t i = 0; i < MATRICES; i++)
        assert_int_equal(cudaFree(matrices[i].data), cudaSuccess);
    gp_context_destroy(context);
    fake_cut.piece = 0;
}

/* The processor computes on pinned memory when what is on the stream is done, whatever the thread's device. */
static void pinned_memory_on_the_processor(void **state) {
    (void)state;
    context = open_context(GP_BACKEND_AUTO);
    for (unsigned i = 0; i < CHAINS; i++) {
        unsigned char *pinned = fake_memory_make(context, FAKE_PINNED, BYTES);
        int64_t wanted = 0, sum = 0;
        change_stream();
        fake.current = (int)draw(2);
        cases_fill_bytes(host, BYTES, cases_random(&luck));
        for (size_t k = 0; k < N; k++)
            wanted += host[k];
        fake_memory_fill(FAKE_PINNED, pinned, (const unsigned char *)host, BYTES, current);
        is_right(gp_reduce_int(context, GP_REDUCE_SUM, (const int32_t *)(const void *)pinned, N, &sum), "a sum");
        assert_true(sum == wanted);
        fake_memory_free(context, FAKE_PINNED, pinned);
    }
    fake.current = 0;
    gp_context_destroy(context);
}

/* A sum that was enqueued and passes 64 bits is told by gp_context_synchronize(), not by a later call that waits. */
static void overflows_are_told_apart(void **state) {
    (void)state;
    static const int64_t numbers[2] = {INT64_MAX, 1};
    context = open_context(GP_BACKEND_CUDA);
    for (unsigned i = 0; i < CHAINS; i++) {
        unsigned char *memory = fake_memory_make(context, FAKE_DEVICE, 3 * sizeof(int64_t));
        int64_t *in = (int64_t *)(void *)memory, total = 0;
        const gp_array both = gp_vector(GP_S64, in, 2), last = gp_vector(GP_S64, in + 1, 1);
        const gp_result enqueued = gp_want(GP_REDUCE_SUM, gp_scalar(GP_S64, in + 2)),
                        awaited = gp_want(GP_REDUCE_SUM, gp_scalar(GP_S64, &total));
        const bool passes = draw(2), told = draw(2);
        change_stream();
        fake_memory_fill(FAKE_DEVICE, memory, (const unsigned char *)numbers, sizeof numbers, current);
        if (passes)
            is_right(gp_reduce(context, &both, &enqueued, 1), "an enqueued sum");
        assert_int_equal(gp_reduce(context, told ? &both : &last, &awaited, 1), told ? GP_ERR_OVERFLOW : GP_OK);
        assert_true(told || total == 1);
        assert_int_equal(gp_context_synchronize(context), passes ? GP_ERR_OVERFLOW : GP_OK);
        is_right(gp_context_synchronize(context), "told once");
        fake_memory_free(context, FAKE_DEVICE, memory);
    }
    gp_context_destroy(context);
}

int main(void) {
    luck = cases_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains), cmocka_unit_test(pinned_memory_on_the_processor),
                                       cmocka_unit_test(overflows_are_told_apart)};
    return cmocka_run_group_tests(tests, fake_open_streams, fake_close_streams);
}
