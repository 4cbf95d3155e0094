/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel takes which matrices, as measured; those that pick elements: transpose_cut_pick.c, in place at any
 * pitch: transpose_cut_mirror.c. Pure. */
#include "supports.h"
#include "tiling.h"

/*
 * 1 and 2 bytes: below this, tiles of 16 KiB and more are too few for all multiprocessors. H200, us, transpose_quad
 * against the large tiles of transpose_pack: 2048 x 2048 of 1 and 2 bytes 4.4 and 6.5 against 5.6 and 7.2, 4096 x
 * 4096 of 1 byte 11.2 against 10.9.
 */
#define SMALL_ELEMENTS ((uint64_t)1 << 22)

static bool is_small(const gp_problem *problem) {
    return problem->rows * problem->cols <= SMALL_ELEMENTS;
}

bool gp_transpose_is_plain(const gp_problem *problem) {
    return problem->elem_bytes <= GP_TRANSPOSE_VECTOR && (problem->elem_bytes & (problem->elem_bytes - 1)) == 0 &&
           problem->in_align >= problem->elem_bytes && problem->out_align >= problem->elem_bytes;
}

bool gp_transpose_is_vectors(const gp_problem *problem) {
    return gp_transpose_is_plain(problem) && problem->in_align >= GP_TRANSPOSE_VECTOR &&
           problem->out_align >= GP_TRANSPOSE_VECTOR &&
           problem->rows * problem->elem_bytes % GP_TRANSPOSE_VECTOR == 0 &&
           problem->cols * problem->elem_bytes % GP_TRANSPOSE_VECTOR == 0;
}

/*
 * Records of more bytes are left to tiles. H200, share of a copy's speed, strips against tiles: 4 bytes, 1000000 x 49
 * 0.94 against 0.86, but 1000000 x 32, which is aligned, 0.92 against 0.95, and 372827 x 45, whose columns are off a
 * vector, 0.87 against 0.98 (45 x 45: 2.9 us against 2.5); 16 bytes, 1000000 x 8 0.97 against 0.86, 8 x 1000000 0.94
 * against 0.49; 2 bytes, 1000000 x 8 1.15 against 1.04, 1000000 x 32 0.93 against 0.86.
 */
static size_t longest_record(const gp_problem *problem) {
    if (problem->elem_bytes != 4)
        return problem->elem_bytes >= 8 ? 128 : 64;
    const bool off = problem->cols <= problem->rows && problem->out_align < GP_TRANSPOSE_VECTOR;
    return off ? 128 : gp_transpose_is_vectors(problem) ? 124 : 200;
}

/*
 * One side is short, and its rows follow each other without padding. Small elements are left to transpose_pick_, few
 * rows off a vector to it and transpose_any: 8 bytes, 11 x 1525201 0.86 of a copy's speed against 0.95.
 */
bool gp_transpose_strip_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_plain(problem) &&
           (problem->cols <= problem->rows
                ? problem->cols * problem->elem_bytes <= longest_record(problem) &&
                      problem->in_pitch == problem->cols &&
                      (problem->elem_bytes >= 4 || (problem->elem_bytes == 2 && problem->out_align >= 16))
                : problem->rows * problem->elem_bytes <= longest_record(problem) &&
                      problem->out_pitch == problem->rows && problem->elem_bytes >= 2 && problem->in_align >= 16);
}

/*
 * An odd number of columns keeps the rows' elements in different banks. H200, share of a copy's speed, against strips
 * and tiles: 4 bytes, 372827 x 45 0.97 against 0.94, 100000 x 257 0.94 against 0.93; 8 bytes, 1525201 x 11 0.98
 * against 0.96, but 100000 x 257 0.92 against 0.94; 16 bytes, 100000 x 257 0.95 against 0.93. Output rows that start
 * anywhere cost a halo: 92691 x 181 of 4 bytes 0.90 against 0.94, 184365 x 91 of 16 bytes 0.90 against 0.92.
 */
static size_t longest_row(const gp_problem *problem) {
    return problem->out_align < GP_TRANSPOSE_SECTOR ? 400 : problem->elem_bytes == 16 ? 4200 : 1100;
}

/* H200, against strips: 5592405 x 3 of 4 bytes 0.64 against 0.93, 2396745 x 7 0.93 against 0.91. */
#define LEAST_COLS 7

/* And fewer elements: 4 bytes, us, against tiles: 1001 x 45 3.9 and 2.5, 20001 x 45 6.0 and 5.0, 100001 x 45 12.0
 * both. */
#define ROWS_ELEMENTS ((uint64_t)1 << 20)

bool gp_transpose_rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_plain(problem) && problem->elem_bytes >= 4 &&
           problem->cols % 2 == 1 && problem->in_pitch == problem->cols && problem->cols >= LEAST_COLS &&
           problem->rows / problem->cols >= GP_TRANSPOSE_ROWS_FOR_COLS &&
           problem->rows * problem->cols >= ROWS_ELEMENTS &&
           problem->cols * problem->elem_bytes <= longest_row(problem);
}

