/* SPDX-License-Identifier: Apache-2.0 */
/* A context: a device's facts, what the user pinned and limited, the last plan, and what calls need to run. */
#pragma once

#include "device.h"
#include "plan.h"
#include "primitive.h"
#include "status.h"

typedef struct gp_gpu gp_gpu;         /* src/device: stream, workspace, staging */
typedef struct gp_threads gp_threads; /* src/host/cpu: the threads of processor rows */

/* What a bench does right before and right after a study row's kernel, to leave the row's scratch copy uncounted. */
typedef void (*gp_bracket)(void *user, bool after);

struct gp_context {
    gp_backend backend;             /* CPU, CUDA, MODEL, or AUTO: a GPU is there and the data decides per call */
    gp_device device;               /* as it is, defaults filled in */
    gp_device planned_on;           /* device less gp_context_limit() */
    gp_pin pins[GP_PRIMITIVES_MAX]; /* by gp_primitive_index() */
    bool has_problem;               /* a call has reached planning: `problem` is the last one's */
    bool has_plan;                  /* `plan` is the planner's answer to `problem`, pins and limits */
    gp_problem problem;
    gp_whole whole; /* what problem.whole points to, if it does */
    gp_plan plan;   /* the last call's; row NULL: none fitted */
    gp_threads *threads;
    void *lines; /* what processor transposes work in, kept from call to call */
    size_t lines_bytes;
    gp_gpu *gpu;        /* NULL: processor or model */
    gp_bracket bracket; /* NULL: nobody measures */
    void *bracket_user;
    const unsigned char *born_here; /* a byte that reads 1 in the process that made the context, 0 in its children */
};

/* The context is no NULL and not a GPU context of a parent process. */
gp_status gp_context_check(const gp_context *context);

/* Plans for the context's device and remembers the plan; GP_ERR_NO_KERNEL in words if no row fits. */
gp_status gp_context_replan(gp_context *context, const gp_problem *problem);

/* Called by the launchers of study rows that do more than run their kernel. */
static inline void gp_context_bracket(const gp_context *context, bool after) {
    if (context->bracket != NULL)
        context->bracket(context->bracket_user, after);
}
