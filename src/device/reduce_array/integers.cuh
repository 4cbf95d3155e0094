/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators of bits, of extremes with their places, and of moments of integers. */
#pragma once

#include "words.cuh"

#define LOADS 4 /* vectors of a batch at most, which a thread loads at once */

/* Blocks that an SM is to hold of what needs few registers. Turing has no room for a third one's threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define LIGHT_BLOCKS 2
#else
#define LIGHT_BLOCKS 3
#endif

/* What an accumulator of reduce_all is unless it says something else. */
struct plain_accumulator {
    static const bool REPEATS = false; /* vectors that a batch lacks are 0; else they repeat its last one */
    static __device__ uint4 sample_of(const run &) {
        return make_uint4(0, 0, 0, 0);
    }
    __device__ void take_back(const uint4 &) {}
};

struct bits_total {
    uint64_t and_, or_, xor_;
    static __device__ bits_total none() {
        return {~(uint64_t)0, 0, 0};
    }
    __device__ void join(const bits_total &other) {
        and_ &= other.and_;
        or_ |= other.or_;
        xor_ ^= other.xor_;
    }
};

/* Elements of any width: every 64 bits are one, and folded in the end. */
struct bits : plain_accumulator {
    typedef bits_total total;
    typedef bits_total partial;
    static const bool REPEATS = true;
    static const int VECTORS = LOADS, BLOCKS = LIGHT_BLOCKS;
    total t;
    /* Words of a partial that the call wants. */
    static __device__ uint32_t used(const gp_pass &pass) {
        return (pass.wants & GP_WANT_AND ? 3 : 0) | (pass.wants & GP_WANT_OR ? 3 << 2 : 0) |
               (pass.wants & GP_WANT_XOR ? 3 << 4 : 0);
    }
    __device__ void clear(const gp_pass &, const uint4 &) {
        t = total::none();
    }
    template <int N> __device__ __forceinline__ void take(const uint4 (&v)[N], uint32_t) {
#pragma unroll
        for (int i = 0; i < 2 * N; i++)
            t.join({wide_of(v[i / 2], i % 2), wide_of(v[i / 2], i % 2), wide_of(v[i / 2], i % 2)});
    }
    __device__ void take_back(const uint4 &v) {
        t.xor_ ^= wide_of(v, 0) ^ wide_of(v, 1);
    }
    __device__ partial own() const {
        return t;
    }
};

struct extremes_total {
    int64_t key_min, key_max, place_min, place_max, place_nan; /* of no NaN: INT64_MAX */
};

