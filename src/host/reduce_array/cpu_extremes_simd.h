/* SPDX-License-Identifier: Apache-2.0 */
/* The least or the greatest of rows of contiguous elements, as many rows at a time as elements have 16 bytes: vectors
 * along a row first, then the lanes of all of them at once, so that each row ends up in a lane of its own. */

/* Elements as signed numbers of their own size of which the greatest is wanted: their keys, turned for the least; of
 * floats so far down that infinity at the other end comes last, and NaNs of both signs pass round to the upper end.
 */
typedef struct {
    vec mask, flip, down;
    int64_t back, side, infinity, half; /* 0, or -1 for the least */
} turning;

INLINE turning turning_of(size_t bytes, unsigned type, bool max) {
    const gp_key_form f = gp_key_form_of(type);
    const int64_t greatest = INT64_MAX >> (64 - 8 * bytes), side = max ? 0 : -1;
    const int64_t down = type >= GP_F16 ? greatest - f.infinity : 0;
    return (turning){
        all_of(bytes, f.mask), all_of(bytes, side ^ f.half), all_of(bytes, down), down, side, f.infinity, f.half};
}

INLINE vec turned(size_t bytes, vec x, const turning *t) {
    if (bytes == 1)
        return x ^ t->flip;
    if (bytes == 2)
        return (vec)((lanes_16)(x ^ (vec)((signed_16)x >> 15 & (signed_16)t->mask) ^ t->flip) - (lanes_16)t->down);
    if (bytes == 4)
        return (vec)((lanes_32)(x ^ (vec)((signed_32)x >> 31 & (signed_32)t->mask) ^ t->flip) - (lanes_32)t->down);
    return (vec)((lanes_64)(x ^ (vec)((signed_64)x >> 63 & (signed_64)t->mask) ^ t->flip) - (lanes_64)t->down);
}

/* A vector's greatest elements of one lane of 16 bytes each, n of them side by side in `best`, go to keys. */
INLINE void take_best(size_t bytes, const unsigned char *best, size_t n, const turning *t, bool max, int64_t *to) {
    for (size_t k = 0; k < n; k++) {
        int64_t x = 0;
        memcpy(&x, best + k * bytes, bytes);
        x = (int64_t)((uint64_t)x << (64 - 8 * bytes)) >> (64 - 8 * bytes);
        x = (int64_t)((uint64_t)x + (uint64_t)t->back) ^ t->side;
        if (x > t->infinity || x < -t->infinity - 1)
            x = max ? INT64_MAX : INT64_MIN;
        to[k] = max ? (x > to[k] ? x : to[k]) : (x < to[k] ? x : to[k]);
    }
}

INLINE void rows_best(size_t bytes, const rows_of *r, unsigned type, bool max, int64_t *to) {
    const turning t = turning_of(bytes, type, max);
    const size_t size = r->n * bytes, together = 16 / bytes;
    const vec lowest = all_of(bytes, INT64_MIN >> (64 - 8 * bytes)), some = first_bytes(size % sizeof(vec));
    const size_t piece = rows_of_piece(r, together, size);
    for (size_t j = 0, next = 0; j < r->count; j += together) {
        vec best[16];
        unsigned char lanes[sizeof(vec)];
        prefetch_rows(r, j, piece, size, &next);
        for (size_t k = 0; k < together; k++) {
            const unsigned char *x = row_at(r, j + k);
            size_t i = 0;
            best[k] = lowest;
            for (; i + sizeof(vec) <= size; i += sizeof(vec)) {
                prefetch_in_row(r, piece, x + i);
                best[k] = max_signed(bytes, best[k], turned(bytes, load(x + i), &t));
            }
            if (i < size) {
                const vec last = turned(bytes, load_part(x + i, size - i, r->end), &t);
                best[k] = max_signed(bytes, best[k], (last & some) | (lowest & ~some));
            }
        }
        for (size_t width = bytes, left = together / 2; left > 0; width *= 2, left /= 2)
            for (size_t k = 0; k < left; k++)
                best[k] = max_signed(bytes, zip_lower(width, best[2 * k], best[2 * k + 1]),
                                     zip_upper(width, best[2 * k], best[2 * k + 1]));
        for (size_t distance = LANES / 2; distance > 2; distance /= 2)
            best[0] = max_signed(bytes, best[0], swap_lanes(best[0], distance));
        store(lanes, best[0]);
        take_best(bytes, lanes, gp_least(together, r->count - j), &t, max, to + j);
    }
}
