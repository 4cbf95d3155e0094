/* SPDX-License-Identifier: Apache-2.0 */
/* What the transpose kernels share: arguments, which tile a block takes, squares transposed in registers. */
#ifndef GP_TRANSPOSE_CUH
#define GP_TRANSPOSE_CUH

#include "../../host/rearrange/tiling.h"
#include "../warp.cuh"

/*
 * Blocks of 256 threads that an SM's registers leave room for: on Hopper 40 registers a thread for 4 bytes and 64 for
 * 2; elsewhere ptxas would spill at those, so 64 and 80.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define GP_TRANSPOSE_BLOCKS_4 6
#define GP_TRANSPOSE_BLOCKS_2 4
#else
#define GP_TRANSPOSE_BLOCKS_4 4
#define GP_TRANSPOSE_BLOCKS_2 3
#endif

struct transpose_arguments {
    const unsigned char *in;
    unsigned char *out;
    uint64_t rows, cols;
    uint64_t in_pitch, out_pitch; /* bytes */
    gp_transpose_cut cut;
};

inline transpose_arguments transpose_arguments_of(const gp_problem *problem, const gp_transpose_cut &cut) {
    return {static_cast<const unsigned char *>(problem->in),
            static_cast<unsigned char *>(problem->out),
            problem->rows,
            problem->cols,
            problem->in_pitch * problem->elem_bytes,
            problem->out_pitch * problem->elem_bytes,
            cut};
}

template <int bytes> struct element_of;
template <> struct element_of<1> { typedef uint8_t type; };
template <> struct element_of<2> { typedef uint16_t type; };
template <> struct element_of<4> { typedef uint32_t type; };
template <> struct element_of<8> { typedef uint2 type; };
template <> struct element_of<16> { typedef uint4 type; };

struct tile_index {
    uint32_t row, col;
};

/*
 * Blocks walk down the columns of a band of tiles, one or two together: neighbours write neighbouring segments of the
 * same output rows. What is left beside whole groups of pairs is walked one by one. pairs: the kernel's cut may ask
 * for them.
 */
template <bool pairs = true> __device__ inline tile_index tile_of_block(const gp_transpose_cut &cut) {
    const uint32_t per_band = cut.band * cut.across;
    const uint32_t band = blockIdx.x / per_band, in_band = blockIdx.x - band * per_band, first = band * cut.band;
    const uint32_t down = min(cut.band, cut.down - first);
    const uint32_t paired = pairs && cut.apart > 0 ? cut.across & ~(2 * cut.apart - 1) : 0;
    if (in_band < down * paired) {
        const uint32_t pair = in_band / (2 * down), in_pair = in_band - pair * 2 * down;
        return {first + in_pair / 2, 2 * pair - (pair & (cut.apart - 1)) + in_pair % 2 * cut.apart};
    }
    const uint32_t col = in_band / down;
    return {first + in_band - col * down, col};
}

/*
 * In place: tiles on and above the diagonal of a square of n x n tiles. Rows y and n - 1 - y (n even) or y and n - y
 * (n odd) of that triangle fold into one row of n + 1 or n tiles.
 */
__device__ inline tile_index tile_of_triangle(uint32_t n, uint32_t index) {
    const uint32_t even = n % 2 == 0, width = n + even;
    const uint32_t y = index / width, x = index - y * width;
    if (x < n - y)
        return {y, y + x};
    return {n - even - y, x - even};
}

/* Rows or columns from `first` on, at most a tile's. */
__device__ inline uint32_t left_of(uint64_t all, uint64_t first, uint32_t tile) {
    return all - first < tile ? (uint32_t)(all - first) : tile;
}

