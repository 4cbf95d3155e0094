/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a kernel's result right? Judged on the host by plain loops over the definitions, with none of the library's
 * code. Window and reduction data are 0..255, so that 64-bit integers hold every exact result and one conversion
 * rounds it.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64 /* of a transpose's rows and columns, for the caches */

static bool reduce_is_right(const contender *c, const void *result) {
    const bench *b = c->bench;
    int64_t exact = 0, got;
    for (size_t i = 0; i < b->line.n; i++)
        exact += b->buffers.mirror[i];
    memcpy(&got, result, sizeof got);
    return c->modulo ? (uint32_t)got == (uint32_t)exact : got == exact;
}

static bool transpose_is_right(const bench *b, const char *out) {
    const size_t rows = b->line.rows, cols = b->line.cols, size = b->line.elem_bytes;
    const char *in = (const char *)b->buffers.mirror;
    for (size_t r0 = 0; r0 < rows; r0 += BLOCK)
        for (size_t c0 = 0; c0 < cols; c0 += BLOCK)
            for (size_t r = r0; r < rows && r < r0 + BLOCK; r++)
                for (size_t c = c0; c < cols && c < c0 + BLOCK; c++)
                    if (memcmp(out + (c * rows + r) * size, in + (r * cols + c) * size, size) != 0)
                        return false;
    return true;
}

/* Float kernels are held to the bound that the catalogue states: all terms here are positive. */
static bool value_is_right(const contender *c, float got, int64_t exact) {
    const double bound = ((double)c->bench->line.window + 3) * 0x1p-24 * (double)exact;
    return c->inexact ? fabs((double)got - (double)exact) <= bound : got == (float)exact;
}

static bool window_is_right(const contender *c, const float *sum, const float *square) {
    const bench *b = c->bench;
    const size_t cols = b->line.cols, window = b->line.window, before = window / 2;
    const uint32_t poison = UINT32_MAX;
    for (size_t y = 0; y < b->line.rows; y++) {
        const int32_t *row = b->buffers.mirror + y * cols;
        int64_t s = 0, q = 0;
        for (size_t x = 0; x < cols; x++) {
            const size_t at = y * cols + x;
            if (x < before || x + window - before > cols) {
                if (memcmp(&sum[at], &poison, 4) != 0 || memcmp(&square[at], &poison, 4) != 0)
                    return false;
                continue;
            }
            const size_t first = x - before;
            for (size_t i = first == 0 ? 0 : first + window - 1; i < first + window; i++) {
                s += row[i];
                q += (int64_t)row[i] * row[i];
            }
            if (first > 0) {
                s -= row[first - 1];
                q -= (int64_t)row[first - 1] * row[first - 1];
            }
            if (!value_is_right(c, sum[at], s) || !value_is_right(c, square[at], q))
                return false;
        }
    }
    return true;
}

static size_t result_bytes(const line *l) {
    if (l->operation == GP_OPERATION_REDUCE)
        return sizeof(int64_t);
    const size_t cells = l->rows * l->cols;
    return l->operation == GP_OPERATION_WINDOW ? bench_second(l) + cells * sizeof(float) : cells * l->elem_bytes;
}

bool bench_check(contender *c) {
    const bench *b = c->bench;
    const size_t bytes = result_bytes(&b->line);
    char *result = host_alloc(bytes, 1);
    memset(result, 0xff, bytes); /* what another kernel left must not pass for this one's */
    must(gp_copy(b->context, bench_out(b, 0), result, bytes));
    const gp_status status = c->call(c, 0);
    if (status == GP_ERR_NO_KERNEL) {
        c->context = NULL;
        free(result);
        return false;
    }
    must(status);
    must(gp_context_synchronize(c->context));
    must(gp_copy(b->context, result, bench_out(b, 0), bytes));
    bool right = false;
    if (b->line.operation == GP_OPERATION_REDUCE)
        right = reduce_is_right(c, result);
    else if (b->line.operation == GP_OPERATION_TRANSPOSE)
        right = transpose_is_right(b, result);
    else
        right = window_is_right(c, (const float *)(void *)result,
                                (const float *)(void *)(result + bench_second(&b->line)));
    free(result);
    return right;
}
