/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of means of bytes as bytes, at a cost that does not depend on the window. A warp walks down a strip. A
 * lane keeps what the window holds of each of its neighbouring columns, two sums in a word. A row of outputs takes
 * prefix sums over the strip, those of each channel for itself; the lane's windows begin where its columns do, and
 * end at what it reads of other lanes'. Means become bytes, and these move to where they are stored.
 */
#include "lanes.cuh"

extern __shared__ __align__(16) unsigned char shared[];

struct bytes_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    row_fold fold;
    float below, above; /* 1 / area, or around it, where means may lie halfway between bytes */
    bool tall;          /* prefix sums may reach 2^23 */
};

#define PAIRS 0x00ff00ffu
#define FLOAT_23 0x4b000000u /* 2^23 as a float: its last bits are a whole number */
#define ROUND_23 12582912.0f /* 1.5 2^23: what is added to it is rounded to a whole number */

template <int CHANNELS, rows_lie LIE> class byte_means {
    static constexpr int words = GP_BYTES_WORDS(CHANNELS), columns = 4 * words, ahead = GP_STRIP_AHEAD,
                         entries = columns + 1; /* prefix sums of a lane: odd, against bank conflicts */
    typedef lane_of_strip<words, GP_BYTES_UNIT(CHANNELS), LIE> lane_type;
    typedef typename lane_type::raw_row raw_row;

    const bytes_arguments &a;
    const strip_place &p;
    const lane_type of;
    unsigned char *const sums; /* prefix sums */
    uint32_t *const loaded;    /* what the window holds of the columns, where some are edges: [2 * words][32] */
    uint16_t *const apart;     /* which of these are the lane's columns: [columns][32] */

  public:
    __device__ byte_means(const bytes_arguments &arguments, const strip_place &place, unsigned own)
        : a(arguments), p(place), of(a.fold, a.cut, p, (int32_t)gp_window_x(&a.box)->n * CHANNELS, 1),
          sums(shared + own), loaded((uint32_t *)(sums + a.cut.prefix_bytes) + of.lane),
          apart((uint16_t *)(loaded - of.lane + 2 * words * 32) + of.lane) {}

  private:
    __device__ void find_columns() const {
#pragma unroll 1
        for (int k = 0; k < columns; k++) {
            const int source = of.source_of(a.box, 1, k), column = source % columns;
            apart[k * 32] =
                source < 0 ? UINT16_MAX
                           : (uint16_t)(((column / 4 * 2 + column % 2) * 32 + source / columns) * 2 + column % 4 / 2);
        }
    }
    __device__ raw_row fetch(int32_t i) const {
        bool there;
        return of.fetch(i, &there);
    }
    static __device__ uint32_t odd(uint32_t word) {
        return __byte_perm(word, 0, 0x4341);
    }
    /* A row enters, and another leaves. */
    template <bool LEAVES>
    __device__ void slide(uint32_t (&held)[2 * words], const raw_row &enters, const raw_row &leaves) const {
#pragma unroll
        for (int k = 0; k < words; k++) {
            const uint32_t in = of.word_of(enters, k), out = LEAVES ? of.word_of(leaves, k) : 0;
            held[2 * k] += (in & PAIRS) - (out & PAIRS);
            held[2 * k + 1] += odd(in) - odd(out);
        }
    }
    /* x and what is held of column k. */
    static __device__ uint32_t plus(uint32_t x, const uint32_t (&held)[2 * words], int k) {
        return __dp2a_lo(held[k / 4 * 2 + k % 2], k & 2 ? 0x0100u : 0x0001u, x);
    }
    /* Columns that are outside of the row, or that the lane has loaded elsewhere; what it has loaded stays behind. */
    __device__ void put_together(uint32_t (&held)[2 * words]) const {
#pragma unroll
        for (int k = 0; k < 2 * words; k++)
            loaded[k * 32] = held[k];
        __syncwarp();
        if (of.edge)
#pragma unroll
            for (int k = 0; k < 2 * words; k++) {
                uint32_t both = 0;
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned at = apart[(k / 2 * 4 + k % 2 + 2 * half) * 32];
                    both |= (at == UINT16_MAX ? 0 : ((const uint16_t *)(loaded - of.lane))[at]) << (16 * half);
                }
                held[k] = both;
            }
    }
    /* What the lane has loaded, which other registers would have had no room for. */
    __device__ void take_back(uint32_t (&held)[2 * words]) const {
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 2 * words; k++)
            held[k] = loaded[k * 32];
    }
    /* Numbers below 256. */
    static __device__ void pack(uint32_t (&out)[words], const float (&x)[columns]) {
#pragma unroll
        for (int k = 0; k < columns; k += 4)
            out[k / 4] = __byte_perm(__byte_perm(__float_as_uint(x[k]), __float_as_uint(x[k + 1]), 0x40),
                                     __byte_perm(__float_as_uint(x[k + 2]), __float_as_uint(x[k + 3]), 0x40), 0x5410);
    }
    /* The nearest bytes, of halfway ones the even: what is a bit too small, unless it is odd. */
    __device__ void bytes_of(const float (&sum)[columns], uint32_t (&out)[words]) const {
        float mean[columns];
#pragma unroll
        for (int k = 0; k < columns; k++)
            mean[k] = __fmaf_rn(sum[k], a.below, ROUND_23);
        pack(out, mean);
        if (a.below != a.above) {
            uint32_t above[words];
#pragma unroll
            for (int k = 0; k < columns; k++)
                mean[k] = __fmaf_rn(sum[k], a.above, ROUND_23);
            pack(above, mean);
#pragma unroll
            for (int k = 0; k < words; k++) {
                const uint32_t is_odd = (out[k] & 0x01010101) * 255;
                out[k] = (out[k] & ~is_odd) | (above[k] & is_odd);
            }
        }
    }
    /* ends: bytes to prefix sums behind windows. */
    __device__ void make_row(const uint32_t (&held)[2 * words], const uint32_t (&ends)[columns],
                             uint32_t (&out)[words]) const {
        uint32_t before[CHANNELS] = {}, begin[columns];
        if constexpr (CHANNELS == 1)
#pragma unroll
            for (int k = 0; k < 2 * words; k++)
                before[0] = __dp2a_lo(held[k], 0x0101u, before[0]);
        else
#pragma unroll
            for (int k = 0; k < columns; k++)
                before[k % CHANNELS] = plus(before[k % CHANNELS], held, k);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const uint32_t own = before[c];
#pragma unroll
            for (int lanes = 1; lanes < 32; lanes *= 2)
                add_from_below(&before[c], lanes);
            before[c] += FLOAT_23 - own;
        }
        __syncwarp(); /* all have read what was there */
