/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, and the least or the greatest, of neighbouring columns: rows by fours, whose columns are vectors. */

#define FOUR 4
#define AHEAD_BYTES 4096
#define ROWS_CHUNK 64 /* between two proofs; sums of so many bytes are within 16 bits */

/* Stands for rows behind the last. */
static const double no_row[GP_COLUMNS + REALS];

/* Rows i to i + 3; about AHEAD_BYTES further on four are prefetched. */
INLINE void four_rows(const rows_of *r, uint64_t i, size_t bytes, const void *spare, const unsigned char *row[FOUR]) {
    const unsigned char *at = r->in + (int64_t)i * r->apart;
    const int64_t size = (int64_t)(r->n * bytes), ahead = (AHEAD_BYTES / size + FOUR) * r->apart;
    const bool dense = r->apart == size;
    if (dense)
        prefetch_for(at, FOUR * (size_t)size, r->end);
    for (size_t k = 0; k < FOUR; k++) {
        row[k] = k < r->count - i ? at + (int64_t)k * r->apart : spare;
        const unsigned char *next = at + (int64_t)k * r->apart;
        for (int64_t line = 0; line < size && !dense && r->ahead && ahead < r->end - next; line += 64)
            __builtin_prefetch(next + ahead + line);
    }
}

/* Floats or doubles j, j + 1, .. of a row; padded: it has whole vectors. */
INLINE reals load_columns(const rows_of *r, bool narrow, bool padded, const unsigned char *row, size_t j) {
    const bool part = r->n - j < REALS && !padded && row != (const unsigned char *)no_row;
    if (narrow)
        return part ? load_narrow((const float *)(const void *)row + j, r->n - j, r->end)
                    : (reals)load_floats((const float *)(const void *)row + j);
    return part ? load_reals((const double *)(const void *)row + j, r->n - j, r->end)
                : (reals)load(row + j * sizeof(double));
}

/* Of floats in double: exact if that sets no flag, and the sums are finite. */
__attribute__((noinline)) SIMD static void columns_of_floats_sum(const rows_of *r, unsigned type, double *sum) {
    float widened[FOUR][GP_COLUMNS + REALS]; /* lanes behind the last are added too: none may raise the flag */
    memset(sum, 0, gp_round_up(r->n, REALS) * sizeof *sum);
    if (type != GP_F32)
        memset(widened, 0, sizeof widened);
    for (uint64_t i = 0; i < r->count; i += FOUR) {
        const unsigned char *row[FOUR];
        four_rows(r, i, gp_type_bytes(type), no_row, row);
        for (size_t k = 0; k < FOUR && type != GP_F32; k++) {
            widen_halves((const void *)row[k], type, r->n, widened[k]);
            row[k] = (const unsigned char *)widened[k];
        }
        for (size_t j = 0; j < r->n; j += REALS) {
            reals t = (reals)load(sum + j);
            for (size_t k = 0; k < FOUR; k++)
                t += load_columns(r, true, type != GP_F32, row[k], j);
            store(sum + j, (vec)t);
        }
    }
}

/* Of doubles by two levels: what each has grown by. Not 0: something was lost. */
SIMD static uint64_t columns_split(const rows_of *r, int *exponent, double *upper, double *lower) {
    const two_levels levels = levels_for(*exponent);
    two_split t = {{0}, {0}, {0}, {0}};
    for (size_t j = 0; j < r->n; j += REALS) {
        store(upper + j, (vec)levels.upper);
        store(lower + j, (vec)levels.lower);
    }
    for (uint64_t i = 0; i < r->count; i += FOUR) {
        const unsigned char *row[FOUR];
        four_rows(r, i, sizeof(double), no_row, row);
        for (size_t j = 0; j < r->n; j += REALS) {
            t.upper = (reals)load(upper + j);
            t.lower = (reals)load(lower + j);
            for (size_t k = 0; k < FOUR; k++)
                split_into(&t, load_columns(r, false, false, row[k], j));
            store(upper + j, (vec)t.upper);
            store(lower + j, (vec)t.lower);
        }
    }
    for (size_t j = 0; j < r->n; j += REALS) {
        store(upper + j, (vec)((reals)load(upper + j) - levels.upper));
        store(lower + j, (vec)((reals)load(lower + j) - levels.lower));
    }
    const uint64_t lost = split_lost(&t, &levels);
    *exponent = lost != 0 ? exponent_of(&t) : *exponent;
    return lost;
}

