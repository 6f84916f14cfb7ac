/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The subcommands. Each gets its own name as argv[0] ("trace"), parses the rest with getopt_long,
 * writes data to stdout and talk to stderr, and returns the exit code of the process
 * (dls_status_exit_code). Only this folder prints or exits.
 */
#ifndef DLS_CLI_CLI_H
#define DLS_CLI_CLI_H

int dls_cmd_run(int argc, char **argv);
int dls_cmd_study(int argc, char **argv);
int dls_cmd_sweep(int argc, char **argv);
int dls_cmd_export(int argc, char **argv);
int dls_cmd_list(int argc, char **argv);
int dls_cmd_config(int argc, char **argv);
int dls_cmd_version(int argc, char **argv);
int dls_cmd_trace(int argc, char **argv);
int dls_cmd_compare(int argc, char **argv);
int dls_cmd_inspect(int argc, char **argv);
int dls_cmd_report(int argc, char **argv);
int dls_cmd_reproduce(int argc, char **argv);
int dls_cmd_predict(int argc, char **argv);
int dls_cmd_model(int argc, char **argv);
int dls_cmd_graph(int argc, char **argv);
int dls_cmd_operators(int argc, char **argv);
int dls_cmd_dataset(int argc, char **argv);
int dls_cmd_perf(int argc, char **argv);
int dls_cmd_train(int argc, char **argv);
int dls_cmd_evaluate(int argc, char **argv);
int dls_cmd_tiresias(int argc, char **argv);

#endif
