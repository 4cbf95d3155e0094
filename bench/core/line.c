/* SPDX-License-Identifier: Apache-2.0 */
/* A line: its arrays are made, contenders are added, checked, timed in turns and reported. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

void line_begin(session *s, const line *l) {
    s->line = *l;
    s->arrays = l->of->footprint(l);
    s->count = 0;
    buffers_prepare(s);
    s->serial++;
}

contender *line_add(session *s, role as, const char *who, gp_status (*call)(const contender *, size_t)) {
    if (s->count == CONTENDERS_MAX)
        fail("%s: more contenders than the bench holds", who);
    contender *c = &s->list[s->count++];
    *c = (contender){.role = as, .session = s, .call = call, .unchecked = as == ROLE_FLOOR};
    snprintf(c->who, sizeof c->who, "%s", who);
    return c;
}

void line_add_floor(session *s) {
    static const char *const names[] = {"read", "copy", "read 1, write 2"};
    contender *c = line_add(s, ROLE_FLOOR, names[s->arrays.floor_outs], floor_call);
    c->way_name = floor_name;
    c->ways = floor_ways(s, s->arrays.floor_outs);
}

/* Who has fewer threads than the library here is shown beside it, and no judge of it. */
void line_add_peers(session *s) {
    for (const peer *p = s->peers; p != NULL && p->who != NULL; p++) {
        if (p->of != s->line.of || p->gpu != s->line.at->gpu || !p->does(s, &s->line))
            continue;
        const bool equal = p->threads == 0 || p->threads >= s->line.at->threads;
        contender *c = line_add(s, equal ? ROLE_PEER : ROLE_SHOWN, p->who, p->call);
        c->time = p->time;
        c->user = p;
        c->tolerated = p->tolerated != NULL ? p->tolerated(&s->line) : 0;
    }
}

static gp_status call_ours(const contender *c, size_t set) {
    const session *s = c->session;
    void *out[OUTS_MAX];
    for (unsigned k = 0; k < s->arrays.outs; k++)
        out[k] = s->arrays.in_place ? buffers_in(s, set) : buffers_out(s, set, k);
    return s->line.of->call(c->context, &s->line, buffers_in(s, set), out);
}

/* A processor's row beside a GPU's: from the host's copy of the input, its result put where the check looks. */
static gp_status call_on_host(const contender *c, size_t set) {
    session *s = c->session;
    int64_t value;
    void *out[OUTS_MAX] = {&value, NULL};
    const gp_status status = s->line.of->call(c->context, &s->line, buffers_mirror(s), out);
    if (status == GP_OK)
        memory_copy(s, buffers_out(s, set, 0), &value, sizeof value);
    return status;
}

contender *line_add_ours(session *s) {
    contender *c = line_add(s, ROLE_OURS, "ours", call_ours);
    c->context = s->line.at->context;
    return c;
}

contender *line_add_row(session *s, const gp_kernel_info *row, unsigned threads) {
    contender *c = line_add(s, ROLE_ROW, row->name, call_ours);
    c->context = s->line.at->context;
    c->flags = row->flags;
    c->pin_threads = threads;
    snprintf(c->pin, sizeof c->pin, "%s", row->name);
    /* Rows that compute in float are held to the bound that they state, over data of one sign. */
    c->tolerated = row->flags & GP_KERNEL_FLOAT ? ((double)result_of(c).window + 3) * 0x1p-24 : 0;
    if (s->line.at->gpu && !(row->flags & GP_KERNEL_GPU)) {
        c->on_host = true;
        c->call = call_on_host;
        c->context = s->host;
    }
    return c;
}

bool is_masked(const session *s, const char *row) {
    for (size_t i = 0; i < s->opt.without.count; i++)
        if (strcmp(s->opt.without.word[i], row) == 0)
            return true;
    return false;
}

