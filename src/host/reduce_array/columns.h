/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many outputs side by side: columns of a matrix row by row, and rows, each of which is a column whose neighbours
 * are not contiguous. Sums of floats are kept with their errors, and a column whose errors are not all held is done
 * again by the reference.
 */
#pragma once

#include "accumulator.h"
#include "gather.h"

#define GP_COLUMNS 256 /* at most at once: their sums stay in the first-level cache */

/*
 * Sums of ints: low + 2^32 high. Of floats: rounded down, with the opposite of the sum rounded up as `errors`. Or, of
 * pairs, with what roundings lost, of which no more than `rest` is missing.
 */
typedef struct gp_column_sums {
    union {
        double sum[GP_COLUMNS];
        int64_t low[GP_COLUMNS];
    };
    union {
        double errors[GP_COLUMNS];
        int64_t high[GP_COLUMNS];
    };
    double rest[GP_COLUMNS];
} gp_column_sums;

/* Which sums of floats are pairs, besides those that always are. */
typedef enum gp_paired { GP_PAIRED_NONE, GP_PAIRED_SQUARES, GP_PAIRED_ALL } gp_paired;

/* By the kind of the pass. */
typedef struct gp_columns {
    union {
        struct {
            _Alignas(64) int64_t bits_and[GP_COLUMNS];
            int64_t bits_or[GP_COLUMNS], bits_xor[GP_COLUMNS];
        };
        struct {
            int64_t min[GP_COLUMNS], max[GP_COLUMNS]; /* keys */
            int64_t argmin[GP_COLUMNS], argmax[GP_COLUMNS];
        };
        struct {
            int64_t nonzero[GP_COLUMNS];
            gp_column_sums sums[GP_DOT];
        };
    };
    uint64_t bits[GP_COLUMNS];    /* of one result */
    uint64_t unsure[GP_COLUMNS];  /* not 0: a result needs more than rounding two doubles */
    size_t outputs, count;        /* columns; elements of a row, which may be several neighbouring ones */
    int64_t apart;                /* bytes from one to the next */
    gp_paired pairs;              /* at least these sums */
    bool failed;                  /* elements could not be made (made.h): all has to be done again */
    uint32_t counted[GP_COLUMNS]; /* elements that count, where some may not */
    const unsigned char *end;     /* of the input */
    size_t bytes;                 /* of it */
} gp_columns;

/* Elements that are compared become keys, signed ints of 64 bits: (x ^ ((x >> 63) & mask)) - half. */
typedef struct gp_key_form {
    int64_t mask; /* of a float's bits, which are extended by their sign */
    int64_t half; /* of unsigned ints, which are not */
    int64_t infinity;
} gp_key_form;

static inline gp_key_form gp_key_form_of(unsigned type) {
    const unsigned bits = 8 * gp_type_bytes(type);
    gp_key_form f = {0, 0, INT64_MAX};
    if (type >= GP_F16) {
        f.mask = INT64_MAX >> (64 - bits);
        f.infinity = type == GP_F16    ? 0x7c00
                     : type == GP_BF16 ? 0x7f80
                     : type == GP_F32  ? 0x7f800000
                                       : INT64_C(0x7ff0000000000000);
    } else if (!gp_type_is_signed(type)) {
        f.half = (int64_t)((uint64_t)1 << (bits - 1));
    }
    return f;
}

/* To nearest. */
static inline void gp_column_add(gp_column_sums *s, size_t j, double x) {
    const double before = s->sum[j], sum = before + x, back = sum - before;
    const double error = (before - (sum - back)) + (x - back), errors = s->errors[j] + error;
    const double behind = errors - s->errors[j];
    const double rest = (s->errors[j] - (errors - behind)) + (error - behind);
    s->rest[j] += rest < 0 ? -rest : rest;
    s->sum[j] = sum;
    s->errors[j] = errors;
}

/* `rows` rows, `step` bytes apart; a row's place is place + i * place_step. */
typedef void (*gp_pass_columns)(gp_columns *c, const gp_pass *pass, const unsigned char *in, uint64_t rows,
                                int64_t step, int64_t place, int64_t place_step);

/* Sets bits of result r of the first n columns, and adds to `unsure`. False: results of other types and operations.
 */
typedef bool (*gp_columns_finish)(gp_columns *c, const gp_pass *pass, unsigned r, size_t n);

/* Extremes or bits of outputs first .. first + width - 1, which stand in one row, or sums of few rows of floats, to
 * where their results belong. */
