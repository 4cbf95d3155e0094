/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of floats by one thread. A batch is added twice, rounding down and rounding up: equal ends prove that
 * nothing was lost. A batch of which that is not so goes to words or bins of the thread's own in shared memory, in a
 * column, so that a warp's threads use all banks.
 */
#ifndef GP_SUMS_CUH
#define GP_SUMS_CUH

#include "../../host/exact.h"
#include "integers.cuh"

#define BINS 17            /* of 16 exponents each; the last takes what the one before cannot hold */
#define BIN_ADDITIONS 4096 /* to a bin that is below 2^15 units: it stays below 2^52 of them */
#define TRIED_EVERY 8      /* batches, after one that was not proven */
#define WORDS_F64 68
#define WORDS_SQUARE 22

__device__ __forceinline__ int64_t add_lanes(int64_t x) {
    for (int lane = 16; lane > 0; lane /= 2)
        x += __shfl_xor_sync(GP_FULL_WARP, x, lane);
    return x;
}

/* units 2^bit, to limbs that other blocks add to. */
static __device__ __noinline__ void add_atomically(int64_t *limb, unsigned bit, int64_t units) {
    const uint64_t magnitude = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
    int64_t part[3] = {0, 0, 0};
    gp_exact_add_bits(part, bit & 31, magnitude, units < 0);
#pragma unroll
    for (int i = 0; i < 3; i++)
        if (part[i] != 0)
            atomicAdd((unsigned long long *)limb + bit / 32 + i, (unsigned long long)part[i]);
}

/* sum + rest of a thread, a warp, a block; exact where proven. */
struct proof {
    double sum, down, up;
    __device__ bool holds() const {
        return down == up;
    }
    __device__ void join(const proof &other) {
        const double total = sum + other.sum, back = total - sum;
        const double error = (sum - (total - back)) + (other.sum - back);
        sum = total;
        down = __dadd_rd(__dadd_rd(down, other.down), error);
        up = __dadd_ru(__dadd_ru(up, other.up), error);
    }
};

/*
 * Sums of what a float holds: a double is 29 bits wider. Bin b holds what has exponents 16 b to 16 b + 15, which are
 * multiples of 2^(16 b - 150) below 2^(16 b - 111): adding to it is exact.
 */
struct narrow_sum {
    double sum;
    double *bin;        /* of this thread: one every blockDim.x */
    uint32_t additions; /* since carrying; UINT32_MAX: the bins are not cleared yet */
    uint32_t held;

    static __host__ __device__ constexpr size_t column() {
        return BINS * sizeof(double);
    }
    __device__ void clear(void *columns) {
        sum = 0;
        bin = (double *)columns + threadIdx.x;
        additions = UINT32_MAX;
        held = 0;
    }
    __device__ bool spilled() const {
        return additions != UINT32_MAX;
    }
    __device__ proof own() const {
        return {sum, 0, 0};
    }

    /* Carries leave less than 2^15 units in a bin; adding and subtracting 1.5 * 2^52 units of the next rounds to it.
     */
    __device__ __noinline__ void make_room() {
        if (additions == UINT32_MAX) {
            for (int b = 0; b < BINS; b++)
                bin[b * blockDim.x] = 0;
        } else {
            for (int b = 0; b < BINS - 1; b++) {
                const double held_now = bin[b * blockDim.x],
                             big = __hiloint2double((1023 + 52 - 150 + 16 * (b + 1)) << 20 | 0x80000, 0);
                const double carried = (held_now + big) - big;
                if (carried - carried != 0)
                    break; /* infinite, or no number: the last bin's only */
                bin[(b + 1) * blockDim.x] += carried;
                bin[b * blockDim.x] = held_now - carried;
            }
        }
        additions = 0;
    }

    /* x of up to 24 bits; of a partial sum, one that a float could not hold may lie in the last. */
    __device__ __forceinline__ void add(double x, int exponent) {
        double *to = bin + (exponent >> 4) * blockDim.x;
        *to += x;
    }

    template <int N> __device__ __forceinline__ void take(const float (&x)[N]) {
        bool proven = false;
        if (held == 0) {
            double down = sum, up = sum;
#pragma unroll
            for (int i = 0; i < N; i++) {
                const double wide = x[i];
                down = __dadd_rd(down, wide);
                up = __dadd_ru(up, wide);
            }
            proven = down == up;
            if (__all_sync(__activemask(), proven)) {
                sum = down;
                return;
            }
            held = TRIED_EVERY;
        }
        held--;
        if (additions > BIN_ADDITIONS - N)
            make_room();
        additions += N;
#pragma unroll
        for (int i = 0; i < N; i++)
            add(x[i], (int)(__float_as_uint(x[i]) >> 23 & 0xff));
    }

    /* Puts the sum into the bins too: 24 bits at a time. */
    __device__ void settle() {
        make_room();
        for (int i = 0; i < 3; i++) {
            const double part = __hiloint2double(__double2hiint(sum), __double2loint(sum) & 0xe0000000);
            const int exponent = (__double2hiint(part) >> 20 & 0x7ff) - 1023 + 127;
            add(part, exponent < 0 ? 0 : exponent > 255 ? 255 : exponent);
            sum = part - part != 0 ? 0 : sum - part;
        }
    }

