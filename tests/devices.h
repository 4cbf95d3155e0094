/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up GPUs with the numbers of real ones, for tests of occupancy and planner. */
#pragma once

#include "gpuprim/explain.h"

enum {
    DEVICE_D, /* the textbook device: no allocation units */
    DEVICE_FERMI,
    DEVICE_KEPLER,
    DEVICE_PASCAL,
    DEVICE_VOLTA,
    DEVICE_TURING,
    DEVICE_AMPERE,
    DEVICE_AMPERE_SMALL,
    DEVICE_ADA,
    DEVICE_HOPPER,
    DEVICE_BLACKWELL,
    DEVICE_BLACKWELL_SMALL,
    DEVICE_TINY,        /* 1 KiB of shared memory, 32 threads */
    DEVICE_NARROW_REGS, /* 512 registers a block */
    DEVICE_COUNT
};

extern const gp_device_info devices[DEVICE_COUNT];

/* A context of GP_BACKEND_MODEL for devices[index]; fails the test if there is none. */
gp_context *devices_open(const gp_device_info *model);
