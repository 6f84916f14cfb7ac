/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs that share the GPUs of another: what becomes of guest and host, and on random traces, audited
 * after every event, that rows, times and counts fit together.
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

static const dls_placement_ops *plain; /* places for the ones below */

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return plain->place(state, index, r, grant);
}

static double share_any(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                        const dls_shape *shape)
{
    assert_true(shape->gpus == r->gpus && shape->type == r->type && host != r->job);
    return 1 + host;
}

/* Job 1 would rather wait than have GPUs of its own. */
static bool place_others(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return r->job != 1 && plain->place(state, index, r, grant);
}

static int32_t asked;

static double share_some(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                         const dls_shape *shape)
{
    (void)share_any(state, index, r, host, shape);
    asked++;
    return (double)(dls_mix64((uint64_t)(r->job * 64 + host)) % 5) - 2;
}

static dls_placement_ops sharing(double (*share)(void *, const dls_place_index *, const dls_request *,
                                                 int32_t, const dls_shape *))
{
    plain = case_placement("first-fit");
    return (dls_placement_ops){.abi = DLS_POLICY_ABI,
                               .name = "sharing",
                               .summary = "",
                               .gpus_only = plain->gpus_only,
                               .state_bytes = plain->state_bytes,
                               .init = plain->init,
                               .place = place,
                               .share = share};
}

static dls_record *run_on(dls_cluster_spec cluster, const case_job *jobs, size_t n, const char *sched,
                          fake_world *world)
{
    sim_setup s;
    setup_init(&s, cluster, case_trace(jobs, n), sched, "first-fit");
    const dls_placement_ops ops = sharing(share_any);
    const dls_pace pace = fake_pace(world, s.trace);
    world->by_gpu = true;
    s.p.placement = &ops;
    s.p.pace = &pace;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

static dls_record *run_jobs(const case_job *jobs, size_t n, const char *sched, fake_world *world)
{
    return run_on(case_cluster(1, 4, 0), jobs, n, sched, world);
}

/* Jobs 0 and 5 run at rate 1 alone, at half of it beside another. */
TEST(test_inherit)
{
    const case_job jobs[] = {{0, 10, 4, NULL, NULL}, {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL},
                             {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL}, {2, 10, 4, NULL, NULL}};
    fake_world world;
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_jobs(jobs, 6, "fifo", &world);
    assert_int_equal(rec->start_us[5], S(2));
    assert_int_equal(rec->end_us[0], S(18)); /* 2 s alone, then 8 s of work at half the rate */
    assert_int_equal(rec->end_us[5], S(20)); /* 8 s done by then, 2 s alone */
    assert_int_equal(rec->guest_us[5], S(16));
    assert_int_equal(rec->guest_us[0], 0);
    assert_int_equal(rec->guest_starts, 1);
    assert_int_equal(rec->preempts[5], 0);
}

TEST(test_guest_first)
{
    /* The guest ends first; the next in line then shares with the same host. */
    const case_job jobs[] = {{0, 20, 4, NULL, NULL}, {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL},
                             {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL}, {2, 3, 4, NULL, NULL},
                             {3, 3, 4, NULL, NULL}};
    fake_world world;
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_jobs(jobs, 7, "fifo", &world);
    assert_int_equal(rec->start_us[5], S(2));
    assert_int_equal(rec->end_us[5], S(8));
    assert_int_equal(rec->start_us[6], S(8));
    assert_int_equal(rec->end_us[6], S(14));
    assert_int_equal(rec->end_us[0], S(26));
}

TEST(test_evicted)
{
    /* A shorter job takes the GPUs from host and guest; both come back in their order. */
    const case_job jobs[] = {{0, 50, 4, NULL, NULL}, {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL},
                             {0, 90, 8, NULL, NULL}, {0, 90, 8, NULL, NULL}, {2, 60, 4, NULL, NULL},
                             {10, 5, 3, NULL, NULL}};
    fake_world world;
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_jobs(jobs, 7, "srtf", &world);
    assert_int_equal(rec->preempts[0], 1);
    assert_int_equal(rec->preempts[5], 1);
    assert_int_equal(rec->start_us[6], S(10));
    assert_int_equal(rec->end_us[6], S(15));
    assert_int_equal(rec->resumes[0], 2);
    assert_int_equal(rec->resumes[5], 2);
    assert_int_equal(rec->pending_us[0], S(5));
    assert_int_equal(rec->pending_us[5], S(5));
}

/* A host whose guest ends is there for jobs that ask for different types: who stands first joins it. */
TEST(test_order_of_classes)
{
    const case_job jobs[] = {{0, 900, 4, NULL, "V100"}, {0, 900, 4, NULL, "P100"}, {0, 900, 4, NULL, "P100"},
                             {1, 3, 4, NULL, NULL},     {2, 3, 4, NULL, NULL},     {3, 3, 4, NULL, "V100"}};
    static const char *const names[] = {"fifo", "easy", "fjf"};
    for (size_t i = 0; i < 3; i++) {
        fake_world world;
        DLS_HOLD(dls_record_destroy) dls_record *rec = run_on(two_types(1, 1, 4, 0), jobs, 6, names[i], &world);
        assert_int_equal(rec->start_us[3], S(1));
        assert_int_equal(rec->start_us[4], rec->end_us[3]);
        assert_int_equal(rec->start_us[5], rec->end_us[4]);
    }
}

/* As many hosts as there are jobs that wait: all join at once. */
TEST(test_many_at_once)
{
    case_job jobs[16];
    static const char *const names[] = {"fifo", "easy", "fjf", "srtf"};
    for (int i = 0; i < 16; i++) {
        jobs[i] = (case_job){0, 50, 4, NULL, NULL};
    }
    for (size_t i = 0; i < 4; i++) {
        fake_world world;
        DLS_HOLD(dls_record_destroy) dls_record *rec = run_on(case_cluster(8, 4, 0), jobs, 16, names[i], &world);
        for (size_t j = 0; j < 16; j++) {
            assert_int_equal(rec->start_us[j], 0);
        }
        assert_int_equal(rec->guest_starts, 8);
    }
}

/* A job that the placement refuses joins another: who stood behind it and asks for the same starts at once. */
TEST(test_refused_joins)
{
    const case_job jobs[] = {{0, 90, 4, NULL, NULL}, {1, 50, 4, NULL, NULL}, {1, 50, 4, NULL, NULL}};
    static const char *const names[] = {"fifo", "easy"};
    for (size_t i = 0; i < 2; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 3), names[i], "first-fit");
        dls_placement_ops ops = sharing(share_any);
        ops.place = place_others;
        const dls_pace pace = fake_pace(&world, s.trace);
        world.by_gpu = true;
        s.p.placement = &ops;
        s.p.pace = &pace;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_int_equal(rec->guest_starts, 1);
        assert_int_equal(rec->start_us[1], S(1));
        assert_int_equal(rec->start_us[2], S(1));
    }
}

