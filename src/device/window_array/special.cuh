/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of windows that see NaNs or infinities, at a cost that hardly depends on the window. A block takes a tile
 * of outputs, and keeps in shared memory three maps of what its windows see, with a bit for each element: one map of
 * NaNs, and one for each infinity. Each bit is combined with its neighbours, of which each step reaches twice as
 * many, until it tells whether a window that begins there sees one. A step does 32 elements at once.
 */
#pragma once

#include "../../host/window_array/one.h"
#include "../../host/window_array/tiling.h"
#include "strip.cuh"

/* The maps. */
enum { SPECIAL_NAN, SPECIAL_PLUS, SPECIAL_MINUS, SPECIALS };

static_assert(SPECIALS == GP_SPECIAL_MAPS, "as planned");

static __device__ uint64_t special_bits(unsigned op, unsigned type, bool nan, bool plus, bool minus) {
    const bool squares = op == GP_REDUCE_SUM_SQUARES;
    const uint32_t high = op >= GP_REDUCE_VARIANCE || nan || (plus && minus && !squares) ? 0x7ff80000
                          : plus || squares                                              ? 0x7ff00000
                                                                                         : 0xfff00000;
    return type == GP_F64 ? (uint64_t)high << 32 : (high & 0x80000000) | (high & 0x80000) << 3 | 0x7f800000;
}

/* A tile of a box: of its outputs, and what their windows see. */
struct special_tile {
    unsigned rows, words, columns; /* of the maps; words: of a row, of which so many columns are seen */
    int64_t y, x;                  /* its first output */
    uint64_t batch;
    const unsigned char *in;          /* element 0 */
    int64_t row, column;              /* the first that is seen */
    int64_t high, wide, down, across; /* elements of the axes, bytes from one to the next */
    unsigned border;
};

static __device__ special_tile special_tile_of(const gp_window_box &box, const gp_special_cut &cut, uint64_t number) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    const uint64_t across = (x->outputs + cut.cols - 1) / cut.cols, down = (y->outputs + cut.rows - 1) / cut.rows;
    special_tile t = {};
    t.rows = (unsigned)gp_special_rows(&cut, y);
    t.words = (unsigned)gp_special_words(&cut, x);
    t.columns = cut.cols + (unsigned)x->window - 1;
    t.batch = number / across / down;
    t.in = box.in;
    t.x = (int64_t)(number % across) * cut.cols;
    t.y = (int64_t)(number / across % down) * cut.rows;
    t.row = t.y - y->before;
    t.column = t.x - x->before;
    t.high = (int64_t)y->n;
    t.wide = (int64_t)x->n;
    t.down = y->in;
    t.across = x->in;
    t.border = box.border;
    uint64_t batch = t.batch;
    for (unsigned axis = box.outer; axis-- > 0; batch /= box.axis[axis].n)
        t.in += (int64_t)(batch % box.axis[axis].n) * box.axis[axis].in;
    return t;
}

/* An element, as a float if it is special. */
template <int BYTES> static __device__ uint32_t special_load(const unsigned char *from) {
    if (BYTES == 4)
        return *(const uint32_t *)from;
    const uint32_t half = *(const uint16_t *)from;
    return (half & 0x8000) << 16 | ((half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0) | (half & 0x3ff) << 13;
}

/* The elements of a lane in AHEAD words of a row; 0: there is none. */
template <int BYTES, int AHEAD>
static __device__ void special_load(const special_tile &t, unsigned row, unsigned word, uint32_t (&raw)[AHEAD]) {
    const unsigned own = word * 32 + threadIdx.x % 32;
    const int64_t i = source_near(t.border, t.high, t.row + row);
    const unsigned char *const line = t.in + i * t.down;
    if (i >= 0 && t.column >= 0 && t.column + t.columns <= t.wide) {
        const unsigned char *from = line + (t.column + own) * t.across;
#pragma unroll
        for (int k = 0; k < AHEAD; k++, from += 32 * t.across)
            raw[k] = own + 32 * k < t.columns ? special_load<BYTES>(from) : 0;
    } else
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int64_t j = row_near(t.border, t.wide, t.column + own + 32 * k);
            raw[k] = i >= 0 && j >= 0 && own + 32 * k < t.columns ? special_load<BYTES>(line + j * t.across) : 0;
        }
}

