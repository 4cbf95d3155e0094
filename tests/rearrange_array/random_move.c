/* SPDX-License-Identifier: Apache-2.0 */
/* Random pairs of views: axes in any order in memory, with gaps, backwards, repeated, in place. */
#include "random_move.h"
#include "../cases.h"
#include "../check.h"

typedef struct source {
    uint64_t state;
} source;

static uint64_t draw(source *s, uint64_t below) {
    return cases_random(&s->state) % below;
}

static bool chance(source *s, unsigned percent) {
    return draw(s, 100) < percent;
}

static size_t bytes_of(const gp_array *a) {
    static const size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return a->type == GP_BYTES ? a->elem_bytes : bytes[a->type];
}

static void shuffle(source *s, unsigned order[GP_AXES], unsigned count) {
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        const unsigned other = (unsigned)draw(s, i), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}

/* From strides to where the data is in the memory that the view touches. */
static void settle(placed_view *p) {
    const size_t bytes = bytes_of(&p->view);
    p->first = 0;
    p->bytes = bytes;
    for (unsigned axis = 0; axis < p->view.rank; axis++) {
        const ptrdiff_t stride = p->view.stride[axis];
        const size_t n = p->view.extent[axis];
        if (n == 0) {
            p->first = p->bytes = 0;
            return;
        }
        if (n == 1)
            continue;
        const size_t walk = (size_t)(stride < 0 ? -stride : stride) * (n - 1) * bytes;
        p->bytes += walk;
        p->first += stride < 0 ? walk : 0;
    }
}

/* Strides for a view whose extents are set; repeated: strides of 0 may be. */
static void place(source *s, placed_view *p, bool repeated) {
    gp_array *v = &p->view;
    unsigned order[GP_AXES];
    const bool plain = chance(s, 30), gaps = chance(s, 40);
    size_t span = 1;
    shuffle(s, order, v->rank);
    for (unsigned i = 0; i < v->rank; i++) {
        const unsigned axis = plain ? v->rank - 1 - i : order[i];
        const size_t n = v->extent[axis], stride = span + (gaps && chance(s, 40) ? draw(s, 5) : 0);
        v->stride[axis] = (ptrdiff_t)stride;
        if (repeated && !plain && chance(s, 10))
            v->stride[axis] = 0;
        else if (n > 1)
            span = stride * (n - 1) + span;
        if (!plain && chance(s, 20))
            v->stride[axis] = -v->stride[axis];
        if (n <= 1 && chance(s, 50))
            v->stride[axis] = (ptrdiff_t)cases_random(&s->state);
    }
    settle(p);
}

static void choose_elements(source *s, gp_array *in, gp_array *out) {
    static const size_t usual[] = {1, 2, 4, 8, 16};
    const size_t bytes = chance(s, 50) ? usual[draw(s, COUNT(usual))] : 1 + draw(s, 40);
    for (int i = 0; i < 2; i++) {
        gp_array *a = i == 0 ? in : out;
        a->type = GP_BYTES;
        a->elem_bytes = bytes;
        for (int32_t type = GP_U8; type <= GP_F64 && chance(s, 70); type++) {
            const gp_array typed = {.type = type};
            if (bytes_of(&typed) == bytes && chance(s, 50)) {
                a->type = type;
                a->elem_bytes = 0;
                break;
            }
        }
    }
}

static void choose_extents(source *s, gp_array *v, size_t elements) {
    size_t left = 1 + draw(s, elements);
    unsigned order[GP_AXES];
    shuffle(s, order, v->rank);
    for (unsigned i = 0; i < v->rank; i++) {
        const size_t most = i < 2 && chance(s, 70) ? left : left < 9 ? left : 9;
        v->extent[order[i]] = 1 + draw(s, most);
        left /= v->extent[order[i]];
        if (chance(s, 1))
            v->extent[order[i]] = 0;
    }
}

/* The output has the input's elements: equal axes change places, and some are reversed. */
static void put_in_place(source *s, random_move *move) {
    gp_array *in = &move->in.view, *out = &move->out.view;
    const bool cube = chance(s, 60);
    if (cube && in->rank > 1)
        for (unsigned axis = 1; axis < in->rank; axis++)
            in->extent[axis] = chance(s, 70) ? in->extent[0] : in->extent[axis];
    size_t elements = 1;
    for (unsigned axis = 0; axis < in->rank; axis++)
        if (elements * in->extent[axis] > 20000)
            in->extent[axis] = 1;
        else
            elements *= in->extent[axis];
    place(s, &move->in, false);
    *out = *in;
    for (unsigned axis = 0; axis < in->rank; axis++) {
        const unsigned other = (unsigned)draw(s, in->rank);
        if (in->extent[axis] == in->extent[other] && chance(s, 60)) {
            const ptrdiff_t stride = out->stride[axis];
            out->stride[axis] = out->stride[other];
            out->stride[other] = stride;
        }
        if (chance(s, 15))
            out->stride[axis] = -out->stride[axis];
    }
    settle(&move->out);
    move->in_place = move->may_refuse = true;
}

