/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring on a GPU in a build without CUDA: no context with a GPU ever comes to be, so nothing here is reached. */
#include "measure.h"

static gp_status built_without(void) {
    return gp_fail(GP_ERR_NO_DEVICE, "built without CUDA");
}

gp_status gp_timer_create(gp_context *context, gp_timer **out) {
    (void)context, (void)out;
    return built_without();
}

void gp_timer_destroy(gp_timer *timer) {
    (void)timer;
}

gp_status gp_timer_begin(gp_timer *timer) {
    (void)timer;
    return built_without();
}

gp_status gp_timer_end(gp_timer *timer) {
    (void)timer;
    return built_without();
}

gp_status gp_timer_us(gp_timer *timer, double *us) {
    (void)timer, (void)us;
    return built_without();
}

gp_status gp_floor_read(gp_context *context, unsigned way, const int32_t *in, size_t n, int32_t *sink) {
    (void)context, (void)way, (void)in, (void)n, (void)sink;
    return built_without();
}

gp_status gp_floor_write(gp_context *context, unsigned way, const int32_t *in, size_t n, void *first, void *second) {
    (void)context, (void)way, (void)in, (void)n, (void)first, (void)second;
    return built_without();
}

gp_status gp_flush_caches(gp_context *context, const int32_t *in, size_t n, int32_t *sink) {
    (void)context, (void)in, (void)n, (void)sink;
    return built_without();
}
