/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's lines: which problems, and who competes in them. */
#include "bench.h"
#include <string.h>

#define ORIGINAL_THREADS 512u      /* of the reduction ladder, and of its forms in shared memory: */
#define ORIGINAL_SMEM_THREADS 128u /* the set-up that the steps were first measured with */

static gp_status call_reduce(const contender *c, size_t set) {
    const bench *b = c->bench;
    int64_t *out = bench_out(b, set);
    return gp_reduce_int(c->context, GP_REDUCE_SUM, bench_in(b, set), b->line.n, out);
}

/* A processor kernel beside a GPU's: from the host's copy, its result put where the check looks. */
static gp_status call_reduce_on_host(const contender *c, size_t set) {
    const bench *b = c->bench;
    int64_t sum;
    gp_status status = gp_reduce_int(c->context, GP_REDUCE_SUM, b->buffers.mirror, b->line.n, &sum);
    if (status == GP_OK)
        status = gp_copy(b->context, bench_out(b, set), &sum, sizeof sum);
    return status;
}

static gp_status call_window(const contender *c, size_t set) {
    const bench *b = c->bench;
    const line *l = &b->line;
    char *out = bench_out(b, set);
    return gp_sum_and_square_window(c->context, bench_in(b, set), l->rows, l->cols, l->cols, l->window,
                                    GP_BORDER_NONE, (float *)(void *)out, (float *)(void *)(out + bench_second(l)),
                                    l->cols);
}

static gp_status call_transpose(const contender *c, size_t set) {
    const bench *b = c->bench;
    const line *l = &b->line;
    return gp_transpose(c->context, l->elem_bytes, bench_in(b, set), l->rows, l->cols, l->cols, bench_out(b, set),
                        l->rows);
}

static gp_status call_read(const contender *c, size_t set) {
    bench *b = c->bench;
    if (b->gpu)
        return gp_floor_read(b->context, c->way, bench_in(b, set), b->line.n, b->buffers.flush);
    floor_cpu_read(b->host, c->way, bench_in(b, set), b->line.n * 4);
    return GP_OK;
}

static gp_status call_write_two(const contender *c, size_t set) {
    bench *b = c->bench;
    const size_t n = b->line.rows * b->line.cols;
    char *out = bench_out(b, set), *second = out + bench_second(&b->line);
    if (b->gpu)
        return gp_floor_write(b->context, c->way, bench_in(b, set), n, out, second);
    floor_cpu_write(b->host, bench_in(b, set), n * 4, out, second);
    return GP_OK;
}

/* The last way is the driver's own copy. */
static gp_status call_copy(const contender *c, size_t set) {
    bench *b = c->bench;
    const size_t bytes = b->line.rows * b->line.cols * b->line.elem_bytes;
    if (!b->gpu)
        floor_cpu_write(b->host, bench_in(b, set), bytes, bench_out(b, set), NULL);
    else if (c->way < GP_FLOOR_WAYS)
        return gp_floor_write(b->context, c->way, bench_in(b, set), (bytes + 3) / 4, bench_out(b, set), NULL);
    else
        return gp_copy(b->context, bench_out(b, set), bench_in(b, set), bytes);
    return GP_OK;
}

static void add_floor(bench *b) {
    contender *c = &b->contenders[b->count++];
    *c = (contender){.bench = b, .floor = "copy", .call = call_copy, .ways = b->gpu ? GP_FLOOR_WAYS + 1 : 1};
    if (b->line.operation == GP_OPERATION_REDUCE)
        *c = (contender){
            .bench = b, .floor = "read", .call = call_read, .ways = b->gpu ? GP_FLOOR_WAYS : FLOOR_CPU_WAYS};
    if (b->line.operation == GP_OPERATION_WINDOW)
        *c = (contender){
            .bench = b, .floor = "read 1, write 2", .call = call_write_two, .ways = b->gpu ? GP_FLOOR_WAYS : 1};
    snprintf(c->name, sizeof c->name, "(%s)", c->floor);
}

/* A context of the kernel's own, so that no call plans anew. */
static gp_context *pinned_context(bench *b, size_t index, const gp_kernel_info *k, unsigned threads) {
    if (index >= KERNELS_MAX)
        fail("the catalogue has more kernels than the bench holds");
    if (b->pinned[index] == NULL)
        b->pinned[index] = open_context(k->flags & GP_KERNEL_GPU ? GP_BACKEND_CUDA : GP_BACKEND_CPU);
    must(gp_context_pin_kernel(b->pinned[index], k->name, threads));
    return b->pinned[index];
}

