/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of a what-if: as it was, with the changes, and as many as the target's search needs.
 */
#include "site/whatif_impl.h"

#include "base/alloc.h"
#include "base/guard.h"
#include "dlsim/site.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NODES_MOST 65536

void dls_whatif_fini(dls_whatif *w)
{
    dls_simulation_destroy(w->sim);
    dls_simulation_destroy(w->changed);
    dls_trace_destroy(w->trace);
    dls_trace_destroy(w->loaded);
    DLS_FREE_ALL(w->group, w->tried);
    *w = (dls_whatif){0};
}

/* ---- runs ------------------------------------------------------------------------------------ */

static dls_status run(dls_setup *setup, const dls_trace *trace, dls_simulation **out,
                      dls_error *err)
{
    DLS_TRY(dls_simulation_create(setup, trace, out, err));
    return dls_simulation_run(*out, err);
}

static double gpu_time(const dls_trace *trace)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    double sum = 0;
    for (size_t j = 0; j < c->n; j++) {
        sum += c->duration_us[j] > 0 ? (double)c->duration_us[j] * c->gpus[j] : 0;
    }
    return sum;
}

static void total(const dls_simulation *sim, dls_whatif_total *out)
{
    out->gpus = dls_simulation_view(sim)->total_gpus;
    (void)dls_simulation_number(sim, "utilisation", &out->utilisation);
    (void)dls_simulation_number(sim, "jct_mean_s", &out->jct_mean_s);
    (void)dls_simulation_number(sim, "makespan_s", &out->makespan_s);
}

/* A history without waits can be replayed, not graded. */
static dls_status grade(dls_setup *before, dls_whatif *w, dls_error *err)
{
    DLS_OWN(dls_fidelity_fini) dls_fidelity f = {0};
    const dls_trace_columns *c = dls_trace_cols(w->trace);
    bool known = false;
    for (size_t j = 0; c->queue_us && j < c->n && !known; j++) {
        known = c->queue_us[j] >= 0;
    }
    w->grade = '-';
    if (!known) {
        w->ungraded = "the history does not say how long jobs waited";
        return DLS_OK;
    }
    DLS_TRY(dls_fidelity_of(before, &f, err));
    w->grade = f.grade;
    return DLS_OK;
}

/* ---- the fewest nodes ------------------------------------------------------------------------ */

typedef struct search {
    dls_setup *setup;
    dls_whatif *w;
    const dls_whatif_asked *asked;
    const dls_trace *trace;
    dls_whatif_target target;
    size_t group;
} search;

static dls_status holds(search *s, int64_t nodes, bool *yes, dls_error *err)
{
    dls_whatif *w = s->w;
    dls_whatif_number value = {0};
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
    DLS_TRY(dls_whatif_set_count(s->setup, s->group, nodes, err));
    const dls_status ran = run(s->setup, s->trace, &sim, err);
    if (ran == DLS_ECONFIG && w->n_tried > 0 && nodes < w->tried[w->n_tried - 1].nodes) {
        value.value = (double)INFINITY; /* fewer than quotas promise or services have: nobody can start there */
    } else {
        DLS_TRY(ran);
        const dls_whatif_run of = {s->trace, sim};
        DLS_TRY(dls_whatif_measure(w, &of, &s->target, false, s->asked->seed, &value, err));
    }
    *yes = value.value < s->target.limit_s;
    DLS_TRY(dls_grow(&w->tried, &w->tried_cap, w->n_tried + 1, sizeof *w->tried, err));
    size_t at = w->n_tried++;
    for (; at > 0 && w->tried[at - 1].nodes > nodes; at--) {
        w->tried[at] = w->tried[at - 1];
    }
    w->tried[at] = (dls_whatif_try){nodes, value.value, *yes};
    return DLS_OK;
}

