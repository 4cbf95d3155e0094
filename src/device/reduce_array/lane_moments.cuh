/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread gathers of sums of floats and of their squares: norms, means, variances. */
#pragma once

#include "lane_floats.cuh"

/* 1 / n, of which `near` is the nearest double. */
__device__ inline bounds reciprocal(double n, double near) {
    const double over = __fma_rn(near, n, -1);
    return {over > 0 ? __dmul_rd(near, 1 - 0x1p-53) : near, over < 0 ? __dmul_ru(near, 1 + 0x1p-52) : near};
}

/* Sums of floats of 2 and 4 bytes, and of their squares less a pivot. */
struct moments_total {
    bounds sum, square;
    double pivot, inverse; /* inverse: to nearest, of the number of elements */
};

struct moments_state {
    bounds sum;
    double square;  /* to nearest */
    uint32_t steps; /* additions, one of another's result, at most */
    float pivot;
    static __device__ moments_state none() {
        return {{0, 0}, 0, 0, 0};
    }
    __device__ __forceinline__ void add(double x) {
        const double less = x - pivot;
        sum.add(x);
        square = __fma_rn(less, less, square);
        steps++;
    }
    __device__ void join(const moments_state &other) {
        sum.join(other.sum);
        square += other.square;
        steps = max(steps, other.steps) + 1;
    }
    /* Each step is off by 2^-53 of its result at most, and the pivot's subtraction, which is squared, by as much. */
    __device__ bounds squares() const {
        const double off = 0x1.1p-53 * (steps + 8);
        return {__dmul_rd(square, 1 - off), __dmul_ru(square, 1 + off)};
    }
    __device__ moments_total total(double inverse) const {
        return {sum, squares(), pivot, inverse};
    }
};

/* Where squares are those of differences: not for what asks for their own sum. */
__device__ inline bool has_pivots(const gp_pass &pass) {
    bool pivots = pass.kind == GP_PASS_MOMENTS && (pass.wants & GP_WANT_SQUARES);
    for (unsigned r = 0; r < pass.results; r++)
        pivots &= pass.result[r].op != GP_REDUCE_SUM_SQUARES && pass.result[r].op != GP_REDUCE_NORM;
    return pivots;
}

template <int WIDTH> struct lane_moments : lane_base<moments_state, lane_moments<WIDTH>, WIDTH> {
    typedef raw_of<WIDTH> raw_t;
    static const int QUICKS = 2, SIDE_BY_SIDE = 2;
    static const bool REDOES = true;
    static const int REDO_BYTES = WIDTH;
    uint32_t kept;
    double n, inverse; /* to nearest */
    bool is_bf16, pivots;

    __device__ explicit lane_moments(const reduce_arguments &a)
        : kept(a.pass.wants & GP_WANT_ABS ? ~((uint32_t)1 << (8 * WIDTH - 1)) : ~(uint32_t)0), n(a.n),
          inverse(a.inverse), is_bf16(a.pass.type == GP_BF16), pivots(has_pivots(a.pass)) {}
    /* The pivot of an output is its first element. */
    __device__ void begin(const unsigned char *first, moments_state &s, uint32_t = 0, uint32_t = 1) const {
        const float x = pivots ? real_of<WIDTH>(load_unit<WIDTH>(first, WIDTH) & kept, is_bf16) : 0;
        s.pivot = x - x == 0 ? x : 0;
    }
    __device__ __forceinline__ void take(moments_state &s, raw_t raw, uint32_t) const {
        s.add(real_of<WIDTH>(raw & kept, is_bf16));
    }
    __device__ moments_total total(const moments_state &s) const {
        return s.total(inverse);
    }
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        bool all = pass.length > 1;
        for (unsigned r = 0; r < pass.results; r++)
            all &= pass.result[r].op >= GP_REDUCE_SUM_SQUARES && pass.result[r].type == GP_F32;
        return all ? 4 : 0;
    }
    /*
     * Where the sum is exact: so is its remainder by n, whose sign tells where the quotient lies; and n times the
     * variance is off by less than so many 2^-53 of the squares' sum, which is no less than the sum's square over n.
     */
    __device__ __forceinline__ bool quick(const moments_state &s, unsigned op, uint64_t *raw) const {
        const double sum = s.sum.up;
        const bool exact = sum - s.sum.down == 0; /* and finite */
        if (op == GP_REDUCE_MEAN) {
            *raw = __float_as_uint(quotient_of(sum, n, inverse));
            return exact;
        }
        const bool samples = op >= GP_REDUCE_VARIANCE_SAMPLE, plain = op <= GP_REDUCE_NORM; /* without a pivot */
        const double less = __fma_rn(-n, s.pivot, sum), all = __fma_rn(-less * inverse, less, s.square),
                     off = 0x1.1p-53 * (s.steps + 16) * s.square, part = samples ? 1 / (n - 1) : inverse;
        const bounds b =
            plain ? bounds{s.square - off, s.square + off} : bounds{(all - off) * part, (all + off) * part};
        return settle_squares(b, op, raw) && (plain || exact);
    }
};

/* n times the variance: the squares' sum less the sum's square over n. */
__device__ inline bounds deviations(const moments_total &t, double n, const bounds &inverse) {
    const double down = __fma_rd(-n, t.pivot, t.sum.down), up = __fma_ru(-n, t.pivot, t.sum.up);
    const double least = fmin(fabs(down), fabs(up)), most = fmax(fabs(down), fabs(up));
    const double from = down < 0 && up > 0 ? 0 : __dmul_rd(__dmul_rd(least, least), inverse.down);
    const double to = __dmul_ru(__dmul_ru(most, most), inverse.up);
    return {fmax(__dadd_rd(t.square.down, -to), 0.0), __dadd_ru(t.square.up, -from)};
}

/* Of `count` elements. */
__device__ inline bool moment_of(uint64_t count, unsigned op, unsigned type, const moments_total &t, uint64_t *raw) {
    const bool samples = op == GP_REDUCE_VARIANCE_SAMPLE || op == GP_REDUCE_STDDEV_SAMPLE;
    const double n = (double)count;
    if (count <= samples)
        return false;
    const bounds inverse = reciprocal(n, t.inverse);
    if (op == GP_REDUCE_MEAN && type != GP_F64)
        return settle(quotient_of(t.sum, n, inverse), type, raw);
    if (op == GP_REDUCE_SUM || op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_MEAN) {
        bounds sum = t.sum;
        if (op == GP_REDUCE_MEAN && !sum.exact())
            return false;
        if (op == GP_REDUCE_MEAN && sum.down - sum.down == 0)
            sum.down = sum.up = __longlong_as_double((long long)quotient(sum.down, count, type));
        return settle(sum, type, raw);
    }
    bounds b = t.square;
    if (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE) {
        if (!(t.square.up < INFINITY))
            b.down = b.up = NAN; /* of an infinity, or a NaN */
        else
            b = deviations(t, n, inverse).times(samples ? reciprocal(n - 1, 1 / (n - 1)) : inverse);
    }
    if (is_root(op))
        b = {__dsqrt_rd(b.down), __dsqrt_ru(b.up)};
    return settle(b, type, raw);
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const moments_total &t,
                                uint64_t *raw) {
    return moment_of(pass.length, op, type, t, raw);
}
