/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks an SM holds at once: the least over threads, registers, shared memory and slots. The rules (registers
 * granted to whole warps in units, warps spread evenly over the SM's partitions, shared memory in units plus a
 * reserved part) are those of NVIDIA's occupancy calculator; a unit of 1 and one partition give the plain quotients.
 */
#include "occupancy.h"
#include "arithmetic.h"
#include <string.h>

static uint64_t round_up(uint64_t value, uint64_t unit) {
    return gp_times(gp_divide_up(value, unit), unit);
}

static uint64_t warps_of(const gp_device *device, unsigned threads) {
    return gp_divide_up(threads, device->warp_size);
}

static uint64_t regs_of_warp(const gp_device *device, unsigned regs_per_thread) {
    return round_up((uint64_t)regs_per_thread * device->warp_size, device->reg_unit);
}

uint64_t gp_occupancy_regs_checked(const gp_device *device, unsigned threads, unsigned regs_per_thread) {
    return gp_times(regs_of_warp(device, regs_per_thread),
                    round_up(warps_of(device, threads), device->sm_partitions));
}

static uint64_t blocks_by_regs(const gp_device *device, unsigned threads, unsigned regs_per_thread) {
    if (regs_per_thread == 0)
        return UINT32_MAX;
    if (device->regs_per_thread > 0 && regs_per_thread > device->regs_per_thread)
        return 0;
    if (gp_occupancy_regs_checked(device, threads, regs_per_thread) > device->regs_per_block)
        return 0;
    uint64_t warps_per_partition =
        device->regs_per_sm / device->sm_partitions / regs_of_warp(device, regs_per_thread);
    return warps_per_partition * device->sm_partitions / warps_of(device, threads);
}

static uint64_t smem_granted(const gp_device *device, size_t smem_bytes) {
    return round_up(gp_plus(smem_bytes, device->smem_reserved), device->smem_unit);
}

static uint64_t blocks_by_smem(const gp_device *device, size_t smem_bytes) {
    if (smem_bytes > device->smem_per_block_optin)
        return 0;
    uint64_t granted = smem_granted(device, smem_bytes);
    return granted > 0 ? device->smem_per_sm / granted : UINT32_MAX;
}

/* Registers a thread that leave all of the SM's thread slots usable. */
static uint32_t full_regs(const gp_device *device) {
    uint64_t warps = device->threads_per_sm / device->warp_size / device->sm_partitions;
    if (warps == 0)
        return 0;
    uint64_t granted = device->regs_per_sm / device->sm_partitions / warps / device->reg_unit * device->reg_unit;
    uint64_t regs = granted / device->warp_size;
    return gp_to_u32(gp_least(regs, device->regs_per_thread > 0 ? device->regs_per_thread : UINT32_MAX));
}

static size_t full_smem(const gp_device *device, uint64_t blocks) {
    if (blocks == 0)
        return 0;
    uint64_t granted = device->smem_per_sm / blocks / device->smem_unit * device->smem_unit;
    uint64_t usable = granted > device->smem_reserved ? granted - device->smem_reserved : 0;
    return (size_t)gp_least(usable, device->smem_per_block_optin);
}

void gp_occupancy_compute(const gp_device *device, unsigned threads, unsigned regs_per_thread, size_t smem_bytes,
                          gp_occupancy_info *info) {
    const uint64_t warps = warps_of(device, threads);
    uint64_t by_threads = device->threads_per_sm / device->warp_size / warps;
    if (threads > device->threads_per_block)
        by_threads = 0;
    const struct {
        gp_limit limit;
        uint64_t blocks;
    } limits[] = {
        {GP_LIMIT_THREADS, by_threads},
        {GP_LIMIT_REGISTERS, blocks_by_regs(device, threads, regs_per_thread)},
        {GP_LIMIT_SHARED_MEMORY, blocks_by_smem(device, smem_bytes)},
        {GP_LIMIT_BLOCKS, device->blocks_per_sm},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].blocks < limits[least].blocks)
            least = i;
    const uint64_t blocks = limits[least].blocks;
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    info->blocks_per_sm = gp_to_u32(blocks);
    info->limited_by = gp_to_s32(limits[least].limit);
    info->blocks_by_threads = gp_to_u32(limits[0].blocks);
    info->blocks_by_regs = gp_to_u32(limits[1].blocks);
    info->blocks_by_smem = gp_to_u32(limits[2].blocks);
    info->blocks_by_slots = device->blocks_per_sm;
    info->threads_per_sm = gp_to_u32(gp_times(blocks, threads));
    info->regs_per_block = gp_to_u32(gp_times(regs_of_warp(device, regs_per_thread), warps));
    info->smem_per_block = (size_t)smem_granted(device, smem_bytes);
    info->smem_used_per_sm = (size_t)gp_times(blocks, info->smem_per_block);
    info->full_regs_per_thread = full_regs(device);
    info->full_smem_per_block = full_smem(device, gp_least(by_threads, device->blocks_per_sm));
}

const char *gp_limit_name(gp_limit limit) {
    static const char *const names[] = {"nothing", "threads", "registers", "shared memory", "block slots"};
    return (size_t)limit < sizeof names / sizeof *names ? names[limit] : "?";
}

unsigned gp_occupancy_blocks(const gp_device *device, unsigned threads, unsigned regs_per_thread, size_t smem_bytes) {
    gp_occupancy_info info;
    gp_occupancy_compute(device, threads, regs_per_thread, smem_bytes, &info);
    return info.blocks_per_sm;
}
