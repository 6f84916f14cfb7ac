/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop of Pollux's simulator: all jobs step through a round, then the policy is asked
 * (pollux.h).
 */
#include "base/alloc.h"
#include "pollux/core.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RESTART_S                                                                                  \
    30 /* after every change of a job's nodes, its first start included; not Sia's                 \
        */

static const dls_pollux_policy *const policies[] = {&dls_pollux_pollux, &dls_pollux_optimus,
                                                    &dls_pollux_tiresias, &dls_pollux_siasim};

#define POLICIES (sizeof policies / sizeof *policies)

const char *dls_pollux_schedule_at(size_t i, const char **summary)
{
    *summary = i < POLICIES ? policies[i]->schedule.summary : NULL;
    return i < POLICIES ? policies[i]->schedule.name : NULL;
}

/* ---- a job at work --------------------------------------------------------------------------- */

/* Cells are divided with a tolerance of the published program's. */
static int32_t parts(double x)
{
    return (int32_t)ceil(x - 1e-8);
}

dls_goodput_job dls_pollux_goodput_job(const dls_pollux_run_job *j, const dls_pollux_app *a)
{
    return (dls_goodput_job){
        .least = dls_pollux_least_batch(a),
        .most = j->batch > 0 ? j->batch : dls_pollux_most_batch(a),
        .local_min = a->local_min,
        .local_max = j->sia ? a->local_max : a->local_cap,
        .sqr = j->sqr,
        .var = j->var,
    };
}

void dls_pollux_choose(const dls_pollux_run_job *j, const dls_pollux_where *where, bool always,
                       int32_t *local, int32_t *accum)
{
    const dls_pollux_app *a = j->app;
    const int32_t replicas = where->replicas, least = dls_pollux_least_batch(a);
    const int32_t cap = j->sia ? dls_pollux_most_local(a, where) : a->local_cap;
    const dls_goodput_model *model = &j->on[j->type].model;
    if (j->batch == 0 && model->fitted) {
        dls_goodput_job job = dls_pollux_goodput_job(j, a);
        job.local_max = cap;
        dls_goodput_best(model, &job, where->nodes, replicas, local, accum);
    } else {
        const int32_t need = a->local_min * replicas;
        const int32_t batch = j->batch > 0 ? j->batch : least < need ? need : least;
        const int32_t share = parts((double)batch / replicas);
        *accum = parts((double)share / cap) - 1;
        *accum = replicas == 1 && *accum < 1 && (always || batch > least) ? 1 : *accum;
        *local = parts((double)share / (*accum + 1));
    }
    int32_t most = dls_pollux_most_batch(a) / (replicas * (*accum + 1));
    const int32_t measured = j->sia ? dls_pollux_most_local_of(a, replicas) : 0;
    most = measured > 0 && measured < most ? measured : most;
    *local = *local < most ? *local : most;
}

dls_status dls_pollux_unmeasured(const dls_pollux_run_job *j, const dls_pollux_where *where,
                                 int32_t local, dls_error *err)
{
    return dls_fail(err, DLS_ERUN, j->job->id,
                    "%s was not measured with %d samples on each of %d GPUs on %d nodes",
                    j->app->name, (int)local, (int)where->replicas, (int)where->nodes);
}

/* Times of a placement and batch that are new change the model. */
static dls_status learn(dls_pollux_run_job *j, const dls_pollux_times *t, dls_error *err)
{
    const dls_goodput_seen now = {j->where.nodes, j->where.replicas, j->local, t->step, t->sync};
    dls_pollux_on *on = &j->on[j->type];
    j->most_seen = j->most_seen > now.replicas ? j->most_seen : now.replicas;
    for (size_t i = 0; i < on->n_seen; i++) {
        const dls_goodput_seen *s = &on->seen[i];
        if (s->nodes == now.nodes && s->replicas == now.replicas && s->local == now.local) {
            return DLS_OK;
        }
    }
    DLS_TRY(dls_grow(&on->seen, &on->cap_seen, on->n_seen + 1, sizeof *on->seen, err));
    on->seen[on->n_seen++] = now;
    dls_goodput_fit(&on->model, on->seen, on->n_seen);
    return DLS_OK;
}

