/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over columns, which compilers make vectors of, for passes that have none of their own. */
#include "columns.h"

/* A row as 64-bit ints: of floats, the bits of doubles. */
#define WIDEN(type, converted)                                               \
    for (size_t j = 0; j < n; j++) {                                         \
        const converted x = (converted)((const type *)(const void *)row)[j]; \
        memcpy(to + j, &x, sizeof x);                                        \
    }                                                                        \
    break

/* Elements `apart` bytes from each other, side by side. */
INLINE void gather_row(size_t bytes, const unsigned char *row, int64_t apart, size_t n, unsigned char *to) {
    for (size_t j = 0; j < n; j++)
        memcpy(to + j * bytes, row + (int64_t)j * apart, bytes);
}

SIMD static void widen_row(unsigned type, const unsigned char *row, size_t n, int64_t *to) {
    float narrow[GP_COLUMNS];
    if (type == GP_F16 || type == GP_BF16) {
        widen_halves((const uint16_t *)(const void *)row, type, n, narrow);
        row = (const unsigned char *)narrow;
    }
    switch (type) {
    case GP_U8:
        WIDEN(uint8_t, int64_t);
    case GP_S8:
        WIDEN(int8_t, int64_t);
    case GP_U16:
        WIDEN(uint16_t, int64_t);
    case GP_S16:
        WIDEN(int16_t, int64_t);
    case GP_U32:
        WIDEN(uint32_t, int64_t);
    case GP_S32:
        WIDEN(int32_t, int64_t);
    case GP_F16:
    case GP_BF16:
    case GP_F32:
        WIDEN(float, double);
    default:
        memcpy(to, row, n * sizeof *to);
    }
}
#undef WIDEN

/* Of 2^31 ints of 32 bits the low words hold it. */
SIMD static void columns_total(gp_column_totals *t, unsigned type, const int64_t *x, size_t n) {
    if (type < GP_U64)
        for (size_t j = 0; j < n; j++)
            t->low[j] += x[j];
    else
        for (size_t j = 0; j < n; j++) {
            t->low[j] += x[j] & UINT32_MAX;
            t->high[j] += type == GP_U64 ? (int64_t)((uint64_t)x[j] >> 32) : x[j] >> 32;
        }
}

/* Magnitudes, or squares. */
SIMD static void columns_total_unsigned(gp_column_totals *t, const uint64_t *x, size_t n) {
    for (size_t j = 0; j < n; j++) {
        t->low[j] += (int64_t)(x[j] & UINT32_MAX);
        t->high[j] += (int64_t)(x[j] >> 32);
    }
}

SIMD static void columns_sum(gp_column_sums *s, const double *x, size_t n) {
    for (size_t j = 0; j < n; j++)
        gp_column_add(s, j, x[j]);
}

SIMD static void columns_bits(gp_columns *c, const int64_t *x, size_t n) {
    for (size_t j = 0; j < n; j++) {
        c->bits_and[j] &= x[j];
        c->bits_or[j] |= x[j];
        c->bits_xor[j] ^= x[j];
    }
}

SIMD static void columns_extremes(gp_columns *c, unsigned type, bool places, int64_t *x, size_t n, int64_t place) {
    const gp_key_form f = gp_key_form_of(type);
    for (size_t j = 0; j < n; j++)
        x[j] = (int64_t)((uint64_t)(x[j] ^ ((x[j] >> 63) & f.mask)) - (uint64_t)f.half);
    for (size_t j = 0; j < n && places; j++) {
        const bool less = x[j] < c->min[j] || (x[j] == c->min[j] && place < c->argmin[j]);
        const bool more = x[j] > c->max[j] || (x[j] == c->max[j] && place < c->argmax[j]);
        c->argmin[j] = less ? place : c->argmin[j];
        c->argmax[j] = more ? place : c->argmax[j];
    }
    for (size_t j = 0; j < n; j++) {
        c->min[j] = x[j] < c->min[j] ? x[j] : c->min[j];
        c->max[j] = x[j] > c->max[j] ? x[j] : c->max[j];
    }
}

SIMD static void columns_moments(gp_columns *c, const gp_pass *pass, int64_t *x, size_t n) {
    _Alignas(64) double real[GP_COLUMNS], changed[GP_COLUMNS];
    const bool is_float = gp_type_is_float(pass->type);
    memcpy(real, x, n * sizeof *x);
    for (size_t j = 0; j < n && (pass->wants & GP_WANT_COUNT); j++)
        c->nonzero[j] += is_float ? !(real[j] == 0) : x[j] != 0;
    if (!is_float) {
        if (pass->wants & GP_WANT_SUM)
            columns_total(&c->totals[GP_SUM], pass->type, x, n);
        uint64_t magnitude[GP_COLUMNS];
        for (size_t j = 0; j < n && (pass->wants & (GP_WANT_ABS | GP_WANT_SQUARES)); j++)
            magnitude[j] = x[j] < 0 && pass->type != GP_U64 ? 0 - (uint64_t)x[j] : (uint64_t)x[j];
        if (pass->wants & GP_WANT_ABS)
            columns_total_unsigned(&c->totals[GP_ABS], magnitude, n);
        for (size_t j = 0; j < n && (pass->wants & GP_WANT_SQUARES); j++)
            magnitude[j] *= magnitude[j];
        if (pass->wants & GP_WANT_SQUARES)
            columns_total_unsigned(&c->totals[GP_SQUARES], magnitude, n);
        return;
    }
    if (pass->wants & GP_WANT_SUM)
        columns_sum(&c->sums[GP_SUM], real, n);
    if (pass->wants & GP_WANT_ABS) {
        magnitudes(NULL, real, n, changed);
        columns_sum(&c->sums[GP_ABS], changed, n);
    }
    if (pass->wants & GP_WANT_SQUARES) {
        for (size_t j = 0; j < n; j++)
            changed[j] = real[j] * real[j];
        columns_sum(&c->sums[GP_SQUARES], changed, n);
    }
}
