/* SPDX-License-Identifier: Apache-2.0 */
/* The only result of many columns at once, as bits, where that takes no more than rounding two doubles. */

/*
 * The rounded sum of two doubles, or its quotient by an int below 2^26. x - q by is exact, as the halves of q have no
 * more than 27 bits; what is known of the quotient's error then decides how it is rounded, or leaves it unsure. A
 * float is the rounded double, unless that lies in the middle of two, or near the ends of their range.
 */
INLINE void finish_as(bool to_float, bool divided, const double *sum, const double *errors, double by, size_t n,
                      uint64_t *bits, uint64_t *unsure) {
    for (size_t j = 0; j < n; j++) {
        const double x = sum[j] + errors[j], back = x - sum[j];
        const double rest = (sum[j] - (x - back)) + (errors[j] - back);
        const double q = divided ? x / by : x, magnitude = __builtin_fabs(q);
        const double upper = gp_f64_of_bits(gp_bits_of_f64(q) & ~UINT64_C(0x7ffffff)), lower = q - upper;
        const double left = divided ? ((x - upper * by) - lower * by) + rest : rest; /* not 0 where more becomes 0 */
        const double more = divided ? left / by : left;
        const double low = q + more * (1 - 0x1p-30), high = q + more * (1 + 0x1p-30);
        const int rounded = (left != 0) | (divided & (x != 0)); /* no branches, which loops of vectors cannot have */
        if (to_float) {
            const int middle = ((gp_bits_of_f64(q) & 0x1fffffff) == 0x10000000) & (left != 0);
            const int far = ((magnitude < 0x1p-126) | (magnitude > 0x1p127)) & rounded;
            unsure[j] |= (uint64_t)(middle | far);
            bits[j] = gp_bits_of_f32((float)(q + 0.0)); /* what rounds to zero keeps its sign */
        } else {
            const int far = (magnitude < 0x1p-900) | (magnitude > 0x1p1000);
            unsure[j] |= (uint64_t)(divided & rounded & (far | (low != high)));
            bits[j] = gp_bits_of_f64((divided ? high : q) + 0.0);
        }
    }
}

SIMD static void finish_reals(const double *sum, const double *errors, uint64_t by, unsigned to, size_t n,
                              uint64_t *bits, uint64_t *unsure) {
    if (to == GP_F32 && by == 1)
        finish_as(true, false, sum, errors, 1, n, bits, unsure);
    else if (to == GP_F32)
        finish_as(true, true, sum, errors, (double)by, n, bits, unsure);
    else if (by == 1)
        finish_as(false, false, sum, errors, 1, n, bits, unsure);
    else
        finish_as(false, true, sum, errors, (double)by, n, bits, unsure);
}

SIMD static void finish_ints(gp_columns *c, uint64_t by, unsigned to, size_t n) {
    double upper[GP_COLUMNS], lower[GP_COLUMNS];
    const gp_column_totals *t = &c->totals[GP_SUM];
    for (size_t j = 0; j < n; j++) {
        const int64_t high = t->high[j] + (t->low[j] >> 32), low = t->low[j] & UINT32_MAX;
        c->bits[j] = (uint64_t)high << 32 | (uint64_t)low;
        c->unsure[j] = to == GP_S64   ? high != (int32_t)high
                       : to == GP_U64 ? high >> 32 != 0
                                      : ((uint64_t)high + (UINT64_C(1) << 53)) >> 54 != 0; /* no double holds it */
        upper[j] = (double)high * 0x1p32;
        lower[j] = (double)low;
    }
    if (to >= GP_F16)
        finish_reals(upper, lower, by, to, n, c->bits, c->unsure);
}

SIMD static void finish_extremes(gp_columns *c, unsigned type, const int64_t *key, size_t n) {
    const gp_key_form f = gp_key_form_of(type);
    for (size_t j = 0; j < n; j++) {
        const int64_t x = (int64_t)((uint64_t)key[j] + (uint64_t)f.half);
        c->bits[j] = (uint64_t)(x ^ ((x >> 63) & f.mask));
        c->unsure[j] = c->max[j] > f.infinity || c->min[j] < -f.infinity - 1;
    }
}

SIMD static bool finish(gp_columns *c, const gp_pass *pass, size_t n) {
    const unsigned op = pass->result[0].op, to = pass->result[0].type;
    const uint64_t by = op == GP_REDUCE_MEAN ? pass->length : 1;
    const gp_column_sums *s = &c->sums[GP_SUM];
    if (pass->results > 1 || !gp_columns_are_plain(pass) || op == GP_REDUCE_MAX_ABS || by >> 26 != 0 ||
        (pass->kind == GP_PASS_MOMENTS && (to == GP_F16 || to == GP_BF16)))
        return false;
    if (pass->kind == GP_PASS_EXTREMES) {
        finish_extremes(c, pass->type, op == GP_REDUCE_MIN ? c->min : c->max, n);
    } else if (gp_type_is_float(pass->type)) {
        for (size_t j = 0; j < n; j++)
            c->unsure[j] = s->rest[j] << 1;
        finish_reals(s->sum, s->errors, by, to, n, c->bits, c->unsure);
    } else {
        finish_ints(c, by, to, n);
    }
    return true;
}
