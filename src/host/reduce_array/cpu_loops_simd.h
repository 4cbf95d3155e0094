/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of cpu_walks_simd.h for each form that is asked for, in tables by its numbers; masks make few do. */

#define EACH_SIZE(F, how, sum) F(U8, how, sum) F(U16, how, sum) F(U32, how, sum) F(U64, how, sum)
#define EACH_SIGNED(F, sum) F(S8, TOTAL, sum) F(S16, TOTAL, sum) F(S32, TOTAL, sum) F(S64, TOTAL, sum)
#define EACH_WIDE_INT(F, sum) F(U16, TOTAL, sum) F(S16, TOTAL, sum) F(U32, TOTAL, sum) F(S32, TOTAL, sum)
#define EACH_NARROW_FLOAT(F, how, sum) F(F16, how, sum) F(BF16, how, sum) F(F32, how, sum)
#define EACH_TOTAL(F) EACH_WIDE_INT(F, SUM) F(U64, TOTAL, SUM) F(S64, TOTAL, SUM)
#define EACH_SQUARE(F) F(U8, TOTAL, SQUARES) F(S8, TOTAL, SQUARES) EACH_WIDE_INT(F, SQUARES)
#define EACH_OF_INTS(F) EACH_TOTAL(F) EACH_SQUARE(F) EACH_SIGNED(F, ABS) EACH_SIZE(F, TOTAL, SUMS)
#define EACH_OF_FLOATS(F, how) EACH_NARROW_FLOAT(F, how, SUM) F(F64, how, SUM) EACH_NARROW_FLOAT(F, how, SQUARES)
#define EACH_OTHER(F) EACH_SIZE(F, BEST, SUM) F(U64, AND, SUM) F(U64, OR, SUM) F(U64, XOR, SUM)
#define EACH_WIDE_SQUARE(F) F(U64, PAIRS, SQUARES) F(S64, PAIRS, SQUARES) F(F64, PAIRS, SQUARES)
#define EACH_OF_BOTH(F) \
    EACH_OF_INTS(F) EACH_OF_FLOATS(F, BOUNDS) EACH_OF_FLOATS(F, PAIRS) EACH_WIDE_SQUARE(F) EACH_OTHER(F)
#define EACH_OF_ROWS(F) \
    EACH_OF_BOTH(F) EACH_NARROW_FLOAT(F, BOUNDS, MOMENTS) EACH_NARROW_FLOAT(F, PAIRS, DOT) F(U8, BYTES, SUM)
#define EACH_OF_COLUMNS(F) EACH_OF_BOTH(F) F(U8, TOTAL, SUM) F(S8, TOTAL, SUM)

typedef void rows_loop(const masks *m, const rows_of *r, partials *to);
typedef void columns_loop(const masks *m, const rows_of *r, bool fresh, column_lanes to);

