/* SPDX-License-Identifier: Apache-2.0 */
/* What reduce_many and reduce_short do with an output's total. */
#ifndef GP_FINISH_CUH
#define GP_FINISH_CUH

#include "lane_sums.cuh"
#include "redo.cuh"

/* Of neighbours 0 .. team - 1, in all of them; team is a power of two. */
template <class PART> __device__ __forceinline__ void join_team(PART &p, uint32_t team) {
#pragma unroll 1
    for (uint32_t lane = team / 2; lane > 0; lane /= 2)
        p.join(from_lane(p, lane));
}

/* By way of memory, which totals that have one result stay out of. */
template <class TOTAL>
static __device__ __noinline__ bool write_many(const gp_pass &pass, const TOTAL &t, uint32_t output) {
    return write_results(pass, t, output);
}

/* Where the only result goes, if there is one, and its address is linear in the output's number. */
struct only_result {
    unsigned char *to;
    int64_t stride;
    uint32_t op, type;
    bool is_there;
    uint32_t quick_bytes; /* of the form; 0 unless it is there, and the host need not be told */
    template <class LANE> __device__ only_result(const reduce_arguments &a, const LANE &form) {
        const gp_pass &pass = a.pass;
        is_there = pass.results == 1 && pass.kept <= 1;
        to = (unsigned char *)pass.to[0];
        stride = pass.kept > 0 ? pass.result[0].stride[0] : 0;
        op = pass.result[0].op;
        type = pass.result[0].type;
        quick_bytes = is_there && a.done == NULL ? form.quick_bytes(pass) : 0;
    }
    template <class TOTAL>
    __device__ __forceinline__ bool write(const gp_pass &pass, const TOTAL &t, uint32_t output) const {
        uint64_t raw;
        if (!value_of(pass, op, type, t, &raw))
            return false;
        store_raw(to + output * stride, bytes_of(type), raw);
        return true;
    }
};

/* Results of an output, or its number for reduce_any; false: of a form that redoes, some are left. */
template <class LANE, class PART>
__device__ __forceinline__ bool finish_output(const reduce_arguments &a, const only_result &only, const LANE &form,
                                              const PART &p, uint32_t output) {
    many_space *const space = a.many;
    uint64_t raw;
    if (LANE::QUICK && only.quick_bytes != 0 && form.quick(p, &raw)) {
        unsigned char *const to = only.to + output * only.stride;
        if (only.quick_bytes == 8)
            *(uint64_t *)to = raw;
        else
            *(uint32_t *)to = (uint32_t)raw;
        return true;
    }
    const auto t = form.total(p);
    if (only.is_there ? only.write(a.pass, t, output) : write_many(a.pass, t, output)) {
        if (a.done != NULL)
            tell_host(a);
        return true;
    }
    if (LANE::REDOES)
        return false;
    const uint32_t at = atomicAdd(&space->failed, 1);
    if (at < GP_MANY_FAILED_MAX)
        space->failure[at] = output;
    return true;
}

/*
 * Results of a thread's outputs, which are neighbours: by few stores if there is one of each and these are without
 * gaps. Returns bits of those that are left.
 */
template <class LANE>
__device__ __forceinline__ uint32_t finish_outputs(const reduce_arguments &a, const only_result &only,
                                                   const LANE &form, const typename LANE::joined &s,
                                                   uint32_t output) {
    const int N = LANE::OUTPUTS;
    uint32_t left = 0;
    if constexpr (N % 4 == 0) {
        unsigned char *to = only.to + output * only.stride;
        const bool dense = only.stride == only.quick_bytes && (uintptr_t)to % 16 == 0;
        bool done = N > 4 || (only.quick_bytes != 0 && dense);
#pragma unroll
        for (int first = 0; first < N && done; first += 4, to += 4 * only.stride) {
            uint64_t raw[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                done = form.quick(LANE::part_of(s, first + i), &raw[i]) & done;
            if (!dense) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    store_raw(to + i * only.stride, only.quick_bytes, raw[i]);
            } else if (only.quick_bytes == 4) {
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
        for (int i = 0; i < N; i++)
            left |= finish_output(a, only, form, LANE::part_of(s, i), output + i) ? 0 : 1 << i;
    return left;
}

#endif
