/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of floats that bounds have not proved, done again where they were found: some limbs by each reading of the
 * output's elements, so that nothing but registers is needed.
 */
#pragma once

#include "lane_moments.cuh"

#define REDO_LIMBS 11      /* those of gp_exact_form_of(GP_F32, false) */
#define REDO_AT_ONCE 3     /* that elements of f16 have bits of, from the fourth on; others of three times as many */
#define REDO_BY_WARP 4096u /* elements that one warp does; more are the block's */

/* Where an output's elements begin. */
__device__ __forceinline__ const unsigned char *begin_of(const gp_pass &pass, uint32_t output) {
    const unsigned char *in = pass.in;
    for (int axis = pass.kept; axis-- > 1; output /= (uint32_t)pass.axis[axis].n)
        in += (int64_t)(output % (uint32_t)pass.axis[axis].n) * pass.axis[axis].in;
    return pass.kept > 0 ? in + (int64_t)output * pass.axis[0].in : in;
}

__device__ __forceinline__ uint64_t offset_of(const gp_pass &pass, uint64_t element) {
    int64_t offset = 0;
    for (int axis = pass.kept + pass.reduced; axis-- > pass.kept; element /= pass.axis[axis].n)
        offset += (int64_t)(element % pass.axis[axis].n) * pass.axis[axis].in;
    return (uint64_t)offset;
}

template <int WIDTH>
__device__ __forceinline__ void redo_output(const reduce_arguments &a, uint32_t output, bool by_block) {
    __shared__ int64_t limbs[GP_REDUCE_MANY_THREADS / 32][REDO_LIMBS + 1]; /* the last: flags */
    const gp_pass &pass = a.pass;
    int64_t *const limb = limbs[by_block ? 0 : threadIdx.x / 32];
    const uint32_t first = by_block ? threadIdx.x : threadIdx.x % 32, step = by_block ? blockDim.x : 32;
    const uint32_t kept = pass.wants & GP_WANT_ABS ? ~((uint32_t)1 << (8 * WIDTH - 1)) : ~(uint32_t)0;
    const unsigned char *const in = begin_of(pass, output);
    const bool is_f16 = pass.type == GP_F16;
    if (first <= REDO_LIMBS)
        limb[first] = 0;
    by_block ? __syncthreads() : __syncwarp();
#pragma unroll 1
    for (uint32_t l = is_f16 ? REDO_AT_ONCE : 0; l < (is_f16 ? 2 : 3) * REDO_AT_ONCE; l += REDO_AT_ONCE) {
        int64_t sum[REDO_AT_ONCE] = {};
        uint32_t flags = 0;
        for (uint64_t e = first; e < pass.length; e += step) {
            const uint32_t raw = load_unit<WIDTH>(in + offset_of(pass, e), WIDTH) & kept;
            const gp_exact_parts x = gp_exact_parts_f32(real_of<WIDTH>(raw, pass.type == GP_BF16));
            const uint64_t two = x.mantissa << x.bit % 32;
#pragma unroll
            for (uint32_t i = 0; i < REDO_AT_ONCE; i++) {
                const int64_t part = x.bit / 32 == l + i       ? (uint32_t)two
                                     : x.bit / 32 + 1 == l + i ? (int64_t)(two >> 32)
                                                               : 0;
                sum[i] += x.negative ? -part : part;
            }
            flags |= x.special;
        }
        __syncwarp();
#pragma unroll
        for (uint32_t i = 0; i < REDO_AT_ONCE; i++) {
            sum[i] = add_lanes(sum[i]);
            if (threadIdx.x % 32 == 0)
                atomicAdd((unsigned long long *)&limb[l + i], (unsigned long long)sum[i]);
        }
        if (flags != 0)
            atomicOr((unsigned long long *)&limb[REDO_LIMBS], (unsigned long long)flags);
    }
    by_block ? __syncthreads() : __syncwarp();
    for (unsigned r = 0; r < pass.results && first == 0; r++) {
        const uint64_t n = pass.result[r].op == GP_REDUCE_MEAN ? pass.length : 1;
        const gp_type type = (gp_type)pass.result[r].type;
        const uint64_t raw =
            gp_exact_ratio(limb, gp_exact_form_of(GP_F32, false), (uint32_t)limb[REDO_LIMBS], n, false, type);
        store_raw(gp_pass_address(&pass, r, output), bytes_of(type), raw);
    }
    if (first == 0 && a.done != NULL)
        tell_host(a);
    by_block ? __syncthreads() : __syncwarp();
}

__device__ __forceinline__ uint32_t least_of_warp(uint32_t x) {
    for (int lane = 16; lane > 0; lane /= 2)
        x = min(x, __shfl_xor_sync(GP_FULL_WARP, x, lane));
    return x;
}

/* The outputs that a thread of the warp, or of the block, names by bits. All threads of it. */
template <int WIDTH>
static __device__ __noinline__ void redo_named(const reduce_arguments &a, uint32_t output, uint32_t bits,
                                               bool by_block) {
    __shared__ uint32_t least;
    for (;;) {
        const uint32_t named = bits != 0 ? output + __ffs((int)bits) - 1 : UINT32_MAX;
        uint32_t next = least_of_warp(named);
        if (by_block) {
            __syncthreads();
            if (threadIdx.x == 0)
                least = UINT32_MAX;
            __syncthreads();
            if (threadIdx.x % 32 == 0)
                atomicMin(&least, next);
            __syncthreads();
            next = least;
        }
        if (next == UINT32_MAX)
            return;
        redo_output<WIDTH>(a, next, by_block);
        if (named == next)
            bits &= bits - 1;
    }
}

/* Outputs that are not proved: bits of those from `output` on. */
template <class LANE>
__device__ __forceinline__ void redo(const reduce_arguments &a, uint32_t output, uint32_t left, bool by_block) {
    if constexpr (LANE::REDOES)
        if (by_block ? __syncthreads_or(left != 0) : __any_sync(GP_FULL_WARP, left != 0))
            redo_named<LANE::REDO_BYTES>(a, output, left, by_block);
}
