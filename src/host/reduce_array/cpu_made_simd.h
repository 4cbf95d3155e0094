/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes of pairs, of masked elements, and of those that are no NaN. Block by block they become passes without these,
 * for the loops of cpu_runs_simd.h: what does not count becomes zero or another element that does, and pairs become
 * their differences, products, or numbers of the same sum.
 */

/* Elements at once: what is made of them lies on the stack, of which a call promises to take little. */
#define MADE 512

typedef struct {
    _Alignas(64) unsigned char of[MADE * sizeof(double)];
} made;

/* A pass over n contiguous elements, or pairs, which all count. */
static gp_pass own_pass(const gp_pass *pass, unsigned kind, unsigned type, unsigned wants, const void *in, size_t n) {
    gp_pass own = *pass;
    own.kind = (uint8_t)kind, own.type = (uint8_t)type, own.wants = (uint16_t)wants;
    own.with_type = kind == GP_PASS_PAIR ? own.type : 0;
    own.where = own.skip_nan = false;
    own.kept = 0, own.reduced = 1;
    own.axis[0] = (gp_pass_axis){n, gp_type_bytes(type), gp_type_bytes(own.with_type), 0};
    own.in = in;
    return own;
}

/* ---- elements as bits ---- */

#define EACH_FLOAT_BITS(F) F(16) F(32) F(64)
#define EACH_BITS(F) F(8) EACH_FLOAT_BITS(F)
#define WITH_FLOAT_BITS(f, bytes, ...) \
    ((bytes) == 2 ? f##_16(__VA_ARGS__) : (bytes) == 4 ? f##_32(__VA_ARGS__) : f##_64(__VA_ARGS__))
#define WITH_BITS(f, bytes, ...) ((bytes) == 1 ? f##_8(__VA_ARGS__) : WITH_FLOAT_BITS(f, bytes, __VA_ARGS__))

#define ALIAS __attribute__((may_alias))
#define TYPES(bits)                           \
    typedef uint##bits##_t bits_##bits ALIAS; \
    typedef int##bits##_t signed_bits_##bits ALIAS;
EACH_BITS(TYPES)

/* Clears those of elements whose bits in the mask are not from `least` to `most`, as numbers. */
#define CLEAR_UNLESS(bits)                                                                                       \
    SIMD static void clear_unless_##bits(const void *in, size_t n, uint64_t mask, uint64_t least, uint64_t most, \
                                         uint8_t *counts) {                                                      \
        const bits_##bits *x = in, m = (bits_##bits)mask, low = (bits_##bits)least, high = (bits_##bits)most;    \
        for (size_t i = 0; i < n; i++)                                                                           \
            counts[i] &= (uint8_t)(((x[i] & m) >= low) & ((x[i] & m) <= high));                                  \
    }
EACH_BITS(CLEAR_UNLESS)

/* Elements that count, others as `rest`. */
#define CHOOSE(bits)                                                                                            \
    SIMD static void choose_##bits(const void *in, size_t n, const uint8_t *counts, uint64_t rest, void *out) { \
        const bits_##bits *x = in, other = (bits_##bits)rest;                                                   \
        bits_##bits *to = out;                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                          \
            to[i] = counts[i] ? x[i] : other;                                                                   \
    }
EACH_BITS(CHOOSE)

/* Of pairs of finite floats the greater, and the opposite of the other. */
#define ORDER(bits)                                                                                         \
    SIMD static void order_##bits(const void *in, const void *with, size_t n, void *greater, void *minus) { \
        const signed_bits_##bits *x = in, *y = with, most = INT##bits##_MAX;                                \
        signed_bits_##bits *high = greater, *low = minus;                                                   \
        for (size_t i = 0; i < n; i++) {                                                                    \
            const signed_bits_##bits a = x[i], b = y[i];                                                    \
            const bool more = (a ^ (a < 0 ? most : 0)) > (b ^ (b < 0 ? most : 0));                          \
            high[i] = more ? a : b;                                                                         \
            low[i] = (signed_bits_##bits)((more ? b : a) ^ INT##bits##_MIN);                                \
        }                                                                                                   \
    }
