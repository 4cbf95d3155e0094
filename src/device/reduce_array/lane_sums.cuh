/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of reduce_many gathers of sums of integers of up to 4 bytes. */
#pragma once

#include "whole.cuh"

/*
 * The sum of integers of up to 4 bytes, loaded one by one or a word of 4 bytes at once. Signed ones are added with
 * the sign bit inverted: `bias` too large each.
 */
struct sum_state {
    uint64_t sum;
    static __device__ sum_state none() {
        return {0};
    }
    __device__ void join(const sum_state &other) {
        sum += other.sum;
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, int64_t sum, uint64_t *raw) {
    if ((type < GP_F32 && type != GP_S64) || llabs(sum) >= (int64_t)1 << 53)
        return whole_value(pass, op, type, {{(uint64_t)sum, (uint64_t)(sum >> 63)}, {0, 0}, {0, 0, 0}, 0}, raw);
    *raw = (uint64_t)sum;
    if (op == GP_REDUCE_MEAN) {
        if (type == GP_F32 && llabs(sum) <= 1 << 24 && pass.length <= 1 << 24) /* both are floats */
            *raw = __float_as_uint(__fdiv_rn((float)(int32_t)sum, (float)(uint32_t)pass.length));
        else
            *raw = quotient((double)sum, pass.length, type);
    } else if (type == GP_F64) {
        *raw = (uint64_t)__double_as_longlong((double)sum);
    } else if (type == GP_F32) {
        *raw = __float_as_uint(__ll2float_rn(sum));
    }
    return true;
}

/* Bytes of a result that whole_raw() makes; 0: of another type. */
__device__ __forceinline__ uint32_t whole_bytes(unsigned type) {
    return type == GP_F32 || bytes_of(type) == 8 ? bytes_of(type) : 0;
}

/* The bits of a whole number as a result of f32, f64, s64 or u64; u64 holds none below 0. */
__device__ __forceinline__ uint64_t whole_raw(int64_t whole, unsigned type) {
    return type == GP_F32   ? __float_as_uint(__ll2float_rn(whole))
           : type == GP_F64 ? (uint64_t)__double_as_longlong(__ll2double_rn(whole))
                            : (uint64_t)whole;
}

/* Whether a result is a mean, a variance or a deviation. */
__device__ __forceinline__ bool is_spread(unsigned op) {
    return op >= GP_REDUCE_MEAN && op <= GP_REDUCE_STDDEV_SAMPLE;
}

/* Whether quick_spread() rounds all results of a pass: their number of elements keeps its doubles exact. */
__device__ inline bool has_quick_spread(const gp_pass &pass) {
    bool all = !pass.where && pass.length > 1 && pass.length <= 1 << 21;
    for (unsigned r = 0; r < pass.results; r++)
        all &= is_spread(pass.result[r].op) && pass.result[r].type == GP_F32;
    return all;
}

/*
 * A mean, variance or deviation of n whole numbers. Their sum is exact; that of their squares is off by 2^-52 of it
 * at most, and exact where n of it are below 2^53.
 */
__device__ __forceinline__ bool quick_spread(double sum, double square, double n, double inverse, unsigned op,
                                             uint64_t *raw) {
    if (op == GP_REDUCE_MEAN) {
        *raw = __float_as_uint(quotient_of(sum, n, inverse));
        return true;
    }
    const double least = op >= GP_REDUCE_VARIANCE_SAMPLE ? n - 1 : n, all = n * square,
                 part = inverse * (least == n ? inverse : 1 / least), spread = __fma_rn(-sum, sum, all),
                 near = spread * part, off = 0x1p-49 * all * part;
    return settle_squares(all < 0x1p53 ? around(spread, n * least, near) : bounds{near - off, near + off}, op, raw);
}

template <int WIDTH, int PACK = 1> struct lane_sum : lane_base<sum_state, lane_sum<WIDTH>> {
    static const int BYTES = WIDTH * PACK, PACKED = PACK;
    static const bool HAS_NOTHING = true;
    uint32_t bias;
    uint64_t all;      /* biases of an output's elements */
    float n, inverse;  /* to nearest */
    double many, part; /* the same, for elements of 4 bytes */
    bool is_mean, to_float;
    __device__ explicit lane_sum(const reduce_arguments &a)
        : bias(gp_type_is_signed(a.pass.type) ? (uint32_t)1 << (8 * WIDTH - 1) : 0), all(a.pass.length * bias),
          n((float)(uint32_t)a.pass.length), many(a.n), part(a.inverse),
          is_mean(a.pass.result[0].op == GP_REDUCE_MEAN), to_float(a.pass.result[0].type == GP_F32) {
        inverse = __frcp_rn(n);
        bias *= PACK == 4 ? 0x01010101 : PACK == 2 ? 0x00010001 : 1;
    }
    __device__ uint32_t nothing() const {
        return bias;
    }
    __device__ __forceinline__ void take(sum_state &s, uint32_t raw, uint32_t) const {
        const uint32_t x = raw ^ bias;
        s.sum += PACK == 4 ? __dp4a(x, 0x01010101u, 0u) : PACK == 2 ? (x & 0xffff) + (x >> 16) : x;
    }
    __device__ int64_t total(const sum_state &s) const {
        return (int64_t)(s.sum - all);
    }
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        const unsigned type = pass.result[0].type;
        if (is_mean)
            return type == GP_F32 && pass.length <= 1 << (WIDTH < 4 ? 24 : 21) ? 4 : 0;
        return type == GP_F32 ? 4 : type == GP_S64 || (type == GP_U64 && !gp_type_is_signed(pass.type)) ? 8 : 0;
    }
    /* Of two whole numbers that are floats the quotient; its last correction rounds it, as the inverse is rounded
       (Markstein, IBM Journal of Research and Development 34, 1990). */
    __device__ __forceinline__ bool quick(const sum_state &s, unsigned, uint64_t *raw) const {
        const int64_t sum = total(s);
        *raw = to_float ? __float_as_uint(__ll2float_rn(sum)) : (uint64_t)sum;
        if (WIDTH == 4 && is_mean) /* below 2^53 */
            *raw = __float_as_uint(quotient_of((double)sum, many, part));
        if (WIDTH == 4 || !is_mean)
            return true;
        const float x = (float)(int32_t)sum, near = x * inverse, q = __fmaf_rn(__fmaf_rn(-near, n, x), inverse, near);
        *raw = __float_as_uint(__fmaf_rn(__fmaf_rn(-q, n, x), inverse, q));
        if (WIDTH == 1) /* 2^32 at most */
            return (uint32_t)sum + (1 << 24) <= 1 << 25;
        return (uint64_t)(sum + (1 << 24)) <= 1 << 25;
    }
};

