/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that take numbered parts of one job at a time, each the part that it had of the last if nobody
 * else has taken it. The lock is for sleeping and waking. */
#include "threads.h"
#include "../cancel.h"
#include "../fork.h"
#include "../wait.h"
#include "split.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/*
 * Looks for a job this often before going to sleep, gp_wait_briefly() apart: half of them pause, half yield. A
 * sleeping thread takes 3 to 50 us to wake, most on virtual machines, and a part of a short call 2 to 50: who went to
 * sleep within a call would be late for the next, which has then no part left for it, and late again for the one
 * after. A pool at rest uses no processor. 16 threads, sums of 16 MiB that follow each other: 89 us with 64 yields,
 * 19 with 256.
 */
#define LOOKS (GP_PAUSES + 256)

/* How long LOOKS keep a thread awake, about. */
#define AWAKE_NS 100000u

/* One thread's time from which a call is worth waking others. A thread that sleeps begins 20 to 90 us after the call,
 * on a core that is slow at first and has none of the data in its cache. */
#define WORTH_WAKING_NS 250000u

/* Threads that a thread wakes when it is woken: to wake all takes the caller 10 to 30 us. */
#define RELAYED 2

/* Virtual, touched as needed. For the 128 KiB that gpuprim.h promises, and a large program's thread-local data. A
 * compiler that does not optimise gives each inlined variable its own place: one frame has 0.9 to 4.5 MB then. */
#if defined(__OPTIMIZE__)
#define STACK_BYTES ((size_t)1 << 20)
#else
#define STACK_BYTES ((size_t)8 << 20)
#endif

/* A job in one word: its number and its parts. */
#define PARTS_BITS 16
#define PARTS_MASK ((uint64_t)0xffff)

/* Apart in memory, so that threads that take different parts do not wait for each other. */
typedef struct part_slot {
    _Atomic uint64_t taken; /* number of the last job of which this part was taken */
    unsigned char apart[GP_CACHE_LINE - sizeof(uint64_t)];
} part_slot;

typedef struct worker {
    gp_threads *pool;
    pthread_t thread;
} worker;

struct gp_threads {
    const unsigned char *born_here; /* reads 0 in a child of the process that started the threads */
    pthread_mutex_t lock;           /* of to_wake and stop, and for sleeping */
    pthread_cond_t work_there, all_done;
    gp_part_function function; /* the job's, as is work: read by those who have taken a part of it */
    void *work;
    atomic_uint asleep;
    unsigned to_wake;   /* of those asleep, by threads that are woken */
    unsigned count;     /* threads started */
    uint64_t called_ns; /* when gp_threads_worth() was last asked */
    bool stop;
    unsigned char apart[GP_CACHE_LINE];
    _Atomic uint64_t job;
    unsigned char apart_too[GP_CACHE_LINE];
    atomic_uint finished; /* parts done; part 0, which is the caller's, counts from the start */
    atomic_bool awaited;  /* the caller sleeps until all are */
    unsigned char apart_again[GP_CACHE_LINE];
    part_slot slot[GP_PARTS_MAX];
    worker worker[GP_PARTS_MAX];
};

/* Who is late finds the parts of an earlier job taken, if by later ones. */
static bool take(gp_threads *pool, uint64_t job, unsigned part) {
    const uint64_t number = job >> PARTS_BITS;
    uint64_t taken = atomic_load_explicit(&pool->slot[part].taken, memory_order_relaxed);
    return taken < number && atomic_compare_exchange_strong_explicit(&pool->slot[part].taken, &taken, number,
                                                                     memory_order_acquire, memory_order_relaxed);
}

/*
 * All parts that nobody has, from `first` on. Returns the first that was taken, 0 if none: who takes the same part of
 * the next job finds in its caches what the two have in common (sums of 4 MiB 29 us with parts taken in turn,
 * then 6.6).
 */
