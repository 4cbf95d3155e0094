/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rearranging past the caches by the transposes' own kernel: axes of the input that have no gaps become the columns
 * of one matrix in a wider sense, all others its rows. See gp_strip. A column's place in the output may be anywhere:
 * columns that the input has in reverse are taken in its order, and written in reverse.
 */
#include "cpu.h"

#define WIDE_BYTES ((uint64_t)8192)     /* of a row of columns, which need not be longer */
#define RUN_BYTES 1024                  /* of the output, which are not made shorter for the sake of wider rows */
#define LARGE_BYTES ((uint64_t)1 << 20) /* of an output: also in the caches others are slower then */
#define PANEL_BYTES 128                 /* of a column, written at once */
#define LEAST_BYTES 16                  /* of a row of columns */
#define SHARE_BYTES ((uint64_t)512)     /* of it, that a thread has at least where threads share columns, not rows */

typedef struct {
    const gp_move *move;
    gp_transpose_put_strip *put;
    gp_move along, across;                /* the memory of `across` is where both begin */
    uint64_t run, strips, each, sections; /* rows of a run, and of a section */
    char *kept;
    size_t lines; /* of a part */
} job;

/* The axis of several elements that lie `apart` in the input, of such the longest; or rank. A matrix may have one. */
static unsigned axis_of(const gp_move *move, uint64_t apart) {
    unsigned found = move->rank;
    for (unsigned i = move->rank; i-- > 0;)
        if (move->axis[i].n > 1 && gp_move_is_apart(&move->axis[i], apart) &&
            (found == move->rank || move->axis[i].n > move->axis[found].n))
            found = i;
    return found;
}

/* Bytes that follow each other in the output along axes that are not `across`. */
static uint64_t run_of(const gp_move *move, unsigned across) {
    uint64_t run = move->run;
    for (unsigned i = move->rank; i-- > 0 && !(across >> i & 1) && move->axis[i].out == (int64_t)run;)
        run *= move->axis[i].n;
    return run;
}

/*
 * Axes of the columns, one bit each. Where a row of them is short, the next axis of the input gives more, unless that
 * makes runs of the output short; a row of less than a lane is wanted least.
 */
static unsigned axes_across(const gp_move *move) {
    unsigned across = 0;
    for (uint64_t width = move->run; width < WIDE_BYTES;) {
        const unsigned next = axis_of(move, width);
        const uint64_t run = next == move->rank ? 0 : run_of(move, across | 1u << next);
        if (run == 0 || (width >= LEAST_BYTES && run < RUN_BYTES && run < run_of(move, across)))
            break;
        across |= 1u << next;
        width *= move->axis[next].n;
    }
    return across;
}

/* Columns in the order of the input, rows in that of the output. */
static void share_axes(job *j, unsigned across) {
    const gp_move *move = j->move;
    j->along = j->across = *move;
    j->along.rank = j->across.rank = 0;
    j->across.count = 1;
    for (unsigned i = 0; i < move->rank; i++) {
        gp_move *to = across >> i & 1 ? &j->across : &j->along;
        gp_move_axis axis = move->axis[i];
        unsigned at = to->rank++;
        if (to == &j->across)
            gp_move_turn(&axis, to);
        for (; to == &j->across && at > 0 && to->axis[at - 1].in < axis.in; at--)
            to->axis[at] = to->axis[at - 1];
        to->axis[at] = axis;
        j->across.count *= to == &j->across ? axis.n : 1;
    }
    j->along.count = move->count / j->across.count;
}

/* A strip's first column: of whole lines of a row, and the last has the rest. */
static uint64_t first_of(const job *j, uint64_t strip) {
    const uint64_t line = gp_at_least_one(GP_CACHE_LINE / j->move->run);
    return strip == j->strips ? j->across.count : j->across.count / line * strip / j->strips * line;
}

static void strips_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    const uint64_t tasks = j->strips * j->sections;
    const uint64_t end = gp_part_begin(tasks, part + 1, parts);
    gp_strip s = {.along = &j->along,
                  .across = &j->across,
                  .in = j->across.in,
                  .out = j->across.out,
                  .run = j->run,
                  .memory = j->kept + part * j->lines * GP_CACHE_LINE};
    for (uint64_t i = gp_part_begin(tasks, part, parts); i < end; i++) {
        s.begin = gp_least(i / j->strips * j->each, j->along.count);
        s.rows = gp_least(j->each, j->along.count - s.begin);
        s.first = first_of(j, i % j->strips);
        s.cols = first_of(j, i % j->strips + 1) - s.first;
        if (s.rows > 0)
            j->put(j->move->run, &s);
    }
    gp_streams_done();
}

bool gp_rearrange_in_strips(gp_context *context, unsigned parts, const gp_problem *problem, bool is_short,
                            gp_transpose_put_strip *put) {
    const gp_move *move = problem->move;
    if (problem->bytes_written <= LARGE_BYTES)
        return false;
    const unsigned across = axes_across(move);
    const uint64_t run = run_of(move, across);
    job j = {.move = move, .put = put, .run = run / move->run, .sections = 1};
    share_axes(&j, across);
    const uint64_t width = j.across.count * move->run;
    const bool of_lines = run % PANEL_BYTES == 0 && (uintptr_t)move->out % GP_CACHE_LINE == 0 && width >= RUN_BYTES;
    if (across == 0 || width < LEAST_BYTES ||
        ((is_short || gp_transpose_has_short_rows(run, 1)) && !of_lines)) /* lines that runs share are slow */
        return false;
    j.strips = gp_divide_up(j.across.count, gp_strip_cols(move->run));
    if (width >= parts * SHARE_BYTES)
        j.strips = gp_round_up(j.strips, parts);
    else
        j.sections = parts;
    j.each = gp_round_up(gp_divide_up(j.along.count, j.sections), gp_at_least_one(PANEL_BYTES / move->run));
    j.lines = gp_strip_lines(gp_least(gp_divide_up(j.across.count, j.strips) + 2 * GP_CACHE_LINE, j.across.count));
    j.kept = gp_keep_lines(context, parts, j.lines);
    if (j.kept == NULL)
        return false;
    gp_threads_run(context, parts, strips_part, &j);
    return true;
}
