/* SPDX-License-Identifier: Apache-2.0 */
/* The targets, each with the lines that it is for. */
#include "targets.h"

#define TWO_TO(k) ((size_t)1 << (k))

static bool device_sum(const line *l) {
    return l->measure == MEASURE_DEVICE && l->operation == GP_OPERATION_REDUCE && l->op == GP_REDUCE_SUM &&
           l->offset == 0;
}

static bool sum_huge(const line *l) {
    return device_sum(l) && l->n >= TWO_TO(28);
}

static bool sum_26(const line *l) {
    return device_sum(l) && l->n == TWO_TO(26);
}

static bool sum_24(const line *l) {
    return device_sum(l) && l->n == TWO_TO(24);
}

static bool sum_18_to_22(const line *l) {
    return device_sum(l) && l->n >= TWO_TO(18) && l->n <= TWO_TO(22);
}

static bool sum_small(const line *l) {
    return device_sum(l) && l->n > TWO_TO(8) && l->n <= TWO_TO(16);
}

static bool sum_8(const line *l) {
    return device_sum(l) && l->n == TWO_TO(8);
}

static bool other_op(const line *l) {
    return l->measure == MEASURE_DEVICE && l->operation == GP_OPERATION_REDUCE && l->op != GP_REDUCE_SUM;
}

static bool off_alignment(const line *l) {
    return l->measure == MEASURE_DEVICE && l->operation == GP_OPERATION_REDUCE && l->offset != 0;
}

static bool result_small(const line *l) {
    return l->measure == MEASURE_RESULT && l->n <= TWO_TO(20);
}

static bool result_22(const line *l) {
    return l->measure == MEASURE_RESULT && l->n == TWO_TO(22);
}

static bool transposed(const line *l) {
    return l->measure == MEASURE_DEVICE && l->operation == GP_OPERATION_TRANSPOSE && !l->in_place;
}

static bool plain_square(const line *l) {
    return transposed(l) && l->rows == l->cols && l->in_pitch == l->cols && l->out_pitch == l->rows && l->offset == 0;
}

static bool square_4096(const line *l) {
    return plain_square(l) && l->rows == 4096 && l->elem_bytes >= 4;
}

static bool square_large(const line *l) {
    return plain_square(l) && l->rows >= 8192 && l->elem_bytes >= 4;
}

static bool square_bytes(const line *l) {
    return plain_square(l) && (l->rows == 8192 || l->rows == 16384) && l->elem_bytes < 4;
}

static bool square_1024(const line *l) {
    return plain_square(l) && l->rows == 1024;
}

static bool odd_sides(const line *l) {
    return transposed(l) && l->elem_bytes <= 8 &&
           ((l->rows == 4097 && l->cols == 4095) || (l->rows == 10007 && l->cols == 9973));
}

static bool long_and_thin(const line *l) {
    return transposed(l) && l->rows != l->cols && (l->rows == 32 || l->cols == 32 || l->cols == 257);
}

static bool long_and_thinnest(const line *l) {
    return transposed(l) && (l->rows == 3 || l->cols == 3 || l->cols == 8);
}

static bool geam_does(const line *l) {
    return transposed(l) && (l->elem_bytes == 4 || l->elem_bytes == 8);
}

static bool in_place(const line *l) {
    return l->operation == GP_OPERATION_TRANSPOSE && l->in_place;
}

static bool windowed(const line *l, data_kind data) {
    return l->measure == MEASURE_DEVICE && l->operation == GP_OPERATION_WINDOW && l->data == data;
}

static bool square_image(const line *l, size_t side) {
    return l->rows == side && l->cols == side && l->in_pitch == side && l->out_pitch == side && l->offset == 0 &&
           !l->no_sum && !l->no_square;
}

static bool usual_window(const line *l) {
    return l->window >= 3 && l->window <= 301;
}

static bool window_4096(const line *l) {
    return windowed(l, DATA_8_BIT) && square_image(l, 4096) && usual_window(l);
}

static bool window_16384(const line *l) {
    return windowed(l, DATA_8_BIT) && square_image(l, 16384) && usual_window(l);
}

static bool window_1001(const line *l) {
    return windowed(l, DATA_8_BIT) && l->window == 1001;
}

static bool window_spread(const line *l) {
    return l->measure == MEASURE_SPREAD;
}

