/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of floats by one thread. Levels: adding a great constant rounds x to a multiple of the constant's last
 * bit; what is left, exactly, goes to the next level in the same way. A batch that leaves a rest after two levels, or
 * has numbers too great for the first, goes to bins or words of the thread's own in shared memory instead, in a
 * column, so that a warp's threads use all banks.
 */
#pragma once

#include "../../host/exact.h"
#include "bins.cuh"
#include "integers.cuh"

#define TRIED_EVERY 16 /* batches, after one that was not proven */
#define WORDS_F64 68
#define WORDS_SQUARE 20
#define MARGIN 3 /* numbers up to 2^MARGIN times the power of two below the sample's greatest are expected */

#define FLAGS_SQUARE 4 /* bits by which the flags of squares are shifted */

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

__device__ __forceinline__ bool is_special(double x) {
    return ((uint32_t)__double2hiint(x) & 0x7fffffff) >= 0x7ff00000;
}

__device__ __forceinline__ bool is_special(float x) {
    return !(fabsf(x) <= 0x1.fffffep127f);
}

template <int N> __device__ __forceinline__ bool has_special(const double (&x)[N]) {
    bool some = false;
#pragma unroll
    for (int i = 0; i < N; i++)
        some |= is_special(x[i]);
    return some;
}

template <int N> __device__ __forceinline__ bool has_special(const float (&x)[N]) {
    float nothing = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        nothing = __fmaf_rn(x[i], 0, nothing);
    return nothing != 0;
}

/* Of a sum of infinities and NaNs. */
__device__ __forceinline__ uint32_t special_flag(float x) {
    return x == 0 ? 0 : x != x ? GP_EXACT_NAN : x > 0 ? GP_EXACT_PLUS_INFINITY : GP_EXACT_MINUS_INFINITY;
}

/*
 * An exact total: sum is it rounded, sum + down it, down and up being equal. Of more bits than two doubles hold, down
 * is odd in the end: it rounds as the total does, and is less than `slack` beside it.
 */
struct proof {
    double sum, down, up, slack;
    __device__ bool holds() const {
        return down == up;
    }
};

/*
 * Sums of the levels, counted in their last bits: 2^unit, and 2^gap times that. Whole numbers, so that adding them is
 * exact in any order.
 */
template <class I> struct two_levels {
    I high, low;
    __device__ void join(const two_levels &other) {
        high += other.high;
        low += other.low;
    }
};

static __device__ __noinline__ proof proof_of(__int128 high, __int128 low, int gap, int unit) {
    high += low >> gap;
    low -= low >> gap << gap;
    /* three doubles one above the other, the lower two not below 0 */
    const double top = (double)(int64_t)(high >> 44) * 0x1p44, middle = (double)(int64_t)(high - (high >> 44 << 44));
    const double sum = top + middle, scale = __hiloint2double((1023 + gap) << 20, 0);
    const double error = (middle - (sum - top)) * scale, last = (double)(int64_t)low;
    double rest = __dadd_rz(error, last);
    const bool is_cut = __dadd_rd(error, last) != __dadd_ru(error, last);
    if (is_cut)
        rest = __longlong_as_double(__double_as_longlong(rest) | 1);
    const double all = sum * scale + rest, left = rest - (all - sum * scale);
    return {scalbn(all, unit), scalbn(left, unit), scalbn(left, unit), is_cut ? fabs(scalbn(all, unit - 100)) : 0};
}

/* Of what a float holds most sums are 64 bits, and 2^unit is a double. */
__device__ __forceinline__ proof proof_of(int64_t high, int64_t low, int gap, int unit) {
    if (llabs(high) >= (int64_t)1 << (60 - gap) || llabs(low) >= (int64_t)1 << 60)
        return proof_of((__int128)high, (__int128)low, gap, unit);
    const int64_t all = (high << gap) + low;
    const double sum = (double)all, scale = __hiloint2double((1023 + unit) << 20, 0);
    const double rest = (double)(all - (int64_t)sum) * scale;
    return {sum * scale, rest, rest, 0};
}

