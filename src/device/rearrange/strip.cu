/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_strip: one side of the matrix is short, and what is read or what is written has no gaps. A block has all
 * of the short side, so that one of its sides is one run of memory.
 */
#include "raw.cuh"

/*
 * Few columns: a tile's rows are a run. A warp stores a sector of each of several columns at a time. What the next
 * tile has of a column begins at a sector, up to `halo` rows above the tile's last.
 */
template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_strip_columns(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef typename element_of<bytes>::type element;
    typedef typename element_of<(bytes < 4 ? 4 : bytes)>::type word;
    constexpr uint32_t elems = sizeof(word) / bytes, down = GP_SECTOR / sizeof(word), beside = 32 / down;
    constexpr uint32_t unit = GP_SECTOR / bytes, warps = GP_TRANSPOSE_THREADS / 32; /* rows */
    const uint32_t pitch = (uint32_t)a.in_pitch, cols = (uint32_t)a.cols, halo = a.tiles.halo;
    const skewed_tile tile = skewed_tile_at(a, {blockIdx.x, 0});
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch;
    const uint32_t past = (uint32_t)(uintptr_t)base % GP_VECTOR;
    copy_run<GP_TRANSPOSE_THREADS>(shared_address() + past + tile.lowest * pitch, base + tile.lowest * pitch,
                                   (tile.end - tile.lowest) * pitch, raw_input_of(a));
    await_copies();
    __syncthreads();
    const uint32_t lane = threadIdx.x % 32, sets = (cols + beside - 1) / beside, units = a.tiles.rows / unit;
    const uint32_t parts = min(units, (warps + sets - 1) / sets); /* that warps share a column by */
#pragma unroll 1
    for (uint32_t item = threadIdx.x / 32; item < sets * parts; item += warps) {
        const uint32_t part = item / sets, c = (item - part * sets) * beside + lane % beside;
        if (c >= cols)
            continue;
        unsigned char *to = a.out + c * a.out_pitch;
        const uint32_t skew = halo > 0 ? (uint32_t)((uintptr_t)to / bytes) & (halo - 1) : 0;
        uint32_t r = halo - skew + part * unit + lane / beside * elems;
        const unsigned char *from = transpose_shared + past + r * pitch + c * bytes;
        to += (tile.row + r) * (int64_t)bytes;
#pragma unroll 4
        for (uint32_t n = part; n < units; n += parts) {
            if constexpr (elems > 1) {
                uint32_t e[elems];
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    e[k] = *(const element *)(from + k * pitch);
                if (r >= tile.lowest && r + elems <= tile.end)
                    *(uint32_t *)to = word_of_elements<bytes>(e);
                else
                    for (uint32_t k = 0; k < elems; k++)
                        if (r + k >= tile.lowest && r + k < tile.end)
                            ((element *)to)[k] = (element)e[k];
            } else if (r >= tile.lowest && r < tile.end) {
                *(element *)to = *(const element *)from;
            }
            r += parts * unit;
            from += parts * unit * pitch;
            to += parts * GP_SECTOR;
        }
    }
}

/*
 * Few rows: the output is a run. A thread's words lie a multiple of 4 columns apart, so that the pieces of each come
 * from the same places of other columns. A single column without gaps is taken as a single row.
 */
template <int piece, int threads>
__global__ void __launch_bounds__(threads, SM_THREADS / threads) transpose_strip_rows(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef typename element_of<piece>::type element;
    constexpr uint32_t pieces = 4 / piece;
    const uint32_t elem = a.elem_bytes, rows = a.tiles.rows, pitch = a.tiles.pitch, column = rows * elem;
    const uint64_t col = (uint64_t)blockIdx.x * a.tiles.cols;
    const uint32_t cols = left_of(rows < a.rows ? a.rows : a.cols, col, a.tiles.cols);
    const unsigned char *base = a.in + col * elem;
    const uint32_t shared = shared_address() + GP_VECTOR + (uint32_t)(uintptr_t)base % GP_VECTOR;
    copy_rows<threads>(a, shared, base, 0, rows, cols * elem,
                       {a.in, a.in + (rows - 1) * a.in_pitch + (rows < a.rows ? a.rows : a.cols) * elem});
    const uint32_t per_elem = reciprocal_of(elem), per_column = reciprocal_of(column);
    const auto place = [&](uint32_t byte) { /* of the output, in shared memory */
                                            const uint32_t c = quotient(byte, per_column), at = byte - c * column,
                                                           r = quotient(at, per_elem);
                                            return shared + r * pitch + (at - r * elem) + c * elem;
    };
    unsigned char *to = a.out + col * column;
    const uint32_t all = cols * column, head = min(all, (0u - (uint32_t)(uintptr_t)to) & 3), words = (all - head) / 4;
    const uint32_t step = column * a.tiles.stride, move = a.tiles.stride * 4 * elem;
    await_copies();
    __syncthreads();
#pragma unroll 1
    for (uint32_t first = threadIdx.x; first < step; first += threads) {
        uint32_t from[pieces];
#pragma unroll
        for (uint32_t k = 0; k < pieces; k++)
            from[k] = place(head + 4 * first + k * piece);
#pragma unroll 4
        for (uint32_t w = first; w < words; w += step) {
            uint32_t e[pieces];
#pragma unroll
            for (uint32_t k = 0; k < pieces; k++, from[k - 1] += move)
                e[k] = pick<piece>(from[k]);
            ((uint32_t *)(to + head))[w] = word_of_elements<piece>(e);
        }
    }
    const uint32_t i = threadIdx.x * piece, byte = i < head ? i : i + words * 4;
    if (byte < all)
        *(element *)(to + byte) = (element)pick<piece>(place(byte));
}

static const transpose_kernel kernels[] = {
    transpose_strip_columns<1>,   transpose_strip_columns<2>,   transpose_strip_columns<4>,
    transpose_strip_columns<8>,   transpose_strip_columns<16>,  transpose_strip_rows<1, 256>,
    transpose_strip_rows<2, 256>, transpose_strip_rows<4, 256>, transpose_strip_rows<1, 512>,
    transpose_strip_rows<2, 512>, transpose_strip_rows<4, 512>};

LAUNCHER(transpose_strip, kernels)
