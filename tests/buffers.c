/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded arrays. GPU memory is reached through the public interface alone, so that one test serves all contexts. */
#include "buffers.h"
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

#define GUARD 256u /* bytes; keeps the 256-byte alignment of gp_alloc() */

/* Neighbouring guard bytes differ, so that a shifted write shows; 0x80000000 and 0 are no data of ours. */
static void paint(unsigned char *to, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(0xa5u ^ (i * 37u));
}

static unsigned char *map_guarded(size_t bytes, bool after, size_t *mapped, void **data) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (bytes + page - 1) / page * page;
    *mapped = body + page;
    unsigned char *map = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(after ? map + body : map, page, PROT_NONE), 0);
    *data = after ? map + body - bytes : map + page;
    return map;
}

void buffer_make(buffer *b, gp_context *context, buffer_kind kind, size_t bytes, size_t offset) {
    *b = (buffer){.context = context, .kind = kind, .bytes = bytes};
    size_t before = GUARD + offset;
    if (kind == BUFFER_PAGE_AFTER || kind == BUFFER_PAGE_BEFORE) {
        b->total = bytes;
        before = 0;
        b->memory = map_guarded(bytes, kind == BUFFER_PAGE_AFTER, &b->mapped, &b->data);
    } else {
        b->total = before + bytes + GUARD;
        void *memory = NULL;
        if (kind == BUFFER_CONTEXT)
            assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, b->total, &memory), GP_OK);
        else
            memory = aligned_alloc(256, (b->total + 255) / 256 * 256);
        assert_non_null(memory);
        b->memory = memory;
        b->data = b->memory + before;
    }
    b->copy = malloc(b->total + 1);
    assert_non_null(b->copy);
    if (kind == BUFFER_CONTEXT) {
        b->seen = malloc(b->total + 1);
        assert_non_null(b->seen);
    }
    paint(b->copy, b->total);
    b->expected = b->copy + before;
}

void buffer_free(buffer *b) {
    if (b->mapped)
        munmap(b->memory, b->mapped);
    else if (b->kind == BUFFER_CONTEXT)
        assert_int_equal(gp_free(b->context, b->memory), GP_OK);
    else
        free(b->memory);
    free(b->copy);
    free(b->seen);
    *b = (buffer){0};
}

static unsigned char *whole(const buffer *b) {
    return b->mapped ? b->data : b->memory;
}

void buffer_send(buffer *b) {
    if (b->kind == BUFFER_CONTEXT)
        assert_int_equal(gp_copy(b->context, b->memory, b->copy, b->total), GP_OK);
    else
        memcpy(whole(b), b->copy, b->total);
}

static const unsigned char *fetch(buffer *b) {
    if (b->kind != BUFFER_CONTEXT)
        return whole(b);
    assert_int_equal(gp_copy(b->context, b->seen, b->memory, b->total), GP_OK);
    return b->seen;
}

const void *buffer_read(buffer *b) {
    return fetch(b) + ((unsigned char *)b->expected - b->copy);
}

bool buffer_check(buffer *b, const char *label) {
    const unsigned char *seen = fetch(b);
    if (memcmp(seen, b->copy, b->total) == 0)
        return true;
    size_t at = 0, wrong = 0;
    for (size_t i = b->total; i-- > 0;) {
        if (seen[i] != b->copy[i]) {
            at = i;
            wrong++;
        }
    }
    ptrdiff_t place = (ptrdiff_t)at - (ptrdiff_t)((unsigned char *)b->expected - b->copy);
    size_t word = at & ~(size_t)3;
    uint32_t has = 0, wants = 0;
    size_t width = b->total - word < 4 ? b->total - word : 4;
    memcpy(&has, seen + word, width);
    memcpy(&wants, b->copy + word, width);
    fprintf(stderr, "%s: %zu bytes differ, first at byte %td of an array of %zu: %08x instead of %08x\n", label,
            wrong, place, b->bytes, has, wants);
    return false;
}
