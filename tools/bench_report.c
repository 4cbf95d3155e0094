/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's lines as rows of JSON, and printed. */
#include "bench.h"
#include <string.h>

void bench_line_name(const line *l, char *text, size_t size) {
    if (l->operation == GP_OPERATION_REDUCE)
        snprintf(text, size, "%zu ints", l->n);
    else if (l->operation == GP_OPERATION_WINDOW)
        snprintf(text, size, "%zu x %zu, window %zu", l->rows, l->cols, l->window);
    else
        snprintf(text, size, "%zu x %zu of %zu bytes", l->rows, l->cols, l->elem_bytes);
}

uint64_t bench_line_bytes(const line *l) {
    const uint64_t cells = (uint64_t)l->rows * l->cols;
    if (l->operation == GP_OPERATION_REDUCE)
        return (uint64_t)l->n * 4 + sizeof(int64_t);
    if (l->operation == GP_OPERATION_TRANSPOSE)
        return cells * l->elem_bytes * 2;
    const uint64_t computed = l->window <= l->cols ? (uint64_t)l->rows * (l->cols - l->window + 1) : 0;
    return cells * 4 + computed * 2 * sizeof(float);
}

static void set_number(json_t *row, const char *key, uint64_t value) {
    json_object_set_new(row, key, made(json_integer((json_int_t)value)));
}

static void set_real(json_t *row, const char *key, double value) {
    json_object_set_new(row, key, made(json_real(value)));
}

static json_t *make_row(const contender *c, double floor_us) {
    const line *l = &c->bench->line;
    char shape[96], label[72];
    bench_line_name(l, shape, sizeof shape);
    snprintf(label, sizeof label, "%s%s", c->chosen ? "* " : "  ", c->name);
    json_t *row = made(json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "group", l->group, "operation",
                                 operation_name((int32_t)l->operation), "kernel", c->name, "shape", shape, "floor",
                                 c->floor != NULL, "chosen", c->chosen, "label", label));
    if (l->operation == GP_OPERATION_REDUCE)
        set_number(row, "n", l->n);
    else
        set_number(row, "rows", l->rows), set_number(row, "cols", l->cols);
    if (l->operation == GP_OPERATION_WINDOW)
        set_number(row, "window", l->window);
    if (l->operation == GP_OPERATION_TRANSPOSE)
        set_number(row, "elem_bytes", l->elem_bytes);
    if (c->threads > 0)
        set_number(row, "threads", c->threads);
    set_real(row, "us", c->us);
    set_real(row, "us_low", c->low);
    set_real(row, "us_high", c->high);
    set_real(row, "gb_s", (double)bench_line_bytes(l) / (c->us * 1e3));
    if (!c->on_host)
        set_real(row, "share", floor_us / c->us);
    if (c->step > 0) {
        set_real(row, "step", c->step);
        set_real(row, "total", c->total);
    }
    return row;
}

static void print_text(const bench *b, const json_t *rows) {
    static const column columns[] = {{.key = "label", .heading = "  kernel"},
                                     {.key = "threads", .heading = "threads"},
                                     {.key = "us", .heading = "us", .digits = 2},
                                     {.key = "gb_s", .heading = "GB/s", .digits = 1},
                                     {.key = "share", .heading = "of floor", .digits = 3},
                                     {.key = "step", .heading = "step x", .digits = 2},
                                     {.key = "total", .heading = "total x", .digits = 2}};
    const bool ladder = strcmp(b->line.group, "ladder") == 0;
    char name[96];
    bench_line_name(&b->line, name, sizeof name);
    printf("%s%s, %s, %.1f MB moved\n", operation_name((int32_t)b->line.operation), ladder ? " ladder" : "", name,
           (double)bench_line_bytes(&b->line) * 1e-6);
    print_table(rows, ladder ? 7 : 5, columns);
    putchar('\n');
    fflush(stdout);
}

void bench_report(bench *b) {
    json_t *rows = made(json_array());
    for (size_t i = 0; i < b->count; i++)
        json_array_append_new(rows, make_row(&b->contenders[i], b->contenders[0].us));
    if (b->opt.how == FORMAT_TEXT)
        print_text(b, rows);
    json_array_extend(b->rows, rows);
    json_decref(rows);
}

void bench_finish(bench *b) {
    static const column columns[] = {{.key = "group"},  {.key = "operation"},  {.key = "kernel"},  {.key = "floor"},
                                     {.key = "chosen"}, {.key = "n"},          {.key = "rows"},    {.key = "cols"},
                                     {.key = "window"}, {.key = "elem_bytes"}, {.key = "threads"}, {.key = "us"},
                                     {.key = "us_low"}, {.key = "us_high"},    {.key = "gb_s"},    {.key = "share"},
                                     {.key = "step"},   {.key = "total"}};
    size_t i;
    json_t *row;
    json_array_foreach(b->rows, i, row) json_object_del(row, "label");
    if (b->opt.how == FORMAT_CSV)
        print_csv(b->rows, sizeof columns / sizeof *columns, columns);
    if (b->opt.how != FORMAT_JSON)
        return;
    json_t *all = document();
    json_object_set_new(all, "device",
                        made(json_pack("{s:s, s:i, s:i}", "name", b->device.name, "multiprocessors",
                                       (int)b->device.multiprocessors, "cpu_threads", (int)b->device.cpu_threads)));
    set_number(all, "rounds", b->opt.rounds);
    set_number(all, "wrong", b->wrong);
    json_object_set(all, "lines", b->rows);
    print_json(all);
}
