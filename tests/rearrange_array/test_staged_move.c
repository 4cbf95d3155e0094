/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rearrangements of host data on a made-up GPU: which bytes are copied, what lies between elements of the output,
 * what is waited for. Moves are computed by the processor's reference row. Link as fake_cuda.h says, with
 * fake_pieces.c.
 */
#include "../cases.h"
#include "../check.h"
#include "../stage/fake_memory.h"
#include "../stage/fake_pieces.h"
#include "random_move.h"

#define CALLS 4000

static unsigned char *drawn_bytes(size_t bytes, uint64_t seed) {
    unsigned char *drawn = malloc(bytes + 1);
    assert_non_null(drawn);
    cases_fill_bytes(drawn, bytes, cases_seed() + seed);
    return drawn;
}

/*
 * A call with host memory on one side returns when the output is there, and has no more use for the input; one on the
 * device alone may still be under way. One that moves nothing, as all elements are in their places, waits for
 * nothing.
 */
static void run_one(const random_move *move, size_t turn) {
    const fake_kind to = turn % FAKE_KINDS, from = move->in_place ? to : turn / FAKE_KINDS % FAKE_KINDS;
    const size_t bytes = move->out.bytes, pieces = fake_pieces;
    unsigned char *out = fake_memory_make(fake_context, to, bytes),
                  *in = move->in_place ? out : fake_memory_make(fake_context, from, move->in.bytes);
    unsigned char *start = drawn_bytes(bytes, 0), *wanted = drawn_bytes(bytes, 0),
                  *before = drawn_bytes(move->in.bytes, !move->in_place);
    fake_memory_fill(to, out, start, bytes, NULL);
    if (!move->in_place)
        fake_memory_fill(from, in, before, move->in.bytes, NULL);
    random_move_oracle(move, before, wanted);
    const gp_array in_view = random_move_in(move, in), out_view = random_move_out(move, out);
    gp_status status = gp_rearrange(fake_context, &in_view, &out_view);
    const bool refused = (status == GP_ERR_UNSUPPORTED || status == GP_ERR_NO_KERNEL) && move->may_refuse;
    if (refused)
        memcpy(wanted, before, bytes);
    const bool idle = fake_pieces == pieces;
    if (refused || (status == GP_OK && (idle || (from == FAKE_DEVICE && to == FAKE_DEVICE))))
        status = gp_context_synchronize(fake_context);
    if (status != GP_OK)
        fail_msg("%s, places %d %d: status %d: %s", move->label, from, to, (int)status, gp_last_error());
    if (!move->in_place && memcmp(in, before, move->in.bytes) != 0)
        fail_msg("%s, places %d %d: another input", move->label, from, to);
    if (!move->in_place)
        memset(in, 0, move->in.bytes);
    if (memcmp(out, wanted, bytes) != 0)
        fail_msg("%s, places %d %d: other bytes", move->label, from, to);
    assert_true(fake.out_of_bounds == 0 && fake.too_early == 0);
    fake_memory_free(fake_context, to, out);
    if (!move->in_place)
        fake_memory_free(fake_context, from, in);
    free(wanted);
    free(start);
    free(before);
}

static void random_views(void **state) {
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        random_move move;
        random_move_make(&move, cases_seed() + i, i % 50 == 0 ? 20000 : i % 5 == 0 ? 1000 : 100);
        run_one(&move, i);
    }
    printf("cases: %d calls, %zu computed\n", CALLS, fake_pieces);
}

static void no_memory_is_said_in_words(void **state) {
    (void)state;
    static float in[4096], out[8192];
    const gp_array from =
        gp_permuted(gp_dense(GP_F32, in, 3, (const size_t[]){16, 16, 16}), (const unsigned[]){2, 1, 0});
    gp_array to = gp_dense(GP_F32, out, 3, from.extent);
    to.stride[0] *= 2;
    for (unsigned k = 1; k < 100; k++) {
        fake_cuda_arm(k, cudaErrorMemoryAllocation, false);
        const gp_status status = gp_rearrange(fake_context, &from, &to);
        const bool failed = fake.failed != NULL;
        if (failed && strcmp(fake.failed, "cudaMalloc") == 0)
            assert_int_equal(status, GP_ERR_MEMORY);
        fake_cuda_arm(0, cudaSuccess, false);
        fake.current = 0; /* the call that puts it back may be the one that fails */
        assert_true(fake_streams_are_idle());
        if (!failed) {
            assert_int_equal(status, GP_OK);
            return;
        }
    }
    fail_msg("the call never succeeds");
}

int main(void) {
    bool any = false;
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(gp_kernel_at(i, &info), GP_OK);
        any = any || (info.operation == GP_OPERATION_REARRANGE_ARRAY && info.flags & GP_KERNEL_GPU);
    }
    if (!any) {
        printf("skipped: no kernel of a GPU rearranges views\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_said_in_words), cmocka_unit_test(random_views)};
    return cmocka_run_group_tests(tests, fake_open_context, fake_close_context);
}
