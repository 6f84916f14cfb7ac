/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs: allocations that change, GPU types and nodes that the scheduler names, jobs
 * that join others, jobs that are turned away; times worked out by hand. Every illegal action is
 * refused.
 */
#include "elastic_util.h"

/* ---- elastic jobs ---------------------------------------------------------------------------- */

static const case_job two[] = {{0, 100, 2, NULL, NULL}, {20, 40, 2, NULL, NULL}};
static const step grow_and_shrink[] = {
    {0, GIVE, 0, 0, {.type = -1, .gpus = 4}},
    {20, GIVE, 0, 0, {.type = -1, .gpus = 2}},
    {20, START, 1, 0, {0}},
    {60, GIVE, 0, 0, {.type = -1, .gpus = 4}},
};

/* Job 0 runs at twice its speed to 20 s (60 s left), at its own to 60 s (20 s left), at twice to 70
 * s. */
TEST(test_resize)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->end_us[0], S(70));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->resumes[0], 3);
    assert_int_equal(rec->overhead_us[0], 0);
    dls_record_destroy(rec);
    /* Each change restores for 5 s: 60 s left at 25 s, 25 s at 60 s, half of that from 65 s. */
    s.p.restore_us = S(5);
    rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(77.5));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->overhead_us[0], S(10));
}

static int64_t restore_two(void *user, int32_t job, const dls_shape *shape)
{
    return job == 0 ? S(shape->gpus) : -1;
}

TEST(test_restore_by_job)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    elastic.restore_us = restore_two;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->overhead_us[0], S(2 + 4));
    assert_int_equal(rec->end_us[0], S(60 + 4 + 11)); /* 22 s left at 60 s */
}

