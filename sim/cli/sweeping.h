/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'sweep' and 'study' share: a sweep's points planned, run in worker processes, merged.
 */
#ifndef DLS_CLI_SWEEPING_H
#define DLS_CLI_SWEEPING_H

#include "cli/replay.h"
#include "sweep/runner.h"

typedef struct dls_sweeping {
    dls_replay_options o;
    dls_sweep *sweep;     /* owned */
    dls_sweep_plan *plan; /* owned */
    dls_sweep_host host;
    const char *output; /* -o; NULL: the file's, or one made of the sweep's name */
    char folder[4096];
    int64_t replicas;        /* 0: the file's */
    int64_t workers;         /* 0: one a processor */
    size_t first, n;         /* --points; n 0: all */
    dls_sweep_progress done; /* of dls_sweeping_run */
    dls_progress bar;
    char *carried; /* owned; options of every point as a shell wants them: " --set 'a=b'" */
    bool told;     /* what the trace is like */
} dls_sweeping;

/* Options that both take beside those of a run. */
#define DLS_SWEEPING_SHORTS "j:"
#define DLS_SWEEPING_LONGS                                                                         \
    {"jobs", required_argument, NULL, 'j'},                                                        \
    {                                                                                              \
        "replicas", required_argument, NULL, 'R'                                                   \
    }

dls_status dls_sweeping_init(dls_sweeping *s, const char *command, int argc, char **argv,
                             dls_error *err) DLS_MUST_CHECK;
void dls_sweeping_fini(dls_sweeping *s);

/* One of the shared options, -o and -j too; -1: good, else the exit code (it has been reported). */
int dls_sweeping_option(dls_sweeping *s, int letter, const char *value);
/* The next three: -1: good, else the exit code; what was wrong has been reported. */
int dls_sweeping_load(dls_sweeping *s, const char *path);
/* Choose the folder and resolve the points. */
int dls_sweeping_plan(dls_sweeping *s);
/* Run what is not finished. A failed point is reported and gives exit code 1, when all is done. */
int dls_sweeping_run(dls_sweeping *s);
/* Merge the finished points into `file` (NULL: FOLDER/NAME.h5). Exit code. */
int dls_sweeping_merge(dls_sweeping *s, const char *file, bool link);

#endif
