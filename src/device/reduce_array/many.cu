/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_many: outputs by the dozen, each by a team of threads that take its elements in turns. Rows, columns and
 * what lies between are numbers of a cut: how many threads are in a team, whether a warp's threads are neighbours
 * along the output's elements or among the outputs, and how many blocks share an output. Behind it, or reduce_short,
 * is launched what follows where they have not proved all.
 */
#include "../../host/reduce_array/fit.h"
#include "forms.cuh"

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

#define FEW 4 /* a run that ends with so many units, or twice as many, has code for these: each unit has a test */

/* Units e, e + step, .. below `to` of a run, the first at `at`, the others `apart` bytes further each. id: of the
   run's first. */
template <class LANE>
__device__ __forceinline__ void take_run(const LANE &form, typename LANE::state &s, const unsigned char *at,
                                         int64_t apart, uint32_t e, uint32_t to, uint32_t step, uint32_t bytes,
                                         uint32_t zero, uint32_t id) {
    const int MOST = LANE::BYTES == 16 ? 4 : LANE::BYTES == 8 || LANE::BYTES == 0 ? 8 : 16;
    const int N = LANE::AT_ONCE < MOST ? LANE::AT_ONCE : MOST;
    raw_of<LANE::BYTES> nothing = {};
    if constexpr (LANE::HAS_NOTHING)
        nothing = form.nothing();
#pragma unroll 1
    for (; e + (N - 1) * step < to; e += N * step) {
        raw_of<LANE::BYTES> raw[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            raw[i] = load_far<LANE::BYTES>(at, bytes);
            at += apart;
        }
        await_all(raw, zero);
#pragma unroll
        for (int i = 0; i < N; i++)
            form.take(s, raw[i], id + e + i * step);
    }
    const auto rest = [&](auto some) {
        const int COUNT = decltype(some)::value;
        raw_of<LANE::BYTES> raw[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            raw[i] = e + i * step < to ? load_far<LANE::BYTES>(at, bytes) : nothing;
            at += apart;
        }
        await_all(raw, zero);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (LANE::HAS_NOTHING || e + i * step < to)
                form.take(s, raw[i], id + e + i * step);
    };
    if (e >= to)
        return;
    if (N > FEW && e + FEW * step >= to)
        rest(std::integral_constant<int, FEW>());
    else if (N > 2 * FEW && e + 2 * FEW * step >= to)
        rest(std::integral_constant<int, 2 * FEW>());
    else
        rest(std::integral_constant<int, N>());
}

