/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up GPUs. Threads, registers, shared memory and block slots: CUDA C Programming Guide, table "Technical
 * specifications per compute capability" (3.5 to 12.0), and edition 8.0 of it for 2.0. Units, partitions and slots:
 * cuda_occupancy.h of CUDA 13.0 (granularities by compute capability), for 2.0 the occupancy calculator of CUDA 6.5.
 * Reserved bytes: 1 KiB a block from 8.0 on (the guide, "Shared memory" of compute capability 8.x). SM counts: C2050,
 * K40, P100, V100, T4, A100, RTX 3090, RTX 4090, H200, B200, RTX 5090.
 */
#include "devices.h"
#include "check.h"

#define KIB 1024u

#define REAL(label, major, minor, sms, threads, slots, sm, block, optin, reserved, unit, parts)                \
    {                                                                                                          \
        .struct_size = sizeof(gp_device_info), .backend = GP_BACKEND_MODEL, .ordinal = -1, .name = label,      \
        .compute_major = major, .compute_minor = minor, .multiprocessors = sms, .warp_size = 32,               \
        .threads_per_block = 1024, .threads_per_sm = threads, .blocks_per_sm = slots, .regs_per_block = 65536, \
        .regs_per_sm = 65536, .regs_per_thread = 255, .reg_unit = 256, .sm_partitions = parts,                 \
        .smem_per_block = (block)*KIB, .smem_per_block_optin = (optin)*KIB, .smem_per_sm = (sm)*KIB,           \
        .smem_reserved = reserved, .smem_unit = unit                                                           \
    }

const gp_device_info devices[DEVICE_COUNT] = {
    [DEVICE_D] = {.struct_size = sizeof(gp_device_info),
                  .name = "D",
                  .threads_per_sm = 1536,
                  .blocks_per_sm = 8,
                  .regs_per_sm = 16384,
                  .smem_per_sm = 16384},
    [DEVICE_FERMI] = {.struct_size = sizeof(gp_device_info),
                      .name = "Fermi",
                      .compute_major = 2,
                      .multiprocessors = 14,
                      .threads_per_block = 1024,
                      .threads_per_sm = 1536,
                      .blocks_per_sm = 8,
                      .regs_per_sm = 32768,
                      .regs_per_thread = 63,
                      .reg_unit = 64,
                      .sm_partitions = 2,
                      .smem_per_sm = 48 * KIB,
                      .smem_unit = 128},
    [DEVICE_KEPLER] = REAL("Kepler", 3, 5, 15, 2048, 16, 48, 48, 48, 0, 256, 4),
    [DEVICE_PASCAL] = REAL("Pascal", 6, 0, 56, 2048, 32, 64, 48, 48, 0, 256, 2),
    [DEVICE_VOLTA] = REAL("Volta", 7, 0, 80, 2048, 32, 96, 48, 96, 0, 256, 4),
    [DEVICE_TURING] = REAL("Turing", 7, 5, 40, 1024, 16, 64, 48, 64, 0, 256, 4),
    [DEVICE_AMPERE] = REAL("Ampere", 8, 0, 108, 2048, 32, 164, 48, 163, 1024, 128, 4),
    [DEVICE_AMPERE_SMALL] = REAL("Ampere, small", 8, 6, 82, 1536, 16, 100, 48, 99, 1024, 128, 4),
    [DEVICE_ADA] = REAL("Ada", 8, 9, 128, 1536, 24, 100, 48, 99, 1024, 128, 4),
    [DEVICE_HOPPER] = REAL("Hopper", 9, 0, 132, 2048, 32, 228, 48, 227, 1024, 128, 4),
    [DEVICE_BLACKWELL] = REAL("Blackwell", 10, 0, 148, 2048, 32, 228, 48, 227, 1024, 128, 4),
    [DEVICE_BLACKWELL_SMALL] = REAL("Blackwell, small", 12, 0, 170, 1536, 24, 100, 48, 99, 1024, 128, 4),
    [DEVICE_TINY] = {.struct_size = sizeof(gp_device_info),
                     .name = "tiny",
                     .threads_per_sm = 32,
                     .blocks_per_sm = 1,
                     .regs_per_sm = 4096,
                     .smem_per_sm = 1 * KIB},
    [DEVICE_NARROW_REGS] = {.struct_size = sizeof(gp_device_info),
                            .name = "few registers",
                            .threads_per_sm = 2048,
                            .blocks_per_sm = 16,
                            .regs_per_block = 512,
                            .regs_per_sm = 65536,
                            .smem_per_sm = 48 * KIB},
};

gp_context *make_context(gp_backend backend, int device, unsigned cpu_threads) {
    const gp_options options = {
        .struct_size = sizeof options, .backend = (int32_t)backend, .device = device, .cpu_threads = cpu_threads};
    gp_context *context = NULL;
    if (gp_context_create(&context, &options) != GP_OK)
        fail_msg("no context: %s", gp_last_error());
    return context;
}

gp_context *devices_open(const gp_device_info *model) {
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_MODEL, .device = -1, .model = model};
    gp_context *context = NULL;
    if (gp_context_create(&context, &options) != GP_OK)
        fail_msg("no model context of %s: %s", model->name, gp_last_error());
    return context;
}
