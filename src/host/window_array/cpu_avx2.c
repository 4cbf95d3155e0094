/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with AVX2. */
#include "../cpu/simd_avx2.h"

#include "cpu_simd.h"
