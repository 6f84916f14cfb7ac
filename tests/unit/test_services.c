/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inference services: Erlang's formula, what they need over a day, bad input, two days worked by
 * hand in the engine, and random ones under every scheduler, whose accounts must close.
 */
#include "cluster/services.h"
#include "support/must.h"
#include "support/sim_setup.h"

#define HOUR S(3600)

/* Two GPUs keep five requests per second, three keep fifteen (both below). */
static dls_service example(const char *load, int64_t gpus, double start_s)
{
    dls_error err;
    dls_service s = {.name = "chat",
                     .request_s = 0.1,
                     .bound_s = 0.3,
                     .share = 0.9,
                     .per_gpu = 1,
                     .gpus = gpus,
                     .start_us = S(start_s)};
    if (dls_service_make(&s, load, DLS_PARTS_WHOLE, &err) != DLS_OK) {
        case_fail(&err);
    }
    return s;
}

static void near(double is, double expected)
{
    if (fabs(is - expected) > 1e-12) {
        fail_msg("%.15g, expected %.15g", is, expected);
    }
}

TEST(test_formula)
{
    dls_service s = example("0=5; 6=15", 0, 0);
    /* C(1, a) = a; C(2, 1/2) = 1/10; C(2, 3/2) = 9/14; C(3, 3/2) = 9/38: all but no request waits
     * no longer than 0.2 s. */
    near(dls_service_late(&s, 5, 1), 0.5 * exp(-1));
    near(dls_service_late(&s, 5, 2), 0.1 * exp(-3));
    near(dls_service_late(&s, 15, 2), 9.0 / 14 * exp(-1));
    near(dls_service_late(&s, 15, 3), 9.0 / 38 * exp(-3));
    near(dls_service_late(&s, 10, 1), 1); /* no queue of that load ends */
    near(dls_service_late(&s, 0, 0), 0);
    assert_int_equal(s.gpus, 3);
    assert_int_equal(dls_service_need(&s, 0, 0), 2);
    assert_int_equal(dls_service_need(&s, 6 * HOUR, 0), 3);
    assert_int_equal(dls_service_need(&s, 29 * HOUR, 0), 2);
    assert_int_equal(dls_service_need(&s, 29 * HOUR, HOUR), 3);
    assert_int_equal(dls_service_least(&s), 2);
    assert_int_equal(dls_service_next_us(&s, 0, 0), 6 * HOUR);
    assert_int_equal(dls_service_next_us(&s, 6 * HOUR, 0), 24 * HOUR);
    assert_int_equal(dls_service_next_us(&s, 0, HOUR), 5 * HOUR);
    assert_true(dls_service_keeps(&s, 6 * HOUR, 3) && !dls_service_keeps(&s, 6 * HOUR, 2));
    /* Before the first hour the last of the day before holds; replicas that share a GPU. */
    s = example("8=15; 22=5", 0, 0);
    assert_int_equal(dls_service_need(&s, 3 * HOUR, 0), 2);
    s.per_gpu = 2;
    dls_error err;
    s.gpus = 0;
    assert_int_equal(dls_service_make(&s, "0=15", DLS_PARTS_WHOLE, &err), DLS_OK);
    assert_int_equal(s.gpus, 2);
    assert_int_equal(dls_service_next_us(&s, 5, 0), INT64_MAX);
}

/* The fewest that keep the bound, whatever the load; more never hurt. */
TEST(test_fewest)
{
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    for (int i = 0; i < 300; i++) {
        dls_error err;
        dls_service s = {.request_s = exp(-7 + 6 * dls_rng_unit(&rng)),
                         .share = 0.5 + 0.4999 * dls_rng_unit(&rng),
                         .per_gpu = 1};
        s.bound_s = s.request_s * (1 + 5 * dls_rng_unit(&rng)) + 1e-6;
        const double rate = exp(8 * dls_rng_unit(&rng)) / s.request_s / 10;
        char load[40];
        snprintf(load, sizeof load, "0=%.17g", rate);
        assert_int_equal(dls_service_make(&s, load, DLS_PARTS_WHOLE, &err), DLS_OK);
        assert_true(dls_service_late(&s, rate, s.gpus) <= 1 - s.share);
        assert_true(dls_service_late(&s, rate, s.gpus - 1) > 1 - s.share);
        assert_true(dls_service_late(&s, rate, s.gpus + 1) <
                    dls_service_late(&s, rate, s.gpus) + 1e-15);
    }
}

