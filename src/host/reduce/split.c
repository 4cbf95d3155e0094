/* SPDX-License-Identifier: Apache-2.0 */
/* How a reduction of host data is cut into pieces: runs of elements, whose results are combined. Pure. */
#include "../split.h"

void gp_reduce_split(gp_split *split, size_t target) {
    const gp_problem *problem = split->problem;
    split->rows = split->piece_rows = 1;
    split->cols = problem->n;
    split->piece_cols = gp_least(split->cols, gp_at_least_one(target / problem->elem_bytes));
    split->in_bytes = split->slot_bytes = gp_slot_bytes(split->piece_cols * problem->elem_bytes);
}

void gp_reduce_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    (void)split, (void)slot;
    part->problem.n = piece->cols;
}
