/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_all: one output of contiguous elements, in one launch. The last block to start collects what the others have
 * sent: it waits only for blocks that run already.
 */
#ifndef GP_ALL_CUH
#define GP_ALL_CUH

#include "write.cuh"

template <class T> __device__ __forceinline__ T from_lane(const T &value, int lane) {
    T other;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        ((uint32_t *)&other)[i] = __shfl_xor_sync(GP_FULL_WARP, ((const uint32_t *)&value)[i], lane);
    return other;
}

template <class T> __device__ void join_warp(T &value) {
#pragma unroll 1
    for (int lane = 16; lane > 0; lane /= 2)
        value.join(from_lane(value, lane));
}

/* The block's total, in all threads. */
template <class T> __device__ T join_block(T value, T *of_warp) {
    const unsigned warps = blockDim.x / 32;
    join_warp(value);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % 32 % warps];
    if (warps > 1) { /* a power of two */
#pragma unroll 1
        for (unsigned lane = warps / 2; lane > 0; lane /= 2)
            value.join(from_lane(value, (int)lane));
    }
    __syncthreads();
    return value;
}

template <class T> __device__ void send(uint64_t *sent, const T &value) {
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(sent + (size_t)i * gridDim.x),
                     "l"((uint64_t)1 << 32 | ((const uint32_t *)&value)[i])
                     : "memory");
}

template <class T> __device__ T receive(uint64_t *sent) {
    T value;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++) {
        uint64_t word;
        do
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word)
                         : "l"(sent + (size_t)i * gridDim.x)
                         : "memory");
        while (word == 0);
        ((uint32_t *)&value)[i] = (uint32_t)word;
    }
    return value;
}

template <class T> __device__ void forget(uint64_t *sent) {
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        sent[(size_t)i * gridDim.x] = 0;
}

/* The thread's share of the run: every gridDim.x-th tile of LOADS vectors a thread. */
template <class ACC> __device__ __forceinline__ void take_share(ACC &acc, const run &r) {
    const uint32_t step = blockDim.x * LOADS;
    const uint64_t tiles = (r.vectors() + step - 1) / step;
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t first = tile * step + threadIdx.x;
        if (!r.holds(tile * step, step)) {
            for (int i = 0; i < LOADS; i++) {
                vector_edge edge;
                const uint64_t vector = first + i * blockDim.x;
                const bool whole = r.holds(vector, 1);
                if (whole)
                    edge.repeated = edge.zeroed = r.load(vector);
                if (whole || load_edge(r, vector, &edge))
                    acc.take_edge(edge, (uint32_t)tile);
            }
            continue;
        }
        uint4 v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            v[i] = r.load(first + i * blockDim.x);
        acc.take(v, (uint32_t)tile);
    }
}

/* Index of the first element of the thread's part of a tile that `wanted` holds for. */
template <class WANTED> __device__ int64_t find_in_tile(const run &r, uint32_t tile, WANTED wanted) {
    for (int i = 0; i < LOADS; i++) {
        const uint64_t at = ((uint64_t)tile * blockDim.x * LOADS + threadIdx.x + i * blockDim.x) * 16;
        for (uint64_t byte = at < r.begin ? r.begin : at; byte < at + 16 && byte < r.end; byte += r.bytes)
            if (wanted(load_raw(r.bytes, r.line + byte)))
                return (int64_t)((byte - r.begin) / r.bytes);
    }
    return INT64_MAX;
}

__device__ inline bits_total total_of(const bits &acc, const gp_pass &, const run &) {
    return acc.t;
}

template <int BYTES> __device__ integers_total total_of(const integers<BYTES> &acc, const gp_pass &, const run &) {
    return acc.t;
}

/* Only threads that have the block's extreme look for its place. */
template <int BYTES>
__device__ extremes_total total_of(const extremes<BYTES> &acc, const gp_pass &pass, const run &r) {
    __shared__ extremes_total of_warp[32];
    const key_form form(pass.type);
    const uint32_t none = extremes<BYTES>::NONE;
    extremes_total t = {acc.least, acc.most, INT64_MAX, INT64_MAX,
                        acc.skip_nan || acc.at_nan == none ? INT64_MAX : 0};
    if (acc.at_least == none)
        t.key_min = INT64_MAX;
    if (acc.at_most == none)
        t.key_max = INT64_MIN;
    if (!(pass.wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX)))
        return t;
    const extremes_total all = join_block(t, of_warp);
    if (acc.at_least != none && t.key_min == all.key_min)
        t.place_min = find_in_tile(r, acc.at_least, [&](uint64_t raw) { return form.key(raw) == all.key_min; });
    if (acc.at_most != none && t.key_max == all.key_max)
        t.place_max = find_in_tile(r, acc.at_most, [&](uint64_t raw) { return form.key(raw) == all.key_max; });
    if (t.place_nan == 0)
        t.place_nan = find_in_tile(r, acc.at_nan, [&](uint64_t raw) { return form.is_nan(form.key(raw)); });
    return t;
}

