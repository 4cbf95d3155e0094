/* SPDX-License-Identifier: Apache-2.0 */
/* What calls ask of a context, what users are told of it and choose for it. */
#include "context.h"
#include "copy_out.h"
#include <string.h>

#define BLOCK_THREADS_MAX 1024u

gp_status gp_context_check(const gp_context *context) {
    GP_TRY(gp_check_not_null("context", context));
    if (context->gpu != NULL && *context->born_here == 0)
        return gp_fail(GP_ERR_FORKED, "context: a GPU context of the parent process cannot be used after fork()");
    return GP_OK;
}

/* Of a problem whose shape is known nothing is kept: plan and explain look at no data. */
gp_status gp_context_replan(gp_context *context, const gp_problem *problem) {
    if (context->has_plan && gp_problem_same_shape(&context->problem, problem))
        return GP_OK;
    context->problem = *problem;
    if (problem->whole != NULL && problem->whole != &context->whole)
        context->problem.whole = memcpy(&context->whole, problem->whole, problem->primitive->whole_bytes);
    context->has_problem = true;
    const gp_pin pin = context->pins[gp_primitive_index(problem->primitive)];
    context->has_plan =
        gp_plan_make(problem, &context->planned_on, gp_primitive_rows(problem->primitive), pin, &context->plan, NULL);
    if (context->has_plan)
        return GP_OK;
    if (pin.row != NULL)
        return gp_fail(GP_ERR_NO_KERNEL, "the pinned kernel %s cannot do this here; gp_context_explain() tells why",
                       pin.row->name);
    return gp_fail(GP_ERR_NO_KERNEL, "no kernel can do this here; gp_context_explain() tells why");
}

gp_status gp_context_device(const gp_context *context, gp_device_info *info) {
    GP_TRY(gp_check_not_null("context", context));
    GP_TRY(gp_check_struct("info", info, sizeof *info));
    gp_copy_out(info, &context->planned_on, sizeof context->planned_on);
    return GP_OK;
}

gp_status gp_context_pin_kernel(gp_context *context, const char *name, unsigned threads) {
    GP_TRY(gp_check_not_null("context", context));
    if (name == NULL) {
        memset(context->pins, 0, sizeof context->pins);
        context->has_plan = false;
        return GP_OK;
    }
    const gp_primitive *of;
    const gp_kernel *row = gp_catalogue_find(name, &of);
    if (row == NULL)
        return gp_fail(GP_ERR_ARGUMENT, "name: there is no kernel \"%.64s\"", name);
    if (row->space == GP_SPACE_PROCESSOR)
        threads = 0;
    if (threads > BLOCK_THREADS_MAX)
        return gp_fail(GP_ERR_ARGUMENT, "threads: %u, but a block has at most %u", threads, BLOCK_THREADS_MAX);
    context->pins[gp_primitive_index(of)] = (gp_pin){row, threads};
    context->has_plan = false;
    return GP_OK;
}

gp_status gp_context_limit(gp_context *context, size_t smem_per_block, unsigned regs_per_block) {
    GP_TRY(gp_check_not_null("context", context));
    const gp_device *device = &context->device;
    if (!gp_device_is_gpu(device))
        return gp_fail(GP_ERR_ARGUMENT, "context: a processor has no shared memory or registers to limit");
    if (smem_per_block > device->smem_per_block_optin)
        return gp_fail(GP_ERR_ARGUMENT, "smem_per_block: %zu is more than the device's %zu", smem_per_block,
                       device->smem_per_block_optin);
    if (regs_per_block > device->regs_per_block)
        return gp_fail(GP_ERR_ARGUMENT, "regs_per_block: %u is more than the device's %u", regs_per_block,
                       device->regs_per_block);
    gp_device limited = *device;
    if (smem_per_block > 0) {
        limited.smem_per_block_optin = smem_per_block;
        limited.smem_per_block = gp_least(limited.smem_per_block, smem_per_block);
    }
    if (regs_per_block > 0)
        limited.regs_per_block = regs_per_block;
    context->planned_on = limited;
    context->has_plan = false;
    return GP_OK;
}
