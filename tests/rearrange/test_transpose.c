/* SPDX-License-Identifier: Apache-2.0 */
/* gp_transpose(): every row of the catalogue against the oracle over the shared case list. */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../oracle.h"

static harness h;

static void run_row(const transpose_case *c, const subject *s, row *r, buffer *in, buffer *out, const void *answer,
                    size_t turn, const char *label) {
    if (!harness_pin(&h, s, r, turn))
        return;
    buffer_send(out);
    gp_status status = gp_transpose(s->context, c->elem_bytes, in->data, c->rows, c->cols, c->cols + c->in_pad,
                                    out->data, c->rows + c->out_pad);
    bool ran = harness_ran(&h, s, r, status, GP_OK, label);
    unsigned char *before = malloc(out->bytes);
    assert_non_null(before);
    memcpy(before, out->expected, out->bytes);
    if (ran)
        memcpy(out->expected, answer, out->bytes);
    if (!buffer_check(out, label))
        harness_fail(&h, s, r, label, ran ? "result differs" : "written on failure");
    memcpy(out->expected, before, out->bytes);
    free(before);
}

static void run_subject(const transpose_case *c, size_t i, size_t turn, const char *label) {
    const subject *s = &h.subjects[i];
    size_t in_pitch = c->cols + c->in_pad, out_pitch = c->rows + c->out_pad;
    size_t in_bytes = ((c->rows - 1) * in_pitch + c->cols) * c->elem_bytes;
    size_t out_bytes = ((c->cols - 1) * out_pitch + c->rows) * c->elem_bytes;
    buffer in, out;
    buffer_make(&in, s->context, harness_kind(s, turn + i), in_bytes, c->in_offset);
    cases_fill_bytes(in.expected, in_bytes, c->seed);
    buffer_send(&in);
    if (!c->in_place)
        buffer_make(&out, s->context, harness_kind(s, turn + i + 1), out_bytes, c->out_offset);
    buffer *result = c->in_place ? &in : &out;
    void *answer = malloc(out_bytes);
    assert_non_null(answer);
    memcpy(answer, result->expected, out_bytes);
    oracle_transpose(c->elem_bytes, in.expected, c->rows, c->cols, in_pitch, answer, out_pitch);
    for (size_t k = 0; k < h.n_rows; k++)
        run_row(c, s, &h.rows[k], &in, result, answer, turn, label);
    if (!c->in_place && !buffer_check(&in, label))
        harness_fail(&h, s, &h.rows[0], label, "some row wrote to the input");
    buffer_free(&in);
    if (!c->in_place)
        buffer_free(&out);
    free(answer);
}

static void visit(const transpose_case *c, void *user) {
    (void)user;
    size_t turn = h.cases++;
    char label[200];
    cases_transpose_label(c, label, sizeof label);
    for (size_t i = 0; i < h.n_subjects; i++)
        if (harness_takes_turn(&h, i, turn))
            run_subject(c, i, turn, label);
}

static void every_row_over_the_case_list(void **state) {
    (void)state;
    harness_open(&h, GP_OPERATION_TRANSPOSE);
    cases_transpose(visit, NULL);
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_over_the_case_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
