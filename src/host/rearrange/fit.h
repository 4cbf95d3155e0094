/* SPDX-License-Identifier: Apache-2.0 */
/* What the fit() functions of transposes share: questions about a problem, and the order in which blocks take tiles.
 */
#pragma once

#include "../arithmetic.h"
#include "tiling.h"

GP_DECLARE_ROW(transpose_vector);
GP_DECLARE_ROW(transpose_skew);
GP_DECLARE_ROW(transpose_pick);
GP_DECLARE_ROW(transpose_strip);
GP_DECLARE_ROW(transpose_pieces);
GP_DECLARE_ROW(transpose_mirror);
GP_DECLARE_ROW(transpose_tile);
GP_DECLARE_ROW(transpose_naive);

/* Elements of 1, 2, 4, 8 or 16 bytes, aligned to their size. */
static inline bool gp_transpose_is_plain(const gp_problem *problem) {
    return problem->elem_bytes <= GP_VECTOR && (problem->elem_bytes & (problem->elem_bytes - 1)) == 0 &&
           problem->in_align >= problem->elem_bytes && problem->out_align >= problem->elem_bytes;
}

/* Both matrices consist of whole, aligned vectors. */
static inline bool gp_transpose_is_vectors(const gp_problem *problem) {
    return gp_transpose_is_plain(problem) && problem->in_align >= GP_VECTOR && problem->out_align >= GP_VECTOR &&
           problem->rows * problem->elem_bytes % GP_VECTOR == 0 &&
           problem->cols * problem->elem_bytes % GP_VECTOR == 0;
}

/*
 * Blocks walk down columns of tiles, in bands of at most this many bytes of tiles a column: what a column reads
 * beyond its tiles' edges must still be in L2 when the next column reads it. Few columns are taken row by row.
 */
#define GP_BAND_BYTES ((uint64_t)8 << 20)
#define GP_FEW_COLUMNS 16u
#define GP_COLUMN_BYTES ((uint64_t)16 << 20) /* columns of tiles that some kernels take whole */

/* Fills in what follows from the tile, for `rows` rows with the halo, and puts it all into the tiling. */
void gp_tiles_put(gp_tiles tiles, const gp_problem *problem, uint64_t rows, unsigned threads, size_t smem,
                  gp_tiling *tiling);
