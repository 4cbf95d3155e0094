/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim window: sums and squares in a window sliding along each row of a file, or mean and deviation; and --size.
 */
#include "array.h"
#include "window_box.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BORDER = 0x200, KEY_VALUES, KEY_SIZE, KEY_OP, OUTPUTS = 2 };

typedef struct request {
    gp_backend backend;
    raw_shape raw;
    size_t window;
    gp_border border;
    int values; /* 0: as the output's kind suggests; 's' sums, 'm' mean and deviation */
    bool verbose;
    const char *in, *out[WINDOW_OUTPUTS];
    size_t outs;
    size_t box[2]; /* rows, columns; 0: along rows only */
    reduction what;
} request;

static const struct argp_option window_options[] = {
    {"window", 'w', "WIDTH", 0, "Width of the window (15)", 0},
    {"size", KEY_SIZE, "ROWSxCOLS", 0, "A window of rows and columns instead, of which OUTs are the --op", 0},
    {"op", KEY_OP, "OP[,OP...]", 0,
     "With --size, an OUT each: sum, sum_squares, mean, var, std, var_sample, std_sample, min, max (mean,std)", 0},
    {"border", KEY_BORDER, "BORDER", 0,
     "What the window sees outside the row: none, zero, replicate, reflect, reflect_101, wrap (reflect_101); with "
     "--size also shrink",
     0},
    {"values", KEY_VALUES, "sum|mean", 0,
     "OUT is the sum and OUT2 the sum of squares, or the mean and the standard deviation (mean if OUT is a picture, "
     "else sum)",
     0},
    {"verbose", 'v', NULL, 0, "Tell the kernel that was chosen", 11},
    {0}};

/* What goes together; operations that have not been given. */
static void check_box(request *r, struct argp_state *state) {
    if (r->box[0] == 0 && (r->what.count > 0 || r->border == GP_BORDER_SHRINK))
        argp_error(state, "--op and border shrink need --size");
    if (r->box[0] == 0 && r->outs > OUTPUTS)
        argp_error(state, "too many files");
    if (r->box[0] > 0 && (r->values != 0 || r->window > 0))
        argp_error(state, "--size takes no --window and no --values");
    if (r->box[0] > 0 && r->what.count == 0)
        r->what =
            (reduction){.op = {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, .count = r->outs < OUTPUTS ? r->outs : OUTPUTS};
    if (r->box[0] > 0 && r->what.count != r->outs)
        argp_error(state, "%zu operations need as many OUTs, not %zu", r->what.count, r->outs);
    if (r->window == 0)
        r->window = 15;
}

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    char room[SHOWN];
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->raw;
        state->child_inputs[1] = &r->backend;
        return 0;
    case 'w':
        r->window = parse_size(state, "--window", word);
        if (r->window == 0)
            argp_error(state, "--window is 1 or more");
        return 0;
    case KEY_BORDER:
        r->border = parse_window_border(state, word);
        return 0;
    case KEY_SIZE:
        parse_shape(state, word, &r->box[0], &r->box[1]);
        if (r->box[0] == 0 || r->box[1] == 0)
            argp_error(state, "--size is 1x1 or more");
        return 0;
    case KEY_OP:
        parse_ops(state, word, &r->what);
        return 0;
    case KEY_VALUES:
        if (strcmp(word, "sum") != 0 && strcmp(word, "mean") != 0)
            argp_error(state, "--values is sum or mean, not '%s'", word);
        r->values = word[0];
        return 0;
    case 'v':
        r->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > WINDOW_OUTPUTS)
            argp_error(state, "too many files");
        if (state->arg_num == 0)
            r->in = word;
        else
            r->out[r->outs++] = word;
        return 0;
    case ARGP_KEY_END:
        if (r->outs == 0)
            argp_error(state, "IN and OUT are needed");
        check_box(r, state);
        if (r->values == 's')
            for (size_t i = 0; i < r->outs; i++)
                if (ends_in(r->out[i], ".png"))
                    argp_error(state, "sums do not fit in a picture: %s", shown(r->out[i], room));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/*
 * Takes its least int from each row if that is above 0, its greatest if that is below 0, and returns what was taken.
 * The deviation does not change and the mean gets it back; the sums are rounded to float, which costs less the nearer
 * to 0 the ints are. None moves away from 0, so no window becomes worse.
 */
static int32_t *shift_rows(int32_t *image, size_t rows, size_t cols) {
    int32_t *shift = host_alloc(rows, sizeof *shift);
    for (size_t y = 0; y < rows; y++) {
        int32_t *row = image + y * cols, least = row[0], most = row[0];
        for (size_t x = 1; x < cols; x++) {
            least = row[x] < least ? row[x] : least;
            most = row[x] > most ? row[x] : most;
        }
        shift[y] = least > 0 ? least : most < 0 ? most : 0;
        for (size_t x = 0; x < cols; x++)
            row[x] -= shift[y];
    }
    return shift;
}

