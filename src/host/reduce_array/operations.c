/* SPDX-License-Identifier: Apache-2.0 */
/* The operations as a table: which accumulators each needs, and which types its results may have. */
#include "array.h"

/* Which types results may have: see gp_result_types(). */
typedef enum gp_result_class {
    RESULT_SAME,      /* the elements' own */
    RESULT_MAGNITUDE, /* the elements' own, unsigned */
    RESULT_NUMBER,    /* a 64-bit integer */
    RESULT_TOTAL,     /* of ints a 64-bit integer, f64 or f32, of floats a float */
    RESULT_QUOTIENT,  /* a float */
    RESULT_ROOT       /* f64 or f32 */
} gp_result_class;

#define OPERATION(op, pass_kind, types, needs) \
    [GP_REDUCE_##op] = {.name = #op, .kind = GP_PASS_##pass_kind, .results = RESULT_##types, .wants = needs}
#define OF_SOMETHING(op, types, needs) \
    [GP_REDUCE_##op] = {#op, GP_PASS_EXTREMES, RESULT_##types, needs, .of_something = true}

#define WANT_BOTH (GP_WANT_SUM | GP_WANT_SQUARES)

static const gp_operation_facts operations[] = {
    OPERATION(SUM, MOMENTS, TOTAL, GP_WANT_SUM),
    OF_SOMETHING(MIN, SAME, GP_WANT_MIN),
    OF_SOMETHING(MAX, SAME, GP_WANT_MAX),
    OPERATION(AND, BITS, SAME, GP_WANT_AND),
    OPERATION(OR, BITS, SAME, GP_WANT_OR),
    OPERATION(XOR, BITS, SAME, GP_WANT_XOR),
    OF_SOMETHING(ARGMIN, NUMBER, GP_WANT_ARGMIN),
    OF_SOMETHING(ARGMAX, NUMBER, GP_WANT_ARGMAX),
    OPERATION(COUNT, MOMENTS, NUMBER, GP_WANT_COUNT),
    OPERATION(SUM_ABS, MOMENTS, TOTAL, GP_WANT_ABS),
    OPERATION(SUM_SQUARES, MOMENTS, TOTAL, GP_WANT_SQUARES),
    OPERATION(MAX_ABS, EXTREMES, MAGNITUDE, GP_WANT_MAX_ABS),
    OPERATION(NORM, MOMENTS, ROOT, GP_WANT_SQUARES),
    OPERATION(MEAN, MOMENTS, QUOTIENT, GP_WANT_SUM),
    OPERATION(VARIANCE, MOMENTS, ROOT, WANT_BOTH),
    OPERATION(STDDEV, MOMENTS, ROOT, WANT_BOTH),
    OPERATION(VARIANCE_SAMPLE, MOMENTS, ROOT, WANT_BOTH),
    OPERATION(STDDEV_SAMPLE, MOMENTS, ROOT, WANT_BOTH),
    OPERATION(DOT, PAIR, TOTAL, GP_WANT_DOT),
    OPERATION(SUM_ABS_DIFF, PAIR, TOTAL, GP_WANT_ABS),
    OPERATION(SUM_SQUARE_DIFF, PAIR, TOTAL, GP_WANT_SQUARES),
    OPERATION(MAX_ABS_DIFF, PAIR_EXTREME, MAGNITUDE, GP_WANT_MAX_ABS),
    OPERATION(COUNT_DIFF, PAIR, NUMBER, GP_WANT_COUNT),
};

const gp_operation_facts *gp_operation_facts_of(uint32_t op) {
    static const gp_operation_facts none = {0};
    return op < sizeof operations / sizeof *operations ? &operations[op] : &none;
}

#define BIT(type) (1u << (type))

unsigned gp_result_types(const gp_operation_facts *facts, unsigned type) {
    const unsigned numbers = BIT(GP_U64) | BIT(GP_S64), roots = BIT(GP_F32) | BIT(GP_F64);
    const unsigned floats = roots | BIT(GP_F16) | BIT(GP_BF16);
    const bool is_float = gp_type_is_float(type);
    if (facts->kind == GP_PASS_BITS && is_float)
        return 0;
    switch ((gp_result_class)facts->results) {
    case RESULT_MAGNITUDE:
        return is_float || !gp_type_is_signed(type) ? BIT(type) : BIT(type - 1);
    case RESULT_NUMBER:
        return numbers;
    case RESULT_TOTAL:
        return is_float ? floats : numbers | roots;
    case RESULT_QUOTIENT:
        return floats;
    case RESULT_ROOT:
        return roots;
    default:
        return type == GP_S32 ? BIT(GP_S32) | BIT(GP_S64) : BIT(type);
    }
}

const char *gp_type_name(unsigned type) {
    static const char *const names[] = {"none", "u8",  "s8",  "u16",  "s16", "u32", "s32",
                                        "u64",  "s64", "f16", "bf16", "f32", "f64"};
    return names[type];
}
