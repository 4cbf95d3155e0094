/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that take numbered parts of one job at a time. All its state is guarded by one mutex. */
#include "threads.h"
#include "../fork.h"
#include "split.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * Looks at the pool this often before going to sleep: 3 to 9 us (a pause takes 10 to 35 ns), what a sleeping thread
 * takes to wake. Calls that follow each other closely then find their threads awake, and a pool at rest uses no
 * processor.
 */
#define SPINS 256

/* Virtual, touched as needed. Enough for the rows' buffers (under 64 KiB) and a large program's thread-local data. */
#define STACK_BYTES ((size_t)1 << 20)

struct gp_threads {
    const unsigned char *born_here; /* reads 0 in a child of the process that started the threads */
    pthread_mutex_t lock;
    pthread_cond_t work_there, all_done;
    gp_part_function function;
    void *work;
    unsigned parts;
    unsigned asleep;
    bool stop;
    atomic_uint next;     /* first part that nobody has taken; parts: none left */
    atomic_uint finished; /* parts done */
    unsigned count;       /* threads started */
    pthread_t thread[GP_PARTS_MAX];
};

static void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* The lock is held on entry and on return, not while the part runs. False: no part was left. */
static bool run_one_part(gp_threads *pool) {
    unsigned part = atomic_load_explicit(&pool->next, memory_order_relaxed);
    unsigned parts = pool->parts;
    if (part >= parts)
        return false;
    atomic_store_explicit(&pool->next, part + 1, memory_order_relaxed);
    gp_part_function function = pool->function;
    void *work = pool->work;
    pthread_mutex_unlock(&pool->lock);
    function(work, part, parts);
    pthread_mutex_lock(&pool->lock);
    unsigned finished = atomic_load_explicit(&pool->finished, memory_order_relaxed) + 1;
    atomic_store_explicit(&pool->finished, finished, memory_order_release);
    if (finished == parts)
        pthread_cond_signal(&pool->all_done);
    return true;
}

static void spin_for_work(gp_threads *pool) {
    pthread_mutex_unlock(&pool->lock);
    unsigned seen = atomic_load_explicit(&pool->next, memory_order_relaxed);
    for (int i = 0; i < SPINS; ++i) {
        if (atomic_load_explicit(&pool->next, memory_order_relaxed) != seen)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
}

static void *thread_main(void *argument) {
    gp_threads *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        if (run_one_part(pool))
            continue;
        spin_for_work(pool);
        while (!pool->stop && atomic_load_explicit(&pool->next, memory_order_relaxed) >= pool->parts) {
            ++pool->asleep;
            pthread_cond_wait(&pool->work_there, &pool->lock);
            --pool->asleep;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* With every signal blocked, so that a program's handlers run on its own threads. */
static bool start_thread(gp_threads *pool) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&pool->thread[pool->count], &attributes, thread_main, pool) == 0;
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

/*
 * In a forked child only the memory of a pool is there, its threads are not and its lock may be held for ever: it is
 * freed as it is.
 */
static gp_threads *usable_pool(gp_context *context) {
    if (context->threads && !*context->threads->born_here) {
        free(context->threads);
        context->threads = NULL;
    }
    if (!context->threads)
        context->threads = create_pool();
    return context->threads;
}

static void wait_for_all(gp_threads *pool) {
    for (int i = 0; i < SPINS; ++i) {
        if (atomic_load_explicit(&pool->finished, memory_order_acquire) == pool->parts)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load_explicit(&pool->finished, memory_order_relaxed) < pool->parts)
        pthread_cond_wait(&pool->all_done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void gp_threads_run(gp_context *context, unsigned parts, gp_part_function function, void *work) {
    gp_threads *pool = parts > 1 ? usable_pool(context) : NULL;
    if (!pool) {
        for (unsigned part = 0; part < parts; ++part)
            function(work, part, parts);
        return;
    }
    while (pool->count + 1 < parts && pool->count < GP_PARTS_MAX && start_thread(pool))
        continue;
    pthread_mutex_lock(&pool->lock);
    pool->function = function;
    pool->work = work;
    pool->parts = parts;
    atomic_store_explicit(&pool->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (pool->asleep > 0)
        pthread_cond_broadcast(&pool->work_there);
    while (run_one_part(pool))
        continue;
    pthread_mutex_unlock(&pool->lock);
    wait_for_all(pool);
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
            pthread_join(pool->thread[i], NULL);
        pthread_cond_destroy(&pool->all_done);
        pthread_cond_destroy(&pool->work_there);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool);
}
