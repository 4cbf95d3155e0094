/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices that are not square, transposed where they are, by way of little other memory.
 *
 * A tall matrix is cut into pieces of some rows each. Each piece is transposed by way of the other memory, which
 * turns the matrix into one of the pieces' columns: these are long enough to be moved one by one to their places,
 * along the cycles of that permutation, with a bit that says whether it is there for each of the first, as many as
 * the other memory has room for. A cycle of others alone begins where walking it meets no column before. Rows that
 * are left when all pieces have as many wait in the other memory, and the columns are moved apart for them. A wide
 * matrix goes the same way back. (After F. Gustavson, L. Karlsson, B. Kagstrom, "Parallel and cache-efficient
 * in-place matrix storage format conversion", 2012.)
 */
#include "cpu.h"
#include <stdlib.h>

/* Other memory of a thread: this part of the matrix, or so much of a small one. Elements have 5 eighths of it at
 * most, unless they are the whole matrix. */
#define SHARE 100
#define LEAST ((uint64_t)64 << 10)

typedef struct {
    const gp_move *move;
    unsigned cols;              /* its axis in the move */
    uint64_t high, across;      /* of the tall matrix: rows, columns, of the wide one the other way round */
    uint64_t piece, left;       /* rows of a piece; rows behind the last */
    size_t run, apart;          /* bytes of an element, and to the next one */
    bool tall;                  /* `high` are the rows of the input */
    uint64_t marks;             /* units that have a bit */
    size_t buffer_bytes, bytes; /* of each thread, for elements and with bits */
    unsigned char *memory;
} job;

static void copy(const job *j, unsigned char *to, size_t to_apart, const unsigned char *from, size_t from_apart,
                 uint64_t n) {
    gp_gather((char *)to, to_apart, from, (int64_t)from_apart, n, j->run);
}

/* rows x cols elements one behind the other, by way of the buffer. */
static void transpose(const job *j, unsigned char *at, uint64_t rows, uint64_t cols, unsigned char *buffer) {
    for (uint64_t r = 0; r < rows; r++)
        copy(j, buffer + r * j->run, rows * j->run, at + r * cols * j->apart, j->apart, cols);
    copy(j, at, j->apart, buffer, j->run, rows * cols);
}

/* Whether no cycle that was begun before has unit `start`: each begins at its first. */
static bool begins_cycle(const job *j, const uint64_t *moved, uint64_t start, uint64_t rows, uint64_t cols) {
    if (start < j->marks)
        return !(moved[start / 64] >> start % 64 & 1);
    uint64_t at = start;
    do
        at = at % rows * cols + at / rows;
    while (at > start);
    return at == start;
}

static void mark(const job *j, uint64_t *moved, uint64_t unit) {
    if (unit < j->marks)
        moved[unit / 64] |= (uint64_t)1 << unit % 64;
}

/*
 * rows x cols units of a piece's rows each become cols x rows. Long units are moved in slices, each along all cycles.
 */
static void move_units(const job *j, unsigned char *at, uint64_t rows, uint64_t cols, unsigned char *buffer) {
    const size_t unit = j->piece * j->apart, bytes = j->piece * j->run;
    uint64_t *moved = (uint64_t *)(void *)(buffer + j->buffer_bytes);
    for (size_t first = 0, n; first < bytes; first += n) {
        n = gp_least(bytes - first, j->buffer_bytes);
        memset(moved, 0, gp_divide_up(j->marks, 64) * sizeof *moved);
        for (uint64_t start = 1; start + 1 < rows * cols; start++) {
            if (!begins_cycle(j, moved, start, rows, cols))
                continue;
            uint64_t to = start, from;
            memcpy(buffer, at + start * unit + first, n);
            for (; (from = to % rows * cols + to / rows) != start; to = from) {
                memcpy(at + to * unit + first, at + from * unit + first, n);
                mark(j, moved, to);
            }
            memcpy(at + to * unit + first, buffer, n);
            mark(j, moved, to);
        }
    }
}

static void transpose_tall(const job *j, unsigned char *at, unsigned char *buffer) {
    const size_t row = j->across * j->apart, whole = j->high - j->left;
    for (uint64_t r = 0; r < whole && j->piece > 1; r += j->piece)
        transpose(j, at + r * row, j->piece, j->across, buffer);
    move_units(j, at, whole / j->piece, j->across, buffer);
    if (j->left == 0)
        return;
    copy(j, buffer, j->run, at + whole * row, j->apart, j->left * j->across);
    for (uint64_t c = j->across; c-- > 0;) {
        unsigned char *to = at + c * j->high * j->apart;
        memmove(to, at + c * whole * j->apart, whole * j->apart);
        copy(j, to + whole * j->apart, j->apart, buffer + c * j->run, j->across * j->run, j->left);
    }
}

static void transpose_wide(const job *j, unsigned char *at, unsigned char *buffer) {
    const size_t row = j->across * j->apart, whole = j->high - j->left;
    for (uint64_t c = 0; c < j->across && j->left > 0; c++) {
        unsigned char *from = at + c * j->high * j->apart;
        copy(j, buffer + c * j->run, j->across * j->run, from + whole * j->apart, j->apart, j->left);
        memmove(at + c * whole * j->apart, from, whole * j->apart);
    }
    copy(j, at + whole * row, j->apart, buffer, j->run, j->left * j->across);
    move_units(j, at, j->across, whole / j->piece, buffer);
    for (uint64_t r = 0; r < whole && j->piece > 1; r += j->piece)
        transpose(j, at + r * row, j->across, j->piece, buffer);
}

/* A thread's matrices: all axes but two count them. */
static void rectangles_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    gp_move others = *j->move;
    const unsigned axes = others.rank - 2;
    const uint64_t count = others.count / (j->high * j->across);
    memmove(&others.axis[j->cols], &others.axis[j->cols + 2], (axes - j->cols) * sizeof *others.axis);
    unsigned char *buffer = j->memory + part * j->bytes;
    gp_move_place place;
    const uint64_t begin = gp_part_begin(count, part, parts), end = gp_part_begin(count, part + 1, parts);
    gp_move_go_to(&others, axes, begin, &place);
    for (uint64_t i = begin; i < end; i++, gp_move_next(&others, axes, &place))
        (j->tall ? transpose_tall : transpose_wide)(j, place.out, buffer);
}

