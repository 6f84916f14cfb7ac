/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop that all policies of Muri's simulator share, and the two that are a sorted list.
 */
#include "muri/core.h"

#include "base/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const dls_muri_policy *const policies[] = {
    &dls_muri_srtf,    &dls_muri_srsf,       &dls_muri_tiresias, &dls_muri_s,     &dls_muri_l,
    &dls_muri_l_worst, &dls_muri_l_in_order, &dls_muri_antman,   &dls_muri_themis};
enum { N_POLICIES = sizeof policies / sizeof *policies };

const char *dls_muri_schedule_at(size_t i, const char **summary)
{
    *summary = i < N_POLICIES ? policies[i]->schedule.summary : NULL;
    return i < N_POLICIES ? policies[i]->schedule.name : NULL;
}

/* ---- placement ------------------------------------------------------------------------------- */

void dls_muri_empty(dls_muri *m)
{
    for (int32_t i = 0; i < m->n_nodes; i++) {
        m->free[i] = m->cluster.gpus_per_node;
    }
}

static bool place_in(int32_t *free, int32_t nodes, int32_t per_node, int32_t gpus)
{
    int32_t whole = gpus <= per_node ? 0 : gpus / per_node, rest = gpus - whole * per_node;
    int32_t empty = 0, at = -1;
    for (int32_t i = 0; i < nodes; i++) {
        const bool taken = empty < whole && free[i] == per_node;
        empty += taken;
        at = at < 0 && !taken && free[i] >= rest ? i : at;
    }
    if (empty < whole || (rest > 0 && at < 0)) {
        return false;
    }
    for (int32_t i = 0; whole > 0; i++) {
        if (free[i] == per_node) {
            free[i] = 0;
            whole--;
        }
    }
    if (rest > 0) {
        free[at] -= rest;
    }
    return true;
}

bool dls_muri_place(dls_muri *m, int32_t gpus)
{
    const int32_t nodes = m->cluster.nodes_per_switch;
    for (int32_t s = 0; s < m->cluster.switches; s++) {
        if (place_in(m->free + s * nodes, nodes, m->cluster.gpus_per_node, gpus)) {
            return true;
        }
    }
    return false;
}

void dls_muri_start(dls_muri *m, int32_t job)
{
    dls_muri_run_job *r = &m->run[job];
    if (!r->ever) {
        m->trace->job[job].start_s = m->now;
    }
    r->running = r->ever = true;
}

void dls_muri_start_in_order(dls_muri *m)
{
    dls_muri_empty(m);
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        if (dls_muri_place(m, m->job[job].gpus)) {
            dls_muri_start(m, job);
        } else {
            m->run[job].running = false;
        }
    }
}

/* ---- sorted lists ---------------------------------------------------------------------------- */

typedef struct keyed {
    double key;
    int32_t place, job;
} keyed;

DLS_BY(by_key, keyed, DLS_UP(key), DLS_UP(place));

dls_status dls_muri_sort(int32_t *job, int32_t n, const double *key, dls_error *err)
{
    keyed *k;
    DLS_TRY(dls_alloc_array(&k, (size_t)(n + 1), sizeof *k, "order", err));
    for (int32_t i = 0; i < n; i++) {
        k[i] = (keyed){key[i], i, job[i]};
    }
    qsort(k, (size_t)n, sizeof *k, by_key);
    for (int32_t i = 0; i < n; i++) {
        job[i] = k[i].job;
    }
    dls_free(k);
    return DLS_OK;
}

static dls_status decide_sorted(dls_muri *m, dls_error *err)
{
    DLS_FREED double *key = NULL;
    DLS_TRY(dls_alloc_array(&key, (size_t)(m->n_list + 1), sizeof *key, "order", err));
    for (int32_t i = 0; i < m->n_list; i++) {
        const dls_muri_job *j = &m->job[m->list[i]];
        key[i] = m->run[m->list[i]].left * j->stages.iteration * (m->policy->by_gpus ? j->gpus : 1);
    }
    DLS_TRY(dls_muri_sort(m->list, m->n_list, key, err));
    dls_muri_start_in_order(m);
    return DLS_OK;
}

const dls_muri_policy dls_muri_srtf = {
    .schedule = {"srtf", "shortest", "least remaining time first, preemptive"},
    .decide = decide_sorted,
};
const dls_muri_policy dls_muri_srsf = {
    .schedule = {"srsf", "shortest-gpu", "least remaining time x GPUs first, preemptive"},
    .by_gpus = true,
    .decide = decide_sorted,
};

/* ---- events ---------------------------------------------------------------------------------- */

/* Ends by running jobs in the order of the list, each joined to the first that is about as late. */
static void predict(dls_muri *m, double *time, int32_t *first)
{
    int32_t groups = 0, best = -1;
    m->n_ending = 0;
    m->end_s = (double)INFINITY;
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        if (!m->run[job].running) {
            continue;
        }
        const double end = m->now + m->run[job].left * m->run[job].iteration;
        int32_t g = 0;
        while (g < groups &&
               !(m->policy->exact_ends ? time[g] == end : dls_muri_close(time[g], end))) {
            g++;
        }
        if (g == groups) {
            time[groups++] = end;
        }
        first[i] = g;
        best = best < 0 || time[g] < time[best] ? g : best;
    }
    for (int32_t i = 0; i < m->n_list; i++) {
        if (m->run[m->list[i]].running && first[i] == best) {
            m->ending[m->n_ending++] = m->list[i];
            m->end_s = time[best];
        }
    }
}

