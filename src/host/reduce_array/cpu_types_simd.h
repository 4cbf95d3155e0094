/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of cpu_type_simd.h for every type of ints, and the comparing ones for floats by their keys. */
#include "accumulator.h"

/* The keys of the least and the greatest so far of a run. */
typedef struct {
    bool any;
    int64_t min, max;
} block_extremes;

/* Of n bytes; signed ones are added with 128 more, which turns their upper bit. */
SIMD static int64_t sum_of_bytes(const unsigned char *x, size_t n, bool is_signed) {
    const vec turn = all(is_signed ? (int32_t)0x80808080 : 0);
    wide sum[2] = {{0}, {0}};
    size_t i = 0;
    for (; i + 2 * sizeof(vec) <= n; i += 2 * sizeof(vec)) {
        sum[0] = add_64(sum[0], add_bytes(load(x + i) ^ turn));
        sum[1] = add_64(sum[1], add_bytes(load(x + i + sizeof(vec)) ^ turn));
    }
    int64_t total = (int64_t)add_lanes_64(add_64(sum[0], sum[1])) - (is_signed ? 128 * (int64_t)i : 0);
    for (; i < n; i++)
        total += is_signed ? (int8_t)x[i] : x[i];
    return total;
}

#define ABSOLUTE(unsigned_type, x) ((unsigned_type)((x) < 0 ? 0 - (unsigned_type)(x) : (unsigned_type)(x)))
#define ABSOLUTE_8(x) ABSOLUTE(uint8_t, x)
#define ABSOLUTE_16(x) ABSOLUTE(uint16_t, x)
#define ABSOLUTE_32(x) ABSOLUTE(uint32_t, x)
#define ABSOLUTE_64(x) ABSOLUTE(uint64_t, x)

#define TYPE uint8_t
#define TYPED(name) name##_u8
#define SUM_TYPE uint32_t
#define SQUARE_TYPE uint32_t
#include "cpu_type_simd.h"

#define TYPE uint16_t
#define TYPED(name) name##_u16
#define SUM_TYPE uint32_t
#define SQUARE_TYPE uint64_t
#include "cpu_type_simd.h"

#define TYPE uint32_t
#define TYPED(name) name##_u32
#define SUM_TYPE uint64_t
#define SQUARE_TYPE uint64_t
#include "cpu_type_simd.h"

#define TYPE uint64_t
#define TYPED(name) name##_u64
#define SUM_TYPE uint64_t
#include "cpu_type_simd.h"

#define TYPE int8_t
#define TYPED(name) name##_s8
#define SUM_TYPE int32_t
#define SQUARE_TYPE uint32_t
#define MAGNITUDE_OF ABSOLUTE_8
#include "cpu_type_simd.h"

#define TYPE int16_t
#define TYPED(name) name##_s16
#define SUM_TYPE int32_t
#define SQUARE_TYPE uint64_t
#define MAGNITUDE_OF ABSOLUTE_16
#include "cpu_type_simd.h"

#define TYPE int32_t
#define TYPED(name) name##_s32
#define SUM_TYPE int64_t
#define SQUARE_TYPE uint64_t
#define MAGNITUDE_OF ABSOLUTE_32
#include "cpu_type_simd.h"

#define TYPE int64_t
#define TYPED(name) name##_s64
#define SUM_TYPE uint64_t
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
