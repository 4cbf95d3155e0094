/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Black and white out of a badly lit page of text, after J. Sauvola and M. Pietikainen, "Adaptive document image
 * binarization" (2000): a pixel is ink if it is darker than m (1 + k (s / 128 - 1)), with the mean m and the standard
 * deviation s of the pixels around it. The page is drawn here, so that it is known what is ink.
 * cc threshold.c png_io.c whole_files.c $(pkg-config --cflags --libs gpuprim libpng) -lm
 */
#define PROGRAM "threshold"
#include "example.h"
#include "png_io.h"
#include <math.h>

enum { ROWS = 240, COLS = 400, LETTERS = 8, WIDTH = 5, HEIGHT = 7, PIXEL = 2, MARGIN = 16 };

/* Rows of five dots, the leftmost the highest bit: A E H I L N O T. */
static const unsigned char letter[LETTERS][HEIGHT] = {
    {14, 17, 17, 31, 17, 17, 17}, {31, 16, 16, 30, 16, 16, 31}, {17, 17, 17, 31, 17, 17, 17}, {14, 4, 4, 4, 4, 4, 14},
    {16, 16, 16, 16, 16, 16, 31}, {17, 25, 21, 19, 17, 17, 17}, {14, 17, 17, 17, 17, 17, 14}, {31, 4, 4, 4, 4, 4, 4}};

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Lines of words of random letters; what is ink. */
static void write_text(unsigned char *ink) {
    unsigned state = 1;
    for (size_t y = MARGIN; y + HEIGHT * PIXEL + MARGIN <= ROWS; y += 2 * HEIGHT * PIXEL - PIXEL)
        for (size_t x = MARGIN; x + WIDTH * PIXEL + MARGIN <= COLS; x += (WIDTH + 1) * PIXEL) {
            const unsigned which = next_random(&state) % (LETTERS + 2); /* two are spaces */
            for (size_t i = 0; i < HEIGHT * PIXEL * WIDTH * PIXEL && which < LETTERS; ++i) {
                const size_t dy = i / (WIDTH * PIXEL), dx = i % (WIDTH * PIXEL);
                ink[(y + dy) * COLS + x + dx] = letter[which][dy / PIXEL] >> (WIDTH - 1 - dx / PIXEL) & 1;
            }
        }
}

/* Paper under a lamp at the upper left, with the shadow of a hand, and grain. */
static void light(const unsigned char *ink, unsigned char *page) {
    unsigned state = 2;
    for (size_t y = 0; y < ROWS; ++y)
        for (size_t x = 0; x < COLS; ++x) {
            const double from_lamp = hypot((double)x - 60, (double)y - 40) / COLS,
                         from_hand = hypot((double)x - 290, 1.4 * ((double)y - 190)) - 100,
                         shadow = 0.45 / (1 + exp(from_hand / 12));
            const double paper = (245 - 130 * from_lamp) * (1 - shadow),
                         grain = (double)(next_random(&state) % 17) - 8;
            const double value = paper * (ink[y * COLS + x] ? 0.55 : 1) + grain;
            page[y * COLS + x] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
}

typedef struct job {
    gp_context *context;
    gp_array in;
    gp_window_shape window;
    gp_result result[2];
} job;

static gp_status run(void *argument) {
    const job *j = argument;
    return gp_window(j->context, &j->in, &j->window, j->result, 2);
}

static size_t wrong_pixels(const unsigned char *white, const unsigned char *ink) {
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)ROWS * COLS; ++i)
        wrong += (white[i] == 0) != ink[i];
    return wrong;
}

/* The best that one threshold for the whole page can do. */
static size_t wrong_by_one_threshold(const unsigned char *page, const unsigned char *ink) {
    static unsigned char white[ROWS * COLS];
    size_t least = (size_t)ROWS * COLS;
    for (int threshold = 0; threshold < 256; ++threshold) {
        for (size_t i = 0; i < (size_t)ROWS * COLS; ++i)
            white[i] = page[i] >= threshold ? 255 : 0;
        const size_t wrong = wrong_pixels(white, ink);
        least = wrong < least ? wrong : least;
    }
    return least;
}

int main(int argc, char **argv) {
    static unsigned char ink[ROWS * COLS], page[ROWS * COLS], white[ROWS * COLS];
    static float mean[ROWS * COLS], deviation[ROWS * COLS];
    static const char how[] = "[-b auto|cpu|cuda] PAGE.png BLACK-AND-WHITE.png";
    const size_t n = sizeof page;
    const char *backend = read_backend(argc, argv, how);
    if (optind + 2 != argc)
        usage(how);
    write_text(ink);
    light(ink, page);

    gp_context *context = open_context(backend);
    void *in = device_alloc(context, n),
         *to[2] = {device_alloc(context, sizeof mean), device_alloc(context, sizeof mean)};
    must(gp_copy(context, in, page, n));
    job j = {.context = context,
             .in = gp_matrix(GP_U8, in, ROWS, COLS, COLS),
             .window = {.struct_size = sizeof j.window, .extent = {31, 31}, .border = GP_BORDER_SHRINK},
             .result = {gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, to[0], ROWS, COLS, COLS)),
                        gp_want(GP_REDUCE_STDDEV, gp_matrix(GP_F32, to[1], ROWS, COLS, COLS))}};
    time_call(context, "mean and deviation", run, &j);
    must(gp_copy(context, mean, to[0], sizeof mean));
    must(gp_copy(context, deviation, to[1], sizeof deviation));
    must(gp_free(context, in));
    must(gp_free(context, to[0]));
    must(gp_free(context, to[1]));
    gp_context_destroy(context);

    for (size_t i = 0; i < n; ++i)
        white[i] = (float)page[i] < mean[i] * (1 + 0.2f * (deviation[i] / 128 - 1)) ? 0 : 255;
    printf("wrong pixels of %zu: %zu, by one threshold for the page at least %zu\n", n, wrong_pixels(white, ink),
           wrong_by_one_threshold(page, ink));
    const char *const path[] = {argv[optind], argv[optind + 1]};
    const picture pictures[] = {{ROWS, COLS, 1, page}, {ROWS, COLS, 1, white}};
    char message[PICTURE_MESSAGE];
    if (!picture_write(2, path, pictures, message))
        fail("%s", message);
    return close_output();
}
