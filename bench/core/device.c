/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA run time as the benches use it: one stream, two events, memory of three kinds, graphs. */
#include "../../tools/tool.h"
#include "device_kernels.h"

#include <cuda_runtime_api.h>
#include <time.h>

static cudaStream_t stream, other[2]; /* all calls; the bus in both directions */
static cudaEvent_t begin_event, end_event;
static unsigned long long *counter; /* on the device */
static unsigned multiprocessors;

static void cuda_check(cudaError_t error, const char *call) {
    if (error != cudaSuccess)
        fail("%s: %s", call, cudaGetErrorString(error));
}
#define CUDA(call) cuda_check((call), #call)

static void device_wait(void) {
    CUDA(cudaStreamSynchronize(stream));
}

static void *device_alloc(memory_kind kind, size_t bytes) {
    void *memory = NULL;
    if (kind == MEMORY_DEVICE)
        CUDA(cudaMalloc(&memory, bytes));
    else
        CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
    return memory;
}

static void device_free(memory_kind kind, void *memory) {
    device_wait();
    CUDA(kind == MEMORY_DEVICE ? cudaFree(memory) : cudaFreeHost(memory));
}

static size_t device_available(void) {
    size_t available = 0, total = 0;
    CUDA(cudaMemGetInfo(&available, &total));
    return available;
}

static void device_copy(void *to, const void *from, size_t bytes) {
    CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    device_wait();
}

static void device_set(void *to, int byte, size_t bytes) {
    CUDA(cudaMemsetAsync(to, byte, bytes, stream));
}

static void device_fill(void *to, size_t words, data_kind kind, size_t spike, uint64_t seed) {
    CUDA(kernel_fill(to, words, kind, spike, seed, stream));
}

static size_t device_differ(const void *a, const void *b, size_t bytes) {
    unsigned long long count = 0;
    device_set(counter, 0, sizeof *counter);
    CUDA(kernel_differ(a, b, bytes, counter, stream));
    device_copy(&count, counter, sizeof count);
    return count;
}

static void device_begin(void) {
    CUDA(cudaEventRecord(begin_event, stream));
}

static void device_end(void) {
    CUDA(cudaEventRecord(end_event, stream));
}

static double device_us(void) {
    float ms = 0;
    CUDA(cudaEventSynchronize(end_event));
    CUDA(cudaEventElapsedTime(&ms, begin_event, end_event));
    return (double)ms * 1e3;
}

static void device_capture(void) {
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static void device_replay(void *captured) {
    CUDA(cudaGraphLaunch(captured, stream));
}

static void *device_captured(void) {
    cudaGraph_t graph;
    cudaGraphExec_t captured;
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&captured, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    device_replay(captured);
    device_wait();
    return captured;
}

static void device_forget(void *captured) {
    CUDA(cudaGraphExecDestroy(captured));
}

static void device_bus(void *device_in, const void *host_in, void *const device_out[], void *const host_out[],
                       unsigned outs, size_t bytes) {
    CUDA(cudaMemcpyAsync(device_in, host_in, bytes, cudaMemcpyHostToDevice, other[0]));
    for (unsigned k = 0; k < outs; k++)
        CUDA(cudaMemcpyAsync(host_out[k], device_out[k], bytes, cudaMemcpyDeviceToHost, other[1]));
    CUDA(cudaStreamSynchronize(other[0]));
    CUDA(cudaStreamSynchronize(other[1]));
}

static void device_nothing(void) {
    CUDA(kernel_nothing(stream));
}

double device_first_call(void) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CUDA(cudaFree(NULL));
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3;
}

/* The last way of a copy is the driver's own. */
static void device_floor(unsigned outs, unsigned way, const void *in, void *const out[], size_t bytes) {
    if (outs == 0)
        CUDA(kernel_read(way, in, bytes, (int32_t *)counter, multiprocessors, stream));
    else if (way < KERNEL_WRITE_WAYS)
        CUDA(kernel_write(way, outs, in, out[0], outs > 1 ? out[1] : NULL, bytes, stream));
    else
        CUDA(cudaMemcpyAsync(out[0], in, bytes, cudaMemcpyDeviceToDevice, stream));
}

static void device_flush(void *memory, size_t bytes) {
    CUDA(kernel_flush(memory, bytes, (int32_t *)counter, multiprocessors, stream));
}

static void device_close(void) {
    CUDA(cudaFree(counter));
    CUDA(cudaEventDestroy(begin_event));
    CUDA(cudaEventDestroy(end_event));
    CUDA(cudaStreamDestroy(other[0]));
    CUDA(cudaStreamDestroy(other[1]));
    CUDA(cudaStreamDestroy(stream));
}

const gpu_device *device_open(void) {
    static gpu_device the_device = {.close = device_close,
                                    .alloc = device_alloc,
                                    .free = device_free,
                                    .available = device_available,
                                    .copy = device_copy,
                                    .set = device_set,
                                    .fill = device_fill,
                                    .differ = device_differ,
                                    .wait = device_wait,
                                    .begin = device_begin,
                                    .end = device_end,
                                    .us = device_us,
                                    .capture = device_capture,
                                    .captured = device_captured,
                                    .replay = device_replay,
                                    .forget = device_forget,
                                    .bus = device_bus,
                                    .nothing = device_nothing,
                                    .floor_ways = {KERNEL_READ_WAYS, KERNEL_WRITE_WAYS + 1, KERNEL_WRITE_WAYS},
                                    .floor = device_floor,
                                    .flush = device_flush};
    int ordinal = 0, value = 0;
    CUDA(cudaGetDevice(&ordinal));
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, ordinal));
    multiprocessors = (unsigned)value;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other[0], cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other[1], cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&begin_event));
    CUDA(cudaEventCreate(&end_event));
    CUDA(cudaMalloc((void **)&counter, sizeof *counter));
    the_device.stream = stream;
    return &the_device;
}
