/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs without GPUs: their table, and which of them wait and run.
 */
#include "sched/slurm_cpu.h"

#include "dlsim/memory.h"
#include "sched/slurm_priority.h"
#include "sched/table.h"

#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct reading {
    dls_slurm_cpu *to;
    const dls_view *view;
    dls_slurm_priority *priority;
    const dls_slurm_partitions *partitions;
} reading;

/* Have so many nodes so many processors? */
static bool fits(const dls_place_index *index, const dls_slurm_cpu_job *job, const uint64_t *only)
{
    int32_t left = job->nodes;
    for (int32_t n = 0; n < dls_place_nodes(index) && left > 0; n++) {
        left -= dls_place_free_cpu(index, n) >= job->cpus &&
                dls_place_free_mem(index, n) >= job->mem && (!only || only[n / 64] >> n % 64 & 1);
    }
    return left <= 0;
}

static dls_status read_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    const reading *r = user;
    dls_slurm_cpu *c = r->to;
    dls_slurm_cpu_job j = {.limit_us = -1, .share = -1};
    double cpus, mem;
    if (!dls_sched_table_time(cell[0], &j.submit_us) ||
        !dls_sched_table_time(cell[1], &j.duration_us) || j.duration_us < 0 ||
        (cell[2][0] && (!dls_sched_table_time(cell[2], &j.limit_us) || j.limit_us <= 0))) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected seconds: submit, duration, limit or nothing");
    }
    if (!dls_sched_table_whole(cell[3], 1, 1000000000, &j.nodes) ||
        !dls_sched_table_number(cell[4], 0, 1e9, &cpus) ||
        !dls_sched_table_number(cell[5][0] ? cell[5] : "0", 0, 1e12, &mem)) {
        return dls_fail(err, DLS_EINPUT, where, "expected numbers of nodes, processors and MiB");
    }
    j.cpus = (int64_t)(1e3 * cpus + 0.5);
    j.mem = dls_place_free_mem(dls_view_index(r->view), 0) > 0 ? (int64_t)mem : 0;
    if (c->n > 0 && j.submit_us < c->job[c->n - 1].submit_us) {
        return dls_fail(err, DLS_EINPUT, where, "is earlier than the row before");
    }
    j.partition = dls_slurm_partition_find(r->partitions, cell[8]);
    if (!fits(dls_view_index(r->view), &j, dls_slurm_partition_nodes(r->partitions, j.partition))) {
        dls_policy_fallback(r->view); /* it would block the queue for ever */
        return DLS_OK;
    }
    if (r->priority->multifactor) {
        DLS_TRY(dls_slurm_priority_share(r->priority, cell[7], cell[6], &j.share, err));
    }
    DLS_TRY(dls_grow(&c->job, &c->cap, c->n + 1, sizeof *c->job, err));
    c->job[c->n++] = j;
    return DLS_OK;
}

dls_status dls_slurm_cpu_init(dls_slurm_cpu *c, const dls_view *view, dls_slurm_priority *priority,
                              const dls_slurm_partitions *partitions, const char *path,
                              dls_error *err)
{
    reading r = {c, view, priority, partitions};
    return path[0] ? dls_sched_table_read(path,
                                          "submit,duration,limit,nodes,cpus,mem_mib,user,account,partition",
                                          read_row, &r, err)
                   : DLS_OK;
}

void dls_slurm_cpu_fini(dls_slurm_cpu *c)
{
    DLS_FREE_ALL(c->job, c->waiting, c->running);
}

dls_status dls_slurm_cpu_clone(dls_slurm_cpu *c, const dls_slurm_cpu *from, dls_error *err)
{
    *c = *from;
    return DLS_COPY_ALL(err, DLS_COPY(c->job, from->n, from->cap),
                        DLS_COPY(c->waiting, from->n_waiting, from->waiting_cap),
                        DLS_COPY(c->running, from->n_running, from->running_cap));
}

/* ---- who waits and who runs ------------------------------------------------------------------ */

static int64_t end_of(const dls_slurm_cpu_job *j)
{
    return j->since_us + j->duration_us;
}

dls_status dls_slurm_cpu_advance(dls_slurm_cpu *c, int64_t now_us, bool *events, dls_error *err)
{
    const size_t came = c->next, ran = c->n_running;
    size_t n = 0;
    for (; c->next < c->n && c->job[c->next].submit_us <= now_us; c->next++) {
        DLS_TRY(dls_grow(&c->waiting, &c->waiting_cap, c->n_waiting + 1, sizeof *c->waiting, err));
        c->waiting[c->n_waiting++] = (int32_t)c->next;
    }
    for (size_t i = 0; i < ran; i++) {
        if (end_of(&c->job[c->running[i]]) > now_us) {
            c->running[n++] = c->running[i];
        }
    }
    c->n_running = n;
    *events = c->next > came || n < ran;
    return DLS_OK;
}

int64_t dls_slurm_cpu_next(const dls_slurm_cpu *c)
{
    int64_t next_us = c->next < c->n ? c->job[c->next].submit_us : DLS_NEVER;
    for (size_t i = 0; i < c->n_running; i++) {
        const int64_t end_us = end_of(&c->job[c->running[i]]);
        next_us = end_us < next_us ? end_us : next_us;
    }
    return next_us;
}

dls_status dls_slurm_cpu_start(dls_slurm_cpu *c, int32_t job, int64_t now_us, dls_error *err)
{
    size_t at = 0;
    DLS_TRY(dls_grow(&c->running, &c->running_cap, c->n_running + 1, sizeof *c->running, err));
    while (c->waiting[at] != job) {
        at++;
    }
    c->n_waiting--;
    memmove(c->waiting + at, c->waiting + at + 1, (c->n_waiting - at) * sizeof *c->waiting);
    c->running[c->n_running++] = job;
    c->job[job].since_us = now_us;
    return DLS_OK;
}
