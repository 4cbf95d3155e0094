/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror of 1, 2 and 4 bytes at any pitch. What limits them is the way between the two halves of the L2
 * cache (ltcfabric2ltc 85 to 93 % of its cycles): half of all sectors go there, and a piece of a row that begins
 * anywhere touches one more sector than it fills. So tiles are large; of large matrices, a pair of them is spread
 * over a cluster of two blocks, which leaves an SM more blocks to switch between than one block of both.
 */
#include "tile.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CLUSTER_OF_TWO __cluster_dims__(2, 1, 1)
#else
#define CLUSTER_OF_TWO
#endif

/*
 * All threads of both blocks have read what either block will write. Nothing passes between the blocks, so the
 * barrier need not order their memory; __syncthreads() is for the block's own shared memory.
 */
__device__ inline void await_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    __syncthreads();
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

/*
 * Tile (i, j) is all elements (r, c) with r + skew(c) in the i-th stretch and c + skew(r) in the j-th: whole words of
 * a row, counted from the word that holds its first byte, but for the few rows at a stretch's end that tiles share.
 * Its rows are copied to shared memory as they lie, in the vectors that they touch, and elements are picked from
 * there.
 */
template <int bytes, int vectors, int of_threads> struct picked_tile {
    typedef typename element_of<bytes>::type element;
    static constexpr uint32_t threads = of_threads, elems = 4 / bytes, halo = elems - 1;
    static constexpr uint32_t words = GP_MIRROR_PICK_WORDS(vectors), stretch = words * elems;
    static constexpr uint32_t side = stretch + halo, pitch = GP_MIRROR_PICK_PITCH(vectors);
    static constexpr uint32_t room = GP_SECTOR / bytes; /* rows that begin at different banks */
    static constexpr size_t smem = GP_MIRROR_PICK_SMEM(vectors, bytes);
    static constexpr uint32_t lanes = vectors; /* that copy a row */
    static constexpr uint32_t times = (words + 31) / 32, warps = threads / 32, full = (1u << elems) - 1;
    static_assert(threads % lanes == 0 && warps % elems == 0, "a thread's rows and columns are skewed alike");

    const transpose_arguments &a;
    uint32_t base; /* in shared memory */
    uint32_t row, col, thread;

    __device__ static int64_t first(uint32_t tile) {
        return (int64_t)tile * stretch - halo;
    }
    /* No row or column of it lies below or right of the matrix, nor any vector that they touch. */
    __device__ bool is_inside() const {
        const uint32_t last = max(row, col);
        return first(last) + side + GP_VECTOR <= (int64_t)a.rows;
    }
    __device__ uint32_t lane() const {
        return thread % 32;
    }
    __device__ uint32_t warp() const {
        return thread / 32;
    }
    __device__ uint32_t skew(int64_t r) const {
        return ((uint32_t)(uintptr_t)a.in + (uint32_t)r * (uint32_t)a.in_pitch) & 3;
    }
    __device__ static uint32_t row_at(uint32_t r) {
        return r * pitch + r / room * GP_SECTOR;
    }
    /* In shared memory: element `stretch * col` of the tile's row r. */
    __device__ uint32_t place(uint32_t r) const {
        const uint32_t address =
            (uint32_t)(uintptr_t)a.in + ((uint32_t)first(row) + r) * (uint32_t)a.in_pitch + col * stretch * bytes;
        return base + row_at(r) + (address & (GP_SECTOR - 1));
    }

    template <bool whole> __device__ void load_rows() const {
        constexpr uint32_t step = threads / lanes, times = side / step, rest = side % step;
        const uint32_t y = thread / lanes, x = thread % lanes * GP_VECTOR;
        const unsigned char *from = a.in + (first(row) + y) * (int64_t)a.in_pitch + (uint64_t)col * stretch * bytes;
        const unsigned char *const end = a.in + (a.rows - 1) * a.in_pitch + a.cols * bytes;
        uint32_t low = (uint32_t)(uintptr_t)from;
#pragma unroll(whole ? 8 : 1)
        for (uint32_t i = 0; i < times + (rest > 0);
             i++, from += step * a.in_pitch, low += step * (uint32_t)a.in_pitch) {
            const uint32_t r = y + i * step, to = shared_address() + base + row_at(r) + (low & 16) + x;
            const unsigned char *vector = (const unsigned char *)((uintptr_t)(from + x) & ~(uintptr_t)15);
            if (x >= (low & 12) + words * 4 || (i == times && y >= rest))
                continue;
            if (whole) {
                copy_async(to, vector);
            } else {
                const int64_t at = first(row) + r;
                if (at >= 0 && at < (int64_t)a.rows && vector < a.in + at * (int64_t)a.in_pitch + a.cols * bytes)
                    copy_inside(to, vector, a.in, end);
            }
        }
    }
    /* May stand before earlier kernels are waited for: the lines in which its rows' pieces begin, a thread a row. */
    __device__ void prefetch() const {
        const int64_t at = first(row) + thread;
        const uint64_t past = (uint64_t)col * stretch;
        if (thread < side && at >= 0 && at < (int64_t)a.rows && past < a.cols)
            gp_prefetch(a.in + at * (int64_t)a.in_pitch + past * bytes);
    }
    __device__ void load() const {
        if (row == 0 || !is_inside())
            load_rows<false>();
        else
            load_rows<true>();
        await_copies();
    }

    __device__ static void store_part(unsigned char *to, const uint32_t *e, uint32_t part) {
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            if (part >> k & 1)
                ((element *)to)[k] = (element)e[k];
    }
    /* Bit k: element k of word w, of an output row with skew s, lies in the matrix. */
    __device__ uint32_t part_of(uint32_t w, uint32_t s) const {
        uint32_t part = 0;
#pragma unroll
        for (uint32_t k = 0; k < elems; k++) {
            const int64_t r = first(row) + w * elems + halo - s / bytes + k;
            part |= (uint32_t)(r >= 0 && r < (int64_t)a.rows) << k;
        }
        return part;
    }
    /* One output row, column `stretch * col + c` of the tile; others share it where c is none of the whole ones. */
    __device__ void store_row(int32_t c) const {
        const int64_t at = (int64_t)col * stretch + c;
        if (at < 0 || at >= (int64_t)a.rows)
            return;
        const uint32_t s = skew(at);
        const bool shared = c < 0 || c > (int32_t)(stretch - elems);
        unsigned char *to = a.out + at * (int64_t)a.out_pitch - s + (uint64_t)row * stretch * bytes;
#pragma unroll 1
        for (uint32_t w = lane(); w < words; w += 32) {
            uint32_t part = part_of(w, s), e[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++) {
                const uint32_t r = w * elems + halo - s / bytes + k;
                const int32_t across = c + (int32_t)(skew(first(row) + r) / bytes);
                if (shared && (across < 0 || across >= (int32_t)stretch))
                    part &= ~(1u << k);
                if (part >> k & 1)
                    e[k] = *(const element *)(transpose_shared + (int32_t)place(r) + c * bytes);
            }
            if (part == full)
                *(uint32_t *)(to + w * 4) = word_of_elements<bytes>(e);
            else
                store_part(to + w * 4, e, part);
        }
    }
    /* Output rows that are shared with the tiles beside this one. */
    __device__ void store_shared_rows() const {
        if constexpr (halo > 0)
#pragma unroll 1
            for (uint32_t i = warp(); i < 2 * halo; i += warps)
                store_row(i < halo ? (int32_t)i - (int32_t)halo : (int32_t)(stretch - elems + 1 + i - halo));
    }
    /*
     * A warp's output rows are all skewed alike, so a lane picks from the same rows for each. Volatile, or the
     * compiler moves the loads below the conditions of the stores, where those of one output row at a time are under
     * way.
     */
    template <bool whole> __device__ void store_rows() const {
        const int64_t left = (int64_t)a.rows - (int64_t)col * stretch;
        const uint32_t columns = whole || left > stretch - halo ? stretch - halo : (uint32_t)max((int64_t)0, left);
        const uint32_t s = skew((int64_t)col * stretch + warp());
        unsigned char *to = a.out + ((int64_t)col * stretch + warp()) * (int64_t)a.out_pitch - s +
                            (uint64_t)row * stretch * bytes + lane() * 4;
        uint32_t from[times][elems], part[times];
#pragma unroll
        for (uint32_t i = 0; i < times; i++) {
            const bool has = lane() + i * 32 < words;
            const uint32_t w = has ? lane() + i * 32 : words - 1;
            part[i] = !has ? 0 : whole ? full : part_of(w, s);
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                from[i][k] = place(w * elems + halo - s / bytes + k) + warp() * bytes;
        }
#pragma unroll 2
        for (uint32_t c = warp(); c < columns; c += warps, to += warps * a.out_pitch) {
            uint32_t e[times][elems];
#pragma unroll
            for (uint32_t i = 0; i < times; i++)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++) {
                    e[i][k] = *(const volatile element *)(transpose_shared + from[i][k]);
                    from[i][k] += warps * bytes;
                }
#pragma unroll
            for (uint32_t i = 0; i < times; i++)
                if (part[i] == full)
                    *(uint32_t *)(to + i * 128) = word_of_elements<bytes>(e[i]);
                else if (!whole)
                    store_part(to + i * 128, e[i], part[i]);
        }
        store_shared_rows();
    }
    __device__ void store() const {
        if (row > 0 && is_inside())
            store_rows<true>();
        else
            store_rows<false>();
    }
};

