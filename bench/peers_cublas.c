/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS's geam as a transpose, loaded at run time, so that the program builds and runs without cuBLAS too. */
#include "peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* From the cuBLAS manual; its handle is a pointer, its enums are int, CUBLAS_STATUS_SUCCESS and CUBLAS_OP_N are 0. */
#define OP_N 0
#define OP_T 1
typedef void *handle;
typedef int (*create_function)(handle *);
typedef int (*destroy_function)(handle);
typedef int (*set_stream_function)(handle, cudaStream_t);
typedef int (*sgeam_function)(handle, int, int, int, int, const float *, const float *, int, const float *,
                              const float *, int, float *, int);
typedef int (*dgeam_function)(handle, int, int, int, int, const double *, const double *, int, const double *,
                              const double *, int, double *, int);

static struct {
    bool tried;
    void *library;
    handle handle;
    destroy_function destroy;
    sgeam_function sgeam;
    dgeam_function dgeam;
} cublas;

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises that this works. */
static bool find(const char *name, void *function) {
    void *symbol = dlsym(cublas.library, name);
    *(void **)function = symbol;
    return symbol != NULL;
}

static void *load(void) {
    const char *const names[] = {getenv("GPUPRIM_CUBLAS"), BENCH_CUBLAS, "libcublas.so.13", "libcublas.so.12",
                                 "libcublas.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = names[i] && *names[i] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library) {
            fprintf(stderr, "cuBLAS: %s\n", names[i]);
            return library;
        }
    }
    fprintf(stderr, "cuBLAS not found (%s): no geam lines; set GPUPRIM_CUBLAS to libcublas's path\n", dlerror());
    return NULL;
}

bool peer_geam_open(cudaStream_t stream) {
    create_function create;
    set_stream_function set_stream;
    if (cublas.tried)
        return cublas.handle != NULL;
    cublas.tried = true;
    cublas.library = load();
    if (!cublas.library)
        return false;
    if (!find("cublasCreate_v2", &create) || !find("cublasDestroy_v2", &cublas.destroy) ||
        !find("cublasSetStream_v2", &set_stream) || !find("cublasSgeam", &cublas.sgeam) ||
        !find("cublasDgeam", &cublas.dgeam)) {
        fprintf(stderr, "cuBLAS: a function is missing, no geam lines\n");
        return false;
    }
    if (create(&cublas.handle) != 0 || set_stream(cublas.handle, stream) != 0) {
        fprintf(stderr, "cuBLAS could not be started, no geam lines\n");
        cublas.handle = NULL;
    }
    return cublas.handle != NULL;
}

void peer_geam_close(void) {
    if (cublas.handle)
        cublas.destroy(cublas.handle);
    cublas.handle = NULL;
}

/* Row-major rows x cols is column-major cols x rows; B is not read, as beta is 0, but must be as C for its checks. */
bool peer_geam(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch, void *out,
               size_t out_pitch) {
    const int m = (int)rows, n = (int)cols, lda = (int)in_pitch, ldc = (int)out_pitch;
    if (elem_bytes == sizeof(float)) {
        const float one = 1, zero = 0;
        return cublas.sgeam(cublas.handle, OP_T, OP_N, m, n, &one, in, lda, &zero, out, ldc, out, ldc) == 0;
    }
    const double one = 1, zero = 0;
    return cublas.dgeam(cublas.handle, OP_T, OP_N, m, n, &one, in, lda, &zero, out, ldc, out, ldc) == 0;
}
