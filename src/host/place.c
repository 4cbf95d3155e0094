/* SPDX-License-Identifier: Apache-2.0 */
/* Processor or GPU for host data. */
#include "place.h"
#include <stdio.h>

/* As stage_cut.c cuts input: in eight, within these bounds. */
#define PIECES 8
#define PIECE_LEAST ((double)((size_t)1 << 20))
#define PIECE_MOST ((double)((size_t)16 << 20))

/*
 * What a piece adds to a call of several, in what a call takes that moves nothing: its copies and its kernel are
 * started while earlier ones are under way (one H200, pinned, 4 and 8 pieces: 28 to 43 us with 22 for one).
 */
#define PIECE_SHARE 0.125

/*
 * Pageable memory: waking the threads and packing for the first piece takes a call as long again (one H200, 16
 * threads, transposes of 256 KiB, 1, 4, 16 MiB: 25, 48, 51, 121 us longer than pinned, where the threads' copying for
 * one piece takes 6, 24, 25, 49).
 */
#define PACKED_CALLS 2

/*
 * The GPU must win by this, so that near a tie a call does not leave the processor; but what is only expected may be
 * off by as much, and is tried.
 */
#define MARGIN 0.95
#define MARGIN_UNTRIED 1.1

#define PAGE ((size_t)4096)

static unsigned transpose_kind(const gp_problem *problem) {
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    const size_t bytes = problem->elem_bytes;
    const bool pages = problem->in_pitch * bytes % PAGE == 0 && problem->out_pitch * bytes % PAGE == 0;
    unsigned kind = 0;
    while (kind < sizeof sizes / sizeof *sizes && sizes[kind] != bytes)
        kind++;
    return 2 + 2 * kind + pages;
}

static unsigned kind_of(const gp_problem *problem) {
    if (problem->operation == GP_OPERATION_TRANSPOSE)
        return transpose_kind(problem);
    return problem->operation == GP_OPERATION_WINDOW;
}

static uint64_t moved(const gp_problem *problem) {
    return problem->bytes_read + problem->bytes_written;
}

static unsigned class_of(const gp_problem *problem, const gp_traffic *traffic) {
    unsigned size = 0;
    if (moved(problem) < GP_PLACE_LEAST)
        return GP_PLACE_CLASSES;
    while (size + 1 < GP_PLACE_SIZES && moved(problem) / GP_PLACE_LEAST >> (size + 1) > 0)
        size++;
    return (kind_of(problem) * 2 + (traffic->pageable > 0)) * GP_PLACE_SIZES + size;
}

bool gp_rates_wanted(const gp_rates *rates, const gp_place *place) {
    if (!place->host_data || place->class_number == GP_PLACE_CLASSES)
        return false;
    const double seconds = place->space == GP_SPACE_GPU ? place->gpu_seconds : place->processor_seconds;
    return place->recheck || seconds >= GP_PLACE_TIMED_SECONDS ||
           rates->pace[place->space][place->class_number].samples < GP_PLACE_SAMPLES_MOST;
}

void gp_rates_count(gp_rates *rates, const gp_place *place) {
    if (place->space == GP_SPACE_GPU || place->recheck)
        rates->pace[GP_SPACE_GPU][place->class_number].calls++;
}

bool gp_rates_believed(gp_rates *rates, bool touched) {
    if (!touched)
        rates->touching = 0;
    else if (rates->touching < GP_PLACE_TOUCHING_MOST)
        return rates->touching++, false;
    return true;
}

static float median_of(const gp_pace *pace) {
    const unsigned kept = pace->samples < GP_PACE_KEPT ? pace->samples : GP_PACE_KEPT;
    float sorted[GP_PACE_KEPT] = {0};
    for (unsigned i = 0; i < kept; i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1] > pace->rate[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = pace->rate[i];
    }
    return sorted[kept / 2];
}

void gp_rates_note(gp_rates *rates, const gp_place *place, const gp_problem *problem, double seconds) {
    if (!gp_rates_wanted(rates, place) || !(seconds > 0))
        return;
    gp_pace *pace = &rates->pace[place->space][place->class_number];
    pace->rate[pace->samples++ % GP_PACE_KEPT] = (float)((double)moved(problem) / seconds);
    pace->median = median_of(pace);
}

