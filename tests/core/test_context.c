/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: made and destroyed, many at once, limited and pinned, asked what they chose, carried over fork(). */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static gp_context *open_cpu(unsigned threads) {
    return make_context(GP_BACKEND_CPU, -1, threads);
}

/* Large enough that a context of several threads starts them. */
#define N ((size_t)1 << 18)
static int32_t numbers[N];
static int64_t numbers_sum;

static bool sums_right(gp_context *context) {
    int64_t sum = 0;
    return gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &sum) == GP_OK && sum == numbers_sum;
}

/* 4 MiB, and lines of the output begin anywhere: rows that go past the caches then keep some in the context. */
#define TALL ((size_t)1027)
#define WIDE ((size_t)1025)
static int32_t tall[TALL * WIDE], wide[WIDE * TALL];

static bool turns_right(gp_context *context) {
    size_t wrong = 0;
    if (gp_transpose(context, sizeof *tall, tall, TALL, WIDE, WIDE, wide, TALL) != GP_OK)
        return false;
    for (size_t i = 0; i < TALL * WIDE; i++)
        wrong += wide[i % WIDE * TALL + i / WIDE] != tall[i];
    return wrong == 0;
}

static int fill_numbers(void **state) {
    (void)state;
    cases_fill(tall, TALL * WIDE, DATA_RANDOM, cases_seed());
    cases_fill(numbers, N, DATA_RANDOM, cases_seed());
    for (size_t i = 0; i < N; i++)
        numbers_sum += numbers[i];
    return 0;
}

static size_t status_kib(const char *field) {
    char line[256];
    size_t value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtoul(line + strlen(field) + 1, NULL, 10);
    fclose(file);
    return value;
}

/* With work on several threads every hundredth time: memory, threads and address space stay as they were. */
static void made_and_destroyed_ten_thousand_times(void **state) {
    (void)state;
    size_t before = 0, mapped = 0, threads = status_kib("Threads:");
    for (int i = 0; i < 10000; i++) {
        gp_context *context = open_cpu(1 + (unsigned)i / 100 % 5);
        if (i % 100 == 0)
            assert_true(sums_right(context) && turns_right(context));
        gp_context_destroy(context);
        if (i == 2000) {
            before = status_kib("VmRSS:");
            mapped = status_kib("VmSize:");
        }
    }
    assert_true(SANITIZED || status_kib("VmRSS:") <= before + 1024);
    assert_true(SANITIZED || status_kib("VmSize:") <= mapped + 4096);
    assert_true(SANITIZED || status_kib("Threads:") == threads);
}

static void *work_in_a_thread(void *failures) {
    for (int i = 0; i < 20; i++) {
        gp_context *context = open_cpu(1 + (unsigned)i % 4);
        for (int k = 0; k < 10; k++)
            *(size_t *)failures += !sums_right(context);
        if (gp_reduce_int(context, GP_REDUCE_SUM, NULL, 5, NULL) != GP_ERR_ARGUMENT || !strstr(gp_last_error(), "in"))
            *(size_t *)failures += 1;
        gp_context_destroy(context);
    }
    return NULL;
}

static void several_contexts_in_several_threads(void **state) {
    (void)state;
    pthread_t threads[8];
    size_t failures[8] = {0};
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_a_thread, &failures[i]), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

static void *fail_in_a_thread(void *text) {
    bool empty = strcmp(gp_last_error(), "") == 0;
    gp_context_plan(NULL, NULL);
    snprintf(text, 64, "%s%.50s", empty ? "was empty: " : "", gp_last_error());
    return NULL;
}

static void last_error_belongs_to_its_thread(void **state) {
    (void)state;
    char theirs[64], ours[64];
    pthread_t thread;
    gp_kernel_at(SIZE_MAX, NULL);
    snprintf(ours, sizeof ours, "%.60s", gp_last_error());
    assert_int_equal(pthread_create(&thread, NULL, fail_in_a_thread, theirs), 0);
    pthread_join(thread, NULL);
    assert_non_null(strstr(theirs, "was empty: "));
    assert_non_null(strstr(theirs, "context"));
    assert_int_equal(strncmp(gp_last_error(), ours, 60), 0);
}

