/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a tile in shared memory as they lie in global memory, as far past a vector's start, and pieces of elements
 * that are picked from there: pieces of 1, 2 and 4 bytes, of elements of any size.
 */
#pragma once

#include "tile.cuh"

/* i / d is the upper half of (2 i + 1) times this, where i * d < 2^30. */
__device__ inline uint32_t reciprocal_of(uint32_t d) {
    return ((1u << 31) + d - 1) / d;
}

__device__ inline uint32_t quotient(uint32_t i, uint32_t reciprocal) {
    return __umulhi(2 * i + 1, reciprocal);
}

/* What `in` consists of: nothing else is read. */
struct raw_input {
    const unsigned char *begin, *end;
};

__device__ inline raw_input raw_input_of(const transpose_arguments &a) {
    return {a.in, a.in + (a.rows - 1) * a.in_pitch + a.cols * a.elem_bytes};
}

/* Bytes that follow each other. `to`, in shared memory, lies as far past a vector's start as `from`. */
template <int threads>
__device__ inline void copy_run(uint32_t to, const unsigned char *from, uint32_t bytes, const raw_input &in) {
    const uint32_t off = (uint32_t)(uintptr_t)from % GP_VECTOR, all = off + bytes;
    from -= off;
    to -= off;
    if (from >= in.begin && from + (all + GP_VECTOR - 1) / GP_VECTOR * GP_VECTOR <= in.end) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x * GP_VECTOR; i < all; i += threads * GP_VECTOR)
            copy_async(to + i, from + i);
    } else {
#pragma unroll 1
        for (uint32_t i = threadIdx.x * GP_VECTOR; i < all; i += threads * GP_VECTOR)
            copy_inside(to + i, from + i, in.begin, in.end);
    }
}

/*
 * `bytes` of each row in lowest .. end - 1, of which row 0 begins at `from` and at `to`. 2^tiles.lanes threads copy a
 * row. tiles.pitch is in_pitch modulo a vector, so that rows lie alike on both sides.
 */
template <int threads>
__device__ inline void copy_rows(const transpose_arguments &a, uint32_t to, const unsigned char *from,
                                 uint32_t lowest, uint32_t end, uint32_t bytes, const raw_input &in) {
    const uint32_t lanes = 1u << a.tiles.lanes, step = threads >> a.tiles.lanes;
    const uint32_t x = (threadIdx.x & (lanes - 1)) * GP_VECTOR;
    const bool inside = from + (int64_t)lowest * (int64_t)a.in_pitch - (GP_VECTOR - 1) >= in.begin &&
                        from + (end - 1) * a.in_pitch + bytes + GP_VECTOR - 1 <= in.end;
    uint32_t y = lowest + (threadIdx.x >> a.tiles.lanes);
    from += y * a.in_pitch;
    to += y * a.tiles.pitch;
    if (inside) {
#pragma unroll 4
        for (; y < end; y += step, from += step * a.in_pitch, to += step * a.tiles.pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)from % GP_VECTOR;
            for (uint32_t i = x; i < off + bytes; i += lanes * GP_VECTOR)
                copy_async(to - off + i, from - off + i);
        }
    } else {
#pragma unroll 1
        for (; y < end; y += step, from += step * a.in_pitch, to += step * a.tiles.pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)from % GP_VECTOR;
            for (uint32_t i = x; i < off + bytes; i += lanes * GP_VECTOR)
                copy_inside(to - off + i, from - off + i, in.begin, in.end);
        }
    }
}

/* A piece at an address in shared memory. Volatile: all loads of a step before its stores. */
template <int piece> __device__ inline uint32_t pick(uint32_t at) {
    uint32_t value;
    if constexpr (piece == 1)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(at));
    else if constexpr (piece == 2)
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(value) : "r"(at));
    else
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at));
    return value;
}
