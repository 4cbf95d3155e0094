/* SPDX-License-Identifier: Apache-2.0 */
/* One output after the other, its elements gathered in C order; each result from all of them anew. */
#include "oracle_array.h"
#include "../reduce/oracle_exact.h"
#include <math.h>
#include <stdlib.h>

size_t oracle_bytes(int32_t type) {
    static const size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[type];
}

/* An element, or what is made of two: a whole number of units, or special. */
typedef struct value {
    mpz_t units; /* ints: 1; floats: 2^-1074 */
    bool nan, minus_zero;
    int infinity; /* its sign */
    const unsigned char *at;
    uint64_t place;
} value;

typedef struct values {
    value *v;
    size_t count;
    const gp_array *in, *with;
    uint32_t op;
} values;

static void read_value(value *v, int32_t type, const unsigned char *at) {
    oracle_sums one;
    oracle_sums_open(&one, (gp_type)type);
    oracle_sums_add(&one, (gp_type)type, at, at);
    mpz_init_set(v->units, one.sum);
    v->nan = one.nan[0];
    v->infinity = one.plus[0] - one.minus[0];
    v->at = at;
    v->minus_zero = type >= GP_F16 && mpz_sgn(v->units) == 0 && !v->nan && !v->infinity &&
                    at[oracle_bytes(type) - 1] == 0x80; /* little endian */
    oracle_sums_close(&one);
}

static const unsigned char *element_at(const gp_array *a, const size_t index[GP_AXES]) {
    ptrdiff_t offset = 0;
    for (unsigned axis = 0; axis < a->rank; axis++)
        offset += (ptrdiff_t)index[axis] * a->stride[axis];
    return (const unsigned char *)a->data + offset * (ptrdiff_t)oracle_bytes(a->type);
}

/* x becomes x - y. */
static void subtract(value *x, const value *y) {
    const int left = x->infinity, right = y->infinity;
    x->nan = x->nan || y->nan || (left != 0 && left == right);
    x->infinity = left != 0 ? left : -right;
    mpz_sub(x->units, x->units, y->units);
}

static void multiply(value *x, const value *y) {
    const bool zero = (x->infinity == 0 && mpz_sgn(x->units) == 0) || (y->infinity == 0 && mpz_sgn(y->units) == 0);
    const int sign =
        (x->infinity ? x->infinity : mpz_sgn(x->units)) * (y->infinity ? y->infinity : mpz_sgn(y->units));
    const bool infinite = x->infinity != 0 || y->infinity != 0;
    x->nan = x->nan || y->nan || (infinite && zero);
    x->infinity = infinite ? sign : 0;
    mpz_mul(x->units, x->units, y->units);
}

static void magnitude(value *x) {
    x->infinity = abs(x->infinity);
    x->minus_zero = false;
    mpz_abs(x->units, x->units);
}

static bool takes_differences(uint32_t op) {
    return op >= GP_REDUCE_SUM_ABS_DIFF && op <= GP_REDUCE_COUNT_DIFF;
}

/* What of an element, or pair, the operation adds up or compares; false: it does not count. */
static bool take(const values *all, value *v, const size_t index[GP_AXES], uint64_t place) {
    const uint32_t op = all->op & 0xff;
    value y = {.nan = false};
    read_value(v, all->in->type, element_at(all->in, index));
    v->place = place;
    if (all->with == NULL)
        return !(v->nan && (all->op & GP_SKIP_NAN));
    read_value(&y, all->with->type, element_at(all->with, index));
    const bool y_is_zero = !y.nan && y.infinity == 0 && mpz_sgn(y.units) == 0, where = all->op & GP_WHERE;
    const bool nan = v->nan || (!where && y.nan);
    if (op == GP_REDUCE_DOT)
        multiply(v, &y);
    if (op == GP_REDUCE_COUNT_DIFF && v->infinity == y.infinity)
        v->infinity = y.infinity = 0; /* equal ones do not differ, though their difference is no number */
    if (takes_differences(op))
        subtract(v, &y);
    mpz_clear(y.units);
    return !(where && y_is_zero) && !(nan && (all->op & GP_SKIP_NAN));
}

static void gather(values *all, size_t index[GP_AXES], const gp_array *to) {
    uint64_t place = 0;
    size_t reduced = 1;
    for (unsigned axis = 0; axis < all->in->rank; axis++)
        reduced *= to->rank == 0 || to->extent[axis] == 1 ? all->in->extent[axis] : 1;
    all->v = calloc(reduced + 1, sizeof *all->v);
    all->count = 0;
    for (; place < reduced; place++) {
        uint64_t rest = place;
        for (unsigned axis = all->in->rank; axis-- > 0;)
            if (to->rank == 0 || to->extent[axis] == 1) {
                index[axis] = rest % all->in->extent[axis];
                rest /= all->in->extent[axis];
            }
        if (take(all, &all->v[all->count], index, place))
            all->count++;
        else
            mpz_clear(all->v[all->count].units);
    }
}

