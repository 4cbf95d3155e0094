/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices in a wider sense, see gp_strip, into whole lines of the output, past the caches, with the tiles that the
 * including file names before. A panel of rows, as many as make a line or two of the output, is done lane by lane:
 * the columns of a lane are in registers, where lines are put together from what the panel before has left and the
 * panel's own, wherever they begin. What is left of those is kept for the panel that follows.
 */
#include "cpu_job.h"

#if defined(LANES)

#define PANEL_ROWS_MAX ((size_t)64)

/* Rows so many bytes apart, or a multiple, meet in one set of the first-level cache, which has 8 or 12 lines. */
#define CROWDED_PITCH ((size_t)4096)

/* Of narrow panels that are found together: 1000000 x 3 elements of 8 bytes took 4.6 ms one by one, 3.3 so. */
#define TOGETHER_BYTES ((size_t)2048)
#define BYTES_AHEAD ((size_t)256) /* of a row are prefetched */

/* Rows of a panel, and where they begin in a column of the output. */
typedef struct {
    const char *row[PANEL_ROWS_MAX];
    size_t rows, pitch; /* pitch: all rows are so far apart, and of a narrow strip only row[0] is there; or 0 */
    size_t count;       /* panels of one pitch that follow each other, of a narrow strip */
    ptrdiff_t below;
    bool begins, ends; /* a run of the output, or the strip's part of one */
    bool whole;        /* nothing but whole lines is written */
} panel;

typedef struct {
    gp_move along;
    gp_move_place walk;     /* where the next panel begins */
    size_t run, done, left; /* rows of a run, of which so many are done; rows of all */
    char **column;          /* where each begins in the output */
    char *kept;             /* a line of each */
    size_t width, rows;     /* bytes of a row; rows of a panel at most */
    bool skewed, crowded;   /* rows of the output begin anywhere; those of the input meet in a set of the cache */
    bool narrow;            /* rows are prefetched whole, with a panel */
} walk;

/* Lines that rows share are prefetched once. */
INLINE void prefetch_rows(const char *in, int64_t pitch, size_t rows, size_t width) {
    const bool shared = pitch > 0 && pitch < (int64_t)GP_CACHE_LINE;
    const size_t n = shared ? 1 : rows, bytes = shared ? rows * (size_t)pitch : width;
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < bytes; k += GP_CACHE_LINE)
            __builtin_prefetch(in + (int64_t)i * pitch + k);
}

/*
 * The next panel, which ends where a run does and begins a line elsewhere. Without rows: none is left. Panels of one
 * pitch are found together where rows are short, up to the last of a run: see TOGETHER_BYTES.
 */
SIMD static void find_panel(walk *w, size_t bytes, bool first, panel *p) {
    const gp_move_axis *last = &w->along.axis[w->along.rank - 1];
    uint64_t *step = &w->walk.at[w->along.rank - 1];
    p->below = w->walk.out - w->along.out;
    const size_t before = w->skewed ? 0 : (uintptr_t)(w->column[0] + p->below) % GP_CACHE_LINE;
    const size_t most = before > 0 ? (GP_CACHE_LINE - before) / bytes : w->rows;
    const size_t in_run = gp_least(w->run - w->done, w->left), apart = gp_least(last->n - *step, in_run);
    p->rows = gp_least(most, in_run);
    p->begins = first || w->done == 0;
    p->pitch = p->rows == w->rows && apart >= w->rows && last->in > 0 ? (size_t)last->in : 0;
    p->count = w->narrow && p->pitch > 0 && !p->begins ? gp_least(TOGETHER_BYTES / p->pitch, apart - 1) / p->rows : 1;
    p->count = gp_at_least_one(p->count);
    const size_t all = p->count * p->rows;
    w->done = all < w->run - w->done ? w->done + all : 0;
    w->left -= all;
    p->ends = w->done == 0 || w->left == 0;
    p->whole = w->skewed ? !p->begins && !p->ends : p->rows == w->rows;
    p->row[0] = (const char *)w->walk.in;
    for (size_t i = 0, n; i < all; gp_move_next(&w->along, w->along.rank, &w->walk)) {
        n = gp_least(all - i, last->n - *step);
        const char *in = (const char *)w->walk.in;
        if (w->narrow)
            prefetch_rows(in, last->in, n, w->width);
        for (size_t k = 0; k < n && !(w->narrow && p->pitch > 0); ++k)
            p->row[i + k] = in + (int64_t)k * last->in;
        i += n;
        gp_move_skip(&w->along, w->along.rank - 1, n - 1, &w->walk);
    }
    for (size_t i = gp_at_least_one(p->rows); i < w->rows; ++i)
        p->row[i] = p->row[0];
}

