/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The life of jobs in a simulation: virtual clusters, GPU types, jobs that can never run,
 * restoring, refusals of the placement, stopping early. Times by hand, in seconds.
 */
#include "support/sim_setup.h"
#include "support/test.h"

#define CHECK_S(us, seconds) assert_int_equal((us), S(seconds))

/* ---- who may use which GPUs ------------------------------------------------------------------ */

static const char *const vc_names[4] = {"a", "b", "c", NULL};

/* Most GPUs that the jobs chosen by `vc` (3: neither a nor b) held at once. */
static int64_t peak_of_vc(const dls_trace *trace, const dls_record *rec, int vc)
{
    const dls_trace_columns *col = dls_trace_cols(trace);
    const dls_alloc_rows *a = &rec->allocs;
    int64_t peak = 0;
    for (size_t i = 0; i < a->n; i++) {
        int64_t held = 0;
        for (size_t k = 0; k < a->n; k++) {
            const char *name = dls_trace_vc(trace, col->vc[a->job[k]]);
            const int of = strcmp(name, "a") == 0 ? 0 : strcmp(name, "b") == 0 ? 1 : 3;
            if (of == vc && a->start_us[k] <= a->start_us[i] && a->start_us[i] < a->end_us[k]) {
                held += a->gpus[k];
            }
        }
        peak = held > peak ? held : peak;
    }
    return peak;
}

TEST(test_quotas)
{
    static const char *const scheds[] = {"fifo",     "fjf",  "srtf",   "srsf",
                                         "dlas-gpu", "easy", "gandiva"};
    static dls_vc_spec vcs[2] = {{.name = "a", .quota_gpus = {6}},
                                 {.name = "b", .quota_gpus = {3}}};
    static const int quota[3] = {6, 3, 3}; /* the rest share what a and b leave */
    int reached[3] = {0};
    for (uint64_t seed = 0; seed < 35; seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(3, 4, 0), random_trace(seed, 60, 7, 6, vc_names, NULL),
                   scheds[seed % 7], "first-fit");
        s.cluster.vcs = vcs;
        s.cluster.n_vcs = 2;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        const dls_trace_columns *col = dls_trace_cols(s.trace);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            const char *name = dls_trace_vc(s.trace, col->vc[j]);
            assert_int_equal(rec->state[j], col->gpus[j] <= quota[strcmp(name, "a") != 0]
                                                ? DLS_JOB_FINISHED
                                                : DLS_JOB_INFEASIBLE);
        }
        for (int k = 0; k < 3; k++) {
            const int64_t peak = peak_of_vc(s.trace, rec, k < 2 ? k : 3);
            assert_true(peak <= quota[k]);
            reached[k] += peak == quota[k];
        }
    }
    assert_true(reached[0] > 20 && reached[1] > 20 && reached[2] > 20);
}

TEST(test_types)
{
    static const char *const types[4] = {"V100", "p100", "K80|V100|P100", "K80"};
    static const char *const places[] = {"consolidated", "yarn", "spread", "crandom", "count"};
    int on_type[2] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, two_types(2, 2, 4, 2), random_trace(seed, 40, 8, 8, NULL, types), "fifo",
                   "count");
        const dls_sched_ops *const *all = dls_scheds();
        size_t n = 0;
        while (all[n]) {
            n++;
        }
        const dls_sched_ops *sched = all[seed % n];
        setup_policy(&s, sched->share ? "srsf" : sched->name, places[seed % 5]);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        const dls_trace_columns *col = dls_trace_cols(s.trace);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            const bool none = strcmp(dls_trace_gpu_types(s.trace, col->gpu_types[j]), "K80") == 0;
            assert_int_equal(rec->state[j], none ? DLS_JOB_INFEASIBLE : DLS_JOB_FINISHED);
        }
        for (size_t i = 0; i < rec->allocs.n; i++) {
            const int32_t type = rec->allocs.node[i] >= 2, job = rec->allocs.job[i];
            const char *asked = dls_trace_gpu_types(s.trace, col->gpu_types[job]);
            assert_non_null(strcasestr(asked, s.cluster.types[type].name));
            on_type[type] += strchr(asked, '|') != NULL;
            /* All of a gang on one type, unless its scheduler mixes them. */
            for (size_t k = i + 1;
                 !s.p.sched->mixes && k < rec->allocs.n && rec->allocs.job[k] == job &&
                 rec->allocs.start_us[k] == rec->allocs.start_us[i];
                 k++) {
                assert_int_equal(rec->allocs.node[k] >= 2, type);
            }
        }
    }
    assert_true(on_type[0] > 100 && on_type[1] > 100);
}

