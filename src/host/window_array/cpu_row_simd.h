/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a row of the input: which bits they have, and halves as floats. */
/* A float where 32 bits of any type stand. */
typedef float __attribute__((may_alias)) any_float;

/* The bits that any magnitude has, or for negative ones the magnitude less 1. */
#define BITS_OF(type, element, is_signed)                                            \
    SIMD static uint32_t bits_of_##type(const void *held, size_t n) {                \
        const element *x = held;                                                     \
        element bits = 0;                                                            \
        for (size_t i = 0; i < n; i++)                                               \
            bits |= (element)(x[i] ^ (is_signed ? x[i] >> (8 * sizeof *x - 1) : 0)); \
        return (uint32_t)bits;                                                       \
    }

BITS_OF(u16, uint16_t, false)
BITS_OF(s16, int16_t, true)
BITS_OF(u32, uint32_t, false)
BITS_OF(s32, int32_t, true)

/* Bytes are taken to have all bits, floats none. */
SIMD static uint32_t bits_of(unsigned type, const void *held, size_t n) {
    return type == GP_U16   ? bits_of_u16(held, n)
           : type == GP_S16 ? bits_of_s16(held, n)
           : type == GP_U32 ? bits_of_u32(held, n)
           : type == GP_S32 ? bits_of_s32(held, n)
                            : 0;
}

/* Halves as floats; the product is exact, of what is subnormal too. */
SIMD static void widen_halves(float *to, const uint16_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t half = from[i], magnitude = (half & 0x7fff) << 13;
        const uint32_t finite = gp_bits_of_f32(gp_f32_of_bits(magnitude) * 0x1p112f);
        to[i] = gp_f32_of_bits(finite | ((half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0) | (half & 0x8000) << 16);
    }
}

#define MAGNITUDE_OF_INFINITY 0x7f800000u

SIMD static void clear_specials(float *to, const float *from, size_t n) {
    const any_float *x = from;
    for (size_t i = 0; i < n; i++)
        to[i] = (gp_bits_of_f32(x[i]) & INT32_MAX) < MAGNITUDE_OF_INFINITY ? x[i] : 0;
}
