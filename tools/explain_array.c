/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim explain reduce --shape: the passes of a reduction of an array, each with its plan. */
#include "../src/host/reduce_array/array.h"
#include "explain.h"

static uintptr_t end_of(const gp_array *a, uintptr_t begin) {
    uintptr_t bytes = gp_type_bytes((unsigned)a->type);
    for (unsigned i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(bytes, a->extent[i], &bytes))
            fail("--shape: its elements pass the address space");
    if (__builtin_add_overflow(begin, bytes, &begin) || begin > UINTPTR_MAX - 255)
        fail("--shape: its elements pass the address space");
    return (begin + 255) & ~(uintptr_t)255;
}

/* Arrays that nobody touches stand one behind the other, aligned as an allocation is. */
void explain_array(const request *r, const gp_context *context, const char *source) {
    const uintptr_t first = 1 << 20;
    const gp_array in = gp_dense(r->type, (const void *)first, r->rank, r->extent);
    gp_result want[REDUCTION_OPS];
    gp_pass pass[REDUCTION_OPS];
    gp_problem problem[REDUCTION_OPS];
    uintptr_t at = end_of(&in, first);
    size_t passes = 0;
    uint64_t done = 0;
    (void)reduction_results("--shape", &r->what, &in, axes_mask("--shape", &r->what.axes, r->rank), want);
    for (size_t i = 0; i < r->what.count; i++) {
        want[i].to.data = (void *)at;
        at = end_of(&want[i].to, at);
    }
    const gp_reduce_call call = {.in = &in, .results = want, .count = r->what.count};
    must(gp_reduce_check(&call));
    const unsigned count = gp_pass_count(&call);
    for (; gp_pass_next(&call, &done, &pass[passes]); passes++) {
        pass[passes].number = (uint8_t)(passes + 1);
        pass[passes].of = (uint8_t)count;
        gp_problem_clear(&problem[passes], &gp_primitive_reduce_array);
        problem[passes].pass = &pass[passes];
        problem[passes].primitive->derive(&problem[passes]);
    }
    explain_problems(r, context, passes, problem, source);
}