static void release(values *all) {
    for (size_t i = 0; i < all->count; i++)
        mpz_clear(all->v[i].units);
    free(all->v);
}

static uint64_t canonical_nan(int32_t type) {
    return type == GP_F64 ? 0x7ff8000000000000 : type == GP_F32 ? 0x7fc00000 : type == GP_BF16 ? 0x7fc0 : 0x7e00;
}

static uint64_t infinity_of(int32_t type, bool negative) {
    const uint64_t plus = type == GP_F64    ? 0x7ff0000000000000
                          : type == GP_F32  ? 0x7f800000
                          : type == GP_BF16 ? 0x7f80
                                            : 0x7c00;
    return negative ? plus | UINT64_C(1) << (8 * oracle_bytes(type) - 1) : plus;
}

/* -1, 0, 1: a before, at, behind b. */
static int compare(const value *a, const value *b) {
    if (a->infinity != b->infinity)
        return a->infinity < b->infinity ? -1 : 1;
    const int units = a->infinity ? 0 : mpz_cmp(a->units, b->units);
    return units ? units : (int)b->minus_zero - (int)a->minus_zero;
}

/* The first of the greatest, or of the least; NaN wins. */
static const value *best_of(const values *all, int sign) {
    const value *best = &all->v[0];
    for (size_t i = 1; i < all->count && !best->nan; i++)
        if (all->v[i].nan || sign * compare(&all->v[i], best) > 0)
            best = &all->v[i];
    return best;
}

/* Modulo 2^64; false: it does not fit. */
static bool to_integer(const mpz_t x, int32_t type, uint64_t *bits) {
    mpz_t modulo;
    mpz_init(modulo);
    mpz_fdiv_r_2exp(modulo, x, 64);
    *bits = mpz_get_ui(modulo);
    mpz_clear(modulo);
    return type == GP_S64 ? mpz_fits_slong_p(x) : mpz_fits_ulong_p(x);
}

/* Adds up, or adds up squares, or magnitudes: total units, or a special bit pattern's class. */
typedef struct sum {
    mpz_t total, squares;
    bool nan, plus, minus;
} sum;

static void add_up(const values *all, sum *s, bool magnitudes) {
    mpz_inits(s->total, s->squares, NULL);
    s->nan = s->plus = s->minus = false;
    for (size_t i = 0; i < all->count; i++) {
        value *v = &all->v[i];
        if (magnitudes)
            magnitude(v);
        s->nan = s->nan || v->nan;
        s->plus = s->plus || (!v->nan && v->infinity > 0);
        s->minus = s->minus || (!v->nan && v->infinity < 0);
        if (v->nan || v->infinity)
            continue;
        mpz_add(s->total, s->total, v->units);
        mpz_addmul(s->squares, v->units, v->units);
    }
    s->nan = s->nan || (s->plus && s->minus);
}

/* numerator 2^exponent / denominator or its root. */
static bool rounded(const sum *s, const mpz_t numerator, uint64_t denominator, long exponent, bool root, int32_t to,
                    uint64_t *bits) {
    if (to == GP_S64 || to == GP_U64)
        return to_integer(numerator, to, bits);
    if (denominator == 0 || s->nan || (s->minus && root)) {
        *bits = canonical_nan(to);
    } else if (s->plus || s->minus) {
        *bits = infinity_of(to, s->minus);
    } else {
        mpz_t d;
        mpz_init_set_ui(d, denominator);
        *bits = oracle_round(numerator, d, exponent, root, (gp_type)to);
        mpz_clear(d);
    }
    return true;
}

static uint64_t variance(sum *s, uint64_t n, bool sample, bool root, long exponent, int32_t to) {
    if (n <= sample || s->nan || s->plus || s->minus)
        return canonical_nan(to);
    mpz_t numerator, denominator;
    mpz_inits(numerator, denominator, NULL);
    mpz_mul_ui(numerator, s->squares, n);
    mpz_submul(numerator, s->total, s->total);
    mpz_set_ui(denominator, n);
    mpz_mul_ui(denominator, denominator, n - sample);
    const uint64_t bits = oracle_round(numerator, denominator, 2 * exponent, root, (gp_type)to);
    mpz_clears(numerator, denominator, NULL);
    return bits;
}

