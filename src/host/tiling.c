/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings in words. */
#include "kernel.h"
#include <stdio.h>

int gp_tiling_describe(const gp_tiling *tiling, char *text, size_t size) {
    const uint32_t rows = tiling->t[GP_TILE_ROWS], cols = tiling->t[GP_TILE_COLS];
    const unsigned long long blocks = tiling->blocks;
    const char *plural = blocks == 1 ? "" : "s";
    if (rows > 0)
        return snprintf(text, size, "tile %u x %u, %u threads, %llu block%s", rows, cols, tiling->threads, blocks,
                        plural);
    if (cols > 0)
        return snprintf(text, size, "tile of %u elements, %u threads, %llu block%s", cols, tiling->threads, blocks,
                        plural);
    return snprintf(text, size, "%u threads, %llu block%s", tiling->threads, blocks, plural);
}
