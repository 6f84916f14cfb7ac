/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The public simulation: made, run, stepped, finished.
 */
#include "api/simulation.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/owners.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

static bool interrupted(void *user)
{
    const dls_simulation *sim = user;
    return sim->interrupted;
}

static void progress(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    dls_simulation *sim = user;
    sim->interrupted = sim->watch && !sim->watch(sim->watch_user, now_us, done, n_jobs);
}

static void infeasible(void *user, const dls_infeasible *who)
{
    dls_simulation *sim = user;
    sim->infeasible = *who;
}

/* The callbacks of a simulation that has an engine, or gets one from these parameters.
 */
static void set_callbacks(dls_simulation *sim)
{
    dls_sim_params *p = &sim->prepared.params;
    p->interrupted = interrupted;
    p->progress = progress;
    p->infeasible = infeasible;
    p->user = sim;
}

static void warn_of_no_predictor(dls_simulation *sim)
{
    const dls_prediction_params *p = &sim->config->predictions;
    if (!p->source && (p->record_path || p->replay_path) && !*sim->warning) {
        snprintf(sim->warning, sizeof sim->warning,
                 "predictor.predictions: nothing is %s %.1000s, as there is no predictor (predictor.source)",
                 p->record_path ? "written to" : "taken from", p->record_path ? p->record_path : p->replay_path);
    }
}

/* Jobs ask for what some nodes are told to have: the placement then accounts it on none (cluster/index.h). */
static void warn_of_silent_nodes(dls_simulation *sim)
{
    const dls_cluster_spec *c = &sim->config->cluster;
    const dls_trace_columns *jobs = dls_trace_cols(sim->trace);
    const struct {
        const char *key;
        const int64_t *asked;
        size_t at;
    } sides[] = {{"cpus", jobs->cpu_milli, offsetof(dls_node_group, cpus_per_node)},
                 {"memory", jobs->mem_mib, offsetof(dls_node_group, mem_gib_per_node)}};
    for (size_t s = 0; s < 2 && !*sim->warning; s++) {
        const dls_node_group *silent = NULL;
        int32_t told = 0;
        for (int32_t g = 0; g < c->n_groups; g++) {
            const bool tells = *(const double *)((const char *)&c->groups[g] + sides[s].at) > 0;
            told += tells;
            silent = tells || silent ? silent : &c->groups[g];
        }
        if (sides[s].asked && silent && told > 0 && !sim->config->sim.placement->gpus_only) {
            snprintf(sim->warning, sizeof sim->warning,
                     "cluster.nodes: no %s of '%s', so those that jobs ask for are accounted on no node",
                     sides[s].key, silent->name);
        }
    }
}

static dls_status create(dls_simulation *sim, dls_error *err)
{
    const double from_s = dls_clock_s();
    DLS_TRY(dls_prepare(sim->config, sim->trace, &sim->prepared, err));
    sim->outside = sim->config->sim.sched == &dls_sched_outside;
    sim->prepared.params.outside = sim->outside;
    set_callbacks(sim);
    DLS_TRY(dls_sim_create(&sim->prepared.params, &sim->engine, err));
    sim->rec = dls_sim_record(sim->engine);
    warn_of_silent_nodes(sim);
    warn_of_no_predictor(sim);
    sim->wall_s = dls_clock_s() - from_s;
    return DLS_OK;
}

dls_status dls_simulation_of(const dls_config *config, const dls_trace *trace, dls_simulation **out,
                             dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
    DLS_TRY(dls_alloc_array(&sim, 1, sizeof *sim, "simulation", err));
    sim->config = config;
    sim->trace = trace;
    DLS_TRY(create(sim, err));
    *out = dls_take(&sim);
    return DLS_OK;
}

dls_status dls_simulation_create(dls_setup *setup, const dls_trace *trace, dls_simulation **out,
                                 dls_error *err)
{
    DLS_ASSERT(setup && trace && out);
    dls_shared_config *shared;
    DLS_TRY(dls_setup_load(setup, &shared, err));
    const dls_status status = dls_simulation_of(shared->config, trace, out, err);
    if (status != DLS_OK) {
        dls_shared_config_leave(shared);
        return status;
    }
    (*out)->shared = shared;
    return DLS_OK;
}

static dls_status clone_parts(dls_simulation *copy, const dls_simulation *sim, dls_error *err)
{
    DLS_TRY(dls_prepared_copy(&sim->prepared, sim->config, &copy->prepared, err));
    set_callbacks(copy);
    DLS_TRY(dls_sim_clone(sim->engine, &copy->prepared.params, &copy->engine, err));
    copy->rec = dls_sim_record(copy->engine);
    return DLS_OK;
}

