/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over blocks of neighbouring columns, and each column's accumulator. */
#include "columns.h"
#include "../arithmetic.h"
#include "../primitive.h"

/* Longer rows are worth a run each. */
#define LONG_ROW 16384

/*
 * Of a row at once: a page of memory is looked up for each run, and cores follow long ones. 4096 x 4096 floats are
 * read at 8.6 GB/s in runs of 1024 bytes, and at 13.4 in runs of 16384 (one thread, Xeon with AVX-512, model 167).
 */
#define RUN_BYTES 16384

/* Of GP_COLUMNS columns of few rows, or gone over several times, before the next ones have their turn. */
#define BLOCK_BYTES ((uint64_t)1 << 15)
#define FEW_ROWS 16

/* At once: sums of f16 are exact, those of small ints within 32 bits, and those of bytes within 16 are of fewer. */
#define BLOCK_ROWS 8192

/* Of outputs whose elements are to stay in the first-level cache until all are taken. */
#define CACHED_BYTES 32768

bool gp_columns_can(const gp_pass *pass) {
    return pass->kept > 0 && pass->reduced > 0 && pass->kind <= GP_PASS_MOMENTS && !pass->skip_nan && !pass->where &&
           pass->length > 0 && pass->length >> 31 == 0 &&
           (gp_pass_layout_of(pass) != GP_LAYOUT_ROWS || pass->length <= LONG_ROW || gp_has_wide_squares(pass) ||
            gp_squares_by_bounds(pass));
}

void gp_pass_add_axes(gp_pass *pass) {
    if (pass->kept == 0) {
        memmove(pass->axis + 1, pass->axis, pass->reduced * sizeof *pass->axis);
        pass->axis[0] = (gp_pass_axis){1, (int64_t)gp_pass_input_span(pass, false).bytes, 0, 0};
        for (unsigned r = 0; r < pass->results; r++)
            pass->result[r].stride[0] = 0;
        pass->kept = 1;
    }
    if (pass->reduced == 0) {
        pass->axis[pass->kept] = pass->axis[pass->kept - 1];
        pass->axis[pass->kept].n = 1, pass->axis[pass->kept].place = 0;
        pass->reduced = 1;
    }
}

/* Elements along the last reduced axis of so few columns that calls take longer than gathering those of others. */
#define FEW_ELEMENTS 512
#define FEW_GATHERED 8     /* or so few rows, of elements of up to 4 bytes */
#define LONG_RUN_BYTES 128 /* of contiguous ones, which are taken as they are */

uint64_t gp_columns_unit(const gp_pass *pass) {
    const gp_pass_axis *kept = pass->axis + pass->kept - 1, *inner = kept + pass->reduced;
    const bool gathered = kept->in != (int64_t)gp_type_bytes(pass->type) && kept->in < inner->in;
    const bool narrow = pass->kept > 1 && kept->n <= (pass->reduced > 1 ? GP_COLUMNS / 2 : GP_COLUMNS / 8);
    return narrow && (gathered || inner->n <= FEW_ELEMENTS / kept->n) ? kept->n : 1;
}

/* Rows that are not many have a walk each. */
#define NOT_MANY_ROWS 64

/* Sums of few rows of floats; of doubles quotients by powers of two alone. */
static bool sums_few(const gp_pass *pass) {
    bool can = pass->kind == GP_PASS_MOMENTS && pass->wants == GP_WANT_SUM && pass->length <= GP_FEW_ROWS &&
               (pass->type == GP_F32 || pass->type == GP_F64);
    for (unsigned r = 0; r < pass->results && pass->type == GP_F64; r++)
        can = can && (pass->result[r].op == GP_REDUCE_SUM || (pass->length & (pass->length - 1)) == 0);
    return can;
}