/* ---- random ------------------------------------------------------------------------------------ */

/* Owners never overlap on a GPU; a guest's row is covered by rows of owners with the same mask. */
static void check_rows(const dls_record *rec, const int32_t *gpus)
{
    const dls_alloc_rows *a = &rec->allocs;
    int64_t guest_us[FAKE_JOBS] = {0};
    for (size_t i = 0; i < a->n; i++) {
        int64_t covered = 0;
        for (size_t k = 0; k < a->n; k++) {
            const int64_t from = a->start_us[i] > a->start_us[k] ? a->start_us[i] : a->start_us[k];
            const int64_t to = a->end_us[i] < a->end_us[k] ? a->end_us[i] : a->end_us[k];
            if (k == i || a->guest[k] || a->node[i] != a->node[k] ||
                !(a->gpu_mask[i] & a->gpu_mask[k]) || from >= to) {
                continue;
            }
            assert_true(a->guest[i] && a->gpu_mask[i] == a->gpu_mask[k]);
            covered += to - from;
        }
        if (a->guest[i]) {
            assert_int_equal(covered, a->end_us[i] - a->start_us[i]);
            guest_us[a->job[i]] += covered * a->gpus[i];
        }
    }
    for (size_t j = 0; j < rec->n_jobs; j++) {
        assert_int_equal(guest_us[j], rec->guest_us[j] * gpus[j]);
    }
}

TEST(test_random)
{
    static const char *const names[4] = {"a", "b", "c", NULL};
    static const char *const types[4] = {"V100", "P100", "V100|P100", NULL};
    static dls_vc_spec vcs[2] = {{"a", {4, 2}}, {"b", {2, 2}}};
    uint64_t guests = 0, events = 0;
    size_t n = 0;
    asked = 0;
    while (dls_scheds()[n]) {
        n++;
    }
    for (uint64_t seed = 0; seed < FEWER(260); seed++) {
        const dls_sched_ops *sched = dls_scheds()[seed % n];
        if (sched->share || sched->joins) {
            continue;
        }
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        setup_init(&s, two_types(2, 2, 4, 1), random_trace(seed, 40, 5, 4, names, types), sched->name,
                   "first-fit");
        const dls_placement_ops ops = sharing(share_some);
        const dls_pace pace = fake_pace(&world, s.trace);
        world.by_gpu = true;
        s.p.placement = &ops;
        s.p.pace = &pace;
        s.p.restore_us = seed / n % 2 ? S(3) : 0;
        s.cluster.vcs = seed / n % 3 ? vcs : NULL;
        s.cluster.n_vcs = seed / n % 3 ? 2 : 0;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            assert_true(rec->state[j] == DLS_JOB_FINISHED || rec->state[j] == DLS_JOB_INFEASIBLE);
        }
        assert_int_equal(world.starts, world.stops);
        check_rows(rec, dls_trace_cols(s.trace)->gpus);
        guests += rec->guest_starts;
        events += rec->events;
    }
    print_message("%llu guests in %llu events, %d questions\n", (unsigned long long)guests,
                  (unsigned long long)events, asked);
    assert_true(guests > FEWER(1000));
}
