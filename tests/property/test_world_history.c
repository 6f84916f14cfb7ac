/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random lives of a world: rates depend on who runs where and on nothing else; they never pass those of
 * the job alone; what is reported is what has changed; nobody is looked at without need.
 */

#include "support/world_setup.h"

#include "base/rng.h"

#include <math.h>

#define JOBS 40
#define NODES 24
#define STEPS 400
#define LIKE_FRESH (5 * STEPS / FEWER(STEPS)) /* steps from one comparison to the next */

static const world_group groups[] = {{"V100", 12, 4, 3, 10}, {"P100", 12, 4, 4, 40}};

/* Where a running job sits, to tell another world the same. */
typedef struct place {
    dls_seat seat[8];
    size_t n;
    int32_t type;
    double shift_s;
    int32_t path, level; /* -1: as it is */
    int64_t rate; /* 0: not running */
} place;

typedef struct life {
    world_setup s;
    world_job jobs[JOBS];
    place at[JOBS];
    double scale[NODES];
    int32_t n_jobs; /* that come and go: few, or enough that most are connected */
    bool pulled; /* was anybody kept in step? */
    dls_rng rng;
} life;

static void begin(life *l, uint64_t seed, double uplink_bps, double core_bps)
{
    static const char *const models[] = {"vgg16", "alexnet", "resnet50", "bert", "ncf", "inception3"};
    memset(l, 0, sizeof *l);
    l->rng = dls_rng_stream(seed, DLS_RNG_TEST, 0);
    l->n_jobs = seed % 3 ? 8 : JOBS;
    for (int32_t j = 0; j < JOBS; j++) {
        l->jobs[j] = (world_job){models[dls_rng_below(&l->rng, 6)],
                                 1 << dls_rng_below(&l->rng, 4), 16 << dls_rng_below(&l->rng, 2), 10,
                                 0};
    }
    for (int32_t n = 0; n < NODES; n++) {
        l->scale[n] = 1;
    }
    world_init(&l->s, "operator", groups, 2, l->jobs, JOBS);
    l->s.p.residual_sigma = l->s.p.network_residual_sigma = 0.2;
    l->s.p.exchange = seed % 2 ? "ps-sync" : "allreduce";
    l->s.cluster.rack_uplink_bps = uplink_bps;
    l->s.cluster.core_bps = core_bps;
    l->s.cluster.uplinks = seed % 2 ? 3 : 0;
    l->s.cluster.groups[0].rails = seed % 8 > 4;
    l->s.p.jitter = seed % 3 == 0 ? 0.01 : 0;
    l->s.cluster.groups[1].domain_gpus = seed % 4 == 2 ? 2 : 0;
    l->s.cluster.groups[1].domain_bps = seed % 4 == 2 ? 5e9 : 0;
    l->s.cluster.rack_nvlink_bps = seed % 8 == 7 ? 5e9 : 0;
    world_open(&l->s);
}

/* Anywhere: any spread, any GPUs, shared or not. */
static void start(life *l, int32_t j)
{
    place *p = &l->at[j];
    const int32_t gpus = l->jobs[j].gpus, type = (int32_t)dls_rng_below(&l->rng, 2);
    const int32_t least = (gpus + 3) / 4;
    const int32_t most = gpus < 8 ? gpus : 8;
    const int32_t n = least + (int32_t)dls_rng_below(&l->rng, (uint64_t)(most - least + 1));
    int32_t left = gpus;
    *p = (place){.n = (size_t)n, .type = type, .shift_s = (double)NAN, .path = -1};
    const int32_t first = 12 * type + (int32_t)dls_rng_below(&l->rng, (uint64_t)(12 - n + 1));
    for (int32_t i = 0; i < n; i++) {
        int32_t take = left / (n - i);
        p->seat[i].node = first + i;
        left -= take;
        while (take > 0) {
            const uint64_t gpu = UINT64_C(1) << dls_rng_below(&l->rng, 4);
            take -= (p->seat[i].mask & gpu) == 0;
            p->seat[i].mask |= gpu;
        }
    }
    dls_error err;
    const dls_status status = dls_world_start(l->s.w, j, type, p->seat, p->n, &err);
    if (status == DLS_EPOLICY) { /* memory of shared GPUs */
        assert_false(dls_world_shares(l->s.w, j, type, p->seat, p->n));
        return;
    }
    assert_int_equal(status, DLS_OK);
    p->rate = -1;
}

