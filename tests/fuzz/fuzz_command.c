/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz targets: the command's readers of files and words, by the subcommands that use them. Where the command would
 * end, it jumps back here. What it leaves behind then is memory alone; a run of libFuzzer has its -runs for that.
 */
#include "../../tools/bench.h"
#include "fuzz.h"
#include <fcntl.h>
#include <setjmp.h>
#include <unistd.h>
#include <zlib.h>

static jmp_buf back;
static bool running;       /* a subcommand, which `back' leads out of */
static gp_context *opened; /* by the subcommand that runs */
static char folder[] = "/tmp/gpuprim-fuzz-XXXXXX", path[64];

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
void __wrap_argp_error(const struct argp_state *state, const char *words, ...);
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *at, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *at, void *input);
gp_status __real_gp_context_create(gp_context **out, const gp_options *options);
gp_status __wrap_gp_context_create(gp_context **out, const gp_options *options);
void __real_gp_context_destroy(gp_context *context);
void __wrap_gp_context_destroy(gp_context *context);
void __wrap_plot_check(const char *to);
void __wrap_plot_write(const char *to, const json_t *rows, const char *device);

/* Status 0 would tell that all went well where nothing was done. */
void __wrap_exit(int status) {
    if (!running) /* libFuzzer's */
        __real_exit(status);
    REQUIRE(status == EXIT_FAILED || status == EXIT_USAGE);
    longjmp(back, 1);
}

void __wrap_argp_error(const struct argp_state *state, const char *words, ...) {
    (void)state;
    (void)words;
    longjmp(back, 1);
}

/* Its own errors would end the program from within the C library. */
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *at, void *input) {
    if (__real_argp_parse(argp, argc, argv, flags | ARGP_SILENT, at, input) != 0)
        longjmp(back, 1);
    return 0;
}

gp_status __wrap_gp_context_create(gp_context **out, const gp_options *options) {
    const gp_status status = __real_gp_context_create(out, options);
    if (status == GP_OK)
        opened = *out;
    return status;
}

void __wrap_gp_context_destroy(gp_context *context) {
    if (context == opened)
        opened = NULL;
    __real_gp_context_destroy(context);
}

/* gnuplot is a program of its own. */
void __wrap_plot_check(const char *to) {
    (void)to;
}

void __wrap_plot_write(const char *to, const json_t *rows, const char *device) {
    REQUIRE(to != NULL && json_array_size(rows) > 0 && device[0] != '\0');
}

static void clean_up(void) {
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
}

/* The commands' results are of no interest. */
static void begin(void) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    REQUIRE(mkdtemp(folder) != NULL && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) == STDOUT_FILENO);
    close(nowhere);
    atexit(clean_up);
}

/* A file of the input, named so that the command knows what it is. */
static char *file_of(const char *ending, const uint8_t *data, size_t size) {
    snprintf(path, sizeof path, "%s/in%s", folder, ending);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
    return path;
}

#define RUN(command, ...) run(command##_main, (char *[]){(char[]){"gpuprim " #command}, __VA_ARGS__, NULL})

static int count(char **argv) {
    int argc = 0;
    while (argv[argc] != NULL)
        argc++;
    return argc;
}

/* A subcommand; files that it left open are closed. */
static void run(int (*command)(int, char **), char **argv) {
    static int first_own = 0;
    if (first_own == 0)
        first_own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    running = true;
    tool_name = argv[0];
    if (setjmp(back) == 0)
        (void)command(count(argv), argv);
    running = false;
    __real_gp_context_destroy(opened);
    opened = NULL;
    close_range((unsigned)first_own, ~0u, 0);
}

/* ---- the readers ---- */

