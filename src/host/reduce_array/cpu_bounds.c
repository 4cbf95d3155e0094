/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of many floats to results with fewer digits than a double: each piece is added twice, rounding down and
 * rounding up, and the ends of the pieces exactly. Results that are the same whichever ends the sums have are the
 * exact sums' own, as each grows or falls with each sum.
 */
#include "../cpu/rounding.h"
#include "cpu.h"
#include <pthread.h>

/* Elements from which two additions each, and now and then in vain, are less than a proof for each batch. */
#define LENGTH_MIN 32768

/* Elements between two exact additions: few, as what rounding adds grows with the sums. */
#define PIECE_ELEMENTS 65536

typedef struct {
    const gp_pass *pass;
    gp_pass_bounds bounds;
    gp_shares shares;
    atomic_bool failed;
    pthread_mutex_t lock;
    gp_accumulator low, high;
} bounded_work;

#define WANT_BOTH (GP_WANT_SUM | GP_WANT_SQUARES)

/* Products of doubles are rounded. */
static bool can(const gp_pass *pass) {
    if (pass->length < LENGTH_MIN || pass->kind != GP_PASS_MOMENTS || !gp_type_is_float(pass->type) ||
        gp_pass_layout_of(pass) != GP_LAYOUT_ALL)
        return false;
    for (unsigned r = 0; r < pass->results; r++)
        if (pass->result[r].type == GP_F64)
            return false;
    return !pass->skip_nan && !pass->where && (pass->wants & ~WANT_BOTH) == 0 &&
           (pass->type != GP_F64 || pass->wants == GP_WANT_SUM);
}

static void take_part(void *argument, unsigned part, unsigned parts) {
    static const unsigned sums[] = {GP_SUM, GP_SQUARES};
    bounded_work *work = argument;
    const gp_pass *pass = work->pass;
    const unsigned count = gp_shares_count(&work->shares);
    GP_ROUNDS_TO_NEAREST;
    gp_accumulator low, high;
    gp_accumulator_clear(&low);
    gp_accumulator_clear(&high);
    (void)parts;
    for (unsigned share = gp_shares_first(&work->shares, part); share < count;
         share = gp_shares_take(&work->shares, part)) {
        const uint64_t end = gp_part_begin(pass->length, share + 1, count);
        for (uint64_t at = gp_part_begin(pass->length, share, count), n; at < end && !work->failed; at += n) {
            gp_bounded_sum sum[GP_SUMS];
            n = gp_least(end - at, PIECE_ELEMENTS);
            if (!work->bounds(pass, pass->in + at * gp_type_bytes(pass->type), n, sum)) {
                work->failed = true;
                break;
            }
            for (unsigned k = 0; k < 2; k++) {
                gp_accumulator_add_exact(&low, pass, sums[k], sum[sums[k]].low);
                gp_accumulator_add_exact(&high, pass, sums[k], sum[sums[k]].high);
            }
        }
    }
    pthread_mutex_lock(&work->lock);
    gp_accumulator_merge(&work->low, &low, pass);
    gp_accumulator_merge(&work->high, &high, pass);
    pthread_mutex_unlock(&work->lock);
}

static double sum_of(gp_accumulator *a, const gp_pass *pass) {
    gp_pass alone = *pass;
    double sum;
    alone.result[0] = (gp_pass_result){.op = GP_REDUCE_SUM, .type = GP_F64};
    (void)gp_accumulator_write(a, &alone, 0, (unsigned char *)&sum);
    return sum;
}

static void swap_squares(gp_accumulator *a, gp_accumulator *b) {
    gp_accumulator c = *a;
    a->exact[GP_SQUARES] = b->exact[GP_SQUARES], b->exact[GP_SQUARES] = c.exact[GP_SQUARES];
    a->in_limbs[GP_SQUARES] = b->in_limbs[GP_SQUARES], b->in_limbs[GP_SQUARES] = c.in_limbs[GP_SQUARES];
    memcpy(a->limb[GP_SQUARES], b->limb[GP_SQUARES], sizeof c.limb[GP_SQUARES]);
    memcpy(b->limb[GP_SQUARES], c.limb[GP_SQUARES], sizeof c.limb[GP_SQUARES]);
}

/* Writes the results if they are proven. A variance falls with the square of the sum, which must have one sign. */
static bool write_proven(bounded_work *work) {
    const gp_pass *pass = work->pass;
    unsigned char first[GP_PASS_RESULTS][8], other[8];
    bool same = pass->wants != WANT_BOTH || (sum_of(&work->low, pass) < 0) == (sum_of(&work->high, pass) < 0);
    for (unsigned corner = 0; corner < 4 && same; corner++) {
        for (unsigned r = 0; r < pass->results && same; r++) {
            (void)gp_accumulator_write(corner % 2 ? &work->high : &work->low, pass, r, corner > 0 ? other : first[r]);
            same = corner == 0 || memcmp(first[r], other, gp_type_bytes(pass->result[r].type)) == 0;
        }
        if (corner == 1)
            swap_squares(&work->low, &work->high);
    }
    for (unsigned r = 0; r < pass->results && same; r++)
        memcpy(pass->to[r], first[r], gp_type_bytes(pass->result[r].type));
    return same;
}

bool gp_bounds_take(gp_context *context, const gp_pass *pass, unsigned parts, gp_pass_bounds bounds) {
    if (bounds == NULL || !can(pass))
        return false;
    bounded_work work = {.pass = pass, .bounds = bounds};
    gp_accumulator_clear(&work.low);
    gp_accumulator_clear(&work.high);
    work.low.counted = work.high.counted = pass->length;
    gp_shares_begin(&work.shares, pass->length * gp_type_bytes(pass->type), parts);
    pthread_mutex_init(&work.lock, NULL);
    gp_threads_run(context, parts, take_part, &work);
    pthread_mutex_destroy(&work.lock);
    GP_ROUNDS_TO_NEAREST;
    return !work.failed && write_proven(&work);
}
