/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading loops for one instruction set; floors.c includes this once for each, with TARGET its attribute, VECTOR
 * an integer vector as wide as its registers, and NAMED(loop) the name of the function. Each passes over whole lines.
 */
#define V sizeof(VECTOR)

TARGET static uint64_t NAMED(fold)(const VECTOR *v) {
    uint64_t all = 0;
    for (unsigned i = 0; i < V / sizeof all; i++)
        all ^= (uint64_t)(*v)[i];
    return all;
}

/* A minimum as anybody writes it, which the compiler makes vectors of. */
TARGET static uint64_t NAMED(read_loop)(const char *in, char *out, char *out2, size_t bytes) {
    const int32_t *ints = (const int32_t *)(const void *)in;
    int32_t least = INT32_MAX;
    (void)out, (void)out2;
    for (size_t i = 0; i < bytes / sizeof *ints; i++)
        least = ints[i] < least ? ints[i] : least;
    return (uint64_t)least;
}

/*
 * In parts of at most `most` bytes, each read as so many streams side by side, so that more lines are on their way at
 * once; what lies `ahead` of each line is fetched meanwhile.
 */
TARGET static inline __attribute__((always_inline)) uint64_t
NAMED(read_streams)(const char *in, size_t bytes, unsigned streams, size_t most, size_t ahead) {
    VECTOR seen[STREAMS_MAX] = {{0}};
    for (size_t part = 0, q; part < bytes; part += streams * q) {
        q = (bytes - part < most ? bytes - part : most) / streams / LINE * LINE;
        if (q == 0)
            break; /* fewer lines than streams are left */
        for (size_t at = part; at < part + q; at += LINE)
            for (unsigned k = 0; k < streams; k++) {
                for (size_t i = 0; i < LINE; i += V)
                    seen[k] ^= *(const VECTOR *)(const void *)(in + k * q + at + i);
                if (ahead > 0)
                    __builtin_prefetch(in + k * q + at + ahead, 0, 3);
            }
    }
    for (unsigned k = 1; k < streams; k++)
        seen[0] ^= seen[k];
    return NAMED(fold)(&seen[0]);
}

TARGET static uint64_t NAMED(read_quarters)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_streams)(in, bytes, 4, bytes, 0);
}

/* The line at this place of each of the next four pages is fetched meanwhile. */
TARGET static uint64_t NAMED(read_pages)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_streams)(in, bytes, 4, 4 * PAGE, 4 * PAGE);
}

TARGET static uint64_t NAMED(read_more_pages)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_streams)(in, bytes, 8, 8 * PAGE, 8 * PAGE);
}

/* By MiB, in each stream what comes half a page later. */
TARGET static uint64_t NAMED(read_ahead)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_streams)(in, bytes, 4, (size_t)1 << 20, PAGE / 2);
}

#undef V
#undef TARGET
#undef VECTOR
#undef NAMED
