/* SPDX-License-Identifier: Apache-2.0 */
/* Every bad argument of every function: its status, a text that names the argument, and nothing written. */
#include "misuse.h"

/* Allocations that are too large are asked for on purpose: AddressSanitizer is to refuse them as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

#define EXPECT(call, status, word) fails_as(call, status, word, false, __LINE__)
#define BAD(call, word) fails_as(call, GP_ERR_ARGUMENT, word, false, __LINE__)

/* A call that succeeds does not change the last error: AUTO where no GPU is usable. */
static void successes_leave_the_last_error(void **state) {
    (void)state;
    char before[512];
    gp_context *context = NULL;
    gp_kernel_at(SIZE_MAX, NULL);
    snprintf(before, sizeof before, "%s", gp_last_error());
    assert_int_equal(gp_context_create(&context, NULL), GP_OK);
    assert_string_equal(gp_last_error(), before);
    gp_context_destroy(context);
}

static void statuses_and_version(void **state) {
    (void)state;
    assert_int_equal(gp_version(), GP_VERSION);
    for (int s = GP_OK; s <= GP_ERR_FORKED; s++) {
        assert_true(strlen(gp_status_string((gp_status)s)) > 3);
        for (int t = GP_OK; t < s; t++)
            assert_string_not_equal(gp_status_string((gp_status)s), gp_status_string((gp_status)t));
    }
    static const int none[] = {-1, GP_ERR_FORKED + 1, 999, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_non_null(gp_status_string((gp_status)none[i]));
    assert_non_null(gp_last_error());
}

/* A struct that ends `tail` bytes after the one that the library knows. */
typedef struct longer {
    union {
        gp_options options;
        gp_device_info device;
        gp_plan_info plan;
        gp_kernel_info kernel;
        gp_occupancy_info occupancy;
    } u;
    unsigned char tail[64];
} longer;

static gp_context *const untouched = (gp_context *)(uintptr_t)0x5a5a5a50u;

static gp_status create(gp_options options) {
    gp_context *out = untouched;
    gp_status status = gp_context_create(&out, &options);
    if (status != GP_OK)
        assert_ptr_equal(out, untouched);
    else
        gp_context_destroy(out);
    return status;
}

static void bad_options(void **state) {
    (void)state;
    const gp_options good = {.struct_size = sizeof good, .backend = GP_BACKEND_CPU, .device = -1};
    BAD(gp_context_create(NULL, &good), "out");
    BAD(gp_context_create(NULL, NULL), "out");
    static const size_t sizes[] = {0, 1, 8, sizeof(gp_options) - 1, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        gp_options o = good;
        o.struct_size = sizes[i];
        BAD(create(o), "struct_size");
    }
    gp_options o = good;
    assert_int_equal(create(o), GP_OK);
    for (int b = -1; b <= 4; b += 5) {
        o = good, o.backend = b;
        BAD(create(o), "backend");
    }
    o = good, o.device = -2;
    BAD(create(o), "device");
    o = good, o.cpu_threads = 1025;
    BAD(create(o), "cpu_threads");
    o = good, o.reserved = 2;
    BAD(create(o), "reserved");
    o = good, o.backend = GP_BACKEND_MODEL;
    BAD(create(o), "model");
    o = good, o.model = &devices[DEVICE_D];
    BAD(create(o), "model");
    o = good, o.backend = GP_BACKEND_AUTO, o.model = &devices[DEVICE_D];
    BAD(create(o), "model");
    if (gp_device_count() > 0) {
        o = good, o.backend = GP_BACKEND_CUDA, o.device = gp_device_count();
        BAD(create(o), "device");
        return;
    }
    o = good, o.backend = GP_BACKEND_CUDA;
    gp_status status = create(o);
    assert_true(status == GP_ERR_NO_DEVICE || status == GP_ERR_DRIVER);
    assert_true(strlen(gp_last_error()) > 10);
}

static void bad_models(void **state) {
    (void)state;
    gp_options o = {.struct_size = sizeof o, .backend = GP_BACKEND_MODEL, .device = -1};
    gp_device_info lacking[4];
    static const char *const names[] = {"threads_per_sm", "regs_per_sm", "smem_per_sm", "blocks_per_sm"};
    for (size_t i = 0; i < 4; i++) {
        lacking[i] = devices[DEVICE_D];
        o.model = &lacking[i];
    }
    lacking[0].threads_per_sm = 0;
    lacking[1].regs_per_sm = 0;
    lacking[2].smem_per_sm = 0;
    lacking[3].blocks_per_sm = 0;
    gp_occupancy_info info = {.struct_size = sizeof info, .blocks_per_sm = 77};
    for (size_t i = 0; i < 4; i++) {
        o.model = &lacking[i];
        BAD(create(o), names[i]);
        BAD(gp_occupancy(&lacking[i], 32, 1, 0, &info), names[i]);
    }
    assert_int_equal(info.blocks_per_sm, 77);
    gp_device_info wrong = devices[DEVICE_D];
    o.model = &wrong;
    wrong.struct_size = 0;
    BAD(create(o), "model");
    wrong.struct_size = sizeof wrong - 1;
    BAD(create(o), "struct_size");
    wrong = devices[DEVICE_HOPPER];
    wrong.smem_reserved = wrong.smem_per_sm + 1;
    BAD(create(o), "smem_reserved");
    longer tailed;
    memset(&tailed, 0, sizeof tailed);
    tailed.u.device = devices[DEVICE_D];
    tailed.u.device.struct_size = sizeof(gp_device_info) + 8;
    unsigned char *tail = (unsigned char *)&tailed.u.device + sizeof(gp_device_info);
    o.model = &tailed.u.device;
    assert_int_equal(create(o), GP_OK);
    assert_int_equal(gp_occupancy(&tailed.u.device, 32, 1, 0, &info), GP_OK);
    tail[3] = 1;
    BAD(create(o), "struct_size");
    BAD(gp_occupancy(&tailed.u.device, 32, 1, 0, &info), "struct_size");
}

static void options_with_a_tail(void **state) {
    (void)state;
    longer tailed;
    gp_context *out = untouched;
    memset(&tailed, 0, sizeof tailed);
    tailed.u.options = (gp_options){.struct_size = sizeof(gp_options) + 8, .backend = GP_BACKEND_CPU, .device = -1};
    unsigned char *tail = (unsigned char *)&tailed + sizeof(gp_options);
    assert_int_equal(gp_context_create(&out, &tailed.u.options), GP_OK);
    gp_context_destroy(out);
    for (size_t i = 0; i < 8; i++) {
        memset(tail, 0, 8);
        tail[i] = 0x80;
        out = untouched;
        BAD(gp_context_create(&out, &tailed.u.options), "struct_size");
        assert_ptr_equal(out, untouched);
    }
}

static gp_status fill_device(void *info) {
    return gp_context_device(cpu, info);
}
static gp_status fill_plan(void *info) {
    return gp_context_plan(cpu, info);
}
static gp_status fill_kernel(void *info) {
    return gp_kernel_at(0, info);
}
static gp_status fill_occupancy(void *info) {
    return gp_occupancy(&devices[DEVICE_D], 32, 1, 0, info);
}

/* Structs that the library fills: too short refused and untouched; a longer one's tail zeroed, and no byte more. */
static void received_structs(void **state) {
    (void)state;
    int64_t sum;
    int32_t one = 1;
    assert_int_equal(gp_reduce_int(cpu, GP_REDUCE_SUM, &one, 1, &sum), GP_OK);
    static const struct {
        gp_status (*fill)(void *);
        size_t size;
    } calls[] = {{fill_device, sizeof(gp_device_info)},
                 {fill_plan, sizeof(gp_plan_info)},
                 {fill_kernel, sizeof(gp_kernel_info)},
                 {fill_occupancy, sizeof(gp_occupancy_info)}};
    for (size_t i = 0; i < COUNT(calls); i++) {
        longer info, before;
        const size_t real = calls[i].size, bad[] = {0, 1, 8, real - 1, SIZE_MAX};
        BAD(calls[i].fill(NULL), "NULL");
        for (size_t k = 0; k < COUNT(bad); k++) {
            memset(&info, 0xee, sizeof info);
            memcpy(&info, &bad[k], sizeof bad[k]);
            before = info;
            BAD(calls[i].fill(&info), "struct_size");
            assert_memory_equal(&info, &before, sizeof info);
        }
        for (size_t extra = 0; extra <= 16; extra += 8) {
            size_t size = real + extra;
            memset(&info, 0xee, sizeof info);
            memcpy(&info, &size, sizeof size);
            assert_int_equal(calls[i].fill(&info), GP_OK);
            assert_memory_equal(&info, &size, sizeof size);
            for (size_t b = real; b < sizeof info; b++)
                assert_int_equal(((unsigned char *)&info)[b], b < size ? 0 : 0xee);
        }
    }
}

static void bad_context_calls(void **state) {
    (void)state;
    gp_device_info device = {.struct_size = sizeof device};
    gp_plan_info plan = {.struct_size = sizeof plan};
    gp_kernel_info kernel = {.struct_size = sizeof kernel};
    gp_occupancy_info occupancy = {.struct_size = sizeof occupancy};
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1};
    gp_context *fresh = NULL;
    gp_context_destroy(NULL);
    BAD(gp_context_device(NULL, &device), "context");
    BAD(gp_context_device(cpu, NULL), "info");
    BAD(gp_context_set_stream(NULL, NULL), "context");
    BAD(gp_context_synchronize(NULL), "context");
    BAD(gp_context_plan(NULL, &plan), "context");
    BAD(gp_context_plan(cpu, NULL), "plan");
    assert_int_equal(gp_context_create(&fresh, &options), GP_OK);
    BAD(gp_context_plan(fresh, &plan), "planned");
    gp_context_destroy(fresh);
    BAD(gp_kernel_at(gp_kernel_count(), &kernel), "index");
    BAD(gp_kernel_at(SIZE_MAX, &kernel), "index");
    BAD(gp_kernel_at(0, NULL), "info");
    BAD(gp_occupancy(NULL, 1, 1, 0, &occupancy), "device");
    BAD(gp_occupancy(&devices[DEVICE_D], 1, 1, 0, NULL), "info");
    BAD(gp_occupancy(&devices[DEVICE_D], 0, 1, 0, &occupancy), "threads");
    assert_int_equal(gp_context_device(cpu, &device), GP_OK);
    BAD(gp_occupancy(&device, 1, 1, 0, &occupancy), "device");
}

