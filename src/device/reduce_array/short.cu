/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_short: short rows behind each other without gaps, by way of shared memory, so that any alignment of rows
 * is read at the memory's speed. A row has one thread, or a few neighbours. Boxes that tile a picture are rows too:
 * in shared memory the runs of one stand a row of the picture apart.
 *
 * Rows come to shared memory from architecture 90 on by one instruction of one thread, which a barrier in shared
 * memory tells of its end; from 80 on by asynchronous copies of all threads; else by their loads.
 */
#include "forms.cuh"

__device__ __forceinline__ uint32_t shared_address(const void *at) {
    return (uint32_t)__cvta_generic_to_shared(at);
}

#if __CUDA_ARCH__ >= 900

/* By one thread, with a barrier of the block behind it. */
__device__ __forceinline__ void init_arrival(uint64_t *arrival) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrival)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* `count` vectors, by the whole block. */
__device__ __forceinline__ void copy_vectors(int4 *to, const int4 *from, uint32_t count, uint64_t *arrival) {
    if (threadIdx.x != 0)
        return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrival)),
                 "r"(16 * count)
                 : "memory");
    if (count > 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(to)),
                     "l"(from), "r"(16 * count), "r"(shared_address(arrival))
                     : "memory");
}

/* The copy before the last. parity: 0 of the first copy that the barrier is told of, 1 of the second, 0 of the third.
 */
__device__ __forceinline__ void await_vectors(uint64_t *arrival, uint32_t parity) {
    asm volatile("{ .reg .pred there; again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1; "
                 "@!there bra again; }" ::"r"(shared_address(arrival)),
                 "r"(parity)
                 : "memory");
}

/* By all threads, between what they did with shared memory and a barrier of the block, before a copy comes there. */
__device__ __forceinline__ void release_vectors() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#else

__device__ __forceinline__ void init_arrival(uint64_t *) {}
__device__ __forceinline__ void release_vectors() {}

__device__ __forceinline__ void copy_vectors(int4 *to, const int4 *from, uint32_t count, uint64_t *) {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)), "l"(from + i)
                     : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
        to[i] = gp_load_once(from + i);
#endif
}

/* All copies but the last, of all threads. */
__device__ __forceinline__ void await_vectors(uint64_t *, uint32_t) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    __syncthreads();
}

#endif

#define TURNED_LEAST 32 /* bytes that divide a row whose units are shorter than vectors */

/* Whether lanes may begin inside their row: not where the size of a unit is known in the call only. */
template <class LANE> const bool TURNS = LANE::BYTES > 0;

/*
 * A lane's units of K rows in shared memory, `apart` bytes from one to the next. Where lanes of several rows would
 * meet in a bank, those begin at `turned` units of their row. Runs of a box have `run` bytes, and are `next` apart.
 */
template <int K, bool BOXES, class LANE>
__device__ __forceinline__ void take_staged(const LANE &form, typename LANE::state (&s)[K], const unsigned char *row,
                                            uint32_t apart, uint32_t n, uint32_t lane, uint32_t step, uint32_t turned,
                                            uint32_t run, uint32_t next, uint32_t width) {
    const int UNROLLED = (LANE::BYTES == 1 || LANE::BYTES == 2 ? 8 : 4) / K;
#pragma unroll
    for (int k = 0; k < K; k++) {
        s[k] = LANE::state::none();
        form.begin(row + k * apart, s[k]);
    }
    const uint32_t stride = step * width;
    uint32_t at = (lane + turned) * width, left = (n - lane + step - 1) >> (__ffs((int)step) - 1); /* step: 2^k */
    uint32_t end = BOXES ? run : n * width;
    const auto turn = [&]() {
        if (!BOXES) {
            at = min(at, at - end); /* below 0 the difference wraps and is the greater */
        } else if (at >= end) {
            at += next - run;
            end += next;
        }
    };
    turn();
    const auto take = [&](auto some) {
        const int COUNT = decltype(some)::value;
        raw_of<LANE::BYTES> raw[COUNT][K];
        uint32_t id[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            id[i] = at / width;
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[i][k] = load_unit<LANE::BYTES>(row + k * apart + at, width);
            at += stride;
            if (TURNS<LANE>)
                turn();
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++)
#pragma unroll
            for (int k = 0; k < K; k++)
                form.take(s[k], raw[i][k], id[i]);
        left -= COUNT;
    };
#pragma unroll 1
    while (left >= UNROLLED)
        take(std::integral_constant<int, UNROLLED>());
#pragma unroll 1
    while (UNROLLED > 1 && left > 0)
        take(std::integral_constant<int, 1>());
#pragma unroll
    for (int k = 0; k < K; k++)
        join_team(s[k], step);
}

