/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Clones of live simulations: whenever one is made, both halves do what the undisturbed run does,
 * to every column, under every policy, with links, predictions, sharing and failures.
 */
#include "base/alloc.h"
#include "dlsim/memory.h"
#include "run_util.h"
#include "support/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN                                                                                      \
    "schema_version = 1; cluster: { nodes = ("                                                     \
    "{ name = \"a\"; count = 4; gpus = 8; gpu_type = \"V100-32GB\"; rack_size = 2; nic = \"10 "    \
    "Gb/s\"; },"                                                                                   \
    "{ name = \"b\"; count = 4; gpus = 4; gpu_type = \"A100\"; rack_size = 2; nic = \"10 Gb/s\"; " \
    "});"                                                                                          \
    "rack_uplink = \"10 Gb/s\"; };"
#define ONE_TYPE                                                                                   \
    "schema_version = 1; cluster: { nodes = ("                                                     \
    "{ name = \"a\"; count = 6; gpus = 8; gpu_type = \"V100-32GB\"; rack_size = 2; }); };"
#define WORLD PLAIN "perf: { model = \"operator\"; }; predictor: { source = \"noisy\"; };"
#define FAILING                                                                                    \
    WORLD "failures: { node_mtbf = \"12h\"; gpu_mtbf = \"2d\"; };"                                 \
          "checkpoint: { period = \"600 s\"; cost = \"5 s\"; };"
#define SERVING                                                                                    \
    FAILING                                                                                        \
        "services: { ahead = 60; list = ({ name = \"chat\"; gpu_type = \"A100\"; start = 60; "     \
        "load = \"0=20; 0.5=60; 1=20; 1.5=60; 2=20; 4=70\"; request = 0.1; bound = 0.3; }); };"

#define PARTS(mode)                                                                                \
    "schema_version = 1; cluster: { gpu_parts = \"" mode "\"; nodes = ("                            \
    "{ name = \"a\"; count = 3; gpus = 4; gpu_type = \"A100\"; }); };"                            \
    "services: { list = ({ name = \"chat\"; part = 0.3; request = 0.1; bound = 0.3; "              \
    "load = \"0=20; 0.5=60; 1=20; 1.5=60; 2=20; 4=70\"; }); }"

static dls_trace *trace_of_models(uint32_t seed, size_t n)
{
    return trace_with(seed, n, 120, 1500, true);
}

static dls_simulation *simulation_with(const char *text, const char *scheduler,
                                       const char *placement, const dls_trace *trace,
                                       dls_setup **setup)
{
    *setup = setup_of(text, scheduler);
    must(dls_setup_set(*setup, "placement.name", placement, &err));
    /* Half of the time: of a policy's two worlds, one. */
    must(dls_setup_set(*setup, "run.audit", strcmp(text, WORLD) == 0 ? "false" : "true", &err));
    return simulation_of(*setup, trace);
}

static size_t width_of(dls_value_type type)
{
    return type == DLS_VALUE_U8                                                      ? 1
           : type == DLS_VALUE_I32 || type == DLS_VALUE_U32 || type == DLS_VALUE_F32 ? 4
                                                                                     : 8;
}

static void assert_equal(const dls_simulation *a, const dls_simulation *b, const char *what)
{
    for (int t = 0; t < DLS_TABLE_COUNT; t++) {
        const size_t n = dls_simulation_n_columns(a, (dls_table)t);
        assert_int_equal(n, dls_simulation_n_columns(b, (dls_table)t));
        for (size_t i = 0; i < n; i++) {
            dls_result_column x, y;
            assert_true(dls_simulation_column_at(a, (dls_table)t, i, &x));
            assert_true(dls_simulation_column_at(b, (dls_table)t, i, &y));
            if (x.n != y.n || memcmp(x.data, y.data, x.n * width_of(x.type)) != 0) {
                fail_msg("%s: column %s of table %d differs", what, x.name, t);
            }
        }
    }
    assert_int_equal(dls_simulation_digest(a), dls_simulation_digest(b));
}

enum { JOBS = 40 + FEWER(110), CLONES = FEWER(8) }; /* clones: of the time between two and of its random part */

