/* SPDX-License-Identifier: Apache-2.0 */
/* How a matrix in host memory is cut into tiles that are transposed one by one. Pure. */
#include "../split.h"

/* Sides of a tile are multiples of this many elements where possible: whole cache lines on both sides. */
#define TILE_UNIT 64

/*
 * Rows of large tiles are multiples of this many bytes. Copy engines move rows of a larger matrix at 0.94 of the
 * bus's rate if they are 8 KiB long, at 0.79 with 5.5 KiB, 0.66 with 2 or 4 KiB, 0.54 with 1 KiB (one H200, both ways
 * at once). Threads copy pageable rows, of whatever length: tiles need not be larger than asked for. 1 GiB of 1 byte,
 * tiles of 8192 x 8192, 4096 x 4096 and 2048 x 8192: 83 to 85, 88 to 91 and 92 to 93 GB/s.
 */
#define TILE_ROW ((size_t)8 << 10)

/*
 * Pinned rows up to this far apart may be half as long: 1 byte 31776 x 31776, tiles of 16 MiB so and of 64 MiB, 0.912
 * and 0.866 of the bus.
 */
#define NEAR_PITCH ((size_t)32 << 10)

/*
 * Pinned rows a multiple of this many bytes apart are slower, and output rows gain from being twice as long, unless
 * tiles grow beyond so many bytes: 4 bytes 16384 x 16384 0.882 and 0.834, 8 bytes 8192 x 16384 0.885 and 0.837; 2
 * bytes, tiles of 64 MiB, 0.878 either way. Longer input rows gain nothing, nor do output rows 48 KiB apart.
 */
#define FAR_PITCH ((size_t)64 << 10)
#define LONGER_MOST ((size_t)32 << 20)

#define TILE_MOST ((size_t)64 << 20) /* bytes of the tiles of a piece, and the least number of them in a matrix, */
#define TILES_WANTED 16              /* if they are made larger than asked for in order to have such rows */

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
    const size_t elem_bytes = problem->elem_bytes;
    const size_t in_pitch = problem->in_pitch * elem_bytes, out_pitch = problem->out_pitch * elem_bytes;
    const size_t row = gp_at_least_one(TILE_ROW / elem_bytes);
    if (!split->staged.pinned || problem->in_place)
        return (tile_rows){row, row};
    if (in_pitch <= NEAR_PITCH && out_pitch <= NEAR_PITCH)
        return (tile_rows){gp_at_least_one(row / 2), gp_at_least_one(row / 2)};
    const bool longer = out_pitch % FAR_PITCH == 0 && 2 * row * row * elem_bytes <= LONGER_MOST;
    return (tile_rows){row, longer ? 2 * row : row};
}

/*
 * Tiles of so many columns, or as near as the matrix allows: a panel of whole input rows would be a stripe of short
 * output rows, and short rows are slow to copy on the processor and over the bus alike.
 */
static void cut_tiles(gp_split *split, size_t elements, size_t cols, tile_rows rows) {
    split->piece_cols = gp_least(split->cols, cols);
    split->piece_rows = gp_least(split->rows, gp_at_least_one(elements / split->piece_cols));
    split->piece_cols = gp_least(split->cols, gp_at_least_one(elements / split->piece_rows));
    split->piece_rows = shorten(split->piece_rows, split->rows, rows.out);
    split->piece_cols = shorten(split->piece_cols, split->cols, rows.in);
}

/* In place, where an off-diagonal piece is two tiles, they are smaller unless the matrix has many. */
static size_t tile_bytes(const gp_problem *problem, size_t target, tile_rows rows) {
    const size_t wide = rows.in * rows.out * problem->elem_bytes;
    const size_t share = (size_t)(problem->bytes_read / TILES_WANTED);
    const size_t most = problem->in_place ? TILE_MOST / 2 : TILE_MOST;
    const size_t enlarged = gp_least(gp_least(wide, most), share);
    const size_t asked = problem->in_place ? gp_least(target, share) : target;
    return asked > enlarged ? asked : enlarged;
}

void gp_transpose_split(gp_split *split, size_t target) {
    const gp_problem *problem = split->problem;
    const size_t elem_bytes = problem->elem_bytes;
    const tile_rows rows = rows_of_tiles(split);
    const size_t wanted = tile_bytes(problem, target, rows), elements = gp_at_least_one(wanted / elem_bytes);
    if (problem->in_place) {
        split->piece_rows =
            shorten(gp_least(split->rows, gp_at_least_one(square_root(elements))), split->rows, rows.out);
        split->piece_cols = split->piece_rows;
    } else if (wanted > target && !split->staged.pinned) {
        cut_tiles(split, target / elem_bytes, rows.in, rows);
    } else {
        cut_tiles(split, elements, elements == rows.in * rows.out ? rows.in : gp_at_least_one(square_root(elements)),
                  rows);
    }
    const unsigned arrays = problem->in_place && split->piece_rows < split->rows ? 2 : 1;
    const size_t bytes = gp_slot_bytes(split->piece_rows * split->piece_cols * elem_bytes);
    split->in_bytes = split->staged.in ? bytes : 0;
    split->out_bytes = split->staged.out[0] ? bytes : 0;
    split->slot_bytes = arrays * (split->in_bytes + split->out_bytes);
}

/* A rectangle of the input as piece says; its place in the output is the mirror image. */
void gp_transpose_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = split->problem;
    gp_problem *problem = &part->problem;
    const size_t elem = whole->elem_bytes;
    unsigned char *in = gp_element(whole->in, whole->in_pitch, elem, piece->row, piece->col);
    unsigned char *out = gp_element(whole->out, whole->out_pitch, elem, piece->col, piece->row);
    problem->in_place = false;
    problem->rows = piece->rows;
    problem->cols = piece->cols;
    problem->in = in;
    problem->out = out;
    if (split->staged.in) {
        const size_t bytes = piece->cols * elem;
        part->in = (gp_box){in, whole->in_pitch * elem, slot, bytes, bytes, piece->rows};
        problem->in = slot;
        problem->in_pitch = piece->cols;
    }
    if (split->staged.out[0]) {
        const size_t bytes = piece->rows * elem;
        part->out[0] = (gp_box){out, whole->out_pitch * elem, slot + split->in_bytes, bytes, bytes, piece->cols};
        problem->out = slot + split->in_bytes;
        problem->out_pitch = piece->rows;
    }
}
