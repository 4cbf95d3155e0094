/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange_cycle's second kernel: units are moved along the cycles of their permutation. */
#pragma once

#include "cycle_boxes.cuh"

/* Sets a bit of a flag and returns what it was. Whoever sets one writes what it stands for, and nobody else does. */
__device__ inline uint32_t cycle_claim(uint32_t *flags, uint32_t bit) {
    uint32_t before;
    asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(before) : "l"(flags), "r"(bit) : "memory");
    return before & bit;
}

/* All that the warp's threads loaded before was loaded before the flags were looked at. */
__device__ inline uint32_t cycle_look(uint32_t *flags) {
    uint32_t now;
    asm volatile("atom.acq_rel.gpu.global.or.b32 %0, [%1], 0;" : "=r"(now) : "l"(flags) : "memory");
    return now;
}

struct cycle_units {
    gp_cycle c;
    uint32_t *flags;
    uint32_t rows, cols; /* of units, before */
    uint64_t magic;      /* q / cols == the upper half of q * magic */
};

/* Threads of a warp that move a slice of a unit. */
template <int bytes> struct cycle_mover {
    typedef typename element_of<bytes>::type word;
    const cycle_units &u;
    uint32_t lane, mask;
    cycle_matrix m;
    uint32_t flags;      /* before those of its slice */
    uint32_t begin, end; /* words of a unit, from the thread's first on */

    __device__ explicit cycle_mover(const cycle_units &units) : u(units) {
        const uint32_t lanes = u.c.lanes, first = threadIdx.x % 32 / lanes * lanes;
        lane = threadIdx.x % lanes;
        mask = (lanes == 32 ? ~0u : (1u << lanes) - 1) << first;
    }
    __device__ uint64_t to(uint32_t unit) const {
        const uint32_t row = (uint32_t)__umul64hi(unit, u.magic);
        return (uint64_t)(unit - row * u.cols) * u.rows + row;
    }
    /* A word of flags, 32 units of a slice, of `item`. */
    __device__ uint32_t go_to(uint32_t item) {
        const uint32_t slice = item / u.c.flags, matrix = slice / u.c.slices;
        begin = (slice - matrix * u.c.slices) * u.c.lanes * GP_CYCLE_WORDS + lane;
        end = (uint32_t)(u.c.unit / bytes);
        m = cycle_matrix_of(u.c, matrix);
        flags = slice * u.c.flags;
        return (item - flags) * 32;
    }
    /* Behind the unit's end its last word again: what is loaded under a condition is kept apart in more registers. */
    __device__ void load(uint32_t unit, word *w) const {
        const unsigned char *at = m(unit * u.c.apart, u.c.cut);
#pragma unroll
        for (uint32_t i = 0; i < GP_CYCLE_WORDS; i++)
            w[i] = __ldcg((const word *)at + min(begin + i * u.c.lanes, end - 1));
    }
    __device__ void store(uint32_t unit, const word *w) const {
        unsigned char *at = m(unit * u.c.apart, u.c.cut);
#pragma unroll
        for (uint32_t i = 0; i < GP_CYCLE_WORDS; i++)
            if (begin + i * u.c.lanes < end)
                ((word *)at)[begin + i * u.c.lanes] = w[i];
    }
    __device__ uint32_t shared_by_all(uint32_t value) const {
        return __shfl_sync(mask, value, 0, (int)u.c.lanes);
    }
    __device__ bool claim(uint32_t unit) const {
        return !shared_by_all(lane == 0 ? cycle_claim(u.flags + flags + unit / 32, 1u << unit % 32) : 0);
    }
    /* After loading it: the unit was there still. */
    __device__ bool was_there(uint32_t unit) const {
        __syncwarp(mask);
        return !(shared_by_all(lane == 0 ? cycle_look(u.flags + flags + unit / 32) : 0) >> unit % 32 & 1);
    }
};

/*
 * Every unit goes to where the next of its cycle was loaded from. Wherever threads begin, they stop at a place that
 * others have claimed: these go on from there. What is loaded from a place is the old unit for who has claimed it, as
 * nobody else writes there.
 */
template <int bytes>
__global__ void __launch_bounds__(GP_REARRANGE_CYCLE_THREADS, GP_REARRANGE_CYCLE_BLOCKS)
    rearrange_cycle_units(const __grid_constant__ cycle_units u) {
    cycle_mover<bytes> mover(u);
    typename element_of<bytes>::type held[GP_CYCLE_WORDS];
    const uint32_t items = (uint32_t)u.c.at_once * u.c.slices * u.c.flags; /* the workspace has room for so many */
    uint32_t item = (blockIdx.x * blockDim.x + threadIdx.x) / u.c.lanes;
    uint32_t first = 0, left = 0, to = 0; /* units that are to be begun with: bits of `left` */
    bool moves = false;
    for (;;) {
        if (!moves) {
            if (left == 0) {
                if (item >= items)
                    return;
                first = mover.go_to(item);
                item += gridDim.x * blockDim.x / u.c.lanes;
                left = u.c.units - first < 32 ? (1u << (u.c.units - first)) - 1 : ~0u;
            }
            left &= ~mover.shared_by_all(mover.lane == 0 ? __ldcg(u.flags + mover.flags + first / 32) : 0);
            if (left == 0)
                continue;
            const uint32_t unit = first + (uint32_t)__ffs((int)left) - 1;
            left &= left - 1;
            to = (uint32_t)mover.to(unit);
            if (to == unit)
                continue;
            mover.load(unit, held);
            if (!mover.was_there(unit))
                continue;
        }
        typename element_of<bytes>::type next[GP_CYCLE_WORDS];
        mover.load(to, next);
        moves = mover.claim(to);
        if (!moves)
            continue;
        mover.store(to, held);
#pragma unroll
        for (uint32_t i = 0; i < GP_CYCLE_WORDS; i++)
            held[i] = next[i];
        to = (uint32_t)mover.to(to);
    }
}
