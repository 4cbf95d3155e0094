/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduces a file of ints: sum, minimum, maximum, each checked against a plain loop.
 * cc sum_file.c $(pkg-config --cflags --libs gpuprim)
 */
#define PROGRAM "sum_file"
#include "example.h"
#include <ctype.h>

typedef struct job {
    gp_context *context;
    const int32_t *in;
    size_t n;
    int64_t sum;
} job;

static char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("%s: %s", path, strerror(errno));
    size_t room = 1 << 16, used = 0, got;
    char *bytes = host_alloc(room, 1);
    while ((got = fread(bytes + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (used + 1 == room && !(bytes = realloc(bytes, room *= 2)))
            fail("%s: no memory past byte %zu", path, used);
    }
    if (ferror(file))
        fail("%s: %s at byte %zu", path, strerror(errno), used);
    fclose(file);
    bytes[used] = '\0'; /* lets strtol stop */
    *size = used;
    return bytes;
}

/* Little-endian, whatever the machine. */
static size_t ints_from_binary(const char *path, const char *bytes, size_t size, int32_t *out) {
    const unsigned char *byte = (const unsigned char *)bytes;
    if (size % 4 != 0)
        fail("%s: %zu bytes are no whole number of 4-byte ints; the last one, at byte %zu, is cut off", path, size,
             size - size % 4);
    for (size_t i = 0; i < size; i += 4)
        out[i / 4] = (int32_t)(byte[i] | (uint32_t)byte[i + 1] << 8 | (uint32_t)byte[i + 2] << 16 |
                               (uint32_t)byte[i + 3] << 24);
    return size / 4;
}

static size_t ints_from_text(const char *path, const char *text, size_t size, int32_t *out) {
    size_t n = 0, line = 1;
    for (const char *at = text, *end = text + size; at < end;) {
        if (isspace((unsigned char)*at)) {
            line += *at++ == '\n';
            continue;
        }
        const char *token_end = at;
        while (token_end < end && !isspace((unsigned char)*token_end))
            ++token_end;
        char shown[24] = "", *number_end;
        for (size_t i = 0; i < sizeof shown - 1 && at + i < token_end; ++i)
            shown[i] = isprint((unsigned char)at[i]) ? at[i] : '?';
        errno = 0;
        const long long value = strtoll(at, &number_end, 10);
        if (number_end != token_end)
            fail("%s: line %zu: '%s' is no integer", path, line, shown);
        if (errno == ERANGE || value < INT32_MIN || value > INT32_MAX)
            fail("%s: line %zu: %s does not fit in 32 bits", path, line, shown);
        out[n++] = (int32_t)value;
        at = token_end;
    }
    return n;
}

static gp_status sum(void *argument) {
    job *j = argument;
    return gp_reduce_int(j->context, GP_REDUCE_SUM, j->in, j->n, &j->sum);
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] [-t | -i] FILE\n"
                              "  -t  text: integers parted by white space (as FILE.txt is without it)\n"
                              "  -i  binary: little-endian 32-bit ints (as FILE.bin is without it)";
    const char *backend = NULL;
    int form = 0;
    for (int option; (option = getopt(argc, argv, "b:ti")) != -1;)
        if (option == 'b')
            backend = optarg;
        else if (option == 't' || option == 'i')
            form = option;
        else
            usage(how);
    if (optind + 1 != argc)
        usage(how);
    const char *path = argv[optind], *dot = strrchr(path, '.');
    if (!form && dot)
        form = strcmp(dot, ".txt") == 0 ? 't' : strcmp(dot, ".bin") == 0 ? 'i' : 0;
    if (!form)
        fail("%s: neither .txt nor .bin; say -t for text or -i for binary", path);

    size_t size;
    char *bytes = read_whole(path, &size);
    int32_t *host = host_alloc(size / (form == 't' ? 2 : 4) + 1, sizeof *host); /* "1 1 1": two bytes an int */
    const size_t n = (form == 't' ? ints_from_text : ints_from_binary)(path, bytes, size, host);
    free(bytes);

    gp_context *context = open_context(backend);
    int32_t *in = device_alloc(context, n * sizeof *in);
    must(gp_copy(context, in, host, n * sizeof *in));
    job j = {context, in, n, 0};
    int64_t least = 0, most = 0, want_sum = 0, want_least = INT64_MAX, want_most = INT64_MIN;
    if (n > 0) { /* no elements have no minimum: GP_ERR_EMPTY */
        must(gp_reduce_int(context, GP_REDUCE_MIN, in, n, &least));
        must(gp_reduce_int(context, GP_REDUCE_MAX, in, n, &most));
    }
    must(sum(&j));
    for (size_t i = 0; i < n; ++i) {
        want_sum += host[i];
        want_least = host[i] < want_least ? host[i] : want_least;
        want_most = host[i] > want_most ? host[i] : want_most;
    }
    if (j.sum != want_sum || (n > 0 && (least != want_least || most != want_most)))
        fail("%s: the library's result differs from a plain loop's", path);
    printf("sum %lld\n", (long long)j.sum);
    if (n > 0)
        printf("min %lld\nmax %lld\n", (long long)least, (long long)most);
    printf("count %zu\n", n);
    time_call(context, "sum", sum, &j);
    must(gp_free(context, in));
    gp_context_destroy(context);
    free(host);
    return close_output();
}