static void bad_pins_and_limits(void **state) {
    (void)state;
    static const char *const unknown[] = {"", "reduce", "REDUCE_CPU", "reduce_cpu ", "no_such_kernel"};
    BAD(gp_context_pin_kernel(NULL, "reduce_cpu", 0), "context");
    BAD(gp_context_pin_kernel(NULL, NULL, 0), "context");
    for (size_t i = 0; i < COUNT(unknown); i++)
        BAD(gp_context_pin_kernel(cpu, unknown[i], 0), "name");
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info k = {.struct_size = sizeof k};
        assert_int_equal(gp_kernel_at(i, &k), GP_OK);
        if (!(k.flags & GP_KERNEL_GPU)) {
            assert_int_equal(gp_context_pin_kernel(cpu, k.name, 12345), GP_OK);
            continue;
        }
        BAD(gp_context_pin_kernel(model, k.name, 1025), "threads");
        BAD(gp_context_pin_kernel(model, k.name, UINT32_MAX), "threads");
        for (unsigned t = 1; t <= 1024; t *= 2)
            assert_int_equal(gp_context_pin_kernel(model, k.name, t), GP_OK);
    }
    assert_int_equal(gp_context_pin_kernel(cpu, NULL, 777), GP_OK);
    assert_int_equal(gp_context_pin_kernel(model, NULL, 0), GP_OK);
    BAD(gp_context_limit(NULL, 0, 0), "context");
    BAD(gp_context_limit(cpu, 1024, 0), "context");
    BAD(gp_context_limit(cpu, 0, 0), "context");
    BAD(gp_context_limit(model, 227 * 1024 + 1, 0), "smem_per_block");
    BAD(gp_context_limit(model, SIZE_MAX, 0), "smem_per_block");
    BAD(gp_context_limit(model, 0, 65537), "regs_per_block");
    BAD(gp_context_limit(model, 1024, UINT32_MAX), "regs_per_block");
    gp_device_info device = {.struct_size = sizeof device};
    assert_int_equal(gp_context_device(model, &device), GP_OK);
    assert_int_equal(device.smem_per_block_optin, 227 * 1024);
    assert_int_equal(device.regs_per_block, 65536);
}

