/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the planner decides, a line a question: shapes of the three older calls, and of views every case that
 * the benchmark times, on every made-up GPU, under several limits. A change that claims not to change behaviour
 * prints the same. Usage: plan_dump [--pins]   --pins: with every GPU kernel pinned in turn, too; some minutes and a
 * gigabyte
 */
#include "../../bench/core/bench.h"
#include "../check.h"
#include "../devices.h"

#include <stdio.h>
#include <string.h>

#define BASE ((uintptr_t)1 << 40) /* of the input; a model context follows no pointer */
#define APART ((uintptr_t)1 << 44)

static const struct {
    size_t smem;
    unsigned regs;
} limits[] = {{0, 0}, {48 << 10, 0}, {16 << 10, 0}, {0, 16384}, {16 << 10, 16384}, {4 << 10, 8192}};

static gp_context *context;
static bool pins;
static const char *device_name;
static size_t limit;

static void print_plan(const char *question, const char *pinned, gp_status status) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    printf("%s|%zu|%s|%s|", device_name, limit, question, pinned);
    if (status != GP_OK || gp_context_plan(context, &plan) != GP_OK || plan.kernel == NULL)
        printf("none %d\n", (int)status);
    else
        printf("%s %llux%u %zu+%zu %u %d\n", plan.kernel, (unsigned long long)plan.grid, plan.block, plan.smem_static,
               plan.smem_dynamic, plan.blocks_per_sm, (int)plan.limited_by);
}

typedef struct question {
    gp_operation operation;
    size_t n, rows, cols, in_pad, out_pad, elem_bytes, window, offset;
    gp_border border;
    bool in_place;
} question;

static gp_status ask(const question *q) {
    const void *in = (const void *)(BASE + q->offset);
    void *out = (void *)(BASE + APART + q->offset);
    if (q->operation == GP_OPERATION_REDUCE)
        return gp_reduce_int(context, GP_REDUCE_SUM, in, q->n, (int64_t *)(BASE + APART));
    if (q->operation == GP_OPERATION_WINDOW)
        return gp_sum_and_square_window(context, in, q->rows, q->cols, q->cols + q->in_pad, q->window, q->border, out,
                                        (float *)(BASE + 2 * APART + q->offset), q->cols + q->out_pad);
    return gp_transpose(context, q->elem_bytes, in, q->rows, q->cols, q->cols + q->in_pad,
                        q->in_place ? (void *)in : out, (q->in_place ? q->cols + q->in_pad : q->rows + q->out_pad));
}

static void answer(const question *q) {
    char text[160];
    snprintf(text, sizeof text, "%d %zu %zux%zu+%zu,%zu %zuB w%zu b%d @%zu%s", (int)q->operation, q->n, q->rows,
             q->cols, q->in_pad, q->out_pad, q->elem_bytes, q->window, (int)q->border, q->offset,
             q->in_place ? " in place" : "");
    print_plan(text, "-", ask(q));
    for (size_t i = 0; pins && i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        if (gp_kernel_at(i, &info) != GP_OK || !(info.flags & GP_KERNEL_GPU) ||
            info.operation != (int32_t)q->operation)
            continue;
        if (gp_context_pin_kernel(context, info.name, 0) == GP_OK)
            print_plan(text, info.name, ask(q));
        gp_context_pin_kernel(context, NULL, 0);
    }
}

static void transposes(size_t elem_bytes, size_t rows, size_t cols) {
    const size_t offsets[] = {0, 32, 16, 4, 1};
    const size_t pads[][2] = {{0, 0}, {1, 0}, {0, 3}, {32, 64}};
    question q = {.operation = GP_OPERATION_TRANSPOSE, .elem_bytes = elem_bytes, .rows = rows, .cols = cols};
    for (size_t p = 0; p < sizeof pads / sizeof *pads; p++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            if (p > 0 && o > 0)
                continue;
            q.in_pad = pads[p][0], q.out_pad = pads[p][1], q.offset = offsets[o];
            answer(&q);
            if (rows != cols)
                continue;
            question mirrored = q;
            mirrored.in_place = true;
            answer(&mirrored);
        }
}

