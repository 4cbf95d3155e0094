/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that window_flat and its row in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_FLAT_H
#define GP_WINDOW_FLAT_H

#include "../problem.h"
#include <stddef.h>

/*
 * One H200, windows of 15, REFLECT_101, us of chunks of 5, 9, 13 and 17 pixels a thread: 4096 x 4096 of 8 bits 80.0,
 * 50.8, 52.8, 53.2, of full int32 89.4, 69.5, 65.3, 63.7; 23140 x 725 of 8 bits (9 to 17) 51.0, 53.3, 53.7, of full
 * int32 71.8, 67.7, 64.9; 128 x 128 of full int32 2.99, 3.14, 3.71, 4.04; 512 x 512: 4.01, 3.77, 4.16, 4.28. 128
 * threads with 9 pixels each: within 0.02 of 64; 48 or 64 registers, or 8 outputs at once: within 0.02 of 40 and 4.
 */
#define GP_WINDOW_FLAT_THREADS 64
#define GP_WINDOW_FLAT_REGS 40
#define GP_WINDOW_FLAT_WIDE_REGS 60
/* Pixels a thread; odd, so that 32 threads' chunks lie in different banks. */
#define GP_WINDOW_FLAT_SMALL 5 /* of small images, */
#define GP_WINDOW_FLAT_MANY 9  /* and of others; */
#define GP_WINDOW_FLAT_WIDE 17 /* window_flat_wide */
/* For window_flat; window_flat_wide takes more of either. */
#define GP_WINDOW_FLAT_COLS 1024
#define GP_WINDOW_FLAT_BEFORE 30      /* columns before x that windows count, at most */
#define GP_WINDOW_FLAT_WIDE_BEFORE 50 /* likewise */
#define GP_WINDOW_FLAT_STEP 256       /* a tile's outputs are a multiple: as many as all threads store in a round */
#define GP_WINDOW_FLAT_ALIGN 3        /* pixels before the tile's first, to load 16 bytes */
#define GP_WINDOW_FLAT_EARLY 31       /* outputs that the first tile starts early, at most, to start on a line */

/* How window_flat cuts an image whose rows lie one behind the other: the same for all blocks. */
typedef struct gp_window_flat_cut {
    unsigned chunk;   /* pixels a thread */
    unsigned outputs; /* a tile */
} gp_window_flat_cut;

/* Prefixes of all pixels and one more, to an even number; 8 and 4 bytes each. */
#define GP_WINDOW_FLAT_WORDS(chunk) ((size_t)GP_WINDOW_FLAT_THREADS * (chunk) + 2)
#define GP_WINDOW_FLAT_HEAD (GP_WINDOW_FLAT_THREADS / 32 * (16 + 4) + 8) /* a warp's sum, bits; to 16 bytes */
#define GP_WINDOW_FLAT_SMEM(chunk) (GP_WINDOW_FLAT_HEAD + GP_WINDOW_FLAT_WORDS(chunk) * 12)

#ifdef __cplusplus
extern "C" {
#endif

gp_window_flat_cut gp_window_cut_flat(const gp_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
