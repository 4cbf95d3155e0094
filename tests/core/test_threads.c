/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of processor contexts: every number of them from 1 to 64, their parts, hardly any memory left. */
#include "../../src/host/cpu/threads.h"
#include "../cases.h"
#include "../check.h"
#include "../oracle.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64u

/* Work for 64 threads in each primitive, however many processors there are: 256 KiB moved are worth a thread. */
#define ROWS ((size_t)1409)
#define COLS ((size_t)1021)
#define N ((size_t)4200007)
#define WIDE 8 /* bytes of an element that is transposed */
static int32_t numbers[N];
static unsigned char turned[ROWS * COLS * WIDE], turned_right[ROWS * COLS * WIDE];
static float sums[ROWS * COLS], squares[ROWS * COLS], sums_right[ROWS * COLS], squares_right[ROWS * COLS];
static int64_t total_right;

static int prepare(void **state) {
    (void)state;
    cases_fill(numbers, N, DATA_RANDOM, cases_seed());
    oracle_reduce(GP_REDUCE_SUM, numbers, N, &total_right);
    oracle_window(numbers, ROWS, COLS, COLS, 7, GP_BORDER_WRAP, sums_right, squares_right, COLS);
    oracle_transpose(WIDE, numbers, ROWS, COLS, COLS, turned_right, ROWS);
    return 0;
}

static gp_status open_cpu(unsigned threads, gp_context **context) {
    gp_options options = {
        .struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = threads};
    return gp_context_create(context, &options);
}

static size_t status_number(const char *field) {
    char line[256];
    size_t value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtoul(line + strlen(field) + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static uint64_t threads_planned(gp_context *context) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    return gp_context_plan(context, &plan) == GP_OK ? plan.grid : 0;
}

/* NULL if all three give what the oracle gives, on `threads` threads by their plans; else which did not. */
static const char *wrong_with(gp_context *context, unsigned threads) {
    int64_t total = 0;
    memset(turned, 0x5a, sizeof turned);
    memset(sums, 0x5a, sizeof sums);
    memset(squares, 0x5a, sizeof squares);
    if (gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &total) != GP_OK || total != total_right ||
        threads_planned(context) != threads)
        return "reduce";
    if (gp_sum_and_square_window(context, numbers, ROWS, COLS, COLS, 7, GP_BORDER_WRAP, sums, squares, COLS) !=
            GP_OK ||
        memcmp(sums, sums_right, sizeof sums) != 0 || memcmp(squares, squares_right, sizeof squares) != 0 ||
        threads_planned(context) != threads)
        return "window";
    if (gp_transpose(context, WIDE, numbers, ROWS, COLS, COLS, turned, ROWS) != GP_OK ||
        memcmp(turned, turned_right, sizeof turned) != 0 || threads_planned(context) != threads)
        return "transpose";
    return NULL;
}

/* A thread that was joined may be counted a moment longer. */
static void assert_threads_become(size_t wanted) {
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 2000 && status_number("Threads:") != wanted; i++)
        nanosleep(&moment, NULL);
    assert_int_equal(status_number("Threads:"), wanted);
}

/* All of them start, the context's own, and all are gone with it. */
static void every_number_of_threads(void **state) {
    (void)state;
    const size_t before = status_number("Threads:");
    for (unsigned threads = 1; threads <= THREADS; threads += cases_reduced() ? 7 : 1) {
        gp_context *context = NULL;
        assert_int_equal(open_cpu(threads, &context), GP_OK);
        for (int turn = 0; turn < 2; turn++) {
            const char *wrong = wrong_with(context, threads);
            if (wrong)
                fail_msg("%s is wrong with %u threads", wrong, threads);
        }
        if (!SANITIZED)
            assert_threads_become(before + threads - 1);
        gp_context_destroy(context);
        if (!SANITIZED)
            assert_threads_become(before);
    }
}

/*
 * The same bits, and no signal, whatever rounding the program has set when threads are started and when they compute,
 * and though it wants a signal for every exception.
 */
