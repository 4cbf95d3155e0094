/* SPDX-License-Identifier: Apache-2.0 */
/* Files written whole or not at all: where a path leads, the temporary names, the renaming. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf, mkostemp, statx */
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
    char *kept;   /* another name of the file that is replaced, until all are renamed */
    bool is_standard, exists, renamed;
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

static bool is_mount_point(const char *path) {
    struct statx facts;
    return statx(AT_FDCWD, path, 0, 0, &facts) == 0 && (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/*
 * A file that is there, treated as cp does: one that must not be written is refused, and one that a new file in its
 * place would part from its other names, or could not be put in the place of, is written in place.
 */
static const char *resolve_old(output *o) {
    const int file = open(o->path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return strerror(errno);
    close(file);
    if (o->old.st_nlink > 1 || is_mount_point(o->path))
        return NULL;
    o->target = realpath(o->path, NULL);
    return o->target != NULL || errno == ENOENT ? NULL : strerror(errno); /* ENOENT: deleted, and led to by a link */
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
        const bool is_file = !o->is_standard && S_ISREG(o->old.st_mode) && !names_descriptor(folder);
        return is_file ? resolve_old(o) : NULL;
    }
    if (*base == '\0')
        return strerror(ENOENT);
    if (lstat(o->path, &other) == 0)
        return "is a link to a file that is not there";
    if (errno != ENOENT)
        return strerror(errno);
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

/* A new file beside the target, whose name it has as much of as leaves room for what is put behind it. */
static int open_beside(output *o) {
    const char *base = strrchr(o->target, '/') + 1;
    if (asprintf(&o->name, "%.*s%.100s.tmp-XXXXXX", (int)(base - o->target), o->target, base) < 0) {
        o->name = NULL;
        errno = ENOMEM;
        return -1;
    }
    const int file = mkostemp(o->name, O_CLOEXEC);
    if (file < 0) { /* nothing was made */
        free(o->name);
        o->name = NULL;
    }
    return file;
}

static int open_output(output *o) {
    if (o->is_standard)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    const int file = o->target != NULL ? open_beside(o) : -1;
    if (o->target == NULL || (file < 0 && errno == EACCES && o->exists)) /* the folder takes no new file */
        return open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
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
        (void)fchmod(file, mode_of(o));              /* where there are no modes it is refused, and nothing is lost */
    if (good && o->name != NULL && fsync(file) != 0) /* else a crash may leave the new name with nothing behind it */
        good = refuse(message, o, strerror(errno));
    if (close(file) != 0 && good)
        good = refuse(message, o, strerror(errno));
    return good;
}

/* Gives the file that is replaced a second name or, on a file system that has no links, another one. */
static bool keep_old(output *o) {
    if (asprintf(&o->kept, "%s-old", o->name) < 0) {
        o->kept = NULL;
        errno = ENOMEM;
        return false;
    }
    return link(o->target, o->kept) == 0 || rename(o->target, o->kept) == 0;
}

/* What stood there comes back; if it does not, it keeps its other name, which is told. */
static void put_back(output *o, char *message) {
    const size_t used = strlen(message);
    if (o->kept == NULL && o->renamed)
        unlink(o->target);
    if (o->kept == NULL || rename(o->kept, o->target) == 0 || errno == ENOENT)
        return;
    snprintf(message + used, FILES_MESSAGE - used, "; what was in %s is in %s", o->path, o->kept);
    free(o->kept);
    o->kept = NULL;
}

/* All or none. One alone needs no way back: its renaming is one step. */
static bool rename_all(size_t n, output outputs[], char *message) {
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        output *o = &outputs[i];
        if (o->name == NULL)
            continue;
        o->renamed = (n == 1 || !o->exists || keep_old(o)) && rename(o->name, o->target) == 0;
        good = o->renamed || refuse(message, o, strerror(errno));
    }
    for (size_t i = 0; i < n && !good; i++)
        put_back(&outputs[i], message);
    return good;
}

static void clean_up(output *o) {
    if (o->name != NULL && !o->renamed)
        unlink(o->name);
    if (o->kept != NULL)
        unlink(o->kept);
    free(o->name);
    free(o->kept);
    free(o->target);
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
    for (int in_place = 0; in_place <= 1; in_place++) /* last: these are as they were until all others are whole */
        for (size_t i = 0; i < n && good; i++)
            if ((outputs[i].target == NULL) == in_place)
                good = write_one(&outputs[i], i, writer, context, message);
    good = good && rename_all(n, outputs, message);
    for (size_t i = 0; i < n && outputs != NULL; i++)
        clean_up(&outputs[i]);
    free(outputs);
    return good;
}
