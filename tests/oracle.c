/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: definitions written out. Nothing here may share a method with the library's rows. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 oracle_unsigned;

static int64_t combine(gp_reduce_op op, int64_t a, int64_t b) {
    switch (op) {
    case GP_REDUCE_MIN:
        return b < a ? b : a;
    case GP_REDUCE_MAX:
        return b > a ? b : a;
    case GP_REDUCE_AND:
        return a & b;
    case GP_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

gp_status oracle_reduce(gp_reduce_op op, const int32_t *in, size_t n, int64_t *out) {
    if (op == GP_REDUCE_SUM) {
        oracle_int total = 0;
        for (size_t i = 0; i < n; i++)
            total += in[i];
        if (total > INT64_MAX || total < INT64_MIN)
            return GP_ERR_OVERFLOW;
        *out = (int64_t)total;
        return GP_OK;
    }
    if (n == 0) {
        if (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX)
            return GP_ERR_EMPTY;
        *out = op == GP_REDUCE_AND ? -1 : 0;
        return GP_OK;
    }
    int64_t result = in[0];
    for (size_t i = 1; i < n; i++)
        result = combine(op, result, in[i]);
    *out = result;
    return GP_OK;
}

/* One mirroring: towards the row, if not into it. */
static ptrdiff_t mirror(gp_border border, ptrdiff_t index, ptrdiff_t n) {
    switch (border) {
    case GP_BORDER_REPLICATE:
        return index < 0 ? 0 : n - 1;
    case GP_BORDER_REFLECT:
        return index < 0 ? -1 - index : 2 * n - 1 - index;
    case GP_BORDER_REFLECT_101:
        return n == 1 ? 0 : index < 0 ? -index : 2 * n - 2 - index;
    default:
        return index + (index < 0 ? n : -n);
    }
}

/* Mirrors until the index lies inside, so that no formula with a remainder can be wrong here as in the library. */
ptrdiff_t oracle_border(gp_border border, ptrdiff_t index, size_t cols) {
    ptrdiff_t n = (ptrdiff_t)cols;
    while (index < 0 || index >= n) {
        if (border == GP_BORDER_NONE || border == GP_BORDER_ZERO)
            return -1;
        index = mirror(border, index, n);
    }
    return index;
}

/* oracle_border() of -reach .. cols + reach - 1, at [reach + index]; built outwards from the row, each from one
 * closer. */
static ptrdiff_t *border_table(gp_border border, size_t cols, size_t reach) {
    ptrdiff_t n = (ptrdiff_t)cols, *table = malloc((cols + 2 * reach) * sizeof *table);
    if (!table)
        abort();
    ptrdiff_t *at = table + reach;
    for (ptrdiff_t i = 0; i < n; i++)
        at[i] = i;
    bool zero = border == GP_BORDER_NONE || border == GP_BORDER_ZERO;
    for (ptrdiff_t d = 0; d < (ptrdiff_t)reach; d++) {
        at[-1 - d] = zero ? -1 : at[mirror(border, -1 - d, n)];
        at[n + d] = zero ? -1 : at[mirror(border, n + d, n)];
    }
    return table;
}

void oracle_columns(gp_border border, size_t cols, size_t window, size_t *first, size_t *end) {
    *first = 0;
    *end = cols;
    if (border != GP_BORDER_NONE)
        return;
    *end = 0;
    for (size_t x = 0; x < cols; x++) {
        if (x < window / 2 || x - window / 2 + window > cols)
            continue;
        if (*end == 0)
            *first = x;
        *end = x + 1;
    }
}

void oracle_window_exact(const int32_t *row, size_t cols, size_t window, gp_border border, size_t x, oracle_int *sum,
                         oracle_int *square) {
    *sum = 0;
    *square = 0;
    for (size_t i = 0; i < window; i++) {
        ptrdiff_t at = oracle_border(border, (ptrdiff_t)x - (ptrdiff_t)(window / 2) + (ptrdiff_t)i, cols);
        if (at < 0)
            continue;
        oracle_int pixel = row[at];
        *sum += pixel;
        *square += pixel * pixel;
    }
}

void oracle_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                   gp_border border, float *sum, float *square, size_t out_pitch) {
    size_t first, end;
    oracle_columns(border, cols, window, &first, &end);
    ptrdiff_t *table = border_table(border, cols, window);
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = first; x < end; x++) {
            const ptrdiff_t *at = table + window + x - window / 2;
            oracle_int s = 0, q = 0;
            for (size_t i = 0; i < window; i++) {
                oracle_int pixel = at[i] < 0 ? 0 : image[y * image_pitch + (size_t)at[i]];
                s += pixel;
                q += pixel * pixel;
            }
            if (sum)
                sum[y * out_pitch + x] = oracle_float(s);
            if (square)
                square[y * out_pitch + x] = oracle_float(q);
        }
    }
    free(table);
}

/* Value of the positive float with these bits, for floats of 2^23 and more: 24 bits of mantissa, shifted left. */
static oracle_unsigned float_value(uint32_t bits) {
    return (oracle_unsigned)((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23) - 150);
}

/*
 * Positive floats are ordered as their bits, so the largest float that is not above the integer is found by halving;
 * the integer then lies between it and the next one, and twice the integer is compared with the sum of the two.
 */
float oracle_float(oracle_int value) {
    oracle_unsigned size = value < 0 ? -(oracle_unsigned)value : (oracle_unsigned)value;
    float result;
    if (size < (1u << 24)) {
        result = (float)(int32_t)size;
    } else {
        uint32_t below = 0x4b800000u, above = 0x7f000000u; /* 2^24 and 2^127 */
        while (above - below > 1) {
            uint32_t middle = below + (above - below) / 2;
            if (float_value(middle) <= size)
                below = middle;
            else
                above = middle;
        }
        oracle_unsigned both = float_value(below) + float_value(above);
        uint32_t bits = 2 * size < both ? below : 2 * size > both ? above : below + (below & 1);
        memcpy(&result, &bits, sizeof result);
    }
    return value < 0 ? -result : result;
}

void oracle_transpose(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch, void *out,
                      size_t out_pitch) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            memcpy((char *)out + (c * out_pitch + r) * elem_bytes, (const char *)in + (r * in_pitch + c) * elem_bytes,
                   elem_bytes);
}
