/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_any: elements of any size at any address, through shared memory. A tile's rows are copied there in whole
 * vectors, each row as far off a vector's start as it lies in memory; vectors of the output are put together from
 * pieces as large as sizes and addresses allow. The distance between rows in shared memory follows from an element's
 * size, so that neighbouring pieces of the output lie in neighbouring banks.
 */
#include "../gpu.h"
#include "skew.cuh"

#define SPREAD 64

struct any_arguments {
    transpose_arguments matrix;
    uint32_t elem_bytes, elem_pieces;
    uint32_t pitch;         /* bytes from row to row in shared memory */
    uint32_t in_vectors;    /* at most, of a tile's row; 0: all rows are one run of memory */
    uint32_t out_vectors;   /* at most, of a tile's column (or SPREAD bytes); 0: all columns are one run */
    uint32_t column_pieces; /* of a column, where columns are one run */
    uint32_t per_in_vectors, per_out_vectors, per_column, per_elem; /* reciprocals of these numbers */
};

/* For quotient(): i / d by a multiplication, where i * d < 2^30. */
static inline uint32_t reciprocal(uint32_t d) {
    return d == 0 ? 0 : ((1u << 31) + d - 1) / d;
}

__device__ inline uint32_t quotient(uint32_t i, uint32_t reciprocal) {
    return __umulhi(2 * i + 1, reciprocal);
}

/* Walks over the pieces of a column, or (one) of columns that are one run. */
template <int piece, bool one> struct any_walk {
    typedef typename element_of<piece>::type piece_type;
    const unsigned char *at; /* the next piece but for the pieces already taken */
    uint32_t row, crossing;  /* pieces taken when the next element begins */

    __device__ any_walk(const any_arguments &a, const unsigned char *column, uint32_t first) {
        if (one) {
            const uint32_t c = quotient(first, a.per_column);
            first -= c * a.column_pieces;
            column += c * a.elem_bytes;
        }
        row = quotient(first, a.per_elem);
        at = column + first * piece + row * (a.pitch - a.elem_bytes);
        crossing = (row + 1) * a.elem_pieces - first;
    }
    __device__ piece_type take(const any_arguments &a, uint32_t taken) {
        if (taken == crossing) {
            at += a.pitch - a.elem_bytes;
            crossing += a.elem_pieces;
            if (one && ++row == a.matrix.rows) {
                at -= row * a.pitch - a.elem_bytes;
                row = 0;
            }
        }
        return *(const piece_type *)(at + taken * piece);
    }
};

/*
 * Pieces of `piece` bytes divide an element and every address; `vector` bytes are stored at once. `spread`: a warp
 * stores SPREAD bytes of each of a few columns, not 256 of one: where rows lie whole vectors apart, many bytes of one
 * column lie in the same bank. H200, share of a copy's speed, 3 bytes, with and without: 4096 x 4096 0.70 and 0.45,
 * 2160 x 3840 0.69 and 0.45.
 */
template <int piece, int vector, bool spread> struct any_tile {
    typedef typename element_of<piece>::type piece_type;
    typedef typename element_of<vector>::type vector_type;
    const any_arguments &a;
    skewed_tile tile;
    unsigned char *shared; /* of local row 0 */

    /* `base`: local row 0 in the input. */
    __device__ void load(const unsigned char *base) const {
        const transpose_arguments &m = a.matrix;
        const bool one = a.in_vectors == 0;
        const uint32_t height = tile.end - tile.lowest;
        const uint32_t bytes = one ? height * (uint32_t)m.in_pitch : tile.cols * a.elem_bytes;
        const uint32_t each = one ? (bytes + 30) / 16 : a.in_vectors, count = one ? each : each * height;
        const unsigned char *first = base + tile.lowest * m.in_pitch;
        const unsigned char *last = base + (tile.end - 1) * m.in_pitch + tile.cols * a.elem_bytes;
        const unsigned char *end = m.in + (m.rows - 1) * m.in_pitch + m.cols * a.elem_bytes;
        const bool inside = first - 15 >= m.in && last + 15 <= end;
        unsigned char *to = shared + tile.lowest * a.pitch;
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            const uint32_t r = one ? 0 : quotient(i, a.per_in_vectors), v = i - r * each;
            const unsigned char *row = first + r * m.in_pitch;
            const uint32_t past = (uint32_t)(uintptr_t)row & 15;
            if (v * 16 >= past + bytes)
                continue;
            if (inside)
                copy_async(to + r * a.pitch - past + v * 16, row - past + v * 16);
            else
                copy_inside(to + r * a.pitch - past + v * 16, row - past + v * 16, m.in, end);
        }
    }

    template <bool one> __device__ void store() const {
        const transpose_arguments &m = a.matrix;
        const int32_t first = one ? 0 : tile.lowest * a.elem_bytes;
        const int32_t end = (one ? tile.cols * tile.end : tile.end) * a.elem_bytes;
        const uint32_t mask = m.cut.halo > 0 ? GP_TRANSPOSE_SECTOR - 1 : vector - 1;
        const uint32_t each = one ? (end + 2 * vector - 2) / vector : a.out_vectors;
        constexpr uint32_t lanes = spread ? SPREAD / vector : 1, columns = 32 / lanes;
        const uint32_t count = one      ? each
                               : spread ? (tile.cols + columns - 1) / columns * each * 32
                                        : each * tile.cols;
#pragma unroll 2
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            const uint32_t unit = spread && !one ? i / 32 : i;
            uint32_t c = one ? 0 : quotient(unit, a.per_out_vectors), v = unit - c * each;
            if (spread && !one) {
                c = c * columns + i % 32 / lanes;
                v = v * lanes + i % lanes;
                if (c >= tile.cols)
                    continue;
            }
            unsigned char *row = m.out + (tile.col + c) * m.out_pitch;
            const int32_t b = m.cut.halo * a.elem_bytes - ((uint32_t)(uintptr_t)row & mask) + v * vector;
            unsigned char *to = row + tile.row * (int64_t)a.elem_bytes + b;
            const unsigned char *column = shared + c * a.elem_bytes;
            if (b >= first && b + vector <= end) {
                any_walk<piece, one> walk(a, column, (uint32_t)b / piece);
                union {
                    vector_type whole;
                    piece_type part[vector / piece];
                } value;
#pragma unroll
                for (uint32_t k = 0; k < vector / piece; k++)
                    value.part[k] = walk.take(a, k);
                *(vector_type *)to = value.whole;
            } else {
                const int32_t from = max(b, first), past = min(b + vector, end);
                any_walk<piece, one> walk(a, column, (uint32_t)from / piece);
                for (int32_t k = 0; k < past - from; k += piece)
                    *(piece_type *)(to + (from - b) + k) = walk.take(a, k / piece);
            }
        }
    }
};