/* Elements with their partners, which are `beside` bytes from one to the next. */
template <int WIDTH, class LANE>
__device__ __forceinline__ void take_pairs(const LANE &form, typename LANE::state &s, const unsigned char *at,
                                           int64_t apart, const unsigned char *with, int64_t beside, uint32_t e,
                                           uint32_t to, uint32_t step, uint32_t bytes, uint32_t with_bytes,
                                           uint32_t id) {
    const int N = LANE::PAIRS_AT_ONCE;
    const auto take = [&](auto some) {
        const int COUNT = decltype(some)::value;
        raw_of<LANE::BYTES> raw[COUNT];
        raw_of<WIDTH> partner[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++, at += apart, with += beside) {
            raw[i] = load_far<LANE::BYTES>(at, bytes);
            partner[i] = load_far<WIDTH>(with, with_bytes);
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            form.take_pair(s, raw[i], partner[i], id + e + i * step);
        e += COUNT * step;
    };
#pragma unroll 1
    while (e + (N - 1) * step < to)
        take(std::integral_constant<int, N>());
    if constexpr (LANE::PAIRS_THEN > 1)
        if (e + (LANE::PAIRS_THEN - 1) * step < to)
            take(std::integral_constant<int, LANE::PAIRS_THEN>());
#pragma unroll 1
    while (e < to)
        take(std::integral_constant<int, 1>());
}

/*
 * A member's elements. Those along the last reduced axis are cut into chunks, and all chunks of all walks along that
 * axis into groups of one for each slice of a block. Groups are dealt to the blocks of a tile in turns; the last of
 * many are drawn, as SMs get unequal shares of the memory's bandwidth. Each block draws while it takes the group
 * before, until it has drawn too far: the counter is 0 again then.
 */
template <class LANE>
__device__ __forceinline__ void gather(const LANE &form, typename LANE::state &s, const gp_pass &pass,
                                       const gp_many_cut &cut, const unsigned char *in, const unsigned char *with,
                                       const member &me, bool mine, uint32_t split, uint32_t *counter) {
    __shared__ uint32_t drawn[2]; /* in turns: a warp may still read the one before */
    const int last = pass.kept + pass.reduced - 1;
    const uint32_t packed = LANE::PACKED * cut.fold, bytes = bytes_of(pass.type);
    const uint32_t n = pass.reduced > 0 ? (uint32_t)pass.axis[last].n / packed : 1;
    const int64_t stride = pass.reduced > 0 ? pass.axis[last].in * packed : 0, apart = stride * cut.lanes;
    uint32_t turn = 0;
#pragma unroll 1
    for (uint32_t group = split, next; group < cut.groups; group = next) {
        const uint32_t part = group * cut.slices + me.slice;
        uint32_t draw = 0;
        next = group + cut.splits;
        const bool draws = next >= cut.dealt;
        if (draws && threadIdx.x == 0)
            draw = atomicInc(counter, cut.groups - cut.dealt + cut.splits - 1);
        if (mine && part < cut.parts) {
            const unsigned char *at = in, *at_with = with;
            uint32_t walk = cut.parts == cut.chunks ? 0 : part / cut.chunks;
            const uint32_t id = walk * n;
            const uint32_t from = (part - walk * cut.chunks) * cut.chunk, to = min(n, from + cut.chunk);
            const uint32_t e = from + me.lane;
            for (int axis = last; walk > 0 && axis-- > pass.kept; walk /= (uint32_t)pass.axis[axis].n) {
                at += (int64_t)(walk % (uint32_t)pass.axis[axis].n) * pass.axis[axis].in;
                if (LANE::PAIRS)
                    at_with += (int64_t)(walk % (uint32_t)pass.axis[axis].n) * pass.axis[axis].with;
            }
            if constexpr (LANE::PAIRS) {
                const uint32_t width = bytes_of(pass.with_type);
                const int64_t beside = pass.reduced > 0 ? pass.axis[last].with * LANE::PACKED : 0;
                const auto pairs = [&](const auto take) {
                    take(form, s, at + e * stride, apart, at_with + e * beside, beside * cut.lanes, e, to, cut.lanes,
                         bytes, width, id);
                };
                if (pass.with_type == 0)
                    take_run(form, s, at + e * stride, apart, e, to, cut.lanes, bytes, cut.zero, id);
                else if (!LANE::MASKS || width * LANE::PACKED == LANE::BYTES)
                    pairs(take_pairs<LANE::BYTES, LANE>);
                else if constexpr (LANE::MASKS)
                    LANE::BYTES != 1 && width == 1 ? pairs(take_pairs<1, LANE>) : pairs(take_pairs<0, LANE>);
            } else {
                take_run(form, s, at + e * stride, apart, e, to, cut.lanes, bytes, cut.zero, id);
            }
        }
        if (draws) {
            if (threadIdx.x == 0)
                drawn[turn] = cut.dealt + draw;
            __syncthreads();
            next = drawn[turn];
            turn ^= 1;
        }
    }
}

#define JOINED_AT_ONCE 4 /* members */

/* Joins what `count` threads have of each of `outputs`: member k of output o is thread k * outputs + o. In member 0.
   All threads of the block. */
template <class STATE>
__device__ __forceinline__ void join_members(STATE &s, uint32_t k, uint32_t o, uint32_t count, uint32_t outputs) {
    uint32_t *const sent = (uint32_t *)columns; /* words of one place apart, so that threads meet in no bank */
#pragma unroll 1
    while (count > 1) {
        const uint32_t stay = (count + JOINED_AT_ONCE - 1) / JOINED_AT_ONCE, apart = (count - stay) * outputs;
        __syncthreads();
        if (k >= stay && k < count)
#pragma unroll
            for (int w = 0; w < WORDS_OF(STATE); w++)
                sent[w * apart + (k - stay) * outputs + o] = ((const uint32_t *)&s)[w];
        __syncthreads();
#pragma unroll 1 /* its code would have to be loaded */
        for (uint32_t i = k + stay; k < stay && i < count; i += stay) {
            STATE other;
#pragma unroll
            for (int w = 0; w < WORDS_OF(STATE); w++)
                ((uint32_t *)&other)[w] = sent[w * apart + (i - stay) * outputs + o];
            s.join(other);
        }
        count = stay;
    }
}

/* Of another block. */
template <class PART> __device__ __forceinline__ PART load_part(const PART *from) {
    PART p;
#pragma unroll
    for (int w = 0; w < WORDS_OF(PART); w++)
        if constexpr (sizeof(PART) % 16 == 0) {
            if (w % 4 == 0)
                ((uint4 *)&p)[w / 4] = __ldcg((const uint4 *)from + w / 4);
        } else {
            ((uint32_t *)&p)[w] = __ldcg((const uint32_t *)from + w);
        }
    return p;
}

/*
 * Joins the columns that the blocks of a tile have, a thread each: those of a group of blocks first, where one block
 * would take long for all. True in the block that comes last, whose threads have all of them then.
 */
template <class PART>
__device__ __forceinline__ bool join_blocks(PART &p, many_space *space, uint32_t tile, uint32_t split,
                                            const gp_many_cut &cut, uint32_t across) {
    __shared__ bool last;
    const int N = sizeof(PART) <= 16 ? 8 : 4; /* are loaded at once */
    const uint32_t members = blockDim.x / across, k = threadIdx.x / across, o = threadIdx.x % across;
    PART *const sent = (PART *)space->sent + (size_t)tile * cut.splits * across + o;
    uint32_t *const arrived = space->arrived + tile * ((cut.splits - 1) / cut.joined + 2);
    uint32_t group = split / cut.joined, from = group * cut.joined, step = 1;
    uint32_t count = min(cut.splits - from, cut.joined);
#pragma unroll 1
    for (;;) {
        if (k == 0)
            sent[(size_t)split * across] = p;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) /* 0 again after the last */
            last = atomicInc(arrived + group, count - 1) == count - 1;
        __syncthreads();
        if (!last)
            return false;
        __threadfence();
        p = PART::none();
#pragma unroll 1
        for (uint32_t b = k; b < count && k < members; b += N * members) {
            PART other[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                other[i] = load_part(sent + (size_t)(from + min(b + i * members, count - 1) * step) * across);
            if (b == k)
                p = other[0]; /* with what all have alike */
#pragma unroll
            for (int i = 0; i < N; i++)
                if ((i > 0 || b > k) && b + i * members < count)
                    p.join(other[i]);
        }
        join_members(p, k, o, min(members, count), across);
        if (count == cut.splits || step > 1)
            return true;
        split = from;
        from = 0;
        step = cut.joined;
        count = (cut.splits - 1) / step + 1;
        group = count;
    }
}

/*
 * The end of a tile whose columns are finished by a thread each: `columns` has their parts, those of folded rows one
 * behind the other. A function, so that nothing of it holds registers in the loop. ONE: what takes a column alone.
 */
template <class ONE>
static __device__ __noinline__ void finish_tile(const reduce_arguments &a, const gp_many_cut &cut, uint32_t across,
                                                uint32_t work) {
    typedef typename ONE::state part_t;
    const part_t *const parts = (const part_t *)columns;
    const uint32_t tile = work / cut.splits, split = work - tile * cut.splits, t = threadIdx.x;
    const gp_pass_axis &rows = a.pass.axis[a.pass.kept + a.pass.reduced - 1];
    part_t part = part_t::none();
    __syncthreads();
    if (t < across)
        part = parts[t];
#pragma unroll 1
    for (uint32_t f = 1; f < cut.fold && t < across; f++)
        part.join(parts[f * across + t]);
#pragma unroll 1
    for (uint32_t rest = split == 0 && t < across ? (uint32_t)rows.n % cut.fold : 0; rest > 0; rest--) {
        const unsigned char *const at = begin_of(a.pass, tile * across + t) + (rows.n - rest) * rows.in;
        ONE(a).take(part, load_unit<ONE::BYTES>(at, bytes_of(a.pass.type)), 0);
    }
    if (cut.splits > 1 && !join_blocks(part, a.many, tile, split, cut, across))
        return;
    const ONE form(a);
    const uint32_t output = tile * across + t, bytes = quick_bytes_of(a, form);
    bool left = t < across && output < a.pass.outputs;
    if (left)
        left = !(bytes != 0 && write_quick(a, bytes, form, part, output)) &&
               !finish_any(a, form.total(part), output, redoes<ONE>(a.pass));
    redo<ONE>(a, output, left, a.pass.length > REDO_BY_WARP);
}

template <class LANE>
__global__ void __launch_bounds__(GP_REDUCE_MANY_THREADS, 2)
    reduce_many(const __grid_constant__ reduce_arguments a, const __grid_constant__ gp_many_cut cut) {
    typedef typename LANE::one_t one_t;
    const gp_pass &pass = a.pass;
    const member me(cut);
    const uint32_t outputs = (uint32_t)(pass.outputs * cut.fold / LANE::OUTPUTS);
    LANE form(a);
    const uint32_t quick_bytes = quick_bytes_of(a, form);
    gp_grid_dependency_wait(me.output ^ me.lane ^ me.slice ^ quick_bytes);
#pragma unroll 1
    for (uint32_t work = blockIdx.x; work < cut.tiles * cut.splits; work += gridDim.x) {
        const uint32_t tile = cut.splits == 1 ? work : work / cut.splits, split = work - tile * cut.splits;
        const uint32_t output = tile * cut.outputs + me.output;
        const bool mine = me.slice < cut.slices && output < outputs;
        typename LANE::state gathered = LANE::state::none();
        /* folded rows are those of the tile's outputs; a member's place is along them */
        const uint32_t row = cut.fold > 1 ? cut.outputs * LANE::OUTPUTS / cut.fold : 0;
        const uint32_t place = cut.fold > 1 ? me.output * LANE::OUTPUTS : 0;
        const unsigned char *at = begin_of(pass, !mine ? 0 : row > 0 ? tile * row : output * LANE::OUTPUTS);
        at += place * bytes_of(pass.type);
        if (mine)
            form.begin(at, gathered, place, row);
        const unsigned char *with = NULL;
        if (LANE::PAIRS)
            with = begin_of<true>(pass, mine ? output * LANE::OUTPUTS : 0);
        gather(form, gathered, pass, cut, at, with, me, mine, split, a.many->drawn + tile);
        typename LANE::joined s = LANE::join_of(gathered);
        uint32_t k = me.lane + me.slice * cut.lanes, count = cut.lanes * cut.slices;
        if (cut.lanes_first) {
            join_team(s, cut.lanes);
            k = me.lane == 0 ? me.slice : UINT32_MAX;
            count = cut.slices;
        }
        join_members(s, k, me.output, count, cut.outputs);
        if (cut.by_columns) {
            __syncthreads();
            if (mine && k == 0)
#pragma unroll
                for (int i = 0; i < LANE::OUTPUTS; i++)
                    ((typename one_t::state *)columns)[me.output * LANE::OUTPUTS + i] = LANE::part_of(s, i);
            finish_tile<one_t>(a, cut, cut.outputs * LANE::OUTPUTS / cut.fold, work);
        } else {
            const uint32_t left =
                mine && k == 0 ? finish_outputs(a, quick_bytes, form, s, output * LANE::OUTPUTS) : 0;
            redo<LANE>(a, output * LANE::OUTPUTS, left, pass.length > REDO_BY_WARP);
        }
    }
}

static_assert(sizeof(integers_total) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");
static_assert(sizeof(lane_wide<lane_floats<4>, 16>::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(lane_bytes::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(lane_square_bytes::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(sum_state) * 16 <= GP_REDUCE_MANY_STATE * 2, "parts of 16 columns");
static_assert(sizeof(lane_wide<lane_moments<4>, 8>::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(twofold_state) <= GP_REDUCE_MANY_STATE, "the largest state");

#define FORM(...) (const void *)reduce_many<__VA_ARGS__>

static const void *const kernels[GP_MANY_FORMS] = {GP_MANY_KERNELS(FORM, FORM)};

gp_status gp_reduce_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                           reduce_arguments *arguments) {
    gp_plan some = *plan;
    memset(&some.tiling, 0, sizeof some.tiling);
    GP_TRY(gp_fit_reduce_failed(problem, &context->planned_on, &some.tiling, &arguments->again));
    return arguments->again ? gp_reduce_all(context, &some, arguments)
                            : gp_reduce_any(context, &some, arguments, true);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_many) {
    return launch_form<gp_many_cut>(context, plan, problem, kernels);
}
