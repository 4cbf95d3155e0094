/* SPDX-License-Identifier: Apache-2.0 */
/* rearrange_cycle's first kernel: boxes of a matrix go through shared memory, where pieces are turned or lines
 * shifted. */
#pragma once

#include "../../host/rearrange_array/tiling.h"
#include "../rearrange/turn.cuh"

#define CYCLE_WORD 16
#define CYCLE_TOGETHER 4 /* words under way of a thread */

/* A matrix, of which the workspace may hold the end. From byte `cut` on a padded matrix is in its tail. */
struct cycle_matrix {
    unsigned char *at, *tail;

    __device__ unsigned char *operator()(uint64_t offset, uint64_t cut) const {
        return offset < cut ? at + offset : tail + (offset - cut);
    }
};

/* A tail is as far off a word's start as what it follows. */
__device__ inline cycle_matrix cycle_matrix_of(const gp_cycle &c, uint64_t index) {
    unsigned char *at = c.others.out;
    uint64_t rest = c.first + index;
    for (uint32_t a = c.others.rank; a-- > 0;) {
        const uint64_t n = c.others.axis[a].n, up = rest / n;
        at += (int64_t)(rest - up * n) * c.others.axis[a].out;
        rest = up;
    }
    return {at, c.space + index * c.tail + (uintptr_t)(at + c.cut) % 16};
}

/* How a box's elements lie in the matrix before or after it has been moved. */
struct cycle_side {
    uint64_t cut;                /* of a padded matrix; of others UINT64_MAX */
    uint64_t major, minor;       /* bytes from box to box along either axis */
    uint32_t row;                /* bytes from row to row */
    uint32_t row_step, col_step; /* in shared memory, pieces from row to row and from element to element */
    uint32_t step;               /* there, from piece to piece of a row, if always the same; else 0 */
    uint32_t flat;               /* elements of rows that lie one behind the other; 0: they are walked one by one */
    bool turned;                 /* rows are along the minor axis */
};

struct cycle_pass {
    gp_cycle c;
    struct {
        uint64_t n, boxes;
        uint32_t step; /* elements of a box */
    } major, minor;
    cycle_side from, to;
    bool back;         /* the last box first */
    uint32_t pieces;   /* of an element */
    uint32_t magic[2]; /* q / pieces, q / flat == q * magic >> 32, for q < 2^18 */
    uint32_t together; /* blocks that load before one of them stores, a divisor of the boxes */
    uint32_t reach;    /* boxes before one that are to be loaded before it is stored */
    uint32_t *arrived; /* how many of `together` blocks have loaded, or how many boxes a block has */
};

/* A box, of which each side says which are its rows. */
struct cycle_box {
    uint64_t major, minor;
    cycle_matrix matrix;
    uint32_t tall, wide; /* elements along the major and minor axis: few in the last box */
};

__device__ inline cycle_box cycle_box_of(const cycle_pass &p, uint64_t number) {
    const uint64_t line = number / p.minor.boxes, matrix = line / p.major.boxes;
    cycle_box b = {line - matrix * p.major.boxes, number - line * p.minor.boxes, cycle_matrix_of(p.c, matrix)};
    b.tall = (uint32_t)min((uint64_t)p.major.step, p.major.n - b.major * p.major.step);
    b.wide = (uint32_t)min((uint64_t)p.minor.step, p.minor.n - b.minor * p.minor.step);
    return b;
}

/*
 * A box's rows on one side. They are walked in words of 16 bytes, which begin anywhere in a row that does not begin
 * with one. raw: rows keep their bytes' order, and lie in shared memory as far off a word's start as on the side that
 * is loaded.
 */
