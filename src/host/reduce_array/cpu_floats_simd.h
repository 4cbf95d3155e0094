/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of floats with vectors. Values up to a float's precision are added twice in double, rounding down and
 * rounding up: equal ends prove that the sum is exact. Doubles are added with their errors (D. Knuth's sum of two),
 * the errors with theirs, which must all be zero. A batch that is not proven is undone and added to wider
 * accumulators.
 */
typedef double reals __attribute__((vector_size(sizeof(vec))));
typedef int64_t bits_64 __attribute__((vector_size(sizeof(vec))));

#define REALS (sizeof(vec) / sizeof(double))
#define SIDES 4 /* vectors side by side, so that additions do not wait for each other */
#define GROUP (SIDES * REALS)
#define BATCH ((size_t)1024)
#define FOLD 64     /* batches between two folds: sums that grow leave less room for small elements */
#define AHEAD 16384 /* bytes */

/* The sum rounded down, and the opposite of the sum rounded up. */
typedef struct {
    reals down, up;
} bounds;

/* A sum, the sum of its errors, and what must stay zero. */
typedef struct {
    reals sum, errors;
    bits_64 rest;
} cascade;

typedef struct {
    gp_accumulator *a;
    const gp_pass *pass;
    unsigned sum;
    bool wide;          /* cascades of doubles */
    bounds side[SIDES]; /* else these */
    cascade cascades[SIDES];
    unsigned batches;       /* since the last fold */
    unsigned skipped, skip; /* batches that go to the wider accumulators without being tried */
    unsigned binned;        /* batches in the bins, which are clear if 0 */
    double bin[4 * 16];     /* of floats: 4 times by the upper 4 bits of the exponent; 2^12 additions are exact */
} summation;

/* Rounding down. n: of whole groups. */
__attribute__((noinline)) SIMD static bool add_down(summation *s, const float *x, size_t n) {
    bounds t[SIDES];
    memcpy(t, s->side, sizeof t);
    for (size_t i = 0; i < n; i += GROUP) {
        __builtin_prefetch((const char *)(x + i) + AHEAD);
        if (GROUP * sizeof(float) > 64)
            __builtin_prefetch((const char *)(x + i) + AHEAD + 64);
        for (size_t k = 0; k < SIDES; k++) {
            const reals y = (reals)load_floats(x + i + k * REALS);
            t[k].down += y;
            t[k].up -= y;
        }
    }
    bits_64 same = t[0].down == -t[0].up;
    for (size_t k = 1; k < SIDES; k++)
        same &= t[k].down == -t[k].up;
    int64_t all_same = -1;
    for (size_t lane = 0; lane < REALS; lane++)
        all_same &= same[lane];
    if (all_same)
        memcpy(s->side, t, sizeof t);
    return all_same != 0;
}

/* Rounding down: the total of all lanes, if it is a double. */
__attribute__((noinline)) SIMD static bool total_down(const summation *s, double *total) {
    const reals down = (s->side[0].down + s->side[1].down) + (s->side[2].down + s->side[3].down);
    const reals up = (s->side[0].up + s->side[1].up) + (s->side[2].up + s->side[3].up);
    double low = down[0], high = up[0];
    for (size_t lane = 1; lane < REALS; lane++) {
        low += down[lane];
        high += up[lane];
    }
    *total = low;
    return low == -high;
}

INLINE void add_to_cascade(cascade *c, reals x) {
    const reals sum = c->sum + x, back = sum - c->sum, error = (c->sum - (sum - back)) + (x - back);
    const reals errors = c->errors + error, behind = errors - c->errors;
    c->rest |= (bits_64)((c->errors - (errors - behind)) + (error - behind));
    c->sum = sum;
    c->errors = errors;
}

INLINE bool is_exact(const cascade *c) {
    uint64_t rest = 0;
    for (size_t lane = 0; lane < REALS; lane++)
        rest |= (uint64_t)c->rest[lane];
    return rest << 1 == 0;
}

/* To nearest. n: of whole groups. */
__attribute__((noinline)) SIMD static bool add_errors(summation *s, const double *x, size_t n) {
    cascade t[SIDES];
    memcpy(t, s->cascades, sizeof t);
    for (size_t i = 0; i < n; i += GROUP)
        for (size_t k = 0; k < SIDES; k++) {
            reals y;
            memcpy(&y, x + i + k * REALS, sizeof y);
            __builtin_prefetch((const char *)(x + i + k * REALS) + AHEAD);
            add_to_cascade(&t[k], y);
        }
    bool exact = true;
    for (size_t k = 0; k < SIDES; k++)
        exact = exact && is_exact(&t[k]);
    if (exact)
        memcpy(s->cascades, t, sizeof t);
    return exact;
}

static void put(summation *s, double x) {
    if (x != 0)
        gp_accumulator_add_exact(s->a, s->pass, s->sum, x);
}

/* Each lane by itself. */
INLINE void put_lanes(summation *s, reals x) {
    for (size_t lane = 0; lane < REALS; lane++)
        put(s, x[lane]);
}

static void empty_bins(summation *s) {
    int64_t *limb = gp_accumulator_limbs(s->a, s->pass, s->sum);
    for (size_t k = 0; k < 64; k++)
        gp_exact_add_f64(limb, gp_accumulator_form(s->pass, s->sum), s->bin[k], &s->a->flags[s->sum]);
    s->binned = 0;
}

SIMD static void fold(summation *s) {
    double total;
    s->batches = 0;
    if (s->binned > 0)
        empty_bins(s);
    if (!s->wide) {
        gp_round_as(GP_ROUNDING_DOWN);
        const bool exact = total_down(s, &total);
        gp_round_as(0);
        for (size_t k = 0; k < SIDES && !exact; k++)
            put_lanes(s, s->side[k].down);
        if (exact)
            put(s, total);
        memset(s->side, 0, sizeof s->side);
        return;
    }
    cascade all = s->cascades[0];
    for (size_t k = 1; k < SIDES; k++) {
        add_to_cascade(&all, s->cascades[k].sum);
        add_to_cascade(&all, s->cascades[k].errors);
    }
    const bool exact = is_exact(&all);
    for (size_t k = 0; k < (exact ? 1 : SIDES); k++) {
        put_lanes(s, exact ? all.sum : s->cascades[k].sum);
        put_lanes(s, exact ? all.errors : s->cascades[k].errors);
    }
    memset(s->cascades, 0, sizeof s->cascades);
}

static void add_to_bins(summation *s, const float *x, size_t n) {
    if (s->binned == 0)
        memset(s->bin, 0, sizeof s->bin);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        s->bin[i % 4 * 16 + (bits >> 27 & 15)] += (double)x[i];
    }
    if (++s->binned == 16) /* 2^12 additions, were all to one bin */
        empty_bins(s);
}

