/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups: lists of tests/cases.h, and how their lines are measured. Each primitive has groups of its own, named
 * after it; the others go over all primitives, or over one ("sweep", "sweep-window").
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 3 /* of a line in the processor's caches that misses its verdict: neighbours make single lines slow */

typedef struct mode {
    const char *name, *about; /* of the list too */
    const char *all;          /* a word that selects it too */
    bool gpu;
    memory_kind memory;
    bool kept;
    measure measure;
    void (*add)(session *s);
} mode;

static void add_usual(session *s) {
    line_add_floor(s);
    line_add_peers(s);
    line_add_ours(s);
    line_add_asked(s);
}

static void add_without_floor(session *s) {
    line_add_peers(s);
    line_add_ours(s);
    line_add_asked(s);
}

static const mode own_mode = {.gpu = true, .memory = MEMORY_DEVICE, .add = add_usual};

static const mode modes[] = {
    {"result", "result in a host variable", "all", true, MEMORY_DEVICE, false, MEASURE_RESULT, add_without_floor},
    {"host", "host time until a call returns", "all", true, MEMORY_DEVICE, false, MEASURE_RETURN, add_bare_launch},
    {"staging", "host data on a CUDA context: pinned", "host-data", true, MEMORY_PINNED, true, 0, add_staging},
    {"staging", "and pageable, against the bus and the plain way", "host-data", true, MEMORY_HOST, true, 0,
     add_staging},
    {"limits", "as if a block could have less shared memory, fewer registers", "", true, MEMORY_DEVICE, false, 0,
     add_limits},
    {"curve", "over sizes, with peers and floor, to be drawn", "", true, MEMORY_DEVICE, false, 0, add_usual},
    {"sweep", "sizes and shapes without gaps; what is wanted of them", "", true, MEMORY_DEVICE, false, 0, add_usual},
    {"processor", "the primitives' own groups, past the caches", "all", false, MEMORY_HOST, false, 0, add_usual},
    {"cached", "what the caches hold", "all", false, MEMORY_HOST, true, 0, add_usual},
    {"calls", "calls on one element", "all", false, MEMORY_HOST, true, 0, add_without_floor},
    {"count", "small jobs of kernels that are asked for, for --calls", "", false, MEMORY_HOST, true, 0,
     line_add_asked},
    {"peers", "sizes past 64 KiB: not slower than the fastest peer", "", false, MEMORY_HOST, true, 0,
     add_without_floor},
    {"threads", "all threads against one: back to back,", "", false, MEMORY_HOST, true, 0, add_one_thread},
    {"threads", "with 3 ms of other work between calls,", "", false, MEMORY_HOST, true, MEASURE_WORK, add_one_thread},
    {"threads", "and with 3 ms of sleep", "", false, MEMORY_HOST, true, MEASURE_SLEEP, add_one_thread},
};
#define N_MODES (sizeof modes / sizeof *modes)

/* The word is the name, or name-of, or a word for several. */
static bool is_meant(const char *word, const char *name, const char *of, const char *all) {
    const size_t length = strlen(name);
    const bool both = strncmp(word, name, length) == 0 && word[length] == '-' && strcmp(word + length + 1, of) == 0;
    return both || strcmp(word, name) == 0 || strcmp(word, all) == 0;
}

void groups_help(FILE *to) {
    fputs("Groups:\n", to);
    for (size_t k = 0; primitives[k] != NULL; k++)
        for (size_t i = 0; primitives[k]->groups[i][0] != NULL; i++)
            fprintf(to, "  %-18s %s\n", primitives[k]->groups[i][0], primitives[k]->groups[i][2]);
    for (size_t i = 0; i < N_MODES; i++)
        fprintf(to, "  %-18s %s\n", i > 0 && strcmp(modes[i].name, modes[i - 1].name) == 0 ? "" : modes[i].name,
                modes[i].about);
    fprintf(to,
            "  %-18s first use, in fresh processes\n  %-18s the primitives' own, result, host, first, cached, calls\n"
            "A group's name and a primitive's behind it are those lines alone: sweep-window.\n",
            "first", "all");
}

bool groups_known(const char *word) {
    for (size_t k = 0; primitives[k] != NULL; k++) {
        for (size_t i = 0; primitives[k]->groups[i][0] != NULL; i++)
            if (strcmp(word, primitives[k]->groups[i][0]) == 0)
                return true;
        for (size_t i = 0; i < N_MODES; i++)
            if (is_meant(word, modes[i].name, primitives[k]->name, modes[i].all))
                return true;
    }
    return strcmp(word, "first") == 0;
}

/* What visits a list's problems. */
typedef struct task {
    program *p;
    const mode *mode;
    line line;
    size_t visited;
} task;

static bool is_wanted(program *p, const line *l) {
    p->session.line = *l;
    return p->opt.match == NULL ||
           strstr(result_of(&(contender){.session = &p->session}).label, p->opt.match) != NULL;
}

static void visit(const void *one_case, const char *series, void *user) {
    task *t = user;
    session *s = &t->p->session;
    memcpy(t->line.problem, one_case, t->line.of->case_bytes);
    snprintf(t->line.series, sizeof t->line.series, "%s", series);
    if (t->p->opt.quick && t->visited++ % 4 != 0)
        return;
    for (size_t i = 0; i < s->n_places; i++) {
        t->line.at = &s->places[i];
        if (s->places[i].gpu != t->mode->gpu || !is_wanted(t->p, &t->line))
            continue;
        if (t->mode->add == add_one_thread && i + 1 < s->n_places)
            continue; /* it is the most threads that are set against one */
        s->tries = t->mode->kept && !t->mode->gpu ? TRIES : 0;
        line_begin(s, &t->line);
        t->mode->add(s);
        line_run(s);
    }
}

static void run_list(program *p, const primitive *of, const mode *m, const char *list) {
    task t = {.p = p,
              .mode = m,
              .line = {.of = of, .group = list, .measure = m->measure, .memory = m->memory, .kept = m->kept}};
    of->timed(list, visit, &t);
}

static bool is_asked(const program *p, const char *name, const char *of, const char *all) {
    for (size_t i = 0; i < p->opt.groups.count; i++)
        if (is_meant(p->opt.groups.word[i], name, of, all))
            return true;
    return false;
}

/* Its own groups on a GPU; on the processor its name means the lists "processor" and "cached". */
static void run_primitive(program *p, const primitive *of, bool gpu) {
    for (size_t i = 0; of->groups[i][0] != NULL && gpu; i++)
        if (is_asked(p, of->groups[i][0], "", "all"))
            run_list(p, of, &own_mode, of->groups[i][1]);
    for (size_t i = 0; i < N_MODES; i++) {
        const mode *m = &modes[i];
        const bool own = !m->gpu && strcmp(m->all, "all") == 0 && strcmp(m->name, "calls") != 0;
        if (m->gpu == gpu && (is_asked(p, m->name, of->name, m->all) || (own && is_asked(p, of->name, "", ""))))
            run_list(p, of, m, m->name);
    }
}

void groups_run(program *p, bool gpu) {
    for (size_t k = 0; primitives[k] != NULL; k++)
        run_primitive(p, primitives[k], gpu);
    if (gpu && is_asked(p, "first", "", "all"))
        run_first_use(p);
}
