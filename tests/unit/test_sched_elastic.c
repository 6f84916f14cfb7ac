/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * elasticflow and edf on cases worked out by hand; who is let in keeps its deadline, whatever comes
 * later.
 */
#include "sched/elasticflow_plan.h"
#include "support/must.h"
#include "support/sim_setup.h"
#include "support/trace_of.h"

#define JOBS_MAX 40

typedef struct one_job {
    double submit_s, work_s; /* on one GPU */
    int max;
    double deadline_s; /* < 0: none */
    double two;        /* speed on two GPUs, 0: every GPU brings as much as the first */
} one_job;

static const one_job *jobs;
static int32_t least[JOBS_MAX], most[JOBS_MAX];

static double speed(void *user, int32_t job, const dls_shape *shape, int64_t batch)
{
    return jobs[job].two > 0 && shape->gpus >= 2 ? jobs[job].two : shape->gpus;
}

static const dls_elastic elastic = {.min_gpus = least, .max_gpus = most, .speed = speed};

static void set_up(sim_setup *s, const one_job *of, size_t n, int gpus, const char *sched)
{
    dls_trace *trace;
    jobs = of;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = S(of[job.i].submit_s);
        job.rec.duration_us = S(of[job.i].work_s);
        job.rec.gpus_milli = 1000;
        job.rec.deadline_us = of[job.i].deadline_s < 0 ? DLS_ABSENT : S(of[job.i].deadline_s);
        least[job.i] = 1;
        most[job.i] = of[job.i].max;
    }
    setup_init(s, case_cluster(1, gpus, 0), trace, sched, "consolidated");
    s->p.elastic = &elastic;
}

typedef struct outcome {
    uint8_t state;
    double end_s;
} outcome;

static void expect(sim_setup *s, const outcome *want, size_t n)
{
    dls_record *rec = case_run(&s->p);
    for (size_t j = 0; j < n; j++) {
        assert_int_equal(rec->state[j], want[j].state);
        if (want[j].state == DLS_JOB_FINISHED &&
            fabs((double)rec->end_us[j] / 1e6 - want[j].end_s) > 1e-3) {
            fail_msg("job %zu ends at %.6f s and not at %.6f", j, (double)rec->end_us[j] / 1e6,
                     want[j].end_s);
        }
    }
    dls_record_destroy(rec);
    setup_fini(s);
}

/* 100 s of work do not fit into 5 s on 4 GPUs, nor anything into the past. The job that is alone
 * then has all GPUs. Without a deadline everything is let in. */
TEST(test_hopeless)
{
    static const one_job of[] = {
        {0, 100, 4, 100, 0}, {0, 100, 4, 5, 0}, {10, 1, 4, 3, 0}, {25, 4, 4, -1, 0}};
    static const outcome want[] = {{DLS_JOB_FINISHED, 25},
                                   {DLS_JOB_DECLINED, 0},
                                   {DLS_JOB_DECLINED, 0},
                                   {DLS_JOB_FINISHED, 26}};
    sim_setup s;
    set_up(&s, of, 4, 4, "elasticflow");
    expect(&s, want, 4);
}

/* Job 0 needs both GPUs until its deadline. At 10 s job 1 would take them from it, job 2 can wait
 * until 50 s; from then on it has both. */
TEST(test_promise)
{
    static const one_job of[] = {{0, 100, 2, 50, 0}, {10, 10, 2, 40, 0}, {10, 10, 2, 60, 0}};
    static const outcome want[] = {
        {DLS_JOB_FINISHED, 50}, {DLS_JOB_DECLINED, 0}, {DLS_JOB_FINISHED, 55}};
    sim_setup s;
    set_up(&s, of, 3, 2, "elasticflow");
    expect(&s, want, 3);
    static const outcome together[] = {
        {DLS_JOB_FINISHED, 50}, {DLS_JOB_DECLINED, 0}, {DLS_JOB_DECLINED, 0}};
    /* As published, newcomers come in together or not at all. */
    set_up(&s, of, 3, 2, "elasticflow");
    setup_option(&s, "slot")->f = 10;
    setup_option(&s, "quirks")->s = "upstream";
    expect(&s, together, 3);
}

