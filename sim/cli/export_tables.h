/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of results files as tables of text: any table of dlsim's, or the jobs as Batsim's jobs.csv
 * and the Standard Workload Format have them.
 */
#ifndef DLS_CLI_EXPORT_TABLES_H
#define DLS_CLI_EXPORT_TABLES_H

#include "dlsim/results.h"

#include <stdio.h>

/* "jobs", "allocations", "series", "starts", "world"; NULL past the last. */
const char *dls_export_table_name(size_t i);
/* Every column under its name; codes as what they mean, "" for none. Returns how many rows. */
size_t dls_export_csv(FILE *to, const dls_saved *run, dls_table table);
/* The jobs that ran to their end. Times are exact decimal seconds. */
size_t dls_export_batsim(FILE *to, const dls_saved *run);
/* All jobs; times in whole seconds. */
size_t dls_export_swf(FILE *to, const dls_saved *run);

#endif
