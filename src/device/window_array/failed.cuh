/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that window_strip leaves to window_any, which is launched behind it. */
#pragma once

#include "../../host/reduce_array/tiling.h"
#include "../gpu.h"

#define GP_WINDOW_FAILED_MAX (uint32_t)(GP_MANY_SENT_BYTES / 8)

/* Of 32 outputs from number 32 `first` on those whose bits are set. */
struct window_few {
    uint32_t first, mask;
};

/* In the context's workspace, where reduce_many has the like; counters are zero between calls. */
struct window_failed {
    uint32_t count;    /* more than have room: then all are done again; and FAILED_SPECIAL */
    uint32_t finished; /* blocks of window_any */
    uint32_t of_reduce_many[GP_MANY_FAILED_MAX + GP_MANY_TILES_MAX];
    window_few few[GP_WINDOW_FAILED_MAX];
};

#define FAILED_SPECIAL 0x80000000u /* some windows see NaNs or infinities: window_any writes these results */

static_assert(sizeof(window_failed) <= GP_REDUCE_MANY_SPACE_BYTES, "there is room for it");

inline window_failed *window_failed_of(const gp_context *context) {
    return (window_failed *)((char *)context->gpu->workspace + GP_REDUCE_MANY_SPACE_FIRST);
}

/* Lanes whose outputs are as far apart as they are, and that fail together, are listed together. */
static __device__ inline void fail(window_failed *failed, uint64_t output) {
    const unsigned lane = threadIdx.x % 32, shift = (unsigned)(output - lane) % 32;
    const uint32_t first = (uint32_t)(output / 32);
    const unsigned active = __activemask(),
                   together = __match_any_sync(active, first) & __match_any_sync(active, (uint32_t)(output - lane));
    const uint32_t listed = *(volatile uint32_t *)&failed->count & ~FAILED_SPECIAL;
    if (lane != (unsigned)__ffs((int)together) - 1 || listed > GP_WINDOW_FAILED_MAX)
        return;
    const uint32_t at = atomicAdd(&failed->count, 1) & ~FAILED_SPECIAL;
    if (at < GP_WINDOW_FAILED_MAX)
        failed->few[at] = {first, __funnelshift_l(together, together, shift)};
}

/* Windows may see NaNs or infinities. */
static __device__ inline void tell_special(window_failed *failed) {
    if ((*(volatile uint32_t *)&failed->count & FAILED_SPECIAL) == 0)
        atomicOr(&failed->count, FAILED_SPECIAL);
}

/* Plans window_any, of what fails, which is launched behind. Its tiling has a tile where outputs that see NaNs or
 * infinities are not to be listed. */
gp_status gp_window_plan_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem, gp_plan *again);
gp_status gp_window_failed(gp_context *context, const gp_plan *again, const gp_problem *problem);
