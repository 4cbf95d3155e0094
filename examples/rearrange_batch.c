/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of made-up RGB pictures, pixel by pixel as cameras and files have them (N x H x W x 3 bytes), becomes
 * planes as neural networks want them (N x 3 x H x W), and pictures again. Both are checked byte by byte.
 *
 *     cc rearrange_batch.c $(pkg-config --cflags --libs gpuprim)
 */
#define PROGRAM "rearrange_batch"
#include "example.h"

#define CHANNELS 3

typedef struct job {
    gp_context *context;
    gp_array in, out;
} job;

static gp_status rearrange(void *argument) {
    const job *j = argument;
    return gp_rearrange(j->context, &j->in, &j->out);
}

/* `axes`: which axis of `from` each axis of the result is. */
static job job_of(gp_context *context, const void *from, const size_t *extent, const unsigned *axes, void *to) {
    job j = {.context = context, .in = gp_permuted(gp_dense(GP_U8, from, 4, extent), axes)};
    j.out = gp_dense(GP_U8, to, 4, j.in.extent);
    return j;
}

static void check_planes(const unsigned char *pixels, const unsigned char *planes, size_t n, size_t plane) {
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < plane; ++k)
            for (size_t c = 0; c < CHANNELS; ++c)
                if (planes[(i * CHANNELS + c) * plane + k] != pixels[(i * plane + k) * CHANNELS + c])
                    fail("channel %zu of pixel %zu in picture %zu is wrong", c, k, i);
}

static size_t count_of(const char *text, const char *how) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end != '\0' || text[0] < '1' || text[0] > '9' || value > 65536)
        usage(how);
    return value;
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] [PICTURES ROWS COLUMNS]";
    const char *backend = read_backend(argc, argv, how);
    if (argc != optind && argc != optind + 3)
        usage(how);
    const size_t n = argc > optind ? count_of(argv[optind], how) : 16,
                 rows = argc > optind ? count_of(argv[optind + 1], how) : 224,
                 cols = argc > optind ? count_of(argv[optind + 2], how) : 224, bytes = n * rows * cols * CHANNELS;
    unsigned char *pictures = host_alloc(bytes, 1), *result = host_alloc(bytes, 1);
    for (size_t i = 0; i < bytes; ++i)
        pictures[i] = (unsigned char)(i * 2654435761u >> 13);

    gp_context *context = open_context(backend);
    unsigned char *first = device_alloc(context, bytes), *second = device_alloc(context, bytes);
    must(gp_copy(context, first, pictures, bytes));
    job to_planes = job_of(context, first, (size_t[]){n, rows, cols, CHANNELS}, (unsigned[]){0, 3, 1, 2}, second);
    must(rearrange(&to_planes));
    must(gp_copy(context, result, second, bytes));
    check_planes(pictures, result, n, rows * cols);
    printf("%zu pictures of %zu x %zu pixels became planes\n", n, rows, cols);
    time_call(context, "to planes", rearrange, &to_planes);

    job back = job_of(context, second, (size_t[]){n, CHANNELS, rows, cols}, (unsigned[]){0, 2, 3, 1}, first);
    memset(result, 0, bytes);
    must(gp_copy(context, first, result, bytes)); /* zeros: a call that does nothing is seen */
    must(rearrange(&back));
    must(gp_copy(context, result, first, bytes));
    if (memcmp(result, pictures, bytes) != 0)
        fail("the planes do not become the pictures again");
    printf("and pictures again, equal to the first\n");
    time_call(context, "to pictures", rearrange, &back);

    must(gp_free(context, first));
    must(gp_free(context, second));
    gp_context_destroy(context);
    free(pictures);
    free(result);
    return close_output();
}
