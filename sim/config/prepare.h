/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a configuration and a trace to the parameters of a simulation; the world that jobs run in, what
 * may be known of it and what fails in it are made here.
 */
#ifndef DLS_CONFIG_PREPARE_H
#define DLS_CONFIG_PREPARE_H

#include "config/config.h"
#include "engine/sim.h"
#include "workload/elastic.h"

/* The trace that the configuration names, as its file has it. Errors: ECONFIG (it names none), those of
 * dls_trace_load. */
dls_status dls_config_load_trace(const dls_config *config, dls_trace **out,
                                 dls_error *err) DLS_MUST_CHECK;
/* A new trace in which every job has a model, as trace.assign says, which must say something. */
dls_status dls_config_assign_models(const dls_config *config, const dls_trace *trace,
                                    dls_trace **out, dls_error *err) DLS_MUST_CHECK;
/* Both: the jobs of a run. text NULL: of the file; else of the text, its first `len` bytes, in the
 * native format and called `name`. */
dls_status dls_config_make_trace(const dls_config *config, const char *name, const char *text,
                                 size_t len, dls_trace **out, dls_error *err) DLS_MUST_CHECK;

/* Borrows the configuration and the trace; must not move. */
typedef struct dls_prepared {
    dls_sim_params params; /* callbacks are the caller's to set */
    dls_world *world;      /* NULL: as the trace says */
    dls_predictions *predictions; /* NULL: nothing is known in advance */
    dls_kinds kinds;       /* when there is no world that has them */
    dls_pace pace;
    dls_prediction_ops prediction_ops;
    dls_failure_trace failures;
    dls_history *history;  /* NULL: run times are not learned */
    dls_elastic_jobs *elastic; /* NULL: every job runs as the gang that it asks for */
    dls_elastic elastic_ops;
} dls_prepared;

/* Errors: those of dls_world_create, dls_predictions_create and
 * dls_failure_trace_load, and those of dls_trace_load for scheduler.history. *out needs dls_prepared_fini in any case. */
dls_status dls_prepare(const dls_config *config, const dls_trace *trace, dls_prepared *out,
                       dls_error *err) DLS_MUST_CHECK;
void dls_prepared_fini(dls_prepared *p); /* may be called again */
/* *out: a world and predictions of its own in the state of those of `from`; params.user is still that
 * one's. *out needs dls_prepared_fini in any case. */
dls_status dls_prepared_copy(const dls_prepared *from, const dls_config *config, dls_prepared *out,
                             dls_error *err) DLS_MUST_CHECK;
/* After the run: keep what was predicted, where that is wanted, and say for the results what was
 * guessed and asked. *unkept: as in dls_predictions_finish. Errors: EOUTPUT. */
dls_status dls_prepared_finish(dls_prepared *p, dls_run_facts *facts, dls_error *unkept,
                               dls_error *err) DLS_MUST_CHECK;

#endif
