/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of window_rows: prefix sums of a block's pixels in shared memory, of each width, what a block holds, and
 * how it is loaded. */
#pragma once

#include "../../host/window/tiling.h"
#include "../gpu.h"
#include "sums.cuh"

#define THREADS GP_WINDOW_ROWS_THREADS /* a block */
#define LOADS 8                        /* that a thread has under way */
#define GROUP 4                        /* outputs that it has under way */
#define STEP 8                         /* pixels of a chunk that it has under way; 4 at its end */
/* Loads of 16 bytes that a thread has under way: as many as registers hold. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define VECTORS 3
#else
#define VECTORS 4
#endif

typedef narrow_sums<uint32_t, uint32_t> sums_32;
typedef narrow_sums<uint32_t, uint64_t> sums_32_64;

/* dividend / divisor, dividend * divisor < 2^30 */
__device__ __forceinline__ int32_t divide(int32_t dividend, uint32_t inverse) {
    return (int32_t)__umulhi((uint32_t)(2 * dividend + 1), inverse);
}

/* Prefixes: of the words' 8 bytes, of the halves 4. */
struct prefix_array {
    uint64_t *words;
    uint32_t *halves;
    __device__ __forceinline__ prefix_array from(int32_t first) const {
        return {words + first, halves + first};
    }
};

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const sums_32 &sums) {
    ((uint2 *)p.words)[at] = make_uint2(sums.sum, sums.square);
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const sums_32_64 &sums) {
    p.words[at] = sums.square;
    p.halves[at] = sums.sum;
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const wide_sum &sums) {
    p.words[at] = (uint64_t)sums.sum;
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const wide_square &sums) {
    ((uint2 *)p.words)[at] = make_uint2(sums.low, sums.mid);
    p.halves[at] = sums.high;
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, sums_32 *sums) {
    const uint2 both = ((const uint2 *)p.words)[at];
    *sums = {both.x, both.y};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, sums_32_64 *sums) {
    *sums = {p.halves[at], p.words[at]};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, wide_sum *sums) {
    *sums = {(int64_t)p.words[at]};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, wide_square *sums) {
    const uint2 words = ((const uint2 *)p.words)[at];
    *sums = {words.x, words.y, p.halves[at]};
}

/* The sums of pixels start .. end - 1. */
template <typename SUMS>
__device__ __forceinline__ SUMS sums_between(const prefix_array &starts, int32_t start, const prefix_array &ends,
                                             int32_t end) {
    SUMS sums, before;
    get_prefix(ends, end, &sums);
    get_prefix(starts, start, &before);
    sums.minus(before);
    return sums;
}

/* The sums of all threads before this one. */
template <typename SUMS> __device__ __forceinline__ SUMS sums_before(uint64_t *warps, const SUMS &own) {
    SUMS *of_warp = (SUMS *)warps, running = warp_inclusive(own);
    if (threadIdx.x % 32 == 31)
        of_warp[threadIdx.x / 32] = running;
    __syncthreads();
    running.minus(own);
#pragma unroll
    for (uint32_t warp = 0; warp < THREADS / 32 - 1; warp++)
        if (warp < threadIdx.x / 32)
            running.plus(of_warp[warp]);
    return running;
}

/* The problem as all blocks take it. Divisors stand as reciprocals: 2^31 / divisor + 1. */
struct rows_arguments {
    const int32_t *image;
    float *sum, *square; /* of output 0; may be NULL */
    int64_t rows;
    int64_t in_block, out_block; /* elements from one block's part to the next */
    gp_window_rows_tiles tiles;
    int32_t cols;
    int32_t width, skip, last;  /* outputs a row are counted as `width`, of which number skip .. last are stored */
    int32_t in_gap, out_gap;    /* between the last pixel or output counted of a row and the next one's first */
    int32_t before, after;      /* window of x: x - before .. x + after - 1; zero border: at most cols each */
    int32_t halo;               /* extended columns that are no pixels */
    int32_t direction, row_gap; /* windows' starts from one output to the next, and more than that a row */
    int32_t shift;              /* of the window of output 0 in the first extended row */
    int32_t outside;            /* columns beyond the row that its windows reach */
    int32_t step, left_base, right_base; /* column x at most a row beyond shows the one at base + step * x */
    int32_t period;                      /* columns after which the extended row repeats */
    uint32_t by_cols, by_width, by_outside;
    uint32_t counted; /* pixels that a window may count at most */
};

/* This block's part. */
struct block_rows {
    int32_t rows;
    int32_t skew; /* pixels before the first, to load 16 bytes */
    const int32_t *image;
    float *sum, *square;
    uint64_t *of_warp;     /* 16 bytes a warp */
    prefix_array prefixes; /* the halves hold the pixels before that; behind all prefixes one more a row */
    uint32_t *magnitudes;
};

__device__ __forceinline__ block_rows find_rows(const rows_arguments &a) {
    extern __shared__ __align__(16) unsigned char bytes[];
    block_rows b;
    b.rows = (int32_t)min((int64_t)a.tiles.rows, a.rows - (int64_t)blockIdx.x * a.tiles.rows);
    b.image = a.image + blockIdx.x * a.in_block;
    b.skew = a.tiles.vectors ? (int32_t)((uintptr_t)b.image / 4 & GP_WINDOW_ROWS_ALIGN) : 0;
    b.sum = a.sum + blockIdx.x * a.out_block;
    b.square = a.square + blockIdx.x * a.out_block;
    b.of_warp = (uint64_t *)bytes;
    b.magnitudes = (uint32_t *)(b.of_warp + 2 * (THREADS / 32));
    b.prefixes.words = (uint64_t *)(bytes + GP_WINDOW_ROWS_HEAD(THREADS));
    b.prefixes.halves = (uint32_t *)(b.prefixes.words + GP_WINDOW_ROWS_WORDS(THREADS, a.tiles.chunk, a.tiles.rows));
    return b;
}

