/* SPDX-License-Identifier: Apache-2.0 */
/* Public structs across releases: see copy_out.h. */
#include "copy_out.h"
#include "status.h"
#include <string.h>

gp_status gp_check_struct(const char *name, const void *argument, size_t known) {
    GP_TRY(gp_check_not_null(name, argument));
    size_t given;
    memcpy(&given, argument, sizeof given);
    if (given < known || given > GP_STRUCT_SIZE_MAX)
        return gp_fail(GP_ERR_ARGUMENT, "%s: struct_size is %zu, not sizeof the struct (%zu in this release)", name,
                       given, known);
    return GP_OK;
}

gp_status gp_check_input_struct(const char *name, const void *argument, size_t known) {
    GP_TRY(gp_check_struct(name, argument, known));
    size_t given;
    memcpy(&given, argument, sizeof given);
    const unsigned char *bytes = argument;
    for (size_t i = known; i < given; i++)
        if (bytes[i] != 0)
            return gp_fail(GP_ERR_ARGUMENT, "%s: struct_size is %zu and its byte %zu is set; this release knows %zu",
                           name, given, i, known);
    return GP_OK;
}

void gp_copy_out(void *to, const void *value, size_t known) {
    size_t given;
    memcpy(&given, to, sizeof given);
    memcpy(to, value, known);
    memcpy(to, &given, sizeof given);
    memset((unsigned char *)to + known, 0, given - known);
}
