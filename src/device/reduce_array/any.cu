/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_any: any view, type and operation by the processor's own source, an element a thread at a time. */
#include "write.cuh"

#include "../../host/reduce_array/accumulator.c"
#include "../../host/reduce_array/accumulator_write.c"

#define CARRIED ((uint32_t)1 << 27) /* elements between two spreads of carries */

/* Elements first, first + step, .. of an output. */
static __device__ void take_elements(gp_accumulator *a, const gp_pass &pass, uint64_t output, unsigned first,
                                     unsigned step) {
    const unsigned char *in = pass.in, *with = pass.with;
    for (int axis = pass.kept; axis-- > 0; output /= pass.axis[axis].n) {
        const int64_t i = (int64_t)(output % pass.axis[axis].n);
        in += i * pass.axis[axis].in;
        with += i * pass.axis[axis].with;
    }
    uint32_t taken = 0;
    for (uint64_t at = first; at < pass.length; at += step) {
        int64_t place = pass.place_first, in_at = 0, with_at = 0;
        uint64_t rest = at;
        for (int axis = pass.kept + pass.reduced; axis-- > pass.kept; rest /= pass.axis[axis].n) {
            const int64_t i = (int64_t)(rest % pass.axis[axis].n);
            in_at += i * pass.axis[axis].in;
            with_at += i * pass.axis[axis].with;
            place += i * pass.axis[axis].place;
        }
        gp_accumulator_take(a, &pass, in + in_at, pass.with_type != 0 ? with + with_at : NULL, place);
        if (++taken % CARRIED == 0)
            gp_accumulator_carry(a, &pass);
    }
}

static __device__ void write_all(const reduce_arguments &a, gp_accumulator *whole, uint64_t output) {
    for (unsigned r = 0; r < a.pass.results; r++)
        if (!gp_accumulator_write(whole, &a.pass, r, gp_pass_address(&a.pass, r, output)))
            *a.overflow = 1;
}

/* If something has failed, the blocks count themselves in the end: the last forgets it. */
static __device__ void forget_failures(many_space *space) {
    if (threadIdx.x == 0 && atomicInc(&space->finished, gridDim.x - 1) == gridDim.x - 1)
        space->failed = 0;
}

/* Merges the accumulators of each team's threads into its first one's. `mine`: the thread has one. */
static __device__ void merge_parts(gp_accumulator *part, unsigned team, const gp_pass &pass, bool mine) {
    for (unsigned half = team / 2, i = threadIdx.x; half > 0; half /= 2) {
        __syncthreads();
        if (mine && i % team < half)
            gp_accumulator_merge(&part[i], &part[i + half], &pass);
    }
}

/*
 * Blocks that share output `number` send what they have; the one that arrives last merges all of it into part[0].
 * True in that one.
 */
static __device__ bool merge_blocks(gp_accumulator *part, many_space *space, uint64_t number, uint32_t split,
                                    uint32_t splits, const gp_pass &pass) {
    __shared__ bool last;
    gp_accumulator *const sent = (gp_accumulator *)space->sent + number * splits;
    __syncthreads();
    for (unsigned word = threadIdx.x; word < sizeof *part / 4; word += blockDim.x)
        ((uint32_t *)&sent[split])[word] = ((const uint32_t *)part)[word];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) /* 0 again after the last */
        last = atomicInc(&space->arrived[number], splits - 1) == splits - 1;
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    gp_accumulator_clear(&part[threadIdx.x]);
    for (uint32_t s = threadIdx.x; s < splits; s += blockDim.x)
        gp_accumulator_merge(&part[threadIdx.x], &sent[s], &pass);
    merge_parts(part, blockDim.x, pass, true);
    return true;
}

/* How many blocks share each of so many outputs, so that the grid's blocks all have work. */
static __device__ uint32_t splits_of(const gp_pass &pass, uint32_t outputs) {
    const uint64_t share = pass.length / (blockDim.x * GP_REDUCE_ANY_SHARE), most = gridDim.x / outputs;
    return (uint32_t)max((uint64_t)1,
                         min(min(share, most), (uint64_t)(GP_MANY_SENT_BYTES / sizeof(gp_accumulator) / outputs)));
}

/* team: threads that share an output; splits: blocks that do, whose threads are one team then. failed_ones: those
   that reduce_many has not proved, else all outputs. */
__global__ void __launch_bounds__(GP_REDUCE_ANY_THREADS)
    reduce_any(const __grid_constant__ reduce_arguments a, unsigned team, uint32_t splits, bool failed_ones) {
    extern __shared__ gp_accumulator part[];
    gp_grid_dependency_wait();
    const uint32_t failed = failed_ones ? *(volatile uint32_t *)&a.many->failed : 0;
    const bool listed = failed_ones && failed <= GP_MANY_FAILED_MAX;
    const uint64_t outputs = listed ? failed : a.pass.outputs;
    if (listed && failed <= gridDim.x)
        for (team = blockDim.x; team > 1 && team * 8 > a.pass.length;) /* few outputs: each has a block */
            team /= 2; /* as clearing and merging take as long as some elements */
    if (outputs == 0)
        return;
    if (failed_ones)
        __syncthreads(); /* all have read it */
    if (listed && team == blockDim.x)
        splits = splits_of(a.pass, failed);
    bool wrote = false;
    const unsigned i = threadIdx.x, member = i % team, teams = blockDim.x / team;
    for (uint64_t first = (uint64_t)blockIdx.x * teams; first < outputs * splits;
         first += (uint64_t)gridDim.x * teams) {
        const uint64_t number = (first + i / team) / splits;
        const uint32_t split = (uint32_t)(first % splits);
        const uint64_t output = listed && number < outputs ? a.many->failure[number] : number;
        const bool mine = number < outputs && output < a.pass.outputs; /* not what a lost call has listed */
        if (mine) {
            gp_accumulator_clear(&part[i]);
            take_elements(&part[i], a.pass, output, member + split * team, team * splits);
        }
        merge_parts(part, team, a.pass, mine);
        const bool whole = splits == 1 || merge_blocks(part, a.many, number, split, splits, a.pass);
        wrote = whole && member == 0 && mine;
        if (wrote)
            write_all(a, &part[i], output);
        __syncthreads(); /* before the parts are cleared for the next output */
    }
    if (i == 0 && wrote) /* the host waits for one output alone */
        tell_host(a);
    if (failed_ones)
        forget_failures(a.many);
}

gp_status gp_reduce_any(gp_context *context, const gp_plan *plan, reduce_arguments *arguments, bool failed_ones) {
    unsigned team = plan->tiling.t[GP_REDUCE_ANY_TEAM], splits = plan->tiling.t[GP_REDUCE_ANY_SPLITS];
    void *list[] = {arguments, &team, &splits, &failed_ones};
    return gp_gpu_launch(context, plan, (const void *)reduce_any, list);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_any) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    return gp_reduce_any(context, plan, &arguments, false);
}
