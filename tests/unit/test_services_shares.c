/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Services that take parts of GPUs, and elastic jobs that shrink for services: days worked by hand,
 * and random ones whose accounts must close.
 */
#include "cluster/services.h"
#include "elastic_util.h"

#define HOUR S(3600)

/* One replica a piece; two keep five requests per second, three keep fifteen (test_services.c). */
static dls_service service_of(const char *load, double part, int32_t parts, int64_t gpus)
{
    dls_error err;
    dls_service s = {.name = "chat",
                     .request_s = 0.1,
                     .bound_s = 0.3,
                     .share = 0.9,
                     .per_gpu = 1,
                     .part = part,
                     .gpus = gpus};
    if (dls_service_make(&s, load, parts, &err) != DLS_OK) {
        case_fail(&err);
    }
    return s;
}

TEST(test_pieces)
{
    static const struct {
        double part;
        int32_t parts, milli, pieces;
        int64_t gpus;
    } cases[] = {
        {0.25, DLS_PARTS_WHOLE, 1000, 1, 3}, {0.25, DLS_PARTS_ANY, 250, 4, 1},
        {0.25, DLS_PARTS_MIG, 285, 3, 1},    {0.1, DLS_PARTS_ANY, 100, 8, 1},
        {0.1, DLS_PARTS_MIG, 142, 7, 1},     {0.4, DLS_PARTS_ANY, 400, 2, 2},
        {0.4, DLS_PARTS_MIG, 428, 2, 2},     {0.5, DLS_PARTS_MIG, 571, 1, 3},
        {0.9, DLS_PARTS_MIG, 1000, 1, 3},    {1, DLS_PARTS_ANY, 1000, 1, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dls_service s = service_of("0=15", cases[i].part, cases[i].parts, 0);
        assert_int_equal(s.milli, cases[i].milli);
        assert_int_equal(s.pieces, cases[i].pieces);
        assert_int_equal(s.gpus, cases[i].gpus);
        assert_int_equal(dls_service_need(&s, 0, 0), 3);
        assert_true(dls_service_keeps(&s, 0, 3) && !dls_service_keeps(&s, 0, 2));
    }
}

/* ---- parts by hand --------------------------------------------------------------------------- */

typedef struct part_job {
    double submit_s, duration_s;
    int64_t milli;
} part_job;

static dls_trace *part_trace(const part_job *jobs, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = S(jobs[job.i].submit_s);
        job.rec.duration_us = S(jobs[job.i].duration_s);
        job.rec.gpus_milli = jobs[job.i].milli;
    }
    return trace;
}

/* On one node, by submission, skipping who does not fit. */
static dls_record *run_parts(dls_service s, int32_t parts, int gpus, const part_job *jobs, size_t n,
                             const dls_failure_trace *fails)
{
    const dls_services all = {.service = &s, .n = 1, .lend = true};
    sim_setup setup;
    setup_init(&setup, case_cluster(1, gpus, 0), part_trace(jobs, n), "fifo", "first-fit");
    setup.cluster.gpu_parts = parts;
    setup.p.services = &all;
    setup.p.failure_trace = fails;
    setup.p.discipline = DLS_FIT;
    setup.p.restore_us = S(60);
    dls_record *rec = case_run(&setup.p);
    setup_fini(&setup);
    return rec;
}

/* One GPU; a replica has a quarter, two serve, a third from hour 1 to 2: job 0, which has half of
 * the GPU, loses it for an hour, in which job 1 has the quarter that is left. */
TEST(test_quarters)
{
    static const part_job jobs[] = {{0, 5400, 500}, {10, 100, 250}};
    const dls_service s = service_of("0=5; 1=15; 2=5", 0.25, DLS_PARTS_ANY, 0);
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_parts(s, DLS_PARTS_ANY, 1, jobs, 2, NULL);
    assert_int_equal(rec->end_us[1], HOUR + S(100));
    assert_int_equal(rec->end_us[0], 2 * HOUR + S(1860));
    assert_int_equal(rec->services.preemptions, 1);
    assert_int_equal(rec->services.span_us, S(9060));
    assert_int_equal(rec->services.kept_us, S(9060));
    assert_int_equal(rec->services.used_us, S(1800 + 2700 + 930));
    assert_int_equal(rec->services.lent_us, S(1800 + 25 + 930));
    dls_record_destroy(rec);
    /* The GPU fails from 1000 s to 2000 s: nobody serves; both come back. */
    dls_failure_event event[] = {{S(1000), 0, DLS_NODE_FAILS, 1},
                                 {S(2000), 0, DLS_NODE_REPAIRED, 1}};
    const dls_failure_trace fails = {event, 2, 0};
    rec = run_parts(s, DLS_PARTS_ANY, 1, jobs, 2, &fails);
    assert_int_equal(rec->lost_us[0], S(1000));
    assert_int_equal(rec->services.kept_us, rec->services.span_us - S(1000));
    dls_record_destroy(rec);
    /* Whole GPUs are all that there is: it takes one for each replica, and has one. */
    rec = run_parts(service_of("0=5; 1=15; 2=5", 0.25, DLS_PARTS_WHOLE, 1), DLS_PARTS_WHOLE, 1,
                    jobs, 2, NULL);
    assert_int_equal(rec->state[0], DLS_JOB_INFEASIBLE);
}

