/* SPDX-License-Identifier: Apache-2.0 */
/* The table of peers, and which lines those of the other process do. */
#include "peers.h"

#include <string.h>

/* On one element it would be Python's own time that is measured. */
static bool is_worth(const line *l) {
    return !l->at->gpu && strcmp(l->group, "calls") != 0;
}

static bool numpy_does(const line *l, gp_reduce_op op) {
    return is_worth(l) && python_has("numpy") && CASE_OF(reduce_case, l)->op == op;
}

static bool numpy_sums(session *s, const line *l) {
    (void)s;
    return numpy_does(l, GP_REDUCE_SUM);
}

static bool numpy_finds(session *s, const line *l) {
    (void)s;
    return numpy_does(l, GP_REDUCE_MIN);
}

/* OpenCV has both sums for floats only. Floats hold full-range data rounded, to 2^-24 of its largest. */
static bool box_of_floats_does(session *s, const line *l) {
    const window_case *c = CASE_OF(window_case, l);
    (void)s;
    return is_worth(l) && python_has("OpenCV") && c->border == GP_BORDER_REFLECT_101 && c->image_pad == 0 &&
           c->out_pad == 0 && c->want_sum && c->want_square;
}

static double box_of_floats_tolerates(const line *l) {
    return CASE_OF(window_case, l)->data == DATA_RANDOM ? 0x1p-23 : 0;
}

/* Its box filter of ints adds in 32 bits, which full-range data passes. */
static bool box_of_ints_does(session *s, const line *l) {
    return box_of_floats_does(s, l) && CASE_OF(window_case, l)->data != DATA_RANDOM;
}

static bool opencv_transposes(session *s, const line *l) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    const size_t size = c->elem_bytes;
    (void)s;
    return is_worth(l) && python_has("OpenCV") && !c->in_place && c->in_pad == 0 && c->out_pad == 0 &&
           (size <= 4 || size == 6 || size == 8 || size == 12 || size == 16);
}

/* Its float sums are rounded on the way; a thousandth of the largest is left to them. */
static bool numpy_reduces(session *s, const line *l) {
    const array_case *c = CASE_OF(array_case, l);
    (void)s;
    return is_worth(l) && python_has("numpy") && c->type != GP_BF16 && c->what != ARRAY_MOMENTS &&
           c->what != ARRAY_PLACES && c->what != ARRAY_COUNT && c->what != ARRAY_BITS && c->what < ARRAY_NAN_MEAN &&
           c->data != DATA_FINITE;
}

static double numpy_tolerates(const line *l) {
    const array_case *c = CASE_OF(array_case, l);
    return c->what == ARRAY_MAX || c->what == ARRAY_TOTAL ? 0 : 1e-3;
}

extern const primitive primitive_reduce, primitive_reduce_array, primitive_window, primitive_rearrange;

const peer all_peers[] = {
    {"numpy sum (1 thread)", &primitive_reduce, false, 1, numpy_sums, python_call, python_time, "sum", NULL},
    {"numpy min (1 thread)", &primitive_reduce, false, 1, numpy_finds, python_call, python_time, "min", NULL},
    {"numpy (1 thread)", &primitive_reduce_array, false, 1, numpy_reduces, python_call, python_time, NULL,
     numpy_tolerates},
    {"OpenCV box of int + sqrBox", &primitive_window, false, 0, box_of_ints_does, python_call, python_time, "box_int",
     NULL},
    {"OpenCV box of float + sqrBox", &primitive_window, false, 0, box_of_floats_does, python_call, python_time,
     "box_float", box_of_floats_tolerates},
    {"OpenCV transpose", &primitive_rearrange, false, 0, opencv_transposes, python_call, python_time, "transpose",
     NULL},
    {"OpenBLAS somatcopy", &primitive_rearrange, false, 0, openblas_does, openblas_call, NULL, NULL, NULL},
#ifdef GPUPRIM_WITH_CUDA
    {"cuBLAS geam", &primitive_rearrange, true, 0, cublas_does, cublas_call, NULL, NULL, NULL},
    {"plain window", &primitive_window, true, 0, plain_window_does, plain_window_call, NULL, NULL, NULL},
#endif
#ifdef BENCH_CUB
    {"CUB", &primitive_reduce, true, 0, cub_does, cub_call, NULL, NULL, NULL},
    {"CUB", &primitive_reduce_array, true, 0, cub_floats_does, cub_floats_call, NULL, NULL, numpy_tolerates},
    {"CUB + copy + sync", &primitive_reduce, true, 0, cub_result_does, cub_result_call, NULL, NULL, NULL},
    {"CUB + copy to pinned + sync", &primitive_reduce, true, 0, cub_result_does, cub_pinned_call, NULL, NULL, NULL},
#endif
    {0},
};

void peers_close(void) {
    python_close();
#ifdef GPUPRIM_WITH_CUDA
    cublas_close();
#endif
}
