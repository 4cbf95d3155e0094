/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a move is cut into tiles for rearrange_tile, and what its kernel is told. Plain C; goes to the kernel by value.
 *
 * A tile is a box of the array's indices. Its elements are loaded in the order of the input's memory, wait in shared
 * memory, and are stored in the order of the output's: two walks. A box that would leave the array is moved back into
 * it, so that every tile is whole; what two tiles share is written twice, with the same values. Tiles of raw rows
 * that share more, for whole sectors, write each piece once but for what the last of them repeats.
 */
#pragma once

#include "../kernel.h"
#include "move.h"

#define GP_MOVE_AXES (GP_AXES + 1)        /* those of a move, and the pieces of an element */
#define GP_MOVE_DIGITS (GP_MOVE_AXES + 3) /* of which two may be parted for the sake of banks */
#define GP_MOVE_THREADS 256u              /* a block */
#define GP_MOVE_DIRECT_PIECES 4u          /* of a thread in a tile */
/* A thread, in shared memory. 16000 x 33 x 33 of 4 bytes on an H200, one plane a tile: 44.6 us; two, by 12: 37.9. */
#define GP_MOVE_GATHERED(bytes, in, out) \
    ((bytes) == 16 ? 4u : (bytes) == 4 ? 12u : 8u * ((in) < (out) ? (in) : (out)))
#define GP_MOVE_RAW_WORD 16u
#define GP_MOVE_RAW_THREADS 384u
#define GP_MOVE_RAW_BYTES 61440u         /* of a tile, at most */
#define GP_MOVE_RAW_SMEM ((size_t)74000) /* of a block, at most: three have room on an H200's SM */
#define GP_MOVE_BLOCK(way) ((way) >= GP_MOVE_RAW ? GP_MOVE_RAW_THREADS : GP_MOVE_THREADS)
#define GP_MOVE_SQUARED(bytes, in) ((bytes) == 4 ? 16u : 8u * (in)) /* a thread */

/* What a tile is made of; a plan's tiling keeps it. */
typedef struct gp_move_tile {
    uint32_t rows, cols;           /* pieces that lie one behind the other in the output: cols */
    uint32_t extent[GP_MOVE_AXES]; /* pieces of an element; then the move's axes from the last to the first */
    uint32_t spread;               /* pieces left free in shared memory; raw: those of the next tile that a row of the
                                      output may need to end with a whole sector */
} gp_move_tile;

/* How a tile is moved. */
typedef enum gp_move_way {
    GP_MOVE_DIRECT,  /* elements are long: without shared memory */
    GP_MOVE_GATHER,  /* words are put together from pieces */
    GP_MOVE_SQUARES, /* a thread turns a square of out x out pieces, words on both sides */
    GP_MOVE_TRIPLES, /* three channels beside each other on one side: words of one side from three of the other */
    GP_MOVE_RAW,     /* rows of any alignment: they lie in shared memory as far off a word's start as in the input */
    GP_MOVE_RUNS     /* raw rows of elements so long that words of the output are mostly of one */
} gp_move_way;

/* Bytes of a piece, pieces loaded and stored at once. */
typedef struct gp_move_form {
    uint32_t piece, in, out;
    gp_move_way way;
} gp_move_form;

/* A digit of a unit's number within a tile: how many there are, and where a step leads. */
typedef struct gp_move_digit {
    uint32_t n, magic;      /* q / n == q * magic >> 32 for q < 2^16 */
    int32_t global, shared; /* bytes, pieces */
} gp_move_digit;

typedef struct gp_move_walk {
    uint32_t units, digits; /* pieces; squares; words of triples */
    int32_t global, shared; /* place of the first */
    gp_move_digit digit[GP_MOVE_DIGITS];
} gp_move_walk;

/* An axis along which there are several tiles. */
typedef struct gp_move_step {
    uint64_t magic; /* q / tiles == the upper half of q * magic, for q < 2^32 */
    uint64_t last;  /* where the last tile begins */
    int64_t in, out;
    uint32_t tiles, extent;
} gp_move_step;

