/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduction ladder in global memory, from neighbouring pairs to complete unrolling: each block sums its elements
 * in place and writes one sum. Its data are a copy of the input with zeros after it up to whole blocks, so that no
 * element is past the end, none is dropped, and all threads reach every barrier. Blocks are of 64 to 1024 threads,
 * a power of two. Method: M. Harris, "Optimizing parallel reduction in CUDA"; J. Cheng, M. Grossman, T. McKercher,
 * "Professional CUDA C Programming", chapter 3.
 */
#include "reduce_ladder.cuh"

/* Where the data of this block begin, of which it has BLOCKS times its threads. */
template <unsigned BLOCKS> __device__ __forceinline__ uint32_t *block_data(const gp_ladder_arguments &a) {
    return a.data + (uint64_t)blockIdx.x * BLOCKS * blockDim.x;
}

/* Neighbouring pairs: the working threads are 2 * stride apart, so that most lanes of a warp idle. */
__global__ void __maxnreg__(GP_LADDER_REGS) reduce_neighbored(gp_ladder_arguments a) {
    uint32_t *data = block_data<1>(a);
    const unsigned thread = threadIdx.x;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (thread % (2 * stride) == 0)
            data[thread] += data[thread + stride];
        __syncthreads();
    }
    ladder_store(a, data);
}

/* The same pairs by consecutive threads: whole warps work or idle. */
__global__ void __maxnreg__(GP_LADDER_REGS) reduce_neighbored_less(gp_ladder_arguments a) {
    uint32_t *data = block_data<1>(a);
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * threadIdx.x;
        if (index < blockDim.x)
            data[index] += data[index + stride];
        __syncthreads();
    }
    ladder_store(a, data);
}

/* Strides from half the block down to above `last`: neighbouring threads touch neighbouring elements. */
__device__ __forceinline__ void interleave(uint32_t *data, unsigned last) {
    for (unsigned stride = blockDim.x / 2; stride > last; stride /= 2) {
        if (threadIdx.x < stride)
            data[threadIdx.x] += data[threadIdx.x + stride];
        __syncthreads();
    }
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_interleaved(gp_ladder_arguments a) {
    uint32_t *data = block_data<1>(a);
    interleave(data, 0);
    ladder_store(a, data);
}

/* Adds the block's other data blocks to its first: BLOCKS independent loads a thread are under way at once. */
template <unsigned BLOCKS> __device__ __forceinline__ uint32_t *fold(const gp_ladder_arguments &a) {
    uint32_t *data = block_data<BLOCKS>(a);
    uint32_t total = data[threadIdx.x];
#pragma unroll
    for (unsigned block = 1; block < BLOCKS; block++)
        total += data[threadIdx.x + block * blockDim.x];
    data[threadIdx.x] = total;
    __syncthreads();
    return data;
}

template <unsigned BLOCKS> __device__ __forceinline__ void fold_and_interleave(const gp_ladder_arguments &a) {
    uint32_t *data = fold<BLOCKS>(a);
    interleave(data, 0);
    ladder_store(a, data);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_unroll2(gp_ladder_arguments a) {
    fold_and_interleave<2>(a);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_unroll4(gp_ladder_arguments a) {
    fold_and_interleave<4>(a);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_unroll8(gp_ladder_arguments a) {
    fold_and_interleave<8>(a);
}

/* The last six steps are one warp's, which needs no barrier of the block. */
__global__ void __maxnreg__(GP_LADDER_REGS) reduce_unroll_warps8(gp_ladder_arguments a) {
    uint32_t *data = fold<8>(a);
    interleave(data, 32);
    ladder_last_warp(data);
    ladder_store(a, data);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_complete_unroll8(gp_ladder_arguments a) {
    uint32_t *data = fold<8>(a);
    ladder_unrolled(data, blockDim.x);
    ladder_store(a, data);
}

template <unsigned THREADS>
__global__ void __maxnreg__(GP_LADDER_REGS) reduce_template_unroll8(gp_ladder_arguments a) {
    uint32_t *data = fold<8>(a);
    ladder_unrolled(data, THREADS);
    ladder_store(a, data);
}

/* Complete unrolling alone: what the forms in shared memory are compared with. */
__global__ void __maxnreg__(GP_LADDER_REGS) reduce_gmem(gp_ladder_arguments a) {
    uint32_t *data = block_data<1>(a);
    ladder_unrolled(data, blockDim.x);
    ladder_store(a, data);
}

static const void *template_kernel(unsigned threads) {
    switch (threads) {
    case 1024:
        return (const void *)reduce_template_unroll8<1024>;
    case 512:
        return (const void *)reduce_template_unroll8<512>;
    case 256:
        return (const void *)reduce_template_unroll8<256>;
    case 128:
        return (const void *)reduce_template_unroll8<128>;
    default:
        return (const void *)reduce_template_unroll8<64>;
    }
}

extern "C" gp_status gp_launch_reduce_neighbored(gp_context *context, const gp_plan *plan,
                                                 const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_neighbored, 1);
}

extern "C" gp_status gp_launch_reduce_neighbored_less(gp_context *context, const gp_plan *plan,
                                                      const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_neighbored_less, 1);
}

extern "C" gp_status gp_launch_reduce_interleaved(gp_context *context, const gp_plan *plan,
                                                  const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_interleaved, 1);
}

extern "C" gp_status gp_launch_reduce_unroll2(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_unroll2, 2);
}

extern "C" gp_status gp_launch_reduce_unroll4(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_unroll4, 4);
}

extern "C" gp_status gp_launch_reduce_unroll8(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_unroll8, 8);
}

extern "C" gp_status gp_launch_reduce_unroll_warps8(gp_context *context, const gp_plan *plan,
                                                    const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_unroll_warps8, 8);
}

extern "C" gp_status gp_launch_reduce_complete_unroll8(gp_context *context, const gp_plan *plan,
                                                       const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_complete_unroll8, 8);
}

extern "C" gp_status gp_launch_reduce_template_unroll8(gp_context *context, const gp_plan *plan,
                                                       const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, template_kernel(plan->tiling.threads), 8);
}

extern "C" gp_status gp_launch_reduce_gmem(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_gmem, 1);
}
