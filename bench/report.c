/* SPDX-License-Identifier: Apache-2.0 */
/* The table on stdout and as CSV, and what each line has to say to a verdict. */
#include "core/rows.h"
#include "core/verdict.h"
#include "program.h"

#include <string.h>

#define EQUAL 0.98 /* of a peer's speed: less than 2 % is what rounds cannot tell apart */

static const verdict past_all = {"past the caches, speed of the floor", 0.80, 1, false};
static const verdict past_most = {"past the caches, speed of the floor", 0.90, 0.95, false};
static const verdict cached_most = {"in the caches, speed of the fastest peer", EQUAL, 0.95, false};
static const verdict peers_all = {"on the processor, speed of the fastest peer", EQUAL, 1, false};
static const verdict threads_all = {"all threads, times the time of one", 1.10, 1, true};
static const verdict returns_all = {"a call returns, times a bare launch", 1.30, 1, true};
static const verdict first_all = {"context and first call, ms over a first CUDA call", 5, 1, true};
static const verdict calls_all = {"a call on one element, ns", 100, 1, true};

static program *the_program;

/* Up to two verdicts on the library's free choice, and its value for each; by what the line measures. */
static size_t judge(const session *s, const contender *c, const verdict *of[2], double value[2]) {
    const double floor = result_best(s, ROLE_FLOOR), other = result_best(s, ROLE_PEER);
    const double reference = result_best(s, ROLE_REFERENCE);
    const bool row = s->line.measure == MEASURE_ROW && s->line.memory == MEMORY_DEVICE;
    const bool past = row && s->arrays.bytes > (double)s->line.at->cache_bytes;
    of[0] = NULL;
    if (s->line.measure == MEASURE_FIRST)
        of[0] = &first_all, value[0] = (c->us - other) * 1e-3;
    else if (s->line.measure == MEASURE_RETURN)
        of[0] = &returns_all, value[0] = c->us / floor;
    else if (!s->line.at->gpu && reference > 0)
        of[0] = &threads_all, value[0] = c->us / reference;
    else if (strcmp(s->line.group, "calls") == 0)
        of[0] = &calls_all, value[0] = c->us * 1e3;
    else if (!s->line.at->gpu && other > 0)
        of[0] = &peers_all, value[0] = other / c->us;
    else if (past && floor > 0 && reference <= 0)
        of[0] = &past_all, of[1] = &past_most, value[0] = value[1] = floor / c->us;
    else if (row && !past && other > 0)
        of[0] = &cached_most, value[0] = other / c->us;
    return of[0] == NULL ? 0 : of[0] == &past_all ? 2 : 1;
}

bool report_is_good(const session *s) {
    const verdict *of[2];
    double value[2];
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].role == ROLE_OURS && judge(s, &s->list[i], of, value) > 0 && !verdict_met(of[0], value[0]))
            return false;
    return true;
}

void report_open(program *p) {
    session *s = &p->session;
    const place *at = &s->places[s->n_places - 1];
    const unsigned v = gp_version();
    the_program = p;
    printf("# %s, libgpuprim %u.%u.%u, medians of %zu rounds%s\n", at->device.name, v / 10000, v / 100 % 100, v % 100,
           s->opt.rounds, s->opt.graph ? ", graph replays" : "");
    if (!p->opt.brief)
        printf("%-58s %-28s %10s %6s %8s %7s %7s %7s  %s\n", "line", "who", "us", "+-%", "GB/s", "/floor", "/peer",
               "/ref", "kernel");
    if (p->opt.csv == NULL || p->csv != NULL)
        return;
    p->csv = fopen(p->opt.csv, "w");
    if (p->csv == NULL)
        fail("%s: cannot be written", p->opt.csv);
    fprintf(p->csv,
            "op,who,role,shape,n,rows,cols,in_pitch,out_pitch,elem_bytes,offset,in_place,window,border,data,measure,"
            "median_us,low_us,high_us,gbps,ratio_floor,ratio_peer,ratio_reference,kernel,series,primitive,threads,"
            "group\n# %s, %u SMs, libgpuprim %u, %zu rounds\n",
            at->device.name, at->device.multiprocessors, v, s->opt.rounds);
}

