/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of floats with vectors. Narrow ones are added twice in double, rounding down and rounding up: equal ends
 * prove that the sum is exact. Other batches go to levels. A level is an accumulator that begins at 1.5 * 2^52 units
 * and takes of each element x a whole number of units: while it keeps its exponent, level + x is rounded to whole
 * units, and what it grows by and what it leaves of x are exact. That goes to the level below, whose unit is 2^36
 * times smaller, three levels at a time, which is what doubles over 55 binades need (after J. Demmel and H. D.
 * Nguyen). Doubles that many levels do not take go to bins.
 */
typedef double reals __attribute__((vector_size(sizeof(vec))));
typedef int64_t bits_64 __attribute__((vector_size(sizeof(vec))));

#define REALS (sizeof(vec) / sizeof(double))
#define SIDES 4 /* vectors side by side, so that additions do not wait for each other */
#define GROUP (SIDES * REALS)
#define BATCH ((size_t)1024) /* elements at most */

/* Level k has units of 2^(36 k - 1074), and takes what is below 2^36 of them. */
#define LEVEL_BITS 36
#define LEVELS 57      /* the last begins below 2^1023 */
#define FIRST_LEVEL 29 /* for elements below 64 */
#define DEPTH 3        /* levels at a time */
#define PASSES 3       /* that many doubles are tried by levels: more take longer than bins */

#define BINS 4096
#define BINS_MIN 32768 /* elements of a run, as emptying the bins takes some microseconds */

/* Elements between two folds: a lane adds 2^14 numbers below 2^36 units, all lanes 2^17. */
#define FOLD_ELEMENTS (REALS << 14)

#if defined(HAS_SUMS_DOWN)
#define round_sums_as(direction) ((void)0)
#else
#define sum_down(a, b) ((a) + (b))
#define less_down(a, b) ((a) - (b))
#define round_sums_as gp_round_as
#endif

/* The sum rounded down, and the opposite of the sum rounded up: after round_sums_as(GP_ROUNDING_DOWN). */
typedef struct {
    reals down, up;
} bounds;

INLINE void add_bounds(bounds *to, reals x) {
    to->down = (reals)sum_down(to->down, x);
    to->up = (reals)less_down(to->up, x);
}

/* What the lanes have. */
INLINE gp_bounded_sum end_bounds(const bounds t[SIDES]) {
    reals down = (reals)sum_down(sum_down(t[0].down, t[1].down), sum_down(t[2].down, t[3].down));
    reals up = (reals)sum_down(sum_down(t[0].up, t[1].up), sum_down(t[2].up, t[3].up));
    for (size_t distance = LANES / 2; distance > 1; distance /= 2) {
        down = (reals)sum_down(down, (reals)swap_lanes((vec)down, distance));
        up = (reals)sum_down(up, (reals)swap_lanes((vec)up, distance));
    }
    return (gp_bounded_sum){down[0], -up[0]};
}

typedef struct {
    gp_accumulator *a;
    const gp_pass *pass;
    unsigned sum;
    const unsigned char *end_of_input; /* NULL: what is added is not the input itself, or that is small */
    unsigned top;                      /* the level to begin with */
    unsigned begin, end;               /* levels in use */
    unsigned skipped, skip;            /* batches that go to the bins without being tried */
    bool narrow;                       /* has sides */
    bool binned;
    size_t added;       /* elements since the last fold */
    uint64_t *bin;      /* mantissas of doubles by sign and exponent; NULL: does without */
    bounds side[SIDES]; /* of narrow floats */
    reals level[LEVELS];
} summation;

/* Levels with a batch in them, from the top down. */
typedef struct {
    reals level[DEPTH];
    reals greatest; /* magnitude */
    bits_64 left;   /* any bit of what they leave */
} split;

/* 2^exponent, or times 1.5. */
static inline double power(int exponent, bool and_half) {
    return gp_f64_of_bits(((uint64_t)(1023 + exponent) << 52) | (uint64_t)and_half << 51);
}

INLINE reals level_begin(unsigned k) {
    return (reals){0} + power(LEVEL_BITS * (int)k - 1074 + 52, true);
}

/* The level that takes numbers with these upper bits. */
static inline unsigned level_of(uint64_t bits) {
    const unsigned level = (unsigned)((bits >> 52 & 0x7ff) + 51) / LEVEL_BITS;
    return level > DEPTH - 1 ? level : DEPTH - 1;
}

INLINE uint64_t or_lanes(bits_64 x) {
    for (size_t distance = LANES / 2; distance > 1; distance /= 2)
        x |= (bits_64)swap_lanes((vec)x, distance);
    return (uint64_t)x[0];
}

/* By how much the lanes of a level have grown, exactly. */
INLINE double grown_by(reals level, unsigned k) {
    reals grown = level - level_begin(k);
    for (size_t distance = LANES / 2; distance > 1; distance /= 2)
        grown += (reals)swap_lanes((vec)grown, distance);
    return grown[0];
}

