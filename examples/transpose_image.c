/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes a PNG: grey, grey with alpha, RGB or RGBA are elements of 1, 2, 3 or 4 bytes. The result is checked
 * pixel by pixel, and transposing it again must give the original.
 * cc transpose_image.c png_io.c whole_files.c $(pkg-config --cflags --libs gpuprim libpng)
 */
#define PROGRAM "transpose_image"
#include "example.h"
#include "png_io.h"

typedef struct job {
    gp_context *context;
    size_t elem_bytes, rows, cols;
    const unsigned char *in;
    unsigned char *out;
} job;

static gp_status transpose(void *argument) {
    const job *j = argument;
    return gp_transpose(j->context, j->elem_bytes, j->in, j->rows, j->cols, j->cols, j->out, j->rows);
}

static void check_pixels(const picture *in, const picture *out) {
    const size_t bytes = in->channels;
    for (size_t y = 0; y < in->rows; ++y)
        for (size_t x = 0; x < in->cols; ++x)
            if (memcmp(in->pixel + (y * in->cols + x) * bytes, out->pixel + (x * in->rows + y) * bytes, bytes) != 0)
                fail("the transpose is wrong at row %zu, column %zu", x, y);
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] IN.png OUT.png";
    const char *backend = read_backend(argc, argv, how);
    if (optind + 2 != argc)
        usage(how);
    const char *from = argv[optind], *to = argv[optind + 1];

    char message[PICTURE_MESSAGE];
    picture in;
    if (!picture_read(from, 0, &in, message))
        fail("%s", message);
    const size_t bytes = in.rows * in.cols * in.channels;
    const picture out = {in.cols, in.rows, in.channels, host_alloc(bytes, 1)};

    gp_context *context = open_context(backend);
    unsigned char *first = device_alloc(context, bytes), *second = device_alloc(context, bytes);
    must(gp_copy(context, first, in.pixel, bytes));
    job there = {context, in.channels, in.rows, in.cols, first, second};
    must(transpose(&there));
    must(gp_copy(context, out.pixel, second, bytes));
    check_pixels(&in, &out);
    printf("%s: %zu x %zu, %zu byte%s a pixel\n", from, in.cols, in.rows, in.channels, in.channels == 1 ? "" : "s");
    time_call(context, "transpose", transpose, &there);

    job back = {context, in.channels, in.cols, in.rows, second, first};
    unsigned char *again = host_alloc(bytes, 1);
    must(gp_copy(context, first, again, bytes)); /* zeros: a transpose that does nothing is seen */
    must(transpose(&back));
    must(gp_copy(context, again, first, bytes));
    if (memcmp(again, in.pixel, bytes) != 0)
        fail("transposing twice does not give the original");

    if (!picture_write(1, &to, &out, message))
        fail("%s", message);
    must(gp_free(context, first));
    must(gp_free(context, second));
    gp_context_destroy(context);
    free(again);
    free(in.pixel);
    free(out.pixel);
    return close_output();
}
