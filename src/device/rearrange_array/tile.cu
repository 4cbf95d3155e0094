/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rearrange_tile: any move, a box of indices at a time, by way of shared memory; or straight, where elements are
 * long. A thread finds out where its pieces lie. A block has one tile where a thread has much of it; others walk from
 * tile to tile, and while one is stored the next is being loaded, but for raw rows: of these a block has one tile at
 * a time, and an SM several blocks.
 */
#include "../../host/rearrange_array/tiling.h"
#include "../gpu.h"
#include "pairs.h"
#include "raw.cuh"

#include <type_traits>

/* What holds a word in a register. */
template <typename word> struct kept_as { typedef word type; };
template <> struct kept_as<uint8_t> { typedef uint32_t type; };
template <> struct kept_as<uint16_t> { typedef uint32_t type; };

/* A word from global to shared memory: under way until await_copies(), or in a register until put(). */
template <typename word> struct carrier {
    static constexpr bool async = sizeof(word) >= 4;
    typename kept_as<word>::type kept;
    __device__ void load(unsigned char *shared, const word *from) {
        const uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
#if __CUDA_ARCH__ >= 800
        if constexpr (sizeof(word) == 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        else if constexpr (sizeof(word) == 8)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
        else if constexpr (async)
            asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
        else
#endif
            kept = __ldg(from);
    }
    __device__ void put(unsigned char *shared) const {
#if __CUDA_ARCH__ >= 800
        if constexpr (!async)
#endif
            *(word *)shared = static_cast<word>(kept);
    }
};

/* What a thread loads of each tile. */
template <int bytes, int in, int loads> struct loader {
    typedef typename element_of<bytes * in>::type word;
    uint32_t from[loads]; /* offsets are not negative: signs would take a register each */
    place_pairs<loads> to;
    carrier<word> carried[loads];

    static __device__ bool is_mine(const gp_move_cut &cut, int i) {
        return unit_of(i) * in < cut.load.units;
    }
    __device__ void prepare(const gp_move_cut &cut) {
        for_places<loads>(
            cut.load, [](int i) { return unit_of(i) * in; },
            [&](int i, place at) {
                from[i] = is_mine(cut, i) ? (uint32_t)at.global : 0; /* what goes to a register is loaded always */
                to.put(i, at.shared);
            });
    }
    __device__ void load(const gp_move_cut &cut, const unsigned char *base, unsigned char *buffer) {
        to.keep_together();
#pragma unroll
        for (int i = 0; i < loads; i++)
            if (!carrier<word>::async || is_mine(cut, i))
                carried[i].load(buffer + to[i] * bytes, (const word *)(base + from[i]));
    }
    __device__ void put(const gp_move_cut &cut, unsigned char *buffer) const {
#pragma unroll
        for (int i = 0; i < loads; i++)
            if (is_mine(cut, i))
                carried[i].put(buffer + to[i] * bytes);
    }
};

/* What a thread stores of each tile: words of `out` pieces. */
template <int bytes, int out, int stores> struct gatherer {
    typedef typename element_of<bytes>::type piece;
    typedef typename element_of<bytes * out>::type word;
    uint32_t to[stores];
    place_pairs<stores * out> from;

    __device__ void prepare(const gp_move_cut &cut) {
        for_places<stores * out>(
            cut.store, [](int i) { return unit_of(i / out) * out + i % out; },
            [&](int i, place at) {
                if (i % out == 0)
                    to[i / out] = (uint32_t)at.global;
                from.put(i, at.shared);
            });
    }
    __device__ void store(const gp_move_cut &cut, const unsigned char *shared, unsigned char *base) {
        from.keep_together();
#pragma unroll
        for (int i = 0; i < stores; i++) {
            if (unit_of(i) * out >= cut.store.units)
                continue;
            union {
                piece part[out];
                word whole;
            } w;
#pragma unroll
            for (int j = 0; j < out; j++)
                w.part[j] = ((const piece *)shared)[from[i * out + j]];
            if constexpr (sizeof(word) >= 8)
                __stcs((word *)(base + to[i]), w.whole); /* smaller words are slower so */
            else
                *(word *)(base + to[i]) = w.whole;
        }
    }
};

template <int bytes> __device__ inline void turn(uint32_t *w, std::integral_constant<int, bytes>) {
    transpose_words<bytes>(w);
}

__device__ inline void turn(uint4 *w, std::integral_constant<int, 4>) {
    uint32_t *v = &w[0].x;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < i; j++) {
            const uint32_t kept = v[4 * i + j];
            v[4 * i + j] = v[4 * j + i];
            v[4 * j + i] = kept;
        }
}

/* Squares of pieces of `bytes`. */
template <int bytes, int squares> struct square_turner {
    static constexpr int side = bytes == 2 ? 2 : 4;
    typedef typename element_of<bytes * side>::type word;
    uint32_t to[squares];
    place_pairs<squares> from;

    __device__ void prepare(const gp_move_cut &cut) {
        for_places<squares>(cut.store, unit_of, [&](int i, place at) {
            to[i] = (uint32_t)at.global;
            from.put(i, at.shared);
        });
    }
    __device__ void store(const gp_move_cut &cut, const unsigned char *shared, unsigned char *base) {
        from.keep_together();
#pragma unroll
        for (int i = 0; i < squares; i++) {
            if (unit_of(i) >= cut.store.units)
                continue;
            word w[side];
#pragma unroll
            for (int j = 0; j < side; j++)
                w[j] = *(const word *)(shared + ((int32_t)from[i] * bytes + j * cut.shared_row));
            turn(w, std::integral_constant<int, bytes>());
            unsigned char *at = base + to[i];
#pragma unroll
            for (int j = 0; j < side; j++, at += cut.out_row)
                *(word *)at = w[j];
        }
    }
};

