/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_occupancy() against the occupancy calculator that the CUDA toolkit carries as a header. Needs the toolkit to
 * compile and no GPU to run.
 */
#include "../check.h"
#include "../devices.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

static size_t compared;

static cudaOccDeviceProp properties_of(const gp_device_info *d) {
    return (cudaOccDeviceProp){.computeMajor = (int)d->compute_major,
                               .computeMinor = (int)d->compute_minor,
                               .maxThreadsPerBlock = (int)d->threads_per_block,
                               .maxThreadsPerMultiprocessor = (int)d->threads_per_sm,
                               .regsPerBlock = (int)d->regs_per_block,
                               .regsPerMultiprocessor = (int)d->regs_per_sm,
                               .warpSize = (int)d->warp_size,
                               .sharedMemPerBlock = d->smem_per_block,
                               .sharedMemPerMultiprocessor = d->smem_per_sm,
                               .numSms = (int)d->multiprocessors,
                               .sharedMemPerBlockOptin = d->smem_per_block_optin,
                               .reservedSharedMemPerBlock = d->smem_reserved};
}

static void compare(const gp_device_info *d, unsigned threads, unsigned regs, size_t smem) {
    cudaOccDeviceProp properties = properties_of(d);
    cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
                                      .numRegs = (int)regs,
                                      .maxDynamicSharedSizeBytes = d->smem_per_block_optin,
                                      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN};
    cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult theirs;
    memset(&theirs, 0, sizeof theirs);
    assert_int_equal(
        cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &properties, &function, &state, (int)threads, smem),
        CUDA_OCC_SUCCESS);
    gp_occupancy_info ours = {.struct_size = sizeof ours};
    assert_int_equal(gp_occupancy(d, threads, regs, smem, &ours), GP_OK);
    compared++;
    if ((int)ours.blocks_per_sm != theirs.activeBlocksPerMultiprocessor)
        fail_msg("%s, %u threads of %u registers, %zu bytes: %u blocks, the calculator says %d", d->name, threads,
                 regs, smem, ours.blocks_per_sm, theirs.activeBlocksPerMultiprocessor);
    assert_int_equal(ours.regs_per_block, theirs.allocatedRegistersPerBlock);
    assert_int_equal(ours.smem_per_block, theirs.allocatedSharedMemPerBlock);
}

static void agrees_for_every_generation(void **state) {
    (void)state;
    static const size_t steps[] = {0, 1, 127, 128, 1024, 2048, 5120, 8191, 16384, 24577, 32768, 49152, 65536, 101376};
    for (size_t i = DEVICE_KEPLER; i <= DEVICE_BLACKWELL_SMALL; i++) {
        const gp_device_info *d = &devices[i];
        if (i == DEVICE_PASCAL)
            continue; /* for 6.0 it also refuses what would not fit 6.1: a rule of portability, not of resources */
        for (unsigned threads = 1; threads <= 1024; threads += threads < 64 ? 1 : 31) {
            for (unsigned regs = 1; regs <= 255; regs += regs < 40 ? 1 : 9) {
                for (size_t s = 0; s < COUNT(steps) && steps[s] <= d->smem_per_block_optin; s++)
                    compare(d, threads, regs, steps[s]);
                compare(d, threads, regs, d->smem_per_block_optin);
            }
        }
    }
    printf("cases: %zu compared with the calculator\n", compared);
    assert_true(compared > 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_for_every_generation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
