/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up GPU's kernels, which compute by the oracle or the processor's reference rows. */
#pragma once

#include <stddef.h>

/* Kernels launched so far. */
extern size_t fake_pieces;

/* Bytes of the pieces and chunks that staging aims at, so that small arrays are cut in many; 0: the library's own. */
typedef struct fake_sizes {
    size_t piece, chunk;
} fake_sizes;
extern fake_sizes fake_cut;
