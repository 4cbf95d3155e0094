/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes whose output goes past the caches in whole lines, with tiles that the including file names before. */
#include "cpu_job.h"

#if defined(LANES)

/* A strip of columns is done for all rows before the next, in panels: rows that make a line or two of the output. */
typedef struct {
    gp_matrices at; /* the strip's first element below the head */
    size_t width;   /* bytes of a row in the strip */
    size_t panels;
} strip;

#define STRIP_BYTES ((size_t)8192)
#define SQUARES_COLS ((size_t)4096) /* where nothing is kept, if they are more */

/*
 * While a square is written from a buffer, the rows of the next are copied into another: zips never wait for memory,
 * and each line of a row is read once, however rows crowd into sets of the caches.
 */
#define SQUARE_BYTES ((size_t)128)      /* of a row */
#define CROWDED_ROWS_AHEAD ((size_t)16) /* rows prefetched where they crowd; elsewhere those of a square */

typedef struct {
    _Alignas(GP_CACHE_LINE) char row[SQUARE_BYTES][SQUARE_BYTES];
} square;

/* Squares of a strip follow each other panel by panel; a panel's last ends with it. */
typedef struct {
    size_t panel, first; /* byte of a row */
    size_t done;         /* bytes from there on that the square before has written */
} place;

INLINE place place_after(const strip *s, place p) {
    const size_t first = p.first + SQUARE_BYTES, last = s->width - SQUARE_BYTES;
    if (first >= s->width)
        return (place){p.panel + 1, 0, 0};
    return first <= last ? (place){p.panel, first, 0} : (place){p.panel, last, first - last};
}

/* The input there; behind the last square, of the last panel. */
INLINE const char *input_at(const strip *s, size_t panel_rows, place p) {
    return s->at.in + (p.panel < s->panels ? p.panel : s->panels - 1) * panel_rows * s->at.in_pitch + p.first;
}

/*
 * `bytes` and `high` are constants. A square of one line has 32 or 64 rows: the next square's are prefetched into the
 * second-level cache, as with the buffers they overflow the first (8256 x 8256 of 1 byte 8.9 ms, and 13.9 ms there).
 */
INLINE void put_squares(size_t bytes, size_t high, const strip *s) {
    const size_t rows = high * GP_CACHE_LINE / bytes, n = LANE / bytes, steps = SQUARE_BYTES / LANE,
                 pitch = s->at.in_pitch;
    const size_t rows_ahead = pitch % CROWDED_PITCH == 0 ? gp_least(rows, CROWDED_ROWS_AHEAD) : rows;
    square held[2];
    place now = {0, 0, 0}, next = place_after(s, now);
    for (size_t i = 0; i < rows; ++i)
        memcpy(held[0].row[i], s->at.in + i * pitch, SQUARE_BYTES);
    for (size_t turn = 0; now.panel < s->panels; now = next, next = place_after(s, next), ++turn) {
        const char *in = input_at(s, rows, next), *after = input_at(s, rows, place_after(s, next));
        const square *from = &held[turn % 2];
        square *to = &held[1 - turn % 2];
        char *out = s->at.out + now.first / bytes * s->at.out_pitch + now.panel * rows * bytes;
        for (size_t k = 0, i = 0; k < steps; ++k) {
            columns part[LINES_MAX * VECTORS];
            columns_of_lines(bytes, high, from->row[0] + k * LANE, SQUARE_BYTES, part);
            for (size_t c = 0; c < n; ++c, out += s->at.out_pitch) {
                vec row[SQUARE_BYTES / VECTOR];
                const bool fed = c < rows / steps;
                if (fed) {
                    const size_t below = i + rows_ahead;
                    const char *ahead = below < rows ? in + below * pitch : after + (below - rows) * pitch;
                    for (size_t line = 0; line < 3; ++line) { /* two, or three if it begins anywhere */
                        const char *to_come = ahead + gp_least(line * GP_CACHE_LINE, SQUARE_BYTES - 1);
                        if (high == 1) /* into the second-level cache */
                            __builtin_prefetch(to_come, 0, 2);
                        else
                            __builtin_prefetch(to_come, 0, 3);
                    }
                    for (size_t v = 0; v < SQUARE_BYTES / VECTOR; ++v)
                        row[v] = load(in + i * pitch + v * VECTOR);
                }
                for (size_t v = 0; v < high * VECTORS && k * LANE + c * bytes >= now.done; ++v)
                    stream(out + v * VECTOR, part[v].of[c]);
                if (fed) {
                    for (size_t v = 0; v < SQUARE_BYTES / VECTOR; ++v)
                        store(to->row[i] + v * VECTOR, row[v]);
                    ++i;
                }
            }
        }
    }
}

