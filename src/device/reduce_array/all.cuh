/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_all: one output of contiguous elements, in one launch. The last block to start collects what the others have
 * sent: it waits only for blocks that run already.
 */
#pragma once

#include "join.cuh"
#include "lane_moments.cuh"
#include "whole.cuh"

#define NOT_DRAWN UINT32_MAX

/*
 * The tile that the block does next, one of those that are drawn, while the one before it is loaded. `first`: in
 * thread 0 the block's first draw, until it is used. The counter is 0 again after the last draw, as each of the
 * `drawn` tiles leads to one.
 */
__device__ __forceinline__ uint32_t draw(const reduce_arguments &a, uint32_t drawn, uint32_t &first, uint32_t &turn) {
    __shared__ uint32_t next[2]; /* in turns: a warp may still read the one before */
    turn ^= 1;
    if (threadIdx.x == 0) {
        next[turn] = first != NOT_DRAWN ? first : gridDim.x + atomicInc(&a.space->drawn, drawn - 1);
        first = NOT_DRAWN;
    }
    __syncthreads();
    return a.dealt + next[turn];
}

/* What a run is cut into. Tile i is batch i + 1; the elements before all whole vectors are batch 0. */
struct tiles {
    uint32_t whole, rest, all; /* behind the whole ones one that is not; then one of what is no whole vector */
    /* vectors: of a tile, a power of two */
    __device__ tiles(const run &r, uint32_t vectors) {
        whole = (uint32_t)(r.vectors >> (31 - __clz(vectors)));
        rest = whole + ((r.vectors & (vectors - 1)) != 0);
        all = rest + ((uint64_t)(r.end - r.in) != r.vectors * 16);
    }
};

/* The thread's part of a tile that is not whole; false: it has none. */
struct cold_batch {
    uint4 v[LOADS], back; /* back: what bits are to take back, having taken it twice or not at all */
    uint32_t id;
};

static __device__ __noinline__ bool load_cold(cold_batch *b, const run &r, const tiles &t, uint32_t tile, int loads,
                                              bool repeats) {
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    const unsigned char *whole = (const unsigned char *)r.first,
                        *at = r.in - (uintptr_t)r.in % 128 + 16 * threadIdx.x;
    vector_edge edge;
    unsigned lacking = 0;
    b->id = tile + 1;
    b->back = zeros;
    if (tile < t.rest) {
        for (int i = 0; i < loads; i++) {
            const uint64_t vector = (uint64_t)tile * (blockDim.x * loads) + i * blockDim.x + threadIdx.x;
            lacking += vector >= r.vectors;
            b->v[i] = repeats || vector < r.vectors ? r.load(min(vector, r.vectors - 1)) : zeros;
        }
        if (lacking % 2)
            b->back = b->v[loads - 1];
        return true;
    }
    if (threadIdx.x > 8 || (threadIdx.x < 8 && at >= whole) ||
        !load_edge(r, threadIdx.x == 8 ? whole + r.vectors * 16 : at, &edge))
        return false;
    b->id = threadIdx.x == 8 ? b->id : 0;
    b->back = edge.zeroed;
    for (int i = 0; i < loads; i++) /* an even number, where bits repeat them */
        b->v[i] = repeats ? edge.repeated : i == 0 ? edge.zeroed : zeros;
    return true;
}

template <int N> __device__ __forceinline__ void load_tile(uint4 (&v)[N], const run &r, uint32_t tile) {
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = r.load((uint64_t)tile * (blockDim.x * N) + i * blockDim.x + threadIdx.x);
}

/*
 * The thread's share of the run. A tile is what a block loads at once. Tiles are dealt to the blocks in turns, the
 * last of many are drawn, as some SMs get less of the memory's bandwidth than others. No tile is loaded before the
 * one before it is taken: what more is under way makes ends uneven. Returns in thread 0 the block's first draw.
 */
