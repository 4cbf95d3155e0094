/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench drawn by gnuplot: bandwidth over size against the floor, the ladder as bars with the gain of each step.
 * gnuplot reads its commands from a pipe and writes to a file that stands under its name when it is done. The
 * commands are there before it starts: nothing that fails the program stands between the file and its name.
 */
#include "../examples/whole_files.h"
#include "array.h"
#include "bench.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PANELS_MAX = 16, PANEL_WIDTH = 1000, PANEL_HEIGHT = 460, LEVEL_NAMES_MAX = 6 };

/* A panel: the rows of one group and operation and, for bars, one shape. */
typedef struct panel {
    const char *group, *operation, *shape; /* shape NULL: lines over sizes */
} panel;

static const char *text_of(const json_t *row, const char *key) {
    return json_string_value(json_object_get(row, key));
}

static double number_of(const json_t *row, const char *key) {
    return json_number_value(json_object_get(row, key));
}

static bool is_in(const panel *p, const json_t *row) {
    return strcmp(text_of(row, "group"), p->group) == 0 && strcmp(text_of(row, "operation"), p->operation) == 0 &&
           (p->shape == NULL || strcmp(text_of(row, "shape"), p->shape) == 0);
}

/* What lies along the axis: elements, the window's width, or the matrix's cells. */
static double place_of(const json_t *row) {
    if (json_object_get(row, "n") != NULL)
        return number_of(row, "n");
    if (json_object_get(row, "window") != NULL)
        return number_of(row, "window");
    return number_of(row, "rows") * number_of(row, "cols");
}

/* Lines need two places along the axis, and at each one shape; else, and in a ladder, it is bars. */
static bool is_over_sizes(const json_t *rows, const panel *p) {
    size_t i;
    json_t *row, *shapes = made(json_object()); /* by place */
    char where[32];
    bool one_each = true;
    json_array_foreach(rows, i, row) {
        if (!is_in(p, row))
            continue;
        snprintf(where, sizeof where, "%.17g", place_of(row));
        const json_t *there = json_object_get(shapes, where);
        one_each = one_each && (there == NULL || json_equal(there, json_object_get(row, "shape")));
        json_object_set(shapes, where, json_object_get(row, "shape"));
    }
    const bool several = json_object_size(shapes) > 1;
    json_decref(shapes);
    return one_each && several && strcmp(p->group, "ladder") != 0;
}

static size_t find_panels(const json_t *rows, panel panels[PANELS_MAX]) {
    size_t i, count = 0;
    json_t *row;
    json_array_foreach(rows, i, row) {
        panel fresh = {text_of(row, "group"), text_of(row, "operation"), NULL};
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known = known || is_in(&panels[k], row);
        if (known)
            continue;
        if (count == PANELS_MAX) {
            warn("--plot: only the first %d plots are drawn", PANELS_MAX);
            break;
        }
        if (!is_over_sizes(rows, &fresh))
            fresh.shape = text_of(row, "shape");
        panels[count++] = fresh;
    }
    return count;
}

/* The panel's rows of each kernel, in the order in which the kernels come first. */
static json_t *by_kernel(const json_t *rows, const panel *p) {
    size_t i;
    json_t *row, *all = made(json_object());
    json_array_foreach(rows, i, row) {
        if (!is_in(p, row))
            continue;
        json_t *points = json_object_get(all, text_of(row, "kernel"));
        if (points == NULL) {
            points = made(json_array());
            json_object_set_new(all, text_of(row, "kernel"), points);
        }
        json_array_append(points, row);
    }
    return all;
}

/* What a saved row says of its axis, else what its operation is known for. */
static const char *axis_of(const json_t *rows, const panel *p) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) if (is_in(p, row) && text_of(row, "axis") != NULL) return text_of(row, "axis");
    for (size_t k = 0; primitives[k] != NULL; k++)
        if (strcmp(primitives[k]->name, p->operation) == 0)
            return primitives[k]->axis;
    return "elements";
}

static void draw_lines(FILE *to, const json_t *rows, const panel *p) {
    size_t k, series = 0;
    json_t *points, *point, *all = by_kernel(rows, p);
    const char *kernel, *axis = axis_of(rows, p);
    const bool windows = strcmp(axis, AXIS_WINDOW) == 0;
    fprintf(to, "set title '%s'\nset key outside right top\nset xtics auto\nunset label\n", p->operation);
    fprintf(to, "set xlabel '%s'\nset logscale x 2\nset format x '%s'\nset yrange [0:*]\n", axis,
            windows ? "%.0f" : "2^{%L}");
    json_object_foreach(all, kernel, points) {
        fprintf(to, "$s%zu << EOD\n", series++);
        json_array_foreach(points, k, point) fprintf(to, "%.17g %.17g\n", place_of(point), number_of(point, "gb_s"));
        fprintf(to, "EOD\n");
    }
    series = 0;
    fputs("plot ", to);
    json_object_foreach(all, kernel, points) {
        const bool is_floor = json_is_true(json_object_get(json_array_get(points, 0), "floor"));
        fprintf(to, "%s$s%zu using 1:2 with linespoints %s title '%s'", series > 0 ? ", " : "", series,
                is_floor                      ? "lc 'black' dt 2 pt 1"
                : strcmp(kernel, "ours") == 0 ? "lc '#4477aa' lw 2 pt 7 ps 0.6"
                                              : "pt 7 ps 0.6",
                is_floor ? "floor" : kernel);
        series++;
    }
    fputc('\n', to);
    json_decref(all);
}

