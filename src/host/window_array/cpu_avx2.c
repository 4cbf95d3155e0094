/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with AVX2. */
#include "cpu.h"

#if defined(__x86_64__)
#define SIMD __attribute__((target("avx2,f16c")))
#define NAMED(name) name##_avx2
#include "cpu_simd.h"
#endif
