/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes in tiles with the vectors of the simd_*.h that the including file names before, of elements of 1, 2, 4,
 * 8, 16 bytes. A lane holds 16 bytes of a row. Vectors whose lanes are loaded from rows that lie apart are zipped in
 * log2(16 / bytes) steps, after which each is a column: no shuffle crosses lanes, whatever the vector's size.
 */
#include "cpu_job.h"

#if defined(LANES)

#define VECTOR sizeof(vec)
#define LANE ((size_t)16)
#define VECTORS (GP_CACHE_LINE / VECTOR)           /* of a line */
#define LINES_MAX ((size_t)2)                      /* written next to each other */
#define LEAF __attribute__((noinline)) SIMD static /* a function of its own: registers are few */

/* Sizes of elements, for each of which kernels are compiled. */
#define FOR_SIZES(DO) DO(1) DO(2) DO(4) DO(8) DO(16)

/* The columns of a lane of rows, as many as it has elements. */
typedef struct {
    vec of[LANE];
} columns;

/*
 * A zip puts the highest bit of the vector's number behind the element's, and the highest of the element's behind the
 * vector's: after all bits of both they have changed places. Addresses are hidden from the compiler, which would keep
 * one for each row on the stack. `bytes` is a constant.
 */
INLINE columns zipped(size_t bytes, columns to) {
    const size_t n = LANE / bytes;
    for (size_t bits = 1; bits < n; bits *= 2) {
        const columns from = to;
        for (size_t k = 0; k < n / 2; ++k) {
            to.of[2 * k] = zip_lower(bytes, from.of[k], from.of[k + n / 2]);
            to.of[2 * k + 1] = zip_upper(bytes, from.of[k], from.of[k + n / 2]);
        }
    }
    return to;
}

INLINE columns columns_of(size_t bytes, bool apart, const char *in, size_t pitch) {
    const size_t n = LANE / bytes;
    columns to;
    for (size_t k = 0; k < n; ++k, in += pitch) {
        __asm__("" : "+r"(in));
        to.of[k] = apart ? load_lanes(in, n * pitch) : load(in);
    }
    return zipped(bytes, to);
}

/* The columns of as many rows as make `lines` lines of the output. */
INLINE void columns_of_lines(size_t bytes, size_t lines, const char *in, size_t pitch, columns *to) {
    for (size_t i = 0; i < lines * VECTORS; ++i)
        to[i] = columns_of(bytes, true, in + i * (VECTOR / bytes) * pitch, pitch);
}

/* Of rows that begin anywhere, the lane `first` bytes behind. */
INLINE void columns_of_rows(size_t bytes, size_t lines, const char *const *row, size_t first, columns *to) {
    const size_t n = LANE / bytes;
    for (size_t i = 0; i < lines * VECTORS; ++i, row += VECTOR / bytes) {
        columns part;
        for (size_t k = 0; k < n; ++k)
            part.of[k] = load_rows(row + k, n, first);
        to[i] = zipped(bytes, part);
    }
}

/* Rows of the output that are prefetched before they are stored to: a store that misses holds up those behind it. */
#define OUT_AHEAD 16

INLINE void put_columns(size_t bytes, bool prefetched, const gp_matrices *m) {
    columns part[VECTORS];
    char *out = m->out;
    columns_of_lines(bytes, 1, m->in, m->in_pitch, part);
    for (size_t k = 0; k < LANE / bytes; ++k, out += m->out_pitch) {
        if (prefetched)
            __builtin_prefetch(out + OUT_AHEAD * m->out_pitch + GP_CACHE_LINE - 1);
        for (size_t i = 0; i < VECTORS; ++i)
            store(out + i * VECTOR, part[i].of[k]);
    }
}

/* A line's rows, cols >= a lane's: the last lane begins where it ends with them. */
INLINE void put_tiles(size_t bytes, const gp_matrices *m, size_t cols) {
    const size_t n = LANE / bytes;
    gp_matrices at = *m;
    size_t c = 0;
    for (; c + GP_CACHE_LINE / bytes <= cols; c += GP_CACHE_LINE / bytes)
#pragma GCC unroll 4
        for (size_t k = 0; k < GP_CACHE_LINE / LANE; ++k, at.in += LANE, at.out += n * m->out_pitch)
            put_columns(bytes, true, &at);
    for (; c < cols; c += n) {
        at = gp_matrices_at(*m, 0, gp_least(c, cols - n), bytes);
        put_columns(bytes, true, &at);
    }
}

