/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every source asked about every measured step, and how far its answers are off in each group of
 * rows: who measured, on how many GPUs, in which precision, and whether the operator model was
 * fitted to the rows. What a source cannot answer is counted with its reason.
 */
#ifndef DLS_MEASURED_JUDGE_H
#define DLS_MEASURED_JUDGE_H

#include "base/strdict.h"
#include "predictor/measured/errors.h"
#include "predictor/measured/steps.h"
#include "predictor/sources/whatif.h"

#define DLS_VERDICT_SOURCES 8

typedef struct dls_verdict_options {
    /* [n_sources] of dls_whatif_sources, or "again": what others measured of the same job; NULL:
     * all but that */
    const char *const *sources;
    size_t n_sources;
    const char *hardware_dir; /* NULL: the usual places */
    const char *weights;      /* of the inspector; NULL: the shipped ones */
    const char *networks;     /* of justus; NULL: it answers nothing */
    dls_memo *memo;           /* dls_whatif_params */
    dls_whatif *known;        /* of source operator, that answers for it; NULL: opened anew */
    bool left_out; /* the operator model forgets each row's GPU first; groups are GPUs then */
} dls_verdict_options;

typedef struct dls_verdicts {
    const dls_measured_steps *steps; /* borrowed */
    const char *source[DLS_VERDICT_SOURCES];
    size_t n_sources;
    double *predicted; /* [rows][n_sources] seconds, NAN: unanswered; owned */
    int32_t *why;      /* [rows][n_sources] code of `reasons`, -1: answered */
    bool *fits;        /* [rows][n_sources] */
    dls_strdict reasons, groups;
    int32_t *group_of;                         /* [rows] code of `groups` */
    dls_errors (*errors)[DLS_VERDICT_SOURCES]; /* [n_groups] */
    size_t n_groups; /* those of `groups`, then DLS_VERDICT_SUMS sums of rows that fitted nothing */
} dls_verdicts;

/* Sums: all rows, those of one GPU, of one node, of several nodes. */
#define DLS_VERDICT_SUMS 4
const char *dls_verdicts_group_name(const dls_verdicts *v, size_t group);
/* Is the row in the group or sum? */
bool dls_verdicts_in(const dls_verdicts *v, size_t row, size_t group);

/* The question about a row, without what Habitat is given; false: split in a way that nobody
 * answers.
 */
bool dls_measured_step_asked(const dls_measured_step *row, const dls_whatif *w,
                             dls_whatif_question *q);

/* *v is to be ended in any case. Errors: EINPUT (an unknown source), those of opening a source,
 * ENOMEM. O(rows) questions, and errors.h. */
dls_status dls_verdicts_ask(const dls_measured_steps *steps, const dls_verdict_options *o,
                            dls_verdicts *v, dls_error *err) DLS_MUST_CHECK;
void dls_verdicts_fini(dls_verdicts *v);

/* HDF5 (docs/measured.md). Errors: EOUTPUT, ENOMEM. */
dls_status dls_verdicts_save(const dls_verdicts *v, const char *path, const char *command,
                             dls_error *err) DLS_MUST_CHECK;

#endif