/* 2^bit units to limbs that only this thread adds to, or others too. */
static __device__ __noinline__ void add_whole(int64_t *limb, int bit, __int128 units) {
    for (int i = 0; i < 3; i++, bit += 48) {
        const __int128 rest = i < 2 ? units >> 48 : 0;
        add_atomically(limb, (unsigned)bit, (int64_t)(units - rest * ((__int128)1 << 48)));
        units = rest;
    }
}

/* A thread of the first warp has one of 32 vectors that are the same for all blocks. */
__device__ __forceinline__ bool samples(const run &r) {
    return r.vectors > 0 && threadIdx.x < 32;
}

__device__ __forceinline__ const int4 *sample_at(const run &r) {
    return r.first + r.vectors / 32 * threadIdx.x;
}

__device__ __forceinline__ uint4 sample_vector(const run &r) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (samples(r))
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(sample_at(r)));
    return v;
}

/* t, so that numbers are expected to be below 2^t: by the first warp's sample, so that all blocks have one unit. */
template <int BYTES> __device__ int expected_power(const gp_pass &pass, const uint4 &sample) {
    const int bias = BYTES == 8 ? 1023 : 127, shift = BYTES == 8 ? 20 : 23;
    const uint32_t infinity = BYTES == 8 ? 0x7ff00000 : 0x7f800000;
    uint32_t most = 0;
    if (pass.type == GP_F16)
        return 16;
    const uint32_t word[4] = {sample.x, sample.y, sample.z, sample.w};
#pragma unroll
    for (int i = BYTES == 8; i < 4; i += BYTES == 8 ? 2 : 1) {
        const uint32_t upper = word[i] & 0x7fffffff, lower = BYTES == 2 ? word[i] << 16 & 0x7fffffff : 0;
        most = max(most, max(upper < infinity ? upper : 0, lower < infinity ? lower : 0));
    }
    for (int lane = 16; lane > 0; lane /= 2)
        most = max(most, __shfl_xor_sync(GP_FULL_WARP, most, lane));
    __shared__ uint32_t found;
    if (threadIdx.x == 0)
        found = most;
    __syncthreads();
    most = found;
    const int power = most >> shift == 0 ? 0 : (int)(most >> shift) - bias + MARGIN;
    return BYTES == 8 ? max(-970, min(power, 1000)) : max(-100, min(power, 125));
}

/*
 * Sums of what a float holds. Levels are floats: 22 bits below 2^t, and 23 bits below those, added up as whole
 * numbers; BINS takes what they do not.
 */
template <class BINS> struct narrow_sum {
    static const int GAP = 23;
    static const uint32_t FULL = BINS::ADDITIONS;
    int64_t high, low;
    float first, second, below;
    uint32_t additions; /* since carrying; UINT32_MAX: the bins are not cleared yet */

    static __device__ int unit(int t) {
        return t - 45;
    }
    __device__ void clear(int t) {
        high = low = 0;
        below = __uint_as_float((uint32_t)(127 + t) << 23);
        first = 3 * below;
        second = 3 * __uint_as_float((uint32_t)(127 + t - GAP) << 23);
        additions = UINT32_MAX;
    }
    __device__ bool spilled() const {
        return additions != UINT32_MAX;
    }

    /* add: what is done with a number in units of both levels, each up to 2^22. */
    template <int N, class ADD> __device__ __forceinline__ bool try_levels(const float (&x)[N], ADD add) const {
        bool lost = false;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float n = x[i] + first, rest = x[i] - (n - first), m = rest + second;
            lost |= !(fabsf(x[i]) < below);
            lost |= m - second != rest;
            add(__float_as_int(n) - __float_as_int(first), __float_as_int(m) - __float_as_int(second));
        }
        return !lost;
    }
    __device__ __forceinline__ void accept(int32_t a, int32_t b) {
        high += a;
        low += b;
    }

    __device__ __forceinline__ void make_room(uint32_t more) {
        if (additions > FULL - more) {
            BINS::carry(additions == UINT32_MAX);
            additions = 0;
        }
        additions += more;
    }
    template <int N> __device__ __forceinline__ void spill(const float (&x)[N]) {
        make_room(N);
#pragma unroll
        for (int i = 0; i < N; i++)
            BINS::add(x[i]);
    }

    /* What a warp's threads find in the block's bins b, added to limbs of unit 2^-149. */
    static __device__ __noinline__ void drain(int64_t *limb) {
        for (int b = threadIdx.x / 32; b < BIN_COUNT; b += blockDim.x / 32) {
            int64_t units = 0;
            for (unsigned i = threadIdx.x % 32; i < blockDim.x; i += 32)
                units += BINS::units(b, i);
            units = add_lanes(units);
            if (threadIdx.x % 32 == 0 && units != 0) /* an even number of 2^-150 */
                add_atomically(limb, b > 0 ? 16 * b - 1 : 0, b > 0 ? units : units / 2);
        }
    }
};

