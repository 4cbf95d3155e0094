/* SPDX-License-Identifier: Apache-2.0 */
/* What reduce_many and reduce_short do with an output's total; their forms, and how one is launched. */
#pragma once

#include "lane_sums.cuh"
#include "lane_twofold.cuh"
#include "redo.cuh"

/*
 * Bytes of each result, if the form can round all of them in a few instructions, those of all outputs are as far
 * apart and the host need not be told; else 0.
 */
template <class LANE>
__device__ __forceinline__ uint32_t quick_bytes_of(const reduce_arguments &a, const LANE &form) {
    const gp_pass &pass = a.pass;
    return pass.results <= LANE::QUICKS && a.steps && a.done == NULL ? form.quick_bytes(pass) : 0;
}

/* False: some are not proved. */
template <class LANE, class PART>
__device__ __forceinline__ bool write_quick(const reduce_arguments &a, uint32_t bytes, const LANE &form,
                                            const PART &p, uint32_t output) {
    const gp_pass &pass = a.pass;
    bool all = true;
#pragma unroll
    for (unsigned r = 0; r < LANE::QUICKS; r++) {
        uint64_t raw;
        if (r > 0 && r == pass.results)
            break;
        all = form.quick(p, pass.result[r].op, &raw) & all;
        unsigned char *const at = (unsigned char *)pass.to[r] + output * a.step[r];
        if (bytes == 8)
            *(uint64_t *)at = raw;
        else if (LANE::NARROW)
            store_raw(at, bytes, raw);
        else
            *(uint32_t *)at = (uint32_t)raw;
    }
    return all;
}

/*
 * Any results of an output, or its number for reduce_any; false: of a form that redoes, some are left. For all forms
 * that have one kind of total, so that their code is loaded and compiled once.
 */
template <class TOTAL>
static __device__ __noinline__ bool finish_any(const reduce_arguments &a, const TOTAL t, uint32_t output,
                                               bool redoes) {
    if (write_results(a, t, output)) {
        if (a.done != NULL)
            tell_host(a);
        return true;
    }
    if (redoes)
        return false;
    const uint32_t at = atomicAdd(&a.many->failed, 1);
    if (at < GP_MANY_FAILED_MAX)
        a.many->failure[at] = output;
    return true;
}

/*
 * Results of a thread's outputs, which are neighbours: by few stores if there is one of each, of 4 or 8 bytes and
 * without gaps. Returns bits of those that are left.
 */
template <class LANE>
__device__ __forceinline__ uint32_t finish_outputs(const reduce_arguments &a, uint32_t quick_bytes, const LANE &form,
                                                   const typename LANE::joined &s, uint32_t output) {
    const int N = LANE::OUTPUTS;
    const gp_pass &pass = a.pass;
    uint32_t left = 0;
    if constexpr (N % 4 == 0) {
        const int64_t stride = a.step[0];
        unsigned char *to = (unsigned char *)pass.to[0] + output * stride;
        const bool dense = stride == quick_bytes && quick_bytes >= 4 && (uintptr_t)to % 16 == 0;
        bool done = N > 4 || (quick_bytes != 0 && pass.results == 1);
#pragma unroll
        for (int first = 0; first < N && done; first += 4, to += 4 * stride) {
            uint64_t raw[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                done = form.quick(LANE::part_of(s, first + i), pass.result[0].op, &raw[i]) & done;
            if (!dense) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    store_raw(to + i * stride, quick_bytes, raw[i]);
            } else if (quick_bytes == 4) {
                *(uint4 *)to = make_uint4((uint32_t)raw[0], (uint32_t)raw[1], (uint32_t)raw[2], (uint32_t)raw[3]);
            } else {
                ((ulonglong2 *)to)[0] = make_ulonglong2(raw[0], raw[1]);
                ((ulonglong2 *)to)[1] = make_ulonglong2(raw[2], raw[3]);
            }
        }
        if (done || N > 4)
            return 0;
    }
    if constexpr (N <= 4)
#pragma unroll
        for (int i = 0; i < N; i++) {
            const auto &part = LANE::part_of(s, i);
            if (((N == 4 && LANE::QUICKS == 1) || quick_bytes == 0 ||
                 !write_quick(a, quick_bytes, form, part, output + i)) &&
                !finish_any(a, form.total(part), output + i, redoes<LANE>(pass)))
                left |= 1 << i;
        }
    return left;
}

