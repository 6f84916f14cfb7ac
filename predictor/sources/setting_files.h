/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Descriptions of settings, those that came with the program, a user's or a dataset's, and
 * inspectors of all settings that are asked about them.
 */
#ifndef DLS_SOURCES_SETTING_FILES_H
#define DLS_SOURCES_SETTING_FILES_H

#include "dlsim/predictor.h"
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

#endif
