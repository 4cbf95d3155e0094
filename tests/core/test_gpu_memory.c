/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pageable, pinned, managed and device memory in every mix, for each primitive, on CUDA and AUTO contexts; host data
 * of sizes around the pieces in which it is staged.
 */
#include "../../src/device/launch.h"
#include "../cases.h"
#include "../gpu.h"
#include "../oracle.h"

#include <pthread.h>

enum { PAGEABLE, PINNED, MANAGED, DEVICE, PLACES };

#define GUARD 64 /* bytes on both sides */

static gp_context *contexts[2]; /* CUDA, AUTO */
static size_t calls;

typedef struct array {
    int place;
    size_t bytes;
    unsigned char *memory, *expected; /* both with guards */
} array;

static array make(int place, size_t bytes) {
    array a = {place, bytes, NULL, malloc(bytes + 2 * GUARD)};
    size_t total = bytes + 2 * GUARD;
    void *memory = NULL;
    assert_non_null(a.expected);
    if (place == PAGEABLE)
        assert_non_null(memory = malloc(total));
    else if (place == PINNED)
        CUDA_OK(cudaMallocHost(&memory, total));
    else if (place == MANAGED)
        CUDA_OK(cudaMallocManaged(&memory, total, cudaMemAttachGlobal));
    else
        CUDA_OK(cudaMalloc(&memory, total));
    a.memory = memory;
    memset(a.expected, 0x6b, total);
    return a;
}

static void drop(array *a) {
    if (a->place == PAGEABLE)
        free(a->memory);
    else if (a->place == PINNED)
        CUDA_OK(cudaFreeHost(a->memory));
    else
        CUDA_OK(cudaFree(a->memory));
    free(a->expected);
}

static void send(array *a) {
    CUDA_OK(cudaMemcpy(a->memory, a->expected, a->bytes + 2 * GUARD, cudaMemcpyDefault));
}

static void *data(array *a) {
    return a->memory + GUARD;
}

static void *want(array *a) {
    return a->expected + GUARD;
}

static void check(array *a, const char *what, unsigned mix) {
    size_t total = a->bytes + 2 * GUARD;
    unsigned char *seen = malloc(total);
    assert_non_null(seen);
    CUDA_OK(cudaMemcpy(seen, a->memory, total, cudaMemcpyDefault));
    for (size_t i = 0; i < total; i++)
        if (seen[i] != a->expected[i])
            fail_msg("%s, places %u: byte %zd of %zu is %02x, not %02x", what, mix, (ssize_t)i - GUARD, a->bytes,
                     seen[i], a->expected[i]);
    free(seen);
}

static void synchronize(gp_context *context) {
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    calls++;
}

static void reduce_in_every_mix(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 5, 1000, 65537, 2097151, 2097153, 5000011};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (unsigned mix = 0; mix < PLACES * PLACES; mix++) {
            array in = make((int)mix % PLACES, sizes[i] * 4), out = make((int)mix / PLACES, 8);
            int64_t result;
            cases_fill(want(&in), sizes[i], DATA_RANDOM, cases_seed() + i);
            send(&in);
            for (size_t c = 0; c < COUNT(contexts); c++) {
                gp_reduce_op op = (mix + i) % 2 ? GP_REDUCE_SUM : GP_REDUCE_XOR;
                send(&out);
                assert_int_equal(oracle_reduce(op, want(&in), sizes[i], &result), GP_OK);
                assert_int_equal(gp_reduce_int(contexts[c], op, data(&in), sizes[i], data(&out)), GP_OK);
                synchronize(contexts[c]);
                memcpy(want(&out), &result, sizeof result);
                check(&out, "reduce", mix);
                check(&in, "reduce, input", mix);
            }
            drop(&in);
            drop(&out);
        }
    }
}

