/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim info: the devices, what each has, and why no GPU is used. */
#include "device_facts.h"
#include <string.h>

static json_t *describe(gp_backend backend, int ordinal) {
    const gp_options options = {.struct_size = sizeof options, .backend = (int32_t)backend, .device = ordinal};
    gp_context *context = NULL;
    gp_device_info device = {.struct_size = sizeof device};
    must(gp_context_create(&context, &options));
    must(gp_context_device(context, &device));
    gp_context_destroy(context);
    return device_to_json(&device);
}

static long long get(const json_t *device, const char *key) {
    return json_integer_value(json_object_get(device, key));
}

static void print_gpu(const json_t *d) {
    printf("GPU %lld: %s\n", get(d, "ordinal"), json_string_value(json_object_get(d, "name")));
    printf("  %-22s %lld.%lld\n", "compute capability", get(d, "compute_major"), get(d, "compute_minor"));
    printf("  %-22s %lld, warps of %lld\n", "multiprocessors (SMs)", get(d, "multiprocessors"), get(d, "warp_size"));
    printf("  %-22s %lld a block, %lld an SM\n", "threads", get(d, "threads_per_block"), get(d, "threads_per_sm"));
    printf("  %-22s %lld an SM\n", "blocks", get(d, "blocks_per_sm"));
    printf("  %-22s %lld a thread, %lld a block, %lld an SM\n", "registers", get(d, "regs_per_thread"),
           get(d, "regs_per_block"), get(d, "regs_per_sm"));
    printf("  %-22s %lld a block, %lld opted in, %lld an SM\n", "shared memory, bytes", get(d, "smem_per_block"),
           get(d, "smem_per_block_optin"), get(d, "smem_per_sm"));
    printf("  %-22s %lld registers a warp, %lld bytes, %lld reserved a block\n", "granted in units of",
           get(d, "reg_unit"), get(d, "smem_unit"), get(d, "smem_reserved"));
    printf("  %-22s %.1f MiB\n", "L2 cache", (double)get(d, "l2_bytes") / (1 << 20));
    printf("  %-22s %.1f GiB\n", "memory", (double)get(d, "memory_bytes") / (1 << 30));
}

static void print_processor(const json_t *d) {
    const long long isa = get(d, "cpu_isa"), threads = get(d, "cpu_threads");
    puts("Processor");
    printf("  %-22s %lld\n", "threads", threads);
    printf("  %-22s%s%s%s%s\n", "instructions used", isa & GP_ISA_AVX512 ? " AVX-512" : "",
           isa & GP_ISA_AVX2 ? " AVX2" : "", isa & GP_ISA_NEON ? " NEON" : "", isa == 0 ? " portable" : "");
}

static void print_text(const json_t *devices, int gpus, const char *reason) {
    size_t i;
    json_t *device;
    const unsigned version = gp_version();
    printf("libgpuprim %u.%u.%u, %d usable GPU%s\n", version / 10000, version / 100 % 100, version % 100, gpus,
           gpus == 1 ? "" : "s");
    if (gpus == 0) {
        printf("no GPU: ");
        print_wrapped(8, reason);
    }
    json_array_foreach(devices, i, device) {
        putchar('\n');
        if (get(device, "multiprocessors") > 0)
            print_gpu(device);
        else
            print_processor(device);
    }
}

static void print_facts_csv(const json_t *devices) {
    size_t i;
    json_t *device, *value, *rows = made(json_array());
    const char *key;
    static const column columns[] = {{.key = "device"}, {.key = "field"}, {.key = "value"}};
    json_array_foreach(devices, i, device) json_object_foreach(device, key, value) json_array_append_new(
        rows, made(json_pack("{s:i, s:s, s:O}", "device", (int)i, "field", key, "value", value)));
    print_csv(rows, 3, columns);
    json_decref(rows);
}

int info_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {.children = children,
                                       .doc = "Show the devices, what each has, and why no GPU is used."};
    format how = FORMAT_TEXT;
    read_arguments(&parser, argc, argv, 0, &how);

    const int gpus = gp_device_count();
    char reason[256] = "";
    if (gpus == 0)
        snprintf(reason, sizeof reason, "%s", gp_last_error());
    json_t *devices = made(json_array());
    for (int i = 0; i < gpus; i++)
        json_array_append_new(devices, describe(GP_BACKEND_CUDA, i));
    json_array_append_new(devices, describe(GP_BACKEND_CPU, -1));
    if (how == FORMAT_TEXT)
        print_text(devices, gpus, reason);
    else if (how == FORMAT_CSV)
        print_facts_csv(devices);
    if (how == FORMAT_JSON) {
        json_t *all = document();
        json_object_set_new(all, "gpus", made(json_integer(gpus)));
        json_object_set_new(all, "no_gpu_reason", made(json_string(reason)));
        json_object_set_new(all, "devices", devices);
        print_json(all);
    } else {
        json_decref(devices);
    }
    return 0;
}