/* `kept` and the lines follow each other in the output: those that begin in kept are written, the last is kept. */
INLINE void stream_skewed(size_t lines, char *at, char *kept, const columns *part, size_t k) {
    const size_t later = (0 - (uintptr_t)at) % GP_CACHE_LINE;
    at -= GP_CACHE_LINE - later;
#if defined(HAS_JOINED)
    vec before = load(kept);
    for (size_t i = 0; i < lines; ++i, at += GP_CACHE_LINE) {
        stream(at, joined(later, before, part[i].of[k]));
        before = part[i].of[k];
    }
    store(kept, before);
#else
    char both[(1 + LINES_MAX) * GP_CACHE_LINE];
    memcpy(both, kept, GP_CACHE_LINE);
    for (size_t i = 0; i < lines * VECTORS; ++i)
        store(both + GP_CACHE_LINE + i * VECTOR, part[i].of[k]);
    for (size_t i = 0; i < lines * VECTORS; ++i)
        stream(at + i * VECTOR, load(both + later + i * VECTOR));
    memcpy(kept, both + lines * GP_CACHE_LINE, GP_CACHE_LINE);
#endif
}

/* The first, the last or the only part of a column, `bytes` long, behind a line's room in `run`. */
SIMD static void put_part(char *at, char *run, size_t bytes, char *kept, bool first, bool last) {
    const size_t before = ((uintptr_t)at - 1) % GP_CACHE_LINE + 1;
    size_t begin = GP_CACHE_LINE - (first ? 0 : before), end = GP_CACHE_LINE + bytes;
    at -= GP_CACHE_LINE;
    if (!first)
        memcpy(run, kept, GP_CACHE_LINE);
    for (size_t n; begin < end; begin += n) {
        n = gp_least(GP_CACHE_LINE - (uintptr_t)(at + begin) % GP_CACHE_LINE, end - begin);
        if (n == GP_CACHE_LINE || last || begin == GP_CACHE_LINE)
            copy_some(at + begin, run + begin, n);
    }
    if (!last)
        memcpy(kept, run + bytes, GP_CACHE_LINE);
}

/* One lane's columns, all but the first `done`. */
INLINE void put_columns_of(size_t bytes, size_t high, bool skewed, const panel *p, const columns *part, size_t done,
                           char *const *column, char *kept) {
    char run[(1 + LINES_MAX) * GP_CACHE_LINE];
    for (size_t c = 0; c < LANE / bytes; ++c) {
        char *at = column[c] + p->below;
        if (c < done)
            continue;
        if (!p->whole) {
            for (size_t v = 0; v < high * VECTORS; ++v)
                store(run + GP_CACHE_LINE + v * VECTOR, part[v].of[c]);
            put_part(at, run, p->rows * bytes, kept + c * GP_CACHE_LINE, !skewed || p->begins, !skewed || p->ends);
        } else if (skewed) {
            stream_skewed(high, at, kept + c * GP_CACHE_LINE, part, c);
        } else {
            for (size_t v = 0; v < high * VECTORS; ++v)
                stream(at + v * VECTOR, part[v].of[c]);
        }
    }
}

/* The lane `first` bytes behind the rows' first, or the last, which ends with the strip. */
INLINE void put_lane(size_t bytes, size_t high, bool skewed, const walk *w, const panel *p, const panel *next,
                     size_t first, char (*lines)[GP_CACHE_LINE]) {
    columns part[LINES_MAX * VECTORS];
    const size_t from = gp_least(first, w->width - LANE), k = first / LANE % 4, line = first - k * LANE;
    const bool copied = w->crowded && line + GP_CACHE_LINE <= w->width;
    for (size_t i = 0; i < w->rows && copied && k == 0; ++i)
        memcpy(lines[i], p->row[i] + line, GP_CACHE_LINE);
    for (size_t i = k * w->rows / 4; i < (k + 1) * w->rows / 4 && !w->narrow; ++i) {
        const size_t ahead = line + BYTES_AHEAD;
        __builtin_prefetch(ahead < w->width ? p->row[i] + ahead : next->row[i] + (ahead - w->width), 0, 2);
    }
    for (size_t c = 0; c < LANE / bytes && !p->whole; ++c) /* lines that are written in part are read */
        __builtin_prefetch(w->column[from / bytes + c] + p->below + (p->ends ? (ptrdiff_t)(p->rows * bytes) - 1 : 0),
                           1);
    if (copied || p->pitch > 0)
        columns_of_lines(bytes, high, copied ? lines[0] + k * LANE : p->row[0] + from,
                         copied ? GP_CACHE_LINE : p->pitch, part);
    else
        columns_of_rows(bytes, high, p->row, from, part);
    put_columns_of(bytes, high, skewed, p, part, (first - from) / bytes, w->column + from / bytes,
                   w->kept + from / bytes * GP_CACHE_LINE);
}

