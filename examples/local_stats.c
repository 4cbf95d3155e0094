/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean and standard deviation in a square around every pixel of a photograph, channel by channel, and the photograph
 * normalised by them.
 * cc local_stats.c png_io.c whole_files.c $(pkg-config --cflags --libs gpuprim libpng) -lm
 *
 * One call gives all three results, each exact and rounded once: the mean as bytes for the picture, mean and
 * deviation as floats to normalise with.
 */
#define PROGRAM "local_stats"
#include "example.h"
#include "png_io.h"
#include <math.h>

enum { MEAN_BYTES, MEAN, DEVIATION, RESULTS };

typedef struct job {
    gp_context *context;
    gp_array in;
    gp_window_shape window;
    gp_result result[RESULTS];
} job;

static gp_status run(void *argument) {
    const job *j = argument;
    return gp_window(j->context, &j->in, &j->window, j->result, RESULTS);
}

static size_t reflect(ptrdiff_t i, size_t length) {
    const ptrdiff_t last = (ptrdiff_t)length - 1;
    while (last > 0 && (i < 0 || i > last))
        i = i < 0 ? -i : 2 * last - i;
    return last > 0 ? (size_t)i : 0;
}

/* Means by definition, at pixels spread over the picture: they must agree to the last bit. */
static void check(const picture *p, size_t window, const float *mean) {
    const ptrdiff_t k = (ptrdiff_t)window / 2;
    const size_t step_y = p->rows / 8 + 1, step_x = p->cols / 8 + 1;
    for (size_t y = 0; y < p->rows; y += step_y)
        for (size_t x = 0; x < p->cols; x += step_x)
            for (size_t c = 0; c < p->channels; ++c) {
                int64_t sum = 0;
                for (ptrdiff_t dy = -k; dy <= k; ++dy)
                    for (ptrdiff_t dx = -k; dx <= k; ++dx)
                        sum += p->pixel[(reflect((ptrdiff_t)y + dy, p->rows) * p->cols +
                                         reflect((ptrdiff_t)x + dx, p->cols)) *
                                            p->channels +
                                        c];
                /* both are below 2^24, so floats hold them, and their quotient is rounded once */
                if (mean[(y * p->cols + x) * p->channels + c] != (float)sum / (float)(window * window))
                    fail("the mean is wrong at row %zu, column %zu, channel %zu", y, x, c);
            }
}

static unsigned char grey(double value) {
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* Mean, deviation, and the picture normalised by them. */
static void write_maps(const char *const path[3], const picture *p, unsigned char *mean_bytes, const float *mean,
                       const float *deviation) {
    const size_t n = p->rows * p->cols * p->channels;
    char message[PICTURE_MESSAGE];
    picture map[3] = {*p, *p, *p};
    map[0].pixel = mean_bytes;
    for (int i = 1; i < 3; ++i)
        map[i].pixel = host_alloc(n, 1);
    for (size_t i = 0; i < n; ++i) {
        const double away = (double)p->pixel[i] - (double)mean[i], d = (double)deviation[i];
        map[1].pixel[i] = grey(4 * d); /* 64 and more are full */
        map[2].pixel[i] = grey(d < 1 ? 128 : 128 + 48 * away / d);
    }
    if (!picture_write(3, path, map, message))
        fail("%s", message);
    free(map[1].pixel);
    free(map[2].pixel);
}

/* Colours are kept; where it is transparent, a picture is grey on white. */
static picture read_photograph(const char *path) {
    char message[PICTURE_MESSAGE];
    picture p;
    if (!picture_read(path, 0, &p, message))
        fail("%s", message);
    if (p.channels % 2 == 1)
        return p;
    free(p.pixel);
    if (!picture_read(path, 1, &p, message))
        fail("%s", message);
    return p;
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] [-w WINDOW] IN.png MEAN.png DEVIATION.png NORMALISED.png\n"
                              "  -w  width and height of the window: odd, 3 to 257 (31)";
    const char *backend = NULL;
    char *end = NULL;
    long window = 31;
    for (int option; (option = getopt(argc, argv, "b:w:")) != -1;)
        if (option == 'b')
            backend = optarg;
        else if (option == 'w')
            window = strtol(optarg, &end, 10);
        else
            usage(how);
    if (optind + 4 != argc || (end && *end) || window < 3 || window > 257 || window % 2 == 0)
        usage(how);

    const picture p = read_photograph(argv[optind]);
    const size_t n = p.rows * p.cols * p.channels, w = (size_t)window, pitch = p.cols * p.channels;
    gp_context *context = open_context(backend);
    void *in = device_alloc(context, n), *to[RESULTS], *host[RESULTS];
    must(gp_copy(context, in, p.pixel, n));
    job j = {.context = context,
             .in = gp_image(GP_U8, in, p.rows, p.cols, p.channels, pitch),
             .window = {.struct_size = sizeof j.window, .extent = {w, w}, .border = GP_BORDER_REFLECT_101}};
    static const struct {
        gp_reduce_op op;
        gp_type type;
        size_t bytes;
    } want[RESULTS] = {{GP_REDUCE_MEAN, GP_U8, 1}, {GP_REDUCE_MEAN, GP_F32, 4}, {GP_REDUCE_STDDEV, GP_F32, 4}};
    for (int i = 0; i < RESULTS; ++i) {
        to[i] = device_alloc(context, n * want[i].bytes);
        j.result[i] = gp_want(want[i].op, gp_image(want[i].type, to[i], p.rows, p.cols, p.channels, pitch));
    }
    printf("%s: %zu x %zu, window %zu x %zu\n", argv[optind], p.cols, p.rows, w, w);
    time_call(context, "mean and deviation", run, &j);
    for (int i = 0; i < RESULTS; ++i) {
        host[i] = host_alloc(n, want[i].bytes);
        must(gp_copy(context, host[i], to[i], n * want[i].bytes));
        must(gp_free(context, to[i]));
    }
    must(gp_free(context, in));
    gp_context_destroy(context);
    check(&p, w, host[MEAN]);

    const char *const path[] = {argv[optind + 1], argv[optind + 2], argv[optind + 3]};
    write_maps(path, &p, host[MEAN_BYTES], host[MEAN], host[DEVIATION]);
    for (int i = 0; i < RESULTS; ++i)
        free(host[i]);
    free(p.pixel);
    return close_output();
}
