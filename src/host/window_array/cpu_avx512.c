/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with AVX-512. */
#include "cpu.h"

#if defined(__x86_64__)
#define SIMD __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#define NAMED(name) name##_avx512
#include "cpu_simd.h"
#endif
