/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `fgd`: pods that ask for parts of GPUs onto nodes, as in the published experiments.
 */
#include "dlsim/replayer.h"

#include "base/csv.h"
#include "base/own.h"
#include "fgd/fgd.h"

#include <math.h>

enum { NODES, POLICY, EXACT, SWEEP, SEED, LOAD };

static const dls_option options[] = {
    {"nodes", DLS_OPT_PATH, 0, 0, "", "FILE.csv", "nodes: sn,cpu_milli,memory_mib,gpu,model", NULL},
    {"policy", DLS_OPT_STR, 0, 0, "fgd", "NAME", "see below", NULL},
    {"exact", DLS_OPT_BOOL, 0, 0, "false", "", "scores of fgd are not cut to whole numbers", NULL},
    {"sweep", DLS_OPT_I64, 0, 10000, "0", "",
     "run the published experiment with so many seeds: pods shuffled and topped up", NULL},
    {"seed", DLS_OPT_I64, 0, INT32_MAX, "42", "", "first seed", NULL},
    {"load", DLS_OPT_F64, 0, 100, "1.3", "",
     "GPU asked for in the experiment, parts of the cluster", NULL},
    {0}};

/* ---- one run */

static void put_pods(FILE *to, const dls_fgd_input *in, const dls_fgd_place *place)
{
    fputs("pod,node,gpus\n", to);
    for (size_t i = 0; i < in->n_pods; i++) {
        const dls_fgd_place *p = &place[i];
        dls_csv_put(to, dls_strdict_get(&in->names, in->pod_name[i]));
        fputc(',', to);
        if (p->node >= 0) {
            dls_csv_put(to, dls_strdict_get(&in->names, in->node[p->node].name));
        }
        fputc(',', to);
        for (uint32_t g = 0, first = 1; p->gpus >> g; g++) {
            if (p->gpus >> g & 1) {
                fprintf(to, first ? "%u" : "-%u", (unsigned)g);
                first = 0;
            }
        }
        fputc('\n', to);
    }
}

static void report_pods(FILE *to, const dls_fgd_input *in, const dls_fgd_place *place)
{
    int64_t total = 0, arrived = 0, allocated = 0;
    size_t placed = 0;
    for (size_t i = 0; i < in->n_nodes; i++) {
        total += (int64_t)in->node[i].gpus * DLS_FGD_MILLI;
    }
    for (size_t i = 0; i < in->n_pods; i++) {
        const dls_fgd_request *r = &in->kind[in->pod_kind[i]];
        const int64_t milli = (int64_t)r->gpus * r->gpu_milli;
        arrived += milli;
        allocated += place[i].node >= 0 ? milli : 0;
        placed += place[i].node >= 0;
    }
    const double all = total > 0 ? (double)total / 100 : 1;
    fprintf(to, "pods placed     %zu of %zu\nGPU asked for   %.2f %%\nGPU allocated   %.2f %%\n",
            placed, in->n_pods, (double)arrived / all, (double)allocated / all);
}

static dls_status place_pods(const dls_replayer_call *call, const dls_fgd_input *in, dls_error *err)
{
    const dls_option_value *v = call->value;
    DLS_FREED dls_fgd_place *place = NULL;
    DLS_TRY(dls_alloc_array(&place, in->n_pods + 1, sizeof *place, "places", err));
    DLS_TRY(dls_fgd_run(in, v[POLICY].s, v[EXACT].b, (uint64_t)v[SEED].i, in->pod_kind, in->n_pods,
                        place, NULL, NULL, err));
    put_pods(call->to->rows, in, place);
    if (call->to->report) {
        report_pods(call->to->report, in, place);
    }
    return DLS_OK;
}

/* ---- the published experiment */

static const int32_t shown[] = {50, 70, 80, 85, 90, 95, 100, 105, 110, 120, 130};
enum { N_SHOWN = sizeof shown / sizeof *shown };
static const char header[] =
    "policy,seed,alloc_50,alloc_70,alloc_80,alloc_85,alloc_90,alloc_95,alloc_100,"
    "alloc_105,alloc_110,alloc_120,alloc_130";

static dls_status sweep(const dls_replayer_call *call, const dls_fgd_input *in, dls_error *err)
{
    const dls_option_value *v = call->value;
    FILE *to = call->to->rows, *report = call->to->report;
    const int64_t n = v[SWEEP].i;
    double allocated[DLS_FGD_PERCENT], sum[N_SHOWN] = {0};
    for (int64_t seed = v[SEED].i; seed < v[SEED].i + n; seed++) {
        DLS_TRY(dls_fgd_experiment(in, v[POLICY].s, v[EXACT].b, (uint64_t)seed, v[LOAD].f,
                                   allocated, err));
        fputs(seed == v[SEED].i ? header : "", to);
        fprintf(to, "\n%s,%lld", v[POLICY].s, (long long)seed);
        for (int i = 0; i < N_SHOWN; i++) {
            const double x = allocated[shown[i]];
            fprintf(to, isnan(x) ? "," : ",%.2f", x);
            sum[i] += x;
        }
    }
    fputc('\n', to);
    if (report) {
        fprintf(report, "GPU allocated, mean of %d runs:", (int)n);
        for (int i = 0; i < N_SHOWN; i++) {
            if (!isnan(sum[i]) && shown[i] >= 90) {
                fprintf(report, " %.2f %% at %d %%%s", sum[i] / (double)n, (int)shown[i],
                        i + 1 < N_SHOWN ? "," : "");
            }
        }
        fputc('\n', report);
    }
    return DLS_OK;
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    DLS_OWN(dls_fgd_input_fini) dls_fgd_input in = {0};
    DLS_TRY(dls_fgd_load(call->value[NODES].s, call->input, &in, err));
    return (call->value[SWEEP].i > 0 ? sweep : place_pods)(call, &in, err);
}

const dls_replayer dls_replayer_fgd = {
    .name = "fgd",
    .summary = "place pods that ask for parts of GPUs",
    .about =
        "Place pods, name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec], one after the other, "
        "as the published simulator of FGD does: rows of pod,node,gpus. Nodes are tried in the "
        "order "
        "of their names.",
    .input = "PODS.csv",
    .needs = "nodes",
    .options = options,
    .chosen = "policy",
    .choice = dls_fgd_policy_at,
    .run = run,
};
