/* SPDX-License-Identifier: Apache-2.0 */
/* A line and its contenders' times in the words and numbers of a report. */
#include "bench.h"

/*
 * What nobody passes is a floor: where a peer is faster than all loops that only move the bytes, these were not the
 * fastest.
 */
double result_best(const session *s, role as) {
    double best = 0;
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const contender *c = &s->list[i];
        const bool counts = c->role == as || (as == ROLE_FLOOR && c->role == ROLE_PEER);
        any = any || c->role == as;
        if (counts && (best <= 0 || c->us < best))
            best = c->us;
    }
    return any ? best : 0;
}

static double speed_of(const contender *c, role as) {
    return c->us > 0 ? result_best(c->session, as) / c->us : 0;
}

result result_of(const contender *c) {
    static const char *const roles[] = {"floor", "peer", "shown", "reference", "row", "ours"};
    static const char *const measures[] = {"row", "cold", "after work", "after sleep", "result", "return", "first"};
    static const char *const memories[] = {", pageable memory", ", pinned memory", ""};
    const session *s = c->session;
    const line *l = &s->line;
    result r = {.primitive = "process",
                .op = "first use",
                .group = l->group,
                .role = roles[c->role],
                .border = "-",
                .data = "-",
                .measure = measures[l->measure],
                .threads = l->at->gpu ? 0 : l->at->threads,
                .bytes = s->arrays.bytes};
    char threads[32] = "";
    if (l->of != NULL) {
        r.primitive = l->of->name;
        l->of->describe(l, &r);
    }
    if (!l->at->gpu)
        snprintf(threads, sizeof threads, ", %u thread%s", l->at->threads, l->at->threads == 1 ? "" : "s");
    snprintf(r.label, sizeof r.label, "%s%s%s%s%s%s%s", r.op, r.shape[0] != '\0' ? ", " : "", r.shape,
             l->measure != MEASURE_ROW && l->of != NULL ? ", " : "",
             l->measure != MEASURE_ROW && l->of != NULL ? r.measure : "", threads,
             l->at->gpu ? memories[l->memory] : "");
    r.gbps = c->us > 0 ? r.bytes / c->us * 1e-3 : 0;
    r.of_floor = c->on_host ? 0 : speed_of(c, ROLE_FLOOR);
    r.of_peer = speed_of(c, ROLE_PEER);
    r.of_reference = speed_of(c, ROLE_REFERENCE);
    return r;
}
