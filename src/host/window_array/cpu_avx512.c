/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with AVX-512. */
#include "../cpu/simd_avx512.h"

#define FUSED 1
#include "cpu_simd.h"
