/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rearranging by way of runs of the output in a buffer, which then go past the caches in whole lines. To an output
 * that stays in the caches short runs, and elements that have no columns, go without the buffer.
 *
 * A run goes along the output's last axes, as many as lie there without gaps. Where an axis of the input is
 * contiguous, many runs are made at once: elements of that axis, the columns, are copied from as many rows as a piece
 * of a run needs, and transposed. Without vectors a matrix's rows are transposed where they lie. Short runs that lie
 * one behind the other, column by column, are one run.
 *
 * Columns that the input has in reverse are taken in its order, and written in reverse. Not so short runs, which are
 * to become one: their columns are put in order as they are copied from the input.
 */
#include "../rearrange/cpu_job.h"
#include "cpu.h"

#define ROW_BYTES ((size_t)128)    /* of an input row, copied at once: two lines */
#define DIRECT_COLS ((size_t)2048) /* columns of a strip whose rows are turned where they lie */
#define DIRECT_MAX ((size_t)64)    /* rows, or columns, of it at once: a processor does not follow many */
#define STRIP_BYTES ((size_t)8192) /* of an input row, done for a whole run before the next */
#define ALONE_BYTES ((size_t)8192) /* of a run without columns, and of short runs one behind the other */
#define SHORT_BYTES 1024           /* of a run that vectors turn; others: GP_SHORT_DIRECT */
#define SHORT_NEAR 2048            /* in the caches, where rows and columns go up */
#define STACK_BYTES 4096           /* of small matrices that are turned as one */
#define LONG_BYTES GP_CACHE_LINE   /* of an element that is copied by itself */
#define SECTION_BYTES ((uint64_t)64 << 10)
#define THIN_BYTES 16 /* of all columns of a row that is copied as an element is */
#define ROOM GP_CACHE_LINE

/* Rows of a piece; where there are columns, as many as make a line of a run, and as a processor prefetches: Intel's
 * follow 32 streams. */
#define ROWS_MAX ((size_t)128)
#define ROWS_AHEAD ((size_t)32)
#define SHORT_ROWS ((size_t)640) /* of a short run, at most: of its columns a line is turned at once, or more */
#define AHEAD_BYTES 256          /* of a row of short runs' columns, which are prefetched at least so far before */

typedef struct {
    const gp_move *move;
    gp_transpose_turn *turn, *quick; /* quick: writes up to GP_QUICK_BEHIND bytes behind a column */
    gp_move outer, along;            /* the axes that are neither, and those of a run */
    int64_t stride;                  /* of the input, along the last of the others */
    gp_move_axis cols;               /* n 1: there are no columns; `in` is an element, or short runs are in reverse */
    bool stream, is_short;           /* runs lie one behind the other, column by column */
    bool direct, thin;               /* rows are turned where they are; are copied as elements are */
    size_t rows, group, strip;       /* of a piece; columns copied at once, and of a strip */
    size_t stack;                    /* matrices one below the other in both views, turned as one; 1: none */
    uint64_t strips, sections, each; /* sections of a run, of `each` elements but for the last */
    char *kept;                      /* lines, as many as a strip has columns for each part */
} job;

/* A part's memory. */
typedef struct {
    _Alignas(GP_CACHE_LINE) char in[SHORT_ROWS * GP_CACHE_LINE], out[SHORT_ROWS * GP_CACHE_LINE + ROOM];
    int64_t from[2][SHORT_ROWS];
    char *at; /* short runs: where those in `out` belong, and how many bytes they have */
    size_t held;
    bool first;
    char kept[GP_CACHE_LINE];
} buffers;

static void put(const job *j, char *at, char *run, size_t bytes, char *kept, bool first, bool last) {
    if (!j->stream || (first && bytes < GP_CACHE_LINE))
        memcpy(at, run, bytes);
    else
        gp_transpose_put_run(at, run, bytes, kept, first, last);
}

/* Where the rows of a piece begin, seen from the run's first. */
static void find_rows(const job *j, uint64_t first, size_t rows, int64_t *from) {
    gp_move_place place;
    for (size_t i = 0; i < rows && j->along.rank == 1; i++)
        from[i] = (int64_t)(first + i) * j->along.axis[0].in;
    if (j->along.rank == 1)
        return;
    gp_move_go_to(&j->along, j->along.rank, first, &place);
    for (size_t i = 0; i < rows; i++, gp_move_next(&j->along, j->along.rank, &place))
        from[i] = place.in - j->along.in;
}