/* Sums of ints of 1 and 2 bytes and of their squares. */
struct squares_state {
    int64_t sum;
    uint64_t square;
    static __device__ squares_state none() {
        return {0, 0};
    }
    __device__ void join(const squares_state &other) {
        sum += other.sum;
        square += other.square;
    }
};

template <int WIDTH, int PACK = 1> struct lane_squares : lane_base<squares_state, lane_squares<WIDTH>> {
    static const int BYTES = WIDTH * PACK, PACKED = PACK, QUICKS = 2;
    static const bool HAS_NOTHING = true;
    bool has_sign;
    unsigned quick_type;
    double n, inverse; /* to nearest */
    __device__ explicit lane_squares(const reduce_arguments &a)
        : has_sign(gp_type_is_signed(a.pass.type)), quick_type(a.pass.result[0].type), n(a.n), inverse(a.inverse) {}
    __device__ __forceinline__ void take(squares_state &s, uint32_t raw, uint32_t) const {
        if constexpr (PACK == 4) {
            s.sum += has_sign ? __dp4a((int)raw, 0x01010101, 0) : (int)__dp4a(raw, 0x01010101u, 0u);
            s.square += has_sign ? (uint32_t)__dp4a((int)raw, (int)raw, 0) : __dp4a(raw, raw, 0u);
        } else {
            int32_t sum = 0;
#pragma unroll
            for (int i = 0; i < PACK; i++) {
                const int shift = 32 - 8 * WIDTH;
                const uint32_t up = raw >> 8 * WIDTH * i << shift;
                const int32_t x = has_sign ? (int32_t)up >> shift : (int32_t)(up >> shift);
                sum += x;
                s.square += PACK == 2 ? (uint64_t)((int64_t)x * x) : (uint32_t)x * (uint32_t)x;
            }
            s.sum += sum;
        }
    }
    __device__ integers_total total(const squares_state &s) const {
        return {{(uint64_t)s.sum, (uint64_t)(s.sum >> 63)}, {0, 0}, {s.square, 0, 0}, 0};
    }
    /* n times the squares' sum fits 63 bits; alone it is a double. */
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        if (pass.results == 1 && pass.result[0].op == GP_REDUCE_SUM_SQUARES)
            return whole_bytes(quick_type);
        if (pass.results == 1 && pass.result[0].op == GP_REDUCE_NORM)
            return quick_type == GP_F32 && pass.length <= 1 << 20 ? 4 : 0;
        bool all = pass.length > 1 && pass.length < (uint64_t)1 << (31 - 8 * WIDTH);
        for (unsigned r = 0; r < pass.results; r++)
            all &= pass.result[r].op >= GP_REDUCE_MEAN && pass.result[r].type == GP_F32;
        return all ? 4 : 0;
    }
    __device__ __forceinline__ bool quick(const squares_state &s, unsigned op, uint64_t *raw) const {
        if (op == GP_REDUCE_MEAN) {
            *raw = __float_as_uint(quotient_of((double)s.sum, n, inverse));
            return true;
        }
        if (op < GP_REDUCE_MEAN) { /* the sum of squares, or the norm */
            *raw = whole_raw((int64_t)s.square, quick_type);
            return op == GP_REDUCE_SUM_SQUARES || settle_squares({(double)s.square, (double)s.square}, op, raw);
        }
        const uint64_t magnitude = (uint64_t)llabs(s.sum), whole = (uint64_t)n * s.square - magnitude * magnitude;
        const double m = op >= GP_REDUCE_VARIANCE_SAMPLE ? n - 1 : n, part = m == n ? inverse : 1 / m;
        const bounds b = around((double)(int64_t)whole, n * m, (double)(int64_t)whole * inverse * part);
        return settle_squares(b, op, raw);
    }
};

