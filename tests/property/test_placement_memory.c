/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies that keep what they have found out decide as if they asked anew each time: random traces on
 * random clusters, with jobs that are preempted, change their rates, fail and share GPUs, once with the
 * policy as it is and once with one that forgets everything before each question.
 */
#include "dlsim/predictor.h"
#include "placement/choose.h"
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

/* ---- a predictor that says something of everything, always the same ---------------------------- */

typedef struct dls_predictions {
    const dls_trace *trace;
    const dls_cluster_spec *cluster;
    uint64_t seed;
    dls_shape shape[16];
} teller;

static double unit_of(const teller *t, int32_t job, const dls_shape *s, uint64_t what)
{
    const uint64_t kind = (uint64_t)job % 5;
    const uint64_t x = dls_mix64(dls_mix64(t->seed + kind) ^
                                 ((uint64_t)s->type << 48 | (uint64_t)s->n_nodes << 16 | what));
    return (double)(x >> 11) * 0x1p-53;
}

static void get(const dls_predictions *t, int32_t job, const dls_shape *s, int64_t work_us, dls_prediction *out)
{
    *out = (dls_prediction){.iteration_s = (double)NAN, .remaining_s = (double)NAN};
    if (job % 9 == 8) {
        return; /* nobody knows this one */
    }
    /* Some suffer from being spread, some from one of the types, some hardly. */
    const double spread = job % 5 < 2 ? 0.005 : 0.7, slow = job % 4 == 0 ? 3 : 1;
    out->iteration_s = 0.1 * (1 + spread * (s->n_nodes - 1)) * (s->type == 1 ? slow : 1);
    out->remaining_s = (double)work_us / 1e6 * out->iteration_s / 0.1;
    for (int k = 0; k < DLS_METRICS; k++) {
        out->metric[k] = unit_of(t, job, s, 1 + (uint64_t)k) * out->iteration_s;
    }
    out->metric[DLS_GPU_PEAK] = unit_of(t, job, s, 20);
    out->link_bps = 2e9 * unit_of(t, job, s, 21);
    out->mem_bytes = 0x1p33 * unit_of(t, job, s, 22);
}

static const dls_shape *shapes(dls_predictions *t, int32_t job, int32_t gpus, size_t *n)
{
    assert_int_equal(gpus, dls_trace_cols(t->trace)->gpus[job]);
    *n = 0;
    for (int32_t type = 0; type < t->cluster->n_types; type++) {
        const int32_t per_node = t->cluster->groups[type].gpus_per_node;
        const int32_t fewest = (gpus + per_node - 1) / per_node;
        for (int32_t nodes = fewest; nodes <= gpus && nodes <= 4 * fewest; nodes *= 2) {
            t->shape[(*n)++] = (dls_shape){type, gpus, nodes, 1};
        }
    }
    for (size_t i = 1; i < *n; i++) { /* best first */
        for (size_t k = i; k > 0; k--) {
            dls_prediction a, b;
            get(t, job, &t->shape[k - 1], 1000, &a);
            get(t, job, &t->shape[k], 1000, &b);
            if (!(a.remaining_s > b.remaining_s)) {
                break;
            }
            const dls_shape swap = t->shape[k];
            t->shape[k] = t->shape[k - 1];
            t->shape[k - 1] = swap;
        }
    }
    return t->shape;
}

static dls_status prepare(dls_predictions *t, const int32_t *jobs, size_t n, dls_error *err)
{
    return DLS_OK;
}

static int64_t estimate(dls_predictions *t, int32_t job)
{
    return dls_trace_cols(t->trace)->duration_us[job];
}

/* ---- one that forgets -------------------------------------------------------------------------- */

static const dls_placement_ops *plain;
static int64_t asked, refused; /* of either */

static bool note(bool placed)
{
    asked++;
    refused += !placed;
    return placed;
}

static bool place_as_it_is(void *state, const dls_place_index *index, const dls_request *r,
                           dls_grant *grant)
{
    return note(plain->place(state, index, r, grant));
}

static double cost_as_it_is(void *state, const dls_place_index *index, const dls_request *r)
{
    const double cost = plain->cost(state, index, r);
    (void)note(cost < (double)INFINITY);
    return cost;
}

/* The states of driple and its relatives begin with what they share. */
static void forget(dls_choose *c)
{
    memset(c->choice, 0, sizeof c->choice);
    memset(c->candidates, 0, sizeof c->candidates);
    for (int32_t t = 0; t < DLS_TYPES_MAX; t++) {
        c->traffic.openings.type[t].pass = 0;
    }
}

static bool place_anew(void *state, const dls_place_index *index, const dls_request *r,
                       dls_grant *grant)
{
    forget(state);
    return place_as_it_is(state, index, r, grant);
}

static double cost_anew(void *state, const dls_place_index *index, const dls_request *r)
{
    forget(state);
    return cost_as_it_is(state, index, r);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static uint64_t run(const char *sched, const char *placement, uint64_t seed, bool anew)
{
    static fake_world world;
    static const char *const types[4] = {NULL, "V100", "P100", NULL};
    sim_setup s;
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 31);
    const int nodes = 2 + (int)dls_rng_below(&rng, 4), more = 1 + (int)dls_rng_below(&rng, 4);
    dls_cluster_spec cluster = two_types(nodes, more, 2 + (int)dls_rng_below(&rng, 3), 2);
    for (int g = 0; g < 2; g++) {
        cluster.groups[g].nic_bps = 1e9;
        cluster.types[g].mem_gib = 16;
    }
    cluster.rack_uplink_bps = dls_rng_below(&rng, 2) ? 1e9 : 0;
    setup_init(&s, cluster, random_trace(seed, FAKE_JOBS, 8, 4, NULL, types), sched, placement);
    teller t = {.trace = s.trace, .cluster = &s.cluster, .seed = seed};
    const dls_prediction_ops predictions = {&t, prepare, shapes, get, estimate, NULL, NULL};
    const dls_pace pace = fake_pace(&world, s.trace);
    const dls_failure_params failures = {
        .node_mtbf_s = 400, .gpu_mtbf_s = (double)INFINITY, .shape = 1, .repair_s = 20};
    plain = s.p.placement;
    dls_placement_ops ops = *plain;
    ops.place = anew ? place_anew : place_as_it_is;
    ops.cost = anew ? cost_anew : cost_as_it_is;
    world.by_gpu = true;
    s.p.placement = &ops;
    s.p.predictions = &predictions;
    s.p.pace = &pace;
    s.p.restore_us = S(2);
    s.p.failures = seed % 3 == 0 ? &failures : NULL;
    s.p.seed = seed;
    dls_record *rec = case_run(&s.p);
    const uint64_t digest = dls_mix64(dls_record_digest(rec) + rec->refusals);
    dls_record_destroy(rec);
    setup_fini(&s);
    return digest;
}

TEST(test_as_if_asked_anew)
{
    static const char *const scheds[] = {"fifo", "fjf", "easy", "dlas-gpu", "srtf", "gandiva"};
    static const char *const places[] = {"driple", "driple-pack", "driple-net"};
    for (size_t k = 0; k < 3; k++) {
        asked = refused = 0;
        for (uint64_t seed = 0; seed < FEWER(150); seed++) {
            const char *sched = scheds[seed % 6];
            assert_int_equal(run(sched, places[k], seed, false), run(sched, places[k], seed, true));
        }
        assert_true(asked > FEWER(20000) && refused > FEWER(1000));
    }
}
