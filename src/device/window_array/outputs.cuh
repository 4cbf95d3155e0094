/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of windows of ints that warps walk down: from prefix sums in shared memory to what is stored. */
#pragma once

#include "write.cuh"

#include "quotient.cuh" /* later, as cuda_fp16.h has a type `half` */

extern __shared__ __align__(16) unsigned char prefixes[];

/* Any result of n elements, as bits: slow, and right. */
static __device__ __noinline__ uint64_t result_of(unsigned op, unsigned type, int64_t sum, uint128 squares,
                                                  uint32_t n) {
    const bool root = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE, variance = op >= GP_REDUCE_VARIANCE;
    if (op == GP_REDUCE_SUM)
        return type == GP_F32 ? __float_as_uint((float)sum) : (uint64_t)__double_as_longlong(as_double(sum));
    if (op == GP_REDUCE_SUM_SQUARES)
        return type == GP_F32 ? __float_as_uint((float)squares) : (uint64_t)__double_as_longlong(as_double(squares));
    if (!gp_type_is_float(type))
        return n >= 1u << 16
                   ? (uint64_t)gp_window_mean(sum, n)
                   : mean_between((double)sum, inverse_near(n) * (1 - 0x1p-50), inverse_near(n) * (1 + 0x1p-50));
    const uint64_t magnitude = (uint64_t)llabs(sum);
    const two_doubles number = variance ? two_doubles_of(squares * n - (uint128)magnitude * magnitude)
                                        : two_doubles_of((uint64_t)sum, 0x80000000u);
    const double by = inverse_near(divisor_of(op, n)), near = root ? root_near(number.high * by) : number.high * by;
    if (type == GP_F32 && from_half(near) >= HALF_WIDTH && fabs(near) < 0x1p100)
        return __float_as_uint(__double2float_rn(near));
    uint64_t raw;
    return decide(number, op, type, n, &raw) ? raw : window_exactly(op, type, sum, squares, n);
}

inline strip_result result_of_windows(const gp_problem *problem, const gp_strip_cut *cut, unsigned r) {
    const unsigned op = problem->box->result[r].op, type = problem->box->result[r].type;
    const double n = cut->area, by = op < GP_REDUCE_VARIANCE ? n : divisor_of(op, cut->area);
    strip_result result = {WAY_OTHER, (float)(1 / n), by, 1 / by, 0, 0};
    const uint64_t whole = (uint64_t)by;
    const bool exact = whole > 0 && (whole & (whole - 1)) == 0;
    result.below = exact ? result.inverse : result.inverse * (1 - 0x1p-52);
    result.above = exact ? result.inverse : result.inverse * (1 + 0x1p-52);
    if (op == GP_REDUCE_SUM || op == GP_REDUCE_SUM_SQUARES)
        result.way = op == GP_REDUCE_SUM ? WAY_SUM : WAY_SQUARES;
    else if (op == GP_REDUCE_MEAN)
        result.way = type == GP_F32         ? (cut->small ? WAY_SMALL_MEAN : WAY_MEAN)
                     : cut->area < 1u << 18 ? WAY_OWN_MEAN
                                            : WAY_OTHER;
    else if (by > 0)
        result.way = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE ? WAY_STDDEV : WAY_VARIANCE;
    if (type == GP_F64)
        result.way = WAY_OTHER;
    return result;
}

template <unsigned EACH>
static __device__ __forceinline__ void put_four(unsigned char *four, const uint32_t (&raw)[4]) {
    __builtin_assume(__isGlobal(four));
    if (EACH == 4)
        __stcs((uint4 *)four, make_uint4(raw[0], raw[1], raw[2], raw[3]));
    else if (EACH == 2)
        *(uint2 *)four = make_uint2(__byte_perm(raw[0], raw[1], 0x5410), __byte_perm(raw[2], raw[3], 0x5410));
    else
        *(uint32_t *)four = __byte_perm(__byte_perm(raw[0], raw[1], 0x40), __byte_perm(raw[2], raw[3], 0x40), 0x5410);
}