/* Columns of rows. */
static void copy_rows(const job *j, const unsigned char *in, const int64_t *from, size_t rows, size_t cols,
                      char *to) {
    const size_t bytes = cols * j->move->run;
    for (size_t i = 0; i < rows; i++, to += ROW_BYTES)
        if (bytes == ROW_BYTES)
            memcpy(to, in + from[i], ROW_BYTES);
        else
            memcpy(to, in + from[i], bytes);
}

static void fetch_rows(const job *j, const unsigned char *in, const int64_t *from, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < j->group * j->move->run; k += GP_CACHE_LINE)
            __builtin_prefetch(in + from[i] + k);
}

/* A section of the runs of a strip's columns. */
static void put_strip(const job *j, const gp_move_place *place, uint64_t section, uint64_t strip, char *kept,
                      buffers *b) {
    const size_t run = j->move->run, pitch = j->rows * run + ROOM + (j->direct ? GP_QUICK_BEHIND : 0);
    const uint64_t begin = section * j->each, end = gp_least(begin + j->each, j->along.count);
    const uint64_t first = strip * j->strip, past = gp_least(first + j->strip, j->cols.n);
    const unsigned char *in = place->in + first * run;
    const bool gathered = j->thin || j->cols.n == 1;
    const bool narrow = (j->direct && j->cols.n <= j->group) || gathered; /* lines that follow each other are not
                                                                             prefetched */
    if (!gathered)
        find_rows(j, begin, gp_least(j->rows, end - begin), b->from[0]);
    for (uint64_t r = begin, turn = 0; r < end; r += j->rows, turn++) {
        const size_t rows = gp_least(j->rows, end - r);
        const int64_t *from = b->from[turn % 2], *next = b->from[1 - turn % 2];
        const bool full = r + 2 * j->rows <= end;
        if (r + rows < end && !narrow)
            find_rows(j, r + rows, gp_least(j->rows, end - r - rows), b->from[1 - turn % 2]);
        for (uint64_t c = first; c < past; c += j->group) {
            const size_t cols = gp_least(j->group, past - c);
            const unsigned char *at_in = in + (c - first) * run;
            const bool more = c + j->group < past;
            if (j->cols.n == 1 && !j->stream) {
                gp_rearrange_elements(&j->along, at_in, r, rows, run, false, (char *)place->out + r * run);
                continue;
            }
            if (j->cols.n == 1) {
                gp_rearrange_elements(&j->along, at_in, r, rows, run, j->stream, b->out + ROOM);
            } else if (j->direct) {
                const size_t apart = (size_t)j->along.axis[0].in;
                j->quick(&(gp_matrices){(const char *)at_in + r * apart, apart, b->out + ROOM, pitch}, rows, cols,
                         run);
            } else if (j->thin) {
                gp_rearrange_elements(&j->along, at_in, r, rows, cols * run, j->stream, b->in);
                j->quick(&(gp_matrices){b->in, cols * run, b->out + ROOM, pitch}, rows, cols, run);
            } else {
                copy_rows(j, at_in, from, rows, cols, b->in);
                j->quick(&(gp_matrices){b->in, ROW_BYTES, b->out + ROOM, pitch}, rows, cols, run);
            }
            char *at = (char *)place->out + (int64_t)c * j->cols.out + r * run;
            const unsigned char *ahead = more ? at_in + cols * run : in;
            for (size_t k = 0; k < cols; k++, at += j->cols.out) {
                if (!narrow && (more || full))
                    fetch_rows(j, ahead, more ? from : next, k * rows / cols, (k + 1) * rows / cols);
                put(j, at, b->out + ROOM + k * pitch, rows * run,
                    kept == NULL ? NULL : kept + (c - first + k) * GP_CACHE_LINE, r == begin, r + rows == end);
            }
        }
    }
}

/* What put() copies because it is shorter than a line leaves nothing in `kept`: what follows is a first run again. */
static void put_held(const job *j, buffers *b, bool last) {
    const bool ends = last || (b->first && b->held < GP_CACHE_LINE);
    if (b->held > 0)
        put(j, b->at, b->out + ROOM, b->held, b->kept, b->first, ends);
    b->first = ends;
    b->at += b->held;
    b->held = 0;
}

/* Room for `bytes` of the output from `at` on, behind those that are held. */
static char *hold(const job *j, char *at, size_t bytes, buffers *b) {
    if (!j->stream)
        return at;
    if (at != b->at + b->held)
        put_held(j, b, true);
    else if (b->held + bytes > ALONE_BYTES)
        put_held(j, b, false);
    b->at = b->held == 0 ? at : b->at;
    b->held += bytes;
    return b->out + ROOM + b->held - bytes;
}

