/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of columns.h: loops over columns, which compilers make vectors of. */
#include "columns.h"

/* A row as 64-bit ints: of floats, the bits of doubles. */
#define WIDEN(type, converted)                                               \
    for (size_t j = 0; j < n; j++) {                                         \
        const converted x = (converted)((const type *)(const void *)row)[j]; \
        memcpy(to + j, &x, sizeof x);                                        \
    }                                                                        \
    break

#define GATHER(type)                                                           \
    for (size_t j = 0; j < n; j++)                                             \
        memcpy(to + j * sizeof(type), row + (int64_t)j * apart, sizeof(type)); \
    break

/* Elements `apart` bytes from each other, side by side. */
SIMD static void gather_row(unsigned bytes, const unsigned char *row, int64_t apart, size_t n, unsigned char *to) {
    switch (bytes) {
    case 1:
        GATHER(uint8_t);
    case 2:
        GATHER(uint16_t);
    case 4:
        GATHER(uint32_t);
    default:
        GATHER(uint64_t);
    }
}
#undef GATHER

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

/* Rows of the sums of narrow ints: they stay within 32 bits. */
#define NARROW_ROWS 32768

#define ADD(type)                                       \
    for (size_t j = 0; j < n; j++)                      \
        sum[j] += ((const type *)(const void *)row)[j]; \
    break

/* Ints of 8 and 16 bits. */
SIMD static void add_narrow(unsigned type, const unsigned char *row, size_t n, int32_t *sum) {
    switch (type) {
    case GP_U8:
        ADD(uint8_t);
    case GP_S8:
        ADD(int8_t);
    case GP_U16:
        ADD(uint16_t);
    default:
        ADD(int16_t);
    }
}
#undef ADD

SIMD static void end_narrow(gp_column_totals *t, int32_t *sum, size_t n) {
    for (size_t j = 0; j < n; j++)
        t->low[j] += sum[j];
    memset(sum, 0, n * sizeof *sum);
}

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

INLINE void column_sum(gp_column_sums *s, size_t j, double x) {
    const double before = s->sum[j], sum = before + x, back = sum - before;
    const double error = (before - (sum - back)) + (x - back), errors = s->errors[j] + error;
    const double behind = errors - s->errors[j];
    const double rest = (s->errors[j] - (errors - behind)) + (error - behind);
    s->rest[j] |= gp_bits_of_f64(rest);
    s->sum[j] = sum;
    s->errors[j] = errors;
}

/* Elements of one of the two. */
SIMD static void columns_sum(gp_column_sums *s, const float *narrow, const double *x, size_t n) {
    if (narrow != NULL)
        for (size_t j = 0; j < n; j++)
            column_sum(s, j, (double)narrow[j]);
    else
        for (size_t j = 0; j < n; j++)
            column_sum(s, j, x[j]);
}

/* Each output's n elements lie side by side: levels take them. */
SIMD static void rows_sum(gp_columns *c, const gp_pass *pass, const unsigned char *in, size_t n) {
    summation s = {.end_of_input = NULL};
    double rest[GP_LONG_ROW + REALS], widened[GP_LONG_ROW];
    unsigned top = s.begin = s.end = FIRST_LEVEL;
    for (size_t j = 0; j < c->count; j++, in += c->apart) {
        const double *x = pass->type == GP_F64 ? (const double *)(const void *)in : widened;
        for (size_t i = 0; i < n && pass->type == GP_F32; i++)
            widened[i] = (double)((const float *)(const void *)in)[i];
        split t;
        for (unsigned tries = 0; tries < 2; tries++) {
            use_levels(&s, top);
            t = split_batch(&s, top, x, n, rest);
            const reals limit = (reals){0} + power(LEVEL_BITS * (int)(top + 1) - 1074, false);
            t.left = (bits_64)((lanes_64)t.left << 1) | (bits_64)(t.greatest >= limit);
            if (or_lanes(t.left) == 0 || level_needed(&t) == LEVELS)
                break;
            top = level_needed(&t);
        }
        c->sums[GP_SUM].rest[j] |= or_lanes(t.left) != 0;
        for (unsigned k = 0; k < DEPTH; k++)
            column_sum(&c->sums[GP_SUM], j, grown_by(t.level[k], top - k));
    }
}

SIMD static void columns_bits(gp_columns *c, const int64_t *x, size_t n) {
    for (size_t j = 0; j < n; j++) {
        c->bits_and[j] &= x[j];
        c->bits_or[j] |= x[j];
        c->bits_xor[j] ^= x[j];
    }
}

SIMD static void columns_extremes(gp_columns *c, unsigned type, bool places, int64_t *x, size_t n, int64_t place) {
    for (size_t j = 0; j < n && type >= GP_F16; j++)
        x[j] = KEY_OF_64(x[j]);
    for (size_t j = 0; j < n && type == GP_U64; j++)
        x[j] ^= INT64_MIN;
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
        columns_sum(&c->sums[GP_SUM], NULL, real, n);
    if (pass->wants & GP_WANT_ABS) {
        magnitudes(NULL, real, n, changed);
        columns_sum(&c->sums[GP_ABS], NULL, changed, n);
    }
    if (pass->wants & GP_WANT_SQUARES) {
        for (size_t j = 0; j < n; j++)
            changed[j] = real[j] * real[j];
        columns_sum(&c->sums[GP_SQUARES], NULL, changed, n);
    }
}

SIMD static void columns(gp_columns *c, const gp_pass *pass, const unsigned char *in, uint64_t rows, int64_t step,
                         int64_t place, int64_t place_step) {
    _Alignas(64) int64_t x[GP_COLUMNS];
    _Alignas(64) unsigned char gathered[GP_COLUMNS * sizeof *x];
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
    const unsigned bytes = gp_type_bytes(pass->type);
    const bool apart = c->apart != bytes;
    const bool narrow = bytes <= 2 && pass->type < GP_F16 && pass->wants == GP_WANT_SUM;
    int32_t sum[GP_COLUMNS];
    if (narrow)
        memset(sum, 0, c->count * sizeof *sum);
    if (gp_columns_have_rows(pass)) {
        rows_sum(c, pass, in, rows);
        return;
    }
    if (apart)
        prefetch_for(in, c->count * (size_t)c->apart, c->end);
    for (uint64_t i = 0; i < rows; i++, in += step, place += place_step) {
        for (size_t line = 0; line < c->count * bytes && i + 8 < rows && !apart; line += 64)
            __builtin_prefetch(in + 8 * step + line);
        if (apart)
            gather_row(bytes, in, c->apart, c->count, gathered);
        if (narrow) {
            add_narrow(pass->type, apart ? gathered : in, c->count, sum);
            if (i % NARROW_ROWS == NARROW_ROWS - 1)
                end_narrow(&c->totals[GP_SUM], sum, c->count);
            continue;
        }
        if (pass->type >= GP_F32 && pass->wants == GP_WANT_SUM) {
            const void *row = apart ? gathered : in;
            columns_sum(&c->sums[GP_SUM], pass->type == GP_F32 ? row : NULL, row, c->count);
            continue;
        }
        widen_row(pass->type, apart ? gathered : in, c->count, x);
        if (pass->kind == GP_PASS_EXTREMES)
            columns_extremes(c, pass->type, places, x, c->count, place);
        else if (pass->kind == GP_PASS_BITS)
            columns_bits(c, x, c->count);
        else
            columns_moments(c, pass, x, c->count);
    }
    if (narrow)
        end_narrow(&c->totals[GP_SUM], sum, c->count);
}
