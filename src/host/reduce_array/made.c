/* SPDX-License-Identifier: Apache-2.0 */
/* Which passes become passes of made elements, and the walk that makes them block by block. */
#include "made.h"
#include "../arithmetic.h"
#include "array.h"

#define LEAST 32 /* elements of a pass */

/* Pairs of floats without gaps of which loops have products; several shorter runs fill a block of made ones. */
#define LONG_RUN 257

/* The bits of the greatest of a type, or of the least; of floats the infinities. */
static uint64_t end_of(unsigned type, bool least) {
    const unsigned bits = 8 * gp_type_bytes(type);
    if (gp_type_is_float(type))
        return (uint64_t)gp_key_form_of(type).infinity | (uint64_t)least << (bits - 1);
    const uint64_t all = UINT64_MAX >> (64 - bits), greatest = gp_type_is_signed(type) ? all >> 1 : all;
    return least ? all - greatest : greatest;
}

static bool choose(gp_made_pass *made) {
    const unsigned wants = made->asked.wants, least = GP_WANT_MIN | GP_WANT_ARGMIN;
    const unsigned greatest = GP_WANT_MAX | GP_WANT_ARGMAX;
    made->how = GP_MAKE_CHOSEN;
    if (made->asked.kind == GP_PASS_BITS)
        made->rest = wants == GP_WANT_AND ? UINT64_MAX : 0;
    else if (made->asked.kind == GP_PASS_EXTREMES && wants != GP_WANT_MAX_ABS)
        made->rest = end_of(made->asked.type, (wants & greatest) != 0);
    return made->asked.kind == GP_PASS_MOMENTS || wants == GP_WANT_AND || wants == GP_WANT_MAX_ABS ||
           (made->asked.kind == GP_PASS_BITS ? !(wants & GP_WANT_AND)
                                             : (wants | least) == least || (wants | greatest) == greatest);
}

static bool make_ints(gp_made_pass *made) {
    const unsigned type = made->asked.type, products = made->asked.wants & GP_WANT_DOT;
    made->how = products ? GP_MAKE_PRODUCTS : GP_MAKE_DIFFERENCES;
    made->pass.type = (uint8_t)(products ? type + 2 : type - gp_type_is_signed(type));
    return products ? gp_type_bytes(type) < 8 && made->asked.wants == GP_WANT_DOT : true;
}

static bool make_floats(gp_made_pass *made) {
    const bool is_f64 = made->asked.type == GP_F64;
    switch (made->asked.wants) {
    case GP_WANT_COUNT:
        made->how = GP_MAKE_UNLIKE, made->pass.type = GP_U8;
        return true;
    case GP_WANT_MAX_ABS:
        made->how = GP_MAKE_APART, made->pass.type = is_f64 ? GP_F64 : GP_F32;
        return true;
    case GP_WANT_ABS:
        made->how = GP_MAKE_ORDERED, made->pieces = 2;
        return true;
    case GP_WANT_DOT:
        made->how = GP_MAKE_PRODUCTS, made->pieces = is_f64 ? 2 : 1, made->pass.type = GP_F64;
        return true;
    default:
        made->how = GP_MAKE_SQUARES, made->pieces = is_f64 ? 6 : 3, made->pass.type = GP_F64;
        return made->asked.wants == GP_WANT_SQUARES;
    }
}

/* Whether the wants of `asked` can be made together, and how. */
static bool can(gp_made_pass *made) {
    made->pieces = 1, made->rest = 0;
    return made->asked.kind < GP_PASS_PAIR      ? choose(made)
           : gp_type_is_float(made->asked.type) ? make_floats(made)
                                                : make_ints(made);
}

/* What an operation on pairs is of the elements that are made of them. */
static uint8_t renamed(unsigned op, bool of_floats) {
    switch (op) {
    case GP_REDUCE_MAX_ABS_DIFF:
        return GP_REDUCE_MAX;
    case GP_REDUCE_COUNT_DIFF:
        return GP_REDUCE_COUNT;
    case GP_REDUCE_SUM_ABS_DIFF:
        return of_floats ? GP_REDUCE_SUM : GP_REDUCE_SUM_ABS;
    case GP_REDUCE_SUM_SQUARE_DIFF:
        return of_floats ? GP_REDUCE_SUM : GP_REDUCE_SUM_SQUARES;
    default:
        return GP_REDUCE_SUM;
    }
}

