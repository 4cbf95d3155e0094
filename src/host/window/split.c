/* SPDX-License-Identifier: Apache-2.0 */
/* How an image in host memory is cut into pieces: whole rows. Pure. */
#include "../split.h"

void gp_window_split(gp_split *split, size_t target) {
    const gp_problem *problem = split->problem;
    /* The two outputs share a pitch: it stays the caller's if one of them is used in place. */
    const bool in_place_out = (problem->sum && !split->staged.out[0]) || (problem->square && !split->staged.out[1]);
    split->out_pitch = in_place_out ? problem->out_pitch : problem->cols;
    const bool stage_out = split->staged.out[0] || split->staged.out[1];
    const size_t row_bytes = (stage_out ? split->out_pitch : split->cols) * problem->elem_bytes;
    split->piece_cols = split->cols;
    split->piece_rows = gp_least(split->rows, gp_at_least_one(target / row_bytes));
    split->in_bytes = split->staged.in ? gp_slot_bytes(split->piece_rows * split->cols * problem->elem_bytes) : 0;
    split->out_bytes = gp_slot_bytes(((split->piece_rows - 1) * split->out_pitch + split->cols) * sizeof(float));
    split->slot_bytes = split->in_bytes + ((size_t)split->staged.out[0] + split->staged.out[1]) * split->out_bytes;
}

/* The columns that the operation computes; the others are not the caller's to lose. */
static gp_box output_box(const gp_split *split, const gp_piece *piece, float *host, float *device) {
    const gp_problem *whole = split->problem;
    return (gp_box){
        .host = gp_element(host, whole->out_pitch, sizeof(float), piece->row, whole->col_first),
        .host_pitch = whole->out_pitch * sizeof(float),
        .device = gp_element(device, 0, sizeof(float), 0, whole->col_first),
        .device_pitch = split->out_pitch * sizeof(float),
        .width = (whole->col_end - whole->col_first) * sizeof(float),
        .height = piece->rows,
    };
}

void gp_window_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = split->problem;
    gp_problem *problem = &part->problem;
    problem->rows = piece->rows;
    float *const outputs[2] = {whole->sum, whole->square};
    float **const targets[2] = {&problem->sum, &problem->square};
    for (int i = 0; i < 2; i++) {
        if (!outputs[i])
            continue;
        *targets[i] = outputs[i] + piece->row * whole->out_pitch;
        if (!split->staged.out[i])
            continue;
        *targets[i] = (float *)(void *)slot;
        part->out[i] = output_box(split, piece, outputs[i], *targets[i]);
        slot += split->out_bytes;
    }
    problem->out_pitch = split->out_pitch;
}
