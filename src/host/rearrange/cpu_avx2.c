/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes with AVX2. */
#include "../cpu/simd_avx2.h"

#include "cpu_tiles_simd.h"

#include "cpu_lines_simd.h"

#include "cpu_thin_simd.h"