static unsigned run_parts(gp_threads *pool, uint64_t job, unsigned first) {
    const unsigned others = (unsigned)(job & PARTS_MASK) - 1;
    unsigned mine = 0;
    for (unsigned i = 0; i < others; ++i) {
        const unsigned part = 1 + (first - 1 + i) % others;
        if (!take(pool, job, part))
            continue;
        mine = mine > 0 ? mine : part;
        pool->function(pool->work, part, others + 1);
        if (atomic_fetch_add(&pool->finished, 1) == others && atomic_load(&pool->awaited)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->all_done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return mine;
}

/* The lock is held. */
static void relay(gp_threads *pool, unsigned most) {
    for (unsigned i = 0; i < most && pool->to_wake > 0; ++i, --pool->to_wake)
        pthread_cond_signal(&pool->work_there);
}

/* False: the pool is to stop. */
static bool sleep_till_woken(gp_threads *pool, uint64_t seen) {
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    if (!pool->stop && atomic_load(&pool->job) == seen)
        pthread_cond_wait(&pool->work_there, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    relay(pool, RELAYED);
    const bool stop = pool->stop;
    pthread_mutex_unlock(&pool->lock);
    return !stop;
}

static void *thread_main(void *argument) {
    const worker *self = argument;
    gp_threads *pool = self->pool;
    unsigned first = (unsigned)(self - pool->worker) + 1;
    uint64_t seen = 0;
    do {
        for (unsigned idle = 0; idle < LOOKS; ++idle) {
            const uint64_t job = atomic_load_explicit(&pool->job, memory_order_acquire);
            if (job == seen) {
                gp_wait_briefly(idle);
                continue;
            }
            seen = job;
            const unsigned part = run_parts(pool, job, first);
            if (part > 0) {
                first = part;
                idle = 0;
            }
        }
    } while (sleep_till_woken(pool, seen));
    return NULL;
}

/* With every signal blocked, so that a program's handlers run on its own threads; but for those that a thread causes
 * itself (an array in a truncated file, say), which would kill the program without a word if they were blocked. */
static void signals_to_block(sigset_t *set) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        sigdelset(set, own[i]);
}

static bool start_thread(gp_threads *pool) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigset_t blocked, before;
    signals_to_block(&blocked);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    worker *next = &pool->worker[pool->count];
    next->pool = pool;
    bool started = pthread_create(&next->thread, &attributes, thread_main, next) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    pool->count += started;
    return started;
}

static gp_threads *create_pool(void) {
    const unsigned char *born_here = gp_fork_mark();
    gp_threads *pool = born_here ? calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    pool->born_here = born_here;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work_there, NULL);
    pthread_cond_init(&pool->all_done, NULL);
    return pool;
}

/* In a forked child only the memory of a pool is there, its threads are not and its lock may be held for ever: it is
 * freed as it is. */
static gp_threads *usable_pool(gp_context *context) {
    if (context->threads && !*context->threads->born_here) {
        free(context->threads);
        context->threads = NULL;
    }
    if (!context->threads)
        context->threads = create_pool();
    return context->threads;
}

unsigned gp_threads_worth(gp_context *context, uint64_t most, uint64_t ns) {
    const unsigned parts = most < GP_PARTS_MAX ? (unsigned)most : GP_PARTS_MAX;
    gp_threads *pool = parts > 1 ? usable_pool(context) : NULL;
    if (!pool)
        return parts;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t before = pool->called_ns;
    pool->called_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return ns >= WORTH_WAKING_NS || pool->called_ns - before < AWAKE_NS + ns ? parts : 1;
}

static bool all_done(const gp_threads *pool, unsigned parts) {
    return atomic_load(&pool->finished) == parts;
}

static void wait_for_all(gp_threads *pool, unsigned parts) {
    for (unsigned i = 0; i < LOOKS && !all_done(pool, parts); ++i)
        gp_wait_briefly(i);
    if (all_done(pool, parts))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->awaited, true);
    while (!all_done(pool, parts))
        pthread_cond_wait(&pool->all_done, &pool->lock);
    atomic_store(&pool->awaited, false);
    pthread_mutex_unlock(&pool->lock);
}

