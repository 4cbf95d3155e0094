/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_window() to boxes: checks and canonical views. Pure. */
#pragma once

#include "../reduce_array/array.h"
#include "box.h"

/* Checks all arguments; fails and names argument and axis. */
gp_status gp_window_check(const gp_reduce_call *call);

/* The next box of a checked call. False: no more. */
bool gp_window_box_next(const gp_reduce_call *call, gp_served *served, gp_window_box *box);
