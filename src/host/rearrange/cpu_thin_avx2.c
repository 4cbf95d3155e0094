/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes of few columns or rows with AVX2: two blocks in a vector. */
#include "cpu_thin.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2
#define VECTOR GP_THIN_VECTOR

INLINE __m128i load(const void *at) {
    return _mm_loadu_si128((const __m128i *)at);
}

/* Vector `to` of the one side, from those of the other that hold some of it. */
INLINE __m256i ordered(const gp_thin_orders *orders, size_t planes, size_t elements, bool to_planes, size_t to,
                       const __m256i *from) {
    __m256i all = _mm256_setzero_si256();
    if (elements == 1 || planes == 1)
        return from[to];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        if (!gp_thin_share(planes, elements, to_planes ? to : k, to_planes ? k : to))
            continue;
        const __m256i order = _mm256_broadcastsi128_si256(load(orders->of[to][k]));
        all = _mm256_or_si256(all, _mm256_shuffle_epi8(from[k], order));
    }
    return all;
}

/* `planes` and `elements` are constants wherever these are inlined. */
INLINE void split_two(size_t planes, size_t elements, const gp_thin_orders *orders, const char *records,
                      const char *ahead, char *lines, size_t apart) {
    __m256i from[GP_THIN_PLANES_MAX];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        if (ahead)
            _mm_prefetch(ahead + k * GP_LINE, _MM_HINT_T0);
        from[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(records + k * VECTOR)),
                                          load(records + (planes + k) * VECTOR), 1);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k)
        _mm256_storeu_si256((__m256i *)(void *)(lines + k * apart), ordered(orders, planes, elements, true, k, from));
}

INLINE void join_two(size_t planes, size_t elements, const gp_thin_orders *orders, const char *lines, size_t apart,
                     char *records) {
    __m256i from[GP_THIN_PLANES_MAX];
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k)
        from[k] = _mm256_loadu_si256((const __m256i *)(const void *)(lines + k * apart));
#pragma GCC unroll 8
    for (size_t k = 0; k < planes; ++k) {
        const __m256i both = ordered(orders, planes, elements, false, k, from);
        _mm_storeu_si128((__m128i *)(void *)(records + k * VECTOR), _mm256_castsi256_si128(both));
        _mm_storeu_si128((__m128i *)(void *)(records + (planes + k) * VECTOR), _mm256_extracti128_si256(both, 1));
    }
}

INLINE void split(size_t planes, size_t elements, const gp_thin_orders *orders, const char *records,
                  const char *ahead, char *lines, size_t apart) {
    split_two(planes, elements, orders, records, ahead, lines, apart);
    split_two(planes, elements, orders, records + 2 * planes * VECTOR, NULL, lines + 2 * VECTOR, apart);
}

INLINE void join(size_t planes, size_t elements, const gp_thin_orders *orders, const char *lines, size_t apart,
                 char *records) {
    join_two(planes, elements, orders, lines, apart, records);
    join_two(planes, elements, orders, lines + 2 * VECTOR, apart, records + 2 * planes * VECTOR);
}

GP_THIN_KERNELS(AVX2)

const gp_thin_kernels gp_thin_avx2 = GP_THIN_LISTS;

#endif
