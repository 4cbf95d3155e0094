/* SPDX-License-Identifier: Apache-2.0 */
/* Processor or GPU for host data: rates in, place out. */
#include "../../src/host/place.h"
#include "../cases.h"
#include "../check.h"

#include <math.h>

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

/* Measured on one H200 with 16 processor threads. */
static const gp_bus h200 = {.up = 53e9, .down = 53.8e9, .both = 96.3e9, .call = 23.4e-6, .pack = 85e9};

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

/* Such a call took so long on the processor or the GPU, so many times. */
static void teach(gp_rates *rates, const gp_problem *p, const gp_traffic *t, gp_space space, int times,
                  double seconds) {
    gp_place place = gp_place_choose(p, t, rates);
    place.space = space;
    for (int i = 0; i < times; i++)
        gp_rates_note(rates, &place, p, seconds);
}

static double seconds_of(const gp_problem *p, double rate) {
    return (double)(p->bytes_read + p->bytes_written) / rate;
}

static gp_place place_of(const gp_problem *p, bool pageable, double processor, const gp_bus *bus) {
    static gp_rates rates;
    const gp_traffic t = traffic_of(p, pageable);
    rates = (gp_rates){.bus = *bus};
    teach(&rates, p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, seconds_of(p, processor));
    return gp_place_choose(p, &t, &rates);
}

static void what_is_not_known_stays_on_the_processor(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem large = transpose_of(GIB, 16384), small = transpose_of(GP_PLACE_LEAST / 2 - 4, 512);
    const gp_traffic t = traffic_of(&large, false), few = traffic_of(&small, false);
    rates = (gp_rates){.bus = h200};
    gp_place place = gp_place_choose(&large, &t, &rates);
    assert_true(place.host_data && place.space == GP_SPACE_PROCESSOR && !place.open);
    for (int i = 0; i < GP_PLACE_SAMPLES; i++) {
        place = gp_place_choose(&large, &t, &rates);
        assert_true(place.space == GP_SPACE_PROCESSOR && gp_rates_wanted(&rates, &place));
        gp_rates_note(&rates, &place, &large, 10);
    }
    assert_int_equal(gp_place_choose(&large, &t, &rates).space, GP_SPACE_GPU);
    teach(&rates, &small, &few, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, 10); /* nothing so small is timed */
    place = gp_place_choose(&small, &few, &rates);
    assert_true(place.space == GP_SPACE_PROCESSOR && !place.open && !(place.processor_seconds > 0));
    assert_true(!gp_rates_wanted(&rates, &place) && gp_place_is_settled(&small, &rates, &place));
    place = (gp_place){.space = GP_SPACE_GPU}; /* nor is a call that had no choice */
    assert_false(gp_rates_wanted(&rates, &place));
}

/* Short calls are timed more often before it is believed that the processor cannot do better. */
static void short_calls_wait_for_more_samples(void **state) {
    (void)state;
    static gp_rates rates;
    for (int lengthy = 0; lengthy < 2; lengthy++) {
        const gp_problem p = transpose_of(lengthy ? GIB : MIB, 16384);
        const gp_traffic t = traffic_of(&p, false);
        const double gpu = gp_place_gpu_seconds(&p, &t, &h200);
        rates = (gp_rates){.bus = h200};
        for (int i = 0; i < GP_PLACE_SAMPLES_MOST; i++) {
            const bool now = i >= GP_PLACE_SAMPLES && lengthy;
            assert_int_equal(gp_place_choose(&p, &t, &rates).space, now ? GP_SPACE_GPU : GP_SPACE_PROCESSOR);
            teach(&rates, &p, &t, GP_SPACE_PROCESSOR, 1, 1.2 * gpu);
        }
        assert_int_equal(gp_place_choose(&p, &t, &rates).space, GP_SPACE_GPU);
    }
}

