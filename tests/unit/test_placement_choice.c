/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the placement policies that know something decide, on clusters small enough to see why.
 */
#include "cluster/index.h"
#include "dlsim/predictor.h"
#include "engine/pace.h"
#include "placement/choose.h"
#include "placement/skew_limit.h"
#include "support/sim_case.h"
#include "support/test.h"

#define SECOND_US INT64_C(1000000)

/* ---- a cluster, a policy, and what the predictor says --------------------------------------- */

/* Iteration time by number of nodes (index 0: one) of a type; jobs above 99 know nothing. */
typedef struct telling {
    double iteration_s[2][5]; /* [type][log2 of nodes] */
    double burst_s, link_bps, mem_bytes, gpu_use, mem_use;
    double iterations;
    dls_shape shape[10];
    size_t n_shapes;
} telling;

typedef struct fixture {
    dls_cluster_spec spec;
    dls_place_index *x;
    const dls_placement_ops *ops;
    dls_option_value *values;
    void *state;
    telling t;
    dls_place_predictor predictor;
    int64_t now_us, since_us, retry_us;
    dls_grant grant;
} fixture;

static bool prediction(void *user, int32_t job, const dls_shape *s, dls_prediction *out)
{
    const telling *t = user;
    if (job > 99) {
        return false;
    }
    *out = (dls_prediction){.iteration_s = t->iteration_s[s->type][(int)(log2(s->n_nodes) + 0.5)],
                            .link_bps = s->n_nodes > 1 ? t->link_bps : 0,
                            .mem_bytes = t->mem_bytes};
    out->remaining_s = t->iterations * out->iteration_s;
    out->metric[DLS_NET_TX_ACTIVE] = t->burst_s;
    out->metric[DLS_GPU_ACTIVE] = t->gpu_use * out->iteration_s;
    out->metric[DLS_GPU_PEAK] = 1;
    out->metric[DLS_GPU_MEM_ACTIVE] = t->gpu_use * out->iteration_s;
    out->metric[DLS_GPU_MEM_IDLE] = (1 - t->gpu_use) * out->iteration_s;
    out->metric[DLS_GPU_MEM_PEAK] = t->gpu_use > 0 ? t->mem_use / t->gpu_use : 0;
    return true;
}

static const dls_shape *candidates(void *user, int32_t job, int32_t gpus, size_t *n)
{
    telling *t = user;
    *n = t->n_shapes;
    return t->shape;
}

/* Type 0: `nodes` nodes of 4 GPUs in racks of `rack`; type 1: 2 nodes of 4. */
static void begin(fixture *f, const char *policy, int nodes, int rack)
{
    dls_error err;
    memset(f, 0, sizeof *f);
    f->spec = case_cluster(nodes, 4, rack);
    f->spec.groups = realloc(f->spec.groups, 2 * sizeof *f->spec.groups);
    f->spec.groups[1] = f->spec.groups[0];
    f->spec.groups[1].nodes = 2;
    f->spec.groups[1].nodes_per_rack = 0;
    f->spec.groups[1].type = 1;
    snprintf(f->spec.groups[1].name, sizeof f->spec.groups[1].name, "others");
    snprintf(f->spec.types[1].name, sizeof f->spec.types[1].name, "other");
    f->spec.groups[0].nic_bps = f->spec.groups[1].nic_bps = 1e9;
    f->spec.types[0].mem_gib = f->spec.types[1].mem_gib = 16;
    f->spec.n_groups = f->spec.n_types = 2;
    f->ops = case_placement(policy);
    f->values = case_defaults(f->ops->options);
    f->predictor = (dls_place_predictor){
        .prediction = prediction, .candidates = candidates, .user = &f->t};
    f->t.iterations = 1000;
    if (dls_place_index_create(&f->spec, &f->x, &err) != DLS_OK) {
        case_fail(&err);
    }
}

static void ready(fixture *f)
{
    dls_error err;
    f->state = calloc(1, f->ops->state_bytes + 1);
    if (f->ops->init && f->ops->init(f->state, f->x, f->values, &err) != DLS_OK) {
        case_fail(&err);
    }
}

static void end(fixture *f)
{
    if (f->ops->fini) {
        f->ops->fini(f->state);
    }
    free(f->state);
    dls_free(f->values);
    dls_grant_fini(&f->grant);
    dls_place_index_destroy(f->x);
    free(f->spec.groups);
}