template <int piece, int vector, bool spread>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, GP_TRANSPOSE_BLOCKS_4) transpose_any(any_arguments a) {
    gp_await_earlier_kernels();
    const skewed_tile tile = skewed_tile_of_block<false>(a.matrix);
    const unsigned char *base = a.matrix.in + tile.row * (int64_t)a.matrix.in_pitch + tile.col * a.elem_bytes;
    const any_tile<piece, vector, spread> t = {a, tile, transpose_shared + ((uint32_t)(uintptr_t)base & 15)};
    t.load(base);
    await_copies();
    __syncthreads();
    if (a.out_vectors == 0)
        t.template store<true>();
    else
        t.template store<false>();
}

/* Vectors that a run of memory lies in, at most; aligned: it begins at a vector's start. */
static uint32_t vectors_of(uint32_t bytes, uint32_t vector, bool aligned) {
    return (bytes + (aligned ? vector - 1 : 2 * vector - 2)) / vector;
}

extern "C" gp_status gp_launch_transpose_any(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    const uint32_t piece = gp_transpose_piece(problem), vector = piece < 4 ? 8 : 16;
    const uint32_t elem = (uint32_t)problem->elem_bytes, row = cut.tile_cols * elem, column = cut.tile_rows * elem;
    any_arguments arguments = {};
    arguments.matrix = transpose_arguments_of(problem, cut);
    arguments.elem_bytes = elem;
    arguments.elem_pieces = elem / piece;
    arguments.pitch = gp_transpose_any_pitch(problem, cut.tile_cols);
    if (cut.tile_cols < problem->in_pitch || arguments.pitch > row)
        arguments.in_vectors = vectors_of(row, 16, (row | problem->in_align) % 16 == 0);
    if (cut.down > 1 || problem->out_pitch > problem->rows)
        arguments.out_vectors = vectors_of(column, vector, cut.down > 1);
    else
        arguments.column_pieces = column / piece;
    const bool spread = piece == 1 && arguments.pitch % 16 == 0;
    if (spread)
        arguments.out_vectors = vectors_of(arguments.out_vectors * vector, SPREAD, true);
    arguments.per_in_vectors = reciprocal(arguments.in_vectors);
    arguments.per_out_vectors = reciprocal(arguments.out_vectors);
    arguments.per_column = reciprocal(arguments.column_pieces);
    arguments.per_elem = reciprocal(arguments.elem_pieces);
    void *list[] = {&arguments};
    const void *kernel = piece == 16  ? (const void *)transpose_any<16, 16, false>
                         : piece == 8 ? (const void *)transpose_any<8, 16, false>
                         : piece == 4 ? (const void *)transpose_any<4, 16, false>
                         : piece == 2 ? (const void *)transpose_any<2, 8, false>
                         : spread     ? (const void *)transpose_any<1, 8, true>
                                      : (const void *)transpose_any<1, 8, false>;
    return gp_gpu_launch(context, plan, kernel, list);
}
