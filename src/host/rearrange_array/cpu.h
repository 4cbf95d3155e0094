/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows that rearrange views share. */
#pragma once

#include "../cpu/rows.h"
#include "../primitive.h"
#include "../rearrange/cpu_job.h"
#include "array.h"
#include "walk.h"

/* Of matrices in place, with at most a hundredth of their bytes of other memory. */
gp_status gp_rearrange_rectangles(gp_context *context, unsigned parts, const gp_move *move, unsigned cols);

/* The output's last axis has no gaps between elements, which are short. */
bool gp_rearrange_runs_supports(const gp_problem *problem);

/* Matrices of 256 KiB and more, or of 64 KiB with a side of a few elements, and squares in place, each by the
 * transposes' own kernels. */
bool gp_rearrange_planes_supports(const gp_problem *problem);

/*
 * Elements of `bytes` from number `first` on, `rows` of them in the order of the walk `along`, one behind the other
 * from `to` on; `in` is where the walk begins. past_caches: the input is large, and lines of it are prefetched.
 */
void gp_rearrange_elements(const gp_move *along, const unsigned char *in, uint64_t first, size_t rows, size_t bytes,
                           bool past_caches, char *to);

/* Large moves whose runs of the output are long, or fill memory lines. False: nothing was done, as it is no such move
 * or memory is short. is_short: the runs are so short that the caller puts several together. */
bool gp_rearrange_in_strips(gp_context *context, unsigned parts, const gp_problem *problem, bool is_short,
                            gp_transpose_put_strip *put);

/* Elements that change places in pairs, too short to do so one by one. */
bool gp_rearrange_pairs_supports(const gp_problem *problem);

GP_DECLARE_LAUNCHER(gp_launch_rearrange_array_planes);
GP_DECLARE_LAUNCHER(gp_launch_rearrange_array_pairs);
GP_DECLARE_LAUNCHER(gp_launch_rearrange_array_runs);
GP_DECLARE_LAUNCHER(gp_launch_rearrange_array_cpu);
