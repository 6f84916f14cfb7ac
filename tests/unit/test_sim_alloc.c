/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory of a simulation. Whichever allocation fails, the run reports ENOMEM, hands out no record
 * and leaks nothing (the sanitizers watch); and the event loop allocates only to grow its tables.
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

#include "base/alloc.h"

typedef struct meter {
    int64_t asked;
    int64_t fails_at;       /* this one is refused; -1: none */
    int64_t at_first_event; /* asked when the loop begins; -1 before */
} meter;

static int hook(void *user, size_t bytes)
{
    meter *m = user;
    return m->asked++ != m->fails_at;
}

static void on_progress(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    meter *m = user;
    m->at_first_event = m->at_first_event < 0 ? m->asked : m->at_first_event;
}

static dls_status metered(sim_setup *s, meter *m, int64_t fails_at, dls_record **rec)
{
    dls_error err = {.status = DLS_OK};
    *m = (meter){.fails_at = fails_at, .at_first_event = -1};
    s->p.progress = on_progress;
    s->p.user = m;
    *rec = NULL;
    dls_alloc_set_hook(hook, m);
    const dls_status status = dls_sim_run(&s->p, rec, &err);
    dls_alloc_set_hook(NULL, NULL);
    assert_int_equal(err.status, status);
    return status;
}

/* Fail one allocation after the other, all of them or every step-th. */
static void fail_each(sim_setup *s, int64_t step)
{
    meter m;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    assert_int_equal(metered(s, &m, -1, &rec), DLS_OK);
    const int64_t all = m.asked;
    const uint64_t digest = dls_record_digest(rec);
    assert_true(all > 50);
    dls_record_destroy(rec);
    for (int64_t n = 0; n < all; n += step) {
        if (metered(s, &m, n, &rec) != DLS_ENOMEM) {
            fail_msg("%s, %s: allocation %lld of %lld may fail unnoticed", s->p.sched->name,
                     s->p.placement->name, (long long)n, (long long)all);
        }
        assert_null(rec);
    }
    assert_int_equal(metered(s, &m, all, &rec), DLS_OK);
    assert_true(dls_record_digest(rec) == digest);
}

TEST(test_every_allocation)
{
    static const char *const places[] = {"consolidated", "yarn",  "spread",   "random",
                                         "crandom",      "count", "first-fit"};
    static const char *const names[4] = {"a", "b", "c", NULL};
    static dls_vc_spec vcs[2] = {{.name = "a", .quota_gpus = {8, 2}},
                                 {.name = "b", .quota_gpus = {4, 2}}};
    for (const dls_sched_ops *const *sched = dls_scheds(); *sched; sched++) {
        const size_t k = (size_t)(sched - dls_scheds());
        const bool shares = (*sched)->share != NULL;
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, shares ? case_cluster(4, 4, 2) : two_types(3, 2, 4, 2),
                   random_trace(k, 24, 8, 6, names, NULL), (*sched)->name, places[k % 7]);
        s.cluster.vcs = vcs;
        s.cluster.n_vcs = shares ? 0 : 2;
        s.p.restore_us = S(2);
        fail_each(&s, 1);
    }
}

TEST(test_larger)
{
    static const char *const scheds[] = {"srtf", "dlas-gpu", "gandiva", "easy", "easy"};
    for (size_t k = 0; k < 5; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(8, 8, 4), random_trace(k, 1500, 16, 6, NULL, NULL), scheds[k],
                   "random");
        s.p.audit = false;
        s.p.reserve_nodes = k == 4;
        fail_each(&s, 7);
    }
}

static int64_t log2_ceil(size_t n)
{
    int64_t k = 0;
    while ((size_t)1 << k < n) {
        k++;
    }
    return k;
}

/* Thousands of events per allocation: each table doubles a few times and that is all. */
TEST(test_loop)
{
    static const char *const scheds[] = {"fifo", "srtf", "srsf", "dlas-gpu", "gandiva", "easy"};
    for (size_t k = 0; k < 6; k++) {
        for (int record = 0; record < 2; record++) {
            meter m;
            dls_record *rec;
            DLS_OWN(setup_fini) sim_setup s = {0};
            setup_init(&s, case_cluster(7, 8, 4), random_trace(k, 20000, 16, 5, NULL, NULL),
                       scheds[k], "consolidated");
            if (strcmp(scheds[k], "dlas-gpu") == 0) {
                setup_limits(&s, 2, (double[]){30, 100});
            } else if (strcmp(scheds[k], "gandiva") == 0) {
                setup_option(&s, "slice")->f = 20;
            }
            s.p.audit = false;
            s.p.want_allocs = s.p.want_series = record;
            assert_int_equal(metered(&s, &m, -1, &rec), DLS_OK);
            const int64_t in_loop = m.asked - m.at_first_event;
            /* GPUs held, jobs touched in a pass, a grant, three event queues. */
            int64_t limit = 6 * log2_ceil(rec->n_jobs);
            limit += 7 * log2_ceil(rec->allocs.n) + 7 * log2_ceil(rec->series.n);
            print_message("%-9s %7llu events, %4lld allocations in the loop, at most %lld\n",
                          scheds[k], (unsigned long long)rec->events, (long long)in_loop,
                          (long long)limit);
            assert_true(m.at_first_event > 0 && in_loop <= limit);
            const bool preempts = s.p.sched->discipline == DLS_PREEMPT;
            assert_true(rec->events >= 39000 && rec->peak_pending > 100);
            assert_true(rec->flips > rec->n_jobs + (preempts ? 4000 : 0) - 1);
            dls_record_destroy(rec);
        }
    }
}

/* A world, failures, checkpoints, jobs that share GPUs, refusals by job. */

static const dls_placement_ops *plain;

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return r->job % 5 == r->now_us / S(1) % 5 ? false : plain->place(state, index, r, grant);
}

static double share(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                    const dls_shape *host_shape)
{
    return (r->job + host) % 2;
}

static fake_world alloc_world;

static int64_t fresh_work_us(const dls_world *w, int32_t job)
{
    if (job == 0) { /* a run begins */
        memset(alloc_world.running, 0, sizeof alloc_world.running);
    }
    return fake_work_us(w, job);
}

TEST(test_world)
{
    static const dls_failure_params fail_often = {
        .node_mtbf_s = 60, .gpu_mtbf_s = 200, .shape = 1, .repair_s = 5};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(4, 4, 2), random_trace(3, 30, 4, 4, NULL, NULL), "srtf", "first-fit");
    plain = s.p.placement;
    const dls_placement_ops ops = {.abi = DLS_POLICY_ABI,
                                   .name = "sharing",
                                   .summary = "",
                                   .by_job = true,
                                   .state_bytes = plain->state_bytes,
                                   .init = plain->init,
                                   .place = place,
                                   .share = share};
    dls_pace pace = fake_pace(&alloc_world, s.trace);
    pace.work_us = fresh_work_us;
    s.p.placement = &ops;
    s.p.pace = &pace;
    s.p.failures = &fail_often;
    s.p.checkpoint_period_us = S(5);
    s.p.checkpoint_us = S(1);
    fail_each(&s, 1);
}
