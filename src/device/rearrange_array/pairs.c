/* SPDX-License-Identifier: Apache-2.0 */
/* Moves in place part by part, by way of the workspace. */
#include "pairs.h"
#include "../../host/rearrange_array/pairs.h"
#include "../../host/rearrange_array/tiling.h"

#define ROWS 3 /* rearrange_tile, and behind it the other rows of the GPU */

gp_status gp_rearrange_pairs(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    unsigned char *const space = (unsigned char *)context->gpu->workspace + GP_CYCLE_SPACE_FIRST;
    gp_pairs_last last[GP_PAIRS_LAST] = {0};
    uint32_t at[GP_AXES] = {0};
    gp_pairs pairs;
    (void)gp_pairs_make(&pairs, problem->move, GP_PAIRS_ROOM);
    do
        GP_TRY(gp_pairs_exchange(context, &context->planned_on, (gp_rows){.row = plan->row, .count = ROWS}, problem,
                                 &pairs, at, space, last));
    while (gp_pairs_next(&pairs, problem->move, at));
    return GP_OK;
}
