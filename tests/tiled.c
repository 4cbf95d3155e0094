/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled arrays: a memory file mapped many times over a reserved range of addresses. */
#include "tiled.h"
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

tiled tiled_map(size_t bytes) {
    size_t tiles = (bytes + TILE_BYTES - 1) / TILE_BYTES;
    tiled t = {.bytes = tiles * TILE_BYTES, .shared = tiles > 2 ? (tiles - 2) * TILE_BYTES : 0};
    void *range = mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int file = memfd_create("tile", 0);
    assert_true(range != MAP_FAILED && file >= 0);
    assert_int_equal(ftruncate(file, (off_t)TILE_BYTES), 0);
    t.data = range;
    for (size_t at = 0; at < t.shared; at += TILE_BYTES)
        assert_true(mmap(t.data + at, TILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
                    MAP_FAILED);
    close(file);
    return t;
}

void tiled_unmap(tiled *t) {
    munmap(t->data, t->bytes);
    t->data = NULL;
}
