/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host data staged for a made-up GPU: cut in pieces, moved, computed, moved back. Every piece is computed by the
 * oracle in place of its kernel, so that a wrong cut, address or copy shows on a machine without a GPU. Link as
 * fake_cuda.h says, and with --wrap=gp_gpu_enqueue.
 */
#include "../src/device/gpu.h"
#include "../src/device/stage.h"
#include "buffers.h"
#include "cases.h"
#include "check.h"
#include "fake_cuda.h"
#include "oracle.h"

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem);

static size_t pieces;

static void window_piece(const gp_problem *p) {
    size_t first, end;
    oracle_columns(p->border, p->cols, p->window, &first, &end);
    assert_true(first == p->col_first || first >= end);
    oracle_window(p->in, p->rows, p->cols, p->in_pitch, p->window, p->border, p->sum, p->square, p->out_pitch);
}

static void transpose_piece(const gp_problem *p) {
    size_t bytes = p->rows * p->cols * p->elem_bytes;
    unsigned char *copy = malloc(bytes);
    assert_non_null(copy);
    for (size_t r = 0; r < p->rows; r++)
        memcpy(copy + r * p->cols * p->elem_bytes, (const char *)p->in + r * p->in_pitch * p->elem_bytes,
               p->cols * p->elem_bytes);
    oracle_transpose(p->elem_bytes, copy, p->rows, p->cols, p->cols, p->out, p->out_pitch);
    free(copy);
}

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    assert_ptr_equal(context->gpu->stream, NULL);
    assert_non_null(plan->row);
    pieces++;
    if (problem->operation == GP_OPERATION_REDUCE) {
        gp_status status = oracle_reduce(problem->reduce, problem->in, problem->n, problem->result);
        context->gpu->slot->overflow = status == GP_ERR_OVERFLOW;
        context->gpu->slot->done = context->gpu->sequence;
    } else if (problem->operation == GP_OPERATION_WINDOW) {
        window_piece(problem);
    } else {
        transpose_piece(problem);
    }
    return GP_OK;
}

static gp_context *context;

static int open_context(void **state) {
    (void)state;
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = 1, .cpu_threads = 3};
    cases_seed();
    return gp_context_create(&context, &options) == GP_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    gp_context_destroy(context);
    return fake.live == 0 && fake.out_of_bounds == 0 && fake.current == 0 ? 0 : -1;
}

/* An array's turn to be pageable or device memory; never all on the device, which would not be staged. */
static buffer_kind place(unsigned mix, unsigned bit) {
    return mix >> bit & 1 ? BUFFER_CONTEXT : BUFFER_PAGE_AFTER;
}

static void check(buffer *b, const void *answer, size_t bytes, const char *label) {
    if (answer)
        memcpy(b->expected, answer, bytes);
    if (!buffer_check(b, label) || fake.out_of_bounds)
        fail_msg("%s: staged wrongly, %u copies out of bounds", label, fake.out_of_bounds);
}

static void reduce_one(const reduce_case *c, void *user) {
    (void)user;
    buffer in;
    char label[160];
    int64_t out = 0, want = 0;
    cases_reduce_label(c, label, sizeof label);
    buffer_make(&in, context, BUFFER_PAGE_AFTER, c->n * 4, 0);
    cases_fill(in.expected, c->n, c->data, c->seed);
    buffer_send(&in);
    for (int op = GP_REDUCE_SUM; op <= GP_REDUCE_XOR; op++) {
        if (c->n > 70000 && op != GP_REDUCE_SUM && c->seed % 5 + 1 != (uint64_t)op)
            continue;
        gp_status status = oracle_reduce((gp_reduce_op)op, in.expected, c->n, &want);
        assert_int_equal(gp_reduce_int(context, (gp_reduce_op)op, in.data, c->n, &out), status);
        if (status == GP_OK && out != want)
            fail_msg("op %d of %s: %lld, not %lld", op, label, (long long)out, (long long)want);
    }
    check(&in, NULL, 0, label);
    buffer_free(&in);
}

static void reductions(void **state) {
    (void)state;
    cases_reduce(reduce_one, NULL);
    printf("cases: %zu pieces\n", pieces);
}

