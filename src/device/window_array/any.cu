/* SPDX-License-Identifier: Apache-2.0 */
/* window_any: any window, element by element, by the processor's own source. */
#include "../../host/exact.c"
#include "../../host/kernel.h"
#include "../../host/window_array/tiling.h"
#include "../gpu.h"
#include "../warp.cuh"

#include "../../host/reduce_array/accumulator.c"
#include "../../host/reduce_array/accumulator_write.c"
#include "../../host/window_array/one.c"

struct window_any_arguments {
    gp_window_box box;
    volatile uint32_t *done; /* or NULL: `sequence` is written there after the results */
    uint32_t sequence;
};

__global__ void __launch_bounds__(GP_WINDOW_ANY_THREADS) window_any(const __grid_constant__ window_any_arguments a) {
    extern __shared__ gp_accumulator sums[];
    __shared__ gp_window_one one;
    gp_grid_dependency_wait();
    if (threadIdx.x == 0) {
        one.box = &a.box;
        gp_window_as_pass(&a.box, &one.pass);
    }
    __syncthreads();
    const unsigned y = a.box.outer, x = y + 1;
    for (uint64_t output = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; output < a.box.outputs;
         output += (uint64_t)gridDim.x * blockDim.x) {
        const unsigned char *in = a.box.in;
        unsigned char *to[GP_PASS_RESULTS];
        uint64_t at[GP_AXES], rest = output;
        for (unsigned axis = x + 1; axis-- > 0; rest /= a.box.axis[axis].outputs)
            at[axis] = rest % a.box.axis[axis].outputs;
        for (unsigned axis = 0; axis < y; axis++)
            in += (int64_t)at[axis] * a.box.axis[axis].in;
        for (unsigned r = 0; r < a.box.results; r++)
            to[r] = gp_pass_address(&one.pass, r, output);
        gp_window_gather_one(&sums[threadIdx.x], &one, in, at[y], at[x]);
        gp_window_write_one(&sums[threadIdx.x], &one, to);
    }
    if (a.done != NULL && threadIdx.x == 0) { /* of one output */
        __threadfence_system();
        *a.done = a.sequence;
    }
}

GP_DECLARE_LAUNCHER(gp_launch_window_any) {
    const gp_gpu *gpu = context->gpu;
    window_any_arguments arguments = {};
    arguments.box = *problem->box;
    arguments.sequence = gpu->sequence;
    for (unsigned r = 0; r < arguments.box.results; r++)
        if (arguments.box.to[r] == (void *)&gpu->slot_device->reduced[r])
            arguments.done = &gpu->slot_device->done;
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, (const void *)window_any, list);
}
