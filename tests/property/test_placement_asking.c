/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Placement policies that ask a predictor, remember or wait, on random clusters with random
 * predictions: every grant is legal, a refusal with room says when to ask again, and who has waited
 * long enough is never refused. The same with memory that fails now and then.
 */
#include "base/alloc.h"
#include "dlsim/predictor.h"
#include "engine/pace.h"
#include "support/place_world.h"

#define HOUR_US (INT64_C(3600) * 1000000)

static const char *const policies[] = {"tiresias", "delay",       "hetero",
                                       "driple",   "driple-pack", "driple-net", "cassini", "horus"};
#define N_POLICIES (sizeof policies / sizeof *policies)

/* ---- a predictor that says something of everything, always the same -------------------------- */

typedef struct teller {
    uint64_t seed;
    int32_t n_types;
    dls_shape shape[32];
} teller;

static double unit_of(const teller *t, int32_t job, const dls_shape *s, int what)
{
    uint64_t x = dls_mix64(t->seed + (uint64_t)job);
    x = dls_mix64(x ^ ((uint64_t)s->type << 48 | (uint64_t)s->n_nodes << 16 | (uint64_t)what));
    return (double)(x >> 11) * 0x1p-53;
}

static bool prediction(void *user, int32_t job, const dls_shape *s, dls_prediction *out)
{
    const teller *t = user;
    if (job % 7 == 0) {
        return false;
    }
    out->iteration_s = 0.05 + unit_of(t, job, s, 0);
    out->remaining_s = out->iteration_s * 1000 * (1 + job % 50);
    for (int k = 0; k < DLS_METRICS; k++) {
        out->metric[k] = unit_of(t, job, s, 1 + k) * out->iteration_s;
    }
    out->metric[DLS_GPU_PEAK] = unit_of(t, job, s, 20);
    out->link_bps = job % 5 == 0 ? (double)NAN : 2e9 * unit_of(t, job, s, 21);
    out->mem_bytes = job % 11 == 0 ? (double)NAN : 0x1p34 * unit_of(t, job, s, 22);
    out->distance = 0;
    return true;
}

static const dls_shape *candidates(void *user, int32_t job, int32_t gpus, size_t *n)
{
    teller *t = user;
    *n = 0;
    for (int32_t type = 0; type < t->n_types; type++) {
        for (int32_t nodes = 1; nodes <= 8; nodes *= 2) {
            t->shape[(*n)++] = (dls_shape){type, 4, nodes, 1 + nodes / 4};
        }
    }
    /* Best first, as the interface says. */
    for (size_t i = 1; i < *n; i++) {
        for (size_t k = i; k > 0; k--) {
            dls_prediction a, b;
            if (!prediction(t, job, &t->shape[k - 1], &a) || !prediction(t, job, &t->shape[k], &b) ||
                a.remaining_s <= b.remaining_s) {
                break;
            }
            const dls_shape swap = t->shape[k];
            t->shape[k] = t->shape[k - 1];
            t->shape[k - 1] = swap;
        }
    }
    return t->shape;
}

/* ---- histories ------------------------------------------------------------------------------- */

typedef struct counts {
    int64_t placed, refused, shared;
} counts;

static int64_t room_for(const world *w, const dls_request *r)
{
    int64_t room = 0;
    for (int32_t i = 0; i < w->x->n_nodes; i++) {
        room += usable(w, r, i);
    }
    return room;
}