/* Adds the kernel if it can do the line; what does it wrongly is told, counted and not timed. */
static void add_kernel(bench *b, size_t index, const gp_kernel_info *k, unsigned threads, const char *chosen) {
    static gp_status (*const calls[])(const contender *, size_t) = {NULL, call_reduce, call_window, call_transpose};
    contender *c = &b->contenders[b->count];
    gp_plan_info plan = {.struct_size = sizeof plan};
    if (b->count == CONTENDERS_MAX)
        fail("more kernels in a line than the bench holds");
    *c = (contender){.bench = b, .call = calls[k->operation]};
    snprintf(c->name, sizeof c->name, "%s", k->name);
    c->on_host = b->gpu && !(k->flags & GP_KERNEL_GPU);
    if (c->on_host)
        c->call = call_reduce_on_host;
    c->modulo = (k->flags & GP_KERNEL_MODULO_32) != 0;
    c->brackets = c->modulo; /* the study kernels that sum are those that work on a copy */
    c->inexact = (k->flags & GP_KERNEL_FLOAT) != 0;
    c->chosen = strcmp(k->name, chosen) == 0;
    c->context = pinned_context(b, index, k, threads);
    c->wrong = !bench_check(c);
    if (c->context == NULL)
        return;
    if (c->wrong) {
        warn("%s: WRONG RESULT; not timed", k->name);
        b->wrong++;
        return;
    }
    must(gp_context_plan(c->context, &plan));
    c->threads = k->flags & GP_KERNEL_GPU ? plan.block : (unsigned)plan.grid;
    b->count++;
}

/* What the planner takes when nothing is pinned. */
static const char *free_choice(bench *b) {
    static gp_status (*const calls[])(const contender *, size_t) = {NULL, call_reduce, call_window, call_transpose};
    const contender c = {.bench = b, .context = b->context};
    gp_plan_info plan = {.struct_size = sizeof plan};
    must(calls[b->line.operation](&c, 0));
    must(gp_context_synchronize(b->context));
    must(gp_context_plan(b->context, &plan));
    return plan.kernel;
}

static void prepare_buffers(bench *b) {
    const line *l = &b->line;
    const size_t cells = l->rows * l->cols;
    if (l->operation == GP_OPERATION_REDUCE)
        bench_prepare(b, l->n * 4, sizeof(int64_t), true);
    else if (l->operation == GP_OPERATION_WINDOW)
        bench_prepare(b, cells * 4, bench_second(l) + cells * sizeof(float), true);
    else
        bench_prepare(b, cells * l->elem_bytes, cells * l->elem_bytes, false);
}

static bool is_here(const bench *b, const gp_kernel_info *k) {
    return (k->flags & GP_KERNEL_GPU) ? b->gpu : !b->gpu;
}

static bool starts_with(const char *text, const char *head) {
    return strncmp(text, head, strlen(head)) == 0;
}

static unsigned ladder_threads(const bench *b, const gp_kernel_info *k) {
    if (!(k->flags & GP_KERNEL_STUDY) || k->operation != GP_OPERATION_REDUCE)
        return 0;
    if (starts_with(k->name, "reduce_gmem") || starts_with(k->name, "reduce_smem"))
        return ORIGINAL_SMEM_THREADS;
    return b->opt.threads > 0 ? (unsigned)b->opt.threads : ORIGINAL_THREADS;
}

static gp_kernel_info kernel_at(size_t index) {
    gp_kernel_info k = {.struct_size = sizeof k};
    must(gp_kernel_at(index, &k));
    return k;
}

/* All that can do it, but for those for study. */
static void add_all(bench *b, const char *chosen) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_kernel_info k = kernel_at(i);
        if (k.operation == (int32_t)b->line.operation && is_here(b, &k) && !(k.flags & GP_KERNEL_STUDY))
            add_kernel(b, i, &k, 0, chosen);
    }
}

/* A GPU's ladder: the study kernels in their order (of transposes the two that stand for them), then the choice. */
static bool on_gpu_ladder(const gp_kernel_info *k, const char *chosen, int pass) {
    static const char *const transposes[] = {"transpose_naive", "transpose_tile"};
    bool study = (k->flags & GP_KERNEL_STUDY) != 0;
    if (pass < 2 && k->operation == GP_OPERATION_TRANSPOSE)
        return strcmp(k->name, transposes[pass]) == 0;
    for (size_t i = 0; i < 2; i++)
        study = study || strcmp(k->name, transposes[i]) == 0;
    return pass == 0 ? study : pass == 2 && !study && strcmp(k->name, chosen) == 0;
}

