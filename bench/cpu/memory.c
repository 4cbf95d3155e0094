/* SPDX-License-Identifier: Apache-2.0 */
/* The arenas, their data, and the part of it that the peers' process sees. */
#include "memory.h"
#include "bench.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* Huge pages, and every page touched: page faults are not what is measured. */
static void grow(char **arena, size_t *size, size_t needed) {
    if (needed <= *size)
        return;
    if (*arena)
        munmap(*arena, *size);
    const size_t bytes = round_up(needed, HUGE_PAGE);
    char *base = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        die("memory", "not enough");
    const size_t before = round_up((uintptr_t)base, HUGE_PAGE) - (uintptr_t)base;
    if (before > 0)
        munmap(base, before);
    if (HUGE_PAGE - before > 0)
        munmap(base + before + bytes, HUGE_PAGE - before);
    *arena = base + before;
    *size = bytes;
    madvise(*arena, bytes, MADV_HUGEPAGE);
    memset(*arena, 1, bytes);
}

static uint32_t shape(uint64_t bits, data_kind kind) {
    const uint32_t word = (uint32_t)(bits >> 32);
    switch (kind) {
    case DATA_8_BIT:
        return word & 0xff;
    case DATA_16_BIT:
        return word & 0xffff;
    case DATA_FLOAT:
        return 0x3f800000 | (word & 0x7fffff);
    default:
        return word;
    }
}

/* xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled") */
static void fill(char *to, size_t bytes, data_kind kind) {
    uint64_t state = DATA_SEED;
    for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        const uint32_t word = shape(state * UINT64_C(0x2545f4914f6cdd1d), kind);
        memcpy(to + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

static void share(memory *m, size_t needed) {
    if (needed <= m->shared_size)
        return;
    if (m->shared)
        munmap(m->shared, m->shared_size);
    if (ftruncate(m->shared_file, (off_t)needed) != 0)
        die("shared memory", "not enough");
    m->shared = mmap(NULL, needed, PROT_READ | PROT_WRITE, MAP_SHARED, m->shared_file, 0);
    if (m->shared == MAP_FAILED)
        die("shared memory", "not enough");
    m->shared_size = needed;
}

void memory_open(memory *m) {
    m->shared_file = memfd_create("bench", 0);
    if (m->shared_file < 0)
        die("shared memory", "cannot be made");
}

void memory_prepare(memory *m, data_kind kind, size_t in_bytes, size_t out_bytes, unsigned n_outs, size_t rotated) {
    m->in_bytes = in_bytes;
    m->out_bytes = out_bytes;
    m->n_outs = n_outs;
    m->in_stride = round_up(in_bytes, HUGE_PAGE);
    m->out_stride = round_up(out_bytes, HUGE_PAGE);
    const size_t set = m->in_stride + n_outs * m->out_stride;
    m->n_sets = rotated > set ? (rotated + set - 1) / set : 1;
    grow(&m->in, &m->in_size, m->n_sets * m->in_stride);
    grow(&m->out, &m->out_size, m->n_sets * n_outs * m->out_stride);
    grow(&m->expected, &m->expected_size, n_outs * m->out_stride);
    share(m, set + HUGE_PAGE);
    fill(m->in, in_bytes, kind);
    for (size_t i = 1; i < m->n_sets; i++)
        memcpy(memory_in(m, i), m->in, in_bytes);
}

void memory_free(memory *m) {
    if (m->in)
        munmap(m->in, m->in_size);
    if (m->out)
        munmap(m->out, m->out_size);
    if (m->expected)
        munmap(m->expected, m->expected_size);
    if (m->shared)
        munmap(m->shared, m->shared_size);
    close(m->shared_file);
}

void *memory_in(const memory *m, size_t set) {
    return m->in + set * m->in_stride;
}

void *memory_out(const memory *m, size_t set, unsigned which) {
    return m->out + (set * m->n_outs + which) * m->out_stride;
}

void *memory_expected(const memory *m, unsigned which) {
    return m->expected + which * m->out_stride;
}

void *memory_shared_out(const memory *m, unsigned which) {
    return m->shared + m->in_stride + which * m->out_stride;
}

void memory_share_input(const memory *m) {
    memcpy(m->shared, m->in, m->in_bytes);
}

void memory_spoil(const memory *m) {
    for (unsigned which = 0; which < m->n_outs; which++) {
        memset(memory_out(m, 0, which), 0x5a, m->out_bytes);
        memset(memory_shared_out(m, which), 0x5a, m->out_bytes);
    }
}
