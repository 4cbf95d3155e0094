/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up GPUs' runtime: each call may be the one that fails. Calls that free do so even then, as CUDA's do. */
#include "fake_cuda.h"
#include "../check.h"
#include <pthread.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* called by the linker's --wrap alone */

fake_cuda fake = {.devices = 2, .driver = CUDART_VERSION};

#define MEMORIES 256
#define POISON 0xdb
#define POISONED 65536 /* bytes at the start of new memory that are not left as malloc gives them */

static struct {
    unsigned char *start;
    size_t bytes;
    enum cudaMemoryType type;
    int device;
    bool freed; /* while work was left on some stream: it stays, poisoned, until none is */
} memories[MEMORIES];

void fake_cuda_arm(unsigned k, cudaError_t code, bool for_good) {
    fake.calls = 0;
    fake.k = k;
    fake.code = code;
    fake.for_good = for_good;
    fake.failed = NULL;
}

void fake_cuda_forget(void) {
    for (size_t i = 0; i < MEMORIES; i++) {
        free(memories[i].start);
        memories[i].start = NULL;
    }
    fake.live = 0;
}

/* CUDA's functions read files and wait: each is a cancellation point. They compute, too: what is inexact may signal.
 */
cudaError_t fake_cuda_outcome(const char *name) {
    static volatile double computed = 1;
    pthread_testcancel();
    computed = 1 / (computed + 2);
    fake.calls++;
    bool now = fake.k && (fake.for_good ? fake.calls >= fake.k : fake.calls == fake.k);
    if (now && !fake.failed)
        fake.failed = name;
    return now ? fake.code : cudaSuccess;
}

/* Work that reads memory after it was freed gets poison; work that writes there is found out here. */
static void bury(void) {
    for (size_t i = 0; i < MEMORIES && fake_streams_are_idle(); i++) {
        unsigned char *start = memories[i].start;
        if (!start || !memories[i].freed)
            continue;
        fake.too_early += start[0] != POISON || memcmp(start, start + 1, memories[i].bytes - 1) != 0;
        free(start);
        memories[i].start = NULL;
    }
}

bool fake_cuda_is_clean(void) {
    bury();
    return fake_streams_are_idle() && fake.live == 0 && fake.out_of_bounds == 0 && fake.too_early == 0 &&
           fake.current == 0;
}

static cudaError_t make_memory(void **out, size_t bytes, enum cudaMemoryType type) {
    bury();
    for (size_t i = 0; i < MEMORIES; i++) {
        if (memories[i].start)
            continue;
        memories[i].start = aligned_alloc(256, (bytes + 255) / 256 * 256);
        if (!memories[i].start)
            return cudaErrorMemoryAllocation;
        memset(memories[i].start, POISON, bytes < POISONED ? bytes : POISONED);
        memories[i].bytes = bytes;
        memories[i].type = type;
        memories[i].device = fake.current;
        memories[i].freed = false;
        *out = memories[i].start;
        fake.live++;
        return cudaSuccess;
    }
    return cudaErrorMemoryAllocation;
}

/* The allocation that holds an address; MEMORIES: none. */
static size_t find(const void *pointer) {
    const unsigned char *at = pointer;
    for (size_t i = 0; i < MEMORIES; i++)
        if (memories[i].start && !memories[i].freed && at >= memories[i].start &&
            at < memories[i].start + memories[i].bytes)
            return i;
    return MEMORIES;
}

bool fake_cuda_memory(const void *pointer, struct cudaPointerAttributes *attributes) {
    const size_t i = find(pointer);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = i < MEMORIES ? memories[i].type : cudaMemoryTypeUnregistered;
    attributes->device = i < MEMORIES ? memories[i].device : -2;
    return i < MEMORIES;
}

void *fake_cuda_pin(size_t bytes) {
    void *memory = NULL;
    assert_int_equal(make_memory(&memory, bytes, cudaMemoryTypeHost), cudaSuccess);
    return memory;
}

static cudaError_t free_memory(void *pointer, enum cudaMemoryType type) {
    size_t i = find(pointer);
    if (i == MEMORIES || memories[i].start != pointer || memories[i].type != type)
        return cudaErrorInvalidValue;
    fake.live--;
    if (fake_streams_are_idle()) {
        free(memories[i].start);
        memories[i].start = NULL;
    } else {
        memset(memories[i].start, POISON, memories[i].bytes);
        memories[i].freed = true;
    }
    return cudaSuccess;
}

void fake_cuda_unpin(void *memory) {
    assert_int_equal(free_memory(memory, cudaMemoryTypeHost), cudaSuccess);
}

void fake_cuda_check_bounds(const void *pointer, size_t bytes) {
    size_t i = find(pointer);
    if (i < MEMORIES && (size_t)((const unsigned char *)pointer - memories[i].start) + bytes > memories[i].bytes)
        fake.out_of_bounds++;
}

