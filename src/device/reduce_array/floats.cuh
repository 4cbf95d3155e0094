/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators of moments of floats: which sums an element goes to, and what a block sends. */
#pragma once

#include "../../host/reduce_array/tiling.h"
#include "halves.cuh"
#include "sums.cuh"

struct floats_total {
    proof linear, square;
    uint64_t count, nans;
    uint32_t flags; /* of linear; those of squares follow */
    bool spilled;   /* some of it has gone to limbs */
    __device__ bool holds() const {
        return linear.holds() && square.holds() && !spilled;
    }
};

template <int BYTES, bool SQUARES> struct floats_partial {
    two_levels<std::conditional_t<BYTES == 8 || SQUARES, __int128, int64_t>> of[SQUARES ? 2 : 1];
    uint32_t flags; /* upper bit: some of it has gone to limbs */
    uint64_t count, nans;
    static const int GAP = BYTES == 8 ? 48 : 23, GAP_SQUARES = 46;
    /* Words: all levels' but the upper ones of the first lower level, which are 0 behind join_lanes(). */
    static const uint32_t LEVEL = sizeof of[0] / 8, ZERO = (1u << LEVEL) - (GAP > 23 ? 4 : 2);
    static const uint32_t USED = ((2u << sizeof of / 4) - 1) & ~(ZERO << LEVEL);
    static const uint32_t USED_COUNTS = 15u << (sizeof of / 4 + 2);
    __device__ bool spilled() const {
        return flags >> 31;
    }
    static __device__ floats_partial none() {
        return {};
    }
    __device__ void join(const floats_partial &other) {
        for (int i = 0; i < (SQUARES ? 2 : 1); i++)
            of[i].join(other.of[i]);
        count += other.count;
        nans += other.nans;
        flags |= other.flags;
    }
};

/*
 * Moments of floats. Of doubles no squares, whose products have 106 bits. SINGLES: nothing is computed in double
 * until blocks have sent, as many devices do that at 1/32 or 1/64 of the rate of floats.
 */
