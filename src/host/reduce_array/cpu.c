/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views on the processor: the reference row. */
#include "cpu.h"

void gp_pass_run_any(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n) {
    const gp_pass_axis none = {0}, *axis = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &none;
    for (uint64_t i = 0; i < n; i++, in += axis->in, place += axis->place) {
        gp_accumulator_take(a, pass, in, with, place);
        if (with != NULL)
            with += axis->with;
    }
}

gp_status gp_launch_reduce_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, (gp_pass_loops){.run = gp_pass_run_any});
}
