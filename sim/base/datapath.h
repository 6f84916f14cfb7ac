/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that come with the program: tables of hardware, inspectors.
 */
#ifndef DLS_BASE_DATAPATH_H
#define DLS_BASE_DATAPATH_H

#include <stddef.h>

/* Where `source` ("configs/hardware"), a path in the source tree, lies: relative to the current
 * folder, in the installation that the program, or the library in another, belongs to
 * (share/dlsim/`installed`), or in the source tree around that folder, whichever is there first.
 * With none of them the installation's path, so that an error names it. Returns buf. */
const char *dls_data_path(const char *source, const char *installed, char *buf, size_t size);

#endif
