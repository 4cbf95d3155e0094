/* SPDX-License-Identifier: Apache-2.0 */
/* The tables on stdout, as CSV and as Markdown, each line held against its targets, and their summary. */
#include "bench.h"

#include <string.h>

typedef struct standing { /* of one target, over the free choice's lines */
    const target *target;
    unsigned lines, met;
    double worst;
    char where[160];
} standing;

static standing standings[32];
static size_t n_standings;

/* The fastest entry of the role that did this job, or NULL. */
static const entry *fastest(const race *r, role as, const job *j) {
    const entry *best = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const entry *e = &r->list[i];
        if (e->role == as && !e->out && memcmp(&e->job, j, sizeof *j) == 0 && (!best || e->gbps > best->gbps))
            best = e;
    }
    return best;
}

/* Limits are run for one job of the race and stand for all. */
static const entry *best_limit(const race *r) {
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].role == ROLE_LIMIT)
            return fastest(r, ROLE_LIMIT, &r->list[i].job);
    return NULL;
}

static const char *plural(const race *r) {
    return r->team->threads == 1 ? "" : "s";
}

static bool at_most(const target *t) {
    return t->against == TIMES_FASTEST || t->against == NANOSECONDS;
}

static bool meets(const target *t, double value) {
    return at_most(t) ? value <= t->wanted : t->wanted == 1 ? value > 1 : value >= t->wanted;
}

static const char *sign(const target *t) {
    return at_most(t) ? "<=" : t->wanted == 1 ? ">" : ">=";
}

static void note(const target *t, double value, const char *where) {
    size_t i = 0;
    while (i < n_standings && standings[i].target != t)
        i++;
    if (i == sizeof standings / sizeof *standings)
        die(t->what, "too many targets");
    standing *at = &standings[i];
    if (i == n_standings) {
        at->target = t;
        n_standings++;
    }
    if (at->lines == 0 || (at_most(t) ? value > at->worst : value < at->worst)) {
        at->worst = value;
        snprintf(at->where, sizeof at->where, "%s", where);
    }
    at->lines++;
    at->met += meets(t, value);
}

/* False: the line lacks what the target compares with. */
static bool measured(const target *t, const entry *e, const entry *best, const entry *peer, double *value) {
    switch (t->against) {
    case SPEED_OF_LIMIT:
        *value = best ? e->gbps / best->gbps : 0;
        return best != NULL;
    case SPEED_OF_PEER:
        *value = peer ? peer->us / e->us : 0;
        return peer != NULL;
    case NANOSECONDS:
        *value = e->us * 1e3;
        return true;
    default:
        return false;
    }
}

/* Measured against wanted, for each target of the line, in words. */
static void judge(const race *r, const entry *e, const entry *best, const char *label, char *text, size_t size) {
    const entry *peer = fastest(r, ROLE_PEER, &e->job);
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < TARGETS_MAX && e->targets[i]; i++) {
        const target *t = e->targets[i];
        double value;
        char where[160];
        if (!measured(t, e, best, peer, &value) || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %.2f %s %.2f", used ? "; " : "",
                                 meets(t, value) ? "PASS" : "FAIL", value, sign(t), t->wanted);
        snprintf(where, sizeof where, "%s, %s, %u thread%s", r->title, label, r->team->threads, plural(r));
        note(t, value, where);
    }
}

void report_header(session *s) {
    printf("%-34s %-14s %-34s %11s %6s %8s %7s %7s  %s\n", "race, threads", "job", "who", "us", "+-%", "GB/s",
           "/limit", "/peer", "kernel, targets");
    if (s->csv)
        fprintf(s->csv, "race,threads,job,who,role,kernel,rows,cols,elem_bytes,window,n,rounds,calls_a_sample,"
                        "median_us,low_us,high_us,gbps,of_limit,of_peer,targets\n");
}

static void ratio(char *text, size_t size, bool known, double value) {
    if (known)
        snprintf(text, size, "%.3f", value);
    else
        snprintf(text, size, "-");
}

typedef struct words {
    char label[64], of_limit[16], of_peer[16], verdict[192];
} words;

