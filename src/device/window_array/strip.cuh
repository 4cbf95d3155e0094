/* SPDX-License-Identifier: Apache-2.0 */
/* Where strips of window_strip lie, how their rows are loaded and outputs stored. */
#pragma once

#include "../../host/window_array/box.h"
#include "../../host/window_array/tiling.h"
#include "../gpu.h"
#include "sums.cuh"

/* Where a strip lies; in shared memory. */
struct strip_place {
    const unsigned char *plane;         /* element 0 of the batch */
    unsigned char *to[GP_PASS_RESULTS]; /* the strip's first output */
    uint64_t batch;
    int64_t y; /* rows of outputs */
    unsigned rows;
    int64_t first;  /* column of the input that the strip begins with, of all channels; may be negative */
    int64_t output; /* column of the first output, and how many there are, with those between pictures */
    int outputs;
    int cols, pictures;    /* outputs of a picture in a row; pictures side by side */
    int32_t picture_units; /* strides of columns from one to the next */
    int above_most;        /* rows from the first part of a picture to the last */
};

/* Which of the pictures that a strip has side by side a column or an output is of, and which of its. */
struct strip_spot {
    int picture, at;
};

__device__ inline strip_spot spot_of(const gp_strip_pack &pack, int at) {
    const int picture = (int)__umulhi((uint32_t)at, pack.inverse);
    return {picture, at - picture * (int)pack.span};
}

/* Rows from the first output of a strip to that of a part of a picture. The last part begins where all its rows are
 * there, and has some twice. */
template <class CUT> __device__ inline int rows_above(const CUT &cut, const strip_place &p, int picture) {
    return cut.pack.down ? min(picture * (int)cut.rows, p.above_most) : 0;
}

/* Bytes from a row's first output of result r to another. */
template <class CUT>
__device__ inline int64_t bytes_to(const gp_window_box &box, const CUT &cut, const strip_place &p, unsigned r,
                                   const strip_spot &spot, int channels) {
    const int64_t *stride = box.result[r].stride + box.outer;
    const int64_t next = cut.pack.count == 0 ? 0
                         : cut.pack.down     ? rows_above(cut, p, spot.picture) * stride[0]
                                             : spot.picture * stride[channels > 1 ? -2 : -1];
    return next + spot.at / channels * stride[1] + (channels > 1 ? spot.at % channels * stride[-1] : 0);
}

template <class CUT>
__device__ inline void find_place(const gp_window_box &box, const CUT &cut, unsigned number, unsigned channels,
                                  strip_place *p) {
    const gp_window_axis *y = gp_window_y(&box), *x = gp_window_x(&box);
    unsigned strip = number % cut.strips;
    const unsigned segment = number / cut.strips % cut.segments, count = max(cut.pack.count, 1u);
    uint64_t batch = number / cut.strips / cut.segments;
    const int64_t all = (int64_t)x->outputs * channels;
    p->plane = box.in;
    p->batch = batch;
    for (unsigned r = 0; r < box.results; r++)
        p->to[r] = (unsigned char *)box.to[r];
    p->pictures = 1;
    p->picture_units = 0;
    unsigned axis = box.outer - (channels > 1 ? 1 : 0);
    if (count > 1 && !cut.pack.down) {
        const gp_window_axis &pictures = box.axis[--axis];
        const unsigned first = strip * count;
        p->pictures = (int)min((uint64_t)count, pictures.n - first);
        p->picture_units = (int32_t)(pictures.in / (channels > 1 ? gp_type_bytes(box.type) : x->in));
        p->plane += first * pictures.in;
        p->batch = batch * pictures.n + first;
        for (unsigned r = 0; r < box.results; r++)
            p->to[r] += first * box.result[r].stride[axis];
        strip = 0;
    }
    while (axis-- > 0) {
        const int64_t i = (int64_t)(batch % box.axis[axis].n);
        p->plane += i * box.axis[axis].in;
        for (unsigned r = 0; r < box.results; r++)
            p->to[r] += i * box.result[r].stride[axis];
        batch /= box.axis[axis].n;
    }
    p->y = (int64_t)segment * cut.rows * (cut.pack.down ? count : 1);
    p->rows = (unsigned)((int64_t)y->outputs - p->y < cut.rows ? y->outputs - p->y : cut.rows);
    p->above_most = 0;
    if (cut.pack.down) {
        const int64_t last = (int64_t)y->outputs - cut.rows;
        p->pictures = (int)min((int64_t)count, ((int64_t)y->outputs - p->y + cut.rows - 1) / cut.rows);
        p->y = min(p->y, last);
        p->rows = cut.rows;
        p->above_most = (int)min(last - p->y, (int64_t)INT32_MAX);
    }
    p->output = (int64_t)strip * cut.cols;
    p->cols = (int)(all - p->output < cut.cols ? all - p->output : cut.cols);
    p->outputs = p->cols + (p->pictures - 1) * (int)cut.pack.span;
    const int64_t window = p->output - x->before * channels;
    p->first = window - cut.skew;
    for (unsigned r = 0; r < box.results; r++)
        p->to[r] +=
            p->y * box.result[r].stride[box.outer] + p->output / channels * box.result[r].stride[box.outer + 1];
}

/* Finds the warp's strip; false: there are fewer. It reads no data yet: the caller waits for earlier kernels later.
 */
