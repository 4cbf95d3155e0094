/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program, makes its k-th allocation, file call or thread fail, and all later ones if that is asked
 * for. FAILING_CALLS is "<m, f or t> <k> <1: for good> <file>"; the file gets what report tells. unlink() never
 * fails: a program that cannot even remove what it began has nothing else that it could do.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#undef _FORTIFY_SOURCE /* its inline functions cannot be stood in for */
#include <argp.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a mapping that outlives a crash. */
typedef struct report {
    uint32_t calls, failed, length;
    char names[65536 - 12]; /* of the calls, in their order, as far as they go in */
} report;

static report *told;
static char failing_kind;
static uint32_t failing_call;
static bool for_good;

/* What is done before main() is the CUDA run time's, which registers kernels there and does not survive a failure. */
static void begin(void) {
    const char *asked = getenv("FAILING_CALLS");
    char *at;
    if (asked == NULL || told != NULL)
        return;
    failing_kind = asked[0];
    failing_call = (uint32_t)strtoul(asked + 1, &at, 10);
    for_good = strtoul(at, &at, 10) != 0;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, at + 1, O_RDWR);
    void *room = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    unsetenv("LD_PRELOAD"); /* programs that this one starts are left alone */
    told = room != MAP_FAILED ? room : NULL;
    syscall(SYS_close, file);
}

/* Whether this call fails, with that errno. */
static bool fails(char kind, const char *name, int error) {
    if (told == NULL || kind != failing_kind)
        return false;
    const uint32_t call = __atomic_add_fetch(&told->calls, 1, __ATOMIC_RELAXED);
    const uint32_t length = (uint32_t)strlen(name);
    if (told->length + length + 1 < sizeof told->names) {
        memcpy(told->names + told->length, name, length);
        told->names[told->length + length] = ' ';
        told->length += length + 1;
    }
    if (for_good ? call < failing_call : call != failing_call)
        return false;
    __atomic_add_fetch(&told->failed, 1, __ATOMIC_RELAXED);
    errno = error;
    return true;
}

/* ---- memory, by glibc's second names: dlsym() may itself allocate */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
    return fails('m', "malloc", ENOMEM) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes) {
    return fails('m', "calloc", ENOMEM) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return fails('m', "realloc", ENOMEM) ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return fails('m', "aligned_alloc", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
    *out = fails('m', "posix_memalign", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
    return *out != NULL ? 0 : ENOMEM;
}

/* ---- files and threads: REAL is the function that this one stands in for */

typedef void function(void);

static function *next(const char *name) {
    void *at = dlsym(RTLD_NEXT, name);
    function *found;
    memcpy(&found, &at, sizeof found); /* ISO C has no cast for this */
    return found;
}

#define REAL(name) ((__typeof__(&(name)))next(#name))
#define STAND_IN(kind, error, lost, result, name, parameters, arguments)  \
    result name parameters {                                              \
        return fails(kind, #name, error) ? (lost) : REAL(name) arguments; \
    }

char *__realpath_chk(const char *path, char *resolved, size_t size);

STAND_IN('f', EIO, -1, ssize_t, read, (int file, void *data, size_t bytes), (file, data, bytes))
STAND_IN('f', ENOSPC, -1, ssize_t, write, (int file, const void *data, size_t bytes), (file, data, bytes))
STAND_IN('f', EIO, -1, int, fsync, (int file), (file))
STAND_IN('f', EIO, -1, int, stat, (const char *path, struct stat *out), (path, out))
STAND_IN('f', EIO, -1, int, fstat, (int file, struct stat *out), (file, out))
STAND_IN('f', EIO, -1, int, lstat, (const char *path, struct stat *out), (path, out))
STAND_IN('f', EPERM, -1, int, fchmod, (int file, mode_t mode), (file, mode))
STAND_IN('f', EBUSY, -1, int, rename, (const char *from, const char *to), (from, to))
STAND_IN('f', EPERM, -1, int, link, (const char *from, const char *to), (from, to))
STAND_IN('f', EACCES, -1, int, access, (const char *path, int mode), (path, mode))
STAND_IN('f', ENOSPC, -1, int, mkostemp, (char *name, int flags), (name, flags))
STAND_IN('f', ENOMEM, NULL, char *, realpath, (const char *path, char *resolved), (path, resolved))
STAND_IN('f', ENOMEM, NULL, char *, __realpath_chk, (const char *path, char *resolved, size_t size),
         (path, resolved, size))
STAND_IN('f', EMFILE, -1, int, dup, (int file), (file))
STAND_IN('f', EMFILE, -1, int, dup2, (int from, int to), (from, to))
STAND_IN('f', EMFILE, -1, int, pipe2, (int ends[2], int flags), (ends, flags))
STAND_IN('f', EAGAIN, -1, pid_t, fork, (void), ())
STAND_IN('f', ENOENT, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
STAND_IN('f', ENOMEM, NULL, FILE *, fdopen, (int file, const char *mode), (file, mode))
STAND_IN('f', EIO, -1, ssize_t, getline, (char **line, size_t *size, FILE *from), (line, size, from))
STAND_IN('t', EAGAIN, EAGAIN, int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
         (thread, attributes, start, argument))
STAND_IN('t', ENOMEM, ENOMEM, int, pthread_attr_init, (pthread_attr_t * attributes), (attributes))

/* No GPU's driver, which would not survive what is done to it. */
void *dlopen(const char *name, int mode) {
    return name != NULL && strstr(name, "libcuda") != NULL ? NULL : REAL(dlopen)(name, mode);
}

/* The first that the command's main() calls of what may fail. */
error_t argp_parse(const struct argp *parser, int argc, char **argv, unsigned flags, int *end, void *input) {
    begin();
    return REAL(argp_parse)(parser, argc, argv, flags, end, input);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    return fails('f', "open", EMFILE) ? -1 : REAL(open)(path, flags, mode);
}

/* What is closed is closed, and yet its last bytes may have been lost. */
int close(int file) {
    const int status = REAL(close)(file);
    return fails('f', "close", EIO) ? -1 : status;
}

int fclose(FILE *file) {
    const int status = REAL(fclose)(file);
    return fails('f', "fclose", EIO) ? EOF : status;
}
