/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rearrangements of host data on a made-up GPU: which bytes are copied, and what lies between elements of the output.
 * Moves are computed by the processor's reference row. Link as fake_cuda.h says, with fake_pieces.c.
 */
#include "../cases.h"
#include "../check.h"
#include "../stage/fake_cuda.h"
#include "random_move.h"

#define CALLS 4000

static gp_context *context;

static int open_context(void **state) {
    (void)state;
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = 1, .cpu_threads = 2};
    cases_seed();
    return gp_context_create(&context, &options) == GP_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    gp_context_destroy(context);
    return fake.live == 0 && fake.out_of_bounds == 0 && fake.current == 0 ? 0 : -1;
}

/* On the device, whose memory is the host's here, or with the host. */
static unsigned char *memory_of(bool device, size_t bytes) {
    void *memory = NULL;
    if (!device)
        return malloc(bytes + 1);
    assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, bytes + 1, &memory), GP_OK);
    return memory;
}

static void give_back(bool device, unsigned char *memory) {
    if (device)
        assert_int_equal(gp_free(context, memory), GP_OK);
    else
        free(memory);
}

/* places, bits: in, out are device memory. */
static void run_one(const random_move *move, unsigned places) {
    const size_t bytes = move->out.bytes;
    unsigned char *out = memory_of(places & 2, bytes),
                  *in = move->in_place ? out : memory_of(places & 1, move->in.bytes);
    unsigned char *wanted = malloc(bytes + 1), *before = malloc(move->in.bytes + 1);
    uint64_t draws = cases_seed();
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)cases_random(&draws);
    for (size_t i = 0; i < move->in.bytes && !move->in_place; i++)
        in[i] = (unsigned char)cases_random(&draws);
    memcpy(wanted, out, bytes);
    memcpy(before, in, move->in.bytes);
    random_move_oracle(move, before, wanted);
    const gp_array from = random_move_in(move, in), to = random_move_out(move, out);
    gp_status status = gp_rearrange(context, &from, &to);
    if (status == GP_OK)
        status = gp_context_synchronize(context);
    if ((status == GP_ERR_UNSUPPORTED || status == GP_ERR_NO_KERNEL) && move->may_refuse)
        memcpy(wanted, before, bytes);
    else if (status != GP_OK)
        fail_msg("%s, places %u: status %d: %s", move->label, places, (int)status, gp_last_error());
    if (memcmp(out, wanted, bytes) != 0 || (!move->in_place && memcmp(in, before, move->in.bytes) != 0))
        fail_msg("%s, places %u: other bytes", move->label, places);
    assert_int_equal(fake.out_of_bounds, 0);
    give_back(places & 2, out);
    if (!move->in_place)
        give_back(places & 1, in);
    free(wanted);
    free(before);
}

static void random_views(void **state) {
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        random_move move;
        random_move_make(&move, cases_seed() + i, i % 50 == 0 ? 20000 : i % 5 == 0 ? 1000 : 100);
        run_one(&move, (unsigned)(i % 4));
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
        const gp_status status = gp_rearrange(context, &from, &to);
        const bool failed = fake.failed != NULL;
        if (failed && strcmp(fake.failed, "cudaMalloc") == 0)
            assert_int_equal(status, GP_ERR_MEMORY);
        fake_cuda_arm(0, cudaSuccess, false);
        fake.current = 0; /* the call that puts it back may be the one that fails */
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
    return cmocka_run_group_tests(tests, open_context, close_context);
}
