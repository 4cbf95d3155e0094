/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose with AVX-512: tiles of 64 x 64 bytes' worth, all from two steps. Elements of several rows are brought
 * together in 128-bit lanes (unpack), then the lanes of four vectors are transposed into four lines of the output.
 * Elements of 1 and 2 bytes are first joined to 4 bytes from four and two rows.
 */
#include "cpu_thin.h"
#include "cpu_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

INLINE __m512i load(const char *at) {
    return _mm512_loadu_si512(at);
}

/*
 * Through the caches, or past them as lines of the output: where each is one vector, where lines begin at multiples
 * of 4 bytes, where they begin anywhere. In the last two a line is joined from what is kept and a vector.
 */
typedef enum { CACHED, STREAMED, SKEWED, ANYWHERE } how_stored;

/* Where lines go, and how; `how` is a constant wherever it is tested. */
typedef struct {
    char *out;
    size_t apart; /* bytes from line to line */
    how_stored how;
    char *kept; /* skewed, anywhere: a line each, of the panel before */
} sink;

/*
 * The 64 bytes of x and y, one behind the other, from byte `first` on. `anywhere` is false if that is a multiple of
 * 4; else words are taken, and halves of two neighbours where it is odd.
 */
INLINE __m512i bytes_from(bool anywhere, size_t first, __m512i x, __m512i y) {
    static const int fours[2 * 16 - 1] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                          16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
    static const short words[2 * 32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    if (!anywhere)
        return _mm512_permutex2var_epi32(x, _mm512_loadu_si512(fours + first / 4), y);
    const int odd = (int)(first % 2) * 8;
    __m512i a = _mm512_permutex2var_epi16(x, _mm512_loadu_si512(words + first / 2), y);
    __m512i b = _mm512_permutex2var_epi16(x, _mm512_loadu_si512(words + first / 2 + 1), y);
    return _mm512_or_si512(_mm512_srl_epi16(a, _mm_cvtsi32_si128(odd)),
                           _mm512_sll_epi16(b, _mm_cvtsi32_si128(16 - odd)));
}

/* kept and v follow each other in the output: the line that begins in kept goes past the caches, v is kept. */
INLINE void store_skewed(bool anywhere, char *at, char *kept, __m512i v) {
    size_t later = (0 - (uintptr_t)at) % GP_LINE;
    _mm512_stream_si512((void *)(at + later - GP_LINE), bytes_from(anywhere, later, load(kept), v));
    _mm512_storeu_si512(kept, v);
}

/* The same with two vectors, at a multiple of 4 bytes. */
INLINE void store_two_skewed(char *at, char *kept, __m512i v, __m512i next) {
    size_t later = (0 - (uintptr_t)at) % GP_LINE;
    _mm512_stream_si512((void *)(at + later - GP_LINE), bytes_from(false, later, load(kept), v));
    _mm512_stream_si512((void *)(at + later), bytes_from(false, later, v, next));
    _mm512_storeu_si512(kept, next);
}

INLINE void store(const sink *to, size_t line, __m512i v) {
    char *at = to->out + line * to->apart;
    if (to->how >= SKEWED)
        store_skewed(to->how == ANYWHERE, at, to->kept + line * GP_LINE, v);
    else if (to->how == STREAMED)
        _mm512_stream_si512((void *)at, v);
    else
        _mm512_storeu_si512(at, v);
}

/* Lane i of a, b, c, d becomes line first + i * step. */
INLINE void store_lanes(const sink *to, size_t first, size_t step, __m512i a, __m512i b, __m512i c, __m512i d) {
    __m512i ab01 = _mm512_shuffle_i32x4(a, b, 0x44), ab23 = _mm512_shuffle_i32x4(a, b, 0xee);
    __m512i cd01 = _mm512_shuffle_i32x4(c, d, 0x44), cd23 = _mm512_shuffle_i32x4(c, d, 0xee);
    store(to, first, _mm512_shuffle_i32x4(ab01, cd01, 0x88));
    store(to, first + step, _mm512_shuffle_i32x4(ab01, cd01, 0xdd));
    store(to, first + 2 * step, _mm512_shuffle_i32x4(ab23, cd23, 0x88));
    store(to, first + 3 * step, _mm512_shuffle_i32x4(ab23, cd23, 0xdd));
}

/* Of four rows of 4-byte elements: column[k] has in its lane i the elements of column 4 i + k. */
typedef struct {
    __m512i column[4];
} quad;

INLINE quad columns_of_rows(const char *in, size_t pitch) {
    __m512i r0 = load(in), r1 = load(in + pitch), r2 = load(in + 2 * pitch), r3 = load(in + 3 * pitch);
    __m512i lower01 = _mm512_unpacklo_epi32(r0, r1), upper01 = _mm512_unpackhi_epi32(r0, r1);
    __m512i lower23 = _mm512_unpacklo_epi32(r2, r3), upper23 = _mm512_unpackhi_epi32(r2, r3);
    return (quad){{_mm512_unpacklo_epi64(lower01, lower23), _mm512_unpackhi_epi64(lower01, lower23),
                   _mm512_unpacklo_epi64(upper01, upper23), _mm512_unpackhi_epi64(upper01, upper23)}};
}

/* 16 x 16 elements of 4 bytes. Line 4 i + k of the tile goes to line first + step * i + k. */
INLINE void tile_of_4(const char *in, size_t pitch, const sink *to, size_t first, size_t step) {
    quad a = columns_of_rows(in, pitch), b = columns_of_rows(in + 4 * pitch, pitch);
    quad c = columns_of_rows(in + 8 * pitch, pitch), d = columns_of_rows(in + 12 * pitch, pitch);
    store_lanes(to, first, step, a.column[0], b.column[0], c.column[0], d.column[0]);
    store_lanes(to, first + 1, step, a.column[1], b.column[1], c.column[1], d.column[1]);
    store_lanes(to, first + 2, step, a.column[2], b.column[2], c.column[2], d.column[2]);
    store_lanes(to, first + 3, step, a.column[3], b.column[3], c.column[3], d.column[3]);
}

/*
 * 64 rows are more than the processor follows by itself. Asking ahead made 8256 x 8256 elements of 1 byte 1.5 times
 * as fast (11.3 ms, 7.5); where rows crowd into few sets of the caches it makes things worse (23.2 ms, 29.7).
 */
INLINE void prefetch_rows(const gp_matrices *m) {
    if (m->in_pitch % GP_CROWDED_PITCH == 0)
        return;
    for (size_t k = 0; k < GP_LINE; ++k)
        _mm_prefetch(m->in + k * m->in_pitch + 4 * GP_LINE, _MM_HINT_T1);
}

/* Columns 16 i + 4 k + 0..3 of the four rows, as 4-byte elements, are in lane i of joined[k]. */
INLINE void tile_of_1(const gp_matrices *m, const sink *to) {
    _Alignas(GP_LINE) char joined[4][16][GP_LINE];
    prefetch_rows(m);
    for (size_t g = 0; g < 16; ++g) {
        const char *in = m->in + 4 * g * m->in_pitch;
        __m512i r0 = load(in), r1 = load(in + m->in_pitch);
        __m512i r2 = load(in + 2 * m->in_pitch), r3 = load(in + 3 * m->in_pitch);
        __m512i lower01 = _mm512_unpacklo_epi8(r0, r1), upper01 = _mm512_unpackhi_epi8(r0, r1);
        __m512i lower23 = _mm512_unpacklo_epi8(r2, r3), upper23 = _mm512_unpackhi_epi8(r2, r3);
        _mm512_store_si512(joined[0][g], _mm512_unpacklo_epi16(lower01, lower23));
        _mm512_store_si512(joined[1][g], _mm512_unpackhi_epi16(lower01, lower23));
        _mm512_store_si512(joined[2][g], _mm512_unpacklo_epi16(upper01, upper23));
        _mm512_store_si512(joined[3][g], _mm512_unpackhi_epi16(upper01, upper23));
    }
    for (size_t k = 0; k < 4; ++k)
        tile_of_4(joined[k][0], GP_LINE, to, 4 * k, 16);
}

/* Columns 8 i + 4 k + 0..3 of the two rows, as 4-byte elements, are in lane i of joined[k]. */
INLINE void tile_of_2(const gp_matrices *m, const sink *to) {
    _Alignas(GP_LINE) char joined[2][16][GP_LINE];
    for (size_t g = 0; g < 16; ++g) {
        __m512i r0 = load(m->in + 2 * g * m->in_pitch), r1 = load(m->in + (2 * g + 1) * m->in_pitch);
        _mm512_store_si512(joined[0][g], _mm512_unpacklo_epi16(r0, r1));
        _mm512_store_si512(joined[1][g], _mm512_unpackhi_epi16(r0, r1));
    }
    for (size_t k = 0; k < 2; ++k)
        tile_of_4(joined[k][0], GP_LINE, to, 4 * k, 8);
}

INLINE void tile_of_8(const gp_matrices *m, const sink *to) {
    const char *in = m->in;
    size_t pitch = m->in_pitch;
    __m512i r0 = load(in), r1 = load(in + pitch), r2 = load(in + 2 * pitch), r3 = load(in + 3 * pitch);
    in += 4 * pitch;
    __m512i r4 = load(in), r5 = load(in + pitch), r6 = load(in + 2 * pitch), r7 = load(in + 3 * pitch);
    store_lanes(to, 0, 2, _mm512_unpacklo_epi64(r0, r1), _mm512_unpacklo_epi64(r2, r3), _mm512_unpacklo_epi64(r4, r5),
                _mm512_unpacklo_epi64(r6, r7));
    store_lanes(to, 1, 2, _mm512_unpackhi_epi64(r0, r1), _mm512_unpackhi_epi64(r2, r3), _mm512_unpackhi_epi64(r4, r5),
                _mm512_unpackhi_epi64(r6, r7));
}

INLINE void tile_of_16(const gp_matrices *m, const sink *to) {
    size_t pitch = m->in_pitch;
    store_lanes(to, 0, 1, load(m->in), load(m->in + pitch), load(m->in + 2 * pitch), load(m->in + 3 * pitch));
}

/*
 * Strips that lines are kept for are short: what lies ahead is asked for, or each begins slowly (4001 x 3999 elements
 * of 4 bytes: 7.7 ms, so 6.6). Where strips are long this only costs (4112 x 4080: 5.3 ms, so 5.8). Into the second
 * cache: into the first the same takes 1.05 to 1.13 times as long, of 2 bytes 1.02 to 1.04.
 */
INLINE void prefetch_ahead(size_t rows, const gp_matrices *m) {
    for (size_t k = 0; k < rows; ++k)
        _mm_prefetch(m->in + k * m->in_pitch + 8 * GP_LINE, _MM_HINT_T1);
}

/* `bytes` and to.how are constants wherever this is inlined. */
INLINE void panel(size_t bytes, const gp_matrices *at, size_t tiles, sink to) {
    gp_matrices m = *at;
    for (; tiles > 0; --tiles) {
        if (to.how >= SKEWED && bytes > 1)
            prefetch_ahead(GP_LINE / bytes, &m);
        if (bytes == 1)
            tile_of_1(&m, &to);
        else if (bytes == 2)
            tile_of_2(&m, &to);
        else if (bytes == 4)
            tile_of_4(m.in, m.in_pitch, &to, 0, 4);
        else if (bytes == 8)
            tile_of_8(&m, &to);
        else
            tile_of_16(&m, &to);
        m.in += GP_LINE;
        to.out += GP_LINE / bytes * to.apart;
        if (to.how >= SKEWED)
            to.kept += GP_LINE / bytes * GP_LINE;
    }
}

INLINE void panel_of(size_t bytes, const gp_matrices *at, size_t tiles, bool stream) {
    if (stream)
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, STREAMED, NULL});
    else
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, CACHED, NULL});
}

