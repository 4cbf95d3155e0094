/* SPDX-License-Identifier: Apache-2.0 */
/* Processor or GPU for host data: rates in, place out. */
#include "../src/host/place.h"
#include "cases.h"
#include "check.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

/* Measured on one H200 with 16 processor threads. */
static const gp_bus h200 = {.up = 55.5e9, .down = 55.4e9, .both = 101.7e9, .pack = 200e9};

static gp_problem reduce_of(uint64_t bytes) {
    return (gp_problem){.operation = GP_OPERATION_REDUCE, .n = bytes / 4, .elem_bytes = 4, .bytes_read = bytes};
}

static gp_problem transpose_of(uint64_t bytes, size_t pitch) {
    return (gp_problem){.operation = GP_OPERATION_TRANSPOSE,
                        .elem_bytes = 4,
                        .in_pitch = pitch,
                        .out_pitch = pitch,
                        .bytes_read = bytes,
                        .bytes_written = bytes};
}

static gp_traffic traffic_of(const gp_problem *p, bool pageable) {
    return (gp_traffic){p->bytes_read, p->bytes_written, pageable ? p->bytes_read + p->bytes_written : 0};
}

/* The processor has done such calls at so many bytes a second. */
static void teach(gp_rates *rates, const gp_problem *p, const gp_traffic *t, double rate) {
    for (int i = 0; i < GP_PLACE_SAMPLES_MOST; i++)
        gp_rates_note(rates, p, t, (double)(p->bytes_read + p->bytes_written) / rate);
}

static gp_place place_of(const gp_problem *p, bool pageable, double processor, const gp_bus *bus) {
    static gp_rates rates;
    const gp_traffic t = traffic_of(p, pageable);
    rates = (gp_rates){.bus = *bus};
    teach(&rates, p, &t, processor);
    return gp_place_choose(p, &t, &rates);
}

static void what_is_not_known_stays_on_the_processor(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem large = transpose_of(GIB, 16384), small = transpose_of(MIB, 512);
    const gp_traffic t = traffic_of(&large, false), few = traffic_of(&small, false);
    rates = (gp_rates){.bus = h200};
    gp_place place = gp_place_choose(&large, &t, &rates);
    assert_true(place.host_data && place.space == GP_SPACE_PROCESSOR && !place.open);
    for (int i = 0; i < GP_PLACE_SAMPLES; i++) {
        assert_int_equal(gp_place_choose(&large, &t, &rates).space, GP_SPACE_PROCESSOR);
        assert_true(gp_rates_wanted(&rates, &large, &t));
        gp_rates_note(&rates, &large, &t, 10);
    }
    assert_int_equal(gp_place_choose(&large, &t, &rates).space, GP_SPACE_GPU);
    assert_true(gp_rates_wanted(&rates, &large, &t));
    teach(&rates, &large, &t, 1e9);
    assert_false(gp_rates_wanted(&rates, &large, &t));
    assert_false(gp_rates_wanted(&rates, &small, &few)); /* nothing so small is timed */
    teach(&rates, &small, &few, 1e6);
    place = gp_place_choose(&small, &few, &rates);
    assert_true(place.space == GP_SPACE_PROCESSOR && !place.open);
}

/* Near a tie it takes more calls to believe that the processor cannot do better. */
static void a_narrow_win_waits_for_more_samples(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(GIB, 16384);
    const gp_traffic t = traffic_of(&p, false);
    const double gpu = gp_place_gpu_seconds(&p, &t, &h200);
    for (int narrow = 0; narrow < 2; narrow++) {
        rates = (gp_rates){.bus = h200};
        for (int i = 0; i < GP_PLACE_SAMPLES_MOST; i++) {
            const bool now = i >= GP_PLACE_SAMPLES && !narrow;
            assert_int_equal(gp_place_choose(&p, &t, &rates).space, now ? GP_SPACE_GPU : GP_SPACE_PROCESSOR);
            gp_rates_note(&rates, &p, &t, (narrow ? 1.2 : 2.5) * gpu);
        }
        assert_int_equal(gp_place_choose(&p, &t, &rates).space, GP_SPACE_GPU);
    }
}