static void rounding_is_to_nearest(void **state) {
    (void)state;
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info kernel = {.struct_size = sizeof kernel};
        assert_int_equal(gp_kernel_at(i, &kernel), GP_OK);
        if (kernel.operation != GP_OPERATION_WINDOW || (kernel.flags & (GP_KERNEL_GPU | GP_KERNEL_STUDY)))
            continue;
        for (unsigned threads = 1; threads <= 2; threads++) {
            gp_context *context = NULL;
            assert_int_equal(open_cpu(threads, &context), GP_OK);
            assert_int_equal(gp_context_pin_kernel(context, kernel.name, 0), GP_OK);
            for (size_t k = 0; k < sizeof directions / sizeof *directions; k++) {
                fesetround(directions[k]);
                feclearexcept(FE_ALL_EXCEPT);
                feenableexcept(FE_ALL_EXCEPT);
                gp_status status = gp_sum_and_square_window(context, numbers, ROWS, COLS, COLS, 7, GP_BORDER_WRAP,
                                                            sums, squares, COLS);
                fedisableexcept(FE_ALL_EXCEPT);
                assert_int_equal(fegetround(), directions[k]);
                fesetround(FE_TONEAREST);
                if (status == GP_ERR_NO_KERNEL) /* instructions that this processor lacks */
                    continue;
                assert_int_equal(status, GP_OK);
                assert_memory_equal(sums, sums_right, sizeof sums);
                assert_memory_equal(squares, squares_right, sizeof squares);
            }
            gp_context_destroy(context);
        }
    }
}

/* Holds all memory there is to be had, down to the smallest piece. */
typedef struct piece {
    struct piece *next;
} piece;

static piece *take_all(void) {
    piece *held = NULL;
    for (size_t bytes = (size_t)1 << 30; bytes >= sizeof(piece); bytes /= 2)
        for (piece *p; (p = malloc(bytes)) != NULL; held = p)
            p->next = held;
    return held;
}

static void give_back(piece *held) {
    for (piece *next; held; held = next) {
        next = held->next;
        free(held);
    }
}

/* The stack's own growth needs address space too, and more of it where nothing is optimised. */
static void grow_stack(void) {
    volatile char room[1 << 21];
    for (size_t i = 0; i < sizeof room; i += 1024)
        room[i] = 0;
}

/* In a child: address space for so much more than there is now. Its exit status; 0: all as it should be. */
static int with_little_space(size_t bytes) {
    grow_stack();
    const rlim_t now = (rlim_t)status_number("VmSize:") * 1024;
    const struct rlimit limit = {now + bytes, now + bytes};
    gp_context *context = NULL;
    void *memory = NULL;
    if (now == 0 || setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    piece *held = take_all();
    if (!held || open_cpu(THREADS, &context) != GP_ERR_MEMORY || context || !strstr(gp_last_error(), "memory"))
        return 3;
    give_back(held);
    gp_status status = open_cpu(THREADS, &context);
    if (status != GP_OK)
        return status == GP_ERR_MEMORY && !context ? 0 : 4;
    if (gp_alloc(context, GP_MEMORY_DEVICE, bytes + ((size_t)64 << 20), &memory) != GP_ERR_MEMORY || memory)
        return 5;
    const char *wrong = wrong_with(context, THREADS); /* on as many threads as have room for a stack */
    gp_context_destroy(context);
    return wrong ? 6 : 0;
}

static void little_address_space(void **state) {
    (void)state;
    if (SANITIZED)
        skip(); /* a sanitizer's own memory comes first */
    for (size_t bytes = 0; bytes <= (size_t)256 << 20; bytes = bytes ? bytes * 4 : 4096) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the next test */
            alarm(60);
            _exit(with_little_space(bytes));
        }
        int ended = 1;
        assert_int_equal(waitpid(child, &ended, 0), child);
        if (ended != 0)
            fail_msg("%zu bytes more: %s %d", bytes, WIFSIGNALED(ended) ? "signal" : "exit status",
                     WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    }
}

#define JOBS 30000u

typedef struct counts {
    pthread_t caller;
    unsigned parts;
    bool strange;
    atomic_uint runs[THREADS], blocking; /* parts of threads other than the caller that block SIGINT */
} counts;