/* Rows for a GPU that no line could use are below the bar too: they are told of as rows of no point. */
static void note_idle_rows(const program *p) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_kernel_info k = kernel_at(i);
        const primitive *of = primitive_of(k.operation);
        if (!(k.flags & GP_KERNEL_GPU) || (k.flags & GP_KERNEL_STUDY) || is_masked(&p->session, k.name) ||
            !rows_know(of->name, NULL) || rows_know(of->name, k.name))
            continue;
        rows_note(of->name, "", k.name, 0);
        if (p->csv != NULL)
            fprintf(p->csv, "-,\"%s\",row,\"\",0,0,0,0,0,0,0,0,0,-,-,-,0,0,0,0,-,-,-,\"\",\"\",%s,0,-\n", k.name,
                    of->name);
    }
}

void report_close(program *p) {
    if (p->session.gpu != NULL && p->session.opt.rows)
        note_idle_rows(p);
    if (p->csv != NULL && fclose(p->csv) != 0)
        fail("%s: could not be written", p->opt.csv);
}

static const char *ratio(double value, char text[16]) {
    if (value > 0)
        snprintf(text, 16, "%.3f", value);
    else
        snprintf(text, 16, "-");
    return text;
}

static void print_text(const contender *c, const result *r) {
    char floor[16], other[16], reference[16];
    printf("%-58s %-28s %10.3f %6.1f %8.2f %7s %7s %7s  %s\n", r->label, c->who, c->us,
           c->us > 0 ? 50 * (c->high - c->low) / c->us : 0, r->gbps, ratio(r->of_floor, floor),
           ratio(r->of_peer, other), ratio(r->of_reference, reference), c->kernel);
}

static void print_csv_line(FILE *to, const contender *c, const result *r) {
    char floor[16], other[16], reference[16];
    fprintf(
        to,
        "%s,\"%s\",%s,\"%s\",%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%s,%s,%s,%.4f,%.4f,%.4f,%.2f,%s,%s,%s,\"%s\",\"%s\","
        "%s,%zu,%s\n",
        r->op, c->who, r->role, r->label, r->n, r->rows, r->cols, r->in_pitch, r->out_pitch, r->elem_bytes, r->offset,
        r->in_place, r->window, r->border, r->data, r->measure, c->us, c->low, c->high, r->gbps,
        ratio(r->of_floor, floor), ratio(r->of_peer, other), ratio(r->of_reference, reference), c->kernel,
        c->session->line.series, r->primitive, r->threads, r->group);
}

static void note(const contender *c, const result *r) {
    const session *s = c->session;
    const verdict *of[2];
    double value[2];
    const size_t count = c->role == ROLE_OURS ? judge(s, c, of, value) : 0;
    for (size_t i = 0; i < count; i++)
        verdict_note(of[i], r->primitive, r->label, value[i]);
    if (s->opt.rows && c->role == ROLE_OURS)
        rows_choice(r->primitive, r->label, c->kernel);
    if (s->opt.rows && c->role == ROLE_ROW)
        rows_note(r->primitive, r->label, c->pin, c->us);
}

void report_line(session *s) {
    for (size_t i = 0; i < s->count; i++) {
        contender *c = &s->list[i];
        if (c->way_name != NULL)
            snprintf(c->kernel, sizeof c->kernel, "%s", c->way_name(c));
        const result r = result_of(c);
        if (!the_program->opt.brief)
            print_text(c, &r);
        if (the_program->csv != NULL)
            print_csv_line(the_program->csv, c, &r);
        if (c->us > 0)
            note(c, &r);
    }
    fflush(stdout);
    if (the_program->csv != NULL)
        fflush(the_program->csv);
}
