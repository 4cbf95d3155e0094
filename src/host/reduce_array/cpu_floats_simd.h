/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of floats by the levels of cpu_levels_simd.h, the quick way first, and what passes of floats ask for. */

/* Rounding down: adds n floats, unless that cannot be proven exact. */
__attribute__((noinline)) SIMD static bool add_down(summation *s, const float *x, size_t n) {
    bounds t[SIDES];
    memcpy(t, s->side, sizeof t);
    add_elements(GP_F32, GP_WANT_SUM, (const unsigned char *)x, n, s->end_of_input, t, NULL);
    bits_64 differ = t[0].down != -t[0].up;
    for (size_t k = 1; k < SIDES; k++)
        differ |= t[k].down != -t[k].up;
    if (or_lanes(differ) != 0)
        return false;
    memcpy(s->side, t, sizeof t);
    return true;
}

SIMD static void fold(summation *s) {
    double lanes[GROUP], rest[GROUP];
    gp_round_as(GP_ROUNDING_NEAREST);
    if (s->narrow) {
        for (size_t k = 0; k < SIDES; k++) {
            memcpy(lanes + k * REALS, &s->side[k].down, sizeof(reals));
            s->side[k] = (bounds){{0}, {0}};
        }
        add_to_levels(s, lanes, GROUP, rest);
    }
    for (unsigned k = s->end; k-- > s->begin; s->level[k] = level_begin(k))
        put(s, grown_by(s->level[k], k));
    if (s->binned)
        empty_bins(s);
    s->added = 0;
}

/* Whether a batch is to be tried the fast way: after failures seldom. */
static bool try_again(summation *s) {
    return s->skipped++ >= s->skip;
}

static void tried(summation *s, bool good) {
    s->skip = good ? 0 : s->skip < 31 ? 2 * s->skip + 1 : 31;
    s->skipped = 0;
}

/* Up to BATCH doubles, to nearest. */
SIMD static void add_doubles(summation *s, const double *x, size_t n, double *rest) {
    bool all = false;
    if (s->bin == NULL || try_again(s)) {
        all = add_to_levels(s, x, n, rest);
        x = rest;
        if (s->bin != NULL)
            tried(s, all);
    }
    if (!all) {
        prefetch_for((const unsigned char *)x, n * sizeof *x, s->end_of_input);
        add_to_bins(s, x, n);
    }
}

/* Up to BATCH elements, narrow or not. By itself, as a large frame takes a short call's time. */
__attribute__((noinline)) SIMD static void add_slowly(summation *s, const float *narrow, const double *x, size_t n) {
    double rest[2 * BATCH + 256],
        *widened = rest + BATCH + 256; /* not at equal places of pages, where a load waits */
    gp_round_as(GP_ROUNDING_NEAREST);
    if (narrow != NULL) {
        prefetch_for((const unsigned char *)narrow, n * sizeof *narrow, s->end_of_input);
        for (size_t i = 0; i < n; i++)
            widened[i] = (double)narrow[i];
    }
    add_doubles(s, narrow != NULL ? widened : x, n, rest);
}

SIMD static void add_batch(summation *s, const float *narrow, const double *x, size_t n) {
    if ((s->added += n + REALS) > FOLD_ELEMENTS) {
        fold(s);
        s->added = n + REALS;
    }
    if (narrow != NULL && try_again(s)) {
        gp_round_as(GP_ROUNDING_DOWN);
        const bool exact = add_down(s, narrow, n);
        tried(s, exact);
        if (exact)
            return;
    }
    add_slowly(s, narrow, x, n);
}

