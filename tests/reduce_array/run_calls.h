/* SPDX-License-Identifier: Apache-2.0 */
/* Runs random calls on all that there is, and compares. */
#pragma once

#include "../harness.h"
#include "random_call.h"

/* On the subjects whose turn it is, with each row pinned and with none. */
void run_call(harness *h, random_call *call, size_t turn);

/* Frees the memory that calls were moved to; before the harness is closed. */
void run_calls_end(void);