EACH_FLOAT_BITS(ORDER)

/* How many pairs of floats differ: zeros do not, and a NaN differs from all. */
#define UNLIKE(bits)                                                                                  \
    SIMD static size_t unlike_##bits(const void *in, const void *with, size_t n, uint64_t infinity) { \
        const bits_##bits *x = in, *y = with, most = (bits_##bits)infinity, size = INT##bits##_MAX;   \
        size_t unlike = 0;                                                                            \
        for (size_t i = 0; i < n; i++)                                                                \
            unlike += ((x[i] != y[i]) & (((x[i] | y[i]) & size) != 0)) | ((x[i] & size) > most);      \
        return unlike;                                                                                \
    }
EACH_FLOAT_BITS(UNLIKE)

/* ---- pairs of ints ---- */

#define EACH_NARROW_INT(F)               \
    F(U8, uint8_t, uint8_t, uint16_t)    \
    F(S8, int8_t, uint8_t, int16_t)      \
    F(U16, uint16_t, uint16_t, uint32_t) \
    F(S16, int16_t, uint16_t, int32_t) F(U32, uint32_t, uint32_t, uint64_t) F(S32, int32_t, uint32_t, int64_t)

typedef void make_pairs(const void *in, const void *with, size_t n, void *out);

#define DIFFERENCE(type, T, size, wide)                                                              \
    SIMD static void differences_##type(const void *in, const void *with, size_t n, void *out) {     \
        const T ALIAS *x = in, *y = with;                                                            \
        size ALIAS *to = out;                                                                        \
        for (size_t i = 0; i < n; i++)                                                               \
            to[i] = x[i] > y[i] ? (size)((size)x[i] - (size)y[i]) : (size)((size)y[i] - (size)x[i]); \
    }
EACH_NARROW_INT(DIFFERENCE)
DIFFERENCE(U64, uint64_t, uint64_t, )
DIFFERENCE(S64, int64_t, uint64_t, )

#define PRODUCT(type, T, size, wide)                                                          \
    SIMD static void products_##type(const void *in, const void *with, size_t n, void *out) { \
        const T ALIAS *x = in, *y = with;                                                     \
        wide ALIAS *to = out;                                                                 \
        for (size_t i = 0; i < n; i++)                                                        \
            to[i] = (wide)((wide)x[i] * (wide)y[i]);                                          \
    }
EACH_NARROW_INT(PRODUCT)

#define DIFFERENCES(type, T, size, wide) [GP_##type] = differences_##type,
static make_pairs *const differences_of[] = {EACH_NARROW_INT(DIFFERENCES) DIFFERENCES(U64, , , )
                                                 DIFFERENCES(S64, , , )};
#define PRODUCTS(type, T, size, wide) [GP_##type] = products_##type,
static make_pairs *const products_of[] = {EACH_NARROW_INT(PRODUCTS)};

/* ---- pairs of floats ---- */

/* |x - y|, rounded to float, or of doubles to double. */
SIMD static void make_apart(unsigned type, const void *in, const void *with, size_t n, void *out) {
    const size_t bytes = gp_type_bytes(type);
    const unsigned char *x = in, *y = with;
    float ALIAS *to = out;
    if (type == GP_F64) {
        const double ALIAS *a = in, *b = with;
        for (size_t i = 0; i < n; i++)
            ((double ALIAS *)out)[i] = __builtin_fabs(a[i] - b[i]);
    } else if (type == GP_F32) {
        const float ALIAS *a = in, *b = with;
        for (size_t i = 0; i < n; i++)
            to[i] = __builtin_fabsf(a[i] - b[i]);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = __builtin_fabsf((float)gp_number_load(type, x + i * bytes).real -
                                    (float)gp_number_load(type, y + i * bytes).real);
    }
}