/* Clones at several times of a run, every other one a clone of a clone that is gone, against the whole run. */
static void check(const char *text, const char *scheduler, const char *placement,
                  const dls_trace *trace)
{
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    char what[128];
    dls_simulation *whole = simulation_with(text, scheduler, placement, trace, &setup);
    dls_simulation *first = simulation_of(setup, trace); /* networks are built for both at once */
    must(dls_simulation_run(whole, &err));
    const int64_t end_us = dls_simulation_view(whole)->now_us;
    uint32_t x = 12345;
    for (int64_t t = 0, k = 0; t < end_us; k++) {
        dls_simulation *copy, *copy_of_copy;
        snprintf(what, sizeof what, "%s, %s, at %.6f s", scheduler, placement, (double)t / 1e6);
        must(dls_simulation_run_until(first, t, &err));
        if (dls_simulation_is_finished(first)) {
            break;
        }
        must(dls_simulation_clone(first, &copy, &err));
        if (k % 2 == 1) {
            must(dls_simulation_run_until(copy, t + end_us / 7, &err));
            if (!dls_simulation_is_finished(copy)) {
                must(dls_simulation_clone(copy, &copy_of_copy, &err));
                dls_simulation_destroy(copy);
                copy = copy_of_copy;
            }
        }
        must(dls_simulation_run(copy, &err));
        assert_equal(whole, copy, what);
        dls_simulation_destroy(copy);
        x = x * 1664525u + 1013904223u;
        t += end_us / CLONES + (int64_t)(x >> 4) % (2 * end_us / CLONES);
    }
    must(dls_simulation_run(first, &err));
    assert_equal(whole, first, "the original");
    dls_simulation_destroy(first);
    dls_simulation_destroy(whole);
}

TEST(schedulers)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_models(1, JOBS);
    for (const dls_sched_ops *const *s = dls_scheds(); *s; s++) {
        check((*s)->share ? ONE_TYPE : PLAIN, (*s)->name, "consolidated", trace);
        if (!(*s)->share) {
            check(WORLD, (*s)->name, "tiresias", trace);
        }
    }
    check(PLAIN "scheduler: { estimates = \"history\"; };", "srsf", "consolidated", trace);
    dls_trace_destroy(trace);
    trace = trace_of_models(1, 600); /* of which trees learn */
    check(PLAIN "scheduler: { estimates = \"history-trees\"; };", "srsf", "consolidated", trace);
}

TEST(placements)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_models(2, JOBS);
    for (const dls_placement_ops *const *p = dls_placements(); *p; p++) {
        check(WORLD, "dlas-gpu", (*p)->name, trace);
        check(p == dls_placements() ? SERVING : FAILING, "fjf", (*p)->name, trace);
    }
}

/* Jobs on parts of GPUs, with guests and without. */
TEST(parts)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_parts(4, 150);
    check(PARTS("any") ";", "srtf", "consolidated", trace);
    check(PARTS("mig") ";", "muri-s", "first-fit", trace);
    check(PARTS("mig") "; perf: { model = \"operator\"; }; predictor: { source = \"noisy\"; };",
          "srtf", "driple-pack", trace);
    for (int k = 0; k < 2; k++) {
        check(k ? PARTS("mig") ";" : PARTS("any") ";", "fjf", "fgd", trace);
    }
}

/* ---- what differs stays apart ---------------------------------------------------------------- */

static void start_all(dls_simulation *sim, dls_actions *act)
{
    const dls_view *view = dls_simulation_view(sim);
    for (int32_t j; (j = dls_view_first_waiting(view)) >= 0;) {
        if (view->gpus[j] > view->free_gpus || !dls_act_start(act, j)) {
            return;
        }
    }
}

