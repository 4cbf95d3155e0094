/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a processor computes keep to the stack that the header names, in every row. They run in a thread whose
 * stack is painted beforehand: how much of the paint is gone tells how much they took.
 */
#include "../cases.h"
#include "../check.h"
#include <pthread.h>
#include <sys/mman.h>

#define PROMISED ((size_t)128 << 10) /* by gpuprim.h, with what glibc itself takes of a thread's stack */

#define STACK ((size_t)1 << 20)
#define PAINT UINT64_C(0xa5a5a5a5a5a5a5a5)
#define BYTES ((size_t)4 << 20)

static unsigned char *in, *out;

static void window(gp_context *context) {
    static const size_t shapes[][3] = {{30, 700, 15}, {300, 16, 5}, {2, 3000, 5000}, {10, 900, 701}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int border = GP_BORDER_NONE; border <= GP_BORDER_WRAP; border++) {
            const size_t rows = shapes[i][0], cols = shapes[i][1];
            (void)gp_sum_and_square_window(context, (const int32_t *)(void *)in, rows, cols, cols, shapes[i][2],
                                           (gp_border)border, (float *)(void *)out, NULL, cols);
        }
}

static void transpose(gp_context *context) {
    static const size_t shapes[][2] = {{500, 500}, {500, 503}, {3, 9000}, {9000, 3}, {300, 20}, {64, 1000}};
    static const size_t elems[] = {1, 2, 3, 4, 6, 8, 12, 16, 64, 100};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(elems); k++) {
            const size_t rows = shapes[i][0], cols = shapes[i][1];
            if (rows * cols * elems[k] > BYTES)
                continue;
            (void)gp_transpose(context, elems[k], in, rows, cols, cols, out, rows);
            if (rows == cols)
                (void)gp_transpose(context, elems[k], out, rows, cols, cols, out, rows);
        }
}

static void rearrange(gp_context *context) {
    static const size_t shapes[][3] = {{60, 3, 50}, {2, 130, 131}, {130, 130, 2}};
    static const unsigned orders[][3] = {{2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(orders); k++)
            for (size_t bytes = 1; bytes <= 16 && shapes[i][0] * shapes[i][1] * shapes[i][2] * bytes <= BYTES;
                 bytes++) {
                gp_array whole = gp_dense(GP_BYTES, in, 3, shapes[i]);
                whole.elem_bytes = bytes;
                gp_array from = gp_permuted(whole, orders[k]), to = gp_dense(GP_BYTES, out, 3, from.extent);
                to.elem_bytes = bytes;
                (void)gp_rearrange(context, &from, &to);
                from.data = out; /* in place, where that is possible */
                (void)gp_rearrange(context, &from, &to);
            }
}

static void reduce_ints(gp_context *context) {
    int64_t sum;
    (void)gp_reduce_int(context, GP_REDUCE_SUM, (const int32_t *)(void *)in, BYTES / sizeof(int32_t), &sum);
}

static void reduce(gp_context *context) {
    static const size_t shapes[][2] = {{1, 40000}, {100, 60}, {2000, 6}};
    static const unsigned ops[] = {GP_REDUCE_SUM,    GP_REDUCE_ARGMIN, GP_REDUCE_XOR,
                                   GP_REDUCE_STDDEV, GP_REDUCE_DOT,    GP_REDUCE_SUM_SQUARE_DIFF};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int type = GP_U8; type <= GP_F64; type++)
            for (size_t k = 0; k < COUNT(ops); k++)
                for (unsigned kept = 0; kept < 4; kept++) {
                    const bool place = ops[k] == GP_REDUCE_ARGMIN, own = ops[k] == GP_REDUCE_XOR;
                    const size_t extent[2] = {kept & 1 ? shapes[i][0] : 1, kept & 2 ? shapes[i][1] : 1};
                    const gp_array a = gp_dense((gp_type)type, in, 2, shapes[i]);
                    const gp_result wanted = gp_want(ops[k], gp_dense(place ? GP_S64
                                                                      : own ? (gp_type)type
                                                                            : GP_F64,
                                                                      out, 2, extent));
                    (void)gp_reduce(context, &a, &wanted, 1);
                    (void)gp_reduce_pair(context, &a, &a, &wanted, 1);
                    const gp_result where = gp_want(ops[k] | GP_WHERE, wanted.to);
                    (void)gp_reduce_pair(context, &a, &a, &where, 1);
                }
}