/* Row s of column c of the stack is row c of matrix s. */
static inline __attribute__((always_inline)) void deal(char *to, const char *from, size_t n, size_t cols,
                                                       size_t bytes) {
    for (size_t s = 0; s < n; s++)
        for (size_t c = 0; c < cols; c++, to += bytes)
            memcpy(to, from + (c * n + s) * bytes, bytes);
}

/*
 * n small matrices. Vectors turn 16 bytes of a row at least: of shorter rows with what lies behind them, which comes
 * out as columns that nobody takes. Behind the last rows there may be nothing.
 */
static void hold_stack(const job *j, const gp_move_place *place, size_t n, buffers *b) {
    const size_t rows = j->along.count, run = j->move->run, bytes = rows * run, cols = j->cols.n,
                 pitch = (size_t)j->stride / rows, width = cols * run;
    const bool narrow = width < 16 && 16 / run * n * bytes <= ROWS_MAX * ROW_BYTES;
    const size_t last = narrow ? gp_least(gp_divide_up(16 - width, pitch), n * rows) : 0, first = n * rows - last;
    char *to = hold(j, (char *)place->out, n * cols * bytes, b);
    j->turn(&(gp_matrices){(const char *)place->in, pitch, b->in, n * bytes}, first, narrow ? 16 / run : cols, run);
    if (narrow)
        gp_transpose_turn_cpu(
            &(gp_matrices){(const char *)place->in + first * pitch, pitch, b->in + first * run, n * bytes}, last,
            cols, run);
    if (bytes == 8)
        deal(to, b->in, n, cols, 8);
    else if (bytes == 16)
        deal(to, b->in, n, cols, 16);
    else if (bytes == 32)
        deal(to, b->in, n, cols, 32);
    else
        for (size_t s = 0; s < n; s++)
            gp_gather(to + s * cols * bytes, bytes, (const unsigned char *)b->in + s * bytes, (int64_t)(n * bytes),
                      cols, bytes);
    const bool more = place->at[j->outer.rank - 1] + n < j->outer.axis[j->outer.rank - 1].n;
    for (size_t k = 0; k < n * (size_t)j->stride && more && j->stream; k += GP_CACHE_LINE)
        __builtin_prefetch(place->in + n * (size_t)j->stride + k);
}

/*
 * Whole runs of a strip's columns. Later columns, or the next matrix' first, are prefetched before any run is
 * written: both at once is slow. Behind the last matrix nothing is, as memory that is not there takes long to
 * prefetch.
 */
static void hold_strip(const job *j, const gp_move_place *place, uint64_t strip, buffers *b) {
    const size_t run = j->move->run, bytes = j->along.count * run, rows = j->along.count;
    const uint64_t first = strip * j->strip, cols = gp_least(j->strip, j->cols.n - first);
    const uint64_t later = first + gp_greatest(j->strip, AHEAD_BYTES / run), next = later < j->cols.n ? later : 0,
                   next_cols = gp_least(j->strip, j->cols.n - next);
    const unsigned char *in = place->in + (int64_t)first * j->cols.in;
    const bool more = j->outer.rank > 0 && place->at[j->outer.rank - 1] + 1 < j->outer.axis[j->outer.rank - 1].n;
    const unsigned char *ahead = place->in + (next == 0 && more ? j->stride : 0);
    char *to = hold(j, (char *)place->out + first * bytes, cols * bytes, b);
    ahead += (int64_t)(j->cols.in < 0 ? next + next_cols - 1 : next) * j->cols.in;
    for (size_t r = 0; r < rows && j->stream; r++)
        for (size_t k = 0; k < next_cols * run; k += GP_CACHE_LINE)
            __builtin_prefetch(ahead + b->from[0][r] + k, 0, 2);
    if (j->cols.n == 1) {
        gp_rearrange_elements(&j->along, in, 0, rows, run, j->stream, to);
    } else if (j->cols.in > 0 && j->along.rank == 1 && j->along.axis[0].in > 0) {
        j->turn(&(gp_matrices){(const char *)in, (size_t)j->along.axis[0].in, to, bytes}, rows, cols, run);
    } else {
        for (size_t r = 0; r < rows; r++)
            gp_gather(b->in + r * cols * run, run, in + b->from[0][r], j->cols.in, cols, run);
        j->turn(&(gp_matrices){b->in, cols * run, to, bytes}, rows, cols, run);
    }
}