/* `bytes`, `high`, the lines of a panel, and `skewed` are constants. The last lane ends with the strip. */
INLINE void put_strip(size_t bytes, size_t high, bool skewed, walk *w) {
    panel panels[3];
    char lines[PANEL_ROWS_MAX][GP_CACHE_LINE];
    find_panel(w, bytes, true, &panels[0]);
    find_panel(w, bytes, false, &panels[1]);
    for (size_t turn = 0; panels[turn % 3].rows > 0; ++turn) {
        panel *p = &panels[turn % 3];
        const panel *next = &panels[(turn + 1) % 3];
        find_panel(w, bytes, false, &panels[(turn + 2) % 3]);
        for (; p->count > 0; --p->count, p->row[0] += w->rows * p->pitch, p->below += (ptrdiff_t)(w->rows * bytes))
            for (size_t first = 0; first < w->width; first += LANE)
                put_lane(bytes, high, skewed, w, p, next, first, lines);
    }
}

#define PANEL_LINES(bytes) ((bytes) > 2 ? 2 : 1) /* of the output */
#define STRIP_KERNELS_OF(n)                     \
    LEAF void strip_of_##n(walk *w) {           \
        put_strip(n, PANEL_LINES(n), false, w); \
    }                                           \
    LEAF void skewed_strip_of_##n(walk *w) {    \
        put_strip(n, PANEL_LINES(n), true, w);  \
    }
FOR_SIZES(STRIP_KERNELS_OF)

#define STRIPS_OF(n) {strip_of_##n, skewed_strip_of_##n},
static void (*const strip_kernels[][2])(walk *w) = {FOR_SIZES(STRIPS_OF)};

/* Where the strip's columns begin; returns its first element. */
static const unsigned char *find_columns(const gp_strip *s, char **column) {
    gp_move across = *s->across;
    gp_move_place at;
    across.in = s->in;
    across.out = s->out;
    gp_move_go_to(&across, across.rank, s->first, &at);
    const unsigned char *in = at.in;
    for (size_t c = 0; c < s->cols; ++c, gp_move_next(&across, across.rank, &at))
        column[c] = (char *)at.out;
    return in;
}

void NAMED(gp_transpose_strip)(size_t bytes, const gp_strip *s) {
    const element_kernels *e = &kinds[__builtin_ctzll(bytes)];
    uint64_t pitches = (uintptr_t)s->out % bytes, rows = 1;
    for (unsigned i = 0; i < s->across->rank; ++i)
        pitches |= (uint64_t)s->across->axis[i].out;
    for (unsigned i = s->along->rank; i-- > 0; rows *= s->along->axis[i].n)
        pitches |= rows >= s->run ? (uint64_t)s->along->axis[i].out : 0;
    walk w = {.along = *s->along, .run = s->run, .done = s->begin % s->run, .left = s->rows, .column = s->memory};
    w.along.in = find_columns(s, w.column);
    w.along.out = s->out;
    w.kept = (char *)s->memory + gp_round_up(s->cols * sizeof *w.column, GP_CACHE_LINE);
    gp_move_go_to(&w.along, w.along.rank, s->begin, &w.walk);
    w.skewed = pitches % GP_CACHE_LINE != 0;
    w.crowded = s->cols * bytes >= BYTES_AHEAD && w.along.axis[w.along.rank - 1].in % (int64_t)CROWDED_PITCH == 0;
    w.width = s->cols * bytes;
    w.narrow = w.width < BYTES_AHEAD;
    w.rows = e->of_line * PANEL_LINES(bytes);
    strip_kernels[__builtin_ctzll(bytes)][w.skewed](&w);
}

#endif
