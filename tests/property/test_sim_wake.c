/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Instants at which nothing happens make no difference: runs under every scheduler, with jobs that
 * slow each other down, share GPUs, fail, restore and save their state, against the same runs in
 * which links are told all the time to be as they are.
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

#define RUNS FEWER(32) /* of each scheduler */
#define EVENTS 6
#define IDLE 400
#define NODES 4

static int by_time(const void *a, const void *b)
{
    const dls_failure_event *x = a, *y = b;
    return x->t_us != y->t_us ? (x->t_us < y->t_us ? -1 : 1) : (int)x->what - (int)y->what;
}

/* Nodes that fail for a while, and n times at which a link keeps all of its bandwidth. */
static dls_failure_trace make_events(dls_failure_event *event, uint64_t seed, int n_idle)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 2);
    size_t n = 0;
    for (int i = 0; i < EVENTS; i++) {
        const int64_t at_us = (int64_t)dls_rng_below(&rng, (uint64_t)S(40)) + S(50) * i;
        const int32_t node = (int32_t)dls_rng_below(&rng, NODES);
        event[n++] = (dls_failure_event){at_us, node, DLS_NODE_FAILS, 1};
        event[n++] = (dls_failure_event){at_us + S(9), node, DLS_NODE_REPAIRED, 1};
    }
    for (int i = 0; i < n_idle; i++) {
        const int64_t at_us = (int64_t)dls_rng_below(&rng, (uint64_t)S(400));
        event[n++] =
            (dls_failure_event){at_us, (int32_t)dls_rng_below(&rng, NODES), DLS_LINK_SCALED, 1};
    }
    qsort(event, n, sizeof *event, by_time);
    return (dls_failure_trace){.event = event, .n = n};
}

/* The digest of a run; *events counts what happened in it. */
static uint64_t run(const dls_sched_ops *sched, uint64_t seed, int n_idle, uint64_t *events)
{
    static const char *const names[4] = {"a", "b", "c", NULL};
    static const char *const types[4] = {"V100", "P100", "V100|P100", NULL};
    static dls_vc_spec vcs[2] = {{"a", {4, 2}}, {"b", {2, 2}}};
    dls_failure_event event[2 * EVENTS + IDLE];
    const dls_failure_trace failures = make_events(event, seed, n_idle);
    sim_setup s;
    fake_world world;
    setup_init(&s, two_types(2, 2, 4, 1), random_trace(seed, 40, 5, 8, names, types), sched->name,
               "first-fit");
    dls_placement_ops ops = *s.p.placement;
    ops.share = seed % 2 && !sched->joins ? share_by_chance : NULL;
    const dls_pace pace = fake_pace(&world, s.trace);
    world.by_gpu = seed % 2;
    s.p.placement = &ops;
    s.p.pace = &pace;
    s.p.failure_trace = &failures;
    s.p.seed = seed;
    s.p.restore_us = seed / 2 % 2 ? S(3) : 0;
    s.p.checkpoint_period_us = seed / 4 % 2 ? S(5) + 7 : 0;
    s.p.checkpoint_us = seed / 8 % 2 ? S(1) + 3 : 0;
    s.cluster.vcs = vcs;
    s.cluster.n_vcs = seed / 16 % 2 ? 2 : 0;
    s.p.audit = n_idle == 0;
    dls_record *rec = case_run(&s.p);
    const uint64_t digest = dls_record_digest(rec);
    *events = rec->events;
    dls_record_destroy(rec);
    setup_fini(&s);
    return digest;
}

TEST(test_idle_instants)
{
    uint64_t more = 0;
    for (size_t k = 0; dls_scheds()[k]; k++) {
        const dls_sched_ops *sched = dls_scheds()[k];
        /* What divides the cluster bears no failures, and without them there are no links to tell.
         */
        for (uint64_t seed = 0; seed < RUNS && !sched->share; seed++) {
            uint64_t events, events_with_idle;
            const uint64_t want = run(sched, seed, 0, &events);
            const uint64_t got = run(sched, seed, IDLE, &events_with_idle);
            if (got != want) {
                fail_msg("%s, seed %d: idle instants make a difference", sched->name, (int)seed);
            }
            more += events_with_idle - events;
        }
    }
    assert_true(more > 100 * RUNS);
}
