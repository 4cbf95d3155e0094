/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library found on this machine, and which kernel it would choose for a few shapes, here and on a made-up
 * small GPU. cc device_query.c $(pkg-config --cflags --libs gpuprim)
 */
#define PROGRAM "device_query"
#include "example.h"

static const char *const limit_names[] = {"nothing", "threads", "registers", "shared memory", "block slots"};

static void print_plan(const gp_context *context, const char *what) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    must(gp_context_plan(context, &plan));
    printf("  %-34s %s", what, plan.kernel);
    if (plan.backend == GP_BACKEND_CPU)
        printf(", up to %llu threads\n", (unsigned long long)plan.grid);
    else
        printf(": %llu blocks of %u threads, %zu bytes of shared memory each; %u an SM, limited by %s\n",
               (unsigned long long)plan.grid, (unsigned)plan.block, plan.smem_static + plan.smem_dynamic,
               (unsigned)plan.blocks_per_sm, limit_names[plan.limited_by]);
}

/* A plan exists once its call was made; a model context makes the plan and touches no data. */
static void print_choices(gp_context *context) {
    enum { MOST = 2048 * 2048 };
    void *in = device_alloc(context, MOST * sizeof(int32_t)), *zeros = host_alloc(MOST, sizeof(int32_t));
    void *out = device_alloc(context, MOST * sizeof(float));
    int64_t sum;
    must(gp_copy(context, in, zeros, MOST * sizeof(int32_t)));
    must(gp_reduce_int(context, GP_REDUCE_SUM, in, 1000, &sum));
    print_plan(context, "sum of 1000 ints");
    must(gp_reduce_int(context, GP_REDUCE_SUM, in, MOST, &sum));
    print_plan(context, "sum of 2^22 ints");
    must(gp_sum_and_square_window(context, in, 300, 451, 451, 15, GP_BORDER_ZERO, out, NULL, 451));
    print_plan(context, "window 15 over 300 x 451");
    must(gp_sum_and_square_window(context, in, 2048, 2048, 2048, 501, GP_BORDER_ZERO, out, NULL, 2048));
    print_plan(context, "window 501 over 2048 x 2048");
    must(gp_transpose(context, 4, in, 2048, 2048, 2048, out, 2048));
    print_plan(context, "transpose of 2048 x 2048 floats");
    must(gp_transpose(context, 3, in, 300, 451, 451, out, 300));
    print_plan(context, "transpose of 300 x 451 RGB pixels");
    must(gp_transpose(context, 1024, in, 64, 64, 64, out, 64));
    print_plan(context, "transpose of 64 x 64 1-KiB elements");
    must(gp_free(context, in));
    must(gp_free(context, out));
    free(zeros);
}

static void print_gpu(const gp_device_info *d) {
    printf("  SMs                      %u\n", (unsigned)d->multiprocessors);
    if (d->compute_major) /* a made-up device needs none */
        printf("  compute capability       %u.%u\n", (unsigned)d->compute_major, (unsigned)d->compute_minor);
    printf("  threads                  %u a block, %u an SM, warps of %u\n", (unsigned)d->threads_per_block,
           (unsigned)d->threads_per_sm, (unsigned)d->warp_size);
    printf("  blocks                   %u an SM\n", (unsigned)d->blocks_per_sm);
    printf("  registers                %u a block, %u an SM, in units of %u\n", (unsigned)d->regs_per_block,
           (unsigned)d->regs_per_sm, (unsigned)d->reg_unit);
    printf("  shared memory, bytes     %zu a block, %zu by opting in, %zu an SM, in units of %zu, %zu reserved\n",
           d->smem_per_block, d->smem_per_block_optin, d->smem_per_sm, d->smem_unit, d->smem_reserved);
    if (d->memory_bytes)
        printf("  memory, bytes            %zu, L2 cache %zu\n", d->memory_bytes, d->l2_bytes);
}

static void describe(gp_context *context) {
    gp_device_info device = {.struct_size = sizeof device};
    must(gp_context_device(context, &device));
    if (device.backend == GP_BACKEND_CPU) {
        printf("%s\n", device.name);
        printf("  no GPU                   %s\n", device.no_gpu_reason);
    } else {
        printf("%s%s\n", device.name, device.backend == GP_BACKEND_MODEL ? " (made up: nothing is executed)" : "");
        print_gpu(&device);
    }
    if (device.backend != GP_BACKEND_MODEL)
        printf("  processor                %u threads,%s%s%s%s\n", (unsigned)device.cpu_threads,
               device.cpu_isa & GP_ISA_AVX2 ? " AVX2" : "", device.cpu_isa & GP_ISA_AVX512 ? " AVX-512" : "",
               device.cpu_isa & GP_ISA_NEON ? " NEON" : "", device.cpu_isa ? "" : " portable code");
}

int main(int argc, char **argv) {
    if (argc != 1)
        usage("(no arguments)");
    const unsigned version = gp_version();
    printf("libgpuprim %u.%u.%u, %d usable GPUs\n\n", version / 10000, version / 100 % 100, version % 100,
           gp_device_count());
    gp_context *context = open_context(NULL);
    describe(context);
    print_choices(context);
    gp_context_destroy(context);

    /* 16 KiB of shared memory and 16384 registers an SM, granted to the byte and the register. */
    gp_device_info small = {.struct_size = sizeof small,
                            .name = "device D",
                            .threads_per_sm = 1536,
                            .blocks_per_sm = 8,
                            .regs_per_sm = 16384,
                            .smem_per_sm = 16384};
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_MODEL, .device = -1, .model = &small};
    must(gp_context_create(&context, &options));
    putchar('\n');
    describe(context);
    print_choices(context);
    gp_context_destroy(context);
    (void)argv;
    return close_output();
}
