/* SPDX-License-Identifier: Apache-2.0 */
/* Extremes and sums of so few rows that lanes and columns would take longer than the rows. */

/* How keys become elements again; one past `limit` is a NaN's. */
typedef struct {
    form f;
    masks m;
    vec limit, nan;
} extremes_form;

INLINE extremes_form extremes_form_of(size_t bytes, unsigned type) {
    static const uint8_t of_size[] = {0, GP_U8, GP_U16, 0, GP_U32, 0, 0, 0, GP_U64};
    const int64_t infinity = gp_key_form_of(type).infinity >> (gp_type_is_float(type) ? 0 : 64 - 8 * bytes);
    return (extremes_form){{BEST, of_size[bytes], GP_SUM},
                           masks_of((form){BEST, type, GP_SUM}),
                           all_of(bytes, infinity),
                           all_of(bytes, infinity | (infinity & -infinity) >> 1)};
}

/* Of the greatest keys, and the greatest complements of keys. Where a NaN was among these, one of the lanes has a key
 * past the infinities. */
INLINE vec extremes_of(size_t bytes, const extremes_form *e, bool min, vec greatest, vec least) {
    const vec most = max_signed(bytes, greatest, least);
    const vec past = bytes == 1   ? all(0)
                     : bytes == 2 ? (vec)((signed_16)most > (signed_16)e->limit)
                     : bytes == 4 ? (vec)((signed_32)most > (signed_32)e->limit)
                                  : (vec)((signed_64)most > (signed_64)e->limit);
    return (key_of(e->f, &e->m, min ? ~least : greatest) & ~past) | (e->nan & past);
}

#define NEXT_BYTES ((int64_t)1 << 16)

/* Rows, each so many bytes behind `in`, of which results are elements side by side. */
typedef struct {
    const unsigned char *in, *end; /* end: of the input */
    int64_t row[GP_FEW_ROWS];
    uint64_t rows;
    int64_t next; /* to what comes next, which no core sees coming; 0: nothing, or it is in a cache */
    unsigned char *to[GP_PASS_RESULTS];
} few_rows;

/* Some bytes of a row. */
INLINE vec load_of_few(const few_rows *few, uint64_t row, size_t at, size_t some) {
    const unsigned char *from = few->in + few->row[row] + at;
    if (few->next != 0)
        __builtin_prefetch(from + 2 * few->next, 0, 2);
    return some == sizeof(vec) ? load(from) : load_part(from, some, few->end);
}

INLINE void take_few_at(size_t bytes, const gp_pass *pass, const few_rows *few, const extremes_form *e, size_t at,
                        size_t some) {
    vec greatest = {0}, least = {0};
    for (uint64_t i = 0; i < few->rows; i++) {
        const vec key = key_of(e->f, &e->m, load_of_few(few, i, at, some));
        greatest = i == 0 ? key : max_signed(bytes, greatest, key);
        least = i == 0 ? ~key : max_signed(bytes, least, ~key);
    }
    for (unsigned r = 0; r < pass->results; r++) {
        const vec x = extremes_of(bytes, e, pass->result[r].op == GP_REDUCE_MIN, greatest, least);
        memcpy(few->to[r] + at, &x, some);
    }
}

INLINE void take_few(size_t bytes, const gp_pass *pass, const few_rows *few, size_t size) {
    const extremes_form e = extremes_form_of(bytes, pass->type);
    size_t at = 0;
    for (; at + sizeof(vec) <= size; at += sizeof(vec))
        take_few_at(bytes, pass, few, &e, at, sizeof(vec));
    if (at < size)
        take_few_at(bytes, pass, few, &e, at, size - at);
}

/* By the reference. By itself, for its frame. */
NOINLINE static void redo_few(const gp_pass *pass, const few_rows *few, unsigned r, size_t at) {
    gp_accumulator a;
    gp_accumulator_clear(&a);
    for (uint64_t i = 0; i < few->rows; i++)
        gp_accumulator_take(&a, pass, few->in + few->row[i] + at, NULL, 0);
    (void)gp_accumulator_write(&a, pass, r, few->to[r] + at);
}

/*
 * s / by, and in which lanes that is open. Of floats, whose sums are exact: the quotient as a double lies on the same
 * side of the middle of two floats as the true one, or is that where the true one is, since these differ by more than
 * half of a double's last bit where they do: a sum differs from `by` times the middle, which has 29 bits, by its own
 * last bit at least. Of doubles `by` is a power of two, and what is rounded is not to be rounded again as a
 * subnormal. NaNs and infinities of floats are not open.
 */
