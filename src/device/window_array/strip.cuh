/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip: sums of ints at a cost that does not depend on the window. A block owns a strip of columns, channels
 * being columns too, and walks down it. A thread keeps the sum of what the window holds of each of its COLUMNS
 * neighbouring columns, and the sum of squares: a row enters, another leaves. A row of outputs takes prefix sums over
 * the strip, those of each channel for itself; a window is the difference of two. All of it is modulo a power of two
 * above what a window's sums can be.
 */
#ifndef GP_WINDOW_STRIP_CUH
#define GP_WINDOW_STRIP_CUH

#include "../../host/window_array/box.h"
#include "../../host/window_array/tiling.h"
#include "../gpu.h"
#include "../warp.cuh"

typedef unsigned __int128 uint128;

/* Where a block works; in shared memory. */
struct strip_place {
    const unsigned char *plane;         /* element 0 of the batch */
    unsigned char *to[GP_PASS_RESULTS]; /* the block's first output */
    uint64_t batch;
    int64_t y; /* rows of outputs */
    unsigned rows;
    int64_t first;  /* column of the input that the strip begins with, of all channels; may be negative */
    int64_t output; /* column of the first output, and how many there are */
    int outputs;
    unsigned skew; /* the first output's window begins so many columns behind `first` */
};

template <class CUT>
__device__ inline void find_place(const gp_window_box &box, const CUT &cut, unsigned each, unsigned channels,
                                  strip_place *p) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    const uint64_t strip = blockIdx.x % cut.strips, segment = blockIdx.x / cut.strips % cut.segments;
    uint64_t batch = blockIdx.x / cut.strips / cut.segments;
    const int64_t all = (int64_t)x->outputs * channels;
    p->plane = box.in;
    p->batch = batch;
    for (unsigned r = 0; r < box.results; r++)
        p->to[r] = (unsigned char *)box.to[r];
    for (unsigned axis = box.outer - (channels > 1 ? 1 : 0); axis-- > 0; batch /= box.axis[axis].n) {
        const int64_t i = (int64_t)(batch % box.axis[axis].n);
        p->plane += i * box.axis[axis].in;
        for (unsigned r = 0; r < box.results; r++)
            p->to[r] += i * box.result[r].stride[axis];
    }
    p->y = (int64_t)(segment * cut.rows);
    p->rows = (unsigned)((int64_t)y->outputs - p->y < cut.rows ? y->outputs - p->y : cut.rows);
    p->output = (int64_t)(strip * cut.cols);
    p->outputs = (int)(all - p->output < cut.cols ? all - p->output : cut.cols);
    const int64_t window = p->output - x->before * channels;
    p->skew = (unsigned)((window % each + each) % each);
    p->first = window - p->skew;
    for (unsigned r = 0; r < box.results; r++)
        p->to[r] +=
            p->y * box.result[r].stride[box.outer] + p->output / channels * box.result[r].stride[box.outer + 1];
}

/* ---- sums of the three widths ---- */

__device__ inline uint128 shuffle_up(uint128 x, int lanes) {
    return (uint128)__shfl_up_sync(GP_FULL_WARP, (uint64_t)(x >> 64), lanes) << 64 |
           __shfl_up_sync(GP_FULL_WARP, (uint64_t)x, lanes);
}

template <class T> __device__ inline T shuffle_up(T x, int lanes) {
    return __shfl_up_sync(GP_FULL_WARP, x, lanes);
}

template <class T> __device__ inline void add_from_below(T *x, int lanes) {
    const T below = shuffle_up(*x, lanes);
    *x += threadIdx.x % 32 >= lanes ? below : 0;
}

/* The machine tells lanes that have none below. */
__device__ inline void add_from_below(uint32_t *x, int lanes) {
    asm volatile("{ .reg .u32 below; .reg .pred there; shfl.sync.up.b32 below|there, %0, %1, 0, 0xffffffff; "
                 "@there add.u32 %0, %0, below; }"
                 : "+r"(*x)
                 : "r"(lanes));
}

__device__ inline uint128 shuffle_xor(uint128 x, int lanes) {
    return (uint128)__shfl_xor_sync(GP_FULL_WARP, (uint64_t)(x >> 64), lanes) << 64 |
           __shfl_xor_sync(GP_FULL_WARP, (uint64_t)x, lanes);
}

template <class T> __device__ inline T shuffle_xor(T x, int lanes) {
    return __shfl_xor_sync(GP_FULL_WARP, x, lanes);
}

template <class T> __device__ inline T warp_sum(T x) {
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 4)
        return __reduce_add_sync(GP_FULL_WARP, x);
    else
