/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/record.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <string.h>

dls_status dls_record_create(size_t n_jobs, dls_record **out, dls_error *err)
{
    dls_record *rec = dls_alloc_zero(1, sizeof *rec);
    if (!rec) {
        return dls_nomem(err, "run record", sizeof *rec);
    }
    rec->n_jobs = n_jobs;
    rec->want_allocs = rec->want_series = true;
    rec->state = dls_alloc_zero(n_jobs, sizeof *rec->state);
    rec->start_us = dls_alloc_zero(n_jobs, sizeof *rec->start_us);
    rec->end_us = dls_alloc_zero(n_jobs, sizeof *rec->end_us);
    rec->pending_us = dls_alloc_zero(n_jobs, sizeof *rec->pending_us);
    rec->executed_us = dls_alloc_zero(n_jobs, sizeof *rec->executed_us);
    rec->overhead_us = dls_alloc_zero(n_jobs, sizeof *rec->overhead_us);
    rec->preempts = dls_alloc_zero(n_jobs, sizeof *rec->preempts);
    rec->resumes = dls_alloc_zero(n_jobs, sizeof *rec->resumes);
    rec->promotes = dls_alloc_zero(n_jobs, sizeof *rec->promotes);
    if (!rec->state || !rec->start_us || !rec->end_us || !rec->pending_us || !rec->executed_us ||
        !rec->overhead_us || !rec->preempts || !rec->resumes || !rec->promotes) {
        dls_record_destroy(rec);
        return dls_nomem(err, "run record", n_jobs * 53);
    }
    for (size_t i = 0; i < n_jobs; i++) {
        rec->start_us[i] = rec->end_us[i] = -1;
    }
    *out = rec;
    return DLS_OK;
}

dls_status dls_record_want_elastic(dls_record *rec, dls_error *err)
{
    rec->gpu_us = dls_alloc_zero(rec->n_jobs, sizeof *rec->gpu_us);
    rec->gpu_restore_us = dls_alloc_zero(rec->n_jobs, sizeof *rec->gpu_restore_us);
    return rec->gpu_us && rec->gpu_restore_us
               ? DLS_OK
               : dls_nomem(err, "run record", 2 * rec->n_jobs * sizeof *rec->gpu_us);
}

dls_status dls_record_want_guests(dls_record *rec, dls_error *err)
{
    rec->guest_us = dls_alloc_zero(rec->n_jobs, sizeof *rec->guest_us);
    return rec->guest_us ? DLS_OK
                         : dls_nomem(err, "run record", rec->n_jobs * sizeof *rec->guest_us);
}

dls_status dls_record_want_fastest(dls_record *rec, dls_error *err)
{
    rec->fastest_us = dls_alloc_zero(rec->n_jobs, sizeof *rec->fastest_us);
    if (!rec->fastest_us) {
        return dls_nomem(err, "run record", rec->n_jobs * sizeof *rec->fastest_us);
    }
    for (size_t i = 0; i < rec->n_jobs; i++) {
        rec->fastest_us[i] = -1;
    }
    return DLS_OK;
}

dls_status dls_record_want_failures(dls_record *rec, dls_error *err)
{
    rec->failures = dls_alloc_zero(rec->n_jobs, sizeof *rec->failures);
    rec->lost_us = dls_alloc_zero(rec->n_jobs, sizeof *rec->lost_us);
    return rec->failures && rec->lost_us
               ? DLS_OK
               : dls_nomem(err, "run record", rec->n_jobs * sizeof *rec->lost_us);
}

