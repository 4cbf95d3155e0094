/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_rearrange() against nested loops: all permutations of small extents, random views apart and in place, threads,
 * pinned rows, kinds of memory. GPUPRIM_TEST_CASES: how many views, 20000 if unset, and 4 times as many as
 * permutations, of which there are 4 million.
 */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"
#include "../harness.h"
#include "random_move.h"

/* Allocations of a call in place, when they are counted. */
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static size_t allocated;

void *__wrap_malloc(size_t bytes) {
    allocated += bytes;
    return __real_malloc(bytes);
}

static void fill(unsigned char *to, size_t bytes, uint64_t seed) {
    uint64_t state = seed;
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(cases_random(&state) >> 40);
}

/* What the memories hold before the call, and the output's after it. */
typedef struct contents {
    unsigned char *in, *before, *wanted;
} contents;

static contents contents_make(const random_move *move, uint64_t seed) {
    contents c = {malloc(move->in.bytes + 1), malloc(move->out.bytes + 1), malloc(move->out.bytes + 1)};
    fill(c.in, move->in.bytes, seed);
    fill(c.before, move->out.bytes, seed + 1);
    if (move->in_place)
        memcpy(c.before, c.in, move->in.bytes);
    memcpy(c.wanted, c.before, move->out.bytes);
    random_move_oracle(move, c.in, c.wanted);
    return c;
}

static void contents_free(contents *c) {
    free(c->in);
    free(c->before);
    free(c->wanted);
}

static void run_row(harness *h, const subject *s, row *r, const random_move *move, const contents *c, buffer *in,
                    buffer *out) {
    memcpy(out->expected, c->before, move->out.bytes);
    buffer_send(out);
    const gp_array from = random_move_in(move, in->data), to = random_move_out(move, out->data);
    gp_status status = gp_rearrange(s->context, &from, &to);
    if (status == GP_OK)
        status = gp_context_synchronize(s->context);
    if (status == GP_ERR_UNSUPPORTED && move->may_refuse) {
        if (!buffer_check(out, move->label))
            harness_fail(h, s, r, move->label, "refused, but written");
        return;
    }
    if (!harness_ran(h, s, r, status, GP_OK, move->label))
        return;
    memcpy(out->expected, c->wanted, move->out.bytes);
    if (!buffer_check(out, move->label) || (!move->in_place && !buffer_check(in, move->label)))
        harness_fail(h, s, r, move->label, "other bytes");
}

/* On a GPU the arrays are where the call computes, or with the host, in turns. */
static buffer_kind kind_of(const subject *s, size_t turn, unsigned array) {
    const bool host = turn / BLOCK_SIZES >> array & 1;
    return s->gpu && host ? BUFFER_HOST : harness_kind(s, turn + array);
}

static void run_move(harness *h, const random_move *move, size_t turn) {
    contents c = contents_make(move, cases_seed() + turn);
    for (size_t i = 0; i < h->n_subjects; i++) {
        const subject *s = &h->subjects[i];
        buffer in, out;
        if (!harness_takes_turn(h, i, turn))
            continue;
        buffer_make(&out, s->context, kind_of(s, turn, 1), move->out.bytes, move->offset[1]);
        if (!move->in_place) {
            buffer_make(&in, s->context, kind_of(s, turn, 0), move->in.bytes, move->offset[0]);
            memcpy(in.expected, c.in, move->in.bytes);
            buffer_send(&in);
        }
        for (size_t k = 0; k < h->n_rows; k++)
            if (harness_pin(h, s, &h->rows[k], turn))
                run_row(h, s, &h->rows[k], move, &c, move->in_place ? &out : &in, &out);
        buffer_free(&out);
        if (!move->in_place)
            buffer_free(&in);
    }
    contents_free(&c);
    h->cases++;
}

static void random_views(harness *h) {
    for (size_t i = 0, count = cases_drawn(); i < count; i++) {
        random_move move;
        random_move_make(&move, cases_seed() + i, i % 50 == 0 ? 50000 : i % 5 == 0 ? 2000 : 200);
        run_move(h, &move, i);
    }
}

/* Permutation `number` of rank axes. */
static void axes_of(size_t number, unsigned rank, unsigned axes[GP_AXES]) {
    unsigned left[GP_AXES], count = rank;
    for (unsigned i = 0; i < rank; i++)
        left[i] = i;
    for (unsigned i = 0; i < rank; i++, count--) {
        const size_t at = number % count;
        number /= count;
        axes[i] = left[at];
        memmove(&left[at], &left[at + 1], (count - at - 1) * sizeof *left);
    }
}

#define RANK_MOST 5
#define ELEMENTS_MOST 200000