static void count_part(void *work, unsigned part, unsigned parts) {
    counts *c = work;
    if (part >= c->parts || parts != c->parts || (part == 0 && !pthread_equal(pthread_self(), c->caller)))
        c->strange = true;
    else
        atomic_fetch_add(&c->runs[part], 1);
    for (unsigned i = 0; i < part * 16; i++) /* some are late for the next job, which may have more parts or fewer */
        atomic_signal_fence(memory_order_seq_cst);
}

/* Handlers run on the program's threads, but for what a thread of the context's causes itself. */
static void look_at_signals(void *work, unsigned part, unsigned parts) {
    counts *c = work;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    atomic_fetch_add(&c->runs[part], 1);
    atomic_fetch_add(&c->blocking, sigismember(&blocked, SIGINT) == 1);
    if (sigismember(&blocked, SIGSEGV) == 1 || sigismember(&blocked, SIGBUS) == 1)
        c->strange = true;
    while (atomic_load(&c->runs[parts - 1 - part]) == 0) /* so that two threads have a part each */
        sched_yield();
}

static void signals_of_a_thread(void **state) {
    (void)state;
    static counts c;
    gp_context *context = NULL;
    assert_int_equal(open_cpu(2, &context), GP_OK);
    gp_threads_run(context, 2, look_at_signals, &c);
    gp_context_destroy(context);
    assert_int_equal(c.blocking, 1);
    assert_false(c.strange);
}

/* Each part of each job runs once, and is done when the job is. */
static void every_part_runs_once(void **state) {
    (void)state;
    static counts c;
    uint64_t seed = cases_seed();
    gp_context *context = NULL;
    assert_int_equal(open_cpu(THREADS, &context), GP_OK);
    c.caller = pthread_self();
    for (unsigned job = 0; job < JOBS; job++) {
        c.parts = 1 + (unsigned)(cases_random(&seed) % (job % 64 == 0 ? THREADS : 4));
        gp_threads_run(context, c.parts, count_part, &c);
        for (unsigned part = 0; part < THREADS; part++)
            assert_int_equal(atomic_exchange(&c.runs[part], 0), part < c.parts);
        assert_false(c.strange);
    }
    gp_context_destroy(context);
}

/* Of a call. */
#define LITTLE_NS 50000
#define MUCH_NS 500000

/* Small calls use threads if they follow each other, large ones always. */
static void threads_are_not_woken_for_little(void **state) {
    (void)state;
    const struct timespec rest = {.tv_nsec = 5000000};
    gp_context *context = NULL;
    assert_int_equal(open_cpu(4, &context), GP_OK);
    assert_int_equal(gp_threads_worth(context, 4, LITTLE_NS), 1);
    unsigned worth = 1;
    for (int i = 0; i < 1000 && worth == 1; i++) /* this thread may have to wait for a processor between two calls */
        worth = gp_threads_worth(context, 4, LITTLE_NS);
    assert_int_equal(worth, 4);
    nanosleep(&rest, NULL);
    assert_int_equal(gp_threads_worth(context, 4, LITTLE_NS), 1);
    nanosleep(&rest, NULL);
    assert_int_equal(gp_threads_worth(context, 4, MUCH_NS), 4);
    assert_int_equal(gp_threads_worth(context, 1, MUCH_NS), 1);
    gp_context_destroy(context);
}

/* A core's own cache is read faster by one thread than two can meet: up to 1 MiB a reduction has one. */
static void short_reductions_have_one_thread(void **state) {
    (void)state;
    const size_t mib = ((size_t)1 << 20) / sizeof *numbers;
    int64_t total;
    gp_context *context = NULL;
    assert_int_equal(open_cpu(4, &context), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers, mib - 1, &total), GP_OK);
    assert_int_equal(threads_planned(context), 1);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers, mib, &total), GP_OK);
    assert_int_equal(threads_planned(context), 4);
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_address_space),
        cmocka_unit_test(every_number_of_threads),
        cmocka_unit_test(rounding_is_to_nearest),
        cmocka_unit_test(signals_of_a_thread),
        cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(threads_are_not_woken_for_little),
        cmocka_unit_test(short_reductions_have_one_thread),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