/* Bars from left to right in the order of the rows; over each its GB/s and, in a ladder, the step's gain. */
static void draw_bars(FILE *to, const json_t *rows, const panel *p) {
    size_t i, bars = 0;
    json_t *row;
    double floor_gb_s = 0, most = 0;
    const bool ladder = strcmp(p->group, "ladder") == 0;
    fprintf(to, "set title '%s%s, %s%s'\nunset key\nunset logscale x\nset format x '%%g'\nset xlabel ''\n",
            p->operation, ladder ? " ladder" : "", p->shape,
            ladder ? " (over a bar: gain over the step before)" : "");
    fputs("$bars << EOD\n", to);
    json_array_foreach(rows, i, row) {
        if (!is_in(p, row))
            continue;
        if (json_is_true(json_object_get(row, "floor"))) {
            floor_gb_s = number_of(row, "gb_s");
            continue;
        }
        const double step = number_of(row, "step"), gb_s = number_of(row, "gb_s");
        most = gb_s > most ? gb_s : most;
        fprintf(to, "%zu %.17g %s \"", bars++, gb_s, text_of(row, "kernel"));
        if (ladder && step > 0)
            fprintf(to, "x%.2f\"\n", step);
        else if (ladder)
            fputs("\"\n", to);
        else
            fprintf(to, "%.0f\"\n", gb_s);
    }
    most = floor_gb_s > most ? floor_gb_s : most;
    fprintf(to, "EOD\nset xrange [-0.6:%zu.6]\nset yrange [0:%.17g]\n%s\n", bars > 0 ? bars - 1 : 0,
            1.15 * most, /* room for the words over a bar */
            bars > LEVEL_NAMES_MAX ? "set xtics rotate by -35 noenhanced\nset rmargin 16" : "set xtics noenhanced");
    fprintf(to,
            "plot $bars using 1:2:xtic(3) with boxes fs solid 0.6 lc '#4477aa', %.17g with lines lc 'black' dt 2, "
            "$bars using 1:2:4 with labels boxed offset 0,0.8 font ',10' notitle\n",
            floor_gb_s);
    fputs("set xrange [*:*]\nset xtics norotate\nset rmargin\n", to);
}

static void write_script(FILE *to, const char *path, const json_t *rows, const char *device) {
    panel panels[PANELS_MAX];
    const size_t count = find_panels(rows, panels);
    fprintf(to, "set terminal %s size %d,%zu %s\n", ends_in(path, ".png") ? "pngcairo" : "svg", PANEL_WIDTH,
            PANEL_HEIGHT * count, ends_in(path, ".png") ? "" : "background 'white'");
    fprintf(to, "set multiplot layout %zu,1 title \"%s: effective bandwidth (dashed: the floor)\" noenhanced\n",
            count, device);
    fputs("set ylabel 'GB/s'\nset grid y\nset style data linespoints\nset boxwidth 0.7\nset tics nomirror\n"
          "set key noenhanced\nset title noenhanced\nset style textbox opaque noborder margins 0.2,0.2\n",
          to);
    for (size_t i = 0; i < count; i++)
        (panels[i].shape == NULL ? draw_lines : draw_bars)(to, rows, &panels[i]);
    fputs("unset multiplot\n", to);
}

/* All of the text; false with errno set. */
static bool send(int pipe, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t done = write(pipe, text, left);
        if (done < 0 && errno != EINTR)
            return false;
        text += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* gnuplot itself, without a shell in between; what it says on standard error is the user's to see. */
static bool run_gnuplot(const void *script, size_t index, int file, char *why) {
    int ends[2], status = -1;
    (void)index;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (child == 0) {
        if (dup2(ends[0], STDIN_FILENO) >= 0 && dup2(file, STDOUT_FILENO) >= 0)
            execlp("gnuplot", "gnuplot", "-", (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* its exit status tells more */
    const bool sent = send(ends[1], script);
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGPIPE, before);
    snprintf(why, FILES_MESSAGE, "gnuplot could not write it");
    return sent && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void plot_check(const char *path) {
    if (!ends_in(path, ".svg") && !ends_in(path, ".png"))
        fail("--plot: %s ends in neither .svg nor .png", path);
    const char *search = getenv("PATH");
    char *folders = strdup(search != NULL ? search : ""), *rest = NULL, name[4096];
    bool found = false;
    if (folders == NULL)
        fail("--plot: no memory");
    for (char *f = strtok_r(folders, ":", &rest); f != NULL && !found; f = strtok_r(NULL, ":", &rest))
        found = snprintf(name, sizeof name, "%s/gnuplot", f) < (int)sizeof name && access(name, X_OK) == 0;
    free(folders);
    if (!found)
        fail("--plot needs gnuplot, which is not installed (not on PATH)");
}

void plot_write(const char *path, const json_t *rows, const char *device) {
    char message[FILES_MESSAGE], *script = NULL;
    size_t bytes;
    FILE *to = open_memstream(&script, &bytes);
    if (to != NULL)
        write_script(to, path, rows, device);
    if (to == NULL || ferror(to) || fclose(to) != 0 || script == NULL)
        fail("--plot: no memory");
    if (!files_write(1, &path, run_gnuplot, script, message))
        fail("--plot: %s", message);
    free(script);
}
