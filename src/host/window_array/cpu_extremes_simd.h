/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least or the greatest of windows, included once for each ELEMENT. Floats have the signed type of
 * their size, in which keys compare as they do; NaNs take the key that wins. Along a row windows double until they
 * are long enough; along Y each block of as many rows as a window has is gone through from both ends, after M. van
 * Herk, "A fast algorithm for local minimum and maximum filters": three comparisons an output. The macros that it
 * defines read the same each time, and stay.
 */
#define BITS (8 * sizeof(ELEMENT))
#define OF_LINE (64 / sizeof(ELEMENT))
#define GREATEST_KEY ((ELEMENT)(UINT64_MAX >> (64 - BITS + ((ELEMENT)-1 < 1)))) /* a bit less with a sign */
#define LEAST_KEY ((ELEMENT)~GREATEST_KEY)

/* A float's key, its own inverse. Zero, the border, is its own key. */
#define KEY(x) ((ELEMENT)((x) ^ (((x) >> (BITS - 1)) & GREATEST_KEY)))

/* How rows become keys, and keys results. */
typedef struct OF_TYPE(way) {
    bool is_float, greatest;
    bool in_place;    /* results are made where they belong */
    ELEMENT infinity; /* its bits: magnitudes above are NaNs */
    ELEMENT nan, canonical, nothing;
} OF_TYPE(way);

SIMD static void OF_TYPE(keys)(const OF_TYPE(way) * way, ELEMENT *to, const ELEMENT *from, size_t n) {
    if (!way->is_float)
        memmove(to, from, n * sizeof *to);
    for (size_t i = 0; way->is_float && i < n; i++) {
        const ELEMENT x = from[i], magnitude = x & GREATEST_KEY;
        to[i] = magnitude > way->infinity ? way->nan : KEY(x);
    }
}

GP_WINDOW_EXTEND(OF_TYPE(extend), ELEMENT, SIMD)

/* The extended row. */
SIMD static void OF_TYPE(row_of_keys)(const gp_window_tile *t, const OF_TYPE(way) * way, const unsigned char *row,
                                      ELEMENT *to) {
    const ELEMENT outside = t->one->box->border == GP_BORDER_ZERO ? 0 : way->nothing;
    for (size_t i = 0; row == NULL && i < t->ext; i++)
        to[i] = outside;
    if (row == NULL)
        return;
    OF_TYPE(keys)(way, to + t->left, gp_window_held_row(t, row, to + t->left), t->held);
    OF_TYPE(extend)(t, to, t->channels, outside);
}

SIMD static void OF_TYPE(better_of)(bool greatest, ELEMENT *to, const ELEMENT *a, const ELEMENT *b, size_t n) {
    if (greatest)
        for (size_t i = 0; i < n; i++)
            to[i] = a[i] > b[i] ? a[i] : b[i];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = a[i] < b[i] ? a[i] : b[i];
}

SIMD static void OF_TYPE(best_of_three)(bool greatest, ELEMENT *to, const ELEMENT *a, const ELEMENT *b,
                                        const ELEMENT *c, size_t n) {
    for (size_t i = 0; i < n && greatest; i++) {
        const ELEMENT best = a[i] > b[i] ? a[i] : b[i];
        to[i] = best > c[i] ? best : c[i];
    }
    for (size_t i = 0; i < n && !greatest; i++) {
        const ELEMENT best = a[i] < b[i] ? a[i] : b[i];
        to[i] = best < c[i] ? best : c[i];
    }
}

#define FEW 5 /* rows or columns of a window that are compared as they are */

/* Of `count` that are `apart`. */
static void OF_TYPE(best_of_few)(bool greatest, ELEMENT *to, const ELEMENT *from, size_t apart, size_t count,
                                 size_t n) {
    const size_t last = count - 1;
    OF_TYPE(best_of_three)(greatest, to, from, from + gp_least(1, last) * apart, from + gp_least(2, last) * apart, n);
    for (size_t k = 3; k < count; k += 2)
        OF_TYPE(best_of_three)(greatest, to, to, from + k * apart, from + gp_least(k + 1, last) * apart, n);
}

/* The row of the input at i, each output's window along it. */
SIMD static void OF_TYPE(row_of_windows)(const gp_window_tile *t, const OF_TYPE(way) * way, int64_t i, ELEMENT *row,
                                         ELEMENT *to) {
    const size_t c = t->channels, window = (size_t)t->x.window;
    size_t n = t->n + (window - 1) * c, have = 1;
    OF_TYPE(row_of_keys)(t, way, gp_window_row(t, i), row);
    row += t->skew;
    if (window <= FEW) {
        OF_TYPE(best_of_few)(way->greatest, to, row, c, window, t->n);
        return;
    }
    for (size_t more; 2 * have < window; have += more) {
        more = have;
        n -= more * c;
        OF_TYPE(better_of)(way->greatest, row, row, row + more * c, n);
    }
    OF_TYPE(better_of)(way->greatest, to, row, row + (window - have) * c, t->n);
}

