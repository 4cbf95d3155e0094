/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim kernels: the catalogue. */
#include "table.h"
#include <string.h>

static json_t *rows(void) {
    json_t *all = made(json_array());
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info k = {.struct_size = sizeof k};
        must(gp_kernel_at(i, &k));
        json_t *row =
            made(json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:I, s:s}", "kernel", k.name, "operation",
                           operation_name(k.operation), "where", k.flags & GP_KERNEL_GPU ? "GPU" : "CPU", "study",
                           (k.flags & GP_KERNEL_STUDY) != 0, "modulo_32", (k.flags & GP_KERNEL_MODULO_32) != 0,
                           "float", (k.flags & GP_KERNEL_FLOAT) != 0, "registers", (int)k.regs_per_thread,
                           "smem_static", (json_int_t)k.smem_static, "about", k.about));
        json_array_append_new(all, row);
    }
    return all;
}

static bool is_set(const json_t *row, const char *key) {
    return json_is_true(json_object_get(row, key));
}

static const char *text_of(const json_t *row, const char *key) {
    return json_string_value(json_object_get(row, key));
}

static long long number_of(const json_t *row, const char *key) {
    return json_integer_value(json_object_get(row, key));
}

static void print_text(const json_t *all) {
    size_t i;
    json_t *row;
    char line[160];
    const char *operation = "", *bold = use_colour() ? "\033[1m" : "", *plain = use_colour() ? "\033[0m" : "";
    json_array_foreach(all, i, row) {
        if (strcmp(text_of(row, "operation"), operation) != 0 && i > 0)
            putchar('\n');
        operation = text_of(row, "operation");
        int used = snprintf(line, sizeof line, "%s, %s", operation, text_of(row, "where"));
        if (number_of(row, "registers") > 0)
            used +=
                snprintf(line + used, sizeof line - (size_t)used, ", %lld registers", number_of(row, "registers"));
        snprintf(line + used, sizeof line - (size_t)used, "%s%s%s", is_set(row, "study") ? ", study" : "",
                 is_set(row, "modulo_32") ? ", modulo 2^32" : "", is_set(row, "float") ? ", in float" : "");
        printf("%s%s%s  ", bold, text_of(row, "kernel"), plain);
        print_wrapped((unsigned)strlen(text_of(row, "kernel")) + 2, line);
        printf("    ");
        print_wrapped(4, text_of(row, "about"));
    }
}

int kernels_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .children = children,
        .doc = "List the kernels, of each operation the preferred first. Those for study are chosen only by name.\v"
               "Registers are the ceiling that a thread's are held to."};
    static const column columns[] = {{.key = "kernel"},    {.key = "operation"},   {.key = "where"},
                                     {.key = "study"},     {.key = "modulo_32"},   {.key = "float"},
                                     {.key = "registers"}, {.key = "smem_static"}, {.key = "about"}};
    format how = FORMAT_TEXT;
    read_arguments(&parser, argc, argv, 0, &how);
    json_t *all = rows();
    if (how == FORMAT_JSON) {
        json_t *whole = document();
        json_object_set_new(whole, "kernels", all);
        print_json(whole);
        return 0;
    }
    if (how == FORMAT_CSV)
        print_csv(all, sizeof columns / sizeof *columns, columns);
    else
        print_text(all);
    json_decref(all);
    return 0;
}
