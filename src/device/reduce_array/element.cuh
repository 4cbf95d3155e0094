/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of every type as 64 bits, their ordered keys, and 16-byte vectors of a run of them. */
#pragma once

#include "../../host/reduce_array/pass.h"
#include "../warp.cuh"

#include <cuda_fp16.h>
#include <type_traits>

/* A digit a type, its logarithm. */
__host__ __device__ __forceinline__ constexpr uint32_t bytes_of(unsigned type) {
    return 1u << (0x3211332211000 >> 4 * type & 15);
}

/* The element's bits, without its sign extended. */
__device__ __forceinline__ uint64_t load_raw(uint32_t bytes, const void *from) {
    switch (bytes) {
    case 1:
        return *(const uint8_t *)from;
    case 2:
        return *(const uint16_t *)from;
    case 4:
        return *(const uint32_t *)from;
    default:
        return *(const uint64_t *)from;
    }
}

__device__ __forceinline__ int64_t extend_sign(uint64_t raw, uint32_t bytes) {
    const int unused = 64 - 8 * (int)bytes;
    return (int64_t)(raw << unused) >> unused;
}

/* A float of 2 or 4 bytes. */
template <int WIDTH> __device__ __forceinline__ float real_of(uint32_t raw, bool is_bf16) {
    if (WIDTH == 4)
        return __uint_as_float(raw);
    return is_bf16 ? __uint_as_float(raw << 16) : __half2float(__ushort_as_half((unsigned short)raw));
}

/*
 * How elements of a type become keys that are ordered as signed integers of the same width: floats have the bits
 * below the sign inverted if it is set, unsigned integers the upper bit. Both are their own inverse. What is above
 * nan_above or below nan_below is no number.
 */
struct key_form {
    uint32_t bytes;
    uint64_t bias, inverted;
    int64_t nan_above, nan_below;
    __device__ explicit key_form(unsigned type) {
        const uint64_t infinity = type == GP_F16    ? 0x7c00
                                  : type == GP_BF16 ? 0x7f80
                                  : type == GP_F32  ? 0x7f800000
                                                    : 0x7ff0000000000000;
        bytes = bytes_of(type);
        const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
        bias = gp_type_is_signed(type) ? 0 : sign;
        inverted = gp_type_is_float(type) ? sign - 1 : 0;
        nan_above = gp_type_is_float(type) ? (int64_t)infinity : INT64_MAX;
        nan_below = gp_type_is_float(type) ? ~(int64_t)infinity : INT64_MIN;
    }
    __device__ int64_t key(uint64_t raw) const {
        const int64_t x = extend_sign(raw, bytes);
        return extend_sign((uint64_t)(x ^ ((x >> 63) & (int64_t)inverted)) ^ bias, bytes);
    }
    __device__ bool is_nan(int64_t key) const {
        return key > nan_above || key < nan_below;
    }
    /* Signed integers come back with their sign extended. */
    __device__ uint64_t raw(int64_t key) const {
        const uint64_t x = (uint64_t)(key ^ ((key >> 63) & (int64_t)inverted)) ^ bias;
        return bias != 0 || inverted != 0 ? x & ~(uint64_t)0 >> (64 - 8 * bytes) : x;
    }
};

/*
 * A run of contiguous elements: whole 16-byte vectors from its first memory line on, so that a warp's loads touch no
 * sector more than they must, and edges before and behind them.
 */
struct run {
    const unsigned char *in, *end;
    const int4 *first;
    uint64_t vectors;
    uint32_t bytes;
    __device__ run(const unsigned char *from, uint64_t n, uint32_t elem_bytes)
        : in(from), end(from + n * elem_bytes), bytes(elem_bytes) {
        const uint64_t before = min(n * bytes, (uint64_t)(0 - (uintptr_t)in % 128) % 128);
        first = (const int4 *)(in + before);
        vectors = (n * bytes - before) / 16;
        asm("" : "+l"(first)); /* computed once, not in each round of a loop */
    }
    __device__ uint4 load(uint64_t vector) const {
        return load_once(first + vector);
    }
};

struct vector_edge {
    uint4 repeated; /* with the first element inside in place of those outside */
    uint4 zeroed;   /* with 0 */
};

/* 16 bytes that reach over an end of the run; false: they are outside. Nothing outside is read. */
static __device__ __noinline__ bool load_edge(const run &r, const unsigned char *at, vector_edge *edge) {
    const int64_t before = r.in - at, after = r.end - at;
    const unsigned from = before > 0 ? (unsigned)min(before, (int64_t)16) : 0;
    const unsigned to = after < 16 ? (unsigned)max(after, (int64_t)0) : 16;
    uint64_t half[2] = {0, 0}, inside[2] = {0, 0};
    if (from >= to)
        return false;
    uint64_t first = load_raw(r.bytes, at + from);
    const uint64_t element = ~(uint64_t)0 >> (64 - 8 * r.bytes);
    for (unsigned i = from; i < to; i += r.bytes) {
        half[i / 8] |= load_raw(r.bytes, at + i) << i % 8 * 8;
        inside[i / 8] |= element << i % 8 * 8;
    }
    for (unsigned bits = 8 * r.bytes; bits < 64; bits *= 2)
        first |= first << bits;
    const uint64_t low = half[0] | (first & ~inside[0]), high = half[1] | (first & ~inside[1]);
    edge->zeroed =
        make_uint4((uint32_t)half[0], (uint32_t)(half[0] >> 32), (uint32_t)half[1], (uint32_t)(half[1] >> 32));
    edge->repeated = make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
    return true;
}

/* Word i of a vector; i is a constant wherever this is called. */
__device__ __forceinline__ uint32_t word_of(const uint4 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

__device__ __forceinline__ uint64_t wide_of(const uint4 &v, int i) {
    return i == 0 ? v.x | (uint64_t)v.y << 32 : v.z | (uint64_t)v.w << 32;
}