#pragma unroll
        for (int k = 0; k < columns; k++) {
            begin[k] = before[k % CHANNELS];
            *(uint32_t *)(sums + (of.lane * entries + k) * 4) = begin[k];
            before[k % CHANNELS] = plus(begin[k], held, k);
        }
        __syncwarp();
        uint32_t end[columns];
        float sum[columns];
#pragma unroll
        for (int k = 0; k < columns; k++)
            end[k] = *(const uint32_t *)(sums + ends[k]);
        if (__builtin_expect(a.tall, 0)) {
#pragma unroll
            for (int k = 0; k < columns; k++)
                sum[k] = __uint_as_float(end[k] - begin[k] + FLOAT_23) - 0x1p23f;
        } else
#pragma unroll
            for (int k = 0; k < columns; k++)
                sum[k] = __uint_as_float(end[k]) - __uint_as_float(begin[k]);
        bytes_of(sum, out);
    }

  public:
    __device__ __forceinline__ void walk_down() const {
        const gp_window_axis *y = gp_window_y(&a.box);
        const int32_t window = (int32_t)y->window;
        const int64_t next = a.box.result[0].stride[a.box.outer], in = (int64_t)a.fold.in;
        const unsigned rows = p.rows;
        const int outputs = of.outputs_of(p, 1), output = of.place * columns - (int)a.cut.skew;
        const bool edges = __any_sync(GP_FULL_WARP, of.edge);
        unsigned char *to = of.output_of(a.box, a.cut, p, 0, output);
        int32_t from = (int32_t)(p.y - y->before); /* row that windows begin with */
        uint32_t held[2 * words] = {}, ends[columns];
#pragma unroll
        for (int k = 0; k < columns; k++) {
            const uint32_t end = (uint32_t)k + a.cut.reach;
            ends[k] = ((uint32_t)of.lane * entries + end + end / columns) * sizeof(uint32_t);
            asm volatile("" : "+r"(ends[k])); /* not to be computed again for each row */
        }
        if (of.edge)
            find_columns();
        gp_grid_dependency_wait();
        int32_t i = 0;
        for (raw_row raw[ahead]; i + ahead < window; i += ahead) {
#pragma unroll
            for (int k = 0; k < ahead; k++)
                raw[k] = fetch(from + i + k);
#pragma unroll
            for (int k = 0; k < ahead; k++)
                slide<false>(held, raw[k], {});
        }
        for (; i + 1 < window; i++)
            slide<false>(held, fetch(from + i), {});
        raw_row enters = fetch(from + window - 1), leaves = {};
        const unsigned char *next_enters = NULL, *next_leaves = NULL;
        int32_t enters_row = 0, leaves_row = 0, side_by_side = 0; /* rows until these are no more all inside */
#pragma unroll 1
        for (unsigned row = 1;; row++, from++) {
            slide<true>(held, enters, leaves);
            if (row < rows) {
                if (side_by_side-- == 0) {
                    const int32_t first = from + of.above;
                    enters_row = a.fold.row_at(first + window);
                    next_enters = of.plane + (uint64_t)(uint32_t)enters_row * a.fold.in;
                    leaves_row = a.fold.row_at(first);
                    next_leaves = of.plane + (uint64_t)(uint32_t)leaves_row * a.fold.in;
                    side_by_side = first < 0 ? 0 : max(0, a.fold.n - 1 - window - first);
                }
                enters = of.fetch(next_enters, enters_row);
                leaves = of.fetch(next_leaves, leaves_row);
                next_enters += in;
                next_leaves += in;
            }
            if (edges)
                put_together(held);
            uint32_t out[words];
            make_row(held, ends, out);
            if (edges)
                take_back(held);
            of.template store<false>(to, output, outputs, out);
            to += next;
            if (row >= rows)
                return;
        }
    }
};

