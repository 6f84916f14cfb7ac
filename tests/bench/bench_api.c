/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the library costs beside the engine's work, through the public headers alone: one JSON
 * object.
 *
 *   bench_api              100,000 jobs on 1,024 GPUs
 *   bench_api --smoke      2,000 jobs
 *
 * step: the same rule, first come, first served, as a scheduling program inside and as decisions
 * from outside; the difference of their processor times over the number of decisions, least of five
 * runs each. clone: of a simulation in the middle of its run, least of five. Both fail (exit 1)
 * beyond 1 microsecond and 50 milliseconds.
 */
#include "dlsim/run.h"
#include "support/bench.h"
#include "support/trace_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5 };

static dls_error err;

static dls_trace *trace_of(size_t n)
{
    dls_trace *trace;
    uint64_t x = 1;
    int64_t t = 0;
    EACH_JOB(job, n, &trace) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        t += (int64_t)(x >> 33) % 20 * 1000000;
        job.rec.submit_us = t;
        job.rec.gpus_milli = INT64_C(1000) << (x >> 40) % 4;
        job.rec.duration_us = (1 + (int64_t)(x >> 20) % 4000) * 1000000;
    }
    return trace;
}

static dls_setup *setup_of(void)
{
    dls_setup *setup;
    must(dls_setup_create(&setup, &err), &err);
    must(dls_setup_text(
             setup,
             "schema_version = 1; cluster: { nodes = ({ count = 128; gpus = 8; gpu_type = "
             "\"V100\"; }); }; placement: { name = \"first-fit\"; };",
             &err),
         &err);
    return setup;
}

static void start_in_order(const dls_view *view, dls_actions *act)
{
    for (int32_t j; (j = dls_view_first_waiting(view)) >= 0;) {
        if (view->gpus[j] > view->free_gpus || !dls_act_start(act, j)) {
            return;
        }
    }
}

static dls_status pass(void *state, const dls_view *view, dls_actions *act, dls_error *e)
{
    start_in_order(view, act);
    return DLS_OK;
}

static double inside_s(const dls_trace *trace, uint64_t *digest)
{
    static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                                      .name = "in-order",
                                      .summary = "first come, first served, as a program",
                                      .pass = pass};
    dls_setup *setup = setup_of();
    dls_simulation *sim;
    must(dls_setup_sched(setup, &ops, &err), &err);
    must(dls_simulation_create(setup, trace, &sim, &err), &err);
    const double from_s = cpu_s();
    must(dls_simulation_run(sim, &err), &err);
    const double took_s = cpu_s() - from_s;
    *digest = dls_simulation_digest(sim);
    dls_simulation_destroy(sim);
    dls_setup_destroy(setup);
    return took_s;
}

static double outside_s(const dls_trace *trace, uint64_t *digest, size_t *n_decisions)
{
    dls_setup *setup = setup_of();
    dls_simulation *sim;
    dls_actions *act;
    *n_decisions = 0;
    must(dls_setup_outside(setup, &err), &err);
    must(dls_simulation_create(setup, trace, &sim, &err), &err);
    const double from_s = cpu_s();
    for (;;) {
        must(dls_simulation_step(sim, DLS_NEVER, &act, &err), &err);
        if (!act) {
            break;
        }
        ++*n_decisions;
        start_in_order(dls_simulation_view(sim), act);
    }
    const double took_s = cpu_s() - from_s;
    *digest = dls_simulation_digest(sim);
    dls_simulation_destroy(sim);
    dls_setup_destroy(setup);
    return took_s;
}

static double clone_s(const dls_trace *trace, const char *scheduler)
{
    dls_setup *setup = setup_of();
    dls_simulation *sim, *copy;
    double least_s = 1e9;
    must(dls_setup_set(setup, "scheduler.name", scheduler, &err), &err);
    must(dls_simulation_create(setup, trace, &sim, &err), &err);
    const dls_trace_columns *cols = dls_trace_cols(trace);
    must(dls_simulation_run_until(sim, cols->submit_us[cols->n - 1] / 2, &err), &err);
    for (int i = 0; i < RUNS; i++) {
        const double from_s = cpu_s();
        must(dls_simulation_clone(sim, &copy, &err), &err);
        const double took_s = cpu_s() - from_s;
        least_s = took_s < least_s ? took_s : least_s;
        dls_simulation_destroy(copy);
    }
    dls_simulation_destroy(sim);
    dls_setup_destroy(setup);
    return least_s;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 2000 : 100000;
    dls_trace *trace = trace_of(n);
    double in_s = 1e9, out_s = 1e9;
    uint64_t in, out;
    size_t n_decisions = 0;
    for (int i = 0; i < RUNS; i++) {
        const double a = inside_s(trace, &in), b = outside_s(trace, &out, &n_decisions);
        in_s = a < in_s ? a : in_s;
        out_s = b < out_s ? b : out_s;
    }
    const double step_us = (out_s - in_s) / (double)n_decisions * 1e6;
    const double fifo_s = clone_s(trace, "fifo"), dlas_s = clone_s(trace, "dlas-gpu");
    printf("{\"jobs\": %zu, \"decisions\": %zu, \"inside_us\": %.3f, \"outside_us\": %.3f, "
           "\"step_us\": %.3f, \"clone_fifo_ms\": %.2f, \"clone_dlas_gpu_ms\": %.2f}\n",
           n, n_decisions, in_s / (double)n_decisions * 1e6, out_s / (double)n_decisions * 1e6,
           step_us, fifo_s * 1e3, dlas_s * 1e3);
    dls_trace_destroy(trace);
    return in == out && step_us <= 1 && fifo_s <= 0.05 && dlas_s <= 0.05 ? 0 : 1;
}
