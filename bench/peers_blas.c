/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenBLAS's somatcopy and cuBLAS's geam as transposes, loaded when they are first asked for, so that the program
 * builds and runs without them too.
 */
#include "peers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises that this works. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = library != NULL ? dlsym(library, name) : NULL;
    *(void **)function = symbol;
    return symbol != NULL;
}

static void *load(const char *const names[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *library = names[i] != NULL && *names[i] != '\0' ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library != NULL) {
            printf("# %s\n", names[i]);
            return library;
        }
    }
    printf("# not found: %s\n", names[count - 1]);
    return NULL;
}

static bool is_plain(const transpose_case *c) {
    return !c->in_place && c->rows <= INT_MAX && c->cols <= INT_MAX && c->cols + c->in_pad <= INT_MAX &&
           c->rows + c->out_pad <= INT_MAX;
}

/* As cblas.h has them. */
enum { ROW_MAJOR = 101, TRANSPOSED = 112 };

static struct {
    bool tried;
    void (*transpose)(int order, int trans, int rows, int cols, float alpha, const float *a, int lda, float *b,
                      int ldb);
    void (*set_threads)(int threads);
} openblas;

bool openblas_does(session *s, const line *l) {
    (void)s;
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    const transpose_case *c = CASE_OF(transpose_case, l);
    if (c->elem_bytes != sizeof(float) || !is_plain(c) || strcmp(l->group, "calls") == 0)
        return false;
    if (!openblas.tried) {
        void *library = load(names, 2);
        openblas.tried = true;
        if (!find(library, "cblas_somatcopy", &openblas.transpose) ||
            !find(library, "openblas_set_num_threads", &openblas.set_threads))
            openblas.transpose = NULL;
    }
    if (openblas.transpose != NULL)
        openblas.set_threads((int)l->at->threads);
    return openblas.transpose != NULL;
}

gp_status openblas_call(const contender *c, size_t set) {
    const session *s = c->session;
    const transpose_case *t = CASE_OF(transpose_case, &s->line);
    openblas.transpose(ROW_MAJOR, TRANSPOSED, (int)t->rows, (int)t->cols, 1.0f, buffers_in(s, set),
                       (int)(t->cols + t->in_pad), buffers_out(s, set, 0), (int)(t->rows + t->out_pad));
    return GP_OK;
}

#ifdef GPUPRIM_WITH_CUDA

/* From the cuBLAS manual; its handle is a pointer, its enums are int, CUBLAS_STATUS_SUCCESS is 0. */
enum { OP_N = 0, OP_T = 1 };
typedef void *handle;

static struct {
    bool tried;
    handle handle;
    int (*destroy)(handle);
    int (*sgeam)(handle, int, int, int, int, const float *, const float *, int, const float *, const float *, int,
                 float *, int);
    int (*dgeam)(handle, int, int, int, int, const double *, const double *, int, const double *, const double *, int,
                 double *, int);
} cublas;

static void cublas_open(struct CUstream_st *stream) {
    const char *const names[] = {getenv("GPUPRIM_CUBLAS"), BENCH_CUBLAS, "libcublas.so.13", "libcublas.so.12",
                                 "libcublas.so"};
    int (*create)(handle *);
    int (*set_stream)(handle, struct CUstream_st *);
    void *library = load(names, sizeof names / sizeof *names);
    if (!find(library, "cublasCreate_v2", &create) || !find(library, "cublasDestroy_v2", &cublas.destroy) ||
        !find(library, "cublasSetStream_v2", &set_stream) || !find(library, "cublasSgeam", &cublas.sgeam) ||
        !find(library, "cublasDgeam", &cublas.dgeam))
        return;
    if (create(&cublas.handle) != 0 || set_stream(cublas.handle, stream) != 0) {
        printf("# cuBLAS could not be started\n");
        cublas.handle = NULL;
    }
}

bool cublas_does(session *s, const line *l) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    if ((c->elem_bytes != sizeof(float) && c->elem_bytes != sizeof(double)) || !is_plain(c) ||
        l->memory != MEMORY_DEVICE)
        return false;
    if (!cublas.tried)
        cublas_open(s->gpu->stream);
    cublas.tried = true;
    return cublas.handle != NULL;
}

/* Row-major rows x cols is column-major cols x rows; B is not read, as beta is 0, but must be as C for its checks. */
gp_status cublas_call(const contender *c, size_t set) {
    const session *s = c->session;
    const transpose_case *t = CASE_OF(transpose_case, &s->line);
    const void *in = buffers_in(s, set);
    void *out = buffers_out(s, set, 0);
    const int m = (int)t->rows, n = (int)t->cols, lda = (int)(t->cols + t->in_pad), ldc = (int)(t->rows + t->out_pad);
    const float one = 1, zero = 0;
    const double one_double = 1, zero_double = 0;
    const int failed =
        t->elem_bytes == sizeof(float)
            ? cublas.sgeam(cublas.handle, OP_T, OP_N, m, n, &one, in, lda, &zero, out, ldc, out, ldc)
            : cublas.dgeam(cublas.handle, OP_T, OP_N, m, n, &one_double, in, lda, &zero_double, out, ldc, out, ldc);
    return failed ? GP_ERR_NO_KERNEL : GP_OK;
}

void cublas_close(void) {
    if (cublas.handle != NULL)
        cublas.destroy(cublas.handle);
    cublas.handle = NULL;
}

#endif
