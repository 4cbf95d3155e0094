/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an AUTO context computes a call on host data: on the processor, or on the GPU over the bus. Arithmetic on
 * rates that were measured on this machine; nothing here measures. Pure.
 */
#ifndef GP_PLACE_H
#define GP_PLACE_H

#include "problem.h"

/* Calls that move less than this are computed on the processor: they are over before the GPU's first result is back.
 */
#define GP_PLACE_LEAST ((uint64_t)4 << 20)

/* Processor times from which on it is worth knowing how fast the bus is, which takes some ms, once. */
#define GP_PLACE_OPEN_SECONDS 1e-3

/*
 * Processor calls of a class that are timed before the GPU may have the next, and before it may if it is expected to
 * win by less than GP_PLACE_CLEAR; the fastest counts. With 2, a transpose of 4 MiB on 4 threads went to an H200 in
 * 133 us that the processor, its caches warm, does in 73; with 4, one on 16 threads in 130 that it does in 103.
 */
#define GP_PLACE_SAMPLES 4
#define GP_PLACE_SAMPLES_MOST 16
#define GP_PLACE_CLEAR 0.5 /* of the processor's time */

/*
 * Calls whose processor rates are taken for alike: of a kind (reduce, window, transposes by element size and by
 * whether both pitches are whole pages), with pageable arrays or without, of a size between two powers of two from
 * GP_PLACE_LEAST on, the last without end.
 */
#define GP_PLACE_KINDS 14
#define GP_PLACE_SIZES 16
#define GP_PLACE_CLASSES (GP_PLACE_KINDS * 2 * GP_PLACE_SIZES)

/* Host memory that a staged call moves, in bytes. */
typedef struct gp_traffic {
    uint64_t up, down; /* over the bus */
    uint64_t pageable; /* of these, what the processor's threads copy to or from pinned chunks */
} gp_traffic;

/* Bytes a second; 0: not known. */
typedef struct gp_bus {
    double up, down, both; /* one way alone; both ways at once, the sum */
    double pack;           /* the context's threads, from pageable memory to pinned */
} gp_bus;

/* How fast the processor did calls of one class. */
typedef struct gp_pace {
    double rate; /* bytes read and written a second, the best of `samples` */
    unsigned samples;
} gp_pace;

typedef struct gp_rates {
    bool bus_tried;
    gp_bus bus;
    gp_pace processor[GP_PLACE_CLASSES];
} gp_rates;

typedef struct gp_place {
    gp_space space;
    bool host_data;                        /* the question arose */
    bool open;                             /* the bus's rates would decide, and are not known */
    double processor_seconds, gpu_seconds; /* expected; 0: not known */
} gp_place;

/* The processor's rate for such calls is not known well yet. */
bool gp_rates_wanted(const gp_rates *rates, const gp_problem *problem, const gp_traffic *traffic);

/* A call took so long on the processor. */
void gp_rates_note(gp_rates *rates, const gp_problem *problem, const gp_traffic *traffic, double seconds);

/* Expected time of the staged pipeline. */
double gp_place_gpu_seconds(const gp_problem *problem, const gp_traffic *traffic, const gp_bus *bus);

gp_place gp_place_choose(const gp_problem *problem, const gp_traffic *traffic, const gp_rates *rates);

/* One line in words, as snprintf; empty where the question did not arise. */
int gp_place_describe(const gp_place *place, const gp_bus *bus, char *text, size_t size);

#endif
