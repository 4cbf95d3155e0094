/* SPDX-License-Identifier: Apache-2.0 */
/* One output: the loop over one row of cpu_walks_simd.h, chunk by chunk, into an accumulator. */

/* Of what goes to an accumulator at once: short enough for sums of lanes, and where a chunk is read several times, or
 * looked through for a place. */
#define CHUNK_BYTES ((size_t)1 << 17)
#define CHUNK_AGAIN_BYTES ((size_t)1 << 15)

/* Squares and products of 64 bits have more than this can add. */
static bool run_can(const gp_pass *pass) {
    if (pass->kind == GP_PASS_PAIR)
        return gp_type_is_float(pass->type) && pass->type != GP_F64 && pass->wants == GP_WANT_DOT;
    return pass->kind < GP_PASS_PAIR && !((pass->wants & GP_WANT_SQUARES) && gp_type_bytes(pass->type) == 8);
}

#define BINS 4096
#define BINS_MIN 4096 /* elements, as emptying the bins takes some microseconds */

/* Mantissas of doubles by sign and exponent, before these go to limbs. */
NOINLINE static void add_by_bins(int64_t *limb, const double *x, size_t n, bool magnitudes, uint32_t *flags) {
    uint64_t bin[BINS] = {0};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = gp_bits_of_f64(x[i]) & (magnitudes ? INT64_MAX : UINT64_MAX);
        const unsigned k = (unsigned)(bits >> 52), exponent = k & 0x7ff;
        if (exponent == 0 || exponent == 0x7ff)
            gp_exact_add_f64(limb, gp_exact_form_of(GP_F64, false), gp_f64_of_bits(bits), flags);
        else if (__builtin_add_overflow(bin[k], (bits & 0xfffffffffffff) | (uint64_t)1 << 52, &bin[k]))
            gp_exact_add_bits(limb, exponent + 63, 1, k >> 11);
    }
    for (unsigned k = 0; k < BINS; k++)
        if (bin[k] != 0)
            gp_exact_add_bits(limb, (k & 0x7ff) - 1, bin[k], k >> 11);
}

/* One of the sums element by element. */
static void add_slowly(gp_accumulator *a, const gp_pass *pass, form f, const rows_of *r) {
    int64_t *limb = gp_accumulator_limbs(a, pass, f.sum);
    const gp_exact_form exact = gp_accumulator_form(pass, f.sum);
    const size_t bytes = gp_type_bytes(pass->type);
    if (pass->type == GP_F64 && r->n >= BINS_MIN) {
        add_by_bins(limb, (const double *)(const void *)r->in, r->n, f.sum == GP_ABS, &a->flags[f.sum]);
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        const double x = gp_number_load(pass->type, r->in + i * bytes).real;
        if (f.sum == GP_DOT)
            gp_exact_add_product_f32(limb, (float)x, (float)gp_number_load(pass->type, r->with + i * bytes).real,
                                     &a->flags[f.sum]);
        else if (f.sum == GP_SQUARES)
            gp_exact_add_product_f32(limb, (float)x, (float)x, &a->flags[f.sum]);
        else
            gp_exact_add_f64(limb, exact, f.sum == GP_ABS ? __builtin_fabs(x) : x, &a->flags[f.sum]);
    }
}

/* Floats whose bounds are one have that sum; a chunk of which they are not is followed by others like it. */
SIMD static void add_floats(gp_accumulator *a, const gp_pass *pass, form *f, const rows_of *r, partials *x) {
    const double *first = (const double *)x->of[0], *second = (const double *)x->of[1];
    walk_rows(*f, r, x);
    if (f->how == BOUNDS && *first == -*second) {
        gp_accumulator_add_exact(a, pass, f->sum, *first);
        return;
    }
    if (f->how == BOUNDS) {
        f->how = PAIRS;
        walk_rows(*f, r, x);
    }
    if ((uint64_t)x->of[2][0] << 1 != 0) {
        add_slowly(a, pass, *f, r);
    } else {
        gp_accumulator_add_exact(a, pass, f->sum, *first);
        gp_accumulator_add_exact(a, pass, f->sum, *second);
    }
}

SIMD static void add_chunk(gp_accumulator *a, form f, const rows_of *r, partials *x) {
    walk_rows(f, r, x);
    const int64_t first = x->of[0][0];
    if (f.sum == COUNTED)
        a->nonzero += (uint64_t)first;
    else if (f.how == TOTAL)
        a->whole[f.sum] += first + (has_high(f) ? x->of[1][0] * ((gp_total)1 << 32) : 0);
    else if (f.how == AND)
        a->bits_and &= (uint64_t)first;
    else if (f.how == OR)
        a->bits_or |= (uint64_t)first;
    else
        a->bits_xor ^= (uint64_t)first;
}

