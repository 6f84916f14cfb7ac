/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replays a trace with recorded waits and compares the starts.
 */
#include "dlsim/site.h"

#include "base/alloc.h"
#include "base/guard.h"
#include "base/kendall.h"
#include "base/owners.h"
#include "base/rng.h"
#include "traces/trace_impl.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dls_fidelity_fini(dls_fidelity *f)
{
    DLS_FREE_ALL(f->group, f->job);
    dls_trace_destroy(f->trace);
    *f = (dls_fidelity){0};
}

/* ---- groups ---------------------------------------------------------------------------------- */

static double off_by(const dls_fidelity_job *j)
{
    return fabs(j->replayed_s - j->recorded_s);
}

/* Jobs whose code is `code` (NULL: all jobs) become a group, unless there are none. room: [n_jobs].
 */
static dls_status add_group(dls_fidelity *f, const char *kind, const char *name,
                            const int32_t *code, int32_t which, double *room, dls_error *err)
{
    dls_fidelity_group g = {.kind = kind};
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    snprintf(g.name, sizeof g.name, "%s", name);
    for (size_t i = 0; i < f->n_jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        if (code && code[j->job] != which) {
            continue;
        }
        const double submit_s = 1e-6 * (double)c->submit_us[j->job];
        g.recorded_wait_s += j->recorded_s - submit_s;
        g.replayed_wait_s += j->mean_s - submit_s;
        room[g.n++] = off_by(j);
    }
    if (g.n == 0) {
        return DLS_OK;
    }
    g.recorded_wait_s /= (double)g.n;
    g.replayed_wait_s /= (double)g.n;
    gsl_sort(room, 1, g.n);
    g.median_s = gsl_stats_quantile_from_sorted_data(room, 1, g.n, 0.5);
    g.p95_s = gsl_stats_quantile_from_sorted_data(room, 1, g.n, 0.95);
    DLS_TRY(dls_grow(&f->group, &f->group_cap, f->n_groups + 1, sizeof *f->group, err));
    f->group[f->n_groups++] = g;
    return DLS_OK;
}

/* The least number of GPUs beyond so many that a job has; 0: none. */
static int32_t size_after(const dls_fidelity *f, int32_t gpus)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    int32_t least = 0;
    for (size_t i = 0; i < f->n_jobs; i++) {
        const int32_t has = c->gpus[f->job[i].job];
        least = has > gpus && (least == 0 || has < least) ? has : least;
    }
    return least;
}

static dls_status add_groups(dls_fidelity *f, double *room, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    DLS_TRY(add_group(f, "all", "jobs", NULL, 0, room, err));
    for (int32_t k = 0; c->vc && (size_t)k < dls_trace_n_vcs(f->trace); k++) {
        DLS_TRY(add_group(f, "partition", dls_trace_vc(f->trace, k), c->vc, k, room, err));
    }
    for (int32_t k = 0; c->job_class && (size_t)k < dls_trace_n_classes(f->trace); k++) {
        DLS_TRY(add_group(f, "account", dls_trace_class(f->trace, k), c->job_class, k, room, err));
    }
    for (int32_t gpus = size_after(f, 0); gpus > 0; gpus = size_after(f, gpus)) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)gpus);
        DLS_TRY(add_group(f, "GPUs", name, c->gpus, gpus, room, err));
    }
    return DLS_OK;
}

/* ---- the grade ------------------------------------------------------------------------------- */

static char grade_of(const dls_fidelity *f)
{
    static const struct {
        char grade;
        double tau, part;
    } rule[] = {{'A', 0.98, 0.03}, {'B', 0.95, 0.10}, {'C', 0.90, 0.25}};
    const dls_fidelity_group *all = &f->group[0];
    const double off_s = fabs(all->replayed_wait_s - all->recorded_wait_s);
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        /* Where all started at one instant there is no order, and the wait alone tells. */
        if (!(f->tau < rule[i].tau) && (off_s <= 2 || off_s <= rule[i].part * all->recorded_wait_s)) {
            return rule[i].grade;
        }
    }
    return 'D';
}

