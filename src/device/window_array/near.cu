/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of minima and maxima in windows of few rows. A warp walks down a strip. A lane has 16 bytes of each
 * row, as whole numbers whose least one wins (order.cuh). Of its columns it keeps the minima from each row of a
 * window's length of rows to the last of them; with the minimum of the rows behind these they make the windows'
 * columns (van Herk, Pattern Recognition Letters 13, 1992). Along a row, windows of 1 element become those of 2, 4
 * and so on: each is the least of two that lie apart.
 */
#include "lanes.cuh"

#include "order.cuh"

extern __shared__ __align__(16) uint4 rows_shared[];

struct near_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    row_fold fold;
};

/* A lane's elements, E in a word. */
template <int E> struct keys {
    uint32_t word[4];

    static __device__ keys get(const uint4 *from) {
        const uint4 x = *from;
        return {{x.x, x.y, x.z, x.w}};
    }
    __device__ void put(uint4 *to) const {
        *to = make_uint4(word[0], word[1], word[2], word[3]);
    }
    /* What lies FIRST words and some bits behind, in lanes that are `away`; OWN: some of it is in this one. */
    template <int FIRST, bool OWN> __device__ keys behind(unsigned away, unsigned bits) const {
        uint32_t x[5];
        keys moved;
#pragma unroll
        for (int k = 0; k < (E > 1 ? 5 : 4); k++)
            x[k] = OWN && k + FIRST < 4
                       ? word[(k + FIRST) % 4]
                       : __shfl_down_sync(GP_FULL_WARP, word[(k + FIRST) % 4], away + (k + FIRST) / 4);
#pragma unroll
        for (int k = 0; k < 4; k++)
            moved.word[k] = E > 1 ? __funnelshift_r(x[k], x[E > 1 ? k + 1 : k], bits) : x[k];
        return moved;
    }
    template <bool OWN> __device__ keys behind(unsigned bytes) const {
        const unsigned away = bytes / 16, bits = bytes % 4 * 8;
        if (bytes & 8)
            return bytes & 4 ? behind<3, OWN>(away, bits) : behind<2, OWN>(away, bits);
        return bytes & 4 ? behind<1, OWN>(away, bits) : behind<0, OWN>(away, bits);
    }
    __device__ keys behind(unsigned bytes) const {
        return bytes < 16 ? behind<true>(bytes) : behind<false>(bytes);
    }
};

#define EVEN 0x00ff00ffu

/* The least of several. Of four in a word, those at odd places are the upper bytes of `half`, whose lower ones are
 * none. */
template <int E> struct least_keys {
    uint32_t half[4], even[4];

    __device__ void clear() {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            half[k] = ~0u;
            even[k] = EVEN;
        }
    }
    __device__ void add(const keys<E> &x) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            half[k] = E == 1 ? min(half[k], x.word[k]) : __vminu2(half[k], x.word[k]);
            if (E == 4)
                even[k] = __vminu2(even[k], x.word[k] & EVEN);
        }
    }
    __device__ keys<E> all() const {
        keys<E> x;
#pragma unroll
        for (int k = 0; k < 4; k++)
            x.word[k] = E == 4 ? (half[k] & ~EVEN) | even[k] : half[k];
        return x;
    }
};

