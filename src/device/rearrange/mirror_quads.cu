/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror_pick_quads: 1 byte in place, any pitch, large. As in transpose_mirror_pick_wide a block has a tile
 * and a cluster of two swaps a pair. Odd pitches: four output rows that follow each other have all four skews, so
 * their words come from seven rows of the tile, of which each lane reads a word for four elements and keeps the last
 * one. What matters is that SMs are done at the same time and that storing, which takes longer than loading (H200,
 * 5793 x 5793: 17.7 us alone and 11.9), has few instructions: so tiles at the matrix's edges go nearly the same way
 * as others, warps that store rows which tiles share have fewer others, the last pairs are cut into quarters, and the
 * next kernel's blocks are let in late. 5793 x 5793 23.5 us for 25.5, 11585 x 11585 81.5 for 83.9. Blocks that stay
 * and load a tile while they store another took 25.6 and 90.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "mirror_pick.cuh"

typedef picked_tile<1, GP_TRANSPOSE_MIRROR_QUADS_VECTORS, GP_TRANSPOSE_MIRROR_QUADS_THREADS> quads_rows;

#define WORDS quads_rows::words
#define TIMES quads_rows::times
#define WARPS quads_rows::warps

/* Groups of columns after each other in the code: all of a warp's, but for 12.0 ptxas would spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
constexpr int unrolled = 2;
#else
constexpr int unrolled = WORDS;
#endif

/* A tile or a quarter of one, in words: where its rows and columns begin, and how many it owns. */
struct quads_box {
    uint32_t row, col, down, across;
};

/* What this block takes of a pair; false: nothing. A tile on the diagonal is its own mirror image. */
__device__ inline bool box_of_block(const transpose_arguments &a, quads_box *box) {
    const uint32_t cluster = blockIdx.x / 2, whole = a.cut.whole, quarter = (cluster - whole) % 4;
    const bool cut = cluster >= whole;
    bool second = blockIdx.x % 2 == 1;
    tile_index at;
    if (!pair_of_block(a, cut ? whole + (cluster - whole) / 4 : cluster, &at))
        return false;
    quads_box upper = {at.row * WORDS, at.col * WORDS, WORDS, WORDS};
    if (cut) {
        constexpr uint32_t half = (WORDS + 1) / 2;
        uint32_t below = quarter % 2, right = quarter / 2;
        if (at.row == at.col && quarter == 0)
            below = right = second;
        else if (at.row == at.col)
            below = 0, right = 1;
        upper = {upper.row + below * half, upper.col + right * half, below ? WORDS - half : half,
                 right ? WORDS - half : half};
    }
    const bool square = upper.row == upper.col;
    *box = second && !square ? quads_box{upper.col, upper.row, upper.across, upper.down} : upper;
    return at.row != at.col || (cut ? quarter < 2 : !second);
}

struct quads_tile {
    static constexpr uint32_t base = GP_TRANSPOSE_SECTOR; /* words left of the first row's are read, not used */

    const transpose_arguments &a;
    quads_box box;

    __device__ static uint32_t lane() {
        return threadIdx.x % 32;
    }
    __device__ static uint32_t warp() {
        return threadIdx.x / 32;
    }
    __device__ int64_t first() const {
        return (int64_t)box.row * 4 - quads_rows::halo;
    }
    /* A whole tile, and nothing that it touches lies outside the matrix. */
    __device__ bool is_inside() const {
        return box.row > 0 && box.col > 0 && box.down == WORDS && box.across == WORDS &&
               (uint64_t)(max(box.row, box.col) + WORDS) * 4 + GP_TRANSPOSE_VECTOR <= a.rows;
    }
    /* The low bits of the address of element (first(), box.col * 4). */
    __device__ uint32_t corner() const {
        return (uint32_t)(uintptr_t)a.in + (uint32_t)first() * (uint32_t)a.in_pitch + box.col * 4;
    }
    /* Of four columns from a multiple of four on, the one whose output row has skew s. */
    __device__ uint32_t column(uint32_t s) const {
        return (s - (uint32_t)(uintptr_t)a.in) * (uint32_t)a.in_pitch % 4;
    }
    /* Skew of a row so many rows behind one that is a multiple of four. */
    __device__ uint32_t skew(uint32_t row) const {
        return ((uint32_t)(uintptr_t)a.in + row * (uint32_t)a.in_pitch) % 4;
    }

