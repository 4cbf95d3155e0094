/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose with AVX-512: tiles of 64 x 64 bytes' worth, all from two steps. Elements of several rows are brought
 * together in 128-bit lanes (unpack), then the lanes of four vectors are transposed into four lines of the output.
 * Elements of 1 and 2 bytes are first joined to 4 bytes from four and two rows.
 */
#include "transpose_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

INLINE __m512i load(const char *at) {
    return _mm512_loadu_si512(at);
}

/* Where lines go, and how; `how` is a constant wherever it is tested. */
typedef struct {
    char *out;
    size_t apart; /* bytes from line to line */
    enum { CACHED, STREAMED, SKEWED } how;
    char *kept; /* skewed: a line each, of the panel before */
} sink;

/* kept and v follow each other in the output: the line that begins in kept goes past the caches, v is kept. */
INLINE void store_skewed(char *at, char *kept, __m512i v) {
    static const int order[2 * 16 - 1] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                          16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
    size_t later = (0 - (uintptr_t)at) % GP_LINE;
    __m512i from = _mm512_loadu_si512(order + later / sizeof *order);
    _mm512_stream_si512((void *)(at + later - GP_LINE), _mm512_permutex2var_epi32(load(kept), from, v));
    _mm512_storeu_si512(kept, v);
}

INLINE void store(const sink *to, size_t line, __m512i v) {
    char *at = to->out + line * to->apart;
    if (to->how == SKEWED)
        store_skewed(at, to->kept + line * GP_LINE, v);
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
 * of 4 bytes: 7.7 ms, so 6.6). Where strips are long this only costs (4112 x 4080: 5.3 ms, so 5.8).
 */
INLINE void prefetch_ahead(size_t rows, const gp_matrices *m) {
    for (size_t k = 0; k < rows; ++k)
        _mm_prefetch(m->in + k * m->in_pitch + 8 * GP_LINE, _MM_HINT_T0);
}

/* `bytes` and to.how are constants wherever this is inlined. */
INLINE void panel(size_t bytes, const gp_matrices *at, size_t tiles, sink to) {
    gp_matrices m = *at;
    for (; tiles > 0; --tiles) {
        if (to.how == SKEWED)
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
        if (to.how == SKEWED)
            to.kept += GP_LINE / bytes * GP_LINE;
    }
}

INLINE void panel_of(size_t bytes, const gp_matrices *at, size_t tiles, bool stream) {
    if (stream)
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, STREAMED, NULL});
    else
        panel(bytes, at, tiles, (sink){at->out, at->out_pitch, CACHED, NULL});
}

INLINE void skew_of(size_t bytes, const gp_matrices *at, size_t tiles, char *kept) {
    panel(bytes, at, tiles, (sink){at->out, at->out_pitch, SKEWED, kept});
}

#define FOR_BYTES(n)                                                                    \
    AVX512 static void panel_of_##n(const gp_matrices *at, size_t tiles, bool stream) { \
        panel_of(n, at, tiles, stream);                                                 \
    }                                                                                   \
    AVX512 static void skew_of_##n(const gp_matrices *at, size_t tiles, char *kept) {   \
        skew_of(n, at, tiles, kept);                                                    \
    }

FOR_BYTES(1)
FOR_BYTES(2)
FOR_BYTES(4)
FOR_BYTES(8)
FOR_BYTES(16)

AVX512 static void stream_lines(char *to, const char *from, size_t lines) {
    for (; lines > 0; --lines, to += GP_LINE, from += GP_LINE)
        _mm512_stream_si512((void *)to, load(from));
}

gp_status gp_launch_transpose_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_transpose_kernels kernels = {
        .row_bytes = GP_LINE,
        .panel = {panel_of_1, panel_of_2, panel_of_4, panel_of_8, panel_of_16},
        .stream_lines = stream_lines,
        .skew = {skew_of_1, skew_of_2, skew_of_4, skew_of_8, skew_of_16}};
    return gp_transpose_in_tiles(context, plan, problem, &kernels);
}

#endif