static void step(life *l)
{
    const int32_t j = (int32_t)dls_rng_below(&l->rng, (uint64_t)l->n_jobs);
    const uint64_t what = dls_rng_below(&l->rng, 12);
    place *p = &l->at[j];
    if (what == 0) {
        const int32_t node = (int32_t)dls_rng_below(&l->rng, NODES);
        l->scale[node] = 0.25 + 0.75 * dls_rng_unit(&l->rng);
        dls_world_link_scale(l->s.w, node, l->scale[node]);
    } else if (what == 1 && p->rate) {
        p->shift_s = dls_rng_unit(&l->rng);
        dls_world_set_shift(l->s.w, j, p->shift_s);
    } else if (what < 5 && p->rate) {
        p->path = (int32_t)dls_rng_below(&l->rng, l->s.cluster.uplinks ? 3 : 1);
        p->level = (int32_t)dls_rng_below(&l->rng, 3) * (l->n_jobs == JOBS ? 3 : 1);
        assert_int_equal(dls_world_set_route(l->s.w, j, p->path, p->level, NULL), DLS_OK);
    } else if (p->rate) {
        dls_world_stop(l->s.w, j);
        p->rate = 0;
    } else {
        start(l, j);
    }
}

static double solo_rate(life *l, int32_t j)
{
    const place *p = &l->at[j];
    const dls_shape shape = dls_world_shape(l->s.w, p->type, p->seat, p->n);
    dls_solo solo;
    assert_int_equal(dls_world_solo(l->s.w, j, &shape, &solo, NULL), DLS_OK);
    return (double)dls_world_solo_rate(l->s.w, j, &solo);
}

static void settle(life *l)
{
    const dls_rate_change *c;
    const size_t n = world_settle(&l->s, &c);
    for (size_t i = 0; i < n; i++) {
        place *p = &l->at[c[i].job];
        assert_true(i == 0 || c[i - 1].job < c[i].job);
        assert_true(p->rate != 0 && c[i].rate != p->rate && c[i].rate > 0);
        assert_true((double)c[i].rate <= solo_rate(l, c[i].job));
        p->rate = c[i].rate;
    }
    for (int32_t j = 0; j < JOBS; j++) {
        assert_true(l->at[j].rate >= 0); /* all that started were reported */
    }
    const dls_link_load load = dls_world_link_load(l->s.w);
    assert_true(load.nic_max <= 1.0F && load.uplink_max <= 1.0F);
    assert_true(load.nic_mean >= 0.0F && load.nic_mean <= load.nic_max + 1e-3F);
}

