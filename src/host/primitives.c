/* SPDX-License-Identifier: Apache-2.0 */
/* The table of primitives, when two problems have one plan, and how any is cut into pieces. */
#include "primitive.h"

#define ADDRESS(name) &gp_primitive_##name,
static const gp_primitive *const primitives[] = {GP_PRIMITIVES(ADDRESS)};

#define COUNT (sizeof primitives / sizeof *primitives)

_Static_assert(COUNT <= GP_PRIMITIVES_MAX, "a context has no room for so many pins");

const gp_primitive *gp_primitive_at(size_t index) {
    return index < COUNT ? primitives[index] : NULL;
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
           (a->whole == NULL || a->primitive->same_shape(a, b));
}

void gp_split_make(gp_split *split, const gp_problem *problem, gp_staged staged, size_t target) {
    *split = (gp_split){
        .problem = problem,
        .staged = staged,
        .rows = problem->rows,
        .cols = problem->cols,
        .out_pitch = problem->out_pitch,
    };
    problem->primitive->split(split, target);
}

/* Where a piece's input is: with the caller, or in staging memory without gaps between rows. */
static void place_input(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = split->problem;
    const size_t elem = whole->elem_bytes, bytes = piece->cols * elem;
    unsigned char *in = gp_element(whole->in, whole->in_pitch, elem, piece->row, piece->col);
    part->problem.in = in;
    if (!split->staged.in)
        return;
    part->in = (gp_box){in, whole->in_pitch * elem, slot, bytes, bytes, piece->rows};
    part->problem.in = slot;
    part->problem.in_pitch = piece->cols;
}

unsigned gp_split_parts(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part part[2]) {
    const gp_primitive *primitive = split->problem->primitive;
    const gp_piece pair[2] = {*piece, {piece->col, piece->row, piece->cols, piece->rows, true}};
    const unsigned count = piece->pair ? 2 : 1;
    for (unsigned i = 0; i < count; i++, slot += split->in_bytes + split->out_bytes) {
        part[i] = (gp_part){.problem = *split->problem};
        place_input(split, &pair[i], slot, &part[i]);
        primitive->part(split, &pair[i], slot + split->in_bytes, &part[i]);
        primitive->derive(&part[i].problem);
    }
    return count;
}
