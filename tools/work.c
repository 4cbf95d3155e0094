/* SPDX-License-Identifier: Apache-2.0 */
/* What subcommands that compute share: where, how talkative, and --memory, asked before memory is allocated. */
#include "tool.h"

enum { KEY_BACKEND = 0x300, KEY_MEMORY };

static size_t allowed = (size_t)4 << 30;

static error_t parse_work(int key, char *text, struct argp_state *state) {
    static const char *const words[] = {"auto", "cpu", "cuda"};
    work_request *w = state->input;
    if (key == KEY_BACKEND)
        w->backend = (gp_backend)word_index(state, "--backend", text, 3, words);
    else if (key == KEY_MEMORY)
        allowed = parse_size(state, "--memory", text);
    else if (key == 'v')
        w->verbose = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option work_options[] = {
    {"backend", KEY_BACKEND, "auto|cpu|cuda", 0, "Where to compute (auto: where the data lives)", 10},
    {"memory", KEY_MEMORY, "BYTES", 0, "The most memory that a file and its results may take (4G)", 10},
    {"verbose", 'v', NULL, 0, "Tell the kernel that was chosen", 11},
    {0}};
const struct argp work_argp = {.options = work_options, .parser = parse_work};

gp_context *open_context(gp_backend backend) {
    const gp_options options = {.struct_size = sizeof options, .backend = (int32_t)backend, .device = -1};
    gp_context *context = NULL;
    must(gp_context_create(&context, &options));
    return context;
}

void tell_plan(const work_request *w, const gp_context *context) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    if (!w->verbose || gp_context_plan(context, &plan) != GP_OK)
        return; /* nothing to do, nothing planned */
    const bool gpu = plan.backend == GP_BACKEND_CUDA;
    warn("%s on the %s, %llu %s%s", plan.kernel, gpu ? "GPU" : "processor", (unsigned long long)plan.grid,
         gpu ? "block" : "thread", plan.grid == 1 ? "" : "s");
}

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