uint64_t gp_across_width(const gp_pass *pass) {
    const unsigned last = pass->kept - 1u;
    const int64_t bytes = gp_type_bytes(pass->type);
    bool can = (pass->kind <= GP_PASS_EXTREMES || sums_few(pass)) && !(pass->wants & GP_WANT_PLACES) &&
               pass->axis[last].in == bytes &&
               pass->axis[last].n > (pass->length <= NOT_MANY_ROWS ? GP_COLUMNS / 8 : GP_COLUMNS / 4);
    for (unsigned r = 0; r < pass->results; r++)
        can = can && pass->result[r].op != GP_REDUCE_MAX_ABS && pass->result[r].type == pass->type &&
              pass->result[r].stride[last] == bytes;
    return can ? RUN_BYTES / (uint64_t)bytes : 0;
}

uint64_t gp_columns_width(const gp_pass *pass) {
    if (gp_columns_unit(pass) > 1)
        return GP_COLUMNS / gp_columns_unit(pass);
    const uint64_t apart = (uint64_t)pass->axis[pass->kept - 1].in;
    if (apart == gp_type_bytes(pass->type))
        return gp_greatest(RUN_BYTES / apart, GP_COLUMNS);
    if (pass->axis[pass->kept + pass->reduced - 1].n > BLOCK_ROWS) /* or parts of rows would be taken in turns */
        return 1;
    return apart * GP_COLUMNS <= CACHED_BYTES ? GP_COLUMNS : gp_greatest(CACHED_BYTES / apart, 16);
}

/* Neighbouring rows without a gap make one longer row of narrow ones, if that leaves some rows: what a long one holds
 * is added column by column in the end. */
#define FEW_TOGETHER 8

static uint64_t rows_together(const gp_pass *pass, const gp_pass_axis *kept, const gp_pass_axis *reduced,
                              uint64_t rows) {
    if ((pass->wants & GP_WANT_PLACES) || kept->n > GP_COLUMNS / 4 || reduced->in != (int64_t)kept->n * kept->in)
        return 1;
    return gp_least(GP_COLUMNS / kept->n, gp_at_least_one(rows / FEW_TOGETHER));
}

/* Whether a pass of moments sums this. */
static bool sums(const gp_pass *pass, unsigned sum) {
    static const unsigned wants[GP_DOT] = {GP_WANT_SUM, GP_WANT_ABS, GP_WANT_SQUARES};
    return pass->wants & wants[sum];
}

void gp_columns_clear(gp_columns *c, const gp_pass *pass, size_t count) {
    const size_t bytes = count * sizeof(int64_t);
    c->failed = false;
    if (gp_columns_count(pass))
        memset(c->counted, 0, count * sizeof *c->counted);
    if (pass->kind == GP_PASS_MOMENTS && (pass->wants & GP_WANT_COUNT))
        memset(c->nonzero, 0, bytes);
    for (size_t j = 0; j < count && pass->kind == GP_PASS_BITS; j++) {
        c->bits_and[j] = -1;
        c->bits_or[j] = c->bits_xor[j] = 0;
    }
    for (size_t j = 0; j < count && pass->kind == GP_PASS_EXTREMES; j++) {
        c->min[j] = INT64_MAX;
        c->max[j] = INT64_MIN;
    }
    for (size_t j = 0; j < count && (pass->wants & GP_WANT_PLACES); j++)
        c->argmin[j] = c->argmax[j] = INT64_MAX;
    for (unsigned sum = 0; sum < GP_DOT && pass->kind == GP_PASS_MOMENTS; sum++)
        if (sums(pass, sum)) {
            memset(c->sums[sum].low, 0, bytes);
            memset(c->sums[sum].high, 0, bytes);
            memset(c->sums[sum].rest, 0, bytes);
        }
}

gp_number gp_number_of_key(unsigned type, int64_t key) {
    const gp_key_form f = gp_key_form_of(type);
    const int64_t x = (int64_t)((uint64_t)key + (uint64_t)f.half);
    const uint64_t bits = (uint64_t)(x ^ ((x >> 63) & f.mask));
    return gp_number_load(type, (const unsigned char *)&bits);
}

