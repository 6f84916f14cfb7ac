/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the engine asks of a placement and tells it: cost, retry, refusals by job, started and stopped,
 * predictions.
 */
#include "support/fake_world.h"
#include "support/must.h"
#include "support/sim_setup.h"

/* A placement that takes what is free from the first node on, and does as the test says. */
typedef struct probe {
    int64_t not_before_us[8];   /* by job: refused until then */
    int64_t retry_us;           /* what a refusal says; 0: not_before_us */
    double cost[8][2];          /* by job and type */
    int64_t dear_until_us;      /* till then every type costs more than waiting */
    int32_t asked, costs;
    int32_t started[8], stopped[8];
    int64_t worked_us[8];
    dls_request last;
    dls_prediction prediction;
    bool knows;
    size_t candidates;
    double shift_s[8];          /* by job: asked for with the grant, unless 0 */
    int32_t shifts;             /* that the world was told of */
} probe;

static probe now;

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    now.asked++;
    now.last = *r;
    if (r->predictor) {
        const dls_shape shape = {r->type, r->gpus, 1, 1};
        now.knows = dls_place_predict(r, r->job, &shape, &now.prediction);
        dls_place_candidates(r, &now.candidates);
    }
    if (r->now_us < now.not_before_us[r->job]) {
        *r->retry_us = now.retry_us ? now.retry_us : now.not_before_us[r->job];
        return false;
    }
    if (now.shift_s[r->job] > 0) {
        dls_grant_shift(grant, now.shift_s[r->job]);
    }
    int32_t left = r->gpus;
    for (int32_t node = dls_place_first(index, r, 1, 64, 0); node >= 0 && left > 0;
         node = dls_place_first(index, r, 1, 64, node + 1)) {
        const int32_t room = dls_place_cpu_limit(index, r, node), take = room < left ? room : left;
        dls_grant_add(grant, node, take);
        left -= take;
    }
    return left == 0;
}

static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    now.costs++;
    if (r->now_us < now.dear_until_us) {
        *r->retry_us = now.retry_us ? now.retry_us : now.dear_until_us;
        return (double)INFINITY;
    }
    return now.cost[r->job][r->type];
}

static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(nodes[i] >= 0 && nodes[i] < dls_place_nodes(index));
        sum += gpus[i];
    }
    assert_int_equal(sum, r->gpus);
    assert_int_equal(r->attempt, now.started[r->job]); /* as when it was placed */
    assert_int_equal(now.started[r->job]++, now.stopped[r->job]);
}

static void stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                    int64_t worked_us)
{
    assert_true(now_us >= 0 && worked_us >= 0);
    now.worked_us[job] += worked_us;
    assert_int_equal(++now.stopped[job], now.started[job]);
}

static const dls_placement_ops probe_ops = {.abi = DLS_POLICY_ABI,
                                            .name = "probe",
                                            .summary = "",
                                            .place = place,
                                            .started = started,
                                            .stopped = stopped};

static void setup_probe(sim_setup *s, dls_cluster_spec cluster, const case_job *jobs, size_t n,
                        const char *sched, dls_placement_ops *ops)
{
    memset(&now, 0, sizeof now);
    *ops = probe_ops;
    setup_init(s, cluster, case_trace(jobs, n), sched, "consolidated");
    s->p.placement = ops;
}

TEST(test_retry)
{
    const case_job jobs[] = {{1, 5, 4, NULL, NULL}, {2, 5, 4, NULL, NULL}};
    static const char *const scheds[] = {"fifo", "fjf", "dlas-gpu", "srtf"};
    for (int i = 0; i < 4; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops;
        setup_probe(&s, case_cluster(2, 4, 0), jobs, 2, scheds[i], &ops);
        now.not_before_us[0] = S(7);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_int_equal(rec->start_us[0], S(7));
        assert_int_equal(rec->end_us[0], S(12));
        assert_int_equal(rec->start_us[1], S(7)); /* of the same class: left alone as long */
        assert_int_equal(now.started[0], 1);
        assert_int_equal(now.stopped[1], 1);
    }
}

TEST(test_by_job)
{
    case_job jobs[8];
    for (int j = 0; j < 8; j++) {
        jobs[j] = (case_job){1 + j / 4, 5, 2, NULL, NULL};
    }
    static const char *const scheds[] = {"fifo", "fjf", "dlas-gpu", "srtf"};
    for (int i = 0; i < 4; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops;
        setup_probe(&s, case_cluster(1, 4, 0), jobs, 8, scheds[i], &ops);
        ops.by_job = true;
        now.not_before_us[0] = S(30);
        now.not_before_us[2] = S(8);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        if (i == 0) { /* strict: nobody passes the first */
            assert_int_equal(rec->start_us[0], S(30));
            assert_int_equal(rec->start_us[1], S(30));
        } else {
            assert_int_equal(rec->start_us[1], S(1));
            assert_int_equal(rec->start_us[3], S(1));
            assert_int_equal(rec->start_us[4], S(6));
            assert_int_equal(rec->start_us[5], S(6));
            assert_int_equal(rec->start_us[2], S(11)); /* back in its place, before the others */
            assert_int_equal(rec->start_us[6], S(11));
            assert_int_equal(rec->start_us[7], S(16));
            assert_int_equal(rec->start_us[0], S(30));
        }
    }
}