static bool window_16_bit(const line *l) {
    return windowed(l, DATA_16_BIT) && usual_window(l);
}

static bool window_24_bit(const line *l) {
    return windowed(l, DATA_24_BIT);
}

static bool window_32_bit(const line *l) {
    return windowed(l, DATA_32_BIT);
}

static bool window_shape(const line *l) {
    return windowed(l, DATA_8_BIT) && !square_image(l, 4096) && !square_image(l, 16384) && !square_image(l, 1024) &&
           !l->no_sum && !l->no_square;
}

static bool returns(const line *l) {
    return l->measure == MEASURE_RETURN;
}

static bool first_use(const line *l) {
    return l->measure == MEASURE_FIRST;
}

const target targets[] = {
    {"sum, n >= 2^28, against CUB", SPEED_OF_PEER, 1.02, sum_huge},
    {"sum, n >= 2^28, against reading", SPEED_OF_FLOOR, 0.99, sum_huge},
    {"sum, n = 2^26, against CUB", SPEED_OF_PEER, 1.05, sum_26},
    {"sum, n = 2^24, against CUB", SPEED_OF_PEER, 1.12, sum_24},
    {"sum, n = 2^18 .. 2^22, against CUB", SPEED_OF_PEER, 1.15, sum_18_to_22},
    {"sum, n <= 2^16, against CUB", SPEED_OF_PEER, 1.25, sum_small},
    {"sum, n = 2^8, against CUB", SPEED_OF_PEER, 1.00, sum_8},
    {"min, max, and, or, xor, against sum", SPEED_OF_REFERENCE, 0.97, other_op},
    {"input 4, 8, 12 bytes off, against aligned", SPEED_OF_REFERENCE, 0.97, off_alignment},
    {"result on the host, n <= 2^20, against CUB + copy + sync", SPEED_OF_PEER, 1.70, result_small},
    {"result on the host, n = 2^22, against CUB + copy + sync", SPEED_OF_PEER, 1.40, result_22},
    {"transpose 4, 8, 16 bytes, 4096^2, against copy", SPEED_OF_FLOOR, 0.97, square_4096},
    {"transpose 4, 8, 16 bytes, 8192^2 .. 32768^2, against copy", SPEED_OF_FLOOR, 0.98, square_large},
    {"transpose 1, 2 bytes, 8192^2, 16384^2, against copy", SPEED_OF_FLOOR, 0.95, square_bytes},
    {"transpose 4097x4095, 10007x9973, against copy", SPEED_OF_FLOOR, 0.93, odd_sides},
    {"transpose with a side of 32 or 257, against copy", SPEED_OF_FLOOR, 0.95, long_and_thin},
    {"transpose with a side of 3 or 8, against copy", SPEED_OF_FLOOR, 0.85, long_and_thinnest},
    {"transpose 1024^2, times the copy", TIMES_FLOOR, 1.10, square_1024},
    {"transpose 4, 8 bytes, every shape, against geam", SPEED_OF_PEER, 1.00, geam_does},
    {"transpose in place, against copy", SPEED_OF_FLOOR, 0.90, in_place},
    {"window, 8 bits, 4096^2, w 3 .. 301, against floor", SPEED_OF_FLOOR, 0.97, window_4096},
    {"window, 8 bits, 16384^2, w 3 .. 301, against floor", SPEED_OF_FLOOR, 0.98, window_16384},
    {"window, slowest w against fastest", SPEED_OF_REFERENCE, 0.97, window_spread},
    {"window, 8 bits, w 1001, against floor", SPEED_OF_FLOOR, 0.93, window_1001},
    {"window, 16 bits, against floor", SPEED_OF_FLOOR, 0.92, window_16_bit},
    {"window, 24 bits signed, against floor", SPEED_OF_FLOOR, 0.85, window_24_bit},
    {"window, full int32, against floor", SPEED_OF_FLOOR, 0.50, window_32_bit},
    {"window, flat, narrow, odd, pitched, against floor", SPEED_OF_FLOOR, 0.85, window_shape},
    {"context and first call, ms over a first CUDA call", MS_OVER_PEER, 5.0, first_use},
    {"call returns, times a bare launch", TIMES_PEER, 1.30, returns},
};

const size_t n_targets = sizeof targets / sizeof *targets;