/* What the GPU took counts once it is known: if it was expected to take less, calls go back to the processor. */
static void a_gpu_slower_than_expected_loses_its_calls(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(16 * MIB, 4096);
    const gp_traffic t = traffic_of(&p, false);
    const double gpu = gp_place_gpu_seconds(&p, &t, &h200);
    for (int slow = 0; slow < 2; slow++) {
        rates = (gp_rates){.bus = h200};
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, 1.5 * gpu);
        for (int i = 0; i < GP_PLACE_TRIALS; i++) {
            const gp_place place = gp_place_choose(&p, &t, &rates);
            assert_true(place.space == GP_SPACE_GPU && !place.tried && gp_rates_wanted(&rates, &place));
            gp_rates_note(&rates, &place, &p, i == 0 ? 100 * gpu : slow ? 2 * gpu : gpu); /* the first prepares */
        }
        const gp_place place = gp_place_choose(&p, &t, &rates);
        assert_true(place.tried);
        assert_int_equal(place.space, slow ? GP_SPACE_PROCESSOR : GP_SPACE_GPU);
        assert_true(fabs(place.gpu_seconds / gpu - (slow ? 2 : 1)) < 1e-6);
    }
}

/* A class's first calls make its pace; long calls all count, so that a machine that grows busy shows. */
static void long_calls_are_always_timed(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(64 * MIB, 4096);
    const gp_traffic t = traffic_of(&p, false);
    for (int lengthy = 0; lengthy < 2; lengthy++) {
        const double before = (lengthy ? 1.1 : 0.9) * GP_PLACE_TIMED_SECONDS;
        rates = (gp_rates){0};
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, before);
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES, 2 * before);
        const double known = gp_place_choose(&p, &t, &rates).processor_seconds;
        assert_true(fabs(known / before - 1 - lengthy) < 1e-6);
    }
}

/* A call that touches new memory is left out, unless all do. */
static void new_memory_is_left_out_at_first(void **state) {
    (void)state;
    static gp_rates rates;
    for (int i = 0; i < 4 * GP_PLACE_TOUCHING_MOST; i++) {
        const int in_a_row = i % (2 * GP_PLACE_TOUCHING_MOST);
        assert_int_equal(gp_rates_believed(&rates, in_a_row > 0), in_a_row == 0 || in_a_row > GP_PLACE_TOUCHING_MOST);
    }
}

/* What the processor does sooner than a call reaches the GPU is not compared, and no reason to measure the bus. */
static void the_shortest_calls_stay(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_bus instant = {1e15, 1e15, 1e15, 1e-9, 1e15};
    const gp_problem p = transpose_of(MIB, 4096);
    gp_place place;
    for (int longer = 0; longer < 2; longer++) {
        const gp_traffic t = traffic_of(&p, !longer);
        const double seconds = (0.9 + 0.2 * longer) * GP_PLACE_LEAST_SECONDS;
        rates = (gp_rates){.bus = instant};
        for (int i = 0; i < GP_PLACE_SAMPLES_MOST; i++, teach(&rates, &p, &t, GP_SPACE_PROCESSOR, 1, seconds))
            assert_false(gp_place_is_settled(&p, &rates, &place));
        assert_int_equal(gp_place_is_settled(&p, &rates, &place), !longer);
        assert_int_equal(gp_place_choose(&p, &t, &rates).space, longer ? GP_SPACE_GPU : GP_SPACE_PROCESSOR);
        rates.bus = (gp_bus){0};
        rates.waited = GP_PLACE_OPEN_SECONDS;
        assert_int_equal(gp_place_choose(&p, &t, &rates).open, longer);
    }
}