/* A piece has the most rows that the buffer holds, or somewhat fewer if none is left then. Elements with gaps between
 * them are moved one by one, with a bit each. */
static void choose_piece(job *j) {
    const uint64_t row = j->across * j->run, whole = j->high * row;
    const uint64_t share = gp_greatest(whole / SHARE, LEAST) / 64 * 64;
    const uint64_t budget = whole + 64 <= share ? whole : share / 8 * 5;
    const uint64_t most = j->apart == j->run ? gp_least(gp_at_least_one(budget / row), j->high) : 1;
    j->piece = most;
    while (j->high % j->piece != 0 && j->piece > most / 2 + 1)
        j->piece--;
    if (j->high % j->piece != 0)
        j->piece = most;
    j->left = j->high % j->piece;
    const uint64_t units = (j->high - j->left) / j->piece * j->across;
    j->buffer_bytes = gp_round_up(j->piece > 1 ? j->piece * row : gp_least(j->run, budget), 64);
    j->marks = j->apart == j->run ? gp_least(units, (share - j->buffer_bytes) * 8) : units;
    j->bytes = j->buffer_bytes + gp_round_up(gp_divide_up(j->marks, 8), 64);
}

gp_status gp_rearrange_rectangles(gp_context *context, unsigned parts, const gp_move *move, unsigned cols) {
    const gp_move_axis *col = &move->axis[cols], *row = col + 1;
    job j = {.move = move, .cols = cols, .run = move->run, .apart = (size_t)row->out, .tall = row->n >= col->n};
    j.high = j.tall ? row->n : col->n;
    j.across = j.tall ? col->n : row->n;
    choose_piece(&j);
    parts = (unsigned)gp_least(parts, move->count / (col->n * row->n));
    j.memory = malloc(parts * j.bytes);
    if (j.memory == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes for a transpose in place", parts * j.bytes);
    gp_threads_run(context, parts, rectangles_part, &j);
    free(j.memory);
    return GP_OK;
}