    __device__ void load_part() const {
        constexpr uint32_t step = quads_rows::threads / quads_rows::lanes;
        const uint32_t x = threadIdx.x % quads_rows::lanes * GP_TRANSPOSE_VECTOR,
                       above = box.row == 0 ? quads_rows::halo : 0;
        const int64_t rows = (int64_t)a.rows - first(), cols = (int64_t)a.rows - (int64_t)box.col * 4;
        const uint32_t below = (uint32_t)max((int64_t)0, min(rows, (int64_t)(4 * box.down + quads_rows::halo)));
        const uint32_t across = (uint32_t)max((int64_t)0, min(cols, (int64_t)(4 * box.across + GP_TRANSPOSE_VECTOR)));
        const unsigned char *const end = a.in + (a.rows - 1) * a.in_pitch + a.cols;
#pragma unroll 4
        for (uint32_t r = threadIdx.x / quads_rows::lanes; r < below; r += step) {
            const unsigned char *from = a.in + (first() + r) * (int64_t)a.in_pitch + (uint64_t)box.col * 4;
            const uint32_t low = (uint32_t)(uintptr_t)from;
            if (r >= above && x < (low & 12) + 4 * box.across && x < (low & 15) + across)
                quads_rows::copy_part(base + quads_rows::row_at(r) + (low & 16) + x,
                                      (const unsigned char *)((uintptr_t)from & ~(uintptr_t)15) + x, a.in, end);
        }
    }
    __device__ void load() const {
        if (is_inside())
            quads_rows{a, base, box.row / WORDS, box.col / WORDS, threadIdx.x}.load_rows<true>();
        else
            load_part();
        await_copies();
    }

    /* Bit 4 * s + k: element k of word w, of an output row with skew s, lies in the matrix. */
    __device__ uint32_t part_inside(uint32_t w) const {
        const int32_t rows =
            (int32_t)max((int64_t)-4, min((int64_t)a.rows - (int64_t)box.row * 4, (int64_t)WORDS * 4));
        uint32_t part = 0;
#pragma unroll
        for (int32_t s = 0; s < 4; s++) {
            const int32_t below = max(0, min(rows - (int32_t)w * 4 + s, 4)), above = box.row > 0 || w > 0 ? 0 : s;
            part |= (((1u << below) - 1) & (~0u << above)) << 4 * s;
        }
        return w < box.down ? part : 0;
    }
    /* Likewise: is not the next tile's, of the columns left of the first whole four or right of the last. */
    __device__ uint32_t part_owned(bool left) const {
        uint32_t part = 0;
#pragma unroll
        for (uint32_t i = 0; i < 16; i++)
            part |= (uint32_t)((skew(i % 4 - i / 4) + column(i / 4) >= 4) == left) << i;
        return part;
    }
    __device__ void store_inside() const;
    __device__ void store_edge() const;
    __device__ void store_words(uint32_t i0, uint32_t begin, uint32_t end) const;
    __device__ void store_ends(uint32_t c) const;
    __device__ void store_shared(uint32_t task, uint32_t groups, bool inside) const;
    __device__ void store() const {
        if (is_inside())
            store_inside();
        else
            store_edge();
    }
};

