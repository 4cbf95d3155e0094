/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of cpu_type_simd.h for every type of ints, and the comparing ones for floats by their keys. */
#include "accumulator.h"

/* The keys of the least and the greatest so far of a run. */
typedef struct {
    bool any;
    int64_t min, max;
} block_extremes;

/* What is compared at once: so long that compilers make loops of vectors of it, and not single steps. */
#define EXTREMES_BYTES 512

/* Vectors side by side, of `sums` of ints. */
#define INT_SIDES 4

/* Adds elements of `bytes`, a constant: to low their sum, of 32 and 64 bits modulo that; to high their upper halves.
 */
INLINE void add_ints(size_t bytes, sums *to, vec x) {
    if (bytes == 1)
        to->low = (vec)add_64((wide)to->low, add_bytes(x));
    else if (bytes == 2)
        to->low = add_32(to->low, add_words(x));
    else if (bytes == 4)
        add_to(to, x);
    else
        *to = (sums){(vec)add_64((wide)to->low, (wide)x), (vec)add_64((wide)to->high, upper_half((wide)x))};
}

INLINE sums join_ints(size_t bytes, sums a, sums b) {
    if (bytes == 2 || bytes == 4)
        return join(a, b);
    return (sums){(vec)add_64((wide)a.low, (wide)b.low), (vec)add_64((wide)a.high, (wide)b.high)};
}

/* Of all lanes. */
INLINE gp_total total_of_ints(size_t bytes, const sums *s) {
    if (bytes == 2)
        return add_lanes(s->low);
    if (bytes == 4)
        return (int64_t)add_lanes_64(widen_sums(*s));
    const uint64_t low = add_lanes_64((wide)s->low), high = bytes == 8 ? add_lanes_64((wide)s->high) : 0;
    return (gp_total)high * ((gp_total)1 << 32) + (gp_total)(low - (high << 32));
}

/*
 * Of n ints in up to eight pages. Those of 1 and 8 bytes are added without sign, the others with: where they are not,
 * the upper bit is turned, which adds or takes away 2^(bits - 1).
 */
INLINE gp_total sum_of_ints(size_t bytes, bool is_signed, const void *in, size_t n, const unsigned char *end) {
    const bool with_sign = bytes == 2 || bytes == 4, ahead = has_next(in, end);
    const int32_t upper = bytes == 1 ? (int32_t)0x80808080 : bytes == 2 ? (int32_t)0x80008000 : INT32_MIN;
    const vec turn = is_signed == with_sign ? all(0) : bytes == 8 ? (vec)all_64(INT64_MIN) : all(upper);
    sums side[INT_SIDES] = {{all(0), all(0)}, {all(0), all(0)}, {all(0), all(0)}, {all(0), all(0)}};
    unsigned char last[INT_SIDES * sizeof(vec)];
    const unsigned char *x = in;
    uint64_t added = 0;
    for (size_t left = n * bytes, some; left > 0; left -= some, x += some, added += sizeof last / bytes) {
        some = gp_least(left, sizeof last);
        if (some < sizeof last)
            x = memcpy(memset(last, 0, sizeof last), x, some);
        else if (ahead)
            prefetch_lines(x, sizeof last);
        for (size_t k = 0; k < INT_SIDES; k++)
            add_ints(bytes, &side[k], load(x + k * sizeof(vec)) ^ turn);
    }
    const sums both = join_ints(bytes, join_ints(bytes, side[0], side[1]), join_ints(bytes, side[2], side[3]));
    const gp_total turned = (gp_total)added << (8 * bytes - 1), total = total_of_ints(bytes, &both);
    return is_signed == with_sign ? total : is_signed ? total - turned : total + turned;
}

#define ABSOLUTE(unsigned_type, x) ((unsigned_type)((x) < 0 ? 0 - (unsigned_type)(x) : (unsigned_type)(x)))
#define ABSOLUTE_8(x) ABSOLUTE(uint8_t, x)
#define ABSOLUTE_16(x) ABSOLUTE(uint16_t, x)
#define ABSOLUTE_32(x) ABSOLUTE(uint32_t, x)
#define ABSOLUTE_64(x) ABSOLUTE(uint64_t, x)

#define TYPE uint8_t
#define TYPED(name) name##_u8
#define SQUARE_TYPE uint32_t
#include "cpu_type_simd.h"

#define TYPE uint16_t
#define TYPED(name) name##_u16
#define SQUARE_TYPE uint64_t
#include "cpu_type_simd.h"

#define TYPE uint32_t
#define TYPED(name) name##_u32
#define SQUARE_TYPE uint64_t
#include "cpu_type_simd.h"

#define TYPE uint64_t
#define TYPED(name) name##_u64
#include "cpu_type_simd.h"

#define TYPE int8_t
#define TYPED(name) name##_s8
#define SQUARE_TYPE uint32_t
#define MAGNITUDE_OF ABSOLUTE_8
#include "cpu_type_simd.h"

#define TYPE int16_t
#define TYPED(name) name##_s16
#define SQUARE_TYPE uint64_t
#define MAGNITUDE_OF ABSOLUTE_16
#include "cpu_type_simd.h"

#define TYPE int32_t
#define TYPED(name) name##_s32
#define SQUARE_TYPE uint64_t
#define MAGNITUDE_OF ABSOLUTE_32
#include "cpu_type_simd.h"

#define TYPE int64_t
#define TYPED(name) name##_s64
#define MAGNITUDE_OF ABSOLUTE_64
#include "cpu_type_simd.h"

/* Floats compare as these integers do; -0 below +0. */
#define KEY_OF_16(x) ((int16_t)((x) ^ (((x) >> 15) & 0x7fff)))
#define KEY_OF_32(x) ((x) ^ (((x) >> 31) & 0x7fffffff))
#define KEY_OF_64(x) ((x) ^ (((x) >> 63) & INT64_MAX))

#define TYPE int16_t
#define TYPED(name) name##_f16
#define KEY_OF KEY_OF_16
#define INFINITY_BITS 0x7c00
#include "cpu_type_simd.h"

#define TYPE int16_t
#define TYPED(name) name##_bf16
#define KEY_OF KEY_OF_16
#define INFINITY_BITS 0x7f80
#include "cpu_type_simd.h"

#define TYPE int32_t
#define TYPED(name) name##_f32
#define KEY_OF KEY_OF_32
#define INFINITY_BITS 0x7f800000
#include "cpu_type_simd.h"

#define TYPE int64_t
#define TYPED(name) name##_f64
#define KEY_OF KEY_OF_64
#define INFINITY_BITS 0x7ff0000000000000
#include "cpu_type_simd.h"