INLINE reals few_quotients(size_t bytes, const partial *s, uint64_t by, wide *open) {
    const double divisor = (double)by, inverse = 1 / divisor;
    const reals zero = (reals)all(0), sum = (reals)s->of[0], rest = (reals)s->of[1];
    const reals both = (bytes == 4 ? sum : sum + rest) + 0.0; /* no -0; but what rounds to 0 keeps its sign */
    const reals y = (by & (by - 1)) == 0 ? both * inverse : both / divisor;
    const wide tiny = (wide)(magnitudes_of(y) < 0x1p-1000) & (wide)(rest != zero);
    if (bytes == 8)
        *open = (wide)((reals)s->of[2] != zero) | (wide)(y - y != zero) | tiny;
    else
#if defined(HAS_SUMS_DOWN)
        *open = (wide)(sum < -rest);
#else
        *open = (wide)(rest > zero);
#endif
    return y;
}

/* Sums of floats are exact if part 1 is minus them (0, where sums are not rounded down). */
INLINE void add_few(partial *s, reals x) {
#if defined(HAS_SUMS_DOWN)
    s->of[0] = (vec)sum_down((reals)s->of[0], x);
    s->of[1] = (vec)less_down((reals)s->of[1], x);
#else
    reals lost;
    s->of[0] = (vec)added((reals)s->of[0], x, &lost);
    s->of[1] = (vec)((reals)s->of[1] + magnitudes_of(lost));
#endif
}

/* Sums and means of f32 and f64 as such, as gp_across_width() tells. */
INLINE void sum_few_at(size_t bytes, const gp_pass *pass, const few_rows *few, size_t at, size_t some) {
    const size_t pieces = 8 / bytes;
    partial s[2] = {0};
    for (uint64_t i = 0; i < few->rows; i++) {
        const vec x = load_of_few(few, i, at, some);
#pragma GCC unroll 2
        for (size_t p = 0; p < pieces; p++)
            if (bytes == 4) {
                add_few(&s[p], (reals)widened_floats(GP_F32, x, p));
            } else {
                add_pair(&s[p], (reals)x);
            }
    }
    for (unsigned r = 0; r < pass->results; r++) {
        const uint64_t by = pass->result[r].op == GP_REDUCE_MEAN ? few->rows : 1;
        wide open[2] = {0};
        reals y[2];
        int64_t lane[2 * REALS];
#pragma GCC unroll 2
        for (size_t p = 0; p < pieces; p++)
            y[p] = few_quotients(bytes, &s[p], by, &open[p]);
        vec x = (vec)y[0];
        if (bytes == 4) {
            const fvec narrow = narrow_both(y[0], y[pieces - 1]);
            x = (vec)(narrow == narrow);
            x = ((vec)narrow & x) | (all(0x7fc00000) & ~x);
        }
        memcpy(few->to[r] + at, &x, some);
        if (add_lanes_64(open[0] | open[1]) == 0)
            continue;
        memcpy(lane, open, sizeof lane);
        for (size_t j = 0; j < some / bytes; j++)
            if (lane[j] != 0)
                redo_few(pass, few, r, at + j * bytes);
    }
}

INLINE void sum_few(size_t bytes, const gp_pass *pass, const few_rows *few, size_t size) {
    size_t at = 0;
    for (; at + sizeof(vec) <= size; at += sizeof(vec))
        sum_few_at(bytes, pass, few, at, sizeof(vec));
    if (at < size)
        sum_few_at(bytes, pass, few, at, size - at);
}

/* Outputs first .. first + width - 1, of one row of them. By itself, for its frame. */
NOINLINE SIMD static void across_few(const gp_pass *pass, uint64_t first, uint64_t width) {
    const gp_pass_span span = gp_pass_input_span(pass, false);
    const size_t bytes = gp_type_bytes(pass->type);
    const int64_t next = pass->kept > 1 && span.bytes > IN_CACHE_BYTES ? pass->axis[pass->kept - 2].in : 0;
    few_rows few = {.in = pass->in + gp_pass_way_to(pass, 0, pass->kept, first).in,
                    .end = span.begin + span.bytes,
                    .rows = pass->length,
                    .next = next < NEXT_BYTES ? next : 0};
    for (uint64_t i = 0; i < pass->length; i++)
        few.row[i] = gp_pass_way_to(pass, pass->kept, pass->kept + pass->reduced, i).in;
    for (unsigned r = 0; r < pass->results; r++)
        few.to[r] = gp_pass_address(pass, r, first);
    if (pass->kind == GP_PASS_MOMENTS && bytes == 4)
        sum_few(4, pass, &few, width * 4);
    else if (pass->kind == GP_PASS_MOMENTS)
        sum_few(8, pass, &few, width * 8);
    else
        GP_WITH_BYTES(take_few, bytes, pass, &few, width * bytes);
}
