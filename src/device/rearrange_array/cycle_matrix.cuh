/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of rearrange_cycle share: matrices, of which the workspace may hold the end. */
#pragma once

#include "../../host/rearrange_array/tiling.h"
#include "../rearrange/turn.cuh"

/* From byte `cut` on a padded matrix is in its tail. */
struct cycle_matrix {
    unsigned char *at, *tail;

    __device__ unsigned char *operator()(uint64_t offset, uint64_t cut) const {
        return offset < cut ? at + offset : tail + (offset - cut);
    }
};

/* A tail is as far off a word's start as what it follows. */
__device__ inline cycle_matrix cycle_matrix_of(const gp_cycle &c, uint64_t index) {
    unsigned char *at = c.others.out;
    uint64_t rest = c.first + index;
    for (uint32_t a = c.others.rank; a-- > 0;) {
        const uint64_t n = c.others.axis[a].n, up = rest / n;
        at += (int64_t)(rest - up * n) * c.others.axis[a].out;
        rest = up;
    }
    return {at, c.space + index * c.tail + (uintptr_t)(at + c.cut) % 16};
}
