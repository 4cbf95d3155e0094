/* SPDX-License-Identifier: Apache-2.0 */
/* gp_occupancy(): worked answers, goldens for made-up devices, and laws that must hold for all numbers. */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"

static gp_occupancy_info ask(const gp_device_info *device, unsigned threads, unsigned regs, size_t smem) {
    gp_occupancy_info info = {.struct_size = sizeof info};
    gp_status status = gp_occupancy(device, threads, regs, smem, &info);
    if (status != GP_OK)
        fail_msg("%s: %s", device->name, gp_last_error());
    return info;
}

/* The six worked answers for device D: 1536 threads, 16384 registers, 16384 bytes, 8 blocks an SM. */
static void worked_answers(void **state) {
    (void)state;
    const gp_device_info *d = &devices[DEVICE_D];
    gp_occupancy_info ten = ask(d, 512, 10, 0), eleven = ask(d, 512, 11, 0);
    assert_int_equal(ten.full_regs_per_thread, 10);
    assert_int_equal(ten.blocks_per_sm, 3);
    assert_int_equal(ten.threads_per_sm, 1536);
    assert_int_equal(eleven.blocks_per_sm, 2);
    assert_int_equal(eleven.threads_per_sm, 1024);
    assert_int_equal(eleven.limited_by, GP_LIMIT_REGISTERS);
    gp_occupancy_info eight = ask(d, 192, 0, 2048);
    assert_int_equal(eight.full_smem_per_block, 2048);
    assert_int_equal(eight.blocks_per_sm, 8);
    assert_int_equal(ask(d, 192, 0, 2049).blocks_per_sm, 7);
    gp_occupancy_info five = ask(d, 64, 0, 5 * 1024);
    assert_int_equal(five.blocks_per_sm, 3);
    assert_int_equal(five.limited_by, GP_LIMIT_SHARED_MEMORY);
    size_t tile16 = 2 * 16 * 16 * sizeof(float), tile32 = 2 * 32 * 32 * sizeof(float);
    assert_int_equal(tile16, 2048);
    assert_int_equal(tile32, 8192);
    gp_occupancy_info tile = ask(d, 256, 10, tile16);
    assert_int_equal(tile.blocks_by_smem, 8);
    assert_int_equal(tile.blocks_by_threads, 6);
    assert_int_equal(tile.blocks_per_sm, 6);
    assert_int_equal(tile.limited_by, GP_LIMIT_THREADS);
    assert_int_equal(tile.smem_used_per_sm, 12 * 1024);
    assert_int_equal(ask(d, 1024, 10, tile32).blocks_per_sm, 1);
}

typedef struct golden {
    int device;
    unsigned threads, regs;
    size_t smem;
    unsigned blocks;
    gp_limit limited_by;
} golden;

/*
 * From Kepler on: the occupancy calculator of CUDA 13.0. By hand: Fermi 256 threads of 21 registers: 8 warps of 704
 * (672 up to 64), 2 partitions of 16384 hold 23 warps each, 46 / 8 = 5. 5 KiB of 48: 9, slots 8. Tiny: one warp.
 */
static const golden goldens[] = {
    {DEVICE_FERMI, 256, 21, 0, 5, GP_LIMIT_REGISTERS},
    {DEVICE_FERMI, 64, 10, 5120, 8, GP_LIMIT_BLOCKS},
    {DEVICE_FERMI, 192, 64, 0, 0, GP_LIMIT_REGISTERS},
    {DEVICE_KEPLER, 128, 32, 8192, 6, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_KEPLER, 256, 40, 0, 6, GP_LIMIT_REGISTERS},
    {DEVICE_KEPLER, 1024, 65, 0, 0, GP_LIMIT_REGISTERS},
    {DEVICE_PASCAL, 128, 32, 8192, 8, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_PASCAL, 512, 37, 33000, 1, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_VOLTA, 128, 32, 8192, 12, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_VOLTA, 96, 168, 49152, 2, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_TURING, 128, 32, 8192, 8, GP_LIMIT_THREADS},
    {DEVICE_TURING, 256, 40, 0, 4, GP_LIMIT_THREADS},
    {DEVICE_TURING, 1024, 64, 16384, 1, GP_LIMIT_THREADS},
    {DEVICE_AMPERE, 128, 32, 8192, 16, GP_LIMIT_THREADS},
    {DEVICE_AMPERE, 96, 168, 49152, 3, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_AMPERE, 512, 37, 33000, 3, GP_LIMIT_REGISTERS},
    {DEVICE_AMPERE_SMALL, 128, 32, 8192, 11, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_AMPERE_SMALL, 512, 37, 33000, 3, GP_LIMIT_THREADS},
    {DEVICE_ADA, 1024, 64, 16384, 1, GP_LIMIT_THREADS},
    {DEVICE_ADA, 96, 168, 49152, 2, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_HOPPER, 128, 32, 8192, 16, GP_LIMIT_THREADS},
    {DEVICE_HOPPER, 256, 40, 0, 6, GP_LIMIT_REGISTERS},
    {DEVICE_HOPPER, 96, 168, 49152, 4, GP_LIMIT_REGISTERS},
    {DEVICE_HOPPER, 1024, 65, 0, 0, GP_LIMIT_REGISTERS},
    {DEVICE_BLACKWELL, 512, 37, 33000, 3, GP_LIMIT_REGISTERS},
    {DEVICE_BLACKWELL_SMALL, 128, 32, 8192, 11, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_BLACKWELL_SMALL, 96, 168, 49152, 2, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_TINY, 32, 64, 1024, 1, GP_LIMIT_THREADS},
    {DEVICE_TINY, 33, 1, 0, 0, GP_LIMIT_THREADS},
    {DEVICE_TINY, 32, 129, 0, 0, GP_LIMIT_REGISTERS},
    {DEVICE_TINY, 32, 1, 1025, 0, GP_LIMIT_SHARED_MEMORY},
    {DEVICE_NARROW_REGS, 32, 16, 0, 16, GP_LIMIT_BLOCKS},
    {DEVICE_NARROW_REGS, 32, 17, 0, 0, GP_LIMIT_REGISTERS},
    {DEVICE_NARROW_REGS, 64, 9, 0, 0, GP_LIMIT_REGISTERS},
};

