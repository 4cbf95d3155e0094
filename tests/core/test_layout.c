/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs compiled against an earlier release rely on: where the members of each struct stand (64 bits), and
 * the numbers behind the names. A release may add to the ends of these lists; nothing that stands here ever changes.
 */
#include "../check.h"

#define AT(type, member, was) \
    { #type "." #member, offsetof(type, member), was }

static void members_stay_where_they_are(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t is, was;
    } members[] = {AT(gp_device_info, struct_size, 0),
                   AT(gp_device_info, backend, 8),
                   AT(gp_device_info, ordinal, 12),
                   AT(gp_device_info, name, 16),
                   AT(gp_device_info, no_gpu_reason, 80),
                   AT(gp_device_info, compute_major, 272),
                   AT(gp_device_info, compute_minor, 276),
                   AT(gp_device_info, multiprocessors, 280),
                   AT(gp_device_info, warp_size, 284),
                   AT(gp_device_info, threads_per_block, 288),
                   AT(gp_device_info, threads_per_sm, 292),
                   AT(gp_device_info, blocks_per_sm, 296),
                   AT(gp_device_info, regs_per_block, 300),
                   AT(gp_device_info, regs_per_sm, 304),
                   AT(gp_device_info, regs_per_thread, 308),
                   AT(gp_device_info, reg_unit, 312),
                   AT(gp_device_info, sm_partitions, 316),
                   AT(gp_device_info, smem_per_block, 320),
                   AT(gp_device_info, smem_per_block_optin, 328),
                   AT(gp_device_info, smem_per_sm, 336),
                   AT(gp_device_info, smem_reserved, 344),
                   AT(gp_device_info, smem_unit, 352),
                   AT(gp_device_info, l2_bytes, 360),
                   AT(gp_device_info, memory_bytes, 368),
                   AT(gp_device_info, cpu_threads, 376),
                   AT(gp_device_info, cpu_isa, 380),
                   AT(gp_options, struct_size, 0),
                   AT(gp_options, backend, 8),
                   AT(gp_options, device, 12),
                   AT(gp_options, cpu_threads, 16),
                   AT(gp_options, reserved, 20),
                   AT(gp_options, model, 24),
                   AT(gp_plan_info, struct_size, 0),
                   AT(gp_plan_info, kernel, 8),
                   AT(gp_plan_info, operation, 16),
                   AT(gp_plan_info, backend, 20),
                   AT(gp_plan_info, grid, 24),
                   AT(gp_plan_info, block, 32),
                   AT(gp_plan_info, regs_per_thread, 36),
                   AT(gp_plan_info, smem_static, 40),
                   AT(gp_plan_info, smem_dynamic, 48),
                   AT(gp_plan_info, blocks_per_sm, 56),
                   AT(gp_plan_info, limited_by, 60),
                   AT(gp_plan_info, bytes_read, 64),
                   AT(gp_plan_info, bytes_written, 72),
                   AT(gp_kernel_info, struct_size, 0),
                   AT(gp_kernel_info, name, 8),
                   AT(gp_kernel_info, about, 16),
                   AT(gp_kernel_info, operation, 24),
                   AT(gp_kernel_info, flags, 28),
                   AT(gp_kernel_info, regs_per_thread, 32),
                   AT(gp_kernel_info, reserved, 36),
                   AT(gp_kernel_info, smem_static, 40),
                   AT(gp_occupancy_info, struct_size, 0),
                   AT(gp_occupancy_info, blocks_per_sm, 8),
                   AT(gp_occupancy_info, limited_by, 12),
                   AT(gp_occupancy_info, blocks_by_threads, 16),
                   AT(gp_occupancy_info, blocks_by_regs, 20),
                   AT(gp_occupancy_info, blocks_by_smem, 24),
                   AT(gp_occupancy_info, blocks_by_slots, 28),
                   AT(gp_occupancy_info, threads_per_sm, 32),
                   AT(gp_occupancy_info, regs_per_block, 36),
                   AT(gp_occupancy_info, smem_per_block, 40),
                   AT(gp_occupancy_info, smem_used_per_sm, 48),
                   AT(gp_occupancy_info, full_regs_per_thread, 56),
                   AT(gp_occupancy_info, reserved, 60),
                   AT(gp_occupancy_info, full_smem_per_block, 64),
                   AT(gp_array, data, 0),
                   AT(gp_array, type, 8),
                   AT(gp_array, rank, 12),
                   AT(gp_array, elem_bytes, 16),
                   AT(gp_array, extent, 24),
                   AT(gp_array, stride, 88),
                   AT(gp_result, op, 0),
                   AT(gp_result, reserved, 4),
                   AT(gp_result, to, 8),
                   AT(gp_window_shape, struct_size, 0),
                   AT(gp_window_shape, extent, 8),
                   AT(gp_window_shape, shift, 72),
                   AT(gp_window_shape, border, 136),
                   AT(gp_window_shape, reserved, 140)};
    for (size_t i = 0; i < COUNT(members); i++)
        if (members[i].is != members[i].was)
            fail_msg("%s is at %zu, not at %zu", members[i].name, members[i].is, members[i].was);
}

