/* SPDX-License-Identifier: Apache-2.0 */
/* What a test on late streams works with: streams, and arrays whose contents come by the stream. */
#pragma once

#include "fake_cuda.h"
#include "gpuprim/gpuprim.h"

/* The default stream, one that waits for it, one that does not. */
#define FAKE_STREAMS 3
extern cudaStream_t fake_stream[FAKE_STREAMS];

/* Before and after a program's tests: makes the streams, which are late from then on; destroys them, and looks
   whether all is clean. */
int fake_open_streams(void **state);
int fake_close_streams(void **state);

/* In their place, of programs that have one CUDA context and the default stream. */
extern gp_context *fake_context;
int fake_open_context(void **state);
int fake_close_context(void **state);

typedef enum fake_kind { FAKE_PAGEABLE, FAKE_PINNED, FAKE_DEVICE, FAKE_KINDS } fake_kind;

unsigned char *fake_memory_make(gp_context *context, fake_kind kind, size_t bytes);
void fake_memory_free(gp_context *context, fake_kind kind, unsigned char *memory);

/* Pageable memory at once, other memory on the stream: `from` is to stay as it is until that is done. */
void fake_memory_fill(fake_kind kind, unsigned char *to, const unsigned char *from, size_t bytes,
                      cudaStream_t stream);
