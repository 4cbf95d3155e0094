/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that an SM holds at once, from resources. Pure; docs/occupancy.md has the worked numbers. */
#pragma once

#include "device.h"

/* device has its defaults filled in; threads > 0. */
void gp_occupancy_compute(const gp_device *device, unsigned threads, unsigned regs_per_thread, size_t smem_bytes,
                          gp_occupancy_info *info);

/* Blocks that an SM holds at once. */
unsigned gp_occupancy_blocks(const gp_device *device, unsigned threads, unsigned regs_per_thread, size_t smem_bytes);

/* Registers that a block is granted, and that the launch check counts (warps rounded up to the SM's partitions). */
uint64_t gp_occupancy_regs_checked(const gp_device *device, unsigned threads, unsigned regs_per_thread);

const char *gp_limit_name(gp_limit limit);