/* Of a run with a NaN, some elements by the reference. */
SIMD static void add_extremes(gp_accumulator *a, const gp_pass *pass, const rows_of *r, int64_t place, int64_t step,
                              partials *x) {
    const gp_key_form k = gp_key_form_of(pass->type);
    const int64_t bytes = gp_type_bytes(pass->type);
    walk_rows((form){BEST, pass->type, 0}, r, x);
    const int64_t min = ~x->of[1][0], max = x->of[0][0];
    if (gp_type_is_float(pass->type) && (max > k.infinity || min < -k.infinity - 1)) {
        const size_t half = r->n / 2;
        if (r->n <= PIECE_BYTES / (size_t)bytes) {
            gp_pass_run_any(a, pass, r->in, NULL, place, r->n);
            return;
        }
        rows_of part = *r;
        part.n = half, part.size = half * (size_t)bytes;
        add_extremes(a, pass, &part, place, step, x);
        part.in += (int64_t)half * bytes;
        part.n = r->n - half, part.size = r->size - part.size;
        add_extremes(a, pass, &part, place + step * (int64_t)half, step, x);
        return;
    }
    const gp_number low = gp_number_of_key(pass->type, min), high = gp_number_of_key(pass->type, max);
    gp_extreme least = {gp_number_key(pass->type, low), a->min.place};
    gp_extreme greatest = {gp_number_key(pass->type, high), a->max.place};
    if ((pass->wants & GP_WANT_ARGMIN) && (!a->some || least.key <= a->min.key))
        least.place = (uint64_t)place_of(pass, min, r->in, bytes, r->n, place, step,
                                         !a->some || least.key < a->min.key, (int64_t)a->min.place);
    if ((pass->wants & GP_WANT_ARGMAX) && (!a->some || greatest.key >= a->max.key))
        greatest.place = (uint64_t)place_of(pass, max, r->in, bytes, r->n, place, step,
                                            !a->some || greatest.key > a->max.key, (int64_t)a->max.place);
    a->counted += r->n;
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, low));
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, high));
    gp_accumulator_take_extremes(a, &least, &greatest);
}

SIMD static void run(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n) {
    const gp_pass_axis none = {0}, *axis = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &none;
    if (!gp_pass_is_contiguous(pass, axis) || pass->skip_nan || pass->where || !run_can(pass)) {
        if (!gp_pass_run_dot(a, pass, in, with, n))
            gp_pass_run_any(a, pass, in, with, place, n);
        return;
    }
    const bool products = pass->kind == GP_PASS_PAIR;
    const size_t bytes = gp_type_bytes(pass->type);
    wanted_forms wanted = forms_of(pass, pass->type == GP_F64 || products ? PAIRS : BOUNDS);
    const bool again = wanted.count > 1 || (pass->wants & GP_WANT_PLACES);
    const size_t most = (again ? CHUNK_AGAIN_BYTES : CHUNK_BYTES) / bytes;
    rows_of r = {in, with, in + n * bytes, 0, 1, 0, 0, false};
    bool ahead = false;
    partials x;
    if (n * bytes > PAGE_BYTES) {
        const gp_pass_span span = gp_pass_input_span(pass, false);
        r.end = span.begin + span.bytes;
        ahead = span.bytes > IN_CACHE_BYTES;
    }
    for (uint64_t done = 0; done < n; done += r.n) {
        r.n = gp_least(n - done, most), r.size = r.n * bytes;
        for (size_t k = 0; k < wanted.count; k++) {
            form *f = &wanted.of[k];
            if (f->how == BOUNDS && f->sum >= GP_SQUARES)
                f->how = PAIRS; /* as bounds of products are seldom one */
            r.ahead = ahead && k == 0;
            if (f->how == BEST)
                add_extremes(a, pass, &r, place + axis->place * (int64_t)done, axis->place, &x);
            else if (f->how == BOUNDS || f->how == PAIRS)
                add_floats(a, pass, f, &r, &x);
            else
                add_chunk(a, *f, &r, &x);
        }
        r.in += r.size;
        if (products)
            r.with += r.size;
    }
    a->counted += pass->kind == GP_PASS_EXTREMES ? 0 : n;
}

/* Sums of doubles that are not finite may be so by the order of additions, others are so by an element. */
SIMD static bool bounds_of(const gp_pass *pass, const unsigned char *in, size_t n, gp_accumulator ends[2]) {
    const bool moments = pass->wants == (GP_WANT_SUM | GP_WANT_SQUARES);
    const unsigned first = pass->wants == GP_WANT_SQUARES ? GP_SQUARES : GP_SUM;
    const gp_pass_span span = gp_pass_input_span(pass, false);
    const rows_of r = {in, NULL, span.begin + span.bytes,       0,
                       1,  n,    n * gp_type_bytes(pass->type), span.bytes > IN_CACHE_BYTES};
    partials x;
    walk_rows((form){BOUNDS, pass->type, moments ? GP_MOMENTS : first}, &r, &x);
    for (unsigned k = 0; k <= moments; k++) {
        const double low = gp_f64_of_bits((uint64_t)x.of[2 * k][0]);
        const double high = -gp_f64_of_bits((uint64_t)x.of[2 * k + 1][0]);
        if (pass->type == GP_F64 && (low - low != 0 || high - high != 0))
            return false;
        gp_accumulator_add_exact(&ends[0], pass, k > 0 ? GP_SQUARES : first, low);
        gp_accumulator_add_exact(&ends[1], pass, k > 0 ? GP_SQUARES : first, high);
    }
    return true;
}
