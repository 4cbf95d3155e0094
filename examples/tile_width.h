/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where the width of tiled_matmul's tiles is chosen, for real and for made-up devices. */
#pragma once

#include "example.h"

/* The width with most threads resident on an SM; of equals the widest, which reads global memory least. 0: none. */
static inline unsigned choose_width(const gp_device_info *device, unsigned regs) {
    unsigned chosen = 0, most = 1;
    printf("%s, %u registers a thread\n", device->name, regs);
    for (unsigned width = 8; width <= 32; width += 8) { /* multiples of 8 make whole warps */
        gp_occupancy_info fit = {.struct_size = sizeof fit};
        const size_t smem = 2 * sizeof(float) * width * width;
        must(gp_occupancy(device, width * width, regs, smem, &fit));
        printf("  tile %2u: %4u threads, %4zu bytes: %2u blocks, %4u threads, %6zu bytes an SM\n", width,
               width * width, smem, (unsigned)fit.blocks_per_sm, (unsigned)fit.threads_per_sm, fit.smem_used_per_sm);
        if (fit.threads_per_sm >= most) {
            most = fit.threads_per_sm;
            chosen = width;
        }
    }
    printf("  chosen: %u\n", chosen);
    return chosen;
}
