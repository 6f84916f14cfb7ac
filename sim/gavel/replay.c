/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sets a replay of Gavel's simulator up from a trace and a table, and takes it down.
 */
#include "base/suggest.h"
#include "gavel/core.h"
#include "gavel/market.h"

#include "base/alloc.h"

#include <string.h>

const char *dls_gavel_policy_at(size_t i, const char **summary)
{
    *summary = dls_gv_policies[i].is.summary;
    return dls_gv_policies[i].is.name;
}

const dls_gv_policy dls_gv_policies[] = {
    {.is = {"isolated", "an equal share of every type"},
     .shuffles = true,
     .allocate = dls_gv_isolated},
    {.is = {"gandiva_fair", "the same, whatever the gang"},
     .shuffles = true,
     .allocate = dls_gv_gandiva_fair},
    {.is = {"fifo", "in order of arrival, on a type drawn at random"},
     .shuffles = true,
     .fifo = true,
     .allocate = dls_gv_fifo},
    {.is = {"fifo_perf", "in order of arrival, on the fastest type"},
     .fifo = true,
     .allocate = dls_gv_fifo_perf},
    {.is = {"fifo_packed", "the same, what waits packed onto those that run"},
     .packs = true,
     .fifo = true,
     .allocate = dls_gv_fifo_perf},
    {.is = {"gandiva", "equal shares, packed at random when GPUs are short"},
     .packs = true,
     .allocate = dls_gv_gandiva},
    {.is = {"allox", "smallest sum of completion times; each job keeps its GPU"},
     .allocate = dls_gv_allox},
    {.is = {"max_min_fairness", "least attained service, all types taken for equal"},
     .believes = DLS_GV_ONE,
     .shuffles = true,
     .allocate = dls_gv_max_min},
    {.is = {"max_min_fairness_perf", "least attained service"}, .allocate = dls_gv_max_min},
    {.is = {"max_min_fairness_packed", "least attained service, pairs may share GPUs"},
     .packs = true,
     .allocate = dls_gv_max_min_packed},
    {.is = {"max_min_fairness_water_filling", "the same lexicographically, types taken for equal"},
     .believes = DLS_GV_ONE,
     .shuffles = true,
     .allocate = dls_gv_water},
    {.is = {"max_min_fairness_water_filling_perf", "the same lexicographically"},
     .allocate = dls_gv_water},
    {.is = {"finish_time_fairness", "Themis's objective, all types taken for v100"},
     .believes = DLS_GV_V100,
     .shuffles = true,
     .allocate = dls_gv_finish_time},
    {.is = {"finish_time_fairness_perf", "Themis's objective"},
     .allocate = dls_gv_finish_time},
    {.is = {"min_total_duration", "makespan, all types taken for v100"},
     .believes = DLS_GV_V100,
     .shuffles = true,
     .allocate = dls_gv_duration},
    {.is = {"min_total_duration_perf", "makespan"}, .allocate = dls_gv_duration},
    {.is = {"max_sum_throughput_perf", "largest sum of speeds"}, .allocate = dls_gv_throughput},
    {.is = {"shockwave", "a market over 20 rounds, batch sizes predicted (with --shockwave)"},
     .market = true},
    {.is = {NULL, NULL}},
};

static dls_status find_policy(const char *name, const dls_gv_policy **out, dls_error *err)
{
    const size_t i = DLS_NAMED(dls_gv_policies, name);
    *out = &dls_gv_policies[i];
    return i < sizeof dls_gv_policies / sizeof *dls_gv_policies
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL, "there is no policy '%.60s' of Gavel's", name);
}

static dls_status set_cluster(dls_gv *g, dls_error *err)
{
    int32_t next = 0;
    for (int32_t w = 0; w < DLS_GV_TYPES; w++) {
        const int32_t per = g->p->gpus_per_server;
        g->gpus[w] = g->p->gpus[w] / per * per;
        g->first_gpu[w] = next;
        next += g->gpus[w];
        if (g->gpus[w] > 0) {
            g->type[g->n_types++] = w;
        }
    }
    if (g->n_types == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the cluster has no server of %d GPUs",
                        (int)g->p->gpus_per_server);
    }
    if (g->p->shockwave && (g->n_types > 1 || g->gpus[2] == 0)) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the fork of Shockwave runs on v100 alone");
    }
    if (g->policy->market && !g->p->shockwave) {
        return dls_fail(err, DLS_EUSAGE, NULL, "policy shockwave: only in the fork (--shockwave)");
    }
    return dls_alloc_array(&g->gpu_taken, (size_t)next, 1, "GPUs", err);
}

/* A job that nothing can run would keep the original busy for ever. */
static dls_status check_job(dls_gv *g, int32_t job, const char *model, long long batch,
                            dls_error *err)
{
    const dls_gv_job *j = &g->job[job];
    bool runs = false;
    for (int32_t k = 0; k < g->n_types && j->key >= 0; k++) {
        const int32_t w = g->type[k];
        if (dls_gv_alone(g, job, w) < 0) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "job %d: the table has no speed of '%.60s' with a batch of %lld on %d "
                            "%s",
                            (int)job, model, batch, (int)j->gpus, dls_gavel_type_name[w]);
        }
        runs |= dls_gv_alone(g, job, w) > 0 && j->gpus <= g->gpus[w];
    }
    return runs ? DLS_OK
                : dls_fail(err, DLS_EINPUT, NULL,
                           "job %d, '%.60s' with a batch of %lld on %d GPUs, can run on no type of "
                           "this cluster, or the table does not have it",
                           (int)job, model, batch, (int)j->gpus);
}

