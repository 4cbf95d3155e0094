/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments of floats of any spread in windows. Each column of the strip has the exact sum of what the window holds of
 * it, in limbs, to which a row that enters is added and from which one that leaves is subtracted; the same then goes
 * along the row. Nothing is ever rounded but results, whatever the elements' spread: these are computed by blocks,
 * from two doubles a sum and a bound on what they lack, and by their limbs or elements where that does not decide.
 */
#include "cpu.h"
#include <stdlib.h>

#define SIMD
#include "../cpu/quotients.h"

#define SUM_LIMBS 11
#define SQUARE_LIMBS 20
enum { NANS, PLUS, MINUS, SPECIALS }; /* how many */
#define SUM SPECIALS
#define SQUARES (SUM + SUM_LIMBS)
#define LENGTH (SQUARES + SQUARE_LIMBS)

typedef struct sums {
    int64_t at[LENGTH];
} sums;

/* x, `times` times, which is 1 where it leaves. */
static void add(sums *to, float x, uint64_t times, bool leaves, bool squares) {
    const gp_exact_parts p = gp_exact_parts_f32(x);
    if (p.special) {
        const int which = p.special & GP_EXACT_NAN ? NANS : p.special & GP_EXACT_PLUS_INFINITY ? PLUS : MINUS;
        to->at[which] += leaves ? -1 : (int64_t)times;
        return;
    }
    gp_exact_add_product_bits(to->at + SUM, p.bit, p.mantissa, times, p.negative != leaves);
    if (squares)
        gp_exact_add_product_bits(to->at + SQUARES, 2 * p.bit, p.mantissa * p.mantissa, times, leaves);
}

static void add_row(const gp_window_tile *tile, sums *column, int64_t i, uint64_t times, bool leaves, void *copy) {
    const unsigned char *row = gp_window_row(tile, i);
    const bool squares = tile->one->box->wants & GP_WANT_SQUARES, half = tile->one->box->type == GP_F16;
    const void *held = row == NULL ? NULL : gp_window_held_row(tile, row, copy);
    for (size_t k = 0; row != NULL && k < tile->held; k++) {
        const float x = half ? gp_exact_widen_f16(((const uint16_t *)held)[k]) : ((const float *)held)[k];
        add(&column[tile->left + k], x, times, leaves, squares);
    }
}

/* times: 1, or -1 where it leaves. */
static inline void add_column(sums *to, const sums *column, size_t length, int64_t times) {
    for (size_t l = 0; l < length; l++)
        to->at[l] += column->at[l] * times;
}

static uint32_t flags_of(const sums *s, bool squares) {
    return (s->at[NANS] ? GP_EXACT_NAN : 0) | (s->at[PLUS] ? GP_EXACT_PLUS_INFINITY : 0) |
           (s->at[MINUS] ? (squares ? GP_EXACT_PLUS_INFINITY : GP_EXACT_MINUS_INFINITY) : 0);
}

/* A result's limbs are carried where they stand, so each result has a copy. */
static void write_output(const gp_window_tile *tile, gp_accumulator *a, const sums *s, uint64_t n, size_t i,
                         unsigned r) {
    gp_accumulator_clear(a);
    a->counted = n;
    a->in_limbs[GP_SUM] = a->in_limbs[GP_SQUARES] = true;
    a->flags[GP_SUM] = flags_of(s, false);
    a->flags[GP_SQUARES] = flags_of(s, true);
    memcpy(a->limb[GP_SUM], s->at + SUM, SUM_LIMBS * sizeof *s->at);
    memcpy(a->limb[GP_SQUARES], s->at + SQUARES, SQUARE_LIMBS * sizeof *s->at);
    (void)gp_accumulator_write(a, &tile->one->pass, r, tile->row + i * gp_type_bytes(tile->one->box->result[r].type));
}

