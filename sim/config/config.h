/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A checked configuration: everything that a run needs but the trace itself.
 *
 *      default < file < overrides in the order given ("--set key=value", named options)
 *
 * Every problem of a configuration is found and listed before anything fails. A dls_config is read
 * only; it borrows the policies of the registry that it was loaded with.
 */
#ifndef DLS_CONFIG_CONFIG_H
#define DLS_CONFIG_CONFIG_H

#include "base/sha256.h"
#include "config/problems.h"
#include "dlsim/policy.h"
#include "dlsim/trace.h"
#include "predictor/sources/predictions.h"
#include "cluster/cluster.h"
#include "cluster/failures.h"
#include "world/world.h"
#include "engine/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A file or folder that a run uses: text names it there, or an empty text stands for the usual one.
 */
typedef struct dls_config_file {
    char *path;     /* owned */
    size_t at, len; /* the value in text, quotes included */
    bool input;     /* results follow from what it holds; false: the cache, "" if there is none */
} dls_config_file;

typedef struct dls_config {
    char *name;
    dls_cluster_spec cluster;

    char *trace_path;   /* "" if not given */
    char *trace_format; /* "auto" */
    char *trace_assign; /* "" none, a built-in table's name, or a path */
    dls_trace_options trace_options;

    char *scheduler, *placement;        /* names */
    const dls_sched_ops *sched;
    dls_option_value *sched_values;     /* [options of sched] */
    const dls_placement_ops *place;
    dls_option_value *placement_values; /* [options of place] */
    int discipline;                     /* -1: the policy's own, else a dls_discipline */
    int64_t restore_us;
    bool estimates_exact, estimates_predicted;

    dls_world_params world;         /* without the trace */
    dls_prediction_params predictions; /* without the trace and the world; source NULL: none */
    int64_t checkpoint_period_us, checkpoint_us;
    double storage_bps;             /* 0: not counted */
    dls_failure_params failures;
    const char *failure_trace;      /* path; NULL: none */
    const char *elastic_table;      /* path; NULL: none */
    const char *predictions_text;   /* "replay:PATH" or "record:PATH", resolved; NULL: neither */

    uint64_t seed;
    int64_t until_us; /* DLS_NEVER */
    bool audit;

    char *results_path; /* "" none */
    bool want_allocs, want_series;
    int64_t warmup_us, cooldown_us;

    char *text; /* the resolved configuration: loads to an equal one */
    dls_config_file *file; /* [n_files] in the order of text */
    size_t n_files, files_cap;
    char **kept; /* texts that option values and the params above borrow */
    size_t n_kept, kept_cap;
} dls_config;

/* One key from outside the file. */
typedef struct dls_override {
    const char *key; /* "run.seed"; NULL: text is "key=value" */
    const char *text;
    const char *where; /* "--seed", for messages */
} dls_override;

typedef struct dls_config_request {
    const char *path;    /* file, or "-" standard input */
    const char *content; /* in place of reading path (which then only names it); may be NULL */
    const dls_override *overrides;
    size_t n_overrides;
    const dls_registry *registry;
} dls_config_request;

/* Problems are appended to the list, in the order of the file; with any, the status is ECONFIG and
 * err says how many. Other errors: ECONFIG (file unreadable), ENOMEM. A file of n bytes costs
 * O(n + keys^2). */
dls_status dls_config_load(const dls_config_request *request, dls_problems *problems,
                           dls_config **out, dls_error *err) DLS_MUST_CHECK;
void dls_config_destroy(dls_config *config); /* NULL-safe */

/* ---- documentation from the schema; out is only written to
 * ---------------------------------------
 */

/* A configuration with every key at its default and its explanation; it can be loaded. */
void dls_config_print_defaults(FILE *out, const dls_registry *registry);
/* The manual's tables, docs/config.md. */
void dls_config_print_markdown(FILE *out, const dls_registry *registry);
/* What one key means ("cluster.nodes.count", "scheduler.name", also the options of policies:
 * "scheduler.quantum"). Errors: EUSAGE with a suggestion. */
dls_status dls_config_explain(FILE *out, const dls_registry *registry, const char *key,
                              dls_error *err) DLS_MUST_CHECK;

#endif
