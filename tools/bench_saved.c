/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that bench --format json printed, or the CSV of gpuprim-bench, read for a plot; gnuplot gets names and
 * numbers from it, no commands.
 */
#include "array.h"
#include "bench.h"
#include <string.h>

static bool is_name(const json_t *value) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _,.:()[]+-/@";
    const char *text = json_string_value(value);
    return text != NULL && *text != '\0' && text[strspn(text, allowed)] == '\0';
}

static bool is_positive(const json_t *row, const char *key) {
    return json_number_value(json_object_get(row, key)) > 0;
}

static bool is_line(const json_t *row) {
    static const char *const names[] = {"group", "operation", "kernel", "shape"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_name(json_object_get(row, names[i])))
            return false;
    if (json_object_get(row, "axis") != NULL && !is_name(json_object_get(row, "axis")))
        return false;
    return is_positive(row, "gb_s") &&
           (is_positive(row, "n") || (is_positive(row, "rows") && is_positive(row, "cols")));
}

static size_t size_of(const json_t *row, const char *key) {
    return (size_t)json_integer_value(json_object_get(row, key));
}

static bool is_asked_for(const sizes *list, const json_t *row, const char *key) {
    for (size_t i = 0; i < list->count; i++)
        if (list->value[i] == size_of(row, key))
            return true;
    return list->count == 0;
}

static bool is_shape_asked_for(const bench_request *o, const json_t *row) {
    for (size_t i = 0; i < o->rows.count; i++)
        if (o->rows.value[i] == size_of(row, "rows") && o->cols.value[i] == size_of(row, "cols"))
            return true;
    return o->rows.count == 0;
}

/* A line that lacks a size that was asked for is another operation's. */
static bool is_wanted(const bench_request *o, const json_t *row) {
    return (bench_group_of(json_string_value(json_object_get(row, "group"))) & o->groups) != 0 &&
           is_asked_for(&o->n, row, "n") && is_shape_asked_for(o, row) && is_asked_for(&o->windows, row, "window") &&
           is_asked_for(&o->elems, row, "elem_bytes");
}

void bench_draw_saved(const bench_request *o) {
    json_t *run = ends_in(o->from, ".csv") ? bench_read_csv(o->from) : read_json(o->from);
    json_t *lines = json_object_get(run, "lines"), *wanted = made(json_array()), *row;
    const json_t *device = json_object_get(json_object_get(run, "device"), "name");
    const char *command = json_string_value(json_object_get(run, "command"));
    size_t i;
    if (command == NULL || strcmp(command, tool_name) != 0 ||
        json_integer_value(json_object_get(run, "schema")) != 1 || !json_is_array(lines) || !is_name(device))
        fail("%s: not what `gpuprim bench --format json' prints", o->from);
    json_array_foreach(lines, i, row) {
        if (!is_line(row))
            fail("%s: lines[%zu] is no line of a bench", o->from, i);
        if (is_wanted(o, row))
            json_array_append(wanted, row);
    }
    if (json_array_size(wanted) == 0)
        fail("%s: no line is of such groups and sizes", o->from);
    plot_write(o->plot, wanted, json_string_value(device));
    json_decref(wanted);
    json_decref(run);
}
