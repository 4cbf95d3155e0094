/* SPDX-License-Identifier: Apache-2.0 */
/* The window with AVX-512. */
#include "cpu_wide_avx512.h"

#include "cpu_slide_simd.h"

#include "cpu_batch_simd.h"