/* What is expected of the GPU may be off by some: it is tried before it is believed to lose, and then has to win. */
static void near_a_tie_the_gpu_is_tried(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(16 * MIB, 4096);
    const gp_traffic t = traffic_of(&p, false);
    const double gpu = gp_place_gpu_seconds(&p, &t, &h200);
    static const double expected[] = {1.2, 1.05, 1.05}, measured[] = {0.8, 0.9, 0.97}; /* in the processor's time */
    for (int i = 0; i < 3; i++) {
        rates = (gp_rates){.bus = h200};
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, gpu / expected[i]);
        assert_int_equal(gp_place_choose(&p, &t, &rates).space, i == 0 ? GP_SPACE_PROCESSOR : GP_SPACE_GPU);
        teach(&rates, &p, &t, GP_SPACE_GPU, GP_PLACE_TRIALS, measured[i] * gpu / expected[i]);
        assert_int_equal(gp_place_choose(&p, &t, &rates).space, i == 2 ? GP_SPACE_PROCESSOR : GP_SPACE_GPU);
    }
}

/* What was slow when it was timed may be fast now: one call in some, if there is not much to lose by it. */
static void the_processor_is_timed_again(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(16 * MIB, 4096);
    const gp_traffic t = traffic_of(&p, false);
    const double gpu = gp_place_gpu_seconds(&p, &t, &h200);
    for (int far = 0; far < 2; far++) {
        unsigned rechecks = 0, on_gpu = 0;
        rates = (gp_rates){.bus = h200};
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, (far ? 2 : 1.3) * gpu);
        for (int i = 0; i < 10 * GP_PLACE_RECHECK; i++) {
            const gp_place place = gp_place_choose(&p, &t, &rates);
            assert_true(!place.recheck || place.space == GP_SPACE_PROCESSOR);
            rechecks += place.recheck;
            on_gpu += place.space == GP_SPACE_GPU;
            gp_rates_count(&rates, &place);
            gp_rates_note(&rates, &place, &p, place.space == GP_SPACE_GPU ? gpu : 0.5 * gpu);
        }
        assert_int_equal(rechecks, far ? 0 : 3); /* of the last five, three are then fast */
        assert_int_equal(on_gpu, far ? 10 * GP_PLACE_RECHECK : 3 * (GP_PLACE_RECHECK - 1));
    }
}

/* Neither one lucky call nor two slow ones of the last five make the pace. */
static void the_median_counts(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = transpose_of(16 * MIB, 4096);
    const gp_traffic t = traffic_of(&p, false);
    static const double seconds[] = {9, 9, 9, 9, 0.1, 8, 2, 3, 7}, median[] = {9, 9, 8, 3, 3};
    rates = (gp_rates){.bus_tried = true};
    for (int i = 0; i < (int)COUNT(seconds); i++) {
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, 1, seconds[i]);
        if (i >= 4)
            assert_true(fabs(gp_place_choose(&p, &t, &rates).processor_seconds / median[i - 4] - 1) < 1e-6);
    }
}

/* The bus is worth measuring once calls have taken the processor some time, and once only; packing on a long call. */
static void the_bus_is_asked_for_once(void **state) {
    (void)state;
    static gp_rates rates;
    const gp_problem p = reduce_of(64 * MIB);
    for (int pageable = 0; pageable < 2; pageable++) {
        const gp_traffic t = traffic_of(&p, pageable);
        const double seconds = 0.9 * GP_PLACE_PACK_SECONDS;
        rates = (gp_rates){0};
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, seconds);
        gp_place place = gp_place_choose(&p, &t, &rates);
        assert_true(!place.open && place.space == GP_SPACE_PROCESSOR && !(place.gpu_seconds > 0));
        rates.waited = GP_PLACE_OPEN_SECONDS;
        assert_int_equal(gp_place_choose(&p, &t, &rates).open, !pageable);
        rates.pace[GP_SPACE_PROCESSOR][place.class_number].samples = 0;
        teach(&rates, &p, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, 1.2 * GP_PLACE_PACK_SECONDS);
        assert_true(gp_place_choose(&p, &t, &rates).open);
        rates.bus_tried = true;
        assert_int_equal(gp_place_choose(&p, &t, &rates).open, pageable);
        rates.pack_tried = true;
        place = gp_place_choose(&p, &t, &rates);
        assert_true(!place.open && place.space == GP_SPACE_PROCESSOR);
    }
}

