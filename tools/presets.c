/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known GPUs for `gpuprim explain --device`, and where their figures are from.
 *
 * Threads, blocks, registers and shared memory of an SM, of a block and of a thread, and the 1 KiB a block reserved
 * since 8.0: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", edition 13.0; 11.8
 * for 3.5 to 7.0; 8.0 for 2.0.
 *
 * Units in which registers and shared memory are granted, partitions of an SM, block slots: cuda_occupancy.h of the
 * CUDA 13.0 toolkit; for 2.0 the occupancy calculator of CUDA 6.5.
 *
 * SMs: NVIDIA's whitepaper on the architecture, or the product's data sheet, as each says.
 */
#include "device_facts.h"
#include <string.h>
#include <strings.h>

#define KIB 1024u

#define GPU(label, major, minor, sms, threads, slots, sm, optin, reserved, unit, parts)                        \
    {                                                                                                          \
        .struct_size = sizeof(gp_device_info), .backend = GP_BACKEND_MODEL, .ordinal = -1, .name = label,      \
        .compute_major = major, .compute_minor = minor, .multiprocessors = sms, .warp_size = 32,               \
        .threads_per_block = 1024, .threads_per_sm = threads, .blocks_per_sm = slots, .regs_per_block = 65536, \
        .regs_per_sm = 65536, .regs_per_thread = 255, .reg_unit = 256, .sm_partitions = parts,                 \
        .smem_per_block = 48 * KIB, .smem_per_block_optin = (optin)*KIB, .smem_per_sm = (sm)*KIB,              \
        .smem_reserved = reserved, .smem_unit = unit                                                           \
    }

#define GUIDE "limits: CUDA C++ Programming Guide 13.0, compute capability "
#define GUIDE_11 "limits: CUDA C++ Programming Guide 11.8, compute capability "
#define REST "; granted units: cuda_occupancy.h of CUDA 13.0; SMs: "

/* blocks_per_sm of 12.x: cuda_occupancy.h has 24. K40: shared memory as configured for most of it. */
static const preset presets[] = {
    {"D",
     {.struct_size = sizeof(gp_device_info),
      .backend = GP_BACKEND_MODEL,
      .ordinal = -1,
      .name = "device D",
      .multiprocessors = 1,
      .threads_per_sm = 1536,
      .blocks_per_sm = 8,
      .regs_per_sm = 16384,
      .smem_per_sm = 16384},
     "made up, for worked answers: 1536 threads, 8 blocks, 16384 registers and 16384 bytes of shared memory an SM, "
     "nothing rounded to units"},
    {"m2070",
     {.struct_size = sizeof(gp_device_info),
      .backend = GP_BACKEND_MODEL,
      .ordinal = -1,
      .name = "Tesla M2070",
      .compute_major = 2,
      .multiprocessors = 14,
      .warp_size = 32,
      .threads_per_block = 1024,
      .threads_per_sm = 1536,
      .blocks_per_sm = 8,
      .regs_per_block = 32768,
      .regs_per_sm = 32768,
      .regs_per_thread = 63,
      .reg_unit = 64,
      .sm_partitions = 2,
      .smem_per_block = 48 * KIB,
      .smem_per_block_optin = 48 * KIB,
      .smem_per_sm = 48 * KIB,
      .smem_unit = 128},
     "limits: CUDA C Programming Guide 8.0, compute capability 2.0; granted units: occupancy calculator of CUDA 6.5; "
     "SMs: Fermi whitepaper and Tesla M2070 data sheet"},
    {"k40", GPU("Tesla K40", 3, 5, 15, 2048, 16, 48, 48, 0, 256, 4), GUIDE_11 "3.5" REST "Kepler GK110 whitepaper"},
    {"m40", GPU("Tesla M40", 5, 2, 24, 2048, 32, 96, 48, 0, 256, 4),
     GUIDE_11 "5.2" REST "Tesla M40 data sheet (GM200)"},
    {"p100", GPU("Tesla P100", 6, 0, 56, 2048, 32, 64, 48, 0, 256, 2), GUIDE_11 "6.0" REST "Pascal P100 whitepaper"},
    {"v100", GPU("Tesla V100", 7, 0, 80, 2048, 32, 96, 96, 0, 256, 4), GUIDE_11 "7.0" REST "Volta V100 whitepaper"},
    {"t4", GPU("Tesla T4", 7, 5, 40, 1024, 16, 64, 64, 0, 256, 4), GUIDE "7.5" REST "Turing whitepaper"},
    {"a100", GPU("A100", 8, 0, 108, 2048, 32, 164, 163, 1024, 128, 4), GUIDE "8.0" REST "A100 whitepaper"},
    {"rtx3090", GPU("GeForce RTX 3090", 8, 6, 82, 1536, 16, 100, 99, 1024, 128, 4),
     GUIDE "8.6" REST "Ampere GA102 whitepaper"},
    {"rtx4090", GPU("GeForce RTX 4090", 8, 9, 128, 1536, 24, 100, 99, 1024, 128, 4),
     GUIDE "8.9" REST "Ada whitepaper"},
    {"h200", GPU("H200", 9, 0, 132, 2048, 32, 228, 227, 1024, 128, 4),
     GUIDE "9.0" REST "Hopper H100 whitepaper (SXM)"},
    {"b200", GPU("B200", 10, 0, 148, 2048, 32, 228, 227, 1024, 128, 4),
     GUIDE "10.0" REST "148, as published measurements of a B200 report"},
    {"rtx5090", GPU("GeForce RTX 5090", 12, 0, 170, 1536, 24, 100, 99, 1024, 128, 4),
     GUIDE "12.0" REST "RTX Blackwell whitepaper"},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const preset *preset_find(const char *name) {
    for (size_t i = 0; i < PRESETS; i++)
        if (strcasecmp(name, presets[i].name) == 0)
            return &presets[i];
    return NULL;
}

json_t *preset_rows(void) {
    json_t *rows = made(json_array());
    for (size_t i = 0; i < PRESETS; i++) {
        json_t *object = device_to_json(&presets[i].device);
        json_object_set_new(object, "device", made(json_string(presets[i].name)));
        json_object_set_new(object, "source", made(json_string(presets[i].source)));
        json_array_append_new(rows, object);
    }
    return rows;
}
