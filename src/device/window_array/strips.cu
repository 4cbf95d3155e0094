/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of window_strip of ints whose windows are wide, or whose sums are: a block owns a strip of columns. A
 * thread keeps the sums of what the window holds of each of its COLUMNS neighbouring columns. A row of outputs takes
 * prefix sums over the strip; a window is the difference of two.
 */
#include "block.cuh"

/* spread_times() with fewer instructions on integers, of which this walk has many. */
__device__ inline double spread_by_doubles(int32_t sum, uint32_t squares, uint32_t n, double by) {
    const double s = __int2double_rn(sum);
    return __fma_rn(__uint2double_rn(n), __uint2double_rn(squares), -(s * s)) * by;
}

template <class SQUARE>
__device__ inline double spread_by_doubles(int64_t sum, SQUARE squares, uint32_t n, double by) {
    return spread_times(sum, squares, n, by);
}

#define ROWS_KEPT 128 /* rows whose places are known; half of them are found at a time */

/* What a block works on; in shared memory. */
struct strip_state : strip_place {
    uint2 begin, end; /* of windows: entry of the prefix sums, less the thread's own; from which of the thread's
                         outputs on it is one more */
    int64_t enters[ROWS_KEPT], leaves[ROWS_KEPT]; /* bytes to rows of the input, by number in turns; -1: none */
};

/*
 * PIVOTS: elements are summed less a.cut.pivot. The form of 4 bytes is compiled with it too, its pivot being 0: its
 * loop then spills no registers. Others are slower with it.
 */
