/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views with AVX-512. */
#include "../cpu/simd_avx512.h"

#include "cpu_simd.h"
