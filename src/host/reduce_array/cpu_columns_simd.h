/* SPDX-License-Identifier: Apache-2.0 */
/* Many outputs at a time: what the loops of cpu_walks_simd.h make of rows is added to a gp_columns. */

/* After round_sums_as(GP_ROUNDING_DOWN). There is room for whole vectors. */
NOINLINE SIMD static void add_down(double *to, const double *x, size_t n) {
    for (size_t j = 0; j < n; j += REALS)
        store(to + j, (vec)sum_down((reals)load(to + j), (reals)load(x + j)));
}

/* Of n outputs, from number `at` of x on. */
SIMD static void hold_sums(gp_columns *c, form f, const partials *x, size_t at, size_t n) {
    const int64_t *part[PARTS] = {x->of[0] + at, x->of[1] + at, x->of[2] + at};
    const double *first = (const double *)part[0], *second = (const double *)part[1];
    if (f.how == TOTAL) {
        int64_t *low = f.sum == COUNTED ? c->nonzero : c->sums[f.sum].low;
        for (size_t j = 0; j < n; j++)
            low[j] += part[0][j];
        for (size_t j = 0; j < n && has_high(f); j++)
            c->sums[f.sum].high[j] += part[1][j];
        return;
    }
    gp_column_sums *s = &c->sums[f.sum];
    if (f.how == BOUNDS) {
        round_sums_as(GP_ROUNDING_DOWN);
        add_down(s->sum, first, n);
        add_down(s->errors, second, n);
        round_sums_as(GP_ROUNDING_NEAREST);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        gp_column_add(s, j, first[j]);
        gp_column_add(s, j, second[j]);
        s->rest[j] += gp_f64_of_bits((uint64_t)part[2][j]);
    }
}

#define LOOKED_AT_ONCE 64

#define IS_AMONG(type)                                                   \
    INLINE bool is_##type##_among(const unsigned char *at, uint64_t x) { \
        type element, found = 0;                                         \
        for (size_t i = 0; i < LOOKED_AT_ONCE; i++) {                    \
            memcpy(&element, at + i * sizeof element, sizeof element);   \
            found |= (type)(element == (type)x);                         \
        }                                                                \
        return found != 0;                                               \
    }

IS_AMONG(uint8_t)
IS_AMONG(uint16_t)
IS_AMONG(uint32_t)
IS_AMONG(uint64_t)

INLINE bool is_among(size_t bytes, const unsigned char *at, uint64_t x) {
    return bytes == 1   ? is_uint8_t_among(at, x)
           : bytes == 2 ? is_uint16_t_among(at, x)
           : bytes == 4 ? is_uint32_t_among(at, x)
                        : is_uint64_t_among(at, x);
}

/* The first (last) of n elements, `apart` bytes from each other, with these bits. */
INLINE size_t find_as(size_t bytes, const unsigned char *at, int64_t apart, size_t n, uint64_t bits, bool last) {
    size_t i = last ? n - 1 : 0;
    if (apart == (int64_t)bytes && !last)
        while (i + LOOKED_AT_ONCE <= n && !is_among(bytes, at + i * bytes, bits))
            i += LOOKED_AT_ONCE;
    while (memcmp(at + (int64_t)i * apart, &bits, bytes) != 0)
        i = last ? i - 1 : i + 1;
    return i;
}

/* The place of a key that is there, if it comes before another. */
SIMD static int64_t place_of(const gp_pass *pass, int64_t key, const unsigned char *at, int64_t apart, size_t n,
                             int64_t place, int64_t step, bool better, int64_t before) {
    const gp_key_form k = gp_key_form_of(pass->type);
    const int64_t x = (int64_t)((uint64_t)key + (uint64_t)k.half);
    const uint64_t bits = (uint64_t)(x ^ ((x >> 63) & k.mask));
    if (!better && (step < 0 ? place + step * (int64_t)(n - 1) : place) >= before)
        return before;
    const int64_t found =
        place + step * (int64_t)GP_WITH_BYTES(find_as, gp_type_bytes(pass->type), at, apart, n, bits, step < 0);
    return better || found < before ? found : before;
}

