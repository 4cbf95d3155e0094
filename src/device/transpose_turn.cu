/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_turn: elements of 1 and 2 bytes, any pitch. The pieces of rows that a skewed tile needs are copied to
 * shared memory in whole 32-byte sectors, as they lie. From there each thread cuts words of 4 / bytes neighbours out
 * of two words, transposes squares of them in registers, and when the block holds all of them so, the same memory
 * takes them back column by column. A column's words are cut out again at the place where its output segment starts.
 *
 * The instructions that this costs decide its speed, so nothing but the rows' misalignment is computed: it repeats
 * every 32 bytes / elements rows, and every warp's rows lie that far apart.
 */
#include "gpu.h"
#include "transpose_skew.cuh"

/* wide: 128-byte pieces of a row side by side in a tile. */
template <int bytes, int threads, int wide> struct turn_shape {
    static constexpr uint32_t elems = 4 / bytes, warps = threads / 32, sector = GP_TRANSPOSE_SECTOR;
    static constexpr uint32_t rows = GP_TRANSPOSE_TURN_ROWS(threads), all = rows + sector / bytes; /* with halo */
    static constexpr uint32_t pitch = GP_TRANSPOSE_TURN_PITCH(wide * 128); /* of raw rows, bytes */
    static constexpr uint32_t groups = all / elems, each = groups / warps; /* of elems rows; a warp's */
    static constexpr uint32_t lanes = pitch <= 256 ? 16 : 32;              /* that copy a row */
    static_assert(groups % warps == 0, "no warp has less to do");
    /* Rows that a warp reads, and rows that a thread copies, repeat their misalignment after so many. */
    static constexpr uint32_t phases = warps * 4 >= sector ? 1 : sector / (warps * 4);
    static constexpr uint32_t step = threads / lanes, turns = step * bytes >= sector ? 1 : sector / (step * bytes);
};

template <int bytes, int threads, int wide>
__device__ inline void copy_rows(const transpose_arguments &a, const skewed_tile &tile) {
    typedef turn_shape<bytes, threads, wide> shape;
    const uint32_t y = threadIdx.x / shape::lanes, x = threadIdx.x % shape::lanes * 16,
                   height = shape::rows + a.cut.halo;
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch + tile.col * bytes;
    const unsigned char *end = a.in + (a.rows - 1) * a.in_pitch + a.cols * bytes;
    unsigned char *to = transpose_shared + y * shape::pitch + x;
    constexpr uint32_t copies = (shape::all + shape::step - 1) / shape::step, past = shape::sector - 1;
    if (tile.whole && base >= a.in + past && base + (height - 1) * a.in_pitch + tile.cols * bytes + past <= end) {
        const unsigned char *from[shape::turns];
        bool needed[shape::turns];
#pragma unroll
        for (uint32_t i = 0; i < shape::turns; i++) {
            const unsigned char *row = base + (y + i * shape::step) * a.in_pitch;
            const uint32_t off = (uint32_t)(uintptr_t)row & past;
            from[i] = row - off + x;
            needed[i] = x < off + tile.cols * bytes;
        }
#pragma unroll
        for (uint32_t i = 0; i < copies; i++) {
            if (needed[i % shape::turns] && ((i + 1) * shape::step <= shape::rows || y + i * shape::step < height))
                copy_async(to + i * shape::step * shape::pitch, from[i % shape::turns]);
            from[i % shape::turns] += shape::turns * shape::step * a.in_pitch;
        }
    } else {
        const unsigned char *row = base + y * (int64_t)a.in_pitch;
        for (uint32_t r = y; r < height; r += shape::step, row += shape::step * a.in_pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)row & past;
            if (r >= tile.lowest && r < tile.end && x < off + tile.cols * bytes)
                copy_inside(transpose_shared + r * shape::pitch + x, row - off + x, a.in, end);
        }
    }
}

/* Raw rows in shared memory become columns of words, `groups` of them and one word's room every elems columns. */
template <int bytes, int threads, int wide>
__device__ inline void turn_rows(const transpose_arguments &a, const skewed_tile &tile) {
    typedef turn_shape<bytes, threads, wide> shape;
    constexpr uint32_t elems = shape::elems, words = shape::pitch / 4, down = shape::warps;
    uint32_t *shared = (uint32_t *)transpose_shared;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t base = (uint32_t)((uintptr_t)a.in + tile.row * (int64_t)a.in_pitch + tile.col * bytes);
    const uint32_t *from[shape::phases][elems];
    uint32_t shift[elems], square[shape::each][wide][elems];
#pragma unroll
    for (uint32_t i = 0; i < shape::phases; i++)
#pragma unroll
        for (uint32_t k = 0; k < elems; k++) {
            const uint32_t r = (warp + i * down) * elems + k,
                           off = (base + r * (uint32_t)a.in_pitch) & (shape::sector - 1);
            from[i][k] = shared + r * words + off / 4 + lane;
            shift[k] = off * 8; /* modulo 32: the same in every phase */
        }
#pragma unroll
    for (uint32_t i = 0; i < shape::each; i++)
#pragma unroll
        for (int j = 0; j < wide; j++)
#pragma unroll
            for (uint32_t k = 0; k < elems; k++) {
                const uint32_t *word =
                    from[i % shape::phases][k] + (i - i % shape::phases) * down * elems * words + 32 * j;
                square[i][j][k] = __funnelshift_r(word[0], word[1], shift[k]);
            }
    __syncthreads();
    uint32_t *to = shared + lane * (elems * shape::groups + 1) + warp;
#pragma unroll
    for (uint32_t i = 0; i < shape::each; i++)
#pragma unroll
        for (int j = 0; j < wide; j++) {
            transpose_words<bytes>(square[i][j]);
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                to[j * 32 * (elems * shape::groups + 1) + k * shape::groups + i * down] = square[i][j][k];
        }
}

