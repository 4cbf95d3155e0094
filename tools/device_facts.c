/* SPDX-License-Identifier: Apache-2.0 */
/* gp_device_info to JSON and back, by one table of its fields. */
#include "device_facts.h"
#include <stddef.h>
#include <string.h>

#define U32(field) \
    { #field, offsetof(gp_device_info, field), false }
#define SIZE(field) \
    { #field, offsetof(gp_device_info, field), true }

static const struct fact {
    const char *name;
    size_t offset;
    bool is_size; /* else uint32_t */
} facts[] = {
    U32(compute_major),     U32(compute_minor),
    U32(multiprocessors),   U32(warp_size),
    U32(threads_per_block), U32(threads_per_sm),
    U32(blocks_per_sm),     U32(regs_per_block),
    U32(regs_per_sm),       U32(regs_per_thread),
    U32(reg_unit),          U32(sm_partitions),
    SIZE(smem_per_block),   SIZE(smem_per_block_optin),
    SIZE(smem_per_sm),      SIZE(smem_reserved),
    SIZE(smem_unit),        SIZE(l2_bytes),
    SIZE(memory_bytes),     U32(cpu_threads),
    U32(cpu_isa),
};
enum { FACTS = sizeof facts / sizeof *facts };

static json_int_t get(const gp_device_info *device, const struct fact *f) {
    const char *at = (const char *)device + f->offset;
    return f->is_size ? (json_int_t) * (const size_t *)(const void *)at
                      : (json_int_t) * (const uint32_t *)(const void *)at;
}

static void set(gp_device_info *device, const struct fact *f, json_int_t value) {
    char *at = (char *)device + f->offset;
    if (f->is_size)
        *(size_t *)(void *)at = (size_t)value;
    else
        *(uint32_t *)(void *)at = (uint32_t)value;
}

json_t *device_to_json(const gp_device_info *device) {
    static const char *const backends[] = {"auto", "cpu", "cuda", "model"};
    json_t *object = made(json_pack("{s:s, s:s, s:i}", "name", device->name, "backend", backends[device->backend],
                                    "ordinal", (int)device->ordinal));
    for (size_t i = 0; i < FACTS; i++)
        json_object_set_new(object, facts[i].name, made(json_integer(get(device, &facts[i]))));
    return object;
}

static void take(const char *path, const char *key, json_t *value, gp_device_info *device) {
    if (strcmp(key, "backend") == 0 || strcmp(key, "ordinal") == 0 || strcmp(key, "struct_size") == 0)
        return; /* told, but of no use to a model */
    if (strcmp(key, "name") == 0) {
        if (!json_is_string(value))
            fail("%s: name is no string", path);
        snprintf(device->name, sizeof device->name, "%s", json_string_value(value));
        return;
    }
    for (size_t i = 0; i < FACTS; i++) {
        if (strcmp(key, facts[i].name) != 0)
            continue;
        const json_int_t number = json_integer_value(value);
        if (!json_is_integer(value) || number < 0 || (!facts[i].is_size && number > UINT32_MAX))
            fail("%s: %s is no integer from 0 to %s", path, key, facts[i].is_size ? "2^63 - 1" : "2^32 - 1");
        set(device, &facts[i], number);
        return;
    }
    fail("%s: \"%s\" is no field of a device; `gpuprim info --format json' shows them", path, key);
}

void device_from_file(const char *path, gp_device_info *device) {
    const char *key;
    json_t *value;
    json_t *root = read_json(path);
    json_t *devices = json_object_get(root, "devices"), *object = root;
    if (devices != NULL)
        object = json_array_get(devices, 0);
    if (!json_is_object(object))
        fail("%s: holds no object of a device's fields", path);
    *device = (gp_device_info){.struct_size = sizeof *device, .backend = GP_BACKEND_MODEL, .ordinal = -1};
    json_object_foreach(object, key, value) take(path, key, value, device);
    if (device->name[0] == '\0')
        snprintf(device->name, sizeof device->name, "%s", path);
    json_decref(root);
}
