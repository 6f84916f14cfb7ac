/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The placement `cassini`: who is turned when jobs meet on links, what it costs that only the
 * newcomer is, which candidate is taken, and what happens when links make a cycle.
 */
#include "base/rng.h"
#include "cluster/index.h"
#include "dlsim/predictor.h"
#include "engine/pace.h"
#include "placement/traffic.h"
#include "support/sim_case.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

#define JOBS 16
#define PERIOD 0.12

typedef struct fixture {
    dls_cluster_spec spec;
    dls_place_index *x;
    const dls_placement_ops *ops;
    dls_option_value *values;
    void *state;
    dls_place_predictor predictor;
    dls_pace pace;
    dls_grant grant;
    double turned[JOBS]; /* the last shift asked for */
    double burst_s, far_s; /* far_s: that a gang takes longer over several racks */
} fixture;

static bool prediction(void *user, int32_t job, const dls_shape *s, dls_prediction *out)
{
    const fixture *f = user;
    *out = (dls_prediction){.iteration_s = PERIOD,
                            .remaining_s = (s->n_nodes > 2 ? 150 : 100) + (s->n_racks > 1 ? f->far_s : 0),
                            .link_bps = s->n_nodes > 1 ? 1e9 : 0};
    out->metric[DLS_NET_TX_ACTIVE] = out->metric[DLS_NET_RX_ACTIVE] = f->burst_s;
    return true;
}

static const dls_shape *candidates(void *user, int32_t job, int32_t gpus, size_t *n)
{
    *n = 0;
    return NULL;
}

static void turn(void *user, int32_t job, double shift_s)
{
    fixture *f = user;
    f->turned[job] = shift_s;
}

/* Nodes of 4 GPUs with links of 1e9. */
static void begin(fixture *f, int nodes, int rack, double burst_s)
{
    dls_error err;
    memset(f, 0, sizeof *f);
    f->spec = case_cluster(nodes, 4, rack);
    f->spec.groups[0].nic_bps = 1e9;
    f->ops = case_placement("cassini");
    f->burst_s = burst_s;
    f->predictor = (dls_place_predictor){.prediction = prediction, .candidates = candidates, .user = f};
    f->pace = (dls_pace){.turn = turn, .engine = f};
    f->values = case_defaults(f->ops->options);
    f->state = calloc(1, f->ops->state_bytes);
    if (dls_place_index_create(&f->spec, &f->x, &err) != DLS_OK ||
        f->ops->init(f->state, f->x, f->values, &err) != DLS_OK) {
        case_fail(&err);
    }
}

static void end(fixture *f)
{
    f->ops->fini(f->state);
    free(f->state);
    dls_free(f->values);
    dls_grant_fini(&f->grant);
    dls_place_index_destroy(f->x);
    free(f->spec.groups);
}

static dls_request request(fixture *f, int32_t job, int32_t gpus, int64_t now_us)
{
    for (int32_t j = 0; j < JOBS; j++) {
        f->turned[j] = (double)NAN;
    }
    return (dls_request){.job = job,
                         .gpus = gpus,
                         .now_us = now_us,
                         .tensor_skew = (double)NAN,
                         .predictor = &f->predictor,
                         .pace = &f->pace};
}

/* One GPU of each of two nodes. */
static void start_on(fixture *f, int32_t job, int64_t now_us, int32_t a, int32_t b)
{
    const dls_request r = request(f, job, 2, now_us);
    const int32_t node[2] = {a, b}, gpus[2] = {1, 1};
    for (int32_t i = 0; i < 2; i++) {
        dls_place_take(f->x, node[i], 1, 0, 0);
    }
    f->ops->started(f->state, f->x, &r, node, gpus, 2);
}

static double apart(double a, double b)
{
    const double d = fmod(fabs(a - b), PERIOD);
    return fmin(d, PERIOD - d);
}

/* Three bursts of a third, the first two 0.05 apart: room for the third is there only if one moves.
 */