/* Of n outputs, each `length` elements of r from `at` on. */
static void hold_places(gp_columns *c, const gp_pass *pass, bool outputs, const rows_of *r, int64_t place,
                        int64_t step, const partials *x, size_t n) {
    const size_t bytes = gp_type_bytes(pass->type), length = outputs ? r->n : r->count;
    const int64_t apart = outputs ? (int64_t)bytes : r->apart;
    for (size_t j = 0; j < n; j++) {
        const int64_t min = ~x->of[1][j], max = x->of[0][j];
        const unsigned char *at = outputs ? row_at(r, j) : r->in + j * bytes;
        if ((pass->wants & GP_WANT_ARGMIN) && min <= c->min[j])
            c->argmin[j] = place_of(pass, min, at, apart, length, place, step, min < c->min[j], c->argmin[j]);
        if ((pass->wants & GP_WANT_ARGMAX) && max >= c->max[j])
            c->argmax[j] = place_of(pass, max, at, apart, length, place, step, max > c->max[j], c->argmax[j]);
    }
}

SIMD static void hold_extremes(gp_columns *c, const partials *x, size_t at, size_t n) {
    for (size_t j = 0; j < n; j++) {
        const int64_t min = ~x->of[1][at + j], max = x->of[0][at + j];
        c->min[j] = min < c->min[j] ? min : c->min[j];
        c->max[j] = max > c->max[j] ? max : c->max[j];
    }
}

SIMD static void hold_bits(gp_columns *c, method how, const partials *x, size_t at, size_t n) {
    for (size_t j = 0; j < n; j++)
        if (how == AND)
            c->bits_and[j] &= x->of[0][at + j];
        else if (how == OR)
            c->bits_or[j] |= x->of[0][at + j];
        else
            c->bits_xor[j] ^= x->of[0][at + j];
}

/* What a pass wants, as forms of its type. */
typedef struct {
    size_t count;
    form of[4];
} wanted_forms;

static wanted_forms forms_of(const gp_pass *pass, method of_floats) {
    static const uint8_t of_bit[] = {COUNTED, GP_SUM, GP_ABS, GP_SQUARES, GP_DOT}; /* from GP_WANT_COUNT on */
    wanted_forms w;
    w.count = 1;
    w.of[0] = (form){BEST, pass->type, 0};
    if (pass->kind == GP_PASS_EXTREMES)
        return w;
    w.count = 0;
    for (unsigned left = pass->wants; left != 0; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctz(left);
        if (bit < 8)
            w.of[w.count++] = (form){AND + bit, pass->type, 0};
        else
            w.of[w.count++] = (form){bit == 8 || !gp_sum_is_real(pass, of_bit[bit - 8]) ? TOTAL : of_floats,
                                     pass->type, of_bit[bit - 8]};
    }
    return w;
}

/* outputs: each row is one; else each of its elements belongs to another. x is of n of them. */
SIMD static void hold(gp_columns *c, const gp_pass *pass, form f, bool outputs, const rows_of *r, int64_t place,
                      int64_t step, const partials *x, size_t n) {
    const size_t width = outputs ? n : c->outputs;
    if (f.how == BEST && (pass->wants & GP_WANT_PLACES))
        hold_places(c, pass, outputs, r, place, step, x, n);
    for (size_t at = 0; at < n; at += width)
        if (f.how == BEST)
            hold_extremes(c, x, at, width);
        else if (f.how > BEST)
            hold_bits(c, f.how, x, at, width);
        else
            hold_sums(c, f, x, at, width);
}

/* Rows of columns, of each GP_COLUMNS in a gp_columns. A form has lanes for one to three parts; addresses of those
 * that it has not end with the lanes. */
NOINLINE SIMD static void hold_columns(gp_columns *c, const gp_pass *pass, form f, rows_of r, int64_t place,
                                       int64_t step, partials *x) {
    _Alignas(64) unsigned char lanes[LANES_BYTES];
    const size_t bytes = gp_type_bytes(pass->type), most = columns_at_once(f), part = most * bytes_of_lane(f);
    for (size_t left = r.n, n; left > 0; left -= r.n) {
        r.n = gp_least(left, most), r.size = r.n * bytes;
        walk_lanes(f, &r, true, (column_lanes){lanes, lanes + part, lanes + gp_least(2 * part, LANES_BYTES)});
        for (size_t at = 0; at < r.n; at += n, r.in += n * bytes) {
            n = gp_least(r.n - at, GP_COLUMNS);
            read_lanes(f, lanes, at, n, x);
            hold(c++, pass, f, false, &r, place, step, x, n);
        }
    }
}

