/* SPDX-License-Identifier: Apache-2.0 */
/* Random views: axes in any order in memory, with gaps, backwards, repeated, of 0 and 1 elements. */
#include "random_call.h"
#include "../cases.h"
#include "../check.h"
#include "../reduce/data_sets.h"
#include "oracle_array.h"

uint64_t random_draw(random_source *s, uint64_t below) {
    return cases_random(&s->state) % below;
}

bool random_chance(random_source *s, unsigned percent) {
    return random_draw(s, 100) < percent;
}

static void shuffle(random_source *s, unsigned order[GP_AXES], unsigned count) {
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        const unsigned other = (unsigned)random_draw(s, i), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}

/* Strides for a view whose extents are set, in memory of its own; repeated: strides of 0 may be. */
void random_array_place(random_source *s, random_array *a, bool repeated) {
    gp_array *v = &a->view;
    const size_t bytes = oracle_bytes(v->type);
    size_t span = 1, first = 0, last = 0;
    unsigned order[GP_AXES];
    const bool plain = random_chance(s, 40);
    shuffle(s, order, v->rank);
    for (unsigned i = 0; i < v->rank; i++) {
        const unsigned axis = plain ? v->rank - 1 - i : order[i];
        const size_t n = v->extent[axis], stride = span + (plain || random_chance(s, 70) ? 0 : random_draw(s, 5));
        v->stride[axis] = (ptrdiff_t)stride;
        if (repeated && !plain && random_chance(s, 10))
            v->stride[axis] = 0;
        else if (repeated && !plain && random_chance(s, 5))
            v->stride[axis] = 1; /* may overlap others */
        else if (n > 1)
            span = stride * (n - 1) + span;
        if (!plain && random_chance(s, 25))
            v->stride[axis] = -v->stride[axis];
        if (n > 1 && v->stride[axis] < 0)
            first += (size_t)-v->stride[axis] * (n - 1);
        if (n > 1 && v->stride[axis] > 0)
            last += (size_t)v->stride[axis] * (n - 1);
        if (n <= 1 && random_chance(s, 50))
            v->stride[axis] = (ptrdiff_t)cases_random(&s->state);
    }
    const size_t before = random_draw(s, 20), elements = before + first + last + 1 + random_draw(s, 20);
    a->bytes = elements * bytes;
    a->memory = malloc(a->bytes);
    assert_non_null(a->memory);
    v->data = a->memory + (before + first) * bytes;
    for (unsigned axis = 0; axis < v->rank; axis++)
        if (v->extent[axis] == 0 && random_chance(s, 30))
            v->data = NULL;
}

void random_array_fill(random_source *s, random_array *a) {
    const data_set set = (data_set)random_draw(s, DATA_SETS);
    data_set_fill(a->memory, (gp_type)a->view.type, a->bytes / oracle_bytes(a->view.type), set,
                  cases_random(&s->state));
    if (random_chance(s, 20)) /* few values: ties, zeros, pairs that are equal */
        for (size_t i = 0, n = oracle_bytes(a->view.type); i + n <= a->bytes; i += n)
            if (!random_chance(s, 30))
                memcpy(a->memory + i, a->memory + random_draw(s, 3) % (a->bytes / n) * n, n);
}

static void choose_extents(random_source *s, gp_array *v, size_t elements) {
    size_t left = 1 + random_draw(s, elements);
    const unsigned lone = random_chance(s, 40) && v->rank > 0 ? (unsigned)random_draw(s, v->rank) : GP_AXES;
    for (unsigned axis = 0; axis < v->rank; axis++) {
        size_t most = axis == lone || v->rank == 1 ? left : left < 9 ? left : 9;
        v->extent[axis] = 1 + random_draw(s, most);
        left /= v->extent[axis];
        if (random_chance(s, 2))
            v->extent[axis] = 0;
    }
}

