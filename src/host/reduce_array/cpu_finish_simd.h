/* SPDX-License-Identifier: Apache-2.0 */
/* A result of many columns at once, as bits, where that takes no more than rounding two doubles. */

/* x - q by, exactly: q is x / by rounded, and its halves have no more than 27 bits, by no more than 26. */
INLINE double left_of(double x, double q, double by) {
    const double upper = gp_f64_of_bits(gp_bits_of_f64(q) & ~UINT64_C(0x7ffffff)), lower = q - upper;
    return (x - upper * by) - lower * by;
}

/*
 * The rounded quotient by an int below 2^26 of sums between x and -y, or, of `paired`, of x + y. What is known of its
 * error decides how a double is rounded: half of the means of two doubles lie in the middle of two others, so that
 * has to be known exactly where it can be. A float is what both ends round to, when they are moved apart by what
 * rounding may have moved them. That is nothing of the quotients q with q by = x, as the middle of two floats has 25
 * bits, and its product by an int below 2^26 is exact.
 */
INLINE void finish_as(bool to_float, bool divided, bool paired, const double *xs, const double *ys,
                      const double *divisors, size_t n, uint64_t *bits, uint64_t *unsure) {
    for (size_t j = 0; j < n; j++) {
        const double by = divided ? divisors[j] : 1;
        const double x = paired ? xs[j] + ys[j] : xs[j], back = x - xs[j];
        const double rest = paired ? (xs[j] - (x - back)) + (ys[j] - back) : 0;
        const double q = divided ? x / by : x, end = paired ? q : divided ? -ys[j] / by : -ys[j];
        const double size = __builtin_fabs(q);
        uint64_t open =
            (q - q != 0) | (divided & (x != 0) & (size < 0x1p-900)); /* no branches, as in all loops of vectors */
        if (to_float) {
            const double off = ((q * by != x) | (rest != 0)) ? 0x1p-51 : 0;
            const double off_end = paired ? off : end * by != -ys[j] ? 0x1p-51 : 0;
            bits[j] = gp_bits_of_f32((float)(q - size * off + 0.0)); /* what is not 0 keeps its sign */
            open |= bits[j] != gp_bits_of_f32((float)(end + __builtin_fabs(end) * off_end + 0.0));
        } else if (!paired || !divided) {
            bits[j] = gp_bits_of_f64(q + 0.0);
            open |= q != end;
        } else {
            const double over = left_of(x, q, by), left = over + rest, added = left - over;
            const double lost = (over - (left - added)) + (rest - added), more = left / by;
            const double off = ((lost != 0) | (left_of(left, more, by) != 0)) ? 0x1p-30 : 0;
            const double low = q + more * (1 - off), high = q + more * (1 + off);
            bits[j] = gp_bits_of_f64(high + 0.0);
            open |= (size > 0x1p1000) | (low != high) | ((left != 0) & (size < 0x1p-900));
        }
        unsure[j] |= open;
    }
}

/* by: what each is divided by, or NULL. */
INLINE void finish_sums(bool paired, const double *x, const double *y, const double *by, unsigned to, size_t n,
                        uint64_t *bits, uint64_t *unsure) {
    if (to == GP_F32 && by == NULL)
        finish_as(true, false, paired, x, y, by, n, bits, unsure);
    else if (to == GP_F32)
        finish_as(true, true, paired, x, y, by, n, bits, unsure);
    else if (by == NULL)
        finish_as(false, false, paired, x, y, by, n, bits, unsure);
    else
        finish_as(false, true, paired, x, y, by, n, bits, unsure);
}

SIMD static void finish_pairs(const double *x, const double *y, const double *by, unsigned to, size_t n,
                              uint64_t *bits, uint64_t *unsure) {
    finish_sums(true, x, y, by, to, n, bits, unsure);
}

SIMD static void finish_bounds(const double *x, const double *y, const double *by, unsigned to, size_t n,
                               uint64_t *bits, uint64_t *unsure) {
    finish_sums(false, x, y, by, to, n, bits, unsure);
}

SIMD static void finish_ints(gp_columns *c, const gp_column_sums *t, const double *by, unsigned to, size_t n) {
    double upper[GP_COLUMNS], lower[GP_COLUMNS];
    for (size_t j = 0; j < n; j++) {
        const int64_t high = t->high[j] + (t->low[j] >> 32), low = t->low[j] & UINT32_MAX;
        c->bits[j] = (uint64_t)high << 32 | (uint64_t)low;
        c->unsure[j] |= to == GP_S64   ? high != (int32_t)high
                        : to == GP_U64 ? high >> 32 != 0
                                       : ((uint64_t)high + (UINT64_C(1) << 53)) >> 54 != 0; /* no double holds it */
        upper[j] = (double)high * 0x1p32;
        lower[j] = (double)low;
    }
    if (to >= GP_F16)
        finish_pairs(upper, lower, by, to, n, c->bits, c->unsure);
}

