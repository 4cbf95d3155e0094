/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays larger than the machine: one tile of memory seen over and over, with memory of their own at the end. */
#pragma once

#include <stddef.h>

#define TILE_BYTES ((size_t)64 << 20)

typedef struct tiled {
    unsigned char *data;
    size_t bytes;
    size_t shared; /* bytes at the start that repeat the first tile; what follows is memory of its own */
} tiled;

/* At least `bytes` bytes, the last whole tile and what remains after it not shared. Fails the test if there is no
   address space. */
tiled tiled_map(size_t bytes);
void tiled_unmap(tiled *t);
