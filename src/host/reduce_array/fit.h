/* SPDX-License-Identifier: Apache-2.0 */
/* How the GPU rows that reduce views cut a pass. */
#pragma once

#include "../kernel.h"
#include "pass.h"

/* Places rise with the index, so that the first of equals is the first that is met; that of the last axis fastest. */
bool gp_pass_places_rise(const gp_pass *pass);

/* A gp_reduce_many_form; GP_MANY_FORMS: there is none. */
unsigned gp_many_form_of(const gp_pass *pass);

/* Forms that load a unit of several elements: along an output, or among outputs; of which passes, NULL: of all. */
typedef struct gp_many_units {
    uint8_t form, packed, packed_bytes, wide, wide_bytes;
    bool (*takes)(const gp_pass *pass);
} gp_many_units;
#define GP_MANY_IN_UNITS 21
extern const gp_many_units gp_many_in_units[GP_MANY_IN_UNITS];

/*
 * SMs get unequal shares of the memory's bandwidth, so that the last fifth of the tiles is drawn: from the returned
 * one on, UINT32_MAX: none. A drawing costs a barrier; what has fewer than `least` rounds of all blocks has none.
 */
uint32_t gp_dealt_of(uint64_t tiles, uint64_t blocks, unsigned least);

GP_DECLARE_ROW(reduce_all);
GP_DECLARE_ROW(reduce_all_singles);
GP_DECLARE_ROW(reduce_short);
GP_DECLARE_ROW(reduce_many);
GP_DECLARE_ROW(reduce_any);

/* For outputs that reduce_many and reduce_short have not proved; *all: by reduce_all, else by reduce_any. */
GP_C_LINKAGE gp_status gp_fit_reduce_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling,
                                            bool *all);