#endif
    {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            x += shuffle_xor(x, lanes);
        return x;
    }
}

template <class SUM, class SIGNED, class SQUARE, bool squares> struct strip_sums {
    typedef SIGNED sum_type;
    typedef SQUARE square_type;
    static constexpr bool wide = sizeof(SUM) > 4;
    static constexpr int bytes = squares ? sizeof(SUM) + sizeof(SQUARE) : sizeof(SUM); /* in shared memory */
    SUM sum;
    SQUARE square;

    __device__ void plus(const strip_sums &other) {
        sum += other.sum;
        if (squares)
            square += other.square;
    }
    __device__ void minus(const strip_sums &other) {
        sum -= other.sum;
        if (squares)
            square -= other.square;
    }
    /* An element of 32 bits at most, whose sign is extended, or of an unsigned type is not. */
    __device__ void slide(uint32_t in, uint32_t out, bool has_sign) {
        if (!wide) {
            sum += in - out;
            if (squares)
                square += (SQUARE)((in - out) * (in + out));
        } else {
            const int64_t a = has_sign ? (int64_t)(int32_t)in : in, b = has_sign ? (int64_t)(int32_t)out : out;
            sum += (SUM)(a - b);
            if (squares)
                square += (SQUARE)(uint64_t)(a * a) - (SQUARE)(uint64_t)(b * b);
        }
    }
    /* The sums of all lanes, in each. */
    __device__ strip_sums total() const {
        strip_sums all = {warp_sum(sum), 0};
        if (squares)
            all.square = warp_sum(square);
        return all;
    }
    /* The sums of all lanes up to this one. */
    __device__ strip_sums scanned() const {
        strip_sums all = *this;
#pragma unroll
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            add_from_below(&all.sum, lanes);
            if (squares)
                add_from_below(&all.square, lanes);
        }
        return all;
    }
};

typedef strip_sums<uint32_t, int32_t, uint32_t, false> linear_sums;
typedef strip_sums<uint32_t, int32_t, uint32_t, true> narrow_sums;
typedef strip_sums<uint64_t, int64_t, uint64_t, true> wide_sums;
typedef strip_sums<uint64_t, int64_t, uint128, true> widest_sums;

/* In shared memory. */
__device__ inline void put(void *kept, unsigned at, const linear_sums &s) {
    ((uint32_t *)kept)[at] = s.sum;
}

__device__ inline linear_sums get(const void *kept, unsigned at, linear_sums) {
    return {((const uint32_t *)kept)[at], 0};
}

__device__ inline void put(void *kept, unsigned at, const narrow_sums &s) {
    ((uint2 *)kept)[at] = make_uint2(s.sum, s.square);
}

__device__ inline narrow_sums get(const void *kept, unsigned at, narrow_sums) {
    const uint2 both = ((const uint2 *)kept)[at];
    return {both.x, both.y};
}

__device__ inline void put(void *kept, unsigned at, const wide_sums &s) {
    ((ulonglong2 *)kept)[at] = make_ulonglong2(s.sum, s.square);
}

__device__ inline wide_sums get(const void *kept, unsigned at, wide_sums) {
    const ulonglong2 both = ((const ulonglong2 *)kept)[at];
    return {both.x, both.y};
}

__device__ inline void put(void *kept, unsigned at, const widest_sums &s) {
    uint64_t *to = (uint64_t *)kept + 3 * at;
    to[0] = s.sum;
    to[1] = (uint64_t)s.square;
    to[2] = (uint64_t)(s.square >> 64);
}

__device__ inline widest_sums get(const void *kept, unsigned at, widest_sums) {
    const uint64_t *from = (const uint64_t *)kept + 3 * at;
    return {from[0], (uint128)from[2] << 64 | from[1]};
}

/* ---- rows of the input ---- */

/* gp_window_source() for what is a few lengths of the axis away, without divisions. */
__device__ inline int64_t source_near(unsigned border, int64_t n, int64_t i) {
    if (i >= 0 && i < n)
        return i;
    const int64_t period = gp_window_period(border, n);
#pragma unroll 1
    while (period != 0 && i < 0)
        i += period;
#pragma unroll 1
    while (period != 0 && i >= period)
        i -= period;
    if (i < n && period != 0)
        return i;
    if (border == GP_BORDER_REPLICATE || border == GP_BORDER_REFLECT_101)
        return period != 0 ? period - i : i < 0 ? 0 : n - 1;
    return border == GP_BORDER_REFLECT ? period - 1 - i : -1;
}