/* Of the window around column x, how many columns are the row's. */
static size_t seen_in_row(size_t x, size_t cols, size_t window) {
    const size_t before = window / 2, behind = window - 1 - before;
    return (x < before ? x : before) + 1 + (cols - 1 - x < behind ? cols - 1 - x : behind);
}

/*
 * One row, in place, from the sums over shifted ints; the arithmetic is in double. With border zero what is outside
 * is 0 and not shifted: with a part p of the window inside, its mean m and variance v, the whole window has the mean
 * p m and the variance p (v + (1 - p) m^2).
 */
static void to_mean_and_deviation(float *sum, float *square, size_t cols, int32_t shift, const request *r) {
    const bool outside_differs = r->border == GP_BORDER_ZERO || r->border == GP_BORDER_NONE;
    for (size_t x = 0; x < cols; x++) {
        const size_t seen = outside_differs ? seen_in_row(x, cols, r->window) : r->window;
        if (r->border == GP_BORDER_NONE && seen < r->window)
            continue;
        const double inside = (double)seen / (double)r->window,
                     outside = (double)(r->window - seen) / (double)r->window;
        const double shifted = sum[x] / (double)seen, variance = square[x] / (double)seen - shifted * shifted;
        const double mean = shifted + shift;
        sum[x] = (float)(inside * mean);
        square[x] = (float)sqrt(inside * (fmax(variance, 0) + outside * mean * mean));
    }
}

/* What is written: float32 of the input's shape, or bytes for a picture. */
static array make_output(const char *path, const array *in, float *values) {
    array out = *in;
    const size_t count = array_count(in);
    out.elem_bytes = sizeof *values;
    out.data = (unsigned char *)values;
    snprintf(out.type, sizeof out.type, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<f4" : ">f4");
    if (!ends_in(path, ".png"))
        return out;
    out.elem_bytes = 1;
    snprintf(out.type, sizeof out.type, "|u1");
    for (size_t i = 0; i < count; i++) {
        const float value = values[i] < 0 ? 0 : values[i] > 255 ? 255 : values[i];
        out.data[i] = (unsigned char)(value + 0.5f); /* never ahead of what is still to be read */
    }
    return out;
}

static void compute(const request *r, const array *in, int32_t *image, bool mean, float *sum, float *square) {
    const size_t cols = in->n_dims > 0 ? in->dims[in->n_dims - 1] : 1;
    const size_t rows = cols > 0 ? array_count(in) / cols : 0;
    int32_t *shift = mean ? shift_rows(image, rows, cols) : NULL;
    gp_context *context = open_context(r->backend);
    must(gp_sum_and_square_window(context, image, rows, cols, cols, r->window, r->border, sum, square, cols));
    if (r->verbose)
        tell_plan(context);
    gp_context_destroy(context);
    for (size_t y = 0; y < rows && mean; y++)
        to_mean_and_deviation(sum + y * cols, square + y * cols, cols, shift[y], r);
    free(shift);
}

int window_main(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&shape_argp, 0, NULL, 0}, {&backend_argp, 0, NULL, 0}, {&memory_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = window_options,
        .parser = parse,
        .args_doc = "IN OUT [OUT2...]",
        .doc = "Slide a window along each row of IN and write its sum and its sum of squares, or its mean and its "
               "standard deviation.\v"
               "IN is a PNG (made grey), an .npy file of integers (its last axis is the row), or raw signed "
               "little-endian integers with --shape. OUT and OUT2 are float32 of the same shape: .npy by name, else "
               "raw, - is standard output; or .png, rounded to 0..255. With --border none, elements whose window "
               "leaves the row are 0.\n"
               "With --size IN may be of any type up to 32 bits and f32, f16; a picture keeps its channels. Extremes "
               "have IN's type, all else is float32. Output files are replaced when all are whole.",
        .children = children};
    request r = {.border = GP_BORDER_REFLECT_101};
    array in, out[OUTPUTS];
    read_arguments(&parser, argc, argv, 0, &r);
    if (r.box[0] > 0) {
        window_box(&(box_request){r.backend, r.raw, r.box[0], r.box[1], r.border, r.what, r.verbose, r.in, r.out});
        return 0;
    }
    array_read(r.in, &r.raw, (reading){.grey = true, .bytes = sizeof(int32_t) + OUTPUTS * sizeof(float)}, &in);
    int32_t *image = array_to_ints(r.in, &in);
    const size_t count = array_count(&in);
    const bool mean = r.values == 'm' || (r.values == 0 && ends_in(r.out[0], ".png"));
    float *values[OUTPUTS] = {host_alloc(count, sizeof(float)), host_alloc(count, sizeof(float))};
    compute(&r, &in, image, mean, values[0], mean || r.outs > 1 ? values[1] : NULL);
    free(image);
    for (size_t i = 0; i < r.outs; i++)
        out[i] = make_output(r.out[i], &in, values[i]);
    arrays_write(r.outs, r.out, out);
    free(values[0]);
    free(values[1]);
    return 0;
}
