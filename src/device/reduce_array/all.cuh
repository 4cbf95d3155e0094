/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_all: one output of contiguous elements, in one launch. The last block to start collects what the others have
 * sent: it waits only for blocks that run already.
 */
#ifndef GP_ALL_CUH
#define GP_ALL_CUH

#include "join.cuh"

/*
 * The tile that the block does next, one of those that are drawn; `ahead` is the draw that thread 0 has made before.
 * The counter is 0 again after the last draw, as each of the `drawn` tiles leads to one.
 */
__device__ __forceinline__ uint32_t draw(const reduce_arguments &a, uint32_t drawn, uint32_t &ahead, uint32_t &turn) {
    __shared__ uint32_t next[2]; /* in turns: a warp may still read the one before */
    turn ^= 1;
    if (threadIdx.x == 0) {
        next[turn] = ahead;
        if (ahead < drawn)
            ahead = gridDim.x + atomicInc(&a.space->drawn, drawn - 1);
    }
    __syncthreads();
    return a.dealt + next[turn];
}

/* What a run is cut into. Tile i is batch i + 1; the elements before all whole vectors are batch 0. */
struct tiles {
    uint32_t whole, rest, all; /* behind the whole ones one that is not; then one of what is no whole vector */
    __device__ tiles(const run &r, uint32_t vectors) {
        whole = (uint32_t)(r.vectors / vectors);
        rest = whole + (r.vectors % vectors != 0);
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
 * last of many are drawn, as some SMs get less of the memory's bandwidth than others. AHEAD: the next is loaded
 * before one is taken. `ahead`: in thread 0 the block's first draw.
 */
template <class ACC, bool AHEAD>
__device__ __forceinline__ void take_share(ACC &acc, const run &r, const reduce_arguments &a, uint32_t ahead) {
    const tiles t(r, blockDim.x * ACC::VECTORS);
    uint32_t tile = blockIdx.x, turn = 0;
    uint4 v[ACC::VECTORS];
    const uint4 sample =
        AHEAD ? sample_of(r) : make_uint4(0, 0, 0, 0); /* not behind what fills the memory's queues */
    if (AHEAD && tile < t.whole)
        load_tile(v, r, tile);
    acc.clear(a.pass, sample);
#pragma unroll 1
    while (tile < t.all) {
        uint4 w[ACC::VECTORS], back = make_uint4(0, 0, 0, 0);
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
        } else if (!AHEAD) {
            load_tile(v, r, tile);
        }
        if (next >= a.dealt)
            next = draw(a, t.all - a.dealt, ahead, turn);
        if (AHEAD && next < t.whole)
            load_tile(w, r, next);
        if (some)
            acc.take(v, batch);
        if (some && tile >= t.whole)
            acc.take_back(back);
        if (AHEAD)
#pragma unroll
            for (int i = 0; i < ACC::VECTORS; i++)
                v[i] = w[i];
        tile = next;
    }
}

/* Elements of a batch, from .. to. */
struct batch_range {
    uint64_t from, to;
    __device__ batch_range(const run &r, uint32_t batch) {
        const uint64_t head = (const unsigned char *)r.first - r.in, tile = (uint64_t)blockDim.x * LOADS * 16;
        const uint64_t all = r.end - r.in, whole = head + r.vectors * 16;
        from = batch == 0 ? 0 : min(head + (batch - 1) * tile, whole);
        to = batch == 0 ? head : from < whole ? min(from + tile, whole) : all;
        from /= r.bytes;
        to /= r.bytes;
    }
};

/* Of a batch the first element that is wanted: its index, or INT64_MAX. In all threads. */
template <int BYTES, class WANTED> __device__ int64_t find_in_batch(const run &r, uint32_t batch, WANTED wanted) {
    __shared__ unsigned long long first;
    __syncthreads();
    if (threadIdx.x == 0)
        first = INT64_MAX;
    __syncthreads();
    const batch_range range(r, batch);
    const unsigned char *const at = r.in + range.from * BYTES;
    const uint32_t n = (uint32_t)(range.to - range.from);
    uint32_t found = UINT32_MAX;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n; i += 8 * blockDim.x) {
        uint64_t raw[8];
#pragma unroll
        for (int k = 0; k < 8; k++) /* past the end the first once more */
            raw[k] = load_raw(BYTES, at + (i + k * blockDim.x < n ? i + k * blockDim.x : i) * BYTES);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (wanted(raw[k]))
                found = min(found, i + k * blockDim.x < n ? i + k * blockDim.x : i);
    }
    if (found != UINT32_MAX)
        atomicMin(&first, (unsigned long long)(range.from + found));
    __syncthreads();
    return (int64_t)first;
}