static uint32_t choose_op(random_source *s, random_call *call, bool where) {
    static const uint32_t pairs[] = {GP_REDUCE_DOT, GP_REDUCE_SUM_ABS_DIFF, GP_REDUCE_SUM_SQUARE_DIFF,
                                     GP_REDUCE_MAX_ABS_DIFF, GP_REDUCE_COUNT_DIFF};
    const uint32_t skip = random_chance(s, 25) ? GP_SKIP_NAN : 0;
    if (call->pair && !where)
        return pairs[random_draw(s, COUNT(pairs))] | skip;
    uint32_t op;
    do {
        op = (uint32_t)random_draw(s, 18);
    } while (call->in.view.type >= GP_F16 && op >= GP_REDUCE_AND && op <= GP_REDUCE_XOR);
    return op | skip | (where ? GP_WHERE : 0);
}

/* One that the header's table has for the operation. */
static int32_t choose_type(random_source *s, int32_t in, uint32_t op) {
    static const int32_t of_ints[] = {GP_S64, GP_U64, GP_F64, GP_F32},
                         of_floats[] = {GP_F64, GP_F32, GP_F16, GP_BF16};
    switch (op & 0xff) {
    case GP_REDUCE_SUM:
    case GP_REDUCE_SUM_ABS:
    case GP_REDUCE_SUM_SQUARES:
    case GP_REDUCE_DOT:
    case GP_REDUCE_SUM_ABS_DIFF:
    case GP_REDUCE_SUM_SQUARE_DIFF:
        return in < GP_F16 ? of_ints[random_draw(s, 4)] : of_floats[random_draw(s, 4)];
    case GP_REDUCE_MEAN:
        return of_floats[random_draw(s, 4)];
    case GP_REDUCE_ARGMIN:
    case GP_REDUCE_ARGMAX:
    case GP_REDUCE_COUNT:
    case GP_REDUCE_COUNT_DIFF:
        return of_ints[random_draw(s, 2)];
    case GP_REDUCE_MAX_ABS:
    case GP_REDUCE_MAX_ABS_DIFF:
        return in < GP_F16 && in % 2 == 0 ? in - 1 : in;
    case GP_REDUCE_NORM:
    case GP_REDUCE_VARIANCE:
    case GP_REDUCE_STDDEV:
    case GP_REDUCE_VARIANCE_SAMPLE:
    case GP_REDUCE_STDDEV_SAMPLE:
        return of_floats[random_draw(s, 2)];
    default:
        return in == GP_S32 && random_chance(s, 50) ? GP_S64 : in;
    }
}

static void expect(random_call *call, size_t i) {
    random_array *to = &call->to[i];
    gp_result result = call->results[i];
    call->wanted[i] = malloc(to->bytes);
    assert_non_null(call->wanted[i]);
    memset(call->wanted[i], RANDOM_FILL, to->bytes);
    if (to->view.data != NULL)
        result.to.data = call->wanted[i] + ((unsigned char *)to->view.data - to->memory);
    const gp_status status = oracle_array(&call->in.view, call->pair ? &call->with.view : NULL, &result);
    if (status == GP_ERR_EMPTY || call->status == GP_OK)
        call->status = status;
}

static void label(random_call *call, uint64_t seed) {
    const gp_array *in = &call->in.view;
    size_t at = (size_t)snprintf(call->label, sizeof call->label, "seed %llu, type %d,", (unsigned long long)seed,
                                 (int)in->type);
    for (unsigned axis = 0; axis < in->rank && at < sizeof call->label; axis++)
        at += (size_t)snprintf(call->label + at, sizeof call->label - at, " %zu(%td)%s", in->extent[axis],
                               in->extent[axis] > 1 ? in->stride[axis] : 0,
                               call->results[0].to.rank == 0 || call->results[0].to.extent[axis] == 1 ? "r" : "k");
    for (size_t i = 0; i < call->count && at < sizeof call->label; i++)
        at += (size_t)snprintf(call->label + at, sizeof call->label - at, ", op 0x%x to %d", call->results[i].op,
                               (int)call->results[i].to.type);
}