/* NaNs have the greatest and the least keys, by their signs; their places are not looked for. */
static bool read_extremes(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a) {
    const gp_key_form f = gp_key_form_of(pass->type);
    const bool places = pass->wants & GP_WANT_PLACES; /* else none are kept */
    if (gp_type_is_float(pass->type) && (c->max[j] > f.infinity || c->min[j] < -f.infinity - 1)) {
        a->nan = true;
        return !places;
    }
    const gp_number low = gp_number_of_key(pass->type, c->min[j]), high = gp_number_of_key(pass->type, c->max[j]);
    const gp_extreme min = {gp_number_key(pass->type, low), places ? (uint64_t)c->argmin[j] : 0};
    const gp_extreme max = {gp_number_key(pass->type, high), places ? (uint64_t)c->argmax[j] : 0};
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, low));
    gp_accumulator_take_magnitude(a, gp_number_magnitude(pass->type, high));
    gp_accumulator_take_extremes(a, &min, &max);
    return true;
}

/* Whether a sum of doubles is all there, and fits what it goes to. */
static bool is_held(const gp_columns *c, const gp_pass *pass, unsigned sum, size_t j) {
    const gp_column_sums *s = &c->sums[sum];
    if (!gp_type_is_float(pass->type) && !(s->sum[j] < 0x1p120))
        return false;
    return gp_columns_pair(c, pass, sum) ? s->rest[j] == 0 : s->sum[j] == -s->errors[j];
}

uint64_t gp_columns_open(const gp_columns *c, const gp_pass *pass) {
    uint64_t open = 0;
    for (unsigned sum = 0; sum < GP_DOT && pass->kind == GP_PASS_MOMENTS; sum++)
        for (size_t j = 0; j < c->outputs && sums(pass, sum) && gp_sum_is_real(pass, sum); j++)
            open += !is_held(c, pass, sum, j);
    return open;
}

static gp_total total_of(const gp_columns *c, unsigned sum, size_t j) {
    return c->sums[sum].low[j] + c->sums[sum].high[j] * ((gp_total)1 << 32);
}

static void add_real(gp_accumulator *a, const gp_pass *pass, unsigned sum, double x) {
    if (gp_type_is_float(pass->type))
        gp_accumulator_add_exact(a, pass, sum, x);
    else
        a->whole[sum] += (gp_total)x;
}

bool gp_columns_read(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a) {
    if (pass->kind == GP_PASS_EXTREMES)
        return read_extremes(c, pass, j, a);
    if (pass->kind == GP_PASS_BITS) {
        a->bits_and = (uint64_t)c->bits_and[j];
        a->bits_or = (uint64_t)c->bits_or[j];
        a->bits_xor = (uint64_t)c->bits_xor[j];
        return true;
    }
    if (pass->wants & GP_WANT_COUNT)
        a->nonzero += (uint64_t)c->nonzero[j];
    for (unsigned sum = 0; sum < GP_DOT; sum++)
        if (!sums(pass, sum))
            continue;
        else if (!gp_sum_is_real(pass, sum)) {
            a->whole[sum] += total_of(c, sum, j);
        } else {
            const gp_column_sums *s = &c->sums[sum];
            if (!is_held(c, pass, sum, j))
                return false;
            add_real(a, pass, sum, s->sum[j]);
            if (gp_columns_pair(c, pass, sum))
                add_real(a, pass, sum, s->errors[j]);
        }
    return true;
}

static void merge_extremes(gp_columns *c, const gp_columns *from, bool places) {
    for (size_t j = 0; j < c->outputs; j++) {
        if (places && (from->min[j] < c->min[j] || (from->min[j] == c->min[j] && from->argmin[j] < c->argmin[j])))
            c->argmin[j] = from->argmin[j];
        if (places && (from->max[j] > c->max[j] || (from->max[j] == c->max[j] && from->argmax[j] < c->argmax[j])))
            c->argmax[j] = from->argmax[j];
        c->min[j] = from->min[j] < c->min[j] ? from->min[j] : c->min[j];
        c->max[j] = from->max[j] > c->max[j] ? from->max[j] : c->max[j];
    }
}

