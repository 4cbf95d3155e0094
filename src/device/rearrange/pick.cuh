/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw rows in shared memory, from which elements of 1, 2 and 4 bytes are picked one by one: what costs is one load an
 * element and a byte permute or less, whatever the alignment on either side. See transpose_pick_long.cu.
 */
#ifndef GP_TRANSPOSE_PICK_CUH
#define GP_TRANSPOSE_PICK_CUH

#include "skew.cuh"

/* Blocks that an SM's registers leave room for; architectures other than Hopper would spill at as many. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define GP_TRANSPOSE_PICK_LONG_BLOCKS 3
#else
#define GP_TRANSPOSE_PICK_LONG_BLOCKS 2
#endif

__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All but what was asked for by the last `left` groups. */
template <int left> __device__ inline void await_tile() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

/* One instruction: a branch would keep the words after it from being loaded beside it. */
__device__ __forceinline__ void store_if(bool wanted, void *to, uint32_t word) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(to), "r"(word),
                 "r"((uint32_t)wanted)
                 : "memory");
}

/*
 * Where rows lie in shared memory: `pitch` bytes apart, and room of `slot` bytes after every 2^room rows. A row
 * begins as far past a sector's start as in global memory, for which copies are faster. See make_room in
 * transpose_cut_pick.c.
 */
struct raw_rows {
    uint32_t pitch, room, slot;
    uint32_t low, step; /* address of the first row's first byte, and from row to row, modulo 2^32 */
    __device__ uint32_t row(uint32_t r) const {
        return r * pitch + (r >> room) * slot;
    }
    __device__ uint32_t past(uint32_t r) const {
        return (low + r * step) & (GP_TRANSPOSE_SECTOR - 1);
    }
    __device__ uint32_t first(uint32_t r) const {
        return row(r) + past(r);
    }
};

/*
 * Few rows: lanes pick from rows 4 / bytes apart. Where those begin at the same word of a vector, every 8 lanes begin
 * with another element of theirs, which lies in another bank: turn(k) is the element picked k-th.
 */
template <int bytes> struct picking {
    static constexpr uint32_t elems = 4 / bytes;
    uint32_t by, order; /* the elements' places in the word, a nibble a byte */
    __device__ picking(uint64_t in_pitch) {
        by = in_pitch % 4 == 0 ? threadIdx.x / 8 % elems : 0;
        order = 0x54105410u >> (16 - by * bytes * 4);
    }
    __device__ uint32_t turn(uint32_t k) const {
        return (k + by) & (elems - 1);
    }
    __device__ uint32_t word(const uint32_t *e) const {
        if constexpr (bytes == 1)
            return __byte_perm(__byte_perm(e[0], e[1], 0x0040), __byte_perm(e[2], e[3], 0x0040), order);
        else
            return __byte_perm(e[0], e[1], order);
    }
};

/* Bit k: element k of a word at local row `row` lies in the matrix. */
template <int bytes> __device__ inline uint32_t part_of_word(uint32_t row, const skewed_tile &tile) {
    uint32_t part = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4 / bytes; k++)
        part |= (uint32_t)(row + k >= tile.lowest && row + k < tile.end) << k;
    return part;
}

template <int bytes> __device__ inline void store_part(unsigned char *to, const uint32_t *e, uint32_t part) {
    typedef typename element_of<bytes>::type element;
#pragma unroll
    for (uint32_t k = 0; k < 4 / bytes; k++)
        if (part >> k & 1)
            ((element *)to)[k] = (element)e[k];
}

/*
 * `high` bytes of every column of a tile. A warp's lanes lie below each other, so that whole sectors are written. The
 * misalignment of output rows repeats every 32 bytes of columns: a thread takes columns that far apart, and the
 * places to pick from only move along. first(r): where the tile's row r begins; stride: from there to the row 128
 * output bytes below. whole: no row lies outside the matrix.
 */
template <int bytes, int threads, int high, bool whole, typename function>
__device__ inline void store_columns(const transpose_arguments &a, const skewed_tile &tile, uint32_t stride,
                                     function first) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes, down = high / 4 < 32 ? high / 4 : 32, beside = 32 / down; /* lanes */
    constexpr uint32_t period = GP_TRANSPOSE_SECTOR / bytes, times = (high + 127) / 128, all = (1u << elems) - 1;
    const uint32_t lane = threadIdx.x % 32, most = a.cut.halo * bytes, skewed = most > 0 ? most - 1 : 0;
#pragma unroll 1
    for (uint32_t c = threadIdx.x / 32 * beside + lane / down; c < min(period, tile.cols);
         c += threads / 32 * beside) {
        unsigned char *to = a.out + (tile.col + c) * a.out_pitch;
        const uint32_t row = (most - ((uint32_t)(uintptr_t)to & skewed)) / bytes + lane % down * elems;
        to += (tile.row + row) * bytes;
        const unsigned char *from[elems];
        uint32_t part[times];
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            from[k] = transpose_shared + first(row + k) + c * bytes;
#pragma unroll
        for (uint32_t i = 0; i < times; i++)
            part[i] = whole ? all : part_of_word<bytes>(row + i * (128 / bytes), tile);
#pragma unroll 1
        for (uint32_t at = c; at < tile.cols; at += period, to += period * a.out_pitch) {
            uint32_t e[times][elems];
#pragma unroll
            for (uint32_t i = 0; i < times; i++)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    e[i][k] = *(const element *)(from[k] + i * stride);
#pragma unroll
            for (uint32_t i = 0; i < times; i++) {
                if (part[i] == all)
                    *(uint32_t *)(to + i * 128) = word_of_elements<bytes>(e[i]);
                else if (part[i] != 0)
                    store_part<bytes>(to + i * 128, e[i], part[i]);
            }
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                from[k] += GP_TRANSPOSE_SECTOR;
        }
    }
}

template <int bytes, int threads, int high, typename function>
__device__ inline void store_tile(const transpose_arguments &a, const skewed_tile &tile, uint32_t stride,
                                  function first) {
    if (tile.whole)
        store_columns<bytes, threads, high, true>(a, tile, stride, first);
    else
        store_columns<bytes, threads, high, false>(a, tile, stride, first);
}

#endif