static void add_to_limbs(summation *s, const double *x, size_t n) {
    int64_t *limb = gp_accumulator_limbs(s->a, s->pass, s->sum);
    const gp_exact_form form = gp_accumulator_form(s->pass, s->sum);
    for (size_t i = 0; i < n; i++)
        gp_exact_add_f64(limb, form, x[i], &s->a->flags[s->sum]);
}

/* Up to BATCH elements of whole groups. */
SIMD static void add_batch(summation *s, const float *narrow, const double *x, size_t n) {
    bool exact = false;
    if (s->skipped < s->skip) {
        s->skipped++;
    } else {
        if (!s->wide)
            gp_round_as(GP_ROUNDING_DOWN);
        exact = s->wide ? add_errors(s, x, n) : add_down(s, narrow, n);
        gp_round_as(0);
        s->skip = exact ? 0 : s->skip < 31 ? 2 * s->skip + 1 : 31;
        s->skipped = 0;
    }
    if (!exact && s->wide)
        add_to_limbs(s, x, n);
    else if (!exact)
        add_to_bins(s, narrow, n);
    if (++s->batches == FOLD)
        fold(s);
}

static void add_floats(summation *s, const float *x, size_t n) {
    float rest[GROUP] = {0};
    for (size_t count; n >= GROUP; x += count, n -= count) {
        count = gp_least(n, BATCH) / GROUP * GROUP;
        add_batch(s, x, NULL, count);
    }
    memcpy(rest, x, n * sizeof *x);
    if (n > 0)
        add_batch(s, rest, NULL, GROUP);
}

static void add_doubles(summation *s, const double *x, size_t n) {
    double rest[GROUP] = {0};
    for (size_t count; n >= GROUP; x += count, n -= count) {
        count = gp_least(n, BATCH) / GROUP * GROUP;
        add_batch(s, NULL, x, count);
    }
    memcpy(rest, x, n * sizeof *x);
    if (n > 0)
        add_batch(s, NULL, rest, GROUP);
}

/* n elements as floats: f16 by its bits, times 2^112, which makes subnormal ones normal. */
SIMD static void widen_halves(const uint16_t *x, unsigned type, size_t n, float *to) {
    if (type == GP_BF16) {
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = (uint32_t)x[i] << 16;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)(x[i] & 0x7fff) << 13;
        float scaled;
        memcpy(&scaled, &bits, sizeof scaled);
        scaled *= 0x1p112f;
        memcpy(&bits, &scaled, sizeof bits);
        bits |= (x[i] & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
        bits |= (uint32_t)(x[i] & 0x8000) << 16;
        memcpy(to + i, &bits, sizeof bits);
    }
}

