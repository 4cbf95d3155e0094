/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the table: its label, its bytes, who competes in it, and how it is run. */
#include "bench.h"

#include <string.h>

const char *border_name(gp_border border) {
    static const char *const names[] = {"none", "zero", "replicate", "reflect", "reflect101", "wrap"};
    return names[border];
}

const char *reduce_name(gp_reduce_op op) {
    static const char *const names[] = {"sum", "min", "max", "and", "or", "xor"};
    return names[op];
}

static const char *measure_name(measure m) {
    static const char *const names[] = {"", " to host", " returns", " first use", " slowest"};
    return names[m];
}

static int shape(const line *l, char *text, size_t size) {
    if (l->operation != GP_OPERATION_REDUCE)
        return snprintf(text, size, "%zux%zu", l->rows, l->cols);
    if (l->n > 0 && (l->n & (l->n - 1)) == 0)
        return snprintf(text, size, "2^%d", __builtin_ctzll(l->n));
    return snprintf(text, size, "%zu", l->n);
}

void line_label(const line *l, char *text, size_t size) {
    char shape_text[48], window[24] = "3..301", more[80] = "", pitch[64] = "", offset[32] = "", limit[48] = "";
    shape(l, shape_text, sizeof shape_text);
    if (l->measure != MEASURE_SPREAD)
        snprintf(window, sizeof window, "%zu", l->window);
    if (l->operation == GP_OPERATION_TRANSPOSE)
        snprintf(more, sizeof more, " %zu B%s", l->elem_bytes, l->in_place ? " in place" : "");
    if (l->operation == GP_OPERATION_WINDOW)
        snprintf(more, sizeof more, " w=%s %s %s%s%s", window, border_name(l->border), data_name(l->data),
                 l->no_sum ? " square only" : "", l->no_square ? " sum only" : "");
    if (l->in_pitch != l->cols || l->out_pitch != (l->operation == GP_OPERATION_TRANSPOSE ? l->rows : l->cols))
        snprintf(pitch, sizeof pitch, " pitch %zu %zu", l->in_pitch, l->out_pitch);
    if (l->offset)
        snprintf(offset, sizeof offset, " +%zu B", l->offset);
    if (l->smem_limit)
        snprintf(limit, sizeof limit, " smem %zu", l->smem_limit);
    if (l->regs_limit)
        snprintf(limit + strlen(limit), sizeof limit - strlen(limit), " regs %u", l->regs_limit);
    snprintf(text, size, "%s %s%s%s%s%s%s",
             l->operation == GP_OPERATION_REDUCE      ? reduce_name(l->op)
             : l->operation == GP_OPERATION_TRANSPOSE ? "transpose"
             : l->operation == GP_OPERATION_WINDOW    ? "window"
                                                      : "process",
             l->operation == GP_OPERATION_NONE ? "" : shape_text, more, pitch, offset, measure_name(l->measure),
             limit);
}

double line_bytes(const line *l) {
    const double pixels = (double)l->rows * (double)l->cols;
    switch (l->operation) {
    case GP_OPERATION_REDUCE:
        return 4.0 * (double)l->n;
    case GP_OPERATION_TRANSPOSE:
        return 2.0 * (double)l->elem_bytes * pixels;
    case GP_OPERATION_WINDOW:
        return (l->no_sum || l->no_square ? 8.0 : 12.0) * pixels;
    default:
        return 0;
    }
}

bool line_wanted(const session *s, const line *l) {
    char label[256];
    line_label(l, label, sizeof label);
    return !s->opt.match || strstr(label, s->opt.match) != NULL;
}

contender *contender_add(session *s, contender *list, size_t *count, role as, const char *who, const line *l,
                         gp_status (*call)(const contender *, size_t)) {
    if (*count == CONTENDERS_MAX)
        die(who, "too many contenders");
    contender *c = &list[(*count)++];
    memset(c, 0, sizeof *c);
    snprintf(c->who, sizeof c->who, "%s", who);
    c->role = as;
    c->line = *l;
    c->session = s;
    c->call = call;
    return c;
}

void contender_add_ours(session *s, contender *list, size_t *count, const line *l,
                        gp_status (*call)(const contender *, size_t)) {
    if (s->n_limits > 0)
        contender_add(s, list, count, ROLE_REFERENCE, "ours, no limit", l, call)->context = s->free_choice;
    else
        contender_add(s, list, count, ROLE_OURS, "ours", l, call)->context = s->free_choice;
    for (size_t i = 0; i < s->n_pins; i++)
        if (s->pins[i].operation == l->operation)
            contender_add(s, list, count, ROLE_OURS, s->pins[i].who, l, call)->context = s->pins[i].context;
    for (size_t i = 0; i < s->n_limits; i++) {
        line small = *l;
        small.smem_limit = s->limits[i].smem;
        small.regs_limit = s->limits[i].regs;
        contender_add(s, list, count, ROLE_OURS, "ours", &small, call)->context = s->limits[i].context;
    }
}

/* What the context chose for its last call. */
static void note_kernel(contender *c) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    GP(gp_context_plan(c->context, &plan));
    snprintf(c->kernel, sizeof c->kernel, "%s %llux%u", plan.kernel, (unsigned long long)plan.grid, plan.block);
    const bool under_limit = c->line.smem_limit || c->line.regs_limit;
    if (under_limit || c->context == c->session->free_choice)
        chosen_note(plan.kernel, under_limit);
    if (c->role == ROLE_OURS && c->context == c->session->free_choice)
        snprintf(c->session->chosen, sizeof c->session->chosen, "%s", plan.kernel);
}

static void put_out(contender *c, const char *why) {
    char label[256];
    line_label(&c->line, label, sizeof label);
    printf("%-52s %-28s %s\n", label, c->who, why);
    c->out = true;
}

static void check_one(contender *c, gp_status (*check)(contender *c, bool *right)) {
    bool right = false;
    const gp_status status = check(c, &right);
    if (status == GP_ERR_NO_KERNEL) {
        put_out(c, "cannot");
        return;
    }
    gp_check(status, c->who);
    if (c->context)
        note_kernel(c);
    if (!right) {
        char why[64];
        snprintf(why, sizeof why, "WRONG RESULT (%llu elements), not timed", c->wrong);
        put_out(c, why);
        c->session->wrong++;
    }
}

/* What a profiler is to see; the others were called when they were checked. */
static void run_once(session *s, contender *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char label[256];
        line_label(&list[i].line, label, sizeof label);
        printf("%-52s %-28s %s\n", label, list[i].who, list[i].kernel);
        if (list[i].role == ROLE_FLOOR)
            GP(list[i].call(&list[i], 0));
    }
    CUDA(cudaStreamSynchronize(s->stream));
}

double run_line(session *s, contender *list, size_t count, gp_status (*check)(contender *c, bool *right)) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].role != ROLE_FLOOR)
            check_one(&list[i], check);
        if (!list[i].out)
            list[kept++] = list[i];
    }
    if (kept == 0)
        return 0;
    if (s->opt.once) {
        run_once(s, list, kept);
        return 0;
    }
    if (list[0].line.measure == MEASURE_DEVICE)
        race(s, list, kept);
    else
        race_host(s, list, kept);
    report(s, list, kept);
    for (size_t i = 0; i < kept; i++)
        if (list[i].role == ROLE_OURS && list[i].context == s->free_choice)
            return list[i].us;
    return 0;
}
