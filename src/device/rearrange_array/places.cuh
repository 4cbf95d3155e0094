/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread's part of a tile lies: the walks of a cut. */
#pragma once

#include "../../host/rearrange_array/tiling.h"
#include "../rearrange/turn.cuh"

/* Where a tile begins; of those that share rows whether it is the first, the last. */
struct tile_base {
    const unsigned char *in;
    unsigned char *out;
    bool first, last;
};

__device__ inline tile_base base_of(const gp_move_cut &cut, uint32_t tile) {
    tile_base base = {cut.in, cut.out, true, true};
    for (uint32_t s = 0; s < cut.steps; s++) {
        const gp_move_step &step = cut.step[s];
        const uint32_t rest = s + 1 < cut.steps ? (uint32_t)__umul64hi(tile, step.magic) : 0;
        const uint32_t at = tile - rest * step.tiles;
        const uint64_t first = min((uint64_t)at * step.extent, step.last);
        base.in += (int64_t)first * step.in;
        base.out += (int64_t)first * step.out;
        base.first = s == cut.sharing ? at == 0 : base.first;
        base.last = s == cut.sharing ? at + 1 == step.tiles : base.last;
        tile = rest;
    }
    return base;
}

/*
 * Where a block's tile number `turn` begins; a warp finds the next 32, a lane each. Each thread for itself spent 39.6
 * million instructions on 64 x 512 x 512 pixels of three channels of 2 bytes, of which 32.7 are left so. Where steps
 * lead along one axis alone it costs more than it saves.
 */
__device__ inline tile_base base_of_turn(const gp_move_cut &cut, uint32_t turn) {
    __shared__ tile_base next[32];
    if (turn % 32 == 0) {
        __syncthreads();
        const uint32_t tile = blockIdx.x + (turn + threadIdx.x) * gridDim.x;
        if (threadIdx.x < 32 && tile < cut.tiles)
            next[threadIdx.x] = base_of(cut, tile);
        __syncthreads();
    }
    return next[turn % 32];
}

struct place {
    int32_t global, shared;
};

/*
 * Calls use(i, place) for `count` units of a tile, number(i) each. Digit by digit for four of them: one at a time
 * cost 2 us of latency a kernel, eight at a time too many registers.
 */
template <int count, typename NUMBER, typename USE>
__device__ inline void for_places(const gp_move_walk &walk, NUMBER number, USE use) {
    constexpr int together = count < 4 ? count : 4;
    static_assert(count % together == 0, "units past the last one would be used");
#pragma unroll
    for (int first = 0; first < count; first += together) {
        uint32_t left[together];
        place at[together];
#pragma unroll
        for (int i = 0; i < together; i++) {
            left[i] = number(first + i);
            at[i] = {walk.global, walk.shared};
        }
#pragma unroll 1
        for (uint32_t d = 0; d < walk.digits; d++) {
            const gp_move_digit digit = walk.digit[d];
            const bool last = d + 1 == walk.digits;
#pragma unroll
            for (int i = 0; i < together; i++) {
                const uint32_t rest = last ? 0 : __umulhi(left[i], digit.magic);
                const int32_t steps = (int32_t)(left[i] - rest * digit.n);
                at[i].global += steps * digit.global;
                at[i].shared += steps * digit.shared;
                left[i] = rest;
            }
        }
#pragma unroll
        for (int i = 0; i < together; i++)
            use(first + i, at[i]);
    }
}

/* Number i of a thread's units. */
__device__ inline uint32_t unit_of(int i) {
    return threadIdx.x + i * GP_MOVE_THREADS;
}

/* Places in shared memory, two in a register. */
template <int count> struct place_pairs {
    uint32_t pair[(count + 1) / 2];

    __device__ void put(int i, int32_t at) {
        pair[i / 2] = i % 2 == 0 ? (uint32_t)at : __byte_perm(pair[i / 2], (uint32_t)at, 0x5410);
    }
    __device__ uint32_t operator[](int i) const {
        return pair[i / 2] >> 16 * (i % 2) & 0xffff;
    }
    /* To be called once a tile: else the compiler keeps them apart over all tiles, in as many registers. */
    __device__ void keep_together() {
#pragma unroll
        for (uint32_t &two : pair)
            asm volatile("" : "+r"(two));
    }
};
