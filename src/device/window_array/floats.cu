/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of floats. A block is a warp, unless windows are wide, and walks down its strip as for ints; results
 * that the sums do not decide are left to window_any, launched behind it, as are windows that see NaNs or infinities.
 */
#include "floats.cuh"

/* plain: all columns are there, side by side and aligned, and all results floats of whole windows. packed: pictures
 * may lie side by side. */
template <int BYTES, class sums, bool plain, bool packed> class float_strip {
    typedef scaled_elements<COLUMNS, BYTES> elements;
    typedef typename elements::row row_type;

    const floats_arguments &a;
    floats_shared<sums> &s;
    unsigned char *const kept;    /* prefix sums: column j has entry j + (j >> gap), against bank conflicts */
    const int32_t *const apart;   /* the columns' places in a row: [COLUMNS][threads]; -1: none */
    const unsigned char *columns; /* plain: the thread's in row 0 */
    const int above;              /* rows to those of the thread's columns, of parts of a picture */
    unsigned begin, end;          /* entries of the thread's first output */
    uint32_t seen;                /* lanes whose columns its window has, if the warp is alone */
    sums held[COLUMNS];

    static constexpr int gap = sums::has_squares ? 3 : 4;
    static constexpr bool squares = sums::has_squares, wide = sums::widest;
    static __device__ unsigned entry_of(unsigned column) {
        return column + (column >> gap);
    }
    static __device__ unsigned column_of(int k) {
        return threadIdx.x / 32 * (32 * COLUMNS) + threadIdx.x % 32 + 32 * k;
    }

  public:
    __device__ float_strip(const floats_arguments &arguments, floats_shared<sums> &shared, unsigned char *prefixes)
        : a(arguments), s(shared), kept(prefixes), apart((const int32_t *)(prefixes + arguments.cut.prefix_bytes)),
          above(packed ? rows_above(a.cut, s.place, spot_of(a.cut.pack, (int)(threadIdx.x * COLUMNS)).picture) : 0) {
        const unsigned first = column_of(0) + a.cut.skew, last = first + a.cut.reach - 1;
        begin = entry_of(first);
        end = entry_of(first + a.cut.reach);
        seen = (last / COLUMNS < 31 ? (2u << last / COLUMNS) - 1 : ~0u) & ~0u << min(first / COLUMNS, 31u);
        columns = s.place.plane + (int64_t)apart[threadIdx.x] * BYTES;
        __builtin_assume(__isGlobal(columns));
    }

  private:
    /* The first row of the input that the windows of a row of outputs see. */
    __device__ int64_t row_first(unsigned row) const {
        return s.place.y + row - gp_window_y(&a.box)->before;
    }
    /* Row i of the input, as windows see it. special: set if what was taken out is to be listed. */
    __device__ __forceinline__ row_type load(int64_t i, bool *special) const {
        const gp_window_axis *y = gp_window_y(&a.box);
        row_type row;
        elements::fill(&row, a.box.border == GP_BORDER_ZERO ? 0 : s.scale.nothing);
        if constexpr (plain) {
            int32_t at = (int32_t)i;
            if ((uint32_t)at >= (uint32_t)y->n)
                at = (int32_t)source_near(a.box.border, (int64_t)y->n, i);
            if (at >= 0)
                row = load_together<COLUMNS, BYTES>(columns + (uint64_t)(uint32_t)at * (uint32_t)y->in);
        } else {
            int64_t at = i;
            const unsigned char *plane = s.place.plane + above * y->in;
            if (!packed)
                at = source_near(a.box.border, (int64_t)y->n, i);
            else if (i < 0 || i + s.place.above_most >= (int64_t)y->n) { /* for some parts, if not for all */
                at = source_near(a.box.border, (int64_t)y->n, i + above);
                plane = s.place.plane;
            }
            if (at >= 0)
                row = load_apart<COLUMNS, BYTES>(plane + at * y->in, apart + threadIdx.x, blockDim.x,
                                                 gp_window_x(&a.box)->in, row);
        }
        if (s.scale.careful)
            *special = elements::take_out(&row, s.scale.nothing) && !a.tiled;
        return row;
    }
    /* All that the first row's windows hold but its last row. Returns whether something was taken out. */
    __device__ bool fill(int64_t first, unsigned count, uint32_t *most, bool *lost, uint32_t *least) {
        bool special = false;
        row_type nothing;
        elements::fill(&nothing, s.scale.nothing);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            held[k] = {0, 0};
#pragma unroll 1
        for (unsigned i = 0; i < count; i += GP_STRIP_AHEAD) {
            row_type row[GP_STRIP_AHEAD];
#pragma unroll
            for (int j = 0; j < GP_STRIP_AHEAD; j++) {
                bool found = false;
                row[j] = i + j < count ? load(first + i + j, &found) : nothing;
                special |= found;
            }
#pragma unroll
            for (int j = 0; j < GP_STRIP_AHEAD; j++)
                elements::slide(s.scale, held, row[j], nothing, most, lost, least);
        }
        return special;
    }
    /* Prefix sums over the strip to shared memory. Tells what the block found. */
    __device__ strip_lanes put_prefixes(bool inexact, bool fine, bool special, bool *too_large) {
        const unsigned warp = threadIdx.x / 32;
        sums own = held[0];
#pragma unroll
        for (int k = 1; k < COLUMNS; k++)
            own.plus(held[k]);
        sums before = own.scanned();
        strip_lanes found = {__ballot_sync(GP_FULL_WARP, inexact), 0, __ballot_sync(GP_FULL_WARP, special)};
        found.fine = squares ? __ballot_sync(GP_FULL_WARP, fine) : found.inexact;
        *too_large = __any_sync(GP_FULL_WARP, *too_large);
        if (threadIdx.x % 32 == 31)
            s.part[warp] = {before, found, *too_large};
        before.minus(own);
        if (blockDim.x > 32) {
            __syncthreads();
#pragma unroll 1
            for (unsigned w = 0; w < blockDim.x / 32; w++) { /* a window may reach over warps: all lanes, or none */
                found.inexact |= s.part[w].lanes.inexact ? ~0u : 0;
                found.fine |= s.part[w].lanes.fine ? ~0u : 0;
                found.special |= s.part[w].lanes.special ? ~0u : 0;
                *too_large |= s.part[w].too_large;
                if (w < warp)
                    before.plus(s.part[w].total);
            }
        }
        __syncwarp(); /* all have read the row before */
        const unsigned at = entry_of(threadIdx.x * COLUMNS);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            before.put(kept + (at + k) * sums::bytes);
            before.plus(held[k]);
        }
        if (blockDim.x > 32)
            __syncthreads();
        __syncwarp();
        return found;
    }
    __device__ sums window_at(int k) const {
        constexpr unsigned step = 32 + (32 >> gap); /* entries of 32 columns */
        sums window = sums::get(kept + (end + k * step) * sums::bytes);
        window.minus(sums::get(kept + (begin + k * step) * sums::bytes));
        return window;
    }
    /* Whether a lane is among those whose columns the window of output k has. */
    __device__ bool sees(uint32_t lanes, int k) const {
        return (blockDim.x > 32 ? lanes : lanes & seen << k * (32 / COLUMNS)) != 0;
    }
    __device__ bool is_whole(unsigned row) const {
        const gp_window_axis *x = gp_window_x(&a.box), *y = gp_window_y(&a.box);
        const int64_t first = s.place.output + column_of(0), last = s.place.output + column_of(COLUMNS - 1);
        return a.box.border != GP_BORDER_SHRINK ||
               (!packed && first >= x->before && last - x->before + x->window <= (int64_t)x->n &&
                gp_window_counted(y, GP_BORDER_SHRINK, (uint64_t)(s.place.y + row)) == (uint64_t)y->window);
    }
    template <two_doubles (window_numbers<sums>::*NUMBER)(const sums &, bool) const>
    __device__ __forceinline__ void make(const float_result &how, const window_numbers<sums> &numbers,
                                         const sums (&window)[AT_ONCE], int from, uint32_t inexact,
                                         uint32_t (&bits)[AT_ONCE], bool (&decided)[AT_ONCE]) const {
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            bits[k] = nearest_float((numbers.*NUMBER)(window[k], sees(inexact, from + k)), how.by, how.inverse,
                                    how.way == FLOAT_STDDEV, &decided[k]);
    }
    __device__ void write_row(unsigned row, const strip_lanes &lanes) const {
        const bool whole = plain || is_whole(row);
        const int outputs = s.place.outputs;
        const window_numbers<sums> numbers = {s.scale, a.cut.area};
#pragma unroll 1
        for (int from = 0; from < COLUMNS && (int)column_of(from) < outputs; from += AT_ONCE) {
            const int left = outputs - (int)column_of(from);
            sums window[AT_ONCE];
            bool decided[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                window[k] = window_at(from + k); /* behind the last there is room */
                decided[k] = !sees(lanes.special, from + k);
            }
#pragma unroll 1
            for (unsigned r = 0; r < a.box.results; r++) {
                const float_result &how = a.result[r];
                uint32_t bits[AT_ONCE];
                if (wide || (!plain && (!whole || how.way == FLOAT_OTHER))) {
#pragma unroll 1
                    for (int k = 0; 32 * k < left && k < AT_ONCE; k++)
                        write_slowly<packed>(
                            a, s.place, s.scale, window_at(from + k), r, row, column_of(from + k),
                            sees(a.box.result[r].op == GP_REDUCE_SUM || a.box.result[r].op == GP_REDUCE_MEAN
                                     ? lanes.fine
                                     : lanes.inexact,
                                 from + k));
                    continue;
                }
                if (how.way == FLOAT_TOTAL)
                    make<&window_numbers<sums>::total>(how, numbers, window, from, lanes.fine, bits, decided);
                else if (squares && how.way == FLOAT_SQUARES)
                    make<&window_numbers<sums>::squares>(how, numbers, window, from, lanes.inexact, bits, decided);
                else if (squares)
                    make<&window_numbers<sums>::spread>(how, numbers, window, from, lanes.inexact, bits, decided);
                unsigned char *const to = address_of<packed>(a, s.place, r, row, column_of(from));
                const int64_t step = plain ? 4 : a.box.result[r].stride[a.box.outer + 1];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    if (is_output<packed>(a, s.place, column_of(from + k)))
                        *(uint32_t *)(packed ? address_of<true>(a, s.place, r, row, column_of(from + k))
                                             : to + 32 * k * step) = bits[k];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (!decided[k] && is_output<packed>(a, s.place, column_of(from + k)))
                    fail(a.space, number_of<packed>(a, s.place, row, column_of(from + k)));
        }
    }
    /* The range of every step-th row that the windows of a row of outputs see, to all threads. */
    __device__ strip_range range_of(unsigned row, unsigned step) {
        const gp_window_axis *y = gp_window_y(&a.box);
        strip_range range = {INFINITY, -INFINITY, 0, false};
        bool taken;
        for (unsigned i = 0; i < (unsigned)y->window; i += step) {
            const bool is_row = source_near(a.box.border, (int64_t)y->n, row_first(row) + above + i) >= 0;
            const row_type raw = load(row_first(row) + i, &taken);
#pragma unroll 1
            for (int k = 0; k < COLUMNS; k++) {
                const bool there = is_row && apart[k * blockDim.x + threadIdx.x] >= 0;
                const uint32_t bits = there ? elements::bits_of(raw, k) : 0;
                const double x = elements::value_of(bits);
                if (x - x != 0)
                    range.special = true;
                else if (there || a.box.border == GP_BORDER_ZERO)
                    range.join({x, x, bits, false});
            }
        }
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            range.join(
                {__shfl_xor_sync(GP_FULL_WARP, range.low, lanes), __shfl_xor_sync(GP_FULL_WARP, range.high, lanes),
                 __shfl_xor_sync(GP_FULL_WARP, range.raw, lanes), __any_sync(GP_FULL_WARP, range.special) != 0});
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            s.range[threadIdx.x / 32] = range;
        __syncthreads();
        for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
            range.join(s.range[warp]);
        return range;
    }
    /* The block's rows of outputs from `row` on. Returns the first that is not done, as elements came that the scale
     * has no room for. */
    __device__ unsigned walk(unsigned row) {
        const unsigned window = (unsigned)gp_window_y(&a.box)->window, rows = s.place.rows;
        int64_t first = row_first(row);
        uint32_t most = 0, least = ~0u;
        bool lost = false, unused, special = fill(first, window - 1, &most, &lost, &least);
        unsigned inexact_until = 0, fine_until = 0, special_until = special ? row + window - 1 : 0;
        row_type enters = load(first + window - 1, &special), leaves;
        elements::fill(&leaves, s.scale.nothing);
        for (;; row++, first++) {
            elements::slide(s.scale, held, enters, leaves, &most, &lost, &least);
            special_until = special ? row + window : special_until;
            inexact_until = lost ? row + window : inexact_until;
            const bool fine = BYTES == 4 ? least < s.scale.fine : lost && s.scale.unit > 0x1p-24;
            fine_until = fine ? row + window : fine_until;
            lost = false;
            least = ~0u;
            if (row + 1 < rows) {
                enters = load(first + window, &special);
                leaves = load(first, &unused);
            }
            bool too_large = most >= s.scale.limit;
            const strip_lanes lanes =
                put_prefixes(row < inexact_until, row < fine_until, row < special_until, &too_large);
            if (too_large)
                return row;
            write_row(row, lanes);
            if (row + 1 == rows)
                return rows;
        }
    }

  public:
    /* All rows: scaled by a look at some of the first, and again, by all that a window sees, where that is no more
     * right. */
    __device__ void walk_all() {
        unsigned step = max(1u, (unsigned)gp_window_y(&a.box)->window / GP_STRIP_LOOKED_AT);
        for (unsigned row = 0; row < s.place.rows; step = 1) {
            const strip_range range = range_of(row, step);
            if (threadIdx.x == 0) {
                make_scale(&s.scale, squares && (a.box.wants & GP_WANT_SQUARES), wide, a.pivots && !wide, range.low,
                           range.high, BYTES == 4 ? range.raw : range.raw * 0x00010001u, a.cut.area);
                s.scale.careful |= range.special;
                if (s.scale.careful)
                    tell_special(a.space);
            }
            __syncthreads();
            row = walk(row);
        }
    }
};

