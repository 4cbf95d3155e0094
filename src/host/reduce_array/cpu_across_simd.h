/* SPDX-License-Identifier: Apache-2.0 */
/* Columns whose results have the elements' type and stand side by side: their lanes become the results. */

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

INLINE void store_extremes(size_t bytes, unsigned type, bool min, const unsigned char *greatest,
                           const unsigned char *least, size_t size, unsigned char *to) {
    const extremes_form e = extremes_form_of(bytes, type);
    for (size_t at = 0; at < size; at += sizeof(vec)) {
        const vec x = extremes_of(bytes, &e, min, load(greatest + at), load(least + at));
        memcpy(to + at, &x, gp_least(size - at, sizeof x));
    }
}

#define ROWS_AT_ONCE_MOST 12 /* of 16 that are a power of two apart many lie in one set of the first-level cache */
#define NEXT_BYTES ((int64_t)1 << 16)

/* Few rows, each so many bytes behind `in`: without lanes. */
typedef struct {
    const unsigned char *in, *end; /* end: of the input */
    int64_t row[ROWS_AT_ONCE_MOST];
    uint64_t rows;
    int64_t next; /* to what comes next, which no core sees coming; 0: nothing, or it is in a cache */
    unsigned char *to[GP_PASS_RESULTS];
} few_rows;

INLINE void take_few_at(size_t bytes, const gp_pass *pass, const few_rows *few, const extremes_form *e, size_t at,
                        size_t some) {
    vec greatest = {0}, least = {0};
    for (uint64_t i = 0; i < few->rows; i++) {
        const unsigned char *from = few->in + few->row[i] + at;
        if (few->next != 0)
            __builtin_prefetch(from + 2 * few->next, 0, 2);
        const vec key = key_of(e->f, &e->m, some == sizeof(vec) ? load(from) : load_part(from, some, few->end));
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

/* By itself, for its frame. */
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
    GP_WITH_BYTES(take_few, bytes, pass, &few, width * bytes);
}

SIMD static void store_across(const gp_pass *pass, form f, const unsigned char *lanes, size_t n, uint64_t first) {
    static const uint8_t method_of[] = {[GP_REDUCE_MIN] = BEST,
                                        [GP_REDUCE_MAX] = BEST,
                                        [GP_REDUCE_AND] = AND,
                                        [GP_REDUCE_OR] = OR,
                                        [GP_REDUCE_XOR] = XOR};
    const size_t bytes = bytes_of(f);
    for (unsigned r = 0; r < pass->results; r++) {
        const unsigned op = pass->result[r].op;
        unsigned char *to = gp_pass_address(pass, r, first);
        if (f.how == BEST)
            GP_WITH_BYTES(store_extremes, bytes, pass->type, op == GP_REDUCE_MIN, lanes,
                          lanes + columns_at_once(f) * bytes, n * bytes, to);
        else if (method_of[op] == f.how)
            memcpy(to, lanes, n * bytes);
    }
}

/* Outputs first .. first + width - 1, of one row of them. */
SIMD static void across(const gp_pass *pass, uint64_t first, uint64_t width) {
    if (pass->kind == GP_PASS_EXTREMES && pass->length <= ROWS_AT_ONCE_MOST) {
        across_few(pass, first, width);
        return;
    }
    _Alignas(64) unsigned char lanes[LANES_BYTES];
    const gp_pass_axis *inner = pass->axis + pass->kept + pass->reduced - 1;
    const size_t bytes = gp_type_bytes(pass->type);
    const gp_pass_span span = gp_pass_input_span(pass, false);
    const wanted_forms wanted = forms_of(pass, BOUNDS);
    for (size_t k = 0; k < wanted.count; k++) {
        const form f = wanted.of[k];
        const size_t most = columns_at_once(f);
        for (uint64_t at = 0, n; at < width; at += n) {
            n = gp_least(width - at, most);
            const unsigned char *in = pass->in + gp_pass_way_to(pass, 0, pass->kept, first + at).in;
            rows_of r = {NULL, NULL,      span.begin + span.bytes,    inner->in, inner->n,
                         n,    n * bytes, span.bytes > IN_CACHE_BYTES};
            for (uint64_t i = 0; i < pass->length / inner->n; i++) {
                r.in = in + gp_pass_way_to(pass, pass->kept, pass->kept + pass->reduced, i * inner->n).in;
                walk_lanes(f, &r, i == 0, (column_lanes){lanes, lanes + most * bytes, NULL});
            }
            store_across(pass, f, lanes, n, first + at);
        }
    }
}
