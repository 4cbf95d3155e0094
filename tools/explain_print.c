/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of gpuprim explain, printed. */
#include "../src/host/occupancy.h"
#include "device_facts.h"
#include "explain.h"
#include <string.h>

void explain_devices(format how) {
    static const column columns[] = {
        {.key = "device", .heading = "device"},        {.key = "name", .heading = "name"},
        {.key = "compute_major", .heading = "major"},  {.key = "compute_minor", .heading = "minor"},
        {.key = "multiprocessors", .heading = "SMs"},  {.key = "threads_per_sm", .heading = "threads"},
        {.key = "blocks_per_sm", .heading = "blocks"}, {.key = "regs_per_sm", .heading = "regs"},
        {.key = "smem_per_sm", .heading = "shared"},   {.key = "source", .heading = ""}};
    json_t *rows = preset_rows(), *row;
    size_t i;
    if (how == FORMAT_JSON) {
        json_t *all = document();
        json_object_set_new(all, "presets", rows);
        print_json(all);
        return;
    }
    if (how == FORMAT_CSV) {
        print_csv(rows, sizeof columns / sizeof *columns, columns);
    } else {
        print_table(rows, sizeof columns / sizeof *columns - 1, columns);
        puts("\nthreads, blocks, registers and bytes of shared memory are an SM's. Sources:");
        json_array_foreach(rows, i, row) {
            printf("  %-8s ", json_string_value(json_object_get(row, "device")));
            print_wrapped(11, json_string_value(json_object_get(row, "source")));
        }
    }
    json_decref(rows);
}

static const char *limit_name(int32_t limit) {
    return gp_limit_name((gp_limit)limit);
}

static json_t *device_of(const gp_context *context, const char *source) {
    json_t *device = device_to_json(&context->planned_on);
    if (source != NULL)
        json_object_set_new(device, "source", made(json_string(source)));
    return device;
}

static void print_device(const gp_device_info *d, const char *source) {
    char line[512];
    if (d->threads_per_sm == 0) {
        printf("on the processor: %u threads%s%s%s\n", d->cpu_threads, d->cpu_isa & GP_ISA_AVX512 ? ", AVX-512" : "",
               d->cpu_isa & GP_ISA_AVX2 ? ", AVX2" : "", d->cpu_isa & GP_ISA_NEON ? ", NEON" : "");
        return;
    }
    snprintf(line, sizeof line,
             "on %s: %u SM%s of %u threads, %u blocks, %u registers, %zu bytes of shared memory; a block may have %u "
             "threads, %u registers, %zu bytes",
             d->name[0] != '\0' ? d->name : "a GPU", d->multiprocessors, d->multiprocessors == 1 ? "" : "s",
             d->threads_per_sm, d->blocks_per_sm, d->regs_per_sm, d->smem_per_sm, d->threads_per_block,
             d->regs_per_block, d->smem_per_block_optin);
    print_wrapped(0, line);
    if (source != NULL) {
        printf("figures: ");
        print_wrapped(9, source);
    }
}

static void print_block_text(const request *r, const gp_occupancy_info *o) {
    printf("\nblocks of %zu threads, %zu registers a thread, %zu bytes of shared memory\n", r->n, r->second,
           r->third);
    printf("  by threads         %u\n", o->blocks_by_threads);
    if (r->second > 0)
        printf("  by registers       %u  (%u a block as granted)\n", o->blocks_by_regs, o->regs_per_block);
    if (o->smem_per_block > 0)
        printf("  by shared memory   %u  (%zu bytes a block as granted)\n", o->blocks_by_smem, o->smem_per_block);
    printf("  by block slots     %u\n", o->blocks_by_slots);
    printf("an SM holds %u block%s: %u threads, %zu bytes of shared memory; limit: %s\n", o->blocks_per_sm,
           o->blocks_per_sm == 1 ? "" : "s", o->threads_per_sm, o->smem_used_per_sm, limit_name(o->limited_by));
    printf("with all the threads that an SM has, a thread may have %u registers\n", o->full_regs_per_thread);
    printf("with as many blocks as threads and slots allow, a block may have %zu bytes\n", o->full_smem_per_block);
}