/* Squares of what two levels hold, x 2^23 + y of up to 2^22 each: so many products fit that a batch does. */
struct square_batch {
    int64_t xx, xy, yy;
    __device__ __forceinline__ void add(int32_t x, int32_t y) {
        xx += (int64_t)x * x;
        xy += (int64_t)x * y;
        yy += (int64_t)y * y;
    }
};

struct square_sum {
    static const int GAP = 46;
    __int128 high, low;

    static __device__ int unit(int t) {
        return 2 * (t - 45); /* of the products' least unit */
    }
    __device__ void clear() {
        high = low = 0;
    }
    __device__ __forceinline__ void accept(const square_batch &batch) {
        high += batch.xx;
        low += ((__int128)batch.xy << 24) + batch.yy;
    }
};

/*
 * What is added of an element: a double, or the square of a float; and that as a whole number 2^bit, times 2^-1074 or
 * 2^-298. sign: all ones of negative ones.
 */
struct whole_float {
    uint32_t low, high, bit, sign;
};

__device__ __forceinline__ whole_float whole_of(double x) {
    const uint32_t upper = (uint32_t)__double2hiint(x), exponent = upper >> 20 & 0x7ff;
    const uint32_t implied = exponent != 0 ? 0x100000 : 0;
    return {(uint32_t)__double2loint(x), (upper & 0xfffff) | implied, (uint32_t)max((int)exponent - 1, 0),
            (uint32_t)((int32_t)upper >> 31)};
}

__device__ __forceinline__ whole_float whole_of(float x) {
    const uint32_t bits = __float_as_uint(x), exponent = bits >> 23 & 0xff;
    const uint32_t mantissa = (bits & 0x7fffff) | (exponent != 0 ? 0x800000 : 0);
    return {mantissa * mantissa, __umulhi(mantissa, mantissa), 2 * (uint32_t)max((int)exponent - 1, 0), 0};
}

/* Sums of doubles below 2^t. Levels are doubles that are added to up to 16 times. */
struct wide_sum {
    static const int GAP = 48;
    __int128 high, low;
    double first, second;
    uint32_t limit; /* the upper half of 2^t */

    static __device__ int unit(int t) {
        return t - 95;
    }
    __device__ void clear(int t) {
        high = low = 0;
        first = __hiloint2double((1023 + t + 5) << 20 | 0x80000, 0);
        second = __hiloint2double((1023 + t + 5 - GAP) << 20 | 0x80000, 0);
        limit = (uint32_t)(1023 + t) << 20;
    }