INLINE void skew_of(size_t bytes, bool anywhere, const gp_matrices *at, size_t tiles, char *kept) {
    if (anywhere)
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, ANYWHERE, kept});
    else
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, SKEWED, kept});
}

#define PANEL_FOR_BYTES(n)                                                              \
    AVX512 static void panel_of_##n(const gp_matrices *at, size_t tiles, bool stream) { \
        panel_of(n, at, tiles, stream);                                                 \
    }

PANEL_FOR_BYTES(1)
PANEL_FOR_BYTES(2)
PANEL_FOR_BYTES(4)
PANEL_FOR_BYTES(8)
PANEL_FOR_BYTES(16)

#define SKEW_FOR_BYTES(n, name, anywhere)                                             \
    AVX512 static void skew_##name(const gp_matrices *at, size_t tiles, char *kept) { \
        skew_of(n, anywhere, at, tiles, kept);                                        \
    }

SKEW_FOR_BYTES(1, of_1, false)
SKEW_FOR_BYTES(2, of_2, false)
SKEW_FOR_BYTES(4, of_4, false)
SKEW_FOR_BYTES(8, of_8, false)
SKEW_FOR_BYTES(16, of_16, false)
SKEW_FOR_BYTES(1, anywhere_of_1, true)
SKEW_FOR_BYTES(2, anywhere_of_2, true)

