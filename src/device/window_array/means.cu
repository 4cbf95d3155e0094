/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means of f16 and f32, by warps that walk down strips alone as those of ints do (walk.cuh). An element is a whole
 * number of coarse units and one of fine units, and each is summed in 32 bits: a float to which the element is added
 * rounds it to whole units, which are the low bits of the result, and one to which the rest is added does so again.
 * Elements that are no whole number of fine units make an error that is known. Results which it leaves open, and
 * those that see NaNs, infinities or floats near them, are left to window_any, launched behind.
 */
#include "write.cuh" /* before cuda_fp16.h, which declares a type `half` */

#include "floats.cuh"

extern __shared__ __align__(16) unsigned char prefixes[];

#define TOO_LARGE 0x7b800000u /* bits of 2^120, which is taken for an infinity */
#define TOP_LEAST (-60)       /* elements are taken to reach 2^-60 at least: no result is subnormal */

/* For elements below 2^top. A window's sum is below 2^53 fine units, and below 2^31 of either part. */
struct mean_scale {
    float coarse, fine; /* what elements and their rests are added to */
    uint32_t beyond;    /* bits by which an element's sum differs from `coarse` only if it is too large */
    double coarse_units, bias;
    double unit, inverse; /* a fine unit, and divided by the number of elements */

    __device__ mean_scale(uint32_t most, uint32_t area, double of_area) {
        const int counted = 32 - __clz((int)(area - 1)), top = max((int)(most >> 23) - 126 + SCALE_MARGIN, TOP_LEAST);
        const int bits = min(21, 31 - counted), fine_bits = min(23, 31 - counted), exponent = top - bits;
        coarse = __uint_as_float((uint32_t)(150 + exponent) << 23 | 1u << bits);
        fine = __uint_as_float((uint32_t)(150 + exponent - fine_bits) << 23 | 0x400000u);
        beyond = ~0u << (bits + 1);
        coarse_units = power(fine_bits);
        bias = (-0x1p52 - 0x1p31) * (coarse_units + 1);
        unit = power(exponent - fine_bits);
        inverse = of_area * unit;
    }
};

/* EDGE: some columns do not stand side by side. SHRINKS: windows may lack elements. PACKED: pictures lie side by
 * side.
 */
