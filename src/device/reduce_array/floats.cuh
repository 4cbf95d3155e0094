/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of floats: a thread's accumulator, and the totals of a block. */
#ifndef GP_FLOATS_CUH
#define GP_FLOATS_CUH

#include "sums.cuh"

#include <cuda_fp16.h>

#define FLAGS_SQUARE 4 /* bits by which the flags of squares are shifted */

struct floats_total {
    proof linear, square;
    uint64_t count, nans;
    uint32_t flags;   /* of linear; those of squares follow */
    uint32_t spilled; /* some of it has gone to limbs */
    static __device__ floats_total none() {
        return {{0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0};
    }
    __device__ void join(const floats_total &other) {
        linear.join(other.linear);
        square.join(other.square);
        count += other.count;
        nans += other.nans;
        flags |= other.flags;
        spilled |= other.spilled;
    }
    __device__ bool holds() const {
        return linear.holds() && square.holds() && !spilled;
    }
};

/* Moments of floats. Of doubles no squares, whose products have 106 bits. */
template <int BYTES, bool SQUARES> struct floats {
    typedef floats_total total;
    typedef wide_sum<WORDS_SQUARE, -298> square_sum;
    narrow_sum narrow;               /* 2 and 4 bytes */
    wide_sum<WORDS_F64, -1074> wide; /* 8 */
    square_sum square;
    uint64_t count, nans;
    uint32_t sign; /* of a word, cleared for sums of magnitudes */
    bool bf16, skip_nan, counts, sums;

    static __host__ __device__ constexpr size_t column() {
        return (BYTES == 8 ? WORDS_F64 * 4 : BINS * 8) + (SQUARES ? WORDS_SQUARE * 4 : 0);
    }
    __device__ void clear(const gp_pass &pass, void *columns) {
        if (BYTES == 8)
            wide.clear(columns);
        else
            narrow.clear(columns);
        if (SQUARES)
            square.clear((char *)columns + BINS * 8 * blockDim.x);
        count = nans = 0;
        sign = !(pass.wants & GP_WANT_ABS) ? 0 : BYTES == 2 ? 0x80008000 : 0x80000000;
        bf16 = pass.type == GP_BF16;
        skip_nan = pass.skip_nan;
        counts = pass.wants & GP_WANT_COUNT;
        sums = pass.wants & (GP_WANT_SUM | GP_WANT_ABS);
    }
    template <class T> __device__ __forceinline__ T checked(T x) {
        if (skip_nan && x != x) {
            nans++;
            x = 0;
        }
        count += counts && x != 0;
        return x;
    }
    template <int N> __device__ __forceinline__ void take_floats(float (&x)[N]) {
        if (skip_nan || counts)
#pragma unroll
            for (int i = 0; i < N; i++)
                x[i] = checked(x[i]);
        if (!SQUARES || sums)
            narrow.take(x);
        if (SQUARES) {
            double y[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                y[i] = (double)x[i] * x[i];
            square.take(y);
        }
    }
    /* Up to 16 elements at a time, and 8 where doubles are made of them all: more do not fit the registers. */
    template <int WORDS> __device__ __forceinline__ void take_words(const uint32_t (&word)[WORDS]) {
        float x[WORDS * 4 / BYTES];
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const uint32_t bits = word[i] & ~sign;
            if (BYTES == 4) {
                x[i] = __uint_as_float(bits);
            } else {
                const float low =
                    bf16 ? __uint_as_float(bits << 16) : __half2float(__ushort_as_half((unsigned short)bits));
                const float high = bf16 ? __uint_as_float(bits & 0xffff0000)
                                        : __half2float(__ushort_as_half((unsigned short)(bits >> 16)));
                x[i * 4 / BYTES] = low;
                x[i * 4 / BYTES + 1] = high;
            }
        }
        take_floats(x);
    }
    template <int N> __device__ __forceinline__ void take(const uint4 (&v)[N], uint32_t) {
        if (BYTES == 8) {
            double x[2 * N];
#pragma unroll
            for (int i = 0; i < 2 * N; i++) {
                const uint64_t raw = wide_of(v[i / 2], i % 2) & ~((uint64_t)sign << 32);
                x[i] = __longlong_as_double((long long)raw);
            }
            if (skip_nan || counts)
#pragma unroll
                for (int i = 0; i < 2 * N; i++)
                    x[i] = checked(x[i]);
            wide.take(x);
        } else {
            const int at_once = (SQUARES ? 2 : 4) * BYTES < 4 * N ? (SQUARES ? 2 : 4) * BYTES : 4 * N;
#pragma unroll
            for (int first = 0; first < 4 * N; first += at_once) {
                uint32_t word[at_once];
#pragma unroll
                for (int i = 0; i < at_once; i++)
                    word[i] = word_of(v[(first + i) / 4], (first + i) % 4);
                take_words(word);
            }
        }
    }
    __device__ void take_edge(const vector_edge &edge, uint32_t id) {
        const uint4 one[1] = {edge.zeroed};
        take(one, id);
    }

    __device__ total own() const {
        total t = {{0, 0, 0}, {0, 0, 0}, count, nans, 0, 0};
        t.linear = BYTES == 8 ? wide.own() : narrow.own();
        t.spilled = BYTES == 8 ? wide.spilled() : narrow.spilled();
        if (SQUARES) {
            t.square = square.own();
            t.spilled |= square.spilled();
        }
        return t;
    }
    /* All that the block has, into limbs: the first GP_EXACT_LIMBS are of linear. Flags of what the thread saw. */
    __device__ uint32_t spill(void *columns, int64_t *limb) {
        uint32_t flags = 0;
        if (BYTES == 8)
            wide.settle();
        else
            narrow.settle();
        if (SQUARES)
            square.settle();
        __syncthreads();
        if (BYTES == 8)
            wide.drain(columns, limb);
        else
            flags = narrow.drain(columns, limb);
        if (SQUARES)
            square.drain((char *)columns + BINS * 8 * blockDim.x, limb + GP_EXACT_LIMBS);
        return flags | (BYTES == 8 ? wide.flags : 0) | (SQUARES ? square.flags << FLAGS_SQUARE : 0);
    }
};

#endif
