/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a forked child from its parent without a system call or handler: a page that the kernel wipes on fork. */
#pragma once

/* A byte that reads 1 in this process and 0 in every child forked later; NULL: no memory. */
const unsigned char *gp_fork_mark(void);
