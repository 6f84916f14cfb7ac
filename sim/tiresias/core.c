/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Job table and accounting of the Tiresias simulator: arrivals, starts, suspensions and ends at
 * whole seconds, with columns brought up to date when a job's state changes.
 */
#include "tiresias/core.h"

#include "base/alloc.h"

#include <stdlib.h>

static int compare_i32(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The distinct GPU counts, and each job's place among them. */
static void find_sizes(dls_tir *s)
{
    for (int32_t j = 0; j < s->n; j++) {
        s->size[j] = s->job[j].gpus;
    }
    qsort(s->size, (size_t)s->n, sizeof *s->size, compare_i32);
    int32_t m = 0;
    for (int32_t i = 0; i < s->n; i++) {
        if (m == 0 || s->size[m - 1] != s->size[i]) {
            s->size[m++] = s->size[i];
        }
    }
    s->n_sizes = m;
    for (int32_t j = 0; j < s->n; j++) {
        const int32_t *at =
            bsearch(&s->job[j].gpus, s->size, (size_t)m, sizeof *s->size, compare_i32);
        s->job[j].cls = (int32_t)(at - s->size);
    }
}

static dls_status read_job(dls_tir *s, int32_t j, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(s->trace);
    dls_tir_job *job = &s->job[j];
    const char *id = dls_trace_id(s->trace, (size_t)j);
    if (c->submit_us[j] % DLS_US_PER_S != 0) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "job %s: submit time %.6f s is not a whole number of seconds, which the "
                        "Tiresias mode needs",
                        id, (double)c->submit_us[j] / 1e6);
    }
    if (c->duration_us[j] == DLS_ABSENT) {
        return dls_trace_no_duration(s->trace, (size_t)j, err);
    }
    if (c->flags[j] & DLS_JOB_FRACTIONAL_GPUS) {
        return dls_fail(
            err, DLS_EINPUT, NULL,
            "job %s asks for a fraction of a GPU, which the Tiresias mode does not have", id);
    }
    *job = (dls_tir_job){.submit_s = c->submit_us[j] / DLS_US_PER_S,
                         .duration_s = c->duration_us[j] / DLS_US_PER_S,
                         .start_s = -1,
                         .end_s = -1,
                         .gpus = c->gpus[j]};
    return DLS_OK;
}

dls_status dls_tir_init(dls_tir *s, const dls_tiresias_params *p, const dls_trace *trace,
                        dls_record *rec, dls_error *err)
{
    const dls_tiresias_cluster *k = &p->cluster;
    const size_t n = dls_trace_cols(trace)->n;
    *s = (dls_tir){.p = p, .trace = trace, .rec = rec, .n = (int32_t)n, .counts_gpus = true};
    s->n_nodes = k->switches * k->nodes_per_switch;
    s->total_gpus = (int64_t)s->n_nodes * k->gpus_per_node;
    s->job = dls_alloc_zero(n, sizeof *s->job);
    s->size = dls_alloc_zero(n, sizeof *s->size);
    s->row = dls_alloc_zero(n, sizeof *s->row);
    if (!s->job || !s->size || !s->row) {
        return dls_nomem(err, "job table", n * sizeof *s->job);
    }
    for (int32_t j = 0; j < s->n; j++) {
        DLS_TRY(read_job(s, j, err));
        s->row[j] = SIZE_MAX;
    }
    find_sizes(s);
    return DLS_OK;
}

void dls_tir_fini(dls_tir *s)
{
    dls_free(s->job);
    dls_free(s->size);
    dls_free(s->row);
}

int32_t dls_tir_arrive(dls_tir *s)
{
    const int32_t j = s->next++;
    s->job[j].status = DLS_JOB_PENDING;
    s->job[j].anchor_s = s->now_s;
    s->pending++;
    s->rec->events++;
    return j;
}

dls_status dls_tir_start(dls_tir *s, int32_t j, dls_error *err)
{
    dls_tir_job *job = &s->job[j];
    const int64_t waited_s = s->now_s - job->anchor_s;
    job->pending_s += waited_s;
    job->waited_s += job->executed_s > 0 ? waited_s : 0;
    job->anchor_s = s->now_s;
    job->status = DLS_JOB_RUNNING;
    job->resumes += s->preemptive;
    job->start_s = job->start_s < 0 ? s->now_s : job->start_s;
    s->pending--;
    s->running++;
    s->busy_gpus += job->gpus;
    s->rec->flips++;
    if (s->counts_gpus && s->rec->want_allocs) {
        DLS_TRY(dls_record_alloc_row(s->rec, j, -1, s->now_s * DLS_US_PER_S, 0, job->gpus, 1.0F,
                                     &s->row[j], err));
    }
    return DLS_OK;
}

