/* SPDX-License-Identifier: Apache-2.0 */
/* Raw rows of a tile: loaded in whole words, stored in whole words, whatever the alignment of either side. */
#ifndef GP_REARRANGE_ARRAY_RAW_CUH
#define GP_REARRANGE_ARRAY_RAW_CUH

#include "../l2.cuh"
#include "places.cuh"

/* Raw rows in words of 16 bytes. Of a row's last word nothing may be left, if the row begins early in a word. */
template <int bytes> struct raw_loader {
    static constexpr int loads = GP_MOVE_RAW_LOADS;
    uint32_t from[loads];
    place_pairs<loads> to;
    uint32_t last; /* a bit a word */

    __device__ void prepare(const gp_move_cut &cut) {
        last = 0;
        for_places<loads>(cut.load, unit_of, [&](int i, place at) {
            from[i] = (uint32_t)at.global;
            to.put(i, at.shared);
            last |= (uint32_t)(unit_of(i) % cut.in_words == cut.in_words - 1) << i;
        });
    }
    static constexpr bool skews = true;
    static __device__ uint32_t skew(const unsigned char *base) {
        return (uint32_t)(uintptr_t)base % GP_MOVE_RAW_WORD;
    }
    __device__ void load(const gp_move_cut &cut, const unsigned char *base, unsigned char *buffer) const {
        const uint32_t shared = (uint32_t)__cvta_generic_to_shared(buffer), off = skew(base);
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const uint32_t at = to[i] + off, before = at % GP_MOVE_RAW_WORD;
            if (unit_of(i) >= cut.load.units || ((last >> i & 1) && (int32_t)before <= cut.beyond))
                continue;
            copy_inside(shared + (at - before), base + from[i] - before, cut.begin, cut.end);
        }
    }
    __device__ void put(const gp_move_cut &, unsigned char *) const {}
};

/* Rows of the output in words of 4 bytes, of which the first and the last are stored in part. */
template <int bytes> struct raw_storer {
    static constexpr int stores = GP_MOVE_RAW_STORES, out = 4 / bytes;
    typedef typename word_of<bytes>::type piece;
    uint32_t to[stores];
    place_pairs<stores> from, left; /* left: pieces of the row from the word's first on, and `out` more */

    __device__ void prepare(const gp_move_cut &cut) {
        for_places<stores>(cut.store, unit_of, [&](int i, place at) {
            to[i] = (uint32_t)at.global;
            from.put(i, at.shared & 0xffff);
            left.put(i, (int32_t)(cut.row + out - unit_of(i) % cut.out_words * out));
        });
    }
    __device__ void store(const gp_move_cut &cut, const unsigned char *shared, unsigned char *base) const {
#pragma unroll
        for (int i = 0; i < stores; i++) {
            if (unit_of(i) >= cut.store.units)
                continue;
            unsigned char *const at = base + to[i];
            const int32_t before = (int32_t)((uintptr_t)at % 4 / bytes), rest = (int32_t)left[i] - out;
            const uint32_t first = from[i] - (uint32_t)(before * cut.shared_row);
            const int32_t begin = rest == (int32_t)cut.row ? before : 0, end = rest + before;
            auto take = [&](int j) {
                return *(const piece *)(shared + (first + (uint32_t)(j * cut.shared_row) & 0xffff));
            };
            if (begin == 0 && end >= out) {
                union {
                    piece part[out];
                    uint32_t whole;
                } w;
#pragma unroll
                for (int j = 0; j < out; j++)
                    w.part[j] = take(j);
                *(uint32_t *)(at - before * bytes) = w.whole;
                continue;
            }
#pragma unroll
            for (int j = 0; j < out; j++)
                if (j >= begin && j < end)
                    ((piece *)at)[j - before] = take(j);
        }
    }
};

#endif
