/* SPDX-License-Identifier: Apache-2.0 */
/* Results printed as JSON, CSV (RFC 4180 without its CR) or an aligned table, and JSON read back. */
#include "table.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL 128

static void *json_room(size_t bytes) {
    void *room = malloc(bytes);
    if (room == NULL)
        fail("no memory for JSON");
    return room;
}

void json_begin(void) {
    json_set_alloc_funcs(json_room, free);
}

json_t *made(json_t *value) {
    if (value == NULL)
        fail("a name that is not UTF-8 cannot be told");
    return value;
}

json_t *document(void) {
    const unsigned v = gp_version();
    char version[32];
    snprintf(version, sizeof version, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
    return made(json_pack("{s:i, s:s, s:s}", "schema", 1, "command", tool_name, "version", version));
}

static void dump(json_t *value, size_t digits) {
    const size_t ascii = isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0; /* no control character past ASCII either */
    if (json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits) | ascii) != 0 && !ferror(stdout))
        fail("JSON: the result could not be printed"); /* a lost write is told when all is closed */
    putchar('\n');
    json_decref(value);
}

void print_json(json_t *value) {
    dump(value, 9);
}

void print_json_whole(json_t *value) {
    dump(value, 17);
}

json_t *read_json(const char *path) {
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && error.line < 0)
        fail("%s", error.text);
    if (root == NULL)
        fail("%s: line %d: %s", path, error.line, error.text);
    return root;
}

static void csv_text(const char *data) {
    char room[SHOWN];
    const char *text = shown_on_terminal(data, room);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void csv_cell(const json_t *value) {
    if (json_is_string(value))
        csv_text(json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        printf("%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", stdout);
}

void print_csv(const json_t *rows, size_t count, const column columns[]) {
    size_t row;
    json_t *object;
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i > 0 ? "," : "", columns[i].key);
    putchar('\n');
    json_array_foreach(rows, row, object) {
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                putchar(',');
            csv_cell(json_object_get(object, columns[i].key));
        }
        putchar('\n');
    }
}

/* Cut off at CELL - 1 bytes. */
static void text_cell(char text[CELL], const json_t *value, const column *c) {
    const char *unit = c->unit != NULL ? c->unit : "";
    char room[SHOWN];
    text[0] = '\0';
    if (json_is_string(value))
        snprintf(text, CELL, "%s", shown(json_string_value(value), room));
    else if (json_is_integer(value))
        snprintf(text, CELL, "%" JSON_INTEGER_FORMAT "%s", json_integer_value(value), unit);
    else if (json_is_real(value))
        snprintf(text, CELL, "%.*f%s", c->digits, json_real_value(value), unit);
    else if (json_is_boolean(value))
        snprintf(text, CELL, "%s", json_is_true(value) ? "yes" : "");
}

static void print_row(const json_t *object, size_t count, const column columns[], const int widths[],
                      const bool numeric[]) {
    char line[CELL * 8] = "", cell[CELL];
    size_t used = 0;
    for (size_t i = 0; i < count && used + CELL < sizeof line; i++) {
        if (object != NULL)
            text_cell(cell, json_object_get(object, columns[i].key), &columns[i]);
        else
            snprintf(cell, sizeof cell, "%s", columns[i].heading);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%*s", i > 0 ? "  " : "",
                                 numeric[i] ? widths[i] : -widths[i], cell);
    }
    while (used > 0 && line[used - 1] == ' ')
        line[--used] = '\0';
    if (object == NULL && use_colour())
        printf("\033[1m%s\033[0m\n", line);
    else
        puts(line);
}

void print_table(const json_t *rows, size_t count, const column columns[]) {
    int widths[16];
    bool numeric[16] = {false};
    size_t row;
    json_t *object;
    char cell[CELL];
    for (size_t i = 0; i < count; i++) {
        widths[i] = (int)strlen(columns[i].heading);
        json_array_foreach(rows, row, object) {
            const json_t *value = json_object_get(object, columns[i].key);
            text_cell(cell, value, &columns[i]);
            const int width = (int)strlen(cell);
            widths[i] = width > widths[i] ? width : widths[i];
            numeric[i] = numeric[i] || json_is_number(value);
        }
    }
    print_row(NULL, count, columns, widths, numeric);
    json_array_foreach(rows, row, object) print_row(object, count, columns, widths, numeric);
}