/* Progress per second where the job is. */
static dls_status rate(const dls_pollux *p, dls_pollux_run_job *j, double *out, dls_error *err)
{
    const int32_t batch = j->where.replicas * j->local * (j->accum + 1);
    dls_pollux_times t;
    if (!dls_pollux_step(j->app, &j->where, j->local, &t)) {
        return dls_pollux_unmeasured(j, &j->where, j->local, err);
    }
    j->sqr = dls_pollux_between(j->app, DLS_POLLUX_SQR, batch, j->job->epochs);
    j->var = dls_pollux_between(j->app, DLS_POLLUX_VAR, batch, j->job->epochs);
    if (p->policy->learns) {
        DLS_TRY(learn(j, &t, err));
    }
    *out = dls_pollux_gain(j->sqr, j->var, (double)batch / dls_pollux_least_batch(j->app)) /
           (t.step + (t.step - t.sync) * j->accum) / (j->sia ? j->app->sia->slower : 1);
    return DLS_OK;
}

/* One round of a job that has GPUs. Epochs end on whole seconds, and the batch is
 * chosen anew at the end of each and of the round. */
static dls_status run_job(const dls_pollux *p, dls_pollux_run_job *j, dls_error *err)
{
    int64_t clock = p->now, seconds = p->params->interval_s;
    const int32_t gpus = j->now.n;
    const int64_t restore_s = j->restore_s < seconds ? j->restore_s : seconds;
    clock += restore_s;
    j->job->gpu_s += restore_s * gpus;
    j->restore_s -= restore_s;
    seconds -= restore_s;
    while (seconds > 0 && !j->done) {
        double per_s = 0;
        DLS_TRY(rate(p, j, &per_s, err));
        const double end = j->app->progress[j->job->epochs + 1];
        int64_t delta = seconds;
        if (j->progress + per_s * (double)seconds < end) {
            j->progress += per_s * (double)seconds;
        } else {
            delta = (int64_t)rint((end - j->progress) / per_s);
            j->job->epochs++;
            j->progress = end;
            if (j->job->epochs == j->app->epochs) {
                j->done = true;
                j->job->end_s = clock + delta;
            }
        }
        clock += delta;
        j->job->gpu_s += delta * gpus;
        seconds -= delta;
        dls_pollux_choose(j, &j->where, false, &j->local, &j->accum);
    }
    return DLS_OK;
}

/* ---- a round --------------------------------------------------------------------------------- */