template <bool EDGE, bool SHRINKS, bool PACKED, int BYTES> class mean_walk {
    typedef strip_row<COLUMNS, BYTES> raw_type;
    typedef strip_row<COLUMNS, 4> row_type;
    static constexpr int ahead = GP_STRIP_AHEAD;

    const floats_arguments &a;
    const strip_place &p;
    const unsigned lane;
    const int32_t above;                  /* rows to those of the lane's columns, of parts of a picture */
    unsigned char *const kept;            /* prefix sums: column j has entry j + j / 16, against bank conflicts */
    const int32_t *const apart;           /* the lane's columns in a row: [COLUMNS][32] */
    const unsigned char *const own_plane; /* row 0 of the lane's part */
    const unsigned char *const columns, *begin, *end; /* begin, end: entries of the lane's first window */
    unsigned char *to;                                /* its output; others are 32 columns apart */
    const uint32_t width; /* results so near to the middle of two floats are rounded by comparing what is exact */
    bool careful = false;

  public:
    __device__ mean_walk(const floats_arguments &arguments, const strip_place &place, unsigned char *entries,
                         const int32_t *at)
        : a(arguments), p(place), lane(threadIdx.x % 32),
          above(PACKED ? rows_above(a.cut, p, spot_of(a.cut.pack, (int)(lane * COLUMNS)).picture) : 0), kept(entries),
          apart(at), own_plane(p.plane + above * gp_window_y(&a.box)->in),
          columns(place.plane + (int64_t)at[0] * BYTES), begin(entry_of(a.cut.skew + lane)),
          end(entry_of(a.cut.skew + lane + a.cut.reach)), to(address_of<false>(a, p, 0, 0, lane)),
          width(SHRINKS || (a.cut.area & (a.cut.area - 1)) != 0 ? HALF_WIDTH : 0) {}

  private:
    /* Elements that count in the window of output `number` of a row. */
    __device__ double counted(unsigned row, unsigned number) const {
        return SHRINKS ? (double)counted_at<PACKED>(a, p, row, number) : a.result[0].by;
    }
    /* 1 / number, of what counted() returns. */
    __device__ double inverse_of(double number) const {
        return SHRINKS ? inverse_near(number) : a.result[0].inverse;
    }
    /* Where the lane's k-th output is. */
    __device__ uint32_t *place_of(unsigned row, unsigned k) const {
        return (uint32_t *)(PACKED ? address_of<true>(a, p, 0, row, lane + 32 * k) : to + k * 128);
    }
    __device__ unsigned char *entry_of(unsigned column) const {
        return kept + (column + column / 16) * walk_narrow::bytes;
    }
    __device__ raw_type fetch(int32_t i) const {
        const gp_window_axis *y = gp_window_y(&a.box);
        raw_type row = {};
        const unsigned char *plane = PACKED ? own_plane : p.plane;
        if (PACKED ? i < 0 || i + (int64_t)p.above_most >= (int64_t)y->n : (uint32_t)i >= (uint32_t)y->n) {
            i = (int32_t)row_near(a.box.border, (int64_t)y->n, i + above);
            plane = p.plane;
        }
        if (i < 0)
            return row;
        const uint64_t line = (uint64_t)(uint32_t)i * (uint64_t)y->in;
        return EDGE ? load_apart<COLUMNS, BYTES>(plane + line, apart, 32, BYTES, row)
                    : load_together<COLUMNS, BYTES>(columns + line);
    }
    static __device__ row_type floats_of(const raw_type &raw) {
        if constexpr (BYTES == 4) {
            return raw;
        } else {
            row_type row;
#pragma unroll
            for (int k = 0; k < COLUMNS; k++) {
                const uint16_t half = (uint16_t)(raw.word[k / 2] >> k % 2 * 16);
                row.word[k] = __float_as_uint(__half2float(__ushort_as_half(half)));
            }
            return row;
        }
    }
    /* Puts 0 for what is too large. Returns whether anything was. */
    static __device__ bool take_out(row_type *row) {
        bool any = false;
#pragma unroll
        for (uint32_t &word : row->word) {
            const bool out = (word & 0x7fffffffu) >= TOO_LARGE;
            any |= out;
            word = out ? 0 : word;
        }
        return any;
    }
    /* Whether there are floats that are taken out, and are not special. */
    static __device__ bool has_large(const row_type &row) {
        bool any = false;
#pragma unroll
        for (const uint32_t word : row.word)
            any |= (word & 0x7fffffffu) - TOO_LARGE < 0x7f800000u - TOO_LARGE;
        return BYTES == 4 && any;
    }
    /* Takes every step-th of `count` rows, some loaded at once. */
    template <class TAKE> __device__ __forceinline__ void each(int32_t first, int32_t count, int32_t by, TAKE take) {
#pragma unroll 1
        for (int32_t i = 0; i < count; i += ahead * by) {
            raw_type raw[ahead];
#pragma unroll
            for (int32_t j = 0; j < ahead; j++)
                raw[j] = i + j * by < count ? fetch(first + i + j * by) : raw_type{};
#pragma unroll
            for (int32_t j = 0; j < ahead; j++) {
                row_type row = floats_of(raw[j]);
                take(row);
            }
        }
    }
    /* Of the largest magnitude in every by-th row that the windows of a row of outputs see. */
    __device__ uint32_t most_of(int32_t first, int32_t by) {
        uint32_t most = 0;
        each(first, (int32_t)gp_window_y(&a.box)->window, by, [&](row_type &row) {
            careful |= take_out(&row);
#pragma unroll
            for (const uint32_t word : row.word)
                most = max(most, word & 0x7fffffffu);
        });
        careful = __any_sync(GP_FULL_WARP, careful);
        if (careful)
            tell_special(a.space);
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            most = max(most, __shfl_xor_sync(GP_FULL_WARP, most, lanes));
        return most;
    }
    template <bool LEAVES>
    static __device__ void slide(const mean_scale &s, walk_narrow (&held)[COLUMNS], const row_type &enters,
                                 const row_type &leaves, uint32_t *bits, bool *lost) {
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const float in = __uint_as_float(enters.word[k]), out = __uint_as_float(leaves.word[k]);
            const float whole = in + s.coarse, rest = in - (whole - s.coarse), fine = rest + s.fine;
            const float left = LEAVES ? out + s.coarse : s.coarse,
                        left_fine = LEAVES ? out - (left - s.coarse) + s.fine : s.fine;
            held[k].sum += __float_as_uint(whole) - __float_as_uint(left);
            held[k].square += __float_as_uint(fine) - __float_as_uint(left_fine);
            *bits |= __float_as_uint(whole) ^ __float_as_uint(s.coarse);
            *lost |= fine - s.fine != rest;
        }
    }
    /* Elements that are no whole number of fine units. */
    static __device__ uint32_t count_lost(const mean_scale &s, const row_type &row) {
        uint32_t lost = 0;
#pragma unroll
        for (const uint32_t word : row.word) {
            const float x = __uint_as_float(word), rest = x - (x + s.coarse - s.coarse);
            lost += rest + s.fine - s.fine != rest;
        }
        return lost;
    }
    __device__ void put_prefixes(const walk_narrow (&held)[COLUMNS]) const {
        walk_narrow own = held[0];
#pragma unroll
        for (int k = 1; k < COLUMNS; k++)
            own.plus(held[k]);
        walk_narrow before = own.scanned();
        before.minus(own);
        __syncwarp(); /* all have read the row before */
        unsigned char *const own_entries = entry_of(lane * COLUMNS);
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            before.put(own_entries + k * walk_narrow::bytes);
            before.plus(held[k]);
        }
        if (lane == 31)
            before.put(entry_of(32 * COLUMNS));
        __syncwarp();
    }
    /* Window k of the lane's. */
    __device__ walk_narrow window_at(unsigned k) const {
        walk_narrow w = walk_narrow::get(end + k * (34 * walk_narrow::bytes)); /* behind the last there is room */
        w.minus(walk_narrow::get(begin + k * (34 * walk_narrow::bytes)));
        return w;
    }
    /* A window's sum, in fine units. */
    static __device__ double total_of(const mean_scale &s, const walk_narrow &w) {
        return __fma_rn(__hiloint2double(0x43300000, (int)(w.sum + 0x80000000u)), s.coarse_units, s.bias) +
               __hiloint2double(0x43300000, (int)(w.square + 0x80000000u));
    }
    /* Whether a lane is among those whose columns the window of output `number` has. */
    __device__ bool sees(uint32_t lanes, unsigned number) const {
        const unsigned first = (number + a.cut.skew) / COLUMNS,
                       last = (number + a.cut.skew + a.cut.reach - 1) / COLUMNS;
        return first < 32 && (lanes >> first & ~0u >> (31 - min(last - first, 31u))) != 0;
    }
    /* lost: that many elements, or fewer, are no whole number of fine units. */
    __device__ void write_row(const mean_scale &s, unsigned row, uint32_t lost, uint32_t special) const {
        __builtin_assume(__isGlobal(to));
#pragma unroll
        for (unsigned g = 0; g < COLUMNS; g += AT_ONCE) {
            walk_narrow window[AT_ONCE];
            double total[AT_ONCE];
            uint32_t raw[AT_ONCE], nearest = ~0u;
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++)
                window[k] = window_at(g + k);
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                total[k] = total_of(s, window[k]);
                const double near =
                    total[k] * (SHRINKS ? s.unit * inverse_of(counted(row, lane + 32 * (g + k))) : s.inverse);
                raw[k] = __float_as_uint(__double2float_rn(near));
                nearest = min(nearest, from_half(near));
            }
            if (nearest < width) {
                bool decided;
#pragma unroll
                for (unsigned k = 0; k < AT_ONCE; k++) {
                    const double by = counted(row, lane + 32 * (g + k));
                    raw[k] = nearest_float({total[k] * s.unit, 0, 0}, by, inverse_of(by), false, &decided);
                }
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++)
                if (is_output<PACKED>(a, p, lane + 32 * (g + k)))
                    __stcs(place_of(row, g + k), raw[k]);
        }
        if (lost == 0 && special == 0)
            return;
        const double error = 0.51 * min(lost, a.cut.area) * s.unit;
