/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests that need a GPU share. */
#pragma once

#include "check.h"
#include <cuda_runtime_api.h>

#define CUDA_OK(call) assert_int_equal((call), cudaSuccess)

/* True after saying so: no GPU, exit with 77. */
bool gpu_is_missing(void);

gp_context *gpu_open(gp_backend backend);

/* Device memory with these contents; fails the test if there is none. */
void *gpu_upload(const void *from, size_t bytes);

/* Device memory, or a test that says it was skipped. */
void *gpu_need(gp_context *context, size_t bytes);

/* Repeats the tile over bytes of device memory, by doubling on the device. */
void gpu_spread(void *memory, size_t bytes, const void *tile, size_t tile_bytes);