TEST(test_cost)
{
    const double never = (double)INFINITY;
    const case_job jobs[] = {{0, 10, 2, NULL, NULL},
                             {1, 10, 2, NULL, "V100|P100"},
                             {2, 10, 2, NULL, "P100"},
                             {3, 10, 2, NULL, NULL}};
    static const char *const scheds[] = {"fjf", "dlas-gpu", "fifo", "easy"};
    for (int i = 0; i < 4; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops;
        setup_probe(&s, two_types(1, 1, 4, 0), jobs, 4, scheds[i], &ops);
        ops.cost = cost;
        const double table[4][2] = {{2, 1}, {3, 1}, {9, 9}, {1, never}};
        memcpy(now.cost, table, sizeof table);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(now.costs > 0);
        const int type[4] = {1, 1, 1, 0};
        for (size_t r = 0; r < rec->allocs.n; r++) {
            assert_int_equal(rec->allocs.node[r], type[rec->allocs.job[r]]);
        }
        assert_int_equal(rec->start_us[1], S(1));
        assert_int_equal(rec->start_us[2], S(10)); /* its only type is taken */
        assert_int_equal(rec->start_us[3], i == 2 ? S(10) : S(3));
    }
}

TEST(test_cost_wait)
{
    /* The dear type is free, but the job would rather wait for the other. */
    const case_job jobs[] = {{0, 10, 4, NULL, "V100"}, {1, 10, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    setup_probe(&s, two_types(1, 1, 4, 0), jobs, 2, "fjf", &ops);
    ops.cost = cost;
    now.cost[1][1] = (double)INFINITY;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], S(10));
}

/* Too dear until a time that is named: asked again then. */
TEST(test_cost_retry)
{
    const case_job jobs[] = {{0, 10, 4, NULL, NULL}, {1, 10, 8, NULL, NULL}};
    static const char *const scheds[] = {"fifo", "fjf", "easy", "dlas-gpu", "srtf", "gandiva"};
    static const char *const last_asked[] = {"job 0: ", "job 1: ", "job 1: ",
                                             "job 1: ", "job 1: ", "job 1: "};
    for (int i = 0; i < 6; i++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops;
        dls_record *rec;
        setup_probe(&s, two_types(2, 2, 4, 0), jobs, 2, scheds[i], &ops);
        ops.cost = cost;
        now.dear_until_us = S(7);
        rec = case_run(&s.p);
        assert_int_equal(rec->start_us[0], S(7));
        assert_int_equal(rec->start_us[1], S(7));
        dls_record_destroy(rec);
        now.dear_until_us = S(7);
        now.retry_us = S(1);
        memset(now.started, 0, sizeof now.started);
        memset(now.stopped, 0, sizeof now.stopped);
        MUST_FAIL(DLS_EPOLICY, "not in the future (at 1.000000 s)", dls_sim_run(&s.p, &rec, &e));
        MUST_FAIL(DLS_EPOLICY, last_asked[i], dls_sim_run(&s.p, &rec, &e));
    }
}

/* A job that was to move to another type for one that is then refused stays where it is. */
TEST(test_refused_for_nothing)
{
    const case_job jobs[] = {{0, 100, 4, NULL, NULL}, {2, 10, 4, NULL, "V100"}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    setup_probe(&s, two_types(1, 1, 4, 0), jobs, 2, "srtf", &ops);
    now.not_before_us[1] = S(30);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->allocs.job[0], 0);
    assert_int_equal(rec->allocs.node[0], 0);
    assert_int_equal(rec->allocs.end_us[0], S(30));
    assert_int_equal(rec->start_us[1], S(30));
    assert_int_equal(rec->preempts[0], 1);
    assert_int_equal(rec->end_us[0], S(100));
}

/* Job 0 leaves two GPUs and too few processors for job 1, which is refused once. Nobody is asked about it again while jobs 2
 * to 7, which need none, come and go. */
