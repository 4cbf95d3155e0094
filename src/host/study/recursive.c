/* SPDX-License-Identifier: Apache-2.0 */
/* Step 0 of the reduction ladder: interleaved pairs by recursion on one processor, in place, modulo 2^32. */
#include "ladder.h"
#include <stdlib.h>
#include <string.h>

/* The upper half is added to the lower; of an odd number, the element in the middle waits for the next level. */
static uint32_t sum_recursively(uint32_t *data, size_t n) {
    if (n == 1)
        return data[0];
    const size_t stride = n - n / 2;
    for (size_t i = 0; i < n / 2; i++)
        data[i] += data[i + stride];
    return sum_recursively(data, stride);
}

gp_status gp_launch_reduce_recursive_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    (void)plan;
    const size_t bytes = problem->n * sizeof(int32_t);
    uint32_t sum = 0;
    if (bytes > 0) {
        uint32_t *copy = malloc(bytes);
        if (copy == NULL)
            return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory for a copy of the input", bytes);
        memcpy(copy, problem->in, bytes);
        gp_context_bracket(context, false);
        sum = sum_recursively(copy, problem->n);
        gp_context_bracket(context, true);
        free(copy);
    }
    *problem->result = (int32_t)sum;
    return GP_OK;
}
