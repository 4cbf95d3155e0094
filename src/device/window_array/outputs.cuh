/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of windows of ints that warps walk down. */
#ifndef GP_WINDOW_OUTPUTS_CUH
#define GP_WINDOW_OUTPUTS_CUH

#include "results.cuh"

extern __shared__ __align__(16) unsigned char prefixes[];

/* Outputs of windows of ints: from prefix sums in shared memory to what is stored. */
template <class SUMS, int BYTES, int CHANNELS> struct walk_outputs {
    typedef typename SUMS::sum_type sum_type;
    typedef typename SUMS::square_type square_type;

    /* The window of a lane's output `number`, counted as outputs_of() does; own: bytes to the lane's entries. */
    static __device__ SUMS window_at(const strip_arguments &a, unsigned own, unsigned number) {
        const unsigned more = number / 4 * (5 * SUMS::bytes);
        SUMS window = SUMS::get(prefixes + (own + a.end[number % 4] * SUMS::bytes) + more);
        window.minus(SUMS::get(prefixes + (own + a.begin[number % 4] * SUMS::bytes) + more));
        return window;
    }
    static __device__ uint32_t pivot_of(const strip_arguments &a) {
        return BYTES == 4 || gp_type_is_signed(a.box.type) ? 0 : 1u << (8 * BYTES - 1);
    }
    /* Of n elements themselves. */
    static __device__ auto squares_of(const strip_arguments &a, sum_type sum, square_type square, uint32_t n) {
        const uint64_t pivot = pivot_of(a);
        if constexpr (BYTES == 4)
            return square;
        else
            return (uint64_t)square + 2 * pivot * (uint64_t)(int64_t)sum + pivot * pivot * n;
    }
    static __device__ uint32_t rounded(double x, uint32_t *nearest) {
        *nearest = min(*nearest, from_half(x));
        return __float_as_uint(__double2float_rn(x));
    }
    /* Result r of four windows that are whole, as floats or in the elements' type; nearest: how near a half they are.
     */
    template <strip_way WAY>
    static __device__ void make_four(const strip_arguments &a, unsigned r, const sum_type (&sum)[4],
                                     const square_type (&square)[4], uint32_t (&raw)[4], uint32_t *nearest) {
        const strip_result &how = a.result[r];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const sum_type s = (sum_type)(sum[k] + (sum_type)a.less);
            if constexpr (WAY == WAY_SMALL_MEAN && sizeof(sum_type) == 4)
                raw[k] = __float_as_uint(small_mean((int32_t)s, (float)a.cut.area, how.reciprocal));
            else if constexpr (WAY == WAY_VARIANCE || WAY == WAY_STDDEV) {
                const double x = spread_times(sum[k], square[k], a.cut.area, how.inverse);
                raw[k] = rounded(WAY == WAY_STDDEV ? root_near(x) : x, nearest);
            } else if constexpr (WAY == WAY_SUM)
                raw[k] = __float_as_uint(as_float(s));
            else if constexpr (WAY == WAY_SQUARES)
                raw[k] = __float_as_uint(as_float(squares_of(a, sum[k], square[k], a.cut.area)));
            else if constexpr (WAY == WAY_OWN_MEAN)
                raw[k] = mean_between(as_double(s), how.below, how.above);
            else
                raw[k] = rounded(as_double(s) * how.inverse, nearest);
        }
    }
    /* Returns whether all are right. */
    static __device__ bool make_any(const strip_arguments &a, unsigned r, const sum_type (&sum)[4],
                                    const square_type (&square)[4], uint32_t (&raw)[4]) {
        const strip_way way = a.result[r].way;
        uint32_t nearest = ~0u;
        if (way == WAY_SMALL_MEAN)
            make_four<WAY_SMALL_MEAN>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_MEAN)
            make_four<WAY_MEAN>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_VARIANCE)
            make_four<WAY_VARIANCE>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_STDDEV)
            make_four<WAY_STDDEV>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_SUM)
            make_four<WAY_SUM>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_SQUARES)
            make_four<WAY_SQUARES>(a, r, sum, square, raw, &nearest);
        else if (way == WAY_OWN_MEAN)
            make_four<WAY_OWN_MEAN>(a, r, sum, square, raw, &nearest);
        return way != WAY_OTHER && (nearest >= HALF_WIDTH || a.result[r].sure);
    }
    /* Of result r: an output of the row that is written. */
    static __device__ unsigned char *place_of(const strip_arguments &a, const strip_place &p, unsigned r,
                                              unsigned output) {
        const int64_t *stride = a.box.result[r].stride + a.box.outer;
        return p.to[r] + output / CHANNELS * stride[1] + (CHANNELS > 1 ? output % CHANNELS * stride[-1] : 0);
    }
    template <unsigned BYTES_EACH>
    static __device__ void store_together(unsigned char *to, const uint32_t (&raw)[4]) {
        __builtin_assume(__isGlobal(to));
        if (BYTES_EACH == 4)
            __stcs((uint4 *)to, make_uint4(raw[0], raw[1], raw[2], raw[3]));
        else if (BYTES_EACH == 2)
            *(uint2 *)to = make_uint2(__byte_perm(raw[0], raw[1], 0x5410), __byte_perm(raw[2], raw[3], 0x5410));
        else
            *(uint32_t *)to =
                __byte_perm(__byte_perm(raw[0], raw[1], 0x40), __byte_perm(raw[2], raw[3], 0x40), 0x5410);
    }
    /* Four outputs of result r from number `first` on, of 1, 2 or 4 bytes, as far as there are so many. */
    static __device__ void store_four(const strip_arguments &a, const strip_place &p, unsigned r, unsigned first,
                                      int outputs, const uint32_t (&raw)[4]) {
        const unsigned bytes = a.sizes >> 4 * r & 15;
        if ((a.stores >> r & 1) != 0 && outputs % 4 == 0) {
            unsigned char *const to = p.to[r] + first * bytes;
            if ((int)first >= outputs)
                return;
            if (bytes == 4)
                store_together<4>(to, raw);
            else if (bytes == 2)
                store_together<2>(to, raw);
            else
                store_together<1>(to, raw);
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if ((int)(first + k) < outputs)
                store_bits(bytes, raw[k], place_of(a, p, r, first + k));
    }
    /* The results with bits in `which` of a lane's outputs from number `first` on: 4, and 4 each 128 on. */
    static __device__ __noinline__ void write_slowly(const strip_arguments &a, const strip_place &p, unsigned own,
                                                     uint32_t which, unsigned row, unsigned first, unsigned count) {
        const gp_window_axis *y = gp_window_y(&a.box), *x = gp_window_x(&a.box);
        const uint64_t rows = gp_window_counted(y, a.box.border, (uint64_t)(p.y + row));
#pragma unroll 1
        for (unsigned r = 0; r < a.box.results; r++)
#pragma unroll 1
            for (unsigned k = 0; k < count && (which >> r & 1) != 0; k++) {
                const gp_pass_result &result = a.box.result[r];
                const unsigned output = first + k / 4 * 128 + k % 4;
                if ((int)output >= p.outputs)
                    break;
                const SUMS window = window_at(a, own, k / 4 * 128 + k % 4);
                const sum_type sum = (sum_type)window.sum;
                const uint32_t n =
                    (uint32_t)(rows * gp_window_counted(x, a.box.border, (uint64_t)(p.output + output) / CHANNELS));
                const uint64_t bits = result_of(result.op, result.type, (int64_t)sum + (int64_t)pivot_of(a) * n,
                                                squares_of(a, sum, window.square, n), n);
                store_bits(gp_type_bytes(result.type), bits, place_of(a, p, r, output));
            }
    }
};

#endif
