/* SPDX-License-Identifier: Apache-2.0 */
/* The window with AVX2. */
#include "../cpu/simd_avx2.h"

#include "cpu_slide_simd.h"

#include "cpu_batch_simd.h"
