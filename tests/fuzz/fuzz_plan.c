/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the planner over GPUs with any facts, and problems of any size, of every operation. A plan keeps to
 * the device by a count of its own, and explain tells of every row.
 */
#include "../devices.h"
#include "fuzz.h"
#include <stddef.h>

/* The facts that a plan depends on. */
static const struct {
    size_t offset;
    bool is_size; /* else uint32_t */
} facts[] = {
#define U32(field) \
    { offsetof(gp_device_info, field), false }
#define SIZE(field) \
    { offsetof(gp_device_info, field), true }
    U32(compute_major),  U32(compute_minor),         U32(multiprocessors), U32(warp_size),   U32(threads_per_block),
    U32(threads_per_sm), U32(blocks_per_sm),         U32(regs_per_block),  U32(regs_per_sm), U32(regs_per_thread),
    U32(reg_unit),       U32(sm_partitions),         U32(cpu_threads),     U32(cpu_isa),     SIZE(smem_per_block),
    SIZE(smem_per_sm),   SIZE(smem_per_block_optin), SIZE(smem_reserved),  SIZE(smem_unit),  SIZE(l2_bytes),
    SIZE(memory_bytes),
};

static gp_device_info draw_device(fuzz *f) {
    gp_device_info device = devices[fuzz_below(f, DEVICE_COUNT)];
    for (unsigned changes = fuzz_below(f, 8); changes > 0; changes--) {
        const unsigned i = fuzz_below(f, COUNT(facts));
        char *field = (char *)&device + facts[i].offset;
        const uint64_t value = fuzz_size(f);
        const uint32_t low = (uint32_t)value;
        if (facts[i].is_size)
            memcpy(field, &value, sizeof value);
        else
            memcpy(field, &low, sizeof low);
    }
    return device;
}

/* A model context follows no pointer. Array i, apart from the others or anywhere. */
static void *draw_address(fuzz *f, unsigned i) {
    const unsigned kind = fuzz_below(f, 16);
    const uintptr_t apart = (uintptr_t)(i + 1) << 56;
    return (void *)(kind == 0 ? (uintptr_t)fuzz_bits(f, 8) : kind < 4 ? apart + fuzz_below(f, 256) : apart);
}

/* Dense in some order of the axes, with gaps, or with any strides; sometimes in place. */
static gp_array draw_view(fuzz *f, int32_t type, uint32_t rank, const size_t *extent, unsigned i) {
    gp_array view = gp_dense((gp_type)type, draw_address(f, i), 0, NULL);
    const unsigned kind = fuzz_below(f, 8), turn = fuzz_below(f, GP_AXES);
    size_t span = 1;
    view.rank = rank;
    if (type == GP_BYTES)
        view.elem_bytes = fuzz_size(f);
    for (unsigned at = 0; at < GP_AXES && at < rank; at++) {
        const unsigned axis = kind & 1 ? (at + turn) % (rank < GP_AXES ? rank : GP_AXES) : rank - 1 - at;
        view.extent[axis % GP_AXES] = extent[axis % GP_AXES];
        view.stride[axis % GP_AXES] = (ptrdiff_t)(kind == 7 ? fuzz_size(f) : kind == 6 ? 0 - span : span);
        span = span * extent[axis % GP_AXES] + (kind == 5 ? fuzz_below(f, 5) : 0);
    }
    return view;
}

static gp_status ask_matrix(fuzz *f, gp_context *context, unsigned operation) {
    const void *in = draw_address(f, 0);
    void *out = draw_address(f, fuzz_below(f, 8) ? 1 : 0);
    const size_t rows = fuzz_size(f), cols = fuzz_size(f), third = fuzz_size(f);
    const size_t in_pitch = cols + fuzz_below(f, 8) / 6, out_pitch = cols + fuzz_below(f, 8) / 6;
    switch (operation) {
    case 0:
        return gp_reduce_int(context, (gp_reduce_op)fuzz_below(f, 8), in, rows, out);
    case 1:
        return gp_sum_and_square_window(context, in, rows, cols, in_pitch, third, (gp_border)fuzz_below(f, 8), out,
                                        draw_address(f, 2), out_pitch);
    default:
        return gp_transpose(context, third, in, rows, cols, in_pitch, out, rows + out_pitch - cols);
    }
}

