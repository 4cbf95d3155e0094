/* SPDX-License-Identifier: Apache-2.0 */
/* Columns whose results have the elements' type and stand side by side: their lanes become the results. */

/* Extremes as elements. Where a NaN was among these, one of the lanes has a key past the infinities. */
INLINE void store_extremes(size_t bytes, unsigned type, bool min, const unsigned char *greatest,
                           const unsigned char *least, size_t size, unsigned char *to) {
    static const uint8_t of_size[] = {0, GP_U8, GP_U16, 0, GP_U32, 0, 0, 0, GP_U64};
    const form f = {BEST, of_size[bytes], GP_SUM};
    const masks m = masks_of((form){BEST, type, GP_SUM});
    const int64_t infinity = gp_key_form_of(type).infinity >> (gp_type_is_float(type) ? 0 : 64 - 8 * bytes);
    const vec limit = all_of(bytes, infinity), nan = all_of(bytes, infinity | (infinity & -infinity) >> 1);
    for (size_t at = 0; at < size; at += sizeof(vec)) {
        const vec a = load(greatest + at), b = load(least + at), most = max_signed(bytes, a, b);
        const vec past = bytes == 1   ? all(0)
                         : bytes == 2 ? (vec)((signed_16)most > (signed_16)limit)
                         : bytes == 4 ? (vec)((signed_32)most > (signed_32)limit)
                                      : (vec)((signed_64)most > (signed_64)limit);
        const vec x = (key_of(f, &m, min ? ~b : a) & ~past) | (nan & past);
        memcpy(to + at, &x, gp_least(size - at, sizeof x));
    }
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
