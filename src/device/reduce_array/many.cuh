/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_many: outputs by the dozen, each by a team of threads that take its elements in turns. Rows, columns and
 * what lies between are numbers of a cut: how many threads are in a team, whether a warp's threads are neighbours
 * along the output's elements or among the outputs, and how many blocks share an output.
 */
#ifndef GP_MANY_CUH
#define GP_MANY_CUH

#include "all.cuh"
#include "lane_floats.cuh"

#define AT_ONCE 16 /* elements that a thread loads before it takes one; of 8 bytes half as many */

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

/* Elements from, from + step, .. below `to` of a run that starts at `at`, the stride apart. */
template <class LANE>
__device__ __forceinline__ void take_run(const LANE &form, typename LANE::state &s, const unsigned char *at,
                                         int64_t stride, uint32_t from, uint32_t to, uint32_t step, uint32_t bytes) {
    const int N = LANE::BYTES == 8 || LANE::BYTES == 0 ? AT_ONCE / 2 : AT_ONCE;
    typename raw_type<LANE::BYTES>::type raw[N];
    const int64_t apart = (int64_t)step * stride;
    uint32_t e = from, left = from < to ? (to - from - 1) / step + 1 : 0;
    at += (int64_t)from * stride;
#pragma unroll 1
    for (; left >= N; left -= N) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            raw[i] = load_element<LANE::BYTES>(at, bytes);
            at += apart;
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            form.take(s, raw[i], e + i * step);
        e += N * step;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        raw[i] = i < left ? load_element<LANE::BYTES>(at, bytes) : form.nothing();
        at += apart;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (i % 4 == 0 && i >= left)
            break;
        if (LANE::HAS_NOTHING || i < left)
            form.take(s, raw[i], e + i * step);
    }
}

/* Where an output's elements begin. */
__device__ __forceinline__ const unsigned char *begin_of(const gp_pass &pass, uint64_t output) {
    const unsigned char *in = pass.in;
    for (int axis = pass.kept; axis-- > 1; output /= pass.axis[axis].n)
        in += (int64_t)(output % pass.axis[axis].n) * pass.axis[axis].in;
    return pass.kept > 0 ? in + (int64_t)output * pass.axis[0].in : in;
}

/*
 * A member's elements. Those along the last reduced axis are cut into chunks; all chunks of all walks along that axis
 * are shared by the slices of all the output's blocks.
 */
template <class LANE>
__device__ __forceinline__ void gather(const LANE &form, typename LANE::state &s, const gp_pass &pass,
                                       const gp_many_cut &cut, const unsigned char *in, uint32_t lane,
                                       uint32_t worker, uint32_t workers) {
    const int last = pass.kept + pass.reduced - 1;
    const uint32_t n = pass.reduced > 0 ? (uint32_t)pass.axis[last].n : 1, bytes = bytes_of(pass.type);
    const int64_t stride = pass.reduced > 0 ? pass.axis[last].in : 0;
    if (cut.parts == 1) {
        take_run(form, s, in, stride, lane, n, cut.lanes, bytes);
        return;
    }
    const uint32_t chunk = (n - 1) / cut.chunks + 1;
#pragma unroll 1
    for (uint32_t part = worker; part < cut.parts; part += workers) {
        const unsigned char *at = in;
        uint32_t walk = part / cut.chunks;
        const uint32_t from = (part - walk * cut.chunks) * chunk, to = min(n, from + chunk);
        for (int axis = last; axis-- > pass.kept; walk /= (uint32_t)pass.axis[axis].n)
            at += (int64_t)(walk % (uint32_t)pass.axis[axis].n) * pass.axis[axis].in;
        take_run(form, s, at, stride, from + lane, to, cut.lanes, bytes);
    }
}

/*
 * A row in shared memory: a lane's elements from `start` on, then those before it. Rows beside each other start
 * elsewhere, so that a warp's threads use all banks.
 */
template <class LANE>
__device__ __forceinline__ void take_staged(const LANE &form, typename LANE::state &s, const unsigned char *row,
                                            uint32_t n, uint32_t lane, uint32_t step, uint32_t start,
                                            uint32_t bytes) {
    const uint32_t width = LANE::BYTES ? LANE::BYTES : bytes;
#pragma unroll 4
    for (uint32_t e = start; e < n; e += step)
        form.take(s, load_element<LANE::BYTES>(row + e * width, bytes), e);
#pragma unroll 4
    for (uint32_t e = lane; e < start; e += step)
        form.take(s, load_element<LANE::BYTES>(row + e * width, bytes), e);
}

/* Bytes from .. to of device memory, to shared memory, where `from` is at (address of from) % 16. */
static __device__ __forceinline__ void copy_rows(unsigned char *shared, const unsigned char *from,
                                                 const unsigned char *to, uint32_t bytes) {
    const uint32_t skew = (uint32_t)((uintptr_t)from % 16), all = (uint32_t)(to - from);
    const uint32_t head = min(all, (16 - skew) % 16), vectors = (all - head) / 16, tail = head + vectors * 16;
    const int4 *const first = (const int4 *)(from + head);
    int4 *const there = (int4 *)(shared + skew + head);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < vectors; i += blockDim.x)
        there[i] = gp_load_once(first + i);
    for (uint32_t i = threadIdx.x * bytes; i < head; i += blockDim.x * bytes)
        for (uint32_t b = 0; b < bytes; b++)
            shared[skew + i + b] = from[i + b];
    for (uint32_t i = tail + threadIdx.x * bytes; i < all; i += blockDim.x * bytes)
        for (uint32_t b = 0; b < bytes; b++)
            shared[skew + i + b] = from[i + b];
}

/* Joins what `count` threads have of each of `outputs`: member k of output o is thread k * outputs + o. In member 0.
   All threads of the block. */