/* In one piece each, since they are loaded in one: 5000 x 24 of 4 bytes 25.3 us, in two overlapping pieces 33.8. */
AVX512 static void copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                             size_t bytes) {
    const __mmask64 first = ~UINT64_C(0) >> (GP_LINE - bytes);
    for (; rows > 0; --rows, to += to_pitch, from += from_pitch)
        _mm512_mask_storeu_epi8(to, first, _mm512_maskz_loadu_epi8(first, from));
}

AVX512 static void stream_lines(char *to, const char *from, size_t lines) {
    for (; lines > 0; --lines, to += GP_LINE, from += GP_LINE)
        _mm512_stream_si512((void *)to, load(from));
}

/* Of four rows in a square's buffer, `apart` rows apart, 16 bytes each: without the shuffles that lanes would take.
 */
INLINE __m512i lanes_of_rows(const char *at, size_t apart) {
    apart *= 2 * GP_LINE;
    __m512i v = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)(const void *)at));
    v = _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(const void *)(at + apart)), 1);
    v = _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(const void *)(at + 2 * apart)), 2);
    return _mm512_inserti32x4(v, _mm_load_si128((const __m128i *)(const void *)(at + 3 * apart)), 3);
}

INLINE __m512i unpack_lower(size_t bytes, __m512i a, __m512i b) {
    if (bytes == 1)
        return _mm512_unpacklo_epi8(a, b);
    if (bytes == 2)
        return _mm512_unpacklo_epi16(a, b);
    return bytes == 4 ? _mm512_unpacklo_epi32(a, b) : _mm512_unpacklo_epi64(a, b);
}

