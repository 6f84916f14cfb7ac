/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Optimus (Peng et al., EuroSys 2018) as the simulator of Pollux has it: it knows true step times
 * and the true number of iterations that are left, and gives GPU after GPU to the job that gains
 * most by it.
 */
#include "base/alloc.h"
#include "pollux/core.h"

#include <string.h>

typedef struct optimus {
    int32_t *count;           /* [jobs] */
    int32_t *order;           /* [active] by count */
    double *gain, *remaining; /* [active] */
} optimus;

static void optimus_close(dls_pollux *p)
{
    optimus *s = p->state;
    if (s) {
        DLS_FREE_ALL(s->count, s->order, s->gain, s->remaining, s);
    }
}

static dls_status optimus_open(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n + 1;
    optimus *s = p->state = dls_alloc_zero(1, sizeof *s);
    return s ? DLS_ALLOC_ALL("gains", err, DLS_ARRAY(s->count, n), DLS_ARRAY(s->order, n),
                             DLS_ARRAY(s->gain, n), DLS_ARRAY(s->remaining, n))
             : dls_nomem(err, "gains", sizeof *s);
}

/* Iterations after the present epoch: a row counts those until the end of its epoch. */
static double remaining(const dls_pollux_run_job *j)
{
    const int32_t last = j->app->epochs - 1, epoch = j->job->epochs, batch = j->job->batch;
    return epoch >= last ? 1
                         : dls_pollux_between(j->app, DLS_POLLUX_ITERATION, batch, last) -
                               dls_pollux_between(j->app, DLS_POLLUX_ITERATION, batch, epoch);
}

/* Time of an iteration on whole nodes and one with the rest. */
static dls_status iteration(const dls_pollux *p, const dls_pollux_run_job *j, int32_t gpus,
                            double *out, dls_error *err)
{
    int32_t on[DLS_POLLUX_REPLICAS], n = 0, local, accum;
    dls_pollux_where where;
    dls_pollux_times t;
    for (int32_t left = gpus; left > 0; left -= on[n++]) {
        on[n] = left < p->params->gpus_per_node ? left : p->params->gpus_per_node;
    }
    dls_pollux_find(j->app, on, n, &where);
    dls_pollux_choose(j, &where, true, &local, &accum);
    if (!dls_pollux_step(j->app, &where, local, &t)) {
        return dls_pollux_unmeasured(j, &where, local, err);
    }
    *out = t.step + (t.step - t.sync) * accum;
    return DLS_OK;
}

static int32_t most_gpus(const dls_pollux_run_job *j)
{
    const int32_t most = j->job->batch / j->app->local_min;
    return dls_pollux_is_fixed(j->app)  ? 1
           : most < DLS_POLLUX_REPLICAS ? most
                                        : DLS_POLLUX_REPLICAS;
}

/* What one more GPU saves. */
static dls_status gain(dls_pollux *p, optimus *s, int32_t i, int32_t left, dls_error *err)
{
    const dls_pollux_run_job *j = &p->job[p->active[i]];
    const int32_t gpus = s->count[p->active[i]];
    double now, more;
    s->gain[i] = 0;
    if (gpus + 1 > most_gpus(j) || left < 1) {
        return DLS_OK;
    }
    DLS_TRY(iteration(p, j, gpus, &now, err));
    DLS_TRY(iteration(p, j, gpus + 1, &more, err));
    s->gain[i] = (now - more) * s->remaining[i];
    return DLS_OK;
}

static dls_status count(dls_pollux *p, optimus *s, dls_error *err)
{
    int32_t left = p->gpus;
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        s->remaining[i] = remaining(&p->job[job]);
        s->gain[i] = 0;
        s->count[job] = left > 0;
        if (left > 0) {
            left--;
            DLS_TRY(gain(p, s, i, left, err));
        }
    }
    for (; left > 0;) {
        int32_t best = 0;
        for (int32_t i = 1; i < p->n_active; i++) {
            best = s->gain[i] > s->gain[best] ? i : best;
        }
        if (!(s->gain[best] > 0)) {
            break;
        }
        s->count[p->active[best]]++;
        DLS_TRY(gain(p, s, best, left, err)); /* the GPU just given still counts as free */
        left--;
    }
    return DLS_OK;
}

static dls_status optimus_decide(dls_pollux *p, dls_error *err)
{
    optimus *s = p->state;
    DLS_TRY(count(p, s, err));
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        dls_pollux_run_job *j = &p->job[job];
        int32_t k = i;
        if (j->now.n == s->count[job]) {
            memcpy(&j->next, &j->now, sizeof j->next);
        }
        for (; k > 0 && s->count[s->order[k - 1]] > s->count[job]; k--) {
            s->order[k] = s->order[k - 1];
        }
        s->order[k] = job;
    }
    dls_pollux_place(p, s->order, p->n_active, s->count);
    return DLS_OK;
}

const dls_pollux_policy dls_pollux_optimus = {
    .schedule = {"optimus", "GPU after GPU to the job that gains most, all times known"},
    .open = optimus_open,
    .close = optimus_close,
    .decide = optimus_decide,
};
