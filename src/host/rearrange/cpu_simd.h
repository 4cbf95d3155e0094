/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes with the vectors of the simd_*.h that the including file names before. Each needs the one before. */
#include "cpu_tiles_simd.h"

#include "cpu_strips_simd.h"

#include "cpu_lines_simd.h"

#include "cpu_thin_simd.h"