/* Of 4 neighbouring columns of bytes: sums by two of 16 bits in a word, of squares by 32 bits, and after 256 elements
   in numbers of their own. Signed elements are taken as 128 more, which is put right in the end. */
struct lane_square_bytes : lane_squares<1> {
    typedef uint32_t raw_t;
    static const int BYTES = 4, PACKED = 1, OUTPUTS = 4;
    static const bool HAS_NOTHING = false;
    typedef states_of<squares_state, 4> joined;
    struct state {
        joined long_ones;
        uint32_t two[2], square[4], taken;
        int32_t more; /* than the elements */
        static __device__ state none() {
            return {};
        }
        __device__ __forceinline__ void spill() {
            const int64_t n = taken;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int64_t sum = two[i % 2] >> i / 2 * 16 & 0xffff;
                long_ones.of[i].join({sum - n * more, (uint64_t)(square[i] - 2 * more * sum + n * more * more)});
                square[i] = 0;
            }
            two[0] = two[1] = taken = 0;
        }
    };
    uint32_t bias;
    __device__ explicit lane_square_bytes(const reduce_arguments &a)
        : lane_squares<1>(a), bias(has_sign ? 0x80808080 : 0) {}
    static __device__ joined join_of(state s) {
        s.spill();
        return s.long_ones;
    }
    static __device__ const squares_state &part_of(const joined &s, int i) {
        return s.of[i];
    }
    __device__ void begin(const unsigned char *, state &s, uint32_t, uint32_t) const {
        s.more = has_sign ? 128 : 0;
    }
    static __device__ __forceinline__ void add(state &s, uint32_t x, bool squares) {
        s.two[0] += x & 0x00ff00ff;
        s.two[1] += x >> 8 & 0x00ff00ff;
        if (squares)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const uint32_t e = x >> 8 * i & 0xff;
                s.square[i] += e * e;
            }
        if (++s.taken == 256)
            s.spill();
    }
    __device__ __forceinline__ void take(state &s, uint32_t raw, uint32_t) const {
        add(s, raw ^ bias, true);
    }
};

/* Sums of 16 neighbouring columns of bytes, below 2^32 and whose results are quick: two in a word, of up to 256 bytes
   each, and then in words of their own. */
struct lane_bytes : lane_sum<1> {
    typedef uint4 raw_t;
    static const int BYTES = 16, PACKED = 1, OUTPUTS = 16;
    static const bool HAS_NOTHING = false;
    struct joined {
        uint32_t sum[16];
        static __device__ joined none() {
            return {};
        }
        __device__ void join(const joined &other) {
#pragma unroll
            for (int i = 0; i < 16; i++)
                sum[i] += other.sum[i];
        }
    };
    /* Bytes 4 w and 4 w + 2 of a unit are in two[2 w], the others in two[2 w + 1]. */
    struct state {
        joined long_ones;
        uint32_t two[8], taken;
        static __device__ state none() {
            return {};
        }
        __device__ __forceinline__ joined all() const {
            joined s = long_ones;
#pragma unroll
            for (int i = 0; i < 16; i++)
                s.sum[i] += two[i / 4 * 2 + i % 2] >> i % 4 / 2 * 16 & 0xffff;
            return s;
        }
    };
    __device__ explicit lane_bytes(const reduce_arguments &a) : lane_sum<1>(a) {
        bias *= 0x01010101;
    }
    static __device__ joined join_of(const state &s) {
        return s.all();
    }
    static __device__ sum_state part_of(const joined &s, int i) {
        return {s.sum[i]};
    }
    __device__ __forceinline__ void take(state &s, const raw_t &raw, uint32_t) const {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const uint32_t x = word_of(raw, w) ^ bias;
            s.two[2 * w] += x & 0x00ff00ff;
            s.two[2 * w + 1] += x >> 8 & 0x00ff00ff;
        }
        if (++s.taken % 256 != 0)
            return;
        s.long_ones = s.all();
#pragma unroll
        for (int i = 0; i < 8; i++)
            s.two[i] = 0;
    }
};
