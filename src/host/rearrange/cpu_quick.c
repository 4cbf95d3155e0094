/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small transposes of elements of any size. An element is copied in pieces of a size that the compiler knows: 300 x
 * 300 elements of 3 bytes take 35 us, and 215 us with a call of memcpy for each element.
 */
#include "cpu_job.h"

#define INLINE static inline __attribute__((always_inline))

#define WIDE ((size_t)16)  /* the largest piece */
#define LONG ((size_t)256) /* past this a call of memcpy is faster */

/*
 * Two pieces of 1, 2, 4 or 8 bytes, which may overlap, or as many of 16 as needed, whose last may. `piece`, of which
 * two are no less than an element, or WIDE, is a constant wherever this is inlined.
 */
INLINE void copy(size_t piece, char *to, const char *from, size_t bytes) {
    if (piece == WIDE && bytes > LONG) {
        memcpy(to, from, bytes);
        return;
    }
    if (piece < WIDE && piece < bytes)
        memcpy(to, from, piece);
    for (size_t k = 0; piece == WIDE && k + WIDE < bytes; k += WIDE)
        memcpy(to + k, from + k, WIDE);
    memcpy(to + bytes - piece, from + bytes - piece, piece);
}

/* Row by row: rows of the input that crowd into few sets of the cache are each read once. */
INLINE void exact(size_t piece, const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    for (size_t r = 0; r < rows; ++r) {
        const char *in = at->in + r * at->in_pitch;
        char *out = at->out + r * bytes;
        for (size_t c = 0; c < cols; ++c, in += bytes, out += at->out_pitch)
            copy(piece, out, in, bytes);
    }
}

/*
 * Four rows at a time, each element in one piece twice as long: what is read too much is of the next column, what is
 * written too much is overwritten by the next row. The last column has no next, the last rows are not four.
 */
INLINE void quick(size_t piece, const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    size_t in_pitch = at->in_pitch, out_pitch = at->out_pitch, fours = rows - rows % 4;
    for (size_t r = 0; r < fours; r += 4) {
        const char *in = at->in + r * in_pitch;
        char *out = at->out + r * bytes;
        for (size_t c = 1; c < cols; ++c, in += bytes, out += out_pitch) {
            memcpy(out, in, 2 * piece);
            memcpy(out + bytes, in + in_pitch, 2 * piece);
            memcpy(out + 2 * bytes, in + 2 * in_pitch, 2 * piece);
            memcpy(out + 3 * bytes, in + 3 * in_pitch, 2 * piece);
        }
    }
    gp_matrices last = *at, rest = *at;
    last.in += (cols - 1) * bytes;
    last.out += (cols - 1) * out_pitch;
    exact(piece, &last, fours, 1, bytes);
    rest.in += fours * in_pitch;
    rest.out += fours * bytes;
    exact(piece, &rest, rows - fours, cols, bytes);
}

void gp_transpose_quick(const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    if (bytes <= 2)
        quick(1, at, rows, cols, bytes);
    else if (bytes <= 4)
        quick(2, at, rows, cols, bytes);
    else if (bytes <= 8)
        quick(4, at, rows, cols, bytes);
    else if (bytes <= GP_QUICK_BYTES_MAX)
        quick(8, at, rows, cols, bytes);
    else
        exact(WIDE, at, rows, cols, bytes);
}

/* n elements, `step` bytes from each other, from such that are `apart`. Four loads stand before four stores: as a
 * plain loop compilers unroll it, or take vectors, as they like. */
INLINE void gather(size_t piece, char *to, size_t step, const char *from, int64_t apart, size_t n, size_t bytes) {
    for (; piece == bytes && n >= 4; n -= 4, to += 4 * step, from += 4 * apart) {
        char x[4][WIDE];
        for (size_t k = 0; k < 4; ++k)
            memcpy(x[k], from + (int64_t)k * apart, piece);
        for (size_t k = 0; k < 4; ++k)
            memcpy(to + k * step, x[k], piece);
    }
    for (size_t i = 0; i < n; ++i)
        copy(piece, to + i * step, from + (int64_t)i * apart, bytes);
}