/* Keys with the tiles they were first met in, and the first tile with a NaN. */
template <class KEY> struct extremes_partial {
    KEY least, most;
    uint32_t at_least, at_most, at_nan;
    static __device__ extremes_partial none() {
        const KEY lowest = (KEY)((uint64_t)1 << (8 * sizeof(KEY) - 1));
        return {(KEY)~lowest, lowest, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    }
    __device__ void join(const extremes_partial &other) {
        if (other.least < least || (other.least == least && other.at_least < at_least)) {
            least = other.least;
            at_least = other.at_least;
        }
        if (other.most > most || (other.most == most && other.at_most < at_most)) {
            most = other.most;
            at_most = other.at_most;
        }
        at_nan = min(at_nan, other.at_nan);
    }
};

/* A batch costs three comparisons more than its keys; the place within a tile is looked up once, in the end. */
template <int BYTES> struct extremes : plain_accumulator, word_keys<BYTES> {
    typedef extremes_total total;
    typedef key_int<BYTES> key_t;
    typedef extremes_partial<key_t> partial;
    static const uint32_t NONE = UINT32_MAX;
    static const bool REPEATS = true;
    static const int VECTORS = LOADS, BLOCKS = BYTES == 8 ? 2 : LIGHT_BLOCKS;
    partial found;
    key_t nan_above, nan_below;
    using word_keys<BYTES>::bias;
    using word_keys<BYTES>::inverted;

    __device__ partial own() const {
        return found;
    }
    static __device__ uint32_t used(const gp_pass &) {
        return ~0u; /* a key's tile decides between equal ones */
    }
    __device__ void clear(const gp_pass &pass, const uint4 &) {
        const key_form form(pass.type);
        found = partial::none();
        nan_above = gp_type_is_float(pass.type) ? (key_t)form.nan_above : found.least;
        nan_below = gp_type_is_float(pass.type) ? (key_t)form.nan_below : found.most;
        this->keys_of(pass.type);
        if constexpr (BYTES < 8)
            asm("" : "+r"(bias)); /* computed once, not for each batch */
    }

    template <int N> __device__ __forceinline__ void batch_span(const uint4 (&v)[N], key_t &low, key_t &high) const {
        low = this->least_none();
        high = ~low;
        if constexpr (BYTES == 8) {
#pragma unroll
            for (int i = 0; i < 2 * N; i++) {
                const key_t raw = (key_t)wide_of(v[i / 2], i % 2),
                            key = raw ^ ((raw >> (8 * BYTES - 1)) & inverted) ^ bias;
                low = min(low, key);
                high = max(high, key);
            }
        } else {
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                this->span(word_of(v[i / 4], i % 4), low, high);
        }
        low = this->least_of(low);
        high = this->most_of(high);
    }

    /* The least and the greatest key without those of NaNs; of floats of 2 bytes and more. */
    template <int N> __device__ void numbers_span(const uint4 (&v)[N], key_t &low, key_t &high) const {
        low = BYTES == 8 ? (key_t)INT64_MAX : (key_t)INT32_MAX;
        high = BYTES == 8 ? (key_t)INT64_MIN : (key_t)INT32_MIN;
#pragma unroll
        for (int i = 0; i < N * 16 / BYTES; i++) {
            const int per_wide = 8 / BYTES;
            const uint64_t wide = wide_of(v[i / (2 * per_wide)], i / per_wide % 2) >> i % per_wide * 8 * BYTES;
            const int64_t raw = extend_sign(wide, BYTES);
            const key_t key = (key_t)(raw ^ ((raw >> 63) & (int64_t)inverted));
            if (key <= nan_above && key >= nan_below) {
                low = min(low, key);
                high = max(high, key);
            }
        }
    }

    template <int N> __device__ __forceinline__ void take(const uint4 (&v)[N], uint32_t id) {
        key_t low, high;
        batch_span(v, low, high);
        if (high > nan_above || low < nan_below) {
            found.at_nan = min(found.at_nan, id);
            if (BYTES >= 2)
                numbers_span(v, low, high);
        }
        found.join({low, high, id, id, NONE});
    }
};

/* Whole numbers of several 64-bit words, least first. */
template <int N>
__device__ __forceinline__ void add_words(uint64_t (&to)[N], uint64_t low, uint64_t next, uint64_t rest) {
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint64_t more = i == 0 ? low : i == 1 ? next : rest, sum = to[i] + more;
        const uint64_t carried = sum + carry;
        carry = (sum < more) | (carried < carry);
        to[i] = carried;
    }
}

/* Words of an integers_total. */
#define USED_SUM 0xfu
#define USED_ABS 0xf0u
#define USED_SQUARES 0x3f00u
#define USED_COUNT 0xc000u

struct integers_total {
    uint64_t sum[2], abs[2], square[3], count;
    static __device__ integers_total none() {
        return {{0, 0}, {0, 0}, {0, 0, 0}, 0};
    }
    __device__ void join(const integers_total &other) {
        add_words(sum, other.sum[0], other.sum[1], 0);
        add_words(abs, other.abs[0], other.abs[1], 0);
        add_words(square, other.square[0], other.square[1], other.square[2]);
        count += other.count;
    }
};

/* One integer, its sign extended. */
__device__ __forceinline__ void integers_take(integers_total &t, uint64_t x, uint32_t wants, bool has_sign) {
    const uint64_t sign = has_sign ? (uint64_t)((int64_t)x >> 63) : 0, magnitude = (x ^ sign) - sign;
    if (wants & GP_WANT_SUM)
        add_words(t.sum, x, sign, 0);
    if (wants & GP_WANT_ABS)
        add_words(t.abs, magnitude, 0, 0);
    if (wants & GP_WANT_SQUARES)
        add_words(t.square, magnitude * magnitude, __umul64hi(magnitude, magnitude), 0);
    t.count += x != 0;
}

