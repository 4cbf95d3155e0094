/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the library named, lets a context start threads, and closes the library while these sleep in it, then wake.
 */
#include "gpuprim/gpuprim.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef gp_status create(gp_context **out, const gp_options *options);
typedef gp_status transpose(gp_context *context, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                            size_t in_pitch, void *out, size_t out_pitch);

int main(int argc, char **argv) {
    enum { SIDE = 2048 };
    const gp_options options = {
        .struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = 4};
    const struct timespec while_away = {.tv_nsec = 50000000};
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "no library: %s\n", argc > 1 ? dlerror() : "none named");
        return 1;
    }
    create *make = (create *)(uintptr_t)dlsym(library, "gp_context_create");
    transpose *turn = (transpose *)(uintptr_t)dlsym(library, "gp_transpose");
    int32_t *in = calloc(SIDE * SIDE, sizeof *in), *out = calloc(SIDE * SIDE, sizeof *out);
    static gp_context *context; /* stays, and is no leak */
    if (in == NULL || out == NULL || make(&context, &options) != GP_OK)
        return 1;
    const gp_status status = turn(context, sizeof *in, in, SIDE, SIDE, SIDE, out, SIDE);
    dlclose(library);
    nanosleep(&while_away, NULL); /* threads look for work a while, and then go to sleep */
    free(in);
    free(out);
    return status == GP_OK ? 0 : 1;
}
