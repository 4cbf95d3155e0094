/* SPDX-License-Identifier: Apache-2.0 */
/* The benches' data on a GPU is the tests' data, of every kind; and differences are found wherever they are. */
#include "../../bench/core/device.h"
#include "../cases.h"
#include "../check.h"

#include <stdlib.h>

enum { WORDS = 100003 };

static void data_is_the_tests(void **state) {
    const gpu_device *gpu = *state;
    int32_t *want = malloc(WORDS * sizeof *want), *memory = gpu->alloc(MEMORY_DEVICE, 2 * WORDS * sizeof *memory);
    for (int kind = 0; kind < DATA_KINDS; kind++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            cases_fill(want, WORDS, (data_kind)kind, seed);
            gpu->fill(memory, WORDS, (data_kind)kind, cases_spike(WORDS, seed), seed);
            gpu->copy(memory + WORDS, want, WORDS * sizeof *want);
            assert_int_equal(gpu->differ(memory, memory + WORDS, WORDS * sizeof *want), 0);
        }
    gpu->free(MEMORY_DEVICE, memory);
    free(want);
}

static void differences_are_counted(void **state) {
    const gpu_device *gpu = *state;
    const size_t places[] = {0, 1, 7, 8, 4095, 65536, 100001, 100002};
    unsigned char *memory = gpu->alloc(MEMORY_DEVICE, 300000);
    for (size_t offset = 0; offset < 2; offset++) {
        gpu->set(memory, 0x5a, 300000);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            gpu->set(memory + offset + places[i], 0xa5, 1);
            assert_int_equal(gpu->differ(memory + offset, memory + 150000 + offset, WORDS), i + 1);
        }
        assert_int_equal(gpu->differ(memory + offset, memory + 150000 + offset, 0), 0);
    }
    gpu->free(MEMORY_DEVICE, memory);
}

static int open_device(void **state) {
    *state = (void *)(uintptr_t)device_open();
    return *state == NULL;
}

static int close_device(void **state) {
    ((const gpu_device *)*state)->close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_is_the_tests),
                                       cmocka_unit_test(differences_are_counted)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
