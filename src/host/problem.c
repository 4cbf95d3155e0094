/* SPDX-License-Identifier: Apache-2.0 */
/* What problems of all primitives share: an empty one to begin with, and equality of shapes. */
#include "problem.h"
#include "rearrange_array/array.h"
#include "window_array/box.h"
#include <stddef.h>
#include <string.h>

/* In pieces that compilers clear by vector stores: for all at once gcc has a string instruction, 10 ns of a call. */
void gp_problem_clear(gp_problem *problem, const struct gp_primitive *primitive) {
    char *bytes = (char *)problem;
    memset(bytes, 0, 64);
    memset(bytes + 64, 0, 64);
    memset(bytes + 128, 0, sizeof *problem - 128);
    problem->primitive = primitive;
}

/* Member by member: a problem has just been written so, and vectors loaded over several stores wait until all of them
 * have left the core, a tenth of a short call. */
bool gp_problem_same_shape(const gp_problem *a, const gp_problem *b) {
    _Static_assert(sizeof(void *) != 8 || offsetof(gp_problem, in) == 128,
                   "members below are all there are before the data");
    return a->primitive == b->primitive && a->reduce == b->reduce && a->border == b->border &&
           a->want_sum == b->want_sum && a->want_square == b->want_square && a->in_place == b->in_place &&
           a->in_align == b->in_align && a->out_align == b->out_align && a->n == b->n && a->rows == b->rows &&
           a->cols == b->cols && a->in_pitch == b->in_pitch && a->out_pitch == b->out_pitch &&
           a->elem_bytes == b->elem_bytes && a->window == b->window && a->window_before == b->window_before &&
           a->col_first == b->col_first && a->col_end == b->col_end && a->bytes_read == b->bytes_read &&
           a->bytes_written == b->bytes_written && a->space == b->space &&
           (a->pass == NULL || gp_pass_same_shape(a->pass, b->pass)) &&
           (a->move == NULL || gp_move_same_shape(a->move, b->move)) &&
           (a->box == NULL || gp_window_same_shape(a->box, b->box));
}
