/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread of reduce_many gathers of one output, element by element: bits, extremes and integers. A form has
 * the pass's constants; its state is what threads join, words that shuffles can move.
 */
#ifndef GP_LANE_CUH
#define GP_LANE_CUH

#include "write.cuh"

/* An element's bits, where they are wanted without their sign extended. */
template <int BYTES> struct raw_type { typedef uint32_t type; };
template <> struct raw_type<8> { typedef uint64_t type; };
template <> struct raw_type<0> { typedef uint64_t type; };

/* BYTES 0: of any width, asked for each element. */
template <int BYTES>
__device__ __forceinline__ typename raw_type<BYTES>::type load_element(const unsigned char *at, uint32_t bytes) {
    if (BYTES == 1)
        return *at;
    if (BYTES == 2)
        return *(const uint16_t *)at;
    if (BYTES == 4)
        return *(const uint32_t *)at;
    if (BYTES == 8)
        return *(const typename raw_type<BYTES>::type *)at;
    return (typename raw_type<BYTES>::type)load_raw(bytes, at);
}

struct lane_bits {
    typedef bits_total state;
    static const int BYTES = 0;
    static const bool HAS_NOTHING = false;
    uint64_t unused; /* bits that the elements have not */
    __device__ explicit lane_bits(const gp_pass &pass) : unused(~(uint64_t)0 << (8 * bytes_of(pass.type) - 1) << 1) {}
    __device__ void begin(const gp_pass &, const unsigned char *) {}
    __device__ uint64_t nothing() const {
        return 0;
    }
    __device__ __forceinline__ void take(state &s, uint64_t raw, uint32_t) const {
        s.join({raw | unused, raw, raw});
    }
    __device__ bits_total total(const state &s) const {
        return s;
    }
};

template <int WIDTH> struct lane_extremes {
    typedef typename key_type<WIDTH>::type key_t;
    typedef typename raw_type<WIDTH>::type raw_t;
    typedef extremes_partial<key_t> state;
    static const int BYTES = WIDTH;
    static const bool HAS_NOTHING = false;
    key_t nan_above, nan_below, inverted;
    raw_t bias;
    bool places, skip_nan;

    __device__ explicit lane_extremes(const gp_pass &pass) {
        const key_form form(pass.type);
        const state none = state::none();
        nan_above = is_float(pass.type) ? (key_t)form.nan_above : none.least;
        nan_below = is_float(pass.type) ? (key_t)form.nan_below : none.most;
        inverted = (key_t)form.inverted;
        bias = (raw_t)form.bias;
        places = pass.wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX);
        skip_nan = pass.skip_nan;
    }
    __device__ void begin(const gp_pass &, const unsigned char *) {}
    __device__ raw_t nothing() const {
        return 0;
    }
    __device__ __forceinline__ void take(state &s, raw_t raw, uint32_t id) const {
        const raw_t unbiased = raw ^ bias;
        const key_t x = WIDTH == 1   ? (key_t)(int8_t)unbiased
                        : WIDTH == 2 ? (key_t)(int16_t)unbiased
                                     : (key_t)unbiased;
        const key_t key = x ^ ((x >> (8 * sizeof(key_t) - 1)) & inverted);
        if (key > nan_above || key < nan_below) {
            s.at_nan = min(s.at_nan, id);
        } else if (places) {
            s.join({key, key, id, id, UINT32_MAX});
        } else {
            s.least = min(s.least, key);
            s.most = max(s.most, key);
        }
    }
    __device__ extremes_total total(const state &s) const {
        return {s.least, s.most, s.at_least, s.at_most, skip_nan || s.at_nan == UINT32_MAX ? INT64_MAX : s.at_nan};
    }
};

/* The sum of integers of up to 4 bytes. Signed ones are added with the sign bit inverted: `bias` too large each. */
template <int WIDTH> struct lane_sum {
    struct state {
        uint64_t sum;
        static __device__ state none() {
            return {0};
        }
        __device__ void join(const state &other) {
            sum += other.sum;
        }
    };
    static const int BYTES = WIDTH;
    static const bool HAS_NOTHING = true;
    uint32_t bias;
    uint64_t all; /* biases of an output's elements */
    __device__ explicit lane_sum(const gp_pass &pass)
        : bias(is_signed(pass.type) ? (uint32_t)1 << (8 * WIDTH - 1) : 0), all(pass.length * bias) {}
    __device__ void begin(const gp_pass &, const unsigned char *) {}
    __device__ uint32_t nothing() const {
        return bias;
    }
    __device__ __forceinline__ void take(state &s, uint32_t raw, uint32_t) const {
        s.sum += raw ^ bias;
    }
    __device__ integers_total total(const state &s) const {
        integers_total t = integers_total::none();
        t.sum[0] = s.sum - all;
        t.sum[1] = (uint64_t)((int64_t)t.sum[0] >> 63);
        return t;
    }
};

/* Any sums of integers. */
struct lane_integers {
    typedef integers_total state;
    static const int BYTES = 0;
    static const bool HAS_NOTHING = true; /* nothing() adds nothing */
    uint32_t wants, bytes;
    bool has_sign;
    __device__ explicit lane_integers(const gp_pass &pass)
        : wants(pass.wants), bytes(bytes_of(pass.type)), has_sign(is_signed(pass.type)) {}
    __device__ void begin(const gp_pass &, const unsigned char *) {}
    __device__ uint64_t nothing() const {
        return 0;
    }
    __device__ __forceinline__ void take(state &s, uint64_t raw, uint32_t) const {
        integers_take(s, has_sign ? (uint64_t)extend_sign(raw, bytes) : raw, wants, has_sign);
    }
    __device__ integers_total total(const state &s) const {
        return s;
    }
};

#endif
