/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate --measured: predictors against what was measured (docs/measured.md).
 */
#ifndef DLS_CLI_EVALUATE_MEASURED_H
#define DLS_CLI_EVALUATE_MEASURED_H

#include "cli/command.h"

extern const dls_command dls_evaluate_measured;

#endif