/* What results are written of; in all threads of the collecting block. */
template <class ACC>
__device__ __forceinline__ typename ACC::total total_of(const ACC &, const typename ACC::partial &p, const gp_pass &,
                                                        const run &) {
    return p;
}

template <int BYTES>
__device__ extremes_total total_of(const extremes<BYTES> &, const typename extremes<BYTES>::partial &p,
                                   const gp_pass &pass, const run &r) {
    const key_form form(pass.type);
    const uint32_t none = extremes<BYTES>::NONE;
    extremes_total t = {p.least, p.most, INT64_MAX, INT64_MAX, pass.skip_nan || p.at_nan == none ? INT64_MAX : 0};
    if (!(pass.wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX)))
        return t;
    if (t.place_nan == 0) {
        t.place_nan = find_in_batch<BYTES>(r, p.at_nan, [&](uint64_t raw) { return form.is_nan(form.key(raw)); });
        return t;
    }
    if (p.at_least != none && (pass.wants & GP_WANT_ARGMIN))
        t.place_min = find_in_batch<BYTES>(r, p.at_least, [&](uint64_t raw) { return form.key(raw) == t.key_min; });
    if (p.at_most != none && (pass.wants & GP_WANT_ARGMAX))
        t.place_max = find_in_batch<BYTES>(r, p.at_most, [&](uint64_t raw) { return form.key(raw) == t.key_max; });
    return t;
}

/* Sums are rounded here; false: there are others. */
static __device__ __noinline__ bool write_sums(const reduce_arguments &a, gp_accumulator *whole) {
    bool all = true;
    for (unsigned r = 0; r < a.pass.results; r++) {
        const unsigned op = a.pass.result[r].op, type = a.pass.result[r].type;
        const unsigned sum = op == GP_REDUCE_SUM ? GP_SUM : op == GP_REDUCE_SUM_ABS ? GP_ABS : GP_SQUARES;
        if ((op == GP_REDUCE_SUM || op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_SQUARES) && is_float(type))
            store_raw(gp_pass_address(&a.pass, r, 0), bytes_of(type),
                      gp_exact_round(whole->limb[sum], a.form[sum == GP_SQUARES], whole->flags[sum], (gp_type)type));
        else
            all &= op == GP_REDUCE_COUNT;
    }
    return all;
}

/* By one thread. What a call left whose second launch failed is not taken for this call's. */
__device__ __forceinline__ void finish(const reduce_arguments &a, bool written) {
    if (a.rest)
        a.space->pending = !written;
    if (written || !a.rest)
        tell_host(a);
}

template <class ACC>
__global__ void __launch_bounds__(GP_REDUCE_ALL_THREADS, ACC::BLOCKS)
    reduce_all(const __grid_constant__ reduce_arguments a) {
    typedef typename ACC::partial partial;
    gp_grid_dependency_wait();
    __shared__ unsigned ticket;
    reduce_space *space = a.space;
    unsigned drawn = 0;
    if (threadIdx.x == 0)
        drawn = atomicInc(&space->started, gridDim.x - 1); /* wraps to 0 by itself */
    const run r(a.pass.in, a.pass.length, bytes_of(a.pass.type));
    ACC acc;
    take_share<ACC, false>(acc, r, a, drawn);
    if (threadIdx.x == 0)
        ticket = drawn; /* not before: waiting for the draw would hold back the warp's loads */
    const uint32_t used = ACC::used(a.pass);
    const partial p = join_block(acc.own(), used);
    if (ticket != gridDim.x - 1) {
        if (threadIdx.x == 0)
            send(space->sent + blockIdx.x, p, used);
        return;
    }
    const typename ACC::total t = total_of(acc, collect(space->sent, p, used), a.pass, r);
    if (threadIdx.x != 0)
        return;
    bool written = write_results(a.pass, t, 0);
    if (!written) {
        leave(&space->whole, a.pass, t);
        written = write_sums(a, &space->whole);
    }
    finish(a, written);
}

