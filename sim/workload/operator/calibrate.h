/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The constants of the operator model from the calibrating points, and from nothing else.
 */
#ifndef DLS_OPERATOR_CALIBRATE_H
#define DLS_OPERATOR_CALIBRATE_H

#include "workload/operator/pointset.h"

/* Constants of the kernels and factors of the GPUs per precision; then hosts and fabrics on top of
 * them. left_out: a GPU whose fp32 points are ignored for the kernels, so that it is predicted as
 * one never seen; NULL for none. sized: kernels by their sizes (borrowed, as model->sized); NULL:
 * one efficiency for each family. Errors: EINPUT (a fit without points), ENOMEM. */
dls_status dls_calibrate(const dls_pointset *set, const char *left_out,
                         const dls_sized_table *sized, dls_opmodel *model,
                         dls_error *err) DLS_MUST_CHECK;

#endif