template <int BYTES, bool SQUARES, bool SINGLES> struct floats : plain_accumulator {
    typedef floats_total total;
    typedef floats_partial<BYTES, SQUARES> partial;
    static const int VECTORS = BYTES > 2 ? LOADS : SQUARES ? 1 : SINGLES ? 2 : LOADS;
    static const bool FEW = BYTES == 8 || SQUARES; /* threads, with more registers each */
    static const int THREADS = FEW ? GP_REDUCE_ALL_FEW_THREADS : GP_REDUCE_ALL_THREADS, BLOCKS = FEW ? 3 : 2;
    static const int GAP = partial::GAP;
    narrow_sum<std::conditional_t<SINGLES, bins_of_singles, bins_of_doubles>> narrow; /* 2 and 4 bytes */
    wide_sum wide;                                                                    /* 8 */
    square_sum square;
    word_column<WORDS_F64, 0> wide_words;
    word_column<WORDS_SQUARE, BIN_COUNT> square_words;
    uint32_t held; /* batches not to try; of floats of 2 bytes parts of them */
    uint32_t count, nans, flags;
    uint32_t sign; /* of a word, cleared for sums of magnitudes */
    int power;
    bool is_bf16, skip_nan, counts, sums;

    static __host__ __device__ constexpr size_t column() {
        return (BYTES == 8 ? WORDS_F64 * 4 : BIN_COUNT * BIN_BYTES) + (SQUARES ? WORDS_SQUARE * 4 : 0);
    }
    /* Words of a partial that the call wants. */
    static __device__ uint32_t used(const gp_pass &pass) {
        return partial::USED | (pass.skip_nan || pass.wants & GP_WANT_COUNT ? partial::USED_COUNTS : 0);
    }
    static __device__ __forceinline__ uint4 sample_of(const run &r) {
        return sample_vector(r);
    }
    __device__ __forceinline__ void clear(const gp_pass &pass, const uint4 &sample) {
        power = expected_power<BYTES>(pass, sample);
        if (BYTES == 8)
            wide.clear(power);
        else
            narrow.clear(power);
        square.clear();
        wide_words.cleared = square_words.cleared = false;
        held = count = nans = flags = 0;
        sign = !(pass.wants & GP_WANT_ABS) ? 0 : BYTES == 2 ? 0x80008000 : 0x80000000;
        is_bf16 = pass.type == GP_BF16;
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
    /* The whole warp, so that columns are in use in one of many warps at most, or in all. */
    __device__ __forceinline__ bool accepts(bool whole) {
        if (__all_sync(__activemask(), whole))
            return true;
        held = TRIED_EVERY;
        return false;
    }
    template <class T, int N> __device__ __forceinline__ void take_specials(T (&x)[N]) {
        float special = 0, squares = 0;
        if (!has_special(x))
            return;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float taken = is_special(x[i]) ? (float)x[i] : 0;
            special += taken;
            squares += SQUARES ? taken * taken : 0;
            x[i] = is_special(x[i]) ? 0 : x[i];
        }
        flags |= special_flag(special) | special_flag(squares) << FLAGS_SQUARE;
    }
    template <int N> __device__ __forceinline__ void take_floats(float (&x)[N]) {
        if (skip_nan || counts)
#pragma unroll
            for (int i = 0; i < N; i++)
                x[i] = checked(x[i]);
        int32_t a = 0, b = 0;
        square_batch squares = {0, 0, 0};
        const auto add = [&](int32_t upper, int32_t lower) {
            a += upper;
            b += lower;
            if (SQUARES)
                squares.add(upper, lower);
        };
        if (held == 0 && accepts(narrow.try_levels(x, add))) {
            narrow.accept(a, b);
            if (SQUARES)
                square.accept(squares);
            return;
        }
        held--;
        if (SINGLES)
            take_specials(x);
        if (!SQUARES || sums)
            narrow.spill(x);
        if (SQUARES)
            square_words.spill(x);
    }
    template <int N> __device__ __forceinline__ void take_doubles(const uint4 (&v)[N]) {
        double x[2 * N];
        int64_t a, b;
#pragma unroll
        for (int i = 0; i < 2 * N; i++) {
            const uint64_t raw = wide_of(v[i / 2], i % 2) & ~((uint64_t)sign << 32);
            x[i] = __longlong_as_double((long long)raw);
        }
        if (skip_nan || counts)
#pragma unroll
            for (int i = 0; i < 2 * N; i++)
                x[i] = checked(x[i]);
        if (held == 0 && accepts(wide.try_levels(x, a, b))) {
            wide.accept(a, b);
            return;
        }
        held--;
        take_specials(x);
        wide_words.spill(x);
    }
    template <int N> __device__ __forceinline__ void take_words(const uint4 (&v)[N]) {
        float x[N * 16 / BYTES];
#pragma unroll
        for (int i = 0; i < 4 * N; i++) {
            const uint32_t bits = word_of(v[i / 4], i % 4) & ~sign;
            if (BYTES == 4) {
                x[i] = __uint_as_float(bits);
            } else {
                x[i * 4 / BYTES] = real_of<2>(bits, is_bf16);
                x[i * 4 / BYTES + 1] = real_of<2>(bits >> 16, is_bf16);
            }
        }
        take_floats(x);
    }
    /* Whether the sum of floats of 2 bytes is taken, as doubles. */
    template <int N> __device__ __forceinline__ bool takes_halves(const uint4 (&v)[N]) {
        int64_t units;
        if (SINGLES || skip_nan || counts || held > 0 ||
            !accepts(try_halves(v, half_form(is_bf16, sign != 0, power), units)))
            return false;
        narrow.high += units >> GAP;
        narrow.low += units & ((1 << GAP) - 1);
        return true;
    }
    template <int N> __device__ __forceinline__ void take(const uint4 (&v)[N], uint32_t) {
        if constexpr (BYTES == 2 && !SQUARES) {
            if (!takes_halves(v))
#pragma unroll
                for (int i = 0; i < N; i++)
                    take_words((const uint4(&)[1])v[i]); /* all at once need more registers */
        } else if constexpr (BYTES == 8)
            take_doubles(v);
        else
            take_words(v);
    }

    __device__ __forceinline__ partial own() {
        partial p = partial::none();
        p.of[0].high = BYTES == 8 ? wide.high : narrow.high;
        p.of[0].low = BYTES == 8 ? wide.low : narrow.low;
        if (SQUARES) {
            p.of[SQUARES].high = square.high;
            p.of[SQUARES].low = square.low;
        }
        p.count = count;
        p.nans = nans;
        if (BYTES < 8 && !SINGLES && narrow.spilled())
            flags |= special_flag(bins_of_doubles::take_special());
        const bool spilled = wide_words.cleared || square_words.cleared || (BYTES < 8 && narrow.spilled());
        p.flags = flags | (spilled ? 0x80000000 : 0);
        return p;
    }
    /* Columns of the block, into limbs: the first GP_EXACT_LIMBS are of linear. */
    __device__ __forceinline__ void drain(int64_t *limb) {
        const bool linear = !SQUARES || sums;
        if (BYTES == 8)
            wide_words.make_room();
        else if (linear)
            narrow.make_room(narrow.FULL); /* carries, or clears */
        if (SQUARES)
            square_words.make_room();
        __syncthreads();
        if (BYTES == 8)
            wide_words.drain(limb);
        else if (linear)
            narrow.drain(limb);
        if (SQUARES)
            square_words.drain(limb + GP_EXACT_LIMBS);
    }
    /* What levels hold, to limbs too. */
    __device__ void add_levels(const partial &p, const gp_exact_form *form, int64_t *limb,
                               int64_t *limb_square) const {
        const int unit = BYTES == 8 ? wide.unit(power) : narrow.unit(power);
        add_whole(limb, unit + GAP - form[0].unit, p.of[0].high);
        add_whole(limb, unit - form[0].unit, p.of[0].low);
        if (SQUARES) {
            const int bit = square.unit(power) - form[1].unit;
            add_whole(limb_square, bit + square.GAP, p.of[SQUARES].high);
            add_whole(limb_square, bit, p.of[SQUARES].low);
        }
    }
    __device__ total total_of(const partial &p) const {
        total t = {{0, 0, 0, 0}, {0, 0, 0, 0}, p.count, p.nans, p.flags & 0x7fffffff, p.spilled()};
        t.linear = proof_of(p.of[0].high, p.of[0].low, GAP, BYTES == 8 ? wide.unit(power) : narrow.unit(power));
        if (SQUARES)
            t.square = proof_of(p.of[SQUARES].high, p.of[SQUARES].low, square.GAP, square.unit(power));
        return t;
    }
};