/* Staged times measured on the machine of `h200`, in us: expected within 1.25 of them, small pageable ones
 * within 1.4. */
static void expectations_are_near_what_was_measured(void **state) {
    (void)state;
    static const struct {
        gp_operation operation;
        uint64_t kib;
        double pinned, pageable;
    } seen[] = {
        {GP_OPERATION_REDUCE, 1024, 37.8, 57.4},       {GP_OPERATION_REDUCE, 4096, 103.6, 136.8},
        {GP_OPERATION_REDUCE, 16384, 343.8, 429.3},    {GP_OPERATION_REDUCE, 65536, 1249, 1504},
        {GP_OPERATION_WINDOW, 256, 45.1, 69.5},        {GP_OPERATION_WINDOW, 1024, 85.1, 126.6},
        {GP_OPERATION_WINDOW, 4096, 222.9, 290.6},     {GP_OPERATION_WINDOW, 16384, 748.5, 838.8},
        {GP_OPERATION_WINDOW, 65536, 2745, 3142},      {GP_OPERATION_TRANSPOSE, 256, 38.9, 64.2},
        {GP_OPERATION_TRANSPOSE, 1024, 63.4, 111.8},   {GP_OPERATION_TRANSPOSE, 4096, 143.4, 194.7},
        {GP_OPERATION_TRANSPOSE, 16384, 437.7, 558.9}, {GP_OPERATION_TRANSPOSE, 65536, 1534, 1869},
    };
    for (size_t i = 0; i < COUNT(seen); i++)
        for (int pageable = 0; pageable < 2; pageable++) {
            const uint64_t bytes = seen[i].kib << 10;
            gp_problem p = seen[i].operation == GP_OPERATION_TRANSPOSE ? transpose_of(bytes, 8192) : reduce_of(bytes);
            p.operation = seen[i].operation;
            if (p.operation == GP_OPERATION_WINDOW)
                p.bytes_written = 2 * bytes;
            const gp_traffic t = traffic_of(&p, pageable);
            const double expected = gp_place_gpu_seconds(&p, &t, &h200) * 1e6;
            const double ratio = expected / (pageable ? seen[i].pageable : seen[i].pinned);
            const double off = pageable && seen[i].kib < 4096 ? 1.4 : 1.25;
            if (ratio > off || ratio < 1 / off)
                fail_msg("line %zu, pageable %d: %.1f us expected", i, pageable, expected);
        }
}

/* Whichever rate is not known, the GPU has no time; slow packing alone makes a large call as long as it takes. */
static void every_rate_is_needed(void **state) {
    (void)state;
    const gp_problem p = transpose_of(GIB, 16384);
    for (int i = 0; i < 10; i++) {
        gp_bus bus = h200;
        double *const rates[] = {&bus.up, &bus.down, &bus.both, &bus.call, &bus.pack};
        *rates[i / 2] = 0;
        const gp_place place = place_of(&p, i % 2, 1e9, &bus);
        assert_int_equal(place.space, i == 8 ? GP_SPACE_GPU : GP_SPACE_PROCESSOR);
        assert_int_equal(place.gpu_seconds > 0, i == 8);
    }
    gp_bus bus = h200;
    bus.pack = 10e9;
    const gp_traffic t = traffic_of(&p, true);
    const double seconds = gp_place_gpu_seconds(&p, &t, &bus), packing = (double)t.pageable / bus.pack;
    assert_true(seconds > packing && seconds < 1.1 * packing);
}

static double drawn(uint64_t *seed, double least, double most) {
    return least + (most - least) * (double)(cases_random(seed) >> 11) * 0x1p-53;
}

