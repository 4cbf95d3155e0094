/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of floats, and of squares, that bounds have not proved, done again where they were found: some limbs by each
 * reading of the output's elements, so that nothing but registers is needed.
 */
#pragma once

#include "lane_moments.cuh"

#define REDO_LIMBS 11     /* those of gp_exact_form_of(GP_F32, false) */
#define REDO_SQUARES 20   /* and of squares */
#define REDO_AT_ONCE 6    /* of sums f16 has bits of these, of squares of the next */
#define REDO_BY_WARP 512u /* elements that one warp does; more are the block's */

/* Where an output's elements begin, or their partners. */
template <bool PARTNERS = false>
__device__ __forceinline__ const unsigned char *begin_of(const gp_pass &pass, uint32_t output) {
    const unsigned char *at = PARTNERS ? pass.with : pass.in;
    const auto stride = [&](int axis) { return PARTNERS ? pass.axis[axis].with : pass.axis[axis].in; };
#pragma unroll 1
    for (int axis = pass.kept; axis-- > 1; output /= (uint32_t)pass.axis[axis].n)
        at += (int64_t)(output % (uint32_t)pass.axis[axis].n) * stride(axis);
    return pass.kept > 0 ? at + (int64_t)output * stride(0) : at;
}

__device__ __forceinline__ int64_t offset_of(const gp_pass &pass, uint32_t element) {
    int64_t offset = 0;
#pragma unroll 1
    for (int axis = pass.kept + pass.reduced - 1; element > 0; element /= (uint32_t)pass.axis[axis--].n)
        offset += (int64_t)(element % (uint32_t)pass.axis[axis].n) * pass.axis[axis].in;
    return offset;
}

/* Adds to limbs what every step-th element from the first on has of them, or its square. */
template <int WIDTH, bool SQUARES>
__device__ __forceinline__ void redo_limbs(const gp_pass &pass, const unsigned char *in, uint32_t first,
                                           uint32_t step, int64_t *limb, int64_t *flags) {
    const uint32_t kept = pass.wants & GP_WANT_ABS ? ~((uint32_t)1 << (8 * WIDTH - 1)) : ~(uint32_t)0;
    const uint32_t limbs = (SQUARES ? 3 : 2) * REDO_AT_ONCE, half = pass.type == GP_F16 ? REDO_AT_ONCE : 0;
#pragma unroll 1
    for (uint32_t l = SQUARES ? half : 0; l < limbs - half; l += REDO_AT_ONCE) {
        int64_t sum[REDO_AT_ONCE] = {};
        uint32_t special = 0;
        for (uint32_t e = first; e < (uint32_t)pass.length; e += step) {
            const uint32_t raw = load_unit<WIDTH>(in + offset_of(pass, e), WIDTH) & kept;
            const gp_exact_parts x = gp_exact_parts_f32(real_of<WIDTH>(raw, pass.type == GP_BF16));
            const uint32_t bit = SQUARES ? 2 * x.bit : x.bit, shift = bit % 32;
            const uint64_t whole = SQUARES ? x.mantissa * x.mantissa : x.mantissa, low = whole << shift;
#pragma unroll
            for (uint32_t i = 0; i < REDO_AT_ONCE; i++) {
                const uint32_t above = l + i - bit / 32;
                const int64_t part = above == 0   ? (uint32_t)low
                                     : above == 1 ? (int64_t)(low >> 32)
                                     : above == 2 ? (int64_t)(whole >> 32 >> (32 - shift))
                                                  : 0;
                sum[i] += x.negative && !SQUARES ? -part : part;
            }
            special |= x.special;
        }
        __syncwarp();
#pragma unroll 1
        for (int lane = 16; lane > 0; lane /= 2)
#pragma unroll
            for (uint32_t i = 0; i < REDO_AT_ONCE; i++)
                sum[i] += __shfl_xor_sync(GP_FULL_WARP, sum[i], lane);
#pragma unroll
        for (uint32_t i = 0; i < REDO_AT_ONCE; i++)
            if (threadIdx.x % 32 == 0)
                atomicAdd((unsigned long long *)&limb[l + i], (unsigned long long)sum[i]);
        if (special != 0)
            atomicOr((unsigned long long *)flags, (unsigned long long)special);
    }
}

