/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside a simulation: a configuration, what was prepared of it, the engine, and what came of it.
 */
#ifndef DLS_API_SIMULATION_H
#define DLS_API_SIMULATION_H

#include "api/setup.h"
#include "config/prepare.h"
#include "results/schema.h"

struct dls_simulation {
    dls_shared_config *shared;
    const dls_config *config; /* of it */
    const dls_trace *trace;
    dls_prepared prepared;
    dls_engine *engine;
    const dls_record *rec; /* the engine's, or `result` */
    dls_record *result;    /* owned, when finished */
    dls_summary summary;
    bool summed_up;                   /* there is a summary: of the end, or of a time before it */
    char *report;                     /* the last; the C library's own */
    char warning[1300];               /* "" none */
    dls_watch_fn watch;
    void *watch_user;
    double wall_s; /* in the engine */
    dls_infeasible infeasible;
    bool outside;
    bool failed; /* can only be destroyed */
    bool interrupted;
};

/* As dls_simulation_create, of a configuration that is borrowed for the simulation's life. */
dls_status dls_simulation_of(const dls_config *config, const dls_trace *trace, dls_simulation **out,
                             dls_error *err) DLS_MUST_CHECK;
/* As dls_simulation_write; run_id: what the run is called in the file, NULL the usual. */
dls_status dls_simulation_write_as(const dls_simulation *sim, const char *path, const char *command,
                                   const char *run_id, dls_error *err) DLS_MUST_CHECK;

#endif
