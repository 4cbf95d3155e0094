/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of window_strip of ints, at a cost that does not depend on the window. A warp owns a strip of columns,
 * channels being columns too, and walks down it; warps share nothing. A lane keeps the sum of what the window holds
 * of each of its COLUMNS neighbouring columns, and the sum of squares: a row enters, another leaves. A row of outputs
 * takes prefix sums over the strip, those of each channel for itself; a window is the difference of two.
 */
#ifndef GP_WINDOW_WALK_CUH
#define GP_WINDOW_WALK_CUH

#include "outputs.cuh"

/* x, as if it came from elsewhere: what follows from it is not computed before, nor it again. */
template <class T> static __device__ T as_it_is(T x) {
    if constexpr (sizeof(T) == 4)
        asm volatile("" : "+r"(x));
    else if constexpr (sizeof(T) == 8)
        asm volatile("" : "+l"(x));
    return x;
}

/*
 * EDGE: some columns do not stand side by side, aligned. Each has a register then, from which it is taken a row
 * later: what waited for the loads of bytes to put them together would take all others on. PASSES: of very wide
 * windows. A strip is as wide as several warps, one after another, and its prefix sums stay in shared memory: lanes
 * add those of what changes from row to row.
 */
template <class SUMS, int BYTES, int COLUMNS, int CHANNELS, bool EDGE, bool PASSES> class walk {
    typedef typename SUMS::sum_type sum_type;
    typedef typename SUMS::square_type square_type;
    typedef walk_outputs<SUMS, BYTES, CHANNELS> outputs_of;
    typedef strip_row<COLUMNS, EDGE ? 4 : BYTES> raw_row;
    static constexpr int width = 32 * COLUMNS; /* columns of a pass */
    static constexpr int ahead = GP_STRIP_AHEAD;

    const strip_arguments &a;
    strip_place &p;
    const unsigned kept; /* bytes to prefix sums: column j has entry j + j / 4, against bank conflicts */
    const unsigned lane, passes;
    int32_t *const apart; /* where columns are that do not stand together: [passes][COLUMNS][32] */
    const bool has_sign;
    const uint32_t flip;    /* bits that make an element less its pivot, which has a sign */
    const uint32_t nothing; /* stands for elements that are not there */
    const int32_t column;   /* the lane's first, in the first pass */
    const unsigned char *const plane;

  public:
    __device__ walk(const strip_arguments &arguments, strip_place &place, unsigned shared, unsigned times)
        : a(arguments), p(place), kept(shared), lane(threadIdx.x % 32), passes(PASSES ? times : 1),
          apart((int32_t *)(prefixes + shared + arguments.cut.prefix_bytes) + lane),
          has_sign(gp_type_is_signed(arguments.box.type)), flip(BYTES == 4 || has_sign ? 0
                                                                : BYTES == 1           ? 0x80808080u
                                                                                       : 0x80008000u),
          nothing(arguments.box.border == GP_BORDER_SHRINK ? flip : 0),
          column((int32_t)place.first + (int32_t)lane * COLUMNS), plane(place.plane) {
        if (EDGE || PASSES)
#pragma unroll 1
            for (unsigned pass = 0; pass < passes; pass++)
                if (EDGE || !stands_together(pass))
                    find_columns(pass);
    }
    __device__ bool stands_together(unsigned pass) const {
        const int32_t first = column + (int32_t)pass * width;
        return a.cut.vectors && first >= 0 && first + COLUMNS <= (int32_t)gp_window_x(&a.box)->n * CHANNELS;
    }

  private:
    __device__ void find_columns(unsigned pass) {
#pragma unroll 1
        for (int k = 0; k < COLUMNS; k++) {
            const int32_t own = (int32_t)pass * width + (int32_t)lane * COLUMNS + k, at = (int32_t)p.first + own;
            const int32_t pixel = at >= 0 ? at / CHANNELS : ~(~at / CHANNELS);
            const int64_t source = own < (int32_t)(p.outputs + a.cut.skew + a.cut.reach)
                                       ? source_near(a.box.border, (int64_t)gp_window_x(&a.box)->n, pixel)
                                       : -1;
            apart[(pass * COLUMNS + k) * 32] = source < 0 ? -1 : (int32_t)(source - pixel) * CHANNELS + at;
        }
    }
    /* Row i of the input, as windows see it; -1: there is none. */
    __device__ int32_t row_at(int32_t i) const {
        const uint32_t n = (uint32_t)a.fold.n;
        if (__builtin_expect((uint32_t)i >= n, 0))
            do
                i = i * a.fold.sign + (i < 0 ? a.fold.low : a.fold.high);
            while (a.fold.sign != 0 && (uint32_t)i >= n);
        return i;
    }
    __device__ raw_row fetch(int32_t i, unsigned pass) const {
        const int32_t row = row_at(i), step = CHANNELS == 1 ? (int32_t)gp_window_x(&a.box)->in : BYTES;
        const unsigned char *const line = plane + (uint64_t)(uint32_t)row * a.fold.in;
        if (row < 0)
            return filled(nothing);
        if constexpr (EDGE) {
            raw_row raw;
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                const int32_t at = apart[k * 32];
                const unsigned char *const from = line + (int64_t)max(at, 0) * step;
                __builtin_assume(__isGlobal(from));
                raw.word[k] = at < 0       ? nothing & ~0u >> (32 - 8 * BYTES)
                              : BYTES == 1 ? *from
                              : BYTES == 2 ? *(const uint16_t *)from
                                           : *(const uint32_t *)from;
            }
            return raw;
        } else {
            if (!PASSES || stands_together(pass))
                return load_together<COLUMNS, BYTES>(line + (int64_t)(column + (int32_t)pass * width) * BYTES);
            return load_apart<COLUMNS, BYTES>(line, apart + pass * width, 32, step, filled(nothing));
        }
    }
    static __device__ raw_row filled(uint32_t with) {
        raw_row raw;
#pragma unroll
        for (uint32_t &word : raw.word)
            word = EDGE ? with & ~0u >> (32 - 8 * BYTES) : with;
        return raw;
    }
    /* Column k, less its pivot. */
    __device__ int32_t element(const raw_row &raw, int k) const {
        if constexpr (BYTES == 4)
            return (int32_t)raw.word[k];
        else if constexpr (EDGE) {
            constexpr uint32_t half = 1u << (8 * BYTES - 1);
            return (int32_t)(raw.word[k] ^ (has_sign ? half : 0)) - (int32_t)half;
        } else
            return (int32_t)permuted(raw.word[k * BYTES / 4] ^ flip, BYTES == 1 ? 0x8880 + k % 4 * 0x1111
                                                                     : k % 2    ? 0xbb32
                                                                                : 0x9910);
    }
    /* One row enters, and one leaves unless the walk begins. Returns bits that magnitudes of what enters have. */
    template <bool LEAVES>
    __device__ uint32_t slide(SUMS (&held)[COLUMNS], const raw_row &enters, const raw_row &leaves) const {
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            constexpr int each = 4 / BYTES;
            if constexpr (SUMS::widest)
                held[k].slide_any(enters.word[k], LEAVES ? leaves.word[k] : 0, has_sign);
            else if constexpr (EDGE || BYTES == 4 || !LEAVES) {
                const int32_t in = element(enters, k), out = LEAVES ? element(leaves, k) : 0;
                held[k].slide(in - out, in + out);
                if (BYTES == 4)
                    bits |= has_sign ? (uint32_t)(in ^ in >> 31) : (uint32_t)in;
            } else {
                const uint32_t in = enters.word[k / each] ^ flip, out = leaves.word[k / each] ^ flip;
                if constexpr (BYTES == 1) {
                    const int32_t both = (int32_t)__byte_perm(in, out, 0x0040 + k % 4 * 0x0011);
                    held[k].slide(__dp4a(both, 0xff01, 0), __dp4a(both, 0x0101, 0));
                } else {
                    const int32_t both = (int32_t)__byte_perm(in, out, k % 2 ? 0x7632 : 0x5410);
                    held[k].slide(__dp2a_lo(both, 0xff01, 0), __dp2a_lo(both, 0x0101, 0));
                }
            }
        }
        return bits;
    }
    static __device__ void clear(SUMS (&held)[COLUMNS]) {
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            held[k] = {0, 0};
    }
    /* Prefix sums over what is held, those of passes before included. add: to what is there. */
    __device__ void put_prefixes(const SUMS (&held)[COLUMNS], unsigned pass, SUMS (&carried)[CHANNELS], bool add) {
        SUMS before[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            SUMS own = held[c];
#pragma unroll
            for (int k = c + CHANNELS; k < COLUMNS; k += CHANNELS)
                own.plus(held[k]);
            before[c] = own.scanned();
            const SUMS all = before[c];
            before[c].minus(own);
            if (PASSES) {
                before[c].plus(carried[c]);
                carried[c].plus(all.of_last());
            }
        }
        __syncwarp(); /* all have read the row before */
        unsigned char *const to = prefixes + kept + (pass * width + lane * COLUMNS) / 4 * (5 * SUMS::bytes);
#pragma unroll
        for (int k = 0; k < COLUMNS + (PASSES ? 0 : CHANNELS); k++) {
            unsigned char *const at = to + (k / 4 * 5 + k % 4) * SUMS::bytes;
            SUMS entry = before[k % CHANNELS];
            if (PASSES && add)
                entry.plus(SUMS::get(at));
            if (k < COLUMNS || lane == 31)
                entry.put(at);
            if (k < COLUMNS)
                before[k % CHANNELS].plus(held[k]);
        }
    }
    /* What put_prefixes() was given: over a call it would else be kept in memory, at every row. */
    __device__ void get_held(SUMS (&held)[COLUMNS]) const {
        const unsigned char *const from = prefixes + kept + lane * (COLUMNS / 4 * 5 * SUMS::bytes);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const int next = k + CHANNELS;
            held[k] = SUMS::get(from + (next / 4 * 5 + next % 4) * SUMS::bytes);
            held[k].minus(SUMS::get(from + (k / 4 * 5 + k % 4) * SUMS::bytes));
        }
    }
    /* Whether the windows of the lane's outputs have all their elements. */
    __device__ bool is_whole(unsigned row, unsigned pass) const {
        const gp_window_axis *x = gp_window_x(&a.box), *y = gp_window_y(&a.box);
        const int64_t first = p.output + pass * width + lane * 4, last = first + width - 128 + 3;
        return first / CHANNELS >= x->before && last / CHANNELS - x->before + x->window <= (int64_t)x->n &&
               gp_window_counted(y, GP_BORDER_SHRINK, (uint64_t)(p.y + row)) == (uint64_t)y->window;
    }
    /* Results of usual kinds, in whole windows, of which all are stored four at once. */
    template <strip_way FIRST, strip_way SECOND>
    __device__ __forceinline__ uint32_t write_usual(unsigned pass, unsigned own, int outputs) const {
        constexpr unsigned bytes = FIRST == WAY_OWN_MEAN ? BYTES : 4, both = SECOND == WAY_OTHER ? 1 : 3;
        const unsigned first = pass * width + lane * 4;
        unsigned char *const to = p.to[0] + first * bytes, *const second = both == 3 ? p.to[1] + first * 4 : nullptr;
        uint32_t nearest = ~0u;
        __builtin_assume(__isGlobal(to) && (both == 1 || __isGlobal(second)));
#pragma unroll
        for (int g = 0; g < COLUMNS / 4; g++) {
            sum_type sum[4];
            square_type square[4];
            uint32_t raw[4];
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                const SUMS window = outputs_of::window_at(a, own, g * 128 + k); /* behind the last there is room */
                sum[k] = (sum_type)window.sum;
                square[k] = window.square;
            }
            const bool there = (int)first + g * 128 < outputs;
            outputs_of::template make_four<FIRST>(a, 0, sum, square, raw, &nearest);
            if (there)
                outputs_of::template store_together<bytes>(to + g * 128 * bytes, raw);
            if constexpr (both == 3) {
                outputs_of::template make_four<SECOND>(a, 1, sum, square, raw, &nearest);
                if (there)
                    outputs_of::template store_together<4>(second + g * 512, raw);
            }
        }
        return nearest >= HALF_WIDTH || (a.result[0].sure && (both == 1 || a.result[1].sure)) ? 0 : both;
    }
    __device__ uint32_t write_any(unsigned row, unsigned pass, unsigned own, int outputs) const {
        if (outputs % 4 == 0) {
            if (a.usual == GP_USUAL_SMALL)
                return write_usual<WAY_SMALL_MEAN, WAY_VARIANCE>(pass, own, outputs);
            if (a.usual == GP_USUAL_MOMENTS)
                return write_usual<WAY_MEAN, WAY_VARIANCE>(pass, own, outputs);
            if (a.usual == GP_USUAL_SUMS)
                return write_usual<WAY_SUM, WAY_SQUARES>(pass, own, outputs);
            if (a.usual == GP_USUAL_OWN)
                return write_usual<WAY_OWN_MEAN, WAY_OTHER>(pass, own, outputs);
        }
        return write_row(row, pass, own, outputs);
    }
    /* Outputs go in groups of 4 a lane, 128 a warp, so that each store of a warp fills whole sectors. Returns which
     * results of the lane are not right. */
    __device__ uint32_t write_row(unsigned row, unsigned pass, unsigned own, int outputs) const {
        const unsigned results = a.box.results, all = (1u << results) - 1;
        if (a.box.border == GP_BORDER_SHRINK && !is_whole(row, pass))
            return all;
        uint32_t slow = 0;
#pragma unroll
        for (int g = 0; g < COLUMNS / 4; g++) {
            sum_type sum[4];
            square_type square[4];
            const unsigned first = pass * width + lane * 4 + g * 128;
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                const SUMS window = outputs_of::window_at(a, own, g * 128 + k); /* behind the last there is room */
                sum[k] = (sum_type)window.sum;
                square[k] = window.square;
            }
#pragma unroll 1
            for (unsigned r = 0; r < results; r++) {
                uint32_t raw[4];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    sum[k] = as_it_is(sum[k]);
                    square[k] = as_it_is(square[k]);
                }
                if (outputs_of::make_any(a, r, sum, square, raw))
                    outputs_of::store_four(a, p, r, first, outputs, raw);
                else
                    slow |= 1u << r;
            }
        }
        return slow;
    }

  public:
    /* The strip's rows of outputs from `row` on. Returns the first that is not done, as elements came that need wider
     * sums: their magnitudes have bits of `over`. */
    __device__ __forceinline__ unsigned walk_down(unsigned row, uint32_t over) {
        const gp_window_axis *y = gp_window_y(&a.box);
        const int32_t window = (int32_t)y->window;
        const unsigned rows = p.rows, own = as_it_is(kept + lane * (5 * SUMS::bytes));
        const int outputs = p.outputs;
        int32_t first = (int32_t)(p.y + row - y->before); /* row of the input that windows begin with */
        uint32_t bits = 0;
        bool begun = false;
        SUMS held[COLUMNS], carried[CHANNELS] = {};
        __syncwarp(); /* what find_columns() found, and the walk before */
#pragma unroll 1
        for (unsigned pass = 0; pass < passes; pass++) {
            clear(held);
#pragma unroll(ahead)
            for (int32_t i = 0; i < window - 1; i++) {
                const raw_row raw = fetch(first + i, pass);
                bits |= slide<false>(held, raw, raw);
            }
            if (PASSES)
                put_prefixes(held, pass, carried, false);
        }
        raw_row enters = fetch(first + window - 1, 0), leaves = filled(flip);
#pragma unroll 1
        for (;; row++, first++) {
            const bool more = row + 1 < rows;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                carried[c] = {0, 0};
#pragma unroll 1
            for (unsigned pass = 0; pass < passes; pass++) {
                if (PASSES)
                    clear(held);
                bits |= slide<true>(held, enters, leaves);
                if (PASSES && pass + 1 < passes) {
                    enters = fetch(first + window - 1, pass + 1);
                    leaves = begun ? fetch(first - 1, pass + 1) : filled(flip);
                } else if (more) {
                    enters = fetch(first + window, 0);
                    leaves = fetch(first, 0);
                    begun = true;
                }
                put_prefixes(held, pass, carried, true);
            }
            if (BYTES == 4 && __any_sync(GP_FULL_WARP, (bits & over) != 0))
                return row;
            __syncwarp();
#pragma unroll 1
            for (unsigned pass = 0; pass < passes && (int)(pass * width) < outputs; pass++) {
                const unsigned entries = own + pass * (width / 4 * 5 * SUMS::bytes);
                const uint32_t slow = write_any(row, pass, entries, outputs);
                if (__any_sync(GP_FULL_WARP, slow != 0)) {
                    outputs_of::write_slowly(a, p, entries, slow, row, pass * width + lane * 4, COLUMNS);
                    if (!PASSES)
                        get_held(held);
                }
            }
            __syncwarp();
            if (lane < a.box.results)
                p.to[lane] += a.box.result[lane].stride[a.box.outer];
            if (!more)
                return rows;
        }
    }
};

#endif