#define ROWS(type, how, sum)                                                                                \
    NOINLINE SIMD static void rows_##type##_##how##_##sum(const masks *m, const rows_of *r, partials *to) { \
        over_rows((form){how, GP_##type, GP_##sum}, m, r, to);                                              \
    }
EACH_OF_ROWS(ROWS)

#define COLUMNS(type, how, sum)                                                                            \
    NOINLINE SIMD static void columns_##type##_##how##_##sum(const masks *m, const rows_of *r, bool fresh, \
                                                             column_lanes to) {                            \
        over_columns((form){how, GP_##type, GP_##sum}, m, r, fresh, to);                                   \
    }
EACH_OF_COLUMNS(COLUMNS)

#define ROWS_ENTRY(type, how, sum) [how][GP_##type][GP_##sum] = rows_##type##_##how##_##sum,
static rows_loop *const rows_loops[XOR + 1][GP_F64 + 1][GP_MOMENTS + 1] = {EACH_OF_ROWS(ROWS_ENTRY)};

#define COLUMNS_ENTRY(type, how, sum) [how][GP_##type][GP_##sum] = columns_##type##_##how##_##sum,
static columns_loop *const columns_loops[XOR + 1][GP_F64 + 1][GP_MOMENTS + 1] = {EACH_OF_COLUMNS(COLUMNS_ENTRY)};

/* The form of loops that do what this one asks for: with few types, as masks make the rest. */
static form form_like(form f) {
    static const uint8_t of_size[] = {0, GP_U8, GP_U16, 0, GP_U32, 0, 0, 0, GP_U64};
    const bool is_float = gp_type_is_float(f.type);
    if (f.sum == GP_ABS && (is_float || !gp_type_is_signed(f.type)))
        f.sum = GP_SUM;
    if (f.how == BEST || f.sum == COUNTED)
        f.type = of_size[gp_type_bytes(f.type)];
    if (f.how > BEST)
        f.type = GP_U64;
    return f;
}

INLINE masks masks_of(form f) {
    const bool without_sign = gp_type_is_float(f.type) && (f.sum == GP_ABS || f.sum == COUNTED);
    if (f.how != BEST && !without_sign)
        return (masks){all(-1), all(0)};
    const gp_key_form key = gp_key_form_of(f.type);
    return (masks){all_of(bytes_of(f), key.mask), all_of(bytes_of(f), key.half)};
}

/* Adds to lanes, which are first cleared if they are fresh. */
SIMD static void walk_lanes(form f, const rows_of *r, bool fresh, column_lanes lanes) {
    const form g = form_like(f);
    const masks m = masks_of(f);
    if (f.how == BOUNDS)
        round_sums_as(GP_ROUNDING_DOWN);
    columns_loops[g.how][g.type][g.sum](&m, r, fresh, lanes);
    if (f.how == BOUNDS)
        round_sums_as(GP_ROUNDING_NEAREST);
}

/* Of lanes of columns side by side, which stay in the first-level cache. */
#define LANES_BYTES ((size_t)1 << 15)

SIMD static size_t bytes_of_lane(form f) {
    return f.how >= BEST ? bytes_of(f) : lane_bytes(form_like(f));
}

/* How many columns have lanes, of which those of a part lie behind those of the one before. */
SIMD static size_t columns_at_once(form f) {
    return LANES_BYTES / (parts_of(form_like(f)) * bytes_of_lane(f)) / GP_COLUMNS * GP_COLUMNS;
}

/* Lanes of n columns from number `at` on, as results. */
SIMD static void read_lanes(form f, const unsigned char *lanes, size_t at, size_t n, partials *to) {
    const form g = form_like(f);
    const bool natural = g.how >= BEST || g.type == GP_F16 || g.type >= GP_F32 || has_halves(g);
    const size_t lane = bytes_of_lane(f), pieces = natural ? 1 : g.type == GP_BF16 ? 0 : pieces_of(g);
    for (size_t part = 0; part < parts_of(g); part++)
        order_lanes(lane, pieces, lanes + (part * columns_at_once(f) + at) * lane, n, to->of[part]);
    for (size_t j = 0; j < n && g.how == BOUNDS && bounds_are_one(g); j++)
        to->of[1][j] = to->of[0][j] ^ INT64_MIN;
    for (size_t j = 0; j < n && lane == 2 && g.type == GP_U8; j++)
        to->of[0][j] &= UINT16_MAX;
    for (size_t j = 0; j < n && has_halves(g); j++) {
        const int64_t above = to->of[1][j] * 0x10000;
        to->of[0][j] = above + (uint32_t)(to->of[0][j] - above);
    }
}

/* Bits of eight bytes as those of one element. */
SIMD static void fold_bits(form f, size_t bytes, size_t n, int64_t *to) {
    for (size_t j = 0; j < n; j++) {
        for (unsigned bits = 32; bits >= 8 * bytes; bits /= 2)
            to[j] = f.how == AND  ? to[j] & to[j] >> bits
                    : f.how == OR ? to[j] | to[j] >> bits
                                  : to[j] ^ to[j] >> bits;
        to[j] = extended(to[j], bytes);
    }
}

/* Each row is an output. */
SIMD static void walk_rows(form f, const rows_of *r, partials *to) {
    form g = form_like(f);
    masks m = masks_of(f);
    const bool of_bytes = g.how == TOTAL && g.sum == GP_SUM && bytes_of(g) == 1;
    if (of_bytes) {
        m.flip = all_of(1, g.type == GP_S8 ? 0x80 : 0);
        g = (form){BYTES, GP_U8, GP_SUM};
    }
    if (f.how == BOUNDS)
        round_sums_as(GP_ROUNDING_DOWN);
    rows_loops[g.how][g.type][g.sum](&m, r, to);
    if (f.how == BOUNDS)
        round_sums_as(GP_ROUNDING_NEAREST);
    for (size_t j = 0; j < r->count && of_bytes && f.type == GP_S8; j++)
        to->of[0][j] -= (int64_t)r->n * 0x80;
    if (f.how > BEST)
        fold_bits(f, bytes_of(f), r->count, to->of[0]);
}
