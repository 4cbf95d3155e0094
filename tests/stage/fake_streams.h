/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of the made-up GPUs' streams: see fake_streams.c. */
#pragma once

#include "fake_cuda.h"

typedef void fake_work(void *argument);

/* Enqueues run(a copy of the argument). */
void fake_stream_give(cudaStream_t stream, fake_work *run, const void *argument, size_t bytes);

/* Returns when all that is on the stream is done. */
void fake_stream_finish(cudaStream_t stream);