static dls_status set_job(dls_gv *g, const dls_trace *trace, int32_t job, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    const size_t i = (size_t)job;
    const char *model = dls_trace_model(trace, c->model[i]);
    const int64_t batch = dls_trace_i64(c->batch, i), weight = dls_trace_i64(c->priority, i);
    const int64_t per_gpu = batch > 0 ? batch / c->gpus[i] : 0;
    dls_gv_job *j = &g->job[job];
    *j = (dls_gv_job){.gpus = c->gpus[i],
                      .key = dls_gv_key(&g->speeds, model, per_gpu, c->gpus[i]),
                      .weight = weight == DLS_ABSENT ? 1 : (double)weight,
                      .arrival_s = (double)c->submit_us[i] / 1e6,
                      .total = dls_trace_i64(c->iterations, i),
                      .last_round = INT64_MIN / 2,
                      .round_before = INT64_MIN / 2,
                      .partner = DLS_GV_ALONE - 1};
    g->result[job] = (dls_gavel_job){.start_s = -1, .end_s = -1};
    if (j->total < 1 || j->total > INT64_C(1) << 52 || !(j->weight > 0)) {
        return dls_fail(err, DLS_EINPUT, NULL, "job %d: %lld steps of weight %g", (int)job,
                        (long long)j->total, j->weight);
    }
    DLS_TRY(check_job(g, job, model, (long long)per_gpu, err));
    if (g->p->shockwave) {
        const char *mode = c->job_class ? dls_trace_class(trace, c->job_class[i]) : "static";
        return dls_gv_profile_create(g, job, model, per_gpu, mode, err);
    }
    return DLS_OK;
}

static dls_status set_up(dls_gv *g, const char *throughputs, const dls_trace *trace,
                         dls_gavel_result *out, dls_error *err)
{
    const size_t n = dls_trace_cols(trace)->n;
    DLS_TRY(find_policy(g->p->policy, &g->policy, err));
    DLS_TRY(set_cluster(g, err));
    DLS_TRY(dls_gv_speeds_load(throughputs, &g->speeds, err));
    if (g->p->speed_factors) {
        DLS_TRY(dls_gv_speeds_scale(&g->speeds, g->p->speed_factors, err));
    }
    if (n == 0 || n > INT32_MAX / 4) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu jobs", n);
    }
    DLS_TRY(DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(g->job, n), DLS_ARRAY(g->active, n), DLS_ARRAY(g->list, n),
                          DLS_ARRAY(g->taken, n), DLS_ARRAY(out->job, n)));
    g->result = out->job;
    g->n = g->left = (int32_t)n;
    for (int32_t j = 0; j < g->n; j++) {
        DLS_TRY(set_job(g, trace, j, err));
        if (g->job[j].gpus > 1 && strcmp(g->policy->is.name, "allox") == 0 && !g->p->shockwave) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "job %d has %d GPUs: AlloX of Gavel has only jobs of one", (int)j,
                            (int)g->job[j].gpus);
        }
    }
    if (g->policy->market) {
        DLS_TRY(dls_gv_market_create(g, &g->market, err));
    }
    dls_pyrandom_seed(&g->random, g->p->seed);
    dls_pyrandom_seed(&g->shuffle, g->p->seed + 5);
    return DLS_OK;
}

static void take_down(dls_gv *g)
{
    for (int32_t j = 0; j < g->n && g->job; j++) {
        dls_gv_profile_destroy(g->job[j].profile);
    }
    dls_gv_speeds_fini(&g->speeds);
    DLS_FREE_ALL(g->job, g->active, g->list, g->taken, g->gpu_taken, g->combo, g->candidate);
    dls_gv_market_destroy(g->market);
    dls_timeshares_fini(&g->shares);
    DLS_FREE_ALL(g->now.run, g->now.gpu, g->before.run, g->before.gpu, g);
}

dls_status dls_gavel_replay(const dls_gavel_params *params, const char *throughputs,
                            const dls_trace *trace, dls_gavel_result *out, dls_error *err)
{
    *out = (dls_gavel_result){0};
    dls_gv *g = dls_alloc_zero(1, sizeof *g);
    if (!g) {
        return dls_nomem(err, "replay", sizeof *g);
    }
    g->p = params;
    dls_status status = set_up(g, throughputs, trace, out, err);
    if (status == DLS_OK) {
        status = dls_gv_loop(g, err);
    }
    out->makespan_s = g->now_s;
    out->rounds = (size_t)g->round;
    out->allocations = g->allocations;
    out->unsolved = g->unsolved;
    take_down(g);
    if (status != DLS_OK) {
        dls_gavel_result_fini(out);
    }
    return status;
}

void dls_gavel_result_fini(dls_gavel_result *result)
{
    dls_free(result->job);
    result->job = NULL;
}
