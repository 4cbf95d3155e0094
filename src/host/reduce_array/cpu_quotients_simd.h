/* SPDX-License-Identifier: Apache-2.0 */
/* Variances, deviations, norms and sums of squares of many columns at once, by quotients.h. */
_Static_assert(GP_COLUMNS <= NUMBERS, "columns at once");

SIMD static void read_sums(const gp_columns *c, const gp_pass *pass, unsigned sum, size_t n, numbers *to) {
    const gp_column_sums *s = &c->sums[sum];
    const bool paired = gp_columns_pair(c, pass, sum), real = gp_sum_is_real(pass, sum);
    for (size_t j = 0; j < n && real; j++) {
        const double low = paired ? s->errors[j] : 0, off = paired ? s->rest[j] : -s->errors[j] - s->sum[j];
        to->high[j] = sum_and_rest(s->sum[j], low, &to->low[j]);
        to->off[j] = off == 0 ? 0 : off * (1 + 0x1p-20) + LEAST_OFF;
    }
    for (size_t j = 0; j < n && !real; j++) {
        const int64_t high = s->high[j] + (s->low[j] >> 32), low = s->low[j] & UINT32_MAX;
        to->high[j] = sum_and_rest((double)high * 0x1p32, (double)low, &to->low[j]);
        to->off[j] = ((uint64_t)high + (UINT64_C(1) << 53)) >> 54 != 0 ? __builtin_inf() : 0;
    }
}

/*
 * n Q - S^2 of sums S and of squares Q, to Q. Each number below 2^-53 of the largest is in no more than five
 * roundings. What could be lost below the range of doubles makes it open. Of one element it is 0.
 */
SIMD static void make_numerators(const numbers *s, numbers *q, const double *length, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double a, b, rest;
        const double by = length[j], none = q->high[j] - q->high[j];
        const double sum = s->high[j], least = __builtin_fabs(sum) * 2 + s->off[j];
        const double more = product_and_rest(by, q->high[j], &a), less = product_and_rest(sum, sum, &b);
        const double a2 = by * q->low[j], b2 = 2 * sum * s->low[j], b3 = s->low[j] * s->low[j];
        const double high = sum_and_rest(more, -less, &rest), low = rest + ((a + a2) - (b + (b2 + b3)));
        const double size = ((__builtin_fabs(a) + __builtin_fabs(a2)) + (__builtin_fabs(b) + __builtin_fabs(b2))) +
                            (b3 + __builtin_fabs(rest));
        const double off = by * q->off[j] + least * s->off[j];
        const bool tiny = (sum != 0) & (less < 0x1p-900);
        const double numerator = sum_and_rest(high, low, &rest);
        q->off[j] = by == 1 ? none : (off * (1 + 0x1p-20) + size * 0x1p-49) + (tiny ? __builtin_inf() : 0);
        q->low[j] = by == 1 ? none : rest;
        q->high[j] = by == 1 ? none : numerator;
    }
}

/* A variance, a norm, or a sum of numbers that pairs do not hold, or their mean, each of `length` elements; to is
 * GP_F32 or GP_F64. */
SIMD static void finish_quotients(gp_columns *c, const gp_pass *pass, unsigned op, unsigned sum, const double *length,
                                  unsigned to, size_t n) {
    const bool variance = op >= GP_REDUCE_VARIANCE, sample = op >= GP_REDUCE_VARIANCE_SAMPLE;
    double by[GP_COLUMNS];
    numbers x, s;
    read_sums(c, pass, sum, n, &x);
    if (variance) {
        read_sums(c, pass, GP_SUM, n, &s);
        make_numerators(&s, &x, length, n);
    }
    for (size_t j = 0; j < n; j++)
        by[j] = variance ? length[j] * (length[j] - sample) : op == GP_REDUCE_MEAN ? length[j] : 1;
    round_quotients(op == GP_REDUCE_NORM || op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE, to == GP_F32, &x,
                    by, n, c->bits, c->unsure);
}