/* 3 GPUs, two jobs: the third goes to the one that it makes twice as fast, until 50 s; then the
 * other has two, 50 s of work left and a speed of 1.2. As published it is the other way round: 100
 * / 1.2 s, and then 100 - 100 / 1.2 s of work at a speed of 2. */
TEST(test_spare)
{
    static const one_job of[] = {{0, 100, 2, 1000, 1.2}, {0, 100, 2, 1000, 0}};
    const outcome want[] = {{DLS_JOB_FINISHED, 50 + 50 / 1.2}, {DLS_JOB_FINISHED, 50}};
    const outcome published[] = {{DLS_JOB_FINISHED, 100 / 1.2},
                                 {DLS_JOB_FINISHED, 100 / 1.2 + (100 - 100 / 1.2) / 2}};
    sim_setup s;
    set_up(&s, of, 2, 3, "elasticflow");
    expect(&s, want, 2);
    set_up(&s, of, 2, 3, "elasticflow");
    setup_option(&s, "quirks")->s = "upstream";
    expect(&s, published, 2);
}

/* The second GPU makes the job slower: nobody gives it one. */
TEST(test_no_gain)
{
    static const one_job of[] = {{0, 100, 2, 1000, 0.9}};
    static const outcome want[] = {{DLS_JOB_FINISHED, 100}};
    static const char *const scheds[] = {"elasticflow", "edf"};
    for (size_t i = 0; i < 2; i++) {
        sim_setup s;
        set_up(&s, of, 1, 4, scheds[i]);
        expect(&s, want, 1);
    }
}

/* Job 1 is first and takes the 2 GPUs that it can use for 20 s; job 0 has the other two, and then
 * four: 60 s of work left. Job 2, long past its deadline, stops them both at 5 s for 2.5 s. */
TEST(test_edf)
{
    static const one_job of[] = {
        {0, 100, 4, 100, 0}, {0, 40, 2, 50, 0}, {5, 10, 4, 1, 0}, {5, 1, 1, -1, 0}};
    static const outcome two[] = {{DLS_JOB_FINISHED, 35}, {DLS_JOB_FINISHED, 20}};
    static const outcome four[] = {{DLS_JOB_FINISHED, 37.5},
                                   {DLS_JOB_FINISHED, 22.5},
                                   {DLS_JOB_FINISHED, 7.5},
                                   {DLS_JOB_FINISHED, 38.5}};
    sim_setup s;
    set_up(&s, of, 2, 4, "edf");
    expect(&s, two, 2);
    set_up(&s, of, 4, 4, "edf");
    expect(&s, four, 4);
}

/* Two types of 4 GPUs: job 1, first by its deadline, has the idle one, and job 2 stays there when job 0 has ended. */
TEST(test_edf_moves_nobody)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_trace *trace;
    EACH_JOB(job, 3, &trace) {
        job.rec.submit_us = S(job.i == 2 ? 60 : (double)job.i);
        job.rec.duration_us = S(job.i == 1 ? 50 : 300);
        job.rec.gpus_milli = 4000;
        job.rec.deadline_us = job.i == 1 ? S(100) : DLS_ABSENT;
    }
    setup_init(&s, two_types(1, 1, 4, 0), trace, "edf", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    static const double end_s[] = {300, 51, 360};
    for (int j = 0; j < 3; j++) {
        assert_int_equal(rec->end_us[j], S(end_s[j]));
        assert_int_equal(rec->resumes[j], 1);
    }
}

/* Two types of 4 GPUs each: the second job has a type of its own. */
TEST(test_types)
{
    static const one_job of[] = {{0, 100, 4, 30, 0}, {0, 100, 4, 30, 0}, {0, 100, 4, 30, 0}};
    static const outcome outcomes[][3] = {
        {{DLS_JOB_FINISHED, 25}, {DLS_JOB_FINISHED, 25}, {DLS_JOB_DECLINED, 0}},
        {{DLS_JOB_FINISHED, 25}, {DLS_JOB_FINISHED, 25}, {DLS_JOB_FINISHED, 50}}};
    static const char *const scheds[] = {"elasticflow", "edf"};
    for (size_t i = 0; i < 2; i++) {
        sim_setup s;
        set_up(&s, of, 3, 4, scheds[i]);
        free(s.cluster.groups);
        s.cluster = two_types(1, 1, 4, 0);
        expect(&s, outcomes[i], 3);
    }
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_record *rec;
    set_up(&s, of, 3, 4, "elasticflow");
    free(s.cluster.groups);
    s.cluster = two_types(1, 1, 4, 0);
    setup_option(&s, "quirks")->s = "upstream";
    MUST_FAIL(DLS_ECONFIG, "one GPU type", dls_sim_run(&s.p, &rec, &e));
}

