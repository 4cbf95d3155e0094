/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up libcuda.so.1: just enough of a driver for the CUDA run time to ask its version and start it. The
 * environment says what it answers: FAKE_DRIVER_VERSION as cuDriverGetVersion, FAKE_DRIVER_INIT as cuInit.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 801 };

typedef void (*entry)(void);

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *result);

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static int refuse(void) {
    return NOT_SUPPORTED;
}

int cuInit(unsigned flags) {
    (void)flags;
    return number("FAKE_DRIVER_INIT", SUCCESS);
}

int cuDriverGetVersion(int *version) {
    *version = number("FAKE_DRIVER_VERSION", 13000);
    return SUCCESS;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *result) {
    (void)version;
    (void)flags;
    entry found = (entry)refuse;
    if (strcmp(name, "cuInit") == 0)
        found = (entry)cuInit;
    else if (strcmp(name, "cuDriverGetVersion") == 0)
        found = (entry)cuDriverGetVersion;
    else if (strcmp(name, "cuGetProcAddress") == 0)
        found = (entry)cuGetProcAddress_v2;
    memcpy(function, &found, sizeof found);
    if (result)
        *result = 0;
    return SUCCESS;
}
