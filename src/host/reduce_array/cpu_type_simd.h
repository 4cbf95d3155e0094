/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over n elements of one type, which compilers make vectors of, included once for each ELEMENT. Floats compare
 * as ints by their bits: -0 below +0. Squares of 2^11 elements are added up in SQUARE_TYPE. */
#define INFINITY_BITS ELEMENT(PICK_INFINITY)
#define SQUARE_TYPE __typeof__(__builtin_choose_expr(sizeof(TYPE) == 1, UINT32_C(0), UINT64_C(0)))
#define UNSIGNED(x) ((ELEMENT(PICK_UNSIGNED))(x))
#define IS_SIGNED ((TYPE)-1 < (TYPE)1)
#define MAGNITUDE_OF(x) UNSIGNED(IS_SIGNED && (x) < 1 ? 0 - UNSIGNED(x) : UNSIGNED(x))
#if INFINITY_BITS
#define KEY_OF(x) ((TYPE)((x) ^ (((x) >> (ELEMENT(PICK_BITS) - 1)) & (TYPE)(UNSIGNED(-1) >> 1))))
#else
#define KEY_OF(x) (x)
#endif

/* The least and the greatest, of elements in up to eight pages. */
SIMD static void TYPED(extremes)(const TYPE *x, size_t n, const unsigned char *end, TYPE *min, TYPE *max) {
    const bool ahead = has_next(x, end);
    TYPE least = KEY_OF(x[0]), greatest = least;
    if (n >= 2 * EXTREMES_BYTES / sizeof(TYPE)) {
        TYPE low[EXTREMES_BYTES / sizeof(TYPE)], high[EXTREMES_BYTES / sizeof(TYPE)];
        for (size_t k = 0; k < EXTREMES_BYTES / sizeof(TYPE); k++)
            low[k] = high[k] = least;
        for (; n >= EXTREMES_BYTES / sizeof(TYPE);
             x += EXTREMES_BYTES / sizeof(TYPE), n -= EXTREMES_BYTES / sizeof(TYPE)) {
            if (ahead)
                prefetch_lines(x, EXTREMES_BYTES);
            for (size_t k = 0; k < EXTREMES_BYTES / sizeof(TYPE); k++) {
                const TYPE key = KEY_OF(x[k]);
                low[k] = key < low[k] ? key : low[k];
                high[k] = key > high[k] ? key : high[k];
            }
        }
        for (size_t k = 0; k < EXTREMES_BYTES / sizeof(TYPE); k++) {
            least = low[k] < least ? low[k] : least;
            greatest = high[k] > greatest ? high[k] : greatest;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const TYPE key = KEY_OF(x[i]);
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    *min = least;
    *max = greatest;
}

/* The first (last) place of a key that is there. */
static size_t TYPED(find)(const TYPE *x, size_t n, TYPE key, bool last) {
    size_t i = last ? n - 1 : 0;
    while (KEY_OF(x[i]) != key)
        i = last ? i - 1 : i + 1;
    return i;
}

/* What a block with its best key `here` adds to the best so far; places only if they are wanted. */
static gp_extreme TYPED(placed)(const gp_extreme *best, bool better, bool wanted, const TYPE *x, size_t n, TYPE key,
                                uint64_t here, int64_t place, int64_t step) {
    const int64_t least = step < 0 ? place + step * (int64_t)(n - 1) : place;
    gp_extreme e = {here, best->place};
    if (wanted && (better || (here == best->key && (uint64_t)least < best->place)))
        e.place = (uint64_t)(place + step * (int64_t)TYPED(find)(x, n, key, step < 0));
    return e;
}

/* An element's bits again. KEY_OF() of keys undoes it. */
static gp_number TYPED(number)(unsigned type, TYPE key) {
    const TYPE element = KEY_OF(key);
    return gp_number_load(type, (const unsigned char *)&element);
}

SIMD static void TYPED(take_extremes)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, int64_t place,
                                      uint64_t n, const unsigned char *end, block_extremes *seen) {
    const TYPE *x = (const TYPE *)(const void *)in;
    const int64_t step = pass->axis[pass->kept + pass->reduced - 1].place;
    TYPE min, max;
    TYPED(extremes)(x, n, end, &min, &max);
#if INFINITY_BITS
    if (max > KEY_OF(INFINITY_BITS) || min < -KEY_OF(INFINITY_BITS) - 1) {
        const size_t half = n / 2;
        if (n <= PIECE_BYTES / sizeof(TYPE)) {
            gp_pass_run_any(a, pass, in, NULL, place, n);
            return;
        }
        TYPED(take_extremes)(a, pass, in, place, half, NULL, seen);
        TYPED(take_extremes)(a, pass, in + half * sizeof(TYPE), place + step * (int64_t)half, n - half, NULL, seen);
        return;
    }
#endif
    a->counted += n;
    if (seen->any && min >= (TYPE)seen->min && max <= (TYPE)seen->max && step >= 0)
        return; /* of equals the first is the one that is wanted */
    *seen = (block_extremes){true, (int64_t)(seen->any && (TYPE)seen->min < min ? (TYPE)seen->min : min),
                             (int64_t)(seen->any && (TYPE)seen->max > max ? (TYPE)seen->max : max)};
    const gp_number low = TYPED(number)(pass->type, min), high = TYPED(number)(pass->type, max);
    const uint64_t lowest = gp_number_key(pass->type, low), highest = gp_number_key(pass->type, high);
    const gp_extreme least = TYPED(placed)(&a->min, !a->some || lowest < a->min.key, pass->wants & GP_WANT_ARGMIN, x,
                                           n, min, lowest, place, step);
    const gp_extreme greatest = TYPED(placed)(&a->max, !a->some || highest > a->max.key, pass->wants & GP_WANT_ARGMAX,
                                              x, n, max, highest, place, step);
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, low));
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, high));
    gp_accumulator_take_extremes(a, &least, &greatest);
}