/* By the last block's thread 0. */
template <class T> __device__ void finish(const reduce_arguments &a, const T &t) {
    if (!write_results(a.pass, t, 0)) {
        leave(&a.space->whole, a.pass, t);
        a.space->pending = 1;
    } else {
        tell_host(a);
    }
}

template <class ACC>
__global__ void __launch_bounds__(GP_REDUCE_ALL_THREADS, 2) reduce_all(const __grid_constant__ reduce_arguments a) {
    typedef typename ACC::total total;
    gp_grid_dependency_wait();
    __shared__ total of_warp[32];
    __shared__ unsigned ticket;
    reduce_space *space = a.space;
    unsigned drawn = 0;
    if (threadIdx.x == 0)
        drawn = atomicInc(&space->started, gridDim.x - 1); /* wraps to 0 by itself */
    const run r(a.pass.in, a.pass.length, bytes_of(a.pass.type));
    ACC acc;
    acc.clear(a.pass);
    take_share(acc, r);
    if (threadIdx.x == 0)
        ticket = drawn; /* not before: waiting for the draw would hold back the warp's loads */
    total t = join_block(total_of(acc, a.pass, r), of_warp);
    if (ticket != gridDim.x - 1) {
        if (threadIdx.x == 0)
            send(space->sent + blockIdx.x, t);
        return;
    }
    total others = threadIdx.x == 0 ? t : total::none();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        if (b == blockIdx.x)
            continue;
        others.join(receive<total>(space->sent + b));
        forget<total>(space->sent + b);
    }
    others = join_block(others, of_warp);
    if (threadIdx.x == 0)
        finish(a, others);
}

/* Sums of floats: what is not proven on the way goes to limbs in the workspace, at the end of a block or here. */
template <int BYTES, bool SQUARES>
__global__ void __launch_bounds__(BYTES == 8 ? GP_REDUCE_ALL_F64_THREADS : GP_REDUCE_ALL_THREADS, BYTES == 8 ? 4 : 2)
    reduce_all_floats(const __grid_constant__ reduce_arguments a) {
    typedef floats<BYTES, SQUARES> accumulator;
    typedef floats_total total;
    gp_grid_dependency_wait();
    extern __shared__ double columns[];
    __shared__ total of_warp[32];
    __shared__ unsigned ticket;
    __shared__ uint32_t all_flags;
    reduce_space *space = a.space;
    unsigned drawn = 0;
    if (threadIdx.x == 0) {
        drawn = atomicInc(&space->started, gridDim.x - 1);
        all_flags = 0;
    }
    const run r(a.pass.in, a.pass.length, BYTES);
    accumulator acc;
    acc.clear(a.pass, columns);
    take_share(acc, r);
    if (threadIdx.x == 0)
        ticket = drawn;
    total t = join_block(acc.own(), of_warp);
    if (!t.holds()) {
        const uint32_t flags = acc.spill(columns, space->limb);
        if (flags != 0)
            atomicOr(&all_flags, flags);
        __threadfence();
        __syncthreads();
        t.linear = t.square = {0, 0, 0};
        t.flags = all_flags;
        t.spilled = 1;
    }
    if (ticket != gridDim.x - 1) {
        if (threadIdx.x == 0)
            send(space->sent + blockIdx.x, t);
        return;
    }
    total others = threadIdx.x == 0 ? t : total::none();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        if (b != blockIdx.x)
            others.join(receive<total>(space->sent + b));
    const total every = join_block(others, of_warp);
    if (threadIdx.x == 0)
        ticket = every.holds() && write_results(a.pass, every, 0);
    __syncthreads();
    const bool written = ticket, sums = !(a.pass.wants & GP_WANT_ABS);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        if (!written) {
            const total one = b == blockIdx.x ? t : receive<total>(space->sent + b);
            add_double(space->limb, a.form[0], one.linear.sum);
            add_double(space->limb, a.form[0], one.linear.down);
            if (SQUARES) {
                add_double(space->limb + GP_EXACT_LIMBS, a.form[1], one.square.sum);
                add_double(space->limb + GP_EXACT_LIMBS, a.form[1], one.square.down);
            }
        }
        if (b != blockIdx.x)
            forget<total>(space->sent + b);
    }
    if (!written) {
        __threadfence();
        __syncthreads();
        for (unsigned l = threadIdx.x; l < 2 * GP_EXACT_LIMBS; l += blockDim.x) {
            int64_t *to = l >= GP_EXACT_LIMBS ? &space->whole.limb[GP_SQUARES][l - GP_EXACT_LIMBS]
                                              : &space->whole.limb[sums ? GP_SUM : GP_ABS][l];
            *to = (int64_t)atomicExch((unsigned long long *)space->limb + l, 0);
        }
        if (threadIdx.x == 0) {
            write_results(a.pass, every, 0);
            leave(&space->whole, a.pass, every);
            space->pending = 1;
        }
    } else if (threadIdx.x == 0) {
        tell_host(a);
    }
}

#endif