static void window_one(const window_case *c, void *user) {
    unsigned *turn = user, mix = *turn % 7;
    size_t in_n = (c->rows - 1) * (c->cols + c->image_pad) + c->cols;
    size_t out_n = (c->rows - 1) * (c->cols + c->out_pad) + c->cols;
    buffer image, sum, square;
    char label[260];
    if ((*turn)++ % 11 && in_n < 700000) /* small ones are one piece: some are enough */
        return;
    int used = cases_window_label(c, label, sizeof label);
    snprintf(label + used, sizeof label - (size_t)used, ", places %u", mix);
    buffer_make(&image, context, place(mix, 0), in_n * 4, c->offset * 4);
    buffer_make(&sum, context, place(mix, 1), out_n * 4, 4);
    buffer_make(&square, context, place(mix, 2), out_n * 4, 8);
    cases_fill(image.expected, in_n, c->data, c->seed);
    buffer_send(&image);
    buffer_send(&sum);
    buffer_send(&square);
    fake.no_pinned = *turn % 4 == 0;
    gp_status status = gp_sum_and_square_window(context, image.data, c->rows, c->cols, c->cols + c->image_pad,
                                                c->window, c->border, c->want_sum ? sum.data : NULL,
                                                c->want_square ? square.data : NULL, c->cols + c->out_pad);
    if (status != GP_OK)
        fail_msg("%s: %s", label, gp_last_error());
    oracle_window(image.expected, c->rows, c->cols, c->cols + c->image_pad, c->window, c->border,
                  c->want_sum ? sum.expected : NULL, c->want_square ? square.expected : NULL, c->cols + c->out_pad);
    check(&image, NULL, 0, label);
    check(&sum, NULL, 0, label);
    check(&square, NULL, 0, label);
    buffer_free(&image);
    buffer_free(&sum);
    buffer_free(&square);
}

static void windows(void **state) {
    (void)state;
    unsigned turn = 0;
    pieces = 0;
    cases_window(window_one, &turn);
    printf("cases: %u calls, %zu pieces\n", turn, pieces);
}

static void transpose_one(const transpose_case *c, void *user) {
    unsigned *turn = user, mix = c->in_place ? 0 : *turn % 3;
    size_t in_pitch = c->cols + c->in_pad, out_pitch = c->rows + c->out_pad;
    size_t in_bytes = ((c->rows - 1) * in_pitch + c->cols) * c->elem_bytes;
    size_t out_bytes = ((c->cols - 1) * out_pitch + c->rows) * c->elem_bytes;
    buffer in, out = {0};
    char label[240];
    if ((*turn)++ % 7 && in_bytes < 700000)
        return;
    int used = cases_transpose_label(c, label, sizeof label);
    snprintf(label + used, sizeof label - (size_t)used, ", places %u", mix);
    buffer_make(&in, context, place(mix, 0), in_bytes, c->in_offset);
    cases_fill_bytes(in.expected, in_bytes, c->seed);
    buffer_send(&in);
    if (!c->in_place) {
        buffer_make(&out, context, place(mix, 1), out_bytes, c->out_offset);
        buffer_send(&out);
    }
    buffer *result = c->in_place ? &in : &out;
    unsigned char *answer = malloc(out_bytes);
    assert_non_null(answer);
    memcpy(answer, result->expected, out_bytes);
    oracle_transpose(c->elem_bytes, in.expected, c->rows, c->cols, in_pitch, answer, out_pitch);
    fake.no_pinned = *turn % 4 == 0;
    if (gp_transpose(context, c->elem_bytes, in.data, c->rows, c->cols, in_pitch, result->data, out_pitch) != GP_OK)
        fail_msg("%s: %s", label, gp_last_error());
    check(result, answer, out_bytes, label);
    if (!c->in_place) {
        check(&in, NULL, 0, label);
        buffer_free(&out);
    }
    buffer_free(&in);
    free(answer);
}

static void transposes(void **state) {
    (void)state;
    unsigned turn = 0;
    pieces = 0;
    cases_transpose(transpose_one, &turn);
    printf("cases: %u calls, %zu pieces\n", turn, pieces);
}

/* Shapes cut in many pieces, in rows, in columns, in place, or by their pitch. */
static void large_shapes(void **state) {
    (void)state;
    static const window_case images[] = {
        {1300, 2100, 9, GP_BORDER_REFLECT, true, true, 3, 5, 1, DATA_RANDOM, 1},
        {3, 1500011, 9, GP_BORDER_WRAP, true, false, 0, 7, 0, DATA_EXTREMES, 2},
        {2000, 3, 5, GP_BORDER_NONE, false, true, 5000, 3, 0, DATA_RANDOM, 3},
        {1, 5001, 9, GP_BORDER_ZERO, true, true, 0, ((size_t)1 << 62) - 5001, 0, DATA_RANDOM, 4}, /* 2^64 bytes */
    };
    static const transpose_case matrices[] = {
        {4, 2000, 3000, 0, 0, 0, 0, false, 1},    {4, 2100, 2100, 0, 0, 0, 0, true, 2},
        {4, 2100, 2100, 11, 11, 0, 0, true, 3},   {1, 3, 9000001, 0, 2, 0, 0, false, 4},
        {8, 2000003, 2, 1, 0, 8, 0, false, 5},    {3, 1999, 2777, 5, 9, 1, 2, false, 6},
        {16, 900, 1000, 2000, 0, 0, 0, false, 7}, {400, 300, 301, 0, 0, 0, 0, false, 8},
        {5000000, 2, 3, 0, 1, 0, 0, false, 9},
    };
    for (size_t i = 0; i < COUNT(images); i++) {
        unsigned turn = images[i].rows > 1 ? 0 : 11; /* of the single row the squares on the device */
        window_one(&images[i], &turn);
    }
    for (size_t i = 0; i < COUNT(matrices); i++)
        for (unsigned mix = 0; mix < (matrices[i].in_place ? 1 : 3); mix++) {
            unsigned turn = mix;
            transpose_one(&matrices[i], &turn);
        }
}

