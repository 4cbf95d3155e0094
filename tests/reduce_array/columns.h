/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of columns, which have ways of their own, with data that these may take wrongly. */
#pragma once

void rounding_of_columns(void **state);
void means_that_round_to_zero(void **state);
void extremes_of_columns(void **state);
void few_rows_of_floats(void **state);
void boxes_of_pictures(void **state);
void spreads_of_integers(void **state);