static void window_of(size_t rows, size_t cols, size_t pad, size_t window, unsigned mix) {
    size_t pitch = cols + pad, bytes = ((rows - 1) * pitch + cols) * 4;
    gp_border border = (gp_border)(mix % 6);
    array image = make((int)mix % PLACES, bytes), sum = make((int)(mix / PLACES) % PLACES, bytes);
    array square = make((int)(mix / PLACES / PLACES), bytes);
    cases_fill(want(&image), bytes / 4, DATA_RANDOM, cases_seed() + mix);
    send(&image);
    for (size_t c = 0; c < COUNT(contexts); c++) {
        memset(want(&sum), 0x6b, bytes);
        memset(want(&square), 0x6b, bytes);
        send(&sum);
        send(&square);
        assert_int_equal(gp_sum_and_square_window(contexts[c], data(&image), rows, cols, pitch, window, border,
                                                  data(&sum), data(&square), pitch),
                         GP_OK);
        synchronize(contexts[c]);
        oracle_window(want(&image), rows, cols, pitch, window, border, want(&sum), want(&square), pitch);
        check(&sum, "sum", mix);
        check(&square, "square", mix);
        check(&image, "image", mix);
    }
    drop(&image);
    drop(&sum);
    drop(&square);
}

static void window_in_every_mix(void **state) {
    (void)state;
    for (unsigned mix = 0; mix < PLACES * PLACES * PLACES; mix++) {
        window_of(37, 1001, mix % 3, 15, mix);
        if (mix % 9 == 0)
            window_of(1100, 2003, mix % 2 * 7, 5, mix);
    }
}

static void transpose_of(size_t elem, size_t rows, size_t cols, size_t pad, unsigned mix) {
    size_t in_pitch = cols + pad, out_pitch = rows + pad;
    array in = make((int)mix % PLACES, ((rows - 1) * in_pitch + cols) * elem);
    array out = make((int)mix / PLACES, ((cols - 1) * out_pitch + rows) * elem);
    cases_fill_bytes(want(&in), in.bytes, cases_seed() + mix);
    send(&in);
    for (size_t c = 0; c < COUNT(contexts); c++) {
        memset(want(&out), 0x6b, out.bytes);
        send(&out);
        assert_int_equal(gp_transpose(contexts[c], elem, data(&in), rows, cols, in_pitch, data(&out), out_pitch),
                         GP_OK);
        synchronize(contexts[c]);
        oracle_transpose(elem, want(&in), rows, cols, in_pitch, want(&out), out_pitch);
        check(&out, "transpose", mix);
        check(&in, "transpose, input", mix);
    }
    drop(&in);
    drop(&out);
}

static void transpose_in_every_mix(void **state) {
    (void)state;
    static const size_t elems[] = {1, 2, 4, 8, 16, 3, 20};
    for (unsigned mix = 0; mix < PLACES * PLACES; mix++) {
        for (size_t e = 0; e < COUNT(elems); e++)
            transpose_of(elems[e], 131, 257, e % 3, mix);
        transpose_of(4, 2049, 2000, mix % 2, mix);
        transpose_of(4, 3, 1000003, 0, mix);
    }
}

static void transpose_in_place(void **state) {
    (void)state;
    static const size_t sides[] = {1, 31, 33, 500, 2050};
    for (int place = 0; place < PLACES; place++)
        for (size_t i = 0; i < COUNT(sides); i++)
            for (size_t pad = 0; pad < 2; pad++) {
                size_t n = sides[i], pitch = n + pad, bytes = ((n - 1) * pitch + n) * 4;
                array a = make(place, bytes);
                unsigned char *answer = malloc(bytes);
                assert_non_null(answer);
                cases_fill_bytes(want(&a), bytes, cases_seed());
                for (size_t c = 0; c < COUNT(contexts); c++) {
                    send(&a);
                    memcpy(answer, want(&a), bytes);
                    oracle_transpose(4, want(&a), n, n, pitch, answer, pitch);
                    assert_int_equal(gp_transpose(contexts[c], 4, data(&a), n, n, pitch, data(&a), pitch), GP_OK);
                    synchronize(contexts[c]);
                    memcpy(want(&a), answer, bytes);
                    check(&a, "in place", (unsigned)place);
                }
                drop(&a);
                free(answer);
            }
}