/* As many threads as there are parts for. Who is about to sleep counts as asleep before it looks for work once more.
 */
static void wake(gp_threads *pool, unsigned wanted) {
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    const unsigned asleep = atomic_load(&pool->asleep), awake = pool->count - asleep;
    pool->to_wake = wanted > awake ? (unsigned)gp_least(wanted - awake, asleep) : 0;
    relay(pool, 1);
    pthread_mutex_unlock(&pool->lock);
}

void gp_threads_run(gp_context *context, unsigned parts, gp_part_function function, void *work) {
    gp_threads *pool = parts > 1 ? usable_pool(context) : NULL;
    if (!pool) {
        for (unsigned part = 0; part < parts; ++part)
            function(work, part, parts);
        return;
    }
    GP_UNCANCELLED;
    while (pool->count + 1 < parts && pool->count < GP_PARTS_MAX && start_thread(pool))
        continue;
    const uint64_t number = (atomic_load_explicit(&pool->job, memory_order_relaxed) >> PARTS_BITS) + 1;
    const uint64_t job = number << PARTS_BITS | parts;
    pool->function = function;
    pool->work = work;
    atomic_store_explicit(&pool->finished, 1, memory_order_relaxed);
    atomic_store(&pool->job, job);
    wake(pool, parts - 1);
    function(work, 0, parts);
    (void)run_parts(pool, job, parts - 1);
    wait_for_all(pool, parts);
}

#define SHARES_MAX 16u /* of a part */

typedef struct shared_work {
    gp_share_function function;
    void *work;
    unsigned each;                   /* shares of each part */
    atomic_uint taken[GP_PARTS_MAX]; /* of each part's; its first is its own */
} shared_work;

/* What a part does next; all that there are: nothing is left. */
static unsigned take_share(shared_work *s, unsigned part, unsigned parts) {
    for (unsigned i = 0; i < parts; ++i) {
        const unsigned from = (part + i) % parts;
        if (atomic_load_explicit(&s->taken[from], memory_order_relaxed) >= s->each)
            continue;
        const unsigned share = atomic_fetch_add_explicit(&s->taken[from], 1, memory_order_relaxed);
        if (share < s->each)
            return from * s->each + share;
    }
    return parts * s->each;
}

static void run_shares(void *argument, unsigned part, unsigned parts) {
    shared_work *s = argument;
    for (unsigned share = part * s->each; share < parts * s->each; share = take_share(s, part, parts))
        s->function(s->work, part, share, parts * s->each);
}

void gp_threads_share(gp_context *context, unsigned parts, uint64_t bytes, gp_share_function function, void *work) {
    shared_work s;
    if (parts == 1) {
        function(work, 0, 0, 1);
        return;
    }
    s.function = function;
    s.work = work;
    s.each = (unsigned)gp_least(gp_at_least_one(bytes / parts / GP_SHARE_BYTES_MIN), SHARES_MAX);
    for (unsigned part = 0; part < parts; ++part)
        atomic_init(&s.taken[part], 1);
    gp_threads_run(context, parts, run_shares, &s);
}

void gp_threads_destroy(gp_context *context) {
    gp_threads *pool = context->threads;
    context->threads = NULL;
    if (!pool)
        return;
    if (*pool->born_here) {
        pthread_mutex_lock(&pool->lock);
        pool->stop = true;
        pthread_cond_broadcast(&pool->work_there);
        pthread_mutex_unlock(&pool->lock);
        for (unsigned i = 0; i < pool->count; ++i)
            pthread_join(pool->worker[i].thread, NULL);
        pthread_cond_destroy(&pool->all_done);
        pthread_cond_destroy(&pool->work_there);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool);
}