static dls_request request(fixture *f, int32_t job, int32_t gpus, int32_t type)
{
    f->retry_us = DLS_NEVER;
    return (dls_request){.job = job,
                         .gpus = gpus,
                         .type = type,
                         .now_us = f->now_us,
                         .waiting_since_us = f->since_us,
                         .tensor_skew = (double)NAN,
                         .predictor = &f->predictor,
                         .retry_us = &f->retry_us};
}

static bool place(fixture *f, const dls_request *r)
{
    dls_grant_reset(&f->grant);
    return f->ops->place(f->state, f->x, r, &f->grant);
}

/* The job gets what was granted last. */
static void start(fixture *f, const dls_request *r)
{
    int32_t node[8], gpus[8];
    assert_true(f->grant.n <= 8);
    for (size_t i = 0; i < f->grant.n; i++) {
        node[i] = f->grant.part[i].node;
        gpus[i] = f->grant.part[i].gpus;
        dls_place_take(f->x, node[i], gpus[i], 0, 0);
    }
    if (f->ops->started) {
        f->ops->started(f->state, f->x, r, node, gpus, f->grant.n);
    }
}

/* Leave so many GPUs of a node free. */
static void leave(fixture *f, int32_t node, int32_t free_gpus)
{
    const int32_t take = dls_place_free(f->x, node) - free_gpus;
    if (take > 0) {
        dls_place_take(f->x, node, take, 0, 0);
    }
}

/* So many free GPUs on node 0, 1, .. */
#define LEAVE(f, ...)                                                                              \
    for (int32_t i = 0; i < (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)); i++) {  \
        leave(f, i, ((int32_t[]){__VA_ARGS__})[i]);                                                \
    }

/* ---- tiresias ------------------------------------------------------------------------------- */

TEST(test_tiresias)
{
    fixture f;
    begin(&f, "tiresias", 6, 3);
    ready(&f);
    LEAVE(&f, 1, 2, 1)
    dls_request r = request(&f, 1, 4, 0);
    r.tensor_skew = 0.744; /* VGG16: a whole node */
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    assert_int_equal(f.grant.part[0].node, 3);
    r.tensor_skew = 0.112; /* ResNet-50: the leftovers */
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 3);
    assert_int_equal(f.grant.part[0].node, 0);
    assert_int_equal(f.grant.part[1].node, 2);
    assert_int_equal(f.grant.part[2].node, 1);
    r.tensor_skew = (double)NAN; /* nobody knows */
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    end(&f);
}

/* The published models: those above 0.6 lose when spread, those below 0.15 do not. */
TEST(test_skew_limit)
{
    static const double skew[] = {0.717, 0.744, 0.774, 0.611, 0.060, 0.075, 0.112, 0.044, 0.138};
    DLS_OWN(dls_skew_limit_fini) dls_skew_limit l = {.limit = 0.9, .loss = 0.1};
    for (int k = 0; k < 9; k++) {
        dls_skew_limit_observe(&l, skew[k], 0, 8, false, 1.0);
        assert_true(l.limit == 0.9); /* nothing to compare with */
    }
    dls_skew_limit_observe(&l, skew[0], 0, 8, true, 0.5);
    assert_true(l.limit == 0.9); /* one skew decides nothing */
    for (int k = 1; k < 9; k++) {
        dls_skew_limit_observe(&l, skew[k], 0, 8, true, skew[k] > 0.5 ? 0.5 : 0.97);
    }
    assert_true(fabs(l.limit - (0.138 + 0.611) / 2) < 1e-12);
    /* A wrong observation among many moves nothing; the same runs on other GPUs are compared apart.
     */
    for (int k = 0; k < 5; k++) {
        dls_skew_limit_observe(&l, 0.044, 0, 8, true, 0.97);
    }
    dls_skew_limit_observe(&l, 0.2, 1, 8, true, 0.1);
    assert_true(fabs(l.limit - (0.138 + 0.611) / 2) < 1e-12);
    /* Nobody suffers any more: the limit rises above all. */
    dls_skew_limit_fini(&l);
    l = (dls_skew_limit){.limit = 0.4, .loss = 0.1};
    for (int k = 0; k < 9; k++) {
        dls_skew_limit_observe(&l, skew[k], 0, 8, false, 1.0);
        dls_skew_limit_observe(&l, skew[k], 0, 8, true, 0.95);
    }
    assert_true(l.limit > 0.774 && l.limit < 1);
}

