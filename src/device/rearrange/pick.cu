/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick: elements of 1 and 2 bytes, any pitch. The vectors that a tile's pieces of rows touch are copied to
 * shared memory as they lie; elements are picked from there one by one, and stored as words, or as vectors where rows
 * lie whole eights of elements apart. Tiles are as wide as gives all multiprocessors equally much: fit_pick.c.
 */
#include "pick.cuh"

/* Blocks that an SM's registers leave room for; architectures other than Hopper would spill at as many. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define BLOCKS GP_TRANSPOSE_PICK_SHARE
#else
#define BLOCKS 2
#endif

typedef piece_shape<GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_HIGH> word_shape;
typedef piece_shape<GP_TRANSPOSE_PICK_EVEN_THREADS, GP_TRANSPOSE_PICK_EVEN_HIGH> vector_shape;

template <int bytes, bool turned, typename offset>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_THREADS, BLOCKS) transpose_pick_words(piece_arguments<offset> a) {
    const piece_tile<offset> tile = piece_tile_of_block<bytes, word_shape>(a);
    const piece_copy<offset> copy = piece_copy_of_thread<bytes, word_shape>(a, tile);
    gp_grid_dependency_wait((uint32_t)copy.at + copy.to);
    if (!tile.inside)
        return;
    copy_pieces<bytes, word_shape>(a, tile, copy);
    await_copies();
    __syncthreads();
    store_words<bytes, word_shape, turned>(a, tile);
    if (tile.lowest > 0 || tile.end < word_shape::high / bytes + a.halo)
        store_ends<bytes, word_shape>(a, tile);
}

/* Words of a column, of whose rows the order was k ^ order. */
template <int bytes> __device__ inline uint4 vector_of(const uint32_t *e, uint32_t order) {
    constexpr uint32_t elems = 4 / bytes;
    uint32_t w[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        w[i] = word_of_elements<bytes>(e + i * elems, order);
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

/*
 * A thread picks a vector of a column, 8 of them 128 bytes, and the 8 beside them those of a column a word on, which
 * are in other banks. Rows of shared memory are 2^even bytes times an odd number apart, 16 at most. Of the 8 threads
 * below each other, those whose numbers differ in the lowest `alike` bits are in different banks as they are. The
 * others' numbers turn the order in which they take their rows, k ^ (thread >> alike << first): rows that differ in
 * bits of k from `first` on are vectors apart in banks. The misalignment of output rows repeats every sector: warps
 * share out the columns of one, and go on by sectors.
 */
template <int bytes, typename shape, typename offset>
__device__ inline void store_vectors(const piece_arguments<offset> &a, const piece_tile<offset> &tile) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes, period = GP_SECTOR / bytes, groups = period / 4, rows = 16 / bytes;
    constexpr uint32_t warps = shape::warps;
    static_assert(shape::high == 128 && warps % groups == 0, "a group's columns are whole in a tile");
    const uint32_t thread = threadIdx.x % 8, order = thread >> a.alike << a.first;
    const uint32_t warp = threadIdx.x / 32, group = warp % groups, step = warps / groups * period;
    uint32_t c = warp / groups * period + group / elems * 4 * elems + group % elems + threadIdx.x % 32 / 8 * elems;
    const offset at = (tile.col + c) * a.out_pitch;
    const uint64_t next = (uint64_t)a.out_pitch * step;
    const uint32_t row = a.halo - skew_at<bytes>(a, at) + thread * rows;
    unsigned char *to = a.out + signed_of(at + (tile.row + row) * bytes);
    const unsigned char *from[rows];
#pragma unroll
    for (uint32_t k = 0; k < rows; k++)
        from[k] = transpose_shared + (uint32_t)tile.begin % GP_SECTOR + (row + (k ^ order)) * a.pitch + c * bytes;
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
}

template <int bytes, typename offset>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_EVEN_THREADS, 4)
    transpose_pick_vectors(piece_arguments<offset> a) {
    const piece_tile<offset> tile = piece_tile_of_block<bytes, vector_shape>(a);
    const piece_copy<offset> copy = piece_copy_of_thread<bytes, vector_shape>(a, tile);
    gp_grid_dependency_wait((uint32_t)copy.at + copy.to);
    if (!tile.inside)
        return;
    copy_pieces<bytes, vector_shape>(a, tile, copy);
    store_vectors<bytes, vector_shape>(a, tile);
    if (tile.lowest > 0 || tile.end < vector_shape::high / bytes + a.halo)
        store_ends<bytes, vector_shape>(a, tile);
}

/* Of odd pitches, of even ones, far; vectors, far. */
static const void *const kernels[] = {
    (const void *)transpose_pick_words<1, false, uint32_t>, (const void *)transpose_pick_words<1, true, uint32_t>,
    (const void *)transpose_pick_words<1, true, uint64_t>,  (const void *)transpose_pick_vectors<1, uint32_t>,
    (const void *)transpose_pick_vectors<1, uint64_t>,      (const void *)transpose_pick_words<2, false, uint32_t>,
    (const void *)transpose_pick_words<2, true, uint32_t>,  (const void *)transpose_pick_words<2, true, uint64_t>,
    (const void *)transpose_pick_vectors<2, uint32_t>,      (const void *)transpose_pick_vectors<2, uint64_t>};

template <typename offset>
static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    piece_arguments<offset> arguments = piece_arguments_of<offset>(problem, gp_tiles_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form], list);
}

GP_DECLARE_LAUNCHER(gp_launch_transpose_pick) {
    const bool far = plan->tiling.form % 5 == 2 || plan->tiling.form % 5 == 4;
    return far ? launch<uint64_t>(context, plan, problem) : launch<uint32_t>(context, plan, problem);
}
