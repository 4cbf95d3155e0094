/* SPDX-License-Identifier: Apache-2.0 */
/* One page of the process, wiped in children by the kernel (madvise MADV_WIPEONFORK, Linux 4.14 on); where the kernel
 * cannot, by a fork handler. */
#include "fork.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define GP_FORK_MARKS 4096 /* bytes of the smallest page */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned char *page;
static atomic_size_t used; /* bytes of the page handed out in this process and its parents */

static void wipe(void) {
    memset(page, 0, GP_FORK_MARKS);
}

/* Each process marks a byte of its own: a child finds the page wiped, but what its parent used stays used, so that a
 * parent's contexts keep reading 0 there after the child has marked the next byte for itself. */
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

/* No lock: another thread could hold it at a fork, and the child would wait for ever. Two marks of one process do no
 * harm. */
const unsigned char *gp_fork_mark(void) {
    (void)pthread_once(&once, map_page);
    if (page == NULL)
        return NULL;
    size_t seen = atomic_load(&used);
    while (seen == 0 || __atomic_load_n(&page[seen - 1], __ATOMIC_ACQUIRE) == 0) {
        const size_t next =
            seen < GP_FORK_MARKS ? seen + 1 : seen; /* a deeper generation of forks shares the last byte */
        if (atomic_compare_exchange_weak(&used, &seen, next)) {
            __atomic_store_n(&page[next - 1], 1, __ATOMIC_RELEASE);
            seen = next;
        }
    }
    return page + (seen - 1);
}