/* Share of the GPUs in use between the first submission and the last recorded start. */
static void set_busy(dls_fidelity *f, double total_gpus)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    const double first_s = 1e-6 * (double)c->submit_us[0];
    double last_s = first_s;
    for (size_t i = 0; i < f->n_jobs; i++) {
        last_s = fmax(last_s, f->job[i].recorded_s);
    }
    for (size_t i = 0; i < f->n_jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        const double run_s = 1e-6 * (double)c->duration_us[j->job], gpus = c->gpus[j->job];
        f->recorded_busy += gpus * fmax(0, fmin(run_s, last_s - j->recorded_s));
        f->replayed_busy += gpus * fmax(0, fmin(run_s, last_s - j->replayed_s));
    }
    const double whole = (last_s - first_s) * total_gpus;
    f->recorded_busy = whole > 0 ? f->recorded_busy / whole : 0;
    f->replayed_busy = whole > 0 ? f->replayed_busy / whole : 0;
}

DLS_BY(by_time, double, DLS_ORDER(*x, *y));

/* Jobs waiting until the last recorded start, on both sides, and their difference. */
static dls_status set_queue(dls_fidelity *f, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    double(*event)[3] = NULL; /* when, and by how many the two queues change */
    const double first_s = 1e-6 * (double)c->submit_us[0];
    double last_s = first_s;
    int64_t recorded = 0, replayed = 0;
    DLS_TRY(dls_alloc_array(&event, 3 * f->n_jobs, sizeof *event, "starts", err));
    for (size_t i = 0; i < f->n_jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        const double starts[3][3] = {{1e-6 * (double)c->submit_us[j->job], 1, 1},
                                     {j->recorded_s, -1, 0},
                                     {j->replayed_s, 0, -1}};
        memcpy(event[3 * i], starts, sizeof starts);
        last_s = fmax(last_s, j->recorded_s);
    }
    qsort(event, 3 * f->n_jobs, sizeof *event, by_time);
    for (size_t i = 0; i < 3 * f->n_jobs; i++) {
        recorded += (int64_t)event[i][1];
        replayed += (int64_t)event[i][2];
        const double next_s = i + 1 < 3 * f->n_jobs ? fmin(event[i + 1][0], last_s) : last_s;
        const double part = last_s > first_s ? fmax(0, next_s - event[i][0]) / (last_s - first_s) : 0;
        f->recorded_queue += part * (double)recorded;
        f->replayed_queue += part * (double)replayed;
        f->queue_off += part * fabs((double)(recorded - replayed));
    }
    dls_free(event);
    return DLS_OK;
}

dls_fidelity_why dls_fidelity_why_of(const dls_fidelity *f, size_t i)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    const dls_fidelity_job *of = &f->job[i];
    const bool late = of->replayed_s > of->recorded_s;
    const double at_s = fmin(of->replayed_s, of->recorded_s);
    dls_fidelity_why why = {.jobs = 0};
    for (size_t k = 0; k < f->n_jobs; k++) {
        const dls_fidelity_job *j = &f->job[k];
        const double here_s = late ? j->replayed_s : j->recorded_s,
                     there_s = late ? j->recorded_s : j->replayed_s,
                     run_s = 1e-6 * (double)c->duration_us[j->job];
        const bool here = here_s <= at_s && at_s < here_s + run_s,
                   there = there_s <= at_s && at_s < there_s + run_s;
        if (k == i || !here || there) {
            continue;
        }
        if (why.jobs == 0 || c->gpus[j->job] > c->gpus[why.largest] ||
            (c->gpus[j->job] == c->gpus[why.largest] && j->job < why.largest)) {
            why.largest = j->job;
        }
        why.jobs++;
        why.ahead += there_s > at_s;
        why.gpus += c->gpus[j->job];
    }
    return why;
}

DLS_BY(farthest_first, dls_fidelity_job, DLS_ORDER(off_by(y), off_by(x)), DLS_UP(job));

/* ---- replays --------------------------------------------------------------------------------- */

typedef struct replays {
    size_t n, n_jobs;
    double *start_s; /* [n][n_jobs]; NAN: not started */
    double *room;    /* [2 n_jobs or n, whichever is more] */
} replays;

/* Has the recorder cut all times to whole seconds? */
static bool is_cut(const dls_trace_columns *c)
{
    for (size_t j = 0; j < c->n; j++) {
        if (c->submit_us[j] % DLS_US_PER_S || c->duration_us[j] % DLS_US_PER_S ||
            (c->queue_us && c->queue_us[j] % DLS_US_PER_S && c->queue_us[j] != DLS_ABSENT)) {
            return false;
        }
    }
    return true;
}

