/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The public study: a sweep, its plan and its folder, and the simulations of its points.
 */
#include "api/setup.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/owners.h"
#include "sweep/store.h"

struct dls_study {
    dls_setup *setup;
    dls_sweep *sweep;
    dls_sweep_plan *plan; /* NULL: not planned */
    char folder[4096];
    dls_study_watch watch;
};

/* ---- life ------------------------------------------------------------------------------------ */

/* axes: the file has them; else it is the configuration of a sweep without. */
static dls_status make(dls_setup *setup, const char *path, bool axes, dls_study **out,
                       dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HOLD(dls_study_destroy) dls_study *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "study", err));
    s->setup = setup;
    dls_problems_fini(&setup->problems);
    const dls_status status = axes ? dls_sweep_load(path, &setup->problems, &s->sweep, err)
                                   : dls_sweep_create(path, &s->sweep, err);
    dls_setup_count_problems(setup);
    DLS_TRY(status);
    *out = dls_take(&s);
    return DLS_OK;
}

dls_status dls_study_load(dls_setup *setup, const char *path, dls_study **out, dls_error *err)
{
    return make(setup, path, true, out, err);
}

dls_status dls_study_create(dls_setup *setup, const char *config_path, dls_study **out,
                            dls_error *err)
{
    return make(setup, config_path, false, out, err);
}

void dls_study_destroy(dls_study *s)
{
    if (s) {
        DLS_HDF5_LOCKED;
        dls_sweep_plan_destroy(s->plan);
        dls_sweep_destroy(s->sweep);
        dls_free(s);
    }
}

/* What was planned no longer holds. */
static void change(dls_study *s)
{
    dls_sweep_plan_destroy(s->plan);
    s->plan = NULL;
}

dls_status dls_study_vary(dls_study *s, const char *key, const char *const *values, size_t n,
                          const char *where, dls_error *err)
{
    DLS_ASSERT(s && key && values && where);
    if (n == 0) {
        return dls_fail(err, DLS_EUSAGE, where, "'%s' is varied over no values", key);
    }
    change(s);
    return dls_sweep_add_list(s->sweep, key, values, n, where, err);
}

void dls_study_replicas(dls_study *s, size_t n)
{
    change(s);
    s->sweep->n_seeds = n;
    dls_free(s->sweep->seed);
    s->sweep->seed = NULL;
}

void dls_study_set_watch(dls_study *s, const dls_study_watch *watch)
{
    s->watch = *watch;
}

/* ---- going on -------------------------------------------------------------------------------- */

dls_status dls_study_plan(dls_study *s, const char *folder, size_t first, size_t n, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    dls_setup *setup = s->setup;
    if (folder || *s->sweep->output) {
        snprintf(s->folder, sizeof s->folder, "%s", folder ? folder : s->sweep->output);
    } else {
        snprintf(s->folder, sizeof s->folder, "%s.sweep", s->sweep->name);
    }
    const dls_sweep_request request = {.sweep = s->sweep,
                                       .overrides = setup->set,
                                       .n_overrides = setup->n_set,
                                       .registry = setup->registry,
                                       .watch = &s->watch,
                                       .first = first,
                                       .n = n};
    change(s);
    dls_problems_fini(&setup->problems);
    const dls_status status = dls_sweep_plan_make(&request, &setup->problems, &s->plan, err);
    dls_setup_count_problems(setup);
    return status;
}

static dls_status planned(const dls_study *s, dls_error *err)
{
    return s->plan ? DLS_OK : dls_fail(err, DLS_EUSAGE, NULL, "the study has not been planned");
}

dls_status dls_study_run(dls_study *s, int workers, dls_study_progress *done, dls_error *err)
{
    DLS_ASSERT(s && done);
    DLS_IN_C_LOCALE; /* no lock is held: the workers are forked, and could not take it */
    DLS_TRY(planned(s, err));
    if (workers < 1) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%d workers: expected at least one", workers);
    }
    DLS_TRY(dls_sweep_store_open(s->folder, err));
    return dls_sweep_run(s->plan, s->folder, workers, done, err);
}

/* Is it one of the files that points are made of, or a point's own? */
static bool is_input(const dls_study *s, const char *path)
{
    const dls_sweep_plan *plan = s->plan;
    bool is = dls_file_same(path, s->sweep->path) || dls_file_same(path, s->sweep->base);
    for (size_t i = 0; i < plan->inputs.paths.n && !is; i++) {
        is = dls_file_same(path, dls_strdict_get(&plan->inputs.paths, (int32_t)i));
    }
    for (size_t i = 0; i < plan->n_traces && !is; i++) {
        is = dls_file_same(path, plan->trace[i].path);
    }
    for (size_t i = 0; i < plan->n && !is; i++) {
        char point[sizeof s->folder + DLS_SWEEP_ID + 64];
        is = dls_file_same(path, dls_sweep_store_path(s->folder, plan->id[i], ".h5", point, sizeof point));
    }
    return is;
}

dls_status dls_study_merge(dls_study *s, const char *path, bool link, size_t *n_finished,
                           dls_error *err)
{
    DLS_ASSERT(s && path && n_finished);
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    DLS_TRY(planned(s, err));
    if (is_input(s, path)) {
        return dls_fail(err, DLS_EOUTPUT, path, "is also an input: it would be replaced");
    }
    return dls_sweep_merge(s->plan, s->folder, path, link, n_finished, err);
}

/* ---- looking --------------------------------------------------------------------------------- */

dls_study_facts dls_study_about(const dls_study *s)
{
    return (dls_study_facts){.name = s->sweep->name,
                             .folder = s->folder,
                             .n_points = dls_sweep_n_points(s->sweep),
                             .n_keys = dls_sweep_n_keys(s->sweep),
                             .first = s->plan ? s->plan->first : 0,
                             .n = s->plan ? s->plan->n : 0,
                             .has_seeds = s->plan && s->plan->seed};
}

const char *dls_study_key(const dls_study *s, size_t k)
{
    DLS_ASSERT(k < dls_sweep_n_keys(s->sweep));
    return dls_sweep_key(s->sweep, k);
}

const char *dls_study_value(const dls_study *s, size_t design, size_t k)
{
    DLS_ASSERT(k < dls_sweep_n_keys(s->sweep) && design < dls_sweep_n_designs(s->sweep));
    return dls_sweep_value(s->sweep, design, k);
}

dls_study_point dls_study_point_at(const dls_study *s, size_t i)
{
    const dls_sweep_plan *plan = s->plan;
    DLS_ASSERT(plan && i < plan->n);
    dls_study_point p = {.number = plan->first + i, .id = plan->id[i]};
    p.design = dls_sweep_design(plan, p.number);
    p.replica = dls_sweep_replica(plan, p.number);
    p.seed = plan->seed ? plan->seed[p.replica] : 0;
    dls_sweep_label(plan, p.design, p.label, sizeof p.label);
    return p;
}

dls_status dls_study_find(const dls_study *s, const char *label, dls_error *err)
{
    DLS_TRY(planned(s, err));
    return dls_sweep_find(s->plan, label, err);
}

dls_study_state dls_study_state_of(const dls_study *s, size_t i, char failure[DLS_STUDY_FAILURE])
{
    DLS_ASSERT(s->plan && i < s->plan->n);
    const dls_study_state state = dls_sweep_state_of(s->folder, s->plan->id[i]);
    failure[0] = '\0';
    if (state == DLS_STUDY_FAILED) {
        dls_sweep_failure_get(s->folder, s->plan->id[i], failure);
    }
    return state;
}
