/* SPDX-License-Identifier: Apache-2.0 */
/* The window with NEON. */
#include "../cpu/simd_neon.h"

#include "cpu_slide_simd.h"
