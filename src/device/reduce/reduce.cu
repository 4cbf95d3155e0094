/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of int32: reduce_block (one block) and reduce_grid (one launch: the last block to start collects the
 * partial results of the others). 16-byte loads from the first whole memory line on; each thread keeps its own
 * accumulator, 64 bits wide for sums; warps reduce by shuffles, blocks through one shared slot a warp.
 */
#include "../../host/reduce/tiling.h"
#include "../gpu.h"
#include "../warp.cuh"
#include <type_traits>

struct reduce_arguments {
    const int32_t *in;
    uint64_t n;
    int64_t *out;
    gp_reduce_space *space; /* partial results of reduce_grid; NULL: one block */
    gp_slot *slot;
    uint32_t sequence; /* not 0: written to slot->done after the result */
};

/* The type of an operation's partial results. */
template <gp_reduce_op OP> using number = std::conditional_t<OP == GP_REDUCE_SUM, int64_t, int32_t>;

template <gp_reduce_op OP> __device__ number<OP> join(number<OP> a, number<OP> b) {
    return GP_REDUCE_JOIN(OP, a, b, min(a, b), max(a, b));
}

template <gp_reduce_op OP> __device__ number<OP> join_warp(number<OP> value) {
    for (int lane = 16; lane > 0; lane /= 2)
        value = join<OP>(value, __shfl_xor_sync(GP_FULL_WARP, value, lane));
    return value;
}

/* The block's result, in all threads of warp 0. */
template <gp_reduce_op OP> __device__ number<OP> join_block(number<OP> value) {
    __shared__ number<OP> of_warp[32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;
    value = join_warp<OP>(value);
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    if (warp == 0)
        value = join_warp<OP>(lane < warps ? of_warp[lane] : GP_REDUCE_IDENTITY(OP));
    __syncthreads();
    return value;
}

template <gp_reduce_op OP> __device__ void take(number<OP> &total, const int4 &four) {
    total = join<OP>(total, join<OP>(join<OP>((number<OP>)four.x, (number<OP>)four.y),
                                     join<OP>((number<OP>)four.z, (number<OP>)four.w)));
}

/*
 * What one thread of the grid sees of the input: its share of the 16-byte groups, and of head and tail. A tile is
 * what a block loads at once. Tiles are dealt to the blocks in turns.
 */
template <gp_reduce_op OP> __device__ number<OP> reduce_share(const reduce_arguments &arguments) {
    number<OP> total = GP_REDUCE_IDENTITY(OP);
    const int32_t *in = arguments.in;
    const uint64_t n = arguments.n, misaligned = ((uintptr_t)in / 4) % GP_REDUCE_LINE;
    const uint64_t head = misaligned == 0 ? 0 : min(n, GP_REDUCE_LINE - misaligned);
    const int4 *groups = (const int4 *)(in + head) + threadIdx.x;
    const uint64_t n_groups = (n - head) / 4;
    const uint32_t step = blockDim.x * GP_REDUCE_LOADS;
    const uint32_t whole = (uint32_t)(n_groups / step), rest = (uint32_t)(n_groups - whole * (uint64_t)step);
    const uint64_t tail = head + 4 * n_groups + threadIdx.x;
    if (blockIdx.x == 0 && threadIdx.x < head)
        total = in[threadIdx.x];
    if (blockIdx.x == 0 && tail < n)
        total = join<OP>(total, in[tail]);
    uint32_t tile = blockIdx.x;
#pragma unroll 1 /* more at once do not fit the registers */
    for (; tile < whole; tile += gridDim.x) {
        int4 four[GP_REDUCE_LOADS];
#pragma unroll
        for (int load = 0; load < GP_REDUCE_LOADS; load++)
            four[load] = gp_load_once(groups + tile * (uint64_t)step + load * blockDim.x);
#pragma unroll
        for (int load = 0; load < GP_REDUCE_LOADS; load++)
            take<OP>(total, four[load]);
    }
    if (tile > whole)
        return total;
    /* a tile that is not whole: here too all loads before the first use, in all threads alike */
    const int nothing = GP_REDUCE_IDENTITY(OP);
    int4 four[GP_REDUCE_LOADS];
#pragma unroll
    for (int load = 0; load < GP_REDUCE_LOADS; load++) {
        four[load] = make_int4(nothing, nothing, nothing, nothing);
        if (threadIdx.x + load * blockDim.x < rest)
            four[load] = gp_load_once(groups + tile * (uint64_t)step + load * blockDim.x);
    }
#pragma unroll
    for (int load = 0; load < GP_REDUCE_LOADS; load++)
        take<OP>(total, four[load]);
    return total;
}

__device__ void publish(const reduce_arguments &arguments, int64_t value, bool overflow) {
    *arguments.out = value;
    if (overflow)
        arguments.slot->overflow = 1;
    if (arguments.sequence != 0) {
        __threadfence_system();
        arguments.slot->done = arguments.sequence;
    }
}

template <gp_reduce_op OP>
__global__ void __maxnreg__(GP_REDUCE_BLOCK_REGS) reduce_block(reduce_arguments arguments) {
    gp_grid_dependency_wait();
    const int64_t value = join_block<OP>(reduce_share<OP>(arguments));
    if (threadIdx.x == 0)
        publish(arguments, value, false);
}

/*
 * A partial result travels as (partial << 1 | 1), one 64-bit store: what is not 0 is there, so neither fence nor
 * counter stands between the last store and the result. A block sees less than 2^31 elements, which leaves the bit
 * free.
 */
__device__ __forceinline__ void send_partial(uint64_t *slot, int64_t partial) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"((uint64_t)partial << 1 | 1) : "memory");
}

