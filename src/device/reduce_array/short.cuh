/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_short: short rows behind each other without gaps, by way of shared memory, so that any alignment of rows
 * is read at the memory's speed. A row has one thread, or a few neighbours.
 */
#pragma once

#include "bulk.cuh"
#include "finish.cuh"

/*
 * A lane's units of a row in shared memory. Where lanes of several rows would meet in a bank, those begin at `turned`
 * units of their row.
 */
template <class LANE>
__device__ __forceinline__ void take_staged(const LANE &form, typename LANE::state &s, const unsigned char *row,
                                            uint32_t n, uint32_t lane, uint32_t step, uint32_t turned,
                                            uint32_t width) {
    if constexpr (LANE::BYTES == 16) {
#pragma unroll 4
        for (uint32_t e = lane + turned; e < n + turned; e += step)
            form.take(s, load_unit<16>(row + (e < n ? e : e - n) * 16, 16), e);
    } else {
        const unsigned char *const end = row + n * width;
        uint32_t e = lane;
#pragma unroll 4
        for (const unsigned char *at = row + lane * width; at < end; at += step * width, e += step)
            form.take(s, load_unit<LANE::BYTES>(at, width), e);
    }
}

/* Vectors of rows of n that 8 lanes read at once, `lanes` of a row, lie in 8 banks if rows are turned by this. */
__device__ __forceinline__ uint32_t turn_of(uint32_t row, uint32_t n, uint32_t lanes) {
    const uint32_t meet = min(8u, max(n & (0 - n), lanes)); /* rows 8 / meet apart begin in one bank */
    return row / (8 / meet) * lanes % n;
}

/* Bytes from .. to of device memory; `from` comes to lie at (address of from) % 16. */
__device__ __forceinline__ void copy_rows(unsigned char *shared, const unsigned char *from, const unsigned char *to,
                                          uint64_t *arrival) {
    const uint32_t skew = (uint32_t)((uintptr_t)from % 16), all = (uint32_t)(to - from);
    const uint32_t head = min(all, (16 - skew) % 16), count = (all - head) / 16, tail = head + count * 16;
    copy_vectors((int4 *)(shared + skew + head), (const int4 *)(from + head), count, arrival);
    if (head > 0 && threadIdx.x < head)
        shared[skew + threadIdx.x] = from[threadIdx.x];
    if (threadIdx.x < all - tail)
        shared[skew + tail + threadIdx.x] = from[tail + threadIdx.x];
}

template <class LANE>
__global__ void __launch_bounds__(GP_REDUCE_SHORT_THREADS, GP_REDUCE_SHORT_BLOCKS)
    reduce_short(const __grid_constant__ reduce_arguments a, const __grid_constant__ gp_short_cut cut) {
    __shared__ uint64_t arrivals[2]; /* of the stages */
    unsigned char *const shared = (unsigned char *)columns;
    const gp_pass &pass = a.pass;
    const uint32_t lane = threadIdx.x & (cut.lanes - 1), mine = threadIdx.x / cut.lanes;
    const uint32_t n = (uint32_t)pass.length / LANE::PACKED, width = LANE::BYTES ? LANE::BYTES : bytes_of(pass.type);
    const uint32_t outputs = (uint32_t)pass.outputs, row_bytes = n * width;
    const uint32_t turned = LANE::BYTES == 16 ? turn_of(mine, n, cut.lanes) : 0;
    LANE form(pass);
    const uint32_t quick_bytes = quick_bytes_of(a, form);
    const auto fetch = [&](uint32_t tile, uint32_t stage) {
        const uint32_t first = tile * cut.rows;
        const unsigned char *const from = pass.in + (uint64_t)first * row_bytes;
        const uint32_t rows = tile < cut.tiles ? min(cut.rows, outputs - first) : 0;
        copy_rows(shared + stage * cut.stage, from, from + rows * row_bytes, &arrivals[stage]);
    };
    if (threadIdx.x == 0) {
        init_arrival(&arrivals[0]);
        init_arrival(&arrivals[1]);
    }
    __syncthreads();
    gp_grid_dependency_wait();
    fetch(blockIdx.x, 0);
    uint32_t stage = 0, parity = 0;
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < cut.tiles; tile += gridDim.x) {
        const uint32_t first = tile * cut.rows, rows = min(cut.rows, outputs - first);
        fetch(tile + gridDim.x, stage ^ 1);
        await_vectors(&arrivals[stage], parity);
        __syncthreads(); /* what is not in vectors */
        const unsigned char *at =
            shared + stage * cut.stage + (uintptr_t)(pass.in + (uint64_t)first * row_bytes) % 16 + mine * row_bytes;
        const uint32_t step = cut.outputs * row_bytes;
        uint32_t slow = UINT32_MAX; /* a bit for each row of the thread's */
        if (quick_bytes != 0) {
            const unsigned char *from = at;
            slow = 0;
#pragma unroll 1
            for (uint32_t row = mine, bit = 1; row - mine < rows; row += cut.outputs, bit *= 2) {
                typename LANE::state s = LANE::state::none();
                if (row < rows) {
                    form.begin(from, s);
                    take_staged(form, s, from, n, lane, cut.lanes, turned, width);
                }
                join_team(s, cut.lanes);
                if (lane == 0 && row < rows)
                    slow |= write_quick(pass, quick_bytes, form, s, first + row) ? 0 : bit;
                from += step;
            }
        }
        if (__any_sync(GP_FULL_WARP, slow != 0))
#pragma unroll 1
            for (uint32_t row = mine, i = 0; row - mine < rows; row += cut.outputs, at += step, i++) {
                typename LANE::state s = LANE::state::none();
                if (!__any_sync(GP_FULL_WARP, slow >> i & 1))
                    continue;
                if (row < rows) {
                    form.begin(at, s);
                    take_staged(form, s, at, n, lane, cut.lanes, turned, width);
                }
                join_team(s, cut.lanes);
                const bool left = lane == 0 && row < rows && !finish_any<LANE>(a, s, first + row);
                redo<LANE>(a, first + row, left, false);
            }
        release_vectors();
        __syncthreads(); /* until all have taken the rows, before others come there */
        parity ^= stage;
        stage ^= 1;
    }
}