bool gp_made_can(const gp_pass *pass) {
    const gp_pass_axis *behind = pass->axis + pass->kept + pass->reduced;
    const bool loops = pass->wants == GP_WANT_DOT && pass->type >= GP_F16 && pass->type < GP_F64 && !pass->skip_nan;
    const bool run = pass->reduced > 0 && behind[-1].n >= LONG_RUN && gp_pass_is_contiguous(pass, behind - 1);
    gp_made_pass made;
    if ((pass->with_type == 0 && !pass->skip_nan) || pass->length == 0 || pass->outputs * pass->length < LEAST ||
        pass->kept + pass->reduced >= GP_AXES || (loops && run))
        return false;
    made.asked.type = pass->type, made.asked.kind = pass->kind;
    for (unsigned r = 0; r < pass->results; r++) {
        made.asked.wants = gp_operation_facts_of(pass->result[r].op)->wants;
        if (!can(&made))
            return false;
    }
    return true;
}

void gp_made_next(const gp_pass *pass, unsigned *first, gp_made_pass *made) {
    gp_pass *asked = &made->asked, *own = &made->pass;
    const bool of_floats = gp_type_is_float(pass->type);
    *asked = *pass;
    asked->results = 0, asked->wants = 0;
    for (unsigned before = 0; *first < pass->results; before = asked->wants, ++*first, ++asked->results) {
        asked->wants |= gp_operation_facts_of(pass->result[*first].op)->wants;
        if (!can(made)) {
            asked->wants = (uint16_t)before;
            break;
        }
        asked->result[asked->results] = pass->result[*first];
        asked->to[asked->results] = pass->to[*first];
    }
    gp_pass_add_axes(asked);
    *own = *asked;
    can(made);
    own->with_type = 0, own->with = NULL;
    if (pass->kind < GP_PASS_PAIR)
        return;
    own->kind = pass->kind == GP_PASS_PAIR ? GP_PASS_MOMENTS : GP_PASS_EXTREMES;
    own->wants = 0;
    for (unsigned r = 0; r < own->results; r++) {
        own->result[r].op = renamed(own->result[r].op, of_floats);
        own->wants |= gp_operation_facts_of(own->result[r].op)->wants;
    }
}

/* Whether neighbouring outputs lie closer than neighbouring elements of one. */
static bool is_across(const gp_pass *pass) {
    return pass->axis[pass->kept - 1].in < pass->axis[pass->kept + pass->reduced - 1].in;
}

#define ACROSS 128 /* columns, of which several rows are made at once */

/* What is made at once. */
#define BLOCK_BYTES 4096

static uint64_t at_once(const gp_made_pass *made) {
    const uint32_t a = gp_type_bytes(made->asked.type), b = gp_type_bytes(made->asked.with_type);
    return BLOCK_BYTES / gp_greatest(gp_greatest(a, b), gp_type_bytes(made->pass.type));
}

uint64_t gp_made_width(const gp_made_pass *made) {
    const gp_pass *pass = &made->asked;
    const uint64_t inner = pass->axis[pass->kept + pass->reduced - 1].n;
    const uint64_t most = is_across(pass) ? ACROSS : gp_least(gp_at_least_one(at_once(made) / inner), GP_COLUMNS);
    return gp_least(most, pass->axis[pass->kept - 1].n);
}

/* Elements in the order of memory, without gaps. */
typedef struct {
    _Alignas(64) unsigned char of[BLOCK_BYTES];
} block;

/* `runs` runs of n elements, where they are or copied. */
static const unsigned char *gathered(unsigned type, const unsigned char *in, uint64_t runs, int64_t apart, uint64_t n,
                                     int64_t step, block *to) {
    const unsigned bytes = gp_type_bytes(type);
    if (in == NULL || (step == (int64_t)bytes && (runs == 1 || apart == (int64_t)(n * bytes))))
        return in;
    GP_WITH_BYTES(gp_gather_runs, bytes, in, runs, apart, n, step, to->of);
    return to->of;
}

/* Of `rows` elements of each of `width` outputs. */
static void count(uint32_t *restrict counted, const uint8_t *restrict counts, bool across, size_t width,
                  uint64_t rows) {
    for (uint64_t i = 0; i < rows && across; i++)
        for (size_t j = 0; j < width; j++)
            counted[j] += counts[i * width + j];
    for (size_t j = 0; j < width && !across; j++, counts += rows) {
        uint32_t some = 0;
        for (uint64_t i = 0; i < rows; i++)
            some += counts[i];
        counted[j] += some;
    }
}

/* Of longer rows, for what is done with each column of a block to take little time. They are never so many that sums
 * of bytes, whose lanes have 16 bits, pass these. */
#define ROWS_AT_LEAST 32

/* Takes made elements; several rows of narrow columns are a longer one. */
static void take_block(gp_columns *c, const gp_pass *own, gp_pass_columns columns, const unsigned char *made,
                       bool across, size_t width, uint64_t rows, int64_t place) {
    const uint64_t bytes = gp_type_bytes(own->type), row = width * bytes;
    const uint64_t most = across && !(own->wants & GP_WANT_PLACES) ? gp_at_least_one(rows / ROWS_AT_LEAST) : 1;
    const uint64_t together = gp_least(GP_COLUMNS / width, most), last = rows % together;
    const int64_t place_step = own->axis[own->kept + own->reduced - 1].place;
    c->end = made + rows * row;
    c->bytes = BLOCK_BYTES;
    c->apart = (int64_t)(across ? bytes : rows * bytes);
    c->count = width * together;
    columns(c, own, made, rows / together, (int64_t)(across ? row * together : bytes), place, place_step);
    c->count = width;
    if (last > 0)
        columns(c, own, c->end - last * row, last, (int64_t)row, 0, 0);
}