static void label(random_move *move, const char *what) {
    const gp_array *in = &move->in.view, *out = &move->out.view;
    size_t at = (size_t)snprintf(move->label, sizeof move->label, "%s, %zu bytes%s:", what, bytes_of(in),
                                 move->in_place ? ", in place" : "");
    for (unsigned axis = 0; axis < in->rank && at < sizeof move->label; axis++)
        at += (size_t)snprintf(move->label + at, sizeof move->label - at, " %zu(%td>%td)", in->extent[axis],
                               in->extent[axis] > 1 ? in->stride[axis] : 0,
                               in->extent[axis] > 1 ? out->stride[axis] : 0);
}

void random_move_make(random_move *move, uint64_t seed, size_t elements) {
    char what[40];
    source s = {seed * 0x9e3779b97f4a7c15u + 1};
    *move = (random_move){.offset = {draw(&s, 3) * draw(&s, 64), draw(&s, 3) * draw(&s, 64)}};
    gp_array *in = &move->in.view, *out = &move->out.view;
    in->rank = out->rank = (uint32_t)draw(&s, GP_AXES + 1);
    choose_elements(&s, in, out);
    choose_extents(&s, in, elements);
    if (chance(&s, 25)) {
        put_in_place(&s, move);
    } else {
        memcpy(out->extent, in->extent, sizeof in->extent);
        place(&s, &move->in, true);
        place(&s, &move->out, false);
    }
    snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
    label(move, what);
}

static gp_array dense(size_t bytes, unsigned rank, const size_t *extent) {
    gp_array a = gp_dense(GP_BYTES, NULL, rank, extent);
    a.elem_bytes = bytes;
    return a;
}

void random_move_permutation(random_move *move, size_t bytes, unsigned rank, const size_t *extent,
                             const unsigned *axes) {
    *move = (random_move){.in.view = gp_permuted(dense(bytes, rank, extent), axes)};
    move->out.view = dense(bytes, rank, move->in.view.extent);
    settle(&move->in);
    settle(&move->out);
    label(move, "permutation");
}

void random_move_reverse(random_move *move, uint64_t seed) {
    source s = {seed};
    const uint64_t reversed = 1 + draw(&s, (1u << move->in.view.rank) - 1);
    for (unsigned axis = 0; axis < move->in.view.rank; axis++)
        if (reversed >> axis & 1)
            move->in.view.stride[axis] = -move->in.view.stride[axis];
    settle(&move->in);
    label(move, "axes in reverse");
}

void random_move_rectangles(random_move *move, size_t bytes, size_t count, size_t rows, size_t cols) {
    const size_t extent[] = {count, rows, cols};
    random_move_permutation(move, bytes, 3, extent, (const unsigned[]){0, 2, 1});
    move->in_place = true;
    label(move, "rectangles");
}

gp_array random_move_in(const random_move *move, void *memory) {
    gp_array view = move->in.view;
    view.data = move->in.bytes > 0 ? (unsigned char *)memory + move->in.first : NULL;
    return view;
}

gp_array random_move_out(const random_move *move, void *memory) {
    gp_array view = move->out.view;
    view.data = move->out.bytes > 0 ? (unsigned char *)memory + move->out.first : NULL;
    return view;
}

/* Along axis `axis` and those behind it. */
static void walk(const gp_array *in, const gp_array *out, unsigned axis, const unsigned char *from,
                 unsigned char *to) {
    const ptrdiff_t bytes = (ptrdiff_t)bytes_of(in);
    if (axis == in->rank) {
        for (ptrdiff_t b = 0; b < bytes; b++)
            to[b] = from[b];
        return;
    }
    for (size_t i = 0; i < in->extent[axis]; i++)
        walk(in, out, axis + 1, in->extent[axis] == 1 ? from : from + (ptrdiff_t)i * in->stride[axis] * bytes,
             in->extent[axis] == 1 ? to : to + (ptrdiff_t)i * out->stride[axis] * bytes);
}

void random_move_oracle(const random_move *move, const unsigned char *in, unsigned char *to) {
    if (move->out.bytes > 0)
        walk(&move->in.view, &move->out.view, 0, in + move->in.first, to + move->out.first);
}
