/* SPDX-License-Identifier: Apache-2.0 */
/* Files written whole or not at all: where a path leads, the temporary names, the renaming. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf, mkostemp */
#endif
#include "whole_files.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct output {
    const char *path;
    char *target; /* the name without links; NULL: written in place */
    char *name;   /* what is written until all are whole */
    bool is_standard, exists;
    struct stat old;
} output;

static bool refuse(char *message, const output *o, const char *why) {
    snprintf(message, FILES_MESSAGE, "%s: %s", strcmp(o->path, "-") == 0 ? "standard output" : o->path, why);
    return false;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A descriptor of a process: /dev/stdout and the like, /dev/fd/3, /proc/self/fd/3. */
static bool names_descriptor(const char *folder) {
    return strcmp(folder, "/dev") == 0 || strncmp(folder, "/proc/", 6) == 0;
}

/* Where the path leads. NULL, or what is wrong with it. */
static const char *resolve(output *o) {
    struct stat other;
    char before[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(o->path, '/'), *base = slash != NULL ? slash + 1 : o->path;
    if (strcmp(o->path, "-") == 0) {
        o->is_standard = true;
        o->exists = fstat(STDOUT_FILENO, &o->old) == 0;
        return NULL;
    }
    if (snprintf(before, sizeof before, "%.*s", slash != NULL ? (int)(base - o->path) : 1,
                 slash != NULL ? o->path : ".") >= PATH_MAX)
        return strerror(ENAMETOOLONG);
    o->exists = stat(o->path, &o->old) == 0;
    if ((!o->exists && errno != ENOENT) || realpath(before, folder) == NULL)
        return strerror(errno);
    if (o->exists) {
        o->is_standard = fstat(STDOUT_FILENO, &other) == 0 && is_same(&o->old, &other);
        if (!o->is_standard && S_ISREG(o->old.st_mode) && !names_descriptor(folder))
            o->target = realpath(o->path, NULL); /* NULL: a deleted file, by a link to a descriptor */
        return NULL;
    }
    if (*base == '\0')
        return strerror(ENOENT);
    if (lstat(o->path, &other) == 0)
        return "is a link to a file that is not there";
    if (asprintf(&o->target, "%s/%s", folder, base) >= 0)
        return NULL;
    o->target = NULL;
    return strerror(ENOMEM);
}

static bool is_twice(const output *a, const output *b) {
    if (a->exists && b->exists)
        return is_same(&a->old, &b->old);
    return strcmp(a->path, b->path) == 0 ||
           (a->target != NULL && b->target != NULL && strcmp(a->target, b->target) == 0);
}

static int open_output(output *o) {
    if (o->is_standard)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (o->target == NULL)
        return open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (asprintf(&o->name, "%s.tmp-XXXXXX", o->target) < 0) {
        o->name = NULL;
        errno = ENOMEM;
        return -1;
    }
    const int file = mkostemp(o->name, O_CLOEXEC);
    if (file < 0)
        *o->name = '\0'; /* nothing was made */
    return file;
}

static mode_t mode_of(const output *o) {
    if (o->exists)
        return o->old.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool write_one(output *o, size_t index, file_writer writer, const void *context, char *message) {
    char why[FILES_MESSAGE] = "";
    const int file = open_output(o);
    if (file < 0)
        return refuse(message, o, strerror(errno));
    bool good = writer(context, index, file, why);
    if (!good)
        refuse(message, o, *why != '\0' ? why : strerror(errno));
    else if (o->name != NULL)
        (void)fchmod(file, mode_of(o)); /* where there are no modes it is refused, and nothing is lost */
    if (close(file) != 0 && good)
        good = refuse(message, o, strerror(errno));
    return good;
}

bool files_write(size_t n, const char *const path[], file_writer writer, const void *context,
                 char message[FILES_MESSAGE]) {
    output *outputs = calloc(n, sizeof *outputs);
    bool good = outputs != NULL;
    if (!good)
        snprintf(message, FILES_MESSAGE, "no memory");
    for (size_t i = 0; i < n && good; i++) {
        outputs[i].path = path[i];
        const char *wrong = resolve(&outputs[i]);
        for (size_t k = 0; k < i && wrong == NULL; k++)
            wrong = is_twice(&outputs[i], &outputs[k]) ? "is to be written twice" : NULL;
        good = wrong == NULL || refuse(message, &outputs[i], wrong);
    }
    for (size_t i = 0; i < n && good; i++)
        good = write_one(&outputs[i], i, writer, context, message);
    for (size_t i = 0; i < n && outputs != NULL; i++) {
        output *o = &outputs[i];
        if (good && o->name != NULL && rename(o->name, o->target) != 0)
            good = refuse(message, o, strerror(errno));
        if (!good && o->name != NULL)
            unlink(o->name);
        free(o->name);
        free(o->target);
    }
    free(outputs);
    return good;
}
