/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a problem into pieces: what all primitives share. */
#include "split.h"

/* Target of the smallest pieces: about 20 us on the bus, against some 10 us to start a copy and a kernel. */
#define TARGET_LEAST ((size_t)1 << 20)
#define PIECES_WANTED 8

size_t gp_split_target(uint64_t bytes, size_t most) {
    return gp_least(most, gp_greatest(bytes / PIECES_WANTED, TARGET_LEAST));
}

bool gp_split_next(const gp_split *split, gp_piece *piece) {
    const bool mirrored = split->problem->in_place;
    size_t row = piece->row, col = piece->col + piece->cols;
    if (col >= split->cols) {
        row += piece->rows;
        col = mirrored ? row : 0;
    }
    if (row >= split->rows || col >= split->cols)
        return false;
    *piece = (gp_piece){row, col, gp_least(split->piece_rows, split->rows - row),
                        gp_least(split->piece_cols, split->cols - col), mirrored && row != col};
    return true;
}

bool gp_box_next(const gp_box *box, size_t limit, size_t *at, gp_box *part) {
    if (*at >= box->width * box->height)
        return false;
    const size_t row = *at / box->width, col = *at % box->width;
    *part = *box;
    part->host += row * box->host_pitch + col;
    part->device += row * box->device_pitch + col;
    part->width = gp_least(limit, box->width - col);
    part->height = gp_least(gp_at_least_one(limit / box->width), box->height - row);
    *at += part->width * part->height;
    return true;
}
