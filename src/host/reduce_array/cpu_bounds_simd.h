/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of floats, and of their squares, rounding down and rounding up, with the vectors of the simd_*.h. */

/* A group's elements of one type as doubles, in any order. */
INLINE void load_group(unsigned type, const unsigned char *x, reals to[SIDES]) {
    if (type == GP_F64) {
        memcpy(to, x, GROUP * sizeof(double));
    } else if (type == GP_F32) {
        for (size_t k = 0; k < SIDES; k++)
            to[k] = (reals)load_floats((const float *)(const void *)(x + k * REALS * sizeof(float)));
    } else {
        const lanes_32 both = (lanes_32)load(x); /* of bf16, which are upper halves of floats */
        const fvec a = type == GP_F16 ? load_halves(x) : (fvec)(both << 16);
        const fvec b = type == GP_F16 ? load_halves(x + LANES * sizeof(uint16_t)) : (fvec)(both & 0xffff0000u);
        to[0] = (reals)widen_lower(a), to[1] = (reals)widen_upper(a);
        to[2] = (reals)widen_lower(b), to[3] = (reals)widen_upper(b);
    }
}

/* Rounding down. `type` and `wants` are constants. An f16 is a whole number of 2^-24 below 2^40 of them, of which a
 * lane adds up to 2^13: in 53 bits, so that both ends are one until lanes are added up. */
INLINE void bounds_as(unsigned type, unsigned wants, const unsigned char *x, size_t n, const unsigned char *end,
                      gp_bounded_sum *sum) {
    const size_t bytes = gp_type_bytes(type);
    bounds values[SIDES] = {{{0}, {0}}}, squares[SIDES] = {{{0}, {0}}};
    unsigned char last[GROUP * sizeof(double)] = {0};
    for (size_t left = n, some; left > 0; left -= some, x += GROUP * bytes) {
        reals y[SIDES];
        some = gp_least(left, GROUP);
        if (some < GROUP)
            x = memcpy(last, x, some * bytes);
        else
            prefetch_for(x, GROUP * bytes, end);
        load_group(type, x, y);
        for (size_t k = 0; k < SIDES; k++) {
            if ((wants & GP_WANT_SUM) && type == GP_F16)
                values[k].down += y[k];
            else if (wants & GP_WANT_SUM)
                add_bounds(&values[k], y[k]);
            if (wants & GP_WANT_SQUARES)
                add_bounds(&squares[k], y[k] * y[k]);
        }
    }
    for (size_t k = 0; k < SIDES && type == GP_F16; k++)
        values[k].up = -values[k].down;
    sum[GP_SUM] = end_bounds(values);
    sum[GP_SQUARES] = end_bounds(squares);
}

#define BOUNDS_OF(type)                                                 \
    if (wants == GP_WANT_SUM)                                           \
        bounds_as(type, GP_WANT_SUM, x, n, end, sum);                   \
    else if (wants == GP_WANT_SQUARES)                                  \
        bounds_as(type, GP_WANT_SQUARES, x, n, end, sum);               \
    else                                                                \
        bounds_as(type, GP_WANT_SUM | GP_WANT_SQUARES, x, n, end, sum); \
    break

__attribute__((noinline)) SIMD static void bounds_down(unsigned type, unsigned wants, const unsigned char *x,
                                                       size_t n, const unsigned char *end, gp_bounded_sum *sum) {
    switch (type) {
    case GP_F16:
        BOUNDS_OF(GP_F16);
    case GP_BF16:
        BOUNDS_OF(GP_BF16);
    case GP_F32:
        BOUNDS_OF(GP_F32);
    default:
        bounds_as(GP_F64, GP_WANT_SUM, x, n, end, sum);
    }
}
#undef BOUNDS_OF

/* Sums of doubles that are not finite may be so by the order of additions, others are so by an element. */
SIMD static bool bounds_of(const gp_pass *pass, const unsigned char *in, size_t n, gp_bounded_sum sum[GP_SUMS]) {
    round_sums_as(GP_ROUNDING_DOWN);
    bounds_down(pass->type, pass->wants, in, n, end_of_input(pass, in, n * gp_type_bytes(pass->type)), sum);
    round_sums_as(GP_ROUNDING_NEAREST);
    return pass->type != GP_F64 ||
           (sum[GP_SUM].low - sum[GP_SUM].low == 0 && sum[GP_SUM].high - sum[GP_SUM].high == 0);
}