template <int E, rows_lie LIE> class near_windows {
    static constexpr int size = 4 / E, own = 4 * E;
    typedef lane_of_strip<4, 16, LIE> lane_type;
    typedef typename lane_type::raw_row raw_row;

    const near_arguments &a;
    const strip_place &p;
    const lane_type of;
    const order<E> by;
    const int height;
    const uint32_t outside; /* keys of what is not there */
    uint4 *const rows;      /* minima of columns from a row on: [height][32] */
    uint16_t *const apart;  /* where the lane's elements are in what others load: [own][32] */

  public:
    __device__ near_windows(const near_arguments &arguments, const strip_place &place, bool of_maximum)
        : a(arguments), p(place),
          of(a.fold, a.cut, p, (int32_t)gp_window_x(&a.box)->n * (int32_t)(a.box.channels * size), size),
          by(a.box.type, of_maximum), height((int)gp_window_y(&a.box)->window),
          outside(a.box.border == GP_BORDER_ZERO ? by.keys_of(0) : ~0u),
          rows((uint4 *)((unsigned char *)rows_shared + threadIdx.x / 32 * a.cut.warp_bytes) + of.lane),
          apart((uint16_t *)(rows - of.lane + (height + 1) * 32) + of.lane) {}

  private:
    __device__ keys<E> keys_of(const raw_row &raw, bool there) const {
        keys<E> x;
#pragma unroll
        for (int k = 0; k < 4; k++)
            x.word[k] = by.keys_of(of.word_of(raw, k));
        if (!there)
#pragma unroll
            for (int k = 0; k < 4; k++)
                x.word[k] = outside;
        return x;
    }
    /* In rows[height * 32] what the lane has of the columns that it loads. */
    __device__ void put_together(keys<E> *x) const {
        x->put(rows + height * 32);
        __syncwarp();
        if (of.edge) {
            const unsigned char *const from = (const unsigned char *)(rows - of.lane + height * 32);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                x->word[k] = 0;
#pragma unroll
                for (int j = 0; j < E; j++) {
                    const unsigned at = apart[(k * E + j) * 32];
                    const uint32_t key = at == UINT16_MAX ? outside & order<E>::all
                                         : E == 4         ? from[at]
                                         : E == 2         ? *(const uint16_t *)(from + at)
                                                          : *(const uint32_t *)(from + at);
                    x->word[k] |= key << (j * order<E>::bits % 32);
                }
            }
        }
        __syncwarp();
    }
    /* Minima from each row to the last. */
    __device__ void renew() const {
        least_keys<E> least;
        least.clear();
#pragma unroll 2
        for (int i = height - 1; i >= 0; i--) {
            least.add(keys<E>::get(rows + i * 32));
            least.all().put(rows + i * 32);
        }
    }

  public:
    __device__ __forceinline__ void walk_down(bool maximum) const {
        const int32_t from = (int32_t)(p.y - gp_window_y(&a.box)->before);
        const int window = (int)gp_window_x(&a.box)->window;
        const unsigned pixel = (unsigned)(a.box.channels * size), rows_out = p.rows;
        const int output = of.place * 16 - (int)a.cut.skew * size, outputs = of.outputs_of(p, size);
        unsigned result = 0; /* the first of them */
        while ((a.box.result[result].op == GP_REDUCE_MAX) != maximum)
            result++;
        unsigned char *to = of.output_of(a.box, a.cut, p, result, output);
        const int64_t to_next = a.box.result[result].stride[a.box.outer];
        const bool more = result + 1 < a.box.results;
        const bool edges = __any_sync(GP_FULL_WARP, of.edge);
        if (of.edge)
#pragma unroll 1
            for (int k = 0; k < own; k++)
                apart[k * 32] = (uint16_t)of.source_of(a.box, size, k * size);
        gp_grid_dependency_wait();
        bool there;
#pragma unroll 4
        for (int i = 0; i < height; i++) {
            const raw_row raw = of.fetch(from + i, &there);
            keys_of(raw, there).put(rows + i * 32);
        }
        least_keys<E> behind;
        raw_row enters = of.fetch(from + height, &there);
        int at = 0;
#pragma unroll 1
        for (unsigned row = 0; row < rows_out; row++, to += to_next) {
            if (at == 0) {
                renew();
                behind.clear();
            }
            least_keys<E> least = behind;
            least.add(keys<E>::get(rows + at * 32));
            const keys<E> entered = keys_of(enters, there);
            entered.put(rows + at * 32);
            behind.add(entered);
            at = at + 1 == height ? 0 : at + 1;
            if (row + 1 < rows_out)
                enters = of.fetch(from + (int32_t)row + height + 1, &there);
            keys<E> x = least.all();
            if (edges) {
                put_together(&x);
                least.clear();
                least.add(x);
            }
#pragma unroll 1
            for (int n = 1; n < window;) {
                const int step = min(n, window - n);
                least.add(x.behind((unsigned)step * pixel));
                x = least.all();
                n += step;
            }
#pragma unroll
            for (int k = 0; k < 4; k++)
                x.word[k] = by.bits_of(x.word[k]);
            of.template store<size == 4>(to, output, outputs, x.word);
#pragma unroll 1
            for (unsigned r = result + 1; more && r < a.box.results; r++)
                if ((a.box.result[r].op == GP_REDUCE_MAX) == maximum)
                    of.template store<size == 4>(of.output_of(a.box, a.cut, p, r, output) +
                                                     row * a.box.result[r].stride[a.box.outer],
                                                 output, outputs, x.word);
        }
    }
};

/* Its minima, then its maxima, as far as they are wanted. */
template <int E>
__global__ void __launch_bounds__(GP_WALK_THREADS, BLOCKS_OF(GP_WALK_THREADS, GP_NEAR_BLOCKS(4 / E)))
    window_near(const __grid_constant__ near_arguments a) {
    __shared__ strip_place places[GP_WALK_THREADS / 32];
    strip_place &place = places[threadIdx.x / 32];
    if (!begin_warp(a.box, a.cut, a.box.channels, &place))
        return;
#pragma unroll 1
    for (unsigned maximum = 0; maximum < 2; maximum++)
        if (a.box.wants & (maximum ? GP_WANT_MAX : GP_WANT_MIN)) {
            if (a.cut.pack.count > 0)
                near_windows<E, ROWS_NARROW>(a, place, maximum != 0).walk_down(maximum != 0);
            else if (a.cut.vectors)
                near_windows<E, ROWS_TOGETHER>(a, place, maximum != 0).walk_down(maximum != 0);
            else
                near_windows<E, ROWS_ANYWHERE>(a, place, maximum != 0).walk_down(maximum != 0);
        }
}

gp_status gp_window_launch_near(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const void *const kernels[] = {(const void *)window_near<4>, (const void *)window_near<2>,
                                          (const void *)window_near<1>};
    near_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    arguments.fold = fold_of(&arguments.box);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form - GP_STRIP_NEAR], list);
}
