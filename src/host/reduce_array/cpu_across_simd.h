/* SPDX-License-Identifier: Apache-2.0 */
/* Columns whose results have the elements' type and stand side by side: their lanes become the results. */

/* Extremes as elements. */
INLINE void store_extremes(size_t bytes, unsigned type, bool min, const unsigned char *greatest,
                           const unsigned char *least, size_t size, unsigned char *to) {
    const extremes_form e = extremes_form_of(bytes, type);
    for (size_t at = 0; at < size; at += sizeof(vec)) {
        const vec x = extremes_of(bytes, &e, min, load(greatest + at), load(least + at));
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
    if (pass->kind != GP_PASS_BITS && pass->length <= GP_FEW_ROWS) {
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
