/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs in place part by part, by way of a buffer: the steps of a part are moves that the rows behind this one do. */
#include "cpu.h"
#include "pairs.h"
#include <stdlib.h>

#define ROOM ((size_t)128 << 10) /* of a part: it, its place and the buffer stay in a core's own cache */

/*
 * Bytes of elements that are faster one by one, and of moves. An EPYC, us one by one and so: rows of 63 bytes in
 * reverse, 12 MB, 895, 367, of 200 bytes 189, 189; 40 rows of 2 elements of 16 bytes in reverse 1.4, 1.6, 50 of 1
 * byte 6.6, 2.0.
 */
#define LONG 128u
#define LEAST 1536u

#define ROWS_BEHIND 5u

bool gp_rearrange_pairs_supports(const gp_problem *problem) {
    gp_pairs pairs;
    return problem->in_place && problem->move->run < LONG && problem->bytes_written >= LEAST &&
           gp_pairs_make(&pairs, problem->move, ROOM);
}

/* Of one thread; its stack has no room for it. */
typedef struct {
    gp_context context;
    gp_pairs_last last[GP_PAIRS_LAST];
    unsigned char bytes[ROOM];
} space;

typedef struct {
    const gp_plan *plan;
    const gp_problem *problem;
    const gp_device *device;
    gp_pairs pairs;
    space *spaces;
} job;

/* Parts are dealt in turns. No row of the processor fails. */
static void pairs_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    const gp_rows rows = {.row = j->plan->row + 1, .count = ROWS_BEHIND};
    space *own = &j->spaces[part];
    uint32_t at[GP_AXES] = {0};
    uint64_t number = 0;
    memset(own, 0, offsetof(space, bytes));
    own->context.device = *j->device;
    own->context.device.cpu_threads = 1;
    do
        if (number++ % parts == part)
            (void)gp_pairs_exchange(&own->context, &own->context.device, rows, j->problem, &j->pairs, at, own->bytes,
                                    own->last);
    while (gp_pairs_next(&j->pairs, j->problem->move, at));
    free(own->context.lines);
}

/* Of one thread. */
#define BYTES_A_NS 4

gp_status gp_launch_rearrange_array_pairs(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    job j = {.plan = plan, .problem = problem, .device = &context->device};
    const unsigned parts = gp_threads_worth(context, plan->tiling.blocks, problem->bytes_written / BYTES_A_NS);
    j.spaces = malloc(parts * sizeof *j.spaces);
    if (j.spaces == NULL)
        return gp_launch_rearrange_array_cpu(context, plan, problem);
    (void)gp_pairs_make(&j.pairs, problem->move, ROOM);
    gp_threads_run(context, parts, pairs_part, &j);
    free(j.spaces);
    return GP_OK;
}
