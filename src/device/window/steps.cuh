/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What enters windows less what leaves them, over the 128 outputs by which a warp of window_scan moves on: sums that
 * take fewer bits than the windows' own. They are scanned over the lanes in words so narrow that none carries into
 * the next: then an addition goes by what the shuffle says of its lane, where a carry would take two selections more.
 */
#pragma once

#include "sums.cuh"

#define GP_STEPS_WORD 27   /* bits of a word that 32 lanes can add up in 32 */
#define GP_STEPS_MIDDLE 23 /* bits of pixels of which 128 differences add up in 31 */
#define GP_STEPS_SHARED 14 /* bits of a wide sum's upper part, over 32 lanes, with its sign */

/* `own` and that of the lane `lanes` below, where there is one, added up. */
__device__ __forceinline__ uint32_t plus_below(uint32_t own, int lanes) {
    asm volatile("{ .reg .pred has; .reg .u32 below; shfl.sync.up.b32 below|has, %0, %1, 0, 0xffffffff;"
                 "@has add.u32 %0, %0, below; }"
                 : "+r"(own)
                 : "r"(lanes));
    return own;
}

/* The sums of all lanes up to this one, word by word. */
template <int WORDS> __device__ __forceinline__ void scan_words(uint32_t (&words)[WORDS]) {
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = plus_below(words[i], lanes);
}

/* Of CLASS_32: modulo 2^32, as its windows. */
typedef narrow_sums<uint32_t, uint32_t> steps_32;
/* Of pixels of at most GP_STEPS_MIDDLE bits: differences of squares are below 2^46, four of them below 2^48. */
typedef narrow_sums<int32_t, int64_t> steps_middle;

/*
 * A lane's sum is at most 2^34 in magnitude, its squares 2^64. What is above one word of the sum, over 32 lanes at
 * most 2^12, and above two of the squares, at most 2^15, share a word.
 */
__device__ __forceinline__ wide_both steps_inclusive(const wide_both &own) {
    const uint32_t word_bits = (1u << GP_STEPS_WORD) - 1;
    const uint64_t bottom = (uint64_t)own.square.mid << 32 | own.square.low;
    const uint64_t top = (uint64_t)own.square.high << 32 | own.square.mid;
    const int32_t above_square = (int32_t)(top >> (2 * GP_STEPS_WORD - 32));
    const int32_t above_sum = (int32_t)(own.sum.sum >> GP_STEPS_WORD);
    uint32_t words[4] = {(uint32_t)bottom & word_bits, (uint32_t)(bottom >> GP_STEPS_WORD) & word_bits,
                         (uint32_t)own.sum.sum & word_bits,
                         (uint32_t)(above_square * (1 << GP_STEPS_SHARED) + above_sum)};
    scan_words(words);
    const int32_t sum_top = (int32_t)(words[3] << (32 - GP_STEPS_SHARED)) >> (32 - GP_STEPS_SHARED);
    const int32_t square_top = ((int32_t)words[3] - sum_top) >> GP_STEPS_SHARED;
    const uint64_t low = (uint64_t)words[1] * (1u << GP_STEPS_WORD) + words[0];
    const int64_t high = (int64_t)square_top * (1 << (2 * GP_STEPS_WORD - 32));
    wide_both sums = {{(int64_t)sum_top * (1 << GP_STEPS_WORD) + words[2]},
                      {(uint32_t)low, (uint32_t)(low >> 32), 0}};
    sums.square.plus({0, (uint32_t)high, (uint32_t)(high >> 32)});
    return sums;
}

/* What a scan of steps gives a lane: the sum of all lanes before it, and of all lanes. */
template <typename STEPS> struct steps_scan { STEPS before, all; };

template <typename SUM, typename SQUARE>
__device__ __forceinline__ narrow_sums<SUM, SQUARE> steps_inclusive(const narrow_sums<SUM, SQUARE> &own) {
    return warp_inclusive(own);
}