static gp_status ask_array(fuzz *f, gp_context *context, unsigned operation) {
    const int32_t type = (int32_t)fuzz_below(f, 14);
    const uint32_t rank = fuzz_below(f, 64) == 0 ? (uint32_t)fuzz_size(f) : fuzz_below(f, GP_AXES + 1);
    gp_result results[5];
    gp_window_shape window = {.struct_size = sizeof window};
    size_t extent[GP_AXES] = {0};
    for (unsigned axis = 0; axis < GP_AXES && axis < rank; axis++)
        extent[axis] = fuzz_size(f);
    const gp_array in = draw_view(f, type, rank, extent, 0);
    if (operation == 3) {
        const gp_array out = draw_view(f, type, rank, extent, fuzz_below(f, 4) ? 1 : 0);
        return gp_rearrange(context, &in, &out);
    }
    const size_t count = fuzz_below(f, COUNT(results) + 1);
    const unsigned reduced = operation == 5 ? 0 : fuzz_below(f, 256);
    const gp_array with = draw_view(f, fuzz_below(f, 4) ? type : (int32_t)fuzz_below(f, 14), rank, extent, 1);
    for (unsigned axis = 0; axis < GP_AXES && operation == 5; axis++) {
        window.extent[axis] = fuzz_below(f, 2) ? fuzz_size(f) : 0;
        window.shift[axis] = fuzz_below(f, 8) ? 0 : (ptrdiff_t)fuzz_size(f);
    }
    window.border = (int32_t)fuzz_below(f, 8);
    for (unsigned axis = 0; axis < GP_AXES; axis++)
        extent[axis] = reduced >> axis & 1 ? 1 : extent[axis];
    for (size_t i = 0; i < count; i++) {
        const unsigned kind = fuzz_below(f, 8);
        const uint32_t op = fuzz_below(f, 40) | (kind & 1 ? GP_SKIP_NAN : 0) | (kind & 2 ? GP_WHERE : 0);
        results[i] =
            gp_want(op, draw_view(f, (int32_t)fuzz_below(f, 14), kind == 4 ? 0 : rank, extent, 2 + (unsigned)i));
    }
    if (operation == 5)
        return gp_window(context, &in, &window, results, count);
    return fuzz_below(f, 2) ? gp_reduce(context, &in, results, count)
                            : gp_reduce_pair(context, &in, &with, results, count);
}

/* Of the last call that was planned. */
static void check_plan(const gp_context *context) {
    gp_device_info device = {.struct_size = sizeof device};
    gp_plan_info plan = {.struct_size = sizeof plan};
    gp_occupancy_info held = {.struct_size = sizeof held};
    static char text[1 << 16];
    const size_t length = gp_context_explain(context, NULL, 0);
    REQUIRE(gp_context_device(context, &device) == GP_OK);
    if (gp_context_plan(context, &plan) != GP_OK)
        return;
    REQUIRE(length > 0 && length < sizeof text);
    REQUIRE(gp_context_explain(context, text, sizeof text) == length && strlen(text) == length);
    if (plan.kernel == NULL)
        return;
    const size_t smem = plan.smem_static + plan.smem_dynamic;
    REQUIRE(gp_occupancy(&device, plan.block, plan.regs_per_thread, smem, &held) == GP_OK);
    REQUIRE(held.blocks_per_sm > 0 && held.blocks_per_sm == plan.blocks_per_sm && held.limited_by == plan.limited_by);
    REQUIRE(plan.block <= device.threads_per_block && smem >= plan.smem_dynamic &&
            smem <= device.smem_per_block_optin);
    REQUIRE(plan.grid >= 1 && plan.grid <= INT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = {data, data + size};
    const gp_device_info device = draw_device(&f);
    const gp_options options = {
        .struct_size = sizeof options, .backend = GP_BACKEND_MODEL, .device = -1, .model = &device};
    gp_context *context = NULL;
    const gp_status made = gp_context_create(&context, &options);
    REQUIRE(made == GP_OK ? context != NULL : made == GP_ERR_ARGUMENT && context == NULL);
    if (made != GP_OK)
        return 0;
    if (fuzz_below(&f, 4) == 0)
        (void)gp_context_limit(context, fuzz_size(&f), (unsigned)fuzz_size(&f));
    for (unsigned calls = 0; f.at < f.end && calls < 4; calls++) {
        gp_kernel_info kernel = {.struct_size = sizeof kernel};
        const bool pinned = fuzz_below(&f, 4) == 0 && gp_kernel_at(fuzz_below(&f, 200), &kernel) == GP_OK;
        REQUIRE(gp_context_pin_kernel(context, pinned ? kernel.name : NULL, pinned ? fuzz_below(&f, 4) * 128 : 0) ==
                GP_OK);
        const unsigned operation = fuzz_below(&f, 6);
        const gp_status status =
            operation < 3 ? ask_matrix(&f, context, operation) : ask_array(&f, context, operation);
        REQUIRE(status == GP_OK || status == GP_ERR_ARGUMENT || status == GP_ERR_EMPTY || status == GP_ERR_OVERFLOW ||
                status == GP_ERR_OVERLAP || status == GP_ERR_NO_KERNEL || status == GP_ERR_UNSUPPORTED);
        check_plan(context);
    }
    gp_context_destroy(context);
    return 0;
}
