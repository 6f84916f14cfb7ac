/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's multifactor priority: usage that decays, the fair tree over accounts and users, age and
 * size.
 */
#include "sched/slurm_priority.h"

#include "dlsim/memory.h"
#include "sched/slurm_clock.h"
#include "sched/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares ---------------------------------------------------------------------------------- */

static int32_t find(const dls_slurm_priority *p, const char *account, const char *user)
{
    for (size_t i = 0; i < p->n; i++) {
        const dls_slurm_share *s = &p->share[i];
        if (s->user == (user[0] != '\0') && strcmp(s->name, user) == 0 &&
            (!account || strcmp(s->account, account) == 0)) {
            return (int32_t)i;
        }
    }
    return -1;
}

static dls_status add(dls_slurm_priority *p, int32_t parent, const char *account, const char *user,
                      double shares, dls_error *err)
{
    DLS_TRY(dls_grow(&p->share, &p->cap, p->n + 1, sizeof *p->share, err));
    dls_slurm_share *s = &p->share[p->n];
    *s = (dls_slurm_share){.parent = parent, .child = -1, .next = -1, .shares = shares};
    s->user = user[0] != '\0';
    snprintf(s->account, sizeof s->account, "%s", account);
    snprintf(s->name, sizeof s->name, "%s", user);
    if (parent >= 0) {
        s->next = p->share[parent].child;
        p->share[parent].child = (int32_t)p->n;
    }
    p->n_users += s->user;
    p->n++;
    return DLS_OK;
}

static dls_status read_row(void *priority, char *const *cell, const char *where, dls_error *err)
{
    dls_slurm_priority *p = priority;
    double shares = (double)NAN;
    if (strcmp(cell[2], "parent") != 0 && !dls_sched_table_number(cell[2], 0, 1e15, &shares)) {
        return dls_fail(err, DLS_EINPUT, where, "shares: expected a number or `parent`, not '%s'",
                        cell[2]);
    }
    if (!cell[0][0] || strlen(cell[0]) > 63 || strlen(cell[1]) > 63) {
        return dls_fail(err, DLS_EINPUT, where, "no account, or a name longer than 63 bytes");
    }
    const int32_t account = strcmp(cell[0], "root") == 0 ? 0 : find(p, cell[0], "");
    if (find(p, cell[0], cell[1]) >= 0 || (account == 0 && !cell[1][0])) {
        return dls_fail(err, DLS_EINPUT, where, "stands there twice");
    }
    if (cell[1][0] && account < 0) {
        return dls_fail(err, DLS_EINPUT, where,
                        "the row of account '%s' must stand before its users", cell[0]);
    }
    return add(p, cell[1][0] ? account : 0, cell[0], cell[1], shares, err);
}

dls_status dls_slurm_priority_share(dls_slurm_priority *p, const char *account, const char *user,
                                    int32_t *share, dls_error *err)
{
    user = user[0] ? user : "nobody";
    *share = account[0] ? find(p, account, user) : -1;
    *share = *share >= 0 ? *share : find(p, NULL, user);
    if (*share < 0) { /* not in the table, or there is none: a share like any other, beside the
                         accounts */
        *share = (int32_t)p->n;
        DLS_TRY(add(p, 0, account[0] ? account : "root", user, 1, err));
    }
    return dls_grow(&p->room, &p->room_cap, 2 * p->n, sizeof *p->room, err);
}

static dls_status bind_jobs(dls_slurm_priority *p, const dls_view *view, dls_error *err)
{
    const int32_t *class = view->job_class;
    for (int32_t j = 0; j < view->n_jobs; j++) {
        const char *user = view->user ? dls_view_name(view, DLS_NAME_USER, view->user[j]) : "";
        const char *account = class ? dls_view_name(view, DLS_NAME_CLASS, class[j]) : "";
        DLS_TRY(dls_slurm_priority_share(p, account, user, &p->share_of[j], err));
        p->value[j] = -1;
    }
    return DLS_OK;
}

dls_status dls_slurm_priority_init(dls_slurm_priority *p, const dls_view *view, const char *path,
                                   dls_error *err)
{
    const size_t n = (size_t)view->n_jobs;
    if (!p->multifactor) {
        return DLS_OK;
    }
    DLS_TRY(DLS_ALLOC_ALL("shares", err, DLS_ARRAY(p->share_of, n), DLS_ARRAY(p->value, n)));
    DLS_TRY(add(p, -1, "root", "", 1, err));
    if (path && path[0]) {
        DLS_TRY(dls_sched_table_read(path, "account,user,shares", read_row, p, err));
    }
    return bind_jobs(p, view, err);
}

void dls_slurm_priority_fini(dls_slurm_priority *p)
{
    DLS_FREE_ALL(p->share, p->share_of, p->value, p->room);
}