/* Words of three channels: each from three words, which lie in shared memory as the input has them. */
template <int bytes, int words> struct triple_turner {
    uint32_t to[words];
    place_pairs<words> from;
    uint32_t bytes_of[words]; /* which bytes of the first two words, and from bit 16 on of these and the third */

    __device__ void prepare(const gp_move_cut &cut) {
        for_places<words>(cut.store, unit_of, [&](int i, place at) {
            const uint32_t which = unit_of(i) / cut.words % 3;
            to[i] = (uint32_t)at.global;
            from.put(i, at.shared);
            bytes_of[i] = cut.first[which] | (uint32_t)cut.third[which] << 16;
        });
    }
    __device__ void store(const gp_move_cut &cut, const unsigned char *shared, unsigned char *base) {
        from.keep_together();
#pragma unroll
        for (int i = 0; i < words; i++) {
            if (unit_of(i) >= cut.store.units)
                continue;
            uint32_t w[3];
#pragma unroll
            for (int j = 0; j < 3; j++)
                w[j] = *(const uint32_t *)(shared + (from[i] * bytes + j * cut.shared_row));
            *(uint32_t *)(base + to[i]) = __byte_perm(__byte_perm(w[0], w[1], bytes_of[i]), w[2], bytes_of[i] >> 16);
        }
    }
};

/* Two tiles have room in shared memory: while one is stored the next is being loaded. by_warp: see base_of_turn(). */
template <typename LOADER, typename STORER, bool by_warp = false>
__device__ inline void move_tiles(const gp_move_cut &cut) {
    LOADER loader;
    STORER storer;
    loader.prepare(cut);
    storer.prepare(cut);
    gp_grid_dependency_wait();
    uint32_t tile = blockIdx.x, buffer = 0, turn = 0;
    tile_base base = by_warp ? base_of_turn(cut, turn) : base_of(cut, tile);
    loader.load(cut, base.in, rearrange_shared);
    loader.put(cut, rearrange_shared);
#pragma unroll 1
    for (;;) {
        await_copies();
        __syncthreads();
        unsigned char *const output = base.out;
        tile += gridDim.x;
        const bool more = tile < cut.tiles;
        const uint32_t next = cut.tile_bytes - buffer;
        if (more) {
            base = by_warp ? base_of_turn(cut, ++turn) : base_of(cut, tile);
            loader.load(cut, base.in, rearrange_shared + next);
        }
        storer.store(cut, rearrange_shared + buffer, output);
        if (!more)
            return;
        loader.put(cut, rearrange_shared + next);
        buffer = next;
    }
}

/* Long elements: both sides of a tile are walked together. */
template <int bytes> __device__ inline void move_straight(const gp_move_cut &cut) {
    typedef typename element_of<bytes>::type piece;
    constexpr int pieces = GP_MOVE_DIRECT_PIECES;
    place at[pieces];
    for_places<pieces>(cut.store, unit_of, [&](int i, place found) { at[i] = found; });
    gp_grid_dependency_wait();
    for (uint32_t tile = blockIdx.x; tile < cut.tiles; tile += gridDim.x) {
        const tile_base base = base_of(cut, tile);
        piece word[pieces];
#pragma unroll
        for (int i = 0; i < pieces; i++)
            if (unit_of(i) < cut.store.units)
                word[i] = __ldg((const piece *)(base.in + (uint32_t)at[i].shared));
#pragma unroll
        for (int i = 0; i < pieces; i++)
            if (unit_of(i) < cut.store.units)
                *(piece *)(base.out + (uint32_t)at[i].global) = word[i];
    }
}

/* Pieces of `bytes`, loaded in words of `in` and stored in words of `out` of them. */
template <gp_move_way way, int bytes, int in, int out, int blocks>
__global__ void __launch_bounds__(GP_MOVE_BLOCK(way), BLOCKS_OF(GP_MOVE_BLOCK(way), (unsigned)blocks))
    rearrange_tile(const __grid_constant__ gp_move_cut cut) {
    if constexpr (way == GP_MOVE_RUNS) {
        move_rows<run_storer>(cut);
        return;
    } else if constexpr (way == GP_MOVE_RAW) {
        move_rows<raw_storer<bytes, out>>(cut);
        return;
    }
    constexpr int pieces = way == GP_MOVE_GATHER ? GP_MOVE_GATHERED(bytes, in, out) : GP_MOVE_SQUARED(bytes, in);
    constexpr int words = pieces / out;
    typedef loader<bytes, in, pieces / in> load;
    if constexpr (way == GP_MOVE_GATHER)
        move_tiles<load, gatherer<bytes, out, words>>(cut);
    else if constexpr (way == GP_MOVE_SQUARES)
        move_tiles<load, square_turner<bytes, words / out>>(cut);
    else if constexpr (way == GP_MOVE_TRIPLES)
        move_tiles<load, triple_turner<bytes, words>, true>(cut);
    else
        move_straight<bytes>(cut);
}

#define FORM(way, piece, in, out, blocks) rearrange_tile<GP_MOVE_##way, piece, in, out, blocks>,
static void (*const kernels[])(gp_move_cut) = {GP_MOVE_FORMS(FORM)};

GP_DECLARE_LAUNCHER(gp_launch_rearrange_tile) {
    if (problem->move->in_place)
        return gp_rearrange_pairs(context, plan, problem);
    const gp_move_form form = gp_move_form_at(plan->tiling.form);
    gp_move_tile tile;
    gp_move_cut cut;
    memcpy(&tile, plan->tiling.t, sizeof tile);
    gp_move_cut_make(problem->move, &form, &tile, &cut);
    void *list[] = {&cut};
    return gp_gpu_launch(context, plan, (const void *)kernels[plan->tiling.form], list);
}