bool gp_transpose_is_small(const gp_problem *problem) {
    return !problem->in_place && gp_transpose_is_plain(problem) && problem->elem_bytes <= 2;
}

/*
 * Longer rows are left to transpose_pick_tall and _flat. H200, us, against them: 1 byte, 372827 x 45 11.6 and 17.4,
 * 184365 x 91 12.0 and 12.4; 45 x 372827 13.2 and 13.8, 91 x 184365 21.1 and 12.3. Share of a copy's speed, 4
 * bytes: 11 x 1525201 0.95, 45 x 372827 0.91 against 0.93 of transpose_skew.
 */
#define PICK_ROWS_BYTES 128
#define PICK_COLS_BYTES 64
#define PICK_COLS_BYTES_OF_4 128

bool gp_transpose_pick_rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_small(problem) && problem->in_pitch == problem->cols &&
           problem->cols * problem->elem_bytes <= PICK_ROWS_BYTES &&
           problem->rows / problem->cols >= GP_TRANSPOSE_ROWS_FOR_COLS;
}

bool gp_transpose_pick_cols_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_plain(problem) && problem->elem_bytes <= 4 &&
           problem->out_pitch == problem->rows && problem->cols / problem->rows >= GP_TRANSPOSE_ROWS_FOR_COLS &&
           problem->rows * problem->elem_bytes <= (problem->elem_bytes == 4 ? PICK_COLS_BYTES_OF_4 : PICK_COLS_BYTES);
}

/*
 * H200, us, against transpose_pick_cols and _flat: 1 byte, 23 x 729444 10.8 and 13.6, 11.8; 45 x 372827 11.6 and
 * 13.3, 14.7; 91 x 184365 11.6 and 12.1 (_flat); 181 x 92691 (_wide) 11.6 and 12.5 (_flat), but 17 x 986895 14.0 and
 * 13.5; 2 bytes, 45 x 372827 20.8 and 22.0 (_flat), but 23 x 729444 22.5 and 20.4. Larger: 23 x 2917777 41.4 and
 * 39.9, 91 x 737460 44.2 and 38.7 (_flat), 181 x 370767 43.1 and 40.4 (_flat).
 */
#define PICK_FLOW_ROWS_LEAST(elem_bytes) ((elem_bytes) == 1 ? 20u : 25u)
#define PICK_FLOW_ROWS(elem_bytes) ((elem_bytes) == 1 ? 96u : 48u)
#define PICK_FLOW_WIDE_ROWS 192
#define PICK_FLOW_BYTES ((uint64_t)1 << 20)
#define PICK_FLOW_BYTES_MOST ((uint64_t)32 << 20)

static bool is_flow(const gp_problem *problem) {
    return gp_transpose_is_small(problem) && problem->out_pitch == problem->rows &&
           problem->cols / problem->rows >= GP_TRANSPOSE_ROWS_FOR_COLS &&
           problem->rows * problem->cols * problem->elem_bytes >= PICK_FLOW_BYTES &&
           problem->rows * problem->cols * problem->elem_bytes <= PICK_FLOW_BYTES_MOST;
}

bool gp_transpose_pick_flow_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_flow(problem) && problem->rows >= PICK_FLOW_ROWS_LEAST(problem->elem_bytes) &&
           problem->rows <= PICK_FLOW_ROWS(problem->elem_bytes);
}

bool gp_transpose_pick_flow_wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_flow(problem) && problem->elem_bytes == 1 && problem->rows > PICK_FLOW_ROWS(1) &&
           problem->rows <= PICK_FLOW_WIDE_ROWS;
}

/*
 * Small: left to transpose_mirror, which has blocks for all multiprocessors. H200, us, against it: 4 bytes 256 x 256
 * and 512 x 512 2.8 and 3.1, where that takes 2.3, 2.3 and 2.8 for 181 x 181, 363 x 363 and 725 x 725; 8 bytes 600 x
 * 600 4.0 and 3.0, 850 x 850 5.2 and 4.3, 1280 x 1280 8.5 and 8.3; 16 bytes 512 x 512 4.8 and 4.3, 725 x 725 6.9 and
 * 6.2, 840 x 840 8.3 and 7.0.
 */
#define SWAP_FROM_OF_4 ((uint64_t)27 << 10) /* bytes a multiprocessor */
#define SWAP_FROM_OF_8 ((uint64_t)104 << 10)
#define SWAP_FROM_OF_16 ((uint64_t)112 << 10)

static bool is_small_in_place(const gp_problem *problem, const gp_device *device) {
    const uint64_t from = problem->elem_bytes == 4   ? SWAP_FROM_OF_4
                          : problem->elem_bytes == 8 ? SWAP_FROM_OF_8
                                                     : SWAP_FROM_OF_16;
    return problem->elem_bytes >= 4 &&
           problem->rows * problem->cols * problem->elem_bytes < from * device->multiprocessors;
}

