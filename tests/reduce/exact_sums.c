/* SPDX-License-Identifier: Apache-2.0 */
/* The sum and the sum of products of an array by src/host/exact.h, and every result of them. */
#include "exact_sums.h"

#include <string.h>

const gp_type exact_types[EXACT_TYPES] = {GP_F16, GP_BF16, GP_F32, GP_F64};

void exact_sums_clear(exact_sums *s, gp_type type) {
    memset(s, 0, sizeof *s);
    s->type = type;
    s->form = gp_exact_form_of(type, false);
    s->square_form = gp_exact_form_of(type, true);
}

static void add_float(exact_sums *s, float x, float y, unsigned way) {
    const gp_exact_parts parts = gp_exact_parts_f32(x);
    s->flags |= parts.special;
    if (way & 1)
        gp_exact_add_bits(s->limb, parts.bit, parts.mantissa, parts.negative);
    else
        gp_exact_add_f64(s->limb, s->form, (double)x, &s->flags);
    if (way & 2)
        gp_exact_add_product_f32(s->square, x, y, &s->square_flags);
    else
        gp_exact_add_f64(s->square, s->square_form, (double)x * (double)y, &s->square_flags);
}

static void add_double(exact_sums *s, double x, double y) {
    gp_exact_add_f64(s->limb, s->form, x, &s->flags);
    gp_exact_add_product_f64(s->square, x, y, &s->square_flags);
}

static void add_int(exact_sums *s, uint64_t x, bool x_negative, uint64_t y, bool y_negative, unsigned way) {
    const int64_t value = (int64_t)(x_negative ? 0 - x : x);
    if ((way & 1) && (x_negative ? value < 0 : value >= 0))
        gp_exact_add_s64(s->limb, value);
    else if (way & 2)
        gp_exact_add_128(s->limb, x_negative ? 0 - x : x, x_negative ? -1 : 0);
    else
        gp_exact_add_bits(s->limb, 0, x, x_negative);
    gp_exact_add_product_bits(s->square, 0, x, y, x_negative != y_negative);
}

/* The element as 64 bits of two's complement. */
static uint64_t read_int(gp_type type, const void *from) {
    uint64_t u = 0;
    int64_t v;
    switch (type) {
    case GP_S8:
        return (uint64_t)(v = *(const int8_t *)from);
    case GP_S16:
        return (uint64_t)(v = *(const int16_t *)from);
    case GP_S32:
        return (uint64_t)(v = *(const int32_t *)from);
    case GP_U8:
        return *(const uint8_t *)from;
    case GP_U16:
        return *(const uint16_t *)from;
    case GP_U32:
        return *(const uint32_t *)from;
    default:
        memcpy(&u, from, sizeof u);
        return u;
    }
}

static float read_float(gp_type type, const void *from) {
    if (type == GP_F16)
        return gp_exact_widen_f16(*(const uint16_t *)from);
    return type == GP_BF16 ? gp_exact_widen_bf16(*(const uint16_t *)from) : *(const float *)from;
}

void exact_sums_add(exact_sums *s, const void *x, const void *y, unsigned way) {
    s->n++;
    if (s->type == GP_F64) {
        add_double(s, *(const double *)x, *(const double *)y);
    } else if (s->type == GP_F32 || s->type == GP_F16 || s->type == GP_BF16) {
        add_float(s, read_float(s->type, x), read_float(s->type, y), way);
    } else {
        const bool is_signed = s->type == GP_S8 || s->type == GP_S16 || s->type == GP_S32 || s->type == GP_S64;
        const uint64_t a = read_int(s->type, x), b = read_int(s->type, y);
        const bool a_negative = is_signed && a >> 63, b_negative = is_signed && b >> 63;
        add_int(s, a_negative ? 0 - a : a, a_negative, b_negative ? 0 - b : b, b_negative, way);
    }
}

void exact_sums_merge(exact_sums *s, const exact_sums *from) {
    for (unsigned l = 0; l < s->form.limbs; l++)
        s->limb[l] += from->limb[l];
    for (unsigned l = 0; l < s->square_form.limbs; l++)
        s->square[l] += from->square[l];
    s->flags |= from->flags;
    s->square_flags |= from->square_flags;
    s->n += from->n;
}

uint64_t exact_sums_result(exact_sums *s, exact_op op, gp_type to) {
    int64_t scratch[GP_EXACT_LIMBS + GP_EXACT_SCRATCH_MORE];
    memset(scratch, 0x5a, sizeof scratch);
    const bool root = op == EXACT_STDDEV || op == EXACT_STDDEV_SAMPLE;
    const bool sample = op == EXACT_VARIANCE_SAMPLE || op == EXACT_STDDEV_SAMPLE;
    switch (op) {
    case EXACT_SUM:
        return gp_exact_round(s->limb, s->form, s->flags, to);
    case EXACT_MEAN:
        return gp_exact_ratio(s->limb, s->form, s->flags, s->n, false, to);
    case EXACT_SQUARES:
        return gp_exact_round(s->square, s->square_form, s->square_flags, to);
    case EXACT_NORM:
        return gp_exact_ratio(s->square, s->square_form, s->square_flags, 1, true, to);
    case EXACT_ROOT_MEAN_SQUARE:
        return gp_exact_ratio(s->square, s->square_form, s->square_flags, s->n, true, to);
    default:
        return gp_exact_variance(s->limb, s->form, s->square, s->square_form, s->flags | s->square_flags, s->n,
                                 sample, root, to, scratch);
    }
}

void exact_sums_results(exact_sums *s, uint64_t results[EXACT_RESULTS]) {
    for (int op = 0; op < EXACT_OPS; op++)
        for (int t = 0; t < EXACT_TYPES; t++)
            results[op * EXACT_TYPES + t] = exact_sums_result(s, (exact_op)op, exact_types[t]);
}