/* Every permutation of every extents, or every so many-th. */
static void permutations(harness *h) {
    static const size_t extents[] = {1, 2, 3, 5, 31, 32, 33, 65}, sizes[] = {1, 2, 4, 8, 3, 16, 12};
    size_t of_rank[RANK_MOST + 1] = {1}, all = 0, turn = 0;
    for (unsigned rank = 1; rank <= RANK_MOST; rank++)
        all += of_rank[rank] = of_rank[rank - 1] * COUNT(extents) * rank;
    uint64_t draws = cases_seed();
    for (size_t at = 0, step = all / (cases_drawn() / 4) + 1; at < all;
         at += 1 + cases_random(&draws) % (2 * step - 1)) {
        size_t number = at, extent[RANK_MOST] = {0}, elements = 1;
        unsigned rank = 1, axes[GP_AXES];
        while (number >= of_rank[rank])
            number -= of_rank[rank++];
        for (unsigned i = 0; i < rank; i++, number /= COUNT(extents))
            elements *= extent[i] = extents[number % COUNT(extents)];
        if (elements > ELEMENTS_MOST)
            continue;
        random_move move;
        axes_of(number, rank, axes);
        random_move_permutation(&move, sizes[turn % COUNT(sizes)], rank, extent, axes);
        run_move(h, &move, turn++);
    }
}

/*
 * In place: matrices of all kinds of sides, one and several. On a GPU also as if blocks had less shared memory:
 * pieces of small matrices are then shared by blocks.
 */
static void rectangles(harness *h) {
    static const size_t sides[] = {2, 3, 5, 7, 31, 64, 100, 101, 257, 1000, 1021, 30011};
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 40};
    static const size_t smem[] = {0, 8192, 2048};
    const subject *last = &h->subjects[h->n_subjects - 1];
    size_t turn = 0;
    for (size_t r = 0; r < COUNT(sides); r++)
        for (size_t c = 0; c < COUNT(sides); c++)
            for (size_t count = 1; count <= 3; count += 2) {
                const size_t bytes = sizes[turn % COUNT(sizes)];
                random_move move;
                if (sides[r] * sides[c] * bytes * count > (cases_reduced() ? 1u << 18 : 1u << 22))
                    continue;
                random_move_rectangles(&move, bytes, count, sides[r], sides[c]);
                move.offset[1] = turn % 5 * (turn % 3);
                if (last->gpu)
                    assert_int_equal(gp_context_limit(last->context, smem[turn / 3 % COUNT(smem)], 0), GP_OK);
                run_move(h, &move, turn++);
            }
    if (last->gpu)
        assert_int_equal(gp_context_limit(last->context, 0, 0), GP_OK);
}

/* Past the caches, by threads in shares: each kind of kernel, and with axes in reverse. */
static void large_moves(harness *h) {
    static const struct {
        size_t bytes;
        unsigned rank;
        size_t extent[6];
        unsigned axes[6];
    } moves[] = {
        {1, 3, {3, 701, 1601}, {0, 2, 1}},      {2, 3, {2, 523, 1031}, {0, 2, 1}},
        {4, 3, {2, 3, 200003}, {0, 2, 1}},      {1, 3, {2, 700001, 3}, {0, 2, 1}},
        {2, 3, {100, 101, 103}, {2, 1, 0}},     {4, 3, {65, 66, 67}, {2, 1, 0}},
        {8, 4, {20, 21, 22, 23}, {3, 2, 1, 0}}, {1, 3, {128, 96, 100}, {2, 0, 1}},
        {16, 3, {41, 42, 43}, {1, 2, 0}},       {4, 3, {6000, 8, 8}, {0, 2, 1}},
        {2, 3, {9000, 12, 7}, {0, 2, 1}},       {3, 3, {70, 64, 99}, {2, 0, 1}},
        {200, 3, {30, 40, 10}, {1, 0, 2}},      {40, 3, {31, 32, 33}, {2, 1, 0}},
        {2, 3, {5, 257, 600}, {0, 2, 1}},       {2, 6, {5, 7, 9, 11, 13, 15}, {5, 1, 3, 0, 2, 4}},
        {1, 4, {8, 64, 32, 65}, {0, 2, 1, 3}},  {9000, 3, {5, 6, 7}, {2, 1, 0}},
        {1, 4, {60, 30, 21, 43}, {3, 2, 1, 0}}, {4, 4, {16, 33, 17, 43}, {3, 2, 1, 0}},
        {4, 3, {16, 17, 4500}, {2, 1, 0}},      {4, 3, {130, 3, 1024}, {2, 1, 0}},
        {4, 3, {128, 3, 1024}, {2, 1, 0}},      {1, 3, {192, 6, 4096}, {2, 1, 0}},
        {1, 3, {5, 256, 1100}, {0, 2, 1}},      {8, 3, {64, 700, 3}, {2, 1, 0}},
        {1, 3, {6001, 8, 8}, {0, 2, 1}},        {2, 3, {5001, 5, 4}, {0, 2, 1}},
        {1, 3, {201, 3, 2740}, {0, 2, 1}}, /* strips of 8190 and 30 bytes: a thread may begin with a short one */
    };
    for (size_t i = 0; i < 5 * COUNT(moves); i += cases_reduced() ? 2 : 1) {
        random_move move;
        const size_t at = i / 5;
        random_move_permutation(&move, moves[at].bytes, moves[at].rank, moves[at].extent, moves[at].axes);
        if (i % 5 > 2)
            random_move_reverse(&move, cases_seed() + i);
        move.offset[0] = i % 3 * 5;
        move.offset[1] = i % 3 * 12;
        run_move(h, &move, i);
    }
}