/* Waits for a partial result and clears its slot for the next call. */
__device__ __forceinline__ int64_t receive_partial(uint64_t *slot) {
    uint64_t sent;
    do
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(sent) : "l"(slot) : "memory");
    while (sent == 0);
    *slot = 0;
    return (int64_t)sent >> 1;
}

/*
 * Joins the block's own result with all others. A sum of more than 2^32 elements may pass 64 bits: the partial
 * results' halves are then added up apart, and total = high * 2^32 + low with low below 2^48.
 */
template <gp_reduce_op OP> __device__ void collect(const reduce_arguments &arguments, number<OP> own) {
    number<OP> total = threadIdx.x == 0 ? own : GP_REDUCE_IDENTITY(OP);
    int64_t high = OP == GP_REDUCE_SUM ? (int64_t)total >> 32 : 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        if (i == blockIdx.x)
            continue;
        const number<OP> partial = (number<OP>)receive_partial(&arguments.space->partial[i]);
        if (OP == GP_REDUCE_SUM)
            high += (int64_t)partial >> 32;
        total = join<OP>(total, partial);
    }
    total = join_block<OP>(total);
    bool overflow = false;
    if (OP == GP_REDUCE_SUM && arguments.n > (uint64_t)1 << 32) {
        high = join_block<GP_REDUCE_SUM>(high);
        const int64_t low = (int64_t)((uint64_t)total - ((uint64_t)high << 32));
        const int64_t top = high + (low >> 32);
        overflow = top > INT32_MAX || top < INT32_MIN;
    }
    if (threadIdx.x == 0)
        publish(arguments, total, overflow);
}

/*
 * The collector is the last block to start, told by a ticket drawn before the loads: it waits only for blocks that
 * run already, so that it can never keep one from running.
 */
template <gp_reduce_op OP> __global__ void __maxnreg__(GP_REDUCE_REGS) reduce_grid(reduce_arguments arguments) {
    gp_grid_dependency_wait();
    __shared__ unsigned ticket;
    unsigned drawn = 0;
    if (threadIdx.x == 0)
        drawn = atomicInc(&arguments.space->started, gridDim.x - 1); /* wraps to 0 by itself */
    number<OP> value = reduce_share<OP>(arguments);
    if (threadIdx.x == 0)
        ticket = drawn; /* not before: waiting for the draw would hold back the warp's loads */
    value = join_block<OP>(value);
    if (ticket == gridDim.x - 1)
        collect<OP>(arguments, value);
    else if (threadIdx.x == 0)
        send_partial(&arguments.space->partial[blockIdx.x], value);
}

#define KERNELS(shape)                                                                                              \
    {                                                                                                               \
        (const void *)shape<GP_REDUCE_SUM>, (const void *)shape<GP_REDUCE_MIN>, (const void *)shape<GP_REDUCE_MAX>, \
            (const void *)shape<GP_REDUCE_AND>, (const void *)shape<GP_REDUCE_OR>,                                  \
            (const void *)shape<GP_REDUCE_XOR>                                                                      \
    }

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    gp_gpu *gpu = context->gpu;
    reduce_arguments arguments = {(const int32_t *)problem->in,
                                  problem->n,
                                  problem->result,
                                  (gp_reduce_space *)gpu->workspace,
                                  gpu->slot_device,
                                  problem->result == (int64_t *)&gpu->slot_device->value ? gpu->sequence : 0};
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

const void *gp_sample_kernel(void) {
    return (const void *)reduce_block<GP_REDUCE_SUM>;
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_block) {
    static const void *const kernels[] = KERNELS(reduce_block);
    return launch(context, plan, problem, kernels[problem->reduce]);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_grid) {
    static const void *const kernels[] = KERNELS(reduce_grid);
    return launch(context, plan, problem, kernels[problem->reduce]);
}
