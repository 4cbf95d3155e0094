/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading loops for one instruction set; limits.c includes this once for each, with TARGET its attribute, VECTOR
 * an integer vector as wide as its registers, and NAMED(loop) the name of the function.
 */
#define V sizeof(VECTOR)

TARGET static uint64_t NAMED(fold)(const VECTOR *v) {
    uint64_t all = 0;
    for (unsigned i = 0; i < V / sizeof all; i++)
        all ^= (uint64_t)(*v)[i];
    return all;
}

/* Four accumulators over one stream. */
TARGET static uint64_t NAMED(read_linear)(const char *in, char *out, char *out2, size_t bytes) {
    VECTOR a = {0}, b = a, c = a, d = a;
    (void)out, (void)out2;
    for (size_t i = 0; i < bytes; i += 4 * V) {
        a ^= *(const VECTOR *)(in + i);
        b ^= *(const VECTOR *)(in + i + V);
        c ^= *(const VECTOR *)(in + i + 2 * V);
        d ^= *(const VECTOR *)(in + i + 3 * V);
    }
    a ^= b ^ c ^ d;
    return NAMED(fold)(&a);
}

/* Four streams, so that more lines are on their way at once. */
TARGET static uint64_t NAMED(read_quarters)(const char *in, char *out, char *out2, size_t bytes) {
    const size_t q = bytes / 4;
    VECTOR a = {0}, b = a, c = a, d = a;
    (void)out, (void)out2;
    for (size_t i = 0; i < q; i += V) {
        a ^= *(const VECTOR *)(in + i);
        b ^= *(const VECTOR *)(in + q + i);
        c ^= *(const VECTOR *)(in + 2 * q + i);
        d ^= *(const VECTOR *)(in + 3 * q + i);
    }
    a ^= b ^ c ^ d;
    return NAMED(fold)(&a);
}

/* Four pages side by side, the same line of the next four fetched meanwhile. */
TARGET static uint64_t NAMED(read_pages)(const char *in, char *out, char *out2, size_t bytes) {
    VECTOR a = {0}, b = a, c = a, d = a;
    (void)out, (void)out2;
    for (size_t block = 0; block < bytes; block += LIMIT_UNIT)
        for (size_t line = block; line < block + PAGE; line += LINE) {
            for (size_t i = line; i < line + LINE; i += V) {
                a ^= *(const VECTOR *)(in + i);
                b ^= *(const VECTOR *)(in + i + PAGE);
                c ^= *(const VECTOR *)(in + i + 2 * PAGE);
                d ^= *(const VECTOR *)(in + i + 3 * PAGE);
            }
            for (unsigned k = 4; k < 8; k++)
                __builtin_prefetch(in + line + k * PAGE, 0, 2);
        }
    a ^= b ^ c ^ d;
    return NAMED(fold)(&a);
}

/*
 * Four streams, the quarters of each part, what lies `ahead` of each line fetched meanwhile. Not inlined: the
 * compiler would unroll a part of known length, and move what is fetched together.
 */
TARGET __attribute__((noinline)) static uint64_t NAMED(read_parts)(const char *in, size_t bytes, size_t most,
                                                                   size_t ahead) {
    VECTOR a = {0}, b = a, c = a, d = a;
    for (size_t part = 0, q; part < bytes; part += 4 * q) {
        q = (bytes - part < most ? bytes - part : most) / 4;
        for (size_t line = part; line < part + q; line += LINE) {
            for (size_t i = line; i < line + LINE; i += V) {
                a ^= *(const VECTOR *)(in + i);
                b ^= *(const VECTOR *)(in + q + i);
                c ^= *(const VECTOR *)(in + 2 * q + i);
                d ^= *(const VECTOR *)(in + 3 * q + i);
            }
            for (unsigned k = 0; k < 4; k++)
                __builtin_prefetch(in + k * q + line + ahead, 0, 3);
        }
    }
    a ^= b ^ c ^ d;
    return NAMED(fold)(&a);
}

/* By pages, the same line of the next page fetched. */
TARGET static uint64_t NAMED(read_page)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_parts)(in, bytes, PAGE, PAGE);
}

/* By MiB, in each stream what comes half a page later. */
TARGET static uint64_t NAMED(read_ahead)(const char *in, char *out, char *out2, size_t bytes) {
    (void)out, (void)out2;
    return NAMED(read_parts)(in, bytes, MIB, PAGE / 2);
}

/* Two streams, the halves of each MiB, eight lines of each in turn, what follows in each fetched meanwhile. */
TARGET static uint64_t NAMED(read_eights)(const char *in, char *out, char *out2, size_t bytes) {
    VECTOR a = {0}, b = a, c = a, d = a;
    (void)out, (void)out2;
    for (size_t part = 0, half; part < bytes; part += 2 * half) {
        half = (bytes - part < MIB ? bytes - part : MIB) / 2;
        for (size_t eight = part; eight < part + half; eight += 8 * LINE) {
            for (size_t i = eight; i < eight + 8 * LINE; i += 2 * V) {
                a ^= *(const VECTOR *)(in + i);
                b ^= *(const VECTOR *)(in + i + V);
                c ^= *(const VECTOR *)(in + half + i);
                d ^= *(const VECTOR *)(in + half + i + V);
            }
            for (size_t line = eight; line < eight + 8 * LINE; line += LINE) {
                __builtin_prefetch(in + line + PAGE / 4, 0, 3);
                __builtin_prefetch(in + half + line + PAGE / 4, 0, 3);
            }
        }
    }
    a ^= b ^ c ^ d;
    return NAMED(fold)(&a);
}

/* One array read, two written, through the caches. */
TARGET static uint64_t NAMED(split)(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t i = 0; i < bytes; i += V) {
        const VECTOR v = *(const VECTOR *)(in + i);
        *(VECTOR *)(out + i) = v;
        *(VECTOR *)(out2 + i) = v;
    }
    return 0;
}

#undef V
#undef TARGET
#undef VECTOR
#undef NAMED