template <int WIDTH, bool MOMENTS, unsigned THREADS>
__device__ __forceinline__ void redo_output(const reduce_arguments &a, uint32_t output, bool by_block) {
    struct sums {
        int64_t flags, limb[REDO_LIMBS + 1];
        int64_t square[MOMENTS ? REDO_SQUARES : 1], scratch[MOMENTS ? REDO_SQUARES + GP_EXACT_SCRATCH_MORE : 1];
    };
    __shared__ sums of_warp[THREADS / 32];
    const gp_pass &pass = a.pass;
    sums *const s = &of_warp[by_block ? 0 : threadIdx.x / 32];
    const uint32_t first = by_block ? threadIdx.x : threadIdx.x % 32, step = by_block ? blockDim.x : 32;
    const unsigned char *const in = begin_of(pass, output);
    for (uint32_t i = first; i < sizeof(sums) / 8; i += step)
        ((int64_t *)s)[i] = 0;
    by_block ? __syncthreads() : __syncwarp();
    redo_limbs<WIDTH, false>(pass, in, first, step, s->limb, &s->flags);
    if (MOMENTS)
        redo_limbs<WIDTH, true>(pass, in, first, step, s->square, &s->flags);
    by_block ? __syncthreads() : __syncwarp();
    for (unsigned r = 0; r < pass.results && first == 0; r++) {
        const gp_exact_form form = gp_exact_form_of(GP_F32, false), form_of_squares = gp_exact_form_of(GP_F32, true);
        const unsigned op = pass.result[r].op, flags = (unsigned)s->flags;
        const gp_type type = (gp_type)pass.result[r].type;
        uint64_t raw;
        if (MOMENTS && op >= GP_REDUCE_VARIANCE)
            raw = gp_exact_variance(s->limb, form, s->square, form_of_squares, flags, pass.length,
                                    op >= GP_REDUCE_VARIANCE_SAMPLE,
                                    op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE, type, s->scratch);
        else if (MOMENTS && (op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_NORM))
            raw = gp_exact_ratio(s->square, form_of_squares,
                                 flags & GP_EXACT_NAN ? GP_EXACT_NAN
                                 : flags != 0         ? GP_EXACT_PLUS_INFINITY
                                                      : 0,
                                 1, op == GP_REDUCE_NORM, type);
        else
            raw = gp_exact_ratio(s->limb, form, flags, op == GP_REDUCE_MEAN ? pass.length : 1, false, type);
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
template <int WIDTH, bool MOMENTS, unsigned THREADS>
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
        redo_output<WIDTH, MOMENTS, THREADS>(a, next, by_block);
        if (named == next)
            bits &= bits - 1;
    }
}

/* Whether the form does again what it has not proved: not one output with squares, which other kernels do at once. */
template <class LANE> __device__ __forceinline__ bool redoes(const gp_pass &pass) {
    return LANE::REDOES && (LANE::QUICKS == 1 || pass.outputs > 1);
}

/* Outputs that are not proved: bits of those from `output` on. THREADS: of a block, at most. */
template <class LANE, unsigned THREADS = GP_REDUCE_MANY_THREADS>
__device__ __forceinline__ void redo(const reduce_arguments &a, uint32_t output, uint32_t left, bool by_block) {
    if constexpr (LANE::REDOES)
        if (by_block ? __syncthreads_or(left != 0) : __any_sync(GP_FULL_WARP, left != 0))
            redo_named<LANE::REDO_BYTES, LANE::QUICKS == 2, THREADS>(a, output, left, by_block);
}
