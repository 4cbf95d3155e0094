/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw rows of a tile: loaded in whole words, stored in whole words, whatever the alignment of either side. Where rows
 * begin and which pieces make a word is the same in every tile, and stands in tables behind the tile.
 */
#pragma once

#include "places.cuh"

#define RAW_SECTOR 32u

extern __shared__ __align__(16) unsigned char rearrange_shared[];

/* Where a row of a tile begins. */
struct __align__(8) raw_row {
    uint32_t global, shared;
};

__device__ inline raw_row raw_row_of(const gp_move_walk &walk, uint32_t r) {
    raw_row row;
    for_places<1>(
        walk, [&](int) { return r; },
        [&](int, place at) {
            row = {(uint32_t)at.global, (uint32_t)at.shared};
        });
    return row;
}

/*
 * Words of 16 bytes, each to an address as far off a word's start as its own. Of a row's last word nothing may be
 * left, if the row begins early in a word.
 */
template <int together, typename COPY>
__device__ inline void load_raw_words(const gp_move_cut &cut, const raw_row *rows, const unsigned char *base,
                                      uint32_t units, COPY copy) {
    const uint32_t shared =
        (uint32_t)__cvta_generic_to_shared(rearrange_shared) + (uint32_t)(uintptr_t)base % GP_MOVE_RAW_WORD;
#pragma unroll(together)
    for (uint32_t q = threadIdx.x; q < units; q += GP_MOVE_RAW_THREADS) {
        const uint32_t r = __umulhi(q, cut.in_rows.magic), at = (q - r * cut.in_rows.words) * GP_MOVE_RAW_WORD;
        const raw_row row = rows[r];
        const unsigned char *const from = base + (int32_t)row.global;
        const uint32_t before = (uint32_t)(uintptr_t)from % GP_MOVE_RAW_WORD;
        if (at < before + cut.in_rows.length)
            copy(shared + row.shared - before + at, from - before + at);
    }
}

/* The last of the tiles that share rows has no next one. */
__device__ inline void load_raw(const gp_move_cut &cut, const raw_row *rows, const unsigned char *base, bool last) {
    const int32_t beyond = last ? 0 : cut.beyond;
    const uint32_t units = cut.in_rows.units + (last ? 0 : cut.tail.units * cut.in_rows.words);
    if (base - cut.below + min(beyond, 0) - GP_MOVE_RAW_WORD >= cut.begin &&
        base + cut.reach + max(beyond, 0) + GP_MOVE_RAW_WORD <= cut.end)
        load_raw_words<4>(cut, rows, base, units,
                          [](uint32_t to, const unsigned char *from) { copy_async(to, from); });
    else
        load_raw_words<1>(cut, rows, base, units,
                          [&](uint32_t to, const unsigned char *from) { copy_inside(to, from, cut.begin, cut.end); });
}

/* Places of a word's pieces in shared memory, from where its row begins. */
template <int out> struct __align__(2 * out) raw_picks {
    uint16_t at[out];
};

/* Pieces as they were taken: the first is number `turn`. */
template <int bytes, int out> struct raw_word {
    typedef typename element_of<bytes>::type piece;
    static constexpr int words = bytes * out / 4;
    union {
        typename element_of<bytes * out>::type whole;
        uint32_t w[words];
        piece part[out];
    };
    __device__ void join(const piece *e, uint32_t turn) {
        if constexpr (bytes < 4) {
#pragma unroll
            for (int i = 0; i < words; i++)
                w[i] = bytes == 2 ? __byte_perm(e[2 * i], e[2 * i + 1], 0x5410)
                                  : __byte_perm(__byte_perm(e[4 * i], e[4 * i + 1], 0x0040),
                                                __byte_perm(e[4 * i + 2], e[4 * i + 3], 0x0040), 0x5410);
        } else {
#pragma unroll
            for (int i = 0; i < out; i++)
                part[i] = e[i];
        }
        if constexpr (words == 2 && out > 1) {
            const uint32_t low = turn & out / 2 ? w[1] : w[0], high = turn & out / 2 ? w[0] : w[1];
            w[0] = bytes < 4 ? __funnelshift_l(high, low, 8 * bytes * turn) : low;
            w[1] = bytes < 4 ? __funnelshift_l(low, high, 8 * bytes * turn) : high;
        } else if constexpr (out > 1) {
            w[0] = __funnelshift_l(w[0], w[0], 8 * bytes * turn);
        }
    }
};