/* What is done with elements as they are made: columns take them, or an accumulator. */
typedef struct {
    const gp_made_pass *made;
    gp_pass_make make;
    gp_pass_columns columns;
    gp_columns *c;
    gp_pass_run run;
    gp_accumulator *a;
    gp_pass own;      /* over a block, for the accumulator */
    uint64_t counted; /* of its elements */
} maker;

static bool walk(maker *m, const unsigned char *in, const unsigned char *with, size_t width, uint64_t begin,
                 uint64_t end) {
    const gp_pass *pass = &m->made->asked, *own = &m->made->pass;
    const gp_pass_axis *kept = pass->axis + pass->kept - 1, *inner = kept + pass->reduced;
    const bool across = is_across(pass);
    const bool lone = width == 1 && pass->reduced > 1 && !across && !(pass->wants & GP_WANT_PLACES);
    const gp_pass_axis *run = across ? kept : inner, *other = across ? inner : lone ? inner - 1 : kept;
    block x, y, out;
    uint8_t counts[BLOCK_BYTES];
    const uint64_t outer = pass->length / inner->n, all = at_once(m->made);
    uint64_t taken = 0; /* since carries were spread */
    for (uint64_t i = 0, lines; i < outer; i += lines) {
        lines = 1;
        if (lone && end - begin == inner->n) /* short runs, several at once */
            lines = gp_at_least_one(gp_least(all / inner->n, inner[-1].n - i % inner[-1].n));
        for (uint64_t at = begin, some; at < end; at += some) {
            some = gp_least(end - at, all / width);
            const gp_pass_axis way = gp_pass_way_to(pass, pass->kept, pass->kept + pass->reduced, i * inner->n + at);
            const uint64_t n = across ? width : some, runs = across ? some : width * lines;
            const unsigned char *a = gathered(pass->type, in + way.in, runs, other->in, n, run->in, &x);
            const unsigned char *b =
                gathered(pass->with_type, with != NULL ? with + way.with : NULL, runs, other->with, n, run->with, &y);
            for (unsigned piece = 0; piece != GP_MADE_ALL;) {
                const unsigned char *const these = m->make(m->made, &piece, a, b, n * runs, counts, out.of);
                if (these == NULL)
                    return false;
                m->own.in = these;
                if (m->a != NULL)
                    m->run(m->a, &m->own, these, NULL, 0, some * lines);
                else
                    take_block(m->c, own, m->columns, these, across, width, some * lines,
                               pass->place_first + way.place);
            }
            const bool counting = gp_columns_count(own);
            uint32_t counted = counting ? 0 : gp_to_u32(some * lines);
            if (counting)
                count(m->a != NULL ? &counted : m->c->counted, counts, across, width, some * lines);
            m->counted += counted;
            taken += some * lines * m->made->pieces;
            if (m->a != NULL && taken >= GP_CARRY_LENGTH / 2) {
                gp_accumulator_carry(m->a, own);
                taken = 0;
            }
        }
    }
    return true;
}

void gp_made_take(gp_columns *c, const gp_made_pass *made, gp_pass_make make, gp_pass_columns columns,
                  const unsigned char *in, const unsigned char *with, size_t width, uint64_t begin, uint64_t end) {
    maker m = {.made = made, .make = make, .columns = columns, .c = c};
    c->outputs = width;
    gp_columns_clear(c, &made->pass, width);
    c->failed = !walk(&m, in, with, width, begin, end);
}

bool gp_made_run(gp_accumulator *a, const gp_made_pass *made, gp_pass_make make, gp_pass_run run,
                 const unsigned char *in, const unsigned char *with, uint64_t begin, uint64_t end) {
    const gp_pass *pass = &made->asked;
    const int64_t bytes = gp_type_bytes(made->pass.type);
    maker m = {.made = made, .make = make, .run = run, .a = a, .own = made->pass};
    m.own.where = m.own.skip_nan = false;
    m.own.kept = 0, m.own.reduced = 1;
    m.own.axis[0] = (gp_pass_axis){BLOCK_BYTES / (uint64_t)bytes, bytes, 0, 0};
    if ((pass->wants & GP_WANT_PLACES) || !walk(&m, in, with, 1, begin, end))
        return false;
    if (m.counted == 0)
        gp_accumulator_clear(a);
    a->counted = m.counted;
    return true;
}