static void end_jobs(dls_muri *m, int32_t *completed, size_t *n_completed)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < m->n_ending; i++) {
        const int32_t job = m->ending[i];
        dls_muri_run_job *r = &m->run[job];
        r->executed += m->now - r->checked;
        r->running = false;
        dls_muri_job *out = &m->trace->job[job];
        out->end_s = m->now;
        out->executed_s = r->executed;
        out->pending_s = r->pending;
        if (completed) {
            completed[(*n_completed)++] = job;
        }
        if (m->policy->ended) {
            m->policy->ended(m, job);
        }
    }
    for (int32_t i = 0; i < m->n_list; i++) {
        if (m->job[m->list[i]].end_s < 0) {
            m->list[kept++] = m->list[i];
        }
    }
    m->n_list = kept;
}

static void admit(dls_muri *m)
{
    const double first = m->job[m->next].submit_s;
    while (m->next < m->n && dls_muri_close(m->job[m->next].submit_s, first)) {
        m->list[m->n_list++] = m->next;
        if (m->policy->arrived) {
            m->policy->arrived(m, m->next);
        }
        m->next++;
    }
}

/* What the interval has done. The start-up cost is paid in each. */
static void charge(dls_muri *m)
{
    for (int32_t i = 0; i < m->n_list; i++) {
        dls_muri_run_job *r = &m->run[m->list[i]];
        const double dt = m->now - r->checked;
        if (r->running) {
            r->executed = r->executed + m->now - r->checked; /* in this order */
            r->left -= fmax(dt - r->startup, 0) / r->iteration;
        } else {
            r->pending += dt;
        }
        r->checked = m->now;
    }
}

static dls_status replay(dls_muri *m, double *time, int32_t *first, int32_t *completed,
                         size_t *n_completed, dls_error *err)
{
    m->end_s = (double)INFINITY;
    for (;;) {
        const double arrival = m->next < m->n ? m->job[m->next].submit_s : HUGE_VAL;
        const double next = fmin(arrival, m->end_s);
        if (isinf(next)) {
            return DLS_OK;
        }
        const double jump = m->policy->jump ? m->policy->jump(m) : HUGE_VAL;
        if (next > jump) {
            m->now = jump;
        } else {
            const double most = m->policy->together_s;
            const bool both =
                isfinite(arrival) && isfinite(m->end_s) &&
                (arrival == m->end_s ||
                 (most > 0 && fabs(arrival - m->end_s) <=
                                  fmax(1e-9 * fmax(fabs(arrival), fabs(m->end_s)), most)));
            m->now = both ? arrival : next;
            if (both || m->end_s < arrival) {
                end_jobs(m, completed, n_completed);
            }
            if (both || arrival < m->end_s) {
                admit(m);
            }
        }
        charge(m);
        DLS_TRY(m->policy->decide(m, err));
        predict(m, time, first);
    }
}

/* ---- from outside ---------------------------------------------------------------------------- */

static dls_status prepare(dls_muri *m, dls_error *err)
{
    const size_t n = (size_t)m->n + 1;
    m->n_nodes = m->cluster.switches * m->cluster.nodes_per_switch;
    DLS_TRY(DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(m->run, n), DLS_ARRAY(m->list, n),
                          DLS_ARRAY(m->ending, n), DLS_ARRAY(m->free, (size_t)m->n_nodes)));
    for (int32_t j = 0; j < m->n; j++) {
        dls_muri_job *job = &m->trace->job[j];
        m->run[j] = (dls_muri_run_job){.left = (double)job->iterations,
                                       .checked = job->submit_s,
                                       .iteration = job->stages.iteration,
                                       .startup = job->startup_s,
                                       .group = -1};
        job->start_s = job->end_s = -1;
        job->executed_s = job->pending_s = 0;
        job->starts = 0;
    }
    return m->policy->open ? m->policy->open(m, err) : DLS_OK;
}

dls_status dls_muri_run(const dls_muri_cluster *cluster, const dls_muri_setting *setting,
                        dls_muri_trace *trace, int32_t *completed, size_t *n_completed,
                        dls_error *err)
{
    dls_muri m = {.cluster = *cluster,
                  .trace = trace,
                  .job = trace->job,
                  .n = (int32_t)trace->n,
                  .group_max = setting->group_max > 0 ? setting->group_max : DLS_STAGES_JOBS,
                  .together = setting->together || setting->testbed,
                  .testbed = setting->testbed};
    size_t counted = 0;
    for (int i = 0; i < N_POLICIES; i++) {
        if (strcmp(policies[i]->schedule.name, setting->schedule) == 0) {
            m.policy = policies[i];
        }
    }
    if (!m.policy) {
        return dls_fail(err, DLS_EINPUT, setting->schedule, "is no schedule of Muri's simulator");
    }
    if (m.testbed && m.policy == &dls_muri_antman) {
        return dls_fail(err, DLS_EINPUT, setting->schedule, "is not known on the testbed");
    }
    double *time = dls_alloc((trace->n + 1) * sizeof *time);
    int32_t *first = dls_alloc((trace->n + 1) * sizeof *first);
    dls_status status =
        time && first ? prepare(&m, err) : dls_nomem(err, "ends", trace->n * sizeof *time);
    DLS_THEN(status, m.testbed ? dls_muri_run_testbed(&m, completed, &counted, err)
                               : replay(&m, time, first, completed, &counted, err));
    if (m.policy->close && m.state) {
        m.policy->close(&m);
    }
    if (n_completed) {
        *n_completed = counted;
    }
    DLS_FREE_ALL(time, first, m.run, m.list, m.ending, m.free, m.state);
    return status;
}