#if !INFINITY_BITS

SIMD static uint64_t TYPED(nonzero)(const TYPE *x, size_t n) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

SIMD static void TYPED(take_bits)(gp_accumulator *a, const TYPE *x, size_t n) {
    TYPE all = x[0], some = x[0], odd = 0;
    for (size_t i = 0; i < n; i++) {
        all = (TYPE)(all & x[i]);
        some = (TYPE)(some | x[i]);
        odd = (TYPE)(odd ^ x[i]);
    }
    a->bits_and &= (uint64_t)all;
    a->bits_or |= (uint64_t)some;
    a->bits_xor ^= (uint64_t)odd;
}

SIMD static gp_total TYPED(sum_abs)(const TYPE *x, size_t n) {
    uint64_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t m = MAGNITUDE_OF(x[i]);
        low += m & UINT32_MAX;
        high += m >> 32;
    }
    return (gp_total)low + (gp_total)high * ((gp_total)1 << 32);
}

#if ELEMENT(PICK_BITS) < 64
SIMD static gp_total TYPED(sum_squares)(const TYPE *x, size_t n) {
    SQUARE_TYPE low = 0;
    uint64_t high = 0;
    for (size_t i = 0; i < n; i++) {
        const SQUARE_TYPE m = MAGNITUDE_OF(x[i]), square = m * m;
        low += sizeof(TYPE) == 4 ? (SQUARE_TYPE)(square & UINT32_MAX) : square;
        high += sizeof(TYPE) == 4 ? (uint64_t)square >> 32 : 0;
    }
    return (gp_total)low + (gp_total)high * ((gp_total)1 << 32);
}
#endif

SIMD static void TYPED(take_moments)(gp_accumulator *a, const gp_pass *pass, const TYPE *x, size_t n,
                                     const unsigned char *end) {
    a->counted += n;
    if (pass->wants & GP_WANT_COUNT)
        a->nonzero += TYPED(nonzero)(x, n);
    if (pass->wants & GP_WANT_SUM)
        a->whole[GP_SUM] += sum_of_ints(sizeof(TYPE), IS_SIGNED, x, n, end);
    if (pass->wants & GP_WANT_ABS)
        a->whole[GP_ABS] += TYPED(sum_abs)(x, n);
#if ELEMENT(PICK_BITS) < 64
    if (pass->wants & GP_WANT_SQUARES)
        a->whole[GP_SQUARES] += TYPED(sum_squares)(x, n);
#endif
}

SIMD static void TYPED(take_block)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, int64_t place,
                                   uint64_t n, const unsigned char *end, block_extremes *seen) {
    const TYPE *x = (const TYPE *)(const void *)in;
    if (pass->kind == GP_PASS_EXTREMES) {
        TYPED(take_extremes)(a, pass, in, place, n, end, seen);
    } else if (pass->kind == GP_PASS_MOMENTS) {
        TYPED(take_moments)(a, pass, x, n, end);
    } else {
        TYPED(take_bits)(a, x, n);
        a->counted += n;
    }
}

#endif

#undef ELEMENT
#undef KEY_OF
#undef INFINITY_BITS
#undef SQUARE_TYPE
#undef UNSIGNED
#undef IS_SIGNED
#undef MAGNITUDE_OF
