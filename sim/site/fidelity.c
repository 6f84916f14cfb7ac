/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replays a trace with recorded waits and compares the starts.
 */
#include "site/fidelity.h"

#include "base/alloc.h"
#include "base/kendall.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dls_fidelity_fini(dls_fidelity *f)
{
    dls_free(f->group);
    dls_free(f->job);
    dls_trace_destroy(f->trace);
    *f = (dls_fidelity){0};
}

/* ---- groups ------------------------------------------------------------------------------------
 */

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
        g.replayed_wait_s += j->replayed_s - submit_s;
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
    int32_t most = 0;
    for (size_t j = 0; j < c->n; j++) {
        most = c->gpus[j] > most ? c->gpus[j] : most;
    }
    for (int32_t gpus = 1; gpus <= most; gpus++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)gpus);
        DLS_TRY(add_group(f, "GPUs", name, c->gpus, gpus, room, err));
    }
    return DLS_OK;
}

/* ---- the comparison ----------------------------------------------------------------------------
 */

static char grade_of(const dls_fidelity *f)
{
    static const struct {
        char grade;
        double tau, part;
    } rule[] = {{'A', 0.98, 0.03}, {'B', 0.95, 0.10}, {'C', 0.90, 0.25}};
    const dls_fidelity_group *all = &f->group[0];
    const double off_s = fabs(all->replayed_wait_s - all->recorded_wait_s);
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        if (f->tau >= rule[i].tau && (off_s <= 2 || off_s <= rule[i].part * all->recorded_wait_s)) {
            return rule[i].grade;
        }
    }
    return 'D';
}

/* Share of the GPUs in use between time 0 and the last recorded start. */
static void set_busy(dls_fidelity *f, double total_gpus)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    double last_s = 0;
    for (size_t i = 0; i < f->n_jobs; i++) {
        last_s = fmax(last_s, f->job[i].recorded_s);
    }
    for (size_t i = 0; i < f->n_jobs; i++) {
        const dls_fidelity_job *j = &f->job[i];
        const double run_s = 1e-6 * (double)c->duration_us[j->job], gpus = c->gpus[j->job];
        f->recorded_busy += gpus * fmax(0, fmin(run_s, last_s - j->recorded_s));
        f->replayed_busy += gpus * fmax(0, fmin(run_s, last_s - j->replayed_s));
    }
    const double whole = last_s * total_gpus;
    f->recorded_busy = whole > 0 ? f->recorded_busy / whole : 0;
    f->replayed_busy = whole > 0 ? f->replayed_busy / whole : 0;
}

static int farthest_first(const void *a, const void *b)
{
    const dls_fidelity_job *x = a, *y = b;
    const double p = off_by(x), q = off_by(y);
    return p != q ? (p < q) - (p > q) : (x->job > y->job) - (x->job < y->job);
}

static dls_status collect(dls_fidelity *f, const int64_t *start_us, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(f->trace);
    if (!c->queue_us) {
        return dls_fail(err, DLS_EINPUT, dls_trace_about(f->trace)->path,
                        "does not say how long jobs waited (column `queue`)");
    }
    DLS_TRY(dls_alloc_array(&f->job, c->n, sizeof *f->job, "starts", err));
    for (size_t j = 0; j < c->n; j++) {
        if (c->queue_us[j] < 0 || start_us[j] < 0) {
            f->unknown++;
            continue;
        }
        f->job[f->n_jobs++] = (dls_fidelity_job){
            j, 1e-6 * (double)(c->submit_us[j] + c->queue_us[j]), 1e-6 * (double)start_us[j]};
    }
    return f->n_jobs > 0 ? DLS_OK
                         : dls_fail(err, DLS_EINPUT, dls_trace_about(f->trace)->path,
                                    "no job with a recorded wait was started");
}

static dls_status compare(dls_fidelity *f, const dls_simulation *sim, dls_error *err)
{
    dls_result_column start;
    if (!dls_simulation_column(sim, DLS_TABLE_JOBS, "start_us", &start)) {
        return dls_fail(err, DLS_ERUN, NULL, "results without start times");
    }
    DLS_TRY(collect(f, start.data, err));
    double *room = NULL;
    DLS_TRY(dls_alloc_array(&room, 2 * f->n_jobs, sizeof *room, "starts", err));
    for (size_t i = 0; i < f->n_jobs; i++) {
        room[i] = f->job[i].recorded_s;
        room[f->n_jobs + i] = f->job[i].replayed_s;
    }
    dls_status status = dls_kendall_tau(room, room + f->n_jobs, f->n_jobs, &f->tau, err);
    if (status == DLS_OK) {
        status = add_groups(f, room, err);
    }
    dls_free(room);
    DLS_TRY(status);
    set_busy(f, (double)dls_simulation_view(sim)->total_gpus);
    qsort(f->job, f->n_jobs, sizeof *f->job, farthest_first);
    f->grade = grade_of(f);
    return DLS_OK;
}

dls_status dls_fidelity_of(dls_setup *setup, dls_fidelity *out, dls_error *err)
{
    dls_simulation *sim = NULL;
    *out = (dls_fidelity){0};
    dls_status status = dls_setup_trace(setup, &out->trace, err);
    if (status == DLS_OK) {
        status = dls_simulation_create(setup, out->trace, &sim, err);
    }
    if (status == DLS_OK) {
        status = dls_simulation_run(sim, err);
    }
    if (status == DLS_OK) {
        status = compare(out, sim, err);
    }
    dls_simulation_destroy(sim);
    return status;
}