/* Whether the quick way was exact; after failures it is seldom tried. */
SIMD static bool columns_quickly(gp_columns *c, const rows_of *r, unsigned type) {
    double first[GP_COLUMNS + REALS], second[GP_COLUMNS + REALS];
    const bool wide_type = type == GP_F64, before = gp_inexact();
    gp_column_sums *s = &c->sums[GP_SUM];
    bool lost;
    if (c->skipped++ < c->skip)
        return false;
    gp_set_inexact(false);
    if (wide_type)
        lost =
            columns_split(r, &c->exponent, first, second) != 0 && columns_split(r, &c->exponent, first, second) != 0;
    else
        columns_of_floats_sum(r, type, first);
    lost = wide_type ? lost : gp_inexact();
    gp_set_inexact(before);
    c->skip = !lost ? 0 : c->skip < 31 ? 2 * c->skip + 1 : 31;
    c->skipped = 0;
    for (size_t j = 0; j < r->n && !lost; j++)
        gp_column_add(s, j, first[j]);
    for (size_t j = 0; j < r->n && !lost && wide_type; j++)
        gp_column_add(s, j, second[j]);
    return !lost;
}

SIMD static void columns_of_floats(gp_columns *c, unsigned type, rows_of r) {
    for (uint64_t rows = r.count; rows > 0; rows -= r.count, r.in += (int64_t)r.count * r.apart) {
        r.count = gp_least(rows, ROWS_CHUNK);
        if (columns_quickly(c, &r, type))
            continue;
        for (uint64_t i = 0; i < r.count; i++) {
            int64_t x[GP_COLUMNS];
            double real[GP_COLUMNS];
            widen_row(type, r.in + (int64_t)i * r.apart, r.n, x);
            memcpy(real, x, r.n * sizeof *x);
            columns_sum(&c->sums[GP_SUM], real, r.n);
        }
    }
}

/* Adds four rows to sums that may not lie where they do. */
#define ADD_FOUR(type, sum_type)                                                                           \
    SIMD static void add_four_##type(const unsigned char *const row[FOUR], size_t n, void *sum) {          \
        const type *restrict a = (const void *)row[0], *restrict b = (const void *)row[1];                 \
        const type *restrict c = (const void *)row[2], *restrict d = (const void *)row[3];                 \
        sum_type *restrict to = sum;                                                                       \
        for (size_t j = 0; j < n; j++)                                                                     \
            to[j] = (sum_type)(to[j] + (sum_type)a[j] + (sum_type)b[j] + (sum_type)c[j] + (sum_type)d[j]); \
    }
ADD_FOUR(uint8_t, uint16_t)
ADD_FOUR(int8_t, int16_t)
ADD_FOUR(uint16_t, uint32_t)
ADD_FOUR(int16_t, int32_t)
ADD_FOUR(uint32_t, int64_t)
ADD_FOUR(int32_t, int64_t)
#undef ADD_FOUR

SIMD static void add_four_wide(const unsigned char *const row[FOUR], unsigned type, size_t n, gp_column_totals *to) {
    for (size_t k = 0; k < FOUR; k++)
        columns_total(to, type, (const int64_t *)(const void *)row[k], n);
}

/* Ints of up to 16 bits are added in twice as many, and now and then to the columns. */
SIMD static void columns_of_ints(gp_columns *c, unsigned type, rows_of r) {
    static void (*const add_four[])(const unsigned char *const row[FOUR], size_t n, void *sum) = {
        [GP_U8] = add_four_uint8_t,  [GP_S8] = add_four_int8_t,    [GP_U16] = add_four_uint16_t,
        [GP_S16] = add_four_int16_t, [GP_U32] = add_four_uint32_t, [GP_S32] = add_four_int32_t};
    _Alignas(64) unsigned char sum[GP_COLUMNS * sizeof(int32_t)];
    const size_t bytes = gp_type_bytes(type);
    gp_column_totals *to = &c->totals[GP_SUM];
    for (uint64_t rows = r.count; rows > 0; rows -= r.count, r.in += (int64_t)r.count * r.apart) {
        r.count = gp_least(rows, ROWS_CHUNK);
        memset(sum, 0, bytes <= 2 ? 2 * bytes * r.n : 0);
        for (uint64_t i = 0; i < r.count; i += FOUR) {
            const unsigned char *row[FOUR];
            four_rows(&r, i, bytes, no_row, row);
            if (bytes == 8)
                add_four_wide(row, type, r.n, to);
            else
                add_four[type](row, r.n, bytes == 4 ? (void *)to->low : sum);
        }
        for (size_t j = 0; j < r.n && bytes == 1; j++)
            to->low[j] +=
                type == GP_U8 ? ((const uint16_t *)(const void *)sum)[j] : ((const int16_t *)(const void *)sum)[j];
        for (size_t j = 0; j < r.n && bytes == 2; j++)
            to->low[j] += type == GP_U16 ? (int64_t)((const uint32_t *)(const void *)sum)[j]
                                         : (int64_t)((const int32_t *)(const void *)sum)[j];
    }
}