template <class ACC>
__device__ __forceinline__ uint32_t take_share(ACC &acc, const run &r, const tiles &t, const reduce_arguments &a) {
    uint32_t tile = blockIdx.x, turn = 0, drawn = 0;
    uint4 v[ACC::VECTORS];
    const uint4 sample = acc.sample_of(r);
    if (tile < t.whole)
        load_tile(v, r, tile);
    /* behind the loads, as the warp may wait for it; it wraps to 0 by itself */
    if (threadIdx.x == 0)
        drawn = atomicInc(&a.space->started, gridDim.x - 1);
    uint32_t first = drawn;
    acc.clear(a.pass, sample);
#pragma unroll 1
    while (tile < t.all) {
        uint4 back = make_uint4(0, 0, 0, 0);
        uint32_t batch = tile + 1, next = tile + gridDim.x;
        bool some = true;
        if (tile >= t.whole) {
            cold_batch cold;
            some = load_cold(&cold, r, t, tile, ACC::VECTORS, ACC::REPEATS);
            batch = cold.id;
            back = cold.back;
#pragma unroll
            for (int i = 0; i < ACC::VECTORS; i++)
                v[i] = cold.v[i];
        } else if (tile != blockIdx.x) {
            load_tile(v, r, tile);
        }
        if (next >= a.dealt)
            next = draw(a, t.all - a.dealt, first, turn);
        if (some)
            acc.take(v, batch);
        if (some && tile >= t.whole)
            acc.take_back(back);
        tile = next;
    }
    return drawn;
}

/* Bytes of a batch, from .. to. */
struct batch_range {
    uint64_t from, to;
    __device__ batch_range(const run &r, uint32_t batch) {
        const uint64_t head = (const unsigned char *)r.first - r.in, tile = (uint64_t)blockDim.x * LOADS * 16;
        const uint64_t all = r.end - r.in, whole = head + r.vectors * 16;
        from = batch == 0 ? 0 : min(head + (batch - 1) * tile, whole);
        to = batch == 0 ? head : from < whole ? min(from + tile, whole) : all;
    }
};

/* Of a batch, or of none, the first element that is wanted: its index is the least of `first`. */
template <int BYTES, class WANTED>
__device__ void find_in_batch(const run &r, uint32_t batch, unsigned long long *first, WANTED wanted) {
    const int LOADED = BYTES == 8 ? 8 : 16;
    if (batch == UINT32_MAX)
        return;
    const batch_range range(r, batch);
    const unsigned char *const at = r.in + range.from;
    const uint32_t n = (uint32_t)(range.to - range.from) / BYTES;
    uint32_t found = UINT32_MAX;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n; i += LOADED * blockDim.x) {
        key_int<BYTES> raw[LOADED];
#pragma unroll
        for (int k = 0; k < LOADED; k++) /* past the end the first once more */
            raw[k] = load_raw(BYTES, at + (i + k * blockDim.x < n ? i + k * blockDim.x : i) * BYTES);
#pragma unroll
        for (int k = 0; k < LOADED; k++)
            if (wanted(raw[k]))
                found = min(found, i + k * blockDim.x < n ? i + k * blockDim.x : i);
    }
    if (found != UINT32_MAX)
        atomicMin(first, (unsigned long long)(range.from / BYTES + found));
}

/* What results are written of; in all threads of the collecting block. */
template <class ACC>
__device__ __forceinline__ typename ACC::total total_of(const ACC &, const typename ACC::partial &p, const gp_pass &,
                                                        const run &) {
    return p;
}

/* A type of its own, so that value_of() leaves nothing open. */
struct integers_of_all : integers_total {
    __device__ explicit integers_of_all(const integers_total &t) : integers_total(t) {}
};

template <int BYTES>
__device__ integers_of_all total_of(const integers<BYTES> &, const integers_total &t, const gp_pass &, const run &) {
    return integers_of_all(t);
}

template <int N> __device__ void limbs_of(const uint64_t (&word)[N], bool has_sign, int64_t *limb) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        limb[2 * i] = (int64_t)(uint32_t)word[i];
        limb[2 * i + 1] = has_sign && i == N - 1 ? (int64_t)word[i] >> 32 : (int64_t)(word[i] >> 32);
    }
}

static __device__ __noinline__ uint64_t whole_exactly(const gp_pass &pass, unsigned op, unsigned type,
                                                      const integers_total &t) {
    int64_t sum[4], square[6], scratch[6 + GP_EXACT_SCRATCH_MORE];
    limbs_of(t.sum, gp_type_is_signed(pass.type), sum);
    limbs_of(t.square, false, square);
    return exact_float<true>(op, type, {sum, square, scratch, {0, 4}, {0, 6}, 0, 0, pass.length});
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const integers_of_all &t,
                                uint64_t *raw) {
    if (value_of(pass, op, type, (const integers_total &)t, raw))
        return true;
    if (gp_type_is_float(type))
        *raw = whole_exactly(pass, op, type, t);
    return gp_type_is_float(type);
}