static void all_transposes(void) {
    static const size_t elems[] = {4, 1, 2, 8, 16, 12, 3, 6, 24, 1000, 2000};
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++) {
        size_t side;
        for (unsigned i = 0; (side = cases_point(32, i)) <= 46341; i++) {
            transposes(elems[e], side, side);
            transposes(elems[e], (side + 7) / 8 * 8 + 1, (side + 7) / 8 * 8);
        }
        for (unsigned i = 0; (side = cases_point(1, i)) <= 4096; i++) {
            transposes(elems[e], ((size_t)1 << 24) / side, side);
            transposes(elems[e], side, ((size_t)1 << 24) / side);
        }
    }
}

static void windows(size_t rows, size_t cols, size_t window) {
    for (int border = GP_BORDER_NONE; border <= GP_BORDER_WRAP; border++)
        answer(&(question){.operation = GP_OPERATION_WINDOW,
                           .rows = rows,
                           .cols = cols,
                           .window = window,
                           .border = (gp_border)border});
    answer(&(question){
        .operation = GP_OPERATION_WINDOW, .rows = rows, .cols = cols, .window = window, .in_pad = 3, .out_pad = 5});
    answer(&(question){
        .operation = GP_OPERATION_WINDOW, .rows = rows, .cols = cols, .window = window, .offset = 4, .border = 4});
}

static void all_windows(void) {
    size_t x;
    for (unsigned i = 0; (x = cases_point(32, i)) <= 16384; i++)
        windows(x, x, 15), windows(x, x, 101), windows(x, x, 1001);
    for (unsigned i = 0; (x = cases_point(4, i)) <= (size_t)1 << 20; i++)
        windows(((size_t)1 << 24) / x, x, 15), windows(((size_t)1 << 24) / x, x, 255);
    for (unsigned i = 0; (x = cases_point(1, i)) <= 4096; i++)
        windows(4096, 4096, x), windows(40000, 1000, x);
    for (unsigned i = 0; (x = cases_point(512, i)) <= 131072; i++)
        for (size_t rows = 1; rows <= 128; rows *= 2)
            windows(rows, 131072, x);
    windows(100, 100, (size_t)3 << 30);
}

static void all_reductions(void) {
    for (unsigned i = 0; cases_point(1, i) <= (size_t)1 << 34; i++)
        for (size_t offset = 0; offset <= 4; offset += 4)
            answer(&(question){.operation = GP_OPERATION_REDUCE, .n = cases_point(1, i), .offset = offset});
}

/* A timed case, and the primitive that it is of. */
static void answer_case(const void *one_case, const char *series, void *user) {
    line l = {.of = user};
    result told = {0};
    char text[240];
    void *out[OUTS_MAX];
    (void)series;
    memcpy(l.problem, one_case, l.of->case_bytes);
    l.of->describe(&l, &told);
    for (size_t k = 0; k < OUTS_MAX; k++)
        out[k] = (void *)(BASE + (1 + k) * APART);
    snprintf(text, sizeof text, "%s %s", told.op, told.shape);
    print_plan(text, "-", l.of->call(context, &l, (const void *)BASE, out));
}

static void all_views(void) {
    static const char *const more[] = {"sweep", "processor", "cached"};
    for (size_t i = 0; primitives[i] != NULL; i++) {
        const primitive *of = primitives[i];
        for (size_t k = 0; of->problem == NULL && of->groups[k][0] != NULL; k++)
            of->timed(of->groups[k][1], answer_case, (void *)(uintptr_t)of);
        for (size_t k = 0; of->problem == NULL && k < COUNT(more); k++)
            of->timed(more[k], answer_case, (void *)(uintptr_t)of);
    }
}

int main(int argc, char **argv) {
    pins = argc > 1 && strcmp(argv[1], "--pins") == 0;
    for (size_t d = 0; d < DEVICE_COUNT; d++)
        for (limit = 0; limit < sizeof limits / sizeof *limits; limit++) {
            context = devices_open(&devices[d]);
            device_name = devices[d].name;
            if (gp_context_limit(context, limits[limit].smem, limits[limit].regs) == GP_OK) {
                all_reductions();
                all_windows();
                all_transposes();
                all_views();
            }
            gp_context_destroy(context);
        }
    return 0;
}
