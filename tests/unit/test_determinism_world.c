/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digests of runs in a world: measured and modelled speeds, links and GPUs that are shared,
 * checkpoints, what fails. Every compiler and every level of optimisation must give these numbers.
 * They change only with a decision about what is simulated; the output then shows the new ones.
 */

#include "support/world_setup.h"

#include "support/sim_setup.h"

#include "engine/pace.h"

#include <unistd.h>

#define JOBS 300

typedef struct scenario {
    const char *sched, *placement, *model, *exchange;
    double rack_uplink_bps, core_bps; /* bytes per second */
    bool fails, shares;
    uint64_t digest;
} scenario;

static const scenario scenarios[] = {
    {"fifo", "consolidated", "trace", "allreduce", 0, 0, false, false, 0x4afdfdf6593e22f5},
    {"dlas-gpu", "random", "operator", "allreduce", 0, 0, false, false, 0x959ca2b7ca785098},
    {"srtf", "random", "operator", "ps-sync", 1.25e9, 2e9, false, false, 0x0e9a020d778568e5},
    {"srsf", "consolidated", "operator", "allreduce", 1.25e9, 0, true, false, 0xe143adbd88087afb},
    {"dlas-gpu", "first-fit", "operator", "ps-async", 1.25e9, 2e9, true, true, 0x9088eb2a55c3ffb4},
    {"srtf", "random", "table", "allreduce", 1.25e9, 2e9, false, true, 0x1349a97f6e45aad4},
    {"gittins", "first-fit", "table", "allreduce", 0, 0, true, true, 0x5acc1811d0a4e27e},
};

static const world_group groups[] = {{"V100", 8, 4, 4, 10}, {"P100", 8, 4, 4, 40}};
static const char *const models[] = {"ResNet-50", "vgg16",       "alexnet",
                                     "bert_base", "Transformer", "LM"};
static char table_path[64];

/* Steps per second of all workers, as Gavel's file has them. */
static void write_table(void)
{
    static const char *const types[] = {"v100", "p100"};
    snprintf(table_path, sizeof table_path, "/tmp/dlsim-world-%d.json", (int)getpid());
    FILE *f = fopen(table_path, "w");
    assert_non_null(f);
    fputs("{", f);
    for (int t = 0; t < 4; t++) {
        fprintf(f, "%s\n\"%s%s\": {", t ? "," : "", types[t / 2], t % 2 ? "_unconsolidated" : "");
        for (int m = 0; m < 6; m++) {
            for (int gpus = 1; gpus <= 8; gpus *= 2) {
                const double slow = t % 2 && gpus > 1 ? 1.3 + 0.4 * m : 1;
                fprintf(f, "%s\n\"('%s (batch size 32)', %d)\": {\"null\": %.6f}",
                        m || gpus > 1 ? "," : "", models[m], gpus,
                        (t / 2 ? 5.0 : 8.0) * gpus / (1 + 0.05 * m) / slow);
            }
        }
        fputs("}", f);
    }
    fputs("}\n", f);
    assert_int_equal(fclose(f), 0);
}

/* Jobs of the seed, busy enough that they wait and share links. */
static void make_jobs(world_job *jobs)
{
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 0);
    for (int32_t j = 0; j < JOBS; j++) {
        jobs[j] = (world_job){.model = models[dls_rng_below(&rng, 6)],
                              .gpus = 1 << dls_rng_below(&rng, 5),
                              .batch_per_gpu = 32,
                              .duration_s = (double)(1 + dls_rng_below(&rng, 60)),
                              .iterations =
                                  dls_rng_below(&rng, 2) ? (int64_t)dls_rng_below(&rng, 400) : 0};
    }
}

/* A job shares with every second host. */
static double share(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                    const dls_shape *shape)
{
    return (r->job + host) % 2 ? 1 : -1;
}

static uint64_t digest_of(const scenario *c, bool contention)
{
    static const dls_failure_params failures = {
        .node_mtbf_s = 400, .gpu_mtbf_s = 2000, .shape = 0.7, .repair_s = 30};
    world_job jobs[JOBS];
    world_setup world;
    make_jobs(jobs);
    world_init(&world, c->model, groups, 2, jobs, JOBS);
    world.p.seed = 11;
    world.p.residual_sigma = 0.1;
    world.p.network_residual_sigma = 0.2;
    world.p.exchange = c->exchange;
    world.p.contention = contention;
    world.p.table_path = strcmp(c->model, "table") == 0 ? table_path : NULL;
    world.cluster.rack_uplink_bps = c->rack_uplink_bps;
    world.cluster.core_bps = c->core_bps;
    for (int32_t g = 0; g < 2; g++) {
        snprintf(world.cluster.groups[g].name, sizeof world.cluster.groups[g].name, "%s",
                 groups[g].gpu);
    }
    world_open(&world);
    const dls_pace pace = dls_pace_of(world.w);
    sim_setup s = {.cluster = world.cluster, .trace = world.trace};
    dls_sim_params_init(&s.p);
    s.p.cluster = &world.cluster;
    s.p.trace = world.trace;
    setup_policy(&s, c->sched, c->placement);
    dls_placement_ops sharing = *s.p.placement;
    sharing.share = share;
    s.p.placement = c->shares ? &sharing : s.p.placement;
    s.p.pace = &pace;
    s.p.seed = 42;
    s.p.restore_us = S(3);
    s.p.estimates_exact = true;
    s.p.failures = c->fails ? &failures : NULL;
    s.p.checkpoint_period_us = c->fails ? S(20) : 0;
    s.p.checkpoint_us = c->fails ? S(1) : 0;
    s.p.storage_bps = c->fails ? 1e9 : 0;
    dls_record *rec = case_run(&s.p);
    const uint64_t digest = dls_record_digest(rec);
    assert_true(rec->complete);
    assert_true(!c->shares || rec->guest_starts > 0);
    assert_true(!c->fails || rec->node_failures > 0);
    dls_record_destroy(rec);
    dls_free(s.values);
    dls_free(s.place_values);
    world_fini(&world);
    return digest;
}

TEST(test_digests)
{
    int wrong = 0;
    write_table();
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const scenario *c = &scenarios[i];
        const uint64_t digest = digest_of(c, true);
        const bool good = digest == c->digest;
        print_message("%-10s%-14s%-10s%-10s%016llx%s\n", c->sched, c->placement, c->model,
                      c->exchange, (unsigned long long)digest, good ? "" : "  <- not as before");
        wrong += !good;
    }
    assert_true(digest_of(&scenarios[1], false) !=
                digest_of(&scenarios[1], true)); /* links are shared */
    assert_true(digest_of(&scenarios[5], false) != digest_of(&scenarios[5], true));
    unlink(table_path);
    assert_int_equal(wrong, 0);
}
