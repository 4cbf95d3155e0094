/* SPDX-License-Identifier: Apache-2.0 */
/* The data of data_sets.h. Floats are drawn as doubles, ties and edges as bit patterns of their type. */
#include "data_sets.h"
#include "../cases_data.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of a float type: bits of the fraction, least exponent. Of an int: bits, and whether there is a sign. */
typedef struct type_facts {
    const char *name;
    unsigned bytes;
    bool is_float, is_signed;
    int fraction, least;
} type_facts;

static const type_facts types[] = {
    [GP_U8] = {"u8", 1, false, false, 0, 0},     [GP_S8] = {"s8", 1, false, true, 0, 0},
    [GP_U16] = {"u16", 2, false, false, 0, 0},   [GP_S16] = {"s16", 2, false, true, 0, 0},
    [GP_U32] = {"u32", 4, false, false, 0, 0},   [GP_S32] = {"s32", 4, false, true, 0, 0},
    [GP_U64] = {"u64", 8, false, false, 0, 0},   [GP_S64] = {"s64", 8, false, true, 0, 0},
    [GP_F16] = {"f16", 2, true, true, 10, -14},  [GP_BF16] = {"bf16", 2, true, true, 7, -126},
    [GP_F32] = {"f32", 4, true, true, 23, -126}, [GP_F64] = {"f64", 8, true, true, 52, -1022}};

/* One array that is being filled: its type, and what all of its elements know. */
typedef struct filling {
    type_facts type;
    data_set set;
    size_t n;
    uint64_t seed;
    size_t special; /* an index drawn from the seed */
} filling;

static uint64_t draw(const filling *f, uint64_t which) {
    return cases_draw(f->seed, which + 1);
}

static double uniform(uint64_t random) {
    return (double)(random >> 11) * 0x1p-53;
}

static uint64_t infinity_of(const type_facts *t) {
    return (uint64_t)(3 - 2 * t->least) << t->fraction;
}

static uint64_t sign_of(const type_facts *t) {
    return (uint64_t)1 << (8 * t->bytes - 1);
}

/* The float of the type nearest to x towards zero, finite; its bit pattern. */
static uint64_t encode(const type_facts *t, double x) {
    const int greatest = 1 - t->least;
    const uint64_t sign = signbit(x) ? sign_of(t) : 0;
    if (x == 0)
        return sign;
    const int exponent = ilogb(x) < t->least ? t->least : ilogb(x);
    if (exponent > greatest)
        return sign | (infinity_of(t) - 1);
    const uint64_t units = (uint64_t)ldexp(fabs(x), t->fraction - exponent);
    return sign | (((uint64_t)(exponent - t->least) << t->fraction) + units);
}

/* Log-uniform over so many decades around 1, of either sign; an f16 has 9 on that side of 1 at most. */
static double decades(uint64_t random, double span) {
    const double magnitude = pow(10, (uniform(random) - 0.5) * span);
    return random & 1 ? -magnitude : magnitude;
}

static double normal(const filling *f, size_t i) {
    const double radius = sqrt(-2 * log(1 - uniform(draw(f, i))));
    return radius * cos(6.283185307179586 * uniform(cases_draw(~f->seed, i)));
}

/* A random power of two with so many of them above and below that the type has 2^power to 2^(power - bits). */
static int power_above(const filling *f, int bits) {
    const int lowest = f->type.least - f->type.fraction + bits, highest = -f->type.least;
    return highest > lowest ? lowest + (int)(draw(f, f->n + 1) % (unsigned)(highest - lowest)) : highest;
}

/* A float of random fraction, half a place of a type of 8, 11, 24 or 53 bits, something tiny or nothing; the rest
 * cancels in pairs. */
static uint64_t tie(const filling *f, size_t i) {
    static const int precisions[] = {8, 11, 24, 53};
    const uint64_t choice = draw(f, f->n + 2);
    const int precision = precisions[choice % 4], power = power_above(f, precision + 1);
    const double tiny[] = {0, 0, ldexp(1, f->type.least - f->type.fraction), -ldexp(1, power - precision - 1)};
    switch (i) {
    case 0:
        return encode(&f->type, ldexp(1 + (double)(choice >> 8 & 255) / 256, power));
    case 1:
        return encode(&f->type, ldexp(choice >> 16 & 1 ? 1 : 3, power - precision));
    case 2:
        return encode(&f->type, tiny[choice >> 20 & 3]);
    case 3:
        return encode(&f->type, ldexp((double)(choice >> 24 & 3) - 1, power - precision + 1));
    default:
        break;
    }
    const uint64_t pair = encode(&f->type, decades(draw(f, i / 2 + f->n), 6));
    return i / 2 * 2 + 1 < f->n ? pair ^ (i & 1 ? sign_of(&f->type) : 0) : 0;
}

static uint64_t edge(const filling *f, uint64_t random) {
    const type_facts *t = &f->type;
    const int greatest = 1 - t->least;
    const double choices[] = {INFINITY, /* cut to the greatest */
                              ldexp(1, greatest - t->fraction - 1),
                              ldexp(1, greatest - t->fraction - 2),
                              ldexp(1, t->least - t->fraction),
                              ldexp(1, greatest - 24),
                              ldexp(1, greatest)};
    return encode(t, choices[random % 6]) | ((random >> 8 & 3) == 0 ? sign_of(t) : 0);
}

