/* SPDX-License-Identifier: Apache-2.0 */
/* A long wait on a crowded core, where each yield takes a time slice of others, soon sleeps instead. */
#include "../../src/host/wait.h"
#include "../check.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* called by the linker's --wrap alone */

static struct {
    unsigned yields, naps;
    struct timespec slice;
} seen;

int __real_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_nanosleep(const struct timespec *time, struct timespec *left) {
    (void)time;
    (void)left;
    seen.naps++;
    return 0;
}

int __wrap_sched_yield(void) {
    seen.yields++;
    return __real_nanosleep(&seen.slice, NULL);
}

static void waits_on_a_crowded_core_sleep(void **state) {
    (void)state;
    gp_wait wait = {0};
    seen.slice = (struct timespec){.tv_nsec = 2 * GP_YIELDING_NS};
    for (unsigned i = 0; i < GP_PAUSES; i++)
        gp_wait_long(&wait);
    assert_int_equal(seen.yields + seen.naps, 0);
    for (unsigned i = 0; i < 50; i++)
        gp_wait_long(&wait);
    assert_in_range(seen.yields, 0, 1);
    assert_int_equal(seen.yields + seen.naps, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_on_a_crowded_core_sleep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
