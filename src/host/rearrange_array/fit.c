/* SPDX-License-Identifier: Apache-2.0 */
/* Which moves the GPU rows do, and how they cut them. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "array.h"
#include "pairs.h"
#include "tiling.h"

/* Bytes of an element, at addresses that are multiples of 16, from which on it is copied straight. */
#define LONG_RUN 1024u

/*
 * Bytes of an element at other addresses, from which on its words are shifted as they are stored. Runs of 687 bytes
 * on an H200: 0.51 of a copy put together from bytes, 0.70 shifted; of 566 bytes 0.80 from pairs, 0.70 shifted.
 */
#define RUNS_FROM 640u

#define FORM(way, piece, in, out, blocks) {{piece, in, out, GP_MOVE_##way}, blocks},
static const struct {
    gp_move_form form;
    unsigned blocks;
} forms[] = {GP_MOVE_FORMS(FORM)};
#define FORMS (sizeof forms / sizeof *forms)

gp_move_form gp_move_form_at(unsigned form) {
    return forms[form].form;
}

/*
 * Bytes of a tile that a thread has, from which on a block has one tile: memory is then read and written in the order
 * of tiles. With fewer the time in which a thread finds its places shows, and as many blocks as the device has room
 * for walk from tile to tile. 16 x 2048 x 2048 on an H100: of 2 bytes 100.4 and 91.2 us so, of 1 byte 46.7 and 54.1.
 */
#define BYTES_FOR_A_BLOCK 64u

static bool takes_blocks(const gp_move_form *form) {
    return form->way < GP_MOVE_RAW && gp_move_room(form) * form->piece >= BYTES_FOR_A_BLOCK * GP_MOVE_THREADS;
}

/* As many blocks as the device has room for. */
static uint64_t blocks_of(const gp_device *device, uint64_t tiles, unsigned threads, unsigned most, size_t smem) {
    const uint64_t held = gp_least(gp_occupancy_blocks(device, threads, 0, smem), most);
    return gp_least(tiles, device->multiprocessors * gp_at_least_one(held));
}

/* The second attempt is without raw rows, whose blocks need most registers and memory. */
static bool suits(const gp_move_form *form, const gp_move *move, uint32_t piece, unsigned attempt) {
    if (form->way == GP_MOVE_RUNS)
        return attempt == 0 && piece < 16 && move->run >= RUNS_FROM;
    return form->piece == piece && (form->way != GP_MOVE_DIRECT || move->run >= LONG_RUN) &&
           (form->way != GP_MOVE_RAW || attempt == 0);
}

/*
 * Raw rows whose beginnings lie multiples of a vector apart meet in few banks: elements of 3 bytes are faster in
 * words, though those end inside sectors. Batches on an H200, us raw and so: 8 x 2160 x 3840 197, 149; 64 x 520 x 512
 * 65, 41. Permutations of 2 bytes lost up to half their speed so, those of 5 and 6 up to a third.
 */
static bool stores_words(const gp_move_form *form, const gp_problem *problem) {
    return problem->move->run == 3 && form->out == 4 && problem->in_align >= GP_MOVE_RAW_WORD;
}

#define PAIRS_LEAST ((uint64_t)512 << 10) /* bytes of a move in place, part by part */

/*
 * Whether rearrange_tile takes a move in place. One H100, us so and else: 24 squares of 1024 x 1024 of 3 bytes 160,
 * 343 along cycles, of 4 bytes 165, 107; 4001 rows of 2999 of 1 byte in reverse 46, 87 pair by pair, of 8 bytes 145,
 * 107; 300 x 301 x 300 of 8 bytes, the first and the last axis, 376, 1513.
 */
static bool takes_pairs(const gp_pairs *pairs, const gp_move *move, uint32_t piece) {
    unsigned cols;
    bool swaps = false;
    for (unsigned i = 0; i < move->rank; i++)
        swaps = swaps || pairs->partner[i] != i;
    const uint64_t side = gp_move_is_rectangle(move, &cols) ? move->axis[cols].n : 0, square = gp_times(side, side);
    if (square >= GP_CYCLE_SQUARE)
        return move->run < 4 && square <= GP_PAIRS_ROOM / move->run;
    return move->count * move->run >= PAIRS_LEAST && (piece < 8 || (swaps && move->run <= 16));
}

/* In place: the tiling of the first part's first step, at addresses of which no more is known than of the whole's. */
static bool fit_pairs(const gp_problem *problem, uint32_t piece, const gp_device *device, unsigned attempt,
                      gp_tiling *tiling) {
    static const uint32_t first[GP_AXES] = {0};
    gp_pairs pairs;
    gp_move move;
    if (!gp_pairs_make(&pairs, problem->move, GP_PAIRS_ROOM) || !takes_pairs(&pairs, problem->move, piece))
        return false;
    gp_pairs_move(&pairs, problem->move, first, GP_PAIRS_TO_SPACE, NULL, &move);
    gp_problem part = *problem;
    part.move = &move;
    gp_move_alignments(&move, &part.in_align, &part.out_align);
    part.in_align = gp_to_u32(gp_least(part.in_align, problem->in_align));
    return gp_fit_rearrange_tile(&part, device, attempt, tiling);
}

bool gp_fit_rearrange_tile(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_move *move = problem->move;
    const uint32_t piece = gp_move_piece(move, problem->in_align, problem->out_align);
    gp_move_fit fit;
    if (attempt > 1)
        return false;
    if (move->in_place)
        return fit_pairs(problem, piece, device, attempt, tiling);
    for (unsigned i = 0; i < FORMS; i++) {
        const gp_move_form *form = &forms[i].form;
        const bool raw = form->way >= GP_MOVE_RAW;
        const uint64_t blocks = (uint64_t)device->multiprocessors * forms[i].blocks;
        if (!suits(form, move, piece, attempt) || !gp_move_fit_form(move, form, problem->in_align, problem->out_align,
                                                                    blocks, device->smem_per_block_optin, &fit))
            continue;
        const bool good = raw || form->way == GP_MOVE_DIRECT || form->way == GP_MOVE_TRIPLES || fit.sectors ||
                          stores_words(form, problem);
        if (!good && tiling->threads > 0)
            continue;
        tiling->form = i;
        tiling->regs = raw ? GP_REARRANGE_RAW_REGS : 0;
        tiling->threads = GP_MOVE_BLOCK(form->way);
        const bool one = takes_blocks(form);
        tiling->smem = one ? fit.smem / 2 : fit.smem;
        tiling->blocks = one ? fit.tiles : blocks_of(device, fit.tiles, tiling->threads, forms[i].blocks, fit.smem);
        GP_TILING_PUT(tiling, fit.tile);
        if (good)
            break;
    }
    return tiling->threads > 0;
}

/* In place only elements that change places in pairs. */
bool gp_fit_rearrange_any(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_move *move = problem->move;
    uint8_t partner[GP_AXES];
    const unsigned threads = gp_threads_of_attempt(GP_REARRANGE_ANY_THREADS, 32, attempt);
    if (threads == 0 || (move->in_place && !gp_move_is_swap(move, partner)))
        return false;
    const uint32_t piece = gp_move_piece(move, problem->in_align, problem->out_align);
    tiling->form = gp_log2(piece);
    tiling->threads = threads;
    tiling->blocks =
        gp_least(gp_divide_up(move->count * (move->run / piece), threads), (uint64_t)device->multiprocessors * 64);
    return true;
}
