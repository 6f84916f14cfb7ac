/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim gavel: what the published simulator of Gavel, or of Shockwave, says of a trace, job by job.
 */
#include "cli/replay.h"
#include "gavel/gavel.h"

#include <math.h>

typedef struct request {
    dls_gavel_params params;
    const char *throughputs;
    dls_table_options out;
} request;

typedef struct outcome {
    const dls_trace *trace;
    dls_gavel_result result;
} outcome;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const outcome *o = what;
    const dls_trace_columns *c = dls_trace_cols(o->trace);
    fputs("job_id,num_gpu,arrival,start,end,jct,rounds,preempt,migrate,rounds_v100,rounds_p100,"
          "rounds_k80,rounds_packed\n",
          to);
    for (size_t i = 0; i < c->n; i++) {
        const dls_gavel_job *j = &o->result.job[i];
        const double arrival_s = (double)c->submit_us[i] / 1e6;
        fprintf(to, "%s,%d,%.6f,", dls_trace_id(o->trace, i), (int)c->gpus[i], arrival_s);
        if (j->start_s >= 0) {
            fprintf(to, "%.6f", j->start_s);
        }
        if (j->end_s >= 0) {
            fprintf(to, ",%.6f,%.6f", j->end_s, j->end_s - arrival_s);
        } else {
            fputs(",,", to);
        }
        fprintf(to, ",%lld,%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)j->rounds,
                (long long)j->preempted, (long long)j->migrated, (long long)j->rounds_on[2],
                (long long)j->rounds_on[1], (long long)j->rounds_on[0],
                (long long)j->rounds_packed);
    }
    return DLS_OK;
}

static void report(const outcome *o)
{
    const dls_trace_columns *c = dls_trace_cols(o->trace);
    double jct_s = 0;
    size_t ended = 0;
    for (size_t i = 0; i < c->n; i++) {
        const dls_gavel_job *j = &o->result.job[i];
        if (j->end_s >= 0) {
            jct_s += j->end_s - (double)c->submit_us[i] / 1e6;
            ended++;
        }
    }
    fprintf(stderr,
            "jobs ended   %zu of %zu\naverage JCT  %.6f s\nmakespan     %.6f s\n"
            "rounds       %zu, %zu allocations, %zu of them unsolved\n",
            ended, c->n, ended ? jct_s / (double)ended : 0, o->result.makespan_s, o->result.rounds,
            o->result.allocations, o->result.unsolved);
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_trace *trace;
    if (!r->throughputs) {
        return dls_fail(err, DLS_EUSAGE, NULL, "give --throughputs=FILE.json");
    }
    DLS_TRY(dls_table_check(&r->out, err));
    DLS_TRY(dls_trace_load(call->word[0], "gavel", &(dls_trace_options){0}, &trace, err));
    outcome o = {.trace = trace};
    dls_status status = dls_gavel_replay(&r->params, r->throughputs, trace, &o.result, err);
    DLS_THEN(status, dls_table_put(&r->out, put, &o, err));
    if (status == DLS_OK && !r->out.quiet) {
        report(&o);
    }
    dls_gavel_result_fini(&o.result);
    dls_trace_destroy(trace);
    return status;
}

static const char *policy_at(size_t i, const char **summary)
{
    *summary = dls_gavel_policies()[i].summary;
    return dls_gavel_policies()[i].name;
}

static const dls_arg args[] = {
    DLS_LISTED(request, params.policy, "policy", 0, policy_at, "Policies"),
    DLS_TEXT(request, throughputs, "throughputs", 0, "FILE.json",
             "steps per second by GPU type, model, batch and GPUs"),
    DLS_TEXT(request, params.speed_factors, "speed-factors", 0, "FILE.csv",
             "multiply them by these: gpu,model,batch,gpus,factor"),
    DLS_INT(request, params.gpus[2], "v100", 0, 0, 65536, "GPUs of this type"),
    DLS_INT(request, params.gpus[1], "p100", 0, 0, 65536, "GPUs of this type"),
    DLS_INT(request, params.gpus[0], "k80", 0, 0, 65536, "GPUs of this type"),
    DLS_INT(request, params.gpus_per_server, "gpus", 0, 1, 64, "GPUs per server"),
    DLS_TIME(request, params.round_s, "round", 0, 1, 1e6, "length of a round"),
    DLS_INT(request, params.seed, "seed", 0, 0, 1e15, "of the policy and the order of the types"),
    DLS_SWITCH(request, params.shockwave, "shockwave", 0,
               "as the fork of Shockwave: restarts, batch sizes that change"),
    DLS_SWITCH(request, params.immediate, "immediate", 0,
               "find shares anew as soon as a job comes or goes, as the live system"),
    DLS_TIME(request, params.growth_s, "growth", 0, 0, 1e6,
             "a round is longer by this times the share of jobs that start or move"),
    DLS_TIME(request, params.pause_s, "pause", 0, 0, 1e6, "and by this"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_gavel = {
    .name = "gavel",
    .summary = "what the published simulator of Gavel says",
    .usage = "--policy=NAME --throughputs=FILE.json TRACE [OPTION]...",
    .about = "Replay a trace of Gavel's simulator, or of Shockwave's, with its results, job by "
             "job, defects included; a job that it drops has no end.",
    .args = args,
    .words = "one trace",
    .size = sizeof(request),
    .initial = &(const request){.params = {.policy = "isolated",
                                           .gpus = {0, 0, 32},
                                           .gpus_per_server = 4,
                                           .round_s = 360}},
    .run = run,
};