/* A processor's: its study kernel, the reference, then ever better ones. */
static void add_cpu_ladder(bench *b, const char *chosen) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = gp_kernel_count(); i-- > 0;) {
            const gp_kernel_info k = kernel_at(i);
            const bool study = (k.flags & GP_KERNEL_STUDY) != 0;
            if (k.operation == (int32_t)b->line.operation && is_here(b, &k) && study == (pass == 0))
                add_kernel(b, i, &k, 0, chosen);
        }
}

static void add_ladder(bench *b, const char *chosen) {
    if (!b->gpu) {
        add_cpu_ladder(b, chosen);
        return;
    }
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < gp_kernel_count(); i++) {
            const gp_kernel_info k = kernel_at(i);
            const bool here = is_here(b, &k) || (k.flags & GP_KERNEL_MODULO_32);
            if (k.operation == (int32_t)b->line.operation && here && on_gpu_ladder(&k, chosen, pass))
                add_kernel(b, i, &k, ladder_threads(b, &k), chosen);
        }
}

/*
 * Gains over the step before and over the ladder's first. The processor's step 0 beside a GPU has none, the forms in
 * shared memory are a ladder of their own; the planner's choice at the end is set against the first of all.
 */
static void find_gains(bench *b) {
    const contender *origin = NULL, *first = NULL, *before = NULL;
    for (size_t i = 0; i < b->count; i++) {
        contender *c = &b->contenders[i];
        if (c->floor != NULL || c->on_host)
            continue;
        if (first == NULL || strcmp(c->name, "reduce_gmem") == 0) {
            first = c;
            origin = origin == NULL ? c : origin;
        } else {
            c->step = before->us / c->us;
            c->total = (c->chosen ? origin : first)->us / c->us;
        }
        before = c;
    }
}

static void run_line(bench *b, const line *l) {
    const bool ladder = strcmp(l->group, "ladder") == 0;
    b->line = *l;
    b->count = 0;
    prepare_buffers(b);
    add_floor(b);
    const char *chosen = free_choice(b);
    if (ladder)
        add_ladder(b, chosen);
    else
        add_all(b, chosen);
    bench_race(b);
    if (ladder)
        find_gains(b);
    bench_report(b);
}

static sizes or_default(const sizes *given, const sizes *fallback) {
    return given->count > 0 ? *given : *fallback;
}

static void run_reduce(bench *b, const char *group, const sizes *fallback) {
    const sizes n = or_default(&b->opt.n, fallback);
    for (size_t i = 0; i < n.count; i++)
        run_line(b, &(line){.group = group,
                            .operation = GP_OPERATION_REDUCE,
                            .n = n.value[i],
                            .cold = strcmp(group, "ladder") == 0});
}

static void run_window(bench *b, const char *group) {
    const sizes rows = or_default(&b->opt.rows, &(sizes){1, {4096}}),
                cols = or_default(&b->opt.cols, &(sizes){1, {4096}});
    const sizes windows = or_default(&b->opt.windows, b->opt.quick ? &(sizes){1, {15}} : &(sizes){3, {3, 15, 31}});
    for (size_t i = 0; i < rows.count; i++)
        for (size_t w = 0; w < windows.count; w++)
            run_line(b, &(line){.group = group,
                                .operation = GP_OPERATION_WINDOW,
                                .rows = rows.value[i],
                                .cols = cols.value[i],
                                .window = windows.value[w]});
}

static void run_transpose(bench *b, const char *group) {
    const sizes sides = b->gpu && !b->opt.quick ? (sizes){2, {4096, 16384}} : (sizes){1, {4096}};
    const sizes rows = or_default(&b->opt.rows, &sides), cols = or_default(&b->opt.cols, &sides);
    const sizes elems = or_default(&b->opt.elems, &(sizes){1, {4}});
    for (size_t i = 0; i < rows.count; i++)
        for (size_t e = 0; e < elems.count; e++)
            run_line(b, &(line){.group = group,
                                .operation = GP_OPERATION_TRANSPOSE,
                                .rows = rows.value[i],
                                .cols = cols.value[i],
                                .elem_bytes = elems.value[e]});
}

void bench_group(bench *b, unsigned group) {
    static const sizes quick = {1, {1 << 20}}, original = {1, {1 << 24}};
    const sizes sweep = {4, {1 << 16, 1 << 20, 1 << 24, b->gpu ? 1 << 28 : 1 << 26}};
    switch (group) {
    case GROUP_REDUCE:
        run_reduce(b, "reduce", b->opt.quick ? &quick : &sweep);
        break;
    case GROUP_WINDOW:
        run_window(b, "window");
        break;
    case GROUP_TRANSPOSE:
        run_transpose(b, "transpose");
        break;
    default:
        run_reduce(b, "ladder", &original);
        run_window(b, "ladder");
        run_transpose(b, "ladder");
        break;
    }
}
