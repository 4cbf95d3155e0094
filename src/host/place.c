/* SPDX-License-Identifier: Apache-2.0 */
/* Processor or GPU for host data. */
#include "place.h"
#include <stdio.h>

/*
 * What the pipeline takes beyond its longest stage (one H200, gpuprim-bench-gpu auto): a call that moves next to
 * nothing takes about 60 us with its events and waits; the first piece goes up alone; and the stages keep at most
 * 0.97 of the rates that large copies have.
 */
#define STAGED_SECONDS 60e-6
#define STAGED_SHARE 0.97
#define PIECES 8
#define PIECE_BYTES ((double)((size_t)16 << 20))

/* The GPU must be expected to win by this, so that near a tie a call does not leave the processor. */
#define MARGIN 0.95

#define PAGE ((size_t)4096)

static size_t transpose_kind(const gp_problem *problem) {
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    const size_t bytes = problem->elem_bytes;
    const bool pages = problem->in_pitch * bytes % PAGE == 0 && problem->out_pitch * bytes % PAGE == 0;
    size_t kind = 0;
    while (kind < sizeof sizes / sizeof *sizes && sizes[kind] != bytes)
        kind++;
    return 2 + 2 * kind + pages;
}

static size_t kind_of(const gp_problem *problem) {
    if (problem->operation == GP_OPERATION_TRANSPOSE)
        return transpose_kind(problem);
    return problem->operation == GP_OPERATION_WINDOW;
}

static uint64_t moved(const gp_problem *problem) {
    return problem->bytes_read + problem->bytes_written;
}

/* GP_PLACE_CLASSES: so little that it has none. */
static size_t class_of(const gp_problem *problem, const gp_traffic *traffic) {
    size_t size = 0;
    if (moved(problem) < GP_PLACE_LEAST)
        return GP_PLACE_CLASSES;
    while (size + 1 < GP_PLACE_SIZES && moved(problem) / GP_PLACE_LEAST >> (size + 1) > 0)
        size++;
    return (kind_of(problem) * 2 + (traffic->pageable > 0)) * GP_PLACE_SIZES + size;
}

bool gp_rates_wanted(const gp_rates *rates, const gp_problem *problem, const gp_traffic *traffic) {
    const size_t class = class_of(problem, traffic);
    return class < GP_PLACE_CLASSES && rates->processor[class].samples < GP_PLACE_SAMPLES_MOST;
}

void gp_rates_note(gp_rates *rates, const gp_problem *problem, const gp_traffic *traffic, double seconds) {
    const size_t class = class_of(problem, traffic);
    if (class == GP_PLACE_CLASSES || !(seconds > 0))
        return;
    gp_pace *pace = &rates->processor[class];
    const double rate = (double)moved(problem) / seconds;
    if (rate > pace->rate)
        pace->rate = rate;
    if (pace->samples < GP_PLACE_SAMPLES_MOST)
        pace->samples++;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

double gp_place_gpu_seconds(const gp_problem *problem, const gp_traffic *traffic, const gp_bus *bus) {
    const double up = (double)traffic->up, down = (double)traffic->down;
    double piece = (double)problem->bytes_read / PIECES;
    piece = piece < PIECE_BYTES ? piece : PIECE_BYTES;
    double longest = larger((up + down) / bus->both, larger(up / bus->up, down / bus->down));
    if (traffic->pageable > 0)
        longest = larger(longest, (double)traffic->pageable / bus->pack);
    return STAGED_SECONDS + piece / bus->up + longest / STAGED_SHARE;
}

gp_place gp_place_choose(const gp_problem *problem, const gp_traffic *traffic, const gp_rates *rates) {
    gp_place place = {.space = GP_SPACE_PROCESSOR, .host_data = true};
    const size_t class = class_of(problem, traffic);
    if (class == GP_PLACE_CLASSES || rates->processor[class].samples < GP_PLACE_SAMPLES)
        return place;
    const bool well_known = rates->processor[class].samples == GP_PLACE_SAMPLES_MOST;
    place.processor_seconds = (double)moved(problem) / rates->processor[class].rate;
    const gp_bus *bus = &rates->bus;
    const bool known = bus->up > 0 && bus->down > 0 && bus->both > 0 && (traffic->pageable == 0 || bus->pack > 0);
    place.open = !known && !rates->bus_tried && place.processor_seconds >= GP_PLACE_OPEN_SECONDS;
    if (!known)
        return place;
    place.gpu_seconds = gp_place_gpu_seconds(problem, traffic, bus);
    if (place.gpu_seconds < (well_known ? MARGIN : GP_PLACE_CLEAR) * place.processor_seconds)
        place.space = GP_SPACE_GPU;
    return place;
}

int gp_place_describe(const gp_place *place, const gp_bus *bus, char *text, size_t size) {
    const char *where = place->space == GP_SPACE_GPU ? "GPU" : "processor";
    if (!place->host_data)
        return snprintf(text, size, "%s", "");
    if (!(place->processor_seconds > 0))
        return snprintf(text, size, "host data: on the processor, whose time for such a call is %s\n",
                        "not known yet, or too short to ask");
    if (!(place->gpu_seconds > 0))
        return snprintf(text, size, "host data: on the processor, %.3f ms as measured; the bus was not measured\n",
                        place->processor_seconds * 1e3);
    return snprintf(text, size,
                    "host data: on the %s; processor %.3f ms as measured, GPU %.3f ms at %.1f GB/s up, %.1f down, "
                    "%.1f both ways\n",
                    where, place->processor_seconds * 1e3, place->gpu_seconds * 1e3, bus->up / 1e9, bus->down / 1e9,
                    bus->both / 1e9);
}
