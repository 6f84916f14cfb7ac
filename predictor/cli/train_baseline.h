/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train --baseline: learned baselines, from the times of single kernels.
 */
#ifndef DLS_CLI_TRAIN_BASELINE_H
#define DLS_CLI_TRAIN_BASELINE_H

#include "cli/command.h"

extern const dls_command dls_train_baseline;

#endif