/* What no resource limits has no number. */
static json_t *limited(uint32_t count) {
    return count < UINT32_MAX ? json_integer(count) : json_null();
}

void explain_block(const request *r, const gp_context *context, const char *source) {
    gp_occupancy_info o = {.struct_size = sizeof o};
    must(gp_occupancy(&context->planned_on, (unsigned)r->n, (unsigned)r->second, r->third, &o));
    json_t *row = made(json_pack(
        "{s:I, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "threads", (json_int_t)r->n,
        "regs_per_thread", (json_int_t)r->second, "smem_bytes", (json_int_t)r->third, "blocks_per_sm",
        (json_int_t)o.blocks_per_sm, "limited_by", limit_name(o.limited_by), "blocks_by_threads",
        (json_int_t)o.blocks_by_threads, "blocks_by_regs", limited(o.blocks_by_regs), "blocks_by_smem",
        limited(o.blocks_by_smem), "blocks_by_slots", (json_int_t)o.blocks_by_slots, "threads_per_sm",
        (json_int_t)o.threads_per_sm, "regs_per_block", (json_int_t)o.regs_per_block, "smem_per_block",
        (json_int_t)o.smem_per_block, "smem_used_per_sm", (json_int_t)o.smem_used_per_sm, "full_regs_per_thread",
        (json_int_t)o.full_regs_per_thread, "full_smem_per_block", (json_int_t)o.full_smem_per_block));
    if (r->how == FORMAT_JSON) {
        json_t *all = document();
        json_object_set_new(all, "device", device_of(context, source));
        json_object_set(all, "block", row);
        print_json(all);
    } else if (r->how == FORMAT_CSV) {
        column columns[16];
        size_t count = 0;
        const char *key;
        json_t *value, *rows = made(json_pack("[O]", row));
        json_object_foreach(row, key, value) columns[count++] = (column){.key = key};
        print_csv(rows, count, columns);
        json_decref(rows);
    } else {
        print_device(&context->planned_on, source);
        print_block_text(r, &o);
    }
    json_decref(row);
}

/* A verdict as the library words it, without the kernel's name in front and the line's end. */
static void words_of(const gp_verdict *verdict, const gp_device_info *device, bool chosen, char *text, size_t size) {
    char line[512];
    (void)gp_verdict_describe(verdict, device, chosen, line, sizeof line);
    const char *words = line + strspn(line, " ");
    words += strcspn(words, " ");
    words += strspn(words, " ");
    snprintf(text, size, "%.*s", (int)strcspn(words, "\n"), words);
}

static json_t *verdict_row(const gp_verdict *v, const gp_device_info *device, bool chosen) {
    char text[512];
    words_of(v, device, chosen, text, sizeof text);
    json_t *row = made(json_pack("{s:s, s:b, s:b, s:s}", "kernel", v->row->name, "chosen", chosen, "fits",
                                 v->code == GP_VERDICT_FITS, "verdict", text));
    if (v->code == GP_VERDICT_FITS)
        json_object_set_new(row, "grid", made(json_integer((json_int_t)v->tiling.blocks)));
    if (v->code == GP_VERDICT_FITS && v->row->space == GP_SPACE_GPU) {
        json_object_set_new(row, "threads", made(json_integer(v->tiling.threads)));
        json_object_set_new(row, "regs_per_thread", made(json_integer(v->tiling.regs)));
        json_object_set_new(row, "smem_static", made(json_integer((json_int_t)v->row->smem_static)));
        json_object_set_new(row, "smem_dynamic", made(json_integer((json_int_t)v->tiling.smem)));
        json_object_set_new(row, "blocks_per_sm", made(json_integer(v->blocks_per_sm)));
        json_object_set_new(row, "limited_by", made(json_string(gp_limit_name(v->limited_by))));
    }
    return row;
}

