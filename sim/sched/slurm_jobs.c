/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables of jobs and of QoS.
 */
#include "sched/slurm_jobs.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct known {
    const char *id;
    int32_t job;
} known;

typedef struct reading {
    dls_slurm_jobs *to;
    const dls_view *view;
    known *known; /* [n_jobs] of the view, by their ids */
    dls_slurm_reservation_fn find;
    const void *reservations;
    double highest; /* of the priorities of QoS */
} reading;

/* ---- QoS ------------------------------------------------------------------------------------- */

static int32_t find_qos(const dls_slurm_jobs *s, const char *name)
{
    for (size_t i = 0; i < s->n_qos; i++) {
        if (strcmp(s->qos[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* The QoS of that name, with no priority if it had no row yet. */
static dls_status qos_of(dls_slurm_jobs *s, const char *name, const char *where, int32_t *out,
                         dls_error *err)
{
    *out = find_qos(s, name);
    if (*out >= 0) {
        return DLS_OK;
    }
    if (s->n_qos == DLS_SLURM_QOS_MAX || !name[0] || strlen(name) >= sizeof s->qos->name) {
        return dls_fail(err, DLS_EINPUT, where,
                        "no name, one longer than 63 bytes, or more than %d", DLS_SLURM_QOS_MAX);
    }
    DLS_TRY(dls_grow(&s->qos, &s->qos_cap, s->n_qos + 1, sizeof *s->qos, err));
    dls_slurm_qos *q = &s->qos[s->n_qos];
    *q = (dls_slurm_qos){.factor = 0};
    snprintf(q->name, sizeof q->name, "%s", name);
    *out = (int32_t)s->n_qos++;
    return DLS_OK;
}

/* The next of names joined by '+'; NULL: none is left. */
static char *next_name(char **rest)
{
    char *name = *rest;
    if (!name || !*name) {
        return NULL;
    }
    *rest = strchr(name, '+');
    if (*rest) {
        *(*rest)++ = '\0';
    }
    return name;
}

/* An empty cell leaves it as it is. */
static bool set_seconds(const char *cell, int64_t *us)
{
    return !cell[0] || (dls_sched_table_time(cell, us) && *us >= 0);
}

static dls_status qos_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    static const char *const modes[] = {"requeue", "cancel", "none"};
    reading *r = user;
    int32_t which, other, mode = 0;
    double priority;
    DLS_TRY(qos_of(r->to, cell[0], where, &which, err));
    if (!dls_sched_table_number(cell[1], 0, 1e10, &priority)) {
        return dls_fail(err, DLS_EINPUT, where, "expected a priority, not '%s'", cell[1]);
    }
    while (cell[3][0] && mode < 3 && strcmp(cell[3], modes[mode]) != 0) {
        mode++;
    }
    if (mode == 3) {
        return dls_fail(err, DLS_EINPUT, where, "expected requeue, cancel or none, not '%s'", cell[3]);
    }
    r->to->qos[which].mode = mode;
    if (!set_seconds(cell[4], &r->to->qos[which].exempt_us) || !set_seconds(cell[5], &r->to->qos[which].grace_us)) {
        return dls_fail(err, DLS_EINPUT, where, "exempt, grace: expected seconds or nothing");
    }
    char *rest = cell[2], *name;
    while ((name = next_name(&rest))) {
        DLS_TRY(qos_of(r->to, name, where, &other, err));
        r->to->qos[which].preempts |= UINT64_C(1) << other;
    }
    r->to->qos[which].factor = priority;
    r->highest = priority > r->highest ? priority : r->highest;
    return DLS_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

DLS_BY(by_id, known, strcmp(x->id, y->id));

/* -1: the trace has none of that id. */
static int32_t job_of(const reading *r, const char *id)
{
    const known want = {id, -1},
                *found = bsearch(&want, r->known, r->to->n_jobs, sizeof want, by_id);
    return found ? found->job : -1;
}

static dls_status add_one(dls_slurm_jobs *s, dls_slurm_named *j, int32_t other, dls_error *err)
{
    if (other >= 0 && other != j->job) {
        DLS_TRY(dls_grow(&s->after, &s->after_cap, s->n_after + 1, sizeof *s->after, err));
        s->after[s->n_after++] = other;
        j->n++;
    }
    return DLS_OK;
}

/* Those that it waits for: jobs, and all tasks (ID_1, ID_2, ..) of an array. */
static dls_status add_after(const reading *r, dls_slurm_named *j, char *ids, dls_error *err)
{
    dls_slurm_jobs *s = r->to;
    char *id, task[128];
    j->first = (int32_t)s->n_after;
    while ((id = next_name(&ids))) {
        DLS_TRY(add_one(s, j, job_of(r, id), err));
        const int len = snprintf(task, sizeof task, "%s_", id);
        size_t i;
        DLS_BISECT(i, s->n_jobs, strcmp(r->known[i].id, task) < 0);
        for (; len < (int)sizeof task && i < s->n_jobs && strncmp(r->known[i].id, task, (size_t)len) == 0; i++) {
            DLS_TRY(add_one(s, j, r->known[i].job, err));
        }
    }
    return DLS_OK;
}

static dls_status job_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    const reading *r = user;
    dls_slurm_jobs *s = r->to;
    dls_slurm_named j = {
        .job = job_of(r, cell[0]), .qos = -1, .reservation = -1, .told_us = DLS_ABSENT, .cpus = -1};
    double cpus;
    if (cell[1][0]) {
        if (!dls_sched_table_number(cell[1], 0, 1e9, &cpus)) {
            return dls_fail(err, DLS_EINPUT, where, "expected processors, not '%s'", cell[1]);
        }
        j.cpus = (int64_t)(1e3 * cpus + 0.5);
    }
    j.killed = strcmp(cell[5], "no") == 0;
    if (cell[5][0] && !j.killed) {
        return dls_fail(err, DLS_EINPUT, where, "requeue: expected no or nothing, not '%s'", cell[5]);
    }
    if (j.job < 0) {
        return DLS_OK;
    }
    if (s->of[j.job] >= 0) {
        return dls_fail(err, DLS_EINPUT, where, "job '%s' stands there twice", cell[0]);
    }
    j.qos = find_qos(s, cell[2]);
    j.reservation = cell[3][0] ? r->find(r->reservations, cell[3]) : -1;
    DLS_TRY(add_after(r, &j, cell[4], err));
    DLS_TRY(dls_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, err));
    s->of[j.job] = (int32_t)s->n;
    s->at[s->n++] = j;
    return DLS_OK;
}

/* Copies of jobs (of a what-if with more load) have their QoS and ask for as much; they come at another
 * time, so nothing holds of reservations and of what they waited for. */
static dls_status add_copies(const reading *r, dls_error *err)
{
    dls_slurm_jobs *s = r->to;
    for (size_t i = 0; i < s->n_jobs; i++) {
        const char *origin = dls_view_name(r->view, DLS_NAME_ORIGIN, r->known[i].job);
        const int32_t of = *origin ? job_of(r, origin) : -1, row = of >= 0 ? s->of[of] : -1;
        if (row >= 0 && s->of[r->known[i].job] < 0) {
            DLS_TRY(dls_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, err));
            s->of[r->known[i].job] = (int32_t)s->n;
            s->at[s->n] = s->at[row];
            s->at[s->n].job = r->known[i].job;
            s->at[s->n].reservation = -1;
            s->at[s->n++].n = 0;
        }
    }
    return DLS_OK;
}

/* Of a walk along what jobs wait for. */
typedef struct step {
    int32_t at, next; /* in s->at[]; of those that it waits for, the next to look at */
} step;

/* Depth first from a job: *again is met on the way from itself, last waits for it; -1: none is. */
static void follow(const dls_slurm_jobs *s, int32_t from, step *way, uint8_t *seen, int32_t *last, int32_t *again)
{
    size_t n = 0;
    way[n++] = (step){from, 0};
    seen[from] = 1;
    while (n > 0) {
        step *here = &way[n - 1];
        const dls_slurm_named *j = &s->at[here->at];
        if (here->next == j->n) {
            seen[here->at] = 2;
            n--;
            continue;
        }
        const int32_t k = s->of[s->after[j->first + here->next++]];
        if (k >= 0 && seen[k] == 1) {
            *last = here->at;
            *again = k;
            return;
        }
        if (k >= 0 && seen[k] == 0) {
            seen[k] = 1;
            way[n++] = (step){k, 0};
        }
    }
}

/* Jobs that wait for each other would wait for ever. */
static dls_status refuse_circles(const reading *r, const char *path, dls_error *err)
{
    const dls_slurm_jobs *s = r->to;
    step *way;
    uint8_t *seen;
    int32_t last = -1, again = -1;
    const dls_status status = DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(way, s->n + 1), DLS_ARRAY(seen, s->n + 1));
    for (size_t i = 0; status == DLS_OK && i < s->n && again < 0; i++) {
        if (seen[i] == 0) {
            follow(s, (int32_t)i, way, seen, &last, &again);
        }
    }
    DLS_FREE_ALL(way, seen);
    return again < 0 ? status
                     : dls_fail(err, DLS_EINPUT, path, "job '%.100s' waits for job '%.100s', which waits for it",
                                dls_view_name(r->view, DLS_NAME_ID, s->at[last].job),
                                dls_view_name(r->view, DLS_NAME_ID, s->at[again].job));
}

static dls_status read_jobs(reading *r, const char *path, dls_error *err)
{
    dls_slurm_jobs *s = r->to;
    s->n_jobs = (size_t)r->view->n_jobs;
    DLS_TRY(DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(s->of, s->n_jobs + 1),
                          DLS_ARRAY(s->waits, s->n_jobs + 1), DLS_ARRAY(r->known, s->n_jobs + 1)));
    for (int32_t j = 0; j < r->view->n_jobs; j++) {
        s->of[j] = -1;
        r->known[j] = (known){dls_view_name(r->view, DLS_NAME_ID, j), j};
    }
    qsort(r->known, s->n_jobs, sizeof *r->known, by_id);
    DLS_TRY(dls_sched_table_read(path, "job,cpus,qos,reservation,after[,requeue]", job_row, r, err));
    DLS_TRY(add_copies(r, err));
    return refuse_circles(r, path, err);
}

