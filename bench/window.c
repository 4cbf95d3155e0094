/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and squares in a window against the kernel that reads 4 and writes 8 bytes a pixel, and the plain window. */
#include "bench.h"
#include "check.h"
#include "floors.h"
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_WINDOW_MAX 31 /* beyond, the plain kernel takes many times as long as all others together */

static size_t array_bytes(const line *l) {
    return (l->rows * l->out_pitch * sizeof(float) + 511) / 512 * 512;
}

static const int32_t *image(const contender *c, size_t set) {
    return (const int32_t *)((const char *)buffers_in(c->session, set) + c->line.offset);
}

static float *sums(const contender *c, size_t set) {
    return c->line.no_sum ? NULL : buffers_out(c->session, set);
}

static float *squares(const contender *c, size_t set) {
    char *out = buffers_out(c->session, set);
    return c->line.no_square ? NULL : (float *)(void *)(out + array_bytes(&c->line));
}

gp_status ours_window(const contender *c, size_t set) {
    const line *l = &c->line;
    return gp_sum_and_square_window(c->context, image(c, set), l->rows, l->cols, l->in_pitch, l->window, l->border,
                                    sums(c, set), squares(c, set), l->out_pitch);
}

static gp_status move_floor(const contender *c, size_t set) {
    const session *s = c->session;
    CUDA(floor_window(buffers_in(s, set), c->line.rows * c->line.cols, sums(c, set), squares(c, set), c->variant,
                      s->stream));
    return GP_OK;
}

/* Whole rows are read, but lines of memory that a row begins and ends in are written in part. */
static gp_status move_inner(const contender *c, size_t set) {
    const session *s = c->session;
    const line *l = &c->line;
    CUDA(floor_window_inner(buffers_in(s, set), l->rows, l->cols, l->window / 2,
                            l->cols - (l->window - l->window / 2) + 1, sums(c, set), squares(c, set), s->stream));
    return GP_OK;
}

static bool inner_does(const line *l) {
    return l->border == GP_BORDER_NONE && l->window <= l->cols && l->cols % 4 == 0 && l->in_pitch == l->cols &&
           l->out_pitch == l->cols && l->offset == 0 && !l->no_sum && !l->no_square;
}

static gp_status plain(const contender *c, size_t set) {
    const line *l = &c->line;
    CUDA(peer_window(image(c, set), l->rows, l->cols, l->in_pitch, l->window, sums(c, set), squares(c, set),
                     l->out_pitch, c->session->stream));
    return GP_OK;
}

/* The processor's row must be the device's, bit for bit: this ties the check on the device to the library. */
static bool row_as_processor(contender *c, size_t row) {
    session *s = c->session;
    const line *l = &c->line;
    const size_t bytes = l->cols * sizeof(float);
    int32_t *in = malloc(l->cols * sizeof *in);
    char *want[2] = {malloc(bytes), malloc(bytes)}, *got = malloc(bytes);
    const float *from[2] = {sums(c, 0), squares(c, 0)};
    bool same = true;
    if (!in || !want[0] || !want[1] || !got)
        die("check", "no host memory");
    CUDA(cudaMemcpy(in, image(c, 0) + row * l->in_pitch, l->cols * sizeof *in, cudaMemcpyDeviceToHost));
    memset(want[0], CHECK_POISON, bytes);
    memset(want[1], CHECK_POISON, bytes);
    GP(gp_sum_and_square_window(s->processor, in, 1, l->cols, l->cols, l->window, l->border, (float *)(void *)want[0],
                                (float *)(void *)want[1], l->cols));
    for (int k = 0; k < 2; k++)
        if (from[k]) {
            CUDA(cudaMemcpy(got, from[k] + row * l->out_pitch, bytes, cudaMemcpyDeviceToHost));
            same = same && memcmp(got, want[k], bytes) == 0;
        }
    free(in);
    free(want[0]);
    free(want[1]);
    free(got);
    return same;
}

static gp_status check(contender *c, bool *right) {
    session *s = c->session;
    const line *l = &c->line;
    *right = c->call == move_inner; /* a floor: nothing to be right */
    if (*right)
        return GP_OK;
    CUDA(cudaMemsetAsync(s->n_wrong, 0, sizeof *s->n_wrong, s->stream));
    CUDA(cudaMemsetAsync(buffers_out(s, 0), CHECK_POISON, 2 * array_bytes(l), s->stream));
    const gp_status status = c->call(c, 0);
    CUDA(check_window(image(c, 0), l->rows, l->cols, l->in_pitch, l->window, l->border, sums(c, 0), squares(c, 0),
                      l->out_pitch, s->n_wrong, s->stream));
    CUDA(cudaStreamSynchronize(s->stream));
    CUDA(cudaMemcpy(&c->wrong, s->n_wrong, sizeof c->wrong, cudaMemcpyDeviceToHost));
    *right = c->wrong == 0 && row_as_processor(c, 0) && row_as_processor(c, l->rows / 2) &&
             row_as_processor(c, l->rows - 1);
    return status;
}