    /* What a warp's threads find in the block's bins i, added to limbs of unit 2^-149. */
    static __device__ uint32_t drain(const void *columns, int64_t *limb) {
        uint32_t flags = 0;
        for (int b = threadIdx.x / 32; b < BINS; b += blockDim.x / 32) {
            const double *bins = (const double *)columns + b * blockDim.x,
                         scale = __hiloint2double((1023 + 150 - 16 * b) << 20, 0);
            int64_t units = 0;
            for (unsigned i = threadIdx.x % 32; i < blockDim.x; i += 32) {
                const double x = bins[i];
                if (x - x == 0)
                    units += __double2ll_rn(x * scale);
                else
                    flags |= x != x ? GP_EXACT_NAN : x > 0 ? GP_EXACT_PLUS_INFINITY : GP_EXACT_MINUS_INFINITY;
            }
            units = add_lanes(units);
            if (threadIdx.x % 32 == 0 && units != 0) /* an even number of 2^-150 */
                add_atomically(limb, b > 0 ? 16 * b - 1 : 0, b > 0 ? units : units / 2);
        }
        return flags;
    }
};

/* Sums of doubles, and of products of two floats: TwoSum, its errors rounded both ways. */
template <int WORDS, int UNIT> struct wide_sum {
    double sum, rest;
    uint32_t *word; /* each 2^31 too large, so that carries past three of them are rare for either sign */
    uint32_t flags;
    uint32_t held;
    bool cleared;

    static __host__ __device__ constexpr size_t column() {
        return WORDS * sizeof(uint32_t);
    }
    __device__ void clear(void *columns) {
        sum = rest = 0;
        word = (uint32_t *)columns + threadIdx.x;
        flags = held = 0;
        cleared = false;
    }
    __device__ bool spilled() const {
        return cleared;
    }
    __device__ proof own() const {
        return {sum, rest, rest};
    }
    __device__ __noinline__ void make_room() {
        if (!cleared)
            for (int i = 0; i < WORDS; i++)
                word[i * blockDim.x] = 0x80000000;
        cleared = true;
    }

    __device__ __forceinline__ void add(double x) {
        const uint32_t high = (uint32_t)__double2hiint(x), exponent = high >> 20 & 0x7ff;
        if (exponent == 0x7ff) {
            flags |= x != x ? GP_EXACT_NAN : x > 0 ? GP_EXACT_PLUS_INFINITY : GP_EXACT_MINUS_INFINITY;
            return;
        }
        uint64_t mantissa = (uint64_t)(high & 0xfffff) << 32 | (uint32_t)__double2loint(x);
        int bit = -1074 - UNIT;
        if (exponent > 0) {
            mantissa |= (uint64_t)1 << 52;
            bit += (int)exponent - 1;
        }
        if (UNIT > -1074 && bit < 0) {
            mantissa = bit > -64 ? mantissa >> -bit : 0;
            bit = 0;
        }
        uint32_t *to = word + (bit >> 5) * blockDim.x;
        const uint32_t shift = bit & 31, low = (uint32_t)mantissa, middle = (uint32_t)(mantissa >> 32);
        const uint32_t a0 = low << shift, a1 = __funnelshift_l(low, middle, shift),
                       a2 = __funnelshift_l(middle, 0, shift);
        uint32_t w0 = to[0], w1 = to[blockDim.x], w2 = to[2 * blockDim.x], over;
        if ((int32_t)high < 0)
            asm("sub.cc.u32 %0, %0, %4; subc.cc.u32 %1, %1, %5; subc.cc.u32 %2, %2, %6; subc.u32 %3, 0, 0;"
                : "+r"(w0), "+r"(w1), "+r"(w2), "=r"(over)
                : "r"(a0), "r"(a1), "r"(a2));
        else
            asm("add.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; addc.cc.u32 %2, %2, %6; addc.u32 %3, 0, 0;"
                : "+r"(w0), "+r"(w1), "+r"(w2), "=r"(over)
                : "r"(a0), "r"(a1), "r"(a2));
        to[0] = w0;
        to[blockDim.x] = w1;
        to[2 * blockDim.x] = w2;
        for (to += 3 * blockDim.x; over != 0; to += blockDim.x) { /* 1 or -1 */
            const uint32_t was = *to, now = was + over;
            *to = now;
            over = over == 1 ? (now == 0 ? 1 : 0) : (was == 0 ? UINT32_MAX : 0);
        }
    }

    template <int N> __device__ __forceinline__ void take(const double (&x)[N]) {
        if (held == 0) {
            double s = sum, down = rest, up = rest;
#pragma unroll
            for (int i = 0; i < N; i++) {
                const double total = s + x[i], back = total - s;
                const double error = (s - (total - back)) + (x[i] - back);
                s = total;
                down = __dadd_rd(down, error);
                up = __dadd_ru(up, error);
            }
            if (__all_sync(__activemask(), down == up)) {
                sum = s;
                rest = down;
                return;
            }
            held = TRIED_EVERY;
        }
        held--;
        if (!cleared)
            make_room();
#pragma unroll
        for (int i = 0; i < N; i++)
            add(x[i]);
    }

    __device__ void settle() {
        make_room();
        add(sum);
        add(rest);
        sum = rest = 0;
    }

    static __device__ void drain(const void *columns, int64_t *limb) {
        for (int l = threadIdx.x / 32; l < WORDS; l += blockDim.x / 32) {
            int64_t units = 0;
            for (unsigned i = threadIdx.x % 32; i < blockDim.x; i += 32)
                units += (int64_t)((const uint32_t *)columns)[l * blockDim.x + i] - 0x80000000;
            units = add_lanes(units);
            if (threadIdx.x % 32 == 0 && units != 0)
                atomicAdd((unsigned long long *)limb + l, (unsigned long long)units);
        }
    }
};

#endif
