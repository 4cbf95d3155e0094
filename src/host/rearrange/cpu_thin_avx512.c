/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes of few columns or rows with AVX-512: four blocks in a vector. */
#include "cpu_thin.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512
#define VECTOR GP_THIN_VECTOR

INLINE __m128i load(const void *at) {
    return _mm_loadu_si128((const __m128i *)at);
}

/* Vector `to` of the one side, from those of the other that hold some of it. */
INLINE __m512i ordered(const gp_thin_orders *orders, size_t planes, size_t elements, bool to_planes, size_t to,
                       const __m512i *from) {
    __m512i all = _mm512_setzero_si512();
    if (elements == 1 || planes == 1)
        return from[to];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        if (!gp_thin_share(planes, elements, to_planes ? to : k, to_planes ? k : to))
            continue;
        const __m512i order = _mm512_broadcast_i32x4(load(orders->of[to][k]));
        all = _mm512_or_si512(all, _mm512_shuffle_epi8(from[k], order));
    }
    return all;
}

/* `planes` and `elements` are constants wherever these are inlined. */
INLINE void split(size_t planes, size_t elements, const gp_thin_orders *orders, const char *records,
                  const char *ahead, char *lines, size_t apart) {
    const size_t block = planes * VECTOR;
    __m512i from[GP_THIN_PLANES_MAX];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        const char *at = records + k * VECTOR;
        _mm_prefetch(ahead + k * GP_LINE, _MM_HINT_T0);
        from[k] = _mm512_inserti32x4(_mm512_castsi128_si512(load(at)), load(at + block), 1);
        from[k] = _mm512_inserti32x4(from[k], load(at + 2 * block), 2);
        from[k] = _mm512_inserti32x4(from[k], load(at + 3 * block), 3);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k)
        _mm512_storeu_si512(lines + k * apart, ordered(orders, planes, elements, true, k, from));
}

INLINE void store(char *at, __m128i lane) {
    _mm_storeu_si128((__m128i *)(void *)at, lane);
}

INLINE void join(size_t planes, size_t elements, const gp_thin_orders *orders, const char *lines, size_t apart,
                 char *records) {
    const size_t block = planes * VECTOR;
    __m512i from[GP_THIN_PLANES_MAX];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k)
        from[k] = _mm512_loadu_si512(lines + k * apart);
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        const __m512i lanes = ordered(orders, planes, elements, false, k, from);
        char *at = records + k * VECTOR;
        store(at, _mm512_castsi512_si128(lanes));
        store(at + block, _mm512_extracti32x4_epi32(lanes, 1));
        store(at + 2 * block, _mm512_extracti32x4_epi32(lanes, 2));
        store(at + 3 * block, _mm512_extracti32x4_epi32(lanes, 3));
    }
}

GP_THIN_KERNELS(AVX512)

const gp_thin_kernels gp_thin_avx512 = GP_THIN_LISTS;

#endif
