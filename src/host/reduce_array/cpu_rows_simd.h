/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of rows of contiguous elements, two rows at a time: vectors along a row first, then the lanes of both at once,
 * so that each row ends up in a lane of its own. What lies behind a row's end within the input may be loaded, and is
 * masked.
 */

typedef uint8_t lanes_8 __attribute__((vector_size(sizeof(vec))));
typedef uint16_t lanes_16 __attribute__((vector_size(sizeof(vec))));
typedef int16_t signed_16 __attribute__((vector_size(sizeof(vec))));
typedef int64_t signed_64 __attribute__((vector_size(sizeof(vec))));

#define ROW_CHUNK ((size_t)1024) /* elements of a row of floats between two proofs */

/* x in every lane of so many bytes, of one. */
INLINE vec all_of(size_t bytes, int64_t x) {
    return bytes == 1   ? all((int32_t)((uint32_t)(uint8_t)x * 0x01010101u))
           : bytes == 2 ? all((int32_t)((uint32_t)(uint16_t)x * 0x00010001u))
           : bytes == 4 ? all((int32_t)x)
                        : (vec)all_64(x);
}

/* Ones in the first bytes, up to a whole vector. */
INLINE vec first_bytes(size_t bytes) {
    unsigned char mask[2 * sizeof(vec)];
    memset(mask, 0xff, sizeof(vec));
    memset(mask + sizeof(vec), 0, sizeof(vec));
    return load(mask + sizeof(vec) - gp_least(bytes, sizeof(vec)));
}

/* A vector whose first `bytes` bytes count, of an input that ends at `end`. */
INLINE vec load_part(const unsigned char *at, size_t bytes, const unsigned char *end) {
    unsigned char last[sizeof(vec)] = {0};
    if ((size_t)(end - at) >= sizeof(vec))
        return load(at);
    memcpy(last, at, gp_least(bytes, sizeof last));
    return load(last);
}

INLINE reals load_reals(const double *at, size_t n, const unsigned char *end) {
    return (reals)load_part((const unsigned char *)at, n * sizeof *at, end);
}

INLINE reals load_narrow(const float *at, size_t n, const unsigned char *end) {
    float last[REALS] = {0};
    if ((size_t)(end - (const unsigned char *)at) >= sizeof last)
        return (reals)load_floats(at);
    memcpy(last, at, gp_least(n * sizeof *at, sizeof last));
    return (reals)load_floats(last);
}

/* Rows of n elements: each an output, or to be added to n columns. */
typedef struct {
    const unsigned char *in, *end; /* of the input */
    int64_t apart;                 /* bytes from one to the next */
    size_t count, n;
    bool ahead; /* columns: rows are prefetched, as a core does not see where they lie */
} rows_of;

/* Row j, or the last one. */
static inline const void *row_at(const rows_of *r, size_t j) {
    return r->in + (int64_t)gp_least(j, r->count - 1) * r->apart;
}

/* Longer rows are prefetched for line by line, as they are taken: many lines at once are waited for. */
#define PREFETCHED_ROW ((size_t)512)

/* How many rows are prefetched for at once, of rows that are taken some at a time; 0: such rows. */
static inline size_t rows_of_piece(const rows_of *r, size_t some, size_t row_bytes) {
    if (row_bytes > PREFETCHED_ROW)
        return 0;
    return gp_greatest(PIECE_BYTES / ((size_t)r->apart + 1) / some * some, some);
}

/* Before row j. At the first of a piece *next is j. Nothing where there is more between rows than in them, or for
 * cores that see to it. */
INLINE void prefetch_rows(const rows_of *r, size_t j, size_t piece, size_t row_bytes, size_t *next) {
    if (piece == 0 || j < *next || (size_t)r->apart > 2 * row_bytes || FOLLOWS_STREAMS)
        return;
    prefetch_for(row_at(r, j), (piece - 1) * (size_t)r->apart + row_bytes, r->end);
    *next += piece;
}

INLINE void prefetch_in_row(const rows_of *r, size_t piece, const void *at) {
    if (piece == 0 && has_next(at, r->end))
        prefetch_for_line(at);
}