/* The policy watches first runs through its hooks. */
TEST(test_learning)
{
    fixture f;
    begin(&f, "tiresias", 6, 3);
    f.values[0].f = 0.95; /* spread everything */
    f.values[1].b = true;
    ready(&f);
    const int32_t node[2] = {0, 1}, four[2] = {4, 0}, two[2] = {2, 2};
    for (int32_t job = 0; job < 8; job++) {
        dls_request r = request(&f, job, 4, 0);
        const bool vgg = job % 2 == 0, spread = job >= 4;
        r.tensor_skew = vgg ? 0.744 : 0.112;
        f.ops->started(f.state, f.x, &r, node, spread ? two : four, spread ? 2 : 1);
        const int64_t worked_us = (vgg && spread ? 40 : 98) * SECOND_US;
        f.ops->stopped(f.state, f.x, job, f.now_us + 100 * SECOND_US, worked_us);
    }
    LEAVE(&f, 2, 2)
    dls_request r = request(&f, 20, 4, 0);
    r.tensor_skew = 0.744;
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    r.tensor_skew = 0.112;
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    end(&f);
}

/* ---- delay ---------------------------------------------------------------------------------- */

TEST(test_delay)
{
    fixture f;
    begin(&f, "delay", 4, 2);
    ready(&f);
    LEAVE(&f, 2, 2, 3, 3) /* rack 0; rack 1 */
    f.now_us = 100 * SECOND_US;
    f.since_us = 50 * SECOND_US;
    dls_request r = request(&f, 1, 3, 0);
    assert_true(place(&f, &r)); /* one node has it */
    assert_int_equal(f.grant.n, 1);
    r = request(&f, 1, 4, 0);
    assert_false(place(&f, &r));
    assert_int_equal(f.retry_us, 650 * SECOND_US); /* node_wait is 600 s */
    f.now_us = 650 * SECOND_US;
    r = request(&f, 1, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    assert_int_equal(dls_place_rack(f.x, f.grant.part[0].node),
                     dls_place_rack(f.x, f.grant.part[1].node));
    /* Seven are in no rack: until rack_wait that is reason to wait, then not. */
    r = request(&f, 1, 7, 0);
    assert_false(place(&f, &r));
    assert_int_equal(f.retry_us, 1250 * SECOND_US);
    f.now_us = 1250 * SECOND_US;
    r = request(&f, 1, 7, 0);
    assert_true(place(&f, &r));
    /* A gang larger than any rack does not wait for one: all that it waits for is node_wait. */
    f.now_us = 650 * SECOND_US;
    r = request(&f, 1, 9, 0);
    assert_true(place(&f, &r));
    end(&f);
}

/* Rack 0 has most nodes with two free GPUs, rack 1 with one: neither holds three, rack 2 does. */
TEST(test_delay_finds_rack)
{
    fixture f;
    begin(&f, "delay", 9, 3);
    ready(&f);
    LEAVE(&f, 2, 0, 0, 1, 1, 0, 2, 1, 0)
    f.now_us = 650 * SECOND_US;
    const dls_request r = request(&f, 1, 3, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    for (size_t i = 0; i < f.grant.n; i++) {
        assert_int_equal(dls_place_rack(f.x, f.grant.part[i].node), 2);
    }
    end(&f);
}

/* ---- hetero, driple ------------------------------------------------------------------------- */

TEST(test_hetero)
{
    fixture f;
    begin(&f, "hetero", 4, 2);
    f.t = (telling){.iteration_s = {{0.2, 0.3}, {0.1, 0.4}}, .iterations = 1000};
    ready(&f);
    dls_request a = request(&f, 1, 4, 0), b = request(&f, 1, 4, 1);
    assert_true(f.ops->cost(f.state, f.x, &a) == 200 && f.ops->cost(f.state, f.x, &b) == 100);
    /* The faster type has only halves of nodes left: there it would be the slower one. */
    leave(&f, 4, 2);
    leave(&f, 5, 2);
    assert_true(f.ops->cost(f.state, f.x, &b) == 400);
    assert_true(place(&f, &a) && f.grant.n == 1);
    leave(&f, 5, 1);
    assert_true(f.ops->cost(f.state, f.x, &b) == 100); /* once they are taken from somebody */
    a.job = b.job = 100;                               /* nothing is known */
    assert_true(f.ops->cost(f.state, f.x, &a) == 0);
    end(&f);
}

/* Leftovers when the profile says that the network carries it, whole nodes when it does not. */
TEST(test_driple_relaxes)
{
    fixture f;
    begin(&f, "driple", 6, 6);
    f.t = (telling){.iteration_s = {{0.100, 0.101, 0.101}, {1, 1, 1}},
                    .burst_s = 0.05,
                    .link_bps = 4e8,
                    .iterations = 1000};
    ready(&f);
    LEAVE(&f, 2, 2)
    dls_request r = request(&f, 1, 4, 0);
    assert_true(place(&f, &r)); /* 1 % slower, 200 MB/s of 1 GB/s */
    assert_int_equal(f.grant.n, 2);
    start(&f, &r);
    /* The same again: as much from others on no link of these. */
    leave(&f, 2, 2);
    leave(&f, 3, 2);
    r = request(&f, 2, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    /* A burst that the link does not carry on average: consolidated. Another job, as for one that
     * waits the prediction stands still. */
    f.t.burst_s = 0.09;
    f.t.link_bps = 9e8;
    r = request(&f, 3, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    /* Or one that costs more than 2 %. */
    f.t.burst_s = 0.05;
    f.t.link_bps = 4e8;
    f.t.iteration_s[0][1] = 0.11;
    r = request(&f, 4, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    /* Nothing known: consolidated. */
    r = request(&f, 100, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    assert_true(f.ops->cost(f.state, f.x, &r) == 0);
    end(&f);
}

/* Others' traffic on the same link counts. */
TEST(test_driple_counts_traffic)
{
    fixture f;
    begin(&f, "driple", 3, 3);
    f.t = (telling){.iteration_s = {{0.100, 0.101, 0.101}, {1, 1, 1}},
                    .burst_s = 0.05,
                    .link_bps = 8e8,
                    .iterations = 1000};
    ready(&f);
    /* Job 1 holds a half of nodes 0 and 1, and sends 400 MB/s over the links of both. */
    dls_request r = request(&f, 1, 4, 0);
    dls_grant_reset(&f.grant);
    dls_grant_add(&f.grant, 0, 2);
    dls_grant_add(&f.grant, 1, 2);
    start(&f, &r);
    dls_request second = request(&f, 2, 4, 0);
    assert_true(place(&f, &second)); /* 800 of 1000 MB/s are more than 0.7 of the link */
    assert_int_equal(f.grant.n, 1);
    f.ops->stopped(f.state, f.x, 1, 0, 0);
    assert_true(place(&f, &second));
    assert_int_equal(f.grant.n, 2);
    end(&f);
}

/* What is not known of a link, or of what the job sends, is no reason to break whole nodes up. */
TEST(test_driple_unknown_rates)
{
    for (int k = 0; k < 3; k++) {
        fixture f;
        begin(&f, "driple", 3, 3);
        f.t = (telling){.iteration_s = {{0.100, 0.101, 0.101}, {1, 1, 1}},
                        .burst_s = 0.05,
                        .link_bps = k == 1 ? 0 : 1e8,
                        .iterations = 1000};
        if (k == 2) {
            dls_error err;
            f.spec.groups[0].nic_bps = 0;
            dls_place_index_destroy(f.x);
            assert_int_equal(dls_place_index_create(&f.spec, &f.x, &err), DLS_OK);
        }
        ready(&f);
        LEAVE(&f, 2, 2)
        const dls_request r = request(&f, 1, 4, 0);
        assert_true(place(&f, &r));
        assert_int_equal(f.grant.n, k == 0 ? 2 : 1);
        end(&f);
    }
}

TEST(test_driple_waits)
{
    fixture f;
    begin(&f, "driple", 2, 2);
    f.t = (telling){.iteration_s = {{0.1, 0.3, 0.3}, {1, 1, 1}}, .iterations = 1000};
    f.t.shape[0] = (dls_shape){0, 4, 1, 1};
    f.t.shape[1] = (dls_shape){0, 4, 2, 1};
    f.t.n_shapes = 2;
    ready(&f);
    /* Job 1 has two GPUs of node 0 for 100 s more; on two nodes job 2 takes 300 s, on one 100 s. */
    dls_request r = request(&f, 1, 2, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 1);
    start(&f, &r);
    leave(&f, 1, 2);
    f.now_us = 40 * SECOND_US;
    f.since_us = 30 * SECOND_US;
    dls_request two = request(&f, 2, 4, 0);
    assert_false(place(&f, &two));
    assert_int_equal(f.retry_us, 100 * SECOND_US);
    /* Not worth it: it would gain nothing, */
    f.t.iteration_s[0][1] = 0.17;
    two = request(&f, 3, 4, 0);
    assert_true(place(&f, &two));
    assert_int_equal(f.retry_us, DLS_NEVER);
    /* or it has waited long enough. */
    f.t.iteration_s[0][1] = 0.3;
    f.since_us = -3600 * SECOND_US;
    two = request(&f, 4, 4, 0);
    assert_true(place(&f, &two));
    end(&f);
}

/* A GPU type that is busy is worth waiting for. */
TEST(test_driple_waits_for_type)
{
    fixture f;
    begin(&f, "driple", 2, 2);
    f.t = (telling){.iteration_s = {{0.5, 0.5, 0.5}, {0.1, 0.2, 0.2}}, .iterations = 1000};
    f.t.shape[0] = (dls_shape){1, 4, 1, 1};
    f.t.shape[1] = (dls_shape){0, 4, 1, 1};
    f.t.n_shapes = 2;
    ready(&f);
    for (int32_t job = 1; job <= 2; job++) {
        dls_request r = request(&f, job, 4, 1);
        assert_true(place(&f, &r));
        start(&f, &r);
    }
    dls_request r = request(&f, 3, 4, 0);
    assert_false(place(&f, &r)); /* 100 s of waiting and 100 s of running, not 500 s */
    assert_int_equal(f.retry_us, 100 * SECOND_US);
    f.t.iteration_s[0][0] = 0.21;
    r = request(&f, 4, 4, 0);
    assert_true(place(&f, &r));
    end(&f);
}

/* ---- sharing -------------------------------------------------------------------------------- */

TEST(test_pack)
{
    fixture f;
    begin(&f, "driple-pack", 2, 2);
    f.t = (telling){.iteration_s = {{0.1, 0.1}, {0.1, 0.1}},
                    .iterations = 1000,
                    .gpu_use = 0.4,
                    .mem_bytes = 0x1p30 * 7};
    ready(&f);
    const dls_shape one = {0, 2, 1, 1}, two = {0, 2, 2, 1};
    dls_request r = request(&f, 1, 2, 0);
    /* Together 0.8: nobody is slowed down, so sharing is worth a whole GPU. */
    assert_true(f.ops->share(f.state, f.x, &r, 2, &one) == 1);
    f.t.gpu_use = 0.6; /* 1 - 0.31 (1.2 - 0.8) = 0.876, a slow-down of 1.14 */
    assert_float_equal(f.ops->share(f.state, f.x, &r, 2, &one), 0.752, 1e-6);
    f.t.gpu_use = 0.65; /* 0.845: 1.18 is more than 1.15 */
    assert_true(!(f.ops->share(f.state, f.x, &r, 2, &one) > 0));
    f.t.gpu_use = 0.4;
    f.t.mem_bytes = 0x1p30 * 7.7; /* 15.4 of 15.2 GiB */
    assert_true(!(f.ops->share(f.state, f.x, &r, 2, &one) > 0));
    f.t.mem_bytes = 0x1p30 * 7;
    f.t.mem_use = 0.55; /* of the memory's bandwidth: 1.1 together */
    assert_true(fabs(f.ops->share(f.state, f.x, &r, 2, &one) - (2 / 1.1 - 1)) < 1e-6);
    f.t.mem_use = 0;
    f.t.mem_bytes = (double)NAN;
    assert_true(!(f.ops->share(f.state, f.x, &r, 2, &one) > 0));
    f.t.mem_bytes = 1e9;
    assert_true(!(f.ops->share(f.state, f.x, &r, 2, &two) > 0));   /* several nodes */
    assert_true(!(f.ops->share(f.state, f.x, &r, 100, &one) > 0)); /* an unknown host */
    assert_true(f.ops->share(f.state, f.x, &r, 2, &one) > 0);
    end(&f);
}

/* ---- interleaving --------------------------------------------------------------------------- */

TEST(test_net)
{
    fixture f;
    begin(&f, "driple-net", 4, 2);
    /* Sends half of the time as much as a link carries; two of them fit exactly. */
    f.t = (telling){.iteration_s = {{0.1, 0.1, 0.1}, {1, 1, 1}},
                    .burst_s = 0.05,
                    .link_bps = 1e9,
                    .iterations = 1000};
    ready(&f);
    for (int32_t node = 0; node < 4; node++) {
        leave(&f, node, 2);
    }
    dls_request r = request(&f, 1, 4, 0);
    dls_grant_reset(&f.grant);
    dls_grant_add(&f.grant, 0, 1);
    dls_grant_add(&f.grant, 1, 1);
    start(&f, &r);
    /* Rack 1 has the room and no traffic; no shift is needed. */
    r = request(&f, 2, 4, 0);
    assert_true(place(&f, &r));
    assert_int_equal(dls_place_rack(f.x, f.grant.part[0].node), 1);
    assert_int_equal(dls_place_rack(f.x, f.grant.part[1].node), 1);
    start(&f, &r);
    /* Now only the rest of rack 0 is left: it is taken, with the bursts in the pauses of job 1. */
    r = request(&f, 3, 2, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    assert_true(f.grant.shift_s > 0.049 && f.grant.shift_s < 0.051);
    end(&f);
}

/* Worse spread and out of the others' way: the score decides, and by as much as it says. */
TEST(test_net_score)
{
    fixture f;
    begin(&f, "driple-net", 6, 3);
    f.t = (telling){.iteration_s = {{0.1, 0.1, 0.1}, {1, 1, 1}},
                    .burst_s = 0.09,
                    .link_bps = 1e9,
                    .iterations = 1000};
    ready(&f);
    dls_request r = request(&f, 1, 2, 0);
    dls_grant_reset(&f.grant);
    dls_grant_add(&f.grant, 0, 1);
    dls_grant_add(&f.grant, 1, 1);
    start(&f, &r);
    leave(&f, 2, 0);
    for (int32_t node = 3; node < 6; node++) {
        leave(&f, node, 2);
    }
    /* Six GPUs: three on each of the nodes 0 and 1, or two on each of the others. With job 1 the
     * links of the first are wanted twice in 0.08 of every 0.1 s: a score of 0.2. */
    r = request(&f, 2, 6, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 3);
    assert_int_equal(dls_place_rack(f.x, f.grant.part[0].node), 1);
    /* On three nodes 4 times as long: still better than 1 / 0.2. */
    f.t.iteration_s[0][2] = 0.4;
    f.t.burst_s = 0.09;
    r = request(&f, 3, 6, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 3);
    /* 6 times: not any more. */
    f.t.iteration_s[0][2] = 0.6;
    r = request(&f, 4, 6, 0);
    assert_true(place(&f, &r));
    assert_int_equal(f.grant.n, 2);
    assert_int_equal(dls_place_rack(f.x, f.grant.part[0].node), 0);
    end(&f);
}

/* Of types that serve alike the slower one, as far as `alike` says. */
TEST(test_driple_alike)
{
    const double part[] = {0, 0.1};
    for (int k = 0; k < 2; k++) {
        fixture f;
        begin(&f, "driple", 4, 4);
        f.spec.types[0].fp32_flops = 16e12;
        f.spec.types[1].fp32_flops = 4e12;
        dls_place_index_destroy(f.x);
        assert_int_equal(dls_place_index_create(&f.spec, &f.x, NULL), DLS_OK);
        f.values[DLS_CHOOSE_ALIKE].f = part[k];
        f.t.iteration_s[0][0] = 0.1;
        f.t.iteration_s[1][0] = 0.105;
        ready(&f);
        const dls_request fast = request(&f, 1, 1, 0), slow = request(&f, 1, 1, 1);
        const double cost[] = {f.ops->cost(f.state, f.x, &fast), f.ops->cost(f.state, f.x, &slow)};
        assert_true(fabs(cost[0] - 100 * (1 + part[k])) < 1e-9);
        assert_true(fabs(cost[1] - 105 * (1 + part[k] / 4)) < 1e-9);
        end(&f);
    }
}
