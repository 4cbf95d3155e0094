/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over blocks of neighbouring columns, and each column's accumulator. */
#include "columns.h"
#include "../arithmetic.h"
#include "../primitive.h"

#define SIGN ((uint64_t)1 << 63)
#define INFINITY_KEY INT64_C(0x7ff0000000000000)

/* Longer rows are worth a run each; of floats, whose runs begin and end with more, from four times that on. */
#define SHORT_ROW 16

/* Of outputs whose elements are to stay in the first-level cache until all are taken. */
#define CACHED_BYTES 32768

bool gp_columns_have_rows(const gp_pass *pass) {
    return pass->reduced == 1 && pass->type >= GP_F32 && pass->wants == GP_WANT_SUM && pass->length > SHORT_ROW / 2 &&
           pass->length <= GP_LONG_ROW && gp_pass_layout_of(pass) == GP_LAYOUT_ROWS;
}

bool gp_columns_can(const gp_pass *pass) {
    const bool squares = pass->wants & GP_WANT_SQUARES, wide = gp_type_bytes(pass->type) == 8;
    return pass->kept > 0 && pass->reduced > 0 && pass->kind <= GP_PASS_MOMENTS && !pass->skip_nan && !pass->where &&
           pass->length > 0 && pass->length >> 31 == 0 && !(squares && wide) &&
           (gp_columns_have_rows(pass) || gp_pass_layout_of(pass) != GP_LAYOUT_ROWS ||
            pass->length <= SHORT_ROW * (gp_type_is_float(pass->type) ? 4 : 1));
}

uint64_t gp_columns_width(const gp_pass *pass) {
    const uint64_t apart = (uint64_t)pass->axis[pass->kept - 1].in;
    return apart * GP_COLUMNS <= CACHED_BYTES ? GP_COLUMNS : gp_greatest(CACHED_BYTES / apart, 16);
}

/* Neighbouring rows without a gap make one longer row of narrow ones. */
static uint64_t rows_together(const gp_pass *pass, const gp_pass_axis *kept, const gp_pass_axis *reduced) {
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
    if (places || kept->n > GP_COLUMNS / 4 || reduced->in != (int64_t)kept->n * kept->in)
        return 1;
    return gp_least(GP_COLUMNS / kept->n, reduced->n);
}

/* Whether a pass of moments sums this. */
static bool sums(const gp_pass *pass, unsigned sum) {
    static const unsigned wants[GP_DOT] = {GP_WANT_SUM, GP_WANT_ABS, GP_WANT_SQUARES};
    return pass->wants & wants[sum];
}

static void clear(gp_columns *c, const gp_pass *pass, size_t count) {
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
        if (sums(pass, sum)) {
            const bool is_float = gp_type_is_float(pass->type);
            memset(is_float ? (void *)c->sums[sum].sum : c->totals[sum].low, 0, count * sizeof(int64_t));
            memset(is_float ? (void *)c->sums[sum].errors : c->totals[sum].high, 0, count * sizeof(int64_t));
            if (is_float)
                memset(c->sums[sum].rest, 0, count * sizeof(int64_t));
        }
}

static gp_number number_of(unsigned type, int64_t key) {
    if (gp_type_is_float(type))
        return (gp_number){0, gp_f64_of_bits((uint64_t)(key < 0 ? key ^ INT64_MAX : key))};
    return (gp_number){type == GP_U64 ? (uint64_t)key ^ SIGN : (uint64_t)key, 0};
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
    uint64_t rest = 0;
    for (unsigned sum = 0; sum < GP_DOT; sum++)
        rest |= sums(pass, sum) ? c->sums[sum].rest[j] : 0;
    return rest << 1 == 0;
}

static gp_total total_of(const gp_columns *c, unsigned sum, size_t j) {
    return c->totals[sum].low[j] + c->totals[sum].high[j] * ((gp_total)1 << 32);
}

static bool quick_extreme(const gp_columns *c, const gp_pass *pass, size_t j, uint64_t *bits) {
    const unsigned op = pass->result[0].op;
    const gp_number e = number_of(pass->type, op == GP_REDUCE_MIN ? c->min[j] : c->max[j]);
    *bits = pass->type == GP_F32   ? gp_bits_of_f32((float)e.real)
            : pass->type == GP_F64 ? gp_bits_of_f64(e.real)
                                   : e.whole;
    return (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX) && (pass->type < GP_F16 || pass->type >= GP_F32);
}

/* Of two doubles their rounded sum is as good as the exact one, but for a quotient, or halfway between two floats. */
static bool quick_sum(const gp_column_sums *s, size_t j, uint64_t n, unsigned to, uint64_t *bits) {
    const double x = s->sum[j] + s->errors[j];
    *bits = gp_bits_of_f64(x);
    if (s->errors[j] != 0 && (n > 1 || (*bits & 0x1fffffff) == 0x10000000))
        return false;
    return gp_quick_ratio(x, n, to, bits);
}

bool gp_columns_quick(const gp_columns *c, const gp_pass *pass, size_t j, uint64_t *bits) {
    const unsigned op = pass->result[0].op, to = pass->result[0].type;
    if (pass->results > 1 || !is_held(c, pass, j))
        return false;
    if (pass->kind == GP_PASS_EXTREMES)
        return quick_extreme(c, pass, j, bits);
    if (op != GP_REDUCE_SUM && op != GP_REDUCE_MEAN)
        return false;
    const uint64_t n = op == GP_REDUCE_MEAN ? pass->length : 1;
    if (gp_type_is_float(pass->type))
        return quick_sum(&c->sums[GP_SUM], j, n, to, bits);
    const gp_total total = total_of(c, GP_SUM, j);
    const int64_t whole = (int64_t)total, limit = (int64_t)1 << 53;
    *bits = (uint64_t)whole;
    if (!gp_type_is_float(to))
        return total == whole && (whole >= 0 || to == GP_S64);
    return total == whole && whole <= limit && whole >= -limit && gp_quick_ratio((double)whole, n, to, bits);
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
        if (!sums(pass, sum))
            continue;
        else if (gp_type_is_float(pass->type)) {
            gp_accumulator_add_exact(a, pass, sum, c->sums[sum].sum[j]);
            gp_accumulator_add_exact(a, pass, sum, c->sums[sum].errors[j]);
        } else {
            a->whole[sum] += total_of(c, sum, j);
        }
    return true;
}

uint64_t gp_columns_take(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                         size_t width) {
    const gp_pass_axis *axis = pass->axis + pass->kept, *kept = axis - 1, *inner = axis + pass->reduced - 1;
    const uint64_t together = width == kept->n ? rows_together(pass, kept, inner) : 1;
    const gp_pass_span span = gp_pass_input_span(pass, false);
    const uint64_t outer = pass->length / inner->n, whole = inner->n / together;
    clear(c, pass, width * together);
    c->apart = kept->in;
    c->end = span.begin + span.bytes;
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