TEST(what_if)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_models(3, 60);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    dls_simulation *sim, *other;
    dls_actions *act;
    must(dls_setup_create(&setup, &err));
    must(dls_setup_text(setup, ONE_TYPE "placement: { name = \"first-fit\"; };", &err));
    must(dls_setup_set(setup, "run.audit", "true", &err)); /* looks at the view around each action */
    must(dls_setup_outside(setup, &err));
    must(dls_simulation_create(setup, trace, &sim, &err));
    assert_null(dls_simulation_actions(sim));
    for (int i = 0; i < 40; i++) {
        must(dls_simulation_step(sim, DLS_NEVER, &act, &err));
        start_all(sim, act);
    }
    must(dls_simulation_step(sim, DLS_NEVER, &act, &err));
    must(dls_simulation_clone(sim, &other, &err)); /* in the middle of a decision */
    assert_non_null(dls_simulation_actions(other));
    assert_ptr_not_equal(dls_simulation_actions(other), act);
    const int32_t running = dls_simulation_view(sim)->running_jobs;
    assert_true(running > 0);
    for (int32_t k = 0; k < running; k++) {
        dls_act_preempt(dls_simulation_actions(other),
                        dls_view_first_running(dls_simulation_view(other)));
    }
    assert_int_equal(dls_simulation_view(other)->running_jobs, 0);
    assert_int_equal(dls_simulation_view(sim)->running_jobs, running);
    assert_int_equal(dls_place_free_gpus(dls_simulation_index(other), 0), 48);
    assert_true(dls_place_free_gpus(dls_simulation_index(sim), 0) < 48);
    dls_simulation *const both[] = {sim, other};
    uint64_t digest[2];
    for (int k = 0; k < 2; k++) {
        act = dls_simulation_actions(both[k]);
        while (act) {
            start_all(both[k], act);
            must(dls_simulation_step(both[k], DLS_NEVER, &act, &err));
        }
        assert_true(dls_simulation_counts(both[k]).complete);
        digest[k] = dls_simulation_digest(both[k]);
    }
    assert_true(digest[0] != digest[1]);
    assert_int_equal(dls_simulation_clone(sim, &other, &err), DLS_EUSAGE); /* finished */
    dls_simulation_destroy(both[0]);
    dls_simulation_destroy(both[1]);
}

/* A policy with memory that it cannot copy. */
static dls_status take(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *e)
{
    *(void **)state = dls_alloc(8);
    return *(void **)state ? DLS_OK : dls_nomem(e, "test", 8);
}

static void give(void *state)
{
    dls_free(*(void **)state);
}

static void first_first(void *state, const dls_view *view, int32_t job, dls_job_event why,
                        dls_priority *out)
{
    out->key = view->submit_us[job];
}

TEST(no_clone)
{
    static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                                      .name = "hoarder",
                                      .summary = "has memory",
                                      .state_bytes = sizeof(void *),
                                      .init = take,
                                      .fini = give,
                                      .priority = first_first};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_models(4, 20);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    dls_simulation *sim, *copy;
    must(dls_setup_create(&setup, &err));
    must(dls_setup_text(setup, ONE_TYPE, &err));
    must(dls_setup_sched(setup, &ops, &err));
    must(dls_simulation_create(setup, trace, &sim, &err));
    assert_int_equal(dls_simulation_clone(sim, &copy, &err), DLS_EPOLICY);
    assert_string_equal(err.where, "hoarder");
    must(dls_simulation_run(sim, &err)); /* as if nothing had been asked */
    dls_simulation_destroy(sim);
}

/* ---- without memory -------------------------------------------------------------------------- */

/* A clone that fails at any of its allocations leaves nothing behind and the original as it was. */
static void check_no_memory(const char *text, const char *scheduler, const char *placement)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of_models(5, 80);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    dls_simulation *whole = simulation_with(text, scheduler, placement, trace, &setup), *copy;
    dls_simulation *sim = simulation_of(setup, trace);
    must(dls_simulation_run(whole, &err));
    must(dls_simulation_run_until(sim, dls_simulation_view(whole)->now_us / 3, &err));
    EACH_REFUSED(51, dls_simulation_clone(sim, &copy, &err));
    must(dls_simulation_run(copy, &err));
    assert_equal(whole, copy, "the clone");
    must(dls_simulation_run(sim, &err));
    assert_equal(whole, sim, "the original");
    dls_simulation_destroy(copy);
    dls_simulation_destroy(sim);
    dls_simulation_destroy(whole);
}

TEST(no_memory)
{
    check_no_memory(PLAIN, "gittins", "tiresias");
    check_no_memory(ONE_TYPE, "multi-dlas-gpu", "consolidated");
    check_no_memory(FAILING, "shortest-expected", "driple-pack");
    check_no_memory(SERVING, "fjf", "driple-net");
}

