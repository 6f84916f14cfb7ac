/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'compare' and 'study' share: runs of results files, shown side by side.
 */
#ifndef DLS_CLI_COMPARING_H
#define DLS_CLI_COMPARING_H

#include "cli/command.h"
#include "results/summary.h"

typedef struct dls_comparing_run {
    char *file_label;   /* "a.h5", or "a.h5:ID" when the file holds several runs */
    char *policy;       /* "dlas-gpu/consolidated" */
    char *design_label; /* of a merged sweep, NULL for others */
    char *sha256;
    size_t design;
    int64_t replica;
    dls_summary summary;
} dls_comparing_run;

typedef struct dls_comparing {
    dls_comparing_run *runs;
    size_t n, cap, n_designs;
    dls_words baseline;      /* of the command line */
    dls_words file_baseline; /* owned; in its place, those that a sweep names */
} dls_comparing;

/* Add every run of a file, or the one called run_id. */
dls_status dls_comparing_add(dls_comparing *c, const char *path, const char *run_id,
                             dls_error *err) DLS_MUST_CHECK;
/* To stdout: run by run, or, when a design has several runs or a baseline is named, design by
 * design. Warnings to stderr. */
dls_status dls_comparing_show(const dls_comparing *c, bool json, dls_error *err) DLS_MUST_CHECK;
void dls_comparing_fini(dls_comparing *c);

#endif
