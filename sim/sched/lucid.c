/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lucid: non-intrusive sharing in pairs (Hu et al., "Lucid", ASPLOS 2023), with the defects of its
 * published simulator gone (docs/schedulers-sharing.md). No job is interrupted.
 *
 * - Order: predicted run time x GPUs, least first, as known at submission.
 * - Score 0, 1, 2, how much a job disturbs others, by its mean GPU use u: its mean speed beside all
 *   jobs that came before, speed(u, v) = 1 - slope max(0, u + v - knee), is at least 0.95, at least
 *   0.85, less.
 * - A pair has equal gangs on a node and scores that add up to at most 2, and the one that comes is
 *   not expected to need more than `patience` times the service of the other.
 * - Sharing only while more than `quiet` jobs came in 10 minutes, over the last 50; without, jobs
 *   start from the head until one does not fit.
 *
 * Use comes from the predictor, in place of the profiler's table; `profile` is the time that
 * profiling delays a job. A job about which nothing is predicted does not share.
 */
#include "sched/gangs.h"
#include "sched/lines.h"

#include <math.h>
#include <string.h>

enum { OPT_PROFILE, OPT_QUIET, OPT_PATIENCE, OPT_KNEE, OPT_SLOPE };
static const dls_option options[] = {
    {"profile", DLS_OPT_TIME, 0, 1e9, "0 s", "", "time that profiling delays a job", NULL},
    {"quiet", DLS_OPT_F64, 0, 1e9, "2", "jobs",
     "in 10 minutes that come, up to which nobody shares", NULL},
    {"patience", DLS_OPT_F64, 0, 1e9, "2", "",
     "a job joins none that is expected to need so many times less service", NULL},
    DLS_PAIR_OPTIONS,
    {0},
};

#define BINS 32 /* of GPU use, from 0 to 1 */
#define WINDOW_US INT64_C(3000000000)
#define BUCKETS 5 /* of 10 minutes */

typedef struct lucid {
    dls_lines lines; /* of those who ask for the same and use as much, by expected service */
    double quiet, patience, knee, slope;
    double used[BINS]; /* jobs by GPU use */
    double jobs;
    int64_t came[BUCKETS],
        bucket;   /* arrivals in the last 10-minute intervals; number of the newest */
    int32_t next; /* job whose arrival has not been counted */
} lucid;

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    lucid *l = state;
    l->lines.delay_us = (int64_t)(values[OPT_PROFILE].f * 1e6);
    l->quiet = values[OPT_QUIET].f;
    l->patience = values[OPT_PATIENCE].f;
    l->knee = values[OPT_KNEE].f;
    l->slope = values[OPT_SLOPE].f;
    return DLS_OK;
}

/* ---- what is known of a job ------------------------------------------------------------------ */

static int64_t service_of(const dls_view *view, int32_t job)
{
    return dls_service_us(view->estimate_us[job], view->gpus[job]);
}

static int32_t bin_of(double use)
{
    const int32_t bin = (int32_t)(use * BINS);
    return bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

static int32_t score_of(const lucid *l, double use)
{
    double sum = 0;
    for (int32_t b = 0; b < BINS; b++) {
        sum += l->used[b] * (1 - l->slope * fmax(0, use + (b + 0.5) / BINS - l->knee));
    }
    const double mean = l->jobs > 0 ? sum / l->jobs : 1;
    return mean < 0.85 ? 2 : mean < 0.95 ? 1 : 0;
}

/* Count the arrivals since the last pass, by use and by time. */
static void count(lucid *l, const dls_view *view)
{
    const int64_t bucket = view->now_us / (WINDOW_US / BUCKETS);
    for (; l->bucket<bucket; l->bucket = bucket - l->bucket> BUCKETS ? bucket - BUCKETS
                                                                     : l->bucket + 1) {
        l->came[(l->bucket + 1) % BUCKETS] = 0;
    }
    for (; l->next < view->n_jobs && view->submit_us[l->next] <= view->now_us; l->next++) {
        const double use = dls_job_use(view, l->next);
        l->came[bucket % BUCKETS]++;
        if (!isnan(use)) {
            l->used[bin_of(use)]++;
            l->jobs++;
        }
    }
}

/* ---- who runs -------------------------------------------------------------------------------- */

/* May those who stand in line behind the job, which expects the least service of them, join the host? */
static bool suits_line(const lucid *l, const dls_view *view, int32_t job, int32_t host)
{
    const int32_t type = view->held_type[host];
    const double mine = dls_job_use(view, job), its = dls_job_use(view, host);
    int64_t gpus;
    dls_place_part part;
    return view->gpus[job] == view->held_gpus[host] && dls_view_types(view, job) >> type & 1 &&
           !isnan(its) && score_of(l, mine) + score_of(l, its) <= 2 &&
           (double)service_of(view, job) <= l->patience * (double)service_of(view, host) &&
           dls_view_nodes(view, host, &part, 1) == 1 &&
           dls_view_pool(view, job, type, &gpus) == dls_view_pool(view, host, type, &gpus) &&
           dls_view_host(view, host) < 0 && !dls_has_guest(view, host);
}

/* The eldest running job that will have it; *alike: there may be one for others of its line. */
static bool join(const lucid *l, const dls_view *view, dls_actions *out, int32_t job, bool *alike)
{
    int32_t host = isnan(dls_job_use(view, job)) ? -1 : dls_view_first_running(view);
    for (; host >= 0; host = dls_view_next_running(view, host)) {
        const bool fits = suits_line(l, view, job, host);
        *alike = *alike || fits;
        if (fits && dls_view_cpu_per_gpu(view, job) <= dls_view_cpu_per_gpu(view, host) &&
            dls_view_mem_per_gpu(view, job) <= dls_view_mem_per_gpu(view, host)) {
            return dls_act_join(out, job, host);
        }
    }
    return false;
}

static void ask(void *user, const dls_view *view, int32_t job, dls_line_ask *out)
{
    const double use = dls_job_use(view, job);
    out->key = service_of(view, job);
    memcpy(&out->more, &use, sizeof use);
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    lucid *l = state;
    int64_t came = 0;
    count(l, view);
    for (int32_t b = 0; b < BUCKETS; b++) {
        came += l->came[b];
    }
    const bool sharing = (double)came / BUCKETS > l->quiet;
    DLS_TRY(dls_lines_begin(&l->lines, view, ask, l, err));
    if (dls_lines_next_us(&l->lines, view) != DLS_NEVER) {
        dls_act_wake(out, dls_lines_next_us(&l->lines, view));
    }
    for (int32_t job; (job = dls_lines_first(&l->lines, view, 0)) >= 0;) {
        bool alike = view->gpus_milli != NULL; /* one with less may start and be their host */
        const bool room = dls_has_room(view, job);
        const bool runs = (sharing && join(l, view, out, job, &alike)) || dls_start_gang(view, out, job);
        if (!runs && !sharing) {
            break;
        }
        if (runs || alike || room) {
            dls_lines_take(&l->lines, job);
        } else {
            dls_lines_close(&l->lines, job);
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_lucid = {
    .abi = DLS_POLICY_ABI,
    .name = "lucid",
    .summary =
        "least predicted service first, pairs that disturb each other little share GPUs (Lucid)",
    .options = options,
    .state_bytes = sizeof(lucid),
    .job_state_bytes = sizeof(dls_use),
    .init = init,
    .fini = dls_lines_fini,
    .clone = dls_lines_clone,
    .pass = pass,
    .rigid = true,
    .joins = true,
};
