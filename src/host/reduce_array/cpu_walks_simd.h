/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two loops over rows of contiguous elements: each row is an output, four of them at a time, or each of its elements
 * belongs to another one, rows by fours too. What lies behind a row's end within the input may be loaded, and is
 * masked.
 */

/* Rows of n elements, of `size` bytes. */
typedef struct {
    const unsigned char *in, *with, *end; /* with: NULL, or partners of the one row; the end is the input's */
    int64_t apart;                        /* bytes from one to the next */
    size_t count, n, size;
    bool ahead; /* what comes next is prefetched */
} rows_of;

/* Of each output in 64 bits. */
typedef struct {
    _Alignas(64) int64_t of[PARTS][GP_COLUMNS + 16]; /* whole vectors are stored */
} partials;

#define SIDES 4 /* rows, or vectors of a row, at a time: additions do not wait for each other */

/* The low bytes, extended by their sign. */
static inline int64_t extended(int64_t x, size_t bytes) {
    return (int64_t)((uint64_t)x << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* Longer rows are taken one at a time: cores follow few streams. */
#define LONG_ROW_BYTES ((size_t)1024)

static inline const unsigned char *row_at(const rows_of *r, size_t j) {
    return r->in + (int64_t)gp_least(j, r->count - 1) * r->apart;
}

/* Ones in the first bytes, up to a whole vector. */
INLINE vec first_bytes(size_t bytes) {
    static const int64_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return load((const unsigned char *)ones + 64 - gp_least(bytes, sizeof(vec)));
}

#if !defined(load_some)
NOINLINE SIMD static vec load_some(const unsigned char *at, size_t bytes) {
    unsigned char copy[sizeof(vec)];
    return load(memcpy(copy, at, bytes));
}
#endif

/* A vector of which `bytes` bytes lie in the input, or more. */
INLINE vec load_part(const unsigned char *at, size_t bytes, const unsigned char *end) {
    return (size_t)(end - at) >= sizeof(vec) ? load(at) : load_some(at, bytes);
}

/* What changes nothing: zeros, ones, or an element. */
INLINE vec nothing(form f, const masks *m, const unsigned char *element) {
    if (f.how == BYTES)
        return m->flip;
    int64_t x = f.how == AND ? -1 : 0;
    if (f.how == BEST)
        memcpy(&x, element, bytes_of(f));
    return all_of(f.how == BEST ? bytes_of(f) : 8, x);
}

/* The first bytes of a vector, which are some of a row, and what changes nothing. */
INLINE vec row_end(form f, const masks *m, const unsigned char *at, size_t bytes, vec mask,
                   const unsigned char *end) {
    return (load_part(at, bytes, end) & mask) | (nothing(f, m, at) & ~mask);
}

/* Lanes of two, in turns. */
INLINE partial zipped(form f, size_t bytes, partial a, partial b) {
    partial lower, upper;
    for (size_t i = 0; i < PARTS; i++) {
        lower.of[i] = zip_lower(bytes, a.of[i], b.of[i]);
        upper.of[i] = zip_upper(bytes, a.of[i], b.of[i]);
    }
    return joined_parts(f, lower, upper);
}

/* The results of `together` rows, whose lanes are in turns, from number j on. */
INLINE void end_lanes(form f, size_t bytes, size_t together, partial t, partials *to, size_t j) {
    for (size_t distance = LANES / 2; distance > 0 && 4 * distance >= together * bytes; distance /= 2) {
        partial other;
        for (size_t i = 0; i < PARTS; i++)
            other.of[i] = swap_lanes(t.of[i], distance);
        t = joined_parts(f, t, other);
    }
    for (size_t i = 0; i < parts_of(f) && bytes == 8; i++)
        store(to->of[i] + j, t.of[i]);
    for (size_t i = 0; i < 2 && bytes < 8; i++) {
        unsigned char keys[sizeof(vec)];
        store(keys, t.of[i]);
        for (size_t k = 0; k < gp_greatest(together, 4 / bytes); k++) { /* of one row four bytes are left */
            int64_t key = 0;
            memcpy(&key, keys + k * bytes, bytes);
            key = extended(key, bytes);
            to->of[i][j + k % together] = k >= together && to->of[i][j] > key ? to->of[i][j] : key;
        }
    }
}

/* Sums in 64 bits. */
INLINE partial widened_part(form f, partial t) {
    if (has_halves(f))
        t.of[0] = (vec)widen_sums((sums){t.of[0], t.of[1]});
    else if (f.how == TOTAL && lane_bytes(f) == 4)
        t.of[0] = (vec)add_pairs_of(t.of[0]);
    if (f.how == BOUNDS && bounds_are_one(f))
        t.of[1] = (vec)(-(reals)t.of[0]);
    return t;
}

/* The results of four rows, from number j on; or one, of four parts of a row. */
INLINE void end_rows(form f, bool one, partial a, partial b, partial c, partial d, partials *to, size_t j) {
    const size_t bytes = f.how == BEST ? bytes_of(f) : 8;
    a = widened_part(f, a), b = widened_part(f, b), c = widened_part(f, c), d = widened_part(f, d);
    if (one) {
        end_lanes(f, bytes, 1, joined_parts(f, joined_parts(f, a, b), joined_parts(f, c, d)), to, j);
    } else if (bytes == 8) {
        end_lanes(f, 8, 2, zipped(f, 8, a, b), to, j);
        end_lanes(f, 8, 2, zipped(f, 8, c, d), to, j + 2);
    } else {
        end_lanes(f, bytes, 4, zipped(f, 2 * bytes, zipped(f, bytes, a, b), zipped(f, bytes, c, d)), to, j);
    }
}

INLINE void take_side(form f, const masks *m, partial *t, const unsigned char *x, const unsigned char *y) {
    take_all(f, m, t, load(x), f.sum == GP_DOT ? load(y) : all(0));
}

/* One row, four vectors at a time. */
INLINE void along(form f, const masks *m, const rows_of *r, const unsigned char *x, partials *to, size_t j) {
    partial a = begin(f), b = a, c = a, d = a;
    const unsigned char *y = r->with != NULL ? r->with : x;
    const bool ahead = r->ahead && !FOLLOWS_STREAMS && has_next(x, r->end);
    size_t left = r->size;
    for (; left >= 4 * sizeof(vec); left -= 4 * sizeof(vec), x += 4 * sizeof(vec), y += 4 * sizeof(vec)) {
        for (size_t line = 0; line < 4 * sizeof(vec) && ahead; line += 64)
            prefetch_for_line(x + line);
        take_side(f, m, &a, x, y);
        take_side(f, m, &b, x + sizeof(vec), y + sizeof(vec));
        take_side(f, m, &c, x + 2 * sizeof(vec), y + 2 * sizeof(vec));
        take_side(f, m, &d, x + 3 * sizeof(vec), y + 3 * sizeof(vec));
    }
    for (size_t some; left > 0; left -= some, x += some, y += some) {
        some = gp_least(left, sizeof(vec));
        const vec mask = first_bytes(some);
        const vec z = f.sum == GP_DOT ? (vec)(load_part(y, some, y + left) & mask) : all(0);
        take_all(f, m, &a, row_end(f, m, x, some, mask, r->end), z);
    }
    end_rows(f, true, a, b, c, d, to, j);
}

/* Each row is an output: short ones by fours, but for what is seldom asked for. */
INLINE void over_rows(form f, const masks *m, const rows_of *r, partials *to) {
    const bool often = f.how <= BEST && f.sum == GP_SUM;
    if (!often || r->count == 1 || r->size > LONG_ROW_BYTES) {
        for (size_t j = 0; j < r->count; j++)
            along(f, m, r, row_at(r, j), to, j);
        return;
    }
    const bool dense = (size_t)r->apart <= 2 * r->size;
    const size_t whole = r->size - r->size % sizeof(vec), rest = r->size - whole;
    const vec mask = first_bytes(rest);
    for (size_t j = 0; j < r->count; j += SIDES) {
        const unsigned char *x = row_at(r, j), *y = row_at(r, j + 1), *z = row_at(r, j + 2), *w = row_at(r, j + 3);
        partial a = begin(f), b = a, c = a, d = a;
        const bool ahead = dense && r->ahead && has_next(x, r->end);
        for (size_t i = 0; i < whole; i += sizeof(vec)) {
            if (ahead) {
                prefetch_for_line(x + i), prefetch_for_line(y + i);
                prefetch_for_line(z + i), prefetch_for_line(w + i);
            }
            take_side(f, m, &a, x + i, x + i);
            take_side(f, m, &b, y + i, y + i);
            take_side(f, m, &c, z + i, z + i);
            take_side(f, m, &d, w + i, w + i);
        }
        if (rest > 0 && ahead) {
            prefetch_for_line(x + whole), prefetch_for_line(y + whole);
            prefetch_for_line(z + whole), prefetch_for_line(w + whole);
        }
        if (rest > 0) {
            take_all(f, m, &a, row_end(f, m, x + whole, rest, mask, r->end), mask);
            take_all(f, m, &b, row_end(f, m, y + whole, rest, mask, r->end), mask);
            take_all(f, m, &c, row_end(f, m, z + whole, rest, mask, r->end), mask);
            take_all(f, m, &d, row_end(f, m, w + whole, rest, mask, r->end), mask);
        }
        end_rows(f, false, a, b, c, d, to, j);
    }
}

#define ROWS_AT_ONCE 8 /* of columns: lanes are loaded and stored once for all of them */

#define EIGHT_PAGES -1 /* as a distance: prefetch_for_line() knows */

/* Of each part, those of a piece behind those of the one before. */
typedef unsigned char *const column_lanes[PARTS];

/* Adds a vector of each of `by` rows, or the last of their bytes. */
INLINE void add_vectors(form f, const masks *m, const rows_of *r, const unsigned char *in, size_t bytes, size_t by,
                        int64_t distance, column_lanes lanes, size_t to) {
    vec x[ROWS_AT_ONCE];
    for (size_t k = 0; k < by; k++, in += r->apart) {
        if (distance == EIGHT_PAGES)
            prefetch_for_line(in);
        else if (distance != 0)
            __builtin_prefetch(in + distance, 0, 2);
        x[k] = masked(f, m, bytes == sizeof(vec) ? load(in) : load_part(in, bytes, r->end));
    }
    for (size_t piece = 0; piece < pieces_of(f); piece++, to += sizeof(vec)) {
        partial t;
        for (size_t part = 0; part < parts_of(f); part++)
            t.of[part] = load(lanes[part] + to);
        for (size_t k = 0; k < by; k++) {
            const vec y = widened(f, x[k], piece);
            take(f, &t, f.how >= BYTES ? y : to_add(f, y, y));
        }
        for (size_t part = 0; part < parts_of(f); part++)
            store(lanes[part] + to, t.of[part]);
    }
}

/* Adds `by` rows, from number i on. */
INLINE void add_rows(form f, const masks *m, const rows_of *r, size_t i, size_t by, int64_t distance,
                     column_lanes lanes) {
    const unsigned char *in = r->in + (int64_t)i * r->apart;
    const size_t rest = r->size % sizeof(vec), whole = r->size - rest;
    for (size_t at = 0; at < whole; at += sizeof(vec))
        add_vectors(f, m, r, in + at, sizeof(vec), by, distance, lanes, at * pieces_of(f));
    if (rest > 0)
        add_vectors(f, m, r, in + whole, rest, by, distance, lanes, whole * pieces_of(f));
}

/* Each element of a row belongs to another output. */
INLINE void over_columns(form f, const masks *masks_of_form, const rows_of *rows, bool fresh, column_lanes to) {
    const masks m = *masks_of_form; /* copies, which no store to lanes may change */
    const rows_of r = *rows;
    column_lanes lanes = {to[0], to[1], to[2]};
    const size_t bytes = gp_round_up(r.size, sizeof(vec)) * pieces_of(f);
    const int64_t down = (int64_t)gp_greatest(ROWS_AT_ONCE, PAGE_BYTES / r.size) * r.apart;
    const bool dense = r.apart == (int64_t)r.size && r.size <= PAGE_BYTES / 2;
    const int64_t distance = !r.ahead          ? 0
                             : !dense          ? (r.count > 2 * ROWS_AT_ONCE ? down : (int64_t)PAGE_BYTES)
                             : FOLLOWS_STREAMS ? BYTES_AHEAD + ROWS_AT_ONCE * r.apart
                                               : EIGHT_PAGES;
    for (size_t part = 0; part < parts_of(f) && fresh; part++)
        for (size_t at = 0; at < bytes; at += sizeof(vec))
            store(lanes[part] + at, begin(f).of[part]);
    size_t i = 0;
    for (; i + ROWS_AT_ONCE <= r.count; i += ROWS_AT_ONCE)
        add_rows(f, &m, &r, i, ROWS_AT_ONCE, distance, lanes);
    for (; i < r.count; i++)
        add_rows(f, &m, &r, i, 1, 0, lanes);
}

/* A signed int of so many bytes, by its type: so that compilers extend vectors of them. */
INLINE int64_t extended_at(const unsigned char *at, size_t bytes) {
    int8_t byte;
    int16_t two;
    int32_t four;
    int64_t eight;
    memcpy(bytes == 1   ? (void *)&byte
           : bytes == 2 ? (void *)&two
           : bytes == 4 ? (void *)&four
                        : (void *)&eight,
           at, bytes);
    return bytes == 1 ? byte : bytes == 2 ? two : bytes == 4 ? four : eight;
}

/* Lanes in the order of elements, in 64 bits; `pieces` as in widened(), 0: of bf16. Of whole vectors. */
INLINE void order_as(size_t bytes, size_t pieces, const unsigned char *lanes, size_t n, int64_t *to) {
    const size_t width = sizeof(vec) / bytes, of_vector = pieces > 0 ? pieces : 4;
    for (; n > 0; n -= gp_least(n, width * of_vector), to += width * of_vector, lanes += sizeof(vec) * of_vector)
        for (size_t k = 0; k < width; k++)
            for (size_t piece = 0; piece < of_vector; piece++) {
                const unsigned char *x = lanes + (piece * width + k) * bytes;
                to[pieces > 0 ? k * pieces + piece : 2 * (piece % 2 * width + k) + piece / 2] = extended_at(x, bytes);
            }
}

SIMD static void order_lanes(size_t bytes, size_t pieces, const unsigned char *lanes, size_t n, int64_t *to) {
    if (pieces == 0)
        order_as(8, 0, lanes, n, to);
    else if (pieces == 1)
        GP_WITH_BYTES(order_as, bytes, 1, lanes, n, to);
    else if (pieces == 2)
        GP_WITH_BYTES(order_as, bytes, 2, lanes, n, to);
    else
        bytes == 4 ? order_as(4, 4, lanes, n, to) : order_as(8, 4, lanes, n, to);
}