void random_call_make(random_call *call, uint64_t seed, size_t elements) {
    random_source s = {seed};
    gp_array *in = &call->in.view;
    *call = (random_call){.pair = random_chance(&s, 30), .count = 1 + random_draw(&s, RANDOM_RESULTS)};
    const bool where = call->pair && random_chance(&s, 40);
    in->type = 1 + (int32_t)random_draw(&s, 12);
    in->rank = (uint32_t)(random_chance(&s, 50) ? random_draw(&s, 3) : random_draw(&s, GP_AXES + 1));
    choose_extents(&s, in, elements);
    random_array_place(&s, &call->in, true);
    random_array_fill(&s, &call->in);
    if (call->pair) {
        call->with.view = *in;
        call->with.view.type = where ? 1 + (int32_t)random_draw(&s, 12) : in->type;
        random_array_place(&s, &call->with, true);
        random_array_fill(&s, &call->with);
        if (call->with.bytes == call->in.bytes && random_chance(&s, 20))
            memcpy(call->with.memory, call->in.memory, call->in.bytes);
    }
    const unsigned kept = (unsigned)random_draw(&s, 256) & (unsigned)random_draw(&s, 256);
    for (size_t i = 0; i < call->count; i++) {
        gp_result *result = &call->results[i];
        random_array *to = &call->to[i];
        result->op = choose_op(&s, call, where);
        to->view.type = choose_type(&s, in->type, result->op);
        bool all = true;
        for (unsigned axis = 0; axis < in->rank; axis++) {
            to->view.extent[axis] = kept >> axis & 1 ? in->extent[axis] : 1;
            all = all && to->view.extent[axis] == 1;
        }
        to->view.rank = all && random_chance(&s, 50) ? 0 : in->rank;
        random_array_place(&s, to, false);
        result->to = to->view;
        expect(call, i);
    }
    label(call, seed);
}

void random_call_free(random_call *call) {
    free(call->in.memory);
    free(call->with.memory);
    for (size_t i = 0; i < call->count; i++) {
        free(call->to[i].memory);
        free(call->wanted[i]);
    }
}

void random_call_reset(random_call *call) {
    for (size_t i = 0; i < call->count; i++)
        memset(call->to[i].memory, RANDOM_FILL, call->to[i].bytes);
}

static size_t packed(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

size_t random_call_input_bytes(const random_call *call) {
    return packed(call->in.bytes) + packed(call->with.bytes) + 256;
}

size_t random_call_result_bytes(const random_call *call) {
    size_t bytes = 0;
    for (size_t i = 0; i < call->count; i++)
        bytes += packed(call->to[i].bytes);
    return bytes;
}

static unsigned char *move(random_array *a, unsigned char *to) {
    if (a->view.data != NULL)
        a->view.data = to + ((unsigned char *)a->view.data - a->memory);
    a->memory = to;
    return to + packed(a->bytes);
}

void random_call_move(const random_call *call, unsigned char *inputs, unsigned char *results, random_call *moved) {
    *moved = *call;
    inputs = move(&moved->in, inputs);
    if (call->pair)
        (void)move(&moved->with, inputs);
    for (size_t i = 0; i < call->count; i++) {
        results = move(&moved->to[i], results);
        moved->results[i].to = moved->to[i].view;
    }
}

void random_call_pack(const random_call *call, unsigned char *inputs, unsigned char *results) {
    memcpy(inputs, call->in.memory, call->in.bytes);
    if (call->pair)
        memcpy(inputs + packed(call->in.bytes), call->with.memory, call->with.bytes);
    for (size_t i = 0; i < call->count; results += packed(call->to[i++].bytes))
        memcpy(results, call->to[i].memory, call->to[i].bytes);
}

void random_call_unpack(random_call *call, const unsigned char *results) {
    for (size_t i = 0; i < call->count; results += packed(call->to[i++].bytes))
        memcpy(call->to[i].memory, results, call->to[i].bytes);
}

gp_status random_call_run(random_call *call, gp_context *context) {
    if (call->is_window)
        return gp_window(context, &call->in.view, &call->window, call->results, call->count);
    if (call->pair)
        return gp_reduce_pair(context, &call->in.view, &call->with.view, call->results, call->count);
    return gp_reduce(context, &call->in.view, call->results, call->count);
}

bool random_call_check(const random_call *call, char *words, size_t size) {
    for (size_t i = 0; i < call->count; i++)
        for (size_t b = 0; b < call->to[i].bytes; b++) {
            const unsigned got = call->to[i].memory[b],
                           want = call->status == GP_ERR_EMPTY ? RANDOM_FILL : call->wanted[i][b];
            if (got == want)
                continue;
            snprintf(words, size, "results[%zu], byte %zu: 0x%02x, not 0x%02x", i, b, got, want);
            return false;
        }
    return true;
}
