/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of what is timed of rearrangements. */
#include "../cases_timed.h"
#include <math.h>

/* Extents of an input, and its axes in the output's order. */
typedef struct shape {
    unsigned rank;
    size_t extent[8];
    unsigned axes[8];
} shape;

/* The twelve shapes of the peers' table. */
static const shape shapes[] = {
    {4, {64, 3, 512, 512}, {0, 2, 3, 1}}, {4, {64, 512, 512, 3}, {0, 3, 1, 2}},
    {4, {32, 256, 56, 56}, {0, 2, 3, 1}}, {3, {1000, 64, 64}, {0, 2, 1}},
    {3, {100000, 8, 8}, {0, 2, 1}},       {4, {8, 12, 2048, 64}, {0, 2, 1, 3}},
    {3, {256, 256, 256}, {2, 1, 0}},      {4, {100, 101, 102, 103}, {3, 2, 1, 0}},
    {3, {16, 2048, 2048}, {0, 2, 1}},     {7, {7, 9, 11, 13, 15, 17, 19}, {6, 2, 4, 0, 1, 5, 3}},
    {3, {512, 512, 512}, {1, 0, 2}},      {3, {2000000, 3, 5}, {2, 0, 1}}};

/* Matrices of 100 million elements, and batches of smaller ones: primes, powers of two, thin both ways, squares. */
static const shape rectangles[] = {
    {2, {10007, 9973}, {1, 0}},       {2, {8192, 12288}, {1, 0}},       {2, {12288, 8192}, {1, 0}},
    {2, {1000003, 101}, {1, 0}},      {2, {101, 1000003}, {1, 0}},      {2, {33554467, 3}, {1, 0}},
    {2, {3, 33554467}, {1, 0}},       {3, {64, 1021, 1531}, {0, 2, 1}}, {3, {20000, 60, 84}, {0, 2, 1}},
    {3, {24, 2048, 2048}, {0, 2, 1}}, {3, {20000, 70, 70}, {0, 2, 1}}};

static move_case case_of(size_t elem_bytes, const shape *s) {
    move_case c = {.elem_bytes = elem_bytes, .rank = s->rank, .seed = TIMED_SEED};
    for (unsigned i = 0; i < s->rank; i++) {
        c.extent[i] = s->extent[i];
        c.axes[i] = s->axes[i];
    }
    return c;
}

static void move(const timed *t, size_t elem_bytes, const shape *s) {
    const move_case c = case_of(elem_bytes, s);
    t->visit(&c, t->series, t->user);
}

/* The peers' table, in bytes too. */
static void device(const timed *t) {
    for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
        for (size_t bytes = 1; bytes <= 8; bytes *= 2)
            move(t, bytes, &shapes[i]);
}

/* Batches of small squares, a thousand or as many as make 64 MiB, of pictures, and single planes. */
static void batches(const timed *t) {
    static const size_t sides[] = {4, 7, 16, 31, 32, 33, 64, 100};
    for (size_t i = 0; i < TIMED_COUNT(sides); i++)
        for (size_t bytes = 4; bytes <= 8; bytes *= 2) {
            const size_t side = sides[i], thousands = ((size_t)1 << 26) / (1000 * side * side * bytes);
            move(t, bytes, &(shape){3, {1000 * (thousands + 1), side, side}, {0, 2, 1}});
        }
    for (size_t bytes = 1; bytes <= 3; bytes++) { /* pictures */
        move(t, bytes, &(shape){3, {32, 1080, 1920}, {0, 2, 1}});
        move(t, bytes, &(shape){3, {64, 520, 512}, {0, 2, 1}});
    }
    move(t, 4, &(shape){3, {1, 12, 7}, {0, 2, 1}});
    move(t, 4, &(shape){3, {1, 64, 64}, {0, 2, 1}});
}

static void in_place(const timed *t) {
    static const size_t bytes[] = {1, 2, 4, 8, 12};
    for (size_t i = 0; i < TIMED_COUNT(rectangles); i++)
        for (size_t k = 0; k < TIMED_COUNT(bytes); k++) {
            move_case c = case_of(bytes[k], &rectangles[i]);
            c.in_place = true;
            t->visit(&c, t->series, t->user);
        }
}

/* 200 permutations of 3 to 6 axes, of 100 MB to 1 GB. */
static void draws(const timed *t) {
    uint64_t state = TIMED_SEED;
    for (unsigned i = 0; i < 200; i++) {
        shape s = {.rank = 3 + (unsigned)(cases_random(&state) % 4)};
        const size_t bytes = (size_t)1 << cases_random(&state) % 5,
                     all = 100000000 + cases_random(&state) % 900000000;
        size_t left = all / bytes;
        for (unsigned k = 0; k < s.rank; k++)
            s.axes[k] = k;
        for (unsigned k = s.rank; k-- > 0;) {
            const unsigned other = (unsigned)(cases_random(&state) % (k + 1)), last = s.axes[k];
            s.axes[k] = s.axes[other];
            s.axes[other] = last;
            const double part = (0.5 + (double)(cases_random(&state) % 100) / 100) / (k + 1); /* of what is left */
            s.extent[k] = k == 0 ? left : (size_t)pow((double)left, part) + 2;
            left /= s.extent[k];
            left += left == 0;
        }
        move(t, bytes, &s);
    }
}

/* About 100 MB of each shape. */
static void processor(const timed *t) {
    for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
        for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
            shape s = shapes[i];
            size_t rest = bytes;
            for (unsigned k = 1; k < s.rank; k++)
                rest *= s.extent[k];
            s.extent[0] = 100000000 / rest + 1;
            move(t, bytes, &s);
        }
}

void cases_timed_move(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {
        {"device", device}, {"batches", batches}, {"in-place", in_place}, {"draws", draws}, {"processor", processor}};
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}