/* A row that the planner may choose for the session's line, here. */
static bool is_choice(const session *s, const gp_kernel_info *k) {
    const bool here = ((k->flags & GP_KERNEL_GPU) != 0) == s->line.at->gpu;
    return here && k->operation == (int32_t)s->line.of->operation && !(k->flags & GP_KERNEL_STUDY) &&
           !is_masked(s, k->name);
}

/* KERNEL[:THREADS]; those of other lines are left out. */
static void add_pin(session *s, const char *text) {
    char name[64];
    gp_kernel_info k;
    const size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (!kernel_find(name, &k))
        fail("%s: there is no such kernel", name);
    if (((k.flags & GP_KERNEL_GPU) != 0) == s->line.at->gpu && k.operation == (int32_t)s->line.of->operation)
        line_add_row(s, &k, text[length] == ':' ? (unsigned)strtoul(text + length + 1, NULL, 10) : 0);
}

void line_add_asked(session *s) {
    for (size_t i = 0; i < s->opt.pins.count; i++)
        add_pin(s, s->opt.pins.word[i]);
    for (size_t i = 0; i < gp_kernel_count() && s->opt.rows; i++) {
        const gp_kernel_info k = kernel_at(i);
        if (is_choice(s, &k))
            line_add_row(s, &k, 0);
    }
}

void line_pin(const contender *c) {
    if (c->context == NULL)
        return;
    must(gp_context_pin_kernel(c->context, NULL, 0));
    if (c->pin[0] != '\0')
        must(gp_context_pin_kernel(c->context, c->pin, c->pin_threads));
}

/* What the planner would choose if the masked rows were not there: the first of the others that can. */
static void choose_without(contender *c) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_kernel_info k = kernel_at(i);
        if (!is_choice(c->session, &k))
            continue;
        snprintf(c->pin, sizeof c->pin, "%s", k.name);
        line_pin(c);
        if (c->call(c, 0) != GP_ERR_NO_KERNEL)
            return;
    }
}

static void note_kernel(contender *c) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    must(gp_context_plan(c->context, &plan));
    const bool gpu = plan.backend == GP_BACKEND_CUDA;
    c->threads = gpu ? plan.block : (unsigned)plan.grid;
    if (gpu)
        snprintf(c->kernel, sizeof c->kernel, "%s %llux%u", plan.kernel, (unsigned long long)plan.grid, plan.block);
    else
        snprintf(c->kernel, sizeof c->kernel, "%s", plan.kernel);
}

static void check_all(session *s) {
    size_t kept = 0;
    check_expect(s);
    for (size_t i = 0; i < s->count; i++) {
        contender *c = &s->list[i];
        const bool ours = c->role == ROLE_OURS || c->role == ROLE_ROW || c->role == ROLE_REFERENCE;
        if (c->role == ROLE_OURS && s->opt.without.count > 0)
            choose_without(c);
        line_pin(c);
        if (!c->unchecked && !check_contender(c))
            continue;
        if (ours && c->context != NULL)
            note_kernel(c);
        s->list[kept++] = *c;
    }
    s->count = kept;
}

/* For tools that count instructions. */
static void call_all(session *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const contender *c = &s->list[i];
        gp_status status = GP_OK;
        line_pin(c);
        for (size_t calls = 0; calls < s->opt.calls && status == GP_OK; calls++)
            status = c->call(c, 0);
        if (status == GP_OK)
            s->list[kept++] = *c;
    }
    s->count = kept;
}

void line_run(session *s) {
    if (s->opt.calls > 0)
        call_all(s);
    else
        check_all(s);
    for (size_t i = 0; i < s->count && s->opt.once;
         i++) /* a profiler is to see the floors too, which no check calls */
        if (s->list[i].unchecked)
            must(s->list[i].call(&s->list[i], 0));
    for (unsigned tried = 0; s->count > 0 && !s->opt.once && s->opt.calls == 0;) {
        race_run(s);
        if (++tried >= s->tries || s->is_good(s))
            break;
    }
    s->report(s);
}