template <int BYTES>
__device__ extremes_total total_of(const extremes<BYTES> &, const typename extremes<BYTES>::partial &p,
                                   const gp_pass &pass, const run &r) {
    const key_form form(pass.type);
    const uint32_t none = extremes<BYTES>::NONE;
    extremes_total t = {p.least, p.most, INT64_MAX, INT64_MAX, pass.skip_nan || p.at_nan == none ? INT64_MAX : 0};
    if (!(pass.wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX)))
        return t;
    __shared__ unsigned long long first[3];
    if (threadIdx.x < 3)
        first[threadIdx.x] = INT64_MAX;
    __syncthreads();
    if (t.place_nan == 0) {
        find_in_batch<BYTES>(r, p.at_nan, first, [&](uint64_t raw) { return form.is_nan(form.key(raw)); });
    } else {
        const uint32_t least = pass.wants & GP_WANT_ARGMIN ? p.at_least : none;
        const uint32_t most = pass.wants & GP_WANT_ARGMAX ? p.at_most : none;
        if (least != none && most != none) { /* while the other batch is loaded */
            const batch_range later(r, most);
            for (uint64_t at = later.from + 32 * threadIdx.x; at < later.to; at += 32 * blockDim.x)
                gp_prefetch(r.in + at);
        }
        find_in_batch<BYTES>(r, least, first + 1, [&](uint64_t raw) { return form.key(raw) == t.key_min; });
        find_in_batch<BYTES>(r, most, first + 2, [&](uint64_t raw) { return form.key(raw) == t.key_max; });
    }
    __syncthreads();
    t.place_nan = (int64_t)first[0];
    t.place_min = (int64_t)first[1];
    t.place_max = (int64_t)first[2];
    return t;
}

__device__ __forceinline__ bounds plus(const bounds &a, double down, double up) {
    return {__dadd_rd(a.down, down), __dadd_ru(a.up, up)};
}

/*
 * A mean, variance or norm, of exact sums s and q of numbers and of their squares. Of numbers less p, which is near
 * their mean, they are s - n p and q - p (s + (s - n p)), of which no more is lost than two doubles do not hold.
 */
static __device__ __noinline__ bool moment_of_exact(uint64_t count, unsigned op, unsigned type, const proof &s,
                                                    const proof &q, uint64_t *raw) {
    const double n = (double)count, p = op == GP_REDUCE_NORM ? 0 : __ddiv_rn(s.sum, n);
    const double np = __dmul_rn(n, p), np_rest = __fma_rn(n, p, -np);
    const double ps = __dmul_rn(p, s.sum), ps_rest = __fma_rn(p, s.sum, -ps);
    const bounds rest = plus({s.down, s.down}, -s.slack, s.slack);
    const bounds less = plus(plus(rest, -np_rest, -np_rest), s.sum - np, s.sum - np); /* s.sum - np is exact */
    const bounds both = plus(rest, less.down, less.up);
    bounds square = plus({q.down, q.down}, -q.slack, q.slack);
    square = plus(square, -ps_rest, -ps_rest);
    square = plus(square, -__dmul_ru(p, p < 0 ? both.down : both.up), -__dmul_rd(p, p < 0 ? both.up : both.down));
    square = plus(square, __dadd_rd(q.sum, -ps), __dadd_ru(q.sum, -ps));
    return moment_of(count, op, type, {plus(rest, s.sum, s.sum), square, p, 1 / n}, raw);
}

/* A type of its own, so that value_of() tries more than that of floats_total does. */
struct moments_of_all : floats_total {
    __device__ explicit moments_of_all(const floats_total &t) : floats_total(t) {}
};

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const moments_of_all &t,
                                uint64_t *raw) {
    return value_of(pass, op, type, (const floats_total &)t, raw) ||
           (op >= GP_REDUCE_NORM && pass.type != GP_F64 && t.holds() &&
            moment_of_exact(pass.length - t.nans, op, type, t.linear, t.square, raw));
}

