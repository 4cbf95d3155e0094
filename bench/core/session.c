/* SPDX-License-Identifier: Apache-2.0 */
/* A session's contexts: places to measure at, and the rows that all others are proved against. */
#include "../../src/host/context.h"
#include "bench.h"

#include <unistd.h>

#define UNKNOWN_CACHE ((size_t)64 << 20) /* more than most have */

gp_context *context_open(const session *s, gp_backend backend, unsigned threads) {
    const gp_options wish = {
        .struct_size = sizeof wish, .backend = (int32_t)backend, .device = -1, .cpu_threads = threads};
    gp_context *context = NULL;
    must(gp_context_create(&context, &wish));
    if (backend == GP_BACKEND_CUDA)
        must(gp_context_set_stream(context, s->gpu->stream));
    return context;
}

void context_bracket(gp_context *context, void (*bracket)(void *user, bool after), void *user) {
    context->bracket = bracket;
    context->bracket_user = user;
}

static void open_reference(session *s, bool gpu) {
    s->references[gpu] = context_open(s, gpu ? GP_BACKEND_CUDA : GP_BACKEND_CPU, 0);
    for (size_t i = 0; primitives[i] != NULL; i++)
        if (primitives[i]->reference[gpu] != NULL)
            must(gp_context_pin_kernel(s->references[gpu], primitives[i]->reference[gpu], 0));
}

void session_open(session *s) {
    s->gpu = gp_device_count() > 0 ? device_open() : NULL;
    open_reference(s, false);
    if (s->gpu == NULL)
        return;
    open_reference(s, true);
    s->host = context_open(s, GP_BACKEND_CPU, 0);
}

place *place_add(session *s, bool gpu, unsigned threads) {
    if (s->n_places == PLACES_MAX)
        fail("more places than the bench holds");
    place *p = &s->places[s->n_places++];
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    *p = (place){.gpu = gpu, .device = {.struct_size = sizeof p->device}};
    p->context = context_open(s, gpu ? GP_BACKEND_CUDA : GP_BACKEND_CPU, threads);
    must(gp_context_device(p->context, &p->device));
    p->threads = p->device.cpu_threads;
    p->cache_bytes = gpu ? p->device.l2_bytes : l3 > 0 ? (size_t)l3 : UNKNOWN_CACHE;
    return p;
}

void session_close(session *s) {
    buffers_drop(s);
    for (size_t i = 0; i < s->n_places; i++)
        gp_context_destroy(s->places[i].context);
    gp_context_destroy(s->references[0]);
    gp_context_destroy(s->references[1]);
    gp_context_destroy(s->host);
    if (s->gpu != NULL)
        s->gpu->close();
}
