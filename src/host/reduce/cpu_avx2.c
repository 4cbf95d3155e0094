/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction with AVX2: the quarters of a page side by side, as in reduce_avx512.c, and the sum as elements modulo
 * 2^32 and upper halves apart.
 */
#include "cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

#define LANES 8
#define LINE 16 /* elements */

/*
 * As in reduce_avx512.c, with up to 2^15 elements a lane in a chunk: |high| <= 2^30 and the sum of the lower halves
 * is less than 2^31, both exact.
 */
typedef struct {
    __m256i low, high;
} lane_sums;

INLINE __m256i load(const int32_t *at) {
    return _mm256_loadu_si256((const __m256i *)at);
}

/* The compiler may not load x again for its second use: the load ports would be the limit. */
INLINE void add(lane_sums *to, __m256i x) {
    __asm__("" : "+x"(x));
    to->low = _mm256_add_epi32(to->low, x);
    to->high = _mm256_add_epi32(to->high, _mm256_srai_epi32(x, 16));
}

INLINE int64_t widen_and_add(__m256i x) {
    __m256i pairs = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)),
                                     _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1)));
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    return _mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1);
}

INLINE int64_t total_of(const lane_sums *a, const lane_sums *b, const lane_sums *c, const lane_sums *d) {
    __m256i low = _mm256_add_epi32(_mm256_add_epi32(a->low, b->low), _mm256_add_epi32(c->low, d->low));
    __m256i high = _mm256_add_epi32(_mm256_add_epi32(a->high, b->high), _mm256_add_epi32(c->high, d->high));
    __m256i rest = _mm256_sub_epi32(low, _mm256_slli_epi32(high, 16));
    return widen_and_add(high) * 65536 + widen_and_add(rest);
}

INLINE __m256i first_lanes(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

AVX2 static int64_t sum_chunk(const int32_t *in, size_t n, bool streamed) {
    __m256i zero = _mm256_setzero_si256();
    lane_sums s0 = {zero, zero}, s1 = s0, s2 = s0, s3 = s0;
    for (; streamed && n >= GP_PAGE; in += GP_PAGE, n -= GP_PAGE)
        for (const int32_t *line = in, *end = gp_quarter_end(in); line < end; line += LINE) {
            gp_prefetch_line(line + GP_PAGE);
            for (const int32_t *at = line; at < line + LINE; at += LANES) {
                add(&s0, load(at));
                add(&s1, load(at + GP_PAGE_QUARTER));
                add(&s2, load(at + 2 * GP_PAGE_QUARTER));
                add(&s3, load(at + 3 * GP_PAGE_QUARTER));
            }
        }
    for (; n >= 4 * LANES; in += 4 * LANES, n -= 4 * LANES) {
        add(&s0, load(in));
        add(&s1, load(in + LANES));
        add(&s2, load(in + 2 * LANES));
        add(&s3, load(in + 3 * LANES));
    }
    for (; n >= LANES; in += LANES, n -= LANES)
        add(&s0, load(in));
    add(&s1, _mm256_maskload_epi32(in, first_lanes(n)));
    return total_of(&s0, &s1, &s2, &s3);
}

/* The operations without carry. `op` is a constant wherever this is inlined. */
INLINE __m256i combine(gp_reduce_op op, __m256i a, __m256i b) {
    switch (op) {
    case GP_REDUCE_MIN:
        return _mm256_min_epi32(a, b);
    case GP_REDUCE_MAX:
        return _mm256_max_epi32(a, b);
    case GP_REDUCE_AND:
        return _mm256_and_si256(a, b);
    case GP_REDUCE_OR:
        return _mm256_or_si256(a, b);
    default:
        return _mm256_xor_si256(a, b);
    }
}

INLINE int32_t combine_lanes(gp_reduce_op op, __m256i x) {
    x = combine(op, x, _mm256_permute2x128_si256(x, x, 0x01));
    x = combine(op, x, _mm256_shuffle_epi32(x, 0x4e));
    x = combine(op, x, _mm256_shuffle_epi32(x, 0xb1));
    return _mm_cvtsi128_si32(_mm256_castsi256_si128(x));
}

INLINE int64_t combine_chunk(gp_reduce_op op, int32_t identity, const int32_t *in, size_t n, bool streamed) {
    __m256i none = _mm256_set1_epi32(identity), t0 = none, t1 = none, t2 = none, t3 = none;
    for (; streamed && n >= GP_PAGE; in += GP_PAGE, n -= GP_PAGE)
        for (const int32_t *line = in, *end = gp_quarter_end(in); line < end; line += LINE) {
            gp_prefetch_line(line + GP_PAGE);
            for (const int32_t *at = line; at < line + LINE; at += LANES) {
                t0 = combine(op, t0, load(at));
                t1 = combine(op, t1, load(at + GP_PAGE_QUARTER));
                t2 = combine(op, t2, load(at + 2 * GP_PAGE_QUARTER));
                t3 = combine(op, t3, load(at + 3 * GP_PAGE_QUARTER));
            }
        }
    for (; n >= 4 * LANES; in += 4 * LANES, n -= 4 * LANES) {
        t0 = combine(op, t0, load(in));
        t1 = combine(op, t1, load(in + LANES));
        t2 = combine(op, t2, load(in + 2 * LANES));
        t3 = combine(op, t3, load(in + 3 * LANES));
    }
    for (; n >= LANES; in += LANES, n -= LANES)
        t0 = combine(op, t0, load(in));
    __m256i rest = first_lanes(n);
    t1 = combine(op, t1, _mm256_blendv_epi8(none, _mm256_maskload_epi32(in, rest), rest));
    return combine_lanes(op, combine(op, combine(op, t0, t1), combine(op, t2, t3)));
}

AVX2 static int64_t min_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_MIN, INT32_MAX, in, n, streamed);
}

AVX2 static int64_t max_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_MAX, INT32_MIN, in, n, streamed);
}

AVX2 static int64_t and_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_AND, -1, in, n, streamed);
}

AVX2 static int64_t or_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_OR, 0, in, n, streamed);
}

AVX2 static int64_t xor_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_XOR, 0, in, n, streamed);
}

gp_status gp_launch_reduce_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_reduce_chunk chunk[GP_REDUCE_OPS] = {
        [GP_REDUCE_SUM] = sum_chunk, [GP_REDUCE_MIN] = min_chunk, [GP_REDUCE_MAX] = max_chunk,
        [GP_REDUCE_AND] = and_chunk, [GP_REDUCE_OR] = or_chunk,   [GP_REDUCE_XOR] = xor_chunk,
    };
    return gp_reduce_in_chunks(context, plan, problem, chunk);
}

#endif
