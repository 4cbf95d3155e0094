/* SPDX-License-Identifier: Apache-2.0 */
/* What the transpose kernels take: the supports() of their rows. Pure. */
#ifndef GP_TRANSPOSE_SUPPORTS_H
#define GP_TRANSPOSE_SUPPORTS_H

#include "../kernel.h"

/* Elements of 1, 2, 4, 8 or 16 bytes, each aligned to its size. */
bool gp_transpose_is_plain(const gp_problem *problem);

/* Both matrices consist of whole, aligned 16-byte vectors. */
bool gp_transpose_is_vectors(const gp_problem *problem);

/* Elements of 1 or 2 bytes, each aligned to its size, from one array to another. */
bool gp_transpose_is_small(const gp_problem *problem);

/* Fewer rows make too few blocks: 181 x 181 of 4 bytes takes 7.0 us in whole rows, of 1 byte 6.0. */
#define GP_TRANSPOSE_ROWS_FOR_COLS 16

#define GP_TRANSPOSE_SUPPORTS(row) \
    bool gp_transpose_##row##_supports(const gp_problem *problem, const gp_device *device)

GP_TRANSPOSE_SUPPORTS(rows);
GP_TRANSPOSE_SUPPORTS(strip);
GP_TRANSPOSE_SUPPORTS(swap);
GP_TRANSPOSE_SUPPORTS(mirror);
GP_TRANSPOSE_SUPPORTS(mirror_wide);
GP_TRANSPOSE_SUPPORTS(mirror_bytes);
GP_TRANSPOSE_SUPPORTS(mirror_bytes_mid);
GP_TRANSPOSE_SUPPORTS(mirror_pick);
GP_TRANSPOSE_SUPPORTS(mirror_pick_wide);
GP_TRANSPOSE_SUPPORTS(mirror_pick_quads);
GP_TRANSPOSE_SUPPORTS(bulk);
GP_TRANSPOSE_SUPPORTS(vector);
GP_TRANSPOSE_SUPPORTS(quad);
GP_TRANSPOSE_SUPPORTS(pack);
GP_TRANSPOSE_SUPPORTS(pick_rows);
GP_TRANSPOSE_SUPPORTS(pick_cols);
GP_TRANSPOSE_SUPPORTS(pick_tall);
GP_TRANSPOSE_SUPPORTS(pick_flat);
GP_TRANSPOSE_SUPPORTS(pick_whole);
GP_TRANSPOSE_SUPPORTS(pick_flow);
GP_TRANSPOSE_SUPPORTS(pick_flow_wide);
GP_TRANSPOSE_SUPPORTS(pick_few);
GP_TRANSPOSE_SUPPORTS(pick_wide);
GP_TRANSPOSE_SUPPORTS(pick);
GP_TRANSPOSE_SUPPORTS(pick_any);
GP_TRANSPOSE_SUPPORTS(narrow);
GP_TRANSPOSE_SUPPORTS(any);
GP_TRANSPOSE_SUPPORTS(skew);
GP_TRANSPOSE_SUPPORTS(tile);

#endif
