/* SPDX-License-Identifier: Apache-2.0 */
/* From what kernels gather to results: what is short to round, and floats of exact sums. */
#pragma once

#include "../../host/exact.c"
#include "../../host/reduce_array/accumulator.h"
#include "floats.cuh"
#include "space.cuh"

/* In the context's workspace, zero between calls. */
struct reduce_space {
    uint32_t started;
    uint32_t unused[31];
    uint32_t drawn; /* tiles of the running call */
    uint32_t unused_drawn[31];
    int64_t limb[2 * GP_EXACT_LIMBS];
    uint64_t sent[1]; /* word w of block b at [w * blocks + b]: there once the upper half is not 0 */
};

struct reduce_arguments {
    gp_pass pass;
    reduce_space *space;
    many_space *many;            /* if more have failed than are listed, all are done again */
    volatile uint32_t *overflow; /* set by an integer result that its type does not hold */
    volatile uint32_t *done;     /* or NULL: `sequence` is written there after the results */
    uint32_t sequence;
    uint32_t dealt;                /* tiles from here on are drawn; UINT32_MAX: none */
    bool again;                    /* reduce_all: only if reduce_many has failed */
    gp_exact_form form[2];         /* of sums, of squares */
    double n, inverse;             /* elements of an output, and 1 / n to nearest */
    int64_t step[GP_PASS_RESULTS]; /* of each result, as gp_pass_step_of() says, if `steps` */
    bool steps;
};

/* For the host: they ask for nothing that is not there. */
inline reduce_arguments gp_reduce_arguments(const gp_context *context, const gp_problem *problem) {
    const gp_gpu *gpu = context->gpu;
    const gp_type type = (gp_type)problem->pass->type;
    reduce_arguments a = {};
    a.pass = *problem->pass;
    a.space = (reduce_space *)((char *)gpu->workspace + GP_REDUCE_ARRAY_SPACE_FIRST);
    a.many = many_space_of(context);
    a.overflow = &gpu->slot_device->overflow;
    a.form[0] = gp_exact_form_of(type, false);
    a.form[1] = gp_exact_form_of(type, true);
    a.n = (double)a.pass.length;
    a.inverse = 1 / a.n;
    a.sequence = gpu->sequence;
    a.steps = true;
    for (unsigned r = 0; r < a.pass.results; r++) {
        a.steps = gp_pass_step_of(&a.pass, r, &a.step[r]) && a.steps;
        if (a.pass.to[r] == (void *)&gpu->slot_device->reduced[r])
            a.done = &gpu->slot_device->done;
    }
    return a;
}

/* Launches a kernel for outputs that reduce_many and reduce_short have not proved. */
gp_status gp_reduce_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                           reduce_arguments *arguments);

/* Launches reduce_any, for those alone or for all outputs, as gp_fit_reduce_any() has cut it; reduce_all, as
   gp_fit_reduce_all() has. */
gp_status gp_reduce_any(gp_context *context, const gp_plan *plan, reduce_arguments *arguments, bool failed_ones);
gp_status gp_reduce_all(gp_context *context, const gp_plan *plan, reduce_arguments *arguments);

/* By one thread, when it has written all results. */
__device__ inline void tell_host(const reduce_arguments &a) {
    if (a.done == NULL)
        return;
    __threadfence_system();
    *a.done = a.sequence;
}

__device__ inline void store_raw(unsigned char *to, uint32_t bytes, uint64_t raw) {
    if (bytes == 4)
        *(uint32_t *)to = (uint32_t)raw;
    else if (bytes == 8)
        *(uint64_t *)to = raw;
    else if (bytes == 2)
        *(uint16_t *)to = (uint16_t)raw;
    else
        *to = (uint8_t)raw;
}