template <class SUMS, int BYTES, int COLUMNS, int CHANNELS, bool PIVOTS> class strip {
    typedef typename SUMS::sum_type sum_type;
    typedef typename SUMS::square_type square_type;
    typedef strip_row<COLUMNS, BYTES> raw_row;
    static constexpr int ahead = CHANNELS == 1 ? GP_STRIP_AHEAD : GP_STRIP_AHEAD / 2;

    const strip_arguments &a;
    strip_state &p;
    unsigned char *const kept; /* prefix sums: column j has entry j + j / 4, against bank conflicts */
    int32_t *const apart;      /* where columns are that do not stand together: [COLUMNS][threads] */
    SUMS (&of_warp)[GP_STRIP_THREADS_MAX / 32][CHANNELS];
    const bool has_sign;
    int32_t together; /* the first of the thread's columns in a row; -1: not side by side */
    SUMS held[COLUMNS];

  public:
    __device__ strip(const strip_arguments &arguments, strip_state &place, unsigned char *shared,
                     SUMS (&shared_of_warp)[GP_STRIP_THREADS_MAX / 32][CHANNELS])
        : a(arguments), p(place), kept(shared), apart((int32_t *)(shared + arguments.cut.prefix_bytes)),
          of_warp(shared_of_warp),
          has_sign(gp_type_is_signed(arguments.box.type) || (PIVOTS && arguments.cut.pivot != 0)) {
        const int64_t n = (int64_t)gp_window_x(&a.box)->n;
        bool side_by_side = a.cut.vectors;
#pragma unroll 1
        for (int k = 0, before = 0; k < COLUMNS; k++) {
            const int64_t column = p.first + (int64_t)(threadIdx.x * COLUMNS + k);
            const int64_t pixel = column >= 0 ? column / CHANNELS : ~(~column / CHANNELS);
            const bool used = threadIdx.x * COLUMNS + k < p.outputs + p.skew + a.cut.reach;
            const int64_t source = used ? source_near(a.box.border, n, pixel) : pixel >= 0 && pixel < n ? pixel : -1;
            const int32_t at = source < 0 ? -1 : (int32_t)((source - pixel) * CHANNELS + column);
            side_by_side =
                side_by_side && (k == 0 ? at >= 0 && at * BYTES % raw_row::together == 0 : at == before + 1);
            together = k == 0 ? at : together;
            before = at;
            apart[k * blockDim.x + threadIdx.x] = at;
        }
        together = side_by_side ? together : -1;
    }

  private:
    /* Half of the rows' places from number `from` on: of what enters, row first + number, and of what leaves. */
    __device__ void find_rows(int64_t first, unsigned from, int64_t (&at)[ROWS_KEPT]) {
        const gp_window_axis *y = gp_window_y(&a.box);
        for (unsigned i = threadIdx.x; i < ROWS_KEPT / 2; i += blockDim.x) {
            const int64_t source = source_near(a.box.border, (int64_t)y->n, first + from + i);
            at[(from + i) % ROWS_KEPT] = source < 0 ? -1 : source * y->in;
        }
    }
    __device__ raw_row load(int64_t at) const {
        if (!PIVOTS && at < 0)
            return raw_row{};
        const unsigned char *row = p.plane + at;
        const int64_t stride = CHANNELS == 1 ? gp_window_x(&a.box)->in : BYTES;
        if (!PIVOTS && together >= 0)
            return load_together<COLUMNS, BYTES>(row + (int64_t)together * BYTES);
        if (!PIVOTS)
            return load_apart<COLUMNS, BYTES>(row, apart + threadIdx.x, blockDim.x, stride);
        raw_row raw = {};
        if (at >= 0)
            raw = together >= 0 ? load_together<COLUMNS, BYTES>(row + (int64_t)together * BYTES)
                                : load_apart<COLUMNS, BYTES>(row, apart + threadIdx.x, blockDim.x, stride);
        if (BYTES == 1)
#pragma unroll
            for (int i = 0; i < COLUMNS / 4; i++)
                raw.word[i] ^= a.cut.pivot * 0x01010101u;
        return raw;
    }
    /* One row enters and one leaves. Returns the bits that their magnitudes have. */
    __device__ uint32_t slide(const raw_row &enters, const raw_row &leaves) {
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const uint32_t in = element_of<COLUMNS, BYTES>(enters, k, has_sign),
                           out = element_of<COLUMNS, BYTES>(leaves, k, has_sign);
            held[k].slide(in, out, has_sign);
            if (BYTES == 4)
                bits |= has_sign ? in ^ (uint32_t)((int32_t)in >> 31) : in;
        }
        return bits;
    }
    /* All that the first row's windows hold but its last row: rows by number up to `count`. */
    __device__ uint32_t begin(int64_t first, unsigned count) {
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            held[k] = {0, 0};
        for (unsigned i = 0;; i += ahead) {
            if (i % (ROWS_KEPT / 2) == 0) {
                __syncthreads();
                find_rows(first, i, p.enters);
                __syncthreads();
            }
            if (i >= count)
                return bits;
            raw_row row[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++)
                row[j] = !PIVOTS         ? load(i + j < count ? p.enters[(i + j) % ROWS_KEPT] : -1)
                         : i + j < count ? load(p.enters[(i + j) % ROWS_KEPT])
                                         : raw_row{};
#pragma unroll
            for (int j = 0; j < ahead; j++)
                bits |= slide(row[j], raw_row{});
        }
    }
    /* Prefix sums over the warp's columns: each lane's before its own. */
    __device__ void scan(SUMS (&before)[CHANNELS]) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            SUMS own = held[c];
