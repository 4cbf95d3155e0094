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
static void set_axes(const json_t *lines) {
    json_t *first = made(json_object()), *row; /* of each series its first window, or null once another was seen */
    size_t i;
    json_array_foreach(lines, i, row) {
        const char *series = json_string_value(json_object_get(row, "operation"));
        json_t *window = json_object_get(row, "window"), *known = json_object_get(first, series);
        if (known == NULL)
            json_object_set(first, series, window);
        else if (!json_equal(known, window))
            json_object_set_new(first, series, json_null());
    }
    json_array_foreach(lines, i, row) {
        const json_int_t window = json_integer_value(json_object_get(row, "window"));
        const bool differs =
            json_is_null(json_object_get(first, json_string_value(json_object_get(row, "operation"))));
        const char *axis = differs                             ? AXIS_WINDOW
                           : json_object_get(row, "n") != NULL ? "ints"
                           : window > 0                        ? "pixels"
                                                               : "elements";
        json_object_set_new(row, "axis", made(json_string(axis)));
        if (!differs)
            json_object_del(row, "window");
    }
    json_decref(first);
}

static void take(void *lines, char *const text[]) {
    if (*text[SERIES] != '\0')
        json_array_append_new(lines, row_of(text));
}

json_t *bench_read_csv(const char *path) {
    char device[CSV_DEVICE] = "GPU";
    json_t *lines = made(json_array());
    csv_read(&(csv_wish){.path = path, .count = NEEDED, .columns = needed, .take = take, .user = lines}, device);
    set_axes(lines);
    return made(json_pack("{s:s, s:i, s:{s:s}, s:o}", "command", tool_name, "schema", 1, "device", "name", device,
                          "lines", lines));
}
