/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pieces: elements of any size and alignment. A tile's rows are copied to shared memory as they lie; words
 * of the output are put together from pieces that are picked from there, each the widest that elements and addresses
 * are multiples of. Segments of the output begin at sectors.
 */
#include "raw.cuh"

/* A tile in shared memory. Places in a column are bytes from where the halo begins. */
struct raw_tile {
    const transpose_arguments &a;
    const skewed_tile &tile;
    uint32_t shared; /* where the halo's first element would be */
    uint32_t words;  /* of a column that are this tile's */
    int32_t low, end;

    __device__ raw_tile(const transpose_arguments &given, const skewed_tile &at, uint32_t begin)
        : a(given), tile(at), shared(begin), low((int32_t)(at.lowest * given.elem_bytes)),
          end((int32_t)(at.end * given.elem_bytes)) {
        const bool single = a.tiles.rows == a.rows;
        words = ((uint32_t)(a.tiles.rows * a.elem_bytes) + (single ? GP_SECTOR - 1 + 3 : 0)) / 4;
    }
    /* Where the column begins that would begin with the halo, and where this tile's words of it do. */
    __device__ unsigned char *column(uint32_t c) const {
        return a.out + (tile.col + c) * a.out_pitch + tile.row * (int64_t)a.elem_bytes;
    }
    __device__ int32_t first(uint32_t c) const {
        const unsigned char *top = a.out + (tile.col + c) * a.out_pitch;
        return (int32_t)(a.tiles.halo * a.elem_bytes) - (int32_t)((uint32_t)(uintptr_t)top % GP_SECTOR);
    }
    __device__ uint32_t address(uint32_t place, uint32_t c, uint32_t per_elem) const {
        const uint32_t r = quotient(place, per_elem);
        return shared + r * a.tiles.pitch + (place - r * a.elem_bytes) + c * a.elem_bytes;
    }
};

/* A thread goes on to columns that begin alike, where its pieces lie in the same places. */
template <int piece> __device__ inline void store_words(const raw_tile &raw, uint32_t per_elem) {
    constexpr uint32_t pieces = 4 / piece, times = GP_TRANSPOSE_PIECES_TIMES(piece),
                       warps = GP_TRANSPOSE_THREADS / 32;
    const transpose_arguments &a = raw.a;
    const uint32_t lane = threadIdx.x % 32, stride = a.tiles.stride, move = stride * a.elem_bytes;
    const uint64_t next = stride * a.out_pitch;
#pragma unroll 1
    for (uint32_t unit = threadIdx.x / 32; unit < stride * a.tiles.chunks; unit += warps) {
        const uint32_t chunk = unit / stride, word = chunk * 32 * times + lane;
        uint32_t c = unit - chunk * stride, from[times][pieces];
        if (c >= raw.tile.cols)
            continue;
        const int32_t at = raw.first(c) + 4 * (int32_t)word;
        unsigned char *to = raw.column(c) + at;
        bool full[times];
#pragma unroll
        for (uint32_t i = 0; i < times; i++) {
            const int32_t place = at + (int32_t)i * 128;
            full[i] = place >= raw.low && place + 4 <= raw.end && word + i * 32 < raw.words;
#pragma unroll
            for (uint32_t k = 0; k < pieces; k++)
                from[i][k] = raw.address((uint32_t)(full[i] ? place + (int32_t)k * piece : raw.low), c, per_elem);
        }
#pragma unroll 1
        for (; c < raw.tile.cols; c += stride, to += next) {
            uint32_t e[times][pieces];
#pragma unroll
            for (uint32_t i = 0; i < times; i++)
#pragma unroll
                for (uint32_t k = 0; k < pieces; k++, from[i][k - 1] += move)
                    e[i][k] = pick<piece>(from[i][k]);
#pragma unroll
            for (uint32_t i = 0; i < times; i++)
                if (full[i])
                    *(uint32_t *)(to + i * 128) = word_of_elements<piece>(e[i]);
        }
    }
}

/* Bytes of words that the matrix' first and last row cut: of each column, up to a word's at either end. */
template <int piece> __device__ inline void store_rest(const raw_tile &raw, uint32_t per_elem) {
    typedef typename element_of<piece>::type element;
    constexpr uint32_t pieces = 4 / piece;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < raw.tile.cols * 2 * pieces; i += GP_TRANSPOSE_THREADS) {
        const uint32_t c = i / (2 * pieces);
        const bool bottom = i / pieces % 2 == 1;
        const int32_t first = raw.first(c), own = first + 4 * (int32_t)raw.words, edge = bottom ? raw.end : raw.low;
        const int32_t word = first + ((edge - first) & ~3), place = word + (int32_t)(i % pieces) * piece;
        const bool cut = word != edge && (bottom ? edge < own && edge > first && word >= raw.low : edge >= first);
        if (cut && place >= raw.low && place < raw.end)
            *(element *)(raw.column(c) + place) = (element)pick<piece>(raw.address((uint32_t)place, c, per_elem));
    }
}

template <int piece>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, BLOCKS_OF(GP_TRANSPOSE_THREADS, 5))
    transpose_pieces(transpose_arguments a) {
    gp_grid_dependency_wait();
    const skewed_tile tile = skewed_tile_at(a, tile_of_block<false>(a.tiles));
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch + tile.col * a.elem_bytes;
    const uint32_t shared = shared_address() + GP_VECTOR + (uint32_t)(uintptr_t)base % GP_VECTOR;
    if (a.tiles.lanes == 0)
        copy_run<GP_TRANSPOSE_THREADS>(shared + tile.lowest * a.tiles.pitch, base + tile.lowest * a.in_pitch,
                                       (tile.end - tile.lowest) * a.tiles.pitch, raw_input_of(a));
    else
        copy_rows<GP_TRANSPOSE_THREADS>(a, shared, base, tile.lowest, tile.end, tile.cols * a.elem_bytes,
                                        raw_input_of(a));
    const raw_tile raw(a, tile, shared);
    const uint32_t per_elem = reciprocal_of(a.elem_bytes);
    await_copies();
    __syncthreads();
    store_words<piece>(raw, per_elem);
    if (tile.lowest > 0 || a.tiles.halo == 0 || tile.end < a.tiles.rows + a.tiles.halo)
        store_rest<piece>(raw, per_elem);
}

static const transpose_kernel kernels[] = {transpose_pieces<1>, transpose_pieces<2>, transpose_pieces<4>};

LAUNCHER(transpose_pieces, kernels)