/* Runs in a forked child under an alarm, so that a hang is a failure: 0 if the parent's context works there. */
static void in_child(gp_context *context, bool nested) {
    if (SANITIZED) /* gcc 12's allocator is locked in the child for ever if a thread was just starting in the parent
                    */
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        bool right = sums_right(context) && sums_right(context);
        gp_context *own = NULL;
        gp_options options = {
            .struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = 3};
        right = right && gp_context_create(&own, &options) == GP_OK && sums_right(own);
        if (nested && right)
            in_child(own, false);
        gp_context_destroy(own);
        gp_context_destroy(context);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("child: %s %d", WIFSIGNALED(status) ? "signal" : "exit",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void a_forked_child_goes_on(void **state) {
    (void)state;
    if (SANITIZED_THREADS)
        skip();
    gp_context *unused = open_cpu(4), *used = open_cpu(4);
    assert_true(sums_right(used));
    for (int i = 0; i < 10; i++) {
        in_child(unused, true);
        in_child(used, true);
        assert_true(sums_right(used));
    }
    gp_context_destroy(unused);
    gp_context_destroy(used);
}

static size_t lines_of(const char *text) {
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Each kernel of the operation stands on a line of its own, and the text is whatever buffer it gets, as snprintf. */
static void check_explanation(gp_context *context, gp_operation operation, const char *chosen) {
    char text[16384], part[16384];
    size_t length = gp_context_explain(context, text, sizeof text), rows = 0;
    assert_true(length > 0 && length < sizeof text);
    assert_int_equal(strlen(text), length);
    assert_int_equal(gp_context_explain(context, NULL, 0), length);
    for (size_t size = 1; size < length + 2; size += size < 40 || size + 40 > length ? 1 : 37) {
        memset(part, 0x7e, sizeof part);
        assert_int_equal(gp_context_explain(context, part, size), length);
        size_t kept = size - 1 < length ? size - 1 : length;
        assert_memory_equal(part, text, kept);
        assert_int_equal(part[kept], 0);
        assert_int_equal(part[kept + 1], 0x7e);
    }
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(gp_kernel_at(i, &info), GP_OK);
        char line[160];
        snprintf(line, sizeof line, "\n  %s ", info.name);
        assert_int_equal(strstr(text, line) != NULL, info.operation == (int)operation);
        rows += info.operation == (int)operation;
    }
    assert_int_equal(lines_of(text), rows + 2);
    if (chosen) {
        char line[160];
        snprintf(line, sizeof line, "\n  %s ", chosen);
        const char *at = strstr(text, line), *verdict = at ? strstr(at, "chosen") : NULL;
        assert_non_null(verdict);
        assert_true(verdict < strchr(at + 1, '\n'));
    }
}

static void plans_are_told_and_explained(void **state) {
    (void)state;
    static const int32_t in[12] = {5};
    float out[12], out2[12];
    int64_t sum;
    char text[8] = "before";
    gp_context *contexts[] = {open_cpu(2), devices_open(&devices[DEVICE_HOPPER]),
                              devices_open(&devices[DEVICE_TINY])};
    assert_int_equal(gp_context_explain(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(gp_context_explain(contexts[0], NULL, 0), 0);
    for (size_t i = 0; i < COUNT(contexts); i++) {
        gp_plan_info plan = {.struct_size = sizeof plan};
        const gp_status reduced = gp_reduce_int(contexts[i], GP_REDUCE_SUM, in, 12, &sum);
        assert_int_equal(gp_context_plan(contexts[i], &plan), GP_OK);
        assert_int_equal(plan.operation, GP_OPERATION_REDUCE);
        assert_int_equal(plan.kernel != NULL, reduced == GP_OK);
        assert_true(plan.bytes_read == 48 && plan.bytes_written == 8);
        assert_int_equal(plan.backend, reduced != GP_OK ? 0 : i ? GP_BACKEND_MODEL : GP_BACKEND_CPU);
        check_explanation(contexts[i], GP_OPERATION_REDUCE, plan.kernel);
        (void)gp_sum_and_square_window(contexts[i], in, 3, 4, 4, 3, GP_BORDER_ZERO, out, out2, 4);
        assert_int_equal(gp_context_plan(contexts[i], &plan), GP_OK);
        assert_int_equal(plan.operation, GP_OPERATION_WINDOW);
        assert_true(plan.bytes_read == 48 && plan.bytes_written == 96);
        check_explanation(contexts[i], GP_OPERATION_WINDOW, plan.kernel);
        (void)gp_transpose(contexts[i], 4, in, 3, 4, 4, out, 3);
        assert_int_equal(gp_context_plan(contexts[i], &plan), GP_OK);
        assert_int_equal(plan.operation, GP_OPERATION_TRANSPOSE);
        check_explanation(contexts[i], GP_OPERATION_TRANSPOSE, plan.kernel);
        gp_context_destroy(contexts[i]);
    }
}

static void pins_hold_for_their_operation(void **state) {
    (void)state;
    gp_context *context = open_cpu(1);
    int64_t sum = -3;
    float out[4] = {7, 7, 7, 7};
    gp_plan_info plan = {.struct_size = sizeof plan};
    assert_int_equal(gp_context_pin_kernel(context, "transpose_naive", 0), GP_OK);
    assert_true(sums_right(context));
    assert_int_equal(gp_transpose(context, 4, numbers, 2, 2, 2, out, 2), GP_ERR_NO_KERNEL);
    assert_non_null(strstr(gp_last_error(), "transpose_naive"));
    assert_true(out[0] == 7 && out[3] == 7);
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_null(plan.kernel);
    check_explanation(context, GP_OPERATION_TRANSPOSE, NULL);
    assert_int_equal(gp_context_pin_kernel(context, "reduce_cpu", 0), GP_OK);
    assert_true(sums_right(context));
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_string_equal(plan.kernel, "reduce_cpu");
    assert_int_equal(plan.block, 1);
    assert_int_equal(gp_context_pin_kernel(context, "reduce_grid", 0), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &sum), GP_ERR_NO_KERNEL);
    assert_int_equal(sum, -3);
    assert_int_equal(gp_context_pin_kernel(context, NULL, 0), GP_OK);
    assert_true(sums_right(context));
    assert_int_equal(gp_transpose(context, 4, numbers, 2, 2, 2, out, 2), GP_OK);
    gp_context_destroy(context);
}

/* Rows of every instruction set are in every catalogue; one that this processor lacks says so when pinned. */
static void rows_need_their_instructions(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t isa;
    } rows[] = {{"reduce_avx512", GP_ISA_AVX512}, {"reduce_avx2", GP_ISA_AVX2}, {"reduce_neon", GP_ISA_NEON}};
    gp_context *context = open_cpu(1);
    gp_device_info info = {.struct_size = sizeof info};
    assert_int_equal(gp_context_device(context, &info), GP_OK);
#if defined(__aarch64__)
    assert_int_equal(info.cpu_isa, GP_ISA_NEON);
#else
    assert_int_equal(info.cpu_isa & GP_ISA_NEON, 0);
#endif
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool has = (info.cpu_isa & rows[i].isa) != 0;
        int64_t sum = -3;
        char text[16384], line[160];
        assert_int_equal(gp_context_pin_kernel(context, rows[i].name, 0), GP_OK);
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &sum), has ? GP_OK : GP_ERR_NO_KERNEL);
        assert_int_equal(sum, has ? numbers_sum : -3);
        assert_true(has || strstr(gp_last_error(), rows[i].name) != NULL);
        assert_true(gp_context_explain(context, text, sizeof text) < sizeof text);
        snprintf(line, sizeof line, "\n  %-26s %s", rows[i].name,
                 has ? "chosen" : "no: not for this shape or device (");
        assert_non_null(strstr(text, line));
    }
    gp_context_destroy(context);
}

