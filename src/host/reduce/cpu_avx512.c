/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction with AVX-512. Two things make it run at the speed of memory:
 *  - A page's four quarters are read side by side, and of each line the same one of the next page, for the sum of the
 *    page after that, is asked for, which a core does not do by itself. 512 MiB, ms on two Xeons of 2023 (models 167,
 *    207): in order 47, 34; four streams a quarter of a MiB apart, what follows asked for, 37, 45; four pages side by
 *    side, the next four asked for, 40, 33; so 34, 33.
 *  - The sum needs three instructions a vector, not four with two on the one shuffle port, as widening each half
 *    would: it adds the elements modulo 2^32 and, apart, their upper 16 bits. From cache two: it counts carries.
 *    Widened 107 GB/s, so 140 GB/s from cache.
 */
#include "cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

#define LANES 16
#define THIRTY_TWO (32 * LANES)

/* Of vectors x added: the sum modulo 2^32, and that of floor(x / 2^16). */
typedef struct {
    __m512i low, high;
} halves;

/*
 * The sum as a counter of carries (W. Harley's population count, with vectors for bits): a full adder takes three
 * numbers of one weight to their exclusive or, of that weight, and their majority, of twice the weight. Both are one
 * instruction, in two's complement too. 32 vectors so become one that weighs 32.
 */
typedef struct {
    __m512i ones, twos, fours, eights, sixteens;
    halves most; /* of those that weigh 32 */
} carries;

/*
 * A load that the compiler may not repeat: it would, for each of the two uses, and the load ports are the limit. Nor
 * may it move to others the prefetches that follow: sixteen together, the sum of 64 MiB took 4.34 for 4.14 ms.
 */
INLINE __m512i load(const int32_t *at) {
    __m512i x = _mm512_loadu_si512(at);
    __asm__ volatile("" : "+v"(x));
    return x;
}

/* A chunk gives a lane at most 2^14 elements: |high| <= 2^29, and the sum of the lower halves is less than 2^30. */
INLINE void add(halves *to, __m512i x) {
    to->low = _mm512_add_epi32(to->low, x);
    to->high = _mm512_add_epi32(to->high, _mm512_srai_epi32(x, 16));
}

/* *sum + x + y = new *sum + 2 * result. The majority of old sum, x, y: where x = y that, else the new sum's opposite.
 */
INLINE __m512i full_add(__m512i *sum, __m512i x, __m512i y) {
    *sum = _mm512_ternarylogic_epi32(*sum, x, y, 0x96);
    return _mm512_ternarylogic_epi32(x, y, *sum, 0xd4);
}

INLINE __m512i add_four(carries *to, const int32_t *at) {
    __m512i first = full_add(&to->ones, load(at), load(at + LANES));
    __m512i second = full_add(&to->ones, load(at + 2 * LANES), load(at + 3 * LANES));
    return full_add(&to->twos, first, second);
}

INLINE __m512i add_eight(carries *to, const int32_t *at) {
    __m512i first = add_four(to, at), second = add_four(to, at + 4 * LANES);
    return full_add(&to->fours, first, second);
}

INLINE __m512i add_sixteen(carries *to, const int32_t *at) {
    __m512i first = add_eight(to, at), second = add_eight(to, at + 8 * LANES);
    return full_add(&to->eights, first, second);
}

INLINE void add_thirty_two(carries *to, const int32_t *at) {
    __m512i first = add_sixteen(to, at), second = add_sixteen(to, at + 16 * LANES);
    add(&to->most, full_add(&to->sixteens, first, second));
}

INLINE __m512i widen_and_add(__m512i x) {
    return _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(x)),
                            _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(x, 1)));
}

INLINE __m512i total_of_halves(const halves *h) {
    __m512i rest = _mm512_sub_epi32(h->low, _mm512_slli_epi32(h->high, 16));
    return _mm512_add_epi64(widen_and_add(rest), _mm512_slli_epi64(widen_and_add(h->high), 16));
}

/* a + 2 b */
INLINE __m512i and_twice(__m512i a, __m512i b) {
    return _mm512_add_epi64(a, _mm512_slli_epi64(b, 1));
}

INLINE __m512i total_of(const carries *c) {
    __m512i total = and_twice(widen_and_add(c->sixteens), total_of_halves(&c->most));
    total = and_twice(widen_and_add(c->eights), total);
    total = and_twice(widen_and_add(c->fours), total);
    total = and_twice(widen_and_add(c->twos), total);
    return and_twice(widen_and_add(c->ones), total);
}

INLINE __mmask16 first_lanes(size_t n) {
    return (__mmask16)((1u << n) - 1);
}

/*
 * Without carries, which wait for each other and so keep what comes later from being asked for; and two pages ahead,
 * as there is more to do for a line than one instruction. 512 MiB, ms on models 167, 207, with the minimum's 29.1,
 * 30.2: with carries 31.8, 30.8; so one page ahead 29.2, 30.9, two 28.6, 30.7, three 28.7, 31.0.
 */
AVX512 static __m512i sum_pages(const int32_t *in, size_t n) {
    const __m512i zero = _mm512_setzero_si512();
    halves s0 = {zero, zero}, s1 = s0;
    for (const int32_t *page = in; page < in + n; page += GP_PAGE)
        for (const int32_t *at = page, *end = gp_quarter_end(page); at < end; at += LANES) {
            const __m512i x0 = load(at), x1 = load(at + GP_PAGE_QUARTER);
            const __m512i x2 = load(at + 2 * GP_PAGE_QUARTER), x3 = load(at + 3 * GP_PAGE_QUARTER);
            gp_prefetch_line(at + 2 * GP_PAGE);
            add(&s0, x0);
            add(&s1, x1);
            add(&s0, x2);
            add(&s1, x3);
        }
    s0.low = _mm512_add_epi32(s0.low, s1.low);
    s0.high = _mm512_add_epi32(s0.high, s1.high);
    return total_of_halves(&s0);
}