/* Half of the threads each swap one of the two tiles; both are read before either is written. */
template <int bytes, int vectors, int threads>
__global__ void __launch_bounds__(threads, SM_THREADS / threads) transpose_mirror_pick(transpose_arguments a) {
    typedef picked_tile<bytes, vectors, threads / 2> tile;
    tile_index at;
    const bool pair = pair_of_block(a, blockIdx.x, &at), second = threadIdx.x >= tile::threads;
    const bool works = pair && (!second || at.row != at.col);
    const tile mine = {a, second ? (uint32_t)tile::smem : 0, second ? at.col : at.row, second ? at.row : at.col,
                       threadIdx.x % tile::threads};
    if (works)
        mine.prefetch();
    gp_grid_dependency_wait();
    if (works)
        mine.load();
    __syncthreads();
    if (works)
        mine.store();
}

/* The tile of this block, one of two that swap a pair. False: none. */
__device__ inline bool tile_of_cluster(const transpose_arguments &a, tile_index *mine) {
    tile_index at;
    if (!pair_of_block(a, blockIdx.x / 2, &at))
        return false;
    const bool second = blockIdx.x % 2 == 1;
    *mine = second ? tile_index{at.col, at.row} : at;
    return !second || at.row != at.col;
}

template <int bytes>
__global__ void CLUSTER_OF_TWO __launch_bounds__(GP_MIRROR_PICK_WIDE_THREADS(bytes),
                                                 BLOCKS_OF(GP_MIRROR_PICK_WIDE_THREADS(bytes), 3))
    transpose_mirror_pick_wide(transpose_arguments a) {
    typedef picked_tile<bytes, GP_MIRROR_PICK_WIDE_VECTORS(bytes), GP_MIRROR_PICK_WIDE_THREADS(bytes)> tile;
    gp_grid_dependency_wait();
    tile_index at;
    if (!tile_of_cluster(a, &at))
        return;
    const tile mine = {a, 0, at.row, at.col, threadIdx.x};
    mine.load();
    await_cluster();
    mine.store();
}

const transpose_kernel transpose_mirror_pick_kernels[] = {
    transpose_mirror_pick<1, GP_MIRROR_PICK_SMALL_VECTORS, GP_MIRROR_PICK_SMALL_THREADS>,
    transpose_mirror_pick<2, GP_MIRROR_PICK_SMALL_VECTORS, GP_MIRROR_PICK_SMALL_THREADS>,
    transpose_mirror_pick<1, GP_MIRROR_PICK_VECTORS, GP_MIRROR_PICK_THREADS(1)>,
    transpose_mirror_pick<2, GP_MIRROR_PICK_VECTORS, GP_MIRROR_PICK_THREADS(2)>,
    transpose_mirror_pick_wide<1>,
    transpose_mirror_pick_wide<2>,
    transpose_mirror_pick_wide<4>};
