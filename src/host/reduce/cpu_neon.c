/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction with NEON. */
#include "../cpu/simd_neon.h"

#include "cpu_simd.h"
