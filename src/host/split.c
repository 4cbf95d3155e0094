/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a problem into pieces: what is the same for all primitives. */
#include "split.h"

/* Target of the smallest pieces: about 20 us on the bus, against some 10 us to start a copy and a kernel. */
#define TARGET_LEAST ((size_t)1 << 20)
#define PIECES_WANTED 8

size_t gp_split_target(uint64_t bytes, size_t most) {
    uint64_t share = bytes / PIECES_WANTED;
    if (share >= most)
        return most;
    return share > TARGET_LEAST ? (size_t)share : gp_least(TARGET_LEAST, most);
}

bool gp_split_next(const gp_split *split, gp_piece *piece) {
    const bool mirrored = split->problem->in_place;
    if (piece->rows > 0 && split->cols - piece->col > split->piece_cols) {
        piece->col += split->piece_cols;
    } else if (piece->rows > 0) {
        if (split->rows - piece->row <= split->piece_rows)
            return false;
        piece->row += split->piece_rows;
        piece->col = mirrored ? piece->row : 0;
    } else if (split->rows == 0 || split->cols == 0) {
        return false;
    }
    piece->rows = gp_least(split->piece_rows, split->rows - piece->row);
    piece->cols = gp_least(split->piece_cols, split->cols - piece->col);
    piece->pair = mirrored && piece->row != piece->col;
    return true;
}

void gp_box_flatten(gp_box *box) {
    if (box->height <= 1 || box->host_pitch != box->width || box->device_pitch != box->width)
        return;
    box->width *= box->height;
    box->height = 1;
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
