/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_many: outputs by the dozen, each by a team of threads that take its elements in turns. Rows, columns and
 * what lies between are numbers of a cut: how many threads are in a team, whether a warp's threads are neighbours
 * along the output's elements or among the outputs, and how many blocks share an output.
 */
#pragma once

#include "finish.cuh"

/* A thread's part in a block's outputs. */
struct member {
    uint32_t output, lane, slice;
    __device__ explicit member(const gp_many_cut &cut) {
        const uint32_t t = threadIdx.x;
        lane = cut.lanes_first ? t % cut.lanes : t / cut.outputs % cut.lanes;
        output = cut.lanes_first ? t / cut.lanes % cut.outputs : t % cut.outputs;
        slice = t / (cut.lanes * cut.outputs);
    }
};

/* The first waits for all: else the assembler has some loads wait for what is done with others. zero: 0. */
template <class RAW, int N> __device__ __forceinline__ void await_all(RAW (&raw)[N], uint32_t zero) {
    uint32_t bits = 0;
#pragma unroll
    for (int i = 1; i < N; i++)
        bits |= *(const uint32_t *)&raw[i];
#pragma unroll
    for (int w = 0; w < WORDS_OF(RAW); w++)
        ((uint32_t *)&raw[0])[w] |= bits & zero;
}

/* Units e, e + step, .. below `to` of a run, the first at `at`, the others `apart` bytes further each. */
template <class LANE>
__device__ __forceinline__ void take_run(const LANE &form, typename LANE::state &s, const unsigned char *at,
                                         int64_t apart, uint32_t e, uint32_t to, uint32_t step, uint32_t bytes,
                                         uint32_t zero) {
    const int N = LANE::BYTES == 16                      ? 4
                  : LANE::BYTES == 8 || LANE::BYTES == 0 ? 8
                                                         : 16; /* loaded before one is taken */
    typename raw_type<LANE::BYTES>::type raw[N];
#pragma unroll 1
    for (; e + (N - 1) * step < to; e += N * step) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            raw[i] = load_far<LANE::BYTES>(at, bytes);
            at += apart;
        }
        await_all(raw, zero);
#pragma unroll
        for (int i = 0; i < N; i++)
            form.take(s, raw[i], e + i * step);
    }
    if (e >= to)
        return;
#pragma unroll
    for (int i = 0; i < N; i++) {
        raw[i] = e + i * step < to ? load_far<LANE::BYTES>(at, bytes) : form.nothing();
        at += apart;
    }
    await_all(raw, zero);
#pragma unroll
    for (int i = 0; i < N; i++)
        if (LANE::HAS_NOTHING || e + i * step < to)
            form.take(s, raw[i], e + i * step);
}

/*
 * A member's elements. Those along the last reduced axis are cut into chunks; all chunks of all walks along that axis
 * are dealt in turns to the slices of all the output's blocks.
 */
template <class LANE>
__device__ __forceinline__ void gather(const LANE &form, typename LANE::state &s, const gp_pass &pass,
                                       const gp_many_cut &cut, const unsigned char *in, uint32_t lane,
                                       uint32_t worker, uint32_t workers) {
    const int last = pass.kept + pass.reduced - 1;
    const uint32_t n = pass.reduced > 0 ? (uint32_t)pass.axis[last].n / LANE::PACKED : 1, bytes = bytes_of(pass.type);
    const int64_t stride = pass.reduced > 0 ? pass.axis[last].in * LANE::PACKED : 0;
    const int64_t apart = stride * cut.lanes;
#pragma unroll 1
    for (uint32_t part = worker; part < cut.parts; part += workers) {
        const unsigned char *at = in;
        uint32_t walk = cut.parts == cut.chunks ? 0 : part / cut.chunks;
        const uint32_t from = (part - walk * cut.chunks) * cut.chunk, to = min(n, from + cut.chunk), e = from + lane;
        for (int axis = last; walk > 0 && axis-- > pass.kept; walk /= (uint32_t)pass.axis[axis].n)
            at += (int64_t)(walk % (uint32_t)pass.axis[axis].n) * pass.axis[axis].in;
        take_run(form, s, at + e * stride, apart, e, to, cut.lanes, bytes, cut.zero);
    }
}

