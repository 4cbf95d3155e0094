/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose with NEON. A tile is four squares one below the other, of rows of 16 bytes, whatever the element: its
 * columns are lines of the output. A square is transposed in log2(rows) steps: step k exchanges bit k of an element's
 * row with bit k of its column, by trn of pieces of 2^k elements from rows that are 2^k apart.
 * Compared with the oracle in an emulator; not timed on a processor.
 */
#include "cpu_tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define VECTOR 16                  /* bytes of a row of a tile */
#define SQUARES (GP_LINE / VECTOR) /* of a tile */

/* Pieces of `bytes` bytes at odd places of a change places with those at even places of b. */
INLINE void exchange(size_t bytes, uint8x16_t *a, uint8x16_t *b) {
    uint8x16_t x = *a, y = *b;
    if (bytes == 1) {
        *a = vtrn1q_u8(x, y);
        *b = vtrn2q_u8(x, y);
    } else if (bytes == 2) {
        uint16x8_t u = vreinterpretq_u16_u8(x), v = vreinterpretq_u16_u8(y);
        *a = vreinterpretq_u8_u16(vtrn1q_u16(u, v));
        *b = vreinterpretq_u8_u16(vtrn2q_u16(u, v));
    } else if (bytes == 4) {
        uint32x4_t u = vreinterpretq_u32_u8(x), v = vreinterpretq_u32_u8(y);
        *a = vreinterpretq_u8_u32(vtrn1q_u32(u, v));
        *b = vreinterpretq_u8_u32(vtrn2q_u32(u, v));
    } else {
        uint64x2_t u = vreinterpretq_u64_u8(x), v = vreinterpretq_u64_u8(y);
        *a = vreinterpretq_u8_u64(vtrn1q_u64(u, v));
        *b = vreinterpretq_u8_u64(vtrn2q_u64(u, v));
    }
}

INLINE void exchange_rows(size_t bytes, size_t apart, uint8x16_t *row) {
    for (size_t i = 0; i < VECTOR / bytes; ++i)
        if ((i & apart) == 0)
            exchange(bytes * apart, &row[i], &row[i + apart]);
}

INLINE void transpose_square(size_t bytes, uint8x16_t *row) {
    if (bytes <= 8)
        exchange_rows(bytes, 1, row);
    if (bytes <= 4)
        exchange_rows(bytes, 2, row);
    if (bytes <= 2)
        exchange_rows(bytes, 4, row);
    if (bytes == 1)
        exchange_rows(bytes, 8, row);
}

/*
 * The squares wait for each other, so that lines are written whole: in registers, those of 1 and 2 bytes on the
 * stack. `bytes` is a constant wherever this is inlined.
 */
INLINE void transpose_tile(size_t bytes, const gp_matrices *m) {
    uint8x16_t square[SQUARES][VECTOR];
    const size_t n = VECTOR / bytes;
    const char *in = m->in;
    for (size_t s = 0; s < SQUARES; ++s, in += n * m->in_pitch) {
        uint8x16_t row[VECTOR];
        for (size_t i = 0; i < n; ++i)
            row[i] = vld1q_u8((const uint8_t *)in + i * m->in_pitch);
        transpose_square(bytes, row);
        for (size_t i = 0; i < n; ++i)
            square[s][i] = row[i];
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t s = 0; s < SQUARES; ++s)
            vst1q_u8((uint8_t *)m->out + i * m->out_pitch + s * VECTOR, square[s][i]);
}

INLINE void panel(size_t bytes, const gp_matrices *at, size_t tiles) {
    for (gp_matrices m = *at; tiles > 0; --tiles, m.in += VECTOR, m.out += VECTOR / bytes * m.out_pitch)
        transpose_tile(bytes, &m);
}

static void panel_of_1(const gp_matrices *at, size_t tiles, bool stream) {
    (void)stream;
    panel(1, at, tiles);
}

static void panel_of_2(const gp_matrices *at, size_t tiles, bool stream) {
    (void)stream;
    panel(2, at, tiles);
}

static void panel_of_4(const gp_matrices *at, size_t tiles, bool stream) {
    (void)stream;
    panel(4, at, tiles);
}

static void panel_of_8(const gp_matrices *at, size_t tiles, bool stream) {
    (void)stream;
    panel(8, at, tiles);
}

static void panel_of_16(const gp_matrices *at, size_t tiles, bool stream) {
    (void)stream;
    panel(16, at, tiles);
}

/* No intrinsic stores past the caches (stnp): these are plain stores of whole lines. */
static void stream_lines(char *to, const char *from, size_t lines) {
    memcpy(to, from, lines * GP_LINE);
}

gp_status gp_launch_transpose_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_transpose_kernels kernels = {
        .row_bytes = VECTOR,
        .panel = {panel_of_1, panel_of_2, panel_of_4, panel_of_8, panel_of_16},
        .stream_lines = stream_lines};
    return gp_transpose_in_tiles(context, plan, problem, &kernels);
}

#endif