static void print_verdicts(const json_t *rows) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const bool chosen = json_is_true(json_object_get(row, "chosen"));
        const bool bold = chosen && use_colour();
        printf("%s %s%-24s%s ", chosen ? "*" : " ", bold ? "\033[1m" : "",
               json_string_value(json_object_get(row, "kernel")), bold ? "\033[0m" : "");
        print_wrapped(27, json_string_value(json_object_get(row, "verdict")));
    }
}

/* The planner's answer to one problem, as rows; false: no kernel can what is to be done. */
static bool judge(const gp_context *context, gp_problem *problem, json_t *rows, const char **kernel) {
    const gp_rows list = gp_primitive_rows(problem->primitive);
    gp_verdict verdicts[GP_ROWS_MAX];
    gp_plan plan;
    problem->space = context->backend == GP_BACKEND_MODEL ? GP_SPACE_GPU : GP_SPACE_PROCESSOR;
    const bool found = gp_plan_make(problem, &context->planned_on, list,
                                    context->pins[gp_primitive_index(problem->primitive)], &plan, verdicts);
    for (size_t i = 0; i < list.count + list.study_count; i++)
        json_array_append_new(rows,
                              verdict_row(&verdicts[i], &context->planned_on, verdicts[i].row == plan.row && found));
    *kernel = found ? plan.row->name : NULL;
    return found || problem->primitive->is_empty(problem);
}

/* What JSON tells of one problem, put into `all`. */
static void put_problem(json_t *all, const gp_problem *problem, const char *words, const char *kernel, json_t *rows) {
    json_object_set_new(all, "problem", made(json_string(words)));
    json_object_set_new(all, "kernel", kernel != NULL ? made(json_string(kernel)) : json_null());
    json_object_set_new(all, "bytes_read", made(json_integer((json_int_t)problem->bytes_read)));
    json_object_set_new(all, "bytes_written", made(json_integer((json_int_t)problem->bytes_written)));
    json_object_set(all, "verdicts", rows);
}

void explain_problems(const request *r, const gp_context *context, size_t count, gp_problem problems[],
                      const char *source) {
    static const column columns[] = {
        {.key = "pass"},         {.key = "kernel"},        {.key = "chosen"},          {.key = "fits"},
        {.key = "grid"},         {.key = "threads"},       {.key = "regs_per_thread"}, {.key = "smem_static"},
        {.key = "smem_dynamic"}, {.key = "blocks_per_sm"}, {.key = "limited_by"},      {.key = "verdict"}};
    json_t *all = document(), *passes = made(json_array()), *table = made(json_array()), *row;
    bool found = true;
    size_t k;
    if (r->kernel != NULL && context->pins[gp_primitive_index(problems[0].primitive)].row == NULL)
        fail("--kernel: %s is no kernel of %s", r->kernel, r->word[0]);
    json_object_set_new(all, "device", device_of(context, source));
    for (size_t i = 0; i < count; i++) {
        char words[512];
        const char *kernel;
        json_t *rows = made(json_array()), *pass = r->is_array ? made(json_object()) : json_incref(all);
        found = judge(context, &problems[i], rows, &kernel) && found;
        (void)problems[i].primitive->describe(&problems[i], words, sizeof words);
        put_problem(pass, &problems[i], words, kernel, rows);
        json_array_append_new(passes, pass);
        json_array_foreach(rows, k, row) if (r->is_array)
            json_object_set_new(row, "pass", made(json_integer((json_int_t)i + 1)));
        json_array_extend(table, rows);
        if (r->how == FORMAT_TEXT) {
            if (i > 0)
                putchar('\n');
            print_wrapped(0, words);
            if (i == 0)
                print_device(&context->planned_on, source);
            putchar('\n');
            print_verdicts(rows);
        }
        json_decref(rows);
    }
    if (r->is_array)
        json_object_set(all, "passes", passes);
    if (r->how == FORMAT_CSV)
        print_csv(table, sizeof columns / sizeof *columns - !r->is_array, columns + !r->is_array);
    if (r->how == FORMAT_JSON)
        print_json(json_incref(all));
    json_decref(table);
    json_decref(passes);
    json_decref(all);
    if (!found)
        fail("no kernel can do this here");
}