/* Another world, in which the same jobs start at once and in another order. */
static void compare_with_fresh(life *l)
{
    life *fresh = calloc(1, sizeof *fresh);
    const dls_rate_change *c;
    dls_world *w;
    assert_non_null(fresh);
    assert_int_equal(dls_world_create(&l->s.p, &w, NULL), DLS_OK);
    fresh->s.w = w;
    for (int32_t n = 0; n < NODES; n++) {
        dls_world_link_scale(w, n, l->scale[n]);
    }
    int32_t running = 0;
    for (int32_t i = 0; i < JOBS; i++) {
        const int32_t j = (i * 17 + 5) % JOBS;
        const place *p = &l->at[j];
        if (p->rate) {
            assert_int_equal(dls_world_start(w, j, p->type, p->seat, p->n, NULL), DLS_OK);
            dls_world_set_shift(w, j, p->shift_s);
            if (p->path >= 0) {
                assert_int_equal(dls_world_set_route(w, j, p->path, p->level, NULL), DLS_OK);
            }
            running++;
        }
    }
    assert_int_equal(world_settle(&fresh->s, &c), running);
    for (int32_t i = 0; i < running; i++) {
        if (c[i].rate != l->at[c[i].job].rate) {
            fail_msg("job %d: %lld after a life, %lld anew", (int)c[i].job,
                     (long long)l->at[c[i].job].rate, (long long)c[i].rate);
        }
    }
    const dls_link_load a = dls_world_link_load(l->s.w), b = dls_world_link_load(w);
    assert_memory_equal(&a, &b, sizeof a);
    const dls_pull_backs pulled = dls_world_pull_backs(l->s.w), anew = dls_world_pull_backs(w);
    assert_true(pulled.per_s == anew.per_s && pulled.gpus == anew.gpus);
    l->pulled = l->pulled || pulled.per_s > 0;
    dls_world_destroy(w);
    /* A copy of the world, as it is. */
    assert_int_equal(dls_world_copy(l->s.w, &w, NULL), DLS_OK);
    const dls_link_load copied = dls_world_link_load(w);
    assert_memory_equal(&a, &copied, sizeof a);
    fresh->s.w = w;
    const dls_pull_backs theirs = dls_world_pull_backs(w);
    assert_true(theirs.per_s == pulled.per_s && theirs.gpus == pulled.gpus);
    for (int32_t j = 0; j < JOBS; j++) {
        if (l->at[j].rate) {
            dls_world_stop(w, j);
        }
    }
    assert_true(dls_world_pull_backs(w).per_s == 0);
    assert_int_equal(world_settle(&fresh->s, &c), 0);
    assert_true(dls_world_link_load(w).nic_max == 0.0F && dls_world_link_load(w).uplink_max == 0.0F);
    dls_world_destroy(w);
    free(fresh);
}

TEST(test_history)
{
    int pulled = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        life *l = malloc(sizeof *l);
        assert_non_null(l);
        begin(l, seed, seed % 4 < 2 ? 2e9 : 0, seed % 4 == 1 ? 3e9 : 0);
        for (int i = 0; i < STEPS; i++) {
            step(l);
            if (dls_rng_below(&l->rng, 3)) {
                settle(l);
            }
            if (i % 5 == 4) {
                settle(l);
            }
            if (i % LIKE_FRESH == LIKE_FRESH - 1) {
                compare_with_fresh(l);
            }
        }
        pulled += l->pulled;
        world_fini(&l->s);
        free(l);
    }
    assert_int_equal(pulled, 4); /* all that drift */
}

/* Pairs of jobs, each with four nodes of its own: whatever happens to one pair, no other is looked at. */
TEST(test_locality)
{
    enum { PAIRS = 50 };
    const world_group wide[] = {{"V100", 4 * PAIRS, 4, 0, 10}};
    static world_job jobs[2 * PAIRS];
    const dls_rate_change *c;
    DLS_OWN(world_fini) world_setup s = {0};
    for (int i = 0; i < 2 * PAIRS; i++) {
        jobs[i] = (world_job){i % 2 ? "vgg16" : "alexnet", 4, 32, 10, 0};
    }
    world_init(&s, "operator", wide, 1, jobs, 2 * PAIRS);
    world_open(&s);
    for (int32_t i = 0; i < PAIRS; i++) {
        world_start(&s, 2 * i, 0, 4 * i, 4, 1, 0);
        world_start(&s, 2 * i + 1, 0, 4 * i, 4, 1, 1);
    }
    assert_int_equal(world_settle(&s, &c), 2 * PAIRS);
    for (int32_t i = 0; i < PAIRS; i++) {
        const dls_world_cost before = dls_world_cost_so_far(s.w);
        dls_world_stop(s.w, 2 * i);
        assert_int_equal(world_settle(&s, &c), 1);
        assert_int_equal(c[0].job, 2 * i + 1);
        assert_int_equal(dls_world_cost_so_far(s.w).jobs - before.jobs, 1);
        world_start(&s, 2 * i, 0, 4 * i, 4, 1, 0);
        assert_int_equal(world_settle(&s, &c), 2);
        assert_int_equal(dls_world_cost_so_far(s.w).jobs - before.jobs, 3);
        dls_world_link_scale(s.w, 4 * i, 0.5);
        world_settle(&s, &c);
        assert_int_equal(dls_world_cost_so_far(s.w).jobs - before.jobs, 5);
    }
}
