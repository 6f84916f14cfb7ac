/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Job table and accounting of the Tiresias simulator: arrivals, starts, suspensions and ends at
 * whole seconds, with columns brought up to date when a job's state changes.
 */
#include "tiresias/core.h"

#include "base/alloc.h"
#include "base/own.h"

#include <stdlib.h>

void *dls_tir_array(dls_tir *s, size_t n, size_t size)
{
    const size_t ahead = _Alignof(max_align_t); /* room for the link */
    if (n > (SIZE_MAX - ahead) / size) {
        s->out_of_memory = true;
        return NULL;
    }
    char *block = dls_alloc_zero(1, ahead + n * size);
    if (!block) {
        s->out_of_memory = true;
        return NULL;
    }
    *(void **)block = s->arrays;
    s->arrays = block;
    return block + ahead;
}

dls_status dls_tir_arrays_got(const dls_tir *s, dls_error *err)
{
    return s->out_of_memory ? dls_nomem(err, "queues", (size_t)s->n * sizeof *s->job) : DLS_OK;
}

int dls_tir_compare_i32(const void *a, const void *b)
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
    qsort(s->size, (size_t)s->n, sizeof *s->size, dls_tir_compare_i32);
    int32_t m = 0;
    for (int32_t i = 0; i < s->n; i++) {
        if (m == 0 || s->size[m - 1] != s->size[i]) {
            s->size[m++] = s->size[i];
        }
    }
    s->n_sizes = m;
    for (int32_t j = 0; j < s->n; j++) {
        const int32_t *at =
            bsearch(&s->job[j].gpus, s->size, (size_t)m, sizeof *s->size, dls_tir_compare_i32);
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

static dls_status init(dls_tir *s, dls_error *err)
{
    const dls_tiresias_cluster *k = &s->p->cluster;
    const size_t n = (size_t)s->n;
    s->n_nodes = k->switches * k->nodes_per_switch;
    s->total_gpus = (int64_t)s->n_nodes * k->gpus_per_node;
    s->job = dls_tir_array(s, n, sizeof *s->job);
    s->size = dls_tir_array(s, n, sizeof *s->size);
    s->due = dls_tir_array(s, n, sizeof *s->due);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (int32_t j = 0; j < s->n; j++) {
        DLS_TRY(read_job(s, j, err));
    }
    find_sizes(s);
    if (s->p->samples) {
        DLS_TRY(
            dls_tir_samples_init(&s->samples, s->p->samples, s->p->n_samples, s->p->python3, err));
    }
    return dls_evq_init(&s->ends, n, err);
}

static void fini(dls_tir *s)
{
    dls_evq_fini(&s->ends);
    dls_tir_samples_fini(&s->samples);
    for (void *array = s->arrays; array;) {
        void *next = *(void **)array;
        dls_free(array);
        array = next;
    }
}

int32_t dls_tir_arrive(dls_tir *s)
{
    const int32_t j = s->next++;
    s->job[j].status = DLS_JOB_PENDING;
    s->job[j].anchor_s = s->now_s;
    s->pending++;
    s->changes++;
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
    return s->sliced ? DLS_OK
                     : dls_evq_set(&s->ends, (uint32_t)j, dls_tir_end_s(s, j), DLS_EV_FINISH, err);
}

static void stop_running(dls_tir *s, int32_t j)
{
    dls_tir_job *job = &s->job[j];
    job->service_s += s->now_s - job->anchor_s;
    job->executed_s += s->now_s - job->anchor_s;
    s->running--;
    s->busy_gpus -= job->gpus;
    dls_evq_cancel(&s->ends, (uint32_t)j);
}

void dls_tir_suspend(dls_tir *s, int32_t j)
{
    stop_running(s, j);
    s->job[j].anchor_s = s->now_s;
    s->job[j].status = DLS_JOB_PENDING;
    s->job[j].preempts++;
    s->pending++;
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
    s->changes++;
}

int32_t dls_tir_due(dls_tir *s, int64_t t_s, int32_t *out)
{
    int32_t n = 0;
    while (!dls_evq_empty(&s->ends) && dls_tir_next_end(s) == t_s) {
        out[n++] = (int32_t)dls_event_slot(dls_evq_pop(&s->ends)); /* by index */
    }
    for (int32_t i = 0; i < n; i++) {
        const dls_status status = dls_evq_set(&s->ends, (uint32_t)out[i], t_s, DLS_EV_FINISH, NULL);
        DLS_ASSERT(status == DLS_OK); /* there was room for them */
    }
    return n;
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

dls_status dls_tir_advance(dls_tir *s, dls_error *err)
{
    const int64_t arrival_s = dls_tir_next_arrival(s), end_s = dls_tir_next_end(s);
    return dls_tir_clock(s, arrival_s < end_s ? arrival_s : end_s, err);
}

dls_status dls_tir_event(dls_tir *s, dls_error *err)
{
    s->events++;
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
    if (s->events % 1024 == 0) {
        s->stop = s->p->interrupted && s->p->interrupted(s->p->asked);
    }
    return DLS_OK;
}

/* The run is over: fill the record. */
static void close_run(dls_tir *s)
{
    dls_record *rec = s->rec;
    for (int32_t j = 0; j < s->n; j++) {
        dls_tir_job *job = &s->job[j];
        if (job->status == DLS_JOB_PENDING) {
            job->pending_s += s->preemptive ? s->last_s - job->anchor_s : 0;
        } else if (job->status == DLS_JOB_RUNNING) {
            job->service_s += s->last_s - job->anchor_s;
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

static dls_status replay(const dls_tir_family *family, dls_tir *s, dls_error *err)
{
    void *state = dls_tir_array(s, 1, family->size);
    DLS_TRY(dls_tir_arrays_got(s, err));
    dls_status status = family->init(state, s, err);
    while (status == DLS_OK && !s->stop &&
           (s->next < s->n || (s->sliced ? s->running > 0 : !dls_evq_empty(&s->ends)))) {
        status = family->event(state, err);
    }
    if (family->fini) {
        family->fini(state);
    }
    return status;
}

dls_status dls_tir_run(const dls_tir_family *family, int32_t knob2, const dls_tiresias_params *p,
                       const dls_trace *trace, dls_record *rec, dls_error *err)
{
    DLS_OWN(fini) dls_tir s = {.p = p, .trace = trace, .rec = rec, .knob2 = knob2};
    s.n = (int32_t)dls_trace_cols(trace)->n;
    DLS_TRY(init(&s, err));
    DLS_TRY(s.n > 0 ? replay(family, &s, err) : DLS_OK);
    close_run(&s);
    return DLS_OK;
}
