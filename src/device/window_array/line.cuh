/* SPDX-License-Identifier: Apache-2.0 */
/* Where segments of lines lie, how their elements are loaded and outputs stored, and what is seldom asked. */
#pragma once

#include "outputs.cuh"

#include "floats.cuh"

#define CHUNK GP_LINE_CHUNK /* outputs that a warp computes at once */

static_assert(CHUNK == 32 * COLUMNS, "each lane has its columns");

struct line_arguments : floats_arguments {
    strip_result of_ints[GP_PASS_RESULTS];
    uint32_t stores;       /* see stores_together() */
    bool dense;            /* elements of a line lie side by side */
    uint64_t short_square; /* up to here sums of squares, times the number of elements, are below 2^62 */
};

/* A segment; in shared memory. */
struct line_place {
    const unsigned char *line;          /* element 0 */
    unsigned char *to[GP_PASS_RESULTS]; /* the first output, which has this number in its line, and in all */
    int64_t output;
    uint64_t number;
    int outputs;
    strip_scale scale; /* of floats */
};

static __device__ void find_line(const line_arguments &a, uint32_t number, line_place *p) {
    const gp_window_axis *x = gp_window_x(&a.box);
    uint64_t line = number / a.cut.strips;
    p->output = (int64_t)(number % a.cut.strips) * a.cut.cols;
    p->outputs = (int)min((int64_t)x->outputs - p->output, (int64_t)a.cut.cols);
    p->number = line * x->outputs + (uint64_t)p->output;
    p->line = a.box.in;
    p->scale.careful = false;
    p->scale.nothing = 0;
    for (unsigned r = 0; r < a.box.results; r++)
        p->to[r] = (unsigned char *)a.box.to[r] + p->output * a.box.result[r].stride[a.box.outer + 1];
    for (unsigned axis = a.box.outer + 1; axis-- > 0; line /= a.box.axis[axis].n) {
        const int64_t i = (int64_t)(line % a.box.axis[axis].n);
        p->line += i * a.box.axis[axis].in;
        for (unsigned r = 0; r < a.box.results; r++)
            p->to[r] += i * a.box.result[r].stride[axis];
    }
}

template <class T> static __device__ T last_of(T x) {
    return __shfl_sync(GP_FULL_WARP, x, 31);
}

static __device__ uint128 last_of(uint128 x) {
    return (uint128)last_of((uint64_t)(x >> 64)) << 64 | last_of((uint64_t)x);
}

template <class SUMS> static __device__ SUMS last_sums(const SUMS &x) {
    return {last_of(x.sum), SUMS::has_squares ? last_of(x.square) : 0};
}

/* ---- elements ---- */

/* A lane's elements, each a word: an int, extended by its sign or zeros, or a float. */
typedef strip_row<COLUMNS, 4> line_row;
typedef scaled_elements<COLUMNS, 4> elements;

/* Where word w of a chunk's is, against bank conflicts. */
static __device__ uint32_t padded(uint32_t w) {
    return w + w / COLUMNS;
}

static __device__ void copy_word(uint32_t *to, const uint32_t *from) {
    __builtin_assume(__isGlobal(from));
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
#else
    *to = *from;
#endif
}

static __device__ void end_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All copies but those of the last so many groups. */
template <int LAST> static __device__ void await_all_but() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LAST) : "memory");
#endif
    __syncwarp();
}

/* A line's elements, as windows see them. From number `end` on there is what adds nothing, and where none is. */
struct line_data {
    const gp_window_box &box;
    const unsigned char *const line;
    const int64_t n;
    const int bytes;
    const bool has_sign, dense;

