/* SPDX-License-Identifier: Apache-2.0 */
/* gp_reduce_int(): every row of the catalogue against the oracle over the shared case list. */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../oracle.h"

static harness h;

/* A study row may wrap at 32 bits: then the low half counts, and the rest of the result is taken as it is. */
static void forgive_high_half(const row *r, gp_reduce_op op, buffer *out) {
    if (!(r->info.flags & GP_KERNEL_MODULO_32) || op != GP_REDUCE_SUM)
        return;
    int64_t seen, expected;
    memcpy(&seen, buffer_read(out), sizeof seen);
    memcpy(&expected, out->expected, sizeof expected);
    if ((uint32_t)seen == (uint32_t)expected)
        memcpy(out->expected, &seen, sizeof seen);
}

static void run_row(const subject *s, row *r, gp_reduce_op op, size_t n, buffer *in, buffer *out, size_t turn,
                    const char *label) {
    if (!harness_pin(&h, s, r, turn))
        return;
    int64_t untouched = 0x5ca1ab1e5ca1ab1e, result = 0;
    gp_status want = oracle_reduce(op, (const int32_t *)in->expected, n, &result);
    memcpy(out->expected, &untouched, sizeof untouched);
    buffer_send(out);
    const int32_t *data = n ? in->data : NULL;
    gp_status status = gp_reduce_int(s->context, op, data, n, out->data);
    bool ran = harness_ran(&h, s, r, status, want, label);
    if (status == GP_OK) {
        memcpy(out->expected, &result, sizeof result);
        forgive_high_half(r, op, out);
    }
    if ((ran || status != GP_OK) && !buffer_check(out, label))
        harness_fail(&h, s, r, label, "result differs or was written on failure");
}

static void visit(const reduce_case *c, void *user) {
    (void)user;
    size_t turn = h.cases++;
    char label[160], full[200];
    cases_reduce_label(c, label, sizeof label);
    for (size_t i = 0; i < h.n_subjects; i++) {
        const subject *s = &h.subjects[i];
        if (!harness_takes_turn(&h, i, turn))
            continue;
        buffer in, out;
        buffer_make(&in, s->context, harness_kind(s, turn + i), c->n * 4, c->offset * 4);
        buffer_make(&out, s->context, s->gpu ? BUFFER_CONTEXT : BUFFER_HOST, 8, 0);
        cases_fill(in.expected, c->n, c->data, c->seed);
        buffer_send(&in);
        for (int op = GP_REDUCE_SUM; op <= GP_REDUCE_XOR; op++) {
            if (c->n > 70000 && op != GP_REDUCE_SUM && (size_t)op != 1 + turn % 5)
                continue;
            snprintf(full, sizeof full, "op %d, %s", op, label);
            for (size_t k = 0; k < h.n_rows; k++)
                run_row(s, &h.rows[k], (gp_reduce_op)op, c->n, &in, &out, turn + (size_t)op, full);
        }
        if (!buffer_check(&in, label))
            harness_fail(&h, s, &h.rows[0], label, "some row wrote to the input");
        buffer_free(&in);
        buffer_free(&out);
    }
}

static void every_row_over_the_case_list(void **state) {
    (void)state;
    harness_open(&h, GP_OPERATION_REDUCE);
    cases_reduce(visit, NULL);
    harness_close(&h);
}

/* Every length up to 1100 at every offset from a 64-byte boundary: heads and tails of vector loops. */
static void every_short_length_and_offset(void **state) {
    (void)state;
    harness_open(&h, GP_OPERATION_REDUCE);
    size_t longest = cases_reduced() ? 70 : 1100;
    for (size_t i = 0; i < h.n_subjects; i++) {
        const subject *s = &h.subjects[i];
        buffer in, out;
        if (i != 0 && !s->gpu)
            continue;
        buffer_make(&in, s->context, BUFFER_CONTEXT, (longest + 16) * 4, 0);
        buffer_make(&out, s->context, BUFFER_CONTEXT, 8, 0);
        cases_fill(in.expected, longest + 16, DATA_RANDOM, cases_seed());
        buffer_send(&in);
        for (size_t n = 1; n <= longest; n++) {
            h.cases++;
            for (size_t k = 0; k < h.n_rows; k++) {
                size_t offset = (n + 7 * k) % 16;
                gp_reduce_op op = (gp_reduce_op)((n + k) % 6);
                for (size_t step = 0; step < (s->gpu ? 1u : 16u); step++) {
                    buffer part = in;
                    size_t shift = (offset + step) % 16 * 4;
                    part.data = (char *)in.data + shift;
                    part.expected = (char *)in.expected + shift;
                    run_row(s, &h.rows[k], op, n, &part, &out, n, "short lengths");
                }
            }
        }
        buffer_free(&in);
        buffer_free(&out);
    }
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_over_the_case_list),
        cmocka_unit_test(every_short_length_and_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
