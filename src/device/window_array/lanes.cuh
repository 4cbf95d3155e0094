/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels share whose warps walk down a strip, and whose lanes have 16 or 24 bytes of each row side by side: how
 * these are loaded, and results stored, from any address on. Where windows see what lies outside of a row, a lane's
 * columns are put together of those that other lanes load: source_of() tells which.
 */
#pragma once

#include "strip.cuh"

/* A lane, which has WORDS words of a row; UNIT bytes of these are loaded and stored at once. TOGETHER: all rows begin
 * and end at multiples of UNIT bytes. */
template <int WORDS, int UNIT, bool TOGETHER> struct lane_of_strip {
    static constexpr int bytes = 4 * WORDS;

    struct raw_row {
        uint32_t word[WORDS + 1];
        unsigned shift; /* bits in front of the first byte */
    };

    const row_fold &fold;
    const int lane;
    const int32_t n;                  /* bytes of a row */
    const int32_t strip;              /* the strip's first byte of a row; below 0: outside */
    const int32_t start;              /* the first byte that the lane loads */
    const bool edge;                  /* that is not the one which windows see as the lane's first */
    const unsigned char *const plane; /* of row 0 */

    __device__ lane_of_strip(const row_fold &rows, const strip_place &p, int32_t row_bytes, int size)
        : fold(rows), lane(threadIdx.x % 32), n(row_bytes), strip((int32_t)p.first * size), start(start_of(lane)),
          edge(start != strip + lane * bytes), plane(p.plane + start) {}

    __device__ int32_t start_of(int of_lane) const {
        return max(0, min(strip + of_lane * bytes, n - bytes));
    }
    /* Which byte of what the strip's lanes load windows see as the lane's byte k, the first of an element of `size`;
     * -1: none. */
    __device__ int source_of(const gp_window_box &box, int size, int k) const {
        const int channels = box.channels;
        const int32_t at = (strip + lane * bytes + k) / size; /* without a rest */
        const int32_t pixel = at >= 0 ? at / channels : ~(~at / channels);
        const int64_t source = source_near(box.border, (int64_t)gp_window_x(&box)->n, pixel);
        const int32_t byte = ((int32_t)(source - pixel) * channels + at) * size, in = byte - strip,
                      of_lane = in / bytes;
        return source < 0 || in < 0 || of_lane > 31 ? -1 : of_lane * bytes + byte - start_of(of_lane);
    }
    __device__ raw_row fetch(const unsigned char *from, int32_t row) const {
        raw_row raw = {};
        if constexpr (TOGETHER) {
            strip_row<bytes, 1> all = {};
            load_all(&all, from, row);
#pragma unroll
            for (int k = 0; k < WORDS; k++)
                raw.word[k] = all.word[k];
            return raw;
        }
        const int before = (int)((uintptr_t)from % 4);
        const bool more = before > 0, ends = row + 1 == fold.n && start + bytes + 3 >= n;
        from -= before;
        raw.shift = 8 * (unsigned)before;
#pragma unroll
        for (int k = 0; k <= WORDS; k++)
            LOAD("u32", raw.word[k], from + 4 * k, k < WORDS || (more && !ends) ? row : -1);
        if (__builtin_expect(more && ends, 0)) /* behind it there may be nothing that can be read */
#pragma unroll 1
            for (int k = 0; k < before; k++)
                raw.word[WORDS] |= (uint32_t)from[bytes + k] << (8 * k);
        return raw;
    }
    /* Row i, as windows see it; there: whether there is one. */
    __device__ raw_row fetch(int32_t i, bool *there) const {
        const int32_t row = fold.row_at(i);
        *there = row >= 0;
        return fetch(plane + (uint64_t)(uint32_t)row * fold.in, row);
    }
    static __device__ uint32_t word_of(const raw_row &raw, int k) {
        return TOGETHER ? raw.word[k] : __funnelshift_r(raw.word[k], raw.word[k + 1], raw.shift);
    }

  private:
    /* Of the last UNIT bytes of the lane below and the lane's own behind them, those from number `left` on. DROPPED:
     * whole words that are left out. */
    template <int DROPPED> static __device__ void move(uint32_t (&w)[WORDS], unsigned left) {
        uint32_t all[WORDS + 1];
#pragma unroll
        for (int k = 0; k <= WORDS; k++) {
            const int own = k + DROPPED - UNIT / 4;
            all[k] = own < 0 ? __shfl_up_sync(GP_FULL_WARP, w[WORDS + own], 1) : w[own < 0 ? 0 : own];
        }
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            w[k] = __funnelshift_r(all[k], all[k + 1], left % 4 * 8);
    }

  public:
    /* Stores the lane's words to `to` and behind. The first byte is number `output` of a row of `outputs` bytes;
     * those with negative numbers, and those behind the last, are not stored. A lane stores from a multiple of UNIT
     * bytes on, and so some bytes of the lane below in place of its own last ones. */
    __device__ void store(unsigned char *to, int output, int outputs, const uint32_t (&words)[WORDS]) const {
        uint32_t w[WORDS];
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            w[k] = words[k];
        const unsigned behind = (unsigned)((uintptr_t)to % UNIT), left = UNIT - behind;
        if (behind != 0) {
            if (UNIT == 16 && left >= 8) {
                if (left & 4)
                    move<UNIT / 4 - 1>(w, left);
                else
                    move<UNIT / 8>(w, left);
            } else if (left & 4)
                move<1>(w, left);
            else
                move<0>(w, left);
        }
        to -= behind;
        output -= (int)behind;
        __builtin_assume(__isGlobal(to));
        const bool whole = output >= 0 && output + bytes <= outputs, some = output + bytes > 0 && output < outputs;
        if (whole) {
            if constexpr (UNIT == 16)
                *(uint4 *)to = make_uint4(w[0], w[1], w[2], w[3]);
            else
#pragma unroll
                for (int k = 0; k < WORDS; k += 2)
                    ((uint2 *)to)[k / 2] = make_uint2(w[k], w[k + 1]);
        }
        if (__any_sync(GP_FULL_WARP, some && !whole) && !whole)
#pragma unroll
            for (int k = 0; k < bytes; k++)
                if ((unsigned)(output + k) < (unsigned)outputs)
                    to[k] = (unsigned char)(w[k / 4] >> k % 4 * 8);
    }
};
