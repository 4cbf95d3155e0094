/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduction ladder. In global memory, from neighbouring pairs to complete unrolling, each block sums its elements
 * in place and writes one sum. Its data are a copy of the input with zeros after it up to whole blocks, so that no
 * element is past the end, none is dropped, and all threads reach every barrier. In shared memory, completely
 * unrolled, the input is only read; elements past its end count as 0. Blocks are of 64 to 1024 threads, a power of
 * two. Method: M. Harris, "Optimizing parallel reduction in CUDA"; J. Cheng, M. Grossman, T. McKercher, "Professional
 * CUDA C Programming", chapters 3 and 5.
 */
#include "../../host/study/ladder.h"

/*
 * 64 elements down to data[0] by the first warp alone. Its lanes no longer run in lock step (since Volta): each step
 * ends with a barrier of the warp, and only lanes that still count write, so that none is read while it changes.
 */
__device__ __forceinline__ void ladder_last_warp(uint32_t *data) {
    if (threadIdx.x < 32) {
#pragma unroll
        for (unsigned stride = 32; stride > 0; stride /= 2) {
            if (threadIdx.x < stride)
                data[threadIdx.x] += data[threadIdx.x + stride];
            __syncwarp();
        }
    }
}

/* The first half of the 2 * STRIDE elements left receives the second, if the block is that large. */
template <unsigned STRIDE> __device__ __forceinline__ void ladder_halve(uint32_t *data, unsigned threads) {
    if (threads >= 2 * STRIDE) {
        if (threadIdx.x < STRIDE)
            data[threadIdx.x] += data[threadIdx.x + STRIDE];
        __syncthreads();
    }
}

/* `threads` elements, 64 to 1024, down to data[0], without a loop. With a constant `threads` no test is left either.
 */
__device__ __forceinline__ void ladder_unrolled(uint32_t *data, unsigned threads) {
    ladder_halve<512>(data, threads);
    ladder_halve<256>(data, threads);
    ladder_halve<128>(data, threads);
    ladder_halve<64>(data, threads);
    ladder_last_warp(data);
}

__device__ __forceinline__ void ladder_store(const gp_ladder_arguments &a, const uint32_t *data) {
    if (threadIdx.x == 0)
        a.partial[blockIdx.x] = data[0];
}

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

/* Neighbouring pairs by consecutive threads: whole warps work or idle. */
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

template <unsigned BLOCKS> __global__ void __maxnreg__(GP_LADDER_REGS) reduce_unroll(gp_ladder_arguments a) {
    uint32_t *data = fold<BLOCKS>(a);
    interleave(data, 0);
    ladder_store(a, data);
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

/* The sum of one element from each of the block's BLOCKS data blocks. */
template <unsigned BLOCKS> __device__ __forceinline__ uint32_t gather(const gp_ladder_arguments &a) {
    const uint64_t first = (uint64_t)blockIdx.x * BLOCKS * blockDim.x + threadIdx.x;
    uint32_t total = 0;
#pragma unroll
    for (unsigned block = 0; block < BLOCKS; block++)
        if (first + block * blockDim.x < a.n)
            total += a.in[first + block * blockDim.x];
    return total;
}

template <unsigned BLOCKS> __device__ __forceinline__ void reduce_in(uint32_t *data, const gp_ladder_arguments &a) {
    data[threadIdx.x] = gather<BLOCKS>(a);
    __syncthreads();
    ladder_unrolled(data, blockDim.x);
    ladder_store(a, data);
}

template <unsigned BLOCKS> __global__ void __maxnreg__(GP_LADDER_REGS) reduce_smem(gp_ladder_arguments a) {
    __shared__ uint32_t data[GP_LADDER_THREADS_MAX];
    reduce_in<BLOCKS>(data, a);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_smem_dyn_unroll4(gp_ladder_arguments a) {
    extern __shared__ uint32_t ladder_dynamic[];
    reduce_in<4>(ladder_dynamic, a);
}

static void (*const template_kernels[])(gp_ladder_arguments) = {
    reduce_template_unroll8<64>, reduce_template_unroll8<128>, reduce_template_unroll8<256>,
    reduce_template_unroll8<512>, reduce_template_unroll8<1024>};

#define LAUNCHER(row, kernel, data_blocks)                                               \
    GP_DECLARE_LAUNCHER(gp_launch_##row) {                                               \
        return gp_ladder_sum(context, plan, problem, (const void *)kernel, data_blocks); \
    }

LAUNCHER(reduce_neighbored, reduce_neighbored, 1)
LAUNCHER(reduce_neighbored_less, reduce_neighbored_less, 1)
LAUNCHER(reduce_interleaved, reduce_interleaved, 1)
LAUNCHER(reduce_unroll2, reduce_unroll<2>, 2)
LAUNCHER(reduce_unroll4, reduce_unroll<4>, 4)
LAUNCHER(reduce_unroll8, reduce_unroll<8>, 8)
LAUNCHER(reduce_unroll_warps8, reduce_unroll_warps8, 8)
LAUNCHER(reduce_complete_unroll8, reduce_complete_unroll8, 8)
LAUNCHER(reduce_template_unroll8, template_kernels[plan->tiling.form], 8)
LAUNCHER(reduce_gmem, reduce_gmem, 1)
LAUNCHER(reduce_smem, reduce_smem<1>, 0)
LAUNCHER(reduce_smem_unroll4, reduce_smem<4>, 0)
LAUNCHER(reduce_smem_dyn_unroll4, reduce_smem_dyn_unroll4, 0)
