/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's last launch was, and what CUDA says of its kernel. Link with WRAP cudaLaunchKernelExC. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct observed {
    size_t launches; /* since the program began */
    unsigned threads, grid;
    unsigned regs, blocks_per_sm; /* registers a thread as compiled; CUDA's occupancy call */
    size_t smem_static, smem_dynamic;
} observed;

extern observed observed_last;

/* Launch `number` since the program began, from 0 on; of the last 8. */
const observed *observed_launch(size_t number);

extern bool observe_only; /* launches are noted, and not made */