INLINE __m512i unpack_upper(size_t bytes, __m512i a, __m512i b) {
    if (bytes == 1)
        return _mm512_unpackhi_epi8(a, b);
    if (bytes == 2)
        return _mm512_unpackhi_epi16(a, b);
    return bytes == 4 ? _mm512_unpackhi_epi32(a, b) : _mm512_unpackhi_epi64(a, b);
}

typedef struct {
    __m512i line[16];
} lines;

/*
 * The lines of as many columns as 16 bytes hold, n, of the rows of a tile. An unpack puts the highest bit of the
 * vector's number behind the element's, and the highest of the element's behind the vector's: after all bits of both
 * they have changed places.
 */
INLINE lines columns_of_piece(size_t bytes, const char *at) {
    const size_t n = 16 / bytes;
    lines to;
    for (size_t k = 0; k < n; ++k)
        to.line[k] = lanes_of_rows(at + k * 2 * GP_LINE, n);
    for (size_t bits = 1; bits < n; bits *= 2) {
        lines from = to;
        for (size_t k = 0; k < n / 2; ++k) {
            to.line[2 * k] = unpack_lower(bytes, from.line[k], from.line[k + n / 2]);
            to.line[2 * k + 1] = unpack_upper(bytes, from.line[k], from.line[k + n / 2]);
        }
    }
    return to;
}