/*
 * From cache in order, in thirty-twos: 1 MiB in 6.5 us where quarters of a page and sixteens take 6.7, beside a busy
 * neighbour 7.4 and 8.2.
 */
AVX512 static __m512i sum_in_order(const int32_t *in, size_t n) {
    const __m512i zero = _mm512_setzero_si512();
    carries c = {zero, zero, zero, zero, zero, {zero, zero}};
    for (const int32_t *at = in; at < in + n; at += THIRTY_TWO)
        add_thirty_two(&c, at);
    return total_of(&c);
}

AVX512 static int64_t sum_chunk(const int32_t *in, size_t n, bool streamed) {
    __m512i total = _mm512_setzero_si512();
    size_t rest = n % (streamed ? GP_PAGE : THIRTY_TWO);
    if (n > rest)
        total = streamed ? sum_pages(in, n - rest) : sum_in_order(in, n - rest);
    for (in += n - rest; rest >= LANES; in += LANES, rest -= LANES)
        total = _mm512_add_epi64(total, widen_and_add(_mm512_loadu_si512(in)));
    total = _mm512_add_epi64(total, widen_and_add(_mm512_maskz_loadu_epi32(first_lanes(rest), in)));
    return _mm512_reduce_add_epi64(total);
}

/* The operations without carry. `op` is a constant wherever this is inlined. */
INLINE __m512i combine(gp_reduce_op op, __m512i a, __m512i b) {
    switch (op) {
    case GP_REDUCE_MIN:
        return _mm512_min_epi32(a, b);
    case GP_REDUCE_MAX:
        return _mm512_max_epi32(a, b);
    case GP_REDUCE_AND:
        return _mm512_and_si512(a, b);
    case GP_REDUCE_OR:
        return _mm512_or_si512(a, b);
    default:
        return _mm512_xor_si512(a, b);
    }
}

INLINE int32_t combine_lanes(gp_reduce_op op, __m512i x) {
    x = combine(op, x, _mm512_shuffle_i64x2(x, x, 0x4e));
    x = combine(op, x, _mm512_shuffle_i64x2(x, x, 0xb1));
    x = combine(op, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e));
    x = combine(op, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
    return _mm_cvtsi128_si32(_mm512_castsi512_si128(x));
}

INLINE int64_t combine_chunk(gp_reduce_op op, int32_t identity, const int32_t *in, size_t n, bool streamed) {
    __m512i none = _mm512_set1_epi32(identity), t0 = none, t1 = none, t2 = none, t3 = none;
    for (; streamed && n >= GP_PAGE; in += GP_PAGE, n -= GP_PAGE)
        for (const int32_t *at = in, *end = gp_quarter_end(in); at < end; at += LANES) {
            t0 = combine(op, t0, _mm512_loadu_si512(at));
            t1 = combine(op, t1, _mm512_loadu_si512(at + GP_PAGE_QUARTER));
            t2 = combine(op, t2, _mm512_loadu_si512(at + 2 * GP_PAGE_QUARTER));
            t3 = combine(op, t3, _mm512_loadu_si512(at + 3 * GP_PAGE_QUARTER));
            gp_prefetch_line(at + GP_PAGE);
        }
    for (; n >= 4 * LANES; in += 4 * LANES, n -= 4 * LANES) {
        t0 = combine(op, t0, _mm512_loadu_si512(in));
        t1 = combine(op, t1, _mm512_loadu_si512(in + LANES));
        t2 = combine(op, t2, _mm512_loadu_si512(in + 2 * LANES));
        t3 = combine(op, t3, _mm512_loadu_si512(in + 3 * LANES));
    }
    for (; n >= LANES; in += LANES, n -= LANES)
        t0 = combine(op, t0, _mm512_loadu_si512(in));
    t1 = combine(op, t1, _mm512_mask_loadu_epi32(none, first_lanes(n), in));
    return combine_lanes(op, combine(op, combine(op, t0, t1), combine(op, t2, t3)));
}

AVX512 static int64_t min_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_MIN, INT32_MAX, in, n, streamed);
}

AVX512 static int64_t max_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_MAX, INT32_MIN, in, n, streamed);
}

AVX512 static int64_t and_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_AND, -1, in, n, streamed);
}

AVX512 static int64_t or_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_OR, 0, in, n, streamed);
}

AVX512 static int64_t xor_chunk(const int32_t *in, size_t n, bool streamed) {
    return combine_chunk(GP_REDUCE_XOR, 0, in, n, streamed);
}

gp_status gp_launch_reduce_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_reduce_chunk chunk[GP_REDUCE_OPS] = {
        [GP_REDUCE_SUM] = sum_chunk, [GP_REDUCE_MIN] = min_chunk, [GP_REDUCE_MAX] = max_chunk,
        [GP_REDUCE_AND] = and_chunk, [GP_REDUCE_OR] = or_chunk,   [GP_REDUCE_XOR] = xor_chunk,
    };
    return gp_reduce_in_chunks(context, plan, problem, chunk);
}

#endif
