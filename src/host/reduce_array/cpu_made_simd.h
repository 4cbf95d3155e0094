/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that are made of others, as made.h says, by loops that compilers make of vectors. */

/* Elements at once: what is made on the way lies on the stack, of which a call promises to take little. */
#define MADE 512

typedef struct {
    _Alignas(64) unsigned char of[MADE * sizeof(double)];
} made;

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

/* Pairs with an infinity or a NaN become what |x - y| is of them, or 0, and 0. */
#define TAME(bits)                                                                                             \
    SIMD static void tame_##bits(const void *in, const void *with, size_t n, uint64_t infinity, uint64_t kept, \
                                 void *first, void *second) {                                                  \
        const bits_##bits *x = in, *y = with, most = (bits_##bits)infinity, size = INT##bits##_MAX;            \
        bits_##bits *a = first, *b = second;                                                                   \
        for (size_t i = 0; i < n; i++) {                                                                       \
            const bits_##bits u = x[i] & size, v = y[i] & size;                                                \
            const bool special = (u >= most) | (v >= most), nan = (u > most) | (v > most) | (x[i] == y[i]);    \
            a[i] = special ? (bits_##bits)((most | nan) & kept) : x[i];                                        \
            b[i] = special ? 0 : y[i];                                                                         \
        }                                                                                                      \
    }
EACH_FLOAT_BITS(TAME)

/* Which pairs of floats differ: zeros do not, and a NaN differs from all. */
#define UNLIKE(bits)                                                                                              \
    SIMD static void unlike_##bits(const void *in, const void *with, size_t n, uint64_t infinity, uint8_t *out) { \
        const bits_##bits *x = in, *y = with, most = (bits_##bits)infinity, size = INT##bits##_MAX;               \
        for (size_t i = 0; i < n; i++)                                                                            \
            out[i] = ((x[i] != y[i]) & (((x[i] | y[i]) & size) != 0)) | ((x[i] & size) > most);                   \
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

INLINE void doubles_as(unsigned type, const unsigned char *x, size_t n, double *to) {
    const size_t bytes = gp_type_bytes(type), of_vector = sizeof(vec) / bytes;
    for (size_t some; n > 0; n -= some, x += some * bytes, to += some) {
        double part[sizeof(vec) / 2], *at = type == GP_BF16 || n < of_vector ? part : to;
        some = gp_least(n, of_vector);
        const vec y = load_part(x, some * bytes, x + n * bytes);
        for (size_t piece = 0; piece < sizeof(double) / bytes; piece++)
            store(at + piece * REALS, widened_floats(type, y, piece));
        for (size_t k = 0; k < some && at == part; k++)
            to[k] = part[type == GP_BF16 ? k % 2 * (of_vector / 2) + k / 2 : k];
    }
}

/* Floats of up to 32 bits as doubles. */
SIMD static void make_doubles(unsigned type, const void *in, size_t n, double *to) {
    if (type == GP_F16)
        doubles_as(GP_F16, in, n, to);
    else if (type == GP_BF16)
        doubles_as(GP_BF16, in, n, to);
    else
        doubles_as(GP_F32, in, n, to);
}

/* |x - y|, rounded to float, or of doubles to double. */
SIMD static void make_apart(unsigned type, const void *in, const void *with, size_t n, void *out) {
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
        double a[MADE], b[MADE];
        make_doubles(type, in, n, a);
        make_doubles(type, with, n, b);
        for (size_t i = 0; i < n; i++)
            to[i] = __builtin_fabsf((float)a[i] - (float)b[i]);
    }
}

/* Products of doubles and what rounding these lost; of an infinity or a NaN nothing. False: some are not so two
 * doubles. */
