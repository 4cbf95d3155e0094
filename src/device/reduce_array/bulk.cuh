/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contiguous memory to shared memory: from architecture 90 on by one instruction of one thread, which a barrier in
 * shared memory tells of its end; from 80 on by asynchronous copies of all threads; else by their loads.
 */
#pragma once

#include "../warp.cuh"

__device__ __forceinline__ uint32_t shared_address(const void *at) {
    return (uint32_t)__cvta_generic_to_shared(at);
}

#if __CUDA_ARCH__ >= 900

/* By one thread, with a barrier of the block behind it. */
__device__ __forceinline__ void init_arrival(uint64_t *arrival) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrival)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* `count` vectors, by the whole block. */
__device__ __forceinline__ void copy_vectors(int4 *to, const int4 *from, uint32_t count, uint64_t *arrival) {
    if (threadIdx.x != 0)
        return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrival)),
                 "r"(16 * count)
                 : "memory");
    if (count > 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(to)),
                     "l"(from), "r"(16 * count), "r"(shared_address(arrival))
                     : "memory");
}

/* The copy before the last. parity: 0 of the first copy that the barrier is told of, 1 of the second, 0 of the third.
 */
__device__ __forceinline__ void await_vectors(uint64_t *arrival, uint32_t parity) {
    asm volatile("{ .reg .pred there; again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1; "
                 "@!there bra again; }" ::"r"(shared_address(arrival)),
                 "r"(parity)
                 : "memory");
}

/* By all threads, between what they did with shared memory and a barrier of the block, before a copy comes there. */
__device__ __forceinline__ void release_vectors() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#else

__device__ __forceinline__ void init_arrival(uint64_t *) {}
__device__ __forceinline__ void release_vectors() {}

__device__ __forceinline__ void copy_vectors(int4 *to, const int4 *from, uint32_t count, uint64_t *) {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)), "l"(from + i)
                     : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
        to[i] = gp_load_once(from + i);
#endif
}

/* All copies but the last, of all threads. */
__device__ __forceinline__ void await_vectors(uint64_t *, uint32_t) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    __syncthreads();
}

#endif