/* The upper of two bounds is the lower one, and less than `rest` more. */
static void merge_sums(gp_column_sums *to, const gp_column_sums *from, bool pairs, size_t n) {
    for (size_t j = 0; j < n; j++) {
        to->rest[j] += pairs ? from->rest[j] : (-from->errors[j] - from->sum[j]) * (1 + 0x1p-50);
        gp_column_add(to, j, from->sum[j]);
        gp_column_add(to, j, pairs ? from->errors[j] : 0);
    }
}

void gp_columns_merge(gp_columns *c, const gp_columns *from, const gp_pass *pass) {
    c->failed |= from->failed;
    for (size_t j = 0; j < c->outputs && gp_columns_count(pass); j++)
        c->counted[j] += from->counted[j];
    if (pass->kind == GP_PASS_EXTREMES) {
        merge_extremes(c, from, pass->wants & GP_WANT_PLACES);
        return;
    }
    for (size_t j = 0; j < c->outputs && pass->kind == GP_PASS_BITS; j++) {
        c->bits_and[j] &= from->bits_and[j];
        c->bits_or[j] |= from->bits_or[j];
        c->bits_xor[j] ^= from->bits_xor[j];
    }
    for (size_t j = 0; j < c->outputs && (pass->wants & GP_WANT_COUNT); j++)
        c->nonzero[j] += from->nonzero[j];
    for (unsigned sum = 0; sum < GP_DOT && pass->kind == GP_PASS_MOMENTS; sum++)
        if (sums(pass, sum) && gp_sum_is_real(pass, sum))
            merge_sums(&c->sums[sum], &from->sums[sum], gp_columns_pair(from, pass, sum), c->outputs);
        else
            for (size_t j = 0; j < c->outputs && sums(pass, sum); j++) {
                c->sums[sum].low[j] += from->sums[sum].low[j];
                c->sums[sum].high[j] += from->sums[sum].high[j];
            }
}

/* Rows [begin, end) of `width` columns, some at a time. */
static void take_rows(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                      uint64_t rows, size_t width, int64_t place) {
    const gp_pass_axis *kept = pass->axis + pass->kept - 1, *inner = kept + pass->reduced;
    const uint64_t together = width == kept->n ? rows_together(pass, kept, inner, rows) : 1;
    const uint64_t bytes = gp_type_bytes(pass->type),
                   several = pass->kind == GP_PASS_EXTREMES ? 0 : pass->wants & (pass->wants - 1u);
    const uint64_t all_rows = bytes == 1 || several ? GP_SUMMED_ROWS : BLOCK_ROWS;
    const size_t side = several || (pass->wants & GP_WANT_PLACES) || rows < FEW_ROWS ? GP_COLUMNS : width;
    const uint64_t some_rows = side < width ? BLOCK_BYTES / (GP_COLUMNS * bytes) : all_rows;
    const uint64_t most = kept->in == (int64_t)bytes ? some_rows * together : gp_least(rows, BLOCK_ROWS);
    const int64_t step = (int64_t)together * inner->in;
    for (uint64_t some; rows >= together; rows -= some) {
        some = gp_least(rows - rows % together, most);
        for (size_t first = 0; first < width; first += side) {
            gp_columns *to = c + first / GP_COLUMNS;
            to->count = gp_least(width - first, side) * together;
            columns(to, pass, in + (int64_t)first * kept->in, some / together, step, place, inner->place);
        }
        in += (int64_t)some * inner->in;
        place += (int64_t)some * inner->place;
    }
    c->count = width;
    if (rows > 0)
        columns(c, pass, in, rows, inner->in, place, inner->place);
}

gp_pass_axis gp_pass_way_to(const gp_pass *pass, unsigned first, unsigned end, uint64_t index) {
    gp_pass_axis way = {0};
    for (unsigned axis = end; axis-- > first;) {
        const gp_pass_axis *along = &pass->axis[axis];
        const int64_t i = (int64_t)(axis == first ? index : index % along->n);
        way.in += i * along->in;
        way.with += i * along->with;
        way.place += i * along->place;
        index = axis == first ? 0 : index / along->n;
    }
    return way;
}