static uint64_t special(const filling *f, size_t i) {
    const uint64_t infinity = infinity_of(&f->type), sign = sign_of(&f->type), random = draw(f, i);
    if (f->set == DATA_SET_NAN)
        return infinity | (random & sign) | (random % (((uint64_t)1 << f->type.fraction) - 1) + 1);
    return infinity | (i == f->special ? random & sign : ~draw(f, f->special) & sign);
}

static uint64_t float_datum(const filling *f, size_t i) {
    const type_facts *t = &f->type;
    const uint64_t random = draw(f, i), sign = sign_of(t);
    switch (f->set) {
    case DATA_SET_NORMAL:
        return encode(t, normal(f, i));
    case DATA_SET_FAR_MEAN:
        return encode(t, 1000 + normal(f, i));
    case DATA_SET_12_DECADES:
        return encode(t, decades(random, 12));
    case DATA_SET_60_DECADES:
        return encode(t, decades(random, 60));
    case DATA_SET_CANCELLING:
        if (i == f->special / 2 * 2 || (i == f->n - 1 && !(i & 1)))
            return encode(t, ldexp(uniform(random), t->fraction == 10 ? -12 : -60));
        return i == (f->special / 2 * 2 | 1) ? 0 : encode(t, decades(draw(f, i / 2), 12)) ^ (i & 1 ? sign : 0);
    case DATA_SET_SUBNORMALS:
        return encode(t, uniform(random) * (random & 1 ? 1 : ldexp(1, t->least)));
    case DATA_SET_EQUAL:
        return encode(t, decades(draw(f, f->n), 12));
    case DATA_SET_HALF_ZEROS:
        return random & 1 ? encode(t, normal(f, i)) : random & 2 ? sign : 0;
    case DATA_SET_NAN:
    case DATA_SET_INFINITY:
        return i == f->special ? special(f, i) : encode(t, normal(f, i));
    case DATA_SET_INFINITIES:
        return i == f->special || i == (f->special + 1) % f->n ? special(f, i) : encode(t, normal(f, i));
    case DATA_SET_EDGE:
        return edge(f, random);
    case DATA_SET_TIES:
        return tie(f, i);
    case DATA_SET_ALL_BITS: /* where the exponent is that of infinities, its lowest bit goes */
        return (~random & infinity_of(t)) == 0 ? random & ~((uint64_t)1 << t->fraction) : random;
    default:
        return encode(t, uniform(random));
    }
}

static uint64_t int_datum(const filling *f, size_t i) {
    const type_facts *t = &f->type;
    const unsigned bits = 8 * t->bytes;
    const uint64_t random = draw(f, i), greatest = UINT64_MAX >> (64 - bits + t->is_signed);
    switch (f->set) {
    case DATA_SET_NORMAL:
        return (uint64_t)(int64_t)(normal(f, i) * ldexp(1, (int)bits / 2 - 1)) &
               (t->is_signed ? UINT64_MAX : greatest / 2);
    case DATA_SET_FAR_MEAN:
        return greatest - random % (greatest / 4 + 1);
    case DATA_SET_12_DECADES:
    case DATA_SET_60_DECADES: {
        const uint64_t magnitude = (random & greatest) >> (draw(f, ~(uint64_t)i) % bits);
        return t->is_signed && random >> 63 ? 0 - magnitude : magnitude;
    }
    case DATA_SET_CANCELLING:
        return i & 1 ? (i == f->special ? 1 : 0 - draw(f, i - 1)) : random;
    case DATA_SET_SUBNORMALS:
        return random & 1;
    case DATA_SET_EQUAL:
        return draw(f, f->n);
    case DATA_SET_HALF_ZEROS:
        return random & 1 ? random >> 1 : 0;
    case DATA_SET_EDGE:
        return random & 1 ? greatest : t->is_signed ? ~greatest : 0;
    case DATA_SET_TIES:
        return i == 0 ? greatest / 2 + 1 : (random & 1) << (random >> 8) % (bits - 1);
    default:
        return random;
    }
}

const char *data_set_name(data_set set) {
    static const char *const names[DATA_SETS] = {"uniform",    "normal",     "far mean", "12 decades", "60 decades",
                                                 "cancelling", "subnormals", "equal",    "half zeros", "one NaN",
                                                 "infinity",   "infinities", "edge",     "ties",       "all bits"};
    return names[set];
}

size_t data_set_element(gp_type type) {
    return types[type].bytes;
}

void data_set_fill(void *to, gp_type type, size_t n, data_set set, uint64_t seed) {
    const filling f = {types[type], set, n, seed, n > 0 ? (size_t)(cases_draw(seed, 0) % n) : 0};
    unsigned char *byte = to;
    for (size_t i = 0; i < n; i++, byte += f.type.bytes) {
        const uint64_t pattern = f.type.is_float ? float_datum(&f, i) : int_datum(&f, i);
        memcpy(byte, &pattern, f.type.bytes); /* the low bytes: x86 and AArch64 are little-endian */
    }
}

int data_set_label(gp_type type, size_t n, data_set set, uint64_t seed, char *text, size_t size) {
    return snprintf(text, size, "%s, %s, n %zu, seed %llu", data_set_name(set), types[type].name, n,
                    (unsigned long long)seed);
}
