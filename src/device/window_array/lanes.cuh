/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels share whose warps walk down a strip, and whose lanes have 16 or 24 bytes of each row side by side: how
 * these are loaded, and results stored, from any address on. Where windows see what lies outside of a row, a lane's
 * columns are put together of those that other lanes load: source_of() tells which.
 */
#pragma once

#include "strip.cuh"

/* How rows lie: all begin and end at multiples of what is loaded at once; anywhere; or narrow ones, anywhere, of
 * several pictures side by side, each with lanes of its own. */
enum rows_lie { ROWS_TOGETHER, ROWS_ANYWHERE, ROWS_NARROW };

/* A lane, which has WORDS words of a row; UNIT bytes of these are loaded and stored at once. */
template <int WORDS, int UNIT, rows_lie LIE> struct lane_of_strip {
    static constexpr int bytes = 4 * WORDS;
    static constexpr bool TOGETHER = LIE == ROWS_TOGETHER, NARROW = LIE == ROWS_NARROW;

    struct raw_row {
        uint32_t word[WORDS + 1];
        unsigned shift; /* bits in front of the first byte */
    };

    const row_fold &fold;
    const int lane;
    const int lanes;                  /* of a picture */
    const int picture;                /* of those that are side by side */
    const int place;                  /* of the lane, among its picture's */
    const int32_t n;                  /* bytes of a row */
    const int32_t strip;              /* the strip's first byte of a row; below 0: outside */
    const int32_t start;              /* the first byte that the lane loads */
    const bool edge;                  /* that is not the one which windows see as the lane's first */
    const int32_t above;              /* rows from the strip's first to the lane's */
    const unsigned char *const plane; /* of row 0 */

    __device__ lane_of_strip(const row_fold &rows, const gp_strip_cut &cut, const strip_place &p, int32_t row_bytes,
                             int size)
        : fold(rows), lane(threadIdx.x % 32), lanes(NARROW ? (int)cut.pack.span * size / bytes : 32),
          picture(NARROW ? min(lane / lanes, p.pictures - 1) : 0), place(NARROW ? lane % lanes : lane), n(row_bytes),
          strip((int32_t)p.first * size), start(start_of(place)), edge(start != strip + place * bytes),
          above(NARROW ? rows_above(cut, p, picture) : 0),
          plane(p.plane + start + (NARROW ? (int64_t)picture * p.picture_units * size : 0)) {}

    /* Where the strip's first row has byte `first` of the lane's picture, of result r. */
    __device__ unsigned char *output_of(const gp_window_box &box, const gp_strip_cut &cut, const strip_place &p,
                                        unsigned r, int first) const {
        return p.to[r] + first + (NARROW ? bytes_to(box, cut, p, r, {picture, 0}, box.channels) : 0);
    }
    /* Bytes of a row of outputs; 0 of a lane that has no picture. */
    __device__ int outputs_of(const strip_place &p, int size) const {
        return NARROW && lane / lanes >= p.pictures ? 0 : p.cols * size;
    }

    __device__ int32_t start_of(int of_lane) const {
        return max(0, min(strip + of_lane * bytes, n - bytes));
    }
    /* Which byte of what the strip's lanes load windows see as the lane's byte k, the first of an element of `size`;
     * -1: none. */
    __device__ int source_of(const gp_window_box &box, int size, int k) const {
        const int channels = box.channels;
        const int32_t at = (strip + place * bytes + k) / size; /* without a rest */
        const int32_t pixel = at >= 0 ? at / channels : ~(~at / channels);
        const int64_t source = source_near(box.border, (int64_t)gp_window_x(&box)->n, pixel);
        const int32_t byte = ((int32_t)(source - pixel) * channels + at) * size, in = byte - strip,
                      of_lane = in / bytes, loads = lane - place + of_lane;
        return source < 0 || in < 0 || loads > 31 ? -1 : loads * bytes + byte - start_of(of_lane);
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
        const int32_t row = fold.row_at(i + above);
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

    /* Words are stored as such, but for those in which the row begins or ends; rows of whole words have none. */
    template <bool WHOLE>
    __device__ void store_narrow(unsigned char *to, int output, int outputs, const uint32_t (&words)[WORDS]) const {
        const unsigned behind = WHOLE ? 0 : (unsigned)((uintptr_t)to % 4);
        uint32_t w[WORDS + 1];
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            w[k] = words[k];
        if (!WHOLE) {
            const uint32_t below = __shfl_up_sync(GP_FULL_WARP, w[WORDS - 1], 1);
            w[WORDS] = behind > 0 && place + 1 == lanes ? w[WORDS - 1] >> (32 - 8 * behind) : 0;
            if (behind > 0)
#pragma unroll
                for (int k = WORDS - 1; k >= 0; k--)
                    w[k] = __funnelshift_r(k > 0 ? w[k - 1] : below, w[k], 32 - 8 * behind);
            to -= behind;
            output -= (int)behind;
        }
        __builtin_assume(__isGlobal(to));
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            if (output + 4 * k >= 0 && output + 4 * k + 4 <= outputs)
                ((uint32_t *)to)[k] = w[k];
        if (WHOLE)
            return;
        const int left = outputs - output, end = left / 4;
        uint32_t last = w[0];
#pragma unroll
        for (int k = 1; k <= WORDS; k++)
            last = end == k ? w[k] : last;
        const bool ends = left > 0 && left % 4 != 0 && (end < WORDS || (end == WORDS && place + 1 == lanes));
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (output < 0 && output + k + 1 >= 0 && output + k + 1 < outputs)
                to[k + 1] = (unsigned char)(w[0] >> 8 * (k + 1));
            if (ends && k < left % 4 && output + 4 * end >= 0)
                to[4 * end + k] = (unsigned char)(last >> 8 * k);
        }
    }

    /* A lane stores from a multiple of UNIT bytes on, and so some bytes of the lane below in place of its own last
     * ones. */
    __device__ void store_wide(unsigned char *to, int output, int outputs, const uint32_t (&words)[WORDS]) const {
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

  public:
    /* Stores the lane's words to `to` and behind. The first byte is number `output` of a row of `outputs` bytes;
     * those with negative numbers, and those behind the last, are not stored. WHOLE: all words are elements. */
    template <bool WHOLE>
    __device__ void store(unsigned char *to, int output, int outputs, const uint32_t (&words)[WORDS]) const {
        if constexpr (NARROW)
            store_narrow<WHOLE>(to, output, outputs, words);
        else
            store_wide(to, output, outputs, words);
    }
};