/* A large square: rows of so many bytes in pinned tiles on both sides, two pieces under way, every element once. */
static void check_tiles(size_t elem, size_t side, bool in_place, size_t in_row, size_t out_row) {
    unsigned char *const in = (unsigned char *)(uintptr_t)0x100000000000, *const out = in + ((uint64_t)1 << 40);
    gp_staged staged = {true, {true, false}, true};
    gp_problem p;
    gp_cut cut;
    uint64_t covered = 0;
    assert_int_equal(gp_problem_transpose(&p, elem, in, side, side, side, in_place ? in : out, side), GP_OK);
    gp_cut_make(&cut, &p, staged, gp_cut_target(p.bytes_read, GP_PIECE_BYTES));
    if (!in_place || elem > 1)
        assert_true(cut.piece_rows * elem % out_row == 0 && cut.piece_cols * elem % in_row == 0);
    for (gp_piece piece = {0}; gp_cut_next(&cut, &piece);)
        covered += (uint64_t)piece.rows * piece.cols * (piece.pair ? 2 : 1);
    assert_true(covered == (uint64_t)side * side && 2 * cut.slot_bytes <= GP_SLOTS_BYTES_MOST);
    staged.pinned = false;
    gp_cut_make(&cut, &p, staged, gp_cut_target(p.bytes_read, GP_PIECE_BYTES));
    assert_true(in_place || (cut.piece_cols * elem % 8192 == 0 && cut.in_bytes <= GP_PIECE_BYTES));
}

/* Pitches of no particular length, of 128 KiB, of 32 KiB. */
static void tiles_have_long_rows(void **state) {
    (void)state;
    for (size_t elem = 1; elem <= 16; elem *= 2) {
        check_tiles(elem, 131072 / elem + 64, false, 8192, 8192);
        check_tiles(elem, 131072 / elem, false, 8192, elem < 4 ? 8192 : 16384);
        check_tiles(elem, 32768 / elem, false, 4096, 4096);
        check_tiles(elem, 131072 / elem + 64, true, 8192, 8192);
        check_tiles(elem, 32768 / elem, true, 8192, 8192);
    }
}

#define SIDE ((size_t)1500) /* 9 MB: large enough to be asked where it is to be computed */
static int32_t numbers[SIDE * SIDE], turned[SIDE * SIDE];

static gp_context *open_auto(void) {
    gp_options options = {.struct_size = sizeof options, .device = 1, .cpu_threads = 2};
    gp_context *made = NULL;
    assert_int_equal(gp_context_create(&made, &options), GP_OK);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        numbers[i] = (int32_t)i;
    return made;
}

/* True: pieces were staged. */
static bool turn_on(gp_context *made, gp_status *status) {
    const size_t before = pieces;
    memset(turned, 0x11, sizeof turned);
    *status = gp_transpose(made, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE);
    for (size_t i = 0; *status == GP_OK && i < SIDE * SIDE; i++)
        assert_int_equal(turned[i % SIDE * SIDE + i / SIDE], numbers[i]);
    return pieces > before;
}

/* The processor's time of such calls, as if it had done them. */
static void teach(gp_context *made, double seconds) {
    gp_problem p;
    assert_int_equal(gp_problem_transpose(&p, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE), GP_OK);
    const gp_traffic t = {sizeof numbers, sizeof turned, 2 * sizeof numbers};
    const gp_place place = gp_place_choose(&p, &t, &made->rates);
    for (int i = 0; i < GP_PLACE_SAMPLES; i++)
        gp_rates_note(&made->rates, &place, &p, seconds);
}