/* The lanes of a, and those of b, added up. */
INLINE void add_lanes_of_two(reals a, reals b, double *to) {
    reals sum = (reals)zip_lower(8, (vec)a, (vec)b) + (reals)zip_upper(8, (vec)a, (vec)b);
    for (size_t distance = LANES / 2; distance > 2; distance /= 2)
        sum += (reals)swap_lanes((vec)sum, distance);
    memcpy(to, &sum, 2 * sizeof *to);
}

INLINE void add_lanes_of_two_64(wide a, wide b, int64_t *to) {
    wide sum = add_64(zip_lower(8, (vec)a, (vec)b), zip_upper(8, (vec)a, (vec)b));
    for (size_t distance = LANES / 2; distance > 2; distance /= 2)
        sum = add_64(sum, swap_lanes((vec)sum, distance));
    memcpy(to, &sum, 2 * sizeof *to);
}

/* ---- sums of floats ---- */

/* Of each row in double: exact if that sets no flag, and the sums are finite. */
__attribute__((noinline)) SIMD static void rows_of_floats_sum(const rows_of *r, double *sum) {
    const size_t n = r->n, piece = rows_of_piece(r, 2, n * sizeof(float));
    const bits_64 some = (bits_64)first_bytes(n % REALS * sizeof(double));
    for (size_t j = 0, next = 0; j < r->count; j += 2) {
        const float *x[2] = {row_at(r, j), row_at(r, j + 1)};
        reals t[4] = {{0}, {0}, {0}, {0}};
        size_t i = 0;
        prefetch_rows(r, j, piece, n * sizeof(float), &next);
        for (; i + 2 * REALS <= n; i += 2 * REALS)
            for (size_t k = 0; k < 4; k++) {
                if (k % 2 == 0)
                    prefetch_in_row(r, piece, x[k / 2] + i);
                t[k] += (reals)load_floats(x[k / 2] + i + k % 2 * REALS);
            }
        for (; i < n; i += REALS)
            for (size_t k = 0; k < 2; k++) {
                const bits_64 y = (bits_64)load_narrow(x[k] + i, n - i, r->end);
                t[2 * k] += (reals)(i + REALS > n ? y & some : y);
            }
        add_lanes_of_two(t[0] + t[1], t[2] + t[3], sum + j);
    }
}

/* Two levels (cpu_levels_simd.h) for up to 1024 numbers below 2^exponent: a unit of the upper one is 2^40 times
 * smaller than that, one of the lower one 2^41 times smaller again. Both keep their exponents. */
typedef struct {
    reals upper, lower, limit; /* what they begin at; of magnitudes */
} two_levels;

/* What such levels hold of numbers. */
typedef struct {
    reals upper, lower, greatest; /* magnitude */
    bits_64 left;                 /* any bit of what both leave */
} two_split;

#define UNIT_BITS 40

INLINE two_levels levels_for(int exponent) {
    const int unit = exponent - UNIT_BITS;
    return (two_levels){(reals){0} + power(unit + 52, true), (reals){0} + power(unit - UNIT_BITS - 1 + 52, true),
                        (reals){0} + power(exponent, false)};
}

/* For what was split: one above its greatest. */
SIMD static int exponent_of(const two_split *t) {
    int exponent = -900;
    for (size_t lane = 0; lane < REALS; lane++) {
        const int of_lane = (int)((uint64_t)((bits_64)t->greatest)[lane] >> 52 & 0x7ff) - 1022;
        exponent = of_lane > exponent ? of_lane : exponent;
    }
    return exponent < 1000 ? exponent : 1000;
}

INLINE void split_into(two_split *t, reals y) {
    t->left |= (bits_64)take_units(&t->lower, take_units(&t->upper, y));
    t->greatest = max_magnitude(t->greatest, y);
}

/* Not 0: something was lost. */
INLINE uint64_t split_lost(const two_split *t, const two_levels *levels) {
    return or_lanes((bits_64)((lanes_64)t->left << 1) | (bits_64)(t->greatest >= levels->limit));
}

