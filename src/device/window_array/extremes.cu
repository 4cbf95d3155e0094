/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_strip of minima and maxima, at a cost that does not depend on the window (van Herk, Pattern Recognition
 * Letters 13, 1992; Gil and Werman, IEEE PAMI 15, 1993). Elements become whole numbers whose least one wins, as many
 * in a word of 32 bits as it holds. A block owns a strip of columns, channels being columns too, and walks down it. A
 * thread keeps, of its word of columns, the minima from each row of a window's length of rows to the last of them;
 * with the minimum of the rows behind these they make the windows' columns. Those of some rows go to shared memory,
 * words then holding neighbours of a column, and are made windows along rows so too, in shorter blocks.
 */
#include "order.cuh"

#define AT_ONCE 4 /* rows that a thread loads */

extern __shared__ __align__(16) uint32_t extremes_shared[];

struct extremes_arguments {
    gp_window_box box;
    gp_extremes_cut cut;
    uint32_t stores; /* see stores_together() */
};

/* A word of E elements, as they are compared: those of a byte two by two. */
template <int E> struct lanes {
    uint32_t even, odd;

    static __device__ lanes all() {
        return {~0u, ~0u};
    }
    static __device__ lanes of(uint32_t word) {
        return E == 4 ? lanes{__byte_perm(word, 0, 0x4240), __byte_perm(word, 0, 0x4341)} : lanes{word, 0};
    }
    __device__ uint32_t word() const {
        return E == 4 ? __byte_perm(even, odd, 0x6240) : even;
    }
    __device__ void least(const lanes &other) {
        even = E == 1 ? min(even, other.even) : __vminu2(even, other.even);
        if (E == 4)
            odd = __vminu2(odd, other.odd);
    }
};

/* Four words of four bytes, two of two halves: element j of word i becomes element i of word j. */
template <int E> __device__ inline void turn(uint32_t (&w)[E]) {
    if constexpr (E == 4) {
        const uint32_t a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[0], w[1], 0x7362),
                       c = __byte_perm(w[2], w[3], 0x5140), d = __byte_perm(w[2], w[3], 0x7362);
        w[0] = __byte_perm(a, c, 0x5410);
        w[1] = __byte_perm(a, c, 0x7632);
        w[2] = __byte_perm(b, d, 0x5410);
        w[3] = __byte_perm(b, d, 0x7632);
    } else if constexpr (E == 2) {
        const uint32_t a = __byte_perm(w[0], w[1], 0x5410);
        w[1] = __byte_perm(w[0], w[1], 0x7632);
        w[0] = a;
    }
}

/* The minimum from each of `count` words up to the last, `apart` words from one to the next. */
template <int E> __device__ inline void least_to_last(const uint32_t *from, uint32_t *to, int apart, int count) {
    lanes<E> least = lanes<E>::all();
    from += (count - 1) * apart;
    to += (count - 1) * apart;
#pragma unroll 1
    for (; count % 4 != 0; count--, from -= apart, to -= apart) {
        least.least(lanes<E>::of(*from));
        *to = least.word();
    }
#pragma unroll 1
    for (; count > 0; count -= 4, from -= 4 * apart, to -= 4 * apart) {
        uint32_t word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[k] = from[-k * apart];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            least.least(lanes<E>::of(word[k]));
            to[-k * apart] = least.word();
        }
    }
}

/* Of a column of rows, in shared memory from word `at` on. */
template <int E> static __device__ __noinline__ void renew(unsigned at, int words, int height) {
    uint32_t *const own = extremes_shared + at;
    least_to_last<E>(own, own, words, height);
}

