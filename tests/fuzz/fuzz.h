/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: choices drawn from the bytes that libFuzzer gives, and a requirement that ends the
 * run. */
#pragma once

#include "gpuprim/explain.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* libFuzzer keeps the input that was being tried when the program ended so. */
#define REQUIRE(what)                                                            \
    do {                                                                         \
        if (!(what)) {                                                           \
            fprintf(stderr, "%s:%d: required: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                             \
        }                                                                        \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz {
    const uint8_t *at, *end;
} fuzz;

/* The next bytes as a number, least significant first; zeros past the end. */
static inline uint64_t fuzz_bits(fuzz *f, unsigned bytes) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes && f->at < f->end; i++)
        bits |= (uint64_t)*f->at++ << (8 * i);
    return bits;
}

/* below: at most 256. */
static inline unsigned fuzz_below(fuzz *f, unsigned below) {
    return (unsigned)fuzz_bits(f, 1) % below;
}

/* A small number, one near a power of two, or any of 64 bits. */
static inline uint64_t fuzz_size(fuzz *f) {
    const unsigned kind = fuzz_below(f, 256);
    if (kind < 160)
        return kind;
    if (kind < 224)
        return ((uint64_t)1 << (kind - 160)) + (uint64_t)(int64_t)(int8_t)fuzz_bits(f, 1);
    return fuzz_bits(f, kind < 240 ? 4 : 8);
}
