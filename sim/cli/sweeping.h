/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'sweep' and 'study' share: a sweep's points planned, run in worker processes, merged.
 */
#ifndef DLS_CLI_SWEEPING_H
#define DLS_CLI_SWEEPING_H

#include "cli/replay.h"

typedef struct dls_sweeping {
    dls_replay_options o;
    dls_study *study;        /* owned */
    const char *output;      /* -o; NULL: the file's, or one made of the study's name */
    int64_t replicas;        /* 0: the file's */
    int64_t workers;         /* 0: one a processor */
    size_t first, n;         /* --points; n 0: all */
    dls_study_progress done; /* of dls_sweeping_run */
    dls_progress bar;
    bool told; /* what the trace is like */
} dls_sweeping;

/* --jobs, --replicas and the keys. */
extern const dls_arg dls_sweeping_args[];

/* The fini of a command whose request begins with a dls_sweeping; its init is dls_replay_init. */
void dls_sweeping_fini(void *sweeping);

dls_status dls_sweeping_load(dls_sweeping *s, const char *path, dls_error *err) DLS_MUST_CHECK;
dls_status dls_sweeping_plan(dls_sweeping *s, dls_error *err) DLS_MUST_CHECK;
/* Run what is not finished. A failed point is reported and gives ERUN, when all is done. */
dls_status dls_sweeping_run(dls_sweeping *s, dls_error *err) DLS_MUST_CHECK;
/* Merge the finished points into `file` (NULL: FOLDER/NAME.h5). */
dls_status dls_sweeping_merge(dls_sweeping *s, const char *file, bool link,
                              dls_error *err) DLS_MUST_CHECK;
/* FOLDER/NAME.h5 */
void dls_sweeping_file(const dls_sweeping *s, char *buf, size_t n);
/* What has become of the i-th point of the plan; a line to `to` if it failed. */
dls_study_state dls_sweeping_tell(const dls_sweeping *s, size_t i, FILE *to);

#endif
