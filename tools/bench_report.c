/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's lines as rows of JSON, and printed. */
#include "bench.h"
#include <string.h>

/*
 * Gains over the step before and over the ladder's first. The processor's step 0 beside a GPU has none, the forms in
 * shared memory are a ladder of their own; the planner's choice at the end is set against the first of all.
 */
static void find_gains(bench *b) {
    session *s = &b->session;
    const contender *origin = NULL, *first = NULL, *before = NULL;
    const char *anew = s->line.of->ladder_anew;
    for (size_t i = 0; i < s->count; i++) {
        contender *c = &s->list[i];
        if (c->role == ROLE_FLOOR || c->on_host)
            continue;
        if (first == NULL || (anew != NULL && strcmp(c->pin, anew) == 0)) {
            first = c;
            origin = origin == NULL ? c : origin;
        } else {
            c->step = before->us / c->us;
            c->total = (strcmp(c->pin, b->chosen) == 0 ? origin : first)->us / c->us;
        }
        before = c;
    }
}

static void set_number(json_t *row, const char *key, size_t value) {
    if (value > 0)
        json_object_set_new(row, key, made(json_integer((json_int_t)value)));
}

static void set_real(json_t *row, const char *key, double value) {
    if (value > 0)
        json_object_set_new(row, key, made(json_real(value)));
}

static json_t *make_row(const bench *b, const contender *c) {
    const result r = result_of(c);
    const bool floor = c->role == ROLE_FLOOR, chosen = !floor && strcmp(c->pin, b->chosen) == 0;
    char name[72], label[80];
    snprintf(name, sizeof name, floor ? "(%s)" : "%s", c->who);
    snprintf(label, sizeof label, "%s%s", chosen ? "* " : "  ", name);
    json_t *row = made(json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "group", r.group, "operation", r.primitive,
                                 "kernel", name, "shape", r.shape, "floor", floor, "chosen", chosen, "label", label));
    set_number(row, "n", r.n);
    set_number(row, "rows", r.rows);
    set_number(row, "cols", r.cols);
    set_number(row, "window", r.window);
    set_number(row, "elem_bytes", r.n + r.window > 0 ? 0 : r.elem_bytes);
    set_number(row, "threads", c->threads);
    set_real(row, "us", c->us);
    set_real(row, "us_low", c->low);
    set_real(row, "us_high", c->high);
    set_real(row, "gb_s", r.gbps);
    set_real(row, "share", r.of_floor);
    set_real(row, "step", c->step);
    set_real(row, "total", c->total);
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
    const bool ladder = bench_is_ladder(&b->session.line);
    const result r = result_of(&b->session.list[0]);
    printf("%s%s, %s, %.1f MB moved\n", r.primitive, ladder ? " ladder" : "", r.shape, r.bytes * 1e-6);
    print_table(rows, ladder ? 7 : 5, columns);
    putchar('\n');
    fflush(stdout);
}

void bench_report(session *s) {
    bench *b = (bench *)(void *)s; /* whose first member it is */
    json_t *rows = made(json_array());
    if (bench_is_ladder(&s->line))
        find_gains(b);
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(rows, make_row(b, &s->list[i]));
    if (b->asked.how == FORMAT_TEXT)
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
    const gp_device_info *device = &b->session.places[0].device;
    size_t i;
    json_t *row;
    json_array_foreach(b->rows, i, row) json_object_del(row, "label");
    if (b->asked.how == FORMAT_CSV)
        print_csv(b->rows, sizeof columns / sizeof *columns, columns);
    if (b->asked.how != FORMAT_JSON)
        return;
    json_t *all = document();
    json_object_set_new(all, "device",
                        made(json_pack("{s:s, s:i, s:i}", "name", device->name, "multiprocessors",
                                       (int)device->multiprocessors, "cpu_threads", (int)device->cpu_threads)));
    json_object_set_new(all, "rounds", made(json_integer((json_int_t)b->asked.rounds)));
    json_object_set_new(all, "wrong", made(json_integer((json_int_t)b->session.wrong)));
    json_object_set(all, "lines", b->rows);
    print_json(all);
}
