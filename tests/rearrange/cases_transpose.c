/* SPDX-License-Identifier: Apache-2.0 */
/* The transposes of the case list. */
#include "../cases.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const size_t transpose_elems[] = {1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 24, 32, 100, 300};
static const size_t transpose_elems_reduced[] = {1, 4, 16, 3};
static const size_t transpose_edges[] = {1,  2,  3,  5,  7,  8,  15,  16,  17,  31,
                                         32, 33, 63, 64, 65, 97, 127, 128, 129, 257};
static const size_t transpose_edges_reduced[] = {1, 3, 32, 65};
static const struct {
    size_t rows, cols;
} transpose_shapes[] = {{1, 100003}, {100003, 1}, {2, 65537},   {65537, 3}, {1023, 1025},
                        {2049, 511}, {4099, 33},  {1024, 1024}, {640, 480}};

#define TRANSPOSE_BYTES ((size_t)20 << 20)      /* largest matrix, so that the list stays short in time */
#define REDUCED_SQUARE_BYTES ((size_t)16 << 20) /* in place, reduced: the least that is much of a matrix in place */

static void transpose_visit(size_t elem, size_t rows, size_t cols, uint64_t *state,
                            void (*visit)(const transpose_case *, void *), void *user) {
    uint64_t r = cases_random(state);
    transpose_case c = {elem,
                        rows,
                        cols,
                        (r >> 4) % 3 ? 0 : (r >> 8) % 29,
                        (r >> 16) % 3 ? 0 : (r >> 20) % 29,
                        0,
                        0,
                        false,
                        cases_random(state)};
    if ((r >> 32) % 4 == 1) {
        c.in_offset = elem * ((r >> 36) % 5);
        c.out_offset = elem * ((r >> 40) % 5);
    } else if ((r >> 32) % 4 == 2) {
        c.in_offset = (r >> 36) % 32;
        c.out_offset = (r >> 44) % 32;
    }
    visit(&c, user);
    if (rows == cols) {
        c.in_place = true;
        c.out_pad = c.in_pad;
        c.out_offset = c.in_offset;
        visit(&c, user);
    }
}

/* Rows that start 128 KiB apart: columns of tiles are taken in pairs, and what is left one by one. */
static void transpose_visit_paired(bool reduced, uint64_t *state, void (*visit)(const transpose_case *, void *),
                                   void *user) {
    static const struct { size_t elem, rows, cols; } paired[] = {{4, 100, 8460}, {8, 70, 4300}, {16, 70, 1100}};
    for (size_t i = 0; i < COUNT(paired); i++) {
        transpose_case c = {.elem_bytes = paired[i].elem,
                            .rows = paired[i].rows,
                            .cols = paired[i].cols,
                            .in_pad = ((size_t)128 << 10) / paired[i].elem - paired[i].cols,
                            .seed = cases_random(state)};
        if (!reduced || c.rows << 17 < TRANSPOSE_BYTES / 2)
            visit(&c, user);
    }
}

/* Past 4 MiB: the output's rows an even number of lines of 64 bytes apart, from an odd line on; the input's crowd. */
static void transpose_visit_even(uint64_t *state, void (*visit)(const transpose_case *, void *), void *user) {
    static const struct {
        size_t elem, rows, cols, pitch;
    } even[] = {{1, 4096, 1100, 4096}, {2, 2050, 1100, 2048}, {4, 1088, 1000, 1024}, {4, 1080, 1011, 1011},
                {8, 560, 1000, 1024},  {8, 552, 1011, 1011},  {16, 272, 1010, 1024}, {16, 268, 1011, 1011}};
    for (size_t i = 0; i < COUNT(even); i++) {
        transpose_case c = {.elem_bytes = even[i].elem,
                            .rows = even[i].rows,
                            .cols = even[i].cols,
                            .in_pad = even[i].pitch - even[i].cols,
                            .out_pad = (0 - even[i].rows) % (128 / even[i].elem),
                            .out_offset = 64,
                            .seed = cases_random(state)};
        visit(&c, user);
    }
}

/* Few rows, more than 1 MiB, no padding in the output: blocks that take tile after tile, or all of a multiprocessor's
 * columns at once, also off alignment; of the last, 132 multiprocessors leave 3 columns to the last block. */
static void transpose_visit_flat(uint64_t *state, void (*visit)(const transpose_case *, void *), void *user) {
    static const struct {
        size_t elem, rows, cols;
    } flat[] = {{1, 23, 46001},  {1, 40, 27004},  {1, 91, 12001},  {1, 181, 5901}, {2, 45, 12003},
                {1, 363, 20010}, {2, 110, 31001}, {2, 130, 31001}, {1, 301, 5112}};
    for (size_t i = 0; i < COUNT(flat); i++) {
        transpose_case c = {
            .elem_bytes = flat[i].elem, .rows = flat[i].rows, .cols = flat[i].cols, .seed = cases_random(state)};
        visit(&c, user);
        c.in_offset = c.elem_bytes;
        c.out_offset = 3 * c.elem_bytes;
        visit(&c, user);
    }
}

