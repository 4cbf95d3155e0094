/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that window_strip leaves to window_any, which is launched behind it. */
#pragma once

#include "../reduce_array/space.cuh"

/* Of 32 outputs from number 32 `first` on those whose bits are set. */
struct window_few {
    uint32_t first, mask;
};

/* Entries of a list, which many_space.failed counts. Where there is no room for all, all outputs are done again. */
#define GP_WINDOW_FAILED_MAX (uint32_t)(GP_MANY_SENT_BYTES / sizeof(window_few))
#define FAILED_SPECIAL 0x80000000u /* there too: windows see NaNs or infinities, for window_any to write */

static __device__ inline window_few *few_of(many_space *space) {
    return (window_few *)space->sent;
}

/* Lanes whose outputs are as far apart as they are, and that fail together, are listed together. */
static __device__ inline void fail(many_space *space, uint64_t output) {
    const unsigned lane = threadIdx.x % 32, shift = (unsigned)(output - lane) % 32;
    const uint32_t first = (uint32_t)(output / 32);
    const unsigned active = __activemask(),
                   together = __match_any_sync(active, first) & __match_any_sync(active, (uint32_t)(output - lane));
    const uint32_t listed = *(volatile uint32_t *)&space->failed & ~FAILED_SPECIAL;
    if (lane != (unsigned)__ffs((int)together) - 1 || listed > GP_WINDOW_FAILED_MAX)
        return;
    const uint32_t at = atomicAdd(&space->failed, 1) & ~FAILED_SPECIAL;
    if (at < GP_WINDOW_FAILED_MAX)
        few_of(space)[at] = {first, __funnelshift_l(together, together, shift)};
}

/* Windows may see NaNs or infinities. */
static __device__ inline void tell_special(many_space *space) {
    if ((*(volatile uint32_t *)&space->failed & FAILED_SPECIAL) == 0)
        atomicOr(&space->failed, FAILED_SPECIAL);
}

/* Launches a kernel with these arguments, and window_any behind it. tiled: of the arguments; set if window_any writes
 * what sees NaNs or infinities, which then is not to be listed. */
gp_status gp_window_launch_both(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const void *kernel, void *arguments, bool *tiled);
