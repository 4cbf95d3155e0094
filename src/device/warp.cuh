/* SPDX-License-Identifier: Apache-2.0 */
/* What every kernel uses: waiting for earlier kernels, loads that leave the first-level cache alone, reductions
 * across a warp. */
#pragma once

#include <stdint.h>

/*
 * Blocks an SM that registers are to leave room for, as __launch_bounds__ takes them: ptxas refuses more than an SM
 * has threads for. Architecture 7.5 has 1024, the others 1536 or 2048.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SM_THREADS 1024
#else
#define SM_THREADS 1536
#endif
#define BLOCKS_OF(threads, wanted) ((wanted) * (threads) <= SM_THREADS ? (wanted) : SM_THREADS / (threads))

#define GP_FULL_WARP 0xffffffffu

/*
 * Waits for earlier kernels, but leaves it to gp_admit_later_kernels() when the next kernel's blocks may take room on
 * an SM: not before every block has called it. An SM that is done early would else be given more of them than others.
 */
enum class gp_admission { later };

__device__ __forceinline__ void gp_grid_dependency_wait(gp_admission) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void gp_admit_later_kernels() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/*
 * First in every kernel whose row says that its launches overlap: the blocks of a launch may be placed while the last
 * blocks of the kernel before it in the stream still run, and wait here for all that it wrote. Costs nothing where
 * nothing overlaps; before architecture 90 there is no such launch.
 */
__device__ __forceinline__ void gp_grid_dependency_wait() {
    gp_grid_dependency_wait(gp_admission::later);
    gp_admit_later_kernels();
}

/*
 * gp_grid_dependency_wait(), but after `value` has been computed, so that addresses are there when waiting ends: the
 * assembler would else wait first, and compute then. It does not know that both branches do one thing.
 */
__device__ __forceinline__ void gp_grid_dependency_wait(uint32_t value) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %0, 0; @p griddepcontrol.wait; @!p griddepcontrol.wait; }" ::"r"(value)
        : "memory");
#else
    (void)value;
#endif
    gp_admit_later_kernels();
}

/*
 * A sector that a block will load, for L2 to fetch while earlier kernels end. Nothing is read, so what they still
 * write is seen later, and it may stand before gp_grid_dependency_wait(). Few of them: more get into those kernels'
 * way. Where launches do not overlap there is nothing to gain.
 */
__device__ __forceinline__ void gp_prefetch(const void *from) {
#if __CUDA_ARCH__ >= 900
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#else
    (void)from;
#endif
}

/* 16 bytes that this kernel reads once: no room is made for them in the first-level cache. */
__device__ __forceinline__ int4 gp_load_once(const int4 *address) {
    int4 value;
    asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(address));
    return value;
}

__device__ __forceinline__ uint4 load_once(const void *from) {
    const int4 v = gp_load_once((const int4 *)from);
    return make_uint4((uint32_t)v.x, (uint32_t)v.y, (uint32_t)v.z, (uint32_t)v.w);
}

__device__ __forceinline__ uint32_t gp_warp_or(uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(GP_FULL_WARP, value);
#else
    for (int lane = 16; lane > 0; lane /= 2)
        value |= __shfl_xor_sync(GP_FULL_WARP, value, lane);
    return value;
#endif
}

__device__ __forceinline__ uint32_t gp_warp_sum(uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(GP_FULL_WARP, value);
#else
    for (int lane = 16; lane > 0; lane /= 2)
        value += __shfl_xor_sync(GP_FULL_WARP, value, lane);
    return value;
#endif
}

/* Adds what the lane `lanes` below has; the machine tells lanes that have none below. */
__device__ __forceinline__ void add_from_below(uint32_t *x, int lanes) {
    asm volatile("{ .reg .u32 below; .reg .pred there; shfl.sync.up.b32 below|there, %0, %1, 0, 0xffffffff; "
                 "@there add.u32 %0, %0, below; }"
                 : "+r"(*x)
                 : "r"(lanes));
}
