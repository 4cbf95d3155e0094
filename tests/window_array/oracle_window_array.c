/* SPDX-License-Identifier: Apache-2.0 */
/* Every window is gathered anew, place by place; borders are walked step by step. Nothing is carried along. */
#include "oracle_window_array.h"
#include "../reduce/oracle_exact.h"
#include "../reduce_array/oracle_array.h"
#include <math.h>
#include <stdlib.h>

/* An element: its value and square in GMP's numbers, with what is special, and as a double, which holds all types. */
typedef struct element {
    oracle_sums sums;
    double value;
    uint64_t bits;
} element;

typedef struct picture {
    const gp_array *in;
    const gp_window_shape *window;
    element *elements; /* in C order */
    element zero;
    size_t count;
} picture;

static const unsigned char *address(const gp_array *a, const size_t index[GP_AXES]) {
    ptrdiff_t offset = 0;
    for (unsigned axis = 0; axis < a->rank; axis++)
        offset += (ptrdiff_t)index[axis] * a->stride[axis];
    return (const unsigned char *)a->data + offset * (ptrdiff_t)oracle_bytes(a->type);
}

static double double_of(int32_t type, const void *at) {
    switch (type) {
    case GP_U8:
        return *(const uint8_t *)at;
    case GP_S8:
        return *(const int8_t *)at;
    case GP_U16:
        return *(const uint16_t *)at;
    case GP_S16:
        return *(const int16_t *)at;
    case GP_U32:
        return *(const uint32_t *)at;
    case GP_S32:
        return *(const int32_t *)at;
    case GP_F32:
        return (double)*(const float *)at;
    default:
        return oracle_half(GP_F16, *(const uint16_t *)at);
    }
}

static void read_element(element *e, int32_t type, const void *at) {
    oracle_sums_open(&e->sums, (gp_type)type);
    oracle_sums_add(&e->sums, (gp_type)type, at, at);
    e->value = double_of(type, at);
    e->bits = 0;
    memcpy(&e->bits, at, oracle_bytes(type)); /* little endian */
}

static void index_of(const gp_array *a, size_t place, size_t index[GP_AXES]) {
    for (unsigned axis = a->rank; axis-- > 0; place /= a->extent[axis])
        index[axis] = place % a->extent[axis];
}

static void open_picture(picture *p) {
    static const uint64_t nothing = 0;
    p->count = 1;
    for (unsigned axis = 0; axis < p->in->rank; axis++)
        p->count *= p->in->extent[axis];
    p->elements = calloc(p->count + 1, sizeof *p->elements);
    for (size_t place = 0; place < p->count; place++) {
        size_t index[GP_AXES];
        index_of(p->in, place, index);
        read_element(&p->elements[place], p->in->type, address(p->in, index));
    }
    read_element(&p->zero, p->in->type, &nothing);
}

static void close_picture(picture *p) {
    for (size_t place = 0; place < p->count; place++)
        oracle_sums_close(&p->elements[place].sums);
    oracle_sums_close(&p->zero.sums);
    free(p->elements);
}

/* Where a place outside [0, n) is found; -1: nowhere. One reflection at a time. */
static ptrdiff_t inside(int border, ptrdiff_t n, ptrdiff_t i) {
    while (i < 0 || i >= n) {
        if (border == GP_BORDER_WRAP)
            i += i < 0 ? n : -n;
        else if (border == GP_BORDER_REPLICATE || (border == GP_BORDER_REFLECT_101 && n == 1))
            i = i < 0 ? 0 : n - 1;
        else if (border == GP_BORDER_REFLECT)
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
        else if (border == GP_BORDER_REFLECT_101)
            i = i < 0 ? -i : 2 * n - 2 - i;
        else
            return -1;
    }
    return i;
}

/* What the window around one place holds. */
typedef struct gathered {
    oracle_sums sums;
    const element *least, *greatest; /* NULL: none that is no NaN */
    bool nan, outside;
} gathered;

static bool is_less(const element *a, const element *b) {
    return a->value < b->value || (a->value == 0 && b->value == 0 && signbit(a->value) && !signbit(b->value));
}

