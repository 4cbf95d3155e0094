/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit on a kernel's shared memory is raised once, however many of the library's kernels are used: a context
 * remembers all. Link as fake_cuda.h says, and with --wrap=__cudaRegisterFunction.
 */
#include "../../src/device/gpu.h"
#include "../check.h"
#include "fake_cuda.h"

#define KERNELS_MAX 4096

/* The library's kernels, which tell the CUDA run time of themselves when a program starts. */
static const void *kernels[KERNELS_MAX];
static size_t kernel_count;

void __real___cudaRegisterFunction(void **module, const char *function, char *name, const char *device_name,
                                   int threads, void *tid, void *bid, void *block, void *grid, int *warp);
void __wrap___cudaRegisterFunction(void **module, const char *function, char *name, const char *device_name,
                                   int threads, void *tid, void *bid, void *block, void *grid, int *warp);

void __wrap___cudaRegisterFunction(void **module, const char *function, char *name, const char *device_name,
                                   int threads, void *tid, void *bid, void *block, void *grid, int *warp) {
    if (kernel_count < KERNELS_MAX)
        kernels[kernel_count] = function;
    kernel_count++;
    __real___cudaRegisterFunction(module, function, name, device_name, threads, tid, bid, block, grid, warp);
}

/* CUDA calls that the launch makes. */
static unsigned launch(gp_context *context, const gp_plan *plan, const void *kernel) {
    void *arguments[1] = {NULL};
    const unsigned before = fake.calls;
    assert_int_equal(gp_gpu_launch(context, plan, kernel, arguments), GP_OK);
    return fake.calls - before;
}

static void each_kernel_is_raised_once(void **state) {
    (void)state;
    static const gp_kernel row = {.name = "large", .space = GP_SPACE_GPU};
    gp_context *context = make_context(GP_BACKEND_CUDA, 1, 0);
    const size_t smem = context->device.smem_per_block_optin;
    const gp_plan small = {.row = &row, .tiling = {.threads = 32, .blocks = 1, .smem = 1024}};
    const gp_plan large = {.row = &row, .tiling = {.threads = 32, .blocks = 1, .smem = smem}};
    assert_true(smem > context->device.smem_per_block);
    assert_in_range(kernel_count, 50, KERNELS_MAX);
    fake_cuda_arm(0, cudaSuccess, false);
    for (size_t i = 0; i < kernel_count; i++)
        assert_int_equal(launch(context, &small, kernels[i]), 1);
    for (size_t i = 0; i < kernel_count; i++)
        assert_int_equal(launch(context, &large, kernels[i]), 3); /* the kernel's facts, the limit, the launch */
    for (size_t i = 0; i < kernel_count; i++)
        assert_int_equal(launch(context, &large, kernels[i]), 1);
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kernel_is_raised_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