SIMD static bool make_products(const void *in, const void *with, size_t n, double *product, double *rest) {
    const double ALIAS *x = in, *y = with;
    uint64_t open = 0;
    for (size_t i = 0; i < n; i++) {
        double lost;
        const double a = x[i], b = y[i], p = product_and_rest(a, b, &lost), size = __builtin_fabs(p);
        const bool special = (a - a != 0) | (b - b != 0);
        const bool fits = (__builtin_fabs(a) < 0x1p990) & (__builtin_fabs(b) < 0x1p990) & (size < 0x1p1000);
        open |= (!special) & ((!fits) | (!((size > 0x1p-900) | (a == 0) | (b == 0))));
        product[i] = p, rest[i] = special ? 0 : lost;
    }
    return open == 0;
}

/* Which of n elements, or pairs, count. */
SIMD static void find_counting(const gp_pass *pass, const unsigned char *x, const unsigned char *y, size_t n,
                               uint8_t *counts) {
    const gp_key_form k = gp_key_form_of(pass->type), of_mask = gp_key_form_of(pass->with_type);
    const size_t bytes = gp_type_bytes(pass->type), mask_bytes = gp_type_bytes(pass->with_type);
    memset(counts, 1, n);
    if (pass->where)
        WITH_BITS(clear_unless, mask_bytes, y, n, of_mask.mask != 0 ? (uint64_t)of_mask.mask : UINT64_MAX, 1,
                  UINT64_MAX, counts);
    if (pass->skip_nan)
        WITH_FLOAT_BITS(clear_unless, bytes, x, n, (uint64_t)k.mask, 0, (uint64_t)k.infinity, counts);
    if (pass->skip_nan && pass->kind >= GP_PASS_PAIR)
        WITH_FLOAT_BITS(clear_unless, bytes, y, n, (uint64_t)k.mask, 0, (uint64_t)k.infinity, counts);
}

/* factor * x y of floats, or of doubles what rounding that lost. */
SIMD static bool make_scaled(unsigned type, bool rests, const void *x, const void *y, double factor, size_t n,
                             double *to) {
    made a, b;
    double *first = (double *)(void *)a.of, *second = (double *)(void *)b.of;
    if (type == GP_F64) {
        if (!(rests ? make_products(x, y, n, first, to) : make_products(x, y, n, to, first)))
            return false;
    } else {
        make_doubles(type, x, n, first);
        make_doubles(type, y, n, second);
        for (size_t i = 0; i < n; i++)
            to[i] = first[i] * second[i];
    }
    for (size_t i = 0; i < n && factor != 1; i++)
        to[i] *= factor;
    return true;
}

#define REST_OF_SQUARES 3 /* the piece behind a first one of squares; 1 and 2 are those of products */

/*
 * Squares of differences of floats of up to 32 bits, or what rounding these squares lost, if that is anything in
 * *more. False: a double does not hold some difference, or it is of an infinity or a NaN.
 */
SIMD static bool make_squares(unsigned type, bool rests, const void *x, const void *y, size_t n, double *to,
                              bool *more) {
    made a, b;
    double *first = (double *)(void *)a.of, *second = (double *)(void *)b.of;
    uint64_t open = 0, some = 0;
    make_doubles(type, x, n, first);
    make_doubles(type, y, n, second);
    for (size_t i = 0; i < n; i++) {
        double lost, rest;
        const double apart = sum_and_rest(first[i], -second[i], &lost),
                     square = product_and_rest(apart, apart, &rest);
        open |= !(lost == 0);
        some |= rest != 0;
        to[i] = rests ? rest : square;
    }
    *more |= some != 0;
    return open == 0;
}

