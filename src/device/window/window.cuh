/* SPDX-License-Identifier: Apache-2.0 */
/* What the window kernels share: borders as index maps, exact accumulators, one rounding to float. */
#ifndef GP_WINDOW_CUH
#define GP_WINDOW_CUH

#include "../../host/window/tiling.h"
#include "../gpu.h"

/* A window problem as kernels take it. */
struct window_arguments {
    const int32_t *image;
    float *sum;    /* may be NULL */
    float *square; /* may be NULL */
    int64_t rows, cols, col_first, col_end;
    int64_t in_pitch, out_pitch;
    uint64_t window, before;
    gp_border border;
};

static inline window_arguments window_arguments_of(const gp_problem *p) {
    return {(const int32_t *)p->in,
            p->sum,
            p->square,
            (int64_t)p->rows,
            (int64_t)p->cols,
            (int64_t)p->col_first,
            (int64_t)p->col_end,
            (int64_t)p->in_pitch,
            (int64_t)p->out_pitch,
            p->window,
            p->window_before,
            p->border};
}

/* A launch of a kernel that takes these arguments and the tiles, or the arguments alone. */
inline gp_status launch_windows(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const void *kernel) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_tiles tiles;
    memcpy(&tiles, plan->tiling.t, sizeof tiles);
    void *list[] = {&arguments, &tiles};
    return gp_gpu_launch(context, plan, kernel, list);
}

/* Elements after which the extended row repeats; 0: it does not. INT is wide enough for twice a row. */
template <typename INT> __device__ __forceinline__ INT border_period(gp_border border, INT cols) {
    switch (border) {
    case GP_BORDER_WRAP:
        return cols;
    case GP_BORDER_REFLECT:
        return 2 * cols;
    case GP_BORDER_REFLECT_101:
        return cols > 1 ? 2 * cols - 2 : 1;
    default:
        return 0;
    }
}

/* The column that position x of the extended row shows, x anywhere; -1: zero. */
template <typename INT> __device__ __forceinline__ INT border_column(gp_border border, INT x, INT cols) {
    if (x >= 0 && x < cols)
        return x;
    const INT period = border_period(border, cols);
    if (period == 0)
        return border != GP_BORDER_REPLICATE ? -1 : x < 0 ? 0 : cols - 1;
    if (x < -period || x >= period) /* a division takes a hundred instructions: only for far positions */
        x %= period;
    if (x < 0)
        x += period;
    if (x < cols)
        return x;
    return border == GP_BORDER_REFLECT ? period - 1 - x : period - x;
}

__device__ inline int32_t border_pixel(const window_arguments &a, const int32_t *row, int64_t x) {
    const int64_t column = border_column(a.border, x, a.cols);
    return column < 0 ? 0 : row[column];
}

/* The bits that the magnitude of a pixel has. */
__device__ __forceinline__ uint32_t magnitude_of(int32_t pixel) {
    return (uint32_t)(pixel ^ pixel >> 31);
}

__device__ __forceinline__ uint32_t magnitude_of(const int4 &four) {
    return magnitude_of(four.x) | magnitude_of(four.y) | magnitude_of(four.z) | magnitude_of(four.w);
}

/* An unsigned number of high * 2^32 + low, low below 2^64, rounded once to float (nearest, ties to even). */
__device__ __forceinline__ float round_split(uint64_t low, uint64_t high) {
    high += low >> 32;
    const uint32_t rest = (uint32_t)low;
    /* 33 bits or more above `rest`: float keeps 24, so `rest` matters only as "not zero", far below the rounding bit
     */
    const bool is_long = high >> 32 != 0;
    const uint64_t kept = is_long ? high | (rest != 0) : high << 32 | rest;
    return __ull2float_rn(kept) * (is_long ? 4294967296.0f : 1.0f);
}

/* The same for 128 bits. */
__device__ inline float round_u128(unsigned __int128 value) {
    const uint64_t top = (uint64_t)(value >> 64), bottom = (uint64_t)value;
    if (top == 0)
        return __ull2float_rn(bottom);
    const int shift = __clzll((long long)top);
    const uint64_t leading = shift == 0 ? top : top << shift | bottom >> (64 - shift);
    const bool rest = (bottom << shift) != 0;
    return ldexpf(__ull2float_rn(leading | rest), 64 - shift);
}

__device__ inline float round_i128(__int128 value) {
    return value < 0 ? -round_u128((unsigned __int128)-value) : round_u128((unsigned __int128)value);
}

/*
 * Exact sum and sum of squares for up to 2^32 pixels of any value: the square of an int32 is at most 2^62, its two
 * 32-bit halves are added up apart.
 */
struct wide_sums {
    int64_t sum;
    uint64_t low, high;
    __device__ __forceinline__ void add(int32_t pixel) {
        const uint64_t square = (uint64_t)((int64_t)pixel * pixel);
        sum += pixel;
        low += (uint32_t)square;
        high += square >> 32;
    }
    __device__ __forceinline__ float sum_float() const {
        return __ll2float_rn(sum);
    }
    __device__ __forceinline__ float square_float() const {
        return round_split(low, high);
    }
};

__device__ __forceinline__ void store_outputs(const window_arguments &a, int64_t row, int64_t x, float sum,
                                              float square) {
    const int64_t at = row * a.out_pitch + x;
    if (a.sum != NULL)
        a.sum[at] = sum;
    if (a.square != NULL)
        a.square[at] = square;
}

#endif