template <class CUT>
__device__ __forceinline__ bool begin_warp(const gp_window_box &box, const CUT &cut, unsigned channels,
                                           strip_place *place) {
    const unsigned number = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (number >= cut.number)
        return false;
    if (threadIdx.x % 32 == 0)
        find_place(box, cut, number, channels, place);
    __syncwarp();
    return true;
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

/* source_near(), called seldom. */
static __device__ __noinline__ int64_t row_near(unsigned border, int64_t n, int64_t i) {
    return source_near(border, n, i);
}

/* What windows see at row i outside is i * sign and the one or the other, again if that is outside. */
struct row_fold {
    int32_t n, sign, low, high; /* sign 0: not again; -1 is no row */
    uint64_t in;

    /* Row i of the input, as windows see it; -1: there is none. */
    __device__ int32_t row_at(int32_t i) const {
        if (__builtin_expect((uint32_t)i >= (uint32_t)n, 0))
            do
                i = i * sign + (i < 0 ? low : high);
            while (sign != 0 && (uint32_t)i >= (uint32_t)n);
        return i;
    }
};

inline row_fold fold_of(const gp_window_box *box) {
    const gp_window_axis *y = &box->axis[box->outer];
    const int32_t n = (int32_t)y->n;
    row_fold fold = {n, 0, -1, -1, (uint64_t)y->in};
    if (box->border == GP_BORDER_WRAP)
        fold = {n, 1, n, -n, fold.in};
    else if (box->border == GP_BORDER_REFLECT)
        fold = {n, -1, -1, 2 * n - 1, fold.in};
    else if (box->border == GP_BORDER_REFLECT_101 && n > 1)
        fold = {n, -1, 0, 2 * n - 2, fold.in};
    else if (box->border == GP_BORDER_REFLECT_101 || box->border == GP_BORDER_REPLICATE)
        fold = {n, 0, 0, n - 1, fold.in};
    return fold;
}

/* A thread's columns of a row, as they are loaded. */
constexpr int at_once(int bytes) {
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
}

template <int COLUMNS, int BYTES> struct alignas(at_once(COLUMNS *BYTES)) strip_row {
    static constexpr int together = at_once(COLUMNS * BYTES); /* bytes */
    uint32_t word[COLUMNS * BYTES / 4];
};

/* Columns side by side and aligned. */
template <int COLUMNS, int BYTES>
__device__ inline strip_row<COLUMNS, BYTES> load_together(const unsigned char *from) {
    constexpr int words = strip_row<COLUMNS, BYTES>::together / 4;
    strip_row<COLUMNS, BYTES> raw;
    __builtin_assume(__isGlobal(from));
#pragma unroll
    for (int i = 0; i < COLUMNS * BYTES / 4; i += words) {
        if constexpr (words == 4)
            *(uint4 *)(raw.word + i) = ((const uint4 *)from)[i / words];
        else if constexpr (words == 2)
            *(uint2 *)(raw.word + i) = ((const uint2 *)from)[i / words];
        else
            raw.word[i] = ((const uint32_t *)from)[i];
    }
    return raw;
}

#define LOAD(type, to, from, there) \
    asm("{ .reg .pred p; setp.ge.s32 p, %2, 0; @p ld.global." type " %0, [%1]; }" : "+r"(to) : "l"(from), "r"(there))

/* One of BYTES bytes, if `there` is not negative. Nothing waits here: the value is not looked at. */
template <int BYTES> static __device__ void load_one(uint32_t *to, const unsigned char *from, int32_t there) {
    if constexpr (BYTES == 1)
        LOAD("u8", *to, from, there);
    else if constexpr (BYTES == 2)
        LOAD("u16", *to, from, there);
    else
        LOAD("u32", *to, from, there);
}

/* A row side by side and aligned. */
template <class ROW> static __device__ void load_all(ROW *to, const unsigned char *from, int32_t there) {
    constexpr int words = ROW::together / 4;
#pragma unroll
    for (int i = 0; i < (int)(sizeof to->word / 4); i += words) {
        uint32_t *const w = to->word + i;
        if constexpr (words == 4)
            asm("{ .reg .pred p; setp.ge.s32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3])
                : "l"(from + 4 * i), "r"(there));
        else if constexpr (words == 2)
            asm("{ .reg .pred p; setp.ge.s32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
                : "+r"(w[0]), "+r"(w[1])
                : "l"(from + 4 * i), "r"(there));
        else
            LOAD("u32", *w, from + 4 * i, there);
    }
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
        __builtin_assume(__isGlobal(from));
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

/* Bit r: outputs of result r are side by side, and `each` of them are aligned. */
inline uint32_t stores_together(const gp_problem *problem, unsigned channels, unsigned each = 4) {
    const unsigned x = problem->box->outer + 1u;
    uint32_t stores = 0;
    for (unsigned r = 0; r < problem->box->results; r++) {
        const gp_pass_result *result = &problem->box->result[r];
        const unsigned type = result->type;
        const int64_t bytes = type == GP_F64 ? 8 : type == GP_F32 ? 4 : (int64_t)problem->elem_bytes;
        uint64_t bits = (uint64_t)(uintptr_t)problem->box->to[r];
        for (unsigned axis = 0; axis < x; axis++)
            if (channels == 1 || axis != x - 2)
                bits |= (uint64_t)result->stride[axis];
        const bool together = result->stride[x] == bytes * channels &&
                              (channels == 1 || result->stride[x - 2] == bytes) &&
                              bits % (uint64_t)(each * bytes) == 0;
        stores |= (uint32_t)together << r;
    }
    return stores;
}

/* What window_strip's launcher leaves to others. */
gp_status gp_window_launch_extremes(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_launch_near(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_launch_bytes(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_launch_floats(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_launch_line(gp_context *context, const gp_plan *plan, const gp_problem *problem);