static void runs_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    const uint64_t each = j->sections * j->strips, tasks = j->outer.count * each;
    const uint64_t begin = gp_part_begin(tasks, part, parts), end = gp_part_begin(tasks, part + 1, parts);
    uint64_t strip = begin % j->strips, section = begin / j->strips % j->sections;
    gp_move_place place;
    buffers b;
    b.at = b.out; /* no place of the output, behind which something is held */
    b.held = 0;
    b.first = true;
    if (j->is_short)
        find_rows(j, 0, j->along.count, b.from[0]);
    gp_move_go_to(&j->outer, j->outer.rank, begin / each, &place);
    for (uint64_t i = begin; i < end; i++) {
        if (j->stack > 1) {
            const gp_move_axis *last = &j->outer.axis[j->outer.rank - 1];
            const uint64_t n = gp_least(j->stack, gp_least(end - i, last->n - place.at[j->outer.rank - 1]));
            hold_stack(j, &place, n, &b);
            gp_move_skip(&j->outer, j->outer.rank - 1, n - 1, &place);
            i += n - 1;
        } else if (j->is_short)
            hold_strip(j, &place, strip, &b);
        else
            put_strip(j, &place, section, strip, j->kept == NULL ? NULL : j->kept + part * j->strip * GP_CACHE_LINE,
                      &b);
        if (++strip < j->strips)
            continue;
        strip = 0;
        if (++section < j->sections)
            continue;
        section = 0;
        gp_move_next(&j->outer, j->outer.rank, &place);
    }
    put_held(j, &b, true);
    if (j->stream)
        gp_streams_done();
}

/* Whether runs of the output repeat one element each, over a line at least. */
static bool repeats(const gp_move *move) {
    const gp_move_axis *last = &move->axis[move->rank - 1];
    return last->in == 0 && last->n * move->run >= GP_CACHE_LINE;
}

/* Axes of the runs, of the columns, and the others. */
static void choose_axes(job *j) {
    const gp_move *move = j->move;
    unsigned cols = move->rank, first = move->rank;
    uint64_t run = move->run;
    const bool portable = j->turn == gp_transpose_turn_cpu,
               matrix = portable && move->rank == 2 && move->axis[1].in > 0;
    for (unsigned i = repeats(move) ? 0 : move->rank - 1; i-- > 0;)
        if (move->run < (matrix ? GP_DIRECT_BYTES + 1 : LONG_BYTES) && gp_move_is_apart(&move->axis[i], move->run) &&
            (cols == move->rank || move->axis[i].n > move->axis[cols].n))
            cols = i;
    while (first > 0 && first - 1 != cols && move->axis[first - 1].out == (int64_t)run)
        run *= move->axis[--first].n;
    j->cols = cols < move->rank ? move->axis[cols] : (gp_move_axis){1, 0, 0};
    j->outer = j->along = *move;
    j->outer.rank = j->along.rank = 0;
    for (unsigned i = 0; i < move->rank; i++)
        if (i != cols) {
            gp_move *of = i >= first ? &j->along : &j->outer;
            of->axis[of->rank++] = move->axis[i];
        }
    j->stride = j->outer.rank > 0 ? j->outer.axis[j->outer.rank - 1].in : 0;
    j->along.count = run / move->run;
    j->outer.count = move->count / j->along.count / j->cols.n;
    const bool rises = j->cols.in > 0 && j->along.axis[j->along.rank - 1].in > 0;
    const bool near = !j->stream && rises && j->cols.n * move->run >= ROW_BYTES;
    j->is_short = run < (portable ? GP_SHORT_DIRECT
                         : near   ? SHORT_NEAR
                                  : SHORT_BYTES) &&
                  j->along.count <= (j->cols.n * move->run > THIN_BYTES ? SHORT_ROWS : ROWS_MAX) &&
                  (cols == move->rank || j->cols.out == (int64_t)run);
    if (!j->is_short)
        gp_move_turn(&j->cols, &j->outer);
}