static void put_into_files(const race *r, const entry *e, const words *w) {
    static const char *const roles[] = {"limit", "other limit", "peer", "ours"};
    const session *s = r->s;
    const job *j = &e->job;
    if (s->csv)
        fprintf(s->csv, "\"%s\",%u,%s,\"%s\",%s,%s,%zu,%zu,%zu,%zu,%zu,%u,%u,%.4f,%.4f,%.4f,%.3f,%s,%s,%s\n",
                r->title, r->team->threads, w->label, e->who, roles[e->role], e->kernel, j->rows, j->cols,
                j->elem_bytes, j->window, j->n, s->opt.rounds, r->reps, e->us, e->low, e->high, e->gbps, w->of_limit,
                w->of_peer, w->verdict);
    if (s->markdown)
        fprintf(s->markdown, "| %s | %s | %.*f | %.1f | %s | %s | %s | %s |\n", w->label, e->who, e->us < 100 ? 3 : 0,
                e->us, e->gbps, w->of_limit, w->of_peer, e->kernel, w->verdict);
}

void report_race(race *r) {
    const entry *best = best_limit(r);
    if (r->s->markdown)
        fprintf(r->s->markdown,
                "\n### %s, %u thread%s\n\n| job | who | us | GB/s | of limit | of peer | kernel | targets |\n"
                "|---|---|---:|---:|---:|---:|---|---|\n",
                r->title, r->team->threads, plural(r));
    for (size_t i = 0; i < r->count; i++) {
        const entry *e = &r->list[i], *peer = fastest(r, ROLE_PEER, &e->job);
        words w = {.verdict = ""};
        char title[64];
        if (e->out)
            continue;
        job_label(&e->job, w.label, sizeof w.label);
        if (e->role == ROLE_LIMIT || e->role == ROLE_SHOWN)
            snprintf(w.label, sizeof w.label, "-");
        ratio(w.of_limit, sizeof w.of_limit, best != NULL, best ? e->gbps / best->gbps : 0);
        ratio(w.of_peer, sizeof w.of_peer, peer != NULL && e->role == ROLE_OURS, peer ? peer->us / e->us : 0);
        if (e->role == ROLE_OURS)
            judge(r, e, best, w.label, w.verdict, sizeof w.verdict);
        snprintf(title, sizeof title, "%s, %u", r->title, r->team->threads);
        printf("%-34s %-14s %-34s %11.3f %6.1f %8.2f %7s %7s  %s%s%s\n", title, w.label, e->who, e->us,
               50 * (e->high - e->low) / e->us, e->gbps, w.of_limit, w.of_peer, e->kernel,
               e->kernel[0] && w.verdict[0] ? "  " : "", w.verdict);
        put_into_files(r, e, &w);
    }
    fflush(stdout);
}

void report_spread(race *r, const target *t) {
    const entry *slow = NULL, *fast = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const entry *e = &r->list[i];
        if (e->role != ROLE_OURS || e->pin || e->out)
            continue;
        if (!slow || e->us > slow->us)
            slow = e;
        if (!fast || e->us < fast->us)
            fast = e;
    }
    if (!slow || slow == fast)
        return;
    char label[64], where[160], text[256];
    const double value = slow->us / fast->us;
    job_label(&slow->job, label, sizeof label);
    snprintf(where, sizeof where, "%s, %u thread%s, slowest %s", r->title, r->team->threads, plural(r), label);
    snprintf(text, sizeof text, "%s: %.2f times the fastest; %s %s %.2f", where, value,
             meets(t, value) ? "PASS" : "FAIL", sign(t), t->wanted);
    note(t, value, where);
    printf("%s\n", text);
    if (r->s->markdown)
        fprintf(r->s->markdown, "\n%s\n", text);
}

void report_targets(session *s) {
    printf("\n%-64s %8s %8s %9s  %s\n", "target (free choice of kernel)", "wanted", "worst", "met", "worst line");
    if (s->markdown)
        fprintf(s->markdown, "\n### Targets\n\n| target | wanted | worst | met | | worst line |\n"
                             "|---|---:|---:|---:|---|---|\n");
    for (size_t i = 0; i < n_standings; i++) {
        const standing *at = &standings[i];
        const target *t = at->target;
        const char *verdict = at->met == at->lines ? "PASS" : "FAIL";
        printf("%-64s %2s %5.2f %8.3f %3u of %-2u  %s  %s\n", t->what, sign(t), t->wanted, at->worst, at->met,
               at->lines, verdict, at->where);
        if (s->markdown)
            fprintf(s->markdown, "| %s | %s %.2f | %.3f | %u of %u | %s | %s |\n", t->what, sign(t), t->wanted,
                    at->worst, at->met, at->lines, verdict, at->where);
    }
}