/* Rounded once to f16 or bf16, by way of a float that is odd if something was lost. */
static __device__ __noinline__ uint32_t narrowed(double x, unsigned type) {
    const float cut = __double2float_rz(x);
    const float odd = (double)cut == x ? cut : __uint_as_float(__float_as_uint(cut) | 1);
    if (type == GP_F16)
        return __half_as_ushort(__float2half_rn(odd));
    const uint32_t bits = __float_as_uint(odd);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* `cut`, which is rounded towards 0, rounded once to another type by way of the double that is odd if it lacks
 * something.
 */
static __device__ __noinline__ uint64_t by_odd(double cut, bool exact, unsigned type) {
    const double odd = exact ? cut : __longlong_as_double(__double_as_longlong(cut) | 1);
    return type == GP_F32 ? __float_as_uint(__double2float_rn(odd)) : narrowed(odd, type);
}

/* sum + rest rounded once to a float. */
__device__ inline uint64_t rounded(double sum, double rest, unsigned type) {
    if (type == GP_F64)
        return (uint64_t)__double_as_longlong(__dadd_rn(sum, rest) + 0.0);
    const double cut = __dadd_rz(sum, rest) + 0.0; /* a zero is exact, and +0 */
    return by_odd(cut, __dadd_rd(sum, rest) == __dadd_ru(sum, rest), type);
}

/* sum / n, of numbers that are exact, rounded once to a float. */
__device__ inline uint64_t quotient(double sum, uint64_t n, unsigned type) {
    const double by = (double)n, near = __ddiv_rn(sum + 0.0, by), rest = __fma_rn(near, -by, sum);
    if (type == GP_F64)
        return (uint64_t)__double_as_longlong(near);
    const bool beyond = rest != 0 && (rest < 0) == (near > 0); /* then `near` is further from 0 */
    return by_odd(__longlong_as_double(__double_as_longlong(near) - beyond), rest == 0, type);
}

/* value_of(): a result's bits; false: it needs reduce_any, or is an integer that its type does not hold. */
__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned, const bits_total &t, uint64_t *raw) {
    const unsigned bits = 8 * bytes_of(pass.type);
    uint64_t folded = op == GP_REDUCE_AND ? t.and_ : op == GP_REDUCE_OR ? t.or_ : t.xor_;
    for (unsigned half = 32; half >= bits; half /= 2)
        folded = op == GP_REDUCE_AND  ? folded & folded >> half
                 : op == GP_REDUCE_OR ? folded | folded >> half
                                      : folded ^ folded >> half;
    *raw = gp_type_is_signed(pass.type) ? (uint64_t)extend_sign(folded, bits / 8) : folded;
    return true;
}

__device__ inline uint64_t magnitude_of(const gp_pass &pass, uint64_t raw) {
    if (gp_type_is_float(pass.type))
        return raw & ~((uint64_t)1 << (8 * bytes_of(pass.type) - 1));
    return gp_type_is_signed(pass.type) && (int64_t)raw < 0 ? 0 - raw : raw;
}

