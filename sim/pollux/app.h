/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The applications of the Pollux artifact (petuum/adaptdl, branch osdi21-artifact,
 * simulator/traces): statistical efficiency by epoch and batch size, and measured step times by
 * placement.
 *
 * A folder holds <application>/validation-<batch>.csv (progress, iteration, grad_sqr, grad_var; a
 * row for each epoch), placements.csv (placement, local_bsz, step_time, sync_time; a placement is
 * the GPUs on each node as digits) and scalability.csv (num_nodes, num_replicas, ...).
 */
#ifndef DLS_POLLUX_APP_H
#define DLS_POLLUX_APP_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLS_POLLUX_SIZES 16     /* validated batch sizes of an application */
#define DLS_POLLUX_REPLICAS 256 /* of a job */
#define DLS_POLLUX_GPUS 9       /* of a node: placements are written as digits */

typedef struct dls_pollux_times {
    double step, sync; /* seconds; sync: the part of it that is not computing */
} dls_pollux_times;

typedef struct dls_pollux_sample {
    int32_t local;
    dls_pollux_times t;
} dls_pollux_sample;

/* Measurements of one placement, or of one (nodes, replicas), ascending by local batch. */
typedef struct dls_pollux_curve {
    char key[DLS_POLLUX_REPLICAS + 1]; /* digits, smallest rotation; scalability: "" */
    int32_t nodes, replicas;
    dls_pollux_sample *at; /* [n] */
    size_t n, cap;
} dls_pollux_curve;

typedef struct dls_pollux_curves {
    dls_pollux_curve *of; /* [n] ascending by key, or by nodes and replicas */
    size_t n, cap;
} dls_pollux_curves;

enum { DLS_POLLUX_PROGRESS, DLS_POLLUX_ITERATION, DLS_POLLUX_SQR, DLS_POLLUX_VAR, DLS_POLLUX_COLS };

/* What the simulator of Sia says of an application: what a restart takes and what its policy takes
 * it to cost, in seconds, and by how much training is slower than the profiles say. */
typedef struct dls_pollux_sia {
    int32_t restart_s, believed_s;
    double slower;
} dls_pollux_sia;

typedef struct dls_pollux_app {
    const char *name;
    int32_t epochs;
    int32_t sizes[DLS_POLLUX_SIZES], n_sizes; /* validated batch sizes, ascending */
    double *row[DLS_POLLUX_SIZES];            /* [epochs][DLS_POLLUX_COLS] */
    double *progress;                         /* [epochs + 1] at the end of that many epochs */
    int32_t local_min, local_max;             /* of placements.csv */
    const struct dls_pollux_sia *sia;         /* what Sia's simulator has otherwise */
    int32_t local_cap;                        /* the most that Pollux uses */
    dls_pollux_curves placements, points, lattice;
} dls_pollux_app;

typedef struct dls_pollux_apps {
    dls_pollux_app *app; /* [n] */
    size_t n;
} dls_pollux_apps;

/* Read all applications. points: NULL, or a table (app, placement, local_bsz, step_time, sync_time)
 * of times that hold before any that are interpolated. Errors: EINPUT, EIO, ENOMEM; *out is
 * to be released in any case. */
dls_status dls_pollux_apps_load(const char *folder, const char *points, dls_pollux_apps *out,
                                dls_error *err) DLS_MUST_CHECK;
void dls_pollux_apps_fini(dls_pollux_apps *apps);
/* NULL: there is none of that name. */
const dls_pollux_app *dls_pollux_app_find(const dls_pollux_apps *apps, const char *name);

static inline int32_t dls_pollux_least_batch(const dls_pollux_app *a)
{
    return a->sizes[0];
}

static inline int32_t dls_pollux_most_batch(const dls_pollux_app *a)
{
    return a->sizes[a->n_sizes - 1];
}

/* One GPU and the user's batch, always: collaborative filtering gains nothing by more. */
bool dls_pollux_is_fixed(const dls_pollux_app *a);
/* A column of an epoch, linear between the validated batch sizes around `batch`. */
double dls_pollux_between(const dls_pollux_app *a, int column, int32_t batch, int32_t epoch);
/* Steps of the least batch that one of this batch is worth: 1 .. batch / least. */
double dls_pollux_gain(double sqr, double var, double scale);

/* A placement as its key: the run lengths (GPUs on each node), smallest rotation, as digits. */
void dls_pollux_key(const int32_t *gpus, int32_t nodes, char key[DLS_POLLUX_REPLICAS + 1]);

/* Where a placement's times are looked up; kept while it lasts. */
typedef struct dls_pollux_where {
    const dls_pollux_curve *table, *points; /* NULL: not there */
    int32_t nodes, replicas;
} dls_pollux_where;
void dls_pollux_find(const dls_pollux_app *a, const int32_t *gpus, int32_t nodes,
                     dls_pollux_where *out);
/* The greatest local batch that was measured there (of what was not, on at least as many nodes and
 * replicas), and with so many replicas anywhere; 0: there is none. */
int32_t dls_pollux_most_local(const dls_pollux_app *a, const dls_pollux_where *w);
int32_t dls_pollux_most_local_of(const dls_pollux_app *a, int32_t replicas);
/* The most nodes that were measured, at most 16: profiles with more are taken for as many. */
int32_t dls_pollux_most_nodes(const dls_pollux_apps *apps);
/* Samples per second of one GPU as Sia compares types that a job has not been on: the greatest
 * local batch over the greatest step time; 0: there is no measurement of one GPU. */
double dls_pollux_alone(const dls_pollux_app *a);
/* Step and synchronisation time there. A tabled placement: linear between its measurements. Others:
 * the point if it is tabled; else linear in local batch on the measured (nodes, replicas) around
 * it, then linear in replicas per node, then in nodes (the published program triangulates a
 * lattice, which has no unique result). false: outside what was measured for that placement. */
bool dls_pollux_step(const dls_pollux_app *a, const dls_pollux_where *w, int32_t local,
                     dls_pollux_times *out);

#endif
