/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside a simulation: a configuration, what was prepared of it, the engine, and what came of it.
 */
#ifndef DLS_API_SIMULATION_H
#define DLS_API_SIMULATION_H

#include "api/setup.h"
#include "config/prepare.h"
#include "results/schema.h"

#include <stdatomic.h>

/* What a simulation and its clones share. */
typedef struct dls_shared_config {
    dls_config *config;
    atomic_int users;
} dls_shared_config;

struct dls_simulation {
    dls_shared_config *shared;
    const dls_config *config; /* of it */
    const dls_trace *trace;
    dls_prepared prepared;
    dls_engine *engine;
    const dls_record *rec;            /* the engine's, or `result` */
    dls_record *result;               /* owned, when finished */
    dls_summary summary;              /* when finished */
    dls_column jobs[DLS_COLUMNS_MAX]; /* columns of jobs, which stay where they are */
    size_t n_jobs_columns;
    dls_watch_fn watch;
    void *watch_user;
    double wall_s; /* in the engine */
    size_t n_infeasible, first_infeasible;
    bool outside;
    bool failed; /* can only be destroyed */
    bool interrupted;
};

#endif