static void auto_goes_where_it_is_faster(void **state) {
    (void)state;
    const gp_bus fast = {1e15, 1e15, 1e15, 1e-9, 1e15};
    char text[8192];
    gp_status status;
    gp_context *made = open_auto();
    assert_false(turn_on(made, &status));
    made->rates.bus = fast;
    teach(made, 10);
    assert_true(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    assert_in_range(gp_context_explain(made, text, sizeof text), 1, sizeof text - 1);
    assert_non_null(strstr(text, "host data: on the GPU"));
    const gp_pace *staged = &made->rates.pace[GP_SPACE_GPU][made->place.class_number];
    for (int i = 0; i < 12 && staged->samples == 0; i++) /* the first prepare, and touch new memory */
        assert_true(turn_on(made, &status));
    assert_true(staged->samples > 0 && staged->median > 0);
    fake.capturing = true; /* nothing can be staged: the processor does it */
    assert_false(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    fake.capturing = false;
    assert_int_equal(gp_context_pin_kernel(made, "transpose_cpu", 0), GP_OK);
    assert_false(turn_on(made, &status));
    gp_context_destroy(made);
}

/* What calls teach: after some the processor's rate is known, and the bus's is measured if that is slow. */
static void auto_learns(void **state) {
    (void)state;
    gp_status status;
    gp_context *made = open_auto();
    made->rates.bus_tried = made->rates.pack_tried = true;
    for (int i = 0; i < 12 && !(made->place.processor_seconds > 0); i++)
        assert_false(turn_on(made, &status));
    assert_true(made->place.processor_seconds > 0 && made->place.processor_seconds < 10);
    gp_context_destroy(made);

    made = open_auto();
    teach(made, 1e3);
    fake.capturing = true;
    assert_false(turn_on(made, &status)); /* not measured now */
    assert_false(made->rates.bus_tried);
    fake.capturing = false;
    assert_true(turn_on(made, &status)); /* the made-up bus beats 1000 seconds */
    const gp_bus *bus = &made->rates.bus;
    assert_true(bus->up > 0 && bus->down > 0 && bus->both > 0 && bus->call > 0 && bus->pack > 0);
    bool quiet = true;
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        quiet = quiet && atomic_load(&made->gpu->stage->input.chunk[i].left) == 0;
    assert_true(quiet);
    const gp_bus first = *bus;
    assert_true(turn_on(made, &status));
    assert_memory_equal(bus, &first, sizeof first);
    gp_context_destroy(made);
}

/* A failed measurement leaves the call to the processor; another failure fails it. Nothing is left either way. */
static void auto_measures_in_vain(void **state) {
    (void)state;
    const int live = fake.live;
    unsigned done = 0, failed = 0;
    for (unsigned k = 1;; k++) {
        gp_status status;
        gp_context *made = open_auto();
        teach(made, 1e3);
        fake_cuda_arm(k, cudaErrorIllegalAddress, false);
        (void)turn_on(made, &status);
        const bool struck = fake.failed != NULL;
        fake_cuda_arm(0, cudaSuccess, false);
        assert_true(status == GP_OK || status == GP_ERR_DEVICE);
        done += status == GP_OK;
        failed += status != GP_OK;
        gp_context_destroy(made);
        fake.current = 0;
        assert_int_equal(fake.live, live);
        if (!struck)
            break;
    }
    assert_true(done > 20 && failed > 20);
    gp_status status;
    gp_context *made = open_auto();
    teach(made, 1e3);
    fake.no_pinned = true;
    assert_false(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    assert_true(made->rates.bus_tried);
    fake.no_pinned = false;
    gp_context_destroy(made);
}

/* A call that only waits for the stream does not take the report of an earlier sum's overflow. */
static void auto_leaves_reports_alone(void **state) {
    (void)state;
    int64_t sum = 0;
    gp_context *made = open_auto();
    int32_t *pinned = fake_cuda_pin(400);
    memset(pinned, 0, 400);
    made->gpu->slot->overflow = 1;
    assert_int_equal(gp_reduce_int(made, GP_REDUCE_SUM, pinned, 100, &sum), GP_OK);
    assert_int_equal(gp_context_synchronize(made), GP_ERR_OVERFLOW);
    assert_int_equal(gp_context_synchronize(made), GP_OK);
    fake_cuda_unpin(pinned);
    gp_context_destroy(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(windows),
        cmocka_unit_test(transposes),
        cmocka_unit_test(large_shapes),
        cmocka_unit_test(tiles_have_long_rows),
        cmocka_unit_test(auto_goes_where_it_is_faster),
        cmocka_unit_test(auto_learns),
        cmocka_unit_test(auto_measures_in_vain),
        cmocka_unit_test(auto_leaves_reports_alone),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
