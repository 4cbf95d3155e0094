/* SPDX-License-Identifier: Apache-2.0 */
/* Loads with a policy for the L2 cache, and copies to shared memory that are there after await_copies(). */
#pragma once

#include "warp.cuh"

/*
 * Which lines leave L2 first. If what a kernel reads stays longer than what it writes, lines are written back soon
 * after they are complete and in about that order, which DRAM does faster than late and in any. Kernels that follow
 * suffer little: reading 24 MiB right after such a transpose took as long from the second time on as after others.
 */
struct l2_policy {
    uint64_t bits;
};

/* For staging memory, whose launch has a policy (enqueue.c). */
struct no_policy {};

template <bool hinted> __device__ inline auto read_policy(bool keep) {
    if constexpr (hinted) {
        l2_policy policy = {0};
#if __CUDA_ARCH__ >= 800
        if (keep)
            asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.bits));
        else
            asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy.bits));
#endif
        return policy;
    } else {
        return no_policy{};
    }
}

/* An element that the kernel reads once, if no halo is read twice. */
__device__ inline uint4 load_by(const uint4 *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint2 load_by(const uint2 *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint2 v;
    asm volatile("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint32_t load_by(const uint32_t *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint32_t v;
    asm volatile("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint4 load_by(const uint4 *from, no_policy) {
    return load_once(from);
}

template <typename element> __device__ inline element load_by(const element *from, no_policy) {
    return __ldg(from);
}

/* 16 bytes from global memory to an address in shared memory. */
__device__ inline void copy_async(uint32_t to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
    *(uint4 *)__cvta_shared_to_generic(to) = *(const uint4 *)from;
#endif
}

__device__ inline void await_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* copy_async(), of which only what lies in begin .. end - 1 is read and written. */
__device__ inline void copy_inside(uint32_t to, const unsigned char *from, const unsigned char *begin,
                                   const unsigned char *end) {
    if (from >= begin && from + 16 <= end) {
        copy_async(to, from);
        return;
    }
    unsigned char *shared = (unsigned char *)__cvta_shared_to_generic(to);
#pragma unroll
    for (int i = 0; i < 16; i++)
        if (from + i >= begin && from + i < end)
            shared[i] = from[i];
}
