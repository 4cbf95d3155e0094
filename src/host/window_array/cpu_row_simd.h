/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the input as the windows of a tile see them, as whole numbers or as floats of 32 bits. */
/* A float where 32 bits of any type stand. */
typedef float __attribute__((may_alias)) any_float;

/* The bits that any magnitude has, or for negative ones the magnitude less 1; bytes are taken to have all. Elements
 * go to 32 bits each. */
#define EXPAND(type, element, is_signed)                                                               \
    SIMD static uint32_t expand_##type(const gp_window_tile *t, const unsigned char *row, int32_t *to, \
                                       bool middle_too) {                                              \
        const element *middle = (const element *)(const void *)(row + t->middle_at);                   \
        int32_t bits = 0;                                                                              \
        for (size_t i = 0; i < t->ext - t->middle; i++) {                                              \
            element x = 0;                                                                             \
            if (t->offset[i] >= 0)                                                                     \
                memcpy(&x, row + t->offset[i], sizeof x);                                              \
            const int32_t y = to[i < t->left ? i : i + t->middle] = (int32_t)x;                        \
            bits |= is_signed ? y ^ (y >> 31) : y;                                                     \
        }                                                                                              \
        element inner = sizeof inner == 1 ? (element)(is_signed ? INT8_MAX : UINT8_MAX) : 0;           \
        for (size_t i = 0; sizeof inner > 1 && i < t->middle; i++)                                     \
            inner |= (element)(middle[i] ^ (is_signed ? middle[i] >> (8 * sizeof(element) - 1) : 0));  \
        to += t->left;                                                                                 \
        for (size_t i = 0; middle_too && i < t->middle; i++)                                           \
            to[i] = (int32_t)middle[i];                                                                \
        return (uint32_t)bits | (uint32_t)inner;                                                       \
    }

EXPAND(u8, uint8_t, false)
EXPAND(s8, int8_t, true)
EXPAND(u16, uint16_t, false)
EXPAND(s16, int16_t, true)
EXPAND(u32, uint32_t, false)
EXPAND(s32, int32_t, true)

/* Whole bits of halves, as floats; the product is exact, of what is subnormal too. */
SIMD static void widen_halves(int32_t *row, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t half = (uint32_t)row[i], magnitude = (half & 0x7fff) << 13;
        const uint32_t finite = gp_bits_of_f32(gp_f32_of_bits(magnitude) * 0x1p112f);
        row[i] = (int32_t)(finite | ((half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0) | (half & 0x8000) << 16);
    }
}

/* A row that enters or leaves: its middle as it is, if that is not taken too, the rest in 32 bits each. Halves are
 * all taken, as floats. */
typedef struct line {
    int32_t *others;
    const void *middle;
    uint32_t bits;
} line;

SIMD static line line_at(const gp_window_tile *t, int64_t i, int32_t *to, bool middle_too) {
    static uint32_t (*const ways[])(const gp_window_tile *, const unsigned char *, int32_t *, bool) = {
        [GP_U8] = expand_u8,   [GP_S8] = expand_s8,   [GP_U16] = expand_u16, [GP_S16] = expand_s16,
        [GP_U32] = expand_u32, [GP_S32] = expand_s32, [GP_F32] = expand_s32};
    const unsigned char *row = gp_window_row(t, i);
    const unsigned type = t->one->box->type;
    if (row == NULL) {
        memset(to, 0, t->ext * sizeof *to);
        return (line){to, to, 0};
    }
    if (type == GP_F16) {
        (void)expand_u16(t, row, to, true);
        widen_halves(to, t->ext);
        return (line){to, to + t->left, 0};
    }
    const uint32_t bits = ways[type](t, row, to, middle_too);
    return (line){to, row + t->middle_at, type == GP_F32 ? 0 : bits};
}
