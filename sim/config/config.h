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

#include "base/memo.h"
#include "base/own.h"
#include "cluster/cluster.h"
#include "cluster/failures.h"
#include "cluster/power.h"
#include "cluster/services.h"
#include "config/registry.h"
#include "config/settings.h"
#include "dlsim/policy.h"
#include "dlsim/trace.h"
#include "engine/sim.h"
#include "predictor/sources/predictions.h"
#include "world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A file or folder that a run uses: text names it there, or an empty text stands for the usual one.
 */
typedef struct dls_config_file {
    const char *path;
    size_t at, len; /* the value in text, quotes included */
    bool input;     /* results follow from what it holds; false: the cache, "" if there is none */
} dls_config_file;

/* Texts are the settings'. Members are filled by the schema, which says what they mean, but for
 * those with a comment. */
typedef struct dls_config {
    dls_settings settings;
    const char *name;
    dls_cluster_spec cluster;                             /* its lists */
    const char *trace_path, *trace_format, *trace_assign; /* "": none */
    dls_trace_options trace_options;
    const char *scheduler, *placement;                 /* names */
    dls_option_value *sched_values, *placement_values; /* owned, as in sim */
    dls_sim_params sim;     /* policies and their values, estimates; without the trace and what
                               is made of the params below */
    dls_world_params world; /* without the trace */
    dls_prediction_params predictions; /* without the trace and the world; source NULL: none */
    dls_failure_params failures;
    dls_energy_params energy;
    dls_services services;                     /* its list */
    const char *failure_trace, *elastic_table, *history_path; /* NULL: none */
    bool estimates_learned, estimates_trees;   /* from the jobs that have ended; also by trees */
    const char *results_path;                  /* "" none */
    int64_t warmup_us, cooldown_us;
    dls_memo *memo, *own_memo; /* what its runs share of models; own_memo: owned, or NULL */

    char *text;            /* the resolved configuration: loads to an equal one */
    const char *path;      /* the file that it comes from; "" none */
    dls_config_file *file; /* [n_files] in the order of text */
    size_t n_files, files_cap;
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
    dls_memo *memo; /* that outlives the configuration; NULL: one of its own */
} dls_config_request;

/* Problems are appended to the list, in the order of the file; with any, the status is ECONFIG and
 * err says how many. Other errors: ECONFIG (file unreadable), ENOMEM. A file of n bytes costs
 * O(n + keys^2). */
dls_status dls_config_load(const dls_config_request *request, dls_problems *problems,
                           dls_config **out, dls_error *err) DLS_MUST_CHECK;
void dls_config_destroy(dls_config *config); /* NULL-safe */
DLS_OWNER(dls_config, dls_config_destroy)

/* Is it the file that it comes from, or one that its runs read? O(files). */
bool dls_config_reads(const dls_config *config, const char *path);

/* ---- documentation from the schema; out is only written to ----------------------------------- */

/* A configuration with every key at its default and its explanation; it can be loaded. */
dls_status dls_config_print_defaults(FILE *out, const dls_registry *registry,
                                     dls_error *err) DLS_MUST_CHECK;
/* The manual's tables, docs/config.md. */
void dls_config_print_markdown(FILE *out, const dls_registry *registry);
/* Every key and every option of a policy, a row each, for programs. */
void dls_config_json(struct json_object *list, const dls_registry *registry);
/* What one key means ("cluster.nodes.count", "scheduler.name", also the options of policies:
 * "scheduler.quantum"). Errors: EUSAGE with a suggestion. */
dls_status dls_config_explain(FILE *out, const dls_registry *registry, const char *key,
                              dls_error *err) DLS_MUST_CHECK;

#endif