#pragma unroll 1
        for (unsigned k = 0; k < COLUMNS; k++) {
            const unsigned number = lane + 32 * k;
            bool decided = !sees(special, number);
            if (!is_output<PACKED>(a, p, number) || (decided && lost == 0))
                continue;
            const two_doubles sum = {total_of(s, window_at(k)) * s.unit, 0, error};
            const double by = counted(row, number);
            const uint32_t bits = nearest_float(sum, by, inverse_of(by), false, &decided);
            if (decided)
                *place_of(row, k) = bits;
            else
                fail(a.space, number_of<PACKED>(a, p, row, number));
        }
    }
    /* The strip's rows from `row` on. Returns the first that is not done, as elements came that are too large. */
    __device__ unsigned walk(const mean_scale &s, unsigned row) {
        const int32_t window = (int32_t)gp_window_y(&a.box)->window;
        const row_type nothing = {};
        int32_t first = (int32_t)p.y + (int32_t)row - (int32_t)gp_window_y(&a.box)->before;
        unsigned special_until = 0;
        uint32_t bits = 0, all_lost = 0; /* up to so many, since the last row with none in its windows */
        bool special = false, lists = !a.tiled;
        walk_narrow held[COLUMNS] = {};
        each(first, window - 1, 1, [&](row_type &enters) {
            if (careful) {
                lists |= has_large(enters);
                special |= take_out(&enters);
            }
            bool lost = false;
            slide<false>(s, held, enters, nothing, &bits, &lost);
            all_lost += lost ? COLUMNS : 0;
        });
        all_lost = gp_warp_sum(all_lost);
        unsigned lost_until = row + (unsigned)window;
        raw_type next = fetch(first + window - 1), last = {};
#pragma unroll 1
        for (;; row++, first++) {
            row_type enters = floats_of(next), leaves = floats_of(last);
            if (careful) {
                lists |= has_large(enters);
                special |= take_out(&enters);
                take_out(&leaves);
            }
            bool lost = false;
            slide<true>(s, held, enters, leaves, &bits, &lost);
            all_lost = row < lost_until ? all_lost : 0;
            if (__any_sync(GP_FULL_WARP, lost)) {
                all_lost += gp_warp_sum(count_lost(s, enters));
                lost_until = row + (unsigned)window;
            }
            if (row + 1 < p.rows) {
                next = fetch(first + window);
                last = fetch(first);
            }
            if (__any_sync(GP_FULL_WARP, (bits & s.beyond) != 0))
                return row;
            special_until = special ? row + (unsigned)window : special_until;
            special = false;
            put_prefixes(held);
            write_row(s, row, all_lost, careful ? __ballot_sync(GP_FULL_WARP, lists && row < special_until) : 0);
            to += a.box.result[0].stride[a.box.outer];
            if (row + 1 == p.rows)
                return p.rows;
        }
    }

  public:
    /* All rows: scaled by a look at some that the first windows see, and again, by all of them, where that is no more
     * right. */
    __device__ void walk_all() {
        int32_t looked = ((int32_t)gp_window_y(&a.box)->window + GP_STRIP_LOOKED_AT - 1) / GP_STRIP_LOOKED_AT;
        for (unsigned row = 0; row < p.rows; looked = 1) {
            const int32_t first = (int32_t)p.y + (int32_t)row - (int32_t)gp_window_y(&a.box)->before;
            row = walk({most_of(first, looked), a.cut.area, a.result[0].inverse}, row);
        }
    }
};