static void limits_show_and_go(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_AMPERE]);
    gp_device_info info = {.struct_size = sizeof info};
    assert_int_equal(gp_context_limit(context, 40000, 30000), GP_OK);
    assert_int_equal(gp_context_device(context, &info), GP_OK);
    assert_true(info.smem_per_block_optin == 40000 && info.smem_per_block == 40000 && info.regs_per_block == 30000);
    assert_int_equal(gp_context_limit(context, 100000, 0), GP_OK);
    assert_int_equal(gp_context_device(context, &info), GP_OK);
    assert_true(info.smem_per_block_optin == 100000 && info.smem_per_block == 48 * 1024);
    assert_int_equal(info.regs_per_block, 65536);
    assert_int_equal(gp_context_limit(context, 0, 0), GP_OK);
    assert_int_equal(gp_context_device(context, &info), GP_OK);
    assert_int_equal(info.smem_per_block_optin, 163 * 1024);
    gp_context_destroy(context);
}

static void devices_tell_what_they_are(void **state) {
    (void)state;
    gp_device_info info = {.struct_size = sizeof info};
    gp_context *cpu = open_cpu(7), *model = devices_open(&devices[DEVICE_D]), *any = NULL;
    assert_int_equal(gp_context_device(cpu, &info), GP_OK);
    assert_true(info.backend == GP_BACKEND_CPU && info.ordinal == -1 && info.cpu_threads == 7);
    assert_true(info.multiprocessors == 0 && info.threads_per_sm == 0 && strlen(info.name) > 0);
    assert_string_equal(info.no_gpu_reason, "");
    assert_int_equal(gp_context_device(model, &info), GP_OK);
    assert_true(info.backend == GP_BACKEND_MODEL && info.ordinal == -1);
    assert_string_equal(info.name, "D");
    assert_true(info.warp_size == 32 && info.threads_per_block == 1024 && info.regs_per_block == 16384);
    assert_true(info.smem_per_block_optin == 16384 && info.multiprocessors == 1);
    assert_int_equal(gp_context_create(&any, NULL), GP_OK);
    assert_int_equal(gp_context_device(any, &info), GP_OK);
    if (gp_device_count() > 0) {
        assert_int_equal(info.backend, GP_BACKEND_CUDA);
        assert_string_equal(info.no_gpu_reason, "");
    } else {
        assert_int_equal(info.backend, GP_BACKEND_CPU);
        assert_true(strlen(info.no_gpu_reason) > 10);
        assert_string_equal(info.no_gpu_reason, gp_last_error());
        assert_true(info.cpu_threads >= 1 && sums_right(any));
    }
    gp_context_destroy(any);
    gp_context_destroy(model);
    gp_context_destroy(cpu);
}