/* What two doubles do not tell: by the limbs of all that blocks had in columns, and of the levels. */
template <class ACC>
__device__ __forceinline__ void write_limbs(const ACC &acc, const typename ACC::partial &p,
                                            const reduce_arguments &a) {
    __shared__ bool written;
    gp_accumulator *whole = (gp_accumulator *)columns;
    const unsigned sum = a.pass.wants & GP_WANT_ABS ? GP_ABS : GP_SUM;
    const bool spilled = p.flags >> 31;
    for (unsigned word = threadIdx.x; word < sizeof *whole / 4; word += blockDim.x)
        ((uint32_t *)whole)[word] = 0; /* where the columns were */
    __syncthreads();
    for (unsigned l = threadIdx.x; l < 2 * GP_EXACT_LIMBS; l += blockDim.x) {
        int64_t *to = l >= GP_EXACT_LIMBS ? &whole->limb[GP_SQUARES][l - GP_EXACT_LIMBS] : &whole->limb[sum][l];
        *to = spilled ? (int64_t)atomicExch((unsigned long long *)a.space->limb + l, 0) : 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        acc.add_levels(p, a.form, whole->limb[sum], whole->limb[GP_SQUARES]);
        leave(whole, a.pass, acc.total_of(p));
        written = write_sums(a, whole);
    }
    __syncthreads();
    for (unsigned word = threadIdx.x; !written && word < sizeof *whole / 4; word += blockDim.x)
        ((uint32_t *)&a.space->whole)[word] = ((const uint32_t *)whole)[word];
    if (threadIdx.x == 0)
        finish(a, written);
}

/* Sums of floats. What a block has in columns goes to limbs in the workspace; what levels hold is sent. */
template <int BYTES, bool SQUARES>
__global__ void __launch_bounds__(floats<BYTES, SQUARES>::THREADS, floats<BYTES, SQUARES>::BLOCKS)
    reduce_all_floats(const __grid_constant__ reduce_arguments a) {
    typedef floats<BYTES, SQUARES> accumulator;
    typedef typename accumulator::partial partial;
    gp_grid_dependency_wait();
    __shared__ unsigned ticket;
    __shared__ uint32_t more_flags;
    reduce_space *space = a.space;
    if (a.again && *(volatile uint32_t *)&a.many->failed == 0)
        return;
    unsigned drawn = 0;
    if (threadIdx.x == 0) {
        drawn = atomicInc(&space->started, gridDim.x - 1);
        more_flags = 0;
    }
    const run r(a.pass.in, a.pass.length, BYTES);
    accumulator acc;
    take_share<accumulator, true>(acc, r, a, drawn);
    if (threadIdx.x == 0)
        ticket = drawn;
    const uint32_t used = accumulator::used(a.pass);
    partial p = join_block(acc.own(), used);
    if (p.flags >> 31) {
        const uint32_t flags = acc.drain(space->limb);
        if (flags != 0)
            atomicOr(&more_flags, flags);
        __threadfence();
        __syncthreads();
        p.flags |= more_flags;
    }
    if (ticket != gridDim.x - 1) {
        if (threadIdx.x == 0)
            send(space->sent + blockIdx.x, p, used);
        return;
    }
    p = collect(space->sent, p, used);
    if (a.again && threadIdx.x == 0) /* all others have seen it, as they have sent */
        a.many->failed = 0;
    __shared__ bool written;
    if (threadIdx.x == 0) /* limbs are to be cleared even if only a count was wanted */
        written = write_results(a.pass, acc.total_of(p), 0) && p.flags >> 31 == 0;
    __syncthreads();
    if (!written)
        write_limbs(acc, p, a);
    else if (threadIdx.x == 0)
        finish(a, true);
}

#endif