/* Past 4 MiB, of any size and at any address, rows of the output apart: lines kept from panel to panel of rows. More
 * columns than a strip has, fewer than a group; rows just enough for that; sides longest either way. */
static void transpose_visit_lines(uint64_t *state, void (*visit)(const transpose_case *, void *), void *user) {
    static const struct {
        size_t elem, rows, cols;
    } lines[] = {{3, 1301, 1103}, {3, 129, 12001}, {3, 1400001, 1}, {5, 499, 2103},  {6, 90001, 9},  {8, 801, 733},
                 {12, 611, 701},  {16, 607, 503},  {20, 503, 487},  {100, 211, 230}, {256, 133, 129}};
    for (size_t i = 0; i < COUNT(lines); i++) {
        transpose_case c = {.elem_bytes = lines[i].elem,
                            .rows = lines[i].rows,
                            .cols = lines[i].cols,
                            .in_pad = cases_random(state) % 3,
                            .out_pad = cases_random(state) % 3,
                            .in_offset = cases_random(state) % 64,
                            .out_offset = cases_random(state) % 64,
                            .seed = cases_random(state)};
        visit(&c, user);
    }
}

/*
 * Few columns or rows: what the processor's rows do from records to planes and back. Past 4 MiB and not, with a rest
 * of less than a line, records apart, lines of the planes beginning anywhere.
 */
static void transpose_visit_thin(bool reduced, uint64_t *state, void (*visit)(const transpose_case *, void *),
                                 void *user) {
    for (size_t elem = 1; elem <= 16; elem *= 2)
        for (size_t planes = 1; planes <= 9; planes++)
            for (size_t turn = 0; turn < 4; turn++) {
                const uint64_t r = cases_random(state);
                const bool large = turn == 0 && !reduced;
                const size_t count = (large ? 4300000 / planes : 300 + r % 3000) / elem;
                transpose_case c = {.elem_bytes = elem, .rows = count, .cols = planes, .seed = cases_random(state)};
                c.in_pad = turn == 2 ? (r >> 16) % 5 : 0;
                c.out_pad = turn < 2 ? (r >> 24) % 80 : 0;
                c.in_offset = elem * ((r >> 32) % 5);
                c.out_offset = elem * ((r >> 40) % 70);
                visit(&c, user);
                c.rows = planes, c.cols = count;
                c.in_pad = c.out_pad;
                c.out_pad = turn == 2 ? (r >> 48) % 5 : 0;
                visit(&c, user);
            }
}

/* Past 4 MiB, one side short: runs of long rows of the output, or of short ones without gaps; with gaps neither. */
static void transpose_visit_runs(uint64_t *state, void (*visit)(const transpose_case *, void *), void *user) {
    static const size_t sides[] = {10, 13, 16, 24, 31, 40, 50};
    for (size_t elem = 1; elem <= 16; elem *= 2)
        for (size_t i = 0; i < COUNT(sides); i++) {
            const uint64_t r = cases_random(state);
            transpose_case c = {.elem_bytes = elem,
                                .rows = 4300000 / sides[i] / elem + r % 64,
                                .cols = sides[i],
                                .in_pad = r % 4 ? 0 : (r >> 8) % 9,
                                .in_offset = elem * ((r >> 16) % 5),
                                .out_offset = elem * ((r >> 24) % 70),
                                .seed = cases_random(state)};
            visit(&c, user);
            const size_t rows = c.rows;
            c.rows = c.cols, c.cols = rows;
            c.out_pad = (r >> 32) % 4 ? 0 : (r >> 40) % 9;
            visit(&c, user);
        }
}

/* Past 4 MiB, with lines of the output that begin anywhere, at multiples of 4 bytes or not, and edges on both
 * sides; the ninth and tenth in tiles of fewer rows on 132 multiprocessors, the last in several strips. */
static void transpose_visit_skewed(uint64_t *state, void (*visit)(const transpose_case *, void *), void *user) {
    static const struct {
        size_t elem, rows, cols;
    } skewed[] = {{1, 2100, 2207}, {1, 2050, 2104}, {1, 2053, 2112}, {2, 1502, 1603}, {2, 1501, 1608},
                  {4, 1037, 1103}, {8, 801, 733},   {16, 607, 503},  {1, 4601, 1401}, {2, 2401, 802},
                  {1, 301, 20011}, {2, 205, 12013}, {8, 67, 9001},   {16, 35, 9001}};
    for (size_t i = 0; i < COUNT(skewed); i++) {
        transpose_case c = {.elem_bytes = skewed[i].elem,
                            .rows = skewed[i].rows,
                            .cols = skewed[i].cols,
                            .out_offset = 4 * (cases_random(state) % 16),
                            .seed = cases_random(state)};
        visit(&c, user);
        c.in_offset = c.elem_bytes;
        c.out_offset += c.elem_bytes;
        if (c.elem_bytes < 4)
            visit(&c, user);
    }
}

