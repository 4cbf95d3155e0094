/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the context's workspace that reduce_many, reduce_short and window_strip use, one call after another. */
#pragma once

#include "../../host/reduce_array/tiling.h"
#include "../gpu.h"

/* Counters are zero between calls; what is behind them is anything. */
struct many_space {
    uint32_t failed;                     /* outputs that are left to the kernel behind, as each says */
    uint32_t finished;                   /* blocks of that kernel */
    uint32_t arrived[GP_MANY_TILES_MAX]; /* blocks of a tile */
    uint32_t drawn[GP_MANY_TILES_MAX];   /* groups of it */
    uint32_t failure[GP_MANY_FAILED_MAX];
    uint4 sent[GP_MANY_SENT_BYTES / 16];
};

static_assert(sizeof(many_space) <= GP_REDUCE_MANY_SPACE_BYTES, "there is room for it");

inline many_space *many_space_of(const gp_context *context) {
    return (many_space *)((char *)context->gpu->workspace + GP_REDUCE_MANY_SPACE_FIRST);
}