void dls_pollux_place(dls_pollux *p, const int32_t *order, int32_t n, const int32_t *count)
{
    const int32_t nodes = p->params->nodes;
    for (int32_t i = 0; i < nodes; i++) {
        p->free[i] = p->params->gpus_per_node;
    }
    for (int32_t i = 0; i < n; i++) {
        const dls_pollux_nodes *kept = &p->job[order[i]].next;
        for (int32_t k = 0; k < kept->n; k++) {
            p->free[kept->of[k]]--;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        dls_pollux_nodes *to = &p->job[order[i]].next;
        while (to->n < count[order[i]]) {
            int32_t best = 0;
            for (int32_t k = 1; k < nodes; k++) {
                best = p->free[k] > p->free[best] ? k : best;
            }
            for (; p->free[best] > 0 && to->n < count[order[i]]; p->free[best]--) {
                to->of[to->n++] = best;
            }
        }
    }
}

/* GPUs on each node, in the order of taking, whatever the nodes: the placement. */
static int32_t runs(const dls_pollux_nodes *on, int32_t *run)
{
    int32_t n = 0;
    for (int32_t i = 0; i < on->n; i++) {
        if (i > 0 && on->of[i] == on->of[i - 1]) {
            run[n - 1]++;
        } else {
            run[n++] = 1;
        }
    }
    return n;
}

/* More nodes than were measured count as the most that were, with GPUs evenly on them. */
static int32_t recast(int32_t *run, int32_t n, int32_t gpus, int32_t most_nodes)
{
    if (n <= most_nodes) {
        return n;
    }
    const int32_t each = (gpus + most_nodes - 1) / most_nodes;
    for (n = 0; gpus > 0; n++) {
        run[n] = gpus < each ? gpus : each;
        gpus -= run[n];
    }
    return n;
}

static void apply(dls_pollux *p, dls_pollux_run_job *j)
{
    int32_t run[DLS_POLLUX_REPLICAS], old[DLS_POLLUX_REPLICAS];
    if (j->next.n == j->now.n &&
        memcmp(j->next.of, j->now.of, (size_t)j->now.n * sizeof *j->now.of) == 0) {
        return;
    }
    const int32_t n_old = runs(&j->now, old);
    memcpy(&j->now, &j->next, sizeof j->now);
    int32_t n = runs(&j->now, run);
    if (n == 0 || (j->sia && j->next_type == j->type && n == n_old &&
                   memcmp(run, old, (size_t)n * sizeof *run) == 0)) {
        return; /* other nodes cost nothing there if the placement looks the same */
    }
    j->type = j->next_type;
    j->app = j->on[j->type].app;
    if (j->sia) {
        n = recast(run, n, j->now.n, p->most_nodes[j->type]);
    }
    dls_pollux_find(j->app, run, n, &j->where);
    dls_pollux_choose(j, &j->where, false, &j->local, &j->accum);
    j->restore_s = j->sia ? j->app->sia->restart_s : RESTART_S;
    j->job->restarts += j->job->first_s >= 0;
    j->job->first_s = j->job->first_s < 0 ? p->now : j->job->first_s;
}

static dls_status one_round(dls_pollux *p, dls_error *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_active; i++) {
        dls_pollux_run_job *j = &p->job[p->active[i]];
        if (j->now.n > 0) {
            DLS_TRY(run_job(p, j, err));
        }
        if (!j->done) {
            p->active[n++] = p->active[i];
        }
    }
    p->now += p->params->interval_s;
    p->n_active = n;
    return DLS_OK;
}

/* Those that have come, in the order of the trace; true if there are more to come. */
static bool arrive(dls_pollux *p, int64_t since)
{
    bool more = false;
    for (size_t i = 0; i < p->trace->n; i++) {
        const int64_t submit_s = p->trace->job[i].submit_s;
        more = more || submit_s > p->now;
        if (submit_s > since && submit_s <= p->now) {
            int32_t k = p->n_active++;
            for (; k > 0 && p->active[k - 1] > (int32_t)i; k--) {
                p->active[k] = p->active[k - 1];
            }
            p->active[k] = (int32_t)i;
        }
    }
    return more;
}

static dls_status loop(dls_pollux *p, int64_t *rounds, dls_error *err)
{
    bool more = p->trace->n > 0;
    int64_t since = -1;
    for (*rounds = 0; more || p->n_active > 0; ++*rounds) {
        bool busy = false;
        DLS_TRY(one_round(p, err));
        more = more && arrive(p, since);
        since = p->now;
        for (int32_t i = 0; i < p->n_active; i++) {
            p->job[p->active[i]].next.n = 0;
        }
        if (p->n_active > 0) {
            DLS_TRY(p->policy->decide(p, err));
        }
        for (int32_t i = 0; i < p->n_active; i++) {
            apply(p, &p->job[p->active[i]]);
            busy = busy || p->job[p->active[i]].now.n > 0;
        }
        if (!busy && !more && p->n_active > 0) {
            return dls_fail(err, DLS_ERUN, p->job[p->active[0]].job->id, "never gets a GPU from %s",
                            p->policy->schedule.name);
        }
    }
    return DLS_OK;
}

