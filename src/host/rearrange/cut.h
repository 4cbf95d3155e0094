/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that cut matrices into tiles share. */
#ifndef GP_TRANSPOSE_CUT_H
#define GP_TRANSPOSE_CUT_H

#include <stdint.h>

/*
 * Blocks walk down columns of tiles, in bands of at most this many bytes of tiles a column: what a column reads
 * beyond its tiles' edges must still be in L2 when the next column reads it. H200, share of a copy's speed down whole
 * columns against row by row: 16384 x 16384 of 4 bytes (4 MiB a column) 0.978 against 0.931, 32768 x 32768 (8 MiB)
 * 0.959 against 0.918. Few columns of more than that are taken row by row: 100000 x 257 of 4 bytes 0.92 against 0.83.
 */
#define GP_TRANSPOSE_BAND_BYTES ((uint64_t)8 << 20)

static inline uint64_t gp_divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

#endif