dls_status dls_slurm_priority_clone(dls_slurm_priority *p, const dls_slurm_priority *from,
                                    const dls_view *view, dls_error *err)
{
    const size_t n = (size_t)view->n_jobs;
    *p = *from;
    p->room = NULL; /* scratch */
    p->room_cap = 0;
    DLS_TRY(DLS_COPY_ALL(err, DLS_COPY(p->share, from->n, from->cap), DLS_COPY(p->share_of, n, n),
                         DLS_COPY(p->value, n, n)));
    return dls_grow(&p->room, &p->room_cap, 2 * p->n, sizeof *p->room, err);
}

/* ---- the fair tree --------------------------------------------------------------------------- */

DLS_BY(highest_first, dls_slurm_ranked, DLS_DOWN(tier), DLS_DOWN(value), DLS_UP(account), DLS_UP(id));

/* Shares over usage, each as a part of what the siblings have. */
static void set_levels(dls_slurm_priority *p, int32_t parent)
{
    double shares = 0, usage = 0;
    for (int32_t i = p->share[parent].child; i >= 0; i = p->share[i].next) {
        shares += isnan(p->share[i].shares) ? 0 : p->share[i].shares;
        usage += p->share[i].usage;
    }
    for (int32_t i = p->share[parent].child; i >= 0; i = p->share[i].next) {
        dls_slurm_share *s = &p->share[i];
        const double part = isnan(s->shares) ? 1 : shares > 0 ? s->shares / shares : 0;
        const double used = isnan(s->shares) || usage <= 0 ? 0 : s->usage / usage;
        s->level = used > 0 ? part / used : part > 0 ? HUGE_VAL : 0;
    }
}

/* The next rank, and that of the user before, which who is equal to it shares. */
typedef struct ranking {
    int32_t next, shared;
} ranking;

/* Ranks of the users below. A tie with an account is one with its best user (`tied`: the parent is
 * equal to what stands before it). */
static void rank_below(dls_slurm_priority *p, int32_t parent, dls_slurm_ranked *room, ranking *r,
                       bool tied)
{
    int32_t n = 0;
    set_levels(p, parent);
    for (int32_t i = p->share[parent].child; i >= 0; i = p->share[i].next) {
        room[n++] = (dls_slurm_ranked){p->share[i].level, i, !p->share[i].user, 0};
    }
    qsort(room, (size_t)n, sizeof *room, highest_first);
    for (int32_t k = 0; k < n; k++) {
        dls_slurm_share *s = &p->share[room[k].id];
        tied = k > 0 ? room[k - 1].value == s->level : tied;
        if (s->user) {
            r->shared = tied ? r->shared : r->next;
            s->factor = (double)r->shared / p->n_users;
            r->next--;
        } else {
            rank_below(p, room[k].id, room + n, r, tied);
        }
    }
}

/* ---- priorities ------------------------------------------------------------------------------ */

static double size_of(const dls_slurm_priority *p, const dls_view *view, int32_t job)
{
    return p->by_cpu ? 1e-3 * (double)dls_view_cpu_per_gpu(view, job) * view->gpus[job]
                     : view->gpus[job];
}


/* What a running job has used since the last calculation. Slurm 22.05 counts those that run when it
 * calculates: what jobs that ended since have used is lost. */
static void count_usage(dls_slurm_priority *p, int64_t now_us, int64_t since_us, double size,
                        int32_t share, double decay)
{
    const int64_t start_us = dls_slurm_whole_s(since_us);
    const double run_s =
        1e-6 * (double)(dls_slurm_whole_s(now_us) - (start_us > p->last_us ? start_us : p->last_us));
    const double used = run_s * size * pow(decay, run_s);
    for (int32_t i = share; i >= 0; i = p->share[i].parent) {
        p->share[i].usage += used;
    }
}

/* What a priority is made of beside the time. */
typedef struct asked {
    int64_t submit_us;
    double nodes, cpus; /* that it asked for, which may be fewer than it gets */
    int32_t share, partition;
    double qos; /* its factor */
} asked;

/* As of the last calculation; a job that came since has waited for nothing. */
static double value_of(const dls_slurm_priority *p, const dls_view *view,
                       const dls_slurm_partitions *partitions, const asked *a)
{
    const int64_t waited_us = p->last_us - dls_slurm_whole_s(a->submit_us);
    const double waited = fmax(0, (double)waited_us / (double)p->max_age_us);
    double part = a->nodes / dls_place_nodes(dls_view_index(view));
    if (p->cluster_cpus > 0) {
        part = (part + a->cpus / p->cluster_cpus) / 2;
    }
    return floor(p->weight_age * fmin(1, waited) + p->weight_size * part +
                 p->weight_fair * p->share[a->share].factor + p->weight_qos * a->qos +
                 p->weight_partition * dls_slurm_partition_factor(partitions, a->partition));
}

