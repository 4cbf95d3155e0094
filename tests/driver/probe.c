/* SPDX-License-Identifier: Apache-2.0 */
/* Says what the library finds on this machine, and that a default context still computes. For driver.sh. */
#include "gpuprim/gpuprim.h"
#include <stdio.h>

int main(void) {
    int count = gp_device_count();
    printf("devices: %d\nreason: %s\n", count, count > 0 ? "" : gp_last_error());

    gp_context *context = NULL;
    gp_status status = gp_context_create(&context, NULL);
    if (status != GP_OK) {
        printf("context: %s: %s\n", gp_status_string(status), gp_last_error());
        return 1;
    }
    int32_t in[1000];
    for (int i = 0; i < 1000; ++i)
        in[i] = i;
    int64_t sum = -1;
    status = gp_reduce_int(context, GP_REDUCE_SUM, in, 1000, &sum);
    gp_context_destroy(context);
    printf("sum: %lld\n", (long long)sum);

    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = -1};
    context = NULL;
    gp_status forced = gp_context_create(&context, &options);
    printf("CUDA backend: %d\n", (int)forced);
    gp_context_destroy(context);
    return status == GP_OK && sum == 499500 ? 0 : 1;
}