__device__ inline uint32_t word_of(const uint4 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* 4 / bytes elements, one behind the other in memory. */
template <int bytes> __device__ inline uint32_t word_of_elements(const uint32_t *e) {
    if constexpr (bytes == 1)
        return __byte_perm(__byte_perm(e[0], e[1], 0x0040), __byte_perm(e[2], e[3], 0x0040), 0x5410);
    else if constexpr (bytes == 2)
        return __byte_perm(e[0], e[1], 0x5410);
    else
        return e[0];
}

/* 16 bytes that the kernel reads once and never writes. */
__device__ inline uint4 load_once(const void *from) {
    const int4 v = gp_load_once((const int4 *)from);
    return make_uint4((uint32_t)v.x, (uint32_t)v.y, (uint32_t)v.z, (uint32_t)v.w);
}

/*
 * Which lines leave L2 first. If what a transpose reads outlives what it writes, lines are written back soon after
 * they are complete and in about that order, which DRAM does faster than late and in any. Later kernels suffer
 * little: reading 24 MiB again and again right after it, H200, took 15.9, 9.8, 6.6 us and then as long as after other
 * kernels (15.8, 6.8, 6.9).
 */
struct l2_policy {
    uint64_t bits;
};

/* For 1 byte (4096 x 4096, H200: 9.7 us, by policy 11.1), and for staging memory, whose launch has one (launch.c). */
struct no_policy {};

template <bool hinted> __device__ inline auto read_policy(const gp_transpose_cut &cut) {
    if constexpr (hinted) {
        uint64_t last = 0, normal = 0;
#if __CUDA_ARCH__ >= 800
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
        asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
#endif
        return l2_policy{cut.outlives ? last : normal};
    } else {
        return no_policy{};
    }
}

/* An element or a vector that the kernel reads once, if no halo is read twice. */
__device__ inline uint4 load_by(const uint4 *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint2 load_by(const uint2 *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint2 v;
    asm volatile("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint32_t load_by(const uint32_t *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    uint32_t v;
    asm volatile("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(from), "l"(policy.bits));
    return v;
#else
    return __ldg(from);
#endif
}

__device__ inline uint4 load_by(const uint4 *from, no_policy) {
    return load_once(from);
}

template <typename element> __device__ inline element load_by(const element *from, no_policy) {
    return __ldg(from);
}

/* 16 bytes from global to shared memory, there after await_copies(). */
__device__ inline void copy_async(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
#else
    *(uint4 *)to = load_once(from);
#endif
}

__device__ inline void copy_async(void *to, const void *from, l2_policy policy) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "l"(policy.bits)
                 : "memory");
#else
    copy_async(to, from);
#endif
}

__device__ inline void copy_async(void *to, const void *from, no_policy) {
    copy_async(to, from);
}

__device__ inline void await_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* The same; what lies outside begin .. end - 1 is not read. Bytes are all loaded before the first is waited for. */
__device__ inline void copy_inside(unsigned char *to, const unsigned char *from, const unsigned char *begin,
                                   const unsigned char *end) {
    if (from >= begin && from + 16 <= end) {
        copy_async(to, from);
        return;
    }
    uint32_t bytes[16], words[4];
#pragma unroll
    for (int i = 0; i < 16; i++)
        bytes[i] = from + i >= begin && from + i < end ? from[i] : 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        words[i] = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 | bytes[4 * i + 3] << 24;
    *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
}

/* once: they leave the caches before what will be read again. */
template <bool once> __device__ inline void store_vector(void *to, const uint4 &v) {
    if (once)
        __stcs((uint4 *)to, v);
    else
        *(uint4 *)to = v;
}

/* 4 words of 4 bytes, transposed. */
__device__ inline void transpose_bytes(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
    const uint32_t ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
    const uint32_t cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
    a = __byte_perm(ab_low, cd_low, 0x5410);
    b = __byte_perm(ab_low, cd_low, 0x7632);
    c = __byte_perm(ab_high, cd_high, 0x5410);
    d = __byte_perm(ab_high, cd_high, 0x7632);
}

/* 4 / bytes words of as many elements: rows in, columns out. */
template <int bytes> __device__ inline void transpose_words(uint32_t *w) {
    if constexpr (bytes == 1) {
        transpose_bytes(w[0], w[1], w[2], w[3]);
    } else {
        const uint32_t low = __byte_perm(w[0], w[1], 0x5410);
        w[1] = __byte_perm(w[0], w[1], 0x7632);
        w[0] = low;
    }
}

/* A square of 16 / bytes vectors of as many elements: to[c][r] = from[r][c]. */
template <int bytes> __device__ inline void transpose_square(const uint4 *from, uint4 *to) {
    if constexpr (bytes == 16) {
        to[0] = from[0];
    } else if constexpr (bytes == 8) {
        to[0] = make_uint4(from[0].x, from[0].y, from[1].x, from[1].y);
        to[1] = make_uint4(from[0].z, from[0].w, from[1].z, from[1].w);
    } else if constexpr (bytes == 4) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            to[c] = make_uint4(word_of(from[0], c), word_of(from[1], c), word_of(from[2], c), word_of(from[3], c));
    } else if constexpr (bytes == 2) {
#pragma unroll
        for (int c = 0; c < 8; c++) {
            uint32_t w[4];
#pragma unroll
            for (int r = 0; r < 4; r++)
                w[r] = __byte_perm(word_of(from[2 * r], c / 2), word_of(from[2 * r + 1], c / 2),
                                   c % 2 == 0 ? 0x5410 : 0x7632);
            to[c] = make_uint4(w[0], w[1], w[2], w[3]);
        }
    } else {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            uint32_t w[4][4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    w[i][r] = word_of(from[4 * r + i], c);
                transpose_bytes(w[0][r], w[1][r], w[2][r], w[3][r]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[4 * c + i] = make_uint4(w[i][0], w[i][1], w[i][2], w[i][3]);
        }
    }
}

/* Dynamic shared memory. One declaration for all kernels of a file. */
extern __shared__ __align__(16) unsigned char transpose_shared[];

#endif
