/* SPDX-License-Identifier: Apache-2.0 */
/* Launches reduce_short, which has no forms of columns. */
#include "forms.cuh"
#include "short.cuh"

#define FORM(...) (const void *)reduce_short<__VA_ARGS__>
#define NONE(...) NULL

static const void *const kernels[GP_MANY_FORMS] = {GP_MANY_KERNELS(FORM, NONE)};

GP_DECLARE_LAUNCHER(gp_launch_reduce_short) {
    return launch_form<gp_short_cut>(context, plan, problem, kernels);
}
