/* SPDX-License-Identifier: Apache-2.0 */
/* How what threads, warps and blocks have gathered of one output becomes its total. */
#pragma once

#include "write.cuh"

#define WORDS_OF(T) ((int)(sizeof(T) / 4))

template <class T> __device__ __forceinline__ T from_lane(const T &value, int lane) {
    T other;
#pragma unroll
    for (int i = 0; i < WORDS_OF(T); i++)
        ((uint32_t *)&other)[i] = __shfl_xor_sync(GP_FULL_WARP, ((const uint32_t *)&value)[i], lane);
    return other;
}

template <class T> __device__ __forceinline__ T join_lanes(T value, uint32_t) {
#pragma unroll 1 /* its code would have to be loaded */
    for (int lane = 16; lane > 0; lane /= 2)
        value.join(from_lane(value, lane));
    return value;
}

/* Of all lanes, numbers below 2^BITS: by digits of 26 bits, of which a warp's are added up at once. */
template <unsigned BITS, class UNITS> __device__ __forceinline__ UNITS sum_of_lanes(UNITS x) {
#if __CUDA_ARCH__ >= 800
    UNITS sum = 0;
#pragma unroll
    for (unsigned bit = 0; bit < BITS; bit += 26)
        sum += (UNITS)__reduce_add_sync(GP_FULL_WARP, (uint32_t)(x >> bit) & 0x3ffffff) << bit;
    return sum;
#else
    for (int lane = 16; lane > 0; lane /= 2)
        x += from_lane(x, lane);
    return x;
#endif
}

__device__ __forceinline__ void join_words(uint64_t (&to)[2]) {
    const unsigned __int128 sum = sum_of_lanes<128>((unsigned __int128)to[1] << 64 | to[0]);
    to[0] = (uint64_t)sum;
    to[1] = (uint64_t)(sum >> 64);
}

/* What a call does not want is neither joined nor sent. */
__device__ __forceinline__ integers_total join_lanes(integers_total t, uint32_t used) {
    if (used & USED_SUM)
        join_words(t.sum);
    if (used & USED_ABS)
        join_words(t.abs);
    if (used & USED_SQUARES) {
        uint64_t low[2] = {t.square[0], 0}, high[2] = {t.square[1], t.square[2]};
        join_words(low);
        join_words(high);
        t.square[0] = low[0];
        t.square[1] = high[0] + low[1];
        t.square[2] = high[1] + (t.square[1] < low[1]);
    }
    if (used & USED_COUNT)
        t.count = sum_of_lanes<64>(t.count);
    return t;
}

/* The lower level is carried, so that it has few digits. */
template <unsigned GAP, class I> __device__ __forceinline__ void join_levels(two_levels<I> &of) {
    typedef std::conditional_t<(sizeof(I) > 8), unsigned __int128, uint64_t> whole;
    of.high = (I)sum_of_lanes<8 * sizeof(I)>((whole)(of.high + (of.low >> GAP)));
    of.low = (I)sum_of_lanes<GAP>((whole)of.low & (((whole)1 << GAP) - 1));
}

template <int BYTES, bool SQUARES>
__device__ __forceinline__ floats_partial<BYTES, SQUARES> join_lanes(floats_partial<BYTES, SQUARES> p,
                                                                     uint32_t used) {
    typedef floats_partial<BYTES, SQUARES> partial;
    join_levels<partial::GAP>(p.of[0]);
    if (SQUARES)
        join_levels<partial::GAP_SQUARES>(p.of[SQUARES]);
    if (used & p.USED_COUNTS) {
        p.count = sum_of_lanes<64>(p.count);
        p.nans = sum_of_lanes<64>(p.nans);
    }
    p.flags = gp_warp_or(p.flags);
    return p;
}

#if __CUDA_ARCH__ >= 800
/* Of the lanes with the least key the first tile. */
__device__ __forceinline__ extremes_partial<int32_t> join_lanes(const extremes_partial<int32_t> &p, uint32_t) {
    const int32_t least = __reduce_min_sync(GP_FULL_WARP, p.least), most = __reduce_max_sync(GP_FULL_WARP, p.most);
    return {least, most, __reduce_min_sync(GP_FULL_WARP, p.least == least ? p.at_least : UINT32_MAX),
            __reduce_min_sync(GP_FULL_WARP, p.most == most ? p.at_most : UINT32_MAX),
            __reduce_min_sync(GP_FULL_WARP, p.at_nan)};
}
#endif

/* The block's total, in the first warp; and whether one of its threads has `some`, in all. */
template <class T> __device__ __forceinline__ T join_block(T value, uint32_t used, bool &some) {
    __shared__ T of_warp[16];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1 /* the second time its code is there */
    for (bool joined = false;; joined = true) {
        value = join_lanes(value, used);
        if (joined)
            return value;
        if (lane == 0)
            of_warp[warp] = value;
        some = __syncthreads_or(some);
        if (warp > 0)
            return value;
        value = lane < blockDim.x / 32 ? of_warp[lane] : T::none();
    }
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

/*
 * The total of all blocks, in all threads of the block that started last; of other blocks it returns false, when they
 * have sent theirs. drawn: of thread 0, how many have started before. drain(): done before if one has `some`.
 */
template <class T, class DRAIN>
__device__ __forceinline__ bool join_grid(T &value, uint32_t used, uint64_t *sent, unsigned drawn, bool some,
                                          DRAIN drain) {
    __shared__ unsigned ticket;
    __shared__ T all;
    if (threadIdx.x == 0)
        ticket = drawn;
#pragma unroll 1
    for (bool collected = false;; collected = true) {
        value = join_block(value, used, some);
        if (collected)
            break;
        if (some)
            drain();
        if (ticket != gridDim.x - 1) {
            if (threadIdx.x == 0)
                send(sent + blockIdx.x, value, used);
            return false;
        }
        if (threadIdx.x != 0)
            value = T::none();
        __syncthreads(); /* the first warp has read what join_block() writes next */
#pragma unroll 1
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            if (b != blockIdx.x)
                value.join(receive<T>(sent + b, used));
    }
    if (threadIdx.x == 0)
        all = value;
    __syncthreads();
    value = all;
    return true;
}