typedef void (*gp_pass_across)(const gp_pass *pass, uint64_t first, uint64_t width);

/* Rows that vectors are taken of in turns: of 16 that are a power of two apart many lie in one set of the first-level
 * cache. */
#define GP_FEW_ROWS 12

/* How many outputs are to be done so at once; 0: columns are not side by side, or results not, or of other types. */
uint64_t gp_across_width(const gp_pass *pass);

/* Whether outputs can be done with a gp_columns. */
bool gp_columns_can(const gp_pass *pass);

/* Gives a pass that has no kept axis one of one element, and one that has no reduced axis too. */
void gp_pass_add_axes(gp_pass *pass);

/* What is gathered at once. */
#define GP_GATHERED_BYTES 16384

/* The elements of the last kept axis, where that is so short that a block holds several whole rows of it, which are
 * gathered; else 1. */
uint64_t gp_columns_unit(const gp_pass *pass);

/* How many units are to be done at once, with a gp_columns for each GP_COLUMNS of them. */
uint64_t gp_columns_width(const gp_pass *pass);

#define GP_SUMMED_ROWS 256 /* of bytes, and of moments: before they are added to what came before */

#define GP_MANY_ROWS (1 << 16) /* whose sum one double seldom holds */

/* Of blocks that a thread takes one after the other: sums by bounds first, where these may do. */
static inline void gp_columns_begin(gp_columns *c, const gp_pass *pass) {
    const bool many = pass->wants == GP_WANT_SUM && pass->type == GP_F32 && pass->length >= GP_MANY_ROWS;
    const bool all = pass->result[0].type == GP_F64 && (pass->type == GP_F64 || many);
    c->pairs = all ? GP_PAIRED_ALL : GP_PAIRED_NONE;
}

/* Which take two doubles each. */
static inline bool gp_has_wide_squares(const gp_pass *pass) {
    return pass->kind == GP_PASS_MOMENTS && (pass->wants & GP_WANT_SQUARES) && gp_type_bytes(pass->type) == 8;
}

/* Whether a sum is one of doubles: squares of ints of 64 bits need more than the total of two words. */
static inline bool gp_sum_is_real(const gp_pass *pass, unsigned sum) {
    return gp_type_is_float(pass->type) || (sum == GP_SQUARES && gp_type_bytes(pass->type) == 8);
}

/* Whether bounds of sums of squares, which are seldom one, may do: they decide floats. */
static inline bool gp_squares_by_bounds(const gp_pass *pass) {
    bool floats = gp_type_is_float(pass->type) && pass->type != GP_F64 && (pass->wants & GP_WANT_SQUARES);
    for (unsigned r = 0; r < pass->results; r++)
        floats = floats && pass->result[r].type == GP_F32;
    return floats;
}

/* Whether a sum of doubles is a pair. */
static inline bool gp_columns_pair(const gp_columns *c, const gp_pass *pass, unsigned sum) {
    const bool alone = pass->results == 1 && pass->result[0].op == GP_REDUCE_SUM_SQUARES &&
                       gp_type_bytes(pass->type) < 8; /* and may be exact */
    return c->pairs == GP_PAIRED_ALL ||
           (sum == GP_SQUARES && (c->pairs == GP_PAIRED_SQUARES || !(alone || gp_squares_by_bounds(pass))));
}

/* Whether columns have counts of their own. */
static inline bool gp_columns_count(const gp_pass *pass) {
    return pass->where || pass->skip_nan;
}

/* How many have bounds that are not one. */
uint64_t gp_columns_open(const gp_columns *c, const gp_pass *pass);

/* The first `count` columns: of no elements. */
void gp_columns_clear(gp_columns *c, const gp_pass *pass, size_t count);

/* Takes rows [begin, end) of the last reduced axis, of `width` neighbouring columns, the first from `in` on. */
void gp_columns_take(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                     size_t width, uint64_t begin, uint64_t end);

/* From the first element along axes first .. end - 1 to number `index` of them, the last axis fastest. */
gp_pass_axis gp_pass_way_to(const gp_pass *pass, unsigned first, unsigned end, uint64_t index);

/* Adds columns of another thread. Sums of floats become pairs. */
void gp_columns_merge(gp_columns *c, const gp_columns *from, const gp_pass *pass);

gp_number gp_number_of_key(unsigned type, int64_t key);

/* Adds column j to an accumulator. False: it is not held exactly, and has to be done again. */
bool gp_columns_read(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a);
