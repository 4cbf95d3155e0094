/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes with NEON. */
#include "../cpu/simd_neon.h"

#include "cpu_tiles_simd.h"

#include "cpu_lines_simd.h"

#include "cpu_thin_simd.h"
