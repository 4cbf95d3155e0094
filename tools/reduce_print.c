/* SPDX-License-Identifier: Apache-2.0 */
/* Results of gpuprim reduce, printed: every number with as many digits as tell it from all others of its type. */
#include "../src/host/reduce_array/pass.h"
#include "reduce.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 40

/* f16 and bf16: a sign, so many bits of exponent, then the fraction. */
static double small_float(uint16_t bits, int exponent_bits) {
    const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), top = (1 << exponent_bits) - 1;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    double value = ldexp(fraction, 1 - bias - fraction_bits);
    if (exponent == top)
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent > 0)
        value = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

static double float_at(gp_type type, const void *at) {
    switch (type) {
    case GP_F64:
        return *(const double *)at;
    case GP_F32:
        return (double)*(const float *)at;
    default:
        return small_float(*(const uint16_t *)at, type == GP_F16 ? 5 : 8);
    }
}

/* Extended to 64 bits with its sign, if its type has one. */
static uint64_t int_at(gp_type type, const void *at) {
    switch (type) {
    case GP_U8:
        return *(const uint8_t *)at;
    case GP_S8:
        return (uint64_t) * (const int8_t *)at;
    case GP_U16:
        return *(const uint16_t *)at;
    case GP_S16:
        return (uint64_t) * (const int16_t *)at;
    case GP_U32:
        return *(const uint32_t *)at;
    case GP_S32:
        return (uint64_t) * (const int32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

static void float_text(char text[CELL], gp_type type, double value) {
    if (isnan(value) || isinf(value)) {
        snprintf(text, CELL, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    const int enough = type == GP_F64 ? 17 : type == GP_F32 ? 9 : type == GP_F16 ? 5 : 4;
    for (int digits = enough - 2; digits <= enough; digits++) {
        snprintf(text, CELL, "%.*g", digits, value);
        const double read = type == GP_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
        if (read == value)
            return;
    }
}

static void value_text(char text[CELL], const gp_array *a, size_t index) {
    const gp_type type = (gp_type)a->type;
    const void *at = (const unsigned char *)a->data + index * gp_type_bytes(type);
    if (gp_type_is_float(type))
        float_text(text, type, float_at(type, at));
    else if (gp_type_is_signed(type))
        snprintf(text, CELL, "%" PRId64, (int64_t)int_at(type, at));
    else
        snprintf(text, CELL, "%" PRIu64, int_at(type, at));
}

static json_t *value_json(const gp_array *a, size_t index) {
    const gp_type type = (gp_type)a->type;
    const void *at = (const unsigned char *)a->data + index * gp_type_bytes(type);
    const bool is_float = gp_type_is_float(type);
    char text[CELL];
    if (is_float && isfinite(float_at(type, at)))
        return made(json_real(float_at(type, at)));
    if (!is_float && (gp_type_is_signed(type) || int_at(type, at) <= INT64_MAX))
        return made(json_integer((json_int_t)int_at(type, at)));
    value_text(text, a, index);
    return made(json_string(text));
}

static const char *op_word(const reduced *r, size_t k) {
    return reduction_op_word((gp_reduce_op)(r->result[k].op & ~GP_SKIP_NAN));
}

/* Of the axes that are kept. */
static json_t *shape_json(const gp_array *a, unsigned without) {
    json_t *shape = made(json_array());
    for (unsigned i = 0; i < a->rank; i++)
        if (!(without >> i & 1))
            json_array_append_new(shape, made(json_integer((json_int_t)a->extent[i])));
    return shape;
}

static void print_as_json(const reduced *r) {
    json_t *all = document(), *axes = made(json_array()), *results = made(json_array());
    for (unsigned i = 0; i < r->in.rank; i++)
        if (r->axes >> i & 1)
            json_array_append_new(axes, made(json_integer(i)));
    for (size_t k = 0; k < r->count; k++) {
        const gp_array *to = &r->result[k].to;
        json_t *values = made(json_array());
        for (size_t i = 0; i < r->outputs; i++)
            json_array_append_new(values, value_json(to, i));
        json_array_append_new(
            results, made(json_pack("{s:s, s:s, s:o, s:o}", "op", op_word(r, k), "type", type_word((gp_type)to->type),
                                    "shape", shape_json(to, r->axes), "values", values)));
    }
    json_t *name = json_string(r->path);
    if (name == NULL)
        fail("%s: JSON cannot tell a name that is not UTF-8", r->path);
    json_object_set_new(all, "file", name);
    json_object_set_new(all, "type", made(json_string(type_word((gp_type)r->in.type))));
    json_object_set_new(all, "shape", shape_json(&r->in, 0));
    json_object_set_new(all, "axes", axes);
    json_object_set_new(all, "kernel", r->kernel != NULL ? made(json_string(r->kernel)) : json_null());
    json_object_set_new(all, "results", results);
    print_json_whole(all);
}

/* Text and CSV: a line an output, a column a kept axis, then one a result. */
typedef struct sheet {
    const reduced *r;
    unsigned kept, axis[GP_AXES];
    size_t columns;
} sheet;

static void heading(char text[CELL], const sheet *s, size_t c, const char *between) {
    if (c < s->kept)
        snprintf(text, CELL, "axis%s%u", between, s->axis[c]);
    else
        snprintf(text, CELL, "%s", op_word(s->r, c - s->kept));
}

static void cell(char text[CELL], const sheet *s, size_t c, size_t index) {
    if (c >= s->kept) {
        value_text(text, &s->r->result[c - s->kept].to, index);
        return;
    }
    for (size_t i = s->kept - 1; i > c; i--)
        index /= s->r->in.extent[s->axis[i]];
    snprintf(text, CELL, "%zu", index % s->r->in.extent[s->axis[c]]);
}

static void print_as_csv(const sheet *s) {
    char text[CELL];
    for (size_t c = 0; c < s->columns; c++) {
        heading(text, s, c, "");
        printf("%s%s", text, c + 1 < s->columns ? "," : "\n");
    }
    for (size_t i = 0; i < s->r->outputs; i++)
        for (size_t c = 0; c < s->columns; c++) {
            cell(text, s, c, i);
            printf("%s%s", text, c + 1 < s->columns ? "," : "\n");
        }
}

static void print_as_table(const sheet *s) {
    const char *bold = use_colour() ? "\033[1m" : "", *plain = use_colour() ? "\033[0m" : "";
    int width[GP_AXES + REDUCTION_OPS];
    char text[CELL];
    for (size_t c = 0; c < s->columns; c++) {
        heading(text, s, c, " ");
        width[c] = (int)strlen(text);
        for (size_t i = 0; i < s->r->outputs; i++) {
            cell(text, s, c, i);
            width[c] = (int)strlen(text) > width[c] ? (int)strlen(text) : width[c];
        }
    }
    for (size_t c = 0; c < s->columns; c++) {
        heading(text, s, c, " ");
        printf("%s%*s%s%s", bold, width[c], text, plain, c + 1 < s->columns ? "  " : "\n");
    }
    for (size_t i = 0; i < s->r->outputs; i++)
        for (size_t c = 0; c < s->columns; c++) {
            cell(text, s, c, i);
            printf("%*s%s", width[c], text, c + 1 < s->columns ? "  " : "\n");
        }
}

/* A result a line. */
static void print_as_list(const reduced *r) {
    char text[CELL];
    for (size_t k = 0; k < r->count; k++) {
        value_text(text, &r->result[k].to, 0);
        printf("%-11s %s\n", op_word(r, k), text);
    }
}

void reduce_print(const reduced *r, format how) {
    sheet s = {.r = r};
    for (unsigned i = 0; i < r->in.rank; i++)
        if (!(r->axes >> i & 1))
            s.axis[s.kept++] = i;
    s.columns = s.kept + r->count;
    if (how == FORMAT_JSON)
        print_as_json(r);
    else if (how == FORMAT_CSV)
        print_as_csv(&s);
    else if (s.kept > 0)
        print_as_table(&s);
    else
        print_as_list(r);
}
