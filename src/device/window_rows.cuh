/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of window_rows: what a prefix may count, how a window that leaves its row is made of prefixes, where an
 * output lies.
 */
#ifndef GP_WINDOW_ROWS_CUH
#define GP_WINDOW_ROWS_CUH

#include "window_rows.h"
#include "window_sums.cuh"

#define CHUNK GP_WINDOW_ROWS_CHUNK

/* The problem as all blocks take it. Divisors stand as reciprocals: 2^31 / divisor + 1. */
struct rows_arguments {
    window_arguments window;
    int32_t cols, first, width; /* columns first .. first + width - 1 are stored */
    int32_t before, after;      /* window of x: x - before .. x + after - 1, each at most cols + 1 */
    uint32_t rows, inverse;     /* rows a block; reciprocal of cols */
    uint32_t counted;           /* pixels that a window may count at most */
    bool flat, vectors;         /* the image has no padding; its rows start at multiples of 16 bytes */
    bool replicate, reflect;    /* the border; else WRAP */
    bool ends;                  /* border columns look at the row's first or last pixel */
    int32_t edges, edges_left;  /* border columns, those on the left; edges 0: no table of them */
    int32_t edge_before, edge_after, period, turns, apart; /* apart: REFLECT_101 leaves the outermost pixel out */
};

/* dividend / divisor, dividend * divisor < 2^30 */
__device__ __forceinline__ int32_t divide(int32_t dividend, uint32_t inverse) {
    return (int32_t)__umulhi((uint32_t)(2 * dividend + 1), inverse);
}

/*
 * sum + pixel * pixel in one instruction, which leaves the compiler no square to keep: with 17 of them from one pass
 * over the pixels to the next it ran out of registers.
 */
__device__ __forceinline__ void add_square(uint32_t &sum, int32_t pixel) {
    asm volatile("mad.lo.s32 %0, %1, %1, %0;" : "+r"(sum) : "r"(pixel));
}

__device__ __forceinline__ void add_square(uint64_t &sum, int32_t pixel) {
    asm volatile("mad.wide.s32 %0, %1, %1, %0;" : "+l"(sum) : "r"(pixel));
}

/* Sum and sum of squares, each modulo 2^32. */
struct both_sums {
    uint32_t sum, square;
    static __device__ __forceinline__ both_sums zero() {
        return {0, 0};
    }
    __device__ __forceinline__ void add(int32_t pixel) {
        sum += (uint32_t)pixel;
        add_square(square, pixel);
    }
    __device__ __forceinline__ both_sums operator+(const both_sums &other) const {
        return {sum + other.sum, square + other.square};
    }
    __device__ __forceinline__ both_sums operator-(const both_sums &other) const {
        return {sum - other.sum, square - other.square};
    }
    __device__ __forceinline__ both_sums operator*(int32_t times) const {
        return {sum * (uint32_t)times, square * (uint32_t)times};
    }
    __device__ __forceinline__ both_sums shuffle_up(int lanes) const {
        return {__shfl_up_sync(GP_FULL_WARP, sum, lanes), __shfl_up_sync(GP_FULL_WARP, square, lanes)};
    }
};

enum counted { COUNT_PIXELS, COUNT_SQUARES, COUNT_LOW_HALVES, COUNT_HIGH_HALVES };

/* One thing of a pixel, modulo 2^32 or 2^64: itself, its square, or one half of its square. */
template <typename WORD, counted WHAT> struct one_sum {
    WORD value;
    static __device__ __forceinline__ one_sum zero() {
        return {0};
    }
    __device__ __forceinline__ void add(int32_t pixel) {
        if (WHAT == COUNT_PIXELS)
            value += (WORD)(int64_t)pixel;
        else if (WHAT == COUNT_SQUARES)
            add_square(value, pixel);
        else
            value += WHAT == COUNT_LOW_HALVES ? (uint32_t)pixel * (uint32_t)pixel : (uint32_t)__mulhi(pixel, pixel);
    }
    __device__ __forceinline__ one_sum operator+(const one_sum &other) const {
        return {value + other.value};
    }
    __device__ __forceinline__ one_sum operator-(const one_sum &other) const {
        return {value - other.value};
    }
    __device__ __forceinline__ one_sum operator*(int32_t times) const {
        return {value * (WORD)(int64_t)times};
    }
    __device__ __forceinline__ one_sum shuffle_up(int lanes) const {
        return {__shfl_up_sync(GP_FULL_WARP, value, lanes)};
    }
};

/*
 * The window of a border column as a sum of its row's prefixes: end and start of the window, mirrored or turned back
 * into the row, with their signs; and so many times the whole row, the row but for its last pixel, its first pixel.
 * What is counted from the row's start falls out, or is taken off by the prefix there.
 */
struct __align__(16) row_edge {
    uint32_t places; /* start, end (13 bits each), start is added, end is taken off */
    int32_t whole, inner, start;

    static __device__ __forceinline__ row_edge of(const rows_arguments &a, int32_t x) {
        int32_t s = x - a.edge_before, e = x + a.edge_after;
        if (a.replicate) {
            const int32_t over = max(e - a.cols, 0), under = max(-s, 0);
            return {(uint32_t)(max(s, 0) | min(e, a.cols) << 13), over, -over, under};
        }
        int32_t turns = a.turns, mirrors = 0;
        uint32_t signs = 0;
        if (s < 0) {
            s += a.period;
            turns++;
        }
        if (e > a.period) {
            e -= a.period;
            turns++;
        }
        if (s > a.cols) {
            s = 2 * a.cols - a.apart - s;
            signs |= 1u << 26;
            mirrors--;
        }
        if (e > a.cols) {
            e = 2 * a.cols - a.apart - e;
            signs |= 1u << 27;
            mirrors++;
        }
        const uint32_t at = (uint32_t)(s | e << 13) | signs;
        if (a.apart) /* a turn counts whole + inner - first pixel, a mirror image whole + inner */
            return {at, turns + mirrors, turns + mirrors, -turns};
        return {at, a.reflect ? 2 * (turns + mirrors) : turns, 0, 0};
    }
    template <typename P> __device__ __forceinline__ P sum(const rows_arguments &a, const P *row) const {
        const int32_t of_start = places & 1u << 26 ? 1 : -1, of_end = places & 1u << 27 ? -1 : 1;
        const P *last = row + a.cols;
        P sum = row[places >> 13 & 8191] * of_end + row[places & 8191] * of_start + last[0] * whole +
                row[0] * -(of_start + of_end + whole + inner + start);
        if (a.ends)
            sum = sum + last[-1] * inner + row[1] * start;
        return sum;
    }
};

/* The window of column x of the row whose prefixes start at `row`. */
template <bool EDGES, typename P>
__device__ __forceinline__ P window_sum(const rows_arguments &a, const row_edge *table, const P *row, int32_t x) {
    const int32_t start = x - a.before, end = x + a.after;
    if (!EDGES)
        return row[min(end, a.cols)] - row[max(start, 0)];
    if (start >= 0 && end <= a.cols)
        return row[end] - row[start];
    if (a.edges == 0)
        return row_edge::of(a, x).sum(a, row);
    return table[x < a.edges_left ? x : x - a.cols + a.edges].sum(a, row);
}

#endif