/* The bus is worth measuring once the processor was seen to take a millisecond, and once only. */
static void the_bus_is_asked_for_once(void **state) {
    (void)state;
    static const gp_bus unknown;
    static gp_rates rates;
    const gp_problem p = reduce_of(64 * MIB);
    const gp_traffic t = traffic_of(&p, true);
    gp_place place = place_of(&p, true, 50e9, &unknown);
    assert_true(place.open && place.space == GP_SPACE_PROCESSOR && !(place.gpu_seconds > 0));
    assert_false(place_of(&p, true, 500e9, &unknown).open);
    rates = (gp_rates){.bus_tried = true};
    teach(&rates, &p, &t, 50e9);
    place = gp_place_choose(&p, &t, &rates);
    assert_true(!place.open && place.space == GP_SPACE_PROCESSOR);
}

/* Staged times measured on the machine of `h200`, in ms, and what its processor took. */
static void expectations_are_near_what_was_measured(void **state) {
    (void)state;
    static const struct {
        gp_operation operation;
        uint64_t mib;
        double staged, processor;
    } seen[] = {
        {GP_OPERATION_REDUCE, 1024, 19.52, 8.59},     {GP_OPERATION_REDUCE, 256, 4.91, 2.18},
        {GP_OPERATION_TRANSPOSE, 1024, 22.74, 26.38}, {GP_OPERATION_TRANSPOSE, 256, 5.71, 4.69},
        {GP_OPERATION_TRANSPOSE, 64, 1.54, 1.33},     {GP_OPERATION_TRANSPOSE, 16, 0.421, 0.321},
    };
    for (size_t i = 0; i < COUNT(seen); i++) {
        const gp_problem p = seen[i].operation == GP_OPERATION_REDUCE ? reduce_of(seen[i].mib * MIB)
                                                                      : transpose_of(seen[i].mib * MIB, 8192);
        const double bytes = (double)(p.bytes_read + p.bytes_written);
        const gp_place place = place_of(&p, false, bytes / seen[i].processor * 1e3, &h200);
        assert_true(place.gpu_seconds > 0.9e-3 * seen[i].staged && place.gpu_seconds < 1.1e-3 * seen[i].staged);
        assert_int_equal(place.space, seen[i].staged < seen[i].processor ? GP_SPACE_GPU : GP_SPACE_PROCESSOR);
    }
}

static double drawn(uint64_t *seed, double least, double most) {
    return least + (most - least) * (double)(cases_random(seed) >> 11) * 0x1p-53;
}

/* A faster processor, a slower bus, slower packing: none of them ever moves a call to the GPU. */
static void better_rates_never_lose_a_call(void **state) {
    (void)state;
    uint64_t seed = cases_seed();
    unsigned on_gpu = 0;
    for (int i = 0; i < 20000; i++) {
        const uint64_t bytes = (uint64_t)drawn(&seed, 1.3 * GP_PLACE_LEAST, 8e9);
        const gp_problem p = i % 2 ? reduce_of(bytes) : transpose_of(bytes, (size_t)drawn(&seed, 1000, 9000));
        const bool pageable = i % 4 / 2;
        const double processor = drawn(&seed, 1e9, 200e9), less = drawn(&seed, 0.1, 1);
        const gp_bus bus = {.up = drawn(&seed, 1e9, 120e9),
                            .down = drawn(&seed, 1e9, 120e9),
                            .both = drawn(&seed, 2e9, 240e9),
                            .pack = drawn(&seed, 1e9, 300e9)};
        const gp_bus slower = {bus.up * less, bus.down * less, bus.both * less, bus.pack * less};
        const gp_place place = place_of(&p, pageable, processor, &bus);
        assert_true(place.processor_seconds > 0 && place.gpu_seconds > 0);
        on_gpu += place.space == GP_SPACE_GPU;
        if (place.space == GP_SPACE_GPU) {
            assert_true(place.gpu_seconds < place.processor_seconds);
            assert_int_equal(place_of(&p, pageable, processor * less, &bus).space, GP_SPACE_GPU);
        } else {
            assert_int_equal(place_of(&p, pageable, processor, &slower).space, GP_SPACE_PROCESSOR);
        }
        if (pageable && place.space == GP_SPACE_GPU)
            assert_int_equal(place_of(&p, false, processor, &bus).space, GP_SPACE_GPU);
    }
    assert_in_range(on_gpu, 2000, 18000);
}