#pragma unroll
            for (int k = c + CHANNELS; k < COLUMNS; k += CHANNELS)
                own.plus(held[k]);
            before[c] = own.scanned();
            if (threadIdx.x % 32 == 31)
                of_warp[threadIdx.x / 32][c] = before[c];
            before[c].minus(own);
        }
    }
    /* Those over the strip, to shared memory. */
    __device__ void put_prefixes(SUMS (&before)[CHANNELS]) {
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            SUMS warps = {0, 0};
            if (lane < warp)
                warps = of_warp[lane][c];
            before[c].plus(warps.total());
        }
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            put(kept, threadIdx.x * (COLUMNS / 4 * 5) + k / 4 * 5 + k % 4, before[k % CHANNELS]);
            before[k % CHANNELS].plus(held[k]);
        }
    }
    /* Outputs go in groups of 4 a lane, 128 a warp, so that each store of a warp fills whole sectors. */
    static __device__ unsigned output_of(int k) {
        return threadIdx.x / 32 * (32 * COLUMNS) + threadIdx.x % 32 * 4 + k / 4 * 128 + k % 4;
    }
    __device__ SUMS window_at(int k, uint2 begin, uint2 end) const {
        const unsigned own = threadIdx.x / 32 * (40 * COLUMNS) + threadIdx.x % 32 * 5, more = k / 4 * 160 + k % 4;
        const unsigned char *const from = kept + (own + begin.x) * SUMS::bytes, *const until = kept + (own + end.x) *
                                                                                                          SUMS::bytes;
        SUMS window = get((unsigned)k % 4 >= end.y ? until + SUMS::bytes : until, more, SUMS());
        window.minus(get((unsigned)k % 4 >= begin.y ? from + SUMS::bytes : from, more, SUMS()));
        return window;
    }
    /* A result of the thread's outputs, as floats or in the elements' type. Returns whether all are right. */
    __device__ bool make_quickly(const strip_result &how, const sum_type (&sum)[COLUMNS],
                                 const square_type (&square)[COLUMNS], uint32_t (&raw)[COLUMNS]) const {
        const strip_way way = how.way;
        const sum_type less = PIVOTS ? (sum_type)(a.cut.pivot * a.cut.area) : 0; /* what makes it the elements' sum */
        uint32_t nearest = ~0u;
        if (way <= WAY_SQUARES) {
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                raw[k] = __float_as_uint(way == WAY_SUM ? as_float(sum[k] + less) : as_float(square[k]));
        } else if (way == WAY_OWN_MEAN) {
#pragma unroll
            for (int k = 0; k < COLUMNS; k++)
                raw[k] = mean_between(as_double(sum[k] + less), how.below, how.above);
        } else {
            double x[COLUMNS];
            if (way == WAY_SMALL_MEAN && sizeof(sum_type) == 4) {
#pragma unroll
                for (int k = 0; k < COLUMNS; k++)
                    raw[k] = __float_as_uint(small_mean((int32_t)(sum[k] + less), (float)a.cut.area, how.reciprocal));
                return true;
            }
            if (way == WAY_MEAN || way == WAY_SMALL_MEAN)
#pragma unroll
                for (int k = 0; k < COLUMNS; k++)
                    x[k] = as_double(sum[k] + less) * how.inverse;
            else
#pragma unroll
                for (int k = 0; k < COLUMNS; k++)
                    x[k] = spread_by_doubles(sum[k], square[k], a.cut.area, how.inverse);
            if (way == WAY_STDDEV)
#pragma unroll
                for (int k = 0; k < COLUMNS; k++)
                    x[k] = root_near(x[k]);
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                nearest = min(nearest, from_half(x[k]));
                raw[k] = __float_as_uint(__double2float_rn(x[k]));
            }
        }
        return nearest >= HALF_WIDTH || how.sure;
    }
    /* Whether the windows of the thread's outputs have all their elements. */
    __device__ bool is_whole(unsigned row) const {
        const gp_window_axis *x = gp_window_x(&a.box), *y = gp_window_y(&a.box);
        const int64_t first = p.output + output_of(0), last = p.output + output_of(COLUMNS - 1);
        return first / CHANNELS >= x->before && last / CHANNELS - x->before + x->window <= (int64_t)x->n &&
               gp_window_counted(y, GP_BORDER_SHRINK, (uint64_t)(p.y + row)) == (uint64_t)y->window;
    }
    /* Output k of result r, in any way. */
    __device__ void write_slowly(unsigned r, unsigned row, int k, unsigned char *at) const {
        const gp_pass_result &result = a.box.result[r];
        const uint64_t y = (uint64_t)(p.y + row), x = (uint64_t)(p.output + output_of(k)) / CHANNELS;
        SUMS window = window_at(k, p.begin, p.end);
        const uint64_t n = gp_window_counted(gp_window_y(&a.box), a.box.border, y) *
                           gp_window_counted(gp_window_x(&a.box), a.box.border, x);
        if (PIVOTS) { /* elements that are not counted are 0, less the pivot too */
            const uint32_t missing = a.cut.area - (uint32_t)n,
                           back = result.op < GP_REDUCE_VARIANCE ? a.cut.area : missing;
            window.sum += a.cut.pivot * back;
            window.square -= a.cut.pivot * a.cut.pivot * missing;
        }
        store_bits(gp_type_bytes(result.type),
                   result_of(result.op, result.type, (sum_type)window.sum, window.square, (uint32_t)n), at);
    }
    __device__ void write_row(unsigned row) const {
        const bool whole = a.box.border != GP_BORDER_SHRINK || is_whole(row);
        const uint2 begin = p.begin, end = p.end;
        sum_type sum[COLUMNS];
        square_type square[COLUMNS];
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const SUMS window = (int)output_of(k / 4 * 4) < p.outputs ? window_at(k, begin, end) : SUMS{0, 0};
            sum[k] = (sum_type)window.sum;
            square[k] = window.square;
        }
