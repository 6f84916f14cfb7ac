/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elastic jobs: how many GPUs a job can use, and how fast it then does its work.
 *
 * A job's range comes from the trace (min_gpus, max_gpus), else from a table of its model, else it
 * runs as the gang that it asks for. Its speed on g GPUs, over that on its gang, is
 *
 *      without a table     g / gang: every GPU does as many samples a step as before, and a step's own time is the
 *                          world's to say
 *      with a table        curve(g) / curve(gang) of its model, linear between the points, proportional below the
 *                          first, flat beyond the last
 *
 * A table is a folder of published throughputs (throughputs.h) or a CSV file with the columns
 * model, gpus, speed (work per time in any unit, statistical efficiency included) and, if wanted,
 * gpu (type; empty: any), batch (global; empty: any) and restore_s (restoring time at that size). A
 * batch that a table does not have takes the curve of the nearest one.
 */
#ifndef DLS_WORKLOAD_ELASTIC_H
#define DLS_WORKLOAD_ELASTIC_H

#include "base/own.h"
#include "cluster/cluster.h"
#include "dlsim/policy.h"
#include "dlsim/trace.h"

typedef struct dls_elastic_jobs dls_elastic_jobs;

/* path: NULL for no table. trace and cluster are borrowed for the life of *out, which is NULL, with
 * OK, if no job is elastic and there is no table. O(jobs + rows log rows). Errors: EINPUT
 * (file:line:column), ENOMEM. */
dls_status dls_elastic_create(const char *path, const dls_trace *trace,
                              const dls_cluster_spec *cluster, dls_elastic_jobs **out,
                              dls_error *err) DLS_MUST_CHECK;
void dls_elastic_destroy(dls_elastic_jobs *e); /* NULL-safe */
DLS_OWNER(dls_elastic_jobs, dls_elastic_destroy)

/* [jobs]; the gang of the trace lies within. */
const int32_t *dls_elastic_min_gpus(const dls_elastic_jobs *e);
const int32_t *dls_elastic_max_gpus(const dls_elastic_jobs *e);
/* On a shape with a global batch (DLS_ABSENT: the trace's) over the gang and batch of the trace on
 * GPUs of that type: > 0, 1 for these. O(log rows). */
double dls_elastic_speed(const dls_elastic_jobs *e, int32_t job, const dls_shape *shape,
                         int64_t batch);
/* The points of the curve of the job's own batch on a type, ascending: numbers of GPUs and speeds
 * as in the table, at most `most` into gpus[] and speed[]. Returns how many there are, 0: the table
 * does not have the model with this batch on this type. O(rows of the model). */
size_t dls_elastic_curve(const dls_elastic_jobs *e, int32_t job, int32_t type, int32_t *gpus,
                         double *speed, size_t most);
/* Restoring time of the table, of the nearest size; -1: it does not say. */
int64_t dls_elastic_restore_us(const dls_elastic_jobs *e, int32_t job, const dls_shape *shape);
/* Jobs whose model a table has not, and those that have the curve of another batch; 0 without a
 * table. */
void dls_elastic_about(const dls_elastic_jobs *e, uint64_t *unprofiled, uint64_t *other_batch);

#endif