    __device__ line_data(const line_arguments &a, const line_place &p)
        : box(a.box), line(p.line), n((int64_t)gp_window_x(&a.box)->n), bytes((int)gp_type_bytes(a.box.type)),
          has_sign(gp_type_is_signed(a.box.type)), dense(a.dense) {}
    /* A chunk from element i on to shared memory, under way until await_all_but(); the last word gets the bits that
       element i is behind the first word's begin. nothing: as an element. */
    __device__ void stage(uint32_t *to, int64_t i, int64_t end, uint32_t nothing) const {
        const uint32_t lane = threadIdx.x % 32;
        if (!dense || i < 3 || i + CHUNK + 3 > min(n, end))
            return stage_apart(to, i, end, nothing);
        const unsigned char *const from = line + i * bytes;
        const uint32_t over = (uint32_t)((uintptr_t)from % 4);
        const uint32_t *const word = (const uint32_t *)(from - over) + lane;
        uint32_t *const own = to + padded(lane);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            if (k < 2 * bytes)
                copy_word(own + k * (32 + 32 / COLUMNS), word + 32 * k);
        if (over != 0 && lane == 0)
            copy_word(to + padded(CHUNK / 4 * bytes), word + CHUNK / 4 * bytes);
        to[GP_LINE_WORDS - 1] = 8 * over;
    }
    /* Where a line ends, or has gaps. */
    __device__ void stage_apart(uint32_t *to, int64_t i, int64_t end, uint32_t nothing) const {
#pragma unroll 1
        for (uint32_t e = threadIdx.x % 32; e < CHUNK; e += 32) {
            const int64_t at = i + e, source = at >= end                    ? -1
                                               : (uint64_t)at < (uint64_t)n ? at
                                                                            : row_near(box.border, n, at);
            const uint32_t none = at < end && box.border == GP_BORDER_ZERO ? 0 : nothing;
            unsigned char *const into = (unsigned char *)(to + padded(e * bytes / 4)) + e * bytes % 4;
            const unsigned char *const from = line + source * gp_window_x(&box)->in;
            if (bytes == 4)
                *(uint32_t *)into = source >= 0 ? *(const uint32_t *)from : none;
            else if (bytes == 2)
                *(uint16_t *)into = source >= 0 ? *(const uint16_t *)from : (uint16_t)none;
            else
                *into = source >= 0 ? *from : (uint8_t)none;
        }
        to[GP_LINE_WORDS - 1] = 0;
    }
    /* The lane's of a chunk that is there. */
    template <bool FLOATS> __device__ line_row row_of(const uint32_t *from) const {
        if (bytes == 1 && !FLOATS)
            return extended<1>(from, has_sign);
        line_row row;
        if (bytes == 2) {
            row = extended<2>(from, !FLOATS && has_sign);
            if (FLOATS)
#pragma unroll
                for (uint32_t &x : row.word)
                    x = __float_as_uint(__half2float(__ushort_as_half((unsigned short)x)));
        } else
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                row.word[k] = from[padded(threadIdx.x % 32 * COLUMNS) + k];
        return row;
    }
    /* Of elements of up to 2 bytes, two or four a word. */
    template <int BYTES> static __device__ line_row extended(const uint32_t *from, bool has_sign) {
        constexpr int each = 4 / BYTES, words = COLUMNS / each, unused = 32 - 8 * BYTES;
        const uint32_t first = threadIdx.x % 32 * words, shift = from[GP_LINE_WORDS - 1];
        uint32_t word[words + 1];
#pragma unroll
        for (int w = 0; w < words; w++)
            word[w] = from[padded(first) + w];
        word[words] = from[padded(first + words)];
        line_row row;
#pragma unroll
        for (int w = 0; w < words; w++) {
            const uint32_t all = __funnelshift_r(word[w], word[w + 1], shift);
#pragma unroll
            for (int k = 0; k < each; k++) {
                const uint32_t up = all << (unused - k * 8 * BYTES);
                row.word[w * each + k] = has_sign ? (uint32_t)((int32_t)up >> unused) : up >> unused;
            }
        }
        return row;
    }
};

/* ---- results ---- */

/* `lost` elements that the window may see are no whole number of units. */
template <class SUMS>
static __device__ two_doubles total_of(const line_arguments &a, const line_place &p, const SUMS &s, uint32_t count,
                                       uint32_t lost) {
    two_doubles x = window_numbers<SUMS>{p.scale, count}.total(s, false);
    x.error = 0.51 * min(lost, a.cut.area) * p.scale.unit;
    return x;
}

/* Any result of one window; false: it is open. */
template <bool FLOATS, class SUMS>
static __device__ __noinline__ bool write_one(const line_arguments &a, const line_place &p, unsigned r, int at,
                                              SUMS s, uint32_t lost, bool inexact) {
    const gp_pass_result &result = a.box.result[r];
    const uint32_t count = (uint32_t)gp_window_counted(gp_window_x(&a.box), a.box.border, (uint64_t)(p.output + at));
    uint64_t raw;
    if constexpr (FLOATS) {
        const window_numbers<SUMS> numbers = {p.scale, count};
        const two_doubles number = result.op >= GP_REDUCE_VARIANCE      ? numbers.spread(s, inexact)
                                   : result.op == GP_REDUCE_SUM_SQUARES ? numbers.squares(s, inexact)
                                                                        : total_of(a, p, s, count, lost);
        if (!decide(number, result.op, result.type, count, &raw))
            return false;
    } else
        raw = result_of(result.op, result.type, (typename SUMS::sum_type)s.sum, s.square, count);
    store_bits(gp_type_bytes(result.type), raw, p.to[r] + at * result.stride[a.box.outer + 1]);
    return true;
}

static __device__ double double_of(int32_t x) {
    return as_double(x);
}

static __device__ double double_of(int64_t x) {
    return two_doubles_of((uint64_t)x, 0x80000000u).high;
}

/* What 64 bits do not hold is seldom. */
static __device__ __noinline__ double spread_of_many(int64_t sum, uint128 square, uint32_t n, double by) {
    return spread_times(sum, square, n, by);
}

/* A lane's outputs of result r, of `size` bytes, up to the segment's end. */
static __device__ void store_eight(const line_arguments &a, const line_place &p, unsigned r, int at, unsigned size,
                                   const uint32_t (&raw)[COLUMNS]) {
    const int64_t stride = a.box.result[r].stride[a.box.outer + 1];
    unsigned char *const to = p.to[r] + at * stride;
    if ((a.stores >> r & 1) && at + COLUMNS <= p.outputs)
#pragma unroll
        for (int k = 0; k < COLUMNS; k += 4) {
            const uint32_t four[4] = {raw[k], raw[k + 1], raw[k + 2], raw[k + 3]};
            if (size == 4)
                put_four<4>(to + 4 * k, four);
            else if (size == 2)
                put_four<2>(to + 2 * k, four);
            else
                put_four<1>(to + k, four);
        }
    else
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            if (at + k < p.outputs)
                store_bits(size, raw[k], to + k * stride);
}
