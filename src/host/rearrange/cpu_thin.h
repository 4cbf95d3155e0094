/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of few columns or few rows, such as pixels into planes and back, of elements of 1, 2, 4, 8, 16 bytes.
 * The short side, `planes` long, makes records. A block is 16 bytes of each plane and as many records, which are as
 * many vectors of 16 bytes as there are planes. Each vector of the one side is put together from those of the other
 * that hold some of it, by a shuffle each; four blocks are done at once, so that a plane has a line.
 */
#ifndef GP_CPU_TRANSPOSE_THIN_H
#define GP_CPU_TRANSPOSE_THIN_H

#include "cpu_tiles.h"

#define GP_THIN_VECTOR 16
#define GP_THIN_PLANES_MAX 8

/* Where the bytes of vector `to` of the one side are in vector `from` of the other; 0x80: not there. */
typedef struct gp_thin_orders {
    _Alignas(GP_THIN_VECTOR) unsigned char of[GP_THIN_PLANES_MAX][GP_THIN_PLANES_MAX][GP_THIN_VECTOR];
} gp_thin_orders;

/*
 * Four blocks of records, one behind the other, become a line of each plane, `apart` bytes apart. As many lines as
 * planes are asked for from `ahead` on, in turns with loads: all before them, as if nothing were asked for.
 */
typedef void (*gp_thin_split)(const gp_thin_orders *orders, const char *records, const char *ahead, char *lines,
                              size_t apart);

/* The other way round. */
typedef void (*gp_thin_join)(const gp_thin_orders *orders, const char *lines, size_t apart, char *records);

/* For elements of 1, 2, 4, 8, 16 bytes and 1, 2, ... planes. */
typedef struct gp_thin_kernels {
    gp_thin_split split[5][GP_THIN_PLANES_MAX];
    gp_thin_join join[5][GP_THIN_PLANES_MAX];
} gp_thin_kernels;

/* Element i of plane p is the block's element i * planes + p in the order of records: whether vector v has one of p.
 */
static inline bool gp_thin_share(size_t planes, size_t elements, size_t p, size_t v) {
    size_t first = v * elements % planes; /* the plane of the vector's first element */
    return (p + planes - first) % planes < elements;
}

/* The kernels of an instruction set, from its split() and join(); numbers of planes and bytes are constants there. */
#define GP_THIN_KERNELS_FOR(target, bytes, n)                                                                    \
    target static void split_##bytes##_##n(const gp_thin_orders *orders, const char *records, const char *ahead, \
                                           char *lines, size_t apart) {                                          \
        split(n, GP_THIN_VECTOR / bytes, orders, records, ahead, lines, apart);                                  \
    }                                                                                                            \
    target static void join_##bytes##_##n(const gp_thin_orders *orders, const char *lines, size_t apart,         \
                                          char *records) {                                                       \
        join(n, GP_THIN_VECTOR / bytes, orders, lines, apart, records);                                          \
    }
#define GP_THIN_KERNELS_OF(target, bytes) \
    GP_THIN_KERNELS_FOR(target, bytes, 1) \
    GP_THIN_KERNELS_FOR(target, bytes, 2) \
    GP_THIN_KERNELS_FOR(target, bytes, 3) \
    GP_THIN_KERNELS_FOR(target, bytes, 4) \
    GP_THIN_KERNELS_FOR(target, bytes, 5) \
    GP_THIN_KERNELS_FOR(target, bytes, 6) \
    GP_THIN_KERNELS_FOR(target, bytes, 7) \
    GP_THIN_KERNELS_FOR(target, bytes, 8)
#define GP_THIN_LIST(kind) \
    { kind##_1, kind##_2, kind##_3, kind##_4, kind##_5, kind##_6, kind##_7, kind##_8 }
#define GP_THIN_KERNELS(target)   \
    GP_THIN_KERNELS_OF(target, 1) \
    GP_THIN_KERNELS_OF(target, 2) \
    GP_THIN_KERNELS_OF(target, 4) \
    GP_THIN_KERNELS_OF(target, 8) \
    GP_THIN_KERNELS_OF(target, 16)
#define GP_THIN_LISTS                                                                                         \
    {                                                                                                         \
        .split = {GP_THIN_LIST(split_1), GP_THIN_LIST(split_2), GP_THIN_LIST(split_4), GP_THIN_LIST(split_8), \
                  GP_THIN_LIST(split_16)},                                                                    \
        .join = {                                                                                             \
            GP_THIN_LIST(join_1),                                                                             \
            GP_THIN_LIST(join_2),                                                                             \
            GP_THIN_LIST(join_4),                                                                             \
            GP_THIN_LIST(join_8),                                                                             \
            GP_THIN_LIST(join_16)                                                                             \
        }                                                                                                     \
    }

extern const gp_thin_kernels gp_thin_avx2, gp_thin_avx512;

/*
 * Runs the problem if one side is short enough for that to be faster than tiles and the other is long enough to be
 * worth it; else does nothing and returns false.
 */
bool gp_transpose_thin(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                       const gp_thin_kernels *kernels);

#endif