/* A thread's columns of a row, as they are loaded. */
template <int COLUMNS, int BYTES> struct strip_row {
    static constexpr int together = COLUMNS * BYTES % 16 == 0  ? 16
                                    : COLUMNS * BYTES % 8 == 0 ? 8
                                                               : 4; /* bytes at once */
    uint32_t word[COLUMNS * BYTES / 4];
};

/* Columns side by side and aligned. */
template <int COLUMNS, int BYTES>
__device__ inline strip_row<COLUMNS, BYTES> load_together(const unsigned char *from) {
    constexpr int words = strip_row<COLUMNS, BYTES>::together / 4;
    struct alignas(4 * words) vector {
        uint32_t word[words];
    };
    strip_row<COLUMNS, BYTES> raw;
#pragma unroll
    for (int i = 0; i < COLUMNS * BYTES / 4; i += words) {
        const vector v = ((const vector *)from)[i / words];
#pragma unroll
        for (int j = 0; j < words; j++)
            raw.word[i + j] = v.word[j];
    }
    return raw;
}

/*
 * Column k is number at[k * step] of the row's; -1: none, then it is that of `fill`. Loads of short elements are all
 * under way at once; those of long ones would need registers that the sums have.
 */
template <int COLUMNS, int BYTES>
__device__ inline strip_row<COLUMNS, BYTES> load_apart(const unsigned char *row, const int32_t *at, unsigned step,
                                                       int64_t stride, const strip_row<COLUMNS, BYTES> &fill = {}) {
    strip_row<COLUMNS, BYTES> raw = fill;
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) {
        const int32_t column = at[k * step];
        const unsigned char *from = row + (BYTES < 4 ? max(column, 0) : column) * stride;
        if (BYTES == 4 && column < 0)
            continue;
        const uint32_t x = BYTES == 1 ? *from : BYTES == 2 ? *(const uint16_t *)from : *(const uint32_t *)from;
        constexpr uint32_t all = ~0u >> (32 - 8 * BYTES);
        const int word = k * BYTES / 4, shift = k * BYTES % 4 * 8;
        raw.word[word] ^= column < 0 ? 0 : (x ^ (fill.word[word] >> shift & all)) << shift;
    }
    return raw;
}

/* Bytes by selector, whose bit 3 repeats the sign; __byte_perm() leaves that bit out. */
__device__ inline uint32_t permuted(uint32_t word, uint32_t selector) {
    uint32_t x;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(x) : "r"(word), "r"(selector));
    return x;
}

/* Column k, extended with its sign. */
template <int COLUMNS, int BYTES>
__device__ inline uint32_t element_of(const strip_row<COLUMNS, BYTES> &raw, int k, bool has_sign) {
    const uint32_t word = raw.word[k * BYTES / 4];
    if (BYTES == 1)
        return permuted(word, has_sign ? 0x8880 + k % 4 * 0x1111 : 0x4440 + k % 4);
    if (BYTES == 2)
        return permuted(word, k % 2 == 0 ? (has_sign ? 0x9910 : 0x4410) : (has_sign ? 0xbb32 : 0x4432));
    return word;
}

__device__ inline void store_bits(unsigned size, uint64_t bits, unsigned char *to) {
    if (size == 8)
        *(uint64_t *)to = bits;
    else if (size == 4)
        *(uint32_t *)to = (uint32_t)bits;
    else if (size == 2)
        *(uint16_t *)to = (uint16_t)bits;
    else
        *to = (uint8_t)bits;
}

/* Four outputs of a row from number `first` on, of 1, 2 or 4 bytes, as far as there are so many. */
template <int CHANNELS>
__device__ inline void store_four(unsigned char *line, unsigned first, int64_t pixel, int64_t side, bool together,
                                  int outputs, unsigned bytes, const uint32_t *raw) {
    if (together && (int)first + 4 <= outputs) {
        unsigned char *const to = line + first * bytes;
        if (bytes == 4)
            *(uint4 *)to = make_uint4(raw[0], raw[1], raw[2], raw[3]);
        else if (bytes == 2)
            *(uint2 *)to = make_uint2(__byte_perm(raw[0], raw[1], 0x5410), __byte_perm(raw[2], raw[3], 0x5410));
        else
            *(uint32_t *)to =
                __byte_perm(__byte_perm(raw[0], raw[1], 0x40), __byte_perm(raw[2], raw[3], 0x40), 0x5410);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if ((int)(first + k) < outputs)
            store_bits(bytes, raw[k], line + (first + k) / CHANNELS * pixel + (first + k) % CHANNELS * side);
}

#endif