static double seconds_at(const gp_pace *pace, const gp_problem *problem) {
    return (double)moved(problem) / (double)pace->median;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* The first piece goes up alone and the last down alone, and what is pageable is packed and unpacked for them. */
double gp_place_gpu_seconds(const gp_problem *problem, const gp_traffic *traffic, const gp_bus *bus) {
    const double read = (double)problem->bytes_read, up = (double)traffic->up, down = (double)traffic->down;
    double piece = larger(read / PIECES, PIECE_LEAST);
    piece = piece < PIECE_MOST ? piece : PIECE_MOST;
    const double pieces = larger(1, read / piece), between = 1 - 1 / pieces;
    double together = larger((up + down) / bus->both, larger(up / bus->up, down / bus->down)) * between;
    double alone = (up / bus->up + down / bus->down) / pieces, call = bus->call;
    if (traffic->pageable > 0) {
        const double packing = (double)traffic->pageable / bus->pack;
        alone += packing / pieces;
        together = larger(together, packing * between);
        call *= PACKED_CALLS;
    }
    return call * (1 + PIECE_SHARE * (pieces - 1)) + alone + together;
}

static bool is_known(const gp_bus *bus, const gp_traffic *traffic) {
    return bus->up > 0 && bus->down > 0 && bus->both > 0 && bus->call > 0 &&
           (traffic->pageable == 0 || bus->pack > 0);
}

gp_place gp_place_choose(const gp_problem *problem, const gp_traffic *traffic, const gp_rates *rates) {
    gp_place place = {.space = GP_SPACE_PROCESSOR, .host_data = true, .class_number = class_of(problem, traffic)};
    if (place.class_number == GP_PLACE_CLASSES)
        return place;
    const gp_pace *processor = &rates->pace[GP_SPACE_PROCESSOR][place.class_number];
    const gp_pace *gpu = &rates->pace[GP_SPACE_GPU][place.class_number];
    if (processor->samples < GP_PLACE_SAMPLES)
        return place;
    place.processor_seconds = seconds_at(processor, problem);
    if (processor->samples < GP_PLACE_SAMPLES_MOST && place.processor_seconds < GP_PLACE_LONG_SECONDS)
        return place;
    if (place.processor_seconds < GP_PLACE_LEAST_SECONDS)
        return place;
    if (!is_known(&rates->bus, traffic)) {
        const bool tried = traffic->pageable > 0 ? rates->pack_tried : rates->bus_tried;
        const bool fit = traffic->pageable == 0 || place.processor_seconds >= GP_PLACE_PACK_SECONDS;
        place.open = !tried && fit && rates->waited + place.processor_seconds >= GP_PLACE_OPEN_SECONDS;
        return place;
    }
    place.tried = gpu->samples >= GP_PLACE_TRIALS;
    place.gpu_seconds = place.tried ? seconds_at(gpu, problem) : gp_place_gpu_seconds(problem, traffic, &rates->bus);
    if (place.gpu_seconds >= (place.tried ? MARGIN : MARGIN_UNTRIED) * place.processor_seconds)
        return place;
    place.recheck = gpu->calls % GP_PLACE_RECHECK == GP_PLACE_RECHECK - 1 &&
                    place.processor_seconds <= GP_PLACE_NEAR * place.gpu_seconds;
    place.space = place.recheck ? GP_SPACE_PROCESSOR : GP_SPACE_GPU;
    return place;
}

/* All arrays pageable, or all pinned. */
static gp_traffic host_traffic(const gp_problem *problem, bool pageable) {
    const uint64_t up = problem->bytes_read;
    const uint64_t down = problem->operation == GP_OPERATION_REDUCE ? 0 : problem->bytes_written;
    return (gp_traffic){.up = up, .down = down, .pageable = pageable ? up + down : 0};
}

bool gp_place_is_settled(const gp_problem *problem, gp_rates *rates, gp_place *place) {
    bool settled = false;
    *place = (gp_place){.space = GP_SPACE_PROCESSOR, .host_data = true, .class_number = GP_PLACE_CLASSES};
    if (moved(problem) < GP_PLACE_LEAST)
        return true;
    for (int pageable = 0; pageable < 2; pageable++) {
        const gp_traffic traffic = host_traffic(problem, pageable);
        const gp_place choice = gp_place_choose(problem, &traffic, rates);
        const double seconds = choice.processor_seconds;
        if (rates->pace[GP_SPACE_PROCESSOR][choice.class_number].samples < GP_PLACE_SAMPLES_MOST)
            continue;
        *place = choice;
        place->class_number = GP_PLACE_CLASSES;
        if (seconds < GP_PLACE_LEAST_SECONDS)
            return true;
        /* On pinned memory, until the bus is known, such calls are what it waits for. */
        settled = choice.space == GP_SPACE_PROCESSOR && !choice.recheck && !choice.open &&
                  seconds < GP_PLACE_SETTLED_SECONDS && (pageable || choice.gpu_seconds > 0);
        if (!settled)
            return false;
    }
    return settled && ++rates->unasked % GP_PLACE_UNASKED != 0;
}

int gp_place_describe(const gp_place *place, const gp_bus *bus, char *text, size_t size) {
    const char *where = place->space == GP_SPACE_GPU ? "GPU" : "processor";
    const double processor = place->processor_seconds * 1e3, gpu = place->gpu_seconds * 1e3;
    if (!place->host_data)
        return snprintf(text, size, "%s", "");
    if (!(processor > 0))
        return snprintf(text, size, "host data: on the processor, whose time for such a call is %s\n",
                        "not known yet, or too short to ask");
    if (!(gpu > 0) && place->processor_seconds < GP_PLACE_LEAST_SECONDS)
        return snprintf(text, size, "host data: on the processor, %.4f ms as measured, too short for the GPU\n",
                        processor);
    if (!(gpu > 0))
        return snprintf(text, size, "host data: on the processor, %.3f ms as measured; the bus was not measured\n",
                        processor);
    if (place->tried)
        return snprintf(text, size, "host data: on the %s; processor %.3f ms, GPU %.3f ms, both as measured\n", where,
                        processor, gpu);
    return snprintf(text, size,
                    "host data: on the %s; processor %.3f ms as measured, GPU %.3f ms at %.1f GB/s up, %.1f down, "
                    "%.1f both ways and %.0f us a call\n",
                    where, processor, gpu, bus->up / 1e9, bus->down / 1e9, bus->both / 1e9, bus->call * 1e6);
}