/* Every other one. Compilers take vectors, as the distance is a constant. */
INLINE void gather_seconds(size_t piece, char *restrict to, const char *restrict from, size_t n, size_t bytes) {
    for (size_t i = 0; i < n; ++i)
        copy(piece, to + i * bytes, from + 2 * i * bytes, bytes);
}

/* One element n times. */
INLINE void repeat(size_t piece, char *restrict to, const char *restrict from, size_t n, size_t bytes) {
    for (size_t i = 0; i < n; ++i)
        copy(piece, to + i * bytes, from, bytes);
}

/* In reverse. Compilers take vectors of up to four bytes; but gcc not for bytes, of which eight are reversed at once.
 */
INLINE void reverse(size_t piece, char *restrict to, const char *restrict from, size_t n, size_t bytes) {
    size_t i = 0;
    for (; bytes == 1 && i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, from - i - 7, 8);
        eight = __builtin_bswap64(eight);
        memcpy(to + i, &eight, 8);
    }
    for (; bytes <= 4 && i < n; ++i)
        copy(piece, to + i * bytes, from - i * bytes, bytes);
    if (bytes > 4)
        gather(piece, to, bytes, from, -(int64_t)bytes, n, bytes);
}

/* Stores that follow each other; numbers that no store can change. */
INLINE void turn(size_t piece, const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    const gp_matrices m = *at;
    for (size_t c = 0; c < cols; ++c) {
        const char *in = m.in + c * bytes;
        char *out = m.out + c * m.out_pitch;
        for (size_t r = 0; r < rows; ++r)
            copy(piece, out + r * bytes, in + r * m.in_pitch, bytes);
    }
}

#define CASE(n, f, ...)       \
    case n:                   \
        f(n, __VA_ARGS__, n); \
        break;

/* Calls f with constants for the usual sizes, and with a constant piece for all. */
#define WITH_BYTES(f, bytes, ...)        \
    switch (bytes) {                     \
        CASE(1, f, __VA_ARGS__)          \
        CASE(2, f, __VA_ARGS__)          \
        CASE(4, f, __VA_ARGS__)          \
        CASE(8, f, __VA_ARGS__)          \
        CASE(16, f, __VA_ARGS__)         \
    case 3:                              \
        f(2, __VA_ARGS__, 3);            \
        break;                           \
    default:                             \
        if (bytes > WIDE)                \
            f(WIDE, __VA_ARGS__, bytes); \
        else if (bytes > 8)              \
            f(8, __VA_ARGS__, bytes);    \
        else                             \
            f(4, __VA_ARGS__, bytes);    \
    }

void gp_transpose_turn_cpu(const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    WITH_BYTES(turn, bytes, at, rows, cols)
}

#define REPEATED 64 /* bytes, before what is there is doubled */

static void gather_same(char *to, const char *from, size_t n, size_t bytes) {
    const size_t first = gp_least(n, gp_divide_up(REPEATED, bytes));
    if (bytes == 1) {
        memset(to, *from, n);
        return;
    }
    WITH_BYTES(repeat, bytes, to, from, first)
    for (size_t done = first * bytes, more; done < n * bytes; done += more) {
        more = gp_least(done, n * bytes - done);
        memcpy(to + done, to, more);
    }
}

void gp_gather(char *to, size_t step, const unsigned char *from, int64_t apart, size_t n, size_t bytes) {
    const char *in = (const char *)from;
    if (step == bytes && apart == (int64_t)bytes)
        memcpy(to, in, n * bytes);
    else if (step == bytes && apart == -(int64_t)bytes)
        WITH_BYTES(reverse, bytes, to, in, n)
    else if (step == bytes && apart == 2 * (int64_t)bytes)
        WITH_BYTES(gather_seconds, bytes, to, in, n)
    else if (step == bytes && apart == 0)
        gather_same(to, in, n, bytes);
    else
        WITH_BYTES(gather, bytes, to, step, in, apart, n)
}