/*
 * Of so many units as all banks have, those that a warp reads at once, `lanes` of a row, lie in different banks if
 * rows are turned by this. Rows that meet in twos are faster as they are.
 */
__device__ __forceinline__ uint32_t turn_of(uint32_t row, uint32_t n, uint32_t lanes, uint32_t width) {
    const uint32_t all = 128 / width, of_bank = width < 4 ? 4 / width : 1;
    const uint32_t meet = min(all, max(n & (0 - n), lanes)); /* rows all / meet apart begin in one bank */
    if (width < 16 && meet * width < TURNED_LEAST)
        return 0;
    return row / (all / meet) * max(lanes, of_bank) % n;
}

/*
 * `bytes` of an array without gaps that ends at `end`, to shared memory; `from` comes to lie at (address of from)
 * % 16. Whole vectors hold of the neighbours too; at the array's ends, where there are none, threads copy bytes.
 */
__device__ __forceinline__ void copy_end(unsigned char *shared, const unsigned char *in, const unsigned char *end,
                                         const unsigned char *from, uint32_t bytes, uint64_t *arrival) {
    const unsigned char *const to = end - from < bytes ? end : from + bytes;
    const unsigned char *const origin = from - (uintptr_t)from % 16, *const first =
                                                                         origin < in ? origin + 16 : origin;
    const uint32_t over = (uintptr_t)to % 16;
    const unsigned char *const last = end - to < 16 ? to - over : to + (16 - over) % 16;
    const unsigned char *const head = from + threadIdx.x, *const tail = (last < from ? from : last) + threadIdx.x;
    copy_vectors((int4 *)(shared + (first - origin)), (const int4 *)first,
                 last > first ? (uint32_t)(last - first) / 16 : 0, arrival);
    if (head < first && head < to)
        shared[head - origin] = *head;
    if (tail < to)
        shared[tail - origin] = *tail;
}

