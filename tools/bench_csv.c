/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CSV of gpuprim-bench as a saved run: each series of problems that differ in one thing becomes a panel, its
 * lines the floor, the peers and the library. Lines of no series are left out.
 */
#include "../bench/core/csv.h"
#include "bench.h"
#include <stdlib.h>
#include <string.h>

/* The columns that a plot needs. */
enum { OP, WHO, ROLE, N, ROWS, COLS, WINDOW, GBPS, SERIES, NEEDED };
static const char *const needed[NEEDED] = {"op", "who", "role", "n", "rows", "cols", "window", "gbps", "series"};

/* A row as a saved run has it; the whole problem in `shape`, which tells bars from points. */
static json_t *row_of(char *const text[NEEDED]) {
    const json_int_t n = atoll(text[N]), rows = atoll(text[ROWS]), cols = atoll(text[COLS]);
    const json_int_t window = atoll(text[WINDOW]);
    const char *group = rows == 0 ? "reduce" : text[OP];
    char shape[96];
    snprintf(shape, sizeof shape, "%lld ints, %lld x %lld, window %lld", (long long)n, (long long)rows,
             (long long)cols, (long long)window);
    json_t *row = made(json_pack("{s:s, s:s, s:s, s:s, s:b, s:f, s:I}", "group", group, "operation", text[SERIES],
                                 "kernel", text[WHO], "shape", shape, "floor", strcmp(text[ROLE], "floor") == 0,
                                 "gb_s", strtod(text[GBPS], NULL), "window", window));
    if (rows == 0)
        json_object_set_new(row, "n", made(json_integer(n)));
    json_object_set_new(row, "rows", made(json_integer(rows)));
    json_object_set_new(row, "cols", made(json_integer(cols)));
    return row;
}

/* The window is what lies along the axis where it differs within a series; elsewhere the size. */
static void set_axis(const json_t *lines, json_t *row) {
    const json_t *series = json_object_get(row, "operation"), *window = json_object_get(row, "window");
    const char *axis = json_object_get(row, "n") != NULL ? "ints"
                       : json_integer_value(window) > 0  ? "pixels"
                                                         : "elements";
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *other = json_array_get(lines, i);
        if (json_equal(series, json_object_get(other, "operation")) &&
            !json_equal(window, json_object_get(other, "window")))
            axis = AXIS_WINDOW;
    }
    json_object_set_new(row, "axis", made(json_string(axis)));
}

static void take(void *lines, char *const text[]) {
    if (*text[SERIES] != '\0')
        json_array_append_new(lines, row_of(text));
}

json_t *bench_read_csv(const char *path) {
    char device[CSV_DEVICE] = "GPU";
    size_t i;
    json_t *lines = made(json_array()), *row;
    csv_read(&(csv_wish){.path = path, .count = NEEDED, .columns = needed, .take = take, .user = lines}, device);
    json_array_foreach(lines, i, row) set_axis(lines, row);
    json_array_foreach(lines, i, row) if (strcmp(json_string_value(json_object_get(row, "axis")), AXIS_WINDOW) != 0)
        json_object_del(row, "window");
    return made(json_pack("{s:s, s:i, s:{s:s}, s:o}", "command", tool_name, "schema", 1, "device", "name", device,
                          "lines", lines));
}
