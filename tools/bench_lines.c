/* SPDX-License-Identifier: Apache-2.0 */
/* The command's lines: which problems, and which kernels compete in them. */
#include "bench.h"
#include <string.h>

/* What the planner takes when nothing is pinned. */
static void find_choice(bench *b) {
    session *s = &b->session;
    contender *c = line_add_ours(s);
    gp_plan_info plan = {.struct_size = sizeof plan};
    line_pin(c);
    must(c->call(c, 0));
    must(gp_context_synchronize(c->context));
    must(gp_context_plan(c->context, &plan));
    snprintf(b->chosen, sizeof b->chosen, "%s", plan.kernel);
    s->count--; /* its kernel is a contender by name */
}

static bool is_of_line(const session *s, const gp_kernel_info *k) {
    return k->operation == (int32_t)s->line.of->operation;
}

static bool is_here(const session *s, const gp_kernel_info *k) {
    return ((k->flags & GP_KERNEL_GPU) != 0) == s->line.at->gpu;
}

static bool is_study(const gp_kernel_info *k) {
    return (k->flags & GP_KERNEL_STUDY) != 0;
}

/* All that can do it, but for those for study. */
static void add_all(session *s) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_kernel_info k = kernel_at(i);
        if (is_of_line(s, &k) && is_here(s, &k) && !is_study(&k))
            line_add_row(s, &k, 0);
    }
}

static void add_named(session *s, const char *name) {
    gp_kernel_info k;
    if (kernel_find(name, &k))
        line_add_row(s, &k, 0);
}

/* A GPU's ladder: the kernels that the primitive names, then those for study in their order, then the choice. */
static void add_gpu_ladder(bench *b) {
    session *s = &b->session;
    const primitive *of = s->line.of;
    bool named = false;
    for (size_t i = 0; of->ladder[i] != NULL; i++) {
        add_named(s, of->ladder[i]);
        named = named || strcmp(of->ladder[i], b->chosen) == 0;
    }
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_kernel_info k = kernel_at(i);
        const bool threads = of->ladder_threads != NULL && (k.flags & GP_KERNEL_GPU);
        if (is_of_line(s, &k) && is_study(&k) && (is_here(s, &k) || (k.flags & GP_KERNEL_MODULO_32)))
            line_add_row(s, &k, threads ? of->ladder_threads(k.name, (unsigned)b->asked.threads) : 0);
    }
    if (!named)
        add_named(s, b->chosen);
}

/* A processor's: its study kernel, the reference, then ever better ones. */
static void add_processor_ladder(session *s) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = gp_kernel_count(); i-- > 0;) {
            const gp_kernel_info k = kernel_at(i);
            if (is_of_line(s, &k) && is_here(s, &k) && is_study(&k) == (pass == 0))
                line_add_row(s, &k, 0);
        }
}

static void run_line(bench *b, line *l) {
    session *s = &b->session;
    l->at = s->places;
    l->memory = l->at->gpu ? MEMORY_DEVICE : MEMORY_HOST;
    l->measure = bench_is_ladder(l) && l->of->ladder_cold ? MEASURE_COLD : MEASURE_ROW;
    line_begin(s, l);
    find_choice(b);
    line_add_floor(s);
    if (!bench_is_ladder(l))
        add_all(s);
    else if (l->at->gpu)
        add_gpu_ladder(b);
    else
        add_processor_ladder(s);
    line_run(s);
}

/* As asked, or the primitive's usual ones. */
static sizes sizes_or_usual(const bench *b, const sizes *asked, const primitive *of, bool second, bool ladder) {
    sizes usual = {0};
    if (asked->count > 0)
        return *asked;
    usual.count = of->usual(second, b->session.gpu != NULL, b->asked.quick, ladder, usual.value);
    return usual;
}

void bench_group(bench *b, const primitive *of, bool ladder) {
    const bench_request *r = &b->asked;
    const bool by_shape = of->second != NULL, is_window = by_shape && strcmp(of->second, "window") == 0;
    const sizes first = sizes_or_usual(b, by_shape ? &r->rows : &r->n, of, false, ladder);
    const sizes cols = sizes_or_usual(b, &r->cols, of, false, ladder);
    const sizes second = sizes_or_usual(b, is_window ? &r->windows : &r->elems, of, true, ladder);
    for (size_t i = 0; i < first.count; i++)
        for (size_t k = 0; k < (by_shape ? second.count : 1); k++) {
            const given g = {.n = first.value[i],
                             .rows = first.value[i],
                             .cols = by_shape ? cols.value[i] : 0,
                             .second = second.value[k]};
            line l = {.of = of, .group = ladder ? "ladder" : of->name};
            of->make(&g, &l);
            run_line(b, &l);
        }
}
