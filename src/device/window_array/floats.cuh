/* SPDX-License-Identifier: Apache-2.0 */
/* What a block of window_strip of floats knows, and how it writes an output by itself. */
#pragma once

#include "failed.cuh"
#include "quotient.cuh"

#define COLUMNS 8 /* of a thread */
#define AT_ONCE 4 /* of its outputs */

/* How results are made of windows that have all their elements; FLOAT_OTHER: one by one. */
enum float_way { FLOAT_TOTAL, FLOAT_SQUARES, FLOAT_VARIANCE, FLOAT_STDDEV, FLOAT_OTHER };

struct float_result {
    float_way way;
    bool together; /* outputs of a row lie side by side */
    double by, inverse;
};

struct floats_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    float_result result[GP_PASS_RESULTS];
    many_space *space;
    bool tiled;  /* outputs that see NaNs or infinities are not listed */
    bool pivots; /* all results can be had from elements less a pivot: all but sums of squares */
};

/* Lanes in whose columns windows see an element that is no whole number of both units; that may be none of the unit
 * of sums, too; that is no number. */
struct strip_lanes {
    uint32_t inexact, fine, special;
};

/* What warps of a block tell each other: the sums over their columns, and what they found. */
template <class SUMS> struct strip_part {
    SUMS total;
    strip_lanes lanes;
    bool too_large;
};

/* Of elements in some rows: their range without NaNs and infinities, and whether there are those. */
struct strip_range {
    double low, high;
    uint32_t raw; /* the least, as an element */
    bool special;
    __device__ void join(const strip_range &other) {
        raw = other.low < low ? other.raw : raw;
        low = fmin(low, other.low);
        high = fmax(high, other.high);
        special |= other.special;
    }
};

template <class SUMS> struct floats_shared {
    strip_place place;
    strip_scale scale;
    strip_range range[GP_STRIP_THREADS_MAX / 32];
    strip_part<SUMS> part[GP_STRIP_THREADS_MAX / 32];
};

/* Output `column` of a strip's: where it is on the box's last axes. PACKED: pictures may lie side by side. */
struct output_at {
    uint64_t batch, y, x;
};

template <bool PACKED>
static __device__ output_at output_of(const floats_arguments &a, const strip_place &p, unsigned row,
                                      unsigned column) {
    if (!PACKED)
        return {p.batch, (uint64_t)(p.y + row), (uint64_t)p.output + column};
    const strip_spot spot = spot_of(a.cut.pack, (int)column);
    return {p.batch + (a.cut.pack.down ? 0 : spot.picture),
            (uint64_t)(p.y + row) + rows_above(a.cut, p, spot.picture), (uint64_t)(p.output + spot.at)};
}

template <bool PACKED>
static __device__ uint64_t number_of(const floats_arguments &a, const strip_place &p, unsigned row, unsigned column) {
    const output_at at = output_of<PACKED>(a, p, row, column);
    return (at.batch * gp_window_y(&a.box)->outputs + at.y) * gp_window_x(&a.box)->outputs + at.x;
}

/* Elements that count in the window of an output. */
template <bool PACKED>
static __device__ uint32_t counted_at(const floats_arguments &a, const strip_place &p, unsigned row,
                                      unsigned column) {
    const output_at at = output_of<PACKED>(a, p, row, column);
    return (uint32_t)(gp_window_counted(gp_window_y(&a.box), a.box.border, at.y) *
                      gp_window_counted(gp_window_x(&a.box), a.box.border, at.x));
}

template <bool PACKED>
static __device__ bool is_output(const floats_arguments &a, const strip_place &p, unsigned column) {
    return (int)column < p.outputs && (!PACKED || spot_of(a.cut.pack, (int)column).at < p.cols);
}

template <bool PACKED>
static __device__ unsigned char *address_of(const floats_arguments &a, const strip_place &p, unsigned r, unsigned row,
                                            unsigned column) {
    const int64_t *stride = a.box.result[r].stride + a.box.outer;
    return p.to[r] + row * stride[0] +
           (PACKED ? bytes_to(a.box, a.cut, p, r, spot_of(a.cut.pack, (int)column), 1) : column * stride[1]);
}

/* Any result of an output. Where the sums do not decide it, the output is listed instead. */
template <bool PACKED, class SUMS>
static __device__ __noinline__ void write_slowly(const floats_arguments &a, const strip_place &p,
                                                 const strip_scale &scale, SUMS window, unsigned r, unsigned row,
                                                 unsigned column, bool inexact) {
    const unsigned op = a.box.result[r].op;
    if (PACKED && !is_output<true>(a, p, column))
        return;
    const window_numbers<SUMS> numbers = {scale, counted_at<PACKED>(a, p, row, column)};
    const two_doubles number = op >= GP_REDUCE_VARIANCE      ? numbers.spread(window, inexact)
                               : op == GP_REDUCE_SUM_SQUARES ? numbers.squares(window, inexact)
                                                             : numbers.total(window, inexact);
    uint64_t raw;
    if (decide(number, op, a.box.result[r].type, numbers.count, &raw))
        store_bits(gp_type_bytes(a.box.result[r].type), raw, address_of<PACKED>(a, p, r, row, column));
    else
        fail(a.space, number_of<PACKED>(a, p, row, column));
}

/* Where the columns of one of so many threads are in a row of the input: to every threads-th of `apart`. Returns
 * whether they stand together. */
static __device__ bool find_columns(const floats_arguments &a, const strip_place &p, unsigned thread,
                                    unsigned threads, int32_t *apart) {
    const int64_t n = (int64_t)gp_window_x(&a.box)->n;
    const strip_spot spot = spot_of(a.cut.pack, (int)(thread * COLUMNS));
    bool together = a.cut.vectors;
#pragma unroll 1
    for (int k = 0, before = 0; k < COLUMNS; k++) {
        const int64_t column = p.first + spot.at + k;
        const bool used = spot.at + k < (int)(p.cols + a.cut.skew + a.cut.reach);
        const bool there = spot.picture < p.pictures && (used || (column >= 0 && column < n));
        const int32_t source = there ? (int32_t)source_near(a.box.border, n, column) : -1,
                      at = source < 0 ? -1 : source + spot.picture * p.picture_units;
        together = together && (k == 0 ? at >= 0 && at % COLUMNS == 0 : at == before + 1);
        before = at;
        apart[k * threads] = at;
    }
    return together;
}

inline float_result result_of_floats(const gp_problem *problem, const gp_strip_cut *cut, unsigned r) {
    const gp_pass_result *result = &problem->box->result[r];
    const unsigned op = result->op;
    const double by = divisor_of(op, cut->area);
    const bool root = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    const float_way way = result->type == GP_F64 || by == 0 ? FLOAT_OTHER
                          : op == GP_REDUCE_SUM_SQUARES     ? FLOAT_SQUARES
                          : op < GP_REDUCE_VARIANCE         ? FLOAT_TOTAL
                          : root                            ? FLOAT_STDDEV
                                                            : FLOAT_VARIANCE;
    return {way, result->stride[problem->box->outer + 1] == 4, by, 1 / by};
}

extern const void *const gp_window_means[2][2][2]; /* means by warps: [packed][windows shrink][not of 2 bytes] */