/* Output words lane + 32 * (i0 + i) of four columns, then of the next four. Group g is of columns 4 * (g - 1) on. */
template <uint32_t times> struct quads {
    static constexpr uint32_t rows = 7;
    uint32_t from[times][rows], low[times][rows], shift[4], pick[4];
    unsigned char *to[4];

    __device__ quads(const quads_tile &tile, uint32_t i0, uint32_t group) {
        const transpose_arguments &a = tile.a;
        const uint32_t pitch = (uint32_t)a.in_pitch, corner = tile.corner();
#pragma unroll
        for (uint32_t i = 0; i < times; i++) {
            const uint32_t w = min(tile.lane() + (i0 + i) * 32, tile.box.down - 1);
#pragma unroll
            for (uint32_t k = 0; k < rows; k++) {
                const uint32_t r = w * 4 + k;
                from[i][k] = tile.base + quads_rows::row_at(r) + (corner + r * pitch & 28) + group * 4 - 4;
                low[i][k] = *(const volatile uint32_t *)(transpose_shared + from[i][k]);
            }
        }
        unsigned char *out = a.out + ((int64_t)tile.box.col * 4 + (int64_t)group * 4 - 4) * (int64_t)a.out_pitch +
                             ((uint64_t)tile.box.row + i0 * 32 + tile.lane()) * 4;
#pragma unroll
        for (uint32_t s = 0; s < 4; s++) {
            shift[s] = (corner + s * pitch) % 4 * 8;
            pick[s] = tile.column(s) * 0x11 + 0x40;
            to[s] = out + tile.column(s) * a.out_pitch - s;
            asm volatile(""
                         : "+r"(shift[s]), "+r"(pick[s])); /* kept: the compiler would compute them for each group */
        }
    }
    __device__ void next(uint32_t word[4][times]) {
#pragma unroll
        for (uint32_t i = 0; i < times; i++) {
            uint32_t v[rows];
#pragma unroll
            for (uint32_t k = 0; k < rows; k++) {
                const uint32_t high = *(const volatile uint32_t *)(transpose_shared + (from[i][k] += 4));
                v[k] = __funnelshift_r(low[i][k], high, shift[k % 4]);
                low[i][k] = high;
            }
#pragma unroll
            for (uint32_t s = 0; s < 4; s++)
                word[s][i] = __byte_perm(__byte_perm(v[3 - s], v[4 - s], pick[s]),
                                         __byte_perm(v[5 - s], v[6 - s], pick[s]), 0x5410);
        }
    }
};

/*
 * Shared rows are worth three groups of columns: the warps that store them, one for the first and one for the last
 * columns of each 32 words, have three groups less.
 */
__device__ inline void quads_tile::store_inside() const {
    constexpr uint32_t shared = 2 * TIMES, most = (WORDS - 1 + 3 * shared + WARPS - 1) / WARPS,
                       others = WARPS - shared;
    constexpr bool even = (WORDS - 1 + 3 * shared) % WARPS == 0;
    static_assert(WARPS >= shared && most >= 3, "there are warps and groups to be shared out");
    const bool less = warp() >= others;
    const uint32_t begin = 1 + warp() * most - (less ? 3 * (warp() - others) : 0);
    const uint32_t end = min(begin + most - (less ? 3 : 0), WORDS);
    if (begin < end) {
        quads<TIMES> q(*this, 0, begin);
#pragma unroll(unrolled)
        for (uint32_t i = 0; i < most; i++) {
            if ((!even || i >= most - 3) && begin + i >= end)
                break;
            uint32_t word[4][TIMES];
            q.next(word);
#pragma unroll
            for (uint32_t s = 0; s < 4; s++) {
#pragma unroll
                for (uint32_t j = 0; j < TIMES; j++)
                    if (j + 1 < TIMES || lane() + j * 32 < WORDS)
                        ((uint32_t *)q.to[s])[j * 32] = word[s][j];
                q.to[s] += 4 * a.out_pitch;
            }
        }
    }
    if (less)
        store_shared(warp() - others, WORDS - 1, true);
}

/* Words lane + 32 * i0 of groups begin .. end - 1, if they lie in the matrix as a whole. */
__device__ inline void quads_tile::store_words(uint32_t i0, uint32_t begin, uint32_t end) const {
    const uint32_t part = part_inside(lane() + i0 * 32);
    uint32_t word[4][1];
    quads<1> q(*this, i0, begin);
#pragma unroll 1
    for (uint32_t group = begin; group < end; group++) {
        q.next(word);
#pragma unroll
        for (uint32_t s = 0; s < 4; s++) {
            if ((part >> 4 * s & 15) == 15)
                *(uint32_t *)q.to[s] = word[s][0];
            q.to[s] += 4 * a.out_pitch;
        }
    }
}