/* A sum of 64-bit numbers, by their halves: fewer registers and additions than three words with carries take. */
struct halves_sum {
    uint64_t low, high; /* high: signed where the numbers are */
    __device__ __forceinline__ void add(uint64_t x, bool has_sign) {
        low += (uint32_t)x;
        high += has_sign ? (uint64_t)((int64_t)x >> 32) : x >> 32;
    }
    __device__ __forceinline__ void words(uint64_t (&to)[2]) const {
        to[0] = low + (high << 32);
        to[1] = (uint64_t)((int64_t)high >> 32) + (to[0] < low);
    }
};

/* What is wanted is asked once a batch. Sums of elements of up to 4 bytes fit 64 bits. */
template <int BYTES> struct integers : plain_accumulator, int_words<BYTES> {
    typedef integers_total total;
    typedef integers_total partial;
    static const int VECTORS = LOADS, BLOCKS = 2;
    halves_sum sum, abs, square, above; /* above: the upper words of squares of 8 bytes */
    uint64_t count;
    uint32_t wants;
    using int_words<BYTES>::has_sign;

    __device__ void clear(const gp_pass &pass, const uint4 &) {
        sum = abs = square = above = {0, 0};
        count = 0;
        wants = pass.wants;
        has_sign = gp_type_is_signed(pass.type);
    }

    static __device__ uint32_t used(const gp_pass &pass) {
        return (pass.wants & GP_WANT_SUM ? USED_SUM : 0) | (pass.wants & GP_WANT_ABS ? USED_ABS : 0) |
               (pass.wants & GP_WANT_SQUARES ? USED_SQUARES : 0) | (pass.wants & GP_WANT_COUNT ? USED_COUNT : 0);
    }

    __device__ partial own() const {
        partial p = partial::none();
        uint64_t upper[2], lower[2];
        sum.words(p.sum);
        abs.words(p.abs);
        if (BYTES < 8)
            p.sum[1] = (uint64_t)((int64_t)p.sum[0] >> 63);
        square.words(lower);
        above.words(upper);
        add_words(p.square, lower[0], lower[1], 0);
        p.square[1] += upper[0];
        p.square[2] += upper[1] + (p.square[1] < upper[0]);
        p.count = count;
        return p;
    }

    template <int N> __device__ __forceinline__ void take_wide(const uint4 (&v)[N]) {
        uint64_t x[2 * N];
#pragma unroll
        for (int i = 0; i < 2 * N; i++)
            x[i] = wide_of(v[i / 2], i % 2);
        if (wants & GP_WANT_SUM)
#pragma unroll
            for (int i = 0; i < 2 * N; i++)
                sum.add(x[i], has_sign);
        if (wants & GP_WANT_COUNT)
#pragma unroll
            for (int i = 0; i < 2 * N; i++)
                count += x[i] != 0;
#pragma unroll
        for (int i = 0; i < 2 * N && wants & (GP_WANT_ABS | GP_WANT_SQUARES); i++) {
            const uint64_t sign = has_sign ? (uint64_t)((int64_t)x[i] >> 63) : 0, magnitude = (x[i] ^ sign) - sign;
            abs.add(magnitude, false);
            if (wants & GP_WANT_SQUARES) {
                square.add(magnitude * magnitude, false);
                above.add(__umul64hi(magnitude, magnitude), false);
            }
        }
    }

    template <int N> __device__ __forceinline__ void take(const uint4 (&v)[N], uint32_t) {
        if (BYTES == 8) {
            take_wide(v);
            return;
        }
        if (wants & GP_WANT_SUM) {
            int64_t more = 0;
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                more += this->sum_of(word_of(v[i / 4], i % 4));
            sum.low += (uint64_t)more;
        }
        if (wants & GP_WANT_ABS) {
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                abs.low += this->abs_of(word_of(v[i / 4], i % 4));
        }
        if (wants & GP_WANT_SQUARES) {
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                square.add(this->square_of(word_of(v[i / 4], i % 4)), false);
        }
        if (wants & GP_WANT_COUNT) {
            uint32_t more = 0;
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                more += this->count_of(word_of(v[i / 4], i % 4));
            count += more;
        }
    }
};
