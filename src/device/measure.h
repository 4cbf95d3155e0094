/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gpuprim command measures with on a GPU: times on the device, and kernels that only move the bytes that a
 * primitive must. Plain C. No part of the library: tools/ compiles these files beside it.
 */
#ifndef GP_MEASURE_H
#define GP_MEASURE_H

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device time between two points of a context's stream. */
typedef struct gp_timer gp_timer;

gp_status gp_timer_create(gp_context *context, gp_timer **out);
void gp_timer_destroy(gp_timer *timer); /* NULL allowed */
gp_status gp_timer_begin(gp_timer *timer);
gp_status gp_timer_end(gp_timer *timer);
gp_status gp_timer_us(gp_timer *timer, double *us); /* waits for the end; microseconds */

/*
 * The floors. Each has GP_FLOOR_WAYS ways, all of them fair; the fastest for a size is its floor. Arrays start at
 * 16-byte boundaries and are rounded up to 16 bytes.
 */
#define GP_FLOOR_WAYS 6u

/* Reads n int32, writes next to nothing to *sink. */
gp_status gp_floor_read(gp_context *context, unsigned way, const int32_t *in, size_t n, int32_t *sink);

/* Reads n int32, writes n elements of 4 bytes to each output; second may be NULL. */
gp_status gp_floor_write(gp_context *context, unsigned way, const int32_t *in, size_t n, void *first, void *second);

/* Reads n int32 so that they stay in the caches in place of what was there. */
gp_status gp_flush_caches(gp_context *context, const int32_t *in, size_t n, int32_t *sink);

#ifdef __cplusplus
}
#endif

#endif