/* Fills the maps. Returns which have bits, to all threads. */
template <int BYTES> static __device__ unsigned special_fill(const special_tile &t, uint32_t *bits) {
    constexpr int ahead = 8;
    const unsigned lane = threadIdx.x % 32, map = t.rows * t.words, groups = (t.words + ahead - 1) / ahead;
    uint32_t any[SPECIALS] = {};
    for (unsigned group = threadIdx.x / 32; group < t.rows * groups; group += blockDim.x / 32) {
        const unsigned row = group / groups, word = group % groups * ahead;
        uint32_t raw[ahead], most = 0, own[SPECIALS] = {}; /* own: the lane's word of each map */
        special_load<BYTES>(t, row, word, raw);
#pragma unroll
        for (const uint32_t x : raw)
            most = max(most, x & 0x7fffffff);
        if (__any_sync(GP_FULL_WARP, most >= 0x7f800000))
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                const uint32_t nan = __ballot_sync(GP_FULL_WARP, (raw[k] & 0x7fffffff) > 0x7f800000),
                               plus = __ballot_sync(GP_FULL_WARP, raw[k] == 0x7f800000),
                               minus = __ballot_sync(GP_FULL_WARP, raw[k] == 0xff800000);
                own[SPECIAL_NAN] = lane == k ? nan : own[SPECIAL_NAN];
                own[SPECIAL_PLUS] = lane == k ? plus : own[SPECIAL_PLUS];
                own[SPECIAL_MINUS] = lane == k ? minus : own[SPECIAL_MINUS];
            }
#pragma unroll
        for (unsigned m = 0; m < SPECIALS; m++) {
            any[m] |= own[m];
            if (lane < ahead && word + lane < t.words)
                bits[m * map + row * t.words + word + lane] = own[m];
        }
    }
    unsigned maps = 0;
#pragma unroll
    for (unsigned m = 0; m < SPECIALS; m++)
        maps |= (unsigned)(__syncthreads_or(any[m] != 0) != 0) << m;
    return maps;
}

/* Ors the bits so many rows down, and columns across, to each of a map. What is read is behind what was written. */
static __device__ void special_or(const special_tile &t, uint32_t *bits, unsigned down, unsigned across) {
    const unsigned past = down * t.words + across / 32, end = (t.rows - down) * t.words;
    unsigned column = threadIdx.x % t.words + across / 32;
    for (unsigned first = 0; first < end; first += blockDim.x) {
        const unsigned word = first + threadIdx.x;
        const uint32_t low = word < end && column < t.words ? bits[word + past] : 0,
                       high = word < end && column + 1 < t.words ? bits[word + past + 1] : 0;
        __syncthreads();
        if (word < end)
            bits[word] |= __funnelshift_r(low, high, across % 32);
        column += blockDim.x % t.words;
        column -= column >= t.words + across / 32 ? t.words : 0;
    }
    __syncthreads();
}

/* From what elements are to what windows see that begin with them. */
static __device__ void special_spread(const special_tile &t, uint32_t *bits, unsigned high, unsigned wide) {
    for (unsigned have = 1, more; have < wide; have += more)
        special_or(t, bits, 0, more = min(have, wide - have));
    for (unsigned have = 1, more; have < high; have += more)
        special_or(t, bits, more = min(have, high - have), 0);
}

static __device__ void special_write(const gp_window_box &box, const gp_pass &pass, const gp_special_cut &cut,
                                     const special_tile &t, const uint32_t *bits, unsigned maps, unsigned r) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    const gp_pass_result result = box.result[r];
    const int64_t down = result.stride[box.outer], over = result.stride[box.outer + 1];
    unsigned char *const to = gp_pass_address(&pass, r, t.batch * y->outputs * x->outputs) + t.y * down + t.x * over;
    const unsigned map = t.rows * t.words, across = cut.cols / 32, lane = threadIdx.x % 32,
                   high = (unsigned)min((int64_t)cut.rows, (int64_t)y->outputs - t.y),
                   wide = (unsigned)min((int64_t)cut.cols, (int64_t)x->outputs - t.x);
    for (unsigned word = threadIdx.x / 32; word < high * across; word += blockDim.x / 32) {
        const unsigned row = word / across, column = word % across * 32 + lane, at = row * t.words + word % across;
        bool sees[SPECIALS];
#pragma unroll
        for (unsigned m = 0; m < SPECIALS; m++)
            sees[m] = (maps >> m & 1) && (bits[m * map + at] >> lane & 1);
        if (column < wide && (sees[SPECIAL_NAN] || sees[SPECIAL_PLUS] || sees[SPECIAL_MINUS]))
            gp_result_store(
                result.type,
                special_bits(result.op, result.type, sees[SPECIAL_NAN], sees[SPECIAL_PLUS], sees[SPECIAL_MINUS]),
                to + row * down + column * over);
    }
}

/* All outputs whose windows see a NaN or an infinity. */
static __device__ __noinline__ void write_specials(const gp_window_box &box, const gp_pass &pass,
                                                   const gp_special_cut &cut, uint32_t *bits) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    const uint64_t tiles = (x->outputs + cut.cols - 1) / cut.cols * ((y->outputs + cut.rows - 1) / cut.rows) *
                           (box.outputs / x->outputs / y->outputs);
    for (uint64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        const special_tile t = special_tile_of(box, cut, number);
        const unsigned maps = box.type == GP_F32 ? special_fill<4>(t, bits) : special_fill<2>(t, bits);
        for (unsigned m = 0; m < SPECIALS; m++)
            if (maps >> m & 1)
                special_spread(t, bits + m * t.rows * t.words, (unsigned)y->window, (unsigned)x->window);
        for (unsigned r = 0; r < box.results && maps != 0; r++)
            special_write(box, pass, cut, t, bits, maps, r);
        __syncthreads(); /* all are done with the maps */
    }
}
