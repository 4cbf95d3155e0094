/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it wants included first, and the 128-bit integers that the tests compute in. */
#pragma once

#include "gpuprim/explain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* Sanitizers keep freed memory for a while and watch over more: the process's size then says nothing. And
   ThreadSanitizer does not bear threads that start in a forked child. Nor does qemu in user mode (7.2: "assertion
   failed" in the child's second thread), and it keeps some 280 KiB of each thread that has ended. */
#if defined(__has_feature)
#define SANITIZED_WITH(name) __has_feature(name)
#else
#define SANITIZED_WITH(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || SANITIZED_WITH(thread_sanitizer) || defined(TESTS_EMULATED)
#define SANITIZED_THREADS 1
#else
#define SANITIZED_THREADS 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SANITIZED_WITH(address_sanitizer) || SANITIZED_WITH(memory_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED SANITIZED_THREADS
#endif

/* A context; device -1: the current one, cpu_threads 0: as many as there are. Fails the test if there is none. */
gp_context *make_context(gp_backend backend, int device, unsigned cpu_threads);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