/* gp_copy() in all directions, and memory that gp_free() may not free. */
static void copies_and_foreign_memory(void **state) {
    (void)state;
    for (unsigned mix = 0; mix < PLACES * PLACES; mix++) {
        array from = make((int)mix % PLACES, 100003), to = make((int)mix / PLACES, 100003);
        cases_fill_bytes(want(&from), from.bytes, mix);
        send(&from);
        send(&to);
        assert_int_equal(gp_copy(contexts[0], data(&to), data(&from), from.bytes), GP_OK);
        synchronize(contexts[0]);
        memcpy(want(&to), want(&from), from.bytes);
        check(&to, "copy", mix);
        drop(&from);
        drop(&to);
    }
    void *memory = NULL;
    int here = 0;
    assert_int_equal(gp_alloc(contexts[0], GP_MEMORY_DEVICE, 1000, &memory), GP_OK);
    assert_int_equal((uintptr_t)memory % 256, 0);
    assert_int_equal(gp_free(contexts[0], &here), GP_ERR_ARGUMENT);
    assert_int_equal(gp_free(contexts[0], (char *)memory + 4), GP_ERR_ARGUMENT);
    assert_int_equal(gp_free(contexts[0], memory), GP_OK);
    assert_int_equal(gp_alloc(contexts[0], GP_MEMORY_HOST, 1000, &memory), GP_OK);
    assert_int_equal((uintptr_t)memory % 256, 0);
    memset(memory, 1, 1000); /* a program can touch it */
    gp_place place;
    assert_int_equal(gp_gpu_where(contexts[0]->gpu, "memory", memory, &place), GP_OK);
    assert_int_equal(place, GP_PLACE_PINNED);
    assert_int_equal(gp_free(contexts[0], memory), GP_OK);
    memory = &here;
    assert_int_equal(gp_alloc(contexts[0], GP_MEMORY_DEVICE, (size_t)1 << 50, &memory), GP_ERR_MEMORY);
    assert_ptr_equal(memory, &here);
    printf("cases: %zu calls\n", calls);
}

static const gp_place kinds[PLACES] = {GP_PLACE_PAGEABLE, GP_PLACE_PINNED, GP_PLACE_MANAGED, GP_PLACE_DEVICE};

/* In a thread that has made no CUDA call before: it has no context, and finds the same. */
static void *look_at_all(void *arrays) {
    array *a = arrays;
    for (int place = 0; place < PLACES; place++) {
        gp_place memory;
        if (gp_gpu_where(contexts[1]->gpu, "in", data(&a[place]), &memory) != GP_OK || memory != kinds[place])
            return &a[place];
    }
    return NULL;
}

static void every_thread_finds_the_same(void **state) {
    (void)state;
    array a[PLACES];
    pthread_t thread;
    void *wrong;
    for (int place = 0; place < PLACES; place++)
        a[place] = make(place, 1000);
    assert_null(look_at_all(a));
    assert_int_equal(pthread_create(&thread, NULL, look_at_all, a), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong != NULL)
        fail_msg("memory of kind %d is taken for another", ((array *)wrong)->place);
    for (int place = 0; place < PLACES; place++)
        drop(&a[place]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce_in_every_mix),       cmocka_unit_test(window_in_every_mix),
        cmocka_unit_test(transpose_in_every_mix),    cmocka_unit_test(transpose_in_place),
        cmocka_unit_test(copies_and_foreign_memory), cmocka_unit_test(every_thread_finds_the_same),
    };
    if (gpu_is_missing())
        return 77;
    contexts[0] = gpu_open(GP_BACKEND_CUDA);
    contexts[1] = gpu_open(GP_BACKEND_AUTO);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gp_context_destroy(contexts[0]);
    gp_context_destroy(contexts[1]);
    return failed;
}
