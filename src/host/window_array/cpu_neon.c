/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with NEON. */
#include "cpu.h"

#if defined(__aarch64__)
#define SIMD
#define NAMED(name) name##_neon
#include "cpu_simd.h"
#endif
