/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page of the process, wiped in children by the kernel (madvise MADV_WIPEONFORK, Linux 4.14 on); where the kernel
 * cannot, by a fork handler.
 */
#include "fork.h"
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GP_FORK_MARKS 4096 /* bytes of the smallest page */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned char *page;
static size_t used; /* bytes of the page handed out in this process and its parents */

static void wipe(void) {
    memset(page, 0, GP_FORK_MARKS);
}

/*
 * Each process marks a byte of its own: a child finds the page wiped, but what its parent used stays used, so that a
 * parent's contexts keep reading 0 there after the child has marked the next byte for itself.
 */
static void map_page(void) {
    static unsigned char fallback[GP_FORK_MARKS];
    void *mapped = mmap(NULL, GP_FORK_MARKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED && madvise(mapped, GP_FORK_MARKS, MADV_WIPEONFORK) == 0) {
        page = mapped;
        return;
    }
    if (mapped != MAP_FAILED)
        (void)munmap(mapped, GP_FORK_MARKS);
    page = fallback;
    if (pthread_atfork(NULL, NULL, wipe) != 0)
        page = NULL;
}

const unsigned char *gp_fork_mark(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_once(&once, map_page);
    if (page == NULL)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    if (used == 0 || page[used - 1] == 0) {
        if (used < GP_FORK_MARKS)
            used++; /* a deeper generation of forks shares the last byte */
        page[used - 1] = 1;
    }
    const unsigned char *mark = page + (used - 1);
    (void)pthread_mutex_unlock(&lock);
    return mark;
}