/* The group whose nodes the target varies; *least: the fewest that leave a cluster. */
static dls_status find_group(search *s, size_t first_added, int64_t *least, int64_t *now,
                             dls_error *err)
{
    dls_whatif_nodes g, chosen = {.count = -1};
    int64_t all = 0;
    *least = *now = 1;
    for (size_t i = 0; dls_whatif_nodes_at(s->setup, i, &g); i++) {
        const bool named = s->asked->vary && strcmp(g.name, s->asked->vary) == 0;
        const bool added = !s->asked->vary && i == first_added;
        const bool largest = !s->asked->vary && first_added == SIZE_MAX &&
                             (chosen.count < 0 || g.count * g.gpus > chosen.count * chosen.gpus);
        all += g.count;
        if (named || added || largest) {
            chosen = g;
            s->group = i;
        }
    }
    if (chosen.count < 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--vary: there is no group of nodes \"%s\"",
                        s->asked->vary ? s->asked->vary : "");
    }
    snprintf(s->w->vary, sizeof s->w->vary, "%s", chosen.name);
    *least = all > chosen.count ? 0 : 1;
    *now = chosen.count > *least ? chosen.count : *least;
    return DLS_OK;
}

/* Bisection between a number that does not hold and one that does. */
static dls_status search_fewest(search *s, size_t first_added, dls_error *err)
{
    int64_t least = 1, now = 1;
    bool yes = false;
    DLS_TRY(find_group(s, first_added, &least, &now, err));
    int64_t no = least - 1, high = now;
    DLS_TRY(holds(s, high, &yes, err));
    while (!yes && high < NODES_MOST) {
        no = high;
        high = 2 * high > 0 ? 2 * high : 1;
        DLS_TRY(holds(s, high, &yes, err));
        /* More nodes than jobs can ever use change nothing; too few for a job do not, either. */
        const dls_whatif_try *last = &s->w->tried[s->w->n_tried - 1];
        if (!yes && s->w->n_tried > 2 && isfinite(last->value_s) &&
            last->value_s == last[-2].value_s) {
            break;
        }
    }
    if (!yes) {
        return dls_whatif_set_count(s->setup, s->group, now, err);
    }
    while (high - no > 1) {
        const int64_t middle = no + (high - no) / 2;
        DLS_TRY(holds(s, middle, &yes, err));
        *(yes ? &high : &no) = middle;
    }
    s->w->fewest = high;
    return dls_whatif_set_count(s->setup, s->group, high, err);
}

/* ---- all ------------------------------------------------------------------------------------- */

dls_status dls_whatif_of(dls_setup *before, dls_setup *after, const dls_whatif_asked *asked,
                         dls_whatif *w, dls_error *err)
{
    DLS_IN_C_LOCALE;
    size_t first_added = SIZE_MAX;
    *w = (dls_whatif){.fewest = -1};
    search s = {.setup = after, .w = w, .asked = asked};
    if (asked->load != 0 && !(asked->load >= DLS_WHATIF_LOAD_LEAST && asked->load <= DLS_WHATIF_LOAD_MOST)) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--load is %g: expected %g to %d", asked->load,
                        DLS_WHATIF_LOAD_LEAST, DLS_WHATIF_LOAD_MOST);
    }
    if (asked->target) {
        DLS_TRY(dls_whatif_target_of(asked->target, &s.target, err));
    }
    DLS_TRY(dls_whatif_change(after, asked, w, &first_added, err));
    DLS_TRY(dls_setup_trace(before, &w->trace, err));
    DLS_TRY(dls_whatif_check_quotas(before, asked, w->trace, err));
    DLS_TRY(dls_whatif_blocks(w, before, err));
    if (asked->load > 0 && asked->load != 1) {
        DLS_TRY(dls_whatif_load(w->trace, asked->load, w->block_s, asked->seed, &w->loaded, err));
    }
    s.trace = w->loaded ? w->loaded : w->trace;
    w->load = gpu_time(s.trace) / gpu_time(w->trace);
    DLS_TRY(grade(before, w, err));
    DLS_TRY(run(before, w->trace, &w->sim, err));
    if (asked->target) {
        DLS_TRY(search_fewest(&s, first_added, err));
    }
    DLS_TRY(run(after, s.trace, &w->changed, err));
    total(w->sim, &w->before);
    total(w->changed, &w->after);
    const dls_whatif_run was = {w->trace, w->sim}, is = {s.trace, w->changed};
    if (w->fewest >= 0) {
        DLS_TRY(dls_whatif_measure(w, &is, &s.target, true, asked->seed, &w->target_s, err));
    }
    return dls_whatif_compare(w, &was, &is, asked->seed, err);
}