static void made_up_devices(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        const golden *g = &goldens[i];
        gp_occupancy_info info = ask(&devices[g->device], g->threads, g->regs, g->smem);
        if (info.blocks_per_sm != g->blocks || info.limited_by != (int)g->limited_by)
            fail_msg("%s, %u threads of %u registers, %zu bytes: %u blocks by %d, not %u by %d",
                     devices[g->device].name, g->threads, g->regs, g->smem, info.blocks_per_sm, info.limited_by,
                     g->blocks, (int)g->limited_by);
    }
}

static uint64_t or_default(uint64_t value, uint64_t fallback) {
    return value ? value : fallback;
}

static uint64_t up(uint64_t value, uint64_t unit) {
    return value % unit ? value + unit - value % unit : value;
}

/* Do this many blocks fit together? Their warps are dealt out to the SM's partitions one by one. */
static bool fit(const gp_device_info *d, unsigned threads, unsigned regs, size_t smem, unsigned blocks) {
    uint64_t warp = or_default(d->warp_size, 32), parts = or_default(d->sm_partitions, 1);
    uint64_t warps = (uint64_t)blocks * ((threads + warp - 1) / warp);
    uint64_t warp_regs = up(regs * warp, or_default(d->reg_unit, 1));
    uint64_t share = up(smem + d->smem_reserved, or_default(d->smem_unit, 1));
    uint64_t free_regs[8], dealt = 0;
    for (uint64_t p = 0; p < parts; p++)
        free_regs[p] = d->regs_per_sm / parts;
    for (uint64_t p = 0; dealt < warps; dealt++, p = (p + 1) % parts) {
        if (free_regs[p] < warp_regs)
            return false;
        free_regs[p] -= warp_regs;
    }
    return blocks <= d->blocks_per_sm && warps * warp <= d->threads_per_sm && blocks * share <= d->smem_per_sm;
}

/* Does one block keep to the limits of a block? */
static bool block_allowed(const gp_device_info *d, unsigned threads, unsigned regs, size_t smem) {
    uint64_t warp = or_default(d->warp_size, 32), parts = or_default(d->sm_partitions, 1);
    uint64_t most = d->threads_per_sm < 1024 ? d->threads_per_sm : 1024;
    uint64_t warp_regs = up(regs * warp, or_default(d->reg_unit, 1));
    size_t optin = or_default(d->smem_per_block_optin, or_default(d->smem_per_block, d->smem_per_sm));
    return threads <= or_default(d->threads_per_block, most) && (!d->regs_per_thread || regs <= d->regs_per_thread) &&
           up((threads + warp - 1) / warp, parts) * warp_regs <= or_default(d->regs_per_block, d->regs_per_sm) &&
           smem <= optin;
}

/* As many blocks as said do fit, one more does not, and the parts of the answer agree with each other. */
static void check_laws(const gp_device_info *d, unsigned threads, unsigned regs, size_t smem) {
    gp_occupancy_info o = ask(d, threads, regs, smem);
    bool allowed = block_allowed(d, threads, regs, smem);
    if ((o.blocks_per_sm > 0 && !(allowed && fit(d, threads, regs, smem, o.blocks_per_sm))) ||
        (allowed && fit(d, threads, regs, smem, o.blocks_per_sm + 1)))
        fail_msg("%s, %u threads of %u registers, %zu bytes: %u blocks do not fit, or one more does", d->name,
                 threads, regs, smem, o.blocks_per_sm);
    uint32_t parts[] = {o.blocks_by_threads, o.blocks_by_regs, o.blocks_by_smem, o.blocks_by_slots};
    assert_in_range(o.limited_by, GP_LIMIT_THREADS, GP_LIMIT_BLOCKS);
    for (int i = 0; i < 4; i++) {
        assert_true(o.blocks_per_sm <= parts[i]);
        assert_true(i + 1 >= o.limited_by || parts[i] > o.blocks_per_sm);
    }
    assert_int_equal(parts[o.limited_by - 1], o.blocks_per_sm);
    assert_int_equal(o.threads_per_sm, o.blocks_per_sm * threads);
    assert_int_equal(o.smem_used_per_sm, o.blocks_per_sm * o.smem_per_block);
}

