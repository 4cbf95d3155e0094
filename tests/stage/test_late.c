/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host data in many small pieces, on made-up GPUs whose streams work as late as they may: a wait that is missing
 * shows as wrong bytes. Inputs are the work of the stream before the call, and outputs are looked at right after it.
 * Link as fake_cuda.h says, with fake_pieces.c.
 */
#include "../cases.h"
#include "../check.h"
#include "../oracle.h"
#include "fake_memory.h"
#include "fake_pieces.h"

#define CALLS 400
#define FAILING 60 /* calls of which one CUDA call after the other fails */
#define ARRAYS 3   /* of a call: input, two outputs */
#define SCRIBBLE 0x77

static gp_context *context;
static uint64_t luck;

static uint64_t draw(uint64_t below) {
    return cases_random(&luck) % below;
}

static gp_context *open_context(void) {
    return make_context(GP_BACKEND_CUDA, 1, draw(2) == 0 ? 1 : 3);
}

/* ---- one call ---- */

typedef struct array {
    fake_kind kind;
    size_t bytes;
    unsigned char *data, *start, *wanted; /* wanted: after the call */
} array;

typedef struct call {
    int operation; /* 0 to 2 */
    gp_reduce_op op;
    gp_border border;
    bool in_place; /* a transpose */
    size_t rows, cols, window, elem_bytes, in_pitch, out_pitch;
    array array[ARRAYS]; /* bytes 0: there is none */
    cudaStream_t stream;
} call;

static void make_array(array *a, size_t bytes) {
    *a = (array){.kind = (fake_kind)draw(FAKE_KINDS), .bytes = bytes};
    a->data = fake_memory_make(context, a->kind, bytes);
    a->start = malloc(bytes);
    a->wanted = malloc(bytes);
    assert_true(a->start != NULL && a->wanted != NULL);
    cases_fill_bytes(a->start, bytes, cases_random(&luck));
    memcpy(a->wanted, a->start, bytes);
}

static void free_array(array *a) {
    if (a->bytes == 0)
        return;
    fake_memory_free(context, a->kind, a->data);
    free(a->start);
    free(a->wanted);
}

static void find_answer(call *c) {
    array *in = &c->array[0], *out = &c->array[c->in_place ? 0 : 1];
    const int32_t *pixels = (const int32_t *)(const void *)in->start;
    if (c->operation == 0)
        assert_int_equal(oracle_reduce(c->op, pixels, c->rows * c->cols, (int64_t *)(void *)out->wanted), GP_OK);
    else if (c->operation == 1)
        oracle_window(pixels, c->rows, c->cols, c->in_pitch, c->window, c->border, (float *)(void *)out->wanted,
                      (float *)(void *)c->array[2].wanted, c->out_pitch);
    else
        oracle_transpose(c->elem_bytes, in->start, c->rows, c->cols, c->in_pitch, out->wanted, c->out_pitch);
}

static void make_call(call *c) {
    *c = (call){.operation = (int)draw(3),
                .op = (gp_reduce_op)draw(GP_REDUCE_XOR + 1),
                .border = (gp_border)draw(GP_BORDER_WRAP + 1),
                .rows = 1 + draw(300),
                .cols = 1 + draw(600),
                .window = 1 + draw(9),
                .stream = fake_stream[draw(FAKE_STREAMS)]};
    static const size_t elements[] = {1, 3, 4, 8};
    c->elem_bytes = c->operation == 2 ? elements[draw(COUNT(elements))] : 4;
    c->in_place = c->operation == 2 && draw(3) == 0;
    if (c->in_place)
        c->rows = c->cols;
    c->in_pitch = c->cols + (c->operation > 0 && draw(2) == 0 ? draw(9) : 0);
    c->out_pitch = (c->operation == 1 ? c->cols : c->rows) + (draw(2) == 0 ? draw(9) : 0);
    if (c->in_place)
        c->out_pitch = c->in_pitch;
    make_array(&c->array[0], ((c->rows - 1) * c->in_pitch + c->cols) * c->elem_bytes);
    const size_t out_rows = c->operation == 1 ? c->rows : c->cols, out_cols = c->operation == 1 ? c->cols : c->rows;
    const size_t out_bytes = ((out_rows - 1) * c->out_pitch + out_cols) * c->elem_bytes;
    for (size_t i = 0; c->operation == 1 && i < c->array[0].bytes; i++)
        if (i % 4 > 0) /* pixels of 8 bits, which the oracle is quick with */
            c->array[0].start[i] = c->array[0].wanted[i] = 0;
    if (!c->in_place)
        make_array(&c->array[1], c->operation == 0 ? sizeof(int64_t) : out_bytes);
    if (c->operation == 1)
        make_array(&c->array[2], out_bytes);
    find_answer(c);
}

static gp_status run_call(const call *c) {
    const unsigned char *in = c->array[0].data;
    unsigned char *out = c->array[c->in_place ? 0 : 1].data;
    const int32_t *pixels = (const int32_t *)(const void *)in;
    if (c->operation == 0)
        return gp_reduce_int(context, c->op, pixels, c->rows * c->cols, (int64_t *)(void *)out);
    if (c->operation == 1)
        return gp_sum_and_square_window(context, pixels, c->rows, c->cols, c->in_pitch, c->window, c->border,
                                        (float *)(void *)out, (float *)(void *)c->array[2].data, c->out_pitch);
    return gp_transpose(context, c->elem_bytes, in, c->rows, c->cols, c->in_pitch, out, c->out_pitch);
}