cudaError_t __wrap_cudaDriverGetVersion(int *version) {
    FAIL_OR("cudaDriverGetVersion");
    *version = fake.driver;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceCount(int *count) {
    FAIL_OR("cudaGetDeviceCount");
    *count = fake.devices;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDevice(int *device) {
    FAIL_OR("cudaGetDevice");
    *device = fake.current;
    return cudaSuccess;
}

cudaError_t __wrap_cudaSetDevice(int device) {
    FAIL_OR("cudaSetDevice");
    assert_in_range(device, 0, fake.devices - 1);
    fake.current = device;
    fake.contextless = false;
    return cudaSuccess;
}

/* An H200's numbers. */
cudaError_t __wrap_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    FAIL_OR("cudaDeviceGetAttribute");
    assert_in_range(device, 0, fake.devices - 1);
    *value = attribute == cudaDevAttrMaxAccessPolicyWindowSize ? 134217728 : 0;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    FAIL_OR("cudaGetDeviceProperties");
    assert_in_range(device, 0, fake.devices - 1);
    *properties = (struct cudaDeviceProp){
        .major = 9,
        .multiProcessorCount = 132,
        .warpSize = 32,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiProcessor = 2048,
        .maxBlocksPerMultiProcessor = 32,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .sharedMemPerBlock = 49152,
        .sharedMemPerBlockOptin = 232448,
        .sharedMemPerMultiprocessor = 233472,
        .reservedSharedMemPerBlock = 1024,
    };
    snprintf(properties->name, sizeof properties->name, "made-up GPU %d", device);
    return cudaSuccess;
}

cudaError_t __wrap_cudaMalloc(void **out, size_t bytes) {
    FAIL_OR("cudaMalloc");
    return make_memory(out, bytes, cudaMemoryTypeDevice);
}

cudaError_t __wrap_cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    FAIL_OR("cudaHostAlloc");
    return fake.no_pinned && bytes > 4096 ? cudaErrorMemoryAllocation : make_memory(out, bytes, cudaMemoryTypeHost);
}

cudaError_t __wrap_cudaFree(void *memory) {
    cudaError_t freed = free_memory(memory, cudaMemoryTypeDevice);
    FAIL_OR("cudaFree");
    return freed;
}

cudaError_t __wrap_cudaFreeHost(void *memory) {
    cudaError_t freed = free_memory(memory, cudaMemoryTypeHost);
    FAIL_OR("cudaFreeHost");
    return freed;
}

cudaError_t __wrap_cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)flags;
    FAIL_OR("cudaHostGetDevicePointer");
    *device = host;
    return cudaSuccess;
}

cudaError_t __wrap_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    FAIL_OR("cudaPointerGetAttributes");
    const bool known = fake_cuda_memory(pointer, attributes);
    if (known && !fake.contextless)
        memcpy(&attributes->devicePointer, &pointer, sizeof pointer);
    return cudaSuccess;
}

cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    (void)stream;
    FAIL_OR("cudaStreamIsCapturing");
    *status = fake.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

enum cudaStreamCaptureMode fake_cuda_exchange_mode(enum cudaStreamCaptureMode mode) {
    const enum cudaStreamCaptureMode before = fake.mode;
    fake.mode = mode;
    return before;
}

cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    FAIL_OR("cudaThreadExchangeStreamCaptureMode");
    *mode = fake_cuda_exchange_mode(*mode);
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                    unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *found) {
    FAIL_OR("cudaGetDriverEntryPointByVersion");
    assert_true(version >= 4000 && flags == cudaEnableLegacyStream);
    *found = fake_driver_find(name, function) ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t __wrap_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    (void)function;
    FAIL_OR("cudaFuncGetAttributes");
    memset(attributes, 0, sizeof *attributes);
    return cudaSuccess;
}

cudaError_t __wrap_cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return fake_cuda_outcome("cudaFuncSetAttribute");
}

cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                                 size_t smem) {
    (void)function, (void)threads, (void)smem;
    FAIL_OR("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 1;
    return cudaSuccess;
}

cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    FAIL_OR("cudaLaunchKernelExC");
    assert_non_null(function);
    assert_non_null(arguments);
    if (config->gridDim.x == 0 || config->blockDim.x == 0 || config->blockDim.x > 1024 ||
        config->dynamicSmemBytes > 232448)
        return cudaErrorInvalidConfiguration;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeAccessPolicyWindow) {
            const struct cudaAccessPolicyWindow *window = &config->attrs[i].val.accessPolicyWindow;
            assert_in_range(window->num_bytes, 1, 134217728);
            assert_true(find(window->base_ptr) < MEMORIES);
            fake_cuda_check_bounds(window->base_ptr, window->num_bytes);
            fake.windows++;
        }
    fake.launches++;
    return cudaSuccess;
}