/* Every column: where its pointer and its number of rows, and of rows that there is room for, are. */
static const struct column {
    size_t at, size, n, cap;
} all_columns[] = {
#define COLUMN(member, rows, room)                                                                 \
    {offsetof(dls_record, member), sizeof *((dls_record *)0)->member, offsetof(dls_record, rows),   \
     offsetof(dls_record, room)},
#define JOB(member) COLUMN(member, n_jobs, n_jobs)
#define ROW(table, member) COLUMN(table.member, table.n, table.cap)
    JOB(state) JOB(start_us) JOB(end_us) JOB(pending_us) JOB(executed_us) JOB(overhead_us)
    JOB(preempts) JOB(resumes) JOB(promotes) JOB(guest_us) JOB(failures) JOB(lost_us)
    JOB(fastest_us) JOB(gpu_us) JOB(gpu_restore_us)
    ROW(allocs, job) ROW(allocs, node) ROW(allocs, start_us) ROW(allocs, end_us)
    ROW(allocs, gpu_mask) ROW(allocs, gpus) ROW(allocs, rate) ROW(allocs, guest)
    ROW(starts, job) ROW(starts, host) ROW(starts, type) ROW(starts, n_nodes) ROW(starts, n_racks)
    ROW(starts, start_us) ROW(starts, end_us) ROW(starts, left_us) ROW(starts, work_us)
    ROW(starts, executed_us) ROW(starts, iteration_s) ROW(starts, remaining_s)
    ROW(world, t_us) ROW(world, failed_gpus) ROW(world, guests) ROW(world, nic_mean)
    ROW(world, nic_max) ROW(world, uplink_mean) ROW(world, uplink_max)
    ROW(series, t_us) ROW(series, busy_gpus) ROW(series, running_jobs) ROW(series, pending_jobs)
    ROW(series, finished_jobs) ROW(series, busy_nodes) ROW(series, full_nodes)
#undef ROW
#undef JOB
#undef COLUMN
};

static void *column_of(const dls_record *rec, size_t i)
{
    void *data;
    memcpy(&data, (const char *)rec + all_columns[i].at, sizeof data);
    return data;
}

void dls_record_destroy(dls_record *rec)
{
    if (!rec) {
        return;
    }
    for (size_t i = 0; i < sizeof all_columns / sizeof all_columns[0]; i++) {
        dls_free(column_of(rec, i));
    }
    dls_free(rec);
}

dls_status dls_record_copy(const dls_record *from, dls_record **out, dls_error *err)
{
    dls_record *rec;
    DLS_TRY(dls_duplicate(&rec, from, 1, 1, sizeof *rec, err));
    dls_status status = DLS_OK;
    for (size_t i = 0; i < sizeof all_columns / sizeof all_columns[0]; i++) {
        const struct column *c = &all_columns[i];
        size_t n, cap;
        memcpy(&n, (const char *)from + c->n, sizeof n);
        memcpy(&cap, (const char *)from + c->cap, sizeof cap);
        const void *data = status == DLS_OK ? column_of(from, i) : NULL; /* the rest is no copy's */
        dls_error *why = status == DLS_OK ? err : NULL;
        const dls_status one = dls_duplicate((char *)rec + c->at, data, n, cap, c->size, why);
        status = status == DLS_OK ? one : status;
    }
    if (status != DLS_OK) {
        dls_record_destroy(rec);
        return status;
    }
    *out = rec;
    return DLS_OK;
}

/* Make room for one more row in every column of a table that shares one capacity. */
static dls_status grow_all(void *const *columns, const size_t *sizes, size_t n_columns, size_t n,
                           size_t *cap, dls_error *err)
{
    size_t grown = *cap;
    for (size_t i = 0; n >= *cap && i < n_columns; i++) {
        grown = *cap;
        DLS_TRY(dls_grow(columns[i], &grown, n + 1, sizes[i], err));
    }
    *cap = grown;
    return DLS_OK;
}

static dls_status grow_allocs(dls_alloc_rows *a, dls_error *err)
{
    void *const columns[] = {&a->job,      &a->node, &a->start_us, &a->end_us,
                             &a->gpu_mask, &a->gpus, &a->rate,     &a->guest};
    static const size_t sizes[] = {4, 4, 8, 8, 8, 4, 4, 1};
    return grow_all(columns, sizes, 8, a->n, &a->cap, err);
}

dls_status dls_record_alloc_row(dls_record *rec, int32_t job, int32_t node, int64_t start_us,
                                uint64_t gpu_mask, int32_t gpus, float rate, size_t *row,
                                dls_error *err)
{
    dls_alloc_rows *a = &rec->allocs;
    if (a->n >= a->cap) {
        DLS_TRY(grow_allocs(a, err));
    }
    a->job[a->n] = job;
    a->node[a->n] = node;
    a->start_us[a->n] = start_us;
    a->end_us[a->n] = -1;
    a->gpu_mask[a->n] = gpu_mask;
    a->gpus[a->n] = gpus;
    a->rate[a->n] = rate;
    a->guest[a->n] = 0;
    *row = a->n++;
    return DLS_OK;
}

static dls_status grow_series(dls_series_rows *s, dls_error *err)
{
    void *const columns[] = {&s->t_us,         &s->busy_gpus,     &s->running_jobs,
                             &s->pending_jobs, &s->finished_jobs, &s->busy_nodes,
                             &s->full_nodes};
    static const size_t sizes[] = {8, 4, 4, 4, 4, 4, 4};
    return grow_all(columns, sizes, 7, s->n, &s->cap, err);
}