/* Number k is that of limbs in units of 2^unit, by the first four digits of 32 bits. */
static void put_number(numbers *to, size_t k, const int64_t *limb, unsigned limbs, int unit) {
    uint32_t digit[SQUARE_LIMBS];
    int64_t carry = 0;
    for (unsigned l = 0; l < limbs; l++) {
        carry += limb[l];
        digit[l] = (uint32_t)carry;
        carry >>= 32;
    }
    const bool negative = carry < 0;
    uint64_t one = 1;
    for (unsigned l = 0; l < limbs && negative; l++) {
        one += (uint32_t)~digit[l];
        digit[l] = (uint32_t)one;
        one >>= 32;
    }
    unsigned top = limbs;
    while (top > 0 && digit[top - 1] == 0)
        top--;
    to->high[k] = to->low[k] = to->off[k] = 0;
    if (top == 0)
        return;
    double part[4], rest, low, lost[2];
    uint32_t below = 0;
    for (unsigned i = 0; i < 4; i++)
        part[i] = i < top ? (double)digit[top - 1 - i] * power_of_two(-32 * (int)i) : 0;
    for (unsigned l = 0; l + 4 < top; l++)
        below |= digit[l];
    const double first = sum_and_rest(part[0], part[1], &rest), second = sum_and_rest(part[2], part[3], &lost[0]);
    const double high = sum_and_rest(first, sum_and_rest(rest, second, &lost[1]), &low);
    const double size = power_of_two(unit + 32 * (int)(top - 1)), scale = negative ? -size : size;
    to->high[k] = high * scale;
    to->low[k] = low * scale;
    to->off[k] = (__builtin_fabs(lost[0]) + __builtin_fabs(lost[1]) + (below != 0 ? 0x1p-96 : 0)) * size;
}

/* Outputs of a row and a channel on their way: how many, from pixel `first` on. */
typedef struct block {
    size_t first, count;
    numbers x, sums; /* sums: of variances */
    double counted[NUMBERS], by[NUMBERS];
    bool done[NUMBERS];
} block;

static void add_output(block *b, const sums *s, uint64_t counted, unsigned op) {
    const bool variance = op >= GP_REDUCE_VARIANCE, sample = op >= GP_REDUCE_VARIANCE_SAMPLE;
    const size_t k = b->count++;
    const double n = (double)counted;
    if (variance || op == GP_REDUCE_SUM_SQUARES)
        put_number(&b->x, k, s->at + SQUARES, SQUARE_LIMBS, -298);
    if (op != GP_REDUCE_SUM_SQUARES)
        put_number(variance ? &b->sums : &b->x, k, s->at + SUM, SUM_LIMBS, -149);
    b->counted[k] = n;
    b->by[k] = variance ? n * (n - sample) : op == GP_REDUCE_MEAN ? n : 1;
}

static void write_block(const gp_window_tile *tile, block *b, uint64_t y, unsigned r, size_t channel) {
    const gp_pass_result *result = &tile->one->box->result[r];
    const size_t bytes = gp_type_bytes(result->type);
    uint64_t bits[NUMBERS], unsure[NUMBERS] = {0};
    if (result->op >= GP_REDUCE_VARIANCE)
        make_numerators(&b->sums, &b->x, b->counted, b->count);
    round_quotients(result->op == GP_REDUCE_STDDEV || result->op == GP_REDUCE_STDDEV_SAMPLE, result->type == GP_F32,
                    &b->x, b->by, b->count, bits, unsure);
    for (size_t k = 0; k < b->count; k++) {
        const size_t i = channel + (b->first + k) * tile->channels;
        const uint32_t single = (uint32_t)bits[k];
        if (b->done[k])
            continue;
        if (unsure[k] != 0)
            gp_window_write_singly(tile, r, y, i, tile->row + i * bytes);
        else
            memcpy(tile->row + i * bytes, bytes == 4 ? (const void *)&single : &bits[k], bytes);
    }
    b->first += b->count;
    b->count = 0;
}