#pragma unroll 1
        for (unsigned r = 0; r < a.box.results; r++) {
            const gp_pass_result &result = a.box.result[r];
            const int64_t pixel = result.stride[a.box.outer + 1],
                          side = CHANNELS > 1 ? result.stride[a.box.outer - 1] : 0;
            unsigned char *const line = p.to[r] + row * result.stride[a.box.outer];
            uint32_t raw[COLUMNS];
            if (a.result[r].way != WAY_OTHER && whole && make_quickly(a.result[r], sum, square, raw)) {
#pragma unroll
                for (int k = 0; k < COLUMNS; k += 4)
                    store_four<CHANNELS>(line, output_of(k), pixel, side, a.stores >> r & 1, p.outputs,
                                         a.sizes >> 4 * r & 15, raw + k);
                continue;
            }
#pragma unroll 1
            for (int k = 0; k < COLUMNS; k++)
                if ((int)output_of(k) < p.outputs)
                    write_slowly(r, row, k, line + output_of(k) / CHANNELS * pixel + output_of(k) % CHANNELS * side);
        }
    }

  public:
    /* The block's rows of outputs from `row` on. Returns the first that is not done, as elements came that need wider
     * sums: their magnitudes have bits of `over`. */
    __device__ unsigned walk(unsigned row, uint32_t over) {
        const int64_t first = row_first(row);
        const unsigned window = (unsigned)gp_window_y(&a.box)->window, start = row;
        find_rows(first, 0, p.leaves);
        uint32_t bits = begin(first, window - 1);
        find_rows(first, ((window - 1) / (ROWS_KEPT / 2) + 1) * (ROWS_KEPT / 2), p.enters);
        raw_row enters = load(p.enters[(window - 1) % ROWS_KEPT]), leaves = {};
        for (;; row++) {
            const unsigned out = row - start, in = out + window;
            SUMS before[CHANNELS];
            bits |= slide(enters, leaves);
            if (row + 1 < p.rows) {
                enters = load(p.enters[in % ROWS_KEPT]);
                leaves = load(p.leaves[out % ROWS_KEPT]);
            }
            scan(before);
            if (BYTES < 4)
                __syncthreads();
            else if (__syncthreads_or((bits & over) != 0))
                return row;
            if (in % (ROWS_KEPT / 2) == ROWS_KEPT / 4)
                find_rows(row_first(start), in + ROWS_KEPT / 4, p.enters);
            if (out % (ROWS_KEPT / 2) == ROWS_KEPT / 4)
                find_rows(row_first(start), out + ROWS_KEPT / 4, p.leaves);
            put_prefixes(before);
            __syncthreads();
            if ((int)output_of(0) < p.outputs)
                write_row(row);
            if (row + 1 == p.rows)
                return p.rows;
        }
    }

  private:
    /* The first row of the input that the windows of a row of outputs see. */
    __device__ int64_t row_first(unsigned row) const {
        return p.y + row - gp_window_y(&a.box)->before;
    }
};

