/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose on the processor: the reference row, for elements of any size and alignment. */
#include "cpu_job.h"

/* A square has at most 64 x 64 elements and 16 KiB; behind each of its rows in a buffer lies what `quick` writes. */
#define SIDE_MAX ((size_t)64)
#define ELEMENTS_BYTES ((size_t)16 << 10)
#define SQUARE_BYTES (ELEMENTS_BYTES + SIDE_MAX * GP_QUICK_BEHIND)

typedef struct {
    gp_transpose_job base;
    size_t side; /* of a square */
} job;

/* Wide elements are put where they belong, others by way of a buffer: see gp_transpose_quick. */
static void transpose_square(const job *j, size_t r, size_t c) {
    char buffer[SQUARE_BYTES];
    size_t bytes = j->base.elem_bytes, held = j->side * bytes + GP_QUICK_BEHIND;
    size_t rows = gp_least(j->side, j->base.rows - r), cols = gp_least(j->side, j->base.cols - c);
    const gp_matrices m = gp_matrices_at(j->base.whole, r, c, bytes);
    if (bytes > GP_QUICK_BYTES_MAX) {
        gp_transpose_quick(&m, rows, cols, bytes);
        return;
    }
    gp_transpose_quick(&(gp_matrices){m.in, m.in_pitch, buffer, held}, rows, cols, bytes);
    gp_copy_rows(m.out, m.out_pitch, buffer, held, cols, rows * bytes);
}

/* Parts have rows or columns of squares, whichever are more. */
static void transpose_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    size_t down = (j->base.rows + j->side - 1) / j->side, along = (j->base.cols + j->side - 1) / j->side;
    bool rows = down >= along;
    size_t first = gp_part_begin(rows ? down : along, part, parts);
    size_t end = gp_part_begin(rows ? down : along, part + 1, parts);
    for (size_t r = rows ? first : 0; r < (rows ? end : down); ++r)
        for (size_t c = rows ? 0 : first; c < (rows ? along : end); ++c)
            transpose_square(j, r * j->side, c * j->side);
}

/* In place: the square from element (r, c) on changes places with its mirror image; on the diagonal it is that. */
static void swap_squares(const job *j, size_t r, size_t c) {
    char lower[SQUARE_BYTES], upper[SQUARE_BYTES];
    size_t bytes = j->base.elem_bytes, pitch = j->base.whole.out_pitch, held = j->side * bytes + GP_QUICK_BEHIND;
    size_t rows = gp_least(j->side, j->base.rows - r), cols = gp_least(j->side, j->base.rows - c);
    char *square = j->base.whole.out + r * pitch + c * bytes, *mirror = j->base.whole.out + c * pitch + r * bytes;
    gp_transpose_quick(&(gp_matrices){square, pitch, lower, held}, rows, cols, bytes);
    if (r != c) {
        gp_transpose_quick(&(gp_matrices){mirror, pitch, upper, held}, cols, rows, bytes);
        gp_copy_rows(square, pitch, upper, held, rows, cols * bytes);
    }
    gp_copy_rows(mirror, pitch, lower, held, cols, rows * bytes);
}

/* Band i has i + 1 squares: part p takes bands p, p + parts, ... so that the parts are of like size. */
static void swap_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    char *matrix = j->base.whole.out;
    size_t bytes = j->base.elem_bytes, pitch = j->base.whole.out_pitch;
    for (size_t r = part * j->side; r < j->base.rows; r += parts * j->side)
        for (size_t c = 0; c <= r; c += j->side)
            if (j->side > 1)
                swap_squares(j, r, c);
            else if (c < r)
                gp_swap_bytes(matrix + r * pitch + c * bytes, matrix + c * pitch + r * bytes, bytes);
}

gp_status gp_launch_transpose_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const unsigned parts = gp_transpose_parts(context, plan, problem);
    size_t bytes = problem->elem_bytes;
    job j = {.base = gp_transpose_job_of(problem), .side = bytes <= GP_QUICK_BYTES_MAX ? SIDE_MAX : 32};
    while ((problem->in_place || bytes <= GP_QUICK_BYTES_MAX) && j.side > 1 &&
           j.side * j.side * bytes > ELEMENTS_BYTES)
        j.side /= 2;
    gp_threads_run(context, parts, problem->in_place ? swap_part : transpose_part, &j);
    return GP_OK;
}

bool gp_transpose_tiles_supports(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

bool gp_transpose_thin_supports(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes, planes = gp_least(problem->rows, problem->cols);
    const size_t count = problem->rows + problem->cols - planes;
    return gp_transpose_tiles_supports(problem) && !problem->in_place && planes > 0 &&
           (planes * bytes < 16 || (planes == problem->rows && planes <= 8 && planes * bytes <= GP_CACHE_LINE)) &&
           count * bytes >= 4 * GP_CACHE_LINE;
}

bool gp_transpose_lines_simd_supports(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    const bool room = gp_transpose_has_short_rows(problem->rows, bytes) ? problem->out_pitch == problem->rows : true;
    return gp_transpose_tiles_supports(problem) && !problem->in_place && gp_transpose_past_caches(problem) && room &&
           problem->cols * bytes >= 16 && problem->rows * bytes >= 16;
}

bool gp_transpose_lines_supports(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    return !problem->in_place && bytes <= GP_DIRECT_BYTES && gp_transpose_past_caches(problem) &&
           problem->rows * bytes >= GP_SHORT_DIRECT;
}
