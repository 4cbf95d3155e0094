/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of rows as they lie in global memory, picked apart element by element. Every row lies in shared memory at an
 * address congruent to that of its piece modulo a sector, rows `pitch` bytes apart, so that whole sectors are copied
 * and place of element = start + row * pitch + column: a warp needs few instructions before its first load and
 * none to speak of between two. Segments of the output begin at sectors.
 */
#pragma once

#include "tile.cuh"

/* Offsets have 32 bits where arrays are smaller than 2^31 bytes. Those of rows above the first wrap around. */
template <typename offset> struct piece_arguments {
    const unsigned char *in; /* rounded down to a sector; offsets of the input count from here */
    unsigned char *out;
    offset low, end;            /* of the input */
    offset rows, cols;          /* elements */
    offset in_pitch, out_pitch; /* bytes */
    uint32_t tile_cols, down, across, band;
    uint32_t inverse;          /* 2^32 / band, rounded up, where offsets have 32 bits */
    uint32_t inverse_of_bands; /* 2^32 / tiles of a band, rounded up; 0 for one band */
    uint32_t halo, skews;      /* rows above a tile; halo - 1, or 0 without one */
    uint32_t pitch;            /* from row to row in shared memory, bytes */
    uint32_t turn, turn_lanes; /* 2^turn_lanes lanes take the rows of a word in the same order: see store_set */
    uint32_t alike, first;     /* how lanes that store vectors take their rows: see store_vectors */
};

/* How often 2 divides n, `most` times at most. */
inline uint32_t twos_in(uint64_t n, uint32_t most) {
    return gp_log2(gp_alignment(n | 1u << most));
}

template <typename offset>
piece_arguments<offset> piece_arguments_of(const gp_problem *problem, const gp_tiles &tiles) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, low = (uint32_t)((uintptr_t)problem->in % GP_SECTOR);
    const uint32_t even = twos_in(problem->in_pitch, bytes == 1 ? 2 : 1), even_bytes = twos_in(tiles.pitch, 4);
    const uint32_t rows_log2 = bytes == 1 ? 4 : 3; /* of a vector */
    piece_arguments<offset> a;
    a.in = static_cast<const unsigned char *>(problem->in) - low;
    a.out = static_cast<unsigned char *>(problem->out);
    a.low = low;
    a.end = low + (offset)((problem->rows - 1) * problem->in_pitch + problem->cols) * bytes;
    a.rows = (offset)problem->rows;
    a.cols = (offset)problem->cols;
    a.in_pitch = (offset)problem->in_pitch * bytes;
    a.out_pitch = (offset)problem->out_pitch * bytes;
    a.tile_cols = tiles.cols;
    a.down = tiles.down;
    a.across = tiles.across;
    a.band = tiles.band;
    a.inverse = (uint32_t)(((uint64_t)1 << 32) / tiles.band + 1);
    a.inverse_of_bands =
        tiles.down > tiles.band ? (uint32_t)(((uint64_t)1 << 32) / ((uint64_t)tiles.band * tiles.across) + 1) : 0;
    a.halo = tiles.halo;
    a.skews = tiles.halo > 0 ? tiles.halo - 1 : 0;
    a.pitch = tiles.pitch;
    a.turn = 4 / bytes >> even;
    a.turn_lanes = 5 - even;
    a.alike = even_bytes + rows_log2 < 7 ? 7 - even_bytes - rows_log2 : 0;
    a.first = 4 - even_bytes;
    return a;
}

__device__ __forceinline__ int32_t signed_of(uint32_t value) {
    return (int32_t)value;
}

__device__ __forceinline__ int64_t signed_of(uint64_t value) {
    return (int64_t)value;
}

/* Computed here and kept: the compiler would else compute it anew, or load it, wherever it is used. */
__device__ __forceinline__ void keep(uint32_t &value) {
    asm volatile("" : "+r"(value));
}

__device__ __forceinline__ void keep(uint64_t &value) {
    asm volatile("" : "+l"(value));
}

/* high: bytes of a column in a tile. */
template <int threads_, int high_> struct piece_shape {
    static constexpr uint32_t threads = threads_, high = high_;
    static constexpr uint32_t lanes = GP_TRANSPOSE_PICK_LANES;          /* that copy a row's piece, a vector each */
    static constexpr uint32_t warps = threads / 32, times = high / 128; /* words of a column a lane */
};

/* Local row 0 is the halo's first; local rows lowest .. end - 1 are in the matrix. */
template <typename offset> struct piece_tile {
    offset row, col;
    uint32_t lowest, end, cols;
    offset begin;      /* of local row 0's first element */
    bool inside, edge; /* edge: a vector of it may reach over the array's begin or end */
};

/*
 * Blocks walk down the columns of a band of tiles; the last band may have fewer than the blocks that there are. No
 * row is shorter than a byte: 16 rows above the last one, no vector reaches over the array's end.
 */