static __device__ void find_state(const strip_arguments &a, unsigned columns, unsigned channels, strip_state *p) {
    find_place(a.box, a.cut, blockIdx.x, columns, channels, p);
    const unsigned end = p->skew + a.cut.reach;
    p->begin = make_uint2(p->skew + p->skew / 4, 4 - p->skew % 4);
    p->end = make_uint2(end + end / 4, 4 - end % 4);
}

/* WIDER: of data that SUMS do not hold. */
template <class SUMS, class WIDER, int BYTES, int COLUMNS, int CHANNELS, bool PIVOTS>
__global__ void __launch_bounds__(GP_STRIP_THREADS_MAX,
                                  sizeof(WIDER) <= 8 && COLUMNS == 8 ? GP_STRIP_MORE_BLOCKS : GP_STRIP_BLOCKS)
    window_strip(const __grid_constant__ strip_arguments a) {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ strip_state place;
    __shared__ __align__(16) unsigned char of_warp[GP_STRIP_THREADS_MAX / 32 * CHANNELS * sizeof(WIDER)];
    gp_grid_dependency_wait();
    if (threadIdx.x == 0)
        find_state(a, COLUMNS, CHANNELS, &place);
    __syncthreads();
    strip<SUMS, BYTES, COLUMNS, CHANNELS, PIVOTS> s(a, place, shared,
                                                    (SUMS(&)[GP_STRIP_THREADS_MAX / 32][CHANNELS]) of_warp);
    const unsigned row = s.walk(0, a.cut.over);
    if (sizeof(WIDER) > sizeof(SUMS) && row < place.rows) {
        strip<WIDER, BYTES, COLUMNS, CHANNELS, PIVOTS> again(a, place, shared,
                                                             (WIDER(&)[GP_STRIP_THREADS_MAX / 32][CHANNELS]) of_warp);
        again.walk(row, 0);
    }
}

GP_DECLARE_LAUNCHER(gp_launch_window_strip) {
    if (problem->box->kind == GP_PASS_EXTREMES) {
        uint32_t stores = 0;
        for (unsigned r = 0; r < problem->box->results; r++)
            stores |= (uint32_t)stores_together(problem, r, problem->box->channels) << r;
        return gp_window_launch_extremes(context, plan, problem, stores);
    }
    /* by gp_strip_form */
    static const void *const forms[GP_STRIP_F16] = {
        (const void *)window_strip<linear_sums, linear_sums, 1, 8, 1, false>,
        (const void *)window_strip<narrow_sums, narrow_sums, 1, 8, 1, false>,
        (const void *)window_strip<narrow_sums, narrow_sums, 1, 8, 1, true>,
        (const void *)window_strip<wide_sums, wide_sums, 1, 4, 1, false>,
        (const void *)window_strip<wide_sums, wide_sums, 2, 4, 1, false>,
        (const void *)window_strip<narrow_sums, widest_sums, 4, 8, 1, true>,
        (const void *)window_strip<linear_sums, linear_sums, 1, 12, 3, false>,
        (const void *)window_strip<narrow_sums, narrow_sums, 1, 12, 3, false>,
        (const void *)window_strip<wide_sums, wide_sums, 2, 12, 3, false>};
    if ((plan->tiling.form >= GP_STRIP_F16 && plan->tiling.form < GP_STRIP_FORMS) ||
        plan->tiling.form == GP_WALK_MEANS)
        return gp_window_launch_floats(context, plan, problem);
    if (plan->tiling.form >= GP_WALK_LINEAR)
        return gp_window_launch_walks(context, plan, problem);
    strip_arguments arguments = {};
    find_results(problem, plan, plan->tiling.form < GP_STRIP_LINEAR_RGB ? 1 : 3, &arguments);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, forms[plan->tiling.form], list);
}
