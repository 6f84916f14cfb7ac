/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `gavel`: what the published simulator of Gavel, or of Shockwave, says of a trace,
 * job by job.
 */
#include "dlsim/replayer.h"

#include "base/owners.h"
#include "gavel/gavel.h"

enum {
    POLICY,
    THROUGHPUTS,
    SPEED_FACTORS,
    V100,
    P100,
    K80,
    GPUS,
    ROUND,
    SEED,
    SHOCKWAVE,
    IMMEDIATE,
    GROWTH,
    PAUSE
};

static const dls_option options[] = {
    {"policy", DLS_OPT_STR, 0, 0, "isolated", "NAME", "see below", NULL},
    {"throughputs", DLS_OPT_PATH, 0, 0, "", "FILE.json",
     "steps per second by GPU type, model, batch and GPUs", NULL},
    {"speed-factors", DLS_OPT_PATH, 0, 0, "", "FILE.csv",
     "multiply them by these: gpu,model,batch,gpus,factor", NULL},
    {"v100", DLS_OPT_I64, 0, 65536, "32", "", "GPUs of this type", NULL},
    {"p100", DLS_OPT_I64, 0, 65536, "0", "", "GPUs of this type", NULL},
    {"k80", DLS_OPT_I64, 0, 65536, "0", "", "GPUs of this type", NULL},
    {"gpus", DLS_OPT_I64, 1, 64, "4", "", "GPUs per server", NULL},
    {"round", DLS_OPT_TIME, 1, 1e6, "360", "", "length of a round", NULL},
    {"seed", DLS_OPT_I64, 0, 1e15, "0", "", "of the policy and the order of the types", NULL},
    {"shockwave", DLS_OPT_BOOL, 0, 0, "false", "",
     "as the fork of Shockwave: restarts, batch sizes that change", NULL},
    {"immediate", DLS_OPT_BOOL, 0, 0, "false", "",
     "find shares anew as soon as a job comes or goes, as the live system", NULL},
    {"growth", DLS_OPT_TIME, 0, 1e6, "0", "",
     "a round is longer by this times the share of jobs that start or move", NULL},
    {"pause", DLS_OPT_TIME, 0, 1e6, "0", "", "and by this", NULL},
    {0}};

static void write_jobs(const dls_replayer_output *to, const dls_trace *trace,
                       const dls_gavel_result *r)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    double jct_s = 0;
    size_t ended = 0;
    fputs("job_id,num_gpu,arrival,start,end,jct,rounds,preempt,migrate,rounds_v100,rounds_p100,"
          "rounds_k80,rounds_packed\n",
          to->rows);
    for (size_t i = 0; i < c->n; i++) {
        const dls_gavel_job *j = &r->job[i];
        const double arrival_s = (double)c->submit_us[i] / 1e6;
        fprintf(to->rows, "%s,%d,%.6f,", dls_trace_id(trace, i), (int)c->gpus[i], arrival_s);
        if (j->start_s >= 0) {
            fprintf(to->rows, "%.6f", j->start_s);
        }
        if (j->end_s >= 0) {
            fprintf(to->rows, ",%.6f,%.6f", j->end_s, j->end_s - arrival_s);
            jct_s += j->end_s - arrival_s;
            ended++;
        } else {
            fputs(",,", to->rows);
        }
        fprintf(to->rows, ",%lld,%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)j->rounds,
                (long long)j->preempted, (long long)j->migrated, (long long)j->rounds_on[2],
                (long long)j->rounds_on[1], (long long)j->rounds_on[0],
                (long long)j->rounds_packed);
    }
    if (to->report) {
        fprintf(to->report,
                "jobs ended   %zu of %zu\naverage JCT  %.6f s\nmakespan     %.6f s\n"
                "rounds       %zu, %zu allocations, %zu of them unsolved\n",
                ended, c->n, ended ? jct_s / (double)ended : 0, r->makespan_s, r->rounds,
                r->allocations, r->unsolved);
    }
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    const dls_gavel_params params = {
        .policy = v[POLICY].s,
        .shockwave = v[SHOCKWAVE].b,
        .gpus = {(int32_t)v[K80].i, (int32_t)v[P100].i, (int32_t)v[V100].i},
        .gpus_per_server = (int32_t)v[GPUS].i,
        .round_s = v[ROUND].f,
        .immediate = v[IMMEDIATE].b,
        .growth_s = v[GROWTH].f,
        .pause_s = v[PAUSE].f,
        .speed_factors = *v[SPEED_FACTORS].s ? v[SPEED_FACTORS].s : NULL,
        .seed = (uint64_t)v[SEED].i};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_OWN(dls_gavel_result_fini) dls_gavel_result result = {0};
    DLS_TRY(dls_trace_load(call->input, "gavel", NULL, &trace, err));
    DLS_TRY(dls_gavel_replay(&params, v[THROUGHPUTS].s, trace, &result, err));
    write_jobs(call->to, trace, &result);
    return DLS_OK;
}

const dls_replayer dls_replayer_gavel = {
    .name = "gavel",
    .summary = "what the published simulator of Gavel says",
    .about = "Replay a trace of Gavel's simulator, or of Shockwave's, with its results, job by "
             "job, defects included; a job that it drops has no end.",
    .input = "TRACE",
    .needs = "throughputs",
    .options = options,
    .chosen = "policy",
    .choice = dls_gavel_policy_at,
    .run = run,
};