bool gp_transpose_swap_supports(const gp_problem *problem, const gp_device *device) {
    return problem->in_place && gp_transpose_is_vectors(problem) && !is_small_in_place(problem, device);
}

/* Bulk copies from shared memory came with compute capability 9.0. */
bool gp_transpose_bulk_supports(const gp_problem *problem, const gp_device *device) {
    return !problem->in_place && gp_transpose_is_vectors(problem) && problem->elem_bytes >= 4 &&
           device->compute_major >= 9;
}

/*
 * What is left to transpose_bulk. H200, its time over that of transpose_vector (4 and 8 bytes) and transpose_skew
 * (16): 4 bytes, 4096^2 1.018, 8192^2 1.001, 16384^2 0.994; 8 bytes, 262144 x 64 1.005, 4096^2 1.000, 8192^2 0.996;
 * 16 bytes, 1024^2 1.03, 4096^2 0.991, 16384^2 0.989; off lines, 11585^2 1.012; 91 x 184365 1.06.
 */
#define BULK_LEAST ((uint64_t)2 << 30) /* over the bytes of an element */
#define BULK_SIDE 1024

static bool is_bulk(const gp_problem *problem, const gp_device *device) {
    return gp_transpose_bulk_supports(problem, device) && problem->out_align >= GP_TRANSPOSE_LINE &&
           problem->rows >= BULK_SIDE && problem->cols >= BULK_SIDE &&
           problem->rows * problem->cols * problem->elem_bytes >= BULK_LEAST / problem->elem_bytes;
}

/*
 * 8 bytes between these sizes, and 16 bytes, are left to transpose_skew. H200, share of a copy's speed, vectors
 * against it: 8 bytes, 1024 x 1024 1.05 against 0.94, 4096 x 4096 1.006 against 1.002, 16384 x 16384 0.983 against
 * 0.980, 32768 x 32768 0.975 against 0.951; 16 bytes, 4096 x 4096 0.96 against 0.98.
 */
#define VECTOR_MOST_OF_8 ((uint64_t)16 << 20)
#define VECTOR_LEAST_OF_8 ((uint64_t)128 << 20)

bool gp_transpose_vector_supports(const gp_problem *problem, const gp_device *device) {
    const uint64_t bytes = problem->rows * problem->cols * problem->elem_bytes;
    return !problem->in_place && gp_transpose_is_vectors(problem) && !is_bulk(problem, device) &&
           (problem->elem_bytes == 4 ||
            (problem->elem_bytes == 8 && (bytes <= VECTOR_MOST_OF_8 || bytes >= VECTOR_LEAST_OF_8)));
}

bool gp_transpose_pack_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_vectors(problem) && problem->elem_bytes <= 2;
}

/* Few elements, or one side within a vector tile's. */
bool gp_transpose_quad_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_vectors(problem) && problem->elem_bytes <= 2 &&
           (is_small(problem) || problem->rows * problem->elem_bytes < 128 ||
            problem->cols * problem->elem_bytes < 128);
}

/*
 * 16 bytes, few columns or rows: tiles of 16 x 32 instead of 64 x 32. H200, share of a copy's speed: 1000000 x 32
 * 0.96 against 0.95, 11 x 1525201 0.99 against 0.64.
 */
bool gp_transpose_narrow_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && gp_transpose_is_plain(problem) && problem->elem_bytes == 16 &&
           (problem->cols <= 32 || problem->rows <= 16);
}

/*
 * Rows too few for tiles of transpose_skew. H200, share of a copy's speed, against it: 23 x 729444 of 8 and 16 bytes
 * 0.95 and 0.96 against 0.87 and 0.94, but 32 x 524288 0.95 and 0.96 against 0.99 and 0.98.
 */
#define FEW_ROWS 32

static bool is_flat(const gp_problem *problem) {
    return problem->elem_bytes >= 8 && problem->rows < FEW_ROWS &&
           problem->cols / problem->rows >= GP_TRANSPOSE_ROWS_FOR_COLS;
}

/*
 * Beside these, what no other row takes. H200, share of a copy's speed, against transpose_naive: 4097 x 4095 of 3, 5,
 * 12 and 24 bytes 0.71, 0.75, 0.97 and 0.95 against 0.10, 0.11, 0.27 and 0.32.
 */
bool gp_transpose_any_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && problem->elem_bytes <= GP_TRANSPOSE_ANY_ELEM &&
           (!gp_transpose_is_plain(problem) || is_flat(problem));
}

bool gp_transpose_skew_supports(const gp_problem *problem, const gp_device *device) {
    return !problem->in_place && gp_transpose_is_plain(problem) && problem->elem_bytes >= 4 &&
           !is_bulk(problem, device);
}

bool gp_transpose_tile_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_plain(problem);
}
