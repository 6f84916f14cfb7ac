/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A results file of a configuration's run, with all that is known of where it comes from.
 */
#ifndef DLS_API_WRITE_RESULTS_H
#define DLS_API_WRITE_RESULTS_H

#include "config/config.h"
#include "record/record.h"
#include "results/summary.h"

typedef struct dls_written_by {
    const char *command; /* as the program was called; may be NULL */
    const char *run_id;  /* what the run is called in the file; NULL: the usual */
} dls_written_by;

/* Errors: EOUTPUT, ENOMEM. */
dls_status dls_config_write_results(const dls_config *config, const char *path,
                                    const dls_written_by *by, const dls_trace *trace,
                                    const dls_record *rec, const dls_summary *summary,
                                    dls_error *err) DLS_MUST_CHECK;

#endif