/* Stores those of a word's elements that lie in the matrix; `to` is aligned. */
template <int bytes>
__device__ inline void store_elements(uint32_t *to, uint32_t word, uint32_t row, const skewed_tile &tile) {
    typedef typename element_of<bytes>::type element;
    if (row >= tile.lowest && row + 4 / bytes <= tile.end)
        *to = word;
    else
        for (uint32_t i = 0; i < 4 / bytes; i++)
            if (row + i >= tile.lowest && row + i < tile.end)
                ((element *)to)[i] = (element)(word >> 8 * bytes * i);
}

/* A warp's columns, one after another. `whole`: no row lies outside the matrix. */
template <int bytes, int threads, int wide, bool whole>
__device__ inline void store_columns(const transpose_arguments &a, const skewed_tile &tile) {
    typedef turn_shape<bytes, threads, wide> shape;
    constexpr uint32_t elems = shape::elems, cols = wide * 32 * elems / shape::warps;
    const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * cols;
    const uint32_t mine = first < tile.cols ? min(tile.cols - first, cols) : 0;
    const uint32_t most = a.cut.halo * bytes, skewed = most > 0 ? most - 1 : 0;
    unsigned char *row = a.out + (tile.col + first) * a.out_pitch + tile.row * (int64_t)bytes;
    uint32_t at = (uint32_t)((uintptr_t)a.out + (tile.col + first) * a.out_pitch);
    const uint32_t *column = (const uint32_t *)transpose_shared + first * shape::groups + first / elems + lane;
#pragma unroll(whole ? 4 : 1)
    for (uint32_t c = 0; c < mine; c++, row += a.out_pitch, at += (uint32_t)a.out_pitch) {
        const uint32_t start = most - (at & skewed); /* bytes down the column */
        const uint32_t *word = column + c * shape::groups + c / elems + start / 4;
        uint32_t *to = (uint32_t *)(row + start) + lane;
#pragma unroll
        for (uint32_t i = 0; i < (shape::rows + 32 * elems - 1) / (32 * elems); i++) {
            if (shape::rows % (32 * elems) != 0 && (32 * i + lane) * elems >= shape::rows)
                break;
            const uint32_t value = __funnelshift_r(word[32 * i], word[32 * i + 1], start * 8);
            if (whole)
                to[32 * i] = value;
            else
                store_elements<bytes>(to + 32 * i, value, start / bytes + (32 * i + lane) * elems, tile);
        }
    }
}

template <int bytes, int threads, int wide>
__global__ void __launch_bounds__(threads,
                                  GP_TRANSPOSE_THREADS / threads *
                                      (threads == 256 && wide == 1 ? GP_TRANSPOSE_BLOCKS_4 : GP_TRANSPOSE_BLOCKS_2))
    transpose_turn(transpose_arguments a) {
    gp_await_earlier_kernels();
    const skewed_tile tile = skewed_tile_of_block(a);
    copy_rows<bytes, threads, wide>(a, tile);
    await_copies();
    __syncthreads();
    turn_rows<bytes, threads, wide>(a, tile);
    __syncthreads();
    if (tile.whole)
        store_columns<bytes, threads, wide, true>(a, tile);
    else
        store_columns<bytes, threads, wide, false>(a, tile);
}

template <int bytes> static const void *turn_of(unsigned threads, uint32_t wide) {
    return threads == 64    ? (const void *)transpose_turn<bytes, 64, 1>
           : threads == 128 ? (const void *)transpose_turn<bytes, 128, 1>
           : wide == 1      ? (const void *)transpose_turn<bytes, 256, 1>
                            : (const void *)transpose_turn<bytes, 256, 2>;
}

extern "C" gp_status gp_launch_transpose_turn(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_turn(problem, plan->threads));
    void *list[] = {&arguments};
    const uint32_t wide = arguments.cut.tile_cols * (uint32_t)problem->elem_bytes / 128;
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 2 ? turn_of<2>(plan->threads, wide) : turn_of<1>(plan->threads, wide),
                         list);
}