/*
 * Rows >= a lane's, cols >= a vector's: a vector's lanes are loaded side by side and become columns as far apart. The
 * last of either begins where it ends with the matrix.
 */
INLINE void put_lanes(size_t bytes, const gp_matrices *m, size_t rows, size_t cols) {
    const size_t n = LANE / bytes, across = VECTOR / bytes;
    for (size_t c = 0; c < cols; c += across)
        for (size_t r = 0; r < rows; r += n) {
            const gp_matrices at = gp_matrices_at(*m, gp_least(r, rows - n), gp_least(c, cols - across), bytes);
            const columns part = columns_of(bytes, false, at.in, at.in_pitch);
            for (size_t k = 0; k < n; ++k)
                store_lanes(at.out + k * at.out_pitch, n * at.out_pitch, part.of[k]);
        }
}

#define KERNELS_OF(n)                                                        \
    LEAF void columns_of_##n(const gp_matrices *m) {                         \
        put_columns(n, false, m);                                            \
    }                                                                        \
    LEAF void tiles_of_##n(const gp_matrices *m, size_t cols) {              \
        put_tiles(n, m, cols);                                               \
    }                                                                        \
    LEAF void lanes_of_##n(const gp_matrices *m, size_t rows, size_t cols) { \
        put_lanes(n, m, rows, cols);                                         \
    }

FOR_SIZES(KERNELS_OF)

/* The kernels of a size of elements. */
typedef struct {
    size_t bytes, of_lane, of_line; /* elements of them */
    void (*columns)(const gp_matrices *m);
    void (*tiles)(const gp_matrices *m, size_t cols);
    void (*lanes)(const gp_matrices *m, size_t rows, size_t cols);
} element_kernels;

#define KIND_OF(n) {n, LANE / (n), GP_CACHE_LINE / (n), columns_of_##n, tiles_of_##n, lanes_of_##n},
static const element_kernels kinds[] = {FOR_SIZES(KIND_OF)};

#define STRIP_COLS ((size_t)64)

/*
 * Rows >= a line's, cols >= a lane's. The first tiles begin at row 0 and, where lines of the output begin at whole
 * elements in all of its rows alike, the second where the first whole line does; the last end with the matrix.
 */
SIMD static void whole_tiles(const element_kernels *e, const gp_matrices *m, size_t rows, size_t cols) {
    const size_t head = m->out_pitch % GP_CACHE_LINE == 0 ? (0 - (uintptr_t)m->out) % GP_CACHE_LINE / e->bytes : 0;
    for (size_t c = 0, width; c < cols; c += width) {
        width = cols - c < STRIP_COLS + e->of_lane ? cols - c : STRIP_COLS;
        for (size_t r = 0, done = 0; done < rows; r = r == 0 && head > 0 ? head : r + e->of_line) {
            const size_t first = gp_least(r, rows - e->of_line);
            const gp_matrices at = gp_matrices_at(*m, first, c, e->bytes);
            e->tiles(&at, width);
            done = first + e->of_line;
        }
    }
}

#if !defined(HAS_COPY_SOME)
/* Two pieces, which may overlap. */
INLINE void copy_pieces(size_t piece, char *to, const char *from, size_t bytes) {
    memcpy(to, from, piece);
    memcpy(to + bytes - piece, from + bytes - piece, piece);
}

/* 1 to 64 bytes. */
INLINE void copy_some(char *to, const char *from, size_t bytes) {
    if (bytes >= 32)
        copy_pieces(32, to, from, bytes);
    else if (bytes >= 16)
        copy_pieces(16, to, from, bytes);
    else if (bytes >= 8)
        copy_pieces(8, to, from, bytes);
    else if (bytes >= 4)
        copy_pieces(4, to, from, bytes);
    else
        copy_pieces(bytes > 1 ? 2 : 1, to, from, bytes);
}
#endif

