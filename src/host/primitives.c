/* SPDX-License-Identifier: Apache-2.0 */
/* The table of primitives, and how any of them is cut into pieces. */
#include "primitive.h"

#define ADDRESS(name) &gp_primitive_##name,
static const gp_primitive *const primitives[] = {GP_PRIMITIVES(ADDRESS)};

#define COUNT (sizeof primitives / sizeof *primitives)

_Static_assert(COUNT <= GP_PRIMITIVES_MAX, "a context has no room for so many pins");

const gp_primitive *gp_primitive_at(size_t index) {
    return index < COUNT ? primitives[index] : NULL;
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
