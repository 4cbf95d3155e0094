/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that window_strip leaves to window_any, which is launched behind it. */
#pragma once

#include "../../host/reduce_array/tiling.h"
#include "../gpu.h"

#define GP_WINDOW_FAILED_MAX (uint32_t)(GP_MANY_SENT_BYTES / 8)

/* In the context's workspace, where reduce_many has the like; counters are zero between calls. */
struct window_failed {
    uint32_t count;    /* more than have room: then all are done again */
    uint32_t finished; /* blocks of window_any */
    uint32_t of_reduce_many[GP_MANY_FAILED_MAX + GP_MANY_TILES_MAX];
    uint64_t output[GP_MANY_SENT_BYTES / 8];
};

static_assert(sizeof(window_failed) <= GP_REDUCE_MANY_SPACE_BYTES, "there is room for it");

inline window_failed *window_failed_of(const gp_context *context) {
    return (window_failed *)((char *)context->gpu->workspace + GP_REDUCE_MANY_SPACE_FIRST);
}

static __device__ inline void fail(window_failed *failed, uint64_t output) {
    if (*(volatile uint32_t *)&failed->count > GP_WINDOW_FAILED_MAX)
        return;
    const uint32_t at = atomicAdd(&failed->count, 1);
    if (at < GP_WINDOW_FAILED_MAX)
        failed->output[at] = output;
}

/* window_any, of what failed. */
gp_status gp_window_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem);