template <int E> class extremes {
    static constexpr int bytes = 4 / E, rows_down = GP_EXTREMES_DOWN * E;
    struct alignas(4 * E) square {
        uint32_t word[E];
    };

    const extremes_arguments &a;
    const strip_place &p;
    const order<E> by;
    const int words, window, height, channels;
    const int pitch; /* words from a row to the next of those that hold neighbours of a column */
    /* Of extremes_shared: first [height][words] of the last rows that entered, and [words] of the least of those
       behind; then [GP_EXTREMES_DOWN][pitch] twice: windows along columns, and of both axes. */
    const int column, won;
    int32_t at[E]; /* columns of the thread's word in a row */
    uint32_t none; /* bits of those that are in none: others stand for them */
    bool together; /* the word is one of the input */
    int above;     /* rows to those of the word, of parts of a picture */

  public:
    __device__ extremes(const extremes_arguments &arguments, const strip_place &place, bool of_maximum)
        : a(arguments), p(place), by(a.box.type, of_maximum), words(a.cut.words),
          window((int)gp_window_x(&a.box)->window), height((int)gp_window_y(&a.box)->window),
          channels(a.box.channels), pitch(words * E + GP_EXTREMES_GAP), column((height + 1) * words),
          won(column + GP_EXTREMES_DOWN * pitch) {}

  private:
    __device__ void find_columns(int word) {
        const int64_t n = (int64_t)gp_window_x(&a.box)->n;
        const strip_spot spot = spot_of(a.cut.pack, word * E);
        const int32_t shift = min(spot.picture, p.pictures - 1) * p.picture_units;
        above = rows_above(a.cut, p, spot.picture);
        none = 0;
        together = a.cut.vectors;
#pragma unroll
        for (int k = 0; k < E; k++) {
            const int own = spot.at + k;
            const int64_t j = p.first + own, pixel = j >= 0 ? j / channels : ~(~j / channels);
            const bool used = spot.picture < p.pictures && own < (int)(p.cols + a.cut.skew + a.cut.reach);
            const int64_t source = used ? source_near(a.box.border, n, pixel) : -1;
            /* one that no window sees is a neighbour, so that words stay words */
            at[k] = source >= 0      ? (int32_t)((source - pixel) * channels + j)
                    : used || k == 0 ? 0
                                     : (int32_t)min((int64_t)at[0] + k, n * channels - 1);
            none |= source < 0 ? order<E>::all << k * order<E>::bits : 0;
            together = together && (source >= 0 || !used) && (k == 0 ? (at[0] + shift) % E == 0 : at[k] == at[0] + k);
        }
#pragma unroll
        for (int k = 0; k < E; k++)
            at[k] += shift;
    }
    /* Keys of the thread's words of rows from number `row` on of those that the block's windows see, as far as `end`.
     */
    __device__ void load(int row, int end, uint32_t (&word)[AT_ONCE]) const {
        const gp_window_axis *y = gp_window_y(&a.box), *x = gp_window_x(&a.box);
        const int64_t first = p.y + above - y->before + row, stride = channels > 1 ? bytes : x->in;
        const uint32_t outside = a.box.border == GP_BORDER_ZERO ? by.keys_of(0) : ~0u;
        const unsigned char *line[AT_ONCE];
        uint32_t there = ~0u;
        line[0] = p.plane + first * y->in;
#pragma unroll
        for (int k = 1; k < AT_ONCE; k++)
            line[k] = line[k - 1] + y->in;
        if (first < 0 || first + AT_ONCE > (int64_t)y->n) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const int64_t source = row + k < end ? row_near(a.box.border, (int64_t)y->n, first + k) : -1;
                line[k] = p.plane + (source < 0 ? 0 : source) * y->in;
                there ^= (uint32_t)(source < 0) << k;
            }
        }
        if (together) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                word[k] = __ldg((const uint32_t *)(line[k] + at[0] * (int64_t)bytes));
        } else {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                word[k] = 0;
#pragma unroll
            for (int j = 0; j < E; j++)
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    word[k] |= load_element(line[k] + at[j] * stride) << j * order<E>::bits;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            word[k] = there >> k & 1 ? (by.keys_of(word[k]) & ~none) | (outside & none) : outside;
    }
    static __device__ uint32_t load_element(const unsigned char *from) {
        return E == 4   ? (uint32_t)__ldg(from)
               : E == 2 ? (uint32_t)__ldg((const uint16_t *)from)
                        : __ldg((const uint32_t *)from);
    }
    /* The first rows, as many as a window has. */
    __device__ void fill(int word) const {
#pragma unroll 1
        for (int row = 0; row < height; row += AT_ONCE) {
            uint32_t enters[AT_ONCE];
            load(row, height, enters);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (row + k < height)
                    extremes_shared[(row + k) * words + word] = enters[k];
        }
    }
    /* Windows along columns of `rows_down` rows of outputs. */
    __device__ void walk_down(int row, int word) const {
        uint32_t *const begin = extremes_shared + word, *const past = begin + height * words;
        uint32_t *own = begin + row % height * words;
        square *to = (square *)(extremes_shared + column + word * E);
        const int end = (int)p.rows + height - 1;
        lanes<E> behind = lanes<E>::of(*past);
#pragma unroll 1
        for (int first = 0; first < rows_down; first += AT_ONCE) {
            uint32_t enters[AT_ONCE], made[AT_ONCE];
            load(row + first + height, end, enters);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                if (own == begin) {
                    renew<E>(word, words, height);
                    behind = lanes<E>::all();
                }
                lanes<E> least = lanes<E>::of(*own);
                least.least(behind);
                made[k] = least.word();
                *own = enters[k];
                behind.least(lanes<E>::of(enters[k]));
                own += words;
                own = own == past ? begin : own;
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k += E) {
                square turned;
#pragma unroll
                for (int j = 0; j < E; j++)
                    turned.word[j] = made[k + j];
                turn<E>(turned.word);
                *to = turned;
                to += pitch / E;
            }
        }
        *past = behind.word();
    }
    /* `count` windows along rows. to: minima from each column to the block's last; blocks: of it and those behind. */
    __device__ void walk_block(const uint32_t *from, uint32_t *to, const uint32_t *blocks, int count) const {
        const int block = a.cut.block;
        const uint32_t *const last = from + (window - 1) * channels; /* of the first window */
        lanes<E> behind = lanes<E>::all();
        int i = block;
#pragma unroll 2
        for (; i + block < window; i += block)
            behind.least(lanes<E>::of(*(blocks += GP_EXTREMES_DOWN * channels)));
#pragma unroll 4
        for (from += i * channels; from < last; from += channels)
            behind.least(lanes<E>::of(*from));
        from = last;
#pragma unroll 4
        for (; count > 0; count--, from += channels, to += channels) {
            lanes<E> least = lanes<E>::of(*to);
            behind.least(lanes<E>::of(*from));
            least.least(behind);
            *to = least.word();
        }
    }
    __device__ void walk_small(const uint32_t *from, uint32_t *to, int count) const {
#pragma unroll 2
        for (; count > 0; count--, from += channels, to += channels) {
            lanes<E> least = lanes<E>::of(*from);
            for (int i = 1; i < window; i++)
                least.least(lanes<E>::of(from[i * channels]));
            *to = least.word();
        }
    }
    /* Windows along rows. A thread has a block of a channel's columns; those with whole ones between come later. */
    __device__ void walk_along() const {
        const int block = a.cut.block, width = p.outputs / channels, rows = GP_EXTREMES_DOWN * channels;
        const bool small = window <= GP_EXTREMES_SMALL, apart = window > 2 * block;
        uint32_t *const blocks = extremes_shared + won + GP_EXTREMES_DOWN * pitch;
        for (int step = apart ? 0 : 1; step < 2; step++) {
            const int last = step == 0 ? (width + window - 1) / block : (width + block - 1) / block;
            for (int task = threadIdx.x; task < rows * last; task += blockDim.x) {
                const int rest = task / GP_EXTREMES_DOWN, nth = channels == 1 ? rest : rest / channels;
                const int shift = task % GP_EXTREMES_DOWN * pitch + rest - nth * channels + nth * block * channels;
                const uint32_t *const from = extremes_shared + column + shift + a.cut.skew;
                uint32_t *const to = extremes_shared + won + shift;
                const int count = min(block, width - nth * block);
                if (small) {
                    walk_small(from, to, count);
                    continue;
                }
                if (step == 0 || !apart)
                    least_to_last<E>(from, to, channels, block);
                if (step == 0)
                    blocks[task] = *to;
                else
                    walk_block(from, to, blocks + task, count);
            }
            if (step == 0)
                __syncthreads();
        }
    }
    /* Results of a word of E columns, in E rows for each row of words. */
    __device__ void store(int row, int first, unsigned r) const {
        const int64_t *stride = a.box.result[r].stride;
        const int64_t down = stride[a.box.outer], pixel = stride[a.box.outer + 1],
                      side = channels > 1 ? stride[a.box.outer - 1] : 0;
        const strip_spot spot = spot_of(a.cut.pack, first);
        const bool whole = (a.stores >> r & 1) && spot.at + E <= p.cols;
        const square *from = (const square *)(extremes_shared + won + first);
        const strip_spot picture = {spot.picture, 0};
        unsigned char *to = p.to[r] + row * down + bytes_to(a.box, a.cut, p, r, picture, channels);
#pragma unroll 1
        for (int left = (int)p.rows - row, q = 0; q < GP_EXTREMES_DOWN; q++, from += pitch / E) {
            square turned = *from;
            turn<E>(turned.word);
#pragma unroll
            for (int j = 0; j < E; j++, to += down) {
                const uint32_t word = by.bits_of(turned.word[j]);
                if (left-- <= 0)
                    return;
                if (whole)
                    *(uint32_t *)(to + spot.at * bytes) = word;
                else
                    store_apart(to, spot.at, word, pixel, side);
            }
        }
    }
    __device__ void store_apart(unsigned char *line, int first, uint32_t word, int64_t pixel, int64_t side) const {
#pragma unroll 1
        for (int k = 0; k < E && first + k < p.cols; k++, word >>= order<E>::bits % 32)
            store_bits(bytes, word, line + (first + k) / channels * pixel + (first + k) % channels * side);
    }

  public:
    __device__ void walk(bool of_maximum) {
#pragma unroll 1
        for (int row = -rows_down; row < (int)p.rows; row += rows_down) {
#pragma unroll 1
            for (int word = threadIdx.x; word < words; word += blockDim.x) {
                if (row < 0 || words > (int)blockDim.x)
                    find_columns(word);
                if (row < 0)
                    fill(word);
                else
                    walk_down(row, word);
            }
            if (row < 0)
                continue;
            __syncthreads();
            walk_along();
            __syncthreads();
            for (unsigned r = 0; r < a.box.results; r++)
                if ((a.box.result[r].op == GP_REDUCE_MAX) == of_maximum)
                    for (int first = threadIdx.x * E; first < p.outputs; first += blockDim.x * E)
                        store(row, first, r);
        }
        __syncthreads(); /* what is shared is free for the maxima */
    }
};

/* A block's minima, then its maxima, as far as they are wanted. */
template <int E>
__global__ void __launch_bounds__(GP_EXTREMES_THREADS_MAX, BLOCKS_OF(GP_EXTREMES_THREADS_MAX, 2))
    window_extremes(const __grid_constant__ extremes_arguments a) {
    __shared__ strip_place place;
    if (threadIdx.x == 0)
        find_place(a.box, a.cut, blockIdx.x, a.box.channels, &place);
    __syncthreads();
    gp_grid_dependency_wait();
#pragma unroll 1
    for (unsigned maximum = 0; maximum < 2; maximum++)
        if (a.box.wants & (maximum ? GP_WANT_MAX : GP_WANT_MIN))
            extremes<E>(a, place, maximum != 0).walk(maximum != 0);
}

gp_status gp_window_launch_extremes(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const void *const kernels[] = {(const void *)window_extremes<4>, (const void *)window_extremes<2>,
                                          (const void *)window_extremes<1>};
    extremes_arguments arguments = {};
    arguments.box = *problem->box;
    memcpy(&arguments.cut, plan->tiling.t, sizeof arguments.cut);
    arguments.stores = stores_together(problem, problem->box->channels);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form - GP_STRIP_FORMS], list);
}