template <int bytes, bool raw> struct cycle_rows {
    static constexpr int count = CYCLE_WORD / bytes;                             /* pieces of a word, */
    static constexpr int groups = bytes < 4 ? 4 : count, group = count / groups; /* in groups of 4 bytes at least */
    typedef typename element_of<bytes>::type piece;
    union word {
        uint4 whole;
        piece part[count];
        uint32_t quarter[4];
    };
    struct spot {       /* a word's first piece */
        int32_t offset; /* from the box's first byte on */
        int32_t first;  /* in the row */
        uint32_t row;   /* in shared memory */
    };
    const cycle_pass &p;
    const cycle_side &s;
    unsigned char *near, *far; /* the box's first byte, if it lies before and behind the cut */
    int32_t cut, begin, end;   /* of the matrix: from the box's first byte on, as far as is asked for */
    uint32_t length, words, total;
    uint32_t off, turn; /* raw: of the first row, on the side that is loaded; groups by which words are turned */

    __device__ cycle_rows(const cycle_pass &pass, const cycle_side &side, const cycle_box &b) : p(pass), s(side) {
        const uint64_t first = b.major * s.major + b.minor * s.minor,
                       loaded = b.major * p.from.major + b.minor * p.from.minor;
        near = b.matrix.at + first;
        far = b.matrix.tail + (first - s.cut);
        cut = s.cut > first ? (int32_t)min(s.cut - first, (uint64_t)INT32_MAX) : 0;
        begin = -(int32_t)min(first, (uint64_t)CYCLE_WORD);
        end = min(s.cut, p.c.bytes) > first ? (int32_t)min(min(s.cut, p.c.bytes) - first, (uint64_t)INT32_MAX) : 0;
        uint32_t rows = s.turned ? b.wide : b.tall;
        length = (s.turned ? p.major.step : b.wide) * p.pieces;
        if (s.flat > 0) {
            length *= rows;
            rows = 1;
        }
        const bool aligned = ((uintptr_t)at(0) | (rows > 1 ? s.row : 0)) % CYCLE_WORD == 0;
        words = (length + (aligned ? 1 : 2) * (count - 1)) / count;
        total = rows * words;
        off = raw ? (uint32_t)(uintptr_t)b.matrix(loaded, p.from.cut) : 0;
        turn = threadIdx.x / 8 % groups; /* else every eighth thread would ask for the same bank */
    }
    __device__ unsigned char *at(int32_t offset) const {
        return (offset < cut ? near : far) + offset;
    }
    __device__ bool is_whole(const spot &t) const {
        return t.first >= 0 && (uint32_t)t.first + count <= length &&
               (t.offset >= cut || cut - t.offset >= CYCLE_WORD);
    }
    /* All of a word is the matrix's, though not the row's. */
    __device__ bool is_readable(const spot &t) const {
        return (t.offset >= begin && t.offset <= end - CYCLE_WORD) || t.offset >= cut;
    }
    __device__ uint32_t in_shared(const spot &t, int j) const {
        uint32_t element = (uint32_t)(t.first + j), inside = 0, row = 0;
        if (raw || s.step > 0)
            return t.row + element * (raw ? 1 : s.step);
        if (p.pieces > 1) {
            const uint32_t piece = element;
            element = __umulhi(piece, p.magic[0]);
            inside = piece - element * p.pieces;
        }
        if (s.flat > 0) {
            row = __umulhi(element, p.magic[1]);
            element -= row * s.flat;
        }
        return t.row + row * s.row_step + element * s.col_step + inside;
    }
    __device__ bool is_mine(const spot &t, int j) const {
        return (uint32_t)(t.first + j) < length;
    }
    /* Calls use(j, place, whether it is the row's) for all pieces of a word that has been turned. */
    template <typename USE> __device__ void all(const spot &t, USE use) const {
        const uint32_t first = in_shared(t, 0);
#pragma unroll
        for (int g = 0; g < groups; g++) {
            const int from = (int)((g + turn) % groups * group);
#pragma unroll
            for (int j = 0; j < group; j++)
                use(g * group + j, first + (from + j) * s.step, is_mine(t, from + j));
        }
    }
    /* Group i becomes what group i + by was. */
    __device__ void turn_by(word &w, uint32_t by) const {
        const uint32_t quarters = count > 1 ? by * 4 / groups : 0;
        const uint4 v = w.whole, u = quarters & 1 ? make_uint4(v.y, v.z, v.w, v.x) : v;
        w.whole = quarters & 2 ? make_uint4(u.z, u.w, u.x, u.y) : u;
    }
    /* The first piece goes, `next` comes last. */
    static __device__ uint4 shifted(const uint4 &v, uint32_t next) {
        return make_uint4(__funnelshift_r(v.x, v.y, 8 * bytes), __funnelshift_r(v.y, v.z, 8 * bytes),
                          __funnelshift_r(v.z, v.w, 8 * bytes), __funnelshift_r(v.w, next, 8 * bytes));
    }
    /* Words of many pieces: one after another, in few instructions. */
    __device__ void put(const spot &t, word w, piece *shared) const {
        if constexpr (count > 4) {
#pragma unroll 1
            for (int j = 0; j < count; j++, w.whole = shifted(w.whole, 0))
                if (is_mine(t, j))
                    shared[in_shared(t, j)] = w.part[0];
        } else {
#pragma unroll
            for (int j = 0; j < count; j++)
                if (is_mine(t, j))
                    shared[in_shared(t, j)] = w.part[j];
        }
    }
    __device__ void take(const spot &t, word &w, const piece *shared) const {
        if constexpr (count > 4) {
#pragma unroll 1
            for (int j = 0; j < count; j++)
                w.whole = shifted(w.whole, shared[in_shared(t, j)]);
        } else {
#pragma unroll
            for (int j = 0; j < count; j++)
                w.part[j] = shared[in_shared(t, j)];
        }
    }
    /* Calls use(spots, n) for all of a thread's words, CYCLE_TOGETHER at a time of which n are there. */
    template <typename USE> __device__ void walk(USE use) const {
        const uint32_t down = blockDim.x / words, right = blockDim.x - down * words;
        uint32_t row = threadIdx.x / words, col = threadIdx.x - row * words, start = row * s.row;
        for (uint32_t i = threadIdx.x; i < total;) {
            spot t[CYCLE_TOGETHER];
            int n = 0;
#pragma unroll
            for (int k = 0; k < CYCLE_TOGETHER; k++) {
                const uint32_t before = (uint32_t)(uintptr_t)at((int32_t)start) % CYCLE_WORD;
                t[k].offset = (int32_t)(start - before + col * CYCLE_WORD);
                t[k].first = (int32_t)(col * count - before / bytes);
                t[k].row = row * s.row_step + (raw ? (off + row * p.from.row) % CYCLE_WORD : 0);
                n += i < total;
                i += blockDim.x;
                col += right;
                row += down;
                start += down * s.row;
                if (col >= words) {
                    col -= words;
                    row++;
                    start += s.row;
                }
            }
            use(t, n);
        }
    }
    __device__ void load(piece *shared) const {
        walk([&](const spot *t, int n) {
            word w[CYCLE_TOGETHER];
#pragma unroll
            for (int k = 0; k < CYCLE_TOGETHER; k++)
                if (k < n && is_readable(t[k]))
                    w[k].whole = __ldcg((const uint4 *)at(t[k].offset));
#pragma unroll
            for (int k = 0; k < CYCLE_TOGETHER; k++) {
                if (k >= n)
                    break;
                if (raw && is_whole(t[k])) {
                    *(uint4 *)(shared + in_shared(t[k], 0)) = w[k].whole;
                } else if (s.step > 0 && is_readable(t[k])) {
                    turn_by(w[k], turn);
                    all(t[k], [&](int j, uint32_t to, bool mine) {
                        if (mine)
                            shared[to] = w[k].part[j];
                    });
                } else if (is_readable(t[k])) {
                    put(t[k], w[k], shared);
                } else {
#pragma unroll 1
                    for (int j = 0; j < count; j++)
                        if (is_mine(t[k], j))
                            shared[in_shared(t[k], j)] = __ldcg((const piece *)at(t[k].offset + j * bytes));
                }
            }
        });
    }
    __device__ void store(const piece *shared) const {
        walk([&](const spot *t, int n) {
#pragma unroll
            for (int k = 0; k < CYCLE_TOGETHER; k++) {
                word w;
                if (k >= n)
                    break;
                if (!is_whole(t[k])) {
#pragma unroll 1
                    for (int j = max(-t[k].first, 0); j < count && is_mine(t[k], j); j++)
                        *(piece *)at(t[k].offset + j * bytes) = shared[in_shared(t[k], j)];
                    continue;
                }
                if (raw) {
                    const uint32_t from = in_shared(t[k], 0);
                    const uint32_t *quarter = (const uint32_t *)shared + from / 4;
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        w.quarter[j] = __funnelshift_r(quarter[j], quarter[j + 1], from % 4 * 8);
                } else if (s.step > 0) {
                    all(t[k], [&](int j, uint32_t from, bool) { w.part[j] = shared[from]; });
                    turn_by(w, groups - turn);
                } else {
                    take(t[k], w, shared);
                }
                *(uint4 *)at(t[k].offset) = w.whole;
            }
        });
    }
};