/* Adds the sums of rows of doubles to columns j, j + 1, .. of s; the exponent is a guess, which is made better. */
SIMD static void rows_split(const rows_of *r, gp_column_sums *s, size_t column, int *exponent) {
    const size_t n = r->n;
    const bits_64 some = (bits_64)first_bytes(n % REALS * sizeof(double));
    const size_t piece = rows_of_piece(r, 2, n * sizeof(double));
    two_levels levels = levels_for(*exponent);
    for (size_t j = 0, next = 0; j < r->count; j += 2) {
        const double *x[2] = {row_at(r, j), row_at(r, j + 1)};
        double upper[2], lower[2];
        uint64_t lost = 1;
        two_split t[2];
        prefetch_rows(r, j, piece, n * sizeof(double), &next);
        for (unsigned tries = 0; tries < 2 && lost != 0; tries++) {
            if (tries > 0)
                levels = levels_for(*exponent = exponent_of(&t[0]));
            for (size_t k = 0; k < 2; k++)
                t[k] = (two_split){levels.upper, levels.lower, {0}, {0}};
            size_t i = 0;
            for (; i + REALS <= n; i += REALS)
                for (size_t k = 0; k < 2; k++) {
                    prefetch_in_row(r, piece, x[k] + i);
                    split_into(&t[k], (reals)load(x[k] + i));
                }
            for (size_t k = 0; k < 2 && i < n; k++)
                split_into(&t[k], (reals)((bits_64)load_reals(x[k] + i, n - i, r->end) & some));
            t[0].left |= t[1].left;
            t[0].greatest = max_magnitude(t[0].greatest, t[1].greatest);
            lost = split_lost(&t[0], &levels);
        }
        add_lanes_of_two(t[0].upper - levels.upper, t[1].upper - levels.upper, upper);
        add_lanes_of_two(t[0].lower - levels.lower, t[1].lower - levels.lower, lower);
        for (size_t k = 0; k < 2 && j + k < r->count; k++) {
            s->rest[column + j + k] |= lost != 0;
            gp_column_add(s, column + j + k, upper[k]);
            gp_column_add(s, column + j + k, lower[k]);
        }
    }
}

/* Rows of floats, of which doubles did not hold some sum. */
SIMD static void rows_again(const rows_of *r, gp_column_sums *s, size_t column, int *exponent) {
    double widened[ROW_CHUNK];
    const unsigned char *at = (const unsigned char *)widened, *end = at + r->n * sizeof *widened;
    for (size_t j = 0; j < r->count; j++) {
        const float *x = row_at(r, j);
        for (size_t i = 0; i < r->n; i++)
            widened[i] = (double)x[i];
        rows_split(&(rows_of){at, end, 0, 1, r->n, false}, s, column + j, exponent);
    }
}

#define ROWS_PROVED 32 /* at once: all of them are done again if one has to be */

/* Rows of floats. */
SIMD static void rows_narrow(const rows_of *r, gp_column_sums *s, size_t column, int *exponent) {
    const bool before = gp_inexact();
    for (size_t j = 0; j < r->count; j += ROWS_PROVED) {
        double sum[ROWS_PROVED];
        const rows_of some = {row_at(r, j), r->end, r->apart, gp_least(r->count - j, ROWS_PROVED), r->n, false};
        gp_set_inexact(false);
        rows_of_floats_sum(&some, sum);
        if (gp_inexact())
            rows_again(&some, s, column + j, exponent);
        else
            for (size_t k = 0; k < some.count; k++)
                gp_column_add(s, column + j + k, sum[k]);
    }
    gp_set_inexact(before);
}