TEST(test_all_are_turned)
{
    fixture f;
    double at[3] = {0};
    begin(&f, 2, 0, 0.04);
    start_on(&f, 0, 0, 0, 1);
    at[0] = f.turned[0];
    start_on(&f, 1, 50000, 0, 1);
    at[0] = isnan(f.turned[0]) ? at[0] : f.turned[0];
    at[1] = f.turned[1];
    assert_true(apart(at[0], at[1]) > 0.04 - 1e-9);
    start_on(&f, 2, 0, 0, 1);
    for (int32_t j = 0; j < 3; j++) {
        at[j] = isnan(f.turned[j]) ? at[j] : f.turned[j];
    }
    assert_true(apart(at[0], at[1]) > 0.04 - 1e-9 && apart(at[1], at[2]) > 0.04 - 1e-9 &&
                apart(at[0], at[2]) > 0.04 - 1e-9);
    end(&f);
}

/* 0 and 1 stand so that a job that meets both cannot avoid them; one of them is turned. */
TEST(test_through_others)
{
    for (int newcomer = 0; newcomer < 2; newcomer++) {
        fixture f;
        begin(&f, 4, 0, 0.06);
        f.ops->fini(f.state);
        memset(f.state, 0, f.ops->state_bytes);
        f.values[2].i = newcomer;
        dls_error err;
        assert_int_equal(DLS_OK, f.ops->init(f.state, f.x, f.values, &err));
        start_on(&f, 0, 0, 0, 1);
        start_on(&f, 3, 0, 2, 3);
        start_on(&f, 1, 0, 2, 3); /* bursts when 3 pauses, and that is when 0 does */
        f.ops->stopped(f.state, f.x, 3, 0, 0);
        const double first = f.turned[1];
        start_on(&f, 2, 0, 1, 2);
        assert_false(isnan(f.turned[2]));
        const bool moved = !isnan(f.turned[0]) || !isnan(f.turned[1]);
        const double zero = isnan(f.turned[0]) ? 0 : f.turned[0];
        const double one = isnan(f.turned[1]) ? first : f.turned[1];
        const bool fits =
            apart(f.turned[2], zero) > 0.06 - 1e-9 && apart(f.turned[2], one) > 0.06 - 1e-9;
        assert_int_equal(moved, !newcomer);
        assert_true(fits || newcomer);
        end(&f);
    }
}

/* Nodes 2 and 3 carry a job that pauses too little, nodes 0 and 1 none. */
TEST(test_candidates)
{
    fixture f;
    begin(&f, 4, 2, 0.1);
    start_on(&f, 0, 0, 2, 3);
    for (int32_t node = 0; node < 4; node++) {
        while (dls_place_free(f.x, node) > (node < 2 ? 2 : 3)) {
            dls_place_take(f.x, node, 1, 0, 0);
        }
    }
    /* By the prediction all are as good. */
    dls_request r = request(&f, 1, 4, 0);
    dls_grant_reset(&f.grant);
    assert_true(f.ops->place(f.state, f.x, &r, &f.grant));
    assert_int_equal(2, f.grant.n);
    assert_true(f.grant.part[0].node < 2 && f.grant.part[1].node < 2);
    f.values[0].i = 1; /* one candidate: that of the host */
    f.ops->fini(f.state);
    memset(f.state, 0, f.ops->state_bytes);
    dls_error err;
    assert_int_equal(DLS_OK, f.ops->init(f.state, f.x, f.values, &err));
    dls_grant_reset(&f.grant);
    assert_true(f.ops->place(f.state, f.x, &r, &f.grant));
    assert_true(f.grant.part[0].node >= 2);
    end(&f);
}