/*
 * The rows' pixels to their places. Returns the magnitudes that this thread saw, as bits. Loads are under no
 * condition, for all of them to be under way: for those before or behind the block's pixels its first or last is
 * loaded. Each warp loads whole lines where rows lie one behind the other.
 */
__device__ __forceinline__ uint32_t load_pixels(const rows_arguments &a, const block_rows &b) {
    const int32_t pixels = b.rows * a.cols, early = a.in_gap == 0 ? (int32_t)((uintptr_t)b.image / 4 % 32) : 0;
    uint32_t magnitude = 0;
#pragma unroll 1
    for (int32_t first = (int32_t)threadIdx.x - early; first < pixels; first += LOADS * THREADS) {
        int32_t pixel[LOADS], to[LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const int32_t i = min(max(first + load * THREADS, 0), pixels - 1), row = divide(i, a.by_cols);
            pixel[load] = __ldg(b.image + (i + row * a.in_gap));
            to[load] = i + row * a.halo + a.tiles.left;
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            magnitude |= magnitude_of(pixel[load]);
            if ((uint32_t)(first + load * THREADS) < (uint32_t)pixels)
                b.prefixes.halves[to[load]] = (uint32_t)pixel[load];
        }
    }
    return magnitude;
}

/*
 * Of four pixels all but the first `left`, which lie in one row, to the next. All four are put to the one as well:
 * what that row is extended by is at least as long, and put there later.
 */
__device__ __forceinline__ void put_across(const rows_arguments &a, uint32_t *to, int32_t left, const int4 &four) {
    uint32_t *const next = to + a.halo;
    if (left <= 1)
        next[1] = (uint32_t)four.y;
    if (left <= 2)
        next[2] = (uint32_t)four.z;
    next[3] = (uint32_t)four.w;
}

/* Four pixels at a time, after up to three and before up to three single ones. ACROSS: four may lie in two rows. */
template <bool ACROSS>
__device__ __forceinline__ uint32_t load_vectors(const rows_arguments &a, const block_rows &b) {
    const int32_t pixels = b.rows * a.cols, head = min(-b.skew & GP_WINDOW_ROWS_ALIGN, pixels);
    const int32_t fours = (pixels - head) / 4, tail = head + 4 * fours, before = a.tiles.left + b.skew;
    uint32_t magnitude = 0;
#pragma unroll 1
    for (int32_t group = 0; group < fours; group += VECTORS * THREADS) {
        const int32_t first = group + (int32_t)threadIdx.x;
        int4 four[VECTORS];
        uint32_t to[VECTORS]; /* ACROSS: and from 2^16 on how many of the four lie in this row */
#pragma unroll
        for (int load = 0; load < VECTORS; load++) {
            const int32_t i = head + 4 * min(first + load * THREADS, fours - 1), row = divide(i, a.by_cols);
            four[load] = __ldg((const int4 *)(b.image + (i + row * a.in_gap)));
            to[load] = (uint32_t)(i + row * a.halo + before);
            if (ACROSS)
                to[load] += (uint32_t)min((row + 1) * a.cols - i, 4) << 16;
        }
#pragma unroll
        for (int load = 0; load < VECTORS; load++) {
            if (first + load * THREADS >= fours)
                continue;
            uint32_t *const place = b.prefixes.halves + (ACROSS ? to[load] % 65536 : to[load]);
            *(int4 *)place = four[load];
            if (ACROSS && to[load] < 4 << 16)
                put_across(a, place, (int32_t)(to[load] >> 16), four[load]);
        }
#pragma unroll
        for (int load = 0; load < VECTORS; load++)
            magnitude |= magnitude_of(four[load]);
    }
    /* of the block's first row, and of its last */
    const int32_t single = (int32_t)threadIdx.x < head ? (int32_t)threadIdx.x : tail + (int32_t)threadIdx.x - head;
    if (single < head || (single >= tail && single < pixels)) {
        const int32_t pixel = __ldg(b.image + single), row = single < head ? 0 : b.rows - 1;
        b.prefixes.halves[single + row * a.halo + before] = (uint32_t)pixel;
        magnitude |= magnitude_of(pixel);
    }
    return magnitude;
}

/* The rows' pixels to their places, in the widest loads that the tiling allows. Returns what load_pixels()
 * does. */
__device__ __forceinline__ uint32_t load_rows(const rows_arguments &a, const block_rows &b) {
    if (!a.tiles.vectors)
        return load_pixels(a, b);
    return a.tiles.across ? load_vectors<true>(a, b) : load_vectors<false>(a, b);
}

/* What lies beyond the rows, from what is loaded. */
template <rows_kind KIND> __device__ __forceinline__ void extend_rows(const rows_arguments &a, const block_rows &b) {
    const int32_t pixels = b.rows * a.outside;
#pragma unroll 1
    for (int32_t i = (int32_t)threadIdx.x; i < pixels; i += THREADS) {
        const int32_t row = divide(i, a.by_outside), at = i - row * a.outside - a.tiles.under;
        const int32_t x = at < 0 ? at : at + a.cols;
        int32_t from = (at < 0 ? a.left_base : a.right_base) + a.step * x;
        if (KIND == ROWS_PERIODIC) {
            from = x + (x < 0 ? a.period : x >= a.period ? -a.period : 0);
            from = from < a.cols ? from : a.right_base - from;
        }
        uint32_t *pixel = b.prefixes.halves + row * a.tiles.extended + a.tiles.left + b.skew;
        pixel[x] = pixel[from];
    }
}
