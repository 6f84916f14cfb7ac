/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as decisions from outside: which jobs start where, grow, move, join others, lose their
 * GPUs, are turned away, and when the next question is. The engine refuses what cannot be, with a
 * message, or goes on, every account recounted (run.audit); a clone that gets the same decisions
 * ends alike.
 */
#include "dlsim/run.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 12, DECISIONS_MAX = 400 };

static const char config[] = "schema_version = 1;\n"
                             "cluster: { nodes = ({ count = 3; gpus = 4; gpu_type = \"V100\"; }, { "
                             "count = 2; gpus = 2; gpu_type = \"T4\"; }); };\n"
                             "scheduler: { restore_cost = \"5 s\"; };\n"
                             "run: { audit = true; };\n";

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static int next(bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

/* Jobs as the bytes say: times, gangs, parts of GPUs, what an elastic one can use, a type. */
static dls_trace *make_trace(bytes *b)
{
    dls_trace_builder *builder = NULL;
    dls_trace *trace = NULL;
    must(dls_trace_builder_create(NULL, &builder, NULL) == DLS_OK);
    for (int i = 0; i < JOBS; i++) {
        dls_job_rec job;
        dls_job_rec_init(&job);
        const int kind = next(b), gpus = 1 + kind % 8;
        job.submit_us = next(b) * DLS_US_PER_S;
        job.duration_us = (1 + next(b)) * DLS_US_PER_S;
        job.gpus_milli = gpus * 1000;
        if (kind & 32) {
            job.min_gpus = 1;
            job.max_gpus = gpus + 3;
        }
        job.gpu_types = kind & 64 ? "T4" : kind & 128 ? "T4|V100" : NULL;
        must(dls_trace_builder_add(builder, &job, "fuzz", NULL) == DLS_OK);
    }
    must(dls_trace_builder_finish(builder, &trace, NULL) == DLS_OK);
    return trace;
}

/* One action; jobs and nodes may be some that there are not. */
static void act(dls_actions *out, const dls_view *view, bytes *b)
{
    const int what = next(b), job = next(b) % (JOBS + 2) - 1;
    dls_place_part part[2];
    dls_want want = {.type = next(b) % 5 - 1};
    switch (what % 7) {
    case 0:
        dls_act_start(out, job);
        break;
    case 1:
        dls_act_preempt(out, job);
        break;
    case 2:
        want.gpus = next(b) % 12 - 1;
        want.batch = next(b) % 3;
        dls_act_allocate(out, job, &want);
        break;
    case 3:
        for (int i = 0; i < 2; i++) {
            part[i] = (dls_place_part){next(b) % 7 - 1, next(b) % 6 - 1};
        }
        want.nodes = part;
        want.n_nodes = next(b) % 3;
        want.gpus = next(b) % 3 ? part[0].gpus + (want.n_nodes > 1 ? part[1].gpus : 0) : 0;
        dls_act_allocate(out, job, &want);
        break;
    case 4:
        dls_act_join(out, job, next(b) % (JOBS + 2) - 1);
        break;
    case 5:
        dls_act_decline(out, job);
        break;
    default:
        dls_act_wake(out, view->now_us + (next(b) - 8) * DLS_US_PER_S);
    }
}

/* Where it was cloned: what had been decided, and the bytes that were left. */
typedef struct cloned {
    dls_simulation *sim;
    bytes rest;
    int n;
} cloned;

/* Decides until the bytes are used up, then starts what fits. */
static dls_status decide(dls_simulation *sim, bytes b, int n, cloned *copy, dls_error *err)
{
    dls_actions *out = dls_simulation_actions(sim); /* a clone stands at its original's decision */
    for (; n < DECISIONS_MAX; n++, out = NULL) {
        if (!out) {
            DLS_TRY(dls_simulation_step(sim, DLS_NEVER, &out, err));
        }
        if (!out) {
            return DLS_OK;
        }
        const dls_view *view = dls_simulation_view(sim);
        if (copy && n == 2) {
            *copy = (cloned){NULL, b, n};
            must(dls_simulation_clone(sim, &copy->sim, NULL) == DLS_OK);
        }
        for (int i = next(&b) % 4; i > 0; i--) {
            act(out, view, &b);
        }
        for (int32_t j = dls_view_first_waiting(view); b.at == b.end && j >= 0;
             j = dls_view_next_waiting(view, j)) {
            if (view->gpus[j] <= view->free_gpus) {
                dls_act_start(out, j);
            }
        }
    }
    return dls_simulation_finish(sim, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dls_setup *setup;
    dls_simulation *sim = NULL;
    cloned copy = {0};
    dls_error err = {0};
    if (!setup) {
        must(dls_setup_create(&setup, NULL) == DLS_OK &&
             dls_setup_text(setup, config, NULL) == DLS_OK &&
             dls_setup_outside(setup, NULL) == DLS_OK);
    }
    bytes b = {data, data + size};
    dls_trace *trace = make_trace(&b);
    if (dls_simulation_create(setup, trace, &sim, &err) != DLS_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
        abort();
    }
    const dls_status status = decide(sim, b, 0, &copy, &err);
    if (status != DLS_OK && (status != DLS_EPOLICY || !err.msg[0])) {
        fprintf(stderr, "%d: %s: %s\n", status, err.where, err.msg);
        abort();
    }
    if (copy.sim) {
        dls_error other = {0};
        if (decide(copy.sim, copy.rest, copy.n, NULL, &other) != status ||
            (!status && dls_simulation_digest(copy.sim) != dls_simulation_digest(sim))) {
            fprintf(stderr, "the clone: %s: %s; its original: %s\n", other.where, other.msg,
                    err.msg);
            abort();
        }
    }
    dls_simulation_destroy(copy.sim);
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    return 0;
}
