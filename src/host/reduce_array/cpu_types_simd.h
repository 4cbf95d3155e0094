/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of cpu_type_simd.h for every type of ints, and the comparing ones for floats by their keys. */
#include "accumulator.h"

#define PICK_TYPE(type, name, bits, infinity) type
#define PICK_UNSIGNED(type, name, bits, infinity) uint##bits##_t
#define PICK_NAME(type, name, bits, infinity) name
#define PICK_BITS(type, name, bits, infinity) bits
#define PICK_INFINITY(type, name, bits, infinity) infinity
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define TYPE ELEMENT(PICK_TYPE)
#define TYPED(name) JOINED(name##_, ELEMENT(PICK_NAME))

/* The keys of the least and the greatest so far of a run. */
typedef struct {
    bool any;
    int64_t min, max;
} block_extremes;

/* What is compared at once: so long that compilers make loops of vectors of it, and not single steps. */
#define EXTREMES_BYTES 512

/* Vectors side by side, of `sums` of ints. */
#define INT_SIDES 4

/* Adds elements of `bytes`, a constant: to low their sum, modulo 2^32 or 2^64; to high their upper halves. */
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

/* Of n ints in up to eight pages. Those of 1 and 8 bytes are added without sign, the others with: where they are not,
 * the upper bit is turned, which adds or takes away 2^(bits - 1). */
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

/* Each type, its name here, its bits, and of floats those of infinity. */
#define ELEMENT(pick) pick(uint8_t, u8, 8, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(uint16_t, u16, 16, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(uint32_t, u32, 32, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(uint64_t, u64, 64, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int8_t, s8, 8, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int16_t, s16, 16, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int32_t, s32, 32, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int64_t, s64, 64, 0)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int16_t, f16, 16, 0x7c00)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int16_t, bf16, 16, 0x7f80)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int32_t, f32, 32, 0x7f800000)
#include "cpu_type_simd.h"
#define ELEMENT(pick) pick(int64_t, f64, 64, 0x7ff0000000000000)
#include "cpu_type_simd.h"
