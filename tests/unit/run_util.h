/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What tests of the library share: set-ups, traces in memory, simulations.
 */
#ifndef TESTS_UNIT_RUN_UTIL_H
#define TESTS_UNIT_RUN_UTIL_H

#include "dlsim/run.h"
#include "support/test.h"
#include "support/trace_of.h"

#define TIGHT                                                                                      \
    "schema_version = 1; cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = \"V100\"; }); };"   \
    "placement: { name = \"first-fit\"; };"

static dls_error err;

static inline void must(dls_status status)
{
    if (status != DLS_OK) {
        fail_msg("%s: %s: %s", dls_status_name(status), err.where, err.msg);
    }
}

/* scheduler NULL: the configuration's. */
static inline dls_setup *setup_of(const char *text, const char *scheduler)
{
    dls_setup *setup;
    must(dls_setup_create(&setup, &err));
    must(dls_setup_text(setup, text, &err));
    if (scheduler) {
        must(dls_setup_set(setup, "scheduler.name", scheduler, &err));
    }
    return setup;
}

/* Jobs that compete: at most so long between two, at most so long; with models or not. */
static inline dls_trace *trace_sized(uint32_t seed, size_t n, uint32_t gap_s, uint32_t longest_s,
                                     bool models, int64_t (*milli)(uint32_t seed))
{
    static const char *const names[] = {"resnet50", "vgg16", "bert-base", "alexnet", "inception3"};
    dls_trace *trace;
    int64_t t = 0;
    EACH_JOB(job, n, &trace) {
        seed = seed * 1664525u + 1013904223u;
        t += (seed >> 8) % gap_s * INT64_C(1000000);
        job.rec.submit_us = t;
        job.rec.gpus_milli = milli(seed);
        job.rec.duration_us = (1 + (int64_t)(seed >> 12) % longest_s) * 1000000;
        job.rec.model = models ? names[(seed >> 5) % 5] : NULL;
    }
    return trace;
}

static inline int64_t gangs_to_8(uint32_t seed)
{
    return 1000 << (seed >> 20) % 4;
}

static inline dls_trace *trace_with(uint32_t seed, size_t n, uint32_t gap_s, uint32_t longest_s,
                                    bool models)
{
    return trace_sized(seed, n, gap_s, longest_s, models, gangs_to_8);
}

/* 1/8 to 8/8 of a GPU. */
static inline int64_t eighths_of_gpu(uint32_t seed)
{
    return 125 * (1 + (int64_t)(seed >> 20) % 8);
}

static inline dls_trace *trace_of_parts(uint32_t seed, size_t n)
{
    return trace_sized(seed, n, 60, 1500, true, eighths_of_gpu);
}

static inline dls_trace *trace_of(uint32_t seed, size_t n)
{
    return trace_with(seed, n, 40, 500, false);
}

static inline dls_simulation *simulation_of(dls_setup *setup, const dls_trace *trace)
{
    dls_simulation *sim;
    if (dls_simulation_create(setup, trace, &sim, &err) != DLS_OK) {
        const char *first = dls_setup_problem(setup, 0);
        fail_msg("%s: %s: %s", err.where, err.msg, first ? first : "");
    }
    return sim;
}

static inline uint64_t digest_of_run(dls_setup *setup, const dls_trace *trace)
{
    dls_simulation *sim = simulation_of(setup, trace);
    must(dls_simulation_run(sim, &err));
    assert_true(dls_simulation_is_finished(sim));
    const uint64_t digest = dls_simulation_digest(sim);
    assert_true(digest != 0);
    dls_simulation_destroy(sim);
    return digest;
}

#endif
