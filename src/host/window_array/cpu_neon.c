/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views with NEON. */
#include "../cpu/simd_neon.h"

#include "cpu_simd.h"
