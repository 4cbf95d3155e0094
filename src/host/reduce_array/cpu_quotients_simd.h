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
