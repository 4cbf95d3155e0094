/* SPDX-License-Identifier: Apache-2.0 */
/* Speed over size against peers and floors, in series that are to be drawn; largest sizes first, so that memory is
   allocated and filled once. */
#include "bench.h"

#include <math.h>

/* Point i of a series of even sides: 1, 1.5, 2, 3, 4, 6 ... times the first. */
static size_t even_point(size_t from, unsigned i) {
    return i % 2 == 0 ? from << i / 2 : (from << i / 2) / 2 * 3;
}

static unsigned points_to(size_t (*point)(size_t, unsigned), size_t from, size_t to) {
    unsigned count = 0;
    while (point(from, count) <= to)
        count++;
    return count;
}

static void reduce_curve(session *s, const char *series, gp_reduce_op op, size_t offset) {
    for (unsigned i = points_to(sweep_point, 256, (size_t)1 << 30); i-- > 0;) {
        const line l = {
            .operation = GP_OPERATION_REDUCE, .op = op, .n = sweep_point(256, i), .offset = offset, .series = series};
        reduce_line(s, l, true);
    }
}

void bench_curve_reduce(session *s) {
    reduce_curve(s, "sum of int32", GP_REDUCE_SUM, 0);
    reduce_curve(s, "min of int32", GP_REDUCE_MIN, 0);
    reduce_curve(s, "sum of int32, input 4 bytes off alignment", GP_REDUCE_SUM, 4);
}

static void transpose_curve(session *s, const char *series, size_t elem_bytes, bool odd) {
    const size_t most = elem_bytes < 16 ? 32768 : 16384;
    for (unsigned i = points_to(even_point, 64, most); i-- > 0;) {
        const size_t side = even_point(64, i) + odd;
        line l = transpose_of(elem_bytes, side, side);
        l.series = series;
        transpose_line(s, l, true);
    }
}

void bench_curve_transpose(session *s) {
    transpose_curve(s, "transpose of 4-byte elements, squares of even sides", 4, false);
    transpose_curve(s, "transpose of 4-byte elements, squares of odd sides", 4, true);
    transpose_curve(s, "transpose of 8-byte elements, squares of even sides", 8, false);
    transpose_curve(s, "transpose of 8-byte elements, squares of odd sides", 8, true);
    transpose_curve(s, "transpose of 16-byte elements, squares of even sides", 16, false);
    transpose_curve(s, "transpose of 2-byte elements, squares of even sides", 2, false);
    transpose_curve(s, "transpose of 1-byte elements, squares of even sides", 1, false);
    transpose_curve(s, "transpose of 1-byte elements, squares of odd sides", 1, true);
}

static void window_curve(session *s, const char *series, size_t window, data_kind data) {
    for (unsigned i = points_to(even_point, 64, 16384); i-- > 0;) {
        const size_t side = even_point(64, i);
        line l = window_of(side, side, window, GP_BORDER_ZERO, data);
        l.series = series;
        window_line(s, l, true);
    }
}

static void width_curve(session *s, const char *series, size_t side) {
    static const size_t widths[] = {1, 3, 7, 15, 31, 47, 63, 101, 151, 201, 301, 401, 511, 701, 1001, 1501, 2001};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        line l = window_of(side, side, widths[i], GP_BORDER_ZERO, DATA_8_BIT);
        l.series = series;
        window_line(s, l, true);
    }
}

void bench_curve_window(session *s) {
    window_curve(s, "window of 15 over 8-bit squares, zero border", 15, DATA_8_BIT);
    window_curve(s, "window of 31 over 8-bit squares, zero border", 31, DATA_8_BIT);
    window_curve(s, "window of 301 over 8-bit squares, zero border", 301, DATA_8_BIT);
    window_curve(s, "window of 15 over full int32 squares, zero border", 15, DATA_32_BIT);
    width_curve(s, "windows over 4096 x 4096, 8-bit, zero border", 4096);
    width_curve(s, "windows over 16384 x 16384, 8-bit, zero border", 16384);
}
