/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The points of a sweep, each resolved to a configuration and a trace, and checked, before anything
 * runs.
 *
 * A point is known by its id (sweep/identity.h), which says all that its result follows from. So a
 * result is found again wherever the sweep is started from and however its points are numbered
 * since, and never taken for that of another point.
 */
#ifndef DLS_SWEEP_PLAN_H
#define DLS_SWEEP_PLAN_H

#include "base/own.h"
#include "sweep/identity.h"
#include "sweep/sweep.h"

/* In a row of an axis: leave this key as the configuration has it. */
#define DLS_SWEEP_UNSET "*"


typedef struct dls_sweep_request {
    const dls_sweep *sweep;
    const dls_override *overrides; /* of every point, behind the file's own */
    size_t n_overrides;
    const dls_registry *registry;
    const dls_study_watch *watch;
    size_t first, n; /* only these points; n 0: all */
} dls_sweep_request;

typedef struct dls_sweep_trace {
    char *path, *format; /* owned */
    dls_trace_options options;
    dls_trace *trace; /* owned; NULL: too many are in use, load it when it is needed */
    char sha256[DLS_SHA256_HEX];
} dls_sweep_trace;

typedef struct dls_sweep_plan {
    dls_sweep_request request; /* borrowed parts must outlive the plan */
    char *base_text;           /* of the configuration, read once */
    size_t n_designs, n_seeds, n_points;
    size_t first, n;             /* the points that are resolved */
    char (*id)[DLS_SWEEP_ID];    /* [n] */
    int32_t *trace_of;           /* [n] index in trace */
    int64_t *seed;               /* [n_seeds]; NULL without seeds */
    char *scheduler, *placement; /* of the first point */
    dls_sweep_trace *trace;
    size_t n_traces, traces_cap;
    dls_sweep_inputs inputs;
    dls_memo *memo; /* owned; of all points' configurations, and so of their workers */
} dls_sweep_plan;

/* Problems are appended to the list: unknown keys, values that will not do, keys set twice, points
 * that are the same. At most a dozen bad points are looked at. Errors: ECONFIG, EINPUT (a trace),
 * ENOMEM. O(points x size of the configuration), about 40 us a point. */
dls_status dls_sweep_plan_make(const dls_sweep_request *request, dls_problems *problems,
                               dls_sweep_plan **out, dls_error *err) DLS_MUST_CHECK;
void dls_sweep_plan_destroy(dls_sweep_plan *plan); /* NULL-safe */
DLS_OWNER(dls_sweep_plan, dls_sweep_plan_destroy)

static inline size_t dls_sweep_design(const dls_sweep_plan *plan, size_t point)
{
    return point / plan->n_seeds;
}
static inline size_t dls_sweep_replica(const dls_sweep_plan *plan, size_t point)
{
    return point % plan->n_seeds;
}

/* The trace that a configuration names, as it is in its file. */
dls_status dls_sweep_load_trace(const dls_sweep_plan *plan, const dls_config *config,
                                dls_trace **out, dls_error *err) DLS_MUST_CHECK;
/* The configuration of a point. Problems as dls_config_load. */
dls_status dls_sweep_config(const dls_sweep_plan *plan, size_t point, dls_problems *problems,
                            dls_config **out, dls_error *err) DLS_MUST_CHECK;
/* "dlsim --config=FILE --set KEY=VALUE ...": the point, which has this configuration, as a single
 * run, whoever runs it; paths as they were written. *out is the C library's (free). */
dls_status dls_sweep_command(const dls_sweep_plan *plan, size_t point, const dls_config *config,
                             char **out, dls_error *err) DLS_MUST_CHECK;
/* What a person calls a design: "dlas-gpu/consolidated, restore_cost=62 s". Returns buf. */
const char *dls_sweep_label(const dls_sweep_plan *plan, size_t design, char *buf, size_t n);
/* EUSAGE unless a design is called so, wholly or in part. */
dls_status dls_sweep_find(const dls_sweep_plan *plan, const char *name,
                          dls_error *err) DLS_MUST_CHECK;

#endif
