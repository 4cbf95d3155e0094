/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick_any: elements of 1 and 2 bytes, any pitch and size. As transpose_pick, but made for rows that lie
 * whole eights of elements apart: elements of one column are then in few banks of shared memory. A thread picks a
 * vector of a column, 8 of them 128 bytes, and the 8 beside them the same of a column a word on: those are the banks
 * that are left.
 */
#include "../gpu.h"
#include "piece.cuh"

typedef piece_shape<GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_SECTOR, 1>
    any_shape;
typedef piece_shape<GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_FEW_LANES, GP_TRANSPOSE_PICK_FEW_HIGH, 4, 4> tight_shape;

/*
 * Rows of shared memory are 2^even bytes times an odd number apart, 16 at most. Of the 8 threads below each other,
 * those whose numbers differ in the lowest `alike` bits are in different banks as they are. The others' numbers turn
 * the order in which they take their rows, k ^ (thread >> alike << first): rows that differ in bits of k from `first`
 * on are vectors apart in banks.
 */
template <typename offset> struct any_arguments {
    piece_arguments<offset> pieces;
    uint32_t alike, first;
};

template <typename offset>
static any_arguments<offset> any_arguments_of(const gp_problem *problem, const gp_transpose_cut &cut) {
    const uint32_t rows_log2 = problem->elem_bytes == 1 ? 4 : 3;
    uint32_t even = 0; /* how often 2 divides the bytes from row to row in shared memory */
    while (even < 4 && !(cut.pitch >> even & 1))
        even++;
    return {piece_arguments_of<offset>(problem, cut), even + rows_log2 < 7 ? 7 - even - rows_log2 : 0, 4 - even};
}

/* Words of a column, of whose rows the order was k ^ order. */
template <int bytes> __device__ inline uint4 vector_of(const uint32_t *e, uint32_t order) {
    constexpr uint32_t elems = 4 / bytes;
    uint32_t w[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        w[i] = turned_word<bytes>(e + i * elems, order);
    const bool one = order / elems & 1, two = order / elems & 2;
    const uint4 v = one ? make_uint4(w[1], w[0], w[3], w[2]) : make_uint4(w[0], w[1], w[2], w[3]);
    return two ? make_uint4(v.z, v.w, v.x, v.y) : v;
}

/* The vector that begins at this row, or those of its words that lie in the matrix. */
template <int bytes, typename offset>
__device__ inline void store_inside(unsigned char *to, const uint4 &v, uint32_t row, const piece_tile<offset> &tile) {
    constexpr uint32_t elems = 4 / bytes;
    if (row >= tile.lowest && row + 4 * elems <= tile.end) {
        *(uint4 *)to = v;
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        if (row + i * elems >= tile.lowest && row + (i + 1) * elems <= tile.end)
            ((uint32_t *)to)[i] = word_of(v, i);
}

/* The misalignment of output rows repeats every sector: warps share out the columns of one, and go on by sectors. */
template <int bytes, typename shape, typename offset>
__device__ inline void store_vectors(const any_arguments<offset> &any, const piece_tile<offset> &tile) {
    typedef typename element_of<bytes>::type element;
    const piece_arguments<offset> &a = any.pieces;
    constexpr uint32_t elems = 4 / bytes, period = GP_TRANSPOSE_SECTOR / bytes, groups = period / 4,
                       rows = 16 / bytes;
    constexpr uint32_t warps = shape::threads / 32;
    static_assert(shape::high == 128 && warps % groups == 0, "a group's columns are whole in a tile");
    const uint32_t thread = threadIdx.x % 8, order = thread >> any.alike << any.first;
    const uint32_t warp = threadIdx.x / 32, group = warp % groups, step = warps / groups * period;
    uint32_t c = warp / groups * period + group / elems * 4 * elems + group % elems + threadIdx.x % 32 / 8 * elems;
    const offset at = (tile.col + c) * a.out_pitch;
    const uint64_t next = (uint64_t)a.out_pitch * step;
    const uint32_t row = a.halo - skew_at<bytes>(a, at) + thread * rows;
    unsigned char *to = a.out + signed_of(at + (tile.row + row) * bytes);
    const unsigned char *from[rows];
#pragma unroll
    for (uint32_t k = 0; k < rows; k++)
        from[k] =
            transpose_shared + (uint32_t)tile.begin % GP_TRANSPOSE_SECTOR + (row + (k ^ order)) * a.pitch + c * bytes;
    await_copies();
    __syncthreads();
#pragma unroll 1
    for (; c < tile.cols; c += step, to += next) {
        uint32_t e[rows];
#pragma unroll
        for (uint32_t k = 0; k < rows; k++, from[k - 1] += step * bytes)
            e[k] = *(const element *)from[k];
        store_inside<bytes>(to, vector_of<bytes>(e, order), row, tile);
    }
    if (tile.lowest > 0 || tile.end < shape::high / bytes + a.halo)
        store_ends<bytes, shape>(a, tile);
}

template <int bytes, typename offset>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_any(any_arguments<offset> a) {
    const piece_tile<offset> tile = piece_tile_of_block<bytes, any_shape>(a.pieces);
    const piece_copy<offset> copy = piece_copy_of_thread<bytes, any_shape>(a.pieces, tile);
    gp_await_earlier_kernels((uint32_t)copy.at + copy.to);
    if (!tile.inside)
        return;
    copy_pieces<bytes, any_shape>(a.pieces, tile, copy);
    store_vectors<bytes, any_shape>(a, tile);
}

/* Tiles of transpose_pick_few. H200, with 16 KiB, 10007 x 10000 of 1 byte, offsets of 64 bits: 86.8 us, of 32 78.8.
 */
template <int bytes, typename offset>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_any_tight(piece_arguments<offset> a) {
    const piece_tile<offset> tile = piece_tile_of_block<bytes, tight_shape>(a);
    const piece_copy<offset> copy = piece_copy_of_thread<bytes, tight_shape>(a, tile);
    gp_await_earlier_kernels((uint32_t)copy.at + copy.to);
    if (!tile.inside)
        return;
    copy_pieces<bytes, tight_shape>(a, tile, copy);
    store_pieces<bytes, tight_shape, true>(a, tile);
}

template <typename offset>
static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                        const gp_transpose_cut &cut) {
    any_arguments<offset> arguments = any_arguments_of<offset>(problem, cut);
    void *list[] = {&arguments}, *tight_list[] = {&arguments.pieces};
    if (cut.tight)
        return gp_gpu_launch(context, plan,
                             problem->elem_bytes == 2 ? (const void *)transpose_pick_any_tight<2, offset>
                                                      : (const void *)transpose_pick_any_tight<1, offset>,
                             tight_list);
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 2 ? (const void *)transpose_pick_any<2, offset>
                                                  : (const void *)transpose_pick_any<1, offset>,
                         list);
}

extern "C" gp_status gp_launch_transpose_pick_any(gp_context *context, const gp_plan *plan,
                                                  const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    return cut.far ? launch<uint64_t>(context, plan, problem, cut) : launch<uint32_t>(context, plan, problem, cut);
}
