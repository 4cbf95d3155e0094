/* SPDX-License-Identifier: Apache-2.0 */
/* How what threads, warps and blocks have gathered of one output becomes its total. */
#ifndef GP_JOIN_CUH
#define GP_JOIN_CUH

#include "write.cuh"

#define WORDS_OF(T) ((int)(sizeof(T) / 4))

template <class T> __device__ __forceinline__ T from_lane(const T &value, int lane) {
    T other;
#pragma unroll
    for (int i = 0; i < WORDS_OF(T); i++)
        ((uint32_t *)&other)[i] = __shfl_xor_sync(GP_FULL_WARP, ((const uint32_t *)&value)[i], lane);
    return other;
}

template <class T> __device__ __forceinline__ void join_lane(T &value, int lane, uint32_t) {
    value.join(from_lane(value, lane));
}

template <int N> __device__ __forceinline__ void add_lane(uint64_t (&to)[N], int lane) {
    uint64_t more[3] = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < N; i++)
        more[i] = from_lane(to[i], lane);
    add_words(to, more[0], more[1], more[2]);
}

/* What a call does not want is neither joined nor sent, as a block's warps all join at once and take turns. */
__device__ __forceinline__ void join_lane(integers_total &t, int lane, uint32_t used) {
    if (used & USED_SUM)
        add_lane(t.sum, lane);
    if (used & USED_ABS)
        add_lane(t.abs, lane);
    if (used & USED_SQUARES)
        add_lane(t.square, lane);
    if (used & USED_COUNT)
        t.count += from_lane(t.count, lane);
}

template <int BYTES, bool SQUARES>
__device__ __forceinline__ void join_lane(floats_partial<BYTES, SQUARES> &p, int lane, uint32_t used) {
    for (int i = 0; i < (SQUARES ? 2 : 1); i++)
        p.of[i].join(from_lane(p.of[i], lane));
    if (used & p.USED_COUNTS) {
        p.count += from_lane(p.count, lane);
        p.nans += from_lane(p.nans, lane);
    }
    p.flags |= from_lane(p.flags, lane);
}

/* Loops that run once are not unrolled: their code would have to be loaded. */
template <class T> __device__ __forceinline__ T join_lanes(T value, int lanes, uint32_t used) {
#pragma unroll 1
    for (int lane = lanes / 2; lane > 0; lane /= 2)
        join_lane(value, lane, used);
    return value;
}

/* The block's total, in all threads. */
template <class T> __device__ __forceinline__ T join_block(T value, uint32_t used) {
    __shared__ T of_warp[16];
    const unsigned warps = blockDim.x / 32; /* a power of two */
    value = join_lanes(value, 32, used);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = of_warp[threadIdx.x % warps];
        __syncwarp();
        value = join_lanes(value, (int)warps, used);
    }
    if (threadIdx.x == 0)
        of_warp[0] = value;
    __syncthreads();
    return of_warp[0];
}

/* Each word with a 1 above it, so that what is not 0 is there: no fence and no counter stand between. */
template <class T> __device__ __forceinline__ void send(uint64_t *sent, const T &value, uint32_t used) {
#pragma unroll
    for (int i = 0; i < WORDS_OF(T); i++)
        if (used >> i & 1)
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(sent + (size_t)i * gridDim.x),
                         "l"((uint64_t)1 << 32 | ((const uint32_t *)&value)[i])
                         : "memory");
}

/* Ten words are asked for at once, and again until all are there. */
template <class T> __device__ __forceinline__ T receive(uint64_t *sent, uint32_t used) {
    T value = T::none();
#pragma unroll
    for (int first = 0; first < WORDS_OF(T); first += 10) {
        uint64_t word[10], there;
        do {
            there = ~(uint64_t)0;
#pragma unroll
            for (int i = first; i < WORDS_OF(T) && i < first + 10; i++)
                if (used >> i & 1)
                    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                                 : "=l"(word[i - first])
                                 : "l"(sent + (size_t)i * gridDim.x)
                                 : "memory");
#pragma unroll
            for (int i = first; i < WORDS_OF(T) && i < first + 10; i++)
                if (used >> i & 1)
                    there &= word[i - first];
        } while (there >> 32 == 0);
#pragma unroll
        for (int i = first; i < WORDS_OF(T) && i < first + 10; i++)
            if (used >> i & 1) {
                ((uint32_t *)&value)[i] = (uint32_t)word[i - first];
                sent[(size_t)i * gridDim.x] = 0; /* for the next call */
            }
    }
    return value;
}

/* The total of all blocks, in all threads of the last to start. */
template <class T> __device__ __forceinline__ T collect(uint64_t *sent, const T &own, uint32_t used) {
    T total = threadIdx.x == 0 ? own : T::none();
#pragma unroll 1
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        if (b != blockIdx.x)
            total.join(receive<T>(sent + b, used));
    return join_block(total, used);
}

#endif
