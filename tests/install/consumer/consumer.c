/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a user, valid as C and as C++: calls each primitive once, checks the results, and asks for a plan. */
#include <gpuprim/explain.h>
#include <stdio.h>

static int check(gp_context *context) {
    enum { ROWS = 3, COLS = 5 };
    int32_t image[ROWS * COLS], turned[ROWS * COLS];
    float sum[ROWS * COLS], square[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; ++i)
        image[i] = i - 7;

    int64_t total = -1;
    if (gp_reduce_int(context, GP_REDUCE_MIN, image, ROWS * COLS, &total) != GP_OK || total != -7)
        return 1;
    if (gp_transpose(context, sizeof image[0], image, ROWS, COLS, COLS, turned, ROWS) != GP_OK)
        return 2;
    for (int y = 0; y < ROWS; ++y)
        for (int x = 0; x < COLS; ++x)
            if (turned[x * ROWS + y] != image[y * COLS + x])
                return 3;
    if (gp_sum_and_square_window(context, image, ROWS, COLS, COLS, 3, GP_BORDER_ZERO, sum, square, COLS) != GP_OK)
        return 4;
    /* Row 0 is -7 -6 -5 -4 -3, row 2 is 3 4 5 6 7. */
    if (sum[0] != -13.0f || sum[4] != -7.0f || square[11] != 50.0f)
        return 5;
    gp_plan_info plan;
    plan.struct_size = sizeof plan;
    return gp_context_plan(context, &plan) == GP_OK && plan.operation == GP_OPERATION_WINDOW ? 0 : 6;
}

int main(void) {
    if (gp_version() != GP_VERSION) {
        fprintf(stderr, "header %d, library %u\n", GP_VERSION, gp_version());
        return 1;
    }
    gp_context *context = NULL;
    if (gp_context_create(&context, NULL) != GP_OK) {
        fprintf(stderr, "%s\n", gp_last_error());
        return 1;
    }
    int failed = check(context);
    if (failed)
        fprintf(stderr, "check %d failed: %s\n", failed, gp_last_error());
    gp_context_destroy(context);
    if (!failed)
        printf("gpuprim %u: all right\n", gp_version());
    return failed;
}