/* Pixels past the tile are whatever lay there: what they add to a lane is taken out again, modulo 2^64. */
template <typename STEPS> __device__ __forceinline__ steps_scan<STEPS> scan_steps(const STEPS &own) {
    const STEPS inclusive = steps_inclusive(own);
    STEPS before = inclusive;
    before.minus(own);
    return {before, from_lane(inclusive, 31)};
}

__device__ __forceinline__ steps_middle join_words(const uint32_t (&words)[3]) {
    return {(int32_t)words[0], (int64_t)(int32_t)words[2] * (1 << GP_STEPS_WORD) + words[1]};
}

/*
 * The squares' upper word is below 2^21 for a lane, 2^26 for all. What lay past the tile may exceed that, so it is
 * taken out word by word.
 */
__device__ __forceinline__ steps_scan<steps_middle> scan_steps(const steps_middle &own) {
    const uint32_t word_bits = (1u << GP_STEPS_WORD) - 1;
    const uint32_t parts[3] = {(uint32_t)own.sum, (uint32_t)own.square & word_bits,
                               (uint32_t)(own.square >> GP_STEPS_WORD)};
    uint32_t words[3] = {parts[0], parts[1], parts[2]}, before[3], all[3];
    scan_words(words);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        before[i] = words[i] - parts[i];
        all[i] = __shfl_sync(GP_FULL_WARP, words[i], 31);
    }
    return {join_words(before), join_words(all)};
}

__device__ __forceinline__ steps_scan<steps_32> scan_steps(const steps_32 &own) {
    uint32_t words[2] = {own.sum, own.square};
    scan_words(words);
    return {{words[0] - own.sum, words[1] - own.square},
            {__shfl_sync(GP_FULL_WARP, words[0], 31), __shfl_sync(GP_FULL_WARP, words[1], 31)}};
}

/* Four pixels more; their sum fits 32 bits where that of steps does. */
template <typename STEPS, typename SUMS> __device__ __forceinline__ void add_four(SUMS &sums, const int4 &four) {
    [[maybe_unused]] const auto before = sums.sum;
    sums.add(four.x);
    sums.add(four.y);
    sums.add(four.z);
    sums.add(four.w);
    if constexpr (sizeof(STEPS::sum) == 4)
        sums.sum = before + (four.x + four.y + four.z + four.w);
}

/* The squares of two are at most 2^63. */
template <typename STEPS> __device__ __forceinline__ void add_four(wide_both &sums, const int4 &four) {
    const uint64_t low = (uint64_t)((int64_t)four.x * four.x) + (uint64_t)((int64_t)four.y * four.y);
    const uint64_t high = (uint64_t)((int64_t)four.z * four.z) + (uint64_t)((int64_t)four.w * four.w);
    sums.sum.sum += ((int64_t)four.x + four.y) + ((int64_t)four.z + four.w);
    sums.square.plus({(uint32_t)low, (uint32_t)(low >> 32), 0});
    sums.square.plus({(uint32_t)high, (uint32_t)(high >> 32), 0});
}

/* Of `window` pixels from `start`, in shared memory, what the one of `sharers` with that rank adds up. */
template <typename SUMS, typename STEPS>
__device__ __forceinline__ SUMS share_of_window(const int32_t *pixels, int32_t start, int32_t window, int32_t rank,
                                                int32_t sharers) {
    const int32_t end = start + window, groups = (start + 3) & ~3, groups_end = end & ~3;
    SUMS sums = SUMS::zero();
    for (int32_t i = groups + 4 * rank; i < groups_end; i += 4 * sharers) {
        const int4 four = *(const int4 *)(pixels + i);
        add_four<STEPS>(sums, four);
    }
    const int32_t head_end = min(groups, end), tail = max(groups_end, head_end);
    if (rank < head_end - start)
        sums.add(pixels[start + rank]);
    if (rank < end - tail)
        sums.add(pixels[tail + rank]);
    return sums;
}