SIMD static void take_rows(gp_columns *c, const gp_pass *pass, bool outputs, const rows_of *r, int64_t place,
                           int64_t step) {
    const wanted_forms wanted = forms_of(pass, BOUNDS);
    partials x;
    if (outputs && pass->kind == GP_PASS_MOMENTS && pass->wants == (GP_WANT_SUM | GP_WANT_SQUARES) &&
        wanted.of[1].how == BOUNDS && !gp_columns_pair(c, pass, GP_SUM) && !gp_columns_pair(c, pass, GP_SQUARES)) {
        walk_rows((form){BOUNDS, pass->type, GP_MOMENTS}, r, &x);
        hold_sums(c, wanted.of[0], &x, 0, r->count);
        memcpy(x.of[0], x.of[2], 2 * sizeof x.of[0]);
        hold_sums(c, wanted.of[1], &x, 0, r->count);
        return;
    }
    for (size_t k = 0; k < wanted.count; k++) {
        form f = wanted.of[k];
        if (f.how == BOUNDS && gp_columns_pair(c, pass, f.sum))
            f.how = PAIRS;
        if (outputs) {
            walk_rows(f, r, &x);
            hold(c, pass, f, true, r, place, step, &x, r->count);
        } else if (r->n == c->outputs && (f.type >= GP_F32 || bytes_of(f) == 8) &&
                   (f.how == PAIRS || (f.how == BOUNDS && !(pass->wants & GP_WANT_SQUARES)))) { /* in place */
            gp_column_sums *s = &c->sums[f.sum];
            walk_lanes(f, r, false, (column_lanes){(void *)s->sum, (void *)s->errors, (void *)s->rest});
        } else {
            hold_columns(c, pass, f, *r, place, step, &x);
        }
    }
}

/* Rows that are no longer are gathered as columns, which need no last step to one output each. That of pairs is long,
 * and that of what over_rows() takes one by one. */
static size_t short_row(const gp_columns *c, const gp_pass *pass) {
    const bool paired = pass->kind == GP_PASS_MOMENTS && c->pairs == GP_PAIRED_ALL && gp_type_is_float(pass->type);
    if ((pass->wants & GP_WANT_SQUARES) && gp_sum_is_real(pass, GP_SQUARES))
        return gp_columns_pair(c, pass, GP_SQUARES) ? 64 : 8;
    if (paired)
        return 15;
    return (pass->wants & ~(GP_WANT_SUM | GP_WANT_MIN | GP_WANT_MAX | GP_WANT_PLACES)) == 0 ? 2 : 4;
}

#define GATHERED_ROW_BYTES 256 /* of longer rows elements that are not contiguous are gathered row by row */

#define MOST_ROWS_GATHERED 256 /* as many bytes have a sum in 16 bits */

/* Where neither rows nor columns are contiguous. By itself, for its frame. */
NOINLINE SIMD static void gather_rows(gp_columns *c, const gp_pass *pass, bool outputs, const unsigned char *in,
                                      uint64_t rows, int64_t step, int64_t place, int64_t place_step) {
    _Alignas(64) unsigned char gathered[ROWS_AT_ONCE * GP_COLUMNS * 8];
    const size_t bytes = gp_type_bytes(pass->type), size = c->count * bytes;
    for (uint64_t some; rows > 0; rows -= some, in += (int64_t)some * step, place += (int64_t)some * place_step) {
        some = gp_least(gp_least(sizeof gathered / size, MOST_ROWS_GATHERED), rows);
        const uint64_t runs = outputs ? c->count : some, n = outputs ? some : c->count;
        GP_WITH_BYTES(gp_gather_runs, bytes, in, runs, outputs ? c->apart : step, n, outputs ? step : c->apart,
                      gathered);
        take_rows(c, pass, outputs,
                  &(rows_of){gathered, NULL, gathered + some * size, (int64_t)(n * bytes), runs, n, n * bytes, false},
                  place, place_step);
    }
}

SIMD static void columns(gp_columns *c, const gp_pass *pass, const unsigned char *in, uint64_t rows, int64_t step,
                         int64_t place, int64_t place_step) {
    const size_t bytes = gp_type_bytes(pass->type), size = c->count * bytes;
    const bool ahead = c->bytes > IN_CACHE_BYTES, dense = c->apart == (int64_t)bytes;
    const bool outputs = !dense && (step == (int64_t)bytes ? rows > short_row(c, pass)
                                                           : step < c->apart && rows * bytes >= GATHERED_ROW_BYTES);
    if (outputs ? step == (int64_t)bytes : dense) {
        const rows_of r = outputs ? (rows_of){in, NULL, c->end, c->apart, c->count, rows, rows * bytes, ahead}
                                  : (rows_of){in, NULL, c->end, step, rows, c->count, size, ahead};
        take_rows(c, pass, outputs, &r, place, place_step);
    } else {
        gather_rows(c, pass, outputs, in, rows, step, place, place_step);
    }
}
