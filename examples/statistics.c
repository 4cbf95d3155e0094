/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean, standard deviation and extremes with their places, per channel of a PNG or per column of an .npy array, by
 * one call. The extremes are checked against a plain loop. cc statistics.c npy_in.c png_io.c whole_files.c
 * $(pkg-config --cflags --libs gpuprim libpng)
 */
#define PROGRAM "statistics"
#include "example.h"
#include "npy_in.h"
#include "png_io.h"

enum { MEAN, DEVIATION, LEAST, MOST, LEAST_AT, MOST_AT, RESULTS };

static const gp_reduce_op ops[RESULTS] = {GP_REDUCE_MEAN, GP_REDUCE_STDDEV, GP_REDUCE_MIN,
                                          GP_REDUCE_MAX,  GP_REDUCE_ARGMIN, GP_REDUCE_ARGMAX};

typedef struct job {
    gp_context *context;
    gp_array in; /* its last axis is kept: the channels or columns */
    gp_result result[RESULTS];
} job;

static gp_status reduce(void *argument) {
    const job *j = argument;
    return gp_reduce(j->context, &j->in, j->result, RESULTS);
}

static size_t count_of(const gp_array *a) {
    size_t count = 1;
    for (unsigned i = 0; i < a->rank; ++i)
        count *= a->extent[i];
    return count;
}

static size_t bytes_of(const gp_array *a) {
    static const unsigned char bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return count_of(a) * bytes[a->type];
}

/* The same view, of memory where the context computes. */
static gp_array on_device(gp_context *context, gp_array a) {
    a.data = device_alloc(context, bytes_of(&a));
    return a;
}

/* An element as a double; of 64-bit ints the double next to it. */
static double value_at(const gp_array *a, size_t i) {
    switch (a->type) {
    case GP_U8:
        return ((const uint8_t *)a->data)[i];
    case GP_S8:
        return ((const int8_t *)a->data)[i];
    case GP_U16:
        return ((const uint16_t *)a->data)[i];
    case GP_S16:
        return ((const int16_t *)a->data)[i];
    case GP_U32:
        return ((const uint32_t *)a->data)[i];
    case GP_S32:
        return ((const int32_t *)a->data)[i];
    case GP_U64:
        return (double)((const uint64_t *)a->data)[i];
    case GP_S64:
        return (double)((const int64_t *)a->data)[i];
    case GP_F32:
        return (double)((const float *)a->data)[i];
    default:
        return ((const double *)a->data)[i];
    }
}

/* The table of a file; of a vector one column. */
static gp_array read_table(const char *path, bool *is_picture) {
    const char *dot = strrchr(path, '.');
    char message[PICTURE_MESSAGE];
    gp_array a;
    *is_picture = dot != NULL && strcmp(dot, ".png") == 0;
    if (*is_picture) {
        picture p;
        if (!picture_read(path, 0, &p, message))
            fail("%s", message);
        return gp_image(GP_U8, p.pixel, p.rows, p.cols, p.channels, p.cols * p.channels);
    }
    if (!npy_table_read(path, &a, message))
        fail("%s", message);
    if (a.type == GP_F16)
        fail("%s: this program prints no 16-bit floats", path);
    return a.rank == 2 ? a : gp_matrix((gp_type)a.type, a.data, a.extent[0], 1, 1);
}

/* What was computed of one column: the extremes are those of a loop, and lie where their places say. */
static void check_column(const gp_array *in, const gp_array host[RESULTS], size_t column) {
    const size_t columns = in->extent[in->rank - 1], n = count_of(in) / columns;
    const size_t least_at = (size_t)((const int64_t *)host[LEAST_AT].data)[column],
                 most_at = (size_t)((const int64_t *)host[MOST_AT].data)[column];
    const double least = value_at(&host[LEAST], column), most = value_at(&host[MOST], column);
    size_t low = 0, high = 0;
    for (size_t i = 0; i < n; ++i) {
        const double x = value_at(in, i * columns + column);
        if (x != x)
            return; /* a NaN is both extremes */
        low = x < value_at(in, low * columns + column) ? i : low;
        high = x > value_at(in, high * columns + column) ? i : high;
    }
    if (value_at(in, low * columns + column) != least || value_at(in, high * columns + column) != most ||
        value_at(in, least_at * columns + column) != least || value_at(in, most_at * columns + column) != most)
        fail("the library's extremes of column %zu differ from a plain loop's", column);
}

static void print_column(const gp_array *in, const gp_array host[RESULTS], size_t column, bool is_picture) {
    const size_t least_at = (size_t)((const int64_t *)host[LEAST_AT].data)[column],
                 most_at = (size_t)((const int64_t *)host[MOST_AT].data)[column];
    printf("%s %zu: mean %.9g, deviation %.9g, ", is_picture ? "channel" : "column", column,
           value_at(&host[MEAN], column), value_at(&host[DEVIATION], column));
    if (is_picture) /* the place counts pixels, row by row */
        printf("least %g at (%zu, %zu), most %g at (%zu, %zu)\n", value_at(&host[LEAST], column),
               least_at / in->extent[1], least_at % in->extent[1], value_at(&host[MOST], column),
               most_at / in->extent[1], most_at % in->extent[1]);
    else
        printf("least %.9g in row %zu, most %.9g in row %zu\n", value_at(&host[LEAST], column), least_at,
               value_at(&host[MOST], column), most_at);
}

int main(int argc, char **argv) {
    static const char how[] = "[-b auto|cpu|cuda] FILE.png|FILE.npy";
    const char *backend = read_backend(argc, argv, how);
    if (optind + 1 != argc)
        usage(how);
    bool is_picture;
    const gp_array in = read_table(argv[optind], &is_picture);
    if (count_of(&in) == 0)
        fail("%s: there are no elements", argv[optind]);

    job j = {.context = open_context(backend)};
    j.in = on_device(j.context, in);
    must(gp_copy(j.context, j.in.data, in.data, bytes_of(&in)));
    const size_t columns = in.extent[in.rank - 1], extent[3] = {1, is_picture ? 1 : columns, columns};
    const gp_type type[RESULTS] = {GP_F64, GP_F64, (gp_type)in.type, (gp_type)in.type, GP_S64, GP_S64};
    gp_array host[RESULTS];
    for (int i = 0; i < RESULTS; ++i) {
        host[i] = gp_dense(type[i], host_alloc(columns, sizeof(double)), in.rank, extent);
        j.result[i] = gp_want(ops[i], on_device(j.context, host[i]));
    }
    must(reduce(&j));
    for (int i = 0; i < RESULTS; ++i)
        must(gp_copy(j.context, host[i].data, j.result[i].to.data, bytes_of(&host[i])));
    for (size_t column = 0; column < columns; ++column) {
        check_column(&in, host, column);
        print_column(&in, host, column, is_picture);
    }
    time_call(j.context, "statistics", reduce, &j);

    for (int i = 0; i < RESULTS; ++i) {
        must(gp_free(j.context, j.result[i].to.data));
        free(host[i].data);
    }
    must(gp_free(j.context, j.in.data));
    gp_context_destroy(j.context);
    free(in.data);
    return close_output();
}
