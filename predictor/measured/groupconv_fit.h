/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits what convolutions of groups take (workload/operator/groupconv.h): in 32 bits to measured
 * kernels that fit (kernels.h), in 16 to measured steps, as nobody measured those of an RTX 3090
 * alone. The families that fit were chosen before any error was looked at:
 * those that hold little beside such convolutions and plain ones, RegNetX and ResNeXt for groups,
 * MobileNetV2 and MnasNet for depthwise ones, on an RTX 3090. All other families judge.
 */
#ifndef DLS_MEASURED_GROUPCONV_FIT_H
#define DLS_MEASURED_GROUPCONV_FIT_H

#include "predictor/measured/kernels.h"
#include "predictor/measured/steps.h"
#include "workload/operator/model.h"

/* Is it a row that fits? All that do are, in whatever file. */
bool dls_groupconv_fits(const dls_measured_step *row);

/* model->groupconv by least squares of the logarithm over the rows that fit, of which there may be
 * none of steps or none of kernels; the rest of the model stays. Errors: EINPUT (there is no row
 * that fits), ENOMEM. */
dls_status dls_groupconv_fit(const dls_measured_steps *steps, const dls_measured_kernels *kernels,
                             const dls_hardware *hw, dls_opmodel *model,
                             dls_error *err) DLS_MUST_CHECK;

#endif