/* What may have been before it was cut: a submission up to a second later, a duration between ends
 * that both were. */
static dls_status add_drawn(dls_trace_builder *b, const dls_trace *in, size_t replay,
                            dls_error *err)
{
    const size_t n = dls_trace_cols(in)->n;
    for (size_t j = 0; j < n; j++) {
        dls_job_rec rec;
        dls_rng rng = dls_rng_stream(1, DLS_RNG_RESAMPLE, replay * n + j);
        dls_trace_job(in, j, &rec);
        rec.submit_us += (int64_t)(1e6 * dls_rng_unit(&rng));
        const double more_s = dls_rng_unit(&rng), less_s = dls_rng_unit(&rng);
        const int64_t duration_us = rec.duration_us + (int64_t)(1e6 * (more_s - less_s));
        rec.duration_us = rec.duration_us < 0  ? DLS_ABSENT
                          : duration_us > 1000 ? duration_us
                                               : 1000;
        DLS_TRY(dls_trace_builder_add(b, &rec, "replay", err));
    }
    return DLS_OK;
}

static dls_status drawn(const dls_trace *in, size_t replay, dls_trace **out, dls_error *err)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(&opts, &b, err));
    return dls_trace_builder_end(b, add_drawn(b, in, replay, err), out, err);
}

static dls_status simulate(dls_setup *setup, const dls_trace *trace, double *start_s,
                           dls_fidelity *f, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    const bool original = trace == f->trace;
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
    dls_result_column start;
    DLS_TRY(dls_simulation_create(setup, trace, &sim, err));
    DLS_TRY(dls_simulation_run(sim, err));
    if (!dls_simulation_column(sim, DLS_TABLE_JOBS, "start_us", &start)) {
        return dls_fail(err, DLS_ERUN, NULL, "results without start times");
    }
    for (size_t j = 0; j < c->n; j++) {
        const int64_t us = ((const int64_t *)start.data)[j];
        const double s = 1e-6 * (double)us;
        /* A drawn job stands in the row of its original, and its start is cut as the recorded one.
         */
        start_s[original ? j : c->row[j]] = us < 0 ? (double)NAN : original ? s : floor(s);
    }
    f->total_gpus = (double)dls_simulation_view(sim)->total_gpus;
    return DLS_OK;
}