/* Each chunk's check sum is made right, or the rest of the reader would not be reached. */
static void mend_png(uint8_t *data, size_t size) {
    size_t at = 8;
    while (at + 12 <= size) {
        const size_t length =
            (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12)
            return;
        const uint32_t sum = (uint32_t)crc32(0, data + at + 4, (uInt)length + 4);
        for (unsigned i = 0; i < 4; i++)
            data[at + 8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

/* Those that claim many pixels only cost time. */
static bool is_small_png(const uint8_t *data, size_t size) {
    return size < 24 ||
           (data[16] == 0 && data[17] == 0 && data[18] < 2 && data[20] == 0 && data[21] == 0 && data[22] < 2);
}

static void try_png(uint8_t *data, size_t size) {
    const unsigned way = size > 0 ? data[0] % 4 : 0;
    if (size < 2 || !is_small_png(data + 1, size - 1))
        return;
    mend_png(data + 1, size - 1);
    char *in = file_of(".png", data + 1, size - 1);
    if (way == 0)
        RUN(transpose, in, "-");
    else if (way == 1)
        RUN(window, "--window=3", in, "-");
    else if (way == 2)
        RUN(reduce, "--op=mean,max,argmax", "--axis=0,1", in);
    else
        RUN(rearrange, "--flip=all", "-o", "-", in);
}

static void try_npy(uint8_t *data, size_t size) {
    const unsigned way = size > 0 ? data[0] % 5 : 0;
    char *in = file_of(".npy", data + (size > 0), size - (size > 0));
    if (way == 0)
        RUN(reduce, "--op=sum,mean,min,argmax,std", in);
    else if (way == 1)
        RUN(rearrange, "--flip=all", "-o", "-", in);
    else if (way == 2)
        RUN(sum, in);
    else if (way == 3)
        RUN(window, "--size=2x3", "--op=mean", in, "-");
    else
        RUN(transpose, in, "-");
}

static void try_text(uint8_t *data, size_t size) {
    const unsigned way = size > 0 ? data[0] % 3 : 0;
    char *in = file_of(".txt", data + (size > 0), size - (size > 0));
    if (way == 0)
        RUN(sum, in);
    else if (way == 1)
        RUN(sum, "--op=max", "--binary", in);
    else
        RUN(transpose, "--shape=2x3", "--elem=2", in, "-");
}

/* gpuprim bench --from FILE --plot; bench_main() itself is made to run once in a process. */
static int saved_main(int argc, char **argv) {
    const bench_request asked = {.from = argv[argc - 1], .plot = "none.svg", .groups = bench_group_of("all")};
    tool_name = "gpuprim bench";
    bench_draw_saved(&asked);
    return 0;
}

static void try_json(uint8_t *data, size_t size) {
    RUN(saved, file_of(".json", data, size));
}

static void try_csv(uint8_t *data, size_t size) {
    RUN(saved, file_of(".csv", data, size));
}

static void try_device(uint8_t *data, size_t size) {
    const unsigned way = size > 0 ? data[0] % 4 : 0;
    char *device = file_of(".json", data + (size > 0), size - (size > 0));
    if (way == 0)
        RUN(explain, "reduce", "2^20", "--device", device);
    else if (way == 1)
        RUN(explain, "window", "4096x4096", "31", "--device", device, "--format=json");
    else if (way == 2)
        RUN(explain, "transpose", "1003x1003", "4", "--device", device, "--format=csv");
    else
        RUN(explain, "block", "256", "32", "1024", "--device", device);
}

/* A word of the command line: numbers, shapes, lists, names. */
static void try_words(uint8_t *data, size_t size) {
    static const uint8_t npy[128] = "\x93NUMPY\x01\0\x76\0{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }";
    const unsigned way = size > 0 ? data[0] % 12 : 0;
    char word[256], option[300];
    const size_t length = size > sizeof word ? sizeof word - 1 : size > 0 ? size - 1 : 0;
    memcpy(word, data + (size > 0), length);
    word[length] = '\0';
#define WITH(name) (snprintf(option, sizeof option, "%s%s", name, word), option)
    if (way == 0)
        RUN(explain, "reduce", "--", word);
    else if (way == 1)
        RUN(explain, "transpose", "--device=h200", "--", word, "4");
    else if (way == 2)
        RUN(explain, "window", "--device=t4", "--", word, "31");
    else if (way == 3)
        RUN(explain, "reduce", WITH("--shape="), "--op=sum,std", "--device=h200");
    else if (way == 4)
        RUN(explain, "window", WITH("--shape="), "--window=3x5", "--op=mean", "--device=h200");
    else if (way == 5)
        RUN(explain, "rearrange", "--shape=3x40x50", WITH("--axes="), "--device=h200");
    else if (way == 6)
        RUN(explain, "block", "--device=D", "--", word);
    else if (way == 7)
        RUN(explain, "reduce", "--device=h200", WITH("--kernel="), "2^20");
    else if (way == 8)
        RUN(explain, "reduce", "--shape=3x4", WITH("--op="));
    else if (way == 9)
        RUN(explain, "transpose", "4096x4096", "--device=h200", WITH("--smem="), "--", word);
    else if (way == 10)
        RUN(rearrange, WITH("--crop="), "-o", "-", file_of(".npy", npy, sizeof npy));
    else
        RUN(reduce, WITH("--axis="), "--op=sum", file_of(".npy", npy, sizeof npy));
}

static const struct reader {
    const char *name;
    void (*try)(uint8_t *data, size_t size);
} readers[] = {{"png", try_png}, {"npy", try_npy},       {"text", try_text},  {"json", try_json},
               {"csv", try_csv}, {"device", try_device}, {"words", try_words}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct reader *reader;
    if (reader == NULL) {
        begin();
        for (reader = readers; strcmp(reader->name, READER) != 0; reader++)
            continue;
    }
    uint8_t *own = malloc(size + 1);
    REQUIRE(own != NULL);
    memcpy(own, data, size);
    reader->try(own, size);
    free(own);
    return 0;
}
