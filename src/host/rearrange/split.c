/* SPDX-License-Identifier: Apache-2.0 */
/* How a matrix in host memory is cut into tiles that are transposed one by one. Pure. */
#include "../split.h"

/* Sides of a tile are multiples of this many elements where possible: whole cache lines on both sides. */
#define TILE_UNIT 64

/*
 * Rows of large tiles are multiples of this many bytes, or of half as many: copy engines move pinned rows of a larger
 * matrix at 0.94 of the bus's rate if they are 8 KiB long, at 0.66 with 4 KiB (one H200, both ways at once).
 */
#define TILE_ROW ((size_t)8 << 10)

/* Pinned rows up to this far apart may be half as long: 1 byte 31776 x 31776 0.866 of the bus before, 0.912 after. */
#define NEAR_PITCH ((size_t)32 << 10)

/* Pinned output rows gain from being twice as long where tiles stay within 32 MiB, which those of less do not. */
#define LONG_ROWS_ELEMENT 4

#define TILE_MOST ((size_t)32 << 20) /* bytes of a tile in place, where two make a piece; and the least number */
#define TILES_WANTED 16              /* of tiles in a matrix, if they are larger than asked for to have such rows */

static size_t square_root(size_t value) {
    size_t root = 0;
    for (size_t bit = (size_t)1 << 31; bit > 0; bit /= 2)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

/* A tile that ends inside the matrix is shortened to whole units. */
static size_t shorten(size_t side, size_t whole, size_t row) {
    const size_t unit = side < row ? TILE_UNIT : row;
    return side < whole && side > unit ? side / unit * unit : side;
}

/* Elements in the rows that tiles are to have on both sides of the bus. */
typedef struct tile_rows {
    size_t in, out;
} tile_rows;

static tile_rows rows_of_tiles(const gp_split *split) {
    const gp_problem *problem = split->problem;
    const size_t row = gp_at_least_one(TILE_ROW / problem->elem_bytes), half = gp_at_least_one(row / 2);
    if (!split->staged.pinned || problem->in_place)
        return (tile_rows){row, row};
    if (gp_greatest(problem->in_pitch, problem->out_pitch) * problem->elem_bytes <= NEAR_PITCH)
        return (tile_rows){half, half};
    return (tile_rows){row, problem->elem_bytes < LONG_ROWS_ELEMENT ? row : 2 * row};
}

/* Threads copy pageable rows, of whatever length: their tiles need not be larger than asked for. */
static size_t tile_bytes(const gp_split *split, size_t target, tile_rows rows) {
    const gp_problem *problem = split->problem;
    const size_t wide = rows.in * rows.out * problem->elem_bytes;
    const size_t share = (size_t)(problem->bytes_read / TILES_WANTED);
    if (problem->in_place)
        return gp_least(share, gp_greatest(target, gp_least(wide, TILE_MOST)));
    return split->staged.pinned ? gp_greatest(target, gp_least(wide, share)) : target;
}

/*
 * Tiles are squares, of rows.in columns where that is near: a panel of longer rows of the input would be a stripe of
 * short rows of the output, and short rows are slow to copy on the processor and over the bus alike.
 */
void gp_transpose_split(gp_split *split, size_t target) {
    const gp_problem *problem = split->problem;
    const size_t elem_bytes = problem->elem_bytes;
    const tile_rows rows = rows_of_tiles(split);
    size_t elements = gp_at_least_one(tile_bytes(split, target, rows) / elem_bytes), side = square_root(elements);
    if (problem->in_place)
        elements = side * side;
    else if (side < 2 * rows.in && rows.in <= 2 * side)
        side = rows.in;
    split->piece_cols = gp_least(split->cols, side);
    split->piece_rows = gp_least(split->rows, gp_at_least_one(elements / split->piece_cols));
    split->piece_cols = gp_least(split->cols, gp_at_least_one(elements / split->piece_rows));
    split->piece_rows = shorten(split->piece_rows, split->rows, rows.out);
    split->piece_cols = shorten(split->piece_cols, split->cols, rows.in);
    const unsigned arrays = problem->in_place && split->piece_rows < split->rows ? 2 : 1;
    const size_t bytes = gp_slot_bytes(split->piece_rows * split->piece_cols * elem_bytes);
    split->in_bytes = split->staged.in ? bytes : 0;
    split->out_bytes = split->staged.out[0] ? bytes : 0;
    split->slot_bytes = arrays * (split->in_bytes + split->out_bytes);
}

/* The place of a rectangle of the input in the output is the mirror image. */
void gp_transpose_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = split->problem;
    gp_problem *problem = &part->problem;
    const size_t elem = whole->elem_bytes;
    unsigned char *out = gp_element(whole->out, whole->out_pitch, elem, piece->col, piece->row);
    problem->in_place = false;
    problem->rows = piece->rows;
    problem->cols = piece->cols;
    problem->out = out;
    if (split->staged.out[0]) {
        const size_t bytes = piece->rows * elem;
        part->out[0] = (gp_box){out, whole->out_pitch * elem, slot, bytes, bytes, piece->cols};
        problem->out = slot;
        problem->out_pitch = piece->rows;
    }
}