/* Raw rows of a tile. */
typedef struct gp_move_rows {
    uint32_t units;        /* words of all rows */
    uint32_t length;       /* of a row: bytes of the input, pieces of the output */
    uint32_t words, magic; /* of a row, if it begins just before a word's end; as a digit's */
} gp_move_rows;

typedef struct gp_move_cut {
    const unsigned char *in; /* of the first tile: the lowest address */
    unsigned char *out;
    uint32_t tiles, steps;
    uint32_t tile_bytes;              /* in shared memory */
    int32_t shared_row;               /* squares, triples: bytes from a word to the next */
    int64_t out_row;                  /* squares: bytes from a word of the output to the next */
    uint32_t words;                   /* triples: that show the same channel, or the same third of three words */
    uint16_t first[3], third[3];      /* which bytes of the first two words, and of these and the third */
    const unsigned char *begin, *end; /* raw: of all that may be read */
    uint32_t below, reach;            /* raw: bytes from where a tile begins in the input to its ends, */
    int32_t beyond;                   /* and from there to the end of what it needs of the next; below 0: backwards */
    int64_t lead;                     /* raw: from the first element to the lowest of its row */
    uint32_t turn, turn_up;           /* raw: which of a word's pieces is taken first */
    uint32_t picks, smem;             /* raw: bytes of the table of pieces; of a block */
    uint32_t sharing;                 /* raw: the step that leads to the next tile of those that share rows */
    uint32_t own, own_words;          /* raw: pieces of a row up to the next tile, and words of it that are stored */
    uint32_t lanes;                   /* raw: threads beside each other that store words of one row */
    gp_move_rows in_rows, out_rows;
    gp_move_step step[GP_MOVE_AXES];
    gp_move_walk load, store; /* raw: from row to row */
    gp_move_walk tail;        /* raw: rows of the next tile, behind those of `load` */
    gp_move_walk pick;        /* raw: from piece to piece of a row of the output */
} gp_move_cut;

/* Most pieces of a tile. */
static inline uint32_t gp_move_room(const gp_move_form *form) {
    if (form->way == GP_MOVE_DIRECT)
        return GP_MOVE_THREADS * GP_MOVE_DIRECT_PIECES;
    if (form->way >= GP_MOVE_RAW)
        return GP_MOVE_RAW_BYTES / form->piece;
    if (form->way == GP_MOVE_GATHER)
        return GP_MOVE_THREADS * GP_MOVE_GATHERED(form->piece, form->in, form->out);
    return GP_MOVE_THREADS * GP_MOVE_SQUARED(form->piece, form->in);
}

/* Pieces of a raw row of the output, at most: its table stays small, and words of 1 or 2 pieces have a thread each.
 */
static inline uint32_t gp_move_raw_row_most(const gp_move_form *form) {
    return form->way == GP_MOVE_RUNS ? GP_MOVE_RAW_BYTES
           : form->out > 2           ? 1024
                                     : (GP_MOVE_RAW_THREADS - 1) * form->out;
}

/* Bytes, 1 to 16, that divide elements, addresses and strides. */
uint32_t gp_move_piece(const gp_move *move, unsigned in_align, unsigned out_align);

/* The largest power of two up to GP_ALIGN_MAX that divides the lowest address of a view and the strides that are not
 * those of elements one behind the other. */
void gp_move_alignments(const gp_move *move, unsigned *in, unsigned *out);

typedef struct gp_move_fit {
    gp_move_tile tile;
    uint64_t tiles;
    size_t smem;  /* of a block */
    bool sectors; /* are stored whole, or words that need not be */
} gp_move_fit;

/* False: no tile of this form does it. align: of both views; blocks: that run at once; smem: of a block, at most. */
bool gp_move_fit_form(const gp_move *move, const gp_move_form *form, unsigned in_align, unsigned out_align,
                      uint64_t blocks, size_t smem, gp_move_fit *fit);

/* Spells a tile out for the kernel. */
GP_C_LINKAGE void gp_move_cut_make(const gp_move *move, const gp_move_form *form, const gp_move_tile *tile,
                                   gp_move_cut *cut);
