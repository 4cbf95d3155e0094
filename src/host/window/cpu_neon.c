/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window with NEON: differences of four columns a step, their prefix sums, the total carried on. Totals below 2^51 go
 * through double, where they are exact; where they can be larger, the block is done without vectors. Compared with
 * the oracle in an emulator; not timed on a processor.
 */
#include "cpu_slide.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

#define LANES 4

enum { NONE, IN_32, IN_64 }; /* how an output is computed; a constant wherever it is tested */

/* Totals of the window before the step, in every lane. */
typedef struct {
    uint32x4_t sum_32; /* modulo 2^32: differences of sums may pass 31 bits */
    int64x2_t sum, square;
} carries;

/* Columns 0 and 1, 2 and 3 in 64 bits. */
typedef struct {
    int64x2_t lower, upper;
} pairs;

INLINE pairs multiply(int32x4_t a, int32x4_t b) {
    return (pairs){vmull_s32(vget_low_s32(a), vget_low_s32(b)), vmull_high_s32(a, b)};
}

/* Prefix sums of the differences d, and the carry of the next step. */
INLINE pairs scan_pairs(pairs d, int64x2_t *carry) {
    const int64x2_t zero = vdupq_n_s64(0);
    int64x2_t lower = vaddq_s64(d.lower, vextq_s64(zero, d.lower, 1));
    int64x2_t upper = vaddq_s64(d.upper, vextq_s64(zero, d.upper, 1));
    upper = vaddq_s64(upper, vdupq_laneq_s64(lower, 1));
    pairs t = {vaddq_s64(lower, *carry), vaddq_s64(upper, *carry)};
    *carry = vaddq_s64(*carry, vdupq_laneq_s64(upper, 1));
    return t;
}

INLINE int32x4_t scan_32(int32x4_t d, uint32x4_t *carry) {
    const uint32x4_t zero = vdupq_n_u32(0), before = *carry;
    uint32x4_t t = vreinterpretq_u32_s32(d);
    t = vaddq_u32(t, vextq_u32(zero, t, 3));
    t = vaddq_u32(t, vextq_u32(zero, t, 2));
    *carry = vaddq_u32(before, vdupq_laneq_u32(t, 3));
    return vreinterpretq_s32_u32(vaddq_u32(t, before));
}

/* Exact in double, rounded once to float. */
INLINE float32x4_t round_pairs(pairs p) {
    return vcvt_high_f32_f64(vcvt_f32_f64(vcvtq_f64_s64(p.lower)), vcvtq_f64_s64(p.upper));
}

INLINE pairs widen(int32x4_t x) {
    return (pairs){vmovl_s32(vget_low_s32(x)), vmovl_high_s32(x)};
}

/* All columns of the block: a multiple of LANES. */
INLINE void slide_as(int sum, int square, const gp_window_block *b, carries *carry) {
    carries c = *carry;
    for (size_t i = 0; i < b->n; i += LANES) {
        int32x4_t enters = vld1q_s32(b->enters + i), leaves = vld1q_s32(b->leaves + i);
        int32x4_t d = vsubq_s32(enters, leaves);
        if (sum == IN_32)
            vst1q_f32(b->sum + i, vcvtq_f32_s32(scan_32(d, &c.sum_32)));
        if (sum == IN_64)
            vst1q_f32(b->sum + i, round_pairs(scan_pairs(widen(d), &c.sum)));
        if (square) /* a^2 - b^2 = (a - b) (a + b), and neither factor passes 32 bits */
            vst1q_f32(b->square + i, round_pairs(scan_pairs(multiply(d, vaddq_s32(enters, leaves)), &c.square)));
    }
    *carry = c;
}

static void slide_vectors(const gp_window_block *b, gp_window_totals *totals) {
    bool in_32 = b->sum && b->sum_in_32;
    carries c = {vdupq_n_u32((uint32_t)totals->sum), vdupq_n_s64((int64_t)totals->sum),
                 vdupq_n_s64((int64_t)totals->square)};
    if (!b->sum)
        slide_as(NONE, IN_64, b, &c);
    else if (in_32 && b->square)
        slide_as(IN_32, IN_64, b, &c);
    else if (in_32)
        slide_as(IN_32, NONE, b, &c);
    else if (b->square)
        slide_as(IN_64, IN_64, b, &c);
    else
        slide_as(IN_64, NONE, b, &c);
    totals->sum = in_32 ? (int32_t)vgetq_lane_u32(c.sum_32, 0) : vgetq_lane_s64(c.sum, 0);
    totals->square = (uint64_t)vgetq_lane_s64(c.square, 0);
}

static void slide(const gp_window_block *block, gp_window_totals *totals) {
    if (!block->below_2_51) {
        gp_window_slide_scalar(block, totals);
        return;
    }
    gp_window_block vectors = *block, rest = gp_window_block_after(block, block->n - block->n % LANES);
    vectors.n -= rest.n;
    slide_vectors(&vectors, totals);
    gp_window_slide_scalar(&rest, totals);
}

/* One element, and zeros in the other lanes. */
INLINE int32x4_t load_one(const int32_t *in) {
    return vld1q_lane_s32(in, vdupq_n_s32(0), 0);
}

INLINE uint32x4_t larger(uint32x4_t largest, int32x4_t x) {
    return vmaxq_u32(largest, vreinterpretq_u32_s32(vabsq_s32(x)));
}

static uint32_t magnitude(const int32_t *in, size_t n) {
    uint32x4_t largest = vdupq_n_u32(0);
    for (; n >= LANES; in += LANES, n -= LANES)
        largest = larger(largest, vld1q_s32(in));
    for (; n > 0; ++in, --n)
        largest = larger(largest, load_one(in));
    return vmaxvq_u32(largest);
}

/*
 * In 64 bits, of at most 2^30 elements: the sum, of elements up to 2^31; the squares modulo 2^64; their upper halves,
 * up to 2^30 each. The lower halves' sum stays below 2^62, so that the two others tell it.
 */
typedef struct {
    int64x2_t sum;
    uint64x2_t square, high;
} long_totals;

INLINE void add(long_totals *to, int32x4_t x) {
    pairs s = multiply(x, x);
    uint64x2_t lower = vreinterpretq_u64_s64(s.lower), upper = vreinterpretq_u64_s64(s.upper);
    to->sum = vpadalq_s32(to->sum, x);
    to->square = vaddq_u64(to->square, vaddq_u64(lower, upper));
    to->high = vsraq_n_u64(vsraq_n_u64(to->high, lower, 32), upper, 32);
}

static void accumulate(const int32_t *in, size_t n, gp_window_totals *to) {
    long_totals t = {vdupq_n_s64(0), vdupq_n_u64(0), vdupq_n_u64(0)};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add(&t, vld1q_s32(in + i));
    for (; i < n; ++i)
        add(&t, load_one(in + i));
    uint64_t high = vaddvq_u64(t.high), low = vaddvq_u64(t.square) - (high << 32);
    uint32_t largest = magnitude(in, n);
    to->sum += vaddvq_s64(t.sum);
    to->square += low + ((gp_u128)high << 32);
    to->magnitude = largest > to->magnitude ? largest : to->magnitude;
}

static void reverse(const int32_t *in, size_t n, int32_t *out) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        int32x4_t pairs_turned = vrev64q_s32(vld1q_s32(in + n - LANES - i));
        vst1q_s32(out + i, vextq_s32(pairs_turned, pairs_turned, 2));
    }
    for (; i < n; ++i)
        out[i] = in[n - 1 - i];
}

static void window_line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {magnitude, accumulate, reverse, slide, NULL};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status gp_launch_window_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, window_line);
}

#endif
