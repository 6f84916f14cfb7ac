/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Muri's testbed, as its published logs show it: the same policies as in the simulator, but looked
 * at every 6 minutes, on hardware where a start costs time and an iteration takes what it takes.
 *
 *      arrivals and free GPUs are seen at the next round
 *      anything came, ended or was demoted -> everybody chosen is started anew, those that ran too
 *      a start loses its model's seconds; the rest of the round is whole iterations
 *      an end keeps its own time, its GPUs are free at the end of the round
 *
 * Each model has two constants, fitted once to the logs of two policies
 * (docs/schedulers-sharing.md).
 */
#include "muri/core.h"

#include "base/suggest.h"

#include <math.h>

#define ROUND_S 360.0
#define OTHER_RESTART_S 30 /* of a model that the logs do not have */
enum { STILL_ROUNDS_MOST = 10000 };

static const struct hardware {
    const char *model;
    double ratio;     /* measured iteration time over that of the trace */
    double restart_s; /* lost at every start */
} hardwares[] = {{"a2c", 1.017, 60.0},      {"bert", 1.019, 23.9},
                 {"dqn", 1.018, 18.9},      {"gpt2", 0.998, 31.7},
                 {"resnet18", 0.991, 34.6}, {"shufflenet_v2_x1_0", 1.005, 34.0},
                 {"vgg16", 1.035, 21.5},    {"vgg19", 1.038, 22.1}};

void dls_muri_find_hardware(const char *model, double *ratio, double *restart_s)
{
    const size_t i = DLS_NAMED(hardwares, model);
    const bool known = i < sizeof hardwares / sizeof *hardwares;
    *ratio = known ? hardwares[i].ratio : 1;
    *restart_s = known ? hardwares[i].restart_s : OTHER_RESTART_S;
}

/* Those of its group start together: the slowest holds the others up. */
static double restart_of(const dls_muri *m, int32_t job)
{
    double most = m->job[job].restart_s;
    for (int32_t i = 0; i < m->n_list && m->run[job].group >= 0; i++) {
        const int32_t other = m->list[i];
        if (m->run[other].running && m->run[other].group == m->run[job].group) {
            most = fmax(most, m->job[other].restart_s);
        }
    }
    return most;
}

static bool admit(dls_muri *m)
{
    const int32_t before = m->next;
    for (; m->next < m->n && m->job[m->next].submit_s <= m->now; m->next++) {
        m->list[m->n_list++] = m->next;
        m->trace->job[m->next].pending_s = m->now - m->job[m->next].submit_s;
        if (m->policy->arrived) {
            m->policy->arrived(m, m->next);
        }
    }
    return m->next > before;
}

/* What the job does in this round; whether it is an iteration at least. */
static bool run_round(dls_muri *m, int32_t job, bool restarted)
{
    dls_muri_run_job *r = &m->run[job];
    dls_muri_job *out = &m->trace->job[job];
    if (!r->running) {
        out->pending_s += ROUND_S;
        return false;
    }
    const double lost_s = restarted ? restart_of(m, job) : 0;
    const double step_s = r->iteration / DLS_STAGES_PROFILER * out->measured;
    const double most = fmax(0, floor((ROUND_S - lost_s) / step_s));
    out->starts += restarted;
    if (r->left > most) {
        r->left -= most;
        r->executed += ROUND_S;
        return most > 0;
    }
    const double took_s = lost_s + r->left * step_s;
    r->executed += took_s;
    out->end_s = m->now + took_s;
    out->executed_s = r->executed;
    return true;
}

static bool leave(dls_muri *m, int32_t *completed, size_t *n_completed)
{
    int32_t kept = 0;
    const int32_t before = m->n_list;
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        if (m->job[job].end_s < 0) {
            m->list[kept++] = job;
            continue;
        }
        m->run[job].running = false;
        if (completed) {
            completed[(*n_completed)++] = job;
        }
        if (m->policy->ended) {
            m->policy->ended(m, job);
        }
    }
    m->n_list = kept;
    return kept < before;
}

dls_status dls_muri_run_testbed(dls_muri *m, int32_t *completed, size_t *n_completed,
                                dls_error *err)
{
    bool changed = false;
    int32_t still = 0; /* rounds in a row in which nobody takes a step */
    while (m->next < m->n || m->n_list > 0) {
        if (m->n_list == 0) { /* nothing until the round that sees the next arrival */
            m->now = fmax(m->now, ceil(m->job[m->next].submit_s / ROUND_S) * ROUND_S);
        }
        changed = admit(m) || changed;
        const bool renewed = changed || (m->policy->restless && m->policy->restless(m));
        int32_t running = 0, stepped = 0;
        if (renewed) {
            DLS_TRY(m->policy->decide(m, err));
        }
        for (int32_t i = 0; i < m->n_list; i++) {
            running += m->run[m->list[i]].running;
            stepped += run_round(m, m->list[i], renewed);
        }
        if (running == 0 && m->next == m->n) {
            return DLS_OK; /* the rest can never run */
        }
        still = stepped > 0 || m->next < m->n ? 0 : still + 1;
        if (still > STILL_ROUNDS_MOST) {
            return dls_fail(err, DLS_ERUN, NULL,
                            "after %g s none of the %d jobs that are left takes an iteration in a round of %g s",
                            m->now, (int)m->n_list, ROUND_S);
        }
        changed = leave(m, completed, n_completed);
        m->now += ROUND_S;
    }
    return DLS_OK;
}