/* Whether no window of a strip lacks rows. */
static __device__ bool has_all_rows(const floats_arguments &a, const strip_place &p) {
    const gp_window_axis *y = gp_window_y(&a.box);
    const int64_t first = p.y - y->before, last = first + p.rows - 1 + y->window;
    return first >= 0 && last <= (int64_t)y->n;
}

/* SHRINKS: the border is GP_BORDER_SHRINK. PACKED: pictures lie side by side. One kernel for all takes registers from
 * the commonest. */
template <bool SHRINKS, bool PACKED, int BYTES>
__global__ void __launch_bounds__(GP_WALK_THREADS, BLOCKS_OF(GP_WALK_THREADS, 5))
    window_means(const __grid_constant__ floats_arguments a) {
    __shared__ strip_place places[GP_WALK_THREADS / 32];
    const unsigned own = threadIdx.x / 32 * a.cut.warp_bytes;
    strip_place &place = places[threadIdx.x / 32];
    int32_t *const apart = (int32_t *)(prefixes + own + a.cut.prefix_bytes) + threadIdx.x % 32;
    if (!begin_warp(a.box, a.cut, 1, &place))
        return;
    const bool together = __all_sync(GP_FULL_WARP, find_columns(a, place, threadIdx.x % 32, 32, apart));
    gp_grid_dependency_wait();
    if constexpr (!PACKED)
        if (together && (!SHRINKS || has_all_rows(a, place)))
            return mean_walk<false, false, false, BYTES>(a, place, prefixes + own, apart).walk_all();
    mean_walk<true, SHRINKS, PACKED, BYTES>(a, place, prefixes + own, apart).walk_all();
}

#define MEANS(shrinks, packed) \
    { (const void *)window_means<shrinks, packed, 2>, (const void *)window_means<shrinks, packed, 4> }

const void *const gp_window_means[2][2][2] = {{MEANS(false, false), MEANS(true, false)},
                                              {MEANS(false, true), MEANS(true, true)}};