dls_status dls_simulation_clone(const dls_simulation *sim, dls_simulation **out, dls_error *err)
{
    DLS_ASSERT(sim && out);
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    if (sim->failed || sim->result) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the simulation is at its end and cannot be cloned");
    }
    DLS_HOLD(dls_simulation_destroy) dls_simulation *copy = NULL;
    DLS_TRY(dls_alloc_array(&copy, 1, sizeof *copy, "simulation", err));
    copy->shared = dls_shared_config_join(sim->shared);
    copy->config = sim->config;
    copy->trace = sim->trace;
    copy->wall_s = sim->wall_s;
    copy->infeasible = sim->infeasible;
    copy->outside = sim->outside;
    memcpy(copy->warning, sim->warning, sizeof copy->warning);
    DLS_TRY(clone_parts(copy, sim, err));
    *out = dls_take(&copy);
    return DLS_OK;
}

void dls_simulation_destroy(dls_simulation *sim)
{
    if (!sim) {
        return;
    }
    DLS_HDF5_LOCKED;
    dls_record_destroy(sim->result);
    dls_sim_destroy(sim->engine);
    dls_prepared_fini(&sim->prepared);
    dls_shared_config_leave(sim->shared);
    free(sim->report);
    dls_free(sim);
}

void dls_simulation_watch(dls_simulation *sim, dls_watch_fn watch, void *user)
{
    DLS_ASSERT(sim);
    sim->watch = watch;
    sim->watch_user = user;
}

dls_status dls_simulation_stream(dls_simulation *sim, const char *path, dls_error *err)
{
    DLS_ASSERT(sim && path && !sim->result);
    return dls_sim_stream(sim->engine, path, err);
}

/* ---- going on -------------------------------------------------------------------------------- */

static dls_status account_energy(dls_simulation *sim, dls_error *err)
{
    dls_summary *s = &sim->summary;
    const double us = (double)DLS_US_PER_S;
    const int64_t from_us = (int64_t)(s->first_submit_s * us + 0.5);
    DLS_TRY(dls_energy_account(&sim->config->energy, &sim->config->cluster, sim->trace, sim->result,
                               from_us, from_us + (int64_t)(s->span_s * us + 0.5), &s->energy, err));
    s->has_energy = true;
    return DLS_OK;
}

static dls_status finish(dls_simulation *sim, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    DLS_TRY(dls_sim_close(sim->engine, &sim->result, err));
    sim->rec = sim->result;
    dls_error unkept = {0};
    DLS_TRY(dls_prepared_finish(&sim->prepared, &sim->result->facts, &unkept, err));
    if (unkept.status != DLS_OK) {
        snprintf(sim->warning, sizeof sim->warning, "%s: %s", unkept.where, unkept.msg);
    }
    DLS_TRY(dls_summary_make(sim->trace, sim->result, sim->config->warmup_us,
                             sim->config->cooldown_us, sim->wall_s, &sim->summary, err));
    sim->summed_up = true;
    return sim->config->energy.on ? account_energy(sim, err) : DLS_OK;
}

static dls_status advance(dls_simulation *sim, int64_t until_us, dls_sim_stop *stop, dls_error *err)
{
    sim->interrupted = false;
    const double from_s = dls_clock_s();
    dls_status status = dls_sim_advance(sim->engine, until_us, stop, err);
    sim->wall_s += dls_clock_s() - from_s;
    if (status == DLS_OK && *stop == DLS_SIM_ENDED) {
        status = finish(sim, err);
    }
    sim->failed = status != DLS_OK;
    return status;
}

/* May it go on, in steps or not? */
static dls_status check(const dls_simulation *sim, bool in_steps, dls_error *err)
{
    DLS_ASSERT(sim);
    if (sim->failed) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "the simulation has failed and can only be destroyed");
    }
    if (sim->outside != in_steps) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        in_steps ? "the set-up has a scheduler: there are no decisions from outside"
                                 : "decisions from outside: the simulation goes on in steps");
    }
    return DLS_OK;
}

dls_status dls_simulation_run_until(dls_simulation *sim, int64_t time_us, dls_error *err)
{
    dls_sim_stop stop;
    DLS_TRY(check(sim, false, err));
    if (sim->result) {
        return DLS_OK;
    }
    DLS_TRY(advance(sim, time_us, &stop, err));
    return stop == DLS_SIM_INTERRUPTED ? dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted")
                                       : DLS_OK;
}

dls_status dls_simulation_run(dls_simulation *sim, dls_error *err)
{
    return dls_simulation_run_until(sim, DLS_NEVER, err);
}

