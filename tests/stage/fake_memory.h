/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of each kind of memory, whose contents come by the stream that a call is to wait for. */
#ifndef TESTS_FAKE_MEMORY_H
#define TESTS_FAKE_MEMORY_H

#include "fake_cuda.h"
#include "gpuprim/gpuprim.h"

typedef enum fake_kind { FAKE_PAGEABLE, FAKE_PINNED, FAKE_DEVICE, FAKE_KINDS } fake_kind;

unsigned char *fake_memory_make(gp_context *context, fake_kind kind, size_t bytes);
void fake_memory_free(gp_context *context, fake_kind kind, unsigned char *memory);

/* Pageable memory at once, other memory on the stream: `from` is to stay as it is until that is done. */
void fake_memory_fill(fake_kind kind, unsigned char *to, const unsigned char *from, size_t bytes,
                      cudaStream_t stream);

#endif
