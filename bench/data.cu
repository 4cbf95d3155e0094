/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-random input, made on the device. */
#include "data.h"

#include <stdint.h>

extern "C" const char *data_name(data_kind kind) {
    static const char *const names[DATA_KINDS] = {"int32", "8-bit", "16-bit", "24-bit", "finite"};
    return names[kind];
}

/* The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators"). */
static __device__ uint32_t random_word(uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static __device__ uint32_t word_of(data_kind kind, uint32_t random) {
    switch (kind) {
    case DATA_8_BIT:
        return random & 0xffu;
    case DATA_16_BIT:
        return random & 0xffffu;
    case DATA_24_BIT:
        return (random & 0xffffffu) - 0x800000u;
    case DATA_FINITE: /* the exponent of a float, and of a double whose high word this is, gets 01 as its high bits */
        return (random & 0xbfffffffu) | 0x20000000u;
    default:
        return random;
    }
}

static __global__ void fill(uint32_t *to, size_t words, data_kind kind) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step)
        to[i] = word_of(kind, random_word(i));
}

extern "C" cudaError_t data_fill(void *to, size_t words, data_kind kind, cudaStream_t stream) {
    fill<<<4096, 256, 0, stream>>>((uint32_t *)to, words, kind);
    return cudaGetLastError();
}
