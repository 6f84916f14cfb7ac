/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Folders of results.
 */
#ifndef DLS_BASE_FOLDER_H
#define DLS_BASE_FOLDER_H

#include "dlsim/error.h"

/* Make the folder and those above it; what is there stays. Errors: EOUTPUT, ENOMEM. */
dls_status dls_folder_make(const char *path, dls_error *err) DLS_MUST_CHECK;

#endif
