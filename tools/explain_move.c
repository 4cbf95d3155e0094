/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim explain rearrange: the plan of a permutation of the axes of an array. */
#include "../src/host/primitive.h"
#include "../src/host/rearrange_array/problem.h"
#include "explain.h"

/* Arrays that nobody touches, in either half of the address space. */
void explain_move(const request *r, const gp_context *context, const char *source) {
    const bool pinned = context->pins[gp_primitive_index(&gp_primitive_rearrange_array)].row != NULL;
    unsigned axes[GP_AXES];
    gp_problem problem;
    gp_move move;
    axes_order("--shape", &r->order, r->rank, axes);
    const gp_array in = gp_permuted(gp_dense(r->type, (const void *)(uintptr_t)(1 << 20), r->rank, r->extent), axes);
    const gp_array out = gp_dense(r->type, (const void *)(UINTPTR_MAX / 2 + 1), r->rank, in.extent);
    must(gp_problem_rearrange(&problem, &move, &in, &out, !pinned));
    if (context->pins[gp_primitive_index(&gp_primitive_rearrange)].row != NULL &&
        problem.primitive != &gp_primitive_rearrange)
        fail("--kernel: %s transposes one matrix, but this is another rearrangement", r->kernel);
    explain_problems(r, context, 1, &problem, source);
}
