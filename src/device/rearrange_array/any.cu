/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rearrange_any: any move, a piece of an element a thread at a time, at whatever address. In place elements change
 * places in pairs, of which the one at the lower address is moved.
 */
#include "../../host/rearrange_array/array.h"
#include "../../host/rearrange_array/tiling.h"
#include "../gpu.h"
#include "../rearrange/turn.cuh"

template <int bytes>
__global__ void __launch_bounds__(GP_REARRANGE_ANY_THREADS) rearrange_any(const __grid_constant__ gp_move move) {
    typedef typename element_of<bytes>::type piece;
    gp_grid_dependency_wait();
    const uint64_t pieces = move.run / bytes, all = move.count * pieces, step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < all; i += step) {
        uint64_t element = i / pieces;
        const uint64_t offset = (i - element * pieces) * bytes;
        const unsigned char *in = move.in + offset;
        unsigned char *out = move.out + offset;
        for (uint32_t a = move.rank; a-- > 0;) {
            const uint64_t rest = element / move.axis[a].n, at = element - rest * move.axis[a].n;
            in += (int64_t)at * move.axis[a].in;
            out += (int64_t)at * move.axis[a].out;
            element = rest;
        }
        const piece moved = *(const piece *)in;
        if (!move.in_place) {
            *(piece *)out = moved;
        } else if (in < out) {
            *(piece *)(uintptr_t)in = *(piece *)out;
            *(piece *)out = moved;
        }
    }
}

static void (*const kernels[])(gp_move) = {rearrange_any<1>, rearrange_any<2>, rearrange_any<4>, rearrange_any<8>,
                                           rearrange_any<16>};

GP_DECLARE_LAUNCHER(gp_launch_rearrange_any) {
    gp_move move = *problem->move;
    void *list[] = {&move};
    return gp_gpu_launch(context, plan, (const void *)kernels[plan->tiling.form], list);
}