/* PACKED: pictures may lie side by side. A kernel of its own, as the other's registers would be fewer. */
template <int BYTES, class SUMS, bool PACKED>
__global__ void __launch_bounds__(GP_STRIP_THREADS_MAX, GP_STRIP_BLOCKS)
    window_strip_floats(const __grid_constant__ floats_arguments a) {
    extern __shared__ __align__(16) unsigned char prefixes[];
    __shared__ floats_shared<SUMS> shared;
    if (threadIdx.x == 0) {
        find_place(a.box, a.cut, blockIdx.x, 1, &shared.place);
        shared.scale.careful = false;
    }
    __syncthreads();
    const bool plain = __syncthreads_and(find_columns(a, shared.place, threadIdx.x, blockDim.x,
                                                      (int32_t *)(prefixes + a.cut.prefix_bytes) + threadIdx.x));
    gp_grid_dependency_wait();
    if constexpr (!PACKED)
        if (plain)
            return float_strip<BYTES, SUMS, true, false>(a, shared, prefixes).walk_all();
    float_strip<BYTES, SUMS, false, PACKED>(a, shared, prefixes).walk_all();
}

gp_status gp_window_launch_floats(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    /* by gp_strip_form */
    static const void *const forms[] = {(const void *)window_strip_floats<2, walk_wide, false>,
                                        (const void *)window_strip_floats<4, walk_wide_linear, false>,
                                        (const void *)window_strip_floats<4, walk_wide, false>,
                                        (const void *)window_strip_floats<2, walk_widest, true>,
                                        (const void *)window_strip_floats<4, walk_widest, true>};
    static const void *const packed[] = {(const void *)window_strip_floats<2, walk_wide, true>, NULL,
                                         (const void *)window_strip_floats<4, walk_wide, true>,
                                         forms[GP_STRIP_F16_WIDE], forms[GP_STRIP_F32_WIDE]};
    floats_arguments arguments = {};
    arguments.box = *problem->box;
    arguments.space = many_space_of(context);
    arguments.pivots = true;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    for (unsigned r = 0; r < arguments.box.results; r++) {
        const float_result result = result_of_floats(problem, &arguments.cut, r);
        arguments.cut.vectors = arguments.cut.vectors && result.way != FLOAT_OTHER && result.together;
        arguments.pivots = arguments.pivots && arguments.box.result[r].op != GP_REDUCE_SUM_SQUARES;
        arguments.result[r] = result;
    }
    const unsigned form = plan->tiling.form;
    const bool packs = arguments.cut.pack.count > 0;
    const void *const kernel =
        form == GP_WALK_MEANS
            ? gp_window_means[packs][arguments.box.border == GP_BORDER_SHRINK][arguments.box.type != GP_F16]
        : packs ? packed[form]
                : forms[form];
    return gp_window_launch_both(context, plan, problem, kernel, &arguments, &arguments.tiled);
}