/* Rows are loaded only to be stored at once: shuffles that wait for memory fill the processor's queues. */
INLINE void square_of(size_t bytes, bool skewed, const gp_transpose_square *square) {
    const gp_transpose_square s = *square;
    const size_t rows = 2 * GP_LINE / bytes, columns = 16 / bytes;
    for (size_t i = 0; i < rows; i += columns) {
        const char *piece = s.from + i * bytes;
        lines upper = columns_of_piece(bytes, piece);
        lines lower = columns_of_piece(bytes, piece + GP_LINE / bytes * 2 * GP_LINE);
        for (size_t k = 0; k < columns; ++k) {
            const char *in = s.in + (i + k) * s.in_pitch;
            char *out = s.out + (i + k) * s.out_pitch, *to = s.to + (i + k) * 2 * GP_LINE;
            size_t below = i + k + s.rows_ahead, right_by = s.bytes_ahead + (below < rows ? 0 : 2 * GP_LINE);
            const char *ahead = s.in + (below < rows ? below : below - rows) * s.in_pitch + right_by;
            _mm_prefetch(ahead, _MM_HINT_T0);
            _mm_prefetch(ahead + GP_LINE, _MM_HINT_T0);
            __m512i left = load(in), right = load(in + GP_LINE);
            if (skewed) {
                store_two_skewed(out, s.kept + (i + k) * GP_LINE, upper.line[k], lower.line[k]);
            } else {
                _mm512_stream_si512((void *)out, upper.line[k]);
                _mm512_stream_si512((void *)(out + GP_LINE), lower.line[k]);
            }
            _mm512_store_si512(to, left);
            _mm512_store_si512(to + GP_LINE, right);
        }
    }
}

#define SQUARE_FOR_BYTES(n, name, skewed)                                 \
    AVX512 static void square_##name(const gp_transpose_square *square) { \
        square_of(n, skewed, square);                                     \
    }

SQUARE_FOR_BYTES(1, of_1, false)
SQUARE_FOR_BYTES(2, of_2, false)
SQUARE_FOR_BYTES(4, of_4, false)
SQUARE_FOR_BYTES(8, of_8, false)
SQUARE_FOR_BYTES(16, of_16, false)
SQUARE_FOR_BYTES(8, skewed_of_8, true)
SQUARE_FOR_BYTES(16, skewed_of_16, true)

gp_status gp_launch_transpose_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_transpose_kernels kernels = {
        .row_bytes = GP_LINE,
        .panel = {panel_of_1, panel_of_2, panel_of_4, panel_of_8, panel_of_16},
        .copy_rows = copy_rows,
        .stream_lines = stream_lines,
        .square = {square_of_1, square_of_2, square_of_4, square_of_8, square_of_16},
        .skew = {skew_of_1, skew_of_2, skew_of_4, skew_of_8, skew_of_16},
        .skew_anywhere = {skew_anywhere_of_1, skew_anywhere_of_2},
        .skewed_square = {[3] = square_skewed_of_8, [4] = square_skewed_of_16}};
    return gp_transpose_thin(context, plan, problem, &gp_thin_avx512)
               ? GP_OK
               : gp_transpose_in_tiles(context, plan, problem, &kernels);
}

#endif