/* How much is done at once. */
static void choose_sizes(job *j, unsigned parts) {
    const size_t run = j->move->run;
    const bool alone = j->cols.n == 1, portable = j->turn == gp_transpose_turn_cpu;
    j->quick = portable ? gp_transpose_quick : j->turn;
    j->stack = 1;
    j->rows = alone ? gp_at_least_one(ALONE_BYTES / run) : gp_greatest(ROWS_AHEAD, GP_CACHE_LINE / run);
    j->group = gp_at_least_one(ROW_BYTES / run);
    j->direct = portable && !alone && !j->is_short && j->along.rank == 1 && j->along.axis[0].in > 0;
    j->thin = !alone && !j->is_short && !j->direct && j->cols.n * run <= THIN_BYTES;
    if (j->direct) {
        j->rows = gp_at_least_one(run > GP_QUICK_BYTES_MAX ? 2 * GP_DIRECT_BYTES / run
                                                           : gp_least(DIRECT_MAX, GP_DIRECT_BYTES / run / 4 * 4));
        j->group = gp_at_least_one(gp_least(DIRECT_MAX, GP_DIRECT_BYTES / run));
    }
    j->strip = gp_round_up(j->direct ? DIRECT_COLS : STRIP_BYTES / run, j->group);
    if (j->thin)
        j->rows = ALONE_BYTES / (j->cols.n * run) / GP_CACHE_LINE * GP_CACHE_LINE;
    if (j->is_short) {
        const size_t line = gp_at_least_one(GP_CACHE_LINE / run), lines = ALONE_BYTES / (j->along.count * run) / line;
        j->strip = gp_at_least_one(lines) * line;
    }
    j->strips = gp_divide_up(j->cols.n, j->strip);
    const size_t height = j->along.count * run, bytes = height * j->cols.n;
    const gp_move_axis *below = &j->outer.axis[j->outer.rank > 0 ? j->outer.rank - 1 : 0];
    if (!portable && j->is_short && !alone && j->cols.in > 0 && height <= GP_CACHE_LINE && bytes <= STACK_BYTES / 2 &&
        j->outer.rank > 0 && j->along.rank == 1 && j->along.axis[0].in > 0 &&
        below->in == (int64_t)j->along.count * j->along.axis[0].in && below->out == (int64_t)bytes)
        j->stack = STACK_BYTES / bytes;
    j->each = j->along.count;
    while (!j->is_short && j->outer.count * j->strips * gp_divide_up(j->along.count, j->each) < 4 * parts &&
           j->each * run > SECTION_BYTES)
        j->each = gp_round_up(j->each / 2, j->rows);
    j->sections = gp_divide_up(j->along.count, j->each);
}

/* Of one thread, past its core's own cache. */
#define BYTES_A_NS 5

gp_status gp_rearrange_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               gp_transpose_turn *turn, gp_transpose_put_strip *by_strips) {
    job j = {.move = problem->move, .turn = turn, .stream = gp_transpose_past_caches(problem)};
    unsigned parts = gp_threads_worth(context, plan->tiling.blocks, problem->bytes_written / BYTES_A_NS);
    choose_axes(&j);
    if (by_strips != NULL && !repeats(j.move) &&
        gp_rearrange_in_strips(context, parts, problem, j.is_short, by_strips))
        return GP_OK;
    choose_sizes(&j, parts);
    if (j.stream && !j.is_short) {
        j.kept = gp_keep_lines(context, parts, j.strip);
        j.stream = j.kept != NULL;
    }
    gp_threads_run(context, parts, runs_part, &j);
    return GP_OK;
}

gp_status gp_launch_rearrange_array_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_rearrange_in_runs(context, plan, problem, gp_transpose_turn_cpu, NULL);
}

gp_status gp_transpose_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               gp_transpose_turn *turn, gp_transpose_put_strip *by_strips) {
    const size_t bytes = problem->elem_bytes;
    gp_problem one = *problem;
    const gp_move move = {.run = bytes,
                          .count = problem->rows * problem->cols,
                          .rank = 2,
                          .axis = {{problem->cols, (int64_t)bytes, (int64_t)(problem->out_pitch * bytes)},
                                   {problem->rows, (int64_t)(problem->in_pitch * bytes), (int64_t)bytes}},
                          .in = problem->in,
                          .out = problem->out};
    one.move = &move;
    return gp_rearrange_in_runs(context, plan, &one, turn, by_strips);
}

gp_status gp_launch_transpose_lines_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_transpose_in_runs(context, plan, problem, gp_transpose_turn_cpu, NULL);
}

bool gp_rearrange_runs_supports(const gp_problem *problem) {
    const gp_move *move = problem->move;
    return !move->in_place && move->rank > 0 && move->run <= ALONE_BYTES &&
           move->axis[move->rank - 1].out == (int64_t)move->run;
}