SIMD static void magnitudes_32(const float *x, size_t n, float *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = __builtin_fabsf(x[i]);
}

SIMD static void magnitudes_64(const double *x, size_t n, double *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = __builtin_fabs(x[i]);
}

/* Exact. */
SIMD static void products(const float *x, const float *y, size_t n, double *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = (double)x[i] * (double)y[i];
}

SIMD static uint64_t nonzero_floats(const float *x, size_t n) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !(x[i] == 0);
    return count;
}

SIMD static uint64_t nonzero_doubles(const double *x, size_t n) {
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !(x[i] == 0);
    return count;
}

/* Squares and products of doubles have more digits than this can prove. */
static bool floats_can(const gp_pass *pass) {
    if (!gp_type_is_float(pass->type))
        return false;
    if (pass->kind == GP_PASS_PAIR)
        return pass->type != GP_F64 && (pass->wants & ~GP_WANT_DOT) == 0;
    return pass->kind == GP_PASS_MOMENTS && (pass->type != GP_F64 || !(pass->wants & GP_WANT_SQUARES));
}

typedef struct {
    summation of[GP_SUMS];
} summations;

static void take_doubles(summations *s, const gp_pass *pass, const double *x, size_t n) {
    double buffer[BATCH];
    if (pass->wants & GP_WANT_COUNT)
        s->of[0].a->nonzero += nonzero_doubles(x, n);
    if (pass->wants & GP_WANT_SUM)
        add_doubles(&s->of[GP_SUM], x, n);
    if (pass->wants & GP_WANT_ABS) {
        magnitudes_64(x, n, buffer);
        add_doubles(&s->of[GP_ABS], buffer, n);
    }
}

static void take_floats(summations *s, const gp_pass *pass, const float *x, const float *y, size_t n) {
    double buffer[BATCH];
    if (pass->wants & GP_WANT_COUNT)
        s->of[0].a->nonzero += nonzero_floats(x, n);
    if (pass->wants & GP_WANT_SUM)
        add_floats(&s->of[GP_SUM], x, n);
    if (pass->wants & GP_WANT_ABS) {
        magnitudes_32(x, n, (float *)buffer);
        add_floats(&s->of[GP_ABS], (float *)buffer, n);
    }
    if (pass->wants & GP_WANT_SQUARES) {
        products(x, x, n, buffer);
        add_doubles(&s->of[GP_SQUARES], buffer, n);
    }
    if (pass->wants & GP_WANT_DOT) {
        products(x, y, n, buffer);
        add_doubles(&s->of[GP_DOT], buffer, n);
    }
}

static void take_halves(summations *s, const gp_pass *pass, const uint16_t *x, const uint16_t *y, size_t n) {
    float wide_x[BATCH], wide_y[BATCH];
    widen_halves(x, pass->type, n, wide_x);
    if (y != NULL)
        widen_halves(y, pass->type, n, wide_y);
    take_floats(s, pass, wide_x, wide_y, n);
}

SIMD static void run_floats(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                            const unsigned char *with, uint64_t n) {
    static const unsigned wants[GP_SUMS] = {GP_WANT_SUM, GP_WANT_ABS, GP_WANT_SQUARES, GP_WANT_DOT};
    const size_t bytes = gp_type_bytes(pass->type);
    summations s;
    for (unsigned sum = 0; sum < GP_SUMS; sum++) {
        s.of[sum].a = a;
        if (!(pass->wants & wants[sum]))
            continue;
        memset(&s.of[sum], 0, offsetof(summation, bin));
        s.of[sum].a = a;
        s.of[sum].pass = pass;
        s.of[sum].sum = sum;
        s.of[sum].wide = sum >= GP_SQUARES || pass->type == GP_F64;
    }
    for (uint64_t done = 0; done < n; done += BATCH) {
        const size_t count = gp_least(n - done, BATCH);
        const void *x = in + done * bytes, *y = with != NULL ? with + done * bytes : NULL;
        if (pass->type == GP_F64)
            take_doubles(&s, pass, x, count);
        else if (pass->type == GP_F32)
            take_floats(&s, pass, x, y, count);
        else
            take_halves(&s, pass, x, y, count);
    }
    for (unsigned sum = 0; sum < GP_SUMS; sum++)
        if (pass->wants & wants[sum])
            fold(&s.of[sum]);
    a->counted += n;
}