/* Refused where there is room by number, a job takes the other type that it allows. */
TEST(test_refused_type)
{
    static const char *const scheds[] = {"fifo", "fjf", "srtf", "easy", "dlas-gpu", "sjf"};
    static const case_job jobs[] = {
        {.duration_s = 100, .gpus = 3, .types = "V100"},
        {.duration_s = 100, .gpus = 3, .types = "V100"},
        {.submit_s = 10, .duration_s = 20, .gpus = 2, .types = "V100|P100"},
    };
    for (size_t k = 0; k < sizeof scheds / sizeof *scheds; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, two_types(2, 1, 4, 1), case_trace(jobs, 3), scheds[k], "yarn");
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        CHECK_S(rec->start_us[2], 10);
        CHECK_S(rec->end_us[2], 30);
    }
}

/* ---- never ----------------------------------------------------------------------------------- */

typedef struct told {
    int calls;
    dls_infeasible who;
} told;

static void on_infeasible(void *user, const dls_infeasible *who)
{
    told *t = user;
    *t = (told){t->calls + 1, *who};
}

TEST(test_infeasible)
{
    static const case_job jobs[] = {
        {.duration_s = 5, .gpus = 1},
        {.duration_s = 5, .gpus = 9},                /* more than there are */
        {.submit_s = 1, .duration_s = 5, .gpus = 6}, /* no rack has them */
        {.submit_s = 2, .duration_s = 5, .gpus = 4},
        {.submit_s = 900, .duration_s = 5, .gpus = 9}, /* the last event is the finish before */
    };
    static const char *const scheds[] = {"fifo", "fjf", "srtf", "easy", "multi-dlas-gpu"};
    for (size_t k = 0; k < sizeof scheds / sizeof *scheds; k++) {
        told t = {0};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(2, 4, 1), case_trace(jobs, 5), scheds[k], "yarn");
        s.p.infeasible = on_infeasible;
        s.p.user = &t;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        assert_int_equal(t.calls, 1);
        assert_int_equal(t.who.n, 3);
        assert_int_equal(t.who.first, 1);
        assert_int_equal(t.who.by[DLS_NO_GPUS], 2);
        assert_int_equal(t.who.first_by[DLS_NO_GPUS], 1);
        assert_int_equal(t.who.by[DLS_NO_PLACE], 1);
        assert_int_equal(t.who.first_by[DLS_NO_PLACE], 2);
        for (int j = 0; j < 5; j++) {
            const bool runs = j == 0 || j == 3;
            assert_int_equal(rec->state[j], runs ? DLS_JOB_FINISHED : DLS_JOB_INFEASIBLE);
            assert_int_equal(rec->start_us[j] >= 0, runs);
            assert_int_equal(rec->end_us[j] >= 0, runs);
        }
        assert_int_equal(rec->refusals, 0);
        if (k < 4) {
            CHECK_S(rec->start_us[3], 2);
            CHECK_S(rec->end_us_of_run, 7);
        }
    }
}

