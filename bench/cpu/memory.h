/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays on huge pages, in sets that calls take turns over so that none finds its data in a cache. */
#ifndef BENCH_CPU_MEMORY_H
#define BENCH_CPU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

typedef enum data_kind {
    DATA_32_BIT, /* all of int32 */
    DATA_8_BIT,  /* 0 .. 255 */
    DATA_16_BIT, /* 0 .. 65535 */
    DATA_FLOAT   /* floats from 1 to 2, which a copy through arithmetic leaves as they are */
} data_kind;

typedef struct memory {
    char *in, *out; /* arenas */
    size_t in_size, out_size;
    size_t in_bytes, out_bytes;   /* of a set; out_bytes for each of n_outs */
    size_t in_stride, out_stride; /* from set to set */
    unsigned n_outs;
    size_t n_sets;
    char *expected; /* n_outs results beside each other */
    size_t expected_size;
    char *shared; /* with the peers' process: input, then outputs, as wide as strides */
    size_t shared_size;
    int shared_file;
} memory;

/* Makes the shared file, which a process started afterwards inherits under the same number. */
void memory_open(memory *m);
/* The input of every set filled. rotated: bytes of all sets together at least; 0: one set. */
void memory_prepare(memory *m, data_kind kind, size_t in_bytes, size_t out_bytes, unsigned n_outs, size_t rotated);
void memory_free(memory *m);

void *memory_in(const memory *m, size_t set);
void *memory_out(const memory *m, size_t set, unsigned which);
void *memory_expected(const memory *m, unsigned which);
void *memory_shared_out(const memory *m, unsigned which);
void memory_share_input(const memory *m);

/* Overwrites set 0's outputs, so that what an earlier call left cannot pass for a result. */
void memory_spoil(const memory *m);

#define DATA_SEED UINT64_C(0x9e3779b97f4a7c15)

#endif