#define SQUARES_OF(n)                          \
    LEAF void squares_of_##n(const strip *s) { \
        put_squares(n, PANEL_LINES(n), s);     \
    }
FOR_SIZES(SQUARES_OF)

LEAF void high_squares_of_1(const strip *s) {
    put_squares(1, 2, s);
}

LEAF void high_squares_of_2(const strip *s) {
    put_squares(2, 2, s);
}

/* Rows of narrow elements are many: those of two lines only where they crowd. */
static void (*const squares[][2])(const strip *s) = {{squares_of_1, high_squares_of_1},
                                                     {squares_of_2, high_squares_of_2},
                                                     {NULL, squares_of_4},
                                                     {NULL, squares_of_8},
                                                     {NULL, squares_of_16}};

SIMD static void share_in_squares(const gp_transpose_job *j, unsigned part, const gp_matrices *m, size_t rows,
                                  size_t cols) {
    const element_kernels *e = kernels_of(j);
    const size_t kind = (size_t)(e - kinds), row_bytes = cols * e->bytes;
    const size_t unit = m->out_pitch % (2 * GP_CACHE_LINE) == 0 ? 2 * GP_CACHE_LINE : GP_CACHE_LINE;
    const bool high = e->bytes > 2 || (m->in_pitch % CROWDED_PITCH == 0 && unit > GP_CACHE_LINE);
    const size_t head = (0 - (uintptr_t)m->out) % unit / e->bytes,
                 most = gp_greatest(SQUARES_COLS * e->bytes, STRIP_BYTES);
    const size_t panel_rows = (high ? 2 : 1) * e->of_line;
    strip s = {.panels = (rows - head) / panel_rows};
    const gp_matrices below = gp_matrices_at(*m, head + s.panels * panel_rows, 0, e->bytes);
    (void)part;
    small_tiles(e, m, head, cols);
    for (size_t k = 0; k < row_bytes && s.panels > 0; k += s.width) {
        s.at = gp_matrices_at(*m, head, k / e->bytes, e->bytes);
        s.width = row_bytes - k < most + SQUARE_BYTES ? row_bytes - k : most;
        squares[kind][high](&s);
    }
    small_tiles(e, &below, (rows - head) % panel_rows, cols);
    gp_streams_done();
}

/* Where rows of the input begin anywhere in lines, but hardly crowd, strips of these take 0.6 to 0.9 of the time. */
static bool gains_by_strips(const gp_transpose_job *j) {
    const size_t pitch = j->whole.in_pitch;
    return (j->elem_bytes == 2 || j->elem_bytes == 4) && pitch % GP_CACHE_LINE != 0 &&
           (pitch + GP_CACHE_LINE) % CROWDED_PITCH > 2 * GP_CACHE_LINE;
}

/* Squares where all rows of the output begin alike and are not short; else strips, or runs of several columns. */
gp_status NAMED(gp_launch_transpose_lines)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    gp_transpose_job job = gp_transpose_job_of(problem);
    const size_t bytes = job.elem_bytes;
    if (gp_transpose_has_short_rows(job.rows, bytes) || job.whole.out_pitch % GP_CACHE_LINE != 0 ||
        (uintptr_t)job.whole.out % bytes != 0 || job.cols * bytes < SQUARE_BYTES || gains_by_strips(&job))
        return gp_transpose_in_runs(context, plan, problem, NAMED(gp_transpose_turn), NAMED(gp_transpose_strip));
    gp_transpose_run(context, gp_transpose_parts(context, plan, problem), &job, share_in_squares);
    return GP_OK;
}

/* Views, by the same two kernels. */
gp_status NAMED(gp_launch_rearrange_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_rearrange_in_runs(context, plan, problem, NAMED(gp_transpose_turn), NAMED(gp_transpose_strip));
}

#endif
