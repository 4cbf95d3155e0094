/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views with NEON. */
#include "../cpu/simd_neon.h"

#include "cpu_simd.h"
