/* SPDX-License-Identifier: Apache-2.0 */
/* Device facts: defaults, and what the processor tells of itself. */
#include "device.h"
#include "arithmetic.h"
#include "cpu/split.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool gp_device_is_gpu(const gp_device *device) {
    return device->threads_per_sm > 0 && device->regs_per_sm > 0 && device->smem_per_sm > 0 &&
           device->blocks_per_sm > 0;
}

/* CUDA C Programming Guide, throughput of arithmetic instructions; a model without compute capability has them. */
bool gp_device_has_doubles(const gp_device *device) {
    return device->compute_major == 0 ||
           (device->compute_major >= 6 && device->compute_major <= 10 && device->compute_minor == 0);
}

#define DEFAULT(fact, value) device->fact = device->fact != 0 ? device->fact : (value)

void gp_device_fill_defaults(gp_device *device) {
    if (!gp_device_is_gpu(device))
        return;
    DEFAULT(multiprocessors, 1);
    DEFAULT(warp_size, 32);
    DEFAULT(threads_per_block, gp_to_u32(gp_least(device->threads_per_sm, 1024)));
    DEFAULT(regs_per_block, device->regs_per_sm);
    DEFAULT(reg_unit, 1);
    DEFAULT(sm_partitions, 1);
    DEFAULT(smem_per_block, device->smem_per_sm);
    DEFAULT(smem_per_block_optin, device->smem_per_block);
    DEFAULT(smem_unit, 1);
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