/* Of at most MADE; NULL: all count. */
SIMD static bool make_some(const gp_made_pass *how, unsigned piece, const unsigned char *x, const unsigned char *y,
                           size_t n, const uint8_t *counts, void *out) {
    const gp_pass *pass = &how->asked;
    const size_t bytes = gp_type_bytes(pass->type);
    const gp_key_form k = gp_key_form_of(pass->type);
    const bool rests = pass->type == GP_F64 && piece % 2 != 0;
    const unsigned term = pass->type == GP_F64 ? piece / 2 : piece;
    made a, b;
    if (counts != NULL && pass->kind >= GP_PASS_PAIR) {
        WITH_FLOAT_BITS(choose, bytes, x, n, counts, 0, a.of);
        WITH_FLOAT_BITS(choose, bytes, y, n, counts, 0, b.of);
        x = a.of, y = b.of;
    }
    if (how->how == GP_MAKE_ORDERED || how->how == GP_MAKE_SQUARES) {
        WITH_FLOAT_BITS(tame, bytes, x, y, n, (uint64_t)k.infinity, term == 0 ? UINT64_MAX : 0, a.of, b.of);
        x = a.of, y = b.of;
    }
    switch (how->how) {
    case GP_MAKE_CHOSEN:
        WITH_BITS(choose, bytes, x, n, counts, how->rest, out);
        return true;
    case GP_MAKE_DIFFERENCES:
        differences_of[pass->type](x, y, n, out);
        return true;
    case GP_MAKE_APART:
        make_apart(pass->type, x, y, n, out);
        return true;
    case GP_MAKE_UNLIKE:
        WITH_FLOAT_BITS(unlike, bytes, x, y, n, (uint64_t)k.infinity, out);
        return true;
    case GP_MAKE_ORDERED: {
        made other;
        WITH_FLOAT_BITS(order, bytes, x, y, n, piece == 0 ? out : other.of, piece == 0 ? other.of : out);
        return true;
    }
    case GP_MAKE_PRODUCTS:
        if (gp_type_is_float(pass->type))
            return make_scaled(pass->type, rests, x, y, 1, n, out);
        products_of[pass->type](x, y, n, out);
        return true;
    default:
        return make_scaled(pass->type, rests, term == 1 ? y : x, term == 0 ? x : y, term == 2 ? -2 : 1, n, out);
    }
}

/* Of floats of which all count. False: others have to be made. */
SIMD static bool make_all_squares(const gp_made_pass *how, unsigned *next, const unsigned char *x,
                                  const unsigned char *y, size_t n, unsigned char *out) {
    const unsigned type = how->asked.type;
    const size_t bytes = gp_type_bytes(type);
    const bool rests = *next == REST_OF_SQUARES;
    bool more = false;
    for (size_t i = 0; i < n; i += MADE)
        if (!make_squares(type, rests, x + i * bytes, y + i * bytes, gp_least(n - i, MADE),
                          (double *)(void *)(out + i * sizeof(double)), &more))
            return false;
    *next = more && !rests ? REST_OF_SQUARES : GP_MADE_ALL;
    return true;
}

/* A gp_pass_make. */
SIMD static const unsigned char *make_elements(const gp_made_pass *how, unsigned *next, const unsigned char *x,
                                               const unsigned char *y, size_t n, uint8_t *counts,
                                               unsigned char *out) {
    const gp_pass *pass = &how->asked;
    const unsigned piece = *next;
    const size_t bytes = gp_type_bytes(pass->type), made_bytes = gp_type_bytes(how->pass.type);
    const size_t with_bytes = gp_type_bytes(pass->with_type);
    const bool counting = pass->where || pass->skip_nan;
    if (counting && piece == 0)
        find_counting(pass, x, y, n, counts);
    const bool all = !counting || memchr(counts, 0, n) == NULL;
    if (all && how->how == GP_MAKE_SQUARES && pass->type != GP_F64 && (piece == 0 || piece == REST_OF_SQUARES) &&
        make_all_squares(how, next, x, y, n, out))
        return out;
    *next = piece + 1 < how->pieces ? piece + 1 : GP_MADE_ALL;
    if (all && how->how == GP_MAKE_CHOSEN)
        return x;
    for (size_t i = 0; i < n; i += MADE)
        if (!make_some(how, piece, x + i * bytes, y != NULL ? y + i * with_bytes : NULL, gp_least(n - i, MADE),
                       all ? NULL : counts + i, out + i * made_bytes))
            return NULL;
    return out;
}
