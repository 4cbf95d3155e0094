/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing arrays, all or none. While files are being written, signals that would end the program wait: between pieces
 * they are looked for, and what was begun is removed before they take effect.
 */
#include "../examples/png_io.h"
#include "array.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 22)

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static void ending_signals(sigset_t *set) {
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(set, ending[i]);
}

static bool asked_to_end(void) {
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigismember(&pending, ending[i]) == 1)
            return true;
    return false;
}

bool ends_in(const char *path, const char *extension) {
    const size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcmp(path + length - tail, extension) == 0;
}

/* False with errno set; EINTR: asked to end. */
static bool write_all(int file, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        if (asked_to_end()) {
            errno = EINTR;
            return false;
        }
        const ssize_t done = write(file, at, bytes < PIECE ? bytes : PIECE);
        if (done < 0 && errno != EINTR)
            return false;
        at += done > 0 ? done : 0;
        bytes -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static picture picture_of(const char *path, const array *a) {
    const size_t channels = a->n_dims == 3 ? a->dims[2] : 1;
    if (strcmp(a->type, "|u1") != 0 || a->n_dims < 2 || a->n_dims > 3 || channels < 1 || channels > 4)
        fail("%s: a picture is of bytes, rows x columns x 1 to 4 channels", path);
    if (a->dims[0] == 0 || a->dims[1] == 0)
        fail("%s: a picture has at least one row and one column", path);
    return (picture){a->dims[0], a->dims[1], channels, a->data};
}

typedef struct request {
    const char *const *path;
    const array *arrays;
} request;

static bool write_one(const void *context, size_t index, int file, char *why) {
    const request *r = context;
    const char *path = r->path[index];
    const array *a = &r->arrays[index];
    char head[NPY_HEAD];
    if (ends_in(path, ".png")) {
        const picture p = picture_of(path, a);
        return picture_encode(file, &p, why);
    }
    if (ends_in(path, ".npy") && !write_all(file, head, npy_encode_head(a, head)))
        return false;
    return write_all(file, a->data, array_count(a) * a->elem_bytes);
}

void arrays_write(size_t n, const char *const path[], const array arrays[]) {
    char message[FILES_MESSAGE] = "";
    request r = {path, arrays};
    sigset_t held, before;
    for (size_t i = 0; i < n; i++)
        if (ends_in(path[i], ".png"))
            (void)picture_of(path[i], &arrays[i]);
    ending_signals(&held);
    sigprocmask(SIG_BLOCK, &held, &before);
    const bool good = files_write(n, path, write_one, &r, message);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a signal that waited ends the program here */
    if (!good)
        fail("%s", message);
}