/* Sums of doubles, those of pairs that hold all of them, or are held by bounds. */
SIMD static void finish_floats(gp_columns *c, const gp_pass *pass, unsigned op, unsigned sum, const double *length,
                               unsigned to, size_t n) {
    const gp_column_sums *s = &c->sums[sum];
    const bool paired = gp_columns_pair(c, pass, sum);
    bool held = true;
    for (size_t j = 0; j < n && paired; j++)
        held &= s->rest[j] == 0;
    if (held)
        (paired ? finish_pairs : finish_bounds)(s->sum, s->errors, op == GP_REDUCE_MEAN ? length : NULL, to, n,
                                                c->bits, c->unsure);
    else
        finish_quotients(c, pass, op, sum, length, to, n);
}

/* Columns none of whose elements count: their sums are 0. */
static void finish_none(gp_columns *c, bool divided, unsigned to, size_t n) {
    for (size_t j = 0; j < n; j++)
        if (c->counted[j] == 0) {
            c->bits[j] = !divided ? 0 : to == GP_F32 ? 0x7fc00000 : UINT64_C(0x7ff8) << 48;
            c->unsure[j] = 0;
        }
}

SIMD static void finish_extremes(gp_columns *c, const gp_pass *pass, const int64_t *key, size_t n) {
    const gp_key_form f = gp_key_form_of(pass->type);
    const bool is_float = gp_type_is_float(pass->type), counts = gp_columns_count(pass);
    const int64_t most = is_float ? f.infinity : INT64_MAX >> (64 - 8 * gp_type_bytes(pass->type));
    for (size_t j = 0; j < n && counts && is_float; j++)
        c->unsure[j] |= c->counted[j] == 0;
    for (size_t j = 0; j < n && counts && (pass->wants & GP_WANT_PLACES); j++) /* of one that does not count? */
        c->unsure[j] |= key[j] == most || key[j] == -most - 1;
    for (size_t j = 0; j < n; j++) {
        const int64_t x = (int64_t)((uint64_t)key[j] + (uint64_t)f.half);
        c->bits[j] = (uint64_t)(x ^ ((x >> 63) & f.mask));
        c->unsure[j] |= c->max[j] > f.infinity || c->min[j] < -f.infinity - 1;
    }
}

/* Which sum a result of moments is of. */
static unsigned sum_of_result(unsigned op) {
    return op == GP_REDUCE_SUM || op == GP_REDUCE_MEAN ? GP_SUM : op == GP_REDUCE_SUM_ABS ? GP_ABS : GP_SQUARES;
}

SIMD static bool finish(gp_columns *c, const gp_pass *pass, unsigned r, size_t n) {
    const unsigned op = pass->result[r].op, to = pass->result[r].type, sum = sum_of_result(op);
    double length[GP_COLUMNS];
    const bool quotient = op >= GP_REDUCE_NORM;
    const int64_t *as_is = op == GP_REDUCE_ARGMIN   ? c->argmin
                           : op == GP_REDUCE_ARGMAX ? c->argmax
                           : op == GP_REDUCE_COUNT  ? c->nonzero
                           : op == GP_REDUCE_AND    ? c->bits_and
                           : op == GP_REDUCE_OR     ? c->bits_or
                           : op == GP_REDUCE_XOR    ? c->bits_xor
                                                    : NULL;
    const bool is_rounded = pass->kind == GP_PASS_EXTREMES && to >= GP_F16 && to != pass->type;
    if (op == GP_REDUCE_MAX_ABS || is_rounded || (quotient && pass->length >> 26 != 0))
        return false;
    for (size_t j = 0; j < n && quotient; j++)
        length[j] = (double)(gp_columns_count(pass) ? c->counted[j] : pass->length);
    if (pass->kind == GP_PASS_EXTREMES)
        finish_extremes(c, pass, op == GP_REDUCE_MIN || op == GP_REDUCE_ARGMIN ? c->min : c->max, n);
    if (as_is != NULL)
        memcpy(c->bits, as_is, n * sizeof *c->bits);
    if (as_is != NULL || pass->kind == GP_PASS_EXTREMES)
        return true;
    if (to == GP_F16 || to == GP_BF16 || (to < GP_F16 && gp_sum_is_real(pass, sum)))
        return false;
    if (quotient && op != GP_REDUCE_MEAN)
        finish_quotients(c, pass, op, sum, length, to, n);
    else if (gp_sum_is_real(pass, sum))
        finish_floats(c, pass, op, sum, length, to, n);
    else
        finish_ints(c, &c->sums[sum], op == GP_REDUCE_MEAN ? length : NULL, to, n);
    if (gp_columns_count(pass))
        finish_none(c, op >= GP_REDUCE_MEAN, to, n);
    return true;
}