dls_status dls_record_series(dls_record *rec, const dls_series_point *p, dls_error *err)
{
    dls_series_rows *s = &rec->series;
    size_t at = s->n;
    if (at > 0) {
        const size_t last = at - 1;
        if (s->busy_gpus[last] == p->busy_gpus && s->running_jobs[last] == p->running_jobs &&
            s->pending_jobs[last] == p->pending_jobs &&
            s->finished_jobs[last] == p->finished_jobs && s->busy_nodes[last] == p->busy_nodes &&
            s->full_nodes[last] == p->full_nodes) {
            return DLS_OK;
        }
        if (s->t_us[last] == p->t_us) {
            at = last;
        }
    }
    if (at == s->n) {
        if (s->n >= s->cap) {
            DLS_TRY(grow_series(s, err));
        }
        s->n++;
    }
    s->t_us[at] = p->t_us;
    s->busy_gpus[at] = p->busy_gpus;
    s->running_jobs[at] = p->running_jobs;
    s->pending_jobs[at] = p->pending_jobs;
    s->finished_jobs[at] = p->finished_jobs;
    s->busy_nodes[at] = p->busy_nodes;
    s->full_nodes[at] = p->full_nodes;
    return DLS_OK;
}

dls_status dls_record_start_row(dls_record *rec, int32_t job, int64_t start_us, size_t *row,
                                dls_error *err)
{
    dls_start_rows *s = &rec->starts;
    void *const columns[] = {&s->job,     &s->host,    &s->type,    &s->n_nodes,
                             &s->n_racks, &s->start_us, &s->end_us, &s->left_us,
                             &s->work_us, &s->executed_us, &s->iteration_s, &s->remaining_s};
    static const size_t sizes[] = {4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 4, 4};
    DLS_TRY(grow_all(columns, sizes, 12, s->n, &s->cap, err));
    s->job[s->n] = job;
    s->start_us[s->n] = start_us;
    s->end_us[s->n] = -1;
    *row = s->n++;
    return DLS_OK;
}

dls_status dls_record_world(dls_record *rec, const dls_world_point *p, dls_error *err)
{
    dls_world_rows *w = &rec->world;
    size_t at = w->n;
    if (at > 0) {
        const size_t last = at - 1;
        const float now[] = {p->nic_mean, p->nic_max, p->uplink_mean, p->uplink_max};
        const float then[] = {w->nic_mean[last], w->nic_max[last], w->uplink_mean[last],
                              w->uplink_max[last]};
        if (w->failed_gpus[last] == p->failed_gpus && w->guests[last] == p->guests &&
            memcmp(now, then, sizeof now) == 0) {
            return DLS_OK;
        }
        if (w->t_us[last] == p->t_us) {
            at = last;
        }
    }
    if (at == w->n) {
        void *const columns[] = {&w->t_us,    &w->failed_gpus, &w->guests,    &w->nic_mean,
                                 &w->nic_max, &w->uplink_mean, &w->uplink_max};
        static const size_t sizes[] = {8, 4, 4, 4, 4, 4, 4};
        DLS_TRY(grow_all(columns, sizes, 7, w->n, &w->cap, err));
        w->n++;
    }
    w->t_us[at] = p->t_us;
    w->failed_gpus[at] = p->failed_gpus;
    w->guests[at] = p->guests;
    w->nic_mean[at] = p->nic_mean;
    w->nic_max[at] = p->nic_max;
    w->uplink_mean[at] = p->uplink_mean;
    w->uplink_max[at] = p->uplink_max;
    return DLS_OK;
}

uint64_t dls_record_digest(const dls_record *rec)
{
    uint64_t h = dls_mix64(rec->n_jobs);
    for (size_t i = 0; i < rec->n_jobs; i++) {
        const uint64_t fields[] = {
            rec->state[i],
            (uint64_t)rec->start_us[i],
            (uint64_t)rec->end_us[i],
            (uint64_t)rec->pending_us[i],
            (uint64_t)rec->executed_us[i],
            (uint64_t)rec->overhead_us[i],
            (uint64_t)(uint32_t)rec->preempts[i],
            (uint64_t)(uint32_t)rec->resumes[i],
            (uint64_t)(uint32_t)rec->promotes[i],
        };
        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
            h = dls_mix64(h ^ fields[k]);
        }
    }
    return h;
}
