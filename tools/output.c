/* SPDX-License-Identifier: Apache-2.0 */
/* Failing in one line, closing standard output, and what a terminal gets beyond plain text. */
#include "tool.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR 30

const char *tool_name = "gpuprim";
static bool bar_shown, has_failed;

/* Of UTF-8 too, in which the control characters past ASCII are 0xc2 0x80 to 0xc2 0x9f. */
const char *shown(const char *text, char room[SHOWN]) {
    unsigned char lead = 0;
    unsigned rest = 0; /* bytes that the character of the lead still has */
    size_t i = 0;
    for (; i < SHOWN - 1 && text[i] != '\0'; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool inside = rest > 0 && (c & 0xc0) == 0x80, past_ascii = c >= 0x80 && c < 0xa0;
        room[i] = c < ' ' || c == 0x7f || (past_ascii && (!inside || lead == 0xc2)) ? '?' : (char)c;
        rest = inside ? rest - 1 : c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        lead = inside ? lead : c;
    }
    room[i] = '\0';
    return room;
}

const char *shown_on_terminal(const char *text, char room[SHOWN]) {
    return isatty(STDOUT_FILENO) ? shown(text, room) : text;
}

static void say(const char *words, va_list arguments) {
    char line[SHOWN], room[SHOWN];
    vsnprintf(line, sizeof line, words, arguments);
    progress_clear();
    fprintf(stderr, "%s: %s\n", tool_name, shown(line, room));
}

void fail(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    say(words, arguments);
    va_end(arguments);
    has_failed = true;
    exit(EXIT_FAILED);
}

void warn(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    say(words, arguments);
    va_end(arguments);
}

void must(gp_status status) {
    if (status != GP_OK)
        fail("%s", gp_last_error());
}

void *host_alloc(size_t count, size_t bytes) {
    void *memory = calloc(count > 0 ? count : 1, bytes);
    if (memory == NULL)
        fail("no memory for %zu elements of %zu bytes", count, bytes);
    return memory;
}

/* A reader that has gone away wants to hear nothing; any other loss is a failure. */
void close_output(void) {
    const bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) == 0 && !lost)
        return;
    if (errno == EBADF && !lost)
        return;                        /* closed by the caller, and nothing was printed */
    if (errno != EPIPE && !has_failed) /* what failed first has been told */
        fprintf(stderr, "%s: standard output: %s\n", tool_name, errno != 0 ? strerror(errno) : "write error");
    _exit(EXIT_FAILED);
}

bool use_colour(void) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && (refused == NULL || *refused == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

unsigned screen_width(void) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40)
        return 80;
    return size.ws_col;
}

void print_wrapped(unsigned indent, const char *foreign) {
    char room[SHOWN];
    const char *text = shown(foreign, room);
    const unsigned width = screen_width();
    if (width == 0) {
        puts(text);
        return;
    }
    for (unsigned at = indent;;) {
        const size_t word = strcspn(text, " ");
        const bool first = at == indent;
        if (!first && at + 1 + word >= width) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, word, stdout);
        at += (unsigned)word;
        text += word;
        if (*text == '\0')
            break;
        text++;
    }
    putchar('\n');
}

void progress(const char *what, size_t done, size_t total) {
    if (!isatty(STDERR_FILENO))
        return;
    const int filled = total > 0 ? (int)(done * BAR / total) : 0;
    fprintf(stderr, "\r\033[K[%.*s%*s] %3d%% %.40s", filled, "##############################", BAR - filled, "",
            total > 0 ? (int)(done * 100 / total) : 0, what);
    fflush(stderr);
    bar_shown = true;
}

void progress_clear(void) {
    if (bar_shown)
        fputs("\r\033[K", stderr);
    bar_shown = false;
}
