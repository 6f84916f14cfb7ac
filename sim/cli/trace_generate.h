/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim trace generate.
 */
#ifndef DLS_CLI_TRACE_GENERATE_H
#define DLS_CLI_TRACE_GENERATE_H

#include "cli/command.h"

extern const dls_command dls_trace_generate;

#endif
