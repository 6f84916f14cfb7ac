/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a round costs that changes nothing: jobs that all run, plans that keep them. One JSON object
 * a line, one line for each way to say it.
 *
 *   bench_rounds           5,000 jobs, 500 rounds
 *   bench_rounds --smoke   500 jobs, 20 rounds
 *
 * The time is that of the process less that of a run with a single round, over jobs x rounds; least
 * of five runs each. Fails (exit 1) beyond 1 microsecond a job and round.
 */
#include "support/bench.h"
#include "support/sim_case.h"

#include <math.h>

enum { RUNS = 5 };
static const double limit_ns = 1000;

static int n_rounds;
static enum { KEEP_ALL, KEEP_EACH, SET_EACH } how;

static void timing(const void *state, dls_round_timing *out)
{
    out->interval_us = 1000000000 / n_rounds; /* jobs run for 1,000 s */
}

static dls_status keep(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    const dls_want as_asked = {.type = -1};
    if (how == KEEP_ALL) {
        dls_plan_keep_all(plan);
    }
    for (int32_t j = dls_view_first_running(view); how != KEEP_ALL && j >= 0;
         j = dls_view_next_running(view, j)) {
        if (how == KEEP_EACH) {
            dls_plan_keep(plan, j);
        } else {
            dls_plan_set(plan, j, &as_asked);
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        dls_plan_set(plan, j, &as_asked);
    }
    return DLS_OK;
}

static double least_s(const dls_sim_params *p, int rounds)
{
    double least = HUGE_VAL;
    n_rounds = rounds;
    for (int i = 0; i < RUNS; i++) {
        const double from = cpu_s();
        dls_record_destroy(case_run(p));
        least = fmin(least, cpu_s() - from);
    }
    return least;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"keep all", "keep each", "set each as it is"};
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const int n = smoke ? 500 : 5000, rounds = smoke ? 20 : 500;
    case_job *jobs = calloc((size_t)n, sizeof *jobs);
    for (int j = 0; j < n; j++) {
        jobs[j] = (case_job){.duration_s = 1000, .gpus = 1 + j % 8};
    }
    dls_trace *trace = case_trace(jobs, (size_t)n);
    dls_cluster_spec cluster = case_cluster(n, 8, 32);
    const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                               .name = "keeper",
                               .summary = "keeps",
                               .round = keep,
                               .timing = timing};
    dls_sim_params p;
    dls_sim_params_init(&p);
    p.cluster = &cluster;
    p.trace = trace;
    p.sched = &ops;
    p.placement = case_placement("first-fit");
    p.want_allocs = false;
    bool within = true;
    for (int k = 0; k < 3; k++) {
        how = k;
        const double ns = (least_s(&p, rounds) - least_s(&p, 1)) / n / rounds * 1e9;
        within &= ns <= limit_ns;
        printf("{\"plan\": \"%s\", \"jobs\": %d, \"rounds\": %d, \"ns_per_job_and_round\": %.1f}\n",
               names[k], n, rounds, ns);
    }
    dls_trace_destroy(trace);
    free(cluster.groups);
    free(jobs);
    return within ? 0 : 1;
}
