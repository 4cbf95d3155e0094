/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing arrays, all or none. While files are being written, signals that would end the program wait: between pieces
 * they are looked for, and what was begun is removed before they take effect.
 */
#include "../examples/png_io.h"
#include "array.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static bool write_plain(int file, const char *path, const array *a) {
    char head[NPY_HEAD];
    const size_t bytes = array_count(a) * a->elem_bytes;
    if (ends_in(path, ".npy") && !write_all(file, head, npy_encode_head(a, head)))
        return false;
    return write_all(file, a->data, bytes);
}

static picture picture_of(const char *path, const array *a) {
    const size_t channels = a->n_dims == 3 ? a->dims[2] : 1;
    if (strcmp(a->type, "|u1") != 0 || a->n_dims < 2 || a->n_dims > 3 || channels < 1 || channels > 4)
        fail("%s: a picture is of bytes, rows x columns x 1 to 4 channels", path);
    if (a->dims[0] == 0 || a->dims[1] == 0)
        fail("%s: a picture has at least one row and one column", path);
    return (picture){a->dims[0], a->dims[1], channels, a->data};
}

/* To a name that may stand for the path; the message names the path. */
static bool write_one(const char *name, const char *path, const array *a, char *message) {
    if (ends_in(path, ".png")) {
        const picture p = picture_of(path, a);
        return picture_write(1, &name, &p, message);
    }
    const bool standard = strcmp(path, "-") == 0;
    const int file = standard ? STDOUT_FILENO : open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    bool good = file >= 0 && write_plain(file, path, a);
    if (!good)
        snprintf(message, PICTURE_MESSAGE, "%s: %s", standard ? "standard output" : path, strerror(errno));
    if (file >= 0 && !standard && close(file) != 0 && good) {
        snprintf(message, PICTURE_MESSAGE, "%s: %s", path, strerror(errno));
        good = false;
    }
    return good;
}

/* NULL: written in place, for what is no plain file is not to be replaced. */
static char *temporary_name(const char *path) {
    struct stat status;
    const size_t size = strlen(path) + 32;
    if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return NULL;
    char *name = host_alloc(size, 1);
    snprintf(name, size, "%s.tmp-%ld", path, (long)getpid());
    return name;
}

static bool write_and_rename(size_t n, const char *const path[], const array arrays[], char *message) {
    char **name = host_alloc(n, sizeof *name);
    size_t made = 0;
    bool good = true;
    for (; made < n && good; made++) {
        name[made] = temporary_name(path[made]);
        good = write_one(name[made] != NULL ? name[made] : path[made], path[made], &arrays[made], message);
    }
    for (size_t i = 0; i < made; i++) {
        if (good && name[i] != NULL && rename(name[i], path[i]) != 0) {
            snprintf(message, PICTURE_MESSAGE, "%s: %s", path[i], strerror(errno));
            good = false;
        }
        if (!good && name[i] != NULL)
            unlink(name[i]);
        free(name[i]);
    }
    free(name);
    return good;
}

void arrays_write(size_t n, const char *const path[], const array arrays[]) {
    char message[PICTURE_MESSAGE] = "";
    sigset_t held, before;
    for (size_t i = 0; i < n; i++) {
        if (ends_in(path[i], ".png"))
            (void)picture_of(path[i], &arrays[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(path[i], path[k]) == 0)
                fail("%s: is to be written twice", path[i]);
    }
    ending_signals(&held);
    sigprocmask(SIG_BLOCK, &held, &before);
    const bool good = write_and_rename(n, path, arrays, message);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a signal that waited ends the program here */
    if (!good)
        fail("%s", message);
}