static void *open_policy(const dls_placement_ops *ops, const world *w, bool learn)
{
    dls_error err;
    void *state = calloc(1, ops->state_bytes);
    dls_option_value *values = case_defaults(ops->options);
    if (learn && strcmp(ops->name, "tiresias") == 0) {
        values[1].b = true;
    }
    if (ops->init && ops->init(state, w->x, values, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_free(values);
    return state;
}

static void start(const dls_placement_ops *ops, void *state, world *w, const dls_request *r,
                  const answer *a)
{
    take(w, r, a);
    if (ops->started) {
        ops->started(state, w->x, r, a->node, a->gpus, a->n);
    }
}

static void stop(const dls_placement_ops *ops, void *state, world *w, int k, int64_t now_us)
{
    const gang *g = &w->held[k];
    const int32_t job = g->r.job;
    const int64_t ran_us = now_us - g->r.now_us;
    give(w, k);
    if (ops->stopped) {
        ops->stopped(state, w->x, job, now_us, (int64_t)((double)ran_us * 0.7));
    }
}

/* What the hosts say is a number, and none for a pair that cannot fit. */
static void share_all(const dls_placement_ops *ops, void *state, world *w, const dls_request *r,
                      counts *c)
{
    for (int k = 0; ops->share && k < w->n_held; k++) {
        const gang *g = &w->held[k];
        const dls_shape shape = {g->r.type, g->r.gpus, (int32_t)g->n, 1};
        dls_prediction mine, its;
        const double worth = ops->share(state, w->x, r, g->r.job, &shape);
        assert_true(worth <= 1 && worth >= 0);
        if (worth > 0) {
            c->shared++;
            assert_true(dls_place_predict(r, r->job, &shape, &mine));
            assert_true(dls_place_predict(r, g->r.job, &shape, &its));
            assert_true(mine.mem_bytes + its.mem_bytes <= 0x1p34);
            assert_int_equal(shape.n_nodes, 1);
        }
    }
}

static void one_history(const char *policy, uint64_t seed, counts *c)
{
    const dls_placement_ops *ops = case_placement(policy);
    world w;
    make_world(&w, seed);
    teller t = {.seed = seed, .n_types = w.spec.n_types};
    dls_place_predictor predictor = {.prediction = prediction, .candidates = candidates, .user = &t};
    void *state = open_policy(ops, &w, seed % 2 == 0);
    int64_t now_us = 0;
    for (int32_t step = 0; step < 80; step++) {
        int64_t retry_us = DLS_NEVER;
        now_us += 1 + below(&w, 1000000000);
        dls_request r = draw_request(&w, true);
        r.job = step;
        r.attempt = below(&w, 2);
        r.gpus = below(&w, 2) ? 1 + (r.gpus - 1) % 8 : r.gpus;
        r.now_us = now_us;
        r.waiting_since_us = below(&w, 2) ? now_us : now_us - 1000 * HOUR_US;
        r.tensor_skew = below(&w, 4) ? 0.01 * below(&w, 100) : (double)NAN;
        r.predictor = below(&w, 9) ? &predictor : NULL;
        r.retry_us = &retry_us;
        const int64_t room = room_for(&w, &r);
        if (w.x->type[r.type].free_gpus >= r.gpus) {
            if (ops->cost) {
                assert_false(isnan(ops->cost(state, w.x, &r)));
            }
            share_all(ops, state, &w, &r, c);
            const answer a = ask(&w, policy, state, &r);
            if (a.placed) {
                check_legal(&w, &r, &a);
                c->placed++;
                assert_true(retry_us == DLS_NEVER);
            } else {
                c->refused++;
                assert_true(room < r.gpus || (r.waiting_since_us == now_us && retry_us > now_us));
                assert_true(retry_us == DLS_NEVER || retry_us > now_us);
            }
            if (a.placed && w.n_held < MAX_HELD) {
                start(ops, state, &w, &r, &a);
            }
        }
        while (w.n_held > 0 && below(&w, 3) == 0) {
            stop(ops, state, &w, below(&w, (uint64_t)w.n_held), now_us);
        }
    }
    while (w.n_held > 0) {
        stop(ops, state, &w, 0, now_us);
    }
    if (ops->fini) {
        ops->fini(state);
    }
    free(state);
    dls_place_index_destroy(w.x);
    free(w.spec.groups);
}

TEST(test_random_histories)
{
    for (size_t k = 0; k < N_POLICIES; k++) {
        counts c = {0};
        for (uint64_t seed = 0; seed < 250; seed++) {
            one_history(policies[k], seed, &c);
        }
        assert_true(c.placed > 3000);
        assert_true(strcmp(policies[k], "driple-pack") != 0 || c.shared > 100);
        /* These three wait; of the others a refusal is CPU or memory that nobody can give. */
        if (strcmp(policies[k], "delay") == 0 || strncmp(policies[k], "driple", 6) == 0) {
            assert_true(c.refused > 100);
        }
    }
}

/* ---- without memory -------------------------------------------------------------------------- */

static int now_and_then(void *user, size_t bytes)
{
    uint64_t *n = user;
    return dls_mix64(++*n) % 3 != 0;
}

/* What a policy could not remember it does without: nothing is lost, and no grant is wrong. */
TEST(test_failing_memory)
{
    for (size_t k = 0; k < N_POLICIES; k++) {
        const dls_placement_ops *ops = case_placement(policies[k]);
        for (uint64_t seed = 0; seed < 60; seed++) {
            world w;
            make_world(&w, seed);
            teller t = {.seed = seed, .n_types = w.spec.n_types};
            dls_place_predictor predictor = {.prediction = prediction, .candidates = candidates, .user = &t};
            void *state = open_policy(ops, &w, true);
            uint64_t n = seed;
            for (int32_t job = 1; job < 40; job++) {
                int64_t retry_us = DLS_NEVER;
                dls_request r = draw_request(&w, false);
                r.job = job * 30;
                r.predictor = &predictor;
                r.retry_us = &retry_us;
                r.tensor_skew = 0.1;
                if (room_for(&w, &r) < r.gpus) {
                    continue;
                }
                DLS_OWN(dls_grant_fini) dls_grant grant = {0};
                answer a = {0};
                dls_alloc_set_hook(now_and_then, &n);
                a.placed = ops->place(state, w.x, &r, &grant) && !grant.failed;
                a.n = a.placed ? grant.n : 0;
                for (size_t i = 0; i < a.n; i++) {
                    a.node[i] = grant.part[i].node;
                    a.gpus[i] = grant.part[i].gpus;
                }
                if (a.placed && w.n_held < MAX_HELD) {
                    dls_alloc_set_hook(NULL, NULL);
                    check_legal(&w, &r, &a);
                    dls_alloc_set_hook(now_and_then, &n);
                    start(ops, state, &w, &r, &a);
                }
                if (w.n_held > 4) {
                    stop(ops, state, &w, 0, HOUR_US);
                }
                dls_alloc_set_hook(NULL, NULL);
            }
            while (w.n_held > 0) {
                stop(ops, state, &w, 0, HOUR_US);
            }
            if (ops->fini) {
                ops->fini(state);
            }
            free(state);
            dls_place_index_destroy(w.x);
            free(w.spec.groups);
        }
    }
}
