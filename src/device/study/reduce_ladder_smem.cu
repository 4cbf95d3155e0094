/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduction ladder in shared memory, completely unrolled: static, four elements a thread first, and with a
 * dynamic array sized at launch. The input is only read; elements past its end count as 0, and all threads reach
 * every barrier. Method: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", chapter 5.
 */
#include "reduce_ladder.cuh"

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

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_smem(gp_ladder_arguments a) {
    __shared__ uint32_t data[GP_LADDER_THREADS_MAX];
    reduce_in<1>(data, a);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_smem_unroll4(gp_ladder_arguments a) {
    __shared__ uint32_t data[GP_LADDER_THREADS_MAX];
    reduce_in<4>(data, a);
}

__global__ void __maxnreg__(GP_LADDER_REGS) reduce_smem_dyn_unroll4(gp_ladder_arguments a) {
    extern __shared__ uint32_t ladder_dynamic[];
    reduce_in<4>(ladder_dynamic, a);
}

extern "C" gp_status gp_launch_reduce_smem(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_smem, 0);
}

extern "C" gp_status gp_launch_reduce_smem_unroll4(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_smem_unroll4, 0);
}

extern "C" gp_status gp_launch_reduce_smem_dyn_unroll4(gp_context *context, const gp_plan *plan,
                                                       const gp_problem *problem) {
    return gp_ladder_sum(context, plan, problem, (const void *)reduce_smem_dyn_unroll4, 0);
}