static void bad_memory_calls(void **state) {
    (void)state;
    unsigned char bytes[64] = {1, 2, 3}, before[64];
    void *memory = bytes;
    memcpy(before, bytes, sizeof before);
    BAD(gp_alloc(NULL, GP_MEMORY_DEVICE, 16, &memory), "context");
    BAD(gp_alloc(cpu, GP_MEMORY_DEVICE, 16, NULL), "out");
    BAD(gp_alloc(cpu, (gp_memory)2, 16, &memory), "memory");
    EXPECT(gp_alloc(cpu, GP_MEMORY_DEVICE, SIZE_MAX, &memory), GP_ERR_MEMORY, "");
    EXPECT(gp_alloc(cpu, GP_MEMORY_DEVICE, SIZE_MAX - 255, &memory), GP_ERR_MEMORY, "");
    EXPECT(gp_alloc(cpu, GP_MEMORY_DEVICE, (size_t)1 << 62, &memory), GP_ERR_MEMORY, "");
    assert_ptr_equal(memory, bytes);
    assert_int_equal(gp_alloc(cpu, GP_MEMORY_DEVICE, 0, &memory), GP_OK);
    assert_null(memory);
    BAD(gp_free(NULL, NULL), "context");
    assert_int_equal(gp_free(cpu, NULL), GP_OK);
    BAD(gp_copy(NULL, bytes, bytes + 32, 4), "context");
    BAD(gp_copy(cpu, NULL, bytes, 4), "to");
    BAD(gp_copy(cpu, bytes, NULL, 4), "from");
    assert_int_equal(gp_copy(cpu, NULL, NULL, 0), GP_OK);
    for (size_t d = 0; d < 16; d++) {
        EXPECT(gp_copy(cpu, bytes, bytes + d, 16), GP_ERR_OVERLAP, "overlap");
        EXPECT(gp_copy(cpu, bytes + d, bytes, 16), GP_ERR_OVERLAP, "overlap");
    }
    assert_memory_equal(bytes, before, sizeof bytes);
    assert_int_equal(gp_copy(cpu, bytes + 16, bytes, 16), GP_OK);
    assert_int_equal(gp_copy(model, bytes, bytes + 32, 16), GP_OK);
    assert_int_equal(bytes[0], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(successes_leave_the_last_error),
        cmocka_unit_test(statuses_and_version),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(bad_models),
        cmocka_unit_test(options_with_a_tail),
        cmocka_unit_test(received_structs),
        cmocka_unit_test(bad_context_calls),
        cmocka_unit_test(bad_pins_and_limits),
        cmocka_unit_test(bad_memory_calls),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