    template <int N> __device__ __forceinline__ bool try_levels(const double (&x)[N], int64_t &a, int64_t &b) const {
        bool lost = false;
        double s = first, u = second;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const double n = s + x[i], rest = x[i] - (n - s), m = u + rest;
            lost |= ((uint32_t)__double2hiint(x[i]) & 0x7fffffff) >= limit;
            lost |= m - u != rest;
            s = n;
            u = m;
        }
        a = __double_as_longlong(s) - __double_as_longlong(first);
        b = __double_as_longlong(u) - __double_as_longlong(second);
        return !lost;
    }
    __device__ __forceinline__ void accept(int64_t a, int64_t b) {
        high += a;
        low += b;
    }
};

/*
 * Sums of finite numbers, or of squares of floats, in words of a thread's column behind BEHIND doubles of it. A
 * warp's columns lie together, so that steps between words are constants. Words are each 2^31 too large, so that
 * carries past three of them are rare for either sign.
 */
template <int WORDS, int BEHIND> struct word_column {
    bool cleared;

    /* Word bit / 32 of a thread, 32 words from the next. */
    static __device__ __forceinline__ uint32_t *word(uint32_t thread, uint32_t bit) {
        const uint32_t first = BEHIND * 8 * blockDim.x + thread / 32 * (WORDS * 128) + thread % 32 * 4;
        return (uint32_t *)((unsigned char *)columns + (first + (bit & ~31u) * 4));
    }
    __device__ __forceinline__ void make_room() {
#pragma unroll 1 /* as it runs once */
        for (int i = 0; i < WORDS && !cleared; i++)
            *word(threadIdx.x, 32 * i) = 0x80000000;
        cleared = true;
    }

    /* Adds to three words; what they carry: 1, or -1. */
    static __device__ __forceinline__ uint32_t add(const whole_float &x) {
        uint32_t *const to = word(threadIdx.x, x.bit);
        const uint32_t a0 = (x.low << (x.bit & 31)) ^ x.sign, a1 = __funnelshift_l(x.low, x.high, x.bit) ^ x.sign;
        const uint32_t a2 = __funnelshift_l(x.high, 0, x.bit) ^ x.sign;
        uint32_t w0 = to[0], w1 = to[32], w2 = to[64], over;
        /* minus a number is its bits inverted, and 1: the carry of sign + sign */
        asm("{ .reg .u32 one; add.cc.u32 one, %7, %7; addc.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; "
            "addc.cc.u32 %2, %2, %6; addc.u32 %3, %7, 0; }"
            : "+r"(w0), "+r"(w1), "+r"(w2), "=r"(over)
            : "r"(a0), "r"(a1), "r"(a2), "r"(x.sign));
        to[0] = w0;
        to[32] = w1;
        to[64] = w2;
        return over;
    }
    static __device__ __noinline__ void carry(uint32_t bit, uint32_t over) {
        for (uint32_t *to = word(threadIdx.x, bit + 96); over != 0; to += 32) {
            const uint32_t was = *to, now = was + over;
            *to = now;
            over = over == 1 ? (now == 0 ? 1 : 0) : (was == 0 ? UINT32_MAX : 0);
        }
    }
    /* Without branches but for what is rare, so that one element's shifts overlap the other's additions. */
    template <class T, int N> __device__ __forceinline__ void spill(const T (&x)[N]) {
        uint32_t over[N], carries = 0;
        make_room();
#pragma unroll
        for (int i = 0; i < N; i++) {
            over[i] = add(whole_of(x[i]));
            carries |= over[i];
        }
        if (carries != 0)
#pragma unroll
            for (int i = 0; i < N; i++)
                if (over[i] != 0)
                    carry(whole_of(x[i]).bit, over[i]);
    }

    static __device__ __noinline__ void drain(int64_t *limb) {
        for (int l = threadIdx.x / 32; l < WORDS; l += blockDim.x / 32) {
            int64_t units = 0;
            for (unsigned i = threadIdx.x % 32; i < blockDim.x; i += 32)
                units += (int64_t)*word(i, 32 * l) - 0x80000000;
            units = add_lanes(units);
            if (threadIdx.x % 32 == 0 && units != 0)
                atomicAdd((unsigned long long *)limb + l, (unsigned long long)units);
        }
    }
};
