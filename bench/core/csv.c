/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables that gpuprim-bench --csv writes: columns are found by their names, lines that begin with # are
   told of nothing, but for the first, which names the device. */
#include "csv.h"
#include "../../tools/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 64 };

/* Cuts a record at its commas, in place; a field in quotes keeps them. Returns the number of fields. */
static size_t cut(char *record, char *fields[FIELDS_MAX]) {
    size_t count = 0;
    record[strcspn(record, "\r\n")] = '\0';
    for (char *at = record; at != NULL && count < FIELDS_MAX;) {
        const bool quoted = *at == '"';
        fields[count++] = at + quoted;
        char *end = quoted ? strchr(at + 1, '"') : at;
        if (end != NULL && quoted)
            *end++ = '\0';
        at = end != NULL ? strchr(end, ',') : NULL;
        if (at != NULL)
            *at++ = '\0';
    }
    return count;
}

static void find_columns(const csv_wish *wish, char *head, size_t where[]) {
    char *fields[FIELDS_MAX];
    const size_t count = cut(head, fields);
    for (size_t i = 0; i < wish->count; i++) {
        where[i] = 0;
        while (where[i] < count && strcmp(fields[where[i]], wish->columns[i]) != 0)
            where[i]++;
        if (where[i] == count)
            fail("%s: not what gpuprim-bench --csv writes: no column %s", wish->path, wish->columns[i]);
    }
}

void csv_read(const csv_wish *wish, char device[CSV_DEVICE]) {
    FILE *from = fopen(wish->path, "r");
    char *record = NULL, *fields[FIELDS_MAX], *text[FIELDS_MAX];
    size_t size = 0, where[FIELDS_MAX];
    if (from == NULL)
        fail("%s: %s", wish->path, strerror(errno));
    if (getline(&record, &size, from) < 0)
        fail("%s: %s", wish->path, feof(from) ? "nothing in it" : strerror(errno));
    find_columns(wish, record, where);
    for (size_t number = 2; getline(&record, &size, from) >= 0; number++) {
        if (record[0] == '#') {
            const char *name = record + 1 + strspn(record + 1, " ");
            const size_t length = strcspn(name, ",\r\n");
            if (number == 2 && length > 0)
                snprintf(device, CSV_DEVICE, "%.*s", (int)length, name);
            continue;
        }
        const size_t count = cut(record, fields);
        for (size_t i = 0; i < wish->count; i++) {
            if (where[i] >= count)
                fail("%s: line %zu: no %s", wish->path, number, wish->columns[i]);
            text[i] = fields[where[i]];
        }
        wish->take(wish->user, text);
    }
    if (!feof(from))
        fail("%s: %s", wish->path, strerror(errno));
    free(record);
    fclose(from);
}
