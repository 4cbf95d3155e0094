/* SPDX-License-Identifier: Apache-2.0 */
/* Device facts: defaults, and what the processor tells of itself. */
#include "device.h"
#include "arithmetic.h"
#include "cpu/split.h"
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool gp_device_is_gpu(const gp_device *device) {
    return device->threads_per_sm > 0 && device->regs_per_sm > 0 && device->smem_per_sm > 0 &&
           device->blocks_per_sm > 0;
}

static void default_u32(uint32_t *field, uint32_t value) {
    if (*field == 0)
        *field = value;
}

static void default_size(size_t *field, size_t value) {
    if (*field == 0)
        *field = value;
}

void gp_device_fill_defaults(gp_device *device) {
    if (!gp_device_is_gpu(device))
        return;
    default_u32(&device->multiprocessors, 1);
    default_u32(&device->warp_size, 32);
    default_u32(&device->threads_per_block, gp_to_u32(gp_least(device->threads_per_sm, 1024)));
    default_u32(&device->regs_per_block, device->regs_per_sm);
    default_u32(&device->reg_unit, 1);
    default_u32(&device->sm_partitions, 1);
    default_size(&device->smem_per_block, device->smem_per_sm);
    default_size(&device->smem_per_block_optin, device->smem_per_block);
    default_size(&device->smem_unit, 1);
}

#if defined(__x86_64__)
/* Clang 14 does not know F16C by name. That the system keeps its registers is told with AVX2. */
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static uint32_t processor_isa(void) {
    uint32_t isa = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && has_f16c())
        isa |= GP_ISA_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        isa |= GP_ISA_AVX512;
#elif defined(__aarch64__)
    isa |= GP_ISA_NEON; /* no AArch64 Linux is without: floating point is passed in its registers */
#endif
    return isa;
}

void gp_device_query_processor(gp_device *device, unsigned cpu_threads) {
    device->cpu_threads = cpu_threads > 0 ? cpu_threads : gp_threads_available();
    device->cpu_isa = processor_isa();
}
