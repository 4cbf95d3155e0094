/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_reduce() and gp_reduce_pair() to passes: facts of operations, checks, canonical views.
 * What gp_window() shares of these. Pure. */
#pragma once

#include "../status.h"
#include "pass.h"

/* The arguments of a call. */
typedef struct gp_reduce_call {
    const gp_array *in, *with;     /* with NULL: gp_reduce() */
    const gp_window_shape *window; /* of gp_window() alone */
    const gp_result *results;
    size_t count;
} gp_reduce_call;

/* How far a call is; all zeros at its start. */
typedef struct gp_served {
    uint64_t done;      /* results that have had their pass, bit by bit */
    uint8_t number, of; /* the last pass is number `number` of `of` */
} gp_served;

#define GP_RESULTS_MAX 64u /* of a call */

/* What an operation is, whatever the data. */
typedef struct gp_operation_facts {
    const char *name; /* of the constant behind GP_REDUCE_; NULL: there is no such operation */
    uint8_t kind;     /* gp_pass_kind */
    uint8_t results;  /* gp_result_class */
    uint16_t wants;
    bool of_something; /* has no value of no elements */
} gp_operation_facts;

#define GP_OPERATION_MASK 0xffu

/* op without flags. */
const gp_operation_facts *gp_operation_facts_of(uint32_t op);

/* Bit t: a result of the operation, of elements of `type`, may have the gp_type t. 0: there is no such operation. */
unsigned gp_result_types(const gp_operation_facts *facts, unsigned type);

const char *gp_type_name(unsigned type);

/* What a call asks of a result, which fails in words. name: of the result, or of its view. */
typedef gp_status gp_result_check(const gp_reduce_call *call, const gp_result *result,
                                  const gp_operation_facts *facts, const char *name);

/* Checks all arguments but the window; operation: before a result's view is known to be good, output: after. */
gp_status gp_results_check(const gp_reduce_call *call, gp_result_check *operation, gp_result_check *output);

/* Checks all arguments; fails and names argument and axis. */
gp_status gp_reduce_check(const gp_reduce_call *call);

/* The next pass of a checked call with outputs. False: no more. */
bool gp_pass_next(const gp_reduce_call *call, gp_served *served, gp_pass *pass);

/* Which results of a checked call share the next pass. Returns how many; 0: no more. */
unsigned gp_results_next(const gp_reduce_call *call, gp_served *served, uint8_t index[GP_PASS_RESULTS]);

/* A result's axis is reduced if the result has one element along it, or no axes at all. */
static inline bool gp_axis_is_reduced(const gp_array *to, unsigned axis) {
    return to->rank == 0 || to->extent[axis] == 1;
}