/* Two slices of 2/7 and one of 3/7 are a GPU by number; but the first lies on memory slices 4 and 5
 * and the job on 0 to 3, and for the second only slice 6 is left. */
TEST(test_slices)
{
    static const part_job jobs[] = {{0, 7200, 428}};
    const char *load = "0=1; 1=5; 2=1";
    dls_record *rec =
        run_parts(service_of(load, 0.285, DLS_PARTS_ANY, 1), DLS_PARTS_ANY, 1, jobs, 1, NULL);
    assert_int_equal(rec->end_us[0], S(7200));
    assert_int_equal(rec->services.preemptions, 0);
    dls_record_destroy(rec);
    rec = run_parts(service_of(load, 0.285, DLS_PARTS_MIG, 1), DLS_PARTS_MIG, 1, jobs, 1, NULL);
    assert_int_equal(rec->end_us[0], 2 * HOUR + S(3660));
    assert_int_equal(rec->services.preemptions, 1);
    assert_int_equal(rec->services.kept_us, rec->services.span_us);
    dls_record_destroy(rec);
}

/* Two GPUs with two jobs of 0.4 each; at 1 h a replica of 0.6 is needed. One of the jobs that
 * started last goes, and with it the other on its GPU, not one from each. */
TEST(test_gpu_by_gpu)
{
    static const part_job jobs[] = {{0, 9000, 400}, {1, 9000, 400}, {2, 9000, 400}, {3, 9000, 400}};
    dls_record *rec =
        run_parts(service_of("0=0; 1=1", 0.6, DLS_PARTS_ANY, 2), DLS_PARTS_ANY, 2, jobs, 4, NULL);
    assert_int_equal(rec->services.preemptions, 1); /* 0.4 + 0.6 */
    assert_int_equal(rec->preempts[3], 1);
    dls_record_destroy(rec);
    rec = run_parts(service_of("0=0; 1=1", 0.9, DLS_PARTS_ANY, 2), DLS_PARTS_ANY, 2, jobs, 4, NULL);
    assert_int_equal(rec->services.preemptions, 2);
    assert_int_equal(rec->preempts[3] + rec->preempts[2], 2);
    dls_record_destroy(rec);
}

/* ---- elastic jobs ---------------------------------------------------------------------------- */

/* A node of four GPUs, three of them the service's, of which it needs two, from 1 h to 2 h all. */
static dls_record *run_elastic(int32_t min_gpus)
{
    static const step steps[] = {{0, START, 0, 0, {0}}, {7200, START, 0, 0, {0}}};
    const case_job of[] = {{0, 4500, 2, NULL, NULL}};
    const dls_service s = service_of("0=5; 1=15; 2=5", 1, DLS_PARTS_WHOLE, 0);
    const dls_services all = {.service = (dls_service *)(uintptr_t)&s, .n = 1, .lend = true};
    sim_setup setup;
    RUN(&setup, case_cluster(1, 4, 0), of, steps);
    least[0] = min_gpus;
    most[0] = 2;
    n_steps = min_gpus == 1 ? 1 : 2;
    setup.p.services = &all;
    setup.p.restore_us = S(60);
    dls_record *rec = case_run(&setup.p);
    setup_fini(&setup);
    return rec;
}

TEST(test_shrinks)
{
    /* 900 s on two GPUs are left at 1 h: 1800 s on one, and 60 s to restore. */
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_elastic(1);
    assert_int_equal(rec->end_us[0], HOUR + S(1860));
    assert_int_equal(rec->services.shrinks, 1);
    assert_int_equal(rec->services.preemptions, 0);
    assert_int_equal(rec->services.lent_us, HOUR);
    assert_int_equal(rec->pending_us[0], 0);
    assert_int_equal(rec->services.kept_us, rec->services.span_us);
    dls_record_destroy(rec);
    /* It cannot do with one: it waits for an hour. */
    rec = run_elastic(2);
    assert_int_equal(rec->end_us[0], 2 * HOUR + S(960));
    assert_int_equal(rec->services.shrinks, 0);
    assert_int_equal(rec->services.preemptions, 1);
}