/* Joins what `count` threads have of each of `outputs`: member k of output o is thread k * outputs + o. In member 0.
   All threads of the block. */
template <class STATE>
__device__ __forceinline__ void join_members(STATE &s, uint32_t k, uint32_t o, uint32_t count, uint32_t outputs) {
    uint32_t *const sent = (uint32_t *)columns; /* words of one place apart, so that threads meet in no bank */
#pragma unroll 1
    while (count > 1) {
        const uint32_t half = (count + 1) / 2, apart = (count - half) * outputs;
        __syncthreads();
        if (k >= half && k < count)
#pragma unroll
            for (int w = 0; w < WORDS_OF(STATE); w++)
                sent[w * apart + (k - half) * outputs + o] = ((const uint32_t *)&s)[w];
        __syncthreads();
        if (k < count - half) {
            STATE other;
#pragma unroll
            for (int w = 0; w < WORDS_OF(STATE); w++)
                ((uint32_t *)&other)[w] = sent[w * apart + k * outputs + o];
            s.join(other);
        }
        count = half;
    }
}

/* Joins what blocks from, from + step, .. below `to` of a tile have sent; thread o has output o's then. */
template <class STATE>
__device__ __forceinline__ void receive_blocks(STATE &s, const uint32_t *sent, uint32_t from, uint32_t to,
                                               uint32_t step, const gp_many_cut &cut) {
    const uint32_t words = sizeof(STATE) / 4, blocks = cut.tiles * cut.splits;
    const uint32_t members = blockDim.x / cut.outputs, k = threadIdx.x / cut.outputs, o = threadIdx.x % cut.outputs;
    const int N = words <= 4 ? 8 : words <= 8 ? 4 : 2; /* are loaded at once */
    s = STATE::none();
#pragma unroll 1
    for (uint32_t b = from + k * step; b < to && k < members; b += N * members * step) {
        STATE other[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            if (b + i * members * step < to)
                for (uint32_t w = 0; w < words; w++)
                    ((uint32_t *)&other[i])[w] =
                        __ldcg(sent + ((size_t)w * blocks + b + i * members * step) * cut.outputs + o);
#pragma unroll
        for (int i = 0; i < N; i++)
            if (b + i * members * step < to)
                s.join(other[i]);
    }
    join_members(s, k, o, min(members, (to - from + step - 1) / step), cut.outputs);
}

/*
 * Joins what the blocks of a tile have: of a group of them first, as one block would take long for all. True in the
 * block that comes last, whose thread o has output o's then.
 */
template <class STATE>
__device__ __forceinline__ bool join_blocks(STATE &s, many_space *space, uint32_t tile, uint32_t split,
                                            const gp_many_cut &cut, bool own, uint32_t output) {
    __shared__ bool last;
    const uint32_t words = sizeof(STATE) / 4, blocks = cut.tiles * cut.splits, first = tile * cut.splits;
    const uint32_t size = (cut.splits + cut.groups - 1) / cut.groups;
    uint32_t *const sent = space->sent + first * cut.outputs, group = split / size, step = 1;
#pragma unroll 1
    for (;;) {
        const uint32_t from = step == 1 ? group * size : 0,
                       to = step == 1 ? min(cut.splits, from + size) : cut.splits;
        if (own)
            for (uint32_t w = 0; w < words; w++)
                sent[((size_t)w * blocks + split) * cut.outputs + output] = ((const uint32_t *)&s)[w];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) { /* 0 again after the last */
            const uint32_t count = (to - from + step - 1) / step;
            last = atomicInc(&space->arrived[tile * (cut.groups + 1) + group], count - 1) == count - 1;
        }
        __syncthreads();
        if (!last)
            return false;
        __threadfence();
        receive_blocks(s, sent, from, to, step, cut);
        if (to - from == cut.splits)
            return true;
        step = size;
        split = from;
        group = cut.groups;
        own = threadIdx.x < cut.outputs;
        output = threadIdx.x;
    }
}