/* Rack 1 has room on two nodes and traffic, rack 0 on four nodes without: half as long again. */
TEST(test_relax)
{
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        fixture f;
        dls_error err;
        begin(&f, 8, 4, 0.1);
        f.ops->fini(f.state);
        memset(f.state, 0, f.ops->state_bytes);
        f.values[1].f = relaxed ? 1 : 0.02;
        assert_int_equal(DLS_OK, f.ops->init(f.state, f.x, f.values, &err));
        start_on(&f, 0, 0, 4, 5);
        for (int32_t node = 0; node < 8; node++) {
            while (dls_place_free(f.x, node) > (node < 4 ? 1 : node < 6 ? 2 : 0)) {
                dls_place_take(f.x, node, 1, 0, 0);
            }
        }
        dls_request r = request(&f, 1, 4, 0);
        assert_true(f.ops->place(f.state, f.x, &r, &f.grant));
        assert_int_equal(relaxed ? 4 : 2, f.grant.n);
        end(&f);
    }
}

/* Nodes 4 and 5: scores of 0.6 and 1, 0.8 in the mean; nodes 0 and 1: 0.7 each. */
TEST(test_aggregate)
{
    for (int worst = 0; worst < 2; worst++) {
        fixture f;
        dls_error err;
        begin(&f, 8, 4, 0.8 * PERIOD);
        f.ops->fini(f.state);
        memset(f.state, 0, f.ops->state_bytes);
        f.values[3].i = worst;
        assert_int_equal(DLS_OK, f.ops->init(f.state, f.x, f.values, &err));
        start_on(&f, 0, 0, 4, 6);
        f.burst_s = 0.2 * PERIOD;
        start_on(&f, 1, 0, 5, 7);
        f.burst_s = 0.7 * PERIOD;
        start_on(&f, 2, 0, 0, 2);
        start_on(&f, 3, 0, 1, 3);
        f.burst_s = 0.6 * PERIOD;
        for (int32_t node = 0; node < 8; node++) {
            const int32_t leave = node == 4 || node == 5 ? 3 : node < 2 ? 2 : 0;
            while (dls_place_free(f.x, node) > leave) {
                dls_place_take(f.x, node, 1, 0, 0);
            }
        }
        dls_request r = request(&f, 4, 4, 0);
        assert_true(f.ops->place(f.state, f.x, &r, &f.grant));
        assert_int_equal(2, f.grant.n);
        assert_int_equal(worst, f.grant.part[0].node < 4);
        end(&f);
    }
}

/* 0 on nodes 0, 1; 1 on 1, 2; the newcomer on 2, 0 closes the circle: it alone is turned. */
TEST(test_cycle)
{
    fixture f;
    begin(&f, 3, 0, 0.04);
    start_on(&f, 0, 0, 0, 1);
    start_on(&f, 1, 0, 1, 2);
    assert_true(apart(isnan(f.turned[0]) ? 0 : f.turned[0], f.turned[1]) > 0.04 - 1e-9);
    start_on(&f, 2, 0, 2, 0);
    assert_true(isnan(f.turned[0]) && isnan(f.turned[1]) && !isnan(f.turned[2]));
    end(&f);
}

/* All ways that are as good make cycles: one of them is taken, and not the consolidated one, which takes longer. */
TEST(test_cycle_everywhere)
{
    fixture f;
    begin(&f, 6, 3, 0.07);
    f.far_s = 100;
    start_on(&f, 0, 0, 0, 1);
    start_on(&f, 1, 0, 1, 2);
    dls_place_take(f.x, 4, 4, 0, 0);
    dls_place_take(f.x, 5, 4, 0, 0);
    const dls_request r = request(&f, 2, 6, 0);
    assert_true(f.ops->place(f.state, f.x, &r, &f.grant));
    size_t n;
    const dls_place_part *part = dls_grant_parts(&f.grant, &n);
    assert_int_equal(n, 2);
    assert_true(part[0].node + part[1].node == 2 && part[0].gpus == 3 && part[1].gpus == 3);
    end(&f);
}

/* ---- expected ends ----------------------------------------------------------------------------- */

#define MANY 480

static bool ends_at(void *user, int32_t job, const dls_shape *s, dls_prediction *out)
{
    *out = (dls_prediction){.iteration_s = 1, .remaining_s = ((const int32_t *)user)[job]};
    return true;
}