TEST(test_asked_where_there_is_room)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    dls_trace *trace;
    EACH_JOB(job, 8, &trace) {
        job.rec.submit_us = S((double)job.i);
        job.rec.duration_us = S(job.i == 0 ? 100 : 0.5);
        job.rec.gpus_milli = 1000 * (job.i < 2 ? 2 : 1);
        job.rec.cpu_milli = job.i < 2 ? 4000 : 0;
    }
    dls_cluster_spec cluster = case_cluster(1, 4, 0);
    cluster.groups[0].cpus_per_node = 5;
    memset(&now, 0, sizeof now);
    ops = probe_ops;
    setup_init(&s, cluster, trace, "fjf", "consolidated");
    s.p.placement = &ops;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], S(100));
    assert_int_equal(rec->start_us[7], S(7));
    assert_int_equal(now.asked, 11); /* two classes in the set-up, eight starts, and the refusal */
}

TEST(test_told)
{
    /* Preemption and restoring; every start is told of once, and so is all the work. */
    for (uint64_t seed = 0; seed < 40; seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops = probe_ops;
        memset(&now, 0, sizeof now);
        setup_init(&s, case_cluster(2, 4, 0), random_trace(seed, 8, 5, 4, NULL, NULL), "srtf",
                   "consolidated");
        s.p.placement = &ops;
        s.p.restore_us = S(1);
        fake_world world;
        const dls_pace pace = fake_pace(&world, s.trace);
        s.p.pace = seed % 2 ? &pace : NULL;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 0; j < 8; j++) {
            assert_int_equal(now.started[j], rec->resumes[j]);
            assert_int_equal(now.stopped[j], rec->resumes[j]);
            const int64_t lost = now.worked_us[j] - dls_trace_cols(s.trace)->duration_us[j];
            assert_true(lost >= 0 && lost <= rec->resumes[j]); /* rounded up each time */
        }
    }
}

static void set_shift(dls_world *w, int32_t job, double shift_s)
{
    assert_true(w->running[job]);
    assert_true(shift_s == now.shift_s[job]);
    now.shifts++;
}