template <int bytes, typename shape, typename offset>
__device__ inline piece_tile<offset> piece_tile_of_block(const piece_arguments<offset> &a) {
    constexpr bool few = sizeof(offset) == 4;
    constexpr uint32_t high = shape::high / bytes;
    const uint32_t height = high + a.halo;
    const uint32_t above = few ? __umulhi(blockIdx.x, a.inverse_of_bands) : blockIdx.x / (a.band * a.across);
    const uint32_t index = blockIdx.x - above * a.band * a.across;
    const uint32_t col = !few ? index / a.band : a.band == 1 ? index : __umulhi(index, a.inverse);
    const uint32_t row = above * a.band + index - col * a.band;
    piece_tile<offset> tile;
    tile.inside = row < a.down;
    tile.row = (offset)row * high - a.halo;
    tile.col = (offset)col * a.tile_cols;
    tile.cols = (uint32_t)min((offset)a.tile_cols, a.cols - tile.col);
    tile.lowest = row == 0 ? a.halo : 0;
    tile.end = (uint32_t)min((offset)height, a.rows - tile.row);
    tile.begin = a.low + tile.row * a.in_pitch + tile.col * bytes;
    tile.edge = (row == 0 && col == 0 && a.low > 0) ||
                (a.rows - tile.row <= height + 16 && col + 2 >= a.across && a.end % GP_VECTOR > 0);
    return tile;
}

/* Vectors that are not wholly in the array, byte by byte: a thread has one of their bytes, whichever rows touch it.
 */
template <typename offset> struct piece_edge {
    offset byte;
    bool apart;
    unsigned char value;
    __device__ piece_edge(const piece_arguments<offset> &a) {
        const offset last = GP_VECTOR - 1;
        byte = ((threadIdx.x % 32 < 16 ? a.low : a.end) & ~last) + threadIdx.x % 16;
        apart = byte >= a.low && byte < a.end && ((byte & ~last) < a.low || (byte | last) >= a.end);
        value = apart ? a.in[byte] : 0;
    }
};

template <int bytes, typename shape, typename offset>
__device__ inline void copy_edges(const piece_arguments<offset> &a, const piece_tile<offset> &tile,
                                  const piece_edge<offset> &edge) {
#pragma unroll 1
    for (uint32_t r = tile.lowest + threadIdx.x / 32; r < tile.end; r += shape::threads / 32) {
        const offset at = tile.begin + r * a.in_pitch, off = at % GP_SECTOR, place = edge.byte - (at - off);
        if (edge.apart && place < off + tile.cols * bytes)
            transpose_shared[(tile.begin % GP_SECTOR) + r * a.pitch - off + place] = edge.value;
    }
}

/* Where a thread copies from and to: as far as possible computed before earlier kernels are waited for. */
template <typename offset> struct piece_copy {
    const unsigned char *in; /* rounded down to a sector, and the thread's vectors on */
    offset at;               /* where its first row's piece begins */
    uint32_t to;             /* and in shared memory, vectors on, address */
    uint32_t y, left;        /* its first row, and how many */
    int32_t most;            /* a row that begins this far before a vector needs it */
};

template <int bytes, typename shape, typename offset>
__device__ inline piece_copy<offset> piece_copy_of_thread(const piece_arguments<offset> &a,
                                                          const piece_tile<offset> &tile) {
    constexpr uint32_t step = shape::threads / shape::lanes;
    const uint32_t y = threadIdx.x / shape::lanes, x = threadIdx.x % shape::lanes * GP_VECTOR;
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(transpose_shared);
    piece_copy<offset> copy = {a.in + x,
                               tile.begin + y * a.in_pitch,
                               shared + x + (uint32_t)tile.begin % GP_SECTOR + y * a.pitch,
                               y,
                               y < tile.end ? (tile.end - y + step - 1) / step : 0,
                               (int32_t)(tile.cols * bytes - x)};
    asm volatile("" : "+l"(copy.in));
    keep(copy.at);
    keep(copy.to);
    return copy;
}

template <int bytes, typename shape, typename offset>
__device__ inline void copy_pieces(const piece_arguments<offset> &a, const piece_tile<offset> &tile,
                                   piece_copy<offset> copy) {
    constexpr uint32_t step = shape::threads / shape::lanes, halo = GP_SECTOR / bytes;
    constexpr uint32_t copies = (shape::high / bytes + halo + step - 1) / step;
    const offset in_step = step * a.in_pitch;
    const uint32_t to_step = step * a.pitch;
    if (!tile.edge) {
#pragma unroll
        for (uint32_t i = 0; i < copies; i++, copy.at += in_step, copy.to += to_step) {
            const uint32_t off = (uint32_t)copy.at % GP_SECTOR;
            if ((i * step >= halo || copy.y + i * step >= tile.lowest) & (i < copy.left) &
                ((int32_t)off + copy.most > 0))
                copy_async(copy.to - off, copy.in + (copy.at - off));
        }
        return;
    }
    const piece_edge<offset> edge(a);
#pragma unroll 1
    for (uint32_t i = 0; i < copy.left; i++, copy.at += in_step, copy.to += to_step) {
        const uint32_t off = (uint32_t)copy.at % GP_SECTOR;
        const unsigned char *from = copy.in + (copy.at - off);
        if (copy.y + i * step >= tile.lowest && (int32_t)off + copy.most > 0 && from >= a.in + a.low &&
            from + GP_VECTOR <= a.in + a.end)
            copy_async(copy.to - off, from);
    }
    copy_edges<bytes, shape>(a, tile, edge);
}