/* Without restoring, every job that is let in meets its deadline; nobody is turned away whose
 * deadline leaves room for all jobs one after the other on one GPU. */
TEST(test_all_promises)
{
    size_t met = 0, declined = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        dls_rng rng = dls_rng_stream(seed, 0, 0);
        one_job of[JOBS_MAX];
        DLS_OWN(setup_fini) sim_setup s = {0};
        double at_s = 0;
        for (size_t j = 0; j < JOBS_MAX; j++) {
            at_s += floor(dls_rng_unit(&rng) * 40);
            const double work_s = 1 + floor(dls_rng_unit(&rng) * 400);
            const int max = 1 << (int)(dls_rng_unit(&rng) * 4);
            of[j] = (one_job){at_s, work_s, max, at_s + work_s * (0.05 + 3 * dls_rng_unit(&rng)),
                              dls_rng_unit(&rng) < 0.3 ? 1.5 : 0};
        }
        set_up(&s, of, JOBS_MAX, 8, "elasticflow");
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (size_t j = 0; j < JOBS_MAX; j++) {
            declined += rec->state[j] == DLS_JOB_DECLINED;
            if (rec->state[j] == DLS_JOB_FINISHED) {
                met++;
                if ((double)rec->end_us[j] / 1e6 > of[j].deadline_s + 1e-3) {
                    fail_msg("seed %d: job %zu ends at %.3f s, promised for %.3f", (int)seed, j,
                             (double)rec->end_us[j] / 1e6, of[j].deadline_s);
                }
            }
        }
    }
    printf("%zu deadlines met, %zu jobs declined\n", met, declined);
    assert_int_equal(met + declined, 60 * JOBS_MAX);
    assert_true(met > 600 && declined > 300);
}

/* What plans leave free is what they do not take. */
static void check_free(const dls_ef_planner *p, dls_ef_job *const *list, size_t n)
{
    for (size_t k = 0; k < p->free.n; k++) {
        const double t = p->free.t[k];
        int32_t taken = 0;
        for (size_t i = 0; i < n; i++) {
            const dls_ef_plan *plan = &list[i]->plan;
            taken += t < plan->end ? dls_ef_value_before(&plan->gpus, nextafter(t, (double)INFINITY), 0) : 0;
        }
        assert_int_equal(p->free.v[k], p->gpus - taken);
    }
}

/* Of the same jobs only those planned that matter now: the same shares, quotas and first change. */
static void check_due(const dls_ef_planner *p, dls_ef_job *const *list, size_t n, double now_s, size_t *left_out)
{
    static dls_ef_job copy[300];
    dls_ef_job *due[300];
    dls_ef_planner other = {.gpus = p->gpus, .slot_s = p->slot_s};
    for (size_t i = 0; i < n; i++) {
        copy[i] = *list[i];
        copy[i].plan = copy[i].offer = (dls_ef_plan){0};
        copy[i].offer_free = (dls_ef_steps){0};
        copy[i].planned = false;
        due[i] = &copy[i];
    }
    dls_ef_plan_all(&other, due, n, now_s, false);
    double change_s[2] = {(double)INFINITY, other.room_s};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(due[i]->id, list[i]->id);
        assert_int_equal(due[i]->gpus, list[i]->gpus);
        assert_int_equal(due[i]->plan.quota, list[i]->plan.quota);
        for (int k = 0; k < 2; k++) {
            const dls_ef_plan *plan = k ? &due[i]->plan : &list[i]->plan;
            change_s[k] = fmin(change_s[k], plan->end);
            for (size_t at = 0; at < plan->gpus.n; at++) {
                change_s[k] = plan->gpus.t[at] > now_s ? fmin(change_s[k], plan->gpus.t[at]) : change_s[k];
            }
        }
        *left_out += !due[i]->planned;
    }
    assert_true(change_s[0] == change_s[1]);
    for (size_t i = 0; i < n; i++) {
        dls_ef_job_fini(&copy[i]);
    }
    dls_ef_planner_fini(&other);
}