TEST(test_shift)
{
    const case_job jobs[] = {{0, 5, 2, NULL, NULL}, {1, 5, 2, NULL, NULL}, {2, 5, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    fake_world world;
    setup_probe(&s, case_cluster(1, 4, 0), jobs, 3, "fifo", &ops);
    now.shift_s[0] = 0.25;
    now.shift_s[2] = 0.5;
    dls_pace pace = fake_pace(&world, s.trace);
    pace.set_shift = set_shift;
    s.p.pace = &pace;
    dls_record_destroy(case_run(&s.p));
    assert_int_equal(now.shifts, 2); /* not of the one whose grant asked for none */
}

static int32_t routed[3];

static dls_status set_route(dls_world *w, int32_t job, int32_t path, int32_t level, dls_error *err)
{
    routed[job] = 1 + level;
    return DLS_OK;
}

static void turn_and_route(void *state, const dls_place_index *index, const dls_request *r,
                           const int32_t *nodes, const int32_t *gpus, size_t n)
{
    assert_null(r->predictor);
    dls_place_turn(r, r->job, now.shift_s[r->job]);
    dls_place_route(r, r->job, dls_place_paths(index) - 1, r->job);
}

/* Bursts and links are the world's: they need no predictor. */
TEST(test_turned_without_predictor)
{
    const case_job jobs[] = {{0, 5, 2, NULL, NULL}, {1, 5, 2, NULL, NULL}, {2, 5, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    fake_world world;
    setup_probe(&s, case_cluster(1, 4, 0), jobs, 3, "fifo", &ops);
    ops.started = turn_and_route;
    ops.stopped = NULL;
    ops.place = case_placement("first-fit")->place;
    now.shift_s[0] = now.shift_s[1] = now.shift_s[2] = 0.25;
    dls_pace pace = fake_pace(&world, s.trace);
    pace.set_shift = set_shift;
    pace.set_route = set_route;
    s.p.pace = &pace;
    dls_record_destroy(case_run(&s.p));
    assert_int_equal(now.shifts, 3);
    for (int32_t j = 0; j < 3; j++) {
        assert_int_equal(routed[j], 1 + j);
    }
}

/* ---- predictions ---------------------------------------------------------------------------- */

/* Theirs: to the engine they are a name alone. */
typedef struct dls_predictions {
    int32_t batches, prepared;
    int64_t estimate_us[8];
} fake_predictions;

static int64_t asked_work_us[8];

static dls_status prepare(dls_predictions *a, const int32_t *jobs, size_t n, dls_error *err)
{
    a->batches++;
    for (size_t i = 0; i < n; i++) {
        a->prepared |= 1 << jobs[i];
    }
    return n < 8 ? DLS_OK : dls_fail(err, DLS_EPREDICTOR, NULL, "too many");
}

static const dls_shape *shapes(dls_predictions *a, int32_t job, int32_t gpus, size_t *n)
{
    static const dls_shape two[2] = {{0, 1, 1, 1}, {0, 1, 1, 1}};
    assert_true(a->prepared >> job & 1);
    *n = 2;
    return two;
}

static void get(const dls_predictions *a, int32_t job, const dls_shape *shape, int64_t work_us, dls_prediction *out)
{
    assert_true(a->prepared >> job & 1);
    asked_work_us[job] = work_us;
    memset(out, 0, sizeof *out);
    out->iteration_s = 0.5;
    out->remaining_s = (double)work_us / 1e6;
}

static int64_t estimate(dls_predictions *a, int32_t job)
{
    assert_true(a->prepared >> job & 1);
    return a->estimate_us[job];
}

TEST(test_advice)
{
    const case_job jobs[] = {{0, 10, 4, NULL, NULL}, {0, 20, 3, NULL, NULL}, {1, 5, 8, NULL, NULL},
                             {2, 5, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    fake_predictions predictions = {0};
    const dls_prediction_ops table = {&predictions, prepare, shapes, get, estimate, NULL, NULL};
    setup_probe(&s, case_cluster(1, 4, 0), jobs, 4, "srtf", &ops);
    s.p.predictions = &table;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(predictions.batches, 2); /* two jobs at 0, none for the one that never fits, one at 2 */
    assert_int_equal(predictions.prepared, 1 + 2 + 8);
    assert_true(now.knows && now.candidates == 2);
    assert_int_equal(asked_work_us[0], S(8)); /* after two seconds it made way, and came back */
    assert_int_equal(asked_work_us[1], S(20));
    assert_int_equal(now.last.job, 1);
    assert_int_equal(now.last.attempt, 0);
    assert_int_equal(now.last.waiting_since_us, 0);
    assert_int_equal(now.last.now_us, S(15));
    dls_record_destroy(rec);
    setup_fini(&s);

    /* EASY believes the predictor. */
    setup_probe(&s, case_cluster(1, 4, 0), jobs, 2, "easy", &ops);
    memset(&predictions, 0, sizeof predictions);
    predictions.estimate_us[0] = S(100);
    predictions.estimate_us[1] = S(90);
    s.p.predictions = &table;
    s.p.estimates_predicted = true;
    rec = case_run(&s.p);
    assert_int_equal(predictions.batches, 1);
}

/* Who is to be done first, by run times that are predicted, not by those that are true. */
TEST(test_predicted)
{
    const case_job jobs[] = {{0, 10, 4, NULL, NULL},
                             {2, 3, 4, NULL, NULL},
                             {5, 6, 4, NULL, NULL},
                             {17, 1, 4, NULL, NULL},
                             {17, 1, 4, NULL, NULL}};
    const int said_s[] = {4, 20, 5, 2, 19};
    static const struct {
        const char *sched;
        int end_s[5]; /* predicted */
        int true_end_s[5];
    } cases[] = {
        /* At 5 job 0 has outlived its prediction and keeps its GPUs; at 17 job 1 has 19 of 20 seconds
         * left: it makes way for job 3, of 2, but not for job 4, of 19, which came later. */
        {"srtf", {10, 20, 16, 18, 21}, {21, 5, 11, 18, 19}},
        {"srsf", {10, 20, 16, 18, 21}, {21, 5, 11, 18, 19}},
        {"sjf-duration", {10, 19, 16, 20, 21}, {10, 13, 19, 20, 21}},
    };
    for (size_t k = 0; k < 2 * sizeof cases / sizeof cases[0]; k++) {
        const bool predicted = k % 2;
        const int *end_s = predicted ? cases[k / 2].end_s : cases[k / 2].true_end_s;
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_placement_ops ops;
        fake_predictions predictions = {0};
        const dls_prediction_ops table = {&predictions, prepare, shapes, get, estimate, NULL, NULL};
        setup_probe(&s, case_cluster(1, 4, 0), jobs, 5, cases[k / 2].sched, &ops);
        for (int j = 0; j < 5; j++) {
            predictions.estimate_us[j] = S(said_s[j]);
        }
        s.p.predictions = &table;
        s.p.estimates_predicted = predicted;
        s.p.audit = true;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 0; j < 5; j++) {
            assert_int_equal(rec->end_us[j], S(end_s[j]));
        }
    }
}

TEST(test_errors)
{
    const case_job jobs[] = {{1, 5, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_placement_ops ops;
    dls_record *rec = NULL;
    dls_error err;
    setup_probe(&s, case_cluster(1, 4, 0), jobs, 1, "fifo", &ops);
    now.not_before_us[0] = S(9);
    now.retry_us = S(1);
    MUST_FAIL(DLS_EPOLICY,
              "job 0: wants to be asked again at a time that is not in the future (at 1.000000 s)",
              dls_sim_run(&s.p, &rec, &e));
    ops.needs_prediction = true;
    MUST_FAIL(DLS_ECONFIG, "predictor.source", dls_sim_run(&s.p, &rec, &e));
    ops.needs_prediction = false;
    s.p.estimates_predicted = true;
    assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ECONFIG);
    assert_null(rec);
}
