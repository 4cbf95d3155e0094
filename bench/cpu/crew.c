/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pinned threads for the limits, which wait as the library's do, asleep, and divide work as the library's do: each
 * part into shares, and who is done with its own takes what is left of others'.
 */
#include "bench.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct hand {
    crew *crew;
    unsigned number; /* of its part */
    unsigned cpu;
    pthread_t thread;
    sem_t begin;
} hand;

struct crew {
    unsigned threads;
    sem_t done;
    const limit *limit; /* NULL: stop */
    const char *in;
    char *out, *out2;
    size_t part_bytes;
    unsigned shares; /* of each part */
    atomic_uint taken[CPUS_MAX];
    hand hands[CPUS_MAX]; /* but number 0, who is the caller */
};

static volatile uint64_t sink; /* keeps the reading loops alive */

#define SHARES_MAX 16
#define SHARE_BYTES_MIN ((size_t)2 << 20)

static void work(crew *c, unsigned number) {
    for (unsigned i = 0; i < c->threads; i++) {
        const unsigned from = (number + i) % c->threads;
        for (unsigned share; (share = atomic_fetch_add(&c->taken[from], 1)) < c->shares;) {
            const size_t units = c->part_bytes / LIMIT_UNIT;
            const size_t begin = units * share / c->shares * LIMIT_UNIT;
            const size_t end = units * (share + 1) / c->shares * LIMIT_UNIT, at = from * c->part_bytes + begin;
            sink = c->limit->function(c->in + at, c->out ? c->out + at : NULL, c->out2 ? c->out2 + at : NULL,
                                      end - begin);
        }
    }
}

static void *hand_main(void *argument) {
    hand *h = argument;
    pin_self(h->cpu);
    for (;;) {
        while (sem_wait(&h->begin) != 0)
            continue;
        if (!h->crew->limit)
            return NULL;
        work(h->crew, h->number);
        sem_post(&h->crew->done);
    }
}

crew *crew_start(const machine *m, unsigned threads) {
    crew *c = calloc(1, sizeof *c);
    if (!c)
        die("crew", "no memory");
    c->threads = threads;
    sem_init(&c->done, 0, 0);
    for (unsigned i = 1; i < threads; i++) {
        hand *h = &c->hands[i];
        h->crew = c;
        h->number = i;
        h->cpu = m->cpu[i];
        sem_init(&h->begin, 0, 0);
        if (pthread_create(&h->thread, NULL, hand_main, h) != 0)
            die("crew", "no thread");
    }
    return c;
}

size_t crew_bytes(unsigned threads, size_t bytes) {
    return bytes / (threads * LIMIT_UNIT) * (threads * LIMIT_UNIT);
}

void crew_run(crew *c, const limit *l, const char *in, char *out, char *out2, size_t bytes) {
    c->limit = l;
    c->in = in;
    c->out = out;
    c->out2 = out2;
    c->part_bytes = crew_bytes(c->threads, bytes) / c->threads;
    const size_t shares = c->threads == 1 ? 1 : c->part_bytes / SHARE_BYTES_MIN;
    c->shares = shares < 1 ? 1 : shares < SHARES_MAX ? (unsigned)shares : SHARES_MAX;
    for (unsigned i = 0; i < c->threads; i++)
        atomic_store(&c->taken[i], 0);
    for (unsigned i = 1; i < c->threads; i++)
        sem_post(&c->hands[i].begin);
    work(c, 0);
    for (unsigned i = 1; i < c->threads; i++)
        while (sem_wait(&c->done) != 0)
            continue;
}

void crew_stop(crew *c) {
    c->limit = NULL;
    for (unsigned i = 1; i < c->threads; i++) {
        sem_post(&c->hands[i].begin);
        pthread_join(c->hands[i].thread, NULL);
        sem_destroy(&c->hands[i].begin);
    }
    sem_destroy(&c->done);
    free(c);
}
