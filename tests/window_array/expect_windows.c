/* SPDX-License-Identifier: Apache-2.0 */
#include "expect_windows.h"
#include "../cases.h"

#include <string.h>

bool windows_left_out(size_t picture) {
    return cases_reduced() && (picture + cases_seed()) % 4 != 0;
}

void expect_windows(harness *h, const gp_array *in, const gp_window_shape *window, const gp_result *results,
                    size_t count, size_t bytes, float *const *expected, const char *what) {
    for (size_t s = 0; s < h->n_subjects; s++)
        for (size_t k = 0; k < h->n_rows; k++) {
            if ((s != 0 && s != 2 && !h->subjects[s].gpu) || !harness_pin(h, &h->subjects[s], &h->rows[k], 0))
                continue;
            for (size_t r = 0; r < count; r++)
                memset(results[r].to.data, 0, bytes);
            const gp_status status = gp_window(h->subjects[s].context, in, window, results, count);
            if (!harness_ran(h, &h->subjects[s], &h->rows[k], status, GP_OK, what))
                continue;
            for (size_t r = 0; r < count; r++)
                if (memcmp(expected[r], results[r].to.data, bytes) != 0)
                    harness_fail(h, &h->subjects[s], &h->rows[k], what, "other bits than the oracle's");
        }
    h->cases++;
}