static int by_time(const void *a, const void *b)
{
    const dls_by_end *x = a, *y = b;
    return x->end_us != y->end_us ? (x->end_us > y->end_us ? 1 : -1) : x->runner - y->runner;
}

/* The soonest ends, in order, beside all of them sorted; times meet, and most end when it is due. */
static void go_through_ends(uint64_t seed)
{
    dls_error err;
    DLS_HOLD(dls_place_index_destroy) dls_place_index *x = NULL;
    dls_cluster_spec spec = case_cluster(MANY / 4, 4, 0);
    dls_traffic t = {0}, copy;
    int32_t seconds[MANY];
    const dls_place_predictor predictor = {.prediction = ends_at, .user = seconds};
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 3);
    assert_int_equal(dls_place_index_create(&spec, &x, &err), DLS_OK);
    assert_int_equal(dls_traffic_init(&t, x, &err), DLS_OK);
    size_t most = 0;
    for (int step = 0; step < 4000; step++) {
        int32_t job = (int32_t)dls_rng_below(&rng, MANY);
        const dls_ends *e = &t.ends[0];
        if (dls_rng_below(&rng, 3) == 0 && e->n_next > 0) {
            job = t.runner[e->next[0].runner].job;
        }
        if ((size_t)job < t.n_jobs && t.of[job].slot > 0) {
            if (step > 2000 || dls_rng_below(&rng, 4) == 0) {
                dls_traffic_stopped(&t, x, job, 0, 0);
            }
        } else {
            const int32_t node = job / 4, gpus = 1;
            seconds[job] = (int32_t)dls_rng_below(&rng, 300);
            const dls_request r = {.job = job, .gpus = 1, .predictor = &predictor};
            dls_traffic_started(&t, x, &r, &node, &gpus, 1);
        }
        dls_by_end all[MANY];
        size_t n = 0;
        for (int32_t k = 0; (size_t)k < t.n_jobs; k++) {
            if (t.of[k].slot > 0) {
                all[n++] = (dls_by_end){t.runner[t.of[k].slot - 1].end_us, t.of[k].slot - 1};
            }
        }
        qsort(all, n, sizeof *all, by_time);
        assert_int_equal(e->n_next + e->n_later, n);
        assert_true(e->n_next >= (n < DLS_OPENINGS_ENDS ? n : DLS_OPENINGS_ENDS));
        for (size_t k = 0; k < e->n_next; k++) {
            assert_int_equal(e->next[k].runner, all[k].runner);
        }
        most = n > most ? n : most;
        if (step % 1000 == 0) { /* the copy goes on as the original would */
            copy = t;
            assert_int_equal(dls_traffic_clone(&copy, &t, x, &err), DLS_OK);
            dls_traffic_fini(&t);
            t = copy;
        }
    }
    assert_true(most > 2 * DLS_ENDS_NEXT);
    dls_traffic_fini(&t);
    free(spec.groups);
}

TEST(test_ends)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        go_through_ends(seed);
    }
}

/* Who exchanges twice in an iteration bursts twice. */
TEST(test_period)
{
    dls_prediction f = {.iteration_s = 1, .link_bps = 1e9};
    f.metric[DLS_NET_TX_ACTIVE] = f.metric[DLS_NET_RX_ACTIVE] = 0.2;
    f.metric[DLS_NET_TX_IDLE] = f.metric[DLS_NET_RX_IDLE] = 0.8;
    assert_true(dls_pulse_of(&f).period_s == 1);
    f.metric[DLS_NET_TX_IDLE] = 0.3;
    assert_true(dls_pulse_of(&f).period_s == 0.5);
    f.metric[DLS_NET_RX_ACTIVE] = 0.25; /* the longer burst's own pause */
    assert_true(dls_pulse_of(&f).period_s == 1);
    f.metric[DLS_NET_RX_IDLE] = (double)NAN;
    assert_true(dls_pulse_of(&f).period_s == 1);
}