/* Of f16 and bf16: as floats, some rows at a time. */
SIMD static void rows_halves(const rows_of *r, unsigned type, gp_column_sums *s, int *exponent) {
    float widened[2 * ROW_CHUNK + LANES];
    const unsigned char *at = (const unsigned char *)widened;
    const size_t some = gp_least(2 * ROW_CHUNK / r->n, GP_COLUMNS);
    const bool dense = r->apart == (int64_t)(r->n * sizeof(uint16_t));
    for (size_t j = 0, next = 0; j < r->count; j += some) {
        const size_t count = gp_least(some, r->count - j);
        prefetch_rows(r, j, some, r->n * sizeof(uint16_t), &next);
        for (size_t k = 0; k < count && !dense; k++)
            widen_halves(row_at(r, j + k), type, r->n, widened + k * r->n);
        if (dense)
            widen_halves(row_at(r, j), type, count * r->n, widened);
        const rows_of floats = {
            at, at + count * r->n * sizeof *widened, (int64_t)(r->n * sizeof *widened), count, r->n, false};
        rows_narrow(&floats, s, j, exponent);
    }
}

SIMD static void rows_of_floats(gp_columns *c, unsigned type, rows_of r) {
    const size_t n = r.n, bytes = gp_type_bytes(type);
    gp_column_sums *s = &c->sums[GP_SUM];
    for (size_t done = 0; done < n; done += r.n, r.in += r.n * bytes) {
        r.n = gp_least(n - done, ROW_CHUNK);
        if (type == GP_F64)
            rows_split(&r, s, 0, &c->exponent);
        else if (type == GP_F32)
            rows_narrow(&r, s, 0, &c->exponent);
        else
            rows_halves(&r, type, s, &c->exponent);
    }
}

/* ---- sums of ints ---- */

/* Lanes added up in 64 bits, of bytes without a sign; of 64 bits their lower halves. */
INLINE wide widened_sums(size_t bytes, vec x) {
    if (bytes == 1)
        return add_bytes(x);
    if (bytes == 2)
        x = (vec)(((signed_32)((lanes_32)x << 16) >> 16) + ((signed_32)x >> 16));
    return bytes == 8 ? (wide)(x & (vec)all_64(UINT32_MAX)) : add_pairs_of(x);
}

/* turn: the upper bit, of ints whose sign is not the one that sums are made for. */
INLINE void rows_total(size_t bytes, const rows_of *r, int64_t turn, gp_column_totals *to) {
    const size_t size = r->n * bytes;
    const vec turned = all_of(bytes, turn), some = first_bytes(size % sizeof(vec));
    const int64_t half = (int64_t)((uint64_t)r->n << (bytes < 8 ? 8 * bytes - 1 : 31));
    const int64_t more = turn == 0 ? 0 : bytes == 1 ? -half : half;
    const size_t piece = rows_of_piece(r, 2, size);
    for (size_t j = 0, next = 0; j < r->count; j += 2) {
        const unsigned char *x[2] = {row_at(r, j), row_at(r, j + 1)};
        wide low[2] = {{0}, {0}}, high[2] = {{0}, {0}};
        int64_t lows[2], highs[2];
        prefetch_rows(r, j, piece, size, &next);
        for (size_t i = 0; i < size; i += sizeof(vec))
            for (size_t k = 0; k < 2; k++) {
                const bool ends = i + sizeof(vec) > size;
                prefetch_in_row(r, piece, x[k] + i);
                vec y = (ends ? load_part(x[k] + i, size - i, r->end) : load(x[k] + i)) ^ turned;
                y &= ends ? some : all(-1);
                low[k] = add_64(low[k], widened_sums(bytes, y));
                if (bytes == 8)
                    high[k] = add_64(high[k], (signed_64)y >> 32);
            }
        add_lanes_of_two_64(low[0], low[1], lows);
        add_lanes_of_two_64(high[0], high[1], highs);
        for (size_t k = 0; k < 2 && j + k < r->count; k++) {
            to->low[j + k] += lows[k] + (bytes < 8 ? more : 0);
            to->high[j + k] += bytes < 8 ? 0 : highs[k] + more;
        }
    }
}

SIMD static void rows_of_ints(gp_columns *c, unsigned type, rows_of r) {
    const size_t bytes = gp_type_bytes(type);
    const int64_t turn = gp_type_is_signed(type) == (bytes == 1) ? INT64_MIN >> (64 - 8 * bytes) : 0;
    GP_WITH_BYTES(rows_total, bytes, &r, turn, &c->totals[GP_SUM]);
}