/* Four outputs a lane, of 4 bytes each, to any address of such: a lane stores from a multiple of 16 bytes on, and so
 * some of the lane below in place of its own last ones. left: outputs from the lane's first to the row's end. */
static __device__ void put_moved(unsigned char *to, int left, const uint32_t (&raw)[4]) {
    const int lane = threadIdx.x % 32, behind = (int)((uintptr_t)to / 4 % 4);
    uint32_t all[8], w[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        all[k] = k == 0 ? 0 : __shfl_up_sync(GP_FULL_WARP, raw[k], 1);
        all[4 + k] = raw[k];
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = behind == 0 ? all[4 + k] : behind == 1 ? all[3 + k] : behind == 2 ? all[2 + k] : all[1 + k];
    uint32_t *const from = (uint32_t *)to - behind;
    __builtin_assume(__isGlobal(from));
    const bool whole = left + behind >= 4 && (lane > 0 || behind == 0);
    if (whole)
        __stcs((uint4 *)from, make_uint4(w[0], w[1], w[2], w[3]));
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (!whole && k < left + behind && (lane > 0 || k >= behind))
            from[k] = w[k];
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (lane == 31 && k < behind && 4 + k < left + behind)
            from[4 + k] = behind == 1 ? raw[3] : behind == 2 ? raw[k < 2 ? 2 + k : 0] : raw[1 + k];
}

/* Four outputs of one of pictures that lie side by side, from number `at` on. */
template <unsigned EACH, int CHANNELS>
static __device__ void store_packed(const strip_arguments &a, const strip_place &p, unsigned char *line, unsigned r,
                                    int at, uint4 four) {
    uint32_t raw[4] = {four.x, four.y, four.z, four.w};
    const strip_spot spot = spot_of(a.cut.pack, at);
    unsigned char *const to = line + bytes_to(a.box, a.cut, p, r, spot, CHANNELS);
    const int count = at < p.outputs ? p.cols - spot.at : 0;
    if (a.fours && count > 0)
        return put_four<EACH>(to, raw);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (k < count)
            store_bits(EACH, raw[k],
                       CHANNELS == 1 ? to + k * a.box.result[r].stride[a.box.outer + 1]
                                     : line + bytes_to(a.box, a.cut, p, r, {spot.picture, spot.at + k}, CHANNELS));
}

/* USUAL: a mean, alone or with a variance, or a sum and one of squares, of windows that are whole. PACKED: pictures
 * may lie side by side. MOVES: results may lie anywhere. */
template <class SUMS, int BYTES, int COLUMNS, int CHANNELS, bool USUAL, bool PACKED, bool MOVES> class walk_outputs {
    typedef typename SUMS::sum_type sum_type;
    typedef typename SUMS::square_type square_type;

    const strip_arguments &a;
    const strip_place &p;
    unsigned begin[4], end[4]; /* bytes to the entries of the lane's first windows */
    const int first, outputs;  /* the lane's first; of the strip */
    const int four_until;      /* the last output from which four are stored at once; -1: none */
    unsigned char *to[2];      /* of usual results: the row that comes next */

  public:
    __device__ walk_outputs(const strip_arguments &arguments, const strip_place &place, unsigned kept, unsigned warp,
                            unsigned row)
        : a(arguments), p(place), first((int)(warp * (32 * COLUMNS) + threadIdx.x % 32 * 4)), outputs(place.outputs),
          four_until(!PACKED && a.stores == (1u << a.box.results) - 1 ? outputs - 4 : -1) {
        const unsigned own = kept + (warp * (40 * COLUMNS) + threadIdx.x % 32 * 5) * SUMS::bytes;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            begin[k] = own + a.begin[k] * SUMS::bytes;
            end[k] = own + a.end[k] * SUMS::bytes;
            asm volatile("" : "+r"(begin[k]), "+r"(end[k])); /* not to be computed again for each row */
        }
        for (unsigned r = 0; r < 2; r++)
            to[r] = row_of(r, row);
    }

  private:
    __device__ unsigned char *row_of(unsigned r, unsigned row) const {
        return p.to[r] + row * a.box.result[r].stride[a.box.outer];
    }
    /* The windows of the lane's outputs of group g; behind the last there is room. */
    __device__ void get_four(int g, sum_type (&sum)[4], square_type (&square)[4]) const {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const SUMS window = window_at(end[k], begin[k], g);
            sum[k] = (sum_type)window.sum;
            square[k] = window.square;
        }
    }
    static __device__ SUMS window_at(unsigned behind, unsigned first, int g) {
        SUMS window = SUMS::get(prefixes + behind + (unsigned)g * (160 * SUMS::bytes));
        window.minus(SUMS::get(prefixes + first + (unsigned)g * (160 * SUMS::bytes)));
        return window;
    }
    /* The k-th of them, in loops that are seldom run and so are short. */
    __device__ SUMS one_window(int g, int k) const {
        return window_at(end[0] + (a.end[k] - a.end[0]) * SUMS::bytes,
                         begin[0] + (a.begin[k] - a.begin[0]) * SUMS::bytes, g);
    }
    __device__ strip_spot spot(int at) const {
        return PACKED ? spot_of(a.cut.pack, at) : strip_spot{0, at};
    }
    __device__ uint64_t pivot() const {
        return BYTES == 4 || gp_type_is_signed(a.box.type) ? 0 : 1u << (8 * BYTES - 1);
    }
    /* Of n elements themselves. */
    __device__ auto squares_of(sum_type sum, square_type square, uint32_t n) const {
        if constexpr (BYTES == 4)
            return square;
        else
            return (uint64_t)square + 2 * pivot() * (uint64_t)(int64_t)sum + pivot() * pivot() * n;
    }
    /* A quotient, or its root, that is too near the middle of two floats for the last bits of a double. */
    template <strip_way WAY> __device__ uint32_t exactly(unsigned r, sum_type sum, square_type square) const {
        const uint64_t x = WAY == WAY_MEAN ? (uint64_t)((int64_t)sum + a.less)
                                           : (uint64_t)a.cut.area * square - (uint64_t)((int64_t)sum * sum);
        bool decided = true;
        return nearest_float(two_doubles_of(x, WAY == WAY_MEAN ? 0x80000000u : 0), a.result[r].by,
                             a.result[r].inverse, WAY == WAY_STDDEV, &decided);
    }
    /* Elements that count in the window of output number `at`, which sees `rows` rows of them. */
    __device__ uint32_t counted(uint32_t rows, int at) const {
        const gp_window_axis *x = gp_window_x(&a.box);
        if (USUAL || a.box.border != GP_BORDER_SHRINK)
            return a.cut.area;
        const int own = min(spot(at).at, p.cols - 1);
        const int begin = ((int)p.output + own) / CHANNELS - (int)x->before;
        return rows * (uint32_t)(min(begin + (int)x->window, (int)x->n) - max(begin, 0));
    }
    /* Result r of four windows from output number `at` on, as floats or in the elements' type. rows, at: ask what
     * windows that shrink hold; usual results need neither. Returns whether all four are right. */
    template <strip_way WAY>
    __device__ bool make_four(unsigned r, int g, const sum_type (&sum)[4], const square_type (&square)[4],
                              uint32_t rows, int at, uint32_t (&raw)[4]) const {
        const strip_result &how = a.result[r];
        uint32_t nearest = ~0u;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool whole = USUAL || a.box.border != GP_BORDER_SHRINK;
            const uint32_t n = counted(rows, at + k);
            const sum_type s = (sum_type)(sum[k] + (sum_type)(USUAL ? a.less : (int64_t)pivot() * n));
            const double inverse = whole ? how.inverse : inverse_near(divisor_of(a.box.result[r].op, n));
            if constexpr (WAY == WAY_SMALL_MEAN)
                raw[k] = __float_as_uint(small_mean((int32_t)s, (float)a.cut.area, how.reciprocal));
            else if constexpr (WAY == WAY_SUM)
                raw[k] = __float_as_uint((float)s);
            else if constexpr (WAY == WAY_SQUARES)
                raw[k] = __float_as_uint((float)squares_of(sum[k], square[k], n));
            else if constexpr (WAY == WAY_OWN_MEAN)
                raw[k] = mean_between(as_double(s), whole ? how.below : inverse * (1 - 0x1p-50),
                                      whole ? how.above : inverse * (1 + 0x1p-50));
            else {
                double x = WAY == WAY_MEAN ? as_double(s) * inverse : spread_times(sum[k], square[k], n, inverse);
                if (WAY == WAY_STDDEV)
                    x = root_near(x);
                nearest = min(nearest, USUAL || n > 1 ? from_half(x) : 0);
                raw[k] = __float_as_uint(__double2float_rn(x));
            }
        }
        if constexpr (sizeof(sum_type) > 4 || !USUAL)
            return nearest >= HALF_WIDTH;
        else if constexpr (WAY == WAY_MEAN || WAY == WAY_VARIANCE || WAY == WAY_STDDEV)
            if (__builtin_expect(nearest < HALF_WIDTH, 0))
