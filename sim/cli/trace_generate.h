/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim trace generate`, called by cmd_trace.c with its own name as argv[0].
 */
#ifndef DLS_CLI_TRACE_GENERATE_H
#define DLS_CLI_TRACE_GENERATE_H

int dls_cmd_trace_generate(int argc, char **argv);

#endif