/* By itself, for its frame. */
__attribute__((noinline)) static void take_gathered(gp_columns *c, const gp_pass *pass, gp_pass_columns columns,
                                                    const unsigned char *in, size_t width, uint64_t begin,
                                                    uint64_t rows) {
    const gp_pass_axis *kept = pass->axis + pass->kept - 1, *inner = kept + pass->reduced;
    const bool places = pass->wants & GP_WANT_PLACES;
    const size_t bytes = gp_type_bytes(pass->type), size = width * bytes, together = places ? 1 : GP_COLUMNS / width;
    const uint64_t outer = pass->length / inner->n, most = places ? 1 : GP_GATHERED_BYTES / (rows * size);
    const uint64_t unit = gp_columns_unit(pass);
    gp_pass_axis way = {0};
    _Alignas(64) unsigned char gathered[GP_GATHERED_BYTES];
    c->bytes = sizeof gathered;
    c->apart = width > 1 ? (int64_t)bytes : 0;
    for (uint64_t i = 0, some; i < outer; i += some) {
        some = gp_least(most, outer - i);
        for (uint64_t k = 0; k < some; k++) {
            way = gp_pass_way_to(pass, pass->kept, pass->kept + pass->reduced, (i + k) * inner->n + begin);
            unsigned char *to = gathered + k * rows * size;
            if (unit == 1)
                GP_WITH_BYTES(gp_gather_runs, bytes, in + way.in, rows, inner->in, width, kept->in, to);
            for (uint64_t row = 0; row < rows && unit > 1; row++)
                GP_WITH_BYTES(gp_gather_runs, bytes, in + way.in + (int64_t)row * inner->in, width / unit,
                              kept[-1].in, unit, kept->in, to + row * size);
        }
        const uint64_t all = some * rows, last = width > 1 ? all % together : all;
        c->end = gathered + all * size;
        c->count = width * together;
        if (all > last)
            columns(c, pass, gathered, all / together, (int64_t)(size * together), pass->place_first + way.place,
                    inner->place);
        c->count = width;
        if (last > 0)
            columns(c, pass, c->end - last * size, last, (int64_t)size, 0, 0);
    }
}

void gp_columns_take(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                     size_t width, uint64_t begin, uint64_t end) {
    const gp_pass_axis *kept = pass->axis + pass->kept - 1, *inner = kept + pass->reduced;
    const gp_pass_span span = gp_pass_input_span(pass, false);
    const uint64_t outer = pass->length / inner->n, bytes = gp_type_bytes(pass->type);
    for (size_t first = 0, i = 0; first < width; first += GP_COLUMNS, i++) {
        c[i].outputs = gp_least(width - first, GP_COLUMNS);
        gp_columns_clear(c + i, pass, c[i].outputs);
        c[i].apart = kept->in;
        c[i].end = span.begin + span.bytes;
        c[i].bytes = span.bytes;
    }
    const bool row = inner->in == (int64_t)bytes && inner->n * bytes >= LONG_RUN_BYTES;
    const bool small = (end - begin) * width <= FEW_ELEMENTS || (end - begin <= FEW_GATHERED && bytes <= 4);
    const bool few = outer > 1 && !row && small && width <= GP_COLUMNS;
    if (gp_columns_unit(pass) > 1 || (few && !(pass->wants & GP_WANT_PLACES))) {
        for (uint64_t some; begin < end; begin += some) {
            some = gp_least(end - begin, GP_GATHERED_BYTES / (width * bytes));
            take_gathered(c, pass, columns, in, width, begin, some);
        }
        return;
    }
    for (uint64_t i = 0; i < outer; i++) {
        const gp_pass_axis way = gp_pass_way_to(pass, pass->kept, pass->kept + pass->reduced, i * inner->n + begin);
        take_rows(c, pass, columns, in + way.in, end - begin, width, pass->place_first + way.place);
    }
}