/* The place of element number `index`. */
__device__ inline int64_t place_of(const gp_pass &pass, uint64_t index) {
    int64_t place = pass.place_first;
    for (unsigned i = pass.kept + pass.reduced; i-- > pass.kept + 1u; index /= pass.axis[i].n)
        place += (int64_t)(index % pass.axis[i].n) * pass.axis[i].place;
    return pass.reduced > 0 ? place + (int64_t)index * pass.axis[pass.kept].place : place;
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned, const extremes_total &t, uint64_t *raw) {
    const key_form form(pass.type);
    const int64_t top = ((int64_t)1 << (8 * form.bytes - 1)) - 1; /* the greatest key */
    const bool nan = t.place_nan != INT64_MAX, none = t.key_min > t.key_max && !nan;
    const uint64_t low = form.raw(t.key_min), high = form.raw(t.key_max);
    if (op == GP_REDUCE_ARGMIN || op == GP_REDUCE_ARGMAX) {
        const int64_t index = nan ? t.place_nan : op == GP_REDUCE_ARGMIN ? t.place_min : t.place_max;
        *raw = none ? 0 : (uint64_t)place_of(pass, (uint64_t)index);
    } else if (none && !gp_type_is_float(pass.type) && op != GP_REDUCE_MAX_ABS) {
        *raw = form.raw(op == GP_REDUCE_MIN ? top : ~top);
    } else if (nan || (none && op != GP_REDUCE_MAX_ABS)) {
        *raw = pass.type == GP_F16    ? 0x7e00
               : pass.type == GP_BF16 ? 0x7fc0
               : pass.type == GP_F32  ? 0x7fc00000
                                      : 0x7ff8000000000000;
    } else if (op == GP_REDUCE_MAX_ABS) {
        const uint64_t a = magnitude_of(pass, low), b = magnitude_of(pass, high);
        *raw = none ? 0 : a > b ? a : b;
    } else {
        *raw = op == GP_REDUCE_MIN ? low : high;
    }
    return true;
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const floats_total &t,
                                uint64_t *raw) {
    const uint64_t n = pass.length - t.nans;
    const proof &p = op == GP_REDUCE_SUM_SQUARES ? t.square : t.linear;
    *raw = t.count;
    if (op == GP_REDUCE_COUNT)
        return true;
    if (!t.holds() || type < GP_F32)
        return false;
    if (op == GP_REDUCE_MEAN && p.down == 0 && n > 0 && n < (uint64_t)1 << 53 &&
        (type == GP_F64 || pass.type != GP_F64)) {
        *raw = quotient(p.sum, n, type);
        return true;
    }
    *raw = rounded(p.sum, p.down, type);
    return op == GP_REDUCE_SUM || op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_SQUARES;
}

/* False: some are left. */
template <class T> __device__ bool write_results(const reduce_arguments &a, const T &t, uint64_t output) {
    bool all = true;
    for (unsigned r = 0; r < a.pass.results; r++) {
        const gp_pass_result &result = a.pass.result[r];
        uint64_t raw;
        const bool known = value_of(a.pass, result.op, result.type, t, &raw);
        if (known || !gp_type_is_float(result.type))
            store_raw(gp_pass_address(&a.pass, r, output), bytes_of(result.type), raw);
        if (!known && gp_type_is_float(result.type))
            all = false;
        else if (!known)
            *a.overflow = 1;
    }
    return all;
}

/* Sums of n elements, or of their magnitudes, and of their squares. */
struct exact_sums {
    int64_t *sum, *square, *scratch; /* scratch: of a variance */
    gp_exact_form form, square_form;
    uint32_t flags, square_flags;
    uint64_t n;
};

/* A result that is a float. SQUARES: of squares too. */
template <bool SQUARES>
__device__ __forceinline__ uint64_t exact_float(unsigned op, unsigned type, const exact_sums &s) {
    const bool root = op == GP_REDUCE_NORM || op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    if (SQUARES && op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE)
        return gp_exact_variance(s.sum, s.form, s.square, s.square_form, s.flags | s.square_flags, s.n,
                                 op >= GP_REDUCE_VARIANCE_SAMPLE, root, (gp_type)type, s.scratch);
    if (SQUARES && (op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF || op == GP_REDUCE_NORM))
        return gp_exact_ratio(s.square, s.square_form, s.square_flags, 1, root, (gp_type)type);
    return gp_exact_ratio(s.sum, s.form, s.flags, op == GP_REDUCE_MEAN ? s.n : 1, false, (gp_type)type);
}

/* All results of floats, by one thread. count: of elements that are not zero. */
template <bool SQUARES>
__device__ __noinline__ void write_exactly(const reduce_arguments &a, const exact_sums &s, uint64_t count,
                                           uint64_t output) {
    for (unsigned r = 0; r < a.pass.results; r++) {
        const gp_pass_result &result = a.pass.result[r];
        const uint64_t raw = result.op == GP_REDUCE_COUNT ? count : exact_float<SQUARES>(result.op, result.type, s);
        store_raw(gp_pass_address(&a.pass, r, output), bytes_of(result.type), raw);
    }
    tell_host(a);
}