/* Until a block that has announced it has come so far. */
__device__ inline void cycle_await(const uint32_t *arrived, uint32_t count) {
    while (*(const volatile uint32_t *)arrived < count)
        __nanosleep(20);
}

/* Until all blocks have loaded that are to before this one, with box `number`, may store. */
__device__ inline void cycle_await_loads(const cycle_pass &p, uint64_t number, uint32_t blocks, uint32_t round) {
    __syncthreads();
    if (p.together > 1 && threadIdx.x == 0) {
        uint32_t *const arrived = p.arrived + blockIdx.x / p.together;
        __threadfence();
        atomicAdd(arrived, 1);
        cycle_await(arrived, round * p.together);
        __threadfence();
    }
    if (p.reach > 0) {
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile uint32_t *)(p.arrived + blockIdx.x) = round;
        }
        for (uint64_t k = threadIdx.x + 1; k <= p.reach && k <= number; k += blockDim.x)
            cycle_await(p.arrived + (number - k) % blocks, (uint32_t)((number - k) / blocks) + 1);
        __threadfence();
    }
    __syncthreads();
}

/* A box's places are written when it has been loaded, and so have all of them that other boxes at work are to get. */
template <int bytes, bool raw>
__global__ void __launch_bounds__(GP_REARRANGE_CYCLE_THREADS, GP_REARRANGE_CYCLE_BLOCKS)
    rearrange_cycle(const __grid_constant__ cycle_pass p) {
    extern __shared__ __align__(16) unsigned char memory[];
    auto *const shared = (typename element_of<bytes>::type *)memory;
    const uint64_t boxes = p.c.at_once * p.major.boxes * p.minor.boxes;
    const uint32_t blocks = gridDim.x / p.together * p.together;
    uint32_t round = 0;
    if (blockIdx.x >= blocks)
        return;
    for (uint64_t number = blockIdx.x; number < boxes; number += blocks) {
        const cycle_box box = cycle_box_of(p, p.back ? boxes - 1 - number : number);
        cycle_rows<bytes, raw>(p, p.from, box).load(shared);
        cycle_await_loads(p, number, blocks, ++round);
        cycle_rows<bytes, raw>(p, p.to, box).store(shared);
        __syncthreads();
    }
}
