/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim explain reduce --shape, window --shape: the passes over an array, each with its plan. */
#include "../src/host/window_array/array.h"
#include "explain.h"
#include <string.h>

static uintptr_t end_of(const gp_array *a, uintptr_t begin) {
    uintptr_t bytes = gp_type_bytes((unsigned)a->type);
    for (unsigned i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(bytes, a->extent[i], &bytes))
            fail("--shape: its elements pass the address space");
    if (__builtin_add_overflow(begin, bytes, &begin) || begin > UINTPTR_MAX - 255)
        fail("--shape: its elements pass the address space");
    return (begin + 255) & ~(uintptr_t)255;
}

/* A window's results have the array's extents. */
static void want_windows(const request *r, gp_window_shape *shape, gp_result want[]) {
    *shape = (gp_window_shape){.struct_size = sizeof *shape, .border = (int32_t)r->border};
    memcpy(shape->extent, r->window, r->window_rank * sizeof *r->window);
    for (size_t i = 0; i < r->what.count; i++) {
        const bool extreme = r->what.op[i] == GP_REDUCE_MIN || r->what.op[i] == GP_REDUCE_MAX;
        want[i] = gp_want((uint32_t)r->what.op[i], gp_dense(extreme ? r->type : GP_F32, NULL, r->rank, r->extent));
    }
}

/* Arrays that nobody touches stand one behind the other, aligned as an allocation is. */
void explain_array(const request *r, const gp_context *context, const char *source) {
    const uintptr_t first = 1 << 20;
    const gp_array in = gp_dense(r->type, (const void *)first, r->rank, r->extent);
    const bool windows = r->window_rank > 0;
    gp_window_shape shape;
    gp_result want[REDUCTION_OPS];
    gp_pass pass[REDUCTION_OPS];
    gp_window_box box[REDUCTION_OPS];
    gp_problem problem[REDUCTION_OPS];
    uintptr_t at = end_of(&in, first);
    gp_served served = {0};
    size_t passes = 0;
    if (windows)
        want_windows(r, &shape, want);
    else
        (void)reduction_results("--shape", &r->what, &in, axes_mask("--shape", &r->what.axes, r->rank), want);
    for (size_t i = 0; i < r->what.count; i++) {
        want[i].to.data = (void *)at;
        at = end_of(&want[i].to, at);
    }
    const gp_reduce_call call = {
        .in = &in, .window = windows ? &shape : NULL, .results = want, .count = r->what.count};
    must((windows ? gp_window_check : gp_reduce_check)(&call));
    for (; windows ? gp_window_box_next(&call, &served, &box[passes]) : gp_pass_next(&call, &served, &pass[passes]);
         passes++) {
        gp_problem_clear(&problem[passes], windows ? &gp_primitive_window_array : &gp_primitive_reduce_array);
        problem[passes].whole = windows ? (const void *)&box[passes] : &pass[passes];
        problem[passes].primitive->derive(&problem[passes]);
    }
    explain_problems(r, context, passes, problem, source);
}
