/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the library: types of columns and numbers of summaries, of simulations and of files alike.
 */
#ifndef DLS_API_NUMBERS_H
#define DLS_API_NUMBERS_H

#include "dlsim/run.h"
#include "results/schema.h"

dls_value_type dls_value_of(dls_field_type type);
/* summary NULL: there are none. */
bool dls_number_at(const dls_summary *summary, size_t i, dls_result_number *out);

#endif