dls_status dls_simulation_step(dls_simulation *sim, int64_t until_us, dls_actions **actions,
                               dls_error *err)
{
    DLS_ASSERT(actions);
    dls_sim_stop stop;
    *actions = NULL;
    DLS_TRY(check(sim, true, err));
    if (sim->result) {
        return DLS_OK;
    }
    /* No clock is read: a decision costs less than that. */
    dls_status status = dls_sim_advance(sim->engine, until_us, &stop, err);
    if (status == DLS_OK && stop == DLS_SIM_ENDED) {
        status = finish(sim, err);
    }
    sim->failed = status != DLS_OK;
    *actions = status == DLS_OK && stop == DLS_SIM_DECISION ? dls_sim_actions(sim->engine) : NULL;
    return status;
}

dls_status dls_simulation_finish(dls_simulation *sim, dls_error *err)
{
    DLS_TRY(check(sim, sim->outside, err));
    if (sim->result) {
        return DLS_OK;
    }
    const dls_status status = finish(sim, err);
    sim->failed = status != DLS_OK;
    return status;
}

dls_status dls_simulation_sum_up(dls_simulation *sim, dls_error *err)
{
    DLS_HOLD(dls_simulation_destroy) dls_simulation *now = NULL;
    if (sim->result) {
        return DLS_OK;
    }
    DLS_TRY(dls_simulation_clone(sim, &now, err));
    const dls_status status = finish(now, err);
    if (status == DLS_OK) {
        sim->summary = now->summary;
        sim->summed_up = true;
    }
    return status;
}

bool dls_simulation_is_finished(const dls_simulation *sim)
{
    DLS_ASSERT(sim);
    return sim->result != NULL;
}

dls_actions *dls_simulation_actions(dls_simulation *sim)
{
    DLS_ASSERT(sim);
    return sim->failed || sim->result ? NULL : dls_sim_actions(sim->engine);
}

/* ---- the live state -------------------------------------------------------------------------- */

dls_counts dls_simulation_counts(const dls_simulation *sim)
{
    DLS_ASSERT(sim);
    const dls_view *view = dls_sim_view(sim->engine);
    const size_t declined = dls_sim_jobs_declined(sim->engine);
    const size_t done = dls_sim_jobs_done(sim->engine) - sim->infeasible.n;
    return (dls_counts){
        .jobs = sim->rec->n_jobs,
        .submitted = (size_t)view->waiting_jobs + (size_t)view->running_jobs + done,
        .waiting = (size_t)view->waiting_jobs,
        .running = (size_t)view->running_jobs,
        .finished = done - declined,
        .declined = declined,
        .infeasible = sim->infeasible.n,
        .first_infeasible = sim->infeasible.n > 0 ? (size_t)sim->infeasible.first : sim->rec->n_jobs,
        .events = sim->rec->events,
        .passes = sim->rec->passes,
        .complete = sim->result && sim->result->complete,
    };
}

const char *dls_simulation_infeasible(const dls_simulation *sim, size_t i, size_t *jobs, size_t *first)
{
    static const char *const why[DLS_OBSTACLES] = {
        [DLS_NO_TYPE] = "GPU types that are not there",
        [DLS_NO_GPU_MEMORY] = "models that do not fit into the memory of GPUs",
        [DLS_NO_GPUS] = "more GPUs than there are of a type",
        [DLS_NO_QUOTA] = "more GPUs than quotas, services and spare nodes leave",
        [DLS_NO_CPU] = "more processors than nodes have",
        [DLS_NO_MEMORY] = "more memory than nodes have",
        [DLS_NO_PLACE] = "gangs that the placement refuses on the empty cluster",
    };
    DLS_ASSERT(sim && jobs && first);
    for (size_t k = 0; k < DLS_OBSTACLES; k++) {
        if (sim->infeasible.by[k] > 0 && i-- == 0) {
            *jobs = sim->infeasible.by[k];
            *first = (size_t)sim->infeasible.first_by[k];
            return why[k];
        }
    }
    return NULL;
}

const char *dls_simulation_scheduler(const dls_simulation *sim)
{
    return sim->config->scheduler;
}

const char *dls_simulation_placement(const dls_simulation *sim)
{
    return sim->config->placement;
}

const dls_view *dls_simulation_view(const dls_simulation *sim)
{
    DLS_ASSERT(sim);
    return dls_sim_view(sim->engine);
}

const dls_place_index *dls_simulation_index(const dls_simulation *sim)
{
    DLS_ASSERT(sim);
    return dls_sim_index(sim->engine);
}