static dls_status replay_all(dls_setup *setup, replays *r, dls_fidelity *f, dls_error *err)
{
    for (size_t k = 0; k < r->n; k++) {
        DLS_HOLD(dls_trace_destroy) dls_trace *own = NULL;
        if (r->n > 1) {
            DLS_TRY(drawn(f->trace, k, &own, err));
        }
        DLS_TRY(simulate(setup, own ? own : f->trace, r->start_s + k * r->n_jobs, f, err));
    }
    return DLS_OK;
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* A job's start in the replays that started it; false: none. */
static bool start_of(const replays *r, size_t job, dls_fidelity_job *out)
{
    size_t n = 0;
    double sum = 0;
    for (size_t k = 0; k < r->n; k++) {
        const double s = r->start_s[k * r->n_jobs + job];
        if (!isnan(s)) {
            r->room[n++] = s;
            sum += s;
        }
    }
    if (n == 0) {
        return false;
    }
    gsl_sort(r->room, 1, n);
    out->replayed_s = r->room[n / 2];
    out->mean_s = sum / (double)n;
    return true;
}

static dls_status collect(dls_fidelity *f, const replays *r, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    if (!c->queue_us) {
        return dls_fail(err, DLS_EINPUT, dls_trace_about(f->trace)->path,
                        "does not say how long jobs waited (column `queue`)");
    }
    DLS_TRY(dls_alloc_array(&f->job, c->n, sizeof *f->job, "starts", err));
    for (size_t j = 0; j < c->n; j++) {
        dls_fidelity_job job = {.job = j};
        if (c->queue_us[j] < 0 || !start_of(r, j, &job)) {
            f->unknown++;
            continue;
        }
        job.recorded_s = 1e-6 * (double)(c->submit_us[j] + c->queue_us[j]);
        f->job[f->n_jobs++] = job;
    }
    return f->n_jobs > 0 ? DLS_OK
                         : dls_fail(err, DLS_EINPUT, dls_trace_about(f->trace)->path,
                                    "no job with a recorded wait was started");
}

/* Were it the record, how near would replay k come to the median of the others? pair: [2 n]; room: [r->n]. */
static dls_status held_out(const dls_fidelity *f, const replays *r, size_t k, double *pair, double *room,
                           double *tau, dls_error *err)
{
    for (size_t i = 0; i < f->n_jobs; i++) {
        size_t n = 0;
        for (size_t other = 0; other < r->n; other++) {
            const double s = r->start_s[other * r->n_jobs + f->job[i].job];
            if (other == k) {
                pair[i] = isnan(s) ? 0 : s;
            } else if (!isnan(s)) {
                room[n++] = s;
            }
        }
        gsl_sort(room, 1, n);
        pair[f->n_jobs + i] = n > 0 ? room[n / 2] : 0;
    }
    return dls_kendall_tau(pair, pair + f->n_jobs, f->n_jobs, tau, err);
}

static dls_status set_order(dls_fidelity *f, const replays *r, dls_error *err)
{
    double *room = r->room, sum = 0, out = 0;
    for (size_t i = 0; i < f->n_jobs; i++) {
        room[i] = f->job[i].recorded_s;
        room[f->n_jobs + i] = f->job[i].replayed_s;
    }
    DLS_TRY(dls_kendall_tau(room, room + f->n_jobs, f->n_jobs, &f->tau, err));
    for (size_t k = 0; r->n > 1 && k < r->n; k++) {
        double tau;
        DLS_TRY(held_out(f, r, k, room, room + 2 * r->n_jobs, &tau, err));
        out += tau;
    }
    f->held_out_tau = r->n > 1 ? out / (double)r->n : 1;
    for (size_t k = 0; k + 1 < r->n; k++) {
        double tau;
        for (size_t i = 0; i < f->n_jobs; i++) {
            const double *start_s = r->start_s + k * r->n_jobs + f->job[i].job;
            room[i] = isnan(start_s[0]) ? 0 : start_s[0];
            room[f->n_jobs + i] = isnan(start_s[r->n_jobs]) ? 0 : start_s[r->n_jobs];
        }
        DLS_TRY(dls_kendall_tau(room, room + f->n_jobs, f->n_jobs, &tau, err));
        sum += tau;
    }
    f->self_tau = r->n > 1 ? sum / (double)(r->n - 1) : 1;
    return DLS_OK;
}

/* Jobs stand in the order in which they came. */
static void set_passed(dls_fidelity *f)
{
    double recorded_s = -HUGE_VAL, replayed_s = -HUGE_VAL; /* the latest start of those before */
    for (size_t i = 0; i < f->n_jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        f->passed += j->recorded_s < recorded_s;
        f->passed_same += j->recorded_s < recorded_s && j->replayed_s < replayed_s;
        recorded_s = fmax(recorded_s, j->recorded_s);
        replayed_s = fmax(replayed_s, j->replayed_s);
    }
}

static dls_status compare(dls_fidelity *f, const replays *r, dls_error *err)
{
    DLS_TRY(collect(f, r, err));
    DLS_TRY(set_order(f, r, err));
    DLS_TRY(add_groups(f, r->room, err));
    set_passed(f);
    set_busy(f, f->total_gpus);
    DLS_TRY(set_queue(f, err));
    qsort(f->job, f->n_jobs, sizeof *f->job, farthest_first);
    f->grade = grade_of(f);
    return DLS_OK;
}

static void replays_fini(replays *r)
{
    DLS_FREE_ALL(r->start_s, r->room);
}

dls_status dls_fidelity_of(dls_setup *setup, dls_fidelity *out, dls_error *err)
{
    DLS_IN_C_LOCALE;
    *out = (dls_fidelity){0};
    DLS_TRY(dls_setup_trace(setup, &out->trace, err));
    const dls_trace_columns *c = dls_trace_cols(out->trace);
    const bool many = c->n <= DLS_FIDELITY_MANY && is_cut(c);
    DLS_OWN(replays_fini) replays r = {.n = many ? DLS_FIDELITY_REPLAYS : 1, .n_jobs = c->n};
    out->replays = r.n;
    DLS_TRY(dls_alloc_array(&r.start_s, r.n * r.n_jobs, sizeof *r.start_s, "starts", err));
    DLS_TRY(dls_alloc_array(&r.room, 2 * r.n_jobs + r.n, sizeof *r.room, "starts", err));
    DLS_TRY(replay_all(setup, &r, out, err));
    return compare(out, &r, err);
}