TEST(test_nothing_to_do)
{
    static const case_job huge[] = {{.duration_s = 5, .gpus = 100}};
    for (const dls_sched_ops *const *sched = dls_scheds(); *sched; sched++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 4, 0), case_trace(huge, 1), (*sched)->name, "count");
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        assert_int_equal(rec->state[0], DLS_JOB_INFEASIBLE);
        assert_int_equal(rec->allocs.n, 0);
    }
}

TEST(test_zero_duration)
{
    static const case_job jobs[] = {
        {.duration_s = 0, .gpus = 4},
        {.duration_s = 10, .gpus = 4},
        {.submit_s = 3, .duration_s = 0, .gpus = 2},
        {.submit_s = 3, .duration_s = 0, .gpus = 4},
        {.submit_s = 50, .duration_s = 0, .gpus = 1},
    };
    static const double start[] = {0, 0, 10, 10, 50};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 5), "fifo", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 5; j++) {
        CHECK_S(rec->start_us[j], start[j]);
        CHECK_S(rec->end_us[j], start[j] + jobs[j].duration_s);
        CHECK_S(rec->pending_us[j], start[j] - jobs[j].submit_s);
        assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
    }
}

/* ---- preemption and restoring ---------------------------------------------------------------- */

static void check_row(const dls_record *rec, int32_t job, int nth, double from, double to,
                      bool restores)
{
    for (size_t i = 0; i < rec->allocs.n; i++) {
        if (rec->allocs.job[i] == job && nth-- == 0) {
            CHECK_S(rec->allocs.start_us[i], from);
            CHECK_S(rec->allocs.end_us[i], to);
            assert_int_equal(rec->allocs.rate[i] > 0, !restores);
            return;
        }
    }
    fail_msg("job %d has too few rows", job);
}

TEST(test_restore)
{
    /* The second preemption comes while the job is restoring. */
    static const case_job jobs[] = {
        {.duration_s = 100, .gpus = 1},
        {.submit_s = 20, .duration_s = 10, .gpus = 1},
        {.submit_s = 32, .duration_s = 3, .gpus = 1},
    };
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 3), "srtf", "consolidated");
    s.p.restore_us = S(5);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->end_us[0], 120);
    CHECK_S(rec->executed_us[0], 100);
    CHECK_S(rec->overhead_us[0], 7);
    CHECK_S(rec->pending_us[0], 13);
    assert_int_equal(rec->preempts[0], 2);
    assert_int_equal(rec->resumes[0], 3);
    assert_int_equal(rec->resumes[1], 1);
    CHECK_S(rec->start_us[1], 20);
    CHECK_S(rec->start_us[2], 32);
    CHECK_S(rec->overhead_us[1] + rec->overhead_us[2], 0);
    check_row(rec, 0, 0, 0, 20, false);
    check_row(rec, 0, 1, 30, 32, true);
    check_row(rec, 0, 2, 35, 40, true);
    check_row(rec, 0, 3, 40, 120, false);
    assert_int_equal(rec->flips, 5 + 2);
}

/* ---- refusals under preemption --------------------------------------------------------------- */

/* Two GPUs are free, on two nodes: the shortest job waits, nobody loses anything to it. */
TEST(test_refused_alone)
{
    static const case_job jobs[] = {
        {.duration_s = 100, .gpus = 3},
        {.duration_s = 90, .gpus = 3},
        {.submit_s = 10, .duration_s = 10, .gpus = 2},
        {.submit_s = 12, .duration_s = 20, .gpus = 1},
    };
    static const double end[] = {100, 90, 100, 32};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 1), case_trace(jobs, 4), "srtf", "yarn");
    s.p.restore_us = S(5);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 4; j++) {
        CHECK_S(rec->end_us[j], end[j]);
        assert_int_equal(rec->preempts[j], 0);
    }
    CHECK_S(rec->start_us[3], 12);
    assert_true(rec->refusals >= 1);
}