/*
 * Words of at least 4 bytes, of which a row's first and last are stored in part. A thread has the same word of
 * several rows, those that begin alike one after another, so that its pieces mostly lie in the same places. Words
 * beside each other take their pieces in different orders where these would lie in one bank.
 */
template <int bytes, int out> struct raw_storer {
    typedef typename element_of<bytes>::type piece;
    const raw_row *rows;
    const raw_picks<out> *picks; /* for each number of pieces by which a row begins behind a word's start */
    uint32_t word, row, end;

    static __device__ uint32_t turn(const gp_move_cut &cut, uint32_t w) {
        return out == 1 ? 0 : w >> cut.turn << cut.turn_up & (out - 1);
    }
    /* Sorted by their places in a sector; count[]: of which place there are so many, and then where each ends. */
    static __device__ void put_rows(const gp_move_cut &cut, raw_row *table, uint32_t *count) {
        if (threadIdx.x < RAW_SECTOR)
            count[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll 1
        for (uint32_t r = threadIdx.x; r < cut.store.units; r += GP_MOVE_RAW_THREADS)
            atomicAdd(&count[raw_row_of(cut.store, r).global % RAW_SECTOR], 1);
        __syncthreads();
        uint32_t below = 0;
        for (uint32_t i = 0; i < threadIdx.x % RAW_SECTOR; i++)
            below += count[i];
        __syncthreads();
        if (threadIdx.x < RAW_SECTOR)
            count[threadIdx.x] = below;
        __syncthreads();
#pragma unroll 1
        for (uint32_t r = threadIdx.x; r < cut.store.units; r += GP_MOVE_RAW_THREADS) {
            const raw_row at = raw_row_of(cut.store, r);
            table[atomicAdd(&count[at.global % RAW_SECTOR], 1)] = at;
        }
    }
    __device__ void prepare(const gp_move_cut &cut, uint16_t *pick, raw_row *table) {
        uint32_t *const count = (uint32_t *)(table + cut.store.units);
        put_rows(cut, table, count);
#pragma unroll 1
        for (uint32_t q = threadIdx.x; q < out * out * cut.out_rows.words; q += GP_MOVE_RAW_THREADS) {
            const uint32_t w = q / out % cut.out_rows.words, before = q / out / cut.out_rows.words;
            const uint32_t x = w * out + (q + turn(cut, w)) % out - before;
            pick[q] = (uint16_t)raw_row_of(cut.pick, x < cut.out_rows.length ? x : 0).shared;
        }
        const uint32_t each = cut.lanes, parts = (cut.own_words + each - 1) / each,
                       groups = GP_MOVE_RAW_THREADS / each / parts, part = threadIdx.x / each / groups,
                       group = threadIdx.x / each % groups;
        rows = table;
        picks = (const raw_picks<out> *)pick;
        word = part * each + threadIdx.x % each;
        const bool works = part < parts && word < cut.own_words;
        row = works ? cut.store.units * group / groups : 0;
        end = works ? cut.store.units * (group + 1) / groups : 0;
    }
    /* first, last: tile of those that share rows. Others store whole sectors, of which the next one has the rest. */
    __device__ void store(const gp_move_cut &cut, uint32_t shared, unsigned char *base, bool first, bool last) const {
        uint32_t found = ~0u, x = 0, past = 0, turned = 0, from[out];
        bool none = true, whole = false;
#pragma unroll 1
        for (uint32_t r = row; r < end; r++) {
            const raw_row here = rows[r];
            const uint32_t skew = (0 - (uint32_t)(uintptr_t)base - here.global) % RAW_SECTOR; /* to a sector */
            if (skew != found) {
                found = skew;
                const uint32_t pieces = skew / bytes, before = (0 - pieces) % out,
                               index = word + (first ? 0 : (pieces + out - 1) / out);
                x = index * out - before;
                past = cut.own + (last ? 0 : (pieces - cut.own) % (RAW_SECTOR / bytes));
                none = (int32_t)x >= (int32_t)past;
                whole = (int32_t)x >= 0 && x + out <= past;
                turned = turn(cut, index);
                const raw_picks<out> pick = picks[before * cut.out_rows.words + min(index, cut.out_rows.words - 1)];
#pragma unroll
                for (int j = 0; j < out; j++)
                    from[j] = pick.at[j] + shared;
            }
            if (none)
                continue;
            piece e[out];
#pragma unroll
            for (int j = 0; j < out; j++)
                e[j] = *(const piece *)(rearrange_shared + (here.shared + from[j]));
            raw_word<bytes, out> taken;
            taken.join(e, turned);
            unsigned char *const to = base + (int32_t)(here.global + x * bytes);
            if (whole) {
                *(decltype(taken.whole) *)to = taken.whole;
            } else if constexpr (out > 1) {
#pragma unroll
                for (int j = 0; j < out; j++)
                    if (x + j < past)
                        ((piece *)to)[j] = taken.part[j];
            }
        }
    }
};

/* Elements so long that words of 16 bytes are mostly of one: they lie in shared memory at any address. */
struct run_storer {
    const raw_row *rows;

    __device__ void prepare(const gp_move_cut &cut, uint16_t *, raw_row *table) {
        rows = table;
#pragma unroll 1
        for (uint32_t r = threadIdx.x; r < cut.store.units; r += GP_MOVE_RAW_THREADS)
            table[r] = raw_row_of(cut.store, r);
    }
    static __device__ uint4 word_at(uint32_t at) {
        const uint4 *const from = (const uint4 *)(rearrange_shared + at / 16 * 16);
        const uint4 v = from[0], u = from[1];
        const bool two = at & 8, one = at & 4;
        const uint32_t a = two ? v.z : v.x, b = two ? v.w : v.y, c = two ? u.x : v.z, d = two ? u.y : v.w,
                       e = two ? u.z : u.x, f = two ? u.w : u.y;
        const uint32_t w[5] = {one ? b : a, one ? c : b, one ? d : c, one ? e : d, one ? f : e};
        const uint32_t bits = at % 4 * 8;
        return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                          __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
    }
    __device__ void store(const gp_move_cut &cut, uint32_t shared, unsigned char *base, bool, bool) const {
#pragma unroll 2
        for (uint32_t q = threadIdx.x; q < cut.out_rows.units; q += GP_MOVE_RAW_THREADS) {
            const uint32_t r = __umulhi(q, cut.out_rows.magic);
            const raw_row here = rows[r];
            unsigned char *const row = base + (int32_t)here.global;
            const int32_t x = (int32_t)((q - r * cut.out_rows.words) * 16 - (uint32_t)(uintptr_t)row % 16),
                          length = (int32_t)cut.out_rows.length;
            const uint32_t at = shared + here.shared + x;
            if (x >= 0 && x + 16 <= length) {
                *(uint4 *)(row + x) = word_at(at);
            } else {
#pragma unroll 1
                for (int32_t i = max(x, 0); i < min(x + 16, length); i++)
                    row[i] = rearrange_shared[at - x + i];
            }
        }
    }
};

/* As many blocks as there is room for, each with one tile at a time: while some load, others store. */
template <typename STORER> __device__ inline void move_rows(const gp_move_cut &cut) {
    uint16_t *const pick = (uint16_t *)(rearrange_shared + cut.tile_bytes);
    raw_row *const rows = (raw_row *)(rearrange_shared + cut.tile_bytes + cut.picks);
    STORER storer;
    const uint32_t own = cut.load.units, all = own + cut.tail.units;
#pragma unroll 1
    for (uint32_t r = threadIdx.x; r < all; r += GP_MOVE_RAW_THREADS)
        rows[r] = r < own ? raw_row_of(cut.load, r) : raw_row_of(cut.tail, r - own);
    storer.prepare(cut, pick, rows + all);
    __syncthreads();
    gp_grid_dependency_wait();
    uint32_t turn = 0;
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < cut.tiles; tile += gridDim.x, turn++) {
        const tile_base base = base_of_turn(cut, turn);
        load_raw(cut, rows, base.in, base.last);
        await_copies();
        __syncthreads();
        storer.store(cut, (uint32_t)(uintptr_t)base.in % GP_MOVE_RAW_WORD, base.out, base.first, base.last);
        __syncthreads();
    }
}