INLINE void columns_best(size_t bytes, const rows_of *r, unsigned type, bool max, int64_t *to) {
    unsigned char best[GP_COLUMNS * sizeof(int64_t) + sizeof(vec)];
    const turning t = turning_of(bytes, type, max);
    const size_t size = r->n * bytes;
    for (size_t at = 0; at < size; at += sizeof(vec))
        store(best + at, all_of(bytes, INT64_MIN >> (64 - 8 * bytes)));
    for (uint64_t i = 0; i < r->count; i += FOUR) {
        const unsigned char *row[FOUR];
        four_rows(r, i, bytes, r->in, row);
        for (size_t at = 0; at < size; at += sizeof(vec)) {
            vec x = load(best + at);
            for (size_t k = 0; k < FOUR; k++)
                x = max_signed(
                    bytes, x,
                    turned(bytes,
                           size - at >= sizeof(vec) ? load(row[k] + at) : load_part(row[k] + at, size - at, r->end),
                           &t));
            store(best + at, x);
        }
    }
    take_best(bytes, best, r->n, &t, max, to);
}

SIMD static void take_extreme(gp_columns *c, unsigned type, bool outputs, const rows_of *r, bool max) {
    int64_t *to = max ? c->max : c->min;
    if (outputs)
        GP_WITH_BYTES(rows_best, gp_type_bytes(type), r, type, max, to);
    else
        GP_WITH_BYTES(columns_best, gp_type_bytes(type), r, type, max, to);
}

/* Plain passes. `outputs`: each row is one; else each of its elements belongs to another. */
SIMD static void take_plain(gp_columns *c, const gp_pass *pass, bool outputs, rows_of r) {
    if (pass->kind == GP_PASS_EXTREMES) {
        if (pass->wants & (GP_WANT_MIN | GP_WANT_MAX_ABS))
            take_extreme(c, pass->type, outputs, &r, false);
        if (pass->wants & (GP_WANT_MAX | GP_WANT_MAX_ABS))
            take_extreme(c, pass->type, outputs, &r, true);
    } else if (gp_type_is_float(pass->type)) {
        (outputs ? rows_of_floats : columns_of_floats)(c, pass->type, r);
    } else {
        (outputs ? rows_of_ints : columns_of_ints)(c, pass->type, r);
    }
}

SIMD static void columns(gp_columns *c, const gp_pass *pass, const unsigned char *in, uint64_t rows, int64_t step,
                         int64_t place, int64_t place_step) {
    static const uint8_t ints[] = {[GP_F16] = GP_S16, [GP_BF16] = GP_S16, [GP_F32] = GP_S32, [GP_F64] = GP_S64};
    _Alignas(64) int64_t x[GP_COLUMNS];
    _Alignas(64) unsigned char gathered[GP_COLUMNS * sizeof *x];
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX), extremes = pass->kind == GP_PASS_EXTREMES;
    const unsigned bytes = gp_type_bytes(pass->type);
    const unsigned type = extremes && pass->type >= GP_F16 ? ints[pass->type] : pass->type;
    const bool apart = c->apart != bytes;
    if (gp_columns_are_plain(pass) && (!apart || step == bytes)) {
        const bool ahead = !FOLLOWS_STREAMS || pass->type == GP_F16 || pass->type == GP_BF16;
        take_plain(c, pass, apart,
                   apart ? (rows_of){in, c->end, c->apart, c->count, rows, ahead}
                         : (rows_of){in, c->end, step, rows, c->count, ahead});
        return;
    }
    if (apart)
        prefetch_for(in, c->count * (size_t)c->apart, c->end);
    for (uint64_t i = 0; i < rows; i++, in += step, place += place_step) {
        for (size_t line = 0; line < c->count * bytes && i + 8 < rows && !apart; line += 64)
            __builtin_prefetch(in + 8 * step + line);
        if (apart)
            GP_WITH_BYTES(gather_row, bytes, in, c->apart, c->count, gathered);
        widen_row(type, apart ? gathered : in, c->count, x);
        if (extremes)
            columns_extremes(c, pass->type, places, x, c->count, place);
        else if (pass->kind == GP_PASS_BITS)
            columns_bits(c, x, c->count);
        else
            columns_moments(c, pass, x, c->count);
    }
}
