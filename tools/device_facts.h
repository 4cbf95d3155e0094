/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as files and by name: the fields of gp_device_info as JSON, and a table of known GPUs. */
#pragma once

#include "table.h"

/* The fields under the names that gp_device_info gives them; what `gpuprim info --format json` prints. */
json_t *device_to_json(const gp_device_info *device);

/* The reverse, for a model: an object of such fields, or the whole output of `gpuprim info`. Fails the program. */
void device_from_file(const char *path, gp_device_info *device);

typedef struct preset {
    const char *name;
    gp_device_info device;
    const char *source; /* of its figures */
} preset;

const preset *preset_find(const char *name); /* NULL: unknown */
json_t *preset_rows(void);                   /* all of them, for a table */