static void set_priority(dls_slurm_priority *p, const dls_view *view, const dls_slurm_jobs *jobs,
                         const dls_slurm_partitions *partitions, int32_t job)
{
    const double most = dls_place_max_gpus(dls_view_index(view), 0);
    const int64_t nodes = view->nodes ? view->nodes[job] : DLS_ABSENT;
    const dls_slurm_named *known = dls_slurm_job(jobs, job);
    const asked a = {.submit_us = view->submit_us[job],
                     .nodes = nodes > 0 ? (double)nodes : ceil(view->gpus[job] / most),
                     .cpus = known && known->cpus >= 0 && !known->tested ? 1e-3 * (double)known->cpus
                                                       : size_of(p, view, job),
                     .share = p->share_of[job],
                     .partition = dls_slurm_partition_of(partitions, job),
                     .qos = dls_slurm_qos_factor(jobs, job)};
    p->value[job] = value_of(p, view, partitions, &a);
}

static double cpu_size_of(const dls_slurm_priority *p, const dls_slurm_cpu_job *job)
{
    return p->by_cpu ? 1e-3 * (double)job->cpus * job->nodes : 0;
}

static void set_cpu_priorities(const dls_slurm_priority *p, const dls_view *view,
                               dls_slurm_cpu *cpu, const dls_slurm_partitions *partitions)
{
    for (size_t i = 0; i < cpu->n_waiting; i++) {
        dls_slurm_cpu_job *j = &cpu->job[cpu->waiting[i]];
        const asked a = {j->submit_us, j->nodes, cpu_size_of(p, j), j->share, j->partition, 0};
        j->value = value_of(p, view, partitions, &a);
    }
}

void dls_slurm_priority_calculate(dls_slurm_priority *p, const dls_view *view, dls_slurm_cpu *cpu,
                                  const dls_slurm_jobs *jobs,
                                  const dls_slurm_partitions *partitions)
{
    if (view->now_us < p->next_us) {
        return;
    }
    const int64_t now_us = dls_slurm_whole_s(view->now_us);
    const double half_life_s = 1e-6 * (double)p->half_life_us;
    const double decay =
        half_life_s > 0 ? 1 - 0.693 / half_life_s : 1; /* a second, as Slurm has it */
    const double left = pow(decay, 1e-6 * (double)(now_us - p->last_us));
    ranking ranks = {p->n_users, p->n_users};
    for (size_t i = 0; i < p->n; i++) {
        p->share[i].usage *= left;
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        count_usage(p, view->now_us, view->since_us[j], size_of(p, view, j), p->share_of[j], decay);
    }
    for (size_t i = 0; i < cpu->n_running; i++) {
        const dls_slurm_cpu_job *j = &cpu->job[cpu->running[i]];
        count_usage(p, view->now_us, j->since_us, cpu_size_of(p, j), j->share, decay);
    }
    rank_below(p, 0, p->room, &ranks, false);
    p->last_us = now_us;
    p->next_us += (view->now_us - p->next_us) / p->calc_us * p->calc_us + p->calc_us;
    for (int32_t j = dls_slurm_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        set_priority(p, view, jobs, partitions, j);
    }
    set_cpu_priorities(p, view, cpu, partitions);
}

void dls_slurm_priority_look(dls_slurm_priority *p, const dls_view *view, dls_slurm_cpu *cpu,
                             const dls_slurm_jobs *jobs, const dls_slurm_partitions *partitions)
{
    int32_t j = p->multifactor ? dls_slurm_first_waiting(view) : -1;
    if (p->multifactor) {
        set_cpu_priorities(p, view, cpu, partitions);
    }
    for (; j >= 0; j = dls_view_next_waiting(view, j)) {
        if (p->value[j] < 0) {
            set_priority(p, view, jobs, partitions, j);
        }
    }
}

dls_status dls_slurm_priority_sort(dls_slurm_priority *p, const dls_slurm_cpu *cpu,
                                   const dls_slurm_partitions *partitions, int32_t n_jobs,
                                   int32_t *job, size_t n, dls_error *err)
{
    if ((!p->multifactor && partitions->n == 0) || n < 2) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&p->room, &p->room_cap, n, sizeof *p->room, err));
    for (size_t i = 0; i < n; i++) {
        const dls_slurm_cpu_job *c = job[i] < n_jobs ? NULL : &cpu->job[job[i] - n_jobs];
        const int32_t which = c ? c->partition : dls_slurm_partition_of(partitions, job[i]);
        p->room[i] = (dls_slurm_ranked){.value = !p->multifactor ? 0
                                                 : c             ? c->value
                                                                 : p->value[job[i]],
                                        .id = (int32_t)i,
                                        .tier = dls_slurm_partition_tier(partitions, which)};
    }
    qsort(p->room, n, sizeof *p->room, highest_first);
    for (size_t i = 0; i < n; i++) {
        p->room[i].value = job[p->room[i].id];
    }
    for (size_t i = 0; i < n; i++) {
        job[i] = (int32_t)p->room[i].value;
    }
    return DLS_OK;
}