/* ---- a replay -------------------------------------------------------------------------------- */

static dls_status check(const dls_pollux *p, dls_error *err)
{
    for (size_t i = 0; i < p->trace->n; i++) {
        const dls_pollux_job *j = &p->trace->job[i];
        const bool rigid = p->policy->rigid || (p->policy->sia && j->kind == DLS_POLLUX_RIGID);
        if (rigid && j->gpus > p->gpus) {
            return dls_fail(err, DLS_EINPUT, j->id, "asks for %d GPUs of a cluster of %d",
                            (int)j->gpus, (int)p->gpus);
        }
    }
    return DLS_OK;
}

static void set_types(dls_pollux *p)
{
    const dls_pollux_params *q = p->params;
    p->types = 1 + q->n_more;
    for (int32_t k = 0; k < p->types; k++) {
        const int32_t nodes = k > 0 ? q->more[k - 1].nodes : q->nodes;
        p->per_node[k] = k > 0 ? q->more[k - 1].gpus_per_node : q->gpus_per_node;
        p->first[k + 1] = p->first[k] + nodes;
        p->gpus = p->gpus > nodes * p->per_node[k] ? p->gpus : nodes * p->per_node[k];
        p->most_nodes[k] = dls_pollux_most_nodes(k > 0 ? &q->more[k - 1].apps : p->trace->apps);
    }
}

static dls_status set_up(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n;
    set_types(p);
    DLS_TRY(DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(p->job, n + 1), DLS_ARRAY(p->active, n + 1),
                          DLS_ARRAY(p->free, (size_t)p->first[p->types])));
    for (size_t i = 0; i < n; i++) {
        dls_pollux_job *job = &p->trace->job[i];
        job->first_s = job->end_s = -1;
        job->gpu_s = job->restarts = job->epochs = 0;
        const bool tunes =
            p->policy->learns && job->kind == DLS_POLLUX_ADAPTIVE && !dls_pollux_is_fixed(job->app);
        p->job[i] = (dls_pollux_run_job){
            .job = job, .app = job->app, .sia = p->policy->sia, .batch = tunes ? 0 : job->batch};
        for (int32_t k = 0; k < p->types; k++) {
            const dls_pollux_type *t = k > 0 ? &p->params->more[k - 1] : NULL;
            p->job[i].on[k].app = t ? dls_pollux_app_find(&t->apps, job->app->name) : job->app;
            p->job[i].on[k].gpus_per_node = p->per_node[k];
        }
    }
    DLS_TRY(check(p, err));
    return p->policy->open ? p->policy->open(p, err) : DLS_OK;
}

dls_status dls_pollux_run(const dls_pollux_params *params, dls_pollux_trace *trace, int64_t *rounds,
                          dls_error *err)
{
    dls_pollux p = {.params = params, .trace = trace};
    int64_t n;
    for (size_t i = 0; i < POLICIES && !p.policy; i++) {
        p.policy = strcmp(policies[i]->schedule.name, params->schedule) == 0 ? policies[i] : NULL;
    }
    if (!p.policy) {
        return dls_fail(err, DLS_EINPUT, NULL, "there is no schedule \"%s\"", params->schedule);
    }
    assert(params->n_more < DLS_POLLUX_TYPES);
    if (params->n_more > 0 && !p.policy->sia) {
        return dls_fail(err, DLS_EINPUT, params->schedule, "has one GPU type");
    }
    dls_status status = set_up(&p, err);
    if (status == DLS_OK) {
        status = loop(&p, rounds ? rounds : &n, err);
    }
    if (p.policy->close) {
        p.policy->close(&p);
    }
    for (size_t i = 0; p.job && i < trace->n; i++) {
        for (int32_t k = 0; k < p.types; k++) {
            dls_free(p.job[i].on[k].seen);
        }
    }
    DLS_FREE_ALL(p.job, p.active, p.free);
    return status;
}