static void start_call(call *c) {
    for (array *a = c->array; a < c->array + ARRAYS; a++)
        if (a->bytes > 0)
            fake_memory_fill(a->kind, a->data, a->start, a->bytes, c->stream);
}

/* Small pieces are copied by the driver, larger ones by way of chunks. */
static void draw_sizes(void) {
    fake_cut.piece = draw(3) == 0 ? 512 + draw(8192) : 66000 + draw(100000);
    fake_cut.chunk = 1000 + draw(30000);
}

/* Whether all that a call works on is there when it returns. */
static bool is_awaited(const call *c) {
    for (unsigned i = 0; i < ARRAYS; i++)
        if (c->array[i].bytes > 0 && (c->array[i].kind == FAKE_PAGEABLE ||
                                      (c->array[i].kind == FAKE_PINNED && !(c->operation == 0 && i == 1))))
            return true;
    return false;
}

static void check_array(const call *c, unsigned i, const unsigned char *seen) {
    const array *a = &c->array[i];
    if (memcmp(seen, a->wanted, a->bytes) != 0)
        fail_msg(
            "array %u is wrong: operation %d, %zu x %zu, %zu bytes, places %d %d %d, pieces of %zu, chunks of %zu", i,
            c->operation, c->rows, c->cols, c->elem_bytes, c->array[0].kind, c->array[1].kind, c->array[2].kind,
            fake_cut.piece, fake_cut.chunk);
}

/* Host memory right after the call; then the input is no longer needed; then what is on the device. */
static void check_call(const call *c) {
    const bool awaited = is_awaited(c);
    for (unsigned i = 0; i < ARRAYS; i++)
        if (c->array[i].bytes > 0 && awaited && c->array[i].kind != FAKE_DEVICE)
            check_array(c, i, c->array[i].data);
    if (awaited && c->array[0].kind != FAKE_DEVICE)
        memset(c->array[0].data, SCRIBBLE, c->array[0].bytes);
    for (unsigned i = 0; i < ARRAYS; i++) {
        const array *a = &c->array[i];
        if (a->bytes == 0 || (awaited && a->kind != FAKE_DEVICE))
            continue;
        unsigned char *copy = malloc(a->bytes);
        assert_int_equal(gp_copy(context, copy, a->data, a->bytes), GP_OK);
        check_array(c, i, copy);
        free(copy);
    }
    assert_true(fake.out_of_bounds == 0 && fake.too_early == 0);
}

static void free_call(call *c) {
    for (array *a = c->array; a < c->array + ARRAYS; a++)
        free_array(a);
}

static void pieces(void **state) {
    (void)state;
    for (unsigned i = 0; i < CALLS; i++) {
        call c;
        if (i % 20 == 0)
            context = open_context();
        draw_sizes();
        make_call(&c);
        assert_int_equal(gp_context_set_stream(context, c.stream), GP_OK);
        start_call(&c);
        const size_t before = fake_pieces;
        fake.no_pinned = draw(6) == 0; /* for staging, if it has none yet */
        const gp_status status = run_call(&c);
        fake.no_pinned = false;
        if (status != GP_OK)
            fail_msg("status %d: %s", (int)status, gp_last_error());
        if (fake_pieces == before) /* no window lies in a row: nothing to do, and nothing to wait for */
            assert_int_equal(gp_context_synchronize(context), GP_OK);
        check_call(&c);
        free_call(&c);
        if (i % 20 == 19)
            gp_context_destroy(context);
    }
    printf("cases: %d calls, %zu kernels\n", CALLS, fake_pieces);
}

/* A call that fails half way has nothing under way when it returns, and the next one is right. */
static void failures(void **state) {
    (void)state;
    size_t failed = 0;
    context = open_context();
    for (unsigned i = 0; i < FAILING; i++) {
        call c;
        draw_sizes();
        fake_cut.piece = 20000 + draw(80000);
        make_call(&c);
        assert_int_equal(gp_context_set_stream(context, c.stream), GP_OK);
        for (unsigned k = 1 + (unsigned)draw(40);; k += 1 + (unsigned)draw(40)) {
            start_call(&c);
            assert_int_equal(cudaStreamSynchronize(c.stream), cudaSuccess);
            fake_cuda_arm(k, cudaErrorUnknown, false);
            const gp_status status = run_call(&c);
            const bool struck = fake.failed != NULL;
            fake_cuda_arm(0, cudaSuccess, false);
            fake.current = 0; /* the call that puts it back may be the one that fails */
            if (is_awaited(&c) && !fake_streams_are_idle())
                fail_msg("operation %d: work is left after CUDA call %u failed", c.operation, k);
            failed += status != GP_OK;
            if (!struck)
                break;
            assert_int_equal(gp_context_synchronize(context), GP_OK);
        }
        check_call(&c);
        free_call(&c);
    }
    gp_context_destroy(context);
    printf("cases: %zu failed calls\n", failed);
    assert_true(failed > FAILING);
}

int main(void) {
    luck = cases_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, fake_open_streams, fake_close_streams);
}