static void laws_over_a_sweep(void **state) {
    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++)
        for (unsigned threads = 1; threads <= 1056; threads += threads < 70 ? 1 : 61)
            for (unsigned regs = 0; regs <= 260; regs += regs < 20 ? 1 : 15)
                for (size_t smem = 0; smem <= 240 * 1024; smem = smem * 5 / 2 + 100)
                    check_laws(&devices[i], threads, regs, smem);
}

static void more_never_gives_more(void **state) {
    (void)state;
    uint64_t seed = cases_seed();
    for (int i = 0; i < 200000; i++) {
        uint64_t r = cases_random(&seed);
        const gp_device_info *d = &devices[r % DEVICE_COUNT];
        unsigned threads = 1 + (unsigned)(r >> 8) % 1024, regs = (unsigned)(r >> 20) % 256;
        size_t smem = (size_t)(r >> 32) % (232 * 1024);
        gp_occupancy_info o = ask(d, threads, regs, smem);
        assert_true(ask(d, threads, regs + 1 + (unsigned)(r >> 52) % 8, smem).blocks_per_sm <= o.blocks_per_sm);
        assert_true(ask(d, threads, regs, smem + 1 + (size_t)(r >> 50) % 4096).blocks_per_sm <= o.blocks_per_sm);
        assert_true(ask(d, threads + 1, regs, smem).blocks_per_sm <= o.blocks_per_sm);
    }
}

/* full_regs_per_thread and full_smem_per_block are what they say: that much is free, one more costs a block. */
static void what_full_occupancy_leaves(void **state) {
    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        const gp_device_info *d = &devices[i];
        for (unsigned threads = 32; threads <= 1024; threads *= 2) {
            gp_occupancy_info o = ask(d, threads, 0, 0);
            if (o.blocks_per_sm == 0)
                continue;
            unsigned blocks = o.blocks_by_threads < o.blocks_by_slots ? o.blocks_by_threads : o.blocks_by_slots;
            gp_occupancy_info with = ask(d, threads, 0, o.full_smem_per_block);
            gp_occupancy_info past = ask(d, threads, 0, o.full_smem_per_block + 1);
            assert_int_equal(with.blocks_per_sm, blocks);
            assert_true(past.blocks_per_sm < blocks);
            if (o.blocks_by_threads * threads != d->threads_per_sm || d->regs_per_block)
                continue;
            assert_int_equal(ask(d, threads, o.full_regs_per_thread, 0).blocks_by_regs >= o.blocks_by_threads, 1);
            assert_true(ask(d, threads, o.full_regs_per_thread + 1, 0).blocks_by_regs < o.blocks_by_threads);
        }
    }
}

/* The largest numbers that the types hold: no wrap may turn too much into something that fits. */
static void absurd_requests_do_not_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        assert_int_equal(ask(&devices[i], UINT32_MAX, 1, 0).blocks_per_sm, 0);
        assert_int_equal(ask(&devices[i], 32, UINT32_MAX, 0).blocks_per_sm, 0);
        assert_int_equal(ask(&devices[i], UINT32_MAX, UINT32_MAX, 0).blocks_per_sm, 0);
        assert_int_equal(ask(&devices[i], 32, 1, SIZE_MAX).blocks_per_sm, 0);
        assert_int_equal(ask(&devices[i], 32, 1, SIZE_MAX - 500).blocks_per_sm, 0);
        gp_device_info vast = devices[i];
        vast.smem_unit = 128;
        vast.smem_reserved = SIZE_MAX;
        assert_int_equal(ask(&vast, 32, 1, 0).blocks_by_smem, 0);
        vast.smem_reserved = 1024;
        assert_int_equal(ask(&vast, 32, 1, SIZE_MAX - 100).smem_per_block, SIZE_MAX);
        vast.smem_unit = SIZE_MAX;
        assert_int_equal(ask(&vast, 32, 1, 0).blocks_by_smem, 0);
        vast.regs_per_thread = 0;
        vast.warp_size = vast.reg_unit = UINT32_MAX;
        assert_int_equal(ask(&vast, UINT32_MAX, UINT32_MAX, 0).blocks_by_regs, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_answers),
        cmocka_unit_test(made_up_devices),
        cmocka_unit_test(laws_over_a_sweep),
        cmocka_unit_test(more_never_gives_more),
        cmocka_unit_test(what_full_occupancy_leaves),
        cmocka_unit_test(absurd_requests_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
