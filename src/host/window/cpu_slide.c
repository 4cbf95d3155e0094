/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the window in blocks: where elements enter and leave, and how large they can be. */
#include "cpu_slide.h"

/* Columns up to which a line is extended by its borders as a whole, for all its blocks and its first window. */
#define EXTENDED_MAX 1024

typedef struct {
    const gp_problem *problem;
    const int32_t *row;
    const int32_t *part; /* columns first .. end - 1 of the extended row lie here: of the row, or a copy */
    int64_t first, end;
} line;

/* n elements of the extended row from column x on: where they lie, or copied to the buffer. */
static const int32_t *fetch(const line *l, int64_t x, size_t n, int32_t *buffer) {
    if (x >= l->first && x + (int64_t)n <= l->end)
        return l->part + (x - l->first);
    gp_window_extend(l->problem, l->row, x, n, buffer);
    return buffer;
}

typedef struct {
    const gp_window_kernels *kernels;
    gp_window_totals totals;
} adding;

static void add(void *argument, const gp_window_run *run, size_t times) {
    adding *to = argument;
    gp_window_totals of_run = {0, 0, to->totals.magnitude};
    to->kernels->accumulate(run->step < 0 ? run->first - (run->count - 1) : run->first, run->count, &of_run);
    to->totals.sum += of_run.sum * (gp_i128)times;
    to->totals.square += of_run.square * times;
    to->totals.magnitude = of_run.magnitude;
}

/* A bound on the elements in the window. They entered in the current epoch or in the one before it, which is at least
 * as long as the window: the larger of the two epochs' maxima. */
typedef struct {
    size_t entered; /* in the current epoch */
    uint32_t now, before;
} bounds;

static uint32_t bound_with(bounds *b, size_t window, uint32_t magnitude, size_t n) {
    if (b->entered >= window)
        *b = (bounds){0, 0, b->now};
    b->entered += n;
    b->now = magnitude > b->now ? magnitude : b->now;
    return b->now > b->before ? b->now : b->before;
}

static bool lines_agree(const gp_problem *problem) {
    if (!problem->sum || !problem->square)
        return true;
    return ((uintptr_t)problem->sum - (uintptr_t)problem->square) % 64 == 0;
}

/* A block's columns from x on, so that the next block begins where a line of the output does. */
static size_t columns_to_line(const gp_problem *problem, size_t y, size_t x) {
    const float *out = problem->sum ? problem->sum : problem->square;
    return GP_WINDOW_BLOCK - (uintptr_t)(out + y * problem->out_pitch + x) / sizeof *out % (64 / sizeof *out);
}

typedef int32_t edges[2][GP_WINDOW_BLOCK]; /* what enters, what leaves */

/* The block from column x of row y on. */
static void set_block(const line *l, size_t y, size_t x, size_t end, edges e, gp_window_block *block) {
    const gp_problem *problem = l->problem;
    const int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    block->n = columns_to_line(problem, y, x);
    block->n = end - x < block->n ? end - x : block->n;
    block->sum = problem->sum ? problem->sum + y * problem->out_pitch + x : NULL;
    block->square = problem->square ? problem->square + y * problem->out_pitch + x : NULL;
    block->enters = fetch(l, (int64_t)x + after, block->n, e[0]);
    block->leaves = fetch(l, (int64_t)x - 1 - before, block->n, e[1]);
    block->ahead = (uintptr_t)l->row + ((uintptr_t)x + (uintptr_t)after + 2 * GP_WINDOW_BLOCK) * sizeof *l->row;
}

/*
 * A block is fetched before the one before it is computed: what was copied to its buffer in other pieces than it is
 * read in must first have left the core, and with it all before it that goes past the caches.
 */
void gp_window_slide_line(const gp_window_kernels *kernels, const gp_problem *problem, size_t y, size_t begin,
                          size_t end) {
    const int32_t *row = (const int32_t *)problem->in + y * problem->in_pitch;
    const int64_t first = (int64_t)begin - 1 - (int64_t)problem->window_before;
    const size_t extended = end - begin + problem->window;
    line l = {problem, row, row, 0, (int64_t)problem->cols};
    adding begun = {kernels, {0, 0, 0}};
    int32_t copy[EXTENDED_MAX];
    if (extended <= EXTENDED_MAX) {
        gp_window_extend(problem, row, first, extended, copy);
        kernels->accumulate(copy, problem->window, &begun.totals);
        l.part = copy, l.first = first, l.end = first + (int64_t)extended;
    } else {
        gp_window_visit_all(problem, row, first, add, &begun);
    }
    gp_window_totals totals = begun.totals;
    bounds b = {problem->window, totals.magnitude, 0};
    _Alignas(64) edges e[2];
    gp_window_block block[2];
    block[0].stream = block[1].stream = problem->bytes_written >= GP_STREAMED_BYTES_MIN && lines_agree(problem);
    block[0].window = block[1].window = problem->window;
    set_block(&l, y, begin, end, e[0], &block[0]);
    unsigned turn = 0;
    for (size_t x = begin; x < end; turn = !turn) {
        gp_window_block *now = &block[turn];
        x += now->n;
        if (x < end)
            set_block(&l, y, x, end, e[!turn], &block[!turn]);
        now->bound = bound_with(&b, problem->window, kernels->magnitude(now->enters, now->n), now->n);
        kernels->slide(now, &totals);
    }
}

/* below_2_63: every sum of squares; a constant. */
static inline void slide_each(const gp_window_block *block, bool below_2_63, gp_window_totals *totals) {
    int64_t sum = (int64_t)totals->sum;
    uint64_t low = (uint64_t)totals->square;
    gp_i128 square = (gp_i128)totals->square;
    for (size_t i = 0; i < block->n; ++i) {
        int64_t enters = block->enters[i], leaves = block->leaves[i];
        int64_t difference = (enters - leaves) * (enters + leaves); /* of their squares, which are at most 2^62 */
        sum += enters - leaves;
        low += (uint64_t)difference;
        square += difference;
        if (block->sum)
            block->sum[i] = (float)sum;
        if (block->square)
            block->square[i] = below_2_63 ? (float)(int64_t)low : (float)(gp_u128)square;
    }
    totals->sum = sum;
    totals->square = below_2_63 ? low : (gp_u128)square;
}

void gp_window_slide_scalar(const gp_window_block *block, gp_window_totals *totals) {
    if ((gp_u128)block->bound * block->bound * block->window >> 63 == 0)
        slide_each(block, true, totals);
    else
        slide_each(block, false, totals);
}
