/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published simulators of other schedulers, reproduced job by job beside the engine, defects included:
 * tiresias, muri, elasticflow, gavel, pollux, fgd, lucid (docs/tiresias-compat.md, docs/schedulers-*.md).
 *
 *      #include <dlsim/replayer.h>
 *
 *      dls_status shortest(const char *trace, FILE *rows, dls_error *err)
 *      {
 *          const dls_setting settings[] = {{"schedule", "srtf"}, {"nodes", "4"}};
 *          const dls_replayer_output to = {.rows = rows};
 *          return dls_replayer_run("muri", settings, 2, trace, &to, err);
 *      }
 *
 * Each is a table: a file that defines `const dls_replayer dls_replayer_X` beside the simulator is found by
 * the build and has its command, help and manual page from it. A run belongs to one thread.
 */
#ifndef DLSIM_REPLAYER_H
#define DLSIM_REPLAYER_H

#include "dlsim/error.h"
#include "dlsim/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option as text: "nodes", "8"; "round", "6 min"; "testbed", "true". */
typedef struct dls_setting {
    const char *name, *value;
} dls_setting;

/* Where a run writes; members but the first may be NULL. */
typedef struct dls_replayer_output {
    FILE *rows;   /* the table, CSV; of tiresias, whose tables are files of its own, the summary */
    FILE *report; /* a few numbers for people */
    bool (*interrupted)(void *user); /* asked by tiresias alone; true: stop with EINTERRUPTED */
    void *user;
} dls_replayer_output;

/* What a replayer is given. */
typedef struct dls_replayer_call {
    const dls_option_value *value; /* of its options, in their order; texts that are not set are "" */
    const char *const *repeated;   /* [n_repeated] texts of the option that may be repeated */
    size_t n_repeated;
    const char *input;
    const dls_replayer_output *to;
} dls_replayer_call;

typedef struct dls_replayer {
    const char *name, *summary, *about;
    const char *input;         /* what it reads: "TRACE.csv"; NULL: options name its files */
    const char *needs;         /* an option that must be set; or NULL */
    const char *repeats;       /* an option that may be set several times; or NULL */
    const dls_option *options; /* `unit` of a text or switch: what help calls its value */
    const char *chosen;        /* the option whose values are: */
    const char *(*choice)(size_t i, const char **summary); /* the i-th, NULL past the last */
    dls_status (*run)(const dls_replayer_call *call, dls_error *err);
} dls_replayer;

/* All by name, ended by NULL. */
DLS_API const dls_replayer *const *dls_replayers(void);
/* Replay what is in `input` (NULL where the replayer reads none) with these settings, defaults for the rest.
 * Errors: EUSAGE (no such replayer, option or schedule, a value out of range), EINPUT, ERUN (the published
 * program fails here too), EOUTPUT, EINTERRUPTED, ENOMEM. */
DLS_API dls_status dls_replayer_run(const char *replayer, const dls_setting *settings, size_t n,
                                    const char *input, const dls_replayer_output *to,
                                    dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
