/* SPDX-License-Identifier: Apache-2.0 */
/* Host time until a call on device memory returns, against a bare kernel launch. */
#include "bench.h"
#include "floors.h"

static gp_status launch(const contender *c, size_t set) {
    const session *s = c->session;
    CUDA(floor_launch(buffers_in(s, set), buffers_out(s, set), c->line.n, s->stream));
    return GP_OK;
}

/* Results were checked by the groups that measure device times; here the call itself counts. */
static gp_status check_returns(contender *c, bool *right) {
    const gp_status status = c->call(c, 0);
    CUDA(cudaStreamSynchronize(c->session->stream));
    *right = true;
    return status;
}

static void returns(session *s, line l, size_t in_bytes, size_t out_bytes,
                    gp_status (*call)(const contender *, size_t)) {
    contender list[CONTENDERS_MAX];
    size_t count = 0;
    l.measure = MEASURE_RETURN;
    if (!line_wanted(s, &l))
        return;
    buffers_prepare(s, l.data, in_bytes, out_bytes);
    contender_add(s, list, &count, ROLE_PEER, "bare launch", &l, launch);
    contender_add_ours(s, list, &count, &l, call);
    run_line(s, list, count, check_returns);
}

void bench_host(session *s) {
    const size_t side = 1024, bytes = side * side * sizeof(int32_t);
    const line matrix = {.operation = GP_OPERATION_TRANSPOSE,
                         .rows = side,
                         .cols = side,
                         .in_pitch = side,
                         .out_pitch = side,
                         .elem_bytes = 4,
                         .data = DATA_FINITE};
    line picture = matrix;
    picture.operation = GP_OPERATION_WINDOW;
    picture.elem_bytes = 0;
    picture.window = 15;
    picture.border = GP_BORDER_ZERO;
    picture.data = DATA_8_BIT;
    for (unsigned log2 = 12; log2 <= 20; log2 += 8) {
        const size_t n = (size_t)1 << log2;
        const line numbers = {.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = n, .data = DATA_32_BIT};
        returns(s, numbers, n * sizeof(int32_t), sizeof(int64_t), ours_reduce);
    }
    returns(s, matrix, bytes, bytes, ours_transpose);
    returns(s, picture, bytes, 2 * bytes, ours_window);
}