/* A faster processor, a slower bus, slower packing: none of them ever moves a call to the GPU. */
static void better_rates_never_lose_a_call(void **state) {
    (void)state;
    uint64_t seed = cases_seed();
    unsigned on_gpu = 0;
    const double fastest = 200e9;
    for (int i = 0; i < 20000; i++) {
        const uint64_t bytes = (uint64_t)drawn(&seed, fastest * GP_PLACE_LEAST_SECONDS, 8e9);
        const gp_problem p = i % 2 ? reduce_of(bytes) : transpose_of(bytes, (size_t)drawn(&seed, 1000, 9000));
        const bool pageable = i % 4 / 2;
        const double processor = drawn(&seed, 1e9, fastest), less = drawn(&seed, 0.1, 1);
        const gp_bus bus = {.up = drawn(&seed, 1e9, 120e9),
                            .down = drawn(&seed, 1e9, 120e9),
                            .both = drawn(&seed, 2e9, 240e9),
                            .call = drawn(&seed, 5e-6, 100e-6),
                            .pack = drawn(&seed, 1e9, 300e9)};
        const gp_bus slower = {bus.up * less, bus.down * less, bus.both * less, bus.call / less, bus.pack * less};
        const gp_place place = place_of(&p, pageable, processor, &bus);
        assert_true(place.processor_seconds > 0 && place.gpu_seconds > 0);
        on_gpu += place.space == GP_SPACE_GPU;
        if (place.space == GP_SPACE_GPU) {
            assert_true(place.gpu_seconds < 1.1 * place.processor_seconds);
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
    teach(&rates, &known, &t, GP_SPACE_PROCESSOR, GP_PLACE_SAMPLES_MOST, 1);
    assert_int_equal(gp_place_choose(&known, &t, &rates).space, GP_SPACE_GPU);
    for (size_t i = 0; i < COUNT(others); i++) {
        const gp_traffic other = traffic_of(&others[i], true);
        assert_true(!(gp_place_choose(&others[i], &other, &rates).processor_seconds > 0));
    }
    const gp_traffic pinned = traffic_of(&known, false);
    assert_true(!(gp_place_choose(&known, &pinned, &rates).processor_seconds > 0));
    const gp_problem largest = transpose_of((uint64_t)1 << 62, 4096); /* has one too */
    assert_int_equal(place_of(&largest, true, 1e9, &h200).space, GP_SPACE_GPU);
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
    assert_non_null(strstr(text, "96.3 both ways and 23 us"));
    place.tried = true;
    (void)gp_place_describe(&place, &h200, text, sizeof text);
    assert_non_null(strstr(text, "both as measured"));
    place = place_of(&p, false, 81.4e9, &unknown);
    (void)gp_place_describe(&place, &unknown, text, sizeof text);
    assert_non_null(strstr(text, "not measured"));
    place.processor_seconds = 0.5 * GP_PLACE_LEAST_SECONDS;
    (void)gp_place_describe(&place, &unknown, text, sizeof text);
    assert_non_null(strstr(text, "too short for the GPU"));
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
        cmocka_unit_test(short_calls_wait_for_more_samples),
        cmocka_unit_test(a_gpu_slower_than_expected_loses_its_calls),
        cmocka_unit_test(long_calls_are_always_timed),
        cmocka_unit_test(the_shortest_calls_stay),
        cmocka_unit_test(new_memory_is_left_out_at_first),
        cmocka_unit_test(near_a_tie_the_gpu_is_tried),
        cmocka_unit_test(the_processor_is_timed_again),
        cmocka_unit_test(the_median_counts),
        cmocka_unit_test(the_bus_is_asked_for_once),
        cmocka_unit_test(expectations_are_near_what_was_measured),
        cmocka_unit_test(every_rate_is_needed),
        cmocka_unit_test(better_rates_never_lose_a_call),
        cmocka_unit_test(classes_are_apart),
        cmocka_unit_test(words_say_which_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