static void windows_of_views(gp_context *context) {
    static const size_t shapes[][3] = {{20, 30, 3}, {1, 900, 1}};
    static const size_t extents[][2] = {{3, 3}, {1, 101}, {31, 1}};
    static const unsigned ops[] = {GP_REDUCE_SUM, GP_REDUCE_STDDEV, GP_REDUCE_MAX};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t w = 0; w < COUNT(extents); w++)
            for (int type = GP_U8; type <= GP_F64; type++)
                for (size_t k = 0; k < COUNT(ops); k++) {
                    const gp_array a = gp_dense((gp_type)type, in, 3, shapes[i]);
                    const gp_type to = ops[k] == GP_REDUCE_MAX ? (gp_type)type : GP_F64;
                    const gp_result wanted = gp_want(ops[k], gp_dense(to, out, 3, shapes[i]));
                    const gp_window_shape shape = {.struct_size = sizeof shape,
                                                   .extent = {extents[w][0], extents[w][1], 1},
                                                   .border = (int32_t)((i + w + k) % (GP_BORDER_SHRINK + 1))};
                    (void)gp_window(context, &a, &shape, &wanted, 1);
                }
}

/* Every row, on this thread and another. */
static void *call_everything(void *unused) {
    static char text[16384];
    static void (*const calls[])(gp_context *) = {
        [GP_OPERATION_REDUCE] = reduce_ints,        [GP_OPERATION_WINDOW] = window,
        [GP_OPERATION_TRANSPOSE] = transpose,       [GP_OPERATION_REDUCE_ARRAY] = reduce,
        [GP_OPERATION_REARRANGE_ARRAY] = rearrange, [GP_OPERATION_WINDOW_ARRAY] = windows_of_views};
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_options options = {
            .struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = 2};
        gp_kernel_info kernel = {.struct_size = sizeof kernel};
        gp_context *context = NULL;
        if (gp_kernel_at(i, &kernel) != GP_OK || (kernel.flags & (GP_KERNEL_GPU | GP_KERNEL_STUDY)) ||
            gp_context_create(&context, &options) != GP_OK)
            continue;
        (void)gp_context_pin_kernel(context, kernel.name, 0);
        calls[kernel.operation](context);
        (void)gp_context_explain(context, text, sizeof text);
        gp_context_destroy(context);
    }
    return unused;
}

static void calls_keep_to_the_stack_promised(void **state) {
    (void)state;
#ifndef __OPTIMIZE__
    skip(); /* the compiler gives each variable a place of its own */
#endif
    if (SANITIZED)
        skip();
    uint64_t seed = cases_seed();
    in = malloc(BYTES);
    out = malloc(BYTES);
    uint64_t *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(in != NULL && out != NULL && stack != MAP_FAILED);
    for (size_t i = 0; i < BYTES; i += sizeof seed)
        memcpy(in + i, &(uint64_t){cases_random(&seed)}, sizeof seed); /* floats of all sizes, infinities, NaNs */
    for (size_t i = 0; i < STACK / sizeof *stack; i++)
        stack[i] = PAINT;
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, call_everything, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (stack[untouched] == PAINT)
        untouched++;
    const size_t taken = STACK - untouched * sizeof *stack;
    print_message("calls took up to %zu bytes of stack\n", taken);
    assert_in_range(taken, 1, PROMISED);
    munmap(stack, STACK);
    free(in);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_keep_to_the_stack_promised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
