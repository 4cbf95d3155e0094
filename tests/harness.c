/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, rows and counts for the tests of the primitives. */
#include "harness.h"
#include "cases.h"
#include "check.h"

static void add_subject(harness *h, gp_backend backend, unsigned cpu_threads) {
    h->subjects[h->n_subjects++] =
        (subject){make_context(backend, -1, cpu_threads), backend == GP_BACKEND_CUDA, cpu_threads};
}

static unsigned isa_of_name(const char *name) {
    if (strstr(name, "_avx512"))
        return GP_ISA_AVX512;
    if (strstr(name, "_neon"))
        return GP_ISA_NEON;
    return strstr(name, "_avx2") ? GP_ISA_AVX2 : 0;
}

void harness_open(harness *h, gp_operation operation) {
    static const unsigned threads[] = {1, 2, 3, 7, 64};
    *h = (harness){0};
    cases_seed();
    for (size_t i = 0; i < COUNT(threads); i++)
        add_subject(h, GP_BACKEND_CPU, threads[i]);
    if (gp_device_count() > 0)
        add_subject(h, GP_BACKEND_CUDA, 0);
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(gp_kernel_at(i, &info), GP_OK);
        if (info.operation != (int32_t)operation)
            continue;
        assert_true(h->n_rows < ROWS_MAX - 1);
        h->rows[h->n_rows++] = (row){.info = info, .cpu_isa = isa_of_name(info.name)};
    }
    assert_true(h->n_rows > 0);
    h->rows[h->n_rows++] = (row){.info = {.name = NULL}};
}

static bool machine_can(const harness *h, const row *r) {
    gp_device_info device = {.struct_size = sizeof device};
    assert_int_equal(gp_context_device(h->subjects[0].context, &device), GP_OK);
    if (r->info.flags & GP_KERNEL_GPU)
        return h->subjects[h->n_subjects - 1].gpu;
    return (r->cpu_isa & ~device.cpu_isa) == 0;
}

void harness_leave(const harness *h) {
    for (size_t i = 0; i < h->n_subjects; i++)
        gp_context_destroy(h->subjects[i].context);
    assert_int_equal(h->failures, 0);
}

void harness_close(harness *h) {
    size_t run = 0, declined = 0, skipped = 0;
    for (size_t i = 0; i < h->n_rows; i++) {
        row *r = &h->rows[i];
        const char *name = r->info.name ? r->info.name : "(free choice)";
        bool can = machine_can(h, r);
        printf("%-28s %7zu run %7zu declined %7zu skipped%s\n", name, r->run, r->declined, r->skipped,
               can ? "" : "  (not on this machine)");
        run += r->run;
        declined += r->declined;
        skipped += r->skipped;
        if (can && r->run == 0)
            harness_fail(h, NULL, r, "all cases", "never ran");
        if (!r->info.name && r->declined)
            harness_fail(h, NULL, r, "some case", "free choice found no kernel");
    }
    printf("cases: %zu; calls: %zu run and compared, %zu declined, %zu skipped, %zu failed\n", h->cases, run,
           declined, skipped, h->failures);
    harness_leave(h);
}

/* The planner's own, then sizes in turn but for those that the row has declined so often that it has none of them. */
static unsigned threads_for(row *r, size_t turn) {
    static const unsigned sizes[BLOCK_SIZES] = {0, 32, 64, 128, 256, 384, 512};
    r->block = turn % BLOCK_SIZES;
    if (r->ran_with[r->block] == 0 && r->declined_with[r->block] >= 8)
        r->block = 0;
    return sizes[r->block];
}

bool harness_pin(harness *h, const subject *s, row *r, size_t turn) {
    bool gpu_row = r->info.flags & GP_KERNEL_GPU;
    if (gpu_row && !s->gpu) {
        r->skipped += !machine_can(h, r) && s == &h->subjects[0];
        return false;
    }
    if (!gpu_row && s->gpu && r->info.name)
        return false;
    gp_status status = gp_context_pin_kernel(s->context, r->info.name, gpu_row ? threads_for(r, turn) : 0);
    if (status != GP_OK)
        harness_fail(h, s, r, "pin", gp_last_error());
    return status == GP_OK;
}

bool harness_ran(harness *h, const subject *s, row *r, gp_status status, gp_status want, const char *label) {
    if (status == GP_ERR_NO_KERNEL && want != GP_ERR_NO_KERNEL) {
        r->declined_with[r->block]++;
        if (machine_can(h, r))
            r->declined++;
        else
            r->skipped++;
        return false;
    }
    if (status != want) {
        harness_fail(h, s, r, label, gp_status_string(status));
        fprintf(stderr, "    %s\n", gp_last_error());
        return false;
    }
    r->run++;
    r->ran_with[r->block]++;
    return true;
}

bool harness_takes_turn(const harness *h, size_t subject_index, size_t turn) {
    size_t processors = h->n_subjects - (h->subjects[h->n_subjects - 1].gpu ? 1 : 0);
    return subject_index == 0 || subject_index >= processors || subject_index == 1 + turn % (processors - 1);
}

void harness_fail(harness *h, const subject *s, const row *r, const char *label, const char *what) {
    if (h->failures++ >= 20)
        return;
    char where[48] = "";
    if (s)
        snprintf(where, sizeof where, s->gpu ? "GPU" : "%u threads", s->cpu_threads);
    fprintf(stderr, "FAILED %s [%s] %s: %s\n", r->info.name ? r->info.name : "(free choice)", where, label, what);
}

buffer_kind harness_kind(const subject *s, size_t turn) {
    static const buffer_kind kinds[] = {BUFFER_HOST, BUFFER_PAGE_AFTER, BUFFER_HOST, BUFFER_PAGE_BEFORE,
                                        BUFFER_CONTEXT};
    return s->gpu ? BUFFER_CONTEXT : kinds[turn % COUNT(kinds)];
}