/* Without padding or offset, which chance seldom gives: whole 16-byte vectors; one side short; many tiles. */
static void transpose_visit_dense(bool reduced, uint64_t *state, void (*visit)(const transpose_case *, void *),
                                  void *user) {
    static const struct {
        size_t rows, cols, elem_max;
    } dense[] = {{1600, 1552, 16}, {144, 272, 16}, {640, 32, 16},   {32, 640, 16},  {1031, 35, 16},
                 {35, 1031, 16},   {519, 257, 16}, {401, 40013, 1}, {30001, 41, 4}, {1301, 301, 2}};
    for (size_t elem = 1; elem <= 16; elem *= 2)
        for (size_t i = 0; i < COUNT(dense); i++) {
            transpose_case c = {
                .elem_bytes = elem, .rows = dense[i].rows, .cols = dense[i].cols, .seed = cases_random(state)};
            if (elem > dense[i].elem_max || (reduced && c.rows * c.cols >= TRANSPOSE_BYTES / 2))
                continue;
            visit(&c, user);
            c.in_offset = elem; /* the same off alignment, rows of the output apart */
            c.out_offset = 3 * elem;
            c.out_pad = 5;
            visit(&c, user);
        }
}

/* In place off alignment: several tiles a side, of each kernel's largest tiles too, and in squares of pairs. */
static void transpose_visit_squares(bool reduced, uint64_t *state, void (*visit)(const transpose_case *, void *),
                                    void *user) {
    static const struct {
        size_t elem, side, pad;
    } squares[] = {{1, 733, 0},   {1, 733, 1},   {1, 1136, 0}, {1, 2053, 2}, {1, 3301, 0}, {1, 1144, 0},
                   {2, 611, 3},   {2, 1499, 0},  {2, 3607, 0}, {4, 611, 1},  {4, 1136, 0}, {4, 1201, 0},
                   {4, 2053, 0},  {8, 611, 0},   {8, 1360, 0}, {8, 1201, 2}, {8, 1931, 2}, {12, 611, 1},
                   {16, 1001, 0}, {16, 1101, 0}, {5000, 19, 1}};
    for (size_t i = 0; i < COUNT(squares); i++) {
        transpose_case c = {.elem_bytes = squares[i].elem,
                            .rows = squares[i].side,
                            .cols = squares[i].side,
                            .in_pad = squares[i].pad,
                            .out_pad = squares[i].pad,
                            .in_place = true,
                            .seed = cases_random(state)};
        if (reduced && c.rows * c.cols * c.elem_bytes >= REDUCED_SQUARE_BYTES)
            continue;
        visit(&c, user);
    }
}

void cases_transpose(void (*visit)(const transpose_case *, void *), void *user) {
    bool reduced = cases_reduced();
    const size_t *elems = reduced ? transpose_elems_reduced : transpose_elems;
    const size_t *edges = reduced ? transpose_edges_reduced : transpose_edges;
    size_t n_elems = reduced ? COUNT(transpose_elems_reduced) : COUNT(transpose_elems);
    size_t n_edges = reduced ? COUNT(transpose_edges_reduced) : COUNT(transpose_edges);
    size_t n_shapes = reduced ? 0 : COUNT(transpose_shapes);
    uint64_t state = cases_seed();
    for (size_t e = 0; e < n_elems; e++) {
        for (size_t r = 0; r < n_edges; r++)
            for (size_t c = 0; c < n_edges; c++)
                transpose_visit(elems[e], edges[r], edges[c], &state, visit, user);
        for (size_t s = 0; s < n_shapes; s++)
            if (transpose_shapes[s].rows * transpose_shapes[s].cols * elems[e] <= TRANSPOSE_BYTES)
                transpose_visit(elems[e], transpose_shapes[s].rows, transpose_shapes[s].cols, &state, visit, user);
    }
    transpose_visit_skewed(&state, visit, user);
    transpose_visit_dense(reduced, &state, visit, user);
    transpose_visit_even(&state, visit, user);
    transpose_visit_paired(reduced, &state, visit, user);
    transpose_visit_flat(&state, visit, user);
    transpose_visit_lines(&state, visit, user);
    transpose_visit_thin(reduced, &state, visit, user);
    if (!reduced)
        transpose_visit_runs(&state, visit, user);
    transpose_visit_squares(reduced, &state, visit, user);
}

int cases_transpose_label(const transpose_case *c, char *text, size_t size) {
    return snprintf(text, size, "%zu x %zu of %zu bytes, pads %zu %zu, offsets %zu %zu%s, seed %llu", c->rows,
                    c->cols, c->elem_bytes, c->in_pad, c->out_pad, c->in_offset, c->out_offset,
                    c->in_place ? ", in place" : "", (unsigned long long)c->seed);
}