template <class LANE>
__global__ void __launch_bounds__(GP_REDUCE_SHORT_THREADS, GP_REDUCE_SHORT_BLOCKS)
    reduce_short(const __grid_constant__ reduce_arguments a, const __grid_constant__ gp_short_cut cut) {
    __shared__ uint64_t arrivals[2]; /* of the stages */
    __shared__ uint32_t drawn[2];
    unsigned char *const shared = (unsigned char *)columns;
    const gp_pass &pass = a.pass;
    const uint32_t lane = threadIdx.x & (cut.lanes - 1), mine = threadIdx.x / cut.lanes, side = cut.outputs;
    const uint32_t n = (uint32_t)pass.length / LANE::PACKED, width = LANE::BYTES ? LANE::BYTES : bytes_of(pass.type);
    const uint32_t outputs = (uint32_t)pass.outputs, row_bytes = n * width, step = side * row_bytes;
    const uint32_t run = cut.run, next_run = cut.across * run; /* 0: of rows */
    const uint32_t turned = TURNS<LANE> && next_run == 0 ? turn_of(mine, n, cut.lanes, width) : 0;
    LANE form(a);
    const uint32_t quick_bytes = quick_bytes_of(a, form);
    const auto offset_of_row = [&](uint32_t row) {
        if (next_run == 0)
            return row * row_bytes;
        const uint32_t high = row / cut.across;
        return high * cut.across * row_bytes + (row - high * cut.across) * run;
    };
    const auto is_end = [&](uint32_t tile) { return tile - 1 >= cut.inner; };
    const auto fetch = [&](uint32_t tile, uint32_t stage) {
        const unsigned char *const from = pass.in + (uint64_t)(tile * cut.rows) * row_bytes;
        const uint32_t skew = (uint32_t)(uintptr_t)from % 16, bytes = cut.rows * row_bytes;
        unsigned char *const to = shared + stage * cut.stage;
        if (!is_end(tile))
            copy_vectors((int4 *)to, (const int4 *)(from - skew), (skew + bytes + 15) / 16, &arrivals[stage]);
        else if (tile < cut.tiles)
            copy_end(to, pass.in, pass.in + (uint64_t)outputs * row_bytes, from, bytes, &arrivals[stage]);
        else
            copy_vectors(NULL, NULL, 0, &arrivals[stage]);
    };
    if (threadIdx.x == 0) {
        init_arrival(&arrivals[0]);
        init_arrival(&arrivals[1]);
    }
    __syncthreads();
    gp_grid_dependency_wait(lane ^ mine ^ turned ^ quick_bytes);
    uint32_t stage = 0, parity = 0, tile = blockIdx.x, next = tile + gridDim.x;
    fetch(tile, 0);
#pragma unroll 1
    while (tile < cut.tiles) { /* dealt in turns, the last of many drawn: see many.cu */
        const uint32_t first = tile * cut.rows, rows = min(cut.rows, outputs - first);
        const bool draws = next < cut.tiles && next + gridDim.x >= cut.dealt;
        uint32_t draw = 0;
        fetch(next, stage ^ 1);
        if (draws && threadIdx.x == 0)
            draw = atomicInc(a.many->drawn, cut.tiles - cut.dealt + gridDim.x - 1);
        await_vectors(&arrivals[stage], parity);
        if (is_end(tile))
            __syncthreads(); /* what is not in vectors */
        const unsigned char *const rows_at =
            shared + stage * cut.stage + (uintptr_t)(pass.in + (uint64_t)first * row_bytes) % 16;
        uint32_t slow = UINT32_MAX; /* a bit for each row of the thread's */
        if (quick_bytes != 0) {
            const int K = LANE::SIDE_BY_SIDE;
            const unsigned char *from = rows_at + mine * row_bytes;
            uint32_t row = 0, bits = (1 << K) - 1;
            slow = 0;
#pragma unroll 1
            for (; next_run == 0 && row + K * side <= rows; row += K * side, bits <<= K, from += K * step) {
                typename LANE::state s[K];
                bool proved = true;
                take_staged<K, false>(form, s, from, step, n, lane, cut.lanes, turned, 0, 0, width);
                if (lane == 0)
#pragma unroll
                    for (int k = 0; k < K; k++)
                        proved &= write_quick(a, quick_bytes, form, s[k], first + row + k * side + mine);
                slow |= proved ? 0 : bits;
            }
#pragma unroll 1
            for (; next_run == 0 && row < rows; row += side, bits <<= 1, from += step) { /* rows that are left */
                typename LANE::state s[1];
                take_staged<1, false>(form, s, row + mine < rows ? from : rows_at, 0, n, lane, cut.lanes, turned, 0,
                                      0, width);
                if (lane == 0 && row + mine < rows)
                    slow |= write_quick(a, quick_bytes, form, s[0], first + row + mine) ? 0 : bits;
            }
#pragma unroll 1
            for (; row < rows; row += side, bits <<= 1) { /* boxes */
                typename LANE::state s[1];
                take_staged<1, true>(form, s, rows_at + (row + mine < rows ? offset_of_row(row + mine) : 0), 0, n,
                                     lane, cut.lanes, 0, run, next_run, width);
                if (lane == 0 && row + mine < rows)
                    slow |= write_quick(a, quick_bytes, form, s[0], first + row + mine) ? 0 : bits;
            }
        }
        if (__any_sync(GP_FULL_WARP, slow != 0))
#pragma unroll 1
            for (uint32_t row = mine, i = 0; row - mine < rows; row += side, i++) {
                typename LANE::state s[1];
                if (!__any_sync(GP_FULL_WARP, slow >> i & 1))
                    continue;
                const unsigned char *const at = rows_at + (row < rows ? offset_of_row(row) : 0);
                if (next_run == 0)
                    take_staged<1, false>(form, s, at, 0, n, lane, cut.lanes, turned, 0, 0, width);
                else
                    take_staged<1, true>(form, s, at, 0, n, lane, cut.lanes, 0, run, next_run, width);
                const bool left =
                    lane == 0 && row < rows && !finish_any(a, form.total(s[0]), first + row, redoes<LANE>(a.pass));
                redo<LANE, GP_REDUCE_SHORT_THREADS>(a, first + row, left, false);
            }
        if (draws && threadIdx.x == 0)
            drawn[stage] = cut.dealt + draw;
        release_vectors();
        __syncthreads(); /* until all have taken the rows, before others come there */
        tile = next;
        next = draws ? drawn[stage] : next + gridDim.x;
        parity ^= stage;
        stage ^= 1;
    }
}

/* There are none of columns. */
#define FORM(...) (const void *)reduce_short<__VA_ARGS__>
#define NONE(...) NULL

static const void *const kernels[GP_MANY_FORMS] = {GP_MANY_KERNELS(FORM, NONE)};

GP_DECLARE_LAUNCHER(gp_launch_reduce_short) {
    return launch_form<gp_short_cut>(context, plan, problem, kernels);
}