template <int CHANNELS, int BLOCKS>
__global__ void __launch_bounds__(GP_WALK_THREADS, BLOCKS_OF(GP_WALK_THREADS, BLOCKS))
    window_bytes(const __grid_constant__ bytes_arguments a) {
    __shared__ strip_place places[GP_WALK_THREADS / 32];
    const unsigned warp = threadIdx.x / 32, own = warp * a.cut.warp_bytes;
    strip_place &place = places[warp];
    if (!begin_warp(a.box, a.cut, CHANNELS, &place))
        return;
    if (a.cut.pack.count > 0)
        byte_means<CHANNELS, ROWS_NARROW>(a, place, own).walk_down();
    else if (a.cut.vectors)
        byte_means<CHANNELS, ROWS_TOGETHER>(a, place, own).walk_down();
    else
        byte_means<CHANNELS, ROWS_ANYWHERE>(a, place, own).walk_down();
}

/* The float nearest to 1 / n, or one `beside` it. */
static float inverse_and(uint32_t n, int32_t beside) {
    float inverse = 1 / (float)n;
    int32_t bits;
    memcpy(&bits, &inverse, sizeof bits);
    bits += beside;
    memcpy(&inverse, &bits, sizeof bits);
    return inverse;
}

gp_status gp_window_launch_bytes(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const void *const kernels[] = {(const void *)window_bytes<1, 5>, (const void *)window_bytes<3, 4>,
                                          (const void *)window_bytes<4, 5>};
    bytes_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    arguments.fold = fold_of(&arguments.box);
    const uint32_t area = arguments.cut.area, channels = arguments.cut.channels;
    const bool halfway = area % 2 == 0 && (area & (area - 1)) != 0; /* and the inverse is not exact */
    arguments.below = inverse_and(area, halfway ? -1 : 0);
    arguments.above = inverse_and(area, halfway ? 1 : 0);
    arguments.tall =
        arguments.box.axis[arguments.box.outer].window * 255 * 128 * GP_BYTES_WORDS(channels) / channels >= 1 << 23;
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form - GP_WALK_BYTES], list);
}
