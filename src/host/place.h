/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an AUTO context computes a call on host data: on the processor, or on the GPU over the bus. Arithmetic on
 * times and rates that were measured on this machine; nothing here measures. Pure.
 */
#ifndef GP_PLACE_H
#define GP_PLACE_H

#include "problem.h"

/*
 * Calls that move less, or take the processor less time than this once they are known, are computed there and not
 * compared: a staged call takes 15 to 25 us before its first byte counts (one H200), in which one thread moves 400
 * KiB, or computes a window on 100.
 */
#define GP_PLACE_LEAST ((uint64_t)64 << 10)
#define GP_PLACE_LEAST_SECONDS 10e-6

/*
 * Once calls that the GPU might have had have taken the processor so long, the bus is measured, in about a tenth of
 * that; how fast pageable memory is packed, on a call of GP_PLACE_PACK_SECONDS or more.
 */
#define GP_PLACE_OPEN_SECONDS 60e-3
#define GP_PLACE_PACK_SECONDS 1e-3

/*
 * Processor calls of a class that are timed before the GPU may have the next; the smaller number of calls that take
 * GP_PLACE_LONG_SECONDS or more, for which caches and sleeping threads matter little. Of shorter calls the first ten
 * may take several times what all later ones do (16 threads beside an H200, 1 MiB: 108, 104, 85, 386, 288, then 55
 * us), and with 5 of them the GPU was given calls that the processor does in a third to two thirds of its time.
 */
#define GP_PLACE_SAMPLES 5
#define GP_PLACE_SAMPLES_MOST 16
#define GP_PLACE_LONG_SECONDS 10e-3

/* Calls that take so long are timed all: it takes a microsecond, and the machine may be busier than it was. */
#define GP_PLACE_TIMED_SECONDS 0.5e-3

/* Calls in a row that may be left out because they touched memory for the first time; then all calls do so. */
#define GP_PLACE_TOUCHING_MOST 4

/* One in so many calls that the GPU would have is timed on the processor, if that is slower by no more than this. */
#define GP_PLACE_RECHECK 16
#define GP_PLACE_NEAR 1.5

/*
 * Calls of a context that was promised host data, on memory of whatever kind, for which asking the driver is a large
 * part: it takes up to 2.7 us. Longer ones are still asked about, so that a broken promise is found.
 */
#define GP_PLACE_SETTLED_SECONDS 50e-6

/* One in so many calls that are known to be the processor's on memory of a kind may be on memory of the other. */
#define GP_PLACE_UNASKED 64

/* Calls on the GPU after which the time they took counts instead of what was expected. */
#define GP_PLACE_TRIALS 3

/* Rates that are remembered; the median of them counts, so that neither a slow nor a lucky call does. */
#define GP_PACE_KEPT 5

/*
 * Calls whose rates are taken for alike: of a kind (reduce, window, transposes by element size and by whether both
 * pitches are whole pages), with pageable arrays or without, of a size between two powers of two from GP_PLACE_LEAST
 * on, the last without end.
 */
#define GP_PLACE_KINDS 14
#define GP_PLACE_SIZES 16
#define GP_PLACE_CLASSES (GP_PLACE_KINDS * 2 * GP_PLACE_SIZES)

/* Host memory that a staged call moves, in bytes. */
typedef struct gp_traffic {
    uint64_t up, down; /* over the bus */
    uint64_t pageable; /* of these, what the processor's threads copy to or from pinned chunks */
} gp_traffic;

/* Bytes a second, and seconds; 0: not known. */
typedef struct gp_bus {
    double up, down, both; /* one way alone; both ways at once, the sum */
    double call;           /* seconds that a call takes which moves next to nothing up and down again */
    double pack;           /* the context's threads, from pageable memory to pinned */
} gp_bus;

/* How fast calls of one class were: bytes read and written a second, the last of `samples`. */
typedef struct gp_pace {
    float rate[GP_PACE_KEPT];
    float median; /* of these; of an even number the higher one */
    unsigned samples;
    unsigned calls; /* that were counted: see gp_rates_count() */
} gp_pace;

typedef struct gp_rates {
    bool bus_tried, pack_tried;
    uint8_t touching; /* calls in a row that were left out */
    uint8_t unasked;  /* settled calls since one was asked about */
    double waited;    /* seconds of the processor's calls that the GPU might have had, had the bus been known */
    gp_bus bus;
    gp_pace pace[2][GP_PLACE_CLASSES]; /* by gp_space */
} gp_rates;

typedef struct gp_place {
    gp_space space;
    bool host_data;                        /* the question arose */
    bool open;                             /* the bus's rates would decide, and are not known */
    bool recheck;                          /* the GPU's, but it is the processor's turn to be timed */
    bool tried;                            /* gpu_seconds is what such calls took, not what is expected */
    unsigned class_number;                 /* GP_PLACE_CLASSES: so little is moved that it has none */
    double processor_seconds, gpu_seconds; /* 0: not known */
} gp_place;

/* The question arose, and how fast such calls are where this one is computed is not known well yet. */
bool gp_rates_wanted(const gp_rates *rates, const gp_place *place);

/* A call is about to be made where place says: counts those that are the GPU's, or would be but for a recheck. */
void gp_rates_count(gp_rates *rates, const gp_place *place);

/*
 * Whether the time of a call counts, of which is known whether it touched memory for the first time: the next is then
 * faster, unless it does so too.
 */
bool gp_rates_believed(gp_rates *rates, bool touched);

/* The call took so long where it was computed. */
void gp_rates_note(gp_rates *rates, const gp_place *place, const gp_problem *problem, double seconds);

/* Expected time of the staged pipeline. */
double gp_place_gpu_seconds(const gp_problem *problem, const gp_traffic *traffic, const gp_bus *bus);

/*
 * True: the call, on host memory, is the processor's, of whichever kind the memory is, and *place says so. It moves
 * less than GP_PLACE_LEAST; or takes less than GP_PLACE_LEAST_SECONDS on memory of the one kind or the other; or less
 * than GP_PLACE_SETTLED_SECONDS, and the GPU longer or a time not known, on memory of each kind for which the
 * processor's time is known. Of the last, one in GP_PLACE_UNASKED calls is to be asked about all the same.
 */
bool gp_place_is_settled(const gp_problem *problem, gp_rates *rates, gp_place *place);

gp_place gp_place_choose(const gp_problem *problem, const gp_traffic *traffic, const gp_rates *rates);

/* One line in words, as snprintf; empty where the question did not arise. */
int gp_place_describe(const gp_place *place, const gp_bus *bus, char *text, size_t size);

#endif