/* Products of doubles and what rounding these lost. False: some are not so two doubles. */
SIMD static bool make_products(const void *in, const void *with, size_t n, void *products, void *rests) {
    const double ALIAS *x = in, *y = with;
    double ALIAS *product = products, *rest = rests;
    uint64_t open = 0;
    for (size_t i = 0; i < n; i++) {
        double lost;
        const double a = x[i], b = y[i], p = product_and_rest(a, b, &lost), size = __builtin_fabs(p);
        const bool fits = (__builtin_fabs(a) < 0x1p990) & (__builtin_fabs(b) < 0x1p990) & (size < 0x1p1000);
        open |= !fits | !((size > 0x1p-900) | (a == 0) | (b == 0));
        product[i] = p, rest[i] = lost;
    }
    return open == 0;
}

/* Adds the sum of floats, or of the products of pairs of up to 32 bits, to one of the sums of `a`. */
SIMD static void add_sum_of(gp_accumulator *a, const gp_pass *pass, unsigned sum, const void *x, const void *y,
                            size_t n) {
    gp_accumulator these;
    const gp_pass own = y == NULL ? own_pass(pass, GP_PASS_MOMENTS, pass->type, GP_WANT_SUM, x, n)
                                  : own_pass(pass, GP_PASS_PAIR, pass->type, GP_WANT_DOT, x, n);
    gp_accumulator_clear(&these);
    run(&these, &own, x, y, 0, n);
    gp_accumulator_add_sum(a, pass, sum, &these, &own, y == NULL ? GP_SUM : GP_DOT);
}

/* Adds x . y. */
SIMD static bool add_products(gp_accumulator *a, const gp_pass *pass, unsigned sum, const void *x, const void *y,
                              size_t n) {
    made product, rest;
    if (pass->type != GP_F64) {
        add_sum_of(a, pass, sum, x, y, n);
        return true;
    }
    if (!make_products(x, y, n, product.of, rest.of))
        return false;
    add_sum_of(a, pass, sum, product.of, NULL, n);
    add_sum_of(a, pass, sum, rest.of, NULL, n);
    return true;
}

/* No NaN, no infinity. */
static bool are_finite(const gp_pass *pass, const void *x, size_t n) {
    const gp_key_form k = gp_key_form_of(pass->type);
    uint8_t finite[MADE];
    memset(finite, 1, n);
    WITH_FLOAT_BITS(clear_unless, gp_type_bytes(pass->type), x, n, (uint64_t)k.mask, 0, (uint64_t)k.infinity - 1,
                    finite);
    return memchr(finite, 0, n) == NULL;
}

/* |x - y| = max(x, y) - min(x, y), (x - y)^2 = x x + y y - x y - x y. */
SIMD static bool take_pairs_of_floats(gp_accumulator *a, const gp_pass *pass, const void *x, const void *y,
                                      size_t n) {
    const size_t bytes = gp_type_bytes(pass->type);
    const gp_key_form k = gp_key_form_of(pass->type);
    made first, second;
    if ((pass->type == GP_F64 || pass->wants & (GP_WANT_ABS | GP_WANT_SQUARES)) &&
        (!are_finite(pass, x, n) || !are_finite(pass, y, n)))
        return false;
    a->counted = n;
    if (pass->wants & GP_WANT_COUNT)
        a->nonzero = WITH_FLOAT_BITS(unlike, bytes, x, y, n, (uint64_t)k.infinity);
    if (pass->wants & GP_WANT_ABS) {
        WITH_FLOAT_BITS(order, bytes, x, y, n, first.of, second.of);
        add_sum_of(a, pass, GP_ABS, first.of, NULL, n);
        add_sum_of(a, pass, GP_ABS, second.of, NULL, n);
    }
    bool all = !(pass->wants & GP_WANT_DOT) || add_products(a, pass, GP_DOT, x, y, n);
    if (all && pass->wants & GP_WANT_SQUARES) {
        WITH_FLOAT_BITS(order, bytes, x, x, n, second.of, first.of); /* -x */
        all = add_products(a, pass, GP_SQUARES, x, x, n) && add_products(a, pass, GP_SQUARES, y, y, n) &&
              add_products(a, pass, GP_SQUARES, first.of, y, n) && add_products(a, pass, GP_SQUARES, first.of, y, n);
    }
    return all;
}