void dls_tir_close_row(dls_tir *s, int32_t j)
{
    if (s->row[j] != SIZE_MAX) {
        s->rec->allocs.end_us[s->row[j]] = s->now_s * DLS_US_PER_S;
        s->row[j] = SIZE_MAX;
    }
}

static void stop_running(dls_tir *s, int32_t j)
{
    dls_tir_job *job = &s->job[j];
    job->service_s += s->now_s - job->anchor_s;
    job->executed_s += s->now_s - job->anchor_s;
    s->running--;
    s->busy_gpus -= job->gpus;
    dls_tir_close_row(s, j);
}

void dls_tir_suspend(dls_tir *s, int32_t j)
{
    stop_running(s, j);
    s->job[j].anchor_s = s->now_s;
    s->job[j].status = DLS_JOB_PENDING;
    s->job[j].preempts++;
    s->pending++;
    s->rec->flips++;
}

void dls_tir_finish(dls_tir *s, int32_t j)
{
    dls_tir_job *job = &s->job[j];
    if (job->status == DLS_JOB_RUNNING) {
        stop_running(s, j);
    } else {
        /* A phantom completion: the original takes the job off its lists before it accounts for the
         * last interval. */
        job->pending_s += s->last_s - job->anchor_s;
        s->pending--;
    }
    job->status = DLS_JOB_FINISHED;
    job->end_s = s->now_s;
    if (s->p->completed) {
        s->p->completed[s->finished] = j;
    }
    s->finished++;
    s->rec->events++;
}

dls_status dls_tir_clock(dls_tir *s, int64_t now_s, dls_error *err)
{
    if (now_s > DLS_TIR_TIME_MAX_S) {
        return dls_fail(err, DLS_ERUN, NULL,
                        "simulated time would pass %lld s, more than a result can hold",
                        (long long)DLS_TIR_TIME_MAX_S);
    }
    s->now_s = now_s;
    return DLS_OK;
}

dls_status dls_tir_event(dls_tir *s, dls_error *err)
{
    dls_record *rec = s->rec;
    rec->passes++;
    rec->peak_pending = s->pending > rec->peak_pending ? s->pending : rec->peak_pending;
    if (rec->want_series) {
        const dls_series_point point = {.t_us = s->now_s * DLS_US_PER_S,
                                        .busy_gpus = (int32_t)s->busy_gpus,
                                        .running_jobs = s->running,
                                        .pending_jobs = s->pending,
                                        .finished_jobs = s->finished,
                                        .busy_nodes = s->busy_nodes,
                                        .full_nodes = s->full_nodes};
        DLS_TRY(dls_record_series(rec, &point, err));
    }
    if (s->p->on_event) {
        dls_tiresias_event event = {.t_s = s->now_s,
                                  .busy_gpus = s->busy_gpus,
                                  .running_jobs = s->running,
                                  .pending_jobs = s->pending,
                                  .finished_jobs = s->finished,
                                  .n_nodes = s->n_nodes,
                                  .node = s->node,
                                  .idle_nodes = s->idle_nodes};
        for (int i = 0; i < DLS_TIRESIAS_GANDIVA_SETS; i++) {
            event.sets[i] = s->sets[i];
        }
        DLS_TRY(s->p->on_event(s->p->user, &event, err));
    }
    s->last_s = s->now_s;
    if (rec->passes % 1024 == 0) {
        s->stop = s->p->interrupted && s->p->interrupted(s->p->user);
        if (s->p->progress) {
            s->p->progress(s->p->user, s->now_s * DLS_US_PER_S, (size_t)s->finished, (size_t)s->n);
        }
    }
    return DLS_OK;
}

void dls_tir_close(dls_tir *s)
{
    dls_record *rec = s->rec;
    for (int32_t j = 0; j < s->n; j++) {
        dls_tir_job *job = &s->job[j];
        if (job->status == DLS_JOB_PENDING) {
            job->pending_s += s->preemptive ? s->last_s - job->anchor_s : 0;
        } else if (job->status == DLS_JOB_RUNNING) {
            job->service_s += s->last_s - job->anchor_s;
            dls_tir_close_row(s, j);
        }
        rec->state[j] = job->status;
        rec->start_us[j] = job->start_s < 0 ? -1 : job->start_s * DLS_US_PER_S;
        rec->end_us[j] = job->end_s < 0 ? -1 : job->end_s * DLS_US_PER_S;
        rec->pending_us[j] = job->pending_s * DLS_US_PER_S;
        rec->executed_us[j] = job->service_s * DLS_US_PER_S;
        rec->preempts[j] = job->preempts;
        rec->resumes[j] = job->resumes;
        rec->promotes[j] = job->promotes;
    }
    rec->end_us_of_run = s->last_s * DLS_US_PER_S;
    rec->total_gpus = s->total_gpus;
    rec->complete = !s->stop;
}
