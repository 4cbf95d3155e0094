/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a session: stream, contexts, pinned kernels, CSV file; and how the program gives up. */
#include "bench.h"
#include "peers.h"

#include <stdlib.h>
#include <string.h>

void die(const char *what, const char *why) {
    fprintf(stderr, "gpuprim-bench-gpu: %s: %s\n", what, why);
    exit(1);
}

void cuda_check(cudaError_t error, const char *call) {
    if (error != cudaSuccess)
        die(call, cudaGetErrorString(error));
}

void gp_check(gp_status status, const char *call) {
    if (status != GP_OK)
        die(call, gp_last_error());
}

gp_context *session_context(const session *s, gp_backend backend) {
    const gp_options wish = {.struct_size = sizeof wish, .backend = (int32_t)backend, .device = -1};
    gp_context *context = NULL;
    GP(gp_context_create(&context, &wish));
    if (backend == GP_BACKEND_CUDA)
        GP(gp_context_set_stream(context, s->stream));
    return context;
}

static gp_operation operation_of(const char *kernel) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        GP(gp_kernel_at(i, &info));
        if (strcmp(info.name, kernel) == 0 && (info.flags & GP_KERNEL_GPU))
            return (gp_operation)info.operation;
    }
    die(kernel, "no such GPU kernel");
}

/* KERNEL[:THREADS] */
static void open_pin(session *s, const char *text) {
    pinned *pin = &s->pins[s->n_pins++];
    char name[48];
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof name || strlen(text) + sizeof "ours:" > sizeof pin->who)
        die(text, "name too long");
    memcpy(name, text, length);
    name[length] = '\0';
    snprintf(pin->who, sizeof pin->who, "ours:%s", text);
    pin->operation = operation_of(name);
    pin->context = session_context(s, GP_BACKEND_CUDA);
    GP(gp_context_pin_kernel(pin->context, name, colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0));
}

void session_open(session *s, const options *opt) {
    int device = 0, value = 0;
    memset(s, 0, sizeof *s);
    s->opt = *opt;
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    s->multiprocessors = (unsigned)value;
    CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&s->begin));
    CUDA(cudaEventCreate(&s->end));
    CUDA(cudaMalloc((void **)&s->n_wrong, sizeof *s->n_wrong));
    s->free_choice = session_context(s, GP_BACKEND_CUDA);
    s->processor = session_context(s, GP_BACKEND_CPU);
    for (size_t i = 0; i < opt->n_pins; i++)
        open_pin(s, opt->pins[i]);
    if (opt->csv && !(s->csv = fopen(opt->csv, "w")))
        die(opt->csv, "cannot be written");
    gp_device_info info = {.struct_size = sizeof info};
    GP(gp_context_device(s->free_choice, &info));
    printf("# %s, %u SMs, libgpuprim %u, %u rounds, %s\n", info.name, info.multiprocessors, gp_version(), opt->rounds,
           opt->graph ? "graph replays" : "stream launches");
}

void session_close(session *s) {
    peer_geam_close();
    for (size_t i = 0; i < s->n_pins; i++)
        gp_context_destroy(s->pins[i].context);
    gp_context_destroy(s->free_choice);
    gp_context_destroy(s->processor);
    CUDA(cudaFree(s->buffers.in));
    CUDA(cudaFree(s->buffers.out));
    CUDA(cudaFree(s->n_wrong));
    CUDA(cudaEventDestroy(s->begin));
    CUDA(cudaEventDestroy(s->end));
    CUDA(cudaStreamDestroy(s->stream));
    free(s->mirror);
    if (s->csv && fclose(s->csv) != 0)
        die(s->opt.csv, "could not be written");
}
