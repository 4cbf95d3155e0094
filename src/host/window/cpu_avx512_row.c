/* SPDX-License-Identifier: Apache-2.0 */
/* The window with AVX-512: what is done to elements of a row before windows slide over them. */
#include "cpu_avx512.h"

#if defined(__x86_64__)

/* All bits that are set in a or in one of 32 elements. */
INLINE __m512i with_bits(__m512i a, const int32_t *in) {
    return _mm512_ternarylogic_epi32(a, _mm512_loadu_si512(in), _mm512_loadu_si512(in + LANES), 0xfe);
}

/*
 * Where no element is negative, all their bits together are a bound, for half an instruction in sixteen elements;
 * from the first negative or large one on, absolute values are looked at.
 */
AVX512 uint32_t gp_window_magnitude_avx512(const int32_t *in, size_t n) {
    const __m512i large = _mm512_set1_epi32(-GP_WINDOW_LARGE);
    __m512i a = _mm512_setzero_si512(), b = a;
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        __m512i bits = with_bits(with_bits(a, in + i), in + i + 2 * LANES);
        if (_mm512_test_epi32_mask(bits, large) != 0)
            break;
        a = bits;
    }
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        a = _mm512_max_epu32(a, _mm512_abs_epi32(_mm512_loadu_si512(in + i)));
        b = _mm512_max_epu32(b, _mm512_abs_epi32(_mm512_loadu_si512(in + i + LANES)));
        a = _mm512_max_epu32(a, _mm512_abs_epi32(_mm512_loadu_si512(in + i + 2 * LANES)));
        b = _mm512_max_epu32(b, _mm512_abs_epi32(_mm512_loadu_si512(in + i + 3 * LANES)));
        if (_mm512_cmpge_epu32_mask(_mm512_max_epu32(a, b), _mm512_set1_epi32(GP_WINDOW_LARGE)) != 0)
            return UINT32_C(1) << 31;
    }
    for (size_t length; i < n; i += length) {
        length = n - i < LANES ? n - i : LANES;
        a = _mm512_max_epu32(a, _mm512_abs_epi32(_mm512_maskz_loadu_epi32(first_lanes(length), in + i)));
    }
    return _mm512_reduce_max_epu32(_mm512_max_epu32(a, b));
}

/* Lane by lane: elements, squares modulo 2^64, and the upper halves of squares of pairs. */
typedef struct {
    __m512i sum, low, high;
} lane_totals;

INLINE void add_lanes(lane_totals *to, __m512i x) {
    pairs p = halves(x), s = multiply(p, p);
    __m512i square = _mm512_add_epi64(s.even, s.odd);
    to->sum = _mm512_add_epi64(to->sum, _mm512_add_epi64(p.even, p.odd));
    to->low = _mm512_add_epi64(to->low, square);
    to->high = _mm512_add_epi64(to->high, _mm512_srli_epi64(square, 32));
}

/* What the lower halves of at most 2^29 squares of pairs add to the upper ones is below 2^61: it is known from low.
 */
AVX512 void gp_window_accumulate_avx512(const int32_t *in, size_t n, gp_window_totals *to) {
    __m512i zero = _mm512_setzero_si512();
    lane_totals t = {zero, zero, zero};
    uint32_t largest = gp_window_magnitude_avx512(in, n);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_lanes(&t, _mm512_loadu_si512(in + i));
    add_lanes(&t, _mm512_maskz_loadu_epi32(first_lanes(n - i), in + i));
    gp_u128 least = (gp_u128)add_all(t.high) << 32;
    to->sum += (int64_t)add_all(t.sum);
    to->square += least + (add_all(t.low) - (uint64_t)least);
    to->magnitude = largest > to->magnitude ? largest : to->magnitude;
}

/* The first n elements of the run, in lanes first .. first + n - 1. */
INLINE __m512i take(__m512i to, const gp_window_run *run, size_t first, size_t n) {
    __mmask16 lanes = (__mmask16)(((1u << n) - 1) << first);
    if (run->step == 0)
        return _mm512_mask_set1_epi32(to, lanes, *run->first);
    if (run->step > 0)
        return _mm512_mask_expandloadu_epi32(to, lanes, run->first);
    __m512i in_order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i x = _mm512_maskz_loadu_epi32(first_lanes(n), run->first - (n - 1));
    __m512i order = _mm512_sub_epi32(_mm512_set1_epi32((int)(first + n - 1)), in_order);
    return _mm512_mask_permutexvar_epi32(to, lanes, order, x);
}

INLINE void advance(gp_window_run *run, size_t n) {
    run->first += run->step * (ptrdiff_t)n;
    run->count -= n;
}

/* As many whole vectors of the run as n elements allow; returns how many elements. */
INLINE size_t copy_vectors(const gp_window_run *run, size_t n, int32_t *out) {
    __m512i order = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    n = n < run->count ? n : run->count;
    size_t i = 0;
    if (run->step > 0) {
        for (; i + LANES <= n; i += LANES)
            _mm512_storeu_si512(out + i, _mm512_loadu_si512(run->first + i));
    } else if (run->step < 0) {
        for (; i + LANES <= n; i += LANES)
            _mm512_storeu_si512(out + i,
                                _mm512_permutexvar_epi32(order, _mm512_loadu_si512(run->first - i - (LANES - 1))));
    } else {
        for (; i + LANES <= n; i += LANES)
            _mm512_storeu_si512(out + i, _mm512_set1_epi32(*run->first));
    }
    return i;
}

/*
 * In vectors as they will be read, also where two runs meet. What is read in other pieces than it was written in must
 * first have left the core, and so must all before it that goes past the caches: 4096 x 4096 of 8 bits, w = 1001, 8.8
 * ms so, 9.3 copied run by run.
 */
AVX512 void gp_window_extend_avx512(const gp_problem *problem, const int32_t *row, int64_t x, size_t n,
                                    int32_t *out) {
    gp_window_run run = {NULL, 0, 0};
    for (size_t i = 0; i < n; i += LANES) {
        __m512i v = _mm512_setzero_si512();
        for (size_t lane = 0, length; lane < LANES && i + lane < n; lane += length) {
            if (run.count == 0)
                run = gp_window_run_at(problem, row, x + (int64_t)(i + lane));
            length = run.count < LANES - lane ? run.count : LANES - lane;
            v = take(v, &run, lane, length);
            advance(&run, length);
        }
        _mm512_storeu_si512(out + i, v);
        size_t whole = copy_vectors(&run, n - i > LANES ? n - i - LANES : 0, out + i + LANES);
        advance(&run, whole);
        i += whole;
    }
}

#endif
