/* SPDX-License-Identifier: Apache-2.0 */
/* Where there is no libFuzzer: tries each file of the folders that are named, once. */
#include "fuzz.h"
#include <dirent.h>

static void try_file(const char *folder, const char *name) {
    static uint8_t bytes[1 << 16];
    char path[4096];
    REQUIRE(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    REQUIRE(size < sizeof bytes && fclose(file) == 0);
    (void)LLVMFuzzerTestOneInput(bytes, size);
}

int main(int argc, char **argv) {
    unsigned tried = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        const int count = scandir(argv[i], &entries, NULL, alphasort);
        REQUIRE(count >= 0);
        for (int k = 0; k < count; k++) {
            if (entries[k]->d_name[0] != '.') {
                try_file(argv[i], entries[k]->d_name);
                tried++;
            }
            free(entries[k]);
        }
        free(entries);
    }
    fprintf(stderr, "%u inputs tried\n", tried);
    return tried > 0 ? 0 : 1;
}