/* Whoever reads a line of the arguments first waits for memory: while earlier kernels end it costs nothing. */
__device__ __forceinline__ uint32_t read_arguments(const reduce_arguments &a, const tiles &t) {
    const uintptr_t ends = (uintptr_t)a.pass.to[0] ^ (uintptr_t)a.space ^ (uintptr_t)a.done;
    return t.all ^ a.dealt ^ a.pass.wants ^ a.pass.result[0].op ^ (uint32_t)ends;
}

template <class ACC>
__global__ void __launch_bounds__(GP_REDUCE_ALL_THREADS, ACC::BLOCKS)
    reduce_all(const __grid_constant__ reduce_arguments a) {
    const run r(a.pass.in, a.pass.length, bytes_of(a.pass.type));
    const tiles t(r, blockDim.x * ACC::VECTORS);
    gp_grid_dependency_wait(read_arguments(a, t));
    reduce_space *space = a.space;
    ACC acc;
    const unsigned drawn = take_share(acc, r, t, a);
    typename ACC::partial p = acc.own();
    if (!join_grid(p, ACC::used(a.pass), space->sent, drawn, false, [] {}))
        return;
    const auto total = total_of(acc, p, a.pass, r);
    if (threadIdx.x != 0)
        return;
    write_results(a, total, 0);
    tell_host(a);
}

/* What two doubles do not tell: by the limbs of the levels and of what all blocks left in columns. */
template <bool SQUARES, class ACC>
__device__ __forceinline__ void write_limbs(const ACC &acc, const typename ACC::partial &p,
                                            const reduce_arguments &a) {
    int64_t *const limb = (int64_t *)columns, *const square = limb + GP_EXACT_LIMBS; /* where the columns were */
    for (unsigned l = threadIdx.x; l < 2 * GP_EXACT_LIMBS; l += blockDim.x)
        limb[l] = p.spilled() ? (int64_t)atomicExch((unsigned long long *)a.space->limb + l, 0) : 0;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    acc.add_levels(p, a.form, limb, square);
    const uint32_t flags = p.flags & ((1 << FLAGS_SQUARE) - 1), square_flags = (p.flags & 0x7fffffff) >> FLAGS_SQUARE;
    int64_t *const scratch = square + GP_EXACT_LIMBS;
    write_exactly<SQUARES>(
        a, {limb, square, scratch, a.form[0], a.form[1], flags, square_flags, a.pass.length - p.nans}, p.count, 0);
}

/* Sums of floats. What a block has in columns goes to limbs in the workspace; what levels hold is sent. */
template <int BYTES, bool SQUARES, bool SINGLES>
__global__ void __launch_bounds__(floats<BYTES, SQUARES, SINGLES>::THREADS, floats<BYTES, SQUARES, SINGLES>::BLOCKS)
    reduce_all_floats(const __grid_constant__ reduce_arguments a) {
    typedef floats<BYTES, SQUARES, SINGLES> accumulator;
    const run r(a.pass.in, a.pass.length, BYTES);
    const tiles t(r, blockDim.x * accumulator::VECTORS);
    if (blockIdx.x == 0 && samples(r))
        gp_prefetch(sample_at(r)); /* all blocks wait for these */
    gp_grid_dependency_wait(read_arguments(a, t));
    reduce_space *space = a.space;
    if (a.again && *(volatile uint32_t *)&a.many->failed == 0)
        return;
    accumulator acc;
    const unsigned drawn = take_share(acc, r, t, a);
    typename accumulator::partial p = acc.own();
    const auto drain = [&] {
        acc.drain(space->limb);
        __threadfence();
        __syncthreads();
    };
    if (!join_grid(p, accumulator::used(a.pass), space->sent, drawn, p.spilled(), drain))
        return;
    if (a.again && threadIdx.x == 0) /* all others have seen it, as they have sent */
        a.many->failed = 0;
    __shared__ bool written;
    if (threadIdx.x == 0) /* limbs are to be cleared even if only a count was wanted */
        written = write_results(a, moments_of_all(acc.total_of(p)), 0) && !p.spilled();
    __syncthreads();
    if (!written)
        write_limbs<SQUARES>(acc, p, a);
    else if (threadIdx.x == 0)
        tell_host(a);
}