dls_status dls_slurm_jobs_init(dls_slurm_jobs *s, const dls_view *view, const char *qos_path,
                               const char *path, dls_slurm_reservation_fn find,
                               const void *reservations, dls_error *err)
{
    reading r = {.to = s, .view = view, .find = find, .reservations = reservations};
    if (qos_path[0]) {
        DLS_TRY(dls_sched_table_read(qos_path, "qos,priority,preempts[,mode,exempt,grace]", qos_row, &r, err));
    }
    for (size_t i = 0; i < s->n_qos && r.highest > 0; i++) {
        s->qos[i].factor /= r.highest;
    }
    const dls_status status = path[0] ? read_jobs(&r, path, err) : DLS_OK;
    dls_free(r.known);
    return status;
}

void dls_slurm_jobs_fini(dls_slurm_jobs *s)
{
    DLS_FREE_ALL(s->qos, s->at, s->after, s->of, s->waits);
}

dls_status dls_slurm_jobs_clone(dls_slurm_jobs *s, const dls_slurm_jobs *from, dls_error *err)
{
    *s = *from;
    return DLS_COPY_ALL(err, DLS_COPY(s->qos, from->n_qos, from->qos_cap), DLS_COPY(s->at, from->n, from->cap),
                        DLS_COPY(s->after, from->n_after, from->after_cap),
                        DLS_COPY(s->waits, from->n_jobs, from->n_jobs + 1),
                        DLS_COPY(s->of, from->n_jobs, from->n_jobs + 1));
}

void dls_slurm_jobs_look(dls_slurm_jobs *s, const dls_view *view)
{
    if (s->n_after == 0) {
        return;
    }
    s->looks++;
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        s->waits[j] = s->looks;
    }
}

bool dls_slurm_job_depends(const dls_slurm_jobs *s, const dls_view *view, int32_t job)
{
    const dls_slurm_named *j = dls_slurm_job(s, job);
    for (int32_t k = 0; j && k < j->n; k++) {
        const int32_t other = s->after[j->first + k];
        if (view->submit_us[other] > view->now_us || view->running[other] ||
            s->waits[other] == s->looks) {
            return true;
        }
    }
    return false;
}
