/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings of an inspector of all settings: from a description and the tables of hardware.
 */
#ifndef DLS_SOURCES_SETTLE_H
#define DLS_SOURCES_SETTLE_H

#include "predictor/dataset/condition.h"

/* Is it told of settings, rather than trained on each? EINPUT: it is, but by other numbers than
 * this program has. */
dls_status dls_settle_check(const dls_inspector *insp, bool *takes_any,
                            dls_error *err) DLS_MUST_CHECK;

/* Add a setting by its description. Errors: EINPUT (a GPU or link that the tables do not have; a
 * name that is there already), ENOMEM. */
dls_status dls_settle(dls_inspector *insp, const dls_hardware *hw, const dls_setting_info *setting,
                      dls_error *err) DLS_MUST_CHECK;
/* The same by its numbers. Errors: EINPUT (a number that is not finite, a name that is there),
 * ENOMEM.
 */
dls_status dls_settle_numbers(dls_inspector *insp, const dls_setting_info *setting,
                              const double number[DLS_CONDITIONS], dls_error *err) DLS_MUST_CHECK;

#endif
