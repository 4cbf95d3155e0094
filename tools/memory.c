/* SPDX-License-Identifier: Apache-2.0 */
/* --memory: the most that a command may hold for a file, asked for before it is allocated. */
#include "tool.h"

enum { KEY_MEMORY = 0x300 };

static size_t allowed = (size_t)4 << 30;

static error_t parse(int key, char *text, struct argp_state *state) {
    if (key != KEY_MEMORY)
        return ARGP_ERR_UNKNOWN;
    allowed = parse_size(state, "--memory", text);
    return 0;
}

static const struct argp_option options[] = {
    {"memory", KEY_MEMORY, "BYTES", 0, "The most memory that a file and its results may take (4G)", 10}, {0}};
const struct argp memory_argp = {.options = options, .parser = parse};

void memory_check(const char *path, size_t held, size_t count, size_t bytes) {
    size_t taken;
    if (__builtin_mul_overflow(count, bytes, &taken) || __builtin_add_overflow(taken, held, &taken))
        taken = SIZE_MAX;
    if (taken > allowed)
        fail("%s: takes up to %zu bytes of memory, more than the %zu that --memory allows", path, taken, allowed);
}

size_t memory_grown(const char *path, size_t room) {
    if (room >= allowed)
        fail("%s: takes more than the %zu bytes of memory that --memory allows", path, allowed);
    return room < allowed / 2 ? room * 2 : allowed;
}
