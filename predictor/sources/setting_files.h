/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Descriptions of settings, those that came with the program, a user's or a dataset's, and
 * inspectors of all settings that are told of them.
 */
#ifndef DLS_SOURCES_SETTING_FILES_H
#define DLS_SOURCES_SETTING_FILES_H

#include "dlsim/predictor.h"
#include "predictor/dataset/condition.h"
#include "predictor/dataset/dataset.h"
#include "predictor/dataset/setting.h"

/* which: "paper", "clusters", "all" (both), "bench" or a file; those that came with the program lie
 * beside the hardware tables. Errors: those of dls_setting_list_load. */
dls_status dls_setting_files_load(const char *which, const dls_hardware *hw, dls_setting_list *list,
                                  dls_error *err) DLS_MUST_CHECK;

/* Describe settings[n] of the set (NULL: all) to an inspector of all settings, but those that it
 * has; another inspector stays as it is. */
dls_status dls_setting_files_settle_set(dls_inspector *insp, const dls_dataset *set,
                                        const size_t *settings, size_t n, const char *hardware,
                                        dls_error *err) DLS_MUST_CHECK;

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
