/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim predict --whatif: one workload, and what would be if.
 */
#ifndef DLS_CLI_PREDICT_WHATIF_H
#define DLS_CLI_PREDICT_WHATIF_H

#include "cli/command.h"

extern const dls_command dls_predict_whatif;

#endif