/* Of column c the words that lie in the matrix in part, above and below. */
__device__ inline void quads_tile::store_ends(uint32_t c) const {
    const uint32_t s = skew(c);
    const int64_t top = (int64_t)box.row * 4 - s;
    unsigned char *to = a.out + ((int64_t)box.col * 4 + c) * (int64_t)a.out_pitch;
#pragma unroll 1
    for (int i = 0; i < 2; i++) {
        const int64_t w = i == 0 ? 0 : ((int64_t)a.rows - top) / 4;
        if (i == 0 ? top >= 0 : w < 0 || w >= box.down)
            continue;
        for (int64_t r = max((int64_t)0, top + 4 * w); r < min((int64_t)a.rows, top + 4 * w + 4); r++) {
            const uint32_t local = (uint32_t)(r - first()),
                           start = (corner() + local * (uint32_t)a.in_pitch) % GP_TRANSPOSE_SECTOR;
            to[r] = transpose_shared[base + quads_rows::row_at(local) + start + c];
        }
    }
}

/* Task 0, 1 ..: word lane, lane + 32 .. of the columns left of the first group; then of those right of the last. */
__device__ inline void quads_tile::store_shared(uint32_t task, uint32_t groups, bool inside) const {
    const uint32_t i0 = task % TIMES, w = lane() + i0 * 32, group = task / TIMES * (groups + 1);
    if (i0 * 32 >= box.down)
        return;
    uint32_t part = inside ? (w < WORDS ? 0xffff : 0) : part_inside(w), word[4][1];
    if (group == 0 || group == box.across)
        part &= part_owned(group == 0);
    quads<1> q(*this, i0, group);
    q.next(word);
#pragma unroll
    for (uint32_t s = 0; s < 4; s++) {
        const int64_t c = (int64_t)box.col * 4 + (int64_t)group * 4 - 4 + column(s);
        const uint32_t mine = inside || (c >= 0 && c < (int64_t)a.rows) ? part >> 4 * s & 15 : 0;
        if (mine == 15)
            *(uint32_t *)q.to[s] = word[s][0];
        else
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                if (mine >> k & 1)
                    q.to[s][k] = (unsigned char)(word[s][0] >> 8 * k);
    }
}

__device__ inline void quads_tile::store_edge() const {
    const int64_t left = (int64_t)a.rows - (int64_t)box.col * 4;
    const uint32_t groups = left < 0 ? 0 : (uint32_t)min(left / 4, (int64_t)box.across - 1);
    const uint32_t each = (groups + WARPS - 1) / WARPS, begin = 1 + warp() * each,
                   end = min(begin + each, groups + 1);
#pragma unroll 1
    for (uint32_t i0 = 0; i0 * 32 < box.down && begin < end; i0++)
        store_words(i0, begin, end);
    if (box.row == 0 || (uint64_t)(box.row + box.down) * 4 > a.rows)
#pragma unroll 1
        for (uint32_t c = threadIdx.x; c < 4 * groups; c += quads_rows::threads)
            store_ends(c);
    if (warp() >= WARPS - 2 * TIMES)
        store_shared(warp() - (WARPS - 2 * TIMES), groups, false);
}

__global__ void CLUSTER_OF_TWO __launch_bounds__(GP_TRANSPOSE_MIRROR_QUADS_THREADS, 2)
    transpose_mirror_pick_quads(transpose_arguments a) {
    gp_await_earlier_kernels(gp_admission::later);
    quads_box box;
    if (!box_of_block(a, &box))
        return;
    if (a.in_pitch % 2 == 1) {
        const quads_tile mine = {a, box};
        mine.load();
        await_cluster();
        gp_admit_later_kernels();
        mine.store();
    } else {
        const quads_rows mine = {a, 0, box.row / WORDS, box.col / WORDS, threadIdx.x};
        mine.load();
        await_cluster();
        gp_admit_later_kernels();
        mine.store();
    }
}

extern "C" gp_status gp_launch_transpose_mirror_pick_quads(gp_context *context, const gp_plan *plan,
                                                           const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, (const void *)transpose_mirror_pick_quads, list);
}
