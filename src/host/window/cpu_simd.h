/* SPDX-License-Identifier: Apache-2.0 */
/* The window with the vectors of the simd_*.h that the including file names before. Each needs the one before. */
#if defined(LANES) && LANES == 16
#include "cpu_wide_avx512.h"
#endif

#include "cpu_slide_simd.h"

#if defined(multiply_unsigned)
#include "cpu_batch_simd.h"
#endif
