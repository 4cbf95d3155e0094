/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose on the processor: the reference row, for elements of any size and alignment. */
#include "rows.h"
#include "split.h"
#include "threads.h"
#include <string.h>

/*
 * A block of elements is read and written within the first-level cache: 32 x 32 elements touch 64 lines of up to 64
 * bytes for the usual element sizes.
 */
#define BLOCK ((size_t)32)

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void transpose_block(const gp_problem *problem, size_t r_begin, size_t r_end, size_t c_begin, size_t c_end) {
    size_t bytes = problem->elem_bytes;
    for (size_t c = c_begin; c < c_end; ++c)
        for (size_t r = r_begin; r < r_end; ++r)
            memcpy((char *)problem->out + (c * problem->out_pitch + r) * bytes,
                   (const char *)problem->in + (r * problem->in_pitch + c) * bytes, bytes);
}

static void transpose_part(void *argument, unsigned part, unsigned parts) {
    const gp_problem *problem = argument;
    size_t bands = (problem->rows + BLOCK - 1) / BLOCK, end = gp_part_begin(bands, part + 1, parts);
    for (size_t band = gp_part_begin(bands, part, parts); band < end; ++band)
        for (size_t c = 0; c < problem->cols; c += BLOCK)
            transpose_block(problem, band * BLOCK, smaller(problem->rows, (band + 1) * BLOCK), c,
                            smaller(problem->cols, c + BLOCK));
}

/* Any size through a buffer of any size. */
static void swap_bytes(char *a, char *b, size_t bytes) {
    char held[64];
    while (bytes > 0) {
        size_t length = smaller(bytes, sizeof held);
        memcpy(held, a, length);
        memcpy(a, b, length);
        memcpy(b, held, length);
        a += length, b += length, bytes -= length;
    }
}

/* Exchanges a block below the diagonal with its mirror image; on the diagonal, its own two halves. */
static void swap_block(const gp_problem *problem, size_t r_begin, size_t r_end, size_t c_begin, size_t c_end) {
    char *matrix = problem->out;
    size_t bytes = problem->elem_bytes, pitch = problem->out_pitch;
    for (size_t r = r_begin; r < r_end; ++r)
        for (size_t c = c_begin; c < smaller(c_end, r); ++c)
            swap_bytes(matrix + (r * pitch + c) * bytes, matrix + (c * pitch + r) * bytes, bytes);
}

/* Band i has i + 1 blocks: part p takes bands p, p + parts, ... so that the parts are of like size. */
static void swap_part(void *argument, unsigned part, unsigned parts) {
    const gp_problem *problem = argument;
    size_t bands = (problem->rows + BLOCK - 1) / BLOCK;
    for (size_t band = part; band < bands; band += parts)
        for (size_t c = 0; c <= band * BLOCK; c += BLOCK)
            swap_block(problem, band * BLOCK, smaller(problem->rows, (band + 1) * BLOCK), c, c + BLOCK);
}

gp_status gp_launch_transpose_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    if (problem->rows == 0 || problem->cols == 0)
        return GP_OK;
    unsigned parts = plan->grid > GP_PARTS_MAX ? GP_PARTS_MAX : (unsigned)plan->grid;
    gp_problem work = *problem;
    gp_threads_run(context, parts, problem->in_place ? swap_part : transpose_part, &work);
    return GP_OK;
}

bool gp_transpose_simd_supports(const gp_problem *problem) {
    return problem->elem_bytes == 1 || problem->elem_bytes == 2 || problem->elem_bytes == 4 ||
           problem->elem_bytes == 8 || problem->elem_bytes == 16;
}

uint64_t gp_transpose_cpu_parts(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return gp_parts_for_bytes(problem->bytes_read + problem->bytes_written);
}
