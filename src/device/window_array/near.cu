/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of minima and maxima in small windows. A thread has 16 bytes of outputs in each of two rows, and loads
 * what their windows see of each row, again for the next two: caches have it. Elements are whole numbers whose least
 * one wins (order.cuh), two in a word, or one.
 */
#include "order.cuh"

/* REACH: elements from a window's first to its last are up to so many. */
template <int E, int REACH> class near_windows {
    static constexpr int bytes = 4 / E, each = E == 1 ? 1 : 2; /* elements of a word as they are compared */
    static constexpr int own = 4 * E, most = own + REACH, words = most / each, raws = most / E, won = own / each,
                         loads = raws + (E > 1); /* words, as elements may begin in one anywhere */

    struct raw_row {
        uint32_t word[loads];
        unsigned shift; /* bits in front of the first element */
        bool there;
    };

    const extremes_arguments &a;
    const strip_place &p;
    const order<E> by;
    const bool maximum;
    const unsigned char *const plane;
    const uint32_t outside; /* keys of what is not there */
    const int threads, n;   /* that have outputs; elements of a row */

  public:
    __device__ near_windows(const extremes_arguments &arguments, const strip_place &place, bool of_maximum)
        : a(arguments), p(place), by(a.box.type, of_maximum), maximum(of_maximum), plane(p.plane),
          outside(a.box.border == GP_BORDER_ZERO ? by.keys_of(0) : ~0u), threads((p.cols + own - 1) / own),
          n((int)(gp_window_x(&a.box)->n * a.box.channels)) {}

  private:
    static __device__ uint32_t least(uint32_t x, uint32_t y) {
        return E == 1 ? min(x, y) : __vminu2(x, y);
    }
    static __device__ uint32_t load_element(const unsigned char *from) {
        return E == 4 ? *from : E == 2 ? *(const uint16_t *)from : *(const uint32_t *)from;
    }
    /* Row i of the input from element `first` on, as it lies there. APART: keys of what is where `at` says, or
     * nowhere: -1. */
    template <bool APART> __device__ raw_row fetch(int64_t i, int first, const int32_t *at) const {
        const gp_window_axis *y = gp_window_y(&a.box);
        raw_row raw;
        if ((uint64_t)i >= y->n)
            i = row_near(a.box.border, (int64_t)y->n, i);
        raw.there = i >= 0;
        const unsigned char *line = plane + max(i, (int64_t)0) * y->in;
        __builtin_assume(__isGlobal(line));
        if constexpr (!APART) {
            const unsigned char *own_line = line + first * (int64_t)bytes;
            const unsigned before = E == 1 ? 0 : (unsigned)(uintptr_t)own_line % 4;
            const uint32_t *from = (const uint32_t *)(own_line - before);
            raw.shift = 8 * before;
#pragma unroll
            for (int k = 0; k < loads; k++)
                raw.word[k] = __ldg(from + k);
        } else {
#pragma unroll
            for (int k = 0; k < raws; k++) {
                uint32_t x = 0, none = 0;
#pragma unroll
                for (int j = 0; j < E; j++) {
                    const int32_t source = at[k * E + j];
                    x |= load_element(line + max(source, 0) * (int64_t)bytes) << j * order<E>::bits % 32;
                    none |= source < 0 ? order<E>::all << j * order<E>::bits % 32 : 0;
                }
                raw.word[k] = (by.keys_of(x) & ~none) | (outside & none);
            }
        }
        return raw;
    }
    template <bool APART> __device__ void keys_of(raw_row raw, uint32_t (&word)[words]) const {
#pragma unroll
        for (int k = 0; k < raws && !APART; k++)
            raw.word[k] =
                by.keys_of(E == 1 ? raw.word[k] : __funnelshift_r(raw.word[k], raw.word[(k + 1) % loads], raw.shift));
        if (!raw.there) {
#pragma unroll
            for (int k = 0; k < raws; k++)
                raw.word[k] = outside;
        }
#pragma unroll
        for (int k = 0; k < words; k++)
            word[k] = E == 4 ? __byte_perm(raw.word[k / 2], 0, k % 2 ? 0x4342 : 0x4140) : raw.word[k];
    }
    static __device__ void least_of(uint32_t (&x)[words], const uint32_t (&y)[words]) {
#pragma unroll
        for (int k = 0; k < words; k++)
            x[k] = least(x[k], y[k]);
    }
    /* Windows along a row of those along columns: the first words. */
    __device__ void along(uint32_t (&word)[words]) const {
        uint32_t odd[words - 1], out[won]; /* odd: words that begin with the second element of these */
#pragma unroll
        for (int k = 0; k < words - 1; k++)
            odd[k] = __byte_perm(word[k], word[k + 1], 0x5432);
#pragma unroll
        for (int k = 0; k < won; k++)
            out[k] = word[k];
#pragma unroll
        for (int s = 1; s <= REACH; s++)
            if (a.cut.sees >> s & 1) {
#pragma unroll
                for (int k = 0; k < won; k++)
                    out[k] = least(out[k], each == 1 ? word[k + s] : s % 2 ? odd[k + s / 2] : word[k + s / 2]);
            }
#pragma unroll
        for (int k = 0; k < won; k++)
            word[k] = out[k];
    }
    __device__ void store(unsigned row, int begin, uint32_t (&word)[words]) const {
        const int channels = a.box.channels;
        if (row >= p.rows)
            return;
        along(word);
        uint32_t out[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            out[k] = by.bits_of(E == 4 ? __byte_perm(word[2 * k % won], word[(2 * k + 1) % won], 0x6420) : word[k]);
#pragma unroll 1
        for (unsigned r = 0; r < a.box.results; r++) {
            const int64_t *stride = a.box.result[r].stride;
            unsigned char *to = p.to[r] + row * stride[a.box.outer];
            __builtin_assume(__isGlobal(to));
            if ((a.box.result[r].op == GP_REDUCE_MAX) != maximum)
                continue;
            if (a.stores >> r & 1 && begin + own <= p.cols) {
                to += begin * bytes;
                if ((uintptr_t)to % 16 == 0) {
                    *(uint4 *)to = make_uint4(out[0], out[1], out[2], out[3]);
                } else if ((uintptr_t)to % 4 == 0) {
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        ((uint32_t *)to)[k] = out[k];
                } else {
#pragma unroll
                    for (int k = 0; k < own; k++)
                        store_bits(bytes, out[k / E] >> k % E * order<E>::bits % 32, to + k * bytes);
                }
                continue;
            }
#pragma unroll
            for (int k = 0; k < own; k++)
                if (begin + k < p.cols)
                    store_bits(bytes, out[k / E] >> k % E * order<E>::bits % 32,
                               to + (begin + k) / channels * stride[a.box.outer + 1] +
                                   (channels > 1 ? (begin + k) % channels * stride[a.box.outer - 1] : 0));
        }
    }
    /* Two rows, of one thread's columns. */
    template <bool APART> __device__ __forceinline__ void do_rows(unsigned row, int begin, const int32_t *at) const {
        const int height = (int)gp_window_y(&a.box)->window, first = (int)p.first + begin;
        const int64_t i = p.y - gp_window_y(&a.box)->before + row;
        uint32_t top[words], below[words], other[words];
        const raw_row before = fetch<APART>(i, first, at), behind = fetch<APART>(i + height, first, at);
        raw_row next = fetch<APART>(i + 1, first, at);
        keys_of<APART>(before, top);
        keys_of<APART>(behind, below);
#pragma unroll 1
        for (int k = 1; k < height; k++) {
            const raw_row now = next;
            if (k + 1 < height)
                next = fetch<APART>(i + k + 1, first, at);
            keys_of<APART>(now, other);
            least_of(top, other);
            least_of(below, other);
        }
        store(row, begin, top);
        store(row + 1, begin, below);
    }

  public:
    /* Columns at the edges, which take long, are the last warp's. */
    __device__ void walk(bool) const {
        const int first = (int)p.first;
        const int left = first >= 0 ? 0 : min(threads, (own - 1 - first) / own);
        const int room = n - first - loads * E;
        const int right = max(left, room < 0 ? 0 : min(threads, room / own + 1)); /* from there on there is none */
        if (threadIdx.x < blockDim.x - 32) {
#pragma unroll 1
            for (unsigned row = 0; row < p.rows && (int)threadIdx.x >= left && (int)threadIdx.x < right; row += 2)
                do_rows<false>(row, (int)threadIdx.x * own, nullptr);
            return;
        }
        const int channels = a.box.channels, edges = left + threads - right;
#pragma unroll 1
        for (int task = (int)threadIdx.x % 32; task < edges * ((int)p.rows + 1) / 2; task += 32) {
            const int number = task % edges, begin = own * (number < left ? number : number - left + right);
            int32_t at[most];
#pragma unroll 1
            for (int k = 0; k < most; k++) {
                const int j = first + begin + k, pixel = j >= 0 ? j / channels : ~(~j / channels);
                const int64_t source = source_near(a.box.border, (int64_t)gp_window_x(&a.box)->n, pixel);
                at[k] = source < 0 ? -1 : (int32_t)((source - pixel) * channels + j);
            }
            do_rows<true>(task / edges * 2, begin, at);
        }
    }
};

template <int E, int REACH>
__global__ void __launch_bounds__(GP_NEAR_THREADS, BLOCKS_OF(GP_NEAR_THREADS, GP_NEAR_BLOCKS))
    window_near(const __grid_constant__ extremes_arguments a) {
    walk_extremes<near_windows<E, REACH>>(a);
}

/* Bit r: outputs of result r lie side by side in a row. */
static uint32_t dense_results(const gp_problem *problem) {
    const gp_window_box *box = problem->box;
    const int64_t bytes = problem->elem_bytes, channels = box->channels;
    uint32_t dense = 0;
    for (unsigned r = 0; r < box->results; r++) {
        const int64_t *stride = box->result[r].stride + box->outer;
        dense |= (uint32_t)(stride[1] == bytes * channels && (channels == 1 || stride[-1] == bytes)) << r;
    }
    return dense;
}

gp_status gp_window_launch_near(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
#define KERNELS(e) \
    { (const void *)window_near<e, GP_NEAR_REACH / 2>, (const void *)window_near<e, GP_NEAR_REACH> }
    static const void *const kernels[][2] = {KERNELS(4), KERNELS(2), KERNELS(1)};
    gp_extremes_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    return launch_extremes(context, plan, problem,
                           kernels[plan->tiling.form - GP_STRIP_NEAR][cut.reach > GP_NEAR_REACH / 2],
                           dense_results(problem));
}
