/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Themis in Muri's simulator: the part x of its time that each job is to run follows from a
 * program,
 *
 *      minimise the largest (now - submit + R tau / x) / (isolated + R / share)
 *      sum over jobs of GPUs x <= GPUs,   0 < x <= 1,   share = min(1, ceil(GPUs / jobs) / GPUs of the job)
 *
 * R iterations of tau seconds being left, and `isolated` what the quotients of iterations done and
 * share have added up to (where seconds are meant). Jobs run in the order of x over the time that
 * they have run. The authors solve it by an interior-point program, which takes one of many optima.
 * This one is unique: of those the smallest second largest, and so on, which gives all jobs below
 * x = 1 the same quotient.
 */
#include "muri/core.h"

#include "base/alloc.h"

#include <math.h>

typedef struct themis {
    double *isolated, *left, *share; /* [jobs] up to the last decision, and what there was at it */
    double *part, *deficit;          /* [jobs] x; seconds that it should have run and has not */
    double *ran;                     /* [jobs] at the last decision */
    double *key;                     /* [jobs] scratch */
    double decided_s;
} themis;

static dls_status open_themis(dls_muri *m, dls_error *err)
{
    const size_t n = (size_t)m->n + 1;
    themis *t;
    DLS_TRY(dls_alloc_array(&t, 1, sizeof *t + 7 * n * sizeof(double), "fair shares", err));
    double **const columns[] = {&t->isolated, &t->left, &t->share, &t->part,
                                &t->deficit,  &t->ran,  &t->key};
    for (size_t i = 0; i < 7; i++) {
        *columns[i] = (double *)(t + 1) + i * n;
    }
    m->state = t;
    return DLS_OK;
}

/* What job needs for a quotient of rho, at most 1. */
static double part_for(const dls_muri *m, int32_t job, double rho)
{
    const themis *t = m->state;
    const double left = m->run[job].left;
    const double room =
        rho * (t->isolated[job] + left / t->share[job]) - (m->now - m->job[job].submit_s);
    const double need = left * m->job[job].stages.iteration;
    return need < room ? need / room : 1;
}

static double gpus_for(const dls_muri *m, double rho)
{
    double gpus = 0;
    for (int32_t i = 0; i < m->n_list; i++) {
        gpus += m->job[m->list[i]].gpus * part_for(m, m->list[i], rho);
    }
    return gpus;
}

/* The least quotient that the GPUs suffice for; 0: they suffice for all jobs all the time. */
static double find_rho(const dls_muri *m)
{
    const double gpus = (double)m->n_nodes * m->cluster.gpus_per_node;
    double low = 0, high = 1;
    if (gpus_for(m, 0) <= gpus) {
        return 0;
    }
    while (gpus_for(m, high) > gpus) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(gpus_for(m, middle) > gpus ? &low : &high) = middle;
    }
    return high;
}

static dls_status decide(dls_muri *m, dls_error *err)
{
    themis *t = m->state;
    const double gpus = (double)m->n_nodes * m->cluster.gpus_per_node;
    const double each = m->n_list > 0 ? ceil(gpus / m->n_list) : gpus;
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        const dls_muri_run_job *r = &m->run[job];
        if (t->share[job] > 0) {
            t->isolated[job] += (t->left[job] - r->left) / t->share[job];
            t->deficit[job] += t->part[job] * (m->now - t->decided_s) - (r->executed - t->ran[job]);
        }
        t->left[job] = r->left;
        t->ran[job] = r->executed;
        t->share[job] = fmin(1, each / m->job[job].gpus);
    }
    t->decided_s = m->now;
    const double rho = find_rho(m);
    for (int32_t turn = 0; turn < 3; turn++) { /* stable, the least important first */
        for (int32_t i = 0; i < m->n_list; i++) {
            const int32_t job = m->list[i];
            const double ran = m->run[job].executed;
            t->part[job] = part_for(m, job, rho);
            t->key[i] = turn == 0   ? -t->part[job]
                        : turn == 1 ? -t->deficit[job]
                                    : -t->part[job] / (ran > 0 ? ran : 1e-9);
        }
        DLS_TRY(dls_muri_sort(m->list, m->n_list, t->key, err));
    }
    dls_muri_start_in_order(m);
    return DLS_OK;
}

const dls_muri_policy dls_muri_themis = {
    .schedule = {"themis", "themis", "finish-time fairness: who has had the least of its share"},
    .open = open_themis,
    .decide = decide,
};
