/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views without an instruction set of their own. */
#define SIMD
#define NAMED(name) name##_plain
#include "cpu_simd.h"