static void take(gathered *g, const element *e) {
    mpz_add(g->sums.sum, g->sums.sum, e->sums.sum);
    mpz_add(g->sums.square, g->sums.square, e->sums.square);
    for (int which = 0; which < 2; which++) {
        g->sums.nan[which] |= e->sums.nan[which];
        g->sums.plus[which] |= e->sums.plus[which];
        g->sums.minus[which] |= e->sums.minus[which];
    }
    g->sums.n++;
    g->nan |= isnan(e->value) != 0;
    if (isnan(e->value))
        return;
    if (g->least == NULL || is_less(e, g->least))
        g->least = e;
    if (g->greatest == NULL || is_less(g->greatest, e))
        g->greatest = e;
}

/* The window's places along axis and those behind it. */
static void gather(const picture *p, gathered *g, const size_t at[GP_AXES], unsigned axis, size_t place, bool zero) {
    if (axis == p->in->rank) {
        take(g, zero ? &p->zero : &p->elements[place]);
        return;
    }
    const ptrdiff_t n = (ptrdiff_t)p->in->extent[axis];
    const ptrdiff_t extent = p->window->extent[axis] > 1 ? (ptrdiff_t)p->window->extent[axis] : 1;
    const ptrdiff_t begin = (ptrdiff_t)at[axis] - extent / 2 + p->window->shift[axis];
    for (ptrdiff_t i = begin; i < begin + extent; i++) {
        const ptrdiff_t found = inside(p->window->border, n, i);
        g->outside |= found < 0;
        if (found >= 0 || p->window->border == GP_BORDER_ZERO)
            gather(p, g, at, axis + 1, place * (size_t)n + (size_t)(found < 0 ? 0 : found), zero || found < 0);
    }
}

/* sum / n to the nearest whole number, the even one of two. */
static uint64_t whole_mean(const oracle_sums *s) {
    mpz_t twice, quotient, rest;
    mpz_inits(twice, quotient, rest, NULL);
    mpz_mul_ui(twice, s->sum, 2);
    mpz_add_ui(twice, twice, s->n);
    mpz_fdiv_qr_ui(quotient, rest, twice, 2 * s->n);
    if (mpz_sgn(rest) == 0 && mpz_odd_p(quotient))
        mpz_sub_ui(quotient, quotient, 1);
    const uint64_t bits = (uint64_t)mpz_get_si(quotient);
    mpz_clears(twice, quotient, rest, NULL);
    return bits;
}

static uint64_t result_of(const gathered *g, uint32_t op, int32_t in, int32_t to) {
    switch (op) {
    case GP_REDUCE_SUM:
        return oracle_sums_result(&g->sums, EXACT_SUM, (gp_type)to);
    case GP_REDUCE_SUM_SQUARES:
        return oracle_sums_result(&g->sums, EXACT_SQUARES, (gp_type)to);
    case GP_REDUCE_MEAN:
        return to < GP_F16 ? whole_mean(&g->sums) : oracle_sums_result(&g->sums, EXACT_MEAN, (gp_type)to);
    case GP_REDUCE_VARIANCE:
        return oracle_sums_result(&g->sums, EXACT_VARIANCE, (gp_type)to);
    case GP_REDUCE_STDDEV:
        return oracle_sums_result(&g->sums, EXACT_STDDEV, (gp_type)to);
    case GP_REDUCE_VARIANCE_SAMPLE:
        return oracle_sums_result(&g->sums, EXACT_VARIANCE_SAMPLE, (gp_type)to);
    case GP_REDUCE_STDDEV_SAMPLE:
        return oracle_sums_result(&g->sums, EXACT_STDDEV_SAMPLE, (gp_type)to);
    default:
        if (g->nan)
            return in == GP_F32 ? 0x7fc00000 : 0x7e00;
        return (op == GP_REDUCE_MIN ? g->least : g->greatest)->bits;
    }
}

void oracle_window_array(const gp_array *in, const gp_window_shape *window, const gp_result *results, size_t count) {
    picture p = {.in = in, .window = window};
    open_picture(&p);
    for (size_t place = 0; place < p.count; place++) {
        gathered g = {.nan = false};
        size_t index[GP_AXES];
        index_of(in, place, index);
        oracle_sums_open(&g.sums, (gp_type)in->type);
        gather(&p, &g, index, 0, 0, false);
        for (size_t r = 0; r < count && !(window->border == GP_BORDER_NONE && g.outside); r++) {
            const uint64_t bits = result_of(&g, results[r].op, in->type, results[r].to.type);
            memcpy((unsigned char *)(uintptr_t)address(&results[r].to, index), &bits,
                   oracle_bytes(results[r].to.type)); /* little endian */
        }
        oracle_sums_close(&g.sums);
    }
    close_picture(&p);
}
