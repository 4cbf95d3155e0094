/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floats of a bounded spread as whole numbers of one unit; and those that are no numbers. These are summed as zeros,
 * and how many of each kind a window holds then says what its results are.
 */
/* Numbers of each kind in a window; windows have fewer elements. */
#define KIND_BITS 21
#define OF_KIND(kind) ((uint64_t)1 << KIND_BITS * (kind))
#define HOLDS_KIND(kinds, kind) ((unsigned)(((kinds) >> KIND_BITS * (kind) & (OF_KIND(1) - 1)) != 0))
enum { NANS, PLUS, MINUS, KINDS };

/* Of the tile's elements the greatest magnitude, and the least that is not 0, less 1. */
SIMD static void find_spread(moments *m, uint32_t *below_it, uint32_t *greatest) {
    const gp_window_tile *t = m->tile;
    const int64_t begin = (int64_t)t->y_begin - t->y.before, end = (int64_t)t->y_end - t->y.before + t->y.window - 1;
    const bool all_rows = end - begin >= (int64_t)t->y.n;
    uint32_t below = (254u << 23) - 1, most = 1u << 23;
    for (int64_t i = all_rows ? 0 : begin; i < (all_rows ? (int64_t)t->y.n : end); i++) {
        const int32_t *row = line_at(m, i, true);
        for (size_t k = 0; k < t->held; k++) {
            const uint32_t x = (uint32_t)row[k] & INT32_MAX;
            below = x - 1 < below ? x - 1 : below;
            most = x > most ? x : most;
        }
    }
    *below_it = below;
    *greatest = most;
}

/* False: these floats have too large a spread for this, or their windows are too large. */
static bool find_unit(moments *m) {
    uint32_t below, most;
    m->specials = false;
    find_spread(m, &below, &most);
    m->specials = most >= MAGNITUDE_OF_INFINITY;
    if (m->specials)
        find_spread(m, &below, &most);
    const int low = (below + 1) >> 23 > 0 ? (int)((below + 1) >> 23) : 1, high = (int)(most >> 23);
    m->unit = low - 150;
    m->scale = power_of_two(-m->unit);
    m->most = power_of_two(high - low + 24);
    return high - low + 24 <= 62 && sums_below(m, 0x1p126, 0x1p126, 0x1p126) &&
           !(m->specials && area(m->tile) >= (double)OF_KIND(1));
}

/* Adds what row i has of each kind to the columns. */
SIMD static void count_specials(moments *m, int64_t i, uint64_t times) {
    uint64_t *restrict column = (uint64_t *)m->sum + m->pad + m->tile->left;
    const uint32_t *restrict row = line_at(m, i, true);
    const size_t held = m->tile->held;
    for (size_t k = 0; k < held; k++) {
        const uint32_t x = row[k] & INT32_MAX;
        const uint64_t infinite = row[k] >> 31 ? OF_KIND(MINUS) : OF_KIND(PLUS);
        column[k] += (x > MAGNITUDE_OF_INFINITY ? OF_KIND(NANS) : x == MAGNITUDE_OF_INFINITY ? infinite : 0) * times;
    }
}

/* The results of windows that hold some of these kinds. */
static void results_of(const gp_window_one *one, unsigned kinds, uint64_t of[GP_PASS_RESULTS]) {
    const uint32_t nan = kinds >> NANS & 1 ? GP_EXACT_NAN : 0, plus = kinds >> PLUS & 1 ? GP_EXACT_PLUS_INFINITY : 0,
                   minus = kinds >> MINUS & 1 ? GP_EXACT_MINUS_INFINITY : 0;
    for (unsigned r = 0; r < one->box->results; r++) {
        gp_accumulator a;
        gp_accumulator_clear(&a);
        a.counted = 2;
        (void)gp_accumulator_limbs(&a, &one->pass, GP_SUM);
        (void)gp_accumulator_limbs(&a, &one->pass, GP_SQUARES);
        a.flags[GP_SUM] = nan | plus | minus;
        a.flags[GP_SQUARES] = nan | (plus | minus ? GP_EXACT_PLUS_INFINITY : 0);
        (void)gp_accumulator_write(&a, &one->pass, r, (unsigned char *)&of[r]);
    }
}

/* Writes to the outputs from number `begin` on, those whose windows hold special elements. */
static void write_results(const gp_window_tile *t, unsigned r, uint64_t y, const uint64_t *held, size_t begin,
                          size_t end, uint64_t result[1 << KINDS][GP_PASS_RESULTS]) {
    const size_t bytes = gp_type_bytes(t->one->box->result[r].type);
    unsigned char *const to = gp_window_result_row(t, r, y);
    for (size_t i = begin; i < end; i++) {
        const uint64_t x = held[i - begin];
        if (x == 0)
            continue;
        const unsigned kinds =
            HOLDS_KIND(x, NANS) << NANS | HOLDS_KIND(x, PLUS) << PLUS | HOLDS_KIND(x, MINUS) << MINUS;
        memcpy(gp_window_output(t, r, to, i), &result[kinds][r], bytes);
    }
}

/* Once more over the tile's rows, whose other results are written. */
SIMD static void write_specials(moments *m) {
    const gp_window_tile *t = m->tile;
    const gp_window_box *box = t->one->box;
    const gp_window_held rows = gp_window_held_of(&t->y, box->border, t->y_begin);
    uint64_t result[1 << KINDS][GP_PASS_RESULTS], *const of = m->sums;
    for (unsigned kinds = 1; kinds < 1 << KINDS; kinds++)
        results_of(t->one, kinds, result[kinds]);
    gp_streams_done();
    m->specials = false;
    memset(m->sum, 0, m->columns * sizeof *of);
    for (unsigned s = 0; s < rows.stretches; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++)
            count_specials(m, rows.at[s].first + i, rows.at[s].times);
    for (uint64_t y = t->y_begin;;) {
        for (size_t x = 0, c = t->channels, there = 0, end; x < t->n; there = end - x, x = end) {
            end = gp_least(t->n, x + SLID);
            memmove(of - c, of + there - c, c * sizeof *of);
            slide_along_wide(m, (uint64_t *)m->sum + m->pad, of - x, x, end);
            for (unsigned r = 0; r < box->results; r++)
                write_results(t, r, y, of, x, end, result);
        }
        if (++y == t->y_end)
            return;
        count_specials(m, (int64_t)y - t->y.before + t->y.window - 1, 1);
        count_specials(m, (int64_t)y - t->y.before - 1, UINT64_MAX);
    }
}