template <class STATE>
__device__ __forceinline__ void join_members(STATE &s, uint32_t k, uint32_t o, uint32_t count, uint32_t outputs) {
    STATE *const of = (STATE *)columns;
#pragma unroll 1
    while (count > 1) {
        const uint32_t half = (count + 1) / 2;
        __syncthreads();
        if (k >= half && k < count)
            of[(k - half) * outputs + o] = s;
        __syncthreads();
        if (k < count - half)
            s.join(of[k * outputs + o]);
        count = half;
    }
}

/*
 * Joins what the blocks of a tile have. True in the block that comes last, whose thread o has output o's then.
 */
template <class STATE>
__device__ __noinline__ bool join_blocks(STATE &s, many_space *space, uint32_t tile, uint32_t split,
                                         const gp_many_cut &cut, bool own, uint32_t output) {
    __shared__ bool last;
    const uint32_t words = sizeof(STATE) / 4, blocks = cut.tiles * cut.splits;
    uint32_t *const sent = space->sent;
    if (own)
        for (uint32_t w = 0; w < words; w++)
            sent[((size_t)w * blocks + tile * cut.splits + split) * cut.outputs + output] = ((const uint32_t *)&s)[w];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(&space->arrived[tile], cut.splits - 1) == cut.splits - 1; /* 0 again after the last */
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    const uint32_t members = blockDim.x / cut.outputs, k = threadIdx.x / cut.outputs, o = threadIdx.x % cut.outputs;
    s = STATE::none();
#pragma unroll 4
    for (uint32_t b = k; b < cut.splits && k < members; b += members) {
        STATE other;
        for (uint32_t w = 0; w < words; w++)
            ((uint32_t *)&other)[w] = __ldcg(sent + ((size_t)w * blocks + tile * cut.splits + b) * cut.outputs + o);
        s.join(other);
    }
    join_members(s, k, o, members, cut.outputs);
    return true;
}

/* Results of an output, or its number for reduce_any. */
template <class LANE>
__device__ __forceinline__ void finish_output(const reduce_arguments &a, const LANE &form,
                                              const typename LANE::state &s, uint64_t output) {
    many_space *const space = a.many;
    if (write_results(a.pass, form.total(s), output)) {
        if (a.pass.outputs == 1)
            tell_host(a);
        return;
    }
    const uint32_t at = atomicAdd(&space->failed, 1);
    if (at < GP_MANY_FAILED_MAX)
        space->failure[at] = (uint32_t)output;
}

template <class LANE>
__global__ void __launch_bounds__(GP_REDUCE_MANY_THREADS, 1)
    reduce_many(const __grid_constant__ reduce_arguments a, const __grid_constant__ gp_many_cut cut) {
    typedef typename LANE::state state;
    gp_grid_dependency_wait();
    unsigned char *const staged = (unsigned char *)columns;
    const gp_pass &pass = a.pass;
    const member me(cut);
    const bool active = me.slice < cut.slices;
    const uint32_t bytes = bytes_of(pass.type), row = (uint32_t)pass.length * bytes;
    const uint32_t n = (uint32_t)pass.length, own = me.lane < n ? (n - me.lane - 1) / cut.lanes + 1 : 1;
    const uint32_t start = me.lane + threadIdx.x / cut.lanes % own * cut.lanes;
    LANE form(pass);
#pragma unroll 1
    for (uint32_t work = blockIdx.x; work < cut.tiles * cut.splits; work += gridDim.x) {
        const uint32_t tile = cut.splits == 1 ? work : work / cut.splits, split = work - tile * cut.splits;
        const uint64_t first = (uint64_t)tile * cut.outputs * cut.groups;
        const unsigned char *const rows = pass.in + first * row;
        if (cut.staged) {
            __syncthreads(); /* until all have taken the rows before */
            copy_rows(staged, rows, rows + min((uint64_t)cut.outputs * cut.groups, pass.outputs - first) * row,
                      bytes);
            __syncthreads();
        }
#pragma unroll 1
        for (uint32_t group = 0; group < cut.groups; group++) {
            const uint32_t in_tile = group * cut.outputs + me.output;
            uint64_t output = first + in_tile;
            bool mine = active && output < pass.outputs;
            state s = state::none();
            if (mine && cut.staged) {
                const unsigned char *const at = staged + (uintptr_t)rows % 16 + in_tile * row;
                form.begin(pass, at);
                take_staged(form, s, at, n, me.lane, cut.lanes, start, bytes);
            } else if (mine) {
                const unsigned char *const at = begin_of(pass, output);
                form.begin(pass, at);
                gather(form, s, pass, cut, at, me.lane, split * cut.slices + me.slice, cut.splits * cut.slices);
            }
            uint32_t k = me.lane + me.slice * cut.lanes, count = cut.lanes * cut.slices;
            if (cut.lanes_first) {
#pragma unroll 1
                for (uint32_t lane = cut.lanes / 2; lane > 0; lane /= 2)
                    s.join(from_lane(s, lane));
                k = me.lane == 0 ? me.slice : UINT32_MAX;
                count = cut.slices;
            }
            join_members(s, k, me.output, count, cut.outputs);
            if (cut.splits > 1) {
                state joined = s; /* in memory, so that s need not be */
                if (!join_blocks(joined, a.many, tile, split, cut, mine && k == 0, me.output))
                    continue;
                s = joined;
                output = first + threadIdx.x;
                k = threadIdx.x < cut.outputs && output < pass.outputs ? 0 : UINT32_MAX;
                mine = k == 0;
                if (mine)
                    form.begin(pass, begin_of(pass, output));
            }
            if (mine && k == 0)
                finish_output(a, form, s, output);
        }
    }
}

#endif
