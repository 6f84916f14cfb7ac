/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim fgd: pods that ask for parts of GPUs onto nodes, as in the published experiments.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "cli/replay.h"
#include "fgd/fgd.h"

#include <math.h>

typedef struct request {
    const char *nodes, *policy;
    int64_t seed;
    int32_t sweep;
    double load;
    bool exact;
    dls_table_options out;
} request;

typedef struct outcome {
    const request *r;
    const dls_fgd_input *in;
    dls_fgd_place *place;                 /* [pods] */
    double (*allocated)[DLS_FGD_PERCENT]; /* [sweep] */
} outcome;

/* ---- one run */

static void put_pods(FILE *to, const outcome *o)
{
    const dls_fgd_input *in = o->in;
    fputs("pod,node,gpus\n", to);
    for (size_t i = 0; i < in->n_pods; i++) {
        const dls_fgd_place *p = &o->place[i];
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

static void report_run(const outcome *o)
{
    int64_t total = 0, arrived = 0, allocated = 0;
    size_t placed = 0;
    for (size_t i = 0; i < o->in->n_nodes; i++) {
        total += (int64_t)o->in->node[i].gpus * DLS_FGD_MILLI;
    }
    for (size_t i = 0; i < o->in->n_pods; i++) {
        const dls_fgd_request *r = &o->in->kind[o->in->pod_kind[i]];
        const int64_t milli = (int64_t)r->gpus * r->gpu_milli;
        arrived += milli;
        allocated += o->place[i].node >= 0 ? milli : 0;
        placed += o->place[i].node >= 0;
    }
    const double all = total > 0 ? (double)total / 100 : 1;
    fprintf(stderr,
            "pods placed     %zu of %zu\nGPU asked for   %.2f %%\nGPU allocated   %.2f %%\n",
            placed, o->in->n_pods, (double)arrived / all, (double)allocated / all);
}

/* ---- the published experiment */

static const int32_t shown[] = {50, 70, 80, 85, 90, 95, 100, 105, 110, 120, 130};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static void put_sweep(FILE *to, const outcome *o)
{
    fputs("policy,seed", to);
    for (int i = 0; i < N_SHOWN; i++) {
        fprintf(to, ",alloc_%d", (int)shown[i]);
    }
    for (int32_t k = 0; k < o->r->sweep; k++) {
        fprintf(to, "\n%s,%lld", o->r->policy, (long long)(o->r->seed + k));
        for (int i = 0; i < N_SHOWN; i++) {
            const double x = o->allocated[k][shown[i]];
            fprintf(to, isnan(x) ? "," : ",%.2f", x);
        }
    }
    fputc('\n', to);
}

static void report_sweep(const outcome *o)
{
    fprintf(stderr, "GPU allocated, mean of %d runs:", (int)o->r->sweep);
    for (int i = 0; i < N_SHOWN; i++) {
        double sum = 0;
        for (int32_t k = 0; k < o->r->sweep; k++) {
            sum += o->allocated[k][shown[i]];
        }
        if (!isnan(sum) && shown[i] >= 90) {
            fprintf(stderr, " %.2f %% at %d %%%s", sum / o->r->sweep, (int)shown[i],
                    i + 1 < N_SHOWN ? "," : "");
        }
    }
    fputc('\n', stderr);
}

/* ---- the command */

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const outcome *o = what;
    (o->r->sweep > 0 ? put_sweep : put_pods)(to, o);
    return DLS_OK;
}

static dls_status work(outcome *o, dls_error *err)
{
    const request *r = o->r;
    if (r->sweep == 0) {
        return dls_fgd_run(o->in, r->policy, r->exact, (uint64_t)r->seed, o->in->pod_kind,
                           o->in->n_pods, o->place, NULL, NULL, err);
    }
    for (int32_t k = 0; k < r->sweep; k++) {
        DLS_TRY(dls_fgd_experiment(o->in, r->policy, r->exact, (uint64_t)(r->seed + k), r->load,
                                   o->allocated[k], err));
    }
    return DLS_OK;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_fgd_input in;
    if (!r->nodes) {
        return dls_fail(err, DLS_EUSAGE, NULL, "no nodes: give --nodes=FILE.csv");
    }
    DLS_TRY(dls_table_check(&r->out, err));
    DLS_TRY(dls_fgd_load(r->nodes, call->word[0], &in, err));
    outcome o = {.r = r, .in = &in};
    o.place = dls_alloc((in.n_pods + 1) * sizeof *o.place);
    o.allocated = dls_alloc((size_t)(r->sweep + 1) * sizeof *o.allocated);
    dls_status status = o.place && o.allocated
                            ? work(&o, err)
                            : dls_nomem(err, "places", in.n_pods * sizeof *o.place);
    DLS_THEN(status, dls_table_put(&r->out, put, &o, err));
    if (status == DLS_OK && !r->out.quiet) {
        (r->sweep > 0 ? report_sweep : report_run)(&o);
    }
    dls_free(o.place);
    dls_free(o.allocated);
    dls_fgd_input_fini(&in);
    return status;
}

static const char *policy_at(size_t i, const char **summary)
{
    *summary = dls_fgd_policies()[i].summary;
    return dls_fgd_policies()[i].name;
}

static const dls_arg args[] = {
    DLS_TEXT(request, nodes, "nodes", 0, "FILE.csv", "nodes: sn,cpu_milli,memory_mib,gpu,model"),
    DLS_LISTED(request, policy, "policy", 0, policy_at, "Policies"),
    DLS_SWITCH(request, exact, "exact", 0, "scores of fgd are not cut to whole numbers"),
    DLS_INT(request, sweep, "sweep", 0, 0, 10000,
            "run the published experiment with so many seeds: pods shuffled and topped up"),
    DLS_INT(request, seed, "seed", 0, 0, INT32_MAX, "first seed"),
    DLS_REAL(request, load, "load", 0, 0, 100,
             "GPU asked for in the experiment, parts of the cluster"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_fgd = {
    .name = "fgd",
    .summary = "place pods that ask for parts of GPUs",
    .usage = "--nodes=NODES.csv [--policy=NAME] PODS.csv [OPTION]...",
    .about =
        "Place pods, name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec], one after the other, "
        "as the "
        "published simulator of FGD does: rows of pod,node,gpus. Nodes are tried in the order of "
        "their names.",
    .args = args,
    .words = "one file of pods",
    .size = sizeof(request),
    .initial = &(const request){.policy = "fgd", .seed = 42, .load = 1.3},
    .run = run,
};