/* Where results of a row are made. */
static ELEMENT *OF_TYPE(row_of_results)(const gp_window_tile *t, const OF_TYPE(way) * way, unsigned r, uint64_t y) {
    return (ELEMENT *)(void *)(way->in_place ? gp_window_result_row(t, r, y) : t->row);
}

SIMD static void OF_TYPE(put)(const gp_window_tile *t, const OF_TYPE(way) * way, unsigned r, uint64_t y) {
    ELEMENT *row = (ELEMENT *)(void *)t->row;
    if (way->in_place)
        return;
    for (size_t i = 0; way->is_float && i < t->n; i++)
        row[i] = row[i] == way->nan ? way->canonical : KEY(row[i]);
    put(t, r, gp_window_result_row(t, r, y), (stretch){0, t->n, 0, 0, 0});
}

/* An odd number of lines, so that rows meet in no set of a cache. */
static size_t OF_TYPE(rows_apart)(const gp_window_tile *t) {
    return (gp_divide_up(t->n, OF_LINE) | 1) * OF_LINE;
}

SIMD static void OF_TYPE(walk)(const gp_window_tile *t, const OF_TYPE(way) * way, unsigned r, ELEMENT *memory) {
    const size_t n = t->n, window = (size_t)t->y.window, apart = OF_TYPE(rows_apart)(t);
    ELEMENT *row = memory, *first = row + gp_round_up(t->ext, OF_LINE), *block = first + apart,
            *next = block + apart * window;
    const int64_t begin = (int64_t)t->y_begin - t->y.before;
    for (size_t i = 0; i < window; i++)
        OF_TYPE(row_of_windows)(t, way, begin + (int64_t)i, row, block + i * apart);
    for (uint64_t y = t->y_begin; window <= FEW; y++) {
        OF_TYPE(best_of_few)(way->greatest, OF_TYPE(row_of_results)(t, way, r, y), block, apart, window, n);
        OF_TYPE(put)(t, way, r, y);
        if (y + 1 == t->y_end)
            return;
        ELEMENT *leaves = block + (y - t->y_begin) % window * apart;
        OF_TYPE(row_of_windows)(t, way, (int64_t)y + t->y.window - t->y.before, row, leaves);
    }
    for (uint64_t y = t->y_begin;;) {
        for (size_t i = window - 1; i-- > 0;)
            OF_TYPE(better_of)(way->greatest, block + i * apart, block + i * apart, block + (i + 1) * apart, n);
        for (size_t i = 0; i < window; i++, y++) {
            if (i == 1)
                memcpy(first, next, n * sizeof *first);
            else if (i > 1)
                OF_TYPE(better_of)(way->greatest, first, first, next + (i - 1) * apart, n);
            ELEMENT *const made = OF_TYPE(row_of_results)(t, way, r, y);
            OF_TYPE(better_of)(way->greatest, made, block + i * apart, i > 0 ? first : block, n);
            OF_TYPE(put)(t, way, r, y);
            if (y + 1 == t->y_end)
                return;
            OF_TYPE(row_of_windows)(t, way, (int64_t)y + t->y.window - t->y.before, row, next + i * apart);
        }
        ELEMENT *swap = block;
        block = next;
        next = swap;
    }
}

SIMD static bool OF_TYPE(extreme)(gp_window_tile *t, unsigned r) {
    const gp_window_box *box = t->one->box;
    const bool greatest = box->result[r].op == GP_REDUCE_MAX, half = sizeof(ELEMENT) == 2;
    const OF_TYPE(way) way = {.is_float = gp_type_is_float(box->type),
                              .greatest = greatest,
                              .in_place = !gp_type_is_float(box->type) && gp_window_is_contiguous(t, r) &&
                                          !gp_window_is_streamed(t, r),
                              .infinity = (ELEMENT)(half ? 0x7c00 : 0x7f800000),
                              .nan = greatest ? GREATEST_KEY : LEAST_KEY,
                              .canonical = (ELEMENT)(half ? 0x7e00 : 0x7fc00000),
                              .nothing = greatest ? LEAST_KEY : GREATEST_KEY};
    size_t elements;
    const size_t apart = OF_TYPE(rows_apart)(t), kept = (t->y.window > FEW ? 2 : 1) * (size_t)t->y.window;
    if (__builtin_mul_overflow(apart, kept, &elements) ||
        __builtin_add_overflow(elements, gp_round_up(t->ext, OF_LINE) + 2 * apart, &elements) ||
        elements > SIZE_MAX / 2 / sizeof(ELEMENT))
        return false;
    ELEMENT *memory = aligned_alloc(64, elements * sizeof *memory);
    t->row = (unsigned char *)memory;
    if (memory != NULL)
        OF_TYPE(walk)(t, &way, r, memory + apart);
    free(memory);
    return memory != NULL;
}

#undef ELEMENT
