/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over blocks of neighbouring columns, and each column's accumulator. */
#include "columns.h"
#include "../arithmetic.h"
#include "../primitive.h"

#define SIGN ((uint64_t)1 << 63)
#define INFINITY_KEY INT64_C(0x7ff0000000000000)

bool gp_columns_can(const gp_pass *pass) {
    const bool squares = pass->wants & GP_WANT_SQUARES, wide = gp_type_bytes(pass->type) == 8;
    return gp_pass_layout_of(pass) == GP_LAYOUT_COLUMNS && pass->kind <= GP_PASS_MOMENTS && !pass->skip_nan &&
           !pass->where && pass->reduced > 0 && pass->length > 0 && pass->length >> 31 == 0 && !(squares && wide);
}

/* Neighbouring rows without a gap make one longer row of narrow ones. */
static uint64_t rows_together(const gp_pass *pass, const gp_pass_axis *kept, const gp_pass_axis *reduced) {
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
    if (places || kept->n > GP_COLUMNS / 4 || reduced->in != (int64_t)kept->n * kept->in)
        return 1;
    return gp_least(GP_COLUMNS / kept->n, reduced->n);
}

static void clear(gp_columns *c, const gp_pass *pass, size_t count) {
    c->count = count;
    if (pass->wants & GP_WANT_COUNT)
        memset(c->nonzero, 0, sizeof c->nonzero);
    for (size_t j = 0; j < count && pass->kind != GP_PASS_MOMENTS; j++) {
        c->bits_and[j] = -1;
        c->bits_or[j] = c->bits_xor[j] = 0;
        c->min[j] = INT64_MAX;
        c->max[j] = INT64_MIN;
        c->argmin[j] = c->argmax[j] = INT64_MAX;
    }
    for (unsigned sum = 0; sum < GP_DOT && pass->kind == GP_PASS_MOMENTS; sum++)
        if (gp_type_is_float(pass->type))
            memset(&c->sums[sum], 0, sizeof c->sums[sum]);
        else
            memset(&c->totals[sum], 0, sizeof c->totals[sum]);
}

static gp_number number_of(unsigned type, int64_t key) {
    gp_number e = {type == GP_U64 ? (uint64_t)key ^ SIGN : (uint64_t)key, 0};
    const int64_t bits = key < 0 ? key ^ INT64_MAX : key;
    if (gp_type_is_float(type))
        memcpy(&e.real, &bits, sizeof bits);
    if (gp_type_is_float(type))
        e.whole = 0;
    return e;
}

static void read_extremes(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a) {
    const gp_number low = number_of(pass->type, c->min[j]), high = number_of(pass->type, c->max[j]);
    const gp_extreme min = {gp_number_key(pass->type, low), (uint64_t)c->argmin[j]};
    const gp_extreme max = {gp_number_key(pass->type, high), (uint64_t)c->argmax[j]};
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, low));
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, high));
    gp_accumulator_take_extremes(a, &min, &max);
}

static bool is_held(const gp_columns *c, const gp_pass *pass, size_t j) {
    if (!gp_type_is_float(pass->type))
        return true;
    if (pass->kind == GP_PASS_EXTREMES)
        return c->max[j] <= INFINITY_KEY && c->min[j] >= -INFINITY_KEY - 1;
    return (c->sums[GP_SUM].rest[j] | c->sums[GP_ABS].rest[j] | c->sums[GP_SQUARES].rest[j]) << 1 == 0;
}

bool gp_columns_read(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a) {
    if (!is_held(c, pass, j))
        return false;
    if (pass->kind == GP_PASS_EXTREMES) {
        read_extremes(c, pass, j, a);
        return true;
    }
    if (pass->kind == GP_PASS_BITS) {
        a->bits_and &= (uint64_t)c->bits_and[j];
        a->bits_or |= (uint64_t)c->bits_or[j];
        a->bits_xor ^= (uint64_t)c->bits_xor[j];
        return true;
    }
    if (pass->wants & GP_WANT_COUNT)
        a->nonzero += (uint64_t)c->nonzero[j];
    for (unsigned sum = 0; sum < GP_DOT; sum++)
        if (gp_type_is_float(pass->type)) {
            gp_accumulator_add_exact(a, pass, sum, c->sums[sum].sum[j]);
            gp_accumulator_add_exact(a, pass, sum, c->sums[sum].errors[j]);
        } else {
            a->whole[sum] +=
                (gp_total)c->totals[sum].low[j] + ((gp_total)c->totals[sum].high[j] * ((gp_total)1 << 32));
        }
    return true;
}

uint64_t gp_columns_take(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                         size_t width) {
    const gp_pass_axis *axis = pass->axis + pass->kept, *kept = axis - 1, *inner = axis + pass->reduced - 1;
    const uint64_t together = width == kept->n ? rows_together(pass, kept, inner) : 1;
    const uint64_t outer = pass->length / inner->n, whole = inner->n / together;
    clear(c, pass, width * together);
    for (uint64_t i = 0; i < outer; i++) {
        const unsigned char *at = in;
        int64_t place = pass->place_first;
        uint64_t rest = i;
        for (const gp_pass_axis *o = inner; o-- > axis; rest /= o->n) {
            at += (int64_t)(rest % o->n) * o->in;
            place += (int64_t)(rest % o->n) * o->place;
        }
        const int64_t step = (int64_t)together * inner->in;
        c->count = width * together;
        columns(c, pass, at, whole, step, place, inner->place);
        c->count = width;
        columns(c, pass, at + (int64_t)whole * step, inner->n - whole * together, inner->in, place, inner->place);
    }
    return together;
}