/* Elements that a place in the output, at this offset, lies past a unit's start. */
template <int bytes, typename offset>
__device__ inline uint32_t skew_at(const piece_arguments<offset> &a, offset at) {
    return ((uint32_t)(uintptr_t)a.out + (uint32_t)at) / bytes & a.skews;
}

/*
 * Columns c, c + stride, ... Lanes lie below each other, `elems` rows apart. Rows in shared memory an odd number of
 * elements apart: they are all in different banks. Else 2^turn_lanes are, and the next lanes take rows k ^ turn
 * first, which are in the banks that are left.
 */
template <int bytes, typename shape, bool turned, typename offset>
__device__ inline void store_set(const piece_arguments<offset> &a, const piece_tile<offset> &tile, uint32_t c,
                                 uint32_t stride, uint64_t next, uint32_t below) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes, times = shape::times;
    const uint32_t lane = threadIdx.x % 32, turn = turned ? (lane >> a.turn_lanes) * a.turn : 0;
    const offset at = (tile.col + c) * a.out_pitch;
    const uint32_t row = a.halo - skew_at<bytes>(a, at) + lane * elems;
    unsigned char *to = a.out + signed_of(at + (tile.row + row) * bytes);
    const unsigned char *from[elems];
    bool full[times];
#pragma unroll
    for (uint32_t k = 0; k < elems; k++)
        from[k] = !turned && k > 0 ? from[k - 1] + a.pitch
                                   : transpose_shared + (uint32_t)tile.begin % GP_SECTOR +
                                         (row + (k ^ turn)) * a.pitch + c * bytes;
#pragma unroll
    for (uint32_t i = 0; i < times; i++)
        full[i] = row + i * (128 / bytes) >= tile.lowest && row + i * (128 / bytes) + elems <= tile.end;
#pragma unroll 1
    for (; c < tile.cols; c += stride, to += next) {
        uint32_t e[times][elems];
#pragma unroll
        for (uint32_t i = 0; i < times; i++)
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                e[i][k] = *(const element *)(from[k] + i * below);
#pragma unroll
        for (uint32_t i = 0; i < times; i++)
            if (full[i])
                *(uint32_t *)(to + i * 128) = word_of_elements<bytes>(e[i], turn);
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            from[k] += stride * bytes;
    }
}

/*
 * The first and the last elements of the matrix's columns, which fill no word. Where a tile ends within the matrix
 * its last ones are the next tile's.
 */
template <int bytes, typename shape, typename offset>
__device__ inline void store_ends(const piece_arguments<offset> &a, const piece_tile<offset> &tile) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes;
    const bool last = tile.end < shape::high / bytes + a.halo;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < tile.cols * elems; i += shape::threads) {
        const uint32_t c = i / elems, k = i % elems; /* lanes beside each other have what lies in one sector */
        const offset at = (tile.col + c) * a.out_pitch;
        const uint32_t first = a.halo - skew_at<bytes>(a, at);
        const unsigned char *from = transpose_shared + (uint32_t)tile.begin % GP_SECTOR + c * bytes;
        unsigned char *to = a.out + signed_of(at + tile.row * bytes);
        uint32_t top = tile.lowest, below = tile.end;
        if (tile.lowest > first)
            top = min(tile.end, first + (tile.lowest - first + elems - 1) / elems * elems);
        if (last)
            below = max(top, first + (max(tile.end, first) - first) / elems * elems);
        if (tile.lowest + k < top)
            *(element *)(to + (tile.lowest + k) * bytes) = *(const element *)(from + (tile.lowest + k) * a.pitch);
        if (below + k < tile.end)
            *(element *)(to + (below + k) * bytes) = *(const element *)(from + (below + k) * a.pitch);
    }
}

/* The misalignment of output rows repeats every sector of columns: a warp takes columns that far apart. */
template <int bytes, typename shape, bool turned, typename offset>
__device__ inline void store_words(const piece_arguments<offset> &a, const piece_tile<offset> &tile) {
    constexpr uint32_t period = GP_SECTOR / bytes, stride = shape::warps > period ? shape::warps : period;
    const uint32_t c = threadIdx.x / 32, below = 128 / bytes * a.pitch;
    const uint64_t next = (uint64_t)a.out_pitch * stride;
#pragma unroll 1
    for (uint32_t set = 0; set < stride && c + set < tile.cols; set += shape::warps)
        store_set<bytes, shape, turned>(a, tile, c + set, stride, next, below);
}