/* n elements as floats, up to a whole vector. */
SIMD static void widen_halves(const uint16_t *x, unsigned type, size_t n, float *to) {
    if (type == GP_BF16) {
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = (uint32_t)x[i] << 16;
        return;
    }
    uint16_t last[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store(to + i, (vec)load_halves(x + i));
    memcpy(last, x + i, (n - i) * sizeof *x);
    if (i < n)
        store(to + i, (vec)load_halves(last));
}

/* To as many floats, or doubles. */
SIMD static void magnitudes(const float *narrow, const double *x, size_t n, void *to) {
    if (narrow != NULL)
        for (size_t i = 0; i < n; i++)
            ((float *)to)[i] = __builtin_fabsf(narrow[i]);
    else
        for (size_t i = 0; i < n; i++)
            ((double *)to)[i] = __builtin_fabs(x[i]);
}

/* Exact. */
SIMD static void products(const float *x, const float *y, size_t n, double *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = (double)x[i] * (double)y[i];
}

SIMD static uint64_t nonzero_reals(const float *narrow, const double *x, size_t n) {
    uint64_t count = 0;
    if (narrow != NULL)
        for (size_t i = 0; i < n; i++)
            count += !(narrow[i] == 0);
    else
        for (size_t i = 0; i < n; i++)
            count += !(x[i] == 0);
    return count;
}

/* Squares and products of doubles have more digits than this can add. */
static bool floats_can(const gp_pass *pass) {
    if (!gp_type_is_float(pass->type))
        return false;
    if (pass->kind == GP_PASS_PAIR)
        return pass->type != GP_F64 && (pass->wants & ~GP_WANT_DOT) == 0;
    return pass->kind == GP_PASS_MOMENTS && (pass->type != GP_F64 || !(pass->wants & GP_WANT_SQUARES));
}

typedef struct {
    summation of[GP_SUMS];
    bool prefetches; /* while summing */
} summations;

static const unsigned wants_sum[GP_SUMS] = {GP_WANT_SUM, GP_WANT_ABS, GP_WANT_SQUARES, GP_WANT_DOT};

SIMD static void begin_floats(summations *s, gp_accumulator *a, const gp_pass *pass, const unsigned char *end,
                              uint64_t bins[2][BINS]) {
    s->prefetches = pass->type >= GP_F32 && (pass->wants & GP_WANT_SUM);
    for (unsigned sum = 0; sum < GP_SUMS; sum++) {
        summation *of = &s->of[sum];
        of->a = a;
        of->pass = pass;
        of->sum = sum;
        of->end_of_input = s->prefetches && sum == GP_SUM ? end : NULL;
        of->top = of->begin = of->end = FIRST_LEVEL;
        of->skipped = of->skip = 0;
        of->narrow = sum < GP_SQUARES && pass->type != GP_F64;
        of->binned = false;
        of->bin = bins != NULL && sum < GP_SQUARES ? bins[sum] : NULL;
        of->added = 0;
        for (size_t k = 0; k < SIDES && of->narrow; k++)
            of->side[k] = (bounds){{0}, {0}};
    }
}

static void end_floats(summations *s, const gp_pass *pass) {
    for (unsigned sum = 0; sum < GP_SUMS; sum++)
        if (pass->wants & wants_sum[sum])
            fold(&s->of[sum]);
}

/* Up to BATCH elements. */
__attribute__((noinline)) static void take_floats(summations *s, const gp_pass *pass, const void *in,
                                                  const void *with, size_t n) {
    float wide_x[BATCH], wide_y[BATCH];
    double buffer[BATCH];
    const float *narrow = pass->type == GP_F64 ? NULL : in, *y = with;
    gp_accumulator *a = s->of[GP_SUM].a;
    if (pass->type < GP_F32) {
        widen_halves(in, pass->type, n, wide_x);
        narrow = wide_x;
    }
    if (pass->type < GP_F32 && with != NULL) {
        widen_halves(with, pass->type, n, wide_y);
        y = wide_y;
    }
    if (pass->wants & GP_WANT_COUNT)
        a->nonzero += nonzero_reals(narrow, in, n);
    if (pass->wants & GP_WANT_SUM)
        add_batch(&s->of[GP_SUM], narrow, in, n);
    if (pass->wants & GP_WANT_ABS) {
        magnitudes(narrow, in, n, narrow != NULL ? (void *)wide_y : buffer);
        add_batch(&s->of[GP_ABS], narrow != NULL ? wide_y : NULL, buffer, n);
    }
    if (pass->wants & GP_WANT_SQUARES) {
        products(narrow, narrow, n, buffer);
        add_batch(&s->of[GP_SQUARES], NULL, buffer, n);
    }
    if (pass->wants & GP_WANT_DOT) {
        products(narrow, y, n, buffer);
        add_batch(&s->of[GP_DOT], NULL, buffer, n);
    }
}

__attribute__((noinline)) SIMD static void run_floats(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                                                      const unsigned char *with, uint64_t n, const unsigned char *end,
                                                      uint64_t bins[2][BINS]) {
    const size_t bytes = gp_type_bytes(pass->type), most = gp_least(2 * PIECE_BYTES / bytes, BATCH);
    summations s;
    begin_floats(&s, a, pass, end, bins);
    for (uint64_t done = 0; done < n; done += most) {
        const size_t at = done * bytes, count = gp_least(n - done, most);
        if (!s.prefetches)
            prefetch_for(in + at, count * bytes, end);
        if (with != NULL)
            prefetch_for(with + at, count * bytes, with + n * bytes);
        if (s.prefetches && pass->wants == GP_WANT_SUM)
            add_batch(&s.of[GP_SUM], pass->type == GP_F32 ? (const void *)(in + at) : NULL, (const void *)(in + at),
                      count);
        else
            take_floats(&s, pass, in + at, with != NULL ? with + at : NULL, count);
    }
    end_floats(&s, pass);
    a->counted += n;
}

/* With bins, which short runs have no use for. */
__attribute__((noinline)) SIMD static void run_many_doubles(gp_accumulator *a, const gp_pass *pass,
                                                            const unsigned char *in, const unsigned char *with,
                                                            uint64_t n, const unsigned char *end) {
    uint64_t bins[2][BINS];
    run_floats(a, pass, in, with, n, end, bins);
}