static bool moment(const values *all, uint32_t op, int32_t to, uint64_t *bits) {
    const long unit = all->in->type >= GP_F16 ? -1074 : 0;
    const bool squares = op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_NORM || op == GP_REDUCE_SUM_SQUARE_DIFF;
    bool fits = true;
    sum s;
    add_up(all, &s, squares || op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_ABS_DIFF);
    if (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE)
        *bits = variance(&s, all->count, op >= GP_REDUCE_VARIANCE_SAMPLE, op % 2 == 1, unit, to);
    else
        fits = rounded(&s, squares ? s.squares : s.total, op == GP_REDUCE_MEAN ? all->count : 1,
                       squares || op == GP_REDUCE_DOT ? 2 * unit : unit, op == GP_REDUCE_NORM, to, bits);
    mpz_clears(s.total, s.squares, NULL);
    return fits;
}

static uint64_t count(const values *all) {
    uint64_t nonzero = 0;
    for (size_t i = 0; i < all->count; i++)
        nonzero += all->v[i].nan || all->v[i].infinity || mpz_sgn(all->v[i].units) != 0;
    return nonzero;
}

static uint64_t bitwise(const values *all, uint32_t op) {
    uint64_t bits = op == GP_REDUCE_AND ? UINT64_MAX : 0;
    for (size_t i = 0; i < all->count; i++) {
        uint64_t x;
        (void)to_integer(all->v[i].units, GP_S64, &x);
        bits = op == GP_REDUCE_AND ? bits & x : op == GP_REDUCE_OR ? bits | x : bits ^ x;
    }
    return bits;
}

static uint64_t extreme_of_none(int32_t type, bool max) {
    const size_t bits = 8 * oracle_bytes(type);
    if (type >= GP_F16)
        return canonical_nan(type);
    if (type % 2 == 1)
        return max ? 0 : UINT64_MAX >> (64 - bits);
    return max ? UINT64_MAX << (bits - 1) : UINT64_MAX >> (65 - bits);
}

static uint64_t extreme(const values *all, bool max) {
    uint64_t bits = 0;
    if (all->count == 0)
        return extreme_of_none(all->in->type, max);
    const value *best = best_of(all, max ? 1 : -1);
    if (best->nan)
        return canonical_nan(all->in->type);
    if (all->in->type < GP_F16)
        (void)to_integer(best->units, GP_S64, &bits);
    else
        memcpy(&bits, best->at, oracle_bytes(all->in->type));
    return bits;
}

static uint64_t max_abs(const values *all, int32_t to) {
    uint64_t bits;
    for (size_t i = 0; i < all->count; i++)
        magnitude(&all->v[i]);
    if (all->count == 0)
        return 0;
    const value *best = best_of(all, 1);
    const sum s = {.nan = best->nan, .plus = best->infinity > 0};
    if (to < GP_F16)
        (void)to_integer(best->units, GP_U64, &bits);
    else
        (void)rounded(&s, best->units, 1, -1074, false, to, &bits);
    return bits;
}

static bool result_of(const values *all, uint32_t op, int32_t to, uint64_t *bits) {
    if (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX)
        *bits = extreme(all, op == GP_REDUCE_MAX);
    else if (op == GP_REDUCE_ARGMIN || op == GP_REDUCE_ARGMAX)
        *bits = all->count == 0 ? 0 : best_of(all, op == GP_REDUCE_ARGMAX ? 1 : -1)->place;
    else if (op >= GP_REDUCE_AND && op <= GP_REDUCE_XOR)
        *bits = bitwise(all, op);
    else if (op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF)
        *bits = count(all);
    else if (op == GP_REDUCE_MAX_ABS || op == GP_REDUCE_MAX_ABS_DIFF)
        *bits = max_abs(all, to);
    else
        return moment(all, op, to, bits);
    return true;
}

static bool has_zero(const gp_array *a) {
    for (unsigned axis = 0; axis < a->rank; axis++)
        if (a->extent[axis] == 0)
            return true;
    return false;
}

gp_status oracle_array(const gp_array *in, const gp_array *with, const gp_result *result) {
    const gp_array *to = &result->to;
    const uint32_t op = result->op & 0xff;
    gp_status status = GP_OK;
    size_t outputs = 1;
    for (unsigned axis = 0; axis < to->rank; axis++)
        outputs *= to->extent[axis];
    if (outputs > 0 && has_zero(in) &&
        (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX || op == GP_REDUCE_ARGMIN || op == GP_REDUCE_ARGMAX))
        return GP_ERR_EMPTY;
    for (size_t i = 0; i < outputs; i++) {
        size_t index[GP_AXES] = {0}, rest = i;
        for (unsigned axis = to->rank; axis-- > 0; rest /= to->extent[axis])
            index[axis] = rest % to->extent[axis];
        unsigned char *at = (unsigned char *)(uintptr_t)element_at(to, index);
        values all = {.in = in, .with = with, .op = result->op};
        uint64_t bits = 0;
        gather(&all, index, to);
        if (!result_of(&all, op, to->type, &bits))
            status = GP_ERR_OVERFLOW;
        release(&all);
        memcpy(at, &bits, oracle_bytes(to->type)); /* little endian */
    }
    return status;
}