/* ---- blocks ---- */

/* To an accumulator of no elements. False: not here. */
SIMD static bool take_pairs(gp_accumulator *a, const gp_pass *pass, const void *x, const void *y, size_t n) {
    const bool is_float = gp_type_is_float(pass->type), extreme = pass->kind == GP_PASS_PAIR_EXTREME;
    const unsigned wants = pass->wants, unsigned_type = pass->type - gp_type_is_signed(pass->type); /* of ints */
    made m;
    if (is_float && !extreme)
        return take_pairs_of_floats(a, pass, x, y, n);
    if (is_float) {
        const unsigned type = pass->type == GP_F64 ? GP_F64 : GP_F32;
        make_apart(pass->type, x, y, n, m.of);
        const gp_pass own = own_pass(pass, GP_PASS_EXTREMES, type, GP_WANT_MAX_ABS, m.of, n);
        run(a, &own, m.of, NULL, 0, n);
        return true;
    }
    if (wants != GP_WANT_DOT) {
        differences_of[pass->type](x, y, n, m.of);
        const gp_pass own = own_pass(pass, extreme ? GP_PASS_EXTREMES : GP_PASS_MOMENTS, unsigned_type,
                                     wants & ~(unsigned)GP_WANT_DOT, m.of, n);
        run(a, &own, m.of, NULL, 0, n);
    }
    if (wants & GP_WANT_DOT) {
        gp_accumulator these;
        gp_accumulator_clear(&these);
        products_of[pass->type](x, y, n, m.of);
        const gp_pass own = own_pass(pass, GP_PASS_MOMENTS, pass->type + 2u, GP_WANT_SUM, m.of, n);
        run(&these, &own, m.of, NULL, 0, n);
        a->whole[GP_DOT] = these.whole[GP_SUM];
    }
    return true;
}

/* Elements that count, and others that change nothing: zeros, or one that counts. */
SIMD static bool take_chosen(gp_accumulator *a, const gp_pass *pass, const void *x, const void *first,
                             const uint8_t *counts, size_t n) {
    const size_t bytes = gp_type_bytes(pass->type);
    const bool bits = pass->kind == GP_PASS_BITS, squares = gp_has_wide_squares(pass) && pass->type == GP_F64;
    const unsigned without = GP_WANT_PLACES | (squares ? GP_WANT_SQUARES : 0);
    made m;
    for (unsigned k = 0; k < (bits ? 2 : 1); k++) {
        const unsigned wants = pass->wants & ~without &
                               (!bits    ? UINT16_MAX
                                : k == 0 ? ~(unsigned)GP_WANT_XOR
                                         : GP_WANT_XOR);
        uint64_t rest = 0;
        if (pass->kind == GP_PASS_EXTREMES || (bits && k == 0))
            memcpy(&rest, first, bytes);
        WITH_BITS(choose, bytes, x, n, counts, rest, m.of);
        const gp_pass own = own_pass(pass, pass->kind, pass->type, wants, m.of, n);
        run(a, &own, m.of, NULL, 0, n);
    }
    return !squares || add_products(a, pass, GP_SQUARES, m.of, m.of, n);
}

/* Which of n elements, or pairs, count, and how many. */
SIMD static size_t find_counting(const gp_pass *pass, const unsigned char *x, const unsigned char *y, size_t n,
                                 uint8_t *counts) {
    const gp_key_form k = gp_key_form_of(pass->type), of_mask = gp_key_form_of(pass->with_type);
    const size_t bytes = gp_type_bytes(pass->type), mask_bytes = gp_type_bytes(pass->with_type);
    size_t count = 0;
    memset(counts, 1, n);
    if (pass->where)
        WITH_BITS(clear_unless, mask_bytes, y, n, of_mask.mask != 0 ? (uint64_t)of_mask.mask : UINT64_MAX, 1,
                  UINT64_MAX, counts);
    if (pass->skip_nan)
        WITH_FLOAT_BITS(clear_unless, bytes, x, n, (uint64_t)k.mask, 0, (uint64_t)k.infinity, counts);
    if (pass->skip_nan && pass->kind >= GP_PASS_PAIR)
        WITH_FLOAT_BITS(clear_unless, bytes, y, n, (uint64_t)k.mask, 0, (uint64_t)k.infinity, counts);
    for (size_t i = 0; i < n; i++)
        count += counts[i];
    return count;
}

