/* SPDX-License-Identifier: Apache-2.0 */
/* What a user would take instead: numpy, OpenCV, OpenBLAS on the processor; CUB, cuBLAS, a plain kernel on a GPU. */
#pragma once

#include "core/bench.h"

extern const peer all_peers[]; /* the last has no name */
void peers_close(void);

/* peers_python.c: a process that times its own calls. */
void python_open(const char *command); /* NULL: none. Before any thread is pinned */
bool python_has(const char *library);
gp_status python_call(const contender *c, size_t set); /* checks: leaves the results where the session expects them */
double python_time(const contender *c, unsigned calls);
void python_close(void);

/* peers_blas.c: libraries that are loaded when they are first asked for */
bool openblas_does(session *s, const line *l);
gp_status openblas_call(const contender *c, size_t set);
bool cublas_does(session *s, const line *l);
gp_status cublas_call(const contender *c, size_t set);
void cublas_close(void);

/* peers_cuda.c */
bool cub_does(session *s, const line *l);
bool cub_result_does(session *s, const line *l);
bool cub_floats_does(session *s, const line *l);
gp_status cub_floats_call(const contender *c, size_t set);
gp_status cub_call(const contender *c, size_t set);
gp_status cub_result_call(const contender *c, size_t set);
gp_status cub_pinned_call(const contender *c, size_t set);
bool plain_window_does(session *s, const line *l);
gp_status plain_window_call(const contender *c, size_t set);
