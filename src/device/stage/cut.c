/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a problem into pieces. */
#include "cut.h"

/* Target of the smallest pieces: about 20 us on the bus, against some 10 us to start a copy and a kernel. */
#define TARGET_LEAST ((size_t)1 << 20)
#define PIECES_WANTED 8
#define SLOT_ALIGNMENT 256

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

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t at_least_one(size_t a) {
    return a > 0 ? a : 1;
}

static size_t align_up(size_t bytes) {
    return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

size_t gp_cut_target(uint64_t bytes, size_t most) {
    uint64_t share = bytes / PIECES_WANTED;
    if (share >= most)
        return most;
    return share > TARGET_LEAST ? (size_t)share : least(TARGET_LEAST, most);
}

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

static tile_rows rows_of_tiles(const gp_cut *cut) {
    const gp_problem *problem = cut->problem;
    const size_t elem_bytes = problem->elem_bytes;
    const size_t in_pitch = problem->in_pitch * elem_bytes, out_pitch = problem->out_pitch * elem_bytes;
    const size_t row = at_least_one(TILE_ROW / elem_bytes);
    if (!cut->staged.pinned || problem->in_place)
        return (tile_rows){row, row};
    if (in_pitch <= NEAR_PITCH && out_pitch <= NEAR_PITCH)
        return (tile_rows){at_least_one(row / 2), at_least_one(row / 2)};
    const bool longer = out_pitch % FAR_PITCH == 0 && 2 * row * row * elem_bytes <= LONGER_MOST;
    return (tile_rows){row, longer ? 2 * row : row};
}

/*
 * Tiles of so many columns, or as near as the matrix allows: a panel of whole input rows would be a stripe of short
 * output rows, and short rows are slow to copy on the processor and over the bus alike.
 */
static void cut_tiles(gp_cut *cut, size_t elements, size_t cols, tile_rows rows) {
    cut->piece_cols = least(cut->cols, cols);
    cut->piece_rows = least(cut->rows, at_least_one(elements / cut->piece_cols));
    cut->piece_cols = least(cut->cols, at_least_one(elements / cut->piece_rows));
    cut->piece_rows = shorten(cut->piece_rows, cut->rows, rows.out);
    cut->piece_cols = shorten(cut->piece_cols, cut->cols, rows.in);
}

/* In place, where an off-diagonal piece is two tiles, they are smaller unless the matrix has many. */
static size_t tile_bytes(const gp_problem *problem, size_t target, tile_rows rows) {
    const size_t wide = rows.in * rows.out * problem->elem_bytes;
    const size_t share = (size_t)(problem->bytes_read / TILES_WANTED);
    const size_t most = problem->in_place ? TILE_MOST / 2 : TILE_MOST;
    const size_t enlarged = least(least(wide, most), share);
    const size_t asked = problem->in_place ? least(target, share) : target;
    return asked > enlarged ? asked : enlarged;
}

static void cut_transpose(gp_cut *cut, size_t target) {
    const gp_problem *problem = cut->problem;
    const size_t elem_bytes = problem->elem_bytes;
    const tile_rows rows = rows_of_tiles(cut);
    const size_t wanted = tile_bytes(problem, target, rows), elements = at_least_one(wanted / elem_bytes);
    if (problem->in_place) {
        cut->piece_rows = shorten(least(cut->rows, at_least_one(square_root(elements))), cut->rows, rows.out);
        cut->piece_cols = cut->piece_rows;
    } else if (wanted > target && !cut->staged.pinned) {
        cut_tiles(cut, target / elem_bytes, rows.in, rows);
    } else {
        cut_tiles(cut, elements, elements == rows.in * rows.out ? rows.in : at_least_one(square_root(elements)),
                  rows);
    }
    const unsigned arrays = problem->in_place && cut->piece_rows < cut->rows ? 2 : 1;
    const size_t bytes = align_up(cut->piece_rows * cut->piece_cols * elem_bytes);
    cut->in_bytes = cut->staged.in ? bytes : 0;
    cut->out_bytes = cut->staged.out[0] ? bytes : 0;
    cut->slot_bytes = arrays * (cut->in_bytes + cut->out_bytes);
}

static void cut_window(gp_cut *cut, size_t target) {
    const gp_problem *problem = cut->problem;
    /* The two outputs share a pitch: it stays the caller's if one of them is used in place. */
    const bool in_place_out = (problem->sum && !cut->staged.out[0]) || (problem->square && !cut->staged.out[1]);
    cut->out_pitch = in_place_out ? problem->out_pitch : problem->cols;
    const bool stage_out = cut->staged.out[0] || cut->staged.out[1];
    const size_t row_bytes = (stage_out ? cut->out_pitch : cut->cols) * problem->elem_bytes;
    cut->piece_cols = cut->cols;
    cut->piece_rows = least(cut->rows, at_least_one(target / row_bytes));
    cut->in_bytes = cut->staged.in ? align_up(cut->piece_rows * cut->cols * problem->elem_bytes) : 0;
    cut->out_bytes = align_up(((cut->piece_rows - 1) * cut->out_pitch + cut->cols) * sizeof(float));
    cut->slot_bytes = cut->in_bytes + ((size_t)cut->staged.out[0] + cut->staged.out[1]) * cut->out_bytes;
}

void gp_cut_make(gp_cut *cut, const gp_problem *problem, gp_staged staged, size_t target) {
    const bool reduce = problem->operation == GP_OPERATION_REDUCE;
    *cut = (gp_cut){
        .problem = problem,
        .staged = staged,
        .rows = reduce ? 1 : problem->rows,
        .cols = reduce ? problem->n : problem->cols,
        .out_pitch = problem->out_pitch,
    };
    if (reduce) {
        cut->piece_rows = 1;
        cut->piece_cols = least(cut->cols, at_least_one(target / problem->elem_bytes));
        cut->in_bytes = cut->slot_bytes = align_up(cut->piece_cols * problem->elem_bytes);
    } else if (problem->operation == GP_OPERATION_WINDOW) {
        cut_window(cut, target);
    } else {
        cut_transpose(cut, target);
    }
}

bool gp_cut_next(const gp_cut *cut, gp_piece *piece) {
    const bool mirrored = cut->problem->in_place;
    if (piece->rows > 0 && cut->cols - piece->col > cut->piece_cols) {
        piece->col += cut->piece_cols;
    } else if (piece->rows > 0) {
        if (cut->rows - piece->row <= cut->piece_rows)
            return false;
        piece->row += cut->piece_rows;
        piece->col = mirrored ? piece->row : 0;
    } else if (cut->rows == 0 || cut->cols == 0) {
        return false;
    }
    piece->rows = least(cut->piece_rows, cut->rows - piece->row);
    piece->cols = least(cut->piece_cols, cut->cols - piece->col);
    piece->pair = mirrored && piece->row != piece->col;
    return true;
}

/* Element (row, col) of a pitched array. The box's host side is read or written; the problem's input only read. */
static unsigned char *element(const void *array, size_t pitch, size_t elem_bytes, size_t row, size_t col) {
    return (unsigned char *)(uintptr_t)array + (row * pitch + col) * elem_bytes;
}

static void reduce_part(const gp_cut *cut, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    gp_problem *problem = &part->problem;
    const size_t bytes = piece->cols * problem->elem_bytes;
    part->in =
        (gp_box){element(cut->problem->in, 0, problem->elem_bytes, 0, piece->col), bytes, slot, bytes, bytes, 1};
    problem->n = piece->cols;
    problem->in = slot;
}

/* The columns that the operation computes; the others are not the caller's to lose. */
static gp_box output_box(const gp_cut *cut, const gp_piece *piece, float *host, float *device) {
    const gp_problem *whole = cut->problem;
    return (gp_box){
        .host = element(host, whole->out_pitch, sizeof(float), piece->row, whole->col_first),
        .host_pitch = whole->out_pitch * sizeof(float),
        .device = element(device, 0, sizeof(float), 0, whole->col_first),
        .device_pitch = cut->out_pitch * sizeof(float),
        .width = (whole->col_end - whole->col_first) * sizeof(float),
        .height = piece->rows,
    };
}

static void window_part(const gp_cut *cut, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = cut->problem;
    gp_problem *problem = &part->problem;
    unsigned char *in = element(whole->in, whole->in_pitch, whole->elem_bytes, piece->row, 0);
    problem->rows = piece->rows;
    problem->in = in;
    if (cut->staged.in) {
        const size_t bytes = piece->cols * whole->elem_bytes;
        part->in = (gp_box){in, whole->in_pitch * whole->elem_bytes, slot, bytes, bytes, piece->rows};
        problem->in = slot;
        problem->in_pitch = piece->cols;
        slot += cut->in_bytes;
    }
    float *const outputs[2] = {whole->sum, whole->square};
    float **const targets[2] = {&problem->sum, &problem->square};
    for (int i = 0; i < 2; i++) {
        if (!outputs[i])
            continue;
        *targets[i] = outputs[i] + piece->row * whole->out_pitch;
        if (!cut->staged.out[i])
            continue;
        *targets[i] = (float *)(void *)slot;
        part->out[i] = output_box(cut, piece, outputs[i], *targets[i]);
        slot += cut->out_bytes;
    }
    problem->out_pitch = cut->out_pitch;
}

/* A rectangle of the input as piece says; its place in the output is the mirror image. */
static void transpose_part(const gp_cut *cut, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = cut->problem;
    gp_problem *problem = &part->problem;
    const size_t elem = whole->elem_bytes;
    unsigned char *in = element(whole->in, whole->in_pitch, elem, piece->row, piece->col);
    unsigned char *out = element(whole->out, whole->out_pitch, elem, piece->col, piece->row);
    problem->in_place = false;
    problem->rows = piece->rows;
    problem->cols = piece->cols;
    problem->in = in;
    problem->out = out;
    if (cut->staged.in) {
        const size_t bytes = piece->cols * elem;
        part->in = (gp_box){in, whole->in_pitch * elem, slot, bytes, bytes, piece->rows};
        problem->in = slot;
        problem->in_pitch = piece->cols;
    }
    if (cut->staged.out[0]) {
        const size_t bytes = piece->rows * elem;
        part->out[0] = (gp_box){out, whole->out_pitch * elem, slot + cut->in_bytes, bytes, bytes, piece->cols};
        problem->out = slot + cut->in_bytes;
        problem->out_pitch = piece->rows;
    }
}

unsigned gp_cut_parts(const gp_cut *cut, const gp_piece *piece, unsigned char *slot, gp_part part[2]) {
    const unsigned count = piece->pair ? 2 : 1;
    const gp_piece mirror = {piece->col, piece->row, piece->cols, piece->rows, true};
    for (unsigned i = 0; i < count; i++) {
        part[i] = (gp_part){.problem = *cut->problem};
        if (cut->problem->operation == GP_OPERATION_REDUCE)
            reduce_part(cut, piece, slot, &part[i]);
        else if (cut->problem->operation == GP_OPERATION_WINDOW)
            window_part(cut, piece, slot, &part[i]);
        else
            transpose_part(cut, i == 0 ? piece : &mirror, slot + i * (cut->in_bytes + cut->out_bytes), &part[i]);
        gp_problem_derive(&part[i].problem);
    }
    return count;
}

void gp_box_flatten(gp_box *box) {
    if (box->height <= 1 || box->host_pitch != box->width || box->device_pitch != box->width)
        return;
    box->width *= box->height;
    box->height = 1;
}

bool gp_box_next(const gp_box *box, size_t limit, size_t *row, size_t *col, gp_box *part) {
    if (*row >= box->height || box->width == 0)
        return false;
    *part = *box;
    part->host += *row * box->host_pitch + *col;
    part->device += *row * box->device_pitch + *col;
    if (box->width <= limit) {
        part->height = least(limit / box->width, box->height - *row);
        *row += part->height;
        return true;
    }
    part->height = 1;
    part->width = least(limit, box->width - *col);
    *col += part->width;
    if (*col == box->width) {
        *col = 0;
        *row += 1;
    }
    return true;
}