/* To `these` what n elements or pairs are. False: not here. */
SIMD static bool make(gp_accumulator *these, const gp_pass *pass, const unsigned char *x, const unsigned char *y,
                      size_t n, const uint8_t *counts, size_t count) {
    const size_t bytes = gp_type_bytes(pass->type);
    const bool of_pairs = pass->kind >= GP_PASS_PAIR;
    bool all = true;
    made a, b;
    if (of_pairs && count < n) {
        WITH_FLOAT_BITS(choose, bytes, x, n, counts, 0, a.of);
        WITH_FLOAT_BITS(choose, bytes, y, n, counts, 0, b.of);
        x = a.of, y = b.of;
    }
    if (count > 0 && of_pairs)
        all = take_pairs(these, pass, x, y, n);
    else if (count > 0)
        all = take_chosen(these, pass, x, x + bytes * (size_t)((const uint8_t *)memchr(counts, 1, n) - counts),
                          counts, n);
    these->counted = count;
    return all;
}

/* Squares and products of ints of 64 bits have more than loops hold. */
static bool can_make(const gp_pass *pass) {
    const bool of_64 = !gp_type_is_float(pass->type) && gp_type_bytes(pass->type) == 8;
    return !of_64 || !(pass->wants & (GP_WANT_SQUARES | GP_WANT_DOT));
}

/* Elements and partners without gaps, in blocks. */
NOINLINE SIMD static void run_made(gp_accumulator *a, const gp_pass *pass, const unsigned char *x,
                                   const unsigned char *y, int64_t place, uint64_t n) {
    const int64_t step = pass->axis[pass->kept + pass->reduced - 1].place;
    for (size_t some; n > 0; n -= some, place += (int64_t)some * step) {
        uint8_t counts[MADE];
        gp_accumulator these;
        some = gp_least(n, MADE);
        const size_t count = find_counting(pass, x, y, some, counts);
        const int64_t least = step < 0 ? place + (int64_t)(some - 1) * step : place;
        gp_accumulator_clear(&these);
        if (count == some && pass->kind < GP_PASS_PAIR) {
            gp_pass own = own_pass(pass, pass->kind, pass->type, pass->wants, x, some);
            own.axis[0].place = step;
            run(a, &own, x, NULL, place, some);
        } else if (!make(&these, pass, x, y, some, counts, count) ||
                   ((pass->wants & GP_WANT_PLACES) && gp_may_come_first(a, &these, (uint64_t)least))) {
            gp_pass_run_any(a, pass, x, y, place, some);
        } else if (pass->wants & GP_WANT_PLACES) {
            a->counted += count;
        } else {
            gp_accumulator_merge(a, &these, pass);
        }
        x += some * gp_type_bytes(pass->type);
        if (y != NULL)
            y += some * gp_type_bytes(pass->with_type);
    }
}

/* A gp_pass_run: of plain passes and dot products of floats the loops, of others blocks of what they can. */
SIMD static void run_pass(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                          int64_t place, uint64_t n) {
    const bool plain = with == NULL && !pass->skip_nan;
    const bool dot = pass->wants == GP_WANT_DOT && !pass->skip_nan && run_can(pass);
    if (n < GP_MADE_MIN || plain || dot || pass->reduced == 0 ||
        !gp_pass_is_contiguous(pass, &pass->axis[pass->kept + pass->reduced - 1]) || !can_make(pass))
        run(a, pass, in, with, place, n);
    else
        run_made(a, pass, in, with, place, n);
}
