/* SPDX-License-Identifier: Apache-2.0 */
/* The last plan for users: as numbers, and in words with a verdict on every kernel. Plans anew: planning is pure. */
#include "context.h"
#include "copy_out.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gp_status gp_context_plan(const gp_context *context, gp_plan_info *plan) {
    GP_TRY(gp_check_not_null("context", context));
    GP_TRY(gp_check_struct("plan", plan, sizeof *plan));
    if (!context->has_problem)
        return gp_fail(GP_ERR_ARGUMENT, "context: no call was planned yet");
    const gp_kernel *row = context->plan.row;
    gp_plan_info known = {
        .struct_size = sizeof known,
        .operation = (int32_t)context->problem.primitive->operation,
        .bytes_read = context->problem.bytes_read,
        .bytes_written = context->problem.bytes_written,
    };
    if (row != NULL) {
        known.kernel = row->name;
        known.backend = row->space == GP_SPACE_PROCESSOR ? GP_BACKEND_CPU : context->device.backend;
        known.grid = context->plan.tiling.blocks;
        known.block = row->space == GP_SPACE_PROCESSOR ? 1 : context->plan.tiling.threads;
        known.regs_per_thread = context->plan.tiling.regs;
        known.smem_static = row->smem_static;
        known.smem_dynamic = context->plan.tiling.smem;
        known.blocks_per_sm = context->plan.blocks_per_sm;
        known.limited_by = (int32_t)context->plan.limited_by;
    }
    gp_copy_out(plan, &known, sizeof known);
    return GP_OK;
}

/* A text that grows past its buffer in length only, as snprintf's result does. */
typedef struct writer {
    char *text;
    size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void append(writer *w, const char *format, ...) {
    va_list arguments;
    char *end = w->length < w->size ? w->text + w->length : NULL;
    va_start(arguments, format);
    w->length += (size_t)vsnprintf(end, end != NULL ? w->size - w->length : 0, format, arguments);
    va_end(arguments);
}

static void append_device(writer *w, const gp_device *device) {
    if (gp_device_is_gpu(device))
        append(w, "on %s%s: %u SMs; a block may have %u threads, %u registers, %zu bytes of shared memory\n",
               device->backend == GP_BACKEND_MODEL ? "model " : "", device->name[0] ? device->name : "GPU",
               device->multiprocessors, device->threads_per_block, device->regs_per_block,
               device->smem_per_block_optin);
    else
        append(w, "on the processor: %u thread%s%s%s%s%s%s\n", device->cpu_threads,
               device->cpu_threads == 1 ? "" : "s", device->cpu_isa & GP_ISA_AVX512 ? ", AVX-512" : "",
               device->cpu_isa & GP_ISA_AVX2 ? ", AVX2" : "", device->cpu_isa & GP_ISA_NEON ? ", NEON" : "",
               device->no_gpu_reason[0] ? "; no GPU: " : "", device->no_gpu_reason);
}

size_t gp_context_explain(const gp_context *context, char *text, size_t size) {
    writer w = {text, text != NULL ? size : 0, 0};
    if (w.size > 0)
        text[0] = '\0';
    if (context == NULL || !context->has_problem)
        return 0;
    char line[512];
    (void)context->problem.primitive->describe(&context->problem, line, sizeof line);
    append(&w, "%s\n", line);
    append_device(&w, &context->planned_on);

    gp_verdict verdicts[GP_ROWS_MAX];
    gp_plan plan;
    gp_rows rows = gp_primitive_rows(context->problem.primitive);
    (void)gp_plan_make(&context->problem, &context->planned_on, rows,
                       context->pins[gp_primitive_index(context->problem.primitive)], &plan, verdicts);
    for (size_t i = 0; i < rows.count + rows.study_count; i++) {
        (void)gp_verdict_describe(&verdicts[i], &context->planned_on, verdicts[i].row == plan.row, line, sizeof line);
        append(&w, "%s", line);
    }
    return w.length;
}
