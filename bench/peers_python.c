/* SPDX-License-Identifier: Apache-2.0 */
/* numpy and OpenCV in a Python process, peers.py: a line each way, arrays in a file in memory that both have. */
#include "peers.h"
#include "program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *to_python, *from_python;
static pid_t python;
static char versions[256];
static int shared_file = -1;
static char *shared; /* an input, then its outputs, as wide as the session's strides */
static size_t shared_size;
static unsigned loaded; /* the line whose arrays it has */

/* The child's side: its standard input and output are the pipes. Does not return. */
static void become_python(const char *command, const int in[2], const int out[2]) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execlp(command, command, BENCH_PEERS_SCRIPT, (char *)NULL);
    _exit(127);
}

/* The answer without its newline. */
static const char *answer(void) {
    static char text[256];
    fflush(to_python);
    if (fgets(text, sizeof text, from_python) == NULL)
        fail("peers.py has gone");
    text[strcspn(text, "\n")] = '\0';
    return text;
}

void python_open(const char *command) {
    int in[2], out[2];
    if (command == NULL)
        return;
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN); /* a child that cannot start shows when it does not answer */
    shared_file = memfd_create("bench", 0);
    if (shared_file < 0 || pipe(in) != 0 || pipe(out) != 0 || (python = fork()) < 0)
        fail("%s: cannot be started", command);
    if (python == 0)
        become_python(command, in, out);
    close(in[0]);
    close(out[1]);
    to_python = fdopen(in[1], "w");
    from_python = fdopen(out[0], "r");
    if (to_python == NULL || from_python == NULL)
        fail("%s: cannot be started", command);
    fprintf(to_python, "versions\n");
    fflush(to_python);
    if (fgets(versions, sizeof versions, from_python) == NULL)
        snprintf(versions, sizeof versions, "none, %s does not run\n", command);
    printf("# peers: %s", versions);
}

bool python_has(const char *library) {
    return strstr(versions, library) != NULL;
}

static void expect_ok(void) {
    const char *text = answer();
    if (strcmp(text, "ok") != 0)
        fail("peers.py: %s", text);
}

/* The processors of the line's threads, and its input, of which Python makes as many sets as the session has. */
static void load(session *s) {
    const buffers *b = &s->buffers;
    const size_t needed = b->in_stride + s->arrays.outs * b->out_stride;
    if (needed > shared_size) {
        if (shared != NULL)
            munmap(shared, shared_size);
        shared_size = needed;
        if (ftruncate(shared_file, (off_t)needed) != 0)
            fail("no memory to share with peers.py");
        shared = mmap(NULL, needed, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
        if (shared == MAP_FAILED)
            fail("no memory to share with peers.py");
    }
    memcpy(shared, buffers_in(s, 0), s->arrays.in_bytes);
    fprintf(to_python, "cpus");
    for (unsigned i = 0; i < s->line.at->threads; i++)
        fprintf(to_python, " %u", processor_cpu(i));
    fprintf(to_python, "\n");
    expect_ok();
    fprintf(to_python, "load %d %zu %zu %u %zu %zu %zu\n", shared_file, s->arrays.in_bytes, s->arrays.out_bytes,
            s->arrays.outs, b->in_stride, b->out_stride, b->n_sets);
    expect_ok();
    loaded = s->serial;
}

static const char *ask(const char *verb, const contender *c, unsigned calls) {
    const result r = result_of(c);
    const char *peer_word = ((const peer *)c->user)->word;
    char word[64];
    snprintf(word, sizeof word, "%s", peer_word != NULL ? peer_word : r.op);
    for (char *space = word; (space = strchr(space, ' ')) != NULL;)
        *space = '_';
    fprintf(to_python, "%s %s %zu %zu %zu %zu %zu %u\n", verb, word, r.n, r.rows, r.cols, r.elem_bytes, r.window,
            calls);
    return answer();
}

gp_status python_call(const contender *c, size_t set) {
    session *s = c->session;
    if (loaded != s->serial)
        load(s);
    const char *text = ask("check", c, 1);
    if (strcmp(text, "ok") != 0) {
        printf("# %s: %s\n", c->who, text);
        return GP_ERR_NO_KERNEL;
    }
    for (unsigned k = 0; k < s->arrays.outs; k++)
        memcpy(buffers_out(s, set, k), shared + s->buffers.in_stride + k * s->buffers.out_stride,
               s->arrays.out_bytes);
    return GP_OK;
}

double python_time(const contender *c, unsigned calls) {
    const char *text = ask("time", c, calls);
    char *end = NULL;
    const double ns = strtod(text, &end);
    if (end == text)
        fail("peers.py: %s", text);
    return ns * 1e-3;
}

void python_close(void) {
    if (to_python == NULL)
        return;
    fclose(to_python);
    fclose(from_python);
    waitpid(python, NULL, 0);
}