TEST(test_bad)
{
    static const struct {
        const char *load, *says;
        double bound_s;
    } cases[] = {
        {"0=5", "no number of GPUs", 0.1}, {"", "no load", 0.3},
        {"0=0; 8=0", "no load", 0.3},      {"8=5; 8=6", "do not ascend", 0.3},
        {"24=5", "HOUR=RATE", 0.3},        {"0=-1", "HOUR=RATE", 0.3},
        {"0=5,8=6", "HOUR=RATE", 0.3},     {"five", "HOUR=RATE", 0.3},
        {"0=1e9", "replicas", 0.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_service s = {
            .name = "s", .request_s = 0.1, .bound_s = cases[i].bound_s, .share = 0.9, .per_gpu = 1};
        dls_error err;
        assert_int_equal(dls_service_make(&s, cases[i].load, DLS_PARTS_WHOLE, &err), DLS_ECONFIG);
        if (!strstr(err.msg, cases[i].says)) {
            fail_msg("\"%s\": %s", cases[i].load, err.msg);
        }
    }
    /* More GPUs than there are. */
    dls_service s = example("0=5", 5, 0);
    const dls_services all = {.service = &s, .n = 1};
    const case_job jobs[] = {{0, 1, 1, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup setup = {0};
    dls_record *rec;
    setup_init(&setup, case_cluster(1, 4, 0), case_trace(jobs, 1), "fifo", "first-fit");
    setup.p.services = &all;
    MUST_FAIL(DLS_ECONFIG, "1 are missing", dls_sim_run(&setup.p, &rec, &e));
}

/* ---- in the engine --------------------------------------------------------------------------- */

/* A node of four GPUs, three of them the service's, which needs a third from hour 1 to 2. The job
 * has the fourth and the one that is lent. */
static dls_record *run_day(dls_service s, bool lend, double ahead_s, const dls_failure_trace *fails)
{
    const dls_services all = {.service = &s, .n = 1, .lend = lend, .ahead_us = S(ahead_s)};
    const case_job jobs[] = {{0, 5400, 2, NULL, NULL}};
    sim_setup setup;
    setup_init(&setup, case_cluster(1, 4, 0), case_trace(jobs, 1), "fifo", "first-fit");
    setup.p.services = &all;
    setup.p.failure_trace = fails;
    setup.p.restore_us = S(60);
    dls_record *rec = case_run(&setup.p);
    setup_fini(&setup);
    return rec;
}

TEST(test_by_hand)
{
    const char *load = "0=5; 1=15; 2=5";
    /* Preempted at 1 h, its work kept; back at 2 h, 60 s to restore, half an hour left. */
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_day(example(load, 0, 0), true, 0, NULL);
    assert_int_equal(rec->end_us[0], 2 * HOUR + S(1860));
    assert_int_equal(rec->preempts[0], 1);
    assert_int_equal(rec->failures[0] + rec->lost_us[0], 0);
    assert_int_equal(rec->services.preemptions, 1);
    assert_int_equal(rec->services.span_us, S(9060));
    assert_int_equal(rec->services.used_us, 3 * HOUR + 2 * (HOUR + S(1860)));
    assert_int_equal(rec->services.lent_us, HOUR + S(1860));
    assert_int_equal(rec->services.kept_us, S(9060));
    dls_record_destroy(rec);

    /* Ten minutes until a GPU serves: the bound is missed from 1 h on; not if it is taken in time.
     */
    rec = run_day(example(load, 0, 600), true, 0, NULL);
    assert_int_equal(rec->services.kept_us, S(9060 - 600));
    dls_record_destroy(rec);
    rec = run_day(example(load, 0, 600), true, 600, NULL);
    assert_int_equal(rec->end_us[0], 2 * HOUR + S(60 + 5400 - 3000));
    assert_int_equal(rec->services.kept_us, rec->services.span_us);
    dls_record_destroy(rec);

    /* Too few of its own: nothing is taken away, and the bound is missed for that hour. */
    rec = run_day(example(load, 2, 0), true, 0, NULL);
    assert_int_equal(rec->end_us[0], S(5400));
    assert_int_equal(rec->services.kept_us, HOUR);
    assert_int_equal(rec->services.lent_us + rec->services.preemptions, 0);
    dls_record_destroy(rec);

    /* It keeps all three: the job can never run. */
    rec = run_day(example(load, 0, 0), false, 0, NULL);
    assert_int_equal(rec->state[0], DLS_JOB_INFEASIBLE);
    dls_record_destroy(rec);

    /* The node fails from 1000 s to 2000 s: nobody serves, all work is lost. */
    dls_failure_event event[] = {{S(1000), 0, DLS_NODE_FAILS, 1},
                                 {S(2000), 0, DLS_NODE_REPAIRED, 1}};
    const dls_failure_trace fails = {event, 2, 0};
    rec = run_day(example(load, 0, 0), true, 0, &fails);
    assert_int_equal(rec->lost_us[0], S(1000));
    assert_int_equal(rec->services.kept_us, rec->services.span_us - S(1000));
    assert_int_equal(rec->services.lent_us, rec->executed_us[0] + rec->overhead_us[0]);
}

/* Whose preemption costs least: job 0 has six GPUs, two of them the service's, the others have one
 * of the service's each. Of these the one that started last goes at 1 h, the other one at 2 h. */
TEST(test_victims)
{
    dls_service s = example("0=0; 1=1; 2=5", 4, 0);
    const dls_services all = {.service = &s, .n = 1, .lend = true};
    const case_job jobs[] = {
        {0, 9000, 6, NULL, NULL}, {1, 9000, 1, NULL, NULL}, {2, 9000, 1, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup setup = {0};
    setup_init(&setup, case_cluster(2, 4, 0), case_trace(jobs, 3), "fifo", "first-fit");
    setup.p.services = &all;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&setup.p);
    assert_int_equal(rec->end_us[0], S(9000));
    assert_int_equal(rec->pending_us[2], S(9000) - HOUR);
    assert_int_equal(rec->pending_us[1], S(9000) - 2 * HOUR);
    assert_int_equal(rec->services.preemptions, 2);
}

/* ---- random ---------------------------------------------------------------------------------- */

/* GPU-time of jobs on the GPUs of services, by the record's own rows: nodes 2 and 3, from the
 * highest GPU on. */
static int64_t rows_on(const dls_record *rec, const uint64_t own[4])
{
    int64_t sum = 0;
    for (size_t i = 0; i < rec->allocs.n; i++) {
        const int64_t us = rec->allocs.end_us[i] - rec->allocs.start_us[i];
        if (!rec->allocs.has_guests || !rec->allocs.guest[i]) {
            sum += us * __builtin_popcountll(rec->allocs.gpu_mask[i] & own[rec->allocs.node[i]]);
        }
    }
    return sum;
}

TEST(test_random)
{
    static const char *const names[4] = {"a", "b", "c", NULL};
    static const char *const types[4] = {"V100", "P100", "V100|P100", NULL};
    static dls_vc_spec vcs[2] = {{"a", {4, 2}}, {"b", {2, 2}}};
    int64_t lent_us = 0, preemptions = 0;
    size_t n = 0;
    while (dls_scheds()[n]) {
        n++;
    }
    for (uint64_t seed = 0; seed < 4 * n; seed++) {
        const dls_sched_ops *sched = dls_scheds()[seed % n];
        if (sched->share) {
            continue;
        }
        /* On node 3 and 2, and on node 1: two services. */
        dls_service two[2] = {
            example("0=5; 0.01=25; 0.02=0; 0.03=15; 0.05=35", 0, seed % 3 ? 10 : 0),
            example("0=0; 0.02=15; 0.04=0", 0, 0)};
        two[0].type = 1;
        const dls_services all = {
            .service = two, .n = 2, .lend = true, .ahead_us = seed % 2 ? S(20) : 0};
        const int on_two = (int)two[0].gpus - 4;
        assert_in_range(on_two, 1, 4);
        assert_int_equal(two[1].gpus, 3);
        const uint64_t own[4] = {0, 14, (15u << (4 - on_two)) & 15, 15};
        const dls_failure_params fail = {.gpu_mtbf_s = 500, .shape = 1, .repair_s = 20};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, two_types(2, 2, 4, 1), random_trace(seed, 40, 5, 4, names, types),
                   sched->name, "first-fit");
        s.p.services = &all;
        s.p.failures = seed / n % 2 ? &fail : NULL;
        s.p.seed = seed;
        s.p.restore_us = S(3);
        s.cluster.vcs = seed / n / 2 ? vcs : NULL;
        s.cluster.n_vcs = seed / n / 2 ? 2 : 0;
        s.p.until_us = 20 * HOUR;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        const dls_service_sums *sums = &rec->services;
        assert_int_equal(sums->own_gpus, two[0].gpus + two[1].gpus);
        assert_int_equal(sums->lent_us, rows_on(rec, own));
        assert_true(sums->used_us + sums->lent_us <= sums->own_gpus * sums->span_us);
        assert_true(sums->least_kept_us <= sums->span_us && sums->kept_us <= 2 * sums->span_us);
        lent_us += sums->lent_us;
        preemptions += (int64_t)sums->preemptions;
    }
    assert_true(lent_us > 0 && preemptions > 50);
}