/* The end of a tile that several blocks share. A function, so that nothing of it holds registers in the loop. */
template <class LANE>
static __device__ __noinline__ void finish_shared(const reduce_arguments &a, const gp_many_cut &cut,
                                                  const typename LANE::joined &own_part, uint32_t work, bool own,
                                                  uint32_t output) {
    typename LANE::joined s = own_part;
    const uint32_t tile = work / cut.splits;
    if (!join_blocks(s, a.many, tile, work - tile * cut.splits, cut, own, output))
        return;
    const LANE form(a.pass);
    const uint32_t first = tile * cut.outputs * LANE::OUTPUTS, bytes = quick_bytes_of(a, form);
    const uint32_t count = min(cut.outputs * LANE::OUTPUTS, (uint32_t)a.pass.outputs - first);
    auto part = LANE::part_of(s, 0);
    auto *const parts = (decltype(part) *)columns; /* neighbours go to threads each, as they take long in turns */
    output = threadIdx.x * LANE::OUTPUTS;
    __syncthreads();
    if (output < count) {
        form.begin(begin_of(a.pass, first + output), s);
#pragma unroll
        for (int i = 0; i < LANE::OUTPUTS; i++)
            parts[output + i] = LANE::part_of(s, i);
    }
    __syncthreads();
#pragma unroll 1
    for (output = threadIdx.x; output - threadIdx.x < count; output += blockDim.x) {
        bool left = output < count;
        if (left) {
            part = parts[output];
            left = !(bytes != 0 && write_quick(a.pass, bytes, form, part, first + output)) &&
                   !finish_any<LANE>(a, part, first + output);
        }
        redo<LANE>(a, first + output, left, a.pass.length > REDO_BY_WARP);
    }
}

template <class LANE>
__global__ void __launch_bounds__(GP_REDUCE_MANY_THREADS, 2)
    reduce_many(const __grid_constant__ reduce_arguments a, const __grid_constant__ gp_many_cut cut) {
    typedef typename LANE::joined joined;
    gp_grid_dependency_wait();
    const gp_pass &pass = a.pass;
    const member me(cut);
    const uint32_t outputs = (uint32_t)(pass.outputs / LANE::OUTPUTS);
    LANE form(pass);
    const uint32_t quick_bytes = quick_bytes_of(a, form);
#pragma unroll 1
    for (uint32_t work = blockIdx.x; work < cut.tiles * cut.splits; work += gridDim.x) {
        const uint32_t tile = cut.splits == 1 ? work : work / cut.splits, split = work - tile * cut.splits;
        const uint32_t first = tile * cut.outputs;
        uint32_t output = first + me.output;
        bool mine = me.slice < cut.slices && output < outputs;
        typename LANE::state gathered = LANE::state::none();
        if (mine) {
            const unsigned char *const at = begin_of(pass, output * LANE::OUTPUTS);
            form.begin(at, gathered);
            gather(form, gathered, pass, cut, at, me.lane, split * cut.slices + me.slice, cut.splits * cut.slices);
        }
        joined s = LANE::join_of(gathered);
        uint32_t k = me.lane + me.slice * cut.lanes, count = cut.lanes * cut.slices;
        if (cut.lanes_first) {
            join_team(s, cut.lanes);
            k = me.lane == 0 ? me.slice : UINT32_MAX;
            count = cut.slices;
        }
        join_members(s, k, me.output, count, cut.outputs);
        if (cut.splits > 1) {      /* a block has one part of one tile */
            const joined part = s; /* in memory, so that s need not be */
            finish_shared<LANE>(a, cut, part, work, mine && k == 0, me.output);
            return;
        }
        const uint32_t left = mine && k == 0 ? finish_outputs(a, quick_bytes, form, s, output * LANE::OUTPUTS) : 0;
        redo<LANE>(a, output * LANE::OUTPUTS, left, pass.length > REDO_BY_WARP);
    }
}
