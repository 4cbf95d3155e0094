/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose with AVX2, as transpose_avx2.c with half the columns: two steps. Elements of several rows are brought
 * together in 128-bit lanes (unpack), then the lanes of four vectors are transposed into four lines of the output.
 * Elements of 1 and 2 bytes are first joined to 4 bytes from four and two rows.
 */
#include "cpu_thin.h"
#include "cpu_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

#define HALF 32 /* bytes of a row of a tile */

INLINE __m256i load(const char *at) {
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

INLINE void store(char *at, __m256i half, bool stream) {
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)at, half);
    else
        _mm256_storeu_si256((__m256i *)(void *)at, half);
}

/* Lane i of a, b, c, d becomes line i; lines are `apart` bytes apart. */
INLINE void store_lanes(char *out, size_t apart, bool stream, __m256i a, __m256i b, __m256i c, __m256i d) {
    store(out, _mm256_permute2x128_si256(a, b, 0x20), stream);
    store(out + HALF, _mm256_permute2x128_si256(c, d, 0x20), stream);
    store(out + apart, _mm256_permute2x128_si256(a, b, 0x31), stream);
    store(out + apart + HALF, _mm256_permute2x128_si256(c, d, 0x31), stream);
}

/* Of four rows of 4-byte elements: column[k] has in its lane i the elements of column 4 i + k. */
typedef struct {
    __m256i column[4];
} quad;

INLINE quad columns_of_rows(const char *in, size_t pitch) {
    __m256i r0 = load(in), r1 = load(in + pitch), r2 = load(in + 2 * pitch), r3 = load(in + 3 * pitch);
    __m256i lower01 = _mm256_unpacklo_epi32(r0, r1), upper01 = _mm256_unpackhi_epi32(r0, r1);
    __m256i lower23 = _mm256_unpacklo_epi32(r2, r3), upper23 = _mm256_unpackhi_epi32(r2, r3);
    return (quad){{_mm256_unpacklo_epi64(lower01, lower23), _mm256_unpackhi_epi64(lower01, lower23),
                   _mm256_unpacklo_epi64(upper01, upper23), _mm256_unpackhi_epi64(upper01, upper23)}};
}