static void memory_of_a_context(void **state) {
    (void)state;
    gp_context *context = open_cpu(1);
    for (size_t bytes = 1; bytes < 5000000; bytes = bytes * 5 + 1) {
        unsigned char *a = NULL, *b = NULL;
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, bytes, (void **)&a), GP_OK);
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, bytes, (void **)&b), GP_OK);
        assert_true((uintptr_t)a % 256 == 0 && (uintptr_t)b % 256 == 0 && a != b);
        cases_fill_bytes(a, bytes, bytes);
        assert_int_equal(gp_copy(context, b, a, bytes), GP_OK);
        assert_memory_equal(a, b, bytes);
        assert_int_equal(gp_free(context, a), GP_OK);
        assert_int_equal(gp_free(context, b), GP_OK);
    }
    gp_context_destroy(context);
}

static void the_catalogue_is_sound(void **state) {
    (void)state;
    gp_kernel_info a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        assert_int_equal(gp_kernel_at(i, &a), GP_OK);
        assert_in_range(a.operation, GP_OPERATION_REDUCE, GP_OPERATION_WINDOW_ARRAY);
        assert_true(strlen(a.name) > 4 && strlen(a.about) > 10 && strlen(a.about) < 80 && !strchr(a.about, '\n'));
        if (a.flags & GP_KERNEL_GPU)
            assert_in_range(a.regs_per_thread, 1, 255);
        for (size_t k = 0; k < i; k++) {
            assert_int_equal(gp_kernel_at(k, &b), GP_OK);
            assert_string_not_equal(a.name, b.name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_and_destroyed_ten_thousand_times),
        cmocka_unit_test(several_contexts_in_several_threads),
        cmocka_unit_test(last_error_belongs_to_its_thread),
        cmocka_unit_test(a_forked_child_goes_on),
        cmocka_unit_test(plans_are_told_and_explained),
        cmocka_unit_test(pins_hold_for_their_operation),
        cmocka_unit_test(rows_need_their_instructions),
        cmocka_unit_test(limits_show_and_go),
        cmocka_unit_test(devices_tell_what_they_are),
        cmocka_unit_test(memory_of_a_context),
        cmocka_unit_test(the_catalogue_is_sound),
    };
    return cmocka_run_group_tests(tests, fill_numbers, NULL);
}
