/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured steps held against what their GPUs can do: a slip of units in all rows of a file, which
 * no row beside it shows.
 */
#ifndef DLS_MEASURED_POSSIBLE_H
#define DLS_MEASURED_POSSIBLE_H

#include "predictor/measured/steps.h"
#include "predictor/sources/whatif.h"

/* Of the rows from `first` on, which `path` gave: those faster than their GPU's data sheet lets any
 * program be are left out with a complaint. If the median of measured / predicted by the operator
 * model (`w`) of the rest is that of a slip of units, either way, there is a doubt about the file.
 * Errors: those of dls_whatif_ask, ENOMEM. */
dls_status dls_measured_steps_check(dls_measured_steps *s, size_t first, const char *path,
                                    dls_whatif *w, dls_error *err) DLS_MUST_CHECK;

#endif