/* Whole lines by whole vectors: what a masked store has written waits for the cache before it can be loaded. */
INLINE void copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows, size_t bytes) {
    for (; rows > 0; --rows, to += to_pitch, from += from_pitch)
        if (bytes == GP_CACHE_LINE)
            memcpy(to, from, GP_CACHE_LINE);
        else
            copy_some(to, from, bytes);
}

typedef struct {
    _Alignas(GP_CACHE_LINE) char line[GP_CACHE_LINE][GP_CACHE_LINE];
} tile;

/* The transpose of up to a line's rows and columns. */
SIMD static void tile_of(const element_kernels *e, const char *in, size_t pitch, size_t rows, size_t cols,
                         tile *out) {
    tile padded;
    __asm__("" : "=m"(padded)); /* what is not copied there is zipped, but not stored */
    if (rows < e->of_line || cols < e->of_line) {
        copy_rows(padded.line[0], GP_CACHE_LINE, in, pitch, rows, cols * e->bytes);
        in = padded.line[0], pitch = GP_CACHE_LINE;
    }
    for (size_t c = 0; c < cols; c += e->of_lane)
        e->columns(&(gp_matrices){in + c * e->bytes, pitch, out->line[c], GP_CACHE_LINE});
}

/* What is too small for whole tiles. */
SIMD static void small_tiles(const element_kernels *e, const gp_matrices *m, size_t rows, size_t cols) {
    for (size_t r = 0; r < rows; r += e->of_line)
        for (size_t c = 0; c < cols; c += e->of_line) {
            const gp_matrices at = gp_matrices_at(*m, r, c, e->bytes);
            const size_t high = gp_least(e->of_line, rows - r), across = gp_least(e->of_line, cols - c);
            tile out;
            tile_of(e, at.in, at.in_pitch, high, across, &out);
            copy_rows(at.out, at.out_pitch, out.line[0], GP_CACHE_LINE, across, high * e->bytes);
        }
}

SIMD static void any_tiles(const element_kernels *e, const gp_matrices *m, size_t rows, size_t cols) {
    if (rows >= e->of_line && cols >= e->of_lane)
        whole_tiles(e, m, rows, cols);
    else if (rows >= e->of_lane && cols >= e->of_line)
        e->lanes(m, rows, cols);
    else
        small_tiles(e, m, rows, cols);
}

INLINE const element_kernels *kernels_of(const gp_transpose_job *j) {
    return &kinds[__builtin_ctzll(j->elem_bytes)];
}

SIMD static void share_in_tiles(const gp_transpose_job *j, unsigned part, const gp_matrices *m, size_t rows,
                                size_t cols) {
    (void)part;
    any_tiles(kernels_of(j), m, rows, cols);
}

/*
 * In place: a tile changes places with its mirror image. Band i has i + 1 tiles: part p takes bands p, p + parts, ...
 * so that the parts are of like size.
 */
SIMD static void swap_part(void *argument, unsigned part, unsigned parts) {
    const gp_transpose_job *j = argument;
    const element_kernels *e = kernels_of(j);
    const size_t side = e->of_line, pitch = j->whole.out_pitch;
    for (size_t r = part * side; r < j->rows; r += parts * side)
        for (size_t c = 0; c <= r; c += side) {
            const size_t high = gp_least(side, j->rows - r), across = gp_least(side, j->rows - c);
            char *lower = j->whole.out + r * pitch + c * e->bytes, *upper = j->whole.out + c * pitch + r * e->bytes;
            tile of_lower, of_upper;
            tile_of(e, lower, pitch, high, across, &of_lower);
            tile_of(e, upper, pitch, across, high, &of_upper);
            copy_rows(lower, pitch, of_upper.line[0], GP_CACHE_LINE, high, across * e->bytes);
            copy_rows(upper, pitch, of_lower.line[0], GP_CACHE_LINE, across, high * e->bytes);
        }
}

gp_status NAMED(gp_launch_transpose_tiles)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    gp_transpose_job job = gp_transpose_job_of(problem);
    const unsigned parts = gp_transpose_parts(context, plan, problem);
    if (problem->in_place)
        gp_threads_run(context, parts, swap_part, &job);
    else
        gp_transpose_run(context, parts, &job, share_in_tiles);
    return GP_OK;
}

#endif
