/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of bad arguments share: a processor's context and a made-up GPU's, and how a call is to fail. */
#pragma once

#include "../check.h"
#include "../devices.h"

static gp_context *cpu, *model;

static inline int open_contexts(void **state) {
    (void)state;
    cpu = make_context(GP_BACKEND_CPU, -1, 2);
    model = devices_open(&devices[DEVICE_HOPPER]);
    return 0;
}

static inline int close_contexts(void **state) {
    (void)state;
    gp_context_destroy(cpu);
    gp_context_destroy(model);
    return 0;
}

/* This status, in words that hold `word`, or are no others; NULL: in any. */
static inline void fails_as(gp_status got, gp_status want, const char *word, bool no_others, int line) {
    if (got != want)
        fail_msg("line %d: status %d, not %d; \"%s\"", line, (int)got, (int)want, gp_last_error());
    if (word && (no_others ? strcmp(gp_last_error(), word) != 0 : !strstr(gp_last_error(), word)))
        fail_msg("line %d: \"%s\" does not say \"%s\"", line, gp_last_error(), word);
}