#pragma unroll 1
                for (int k = 0; k < 4; k++) {
                    const SUMS window = one_window(g, k);
                    const uint32_t x = exactly<WAY>(r, (sum_type)window.sum, window.square);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        raw[j] = j == k ? x : raw[j];
                }
        return true;
    }
    /* Where output number `at` of result r is. */
    __device__ unsigned char *place_of(unsigned char *line, unsigned r, int at) const {
        if (PACKED)
            return line + bytes_to(a.box, a.cut, p, r, spot(at), CHANNELS);
        const int64_t *stride = a.box.result[r].stride + a.box.outer;
        return line + at / CHANNELS * stride[1] + (CHANNELS > 1 ? at % CHANNELS * stride[-1] : 0);
    }
    /* Four outputs of result r, of EACH bytes, from number `at` on. */
    template <unsigned EACH>
    __device__ void store_four(unsigned char *line, unsigned r, int at, const uint32_t (&raw)[4]) const {
        unsigned char *const four = line + at * (int)EACH;
        if (MOVES && EACH == 4 && a.moved)
            put_moved(four, outputs - at, raw);
        else if (at <= four_until)
            put_four<EACH>(four, raw);
        else if (PACKED)
            store_packed<EACH, CHANNELS>(a, p, line, r, at, make_uint4(raw[0], raw[1], raw[2], raw[3]));
        else
#pragma unroll 1
            for (int k = 0; k < 4 && at + k < outputs; k++)
                store_bits(EACH,
                           k < 2    ? (k == 0 ? raw[0] : raw[1])
                           : k == 2 ? raw[2]
                                    : raw[3],
                           place_of(line, r, at + k));
    }
    /* Outputs go in groups of 4 a lane, 128 a warp, so that each store of a warp fills whole sectors. */
    template <strip_way FIRST, strip_way SECOND> __device__ __forceinline__ void write_as() {
#pragma unroll
        for (int g = 0; g < COLUMNS / 4; g++) {
            if ((first & ~127) + g * 128 >= outputs)
                break;
            sum_type sum[4];
            square_type square[4];
            uint32_t raw[4];
            get_four(g, sum, square);
            make_four<FIRST>(0, g, sum, square, 0, 0, raw);
            store_four<FIRST == WAY_OWN_MEAN ? BYTES : 4>(to[0], 0, first + g * 128, raw);
            if constexpr (SECOND != WAY_OTHER) {
                make_four<SECOND>(1, g, sum, square, 0, 0, raw);
                store_four<4>(to[1], 1, first + g * 128, raw);
            }
        }
#pragma unroll
        for (int r = 0; r < (SECOND == WAY_OTHER ? 1 : 2); r++)
            to[r] += a.box.result[r].stride[a.box.outer];
    }
    __device__ __forceinline__ void write_usual() {
        const strip_way way = a.result[0].way;
        const bool small = way == WAY_SMALL_MEAN && (BYTES < 4 || sizeof(square_type) == 4);
        if constexpr (SUMS::has_squares)
            if (a.box.results == 2) {
                if (way == WAY_SUM)
                    write_as<WAY_SUM, WAY_SQUARES>();
                else if (a.result[1].way == WAY_STDDEV)
                    write_as<WAY_MEAN, WAY_STDDEV>();
                else if (small)
                    write_as<WAY_SMALL_MEAN, WAY_VARIANCE>();
                else
                    write_as<WAY_MEAN, WAY_VARIANCE>();
                return;
            }
        if constexpr (BYTES == 1 && CHANNELS == 1 && SUMS::has_squares)
            return; /* one result has sums without squares */
        if (way == WAY_OWN_MEAN)
            write_as<WAY_OWN_MEAN, WAY_OTHER>();
        else if (small)
            write_as<WAY_SMALL_MEAN, WAY_OTHER>();
        else
            write_as<WAY_MEAN, WAY_OTHER>();
    }
    /* Returns whether all are right. */
    __device__ bool make_any(unsigned r, int g, const sum_type (&sum)[4], const square_type (&square)[4],
                             uint32_t rows, int at, uint32_t (&raw)[4]) const {
        const strip_way way = a.result[r].way;
        return way == WAY_MEAN || way == WAY_SMALL_MEAN ? make_four<WAY_MEAN>(r, g, sum, square, rows, at, raw)
               : way == WAY_VARIANCE                    ? make_four<WAY_VARIANCE>(r, g, sum, square, rows, at, raw)
               : way == WAY_STDDEV                      ? make_four<WAY_STDDEV>(r, g, sum, square, rows, at, raw)
               : way == WAY_SUM                         ? make_four<WAY_SUM>(r, g, sum, square, rows, at, raw)
               : way == WAY_SQUARES                     ? make_four<WAY_SQUARES>(r, g, sum, square, rows, at, raw)
               : way == WAY_OWN_MEAN && (a.cut.area < 1u << 16 || a.box.border != GP_BORDER_SHRINK)
                   ? make_four<WAY_OWN_MEAN>(r, g, sum, square, rows, at, raw)
                   : false;
    }
    /* Output number `at` of result r, of n elements, the lane's k-th of group g. */
    __device__ void write_slowly(unsigned char *line, unsigned r, int at, int g, int k, uint32_t n) const {
        const gp_pass_result &result = a.box.result[r];
        if (PACKED && spot(at).at >= p.cols)
            return;
        const SUMS window = one_window(g, k);
        const sum_type sum = (sum_type)window.sum;
        const uint64_t bits = result_of(result.op, result.type, (int64_t)sum + (int64_t)pivot() * n,
                                        squares_of(sum, window.square, n), n);
        store_bits(gp_type_bytes(result.type), bits, place_of(line, r, at));
    }
    /* Results of any kind, of windows that may lack elements. */
    __device__ void write_any(unsigned row) const {
#pragma unroll 1
        for (int at = first, g = 0; g < COLUMNS / 4 && at < outputs; at += 128, g++) {
            const uint64_t y = (uint64_t)p.y + row + rows_above(a.cut, p, spot(at).picture);
            const uint32_t rows = (uint32_t)gp_window_counted(gp_window_y(&a.box), a.box.border, y);
            sum_type sum[4];
            square_type square[4];
            uint32_t raw[4];
            get_four(g, sum, square);
#pragma unroll 1
            for (unsigned r = 0; r < a.box.results; r++) {
                unsigned char *const line = row_of(r, row);
                if (!make_any(r, g, sum, square, rows, at, raw))
#pragma unroll 1
                    for (int k = 0; k < 4 && at + k < outputs; k++)
                        write_slowly(line, r, at + k, g, k, counted(rows, at + k));
                else if (a.result[r].way == WAY_OWN_MEAN)
                    store_four<BYTES>(line, r, at, raw);
                else
                    store_four<4>(line, r, at, raw);
            }
        }
    }

  public:
    /* Rows come one after another. */
    __device__ __forceinline__ void write(unsigned row) {
        if constexpr (USUAL)
            write_usual();
        else
            write_any(row);
    }
};