/* What was learned of one class says nothing of another. */
static void classes_are_apart(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem known = transpose_of(64 * MIB, 4096);
    gp_problem wide = known;
    wide.elem_bytes = 1;
    const gp_problem others[] = {reduce_of(64 * MIB), transpose_of(64 * MIB, 4095), transpose_of(128 * MIB, 4096),
                                 transpose_of(63 * MIB, 4096), wide};
    const gp_traffic t = traffic_of(&known, true);
    rates = (gp_rates){.bus = h200};
    teach(&rates, &known, &t, 1e9);
    assert_int_equal(gp_place_choose(&known, &t, &rates).space, GP_SPACE_GPU);
    for (size_t i = 0; i < COUNT(others); i++) {
        const gp_traffic other = traffic_of(&others[i], true);
        assert_true(!(gp_place_choose(&others[i], &other, &rates).processor_seconds > 0));
    }
    const gp_traffic pinned = traffic_of(&known, false);
    assert_true(!(gp_place_choose(&known, &pinned, &rates).processor_seconds > 0));
    teach(&rates, &known, &t, 100e9); /* the fastest counts, whatever comes after */
    teach(&rates, &known, &t, 1e9);
    assert_true(gp_place_choose(&known, &t, &rates).processor_seconds < 1.3 * 128e6 * 1.048576 / 100e9);
}

static void the_largest_sizes_have_a_class(void **state) {
    (void)state;
    const gp_problem p = transpose_of((uint64_t)1 << 62, 4096);
    assert_int_equal(place_of(&p, true, 1e9, &h200).space, GP_SPACE_GPU);
}

static void words_say_which_times(void **state) {
    (void)state;
    static const gp_bus unknown;
    char text[256];
    const gp_problem p = transpose_of(GIB, 16384);
    gp_place place = place_of(&p, false, 81.4e9, &h200);
    assert_true(gp_place_describe(&place, &h200, text, sizeof text) < (int)sizeof text);
    assert_non_null(strstr(text, "on the GPU"));
    assert_non_null(strstr(text, "26.3"));
    assert_non_null(strstr(text, "101.7 both ways"));
    place = place_of(&p, false, 81.4e9, &unknown);
    (void)gp_place_describe(&place, &unknown, text, sizeof text);
    assert_non_null(strstr(text, "not measured"));
    place = (gp_place){.host_data = true};
    (void)gp_place_describe(&place, &unknown, text, sizeof text);
    assert_non_null(strstr(text, "not known yet"));
    place = (gp_place){0};
    assert_int_equal(gp_place_describe(&place, &unknown, text, sizeof text), 0);
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_stays_on_the_processor),
        cmocka_unit_test(a_narrow_win_waits_for_more_samples),
        cmocka_unit_test(the_bus_is_asked_for_once),
        cmocka_unit_test(expectations_are_near_what_was_measured),
        cmocka_unit_test(better_rates_never_lose_a_call),
        cmocka_unit_test(classes_are_apart),
        cmocka_unit_test(the_largest_sizes_have_a_class),
        cmocka_unit_test(words_say_which_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