/* Twice the batch at half the speed from 10 s on; the same again costs nothing. */
TEST(test_batch)
{
    static const case_job jobs[] = {{0, 50, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 0, 0, {0}},
                                 {10, GIVE, 0, 0, {.type = -1, .batch = 64}},
                                 {20, GIVE, 0, 0, {.type = -1, .batch = 64}},
                                 {30, GIVE, 0, 0, {.type = -1}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(90));
    assert_int_equal(rec->resumes[0], 2);
}

/* ---- where ----------------------------------------------------------------------------------- */

TEST(test_types_and_nodes)
{
    static const dls_place_part on_two[] = {{3, 1}, {2, 2}};
    static const case_job jobs[] = {{0, 30, 2, NULL, NULL}, {0, 30, 3, NULL, NULL}};
    static const step steps[] = {
        {0, GIVE, 0, 0, {.type = 1, .gpus = 2}},
        {0, GIVE, 1, 0, {.type = 1, .nodes = on_two, .n_nodes = 2, .gpus = 3}},
        {10, GIVE, 0, 0, {.type = 0, .gpus = 2}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, two_types(2, 2, 4, 0), jobs, steps);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(30));
    assert_int_equal(rec->end_us[1], S(30));
    int32_t seen = 0;
    for (size_t i = 0; i < rec->allocs.n; i++) {
        const int32_t node = rec->allocs.node[i];
        if (rec->allocs.job[i] == 1) {
            assert_int_equal(rec->allocs.gpus[i], node == 3 ? 1 : 2);
            seen |= 1 << node;
        } else {
            assert_int_equal(node / 2, rec->allocs.start_us[i] < S(10));
        }
    }
    assert_int_equal(seen, 1 << 2 | 1 << 3);
}

/* ---- sharing --------------------------------------------------------------------------------- */

/* Three jobs on the same two GPUs; the host goes at 10 s, the next at 30 s. */
TEST(test_join)
{
    static const case_job jobs[] = {{0, 10, 2, NULL, NULL},
                                    {0, 40, 2, NULL, NULL},
                                    {0, 30, 2, NULL, NULL},
                                    {0, 5, 2, NULL, NULL}};
    static const step steps[] = {
        {0, START, 0, 0, {0}}, {0, JOIN, 2, 0, {0}}, {0, JOIN, 1, 0, {0}}, {35, START, 3, 0, {0}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(10));
    assert_int_equal(rec->end_us[1], S(40));
    assert_int_equal(rec->end_us[2], S(30));
    assert_int_equal(rec->end_us[3], S(40));
    assert_int_equal(rec->guest_starts, 2);
    assert_int_equal(rec->guest_us[2], S(10));
    assert_int_equal(rec->guest_us[1], S(30)); /* of job 2 from 10 s on */
    assert_true(rec->guest_gpu_s == 80);
}

/* A host that is preempted takes its guests with it; a guest that is preempted leaves the others.
 */
TEST(test_join_preempted)
{
    static const case_job jobs[] = {
        {0, 40, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 0, 0, {0}}, {0, JOIN, 1, 0, {0}},
                                 {0, JOIN, 2, 0, {0}},  {10, TAKE, 1, 0, {0}},
                                 {20, TAKE, 0, 0, {0}}, {30, START, 0, 0, {0}},
                                 {30, JOIN, 1, 0, {0}}, {30, START, 2, 0, {0}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(50));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->end_us[2], S(50));
    assert_int_equal(rec->preempts[2], 1);
}

static bool place_but_at_10_s(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return r->now_us != S(10) && case_placement("consolidated")->place(state, index, r, grant);
}

/* A guest is to have GPUs of its own, which the placement refuses at first: it stays where it is. */
TEST(test_guest_refused)
{
    static const case_job jobs[] = {{0, 40, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 0, 0, {0}},
                                 {0, JOIN, 1, 0, {0}},
                                 {10, GIVE, 1, 0, {.type = -1}},
                                 {20, GIVE, 1, 0, {.type = -1}}};
    for (size_t n = 3; n <= 4; n++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        RUN(&s, case_cluster(1, 4, 0), jobs, steps);
        n_steps = n;
        dls_placement_ops ops = *s.p.placement;
        ops.place = place_but_at_10_s;
        s.p.placement = &ops;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_int_equal(last_done, n == 4);
        assert_int_equal(rec->preempts[1], n == 4);
        assert_int_equal(rec->guest_us[1], S(n == 4 ? 20 : 40));
        assert_int_equal(rec->end_us[1], S(40));
    }
}

/* ---- turned away ----------------------------------------------------------------------------- */

static bool admit_short(void *state, const dls_view *view, int32_t job)
{
    return view->duration_us[job] <= S(50);
}

TEST(test_admit_and_decline)
{
    static const case_job jobs[] = {
        {0, 60, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}, {5, 40, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 1, 0, {0}}, {5, DECLINE, 2, 0, {0}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    ops.admit = admit_short;
    s.p.sched = &ops;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->state[0], DLS_JOB_DECLINED);
    assert_int_equal(rec->state[1], DLS_JOB_FINISHED);
    assert_int_equal(rec->state[2], DLS_JOB_DECLINED);
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static dls_observation seen[16];
static size_t n_seen;
static int64_t service_at_end;

static void take_note(void *state, const dls_view *view, const dls_observation *what)
{
    dls_place_part part;
    seen[n_seen++] = *what;
    assert_int_equal(view->held_type[what->job], what->type); /* it is still where it ran */
    assert_int_equal(dls_view_nodes(view, what->job, &part, 1), what->n_nodes);
    assert_int_equal(part.gpus, what->gpus);
    service_at_end = dls_view_service_us(view, what->job, -1);
}

TEST(test_seen)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    ops.seen = take_note;
    s.p.sched = &ops;
    n_seen = 0;
    dls_record_destroy(case_run(&s.p));
    assert_int_equal(n_seen, 4);
    static const struct {
        int32_t job, gpus;
        double executed_s, rate;
    } want[] = {{0, 4, 20, 2}, {1, 2, 40, 1}, {0, 2, 40, 1}, {0, 4, 10, 2}};
    for (size_t i = 0; i < n_seen; i++) {
        assert_int_equal(seen[i].job, want[i].job);
        assert_int_equal(seen[i].gpus, want[i].gpus);
        assert_int_equal(seen[i].executed_us, S(want[i].executed_s));
        assert_true(fabs(seen[i].rate - want[i].rate) < 1e-5);
        assert_true(isnan(seen[i].iteration_s));
    }
    assert_int_equal(service_at_end, S(20 * 4 + 40 * 2 + 10 * 4));
}

/* ---- illegal actions ------------------------------------------------------------------------- */

static dls_status wake_now(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    dls_act_wake(out, view->now_us);
    return DLS_OK;
}

/* Each names the policy, the job and the time. */
TEST(test_illegal)
{
    static const dls_place_part wild[] = {{7, 2}}, few[] = {{0, 1}}, none[] = {{0, 0}, {1, 2}};
    static const case_job jobs[] = {
        {0, 100, 2, NULL, NULL}, {0, 100, 2, NULL, "gpu"}, {50, 1, 1, NULL, NULL}};
    static const struct {
        step step;
        const char *text;
    } bad[] = {
        {{1, START, 9, 0, {0}}, "is to start"},
        {{1, START, -1, 0, {0}}, "is to start"},
        {{1, START, 2, 0, {0}}, "is to start"},
        {{1, START, 0, 0, {0}}, "is to start, but does not wait"},
        {{1, GIVE, 1, 0, {.type = 1}}, "is to get GPUs of type 1"},
        {{1, GIVE, 1, 0, {.type = -2}}, "of type -2"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = 9}}, "can use 1 to 8"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = -1}}, "can use 1 to 8"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = 7}}, "which are not free"},
        {{1, GIVE, 1, 0, {.type = -1, .batch = -5}}, "with a batch of -5"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = wild, .n_nodes = 1}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = few, .n_nodes = 1}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = none, .n_nodes = 2}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = few, .n_nodes = 0}}, "named nodes"},
        {{1, GIVE, 2, 0, {.type = -1}}, "neither waits nor runs"},
        {{1, TAKE, 1, 0, {0}}, "is to be preempted, but does not run"},
        {{1, TAKE, 77, 0, {0}}, "is to be preempted"},
        {{1, JOIN, 0, 1, {0}}, "is to join job 1"},
        {{1, JOIN, 1, 1, {0}}, "is to join job 1"},
        {{1, JOIN, 1, 99, {0}}, "is to join job 99"},
        {{1, DECLINE, 0, 0, {0}}, "does not wait"},
        {{1, DECLINE, 2, 0, {0}}, "does not wait"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const step steps[] = {{0, START, 0, 0, {0}}, bad[i].step};
        sim_setup s;
        RUN(&s, case_cluster(2, 4, 0), jobs, steps);
        refused_job(&s, bad[i].step.job, 1, bad[i].text);
    }
    sim_setup s;
    /* One that does not say that it joins jobs. */
    const step join[] = {{0, START, 0, 0, {0}}, {1, JOIN, 1, 0, {0}}};
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(2, 4, 0), jobs, join);
    ops.joins = false;
    s.p.sched = &ops;
    refused_job(&s, 1, 1, "does not say that it joins");
    /* One that says that it resizes nobody. */
    const step grow[] = {{0, START, 0, 0, {0}}, {1, GIVE, 0, 0, {.type = -1, .gpus = 4}}};
    ops = scripted;
    RUN(&s, case_cluster(2, 4, 0), jobs, grow);
    ops.rigid = true;
    s.p.sched = &ops;
    refused_job(&s, 0, 1, "is to get 4 GPUs and asks for 2");
    ops = scripted;
    /* A host on GPUs of a type that the job cannot use. */
    const case_job apart[] = {{0, 50, 1, NULL, "V100"}, {0, 50, 1, NULL, "P100"}};
    RUN(&s, two_types(1, 1, 4, 0), apart, join);
    refused_job(&s, 1, 1,
                "on a type or a number of GPUs or in a virtual cluster that it cannot use");
    /* More on the same GPUs than a group holds. */
    case_job crowd[DLS_GROUP_MAX + 1];
    step joins[DLS_GROUP_MAX + 1];
    for (int32_t j = 0; j <= DLS_GROUP_MAX; j++) {
        crowd[j] = (case_job){.duration_s = 50, .gpus = 1};
        joins[j] = (step){1, j == 0 ? START : JOIN, j, 0, {0}};
    }
    joins[0].at_s = 0;
    RUN(&s, case_cluster(1, 4, 0), crowd, joins);
    refused_job(&s, DLS_GROUP_MAX, 1, "shares with");
    /* Waking is about no job. */
    ops.pass = wake_now;
    RUN(&s, case_cluster(1, 4, 0), crowd, join);
    s.p.sched = &ops;
    refused(&s, "wants to be woken", "not in the future", " (at 0.000000 s)");
}