static void moves(void **state) {
    (void)state;
    harness h;
    harness_open(&h, GP_OPERATION_REARRANGE_ARRAY);
    large_moves(&h);
    rectangles(&h);
    permutations(&h);
    random_views(&h);
    harness_close(&h);
}

/* Squares in one memory whose rows take turns, those of `out` with twice the pitch. */
static void interleave(gp_context *context, size_t count, size_t side) {
    const size_t in_pitch = 2 * side, out_pitch = 4 * side, matrix = side * out_pitch, n = count * matrix;
    uint32_t *memory = malloc(n * sizeof *memory), *wanted = malloc(n * sizeof *wanted);
    for (size_t i = 0; i < n; i++)
        memory[i] = wanted[i] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        const size_t r = i % matrix / out_pitch, c = i % out_pitch - side;
        if (i % out_pitch >= side && c < side)
            wanted[i] = memory[i / matrix * matrix + c * in_pitch + r];
    }
    const gp_array in = {memory, GP_U32, 3, 0, {count, side, side}, {(ptrdiff_t)matrix, 1, (ptrdiff_t)in_pitch}};
    const gp_array out = {
        memory + side, GP_U32, 3, 0, {count, side, side}, {(ptrdiff_t)matrix, (ptrdiff_t)out_pitch, 1}};
    assert_int_equal(gp_rearrange(context, &in, &out), GP_OK);
    assert_memory_equal(memory, wanted, n * sizeof *memory);
    free(memory);
    free(wanted);
}

/* One matrix, and many by the kernels for one: gp_transpose() would refuse views of two pitches that interleave. */
static void interleaved(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 4}, {1, 256}, {3, 4}, {3, 256}, {16, 256}};
    harness h;
    harness_open(&h, GP_OPERATION_REARRANGE_ARRAY);
    for (size_t i = 0; i < h.n_subjects; i++) {
        for (size_t k = 0; k < COUNT(shapes); k++)
            interleave(h.subjects[i].context, shapes[k][0], shapes[k][1]);
        gp_context_destroy(h.subjects[i].context);
    }
}

/* The other memory that matrices in place need is a hundredth at most. */
static void little_other_memory(void **state) {
    (void)state;
    static const struct {
        size_t bytes, rows, cols;
    } matrices[] = {{1, 30011, 1021}, {1, 1021, 30011}, {4, 3, 5000011}, {5, 3000017, 3}, {400000, 7, 5},
                    {3, 5003, 4099},  {1, 3500, 3001},  {1, 4001, 3989}, {1, 3989, 4001}};
    gp_context *context = make_context(GP_BACKEND_CPU, -1, 1);
    for (size_t i = 0; i < COUNT(matrices); i++) {
        random_move move;
        random_move_rectangles(&move, matrices[i].bytes, 1, matrices[i].rows, matrices[i].cols);
        contents c = contents_make(&move, i);
        const gp_array from = random_move_in(&move, c.in), to = random_move_out(&move, c.in);
        allocated = 0;
        assert_int_equal(gp_rearrange(context, &from, &to), GP_OK);
        if (allocated > move.out.bytes / 100)
            fail_msg("%s: %zu bytes of other memory for %zu", move.label, allocated, move.out.bytes);
        assert_memory_equal(c.in, c.wanted, move.out.bytes);
        contents_free(&c);
    }
    gp_context_destroy(context);
}

/* Blocks of matrices in place wait for each other: every GPU has room for all that are planned. */
static void all_blocks_at_once(void **state) {
    (void)state;
    static const size_t sides[][2] = {{7, 5},        {84, 60},       {1021, 1531}, {10007, 9973},
                                      {3, 33554467}, {1000003, 101}, {16, 16},     {2048, 2048}};
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 24};
    for (unsigned device = DEVICE_TURING; device <= DEVICE_BLACKWELL_SMALL; device++) {
        gp_context *context = devices_open(&devices[device]);
        for (size_t i = 0; i < COUNT(sides) * COUNT(sizes); i++) {
            random_move move;
            random_move_rectangles(&move, sizes[i % COUNT(sizes)], 2, sides[i / COUNT(sizes)][0],
                                   sides[i / COUNT(sizes)][1]);
            gp_array from = move.in.view, to = move.out.view;
            from.data = to.data = state; /* a model follows no address */
            gp_plan_info plan = {.struct_size = sizeof plan};
            if (gp_rearrange(context, &from, &to) != GP_OK)
                fail_msg("%s on %s: %s", move.label, devices[device].name, gp_last_error());
            assert_int_equal(gp_context_plan(context, &plan), GP_OK);
            if (strcmp(plan.kernel, "rearrange_tile") == 0 && move.in.view.extent[1] == move.in.view.extent[2])
                continue; /* squares of short elements, part by part */
            assert_string_equal(plan.kernel, "rearrange_cycle");
            assert_in_range(plan.grid, 1, (uint64_t)devices[device].multiprocessors * plan.blocks_per_sm);
        }
        gp_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves), cmocka_unit_test(interleaved),
                                       cmocka_unit_test(little_other_memory), cmocka_unit_test(all_blocks_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
