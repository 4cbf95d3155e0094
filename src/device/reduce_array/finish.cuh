/* SPDX-License-Identifier: Apache-2.0 */
/* What reduce_many and reduce_short do with an output's total. */
#ifndef GP_FINISH_CUH
#define GP_FINISH_CUH

#include "all.cuh"
#include "lane_floats.cuh"

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
    __device__ explicit only_result(const gp_pass &pass) {
        is_there = pass.results == 1 && pass.kept <= 1;
        to = (unsigned char *)pass.to[0];
        stride = pass.kept > 0 ? pass.result[0].stride[0] : 0;
        op = pass.result[0].op;
        type = pass.result[0].type;
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

/* Results of an output, or its number for reduce_any. */
template <class TOTAL>
__device__ __forceinline__ void finish_output(const reduce_arguments &a, const only_result &only, const TOTAL &t,
                                              uint32_t output) {
    many_space *const space = a.many;
    if (only.is_there ? only.write(a.pass, t, output) : write_many<TOTAL>(a.pass, TOTAL(t), output)) {
        if (a.done != NULL)
            tell_host(a);
        return;
    }
    const uint32_t at = atomicAdd(&space->failed, 1);
    if (at < GP_MANY_FAILED_MAX)
        space->failure[at] = output;
}

#endif