/* What stays of x. */
INLINE reals take_units(reals *level, reals x) {
    const reals grown = *level + x, left = x - (grown - *level);
    *level = grown;
    return left;
}

INLINE void split_one(split *t, const double *x, double *rest) {
    reals left;
    memcpy(&left, x, sizeof left);
    t->greatest = max_magnitude(t->greatest, left);
    for (unsigned k = 0; k < DEPTH; k++)
        left = take_units(&t->level[k], left);
    t->left |= (bits_64)left;
    memcpy(rest, &left, sizeof left);
}

/* n doubles; what is left goes to rest, up to a whole vector. */
__attribute__((noinline)) SIMD static split split_batch(const summation *s, unsigned top, const double *x, size_t n,
                                                        double *rest) {
    split t = {.greatest = {0}, .left = {0}};
    double last[REALS] = {0};
    const bool ahead = has_next(x, s->end_of_input);
    for (unsigned k = 0; k < DEPTH; k++)
        t.level[k] = s->level[top - k];
    for (; n >= REALS; x += REALS, rest += REALS, n -= REALS) {
        if (ahead)
            prefetch_for_line(x);
        split_one(&t, x, rest);
    }
    memcpy(last, x, n * sizeof *x);
    if (n > 0)
        split_one(&t, last, rest);
    return t;
}

static void put(summation *s, double x) {
    if (x != 0)
        gp_accumulator_add_exact(s->a, s->pass, s->sum, x);
}

static void empty_bins(summation *s) {
    int64_t *limb = gp_accumulator_limbs(s->a, s->pass, s->sum);
    for (unsigned k = 0; k < BINS; k++)
        if (s->bin[k] != 0)
            gp_exact_add_bits(limb, (k & 0x7ff) - 1, s->bin[k], k >> 11);
    s->binned = false;
}

/* Any element, NaNs and infinities too. */
static void add_to_limbs(summation *s, const double *x, size_t n) {
    int64_t *limb = gp_accumulator_limbs(s->a, s->pass, s->sum);
    const gp_exact_form form = gp_accumulator_form(s->pass, s->sum);
    for (size_t i = 0; i < n; i++)
        gp_exact_add_f64(limb, form, x[i], &s->a->flags[s->sum]);
}

/* Elements of a pass of doubles, whose limbs are those of doubles. */
static void add_to_bins(summation *s, const double *x, size_t n) {
    if (!s->binned)
        memset(s->bin, 0, BINS * sizeof *s->bin);
    s->binned = true;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = gp_bits_of_f64(x[i]);
        const unsigned k = (unsigned)(bits >> 52), exponent = k & 0x7ff;
        const uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
        if (exponent == 0 || exponent == 0x7ff)
            add_to_limbs(s, x + i, 1);
        else if (__builtin_add_overflow(s->bin[k], mantissa, &s->bin[k]))
            gp_exact_add_bits(gp_accumulator_limbs(s->a, s->pass, s->sum), exponent + 63, 1, k >> 11);
    }
}

SIMD static void use_levels(summation *s, unsigned top) {
    while (s->end <= top) {
        s->level[s->end] = level_begin(s->end);
        s->end++;
    }
    while (s->begin > top - (DEPTH - 1)) {
        s->begin--;
        s->level[s->begin] = level_begin(s->begin);
    }
}

/* The level to begin with for what was split; LEVELS: none, NaNs and infinities are among it. */
SIMD static unsigned level_needed(const split *t) {
    uint64_t bits = 0;
    for (size_t lane = 0; lane < REALS; lane++) {
        const uint64_t of_lane = (uint64_t)((bits_64)t->greatest)[lane];
        bits = t->level[0][lane] != t->level[0][lane] ? UINT64_MAX : of_lane > bits ? of_lane : bits;
    }
    return (unsigned)gp_least(level_of(bits), LEVELS);
}

/* To levels. False: something is left in rest. */
SIMD static bool add_to_levels(summation *s, const double *x, size_t n, double *rest) {
    unsigned top = s->top;
    for (unsigned pass = 1; pass <= PASSES || s->bin == NULL;) {
        use_levels(s, top);
        const split t = split_batch(s, top, x, n, rest);
        const reals limit = (reals){0} + power(LEVEL_BITS * (int)(top + 1) - 1074, false);
        const bool done = or_lanes((bits_64)((lanes_64)t.left << 1) | (bits_64)(t.greatest >= limit)) == 0;
        const unsigned needed = done ? top : level_needed(&t);
        if (needed == LEVELS) {
            add_to_limbs(s, x, n);
            return true;
        }
        if (needed > top) {
            top = needed;
            continue;
        }
        for (unsigned k = 0; k < DEPTH; k++)
            s->level[top - k] = t.level[k];
        if (done)
            return true;
        if (pass++ == 1)
            s->top = needed;
        x = rest;
        top = top > 2 * DEPTH - 1 ? top - DEPTH : DEPTH - 1;
    }
    return false;
}