static void structs_do_not_shrink(void **state) {
    (void)state;
    assert_true(sizeof(gp_device_info) >= 384);
    assert_true(sizeof(gp_options) >= 32);
    assert_true(sizeof(gp_plan_info) >= 80);
    assert_true(sizeof(gp_kernel_info) >= 48);
    assert_true(sizeof(gp_occupancy_info) >= 72);
    assert_int_equal(sizeof(gp_array), 152); /* these two stand in arrays and never grow */
    assert_int_equal(sizeof(gp_result), 160);
    assert_true(sizeof(gp_window_shape) >= 144);
}

/* Of each enumeration the names in order, from 0. */
static void names_keep_their_numbers(void **state) {
    (void)state;
    static const int statuses[] = {GP_OK,          GP_ERR_ARGUMENT,  GP_ERR_EMPTY,       GP_ERR_OVERFLOW,
                                   GP_ERR_OVERLAP, GP_ERR_MEMORY,    GP_ERR_NO_DEVICE,   GP_ERR_DRIVER,
                                   GP_ERR_DEVICE,  GP_ERR_NO_KERNEL, GP_ERR_UNSUPPORTED, GP_ERR_FORKED};
    static const int backends[] = {GP_BACKEND_AUTO, GP_BACKEND_CPU, GP_BACKEND_CUDA, GP_BACKEND_MODEL};
    static const int ops[] = {GP_REDUCE_SUM,
                              GP_REDUCE_MIN,
                              GP_REDUCE_MAX,
                              GP_REDUCE_AND,
                              GP_REDUCE_OR,
                              GP_REDUCE_XOR,
                              GP_REDUCE_ARGMIN,
                              GP_REDUCE_ARGMAX,
                              GP_REDUCE_COUNT,
                              GP_REDUCE_SUM_ABS,
                              GP_REDUCE_SUM_SQUARES,
                              GP_REDUCE_MAX_ABS,
                              GP_REDUCE_NORM,
                              GP_REDUCE_MEAN,
                              GP_REDUCE_VARIANCE,
                              GP_REDUCE_STDDEV,
                              GP_REDUCE_VARIANCE_SAMPLE,
                              GP_REDUCE_STDDEV_SAMPLE};
    static const int pair_ops[] = {GP_REDUCE_DOT, GP_REDUCE_SUM_ABS_DIFF, GP_REDUCE_SUM_SQUARE_DIFF,
                                   GP_REDUCE_MAX_ABS_DIFF, GP_REDUCE_COUNT_DIFF};
    static const int types[] = {GP_U8,  GP_S8,  GP_U16, GP_S16,  GP_U32, GP_S32,
                                GP_U64, GP_S64, GP_F16, GP_BF16, GP_F32, GP_F64};
    static const int borders[] = {GP_BORDER_NONE,        GP_BORDER_ZERO, GP_BORDER_REPLICATE, GP_BORDER_REFLECT,
                                  GP_BORDER_REFLECT_101, GP_BORDER_WRAP, GP_BORDER_SHRINK};
    static const int operations[] = {
        GP_OPERATION_NONE,         GP_OPERATION_REDUCE,          GP_OPERATION_WINDOW,      GP_OPERATION_TRANSPOSE,
        GP_OPERATION_REDUCE_ARRAY, GP_OPERATION_REARRANGE_ARRAY, GP_OPERATION_WINDOW_ARRAY};
    static const int limits[] = {GP_LIMIT_NONE, GP_LIMIT_THREADS, GP_LIMIT_REGISTERS, GP_LIMIT_SHARED_MEMORY,
                                 GP_LIMIT_BLOCKS};
    static const unsigned flags[] = {GP_KERNEL_GPU, GP_KERNEL_STUDY, GP_KERNEL_MODULO_32, GP_KERNEL_FLOAT};
    static const unsigned isas[] = {GP_ISA_AVX2, GP_ISA_AVX512, GP_ISA_NEON};
    static const struct {
        const int *values;
        size_t count;
    } enums[] = {{statuses, COUNT(statuses)}, {backends, COUNT(backends)},     {ops, COUNT(ops)},
                 {borders, COUNT(borders)},   {operations, COUNT(operations)}, {limits, COUNT(limits)}};
    for (size_t e = 0; e < COUNT(enums); e++)
        for (size_t i = 0; i < enums[e].count; i++)
            assert_int_equal(enums[e].values[i], i);
    for (size_t i = 0; i < COUNT(pair_ops); i++)
        assert_int_equal(pair_ops[i], 32 + i);
    for (size_t i = 0; i < COUNT(types); i++)
        assert_int_equal(types[i], 1 + i);
    assert_int_equal(GP_SKIP_NAN, 0x100);
    assert_int_equal(GP_WHERE, 0x200);
    for (size_t i = 0; i < COUNT(flags); i++)
        assert_int_equal(flags[i], 1u << i);
    for (size_t i = 0; i < COUNT(isas); i++)
        assert_int_equal(isas[i], 1u << i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_stay_where_they_are),
        cmocka_unit_test(structs_do_not_shrink),
        cmocka_unit_test(names_keep_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
