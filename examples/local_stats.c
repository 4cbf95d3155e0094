/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean and standard deviation around every pixel of a photograph, and the photograph normalised by them.
 * cc local_stats.c png_io.c whole_files.c $(pkg-config --cflags --libs gpuprim libpng) -lm
 *
 * The library's window runs along the row. A square window is two passes: along the rows, then, on the transposed
 * result, along what were the columns. Nothing is rounded in between: with windows up to 257 the sum of the squares
 * of a row's 8-bit pixels is at most 257 * 255^2 = 16,711,425 < 2^24, an integer that a float holds exactly.
 */
#define PROGRAM "local_stats"
#include "example.h"
#include "png_io.h"
#include <math.h>
#include <unistd.h>

typedef struct job {
    gp_context *context;
    size_t rows, cols, window;
    const int32_t *image;
    float *sum, *square;
} job;

static gp_status along_rows(void *argument) {
    const job *j = argument;
    return gp_sum_and_square_window(j->context, j->image, j->rows, j->cols, j->cols, j->window, GP_BORDER_REFLECT_101,
                                    j->sum, j->square, j->cols);
}

/* Sums the rows' sums along the columns, in place. */
static void along_columns(gp_context *context, size_t rows, size_t cols, size_t window, float *sums) {
    const size_t n = rows * cols;
    int32_t *whole = host_alloc(n, sizeof *whole);
    int32_t *image = device_alloc(context, n * sizeof *image), *turned = device_alloc(context, n * sizeof *turned);
    float *sum = device_alloc(context, n * sizeof *sum), *back = (float *)(void *)image;
    for (size_t i = 0; i < n; ++i)
        whole[i] = (int32_t)sums[i];
    must(gp_copy(context, image, whole, n * sizeof *image));
    must(gp_transpose(context, sizeof *image, image, rows, cols, cols, turned, rows));
    job j = {context, cols, rows, window, turned, sum, NULL};
    must(along_rows(&j));
    must(gp_transpose(context, sizeof *sum, sum, cols, rows, rows, back, cols));
    must(gp_copy(context, sums, back, n * sizeof *sums));
    must(gp_free(context, image));
    must(gp_free(context, turned));
    must(gp_free(context, sum));
    free(whole);
}

static size_t reflect(ptrdiff_t i, size_t length) {
    const ptrdiff_t last = (ptrdiff_t)length - 1;
    while (last > 0 && (i < 0 || i > last))
        i = i < 0 ? -i : 2 * last - i;
    return last > 0 ? (size_t)i : 0;
}

/* The same by definition, at pixels spread over the picture: the sums must agree to the last bit. */
static void check(const picture *p, size_t window, const float *sum, const float *square) {
    const ptrdiff_t k = (ptrdiff_t)window / 2;
    const size_t step_y = p->rows / 8 + 1, step_x = p->cols / 8 + 1;
    for (size_t y = 0; y < p->rows; y += step_y)
        for (size_t x = 0; x < p->cols; x += step_x) {
            int64_t s = 0, q = 0;
            for (ptrdiff_t dy = -k; dy <= k; ++dy)
                for (ptrdiff_t dx = -k; dx <= k; ++dx) {
                    const int64_t v =
                        p->pixel[reflect((ptrdiff_t)y + dy, p->rows) * p->cols + reflect((ptrdiff_t)x + dx, p->cols)];
                    s += v;
                    q += v * v;
                }
            if (sum[y * p->cols + x] != (float)s || square[y * p->cols + x] != (float)q)
                fail("the windowed sums are wrong at row %zu, column %zu", y, x);
        }
}

static unsigned char grey(double value) {
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* Mean, deviation, and the picture normalised by them. */
static void write_maps(const char *const path[3], const picture *p, size_t window, const float *sum,
                       const float *square) {
    const size_t n = p->rows * p->cols;
    const double area = (double)(window * window);
    char message[PICTURE_MESSAGE];
    picture map[3];
    for (int i = 0; i < 3; ++i)
        map[i] = (picture){p->rows, p->cols, 1, host_alloc(n, 1)};
    for (size_t i = 0; i < n; ++i) {
        const double mean = sum[i] / area, variance = square[i] / area - mean * mean;
        const double deviation = variance > 0 ? sqrt(variance) : 0;
        map[0].pixel[i] = grey(mean);
        map[1].pixel[i] = grey(4 * deviation); /* 64 and more are white */
        map[2].pixel[i] = grey(deviation < 1 ? 128 : 128 + 48 * (p->pixel[i] - mean) / deviation);
    }
    if (!picture_write(3, path, map, message))
        fail("%s", message);
    for (int i = 0; i < 3; ++i)
        free(map[i].pixel);
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] [-w WINDOW] IN.png MEAN.png DEVIATION.png NORMALISED.png\n"
                              "  -w  width and height of the window: odd, 3 to 257 (15)";
    const char *backend = NULL;
    char *end = NULL;
    long window = 15;
    for (int option; (option = getopt(argc, argv, "b:w:")) != -1;)
        if (option == 'b')
            backend = optarg;
        else if (option == 'w')
            window = strtol(optarg, &end, 10);
        else
            usage(how);
    if (optind + 4 != argc || (end && *end) || window < 3 || window > 257 || window % 2 == 0)
        usage(how);

    char message[PICTURE_MESSAGE];
    picture p;
    if (!picture_read(argv[optind], 1, &p, message))
        fail("%s", message);
    const size_t n = p.rows * p.cols, w = (size_t)window;
    int32_t *host = host_alloc(n, sizeof *host);
    float *sum = host_alloc(n, sizeof *sum), *square = host_alloc(n, sizeof *square);
    for (size_t i = 0; i < n; ++i)
        host[i] = p.pixel[i];

    gp_context *context = open_context(backend);
    int32_t *image = device_alloc(context, n * sizeof *image);
    job j = {context,
             p.rows,
             p.cols,
             w,
             image,
             device_alloc(context, n * sizeof *sum),
             device_alloc(context, n * sizeof *sum)};
    must(gp_copy(context, image, host, n * sizeof *image));
    printf("%s: %zu x %zu, window %zu x %zu\n", argv[optind], p.cols, p.rows, w, w);
    time_call(context, "window along the rows", along_rows, &j);
    must(gp_copy(context, sum, j.sum, n * sizeof *sum));
    must(gp_copy(context, square, j.square, n * sizeof *square));
    along_columns(context, p.rows, p.cols, w, sum);
    along_columns(context, p.rows, p.cols, w, square);
    check(&p, w, sum, square);

    const char *const path[] = {argv[optind + 1], argv[optind + 2], argv[optind + 3]};
    write_maps(path, &p, w, sum, square);
    must(gp_free(context, image));
    must(gp_free(context, j.sum));
    must(gp_free(context, j.square));
    gp_context_destroy(context);
    free(sum);
    free(square);
    free(host);
    free(p.pixel);
    return close_output();
}
