/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, rows, volumes, with channels and without; windows from one element to three times the picture. */
#include "random_window.h"
#include "../check.h"
#include "oracle_window_array.h"

/* What a call is a picture of: axes with windows or without, and whether channels come last. */
static void choose_extents(random_source *s, random_call *call, size_t work) {
    gp_array *in = &call->in.view;
    gp_window_shape *w = &call->window;
    const bool channels = random_chance(s, 35);
    in->rank = (uint32_t)(random_chance(s, 70) ? 1 + random_draw(s, 3) : random_draw(s, GP_AXES + 1));
    size_t left = 1 + random_draw(s, work);
    unsigned windows = 0;
    for (unsigned i = 0; i < in->rank; i++) {
        const unsigned axis = in->rank - 1 - i;
        const bool is_channels = channels && i == 0 && in->rank > 1;
        const bool has_window = !is_channels && windows < 2 && random_chance(s, 80);
        size_t most = is_channels ? (random_chance(s, 80) ? 5 : 140) : has_window ? left : 3, extent = 1;
        if (has_window && left > 30 && random_chance(s, 70))
            most = 1 + left / (10 + random_draw(s, left / 4));
        in->extent[axis] = 1 + random_draw(s, most < 200 ? most : 200);
        if (in->extent[axis] >= 24 && random_chance(s, 30))
            in->extent[axis] -= in->extent[axis] % 24; /* whole groups of columns, up to the last */
        left = left / in->extent[axis] + 1;
        if (has_window) {
            const size_t span = 3 * in->extent[axis];
            extent = 1 + random_draw(s, span < left ? span : left);
            left = left / extent + 1;
            windows += extent > 1;
        }
        w->extent[axis] = extent == 1 && random_chance(s, 50) ? 0 : extent;
        if (extent > 1 && random_chance(s, 30))
            w->shift[axis] = (ptrdiff_t)(extent / 2) - (ptrdiff_t)random_draw(s, extent);
        if (random_chance(s, 1))
            in->extent[axis] = 0;
    }
}

/* Narrow pictures, in batches or so high that a GPU does parts of them side by side; wide ones. Windows are small. */
static void choose_narrow_extents(random_source *s, random_call *call) {
    gp_array *in = &call->in.view;
    const bool high = random_chance(s, 30), wide = !high && random_chance(s, 40);
    const size_t extent[] = {1 + random_draw(s, high || wide ? 2 : 80), 1 + random_draw(s, high ? 1500 : 6),
                             wide ? 4 * (16 + random_draw(s, 80)) : 1 + random_draw(s, 9),
                             random_chance(s, 25) ? 3 : 1 + random_draw(s, 2)};
    in->rank = extent[3] > 1 ? 4 : 3;
    for (unsigned axis = 0; axis < in->rank; axis++) {
        in->extent[axis] = extent[axis];
        call->window.extent[axis] = axis == 1 || axis == 2 ? random_draw(s, 5) : 0;
        const size_t window = call->window.extent[axis];
        if (window > 1 && random_chance(s, 30))
            call->window.shift[axis] = (ptrdiff_t)(window / 2) - (ptrdiff_t)random_draw(s, window);
    }
}

/* Lines that a GPU walks along. */
static void choose_line_extents(random_source *s, random_call *call) {
    call->in.view.rank = 2;
    call->in.view.extent[0] = 1 + random_draw(s, 2);
    call->in.view.extent[1] = 4096 + random_draw(s, 300);
    call->window.extent[1] = 2 + random_draw(s, 40);
    const size_t window = call->window.extent[1];
    if (random_chance(s, 30))
        call->window.shift[1] = (ptrdiff_t)(window / 2) - (ptrdiff_t)random_draw(s, window);
}

static void choose_result(random_source *s, random_call *call, size_t i) {
    static const uint32_t ops[] = {GP_REDUCE_SUM,      GP_REDUCE_SUM_SQUARES, GP_REDUCE_MEAN,
                                   GP_REDUCE_VARIANCE, GP_REDUCE_STDDEV,      GP_REDUCE_VARIANCE_SAMPLE,
                                   GP_REDUCE_MIN,      GP_REDUCE_MAX,         GP_REDUCE_STDDEV_SAMPLE};
    gp_result *result = &call->results[i];
    random_array *to = &call->to[i];
    result->op = ops[random_draw(s, COUNT(ops))];
    to->view = call->in.view;
    if (result->op != GP_REDUCE_MIN && result->op != GP_REDUCE_MAX)
        to->view.type = result->op == GP_REDUCE_MEAN && call->in.view.type < GP_F16 && random_chance(s, 50)
                            ? call->in.view.type
                        : random_chance(s, 70) ? GP_F32
                                               : GP_F64;
    random_array_place(s, to, false);
    result->to = to->view;
}

static void expect(random_call *call) {
    gp_result wanted[RANDOM_RESULTS];
    bool empty = false;
    for (unsigned axis = 0; axis < call->in.view.rank; axis++)
        empty = empty || call->in.view.extent[axis] == 0;
    for (size_t i = 0; i < call->count; i++) {
        random_array *to = &call->to[i];
        call->wanted[i] = malloc(to->bytes);
        assert_non_null(call->wanted[i]);
        memset(call->wanted[i], RANDOM_FILL, to->bytes);
        wanted[i] = call->results[i];
        if (!empty)
            wanted[i].to.data = call->wanted[i] + ((unsigned char *)to->view.data - to->memory);
    }
    if (!empty)
        oracle_window_array(&call->in.view, &call->window, wanted, call->count);
}

static void label(random_call *call, uint64_t seed) {
    const gp_array *in = &call->in.view;
    size_t at = (size_t)snprintf(call->label, sizeof call->label, "seed %llu, type %d, border %d,",
                                 (unsigned long long)seed, (int)in->type, (int)call->window.border);
    for (unsigned axis = 0; axis < in->rank && at < sizeof call->label; axis++)
        at += (size_t)snprintf(call->label + at, sizeof call->label - at, " %zu of %zu(%td)",
                               call->window.extent[axis], in->extent[axis], in->stride[axis]);
    for (size_t i = 0; i < call->count && at < sizeof call->label; i++)
        at += (size_t)snprintf(call->label + at, sizeof call->label - at, ", op %u to %d", call->results[i].op,
                               (int)call->results[i].to.type);
}

void random_window_make(random_call *call, uint64_t seed, size_t work) {
    static const int32_t types[] = {GP_U8, GP_S8, GP_U16, GP_S16, GP_U32, GP_S32, GP_F16, GP_F32};
    random_source s = {seed};
    *call = (random_call){.is_window = true, .count = 1 + random_draw(&s, 3)};
    call->in.view.type = types[random_draw(&s, COUNT(types))];
    call->window.struct_size = sizeof call->window;
    call->window.border = (int32_t)random_draw(&s, GP_BORDER_SHRINK + 1);
    if (work > 300 && random_chance(&s, 2))
        choose_line_extents(&s, call);
    else if (work > 300 && random_chance(&s, 8))
        choose_narrow_extents(&s, call);
    else
        choose_extents(&s, call, work);
    random_array_place(&s, &call->in, true);
    random_array_fill(&s, &call->in);
    for (size_t i = 0; i < call->count; i++)
        choose_result(&s, call, i);
    expect(call);
    label(call, seed);
}