static bool plain_does(const line *l) {
    return l->border == GP_BORDER_ZERO && l->data == DATA_8_BIT && l->window <= PLAIN_WINDOW_MAX && !l->no_sum &&
           !l->no_square;
}

double window_line(session *s, line l, bool with_peer) {
    contender list[CONTENDERS_MAX];
    size_t count = 0;
    if (!line_wanted(s, &l))
        return 0;
    buffers_prepare(s, l.data, l.rows * l.in_pitch * sizeof(int32_t), 2 * array_bytes(&l));
    contender_add(s, list, &count, ROLE_FLOOR, "read 1, write 2", &l, move_floor)->variants = FLOOR_WINDOW_VARIANTS;
    if (inner_does(&l))
        contender_add(s, list, &count, ROLE_REFERENCE, "read 1, write 2 inner", &l, move_inner);
    if (with_peer && plain_does(&l))
        contender_add(s, list, &count, ROLE_PEER, "plain window", &l, plain);
    contender_add_ours(s, list, &count, &l, ours_window);
    return run_line(s, list, count, check);
}

line window_of(size_t rows, size_t cols, size_t window, gp_border border, data_kind data) {
    return (line){.operation = GP_OPERATION_WINDOW,
                  .rows = rows,
                  .cols = cols,
                  .in_pitch = cols,
                  .out_pitch = cols,
                  .window = window,
                  .border = border,
                  .data = data};
}

static const size_t widths[] = {3, 15, 31, 101, 301, 1001};
#define N_WIDTHS (sizeof widths / sizeof *widths)

/* One line for the slowest of the windows 3 to 301 against the fastest. */
static void report_spread(session *s, const double *us, size_t count, line l) {
    contender list[2];
    size_t added = 0;
    double fastest = us[0], slowest = us[0];
    for (size_t i = 1; i < count; i++) {
        fastest = us[i] < fastest ? us[i] : fastest;
        slowest = us[i] > slowest ? us[i] : slowest;
    }
    if (fastest <= 0)
        return;
    l.window = 0;
    l.measure = MEASURE_SPREAD;
    contender_add(s, list, &added, ROLE_REFERENCE, "ours, fastest w", &l, ours_window)->us = fastest;
    contender_add(s, list, &added, ROLE_OURS, "ours", &l, ours_window)->us = slowest;
    list[1].context = s->free_choice;
    report(s, list, added);
}

void bench_window(session *s) {
    static const size_t sides[] = {4096, 16384};
    static const gp_border borders[] = {GP_BORDER_ZERO,    GP_BORDER_NONE,        GP_BORDER_REPLICATE,
                                        GP_BORDER_REFLECT, GP_BORDER_REFLECT_101, GP_BORDER_WRAP};
    for (size_t i = 0; i < 2; i++)
        for (size_t b = 0; b < (s->opt.quick ? 2 : 6); b++) {
            double us[N_WIDTHS];
            for (size_t w = 0; w < N_WIDTHS; w++)
                us[w] = window_line(s, window_of(sides[i], sides[i], widths[w], borders[b], DATA_8_BIT), true);
            report_spread(s, us, N_WIDTHS - 1, window_of(sides[i], sides[i], 1, borders[b], DATA_8_BIT));
        }
}

void bench_window_data(session *s) {
    static const size_t sides[] = {4096, 16384};
    static const data_kind kinds[] = {DATA_16_BIT, DATA_24_BIT, DATA_32_BIT};
    for (size_t i = s->opt.quick ? 1 : 0; i < 2; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (size_t w = 0; w < N_WIDTHS; w++)
                window_line(s, window_of(sides[i], sides[i], widths[w], GP_BORDER_ZERO, kinds[k]), true);
}

void bench_window_shape(session *s) {
    static const size_t some[] = {1, 3, 31, 301};
    static const size_t shapes[][3] = {{64, 1000000, 1000000}, {1000000, 64, 64},  {4095, 4097, 4097},
                                       {4096, 4096, 4100},     {4096, 4096, 4099}, {8191, 8191, 8191},
                                       {1024, 1024, 1024},     {1000000, 65, 65},  {1000, 100003, 100003}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t w = 0; w < sizeof some / sizeof *some; w++) {
            line l = window_of(shapes[i][0], shapes[i][1], some[w], GP_BORDER_ZERO, DATA_8_BIT);
            l.in_pitch = l.out_pitch = shapes[i][2];
            window_line(s, l, true);
        }
    for (size_t w = 0; w < sizeof some / sizeof *some; w++) {
        line l = window_of(4096, 4096, some[w], GP_BORDER_ZERO, DATA_8_BIT);
        l.offset = 4;
        window_line(s, l, true);
        l.offset = 0;
        l.no_square = true;
        window_line(s, l, true);
        l.no_square = false;
        l.no_sum = true;
        window_line(s, l, true);
    }
}