/* Of a channel, the tile's first window. */
static void first_window(const gp_window_tile *tile, const sums *column, size_t length, sums *sum) {
    const gp_window_held first = gp_window_first(tile);
    memset(sum, 0, sizeof *sum);
    for (unsigned s = 0; s < first.stretches; s++) {
        const sums *from = column + gp_window_place(tile, first.at[s].first);
        sums part = {{0}};
        for (int64_t k = 0; k < first.at[s].count; k++)
            add_column(&part, &from[(size_t)k * tile->channels], length, 1);
        if (first.at[s].times > 1) {
            gp_exact_carry(part.at + SUM, SUM_LIMBS);
            gp_exact_carry(part.at + SQUARES, SQUARE_LIMBS);
        }
        add_column(sum, &part, length, (int64_t)first.at[s].times);
    }
}

GP_WINDOW_EXTEND(extend, sums, )

#define COUNTED_MAX ((uint64_t)1 << 26) /* whose square a double holds */

static void write_row(const gp_window_tile *tile, sums *column, gp_accumulator *a, block *b, uint64_t y, unsigned r) {
    const gp_window_box *box = tile->one->box;
    const size_t c = tile->channels, length = box->wants & GP_WANT_SQUARES ? LENGTH : SQUARES;
    const uint64_t n = gp_window_counted(&tile->y, box->border, y);
    const sums outside = {{0}}, *leaves = column + tile->skew,
               *enters = leaves + tile->x.window * (int64_t)c; /* after the channel's first output */
    extend(tile, column, c, outside);
    for (size_t channel = 0; channel < c; channel++) {
        sums s;
        first_window(tile, column + channel, length, &s);
        b->first = b->count = 0;
        for (size_t i = channel;; i += c) {
            const uint64_t x = tile->x_begin + i / c,
                           counted = n * gp_window_counted(gp_window_x(box), box->border, x);
            b->done[b->count] = (s.at[NANS] | s.at[PLUS] | s.at[MINUS]) != 0 || counted >= COUNTED_MAX;
            if (b->done[b->count])
                write_output(tile, a, &s, counted, i, r);
            add_output(b, &s, counted, box->result[r].op);
            if (b->count == NUMBERS || i + c >= tile->n)
                write_block(tile, b, y, r, channel);
            if (i + c >= tile->n)
                break;
            add_column(&s, &enters[i], length, 1);
            add_column(&s, &leaves[i], length, -1);
        }
    }
    gp_window_put(tile, r, gp_window_result_row(tile, r, y), 0, tile->n);
}

#define TIMES_MAX ((int64_t)1 << 30) /* that products with limbs have room for */

bool gp_window_float_moments(gp_window_tile *tile) {
    const gp_window_box *box = tile->one->box;
    const bool room = tile->ext < SIZE_MAX / 2 / sizeof(sums) && gp_window_x(box)->window < TIMES_MAX;
    sums *column = room ? calloc(tile->ext, sizeof *column) : NULL;
    float *copy = malloc(tile->held * sizeof *copy + tile->n * sizeof(double));
    gp_accumulator *a = malloc(sizeof *a);
    block *b = malloc(sizeof *b);
    const gp_window_held rows = gp_window_held_of(&tile->y, box->border, tile->y_begin);
    const bool fits = column != NULL && copy != NULL && a != NULL && b != NULL;
    tile->row = (unsigned char *)(copy + (fits ? tile->held : 0));
    for (unsigned s = 0; fits && s < rows.stretches; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++)
            add_row(tile, column, rows.at[s].first + i, rows.at[s].times, false, copy);
    for (uint64_t y = tile->y_begin; fits && y < tile->y_end; y++) {
        const int64_t leaves = (int64_t)y - tile->y.before;
        for (unsigned r = 0; r < box->results; r++)
            write_row(tile, column, a, b, y, r);
        if (y + 1 < tile->y_end) {
            add_row(tile, column, leaves + tile->y.window, 1, false, copy);
            add_row(tile, column, leaves, 1, true, copy);
        }
    }
    free(column);
    free(copy);
    free(a);
    free(b);
    return fits;
}
