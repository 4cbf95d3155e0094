/* SPDX-License-Identifier: Apache-2.0 */
/* Loads OpenBLAS, and talks with peers.py: a line each way. */
#include "peers.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef BENCH_PEERS_SCRIPT
#define BENCH_PEERS_SCRIPT "peers.py"
#endif

/* As cblas.h has them. */
enum { ROW_MAJOR = 101, TRANSPOSED = 112 };
typedef void somatcopy_function(int order, int trans, int rows, int cols, float alpha, const float *a, int lda,
                                float *b, int ldb);
typedef void set_threads_function(int);

static somatcopy_function *somatcopy;
static set_threads_function *blas_set_threads;
static void *blas;

static FILE *to_python, *from_python;
static pid_t python;

/* dlsym() gives an object pointer where ISO C wants a function's: their bytes are copied, as POSIX implies. */
static void load(const char *name, void *function, size_t size) {
    void *found = dlsym(blas, name);
    memcpy(function, &found, size);
}

static bool openblas_open(void) {
    static const char *const files[] = {"libopenblas.so.0", "libopenblas.so"};
    for (size_t i = 0; i < sizeof files / sizeof *files && !blas; i++)
        blas = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    if (!blas)
        return false;
    load("cblas_somatcopy", &somatcopy, sizeof somatcopy);
    load("openblas_set_num_threads", &blas_set_threads, sizeof blas_set_threads);
    char *(*config)(void) = NULL;
    load("openblas_get_config", &config, sizeof config);
    if (config)
        printf("# %s\n", config());
    return somatcopy && blas_set_threads;
}

bool peer_somatcopy(race *r, const entry *e, size_t set) {
    const int rows = (int)e->job.rows, cols = (int)e->job.cols;
    somatcopy(ROW_MAJOR, TRANSPOSED, rows, cols, 1.0f, memory_in(&r->s->memory, set), cols,
              memory_out(&r->s->memory, set, 0), rows);
    return true;
}

/* The child's side: stdin and stdout are the pipes. Does not return. */
static void become_python(const options *opt, const int in[2], const int out[2]) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execlp(opt->python, opt->python, BENCH_PEERS_SCRIPT, (char *)NULL);
    _exit(127);
}

static void start_python(const options *opt) {
    int in[2], out[2];
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN); /* a child that cannot start shows when it does not answer */
    if (pipe(in) != 0 || pipe(out) != 0 || (python = fork()) < 0)
        die(opt->python, "cannot be started");
    if (python == 0)
        become_python(opt, in, out);
    close(in[0]);
    close(out[1]);
    to_python = fdopen(in[1], "w");
    from_python = fdopen(out[0], "r");
    if (!to_python || !from_python)
        die(opt->python, "cannot be started");
}

/* The answer without its newline. */
static bool answer(char *text, size_t size) {
    fflush(to_python);
    if (!fgets(text, (int)size, from_python))
        return false;
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static void expect_ok(void) {
    char text[256];
    if (!answer(text, sizeof text))
        die("peers.py", "has gone");
    if (strcmp(text, "ok") != 0)
        die("peers.py", text);
}

void peers_open(session *s) {
    char text[256] = "";
    if (!s->opt.python)
        return;
    s->openblas = openblas_open();
    start_python(&s->opt);
    fprintf(to_python, "versions\n");
    if (answer(text, sizeof text)) {
        s->numpy = strstr(text, "numpy ") != NULL;
        s->opencv = strstr(text, "OpenCV ") != NULL;
    } else {
        snprintf(text, sizeof text, "none, %s does not run", s->opt.python);
    }
    printf("# peers: %s\n", text);
}

void peers_prepare(const session *s, unsigned threads) {
    const memory *m = &s->memory;
    if (s->openblas)
        blas_set_threads((int)threads);
    if (!s->numpy)
        return;
    memory_share_input(m);
    fprintf(to_python, "cpus");
    for (unsigned i = 0; i < threads; i++)
        fprintf(to_python, " %u", s->machine.cpu[i]);
    fprintf(to_python, "\n");
    expect_ok();
    fprintf(to_python, "load %d %zu %zu %u %zu %zu %zu\n", m->shared_file, m->in_bytes, m->out_bytes, m->n_outs,
            m->in_stride, m->out_stride, m->n_sets);
    expect_ok();
}

static void ask(const char *verb, const entry *e, unsigned reps) {
    const job *j = &e->job;
    fprintf(to_python, "%s %s %zu %zu %zu %zu %zu %u\n", verb, e->word, j->n, j->rows, j->cols, j->elem_bytes,
            j->window, reps);
}

bool peer_check(const entry *e) {
    char text[256];
    ask("check", e, 1);
    if (!answer(text, sizeof text))
        die("peers.py", "has gone");
    if (strcmp(text, "ok") != 0)
        printf("# %s: %s\n", e->who, text);
    return strcmp(text, "ok") == 0;
}

double peer_time(const entry *e, unsigned reps) {
    char text[256], *end = text;
    ask("time", e, reps);
    if (!answer(text, sizeof text))
        die("peers.py", "has gone");
    const double ns = strtod(text, &end);
    if (end == text)
        die("peers.py", text);
    return ns * 1e-9;
}

void peers_close(void) {
    if (to_python) {
        fclose(to_python);
        fclose(from_python);
        waitpid(python, NULL, 0);
    }
}