/* Making room by number takes the two longest jobs, which lie on different nodes; the gang is
 * refused and both go on as if nothing had been. Only when the end of job 1 lets the gang have a
 * node for one preemption does job 0 lose its place; it finds another when job 3 ends. */
TEST(test_refused_after_dropping)
{
    static const case_job jobs[] = {
        {.submit_s = 0, .duration_s = 200, .gpus = 2},
        {.submit_s = 1, .duration_s = 100, .gpus = 2},
        {.submit_s = 2, .duration_s = 190, .gpus = 2},
        {.submit_s = 3, .duration_s = 100, .gpus = 2},
        {.submit_s = 4, .duration_s = 100, .gpus = 2},
        {.submit_s = 5, .duration_s = 100, .gpus = 2},
        {.submit_s = 10, .duration_s = 10, .gpus = 4},
    };
    static const double end[] = {207, 101, 192, 103, 104, 105, 111};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(3, 4, 1), case_trace(jobs, 7), "srtf", "yarn");
    s.p.restore_us = S(5);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 7; j++) {
        assert_int_equal(rec->preempts[j], j == 0);
        CHECK_S(rec->overhead_us[j], j == 0 ? 5 : 0);
        CHECK_S(rec->end_us[j], end[j]);
    }
    check_row(rec, 0, 0, 0, 101, false);
    CHECK_S(rec->start_us[6], 101);
    assert_true(rec->refusals >= 1);
    assert_int_equal(rec->flips, 7 + 2);
}

/* ---- stopping early -------------------------------------------------------------------------- */

static bool stop_at_once(void *user)
{
    ++*(int *)user;
    return true;
}

TEST(test_stopping)
{
    static const case_job jobs[] = {
        {.submit_s = 1, .duration_s = 10, .gpus = 4},
        {.submit_s = 2, .duration_s = 100, .gpus = 3},
        {.submit_s = 3, .duration_s = 30, .gpus = 2},
        {.submit_s = 60, .duration_s = 1, .gpus = 1},
    };
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 4), "fifo", "consolidated");
    s.p.until_us = S(50);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_false(rec->complete);
    CHECK_S(rec->end_us_of_run, 50);
    assert_int_equal(rec->state[0], DLS_JOB_FINISHED);
    assert_int_equal(rec->state[1], DLS_JOB_RUNNING);
    assert_int_equal(rec->state[2], DLS_JOB_PENDING);
    assert_int_equal(rec->state[3], DLS_JOB_NEW);
    CHECK_S(rec->executed_us[1], 39);
    CHECK_S(rec->pending_us[1], 9);
    CHECK_S(rec->pending_us[2], 47);
    CHECK_S(rec->pending_us[3], 0);
    assert_int_equal(rec->end_us[1], -1);
    check_row(rec, 1, 0, 11, 50, false);
    dls_record_destroy(rec);

    s.p.until_us = S(111); /* the event at that very time still counts */
    rec = case_run(&s.p);
    assert_int_equal(rec->state[1], DLS_JOB_FINISHED);
    assert_false(rec->complete);
    dls_record_destroy(rec);

    s.p.until_us = S(1e6);
    rec = case_run(&s.p);
    assert_true(rec->complete);
    CHECK_S(rec->end_us_of_run, 141);
    dls_record_destroy(rec);

    s.p.until_us = 0; /* before anything happens */
    rec = case_run(&s.p);
    assert_false(rec->complete);
    assert_int_equal(rec->end_us_of_run, 0);
    assert_int_equal(rec->state[0], DLS_JOB_NEW);
    dls_record_destroy(rec);

    int polls = 0;
    s.p.until_us = DLS_NEVER;
    s.p.interrupted = stop_at_once;
    s.p.user = &polls;
    rec = case_run(&s.p);
    assert_false(rec->complete);
    assert_int_equal(polls, 1);
    assert_int_equal(rec->state[0], DLS_JOB_RUNNING);
    CHECK_S(rec->end_us_of_run, 1);
}