/* Two elastic jobs of three and two GPUs, all of the service's, and one of a GPU that is not
 * elastic and started last. Two GPUs are wanted at 1 h: the first gives both; two more at 2 h: the
 * second gives one, and of those that are left with one each the one that started last goes, which
 * is the second. Then a program that asks for what services have is told so. */
TEST(test_shrinks_before)
{
    static const step steps[] = {
        {0, START, 0, 0, {0}}, {1, START, 1, 0, {0}}, {2, START, 2, 0, {0}}};
    static const step greedy[] = {{0, START, 0, 0, {0}},
                                  {1, START, 1, 0, {0}},
                                  {2, START, 2, 0, {0}},
                                  {9000, START, 1, 0, {0}}};
    const case_job of[] = {
        {0, 20000, 3, NULL, NULL}, {1, 20000, 2, NULL, NULL}, {2, 20000, 1, NULL, NULL}};
    dls_service s = service_of("0=0; 1=5; 2=25", 1, DLS_PARTS_WHOLE, 6);
    s.need[2] = 4;
    const dls_services all = {.service = &s, .n = 1, .lend = true};
    sim_setup setup;
    RUN(&setup, case_cluster(1, 6, 0), of, steps);
    setup.p.services = &all;
    setup.p.until_us = 3 * HOUR;
    dls_record *rec = case_run(&setup.p);
    assert_int_equal(rec->services.shrinks, 2);
    assert_int_equal(rec->services.preemptions, 1);
    assert_int_equal(rec->preempts[0], 1);
    assert_int_equal(rec->preempts[1], 2);
    assert_int_equal(rec->preempts[2], 0);
    assert_int_equal(rec->pending_us[1], HOUR);
    dls_record_destroy(rec);
    setup_fini(&setup);
    RUN(&setup, case_cluster(1, 6, 0), of, greedy);
    setup.p.services = &all;
    refused_job(&setup, 1, 9000, "not free or beyond its quota");
}

/* ---- random ---------------------------------------------------------------------------------- */

/* All schedulers, elastic jobs or parts of GPUs, failures: audited after every event. */
TEST(test_random)
{
    uint64_t shrinks = 0, preemptions = 0;
    int64_t lent_us = 0;
    size_t n = 0;
    while (dls_scheds()[n]) {
        n++;
    }
    for (uint64_t seed = 0; seed < 6 * n; seed++) {
        const dls_sched_ops *sched = dls_scheds()[seed % n];
        const int32_t parts = (int32_t)(seed / n % 3);
        if (sched->share) {
            continue;
        }
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 3);
        int32_t min_gpus[40], max_gpus[40];
        part_job jobs[40];
        double t = 0;
        for (int j = 0; j < 40; j++) {
            const bool part = parts != DLS_PARTS_WHOLE && dls_rng_below(&rng, 2);
            t += (double)dls_rng_below(&rng, 5);
            jobs[j] = (part_job){t, (double)(1 + dls_rng_below(&rng, 60)),
                                 part ? 100 + (int64_t)dls_rng_below(&rng, 900)
                                      : 1000 * (1 + (int64_t)dls_rng_below(&rng, 4))};
            max_gpus[j] = (int32_t)((jobs[j].milli + 999) / 1000);
            min_gpus[j] = 1;
        }
        dls_service two[2] = {service_of("0=5; 0.01=25; 0.02=0; 0.03=15; 0.05=35", 0.3, parts, 0),
                              service_of("0=0; 0.02=15; 0.04=0", seed % 2 ? 1 : 0.15, parts, 0)};
        const dls_services all = {.service = two, .n = 2, .lend = true};
        const dls_failure_params fail = {.gpu_mtbf_s = 500, .shape = 1, .repair_s = 20};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(4, 3, 0), part_trace(jobs, 40), sched->name, "first-fit");
        s.cluster.gpu_parts = parts;
        s.p.services = &all;
        s.p.failures = seed / n > 2 ? &fail : NULL;
        elastic = (dls_elastic){.user = (void *)(uintptr_t)dls_trace_cols(s.trace),
                                .min_gpus = min_gpus,
                                .max_gpus = max_gpus,
                                .speed = linear};
        s.p.elastic = &elastic;
        s.p.seed = seed;
        s.p.restore_us = S(3);
        s.p.until_us = 20 * HOUR;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        const dls_service_sums *sums = &rec->services;
        assert_true(sums->used_us + sums->lent_us <= sums->own_gpus * sums->span_us);
        assert_true(sums->least_kept_us <= sums->span_us && sums->kept_us <= 2 * sums->span_us);
        shrinks += sums->shrinks;
        preemptions += sums->preemptions;
        lent_us += sums->lent_us;
    }
    assert_true(shrinks > 20 && preemptions > 50 && lent_us > 0);
}