/* 16 x 8 elements of 4 bytes. Line 4 i + k of the tile goes to line lane * i + k of the output. */
INLINE void tile_of_4(const char *in, size_t pitch, char *out, size_t out_pitch, size_t lane, bool stream) {
    quad a = columns_of_rows(in, pitch), b = columns_of_rows(in + 4 * pitch, pitch);
    quad c = columns_of_rows(in + 8 * pitch, pitch), d = columns_of_rows(in + 12 * pitch, pitch);
    size_t apart = lane * out_pitch;
    store_lanes(out, apart, stream, a.column[0], b.column[0], c.column[0], d.column[0]);
    store_lanes(out + out_pitch, apart, stream, a.column[1], b.column[1], c.column[1], d.column[1]);
    store_lanes(out + 2 * out_pitch, apart, stream, a.column[2], b.column[2], c.column[2], d.column[2]);
    store_lanes(out + 3 * out_pitch, apart, stream, a.column[3], b.column[3], c.column[3], d.column[3]);
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
INLINE void tile_of_1(const gp_matrices *m, bool stream) {
    _Alignas(HALF) char joined[4][16][HALF];
    prefetch_rows(m);
    for (size_t g = 0; g < 16; ++g) {
        const char *in = m->in + 4 * g * m->in_pitch;
        __m256i r0 = load(in), r1 = load(in + m->in_pitch);
        __m256i r2 = load(in + 2 * m->in_pitch), r3 = load(in + 3 * m->in_pitch);
        __m256i lower01 = _mm256_unpacklo_epi8(r0, r1), upper01 = _mm256_unpackhi_epi8(r0, r1);
        __m256i lower23 = _mm256_unpacklo_epi8(r2, r3), upper23 = _mm256_unpackhi_epi8(r2, r3);
        store(joined[0][g], _mm256_unpacklo_epi16(lower01, lower23), false);
        store(joined[1][g], _mm256_unpackhi_epi16(lower01, lower23), false);
        store(joined[2][g], _mm256_unpacklo_epi16(upper01, upper23), false);
        store(joined[3][g], _mm256_unpackhi_epi16(upper01, upper23), false);
    }
    for (size_t k = 0; k < 4; ++k)
        tile_of_4(joined[k][0], HALF, m->out + 4 * k * m->out_pitch, m->out_pitch, 16, stream);
}

/* Columns 8 i + 4 k + 0..3 of the two rows, as 4-byte elements, are in lane i of joined[k]. */
INLINE void tile_of_2(const gp_matrices *m, bool stream) {
    _Alignas(HALF) char joined[2][16][HALF];
    for (size_t g = 0; g < 16; ++g) {
        __m256i r0 = load(m->in + 2 * g * m->in_pitch), r1 = load(m->in + (2 * g + 1) * m->in_pitch);
        store(joined[0][g], _mm256_unpacklo_epi16(r0, r1), false);
        store(joined[1][g], _mm256_unpackhi_epi16(r0, r1), false);
    }
    for (size_t k = 0; k < 2; ++k)
        tile_of_4(joined[k][0], HALF, m->out + 4 * k * m->out_pitch, m->out_pitch, 8, stream);
}

INLINE void tile_of_8(const gp_matrices *m, bool stream) {
    const char *in = m->in;
    size_t pitch = m->in_pitch, apart = 2 * m->out_pitch;
    __m256i r0 = load(in), r1 = load(in + pitch), r2 = load(in + 2 * pitch), r3 = load(in + 3 * pitch);
    in += 4 * pitch;
    __m256i r4 = load(in), r5 = load(in + pitch), r6 = load(in + 2 * pitch), r7 = load(in + 3 * pitch);
    store_lanes(m->out, apart, stream, _mm256_unpacklo_epi64(r0, r1), _mm256_unpacklo_epi64(r2, r3),
                _mm256_unpacklo_epi64(r4, r5), _mm256_unpacklo_epi64(r6, r7));
    store_lanes(m->out + m->out_pitch, apart, stream, _mm256_unpackhi_epi64(r0, r1), _mm256_unpackhi_epi64(r2, r3),
                _mm256_unpackhi_epi64(r4, r5), _mm256_unpackhi_epi64(r6, r7));
}

INLINE void tile_of_16(const gp_matrices *m, bool stream) {
    size_t pitch = m->in_pitch;
    store_lanes(m->out, m->out_pitch, stream, load(m->in), load(m->in + pitch), load(m->in + 2 * pitch),
                load(m->in + 3 * pitch));
}

/* `bytes` is a constant wherever this is inlined. */
INLINE void panel(size_t bytes, const gp_matrices *at, size_t tiles, bool stream) {
    gp_matrices m = *at;
    for (; tiles > 0; --tiles) {
        if (bytes == 1)
            tile_of_1(&m, stream);
        else if (bytes == 2)
            tile_of_2(&m, stream);
        else if (bytes == 4)
            tile_of_4(m.in, m.in_pitch, m.out, m.out_pitch, 4, stream);
        else if (bytes == 8)
            tile_of_8(&m, stream);
        else
            tile_of_16(&m, stream);
        m.in += HALF;
        m.out += HALF / bytes * m.out_pitch;
    }
}

AVX2 static void panel_of_1(const gp_matrices *at, size_t tiles, bool stream) {
    panel(1, at, tiles, stream);
}

AVX2 static void panel_of_2(const gp_matrices *at, size_t tiles, bool stream) {
    panel(2, at, tiles, stream);
}

AVX2 static void panel_of_4(const gp_matrices *at, size_t tiles, bool stream) {
    panel(4, at, tiles, stream);
}

AVX2 static void panel_of_8(const gp_matrices *at, size_t tiles, bool stream) {
    panel(8, at, tiles, stream);
}

AVX2 static void panel_of_16(const gp_matrices *at, size_t tiles, bool stream) {
    panel(16, at, tiles, stream);
}

AVX2 static void stream_lines(char *to, const char *from, size_t lines) {
    for (; lines > 0; --lines, to += GP_LINE, from += GP_LINE) {
        store(to, load(from), true);
        store(to + HALF, load(from + HALF), true);
    }
}

gp_status gp_launch_transpose_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_transpose_kernels kernels = {
        .row_bytes = HALF,
        .panel = {panel_of_1, panel_of_2, panel_of_4, panel_of_8, panel_of_16},
        .stream_lines = stream_lines};
    return gp_transpose_thin(context, plan, problem, &gp_thin_avx2)
               ? GP_OK
               : gp_transpose_in_tiles(context, plan, problem, &kernels);
}

#endif
