/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of one device, as the planner sees them: the public struct itself, every default filled in. */
#pragma once

#include "gpuprim/explain.h"
#include <stdbool.h>

typedef gp_device_info gp_device; /* multiprocessors == 0: a processor alone */

/* True if the facts suffice to plan for a GPU. */
bool gp_device_is_gpu(const gp_device *device);

/* Whether an SM has as many lanes for FP64 as half of those for FP32; else it has one for 32 or 64. */
bool gp_device_has_doubles(const gp_device *device);

/* Replaces each 0 that stands for a default by the default, so that the planner needs no special case. */
void gp_device_fill_defaults(gp_device *device);

/* The processor this runs on: instruction sets that the library has rows for, threads the process may use. */
void gp_device_query_processor(gp_device *device, unsigned cpu_threads);