/* Kueue's queues preempt, by policies and by shares. */
TEST(kueue_tables)
{
    char name[] = "/tmp/dlsim-clone-XXXXXX", file[2][64], text[1024];
    assert_non_null(mkdtemp(name));
    for (int k = 0; k < 2; k++) {
        snprintf(file[k], sizeof file[k], "%s/%d.csv", name, k);
        FILE *f = fopen(file[k], "w");
        assert_non_null(f);
        fputs(k ? "job_id,num_gpu,submit_time,duration,vc,priority\n"
                : "name,parent,gpus,borrow,lend,weight,within,reclaim,borrowing,order\na,left,12,,,2,LowerPriority,Any,3,\n"
                  "b,left,8,16,,1,LowerOrNewerEqualPriority,LowerPriority,LowerPriority,\nc,root,24,,8,0,,Any,,StrictFIFO\n"
                  "left,root,4,,,,,,,\n",
              f);
        for (int i = 0; k && i < 80; i++) {
            fprintf(f, "%d,%d,%d,%d,%s,%d\n", i, 1 << i * 7 % 4, 30 * i, 200 + 137 * i % 1700, i % 9 ? (const char *[]){"a", "b", "c"}[i * 5 % 3] : "d",
                    i * 11 % 6);
        }
        assert_int_equal(fclose(f), 0);
    }
    dls_trace *trace;
    must(dls_trace_load(file[1], NULL, NULL, &trace, &err));
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, PLAIN "scheduler: { name = \"kueue\"; cohorts = \"%s\"; fair_sharing = \"%s\"; };", file[0],
                 k ? "both" : "none");
        check(text, "kueue", "consolidated", trace);
    }
    check_no_memory(text, "kueue", "consolidated");
    dls_trace_destroy(trace);
    assert_int_equal(remove(file[0]), 0);
    assert_int_equal(remove(file[1]), 0);
    assert_int_equal(remove(name), 0);
}

/* Slurm with all its tables: jobs without GPUs, shares, partitions, jobs, QoS that preempts, outages. */
TEST(slurm_tables)
{
    char name[] = "/tmp/dlsim-clone-XXXXXX", file[6][64], text[1024];
    assert_non_null(mkdtemp(name));
    static const char *const tables[] = {
        "submit,duration,limit,nodes,cpus,mem_mib,user,account,partition\n",
        "account,user,shares\nml,,10\nml,ann,1\nml,bob,3\n",
        "partition,tier,factor,limit,most,first,last\nlow,1,0.5,,,0,3\nhigh,9,1,7200,,2,5\n",
        "job,cpus,qos,reservation,after\n",
        "qos,priority,preempts\nlow,0,\nhigh,10,low\n",
        "reservation,known,start,end,first,last\nmaint,100,1000,2000,0,1\n,,3000,4000,4,5\n"};
    for (int k = 0; k < 6; k++) {
        snprintf(file[k], sizeof file[k], "%s/%d.csv", name, k);
        FILE *f = fopen(file[k], "w");
        assert_non_null(f);
        fputs(tables[k], f);
        for (int i = 0; k == 0 && i < 100; i++) {
            fprintf(f, "%d,%d,,%d,%d,,%s,ml,%s\n", 60 * i, 300 + 37 * i % 900, 1 + i % 3,
                    16 + i % 40, i % 2 ? "ann" : "bob", i % 5 ? "low" : "high");
        }
        for (int i = 0; k == 3 && i < 150; i++) {
            fprintf(f, "%d,%d,%s,%s,%d\n", i, 1 + i % 7, i % 4 ? "low" : "high",
                    i % 50 == 7 ? "maint" : "", i > 20 ? i - 15 : 0);
        }
        fclose(f);
    }
    snprintf(
        text, sizeof text,
        "schema_version = 1; cluster: { nodes = ({ name = \"a\"; count = 6; gpus = 8; gpu_type = "
        "\"V100\"; cpus = 64; }); }; scheduler: { name = \"slurm\"; priority = \"multifactor\"; "
        "weight_fairshare = 1000; cpu_jobs = \"%s\"; shares = \"%s\"; partitions = \"%s\"; "
        "jobs = \"%s\"; qos = \"%s\"; outages = \"%s\"; preempt = true; weight_qos = 100; };",
        file[0], file[1], file[2], file[3], file[4], file[5]);
    dls_trace *trace = trace_of_models(6, 150);
    check(text, "slurm", "first-fit", trace);
    check_no_memory(text, "slurm", "first-fit");
    dls_trace_destroy(trace);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(remove(file[k]), 0);
    }
    assert_int_equal(remove(name), 0);
}