/* Plans that are kept from the call before are those that a planner makes which knows of none: lists from which jobs
 * go, to which they come, whose jobs change, and some seconds later. */
TEST(test_plans_are_kept)
{
    enum { N = 300 };
    static dls_ef_job job[N];
    dls_ef_job *list[N], *again[N];
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 8);
    dls_ef_planner p = {.gpus = 16, .slot_s = 60};
    double now_s = 0;
    size_t left_out = 0;
    for (int32_t i = 0; i < N; i++) {
        job[i] = (dls_ef_job){.id = i, .left = 1 + (double)dls_rng_below(&rng, 1000)};
        job[i].deadline = dls_rng_below(&rng, 3) ? 100 + (double)dls_rng_below(&rng, 9000) : DLS_EF_NO_DEADLINE;
        for (int32_t g = 1; g <= 8; g *= 2) {
            dls_ef_job_level(&job[i], g, g);
        }
    }
    for (int call = 0; call < 40; call++) {
        size_t n = 0;
        now_s += call % 10 == 9;
        for (int32_t i = 0; i < N; i++) {
            if (call % 3 == 0 && dls_rng_below(&rng, 400) == 0) {
                job[i].left += 50;
                job[i].planned = false;
            }
            if (dls_rng_below(&rng, 500) > 0) {
                list[n++] = &job[i];
            }
        }
        dls_ef_planner other = {.gpus = p.gpus, .slot_s = p.slot_s};
        double end_s[N];
        int32_t gpus[N];
        const bool in_time = dls_ef_plan_all(&p, list, n, now_s, true);
        for (size_t i = 0; i < n; i++) {
            end_s[i] = list[i]->plan.real_end;
            gpus[i] = list[i]->gpus;
            again[i] = list[i];
        }
        assert_int_equal(dls_ef_plan_all(&other, again, n, now_s, true), in_time);
        for (size_t i = 0; i < n; i++) {
            assert_ptr_equal(list[i], again[i]);
            assert_true(end_s[i] == list[i]->plan.real_end && gpus[i] == list[i]->gpus);
        }
        assert_int_equal(p.free.n, other.free.n);
        assert_memory_equal(p.free.v, other.free.v, p.free.n * sizeof *p.free.v);
        dls_ef_planner_fini(&other);
        check_free(&p, list, n);
        check_due(&p, list, n, now_s, &left_out);
    }
    assert_true(left_out > 0);
    for (int32_t i = 0; i < N; i++) {
        dls_ef_job_fini(&job[i]);
    }
    dls_ef_planner_fini(&p);
}

/* Few jobs of which many are late, on GPUs that hardly one of the others leaves: what is free behind the deadline of who
 * is late is the first that changes, and no plan does then but those of who waits for it. */
TEST(test_room_behind_who_is_late)
{
    enum { N = 20 };
    dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, 8);
    size_t left_out = 0;
    for (int round = 0; round < 2000; round++) {
        dls_ef_job job[N], *list[N];
        dls_ef_planner p = {.gpus = 4 + (int32_t)dls_rng_below(&rng, 12), .slot_s = 60};
        const size_t n = 4 + dls_rng_below(&rng, N - 4);
        for (size_t i = 0; i < n; i++) {
            job[i] = (dls_ef_job){.id = (int32_t)i, .left = 1 + (double)dls_rng_below(&rng, 1000)};
            job[i].deadline = dls_rng_below(&rng, 2) ? 100 + (double)dls_rng_below(&rng, 300) : DLS_EF_NO_DEADLINE;
            for (int32_t g = 1 + (int32_t)dls_rng_below(&rng, 4); g <= 8; g += 2) {
                dls_ef_job_level(&job[i], g, g);
            }
            list[i] = &job[i];
        }
        dls_ef_plan_all(&p, list, n, 100, true);
        check_due(&p, list, n, 100, &left_out);
        for (size_t i = 0; i < n; i++) {
            dls_ef_job_fini(&job[i]);
        }
        dls_ef_planner_fini(&p);
    }
    assert_true(left_out > 2000);
}
