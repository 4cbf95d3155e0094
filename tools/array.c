/* SPDX-License-Identifier: Apache-2.0 */
/* Reading arrays, and their elements as int32. */
#include "array.h"
#include "../examples/png_io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP ((size_t)1 << 30) /* a read() moves at most 2 GiB on Linux */

size_t array_count(const array *a) {
    size_t count = 1;
    for (unsigned i = 0; i < a->n_dims; i++)
        count *= a->dims[i];
    return count;
}

/* Of a file whose length is known, all that it needs: its end is seen without growing. */
static size_t first_room(const char *path, int file) {
    struct stat status;
    const bool known = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    memory_check(path, 0, known ? (size_t)status.st_size : 0, 1);
    return known ? (size_t)status.st_size + 2 : (size_t)1 << 16;
}

unsigned char *file_read(const char *path, size_t *bytes) {
    const bool standard = strcmp(path, "-") == 0;
    const int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        fail("%s: %s", path, strerror(errno));
    size_t room = first_room(path, file), used = 0;
    unsigned char *data = malloc(room);
    while (data != NULL) {
        const size_t step = room - used - 1 < READ_STEP ? room - used - 1 : READ_STEP;
        const ssize_t got = read(file, data + used, step);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("%s: %s", path, strerror(errno));
        if (got == 0)
            break;
        used += (size_t)got;
        if (used + 1 < room)
            continue;
        unsigned char *more = realloc(data, room = memory_grown(path, room));
        if (more == NULL)
            free(data);
        data = more;
    }
    if (data == NULL)
        fail("%s: no memory past byte %zu", path, used);
    if (!standard)
        close(file);
    data[used] = '\0';
    *bytes = used;
    return data;
}

static void read_picture(const char *path, reading how, array *out) {
    picture p;
    char message[PICTURE_MESSAGE];
    if (strcmp(path, "-") == 0)
        fail("a picture is read from a file, not from standard input");
    if (!picture_head(path, &p, message))
        fail("%s", message);
    memory_check(path, 0, p.rows, p.cols * p.channels);
    const size_t pixels = p.rows * p.cols;
    memory_check(path, pixels * p.channels, how.grey ? pixels : pixels * p.channels, how.copies + how.bytes);
    if (!picture_read(path, how.grey ? 1 : 0, &p, message))
        fail("%s", message);
    *out = (array){.n_dims = p.channels > 1 ? 3 : 2,
                   .dims = {p.rows, p.cols, p.channels},
                   .is_picture = true,
                   .elem_bytes = 1,
                   .type = "|u1",
                   .data = p.pixel};
}

static void shape_raw(const char *path, const raw_shape *raw, size_t bytes, array *out) {
    size_t needed = raw->elem_bytes > 0 ? raw->elem_bytes : 4;
    *out = (array){.n_dims = 2, .dims = {raw->rows, raw->cols}, .elem_bytes = needed};
    if (raw->rows == 0 || raw->cols == 0)
        fail("%s: neither PNG nor .npy; for raw elements give --shape ROWSxCOLS", path);
    if (__builtin_mul_overflow(needed, raw->rows, &needed) || __builtin_mul_overflow(needed, raw->cols, &needed) ||
        needed != bytes)
        fail("%s: has %zu bytes; %zu x %zu elements of %zu bytes are not that many", path, bytes, raw->rows,
             raw->cols, out->elem_bytes);
    const bool is_int = out->elem_bytes <= 8 && (out->elem_bytes & (out->elem_bytes - 1)) == 0;
    snprintf(out->type, sizeof out->type, is_int ? "<i%zu" : "|V%zu", out->elem_bytes);
}

void array_read(const char *path, const raw_shape *raw, reading how, array *out) {
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'};
    size_t bytes;
    unsigned char *data = file_read(path, &bytes);
    if (bytes >= sizeof png && memcmp(data, png, sizeof png) == 0) {
        free(data);
        read_picture(path, how, out);
        return;
    }
    if (npy_is(data, bytes)) {
        npy_decode(path, data, bytes, out);
    } else {
        shape_raw(path, raw, bytes, out);
        out->data = data;
    }
    memory_check(path, bytes, array_count(out), how.copies * out->elem_bytes + how.bytes);
}

void array_check_order(const char *path, const array *a) {
    if (a->fortran && a->n_dims > 1)
        fail("%s: is in Fortran order; save numpy.ascontiguousarray() of it", path);
}

/* The element's bytes as a number, least significant first. */
static uint64_t gather(const unsigned char *at, size_t size, bool big_endian) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[big_endian ? i : size - 1 - i];
    return value;
}

int32_t *array_to_ints(const char *path, array *a) {
    const char kind = a->type[1];
    const size_t size = a->elem_bytes, count = array_count(a);
    const bool big_endian = a->type[0] == '>';
    array_check_order(path, a);
    if (strchr("iub", kind) == NULL || size > 8)
        fail("%s: elements of type '%s' are no integers", path, a->type);
    memory_check(path, count * size, count, sizeof(int32_t));
    int32_t *ints = host_alloc(count, sizeof *ints);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = gather(a->data + i * size, size, big_endian);
        const unsigned unused = 64 - 8 * (unsigned)size;
        const int64_t value = kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
        if (value < INT32_MIN || value > INT32_MAX || (kind != 'i' && bits > INT32_MAX))
            fail("%s: element %zu does not fit in 32 bits", path, i);
        ints[i] = (int32_t)value;
    }
    free(a->data);
    a->data = NULL;
    return ints;
}
