/* SPDX-License-Identifier: Apache-2.0 */
/* One output of a pass on the processor: its elements, or those that are made of them, and its results. */
#include "work.h"

void gp_take_elements(const gp_pass_work *work, gp_accumulator *a, uint64_t output, uint64_t begin, uint64_t end) {
    const gp_pass *pass = work->asked;
    const unsigned first = pass->kept, axes = pass->reduced;
    const gp_pass_axis origin = gp_pass_way_to(pass, 0, first, output);
    const unsigned char *in = pass->in != NULL ? pass->in + origin.in : NULL; /* where it is there are no elements */
    const unsigned char *with = pass->with != NULL ? pass->with + origin.with : NULL;
    for (uint64_t n; work->loops.columns != NULL && gp_gathers(pass) && begin < end; begin += n) {
        n = gp_least(end - begin, GP_CARRY_LENGTH);
        gp_take_gathered(a, pass, work->loops.run, in, begin, begin + n, false);
        gp_accumulator_carry(a, pass);
    }
    if (axes == 0 || (axes == 1 && begin == 0 && end > 0 && end <= GP_CARRY_LENGTH)) {
        work->loops.run(a, pass, in, with, pass->place_first, axes == 0 ? 1 : end);
        return;
    }
    const uint64_t inner = pass->axis[first + axes - 1].n;
    for (uint64_t at = begin, taken = 0, n; at < end; at += n) {
        const gp_pass_axis way = gp_pass_way_to(pass, first, first + axes, at);
        n = gp_least(gp_least(end - at, axes == 1 ? inner - at : inner - at % inner), GP_CARRY_LENGTH);
        work->loops.run(a, pass, in + way.in, with != NULL ? with + way.with : NULL, pass->place_first + way.place,
                        n);
        taken += n;
        if (taken >= GP_CARRY_LENGTH) {
            gp_accumulator_carry(a, pass);
            taken = 0;
        }
    }
}

void gp_write_as(gp_pass_work *work, const gp_pass *pass, gp_accumulator *a, uint64_t output) {
    for (unsigned r = 0; r < pass->results; r++)
        if (!gp_accumulator_write(a, pass, r, gp_pass_address(pass, r, output)))
            atomic_store_explicit(&work->overflow, true, memory_order_relaxed);
}

bool gp_take_made(const gp_pass_work *work, gp_accumulator *a, uint64_t output, uint64_t begin, uint64_t end) {
    const gp_pass *pass = work->asked;
    const gp_pass_axis way = gp_pass_way_to(pass, 0, pass->kept, output);
    return gp_made_run(a, work->made, work->loops.make, work->loops.run, pass->in + way.in,
                       pass->with != NULL ? pass->with + way.with : NULL, begin, end);
}

const gp_pass *gp_pass_of_results(const gp_pass_work *work) {
    return work->pass->kind == GP_PASS_MOMENTS ? work->pass : work->asked;
}

void gp_take_output(gp_pass_work *work, gp_accumulator *a, uint64_t output) {
    const gp_pass *asked = work->asked;
    gp_accumulator_clear(a);
    if (work->made != NULL && gp_take_made(work, a, output, 0, asked->axis[asked->kept + asked->reduced - 1].n)) {
        gp_write_as(work, gp_pass_of_results(work), a, output);
        return;
    }
    gp_accumulator_clear(a);
    gp_take_elements(work, a, output, 0, asked->length);
    gp_write_as(work, asked, a, output);
}
