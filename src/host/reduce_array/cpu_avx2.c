/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views with AVX2. */
#include "../cpu/simd_avx2.h"

#include "cpu_simd.h"