/* In the order of gp_reduce_many_form. WIDE: those of columns. */
#define GP_MANY_KERNELS(FORM, WIDE)                                                                                  \
    FORM(lane_bits), FORM(lane_extremes<1>), FORM(lane_extremes<2>), FORM(lane_extremes<4>), FORM(lane_extremes<8>), \
        FORM(lane_places<1>), FORM(lane_places<2>), FORM(lane_places<4>), FORM(lane_span<1>), FORM(lane_span<1, 4>), \
        WIDE(lane_spans<1>), FORM(lane_span<2>), FORM(lane_span<2, 4>), WIDE(lane_spans<2>), FORM(lane_span<4>),     \
        FORM(lane_packed<lane_span<4>, 16>), WIDE(lane_wide<lane_span<4>, 16>), FORM(lane_sum<1>),                   \
        FORM(lane_sum<2>), FORM(lane_sum<4>), FORM(lane_sum<1, 4>), FORM(lane_sum<2, 2>), WIDE(lane_bytes),          \
        WIDE(lane_wide<lane_sum<1>, 4>), WIDE(lane_wide<lane_sum<2>, 4>), WIDE(lane_wide<lane_sum<4>, 16>),          \
        FORM(lane_squares<1>), FORM(lane_squares<1, 4>), WIDE(lane_square_bytes), FORM(lane_squares<2>),             \
        FORM(lane_squares<2, 2>), FORM(lane_ints<1>), FORM(lane_ints<1, 4>), WIDE(lane_terms), FORM(lane_ints<2>),   \
        FORM(lane_ints<2, 4>), FORM(lane_ints<4>), FORM(lane_integers), WIDE(lane_apart<2>), WIDE(lane_apart<4>),    \
        WIDE(lane_apart<8>), WIDE(lane_masked<lane_bits>), WIDE(lane_masked<lane_extremes<1>>),                      \
        WIDE(lane_masked<lane_extremes<2>>), WIDE(lane_masked<lane_extremes<4>>),                                    \
        WIDE(lane_masked<lane_extremes<8>>), FORM(lane_floats<2>), FORM(lane_packed<lane_floats<2>, 16>),            \
        WIDE(lane_wide<lane_floats<2>, 8>), FORM(lane_floats<4>), FORM(lane_packed<lane_floats<4>, 16>),             \
        WIDE(lane_wide<lane_floats<4>, 16>), FORM(lane_doubles<4>), FORM(lane_doubles<8>), FORM(lane_products<2>),   \
        FORM(lane_packed<lane_products<2>, 16>), FORM(lane_products<4>), FORM(lane_packed<lane_products<4>, 16>),    \
        FORM(lane_counted<2>), FORM(lane_counted<4>), FORM(lane_counted<8>), FORM(lane_twofold<2, true>),            \
        FORM(lane_twofold<4, true>), FORM(lane_twofold<8, false>), WIDE(lane_twofold<8, true>),                      \
        FORM(lane_moments<2>), FORM(lane_packed<lane_moments<2>, 16>), WIDE(lane_wide<lane_moments<2>, 4>),          \
        FORM(lane_moments<4>), FORM(lane_packed<lane_moments<4>, 16>), WIDE(lane_wide<lane_moments<4>, 8>)

/* For the host: the plan's form, and behind it what does again what was not proved. */
template <class CUT>
static gp_status launch_form(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             const void *const kernels[GP_MANY_FORMS]) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    CUT cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return cut.rest ? gp_reduce_failed(context, plan, problem, &arguments) : GP_OK;
}
