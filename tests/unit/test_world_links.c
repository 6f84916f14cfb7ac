/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The world's links: contention, shifted bursts, uplinks, routes and priorities, rails and NVLink
 * domains, links that fail in part.
 */

#include "support/world_setup.h"

#include "world/interleave.h"

#include <math.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))

static const world_group two_racks[] = {{"V100", 8, 4, 4, 10}};

/* Two spread jobs on the same four nodes, a third beside them, a fourth in nodes of its own. */
TEST(test_contention)
{
    const world_job jobs[] = {{"vgg16", 4, 32, 1, 0},
                              {"vgg16", 4, 32, 1, 0},
                              {"resnet50", 1, 32, 1, 0},
                              {"vgg16", 4, 32, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "operator", two_racks, 1, jobs, 4);
    world_open(&s);
    const double alone = world_solo(&s, 0, 0, 4, 4, 1).iteration_s;
    world_start(&s, 0, 0, 0, 4, 1, 0);
    assert_int_equal(world_settle(&s, &changed), 1);
    NEAR(world_seconds(&s, &changed[0]), alone, 1e-5);
    const dls_link_load one = dls_world_link_load(s.w);
    assert_true(one.nic_mean > 0.5F && one.nic_mean < 1.0F && one.uplink_max == 0.0F);
    world_start(&s, 2, 0, 0, 1, 1, 1);
    assert_int_equal(world_settle(&s, &changed), 1); /* nobody else notices */
    world_start(&s, 1, 0, 0, 4, 1, 2);
    world_start(&s, 3, 0, 4, 4, 1, 2);
    assert_int_equal(world_settle(&s, &changed), 3);
    assert_true(changed[0].job == 0 && changed[1].job == 1 && changed[2].job == 3);
    assert_true(changed[0].rate == changed[1].rate);
    NEAR(world_seconds(&s, &changed[2]), alone, 1e-5);
    /* Network-bound: half the link each at most, and what computing leaves to the other. */
    const double shared = world_seconds(&s, &changed[0]);
    assert_true(shared > 1.4 * alone && shared < 2 * alone);
    assert_true(dls_world_link_load(s.w).nic_max <= 1.0F);
    assert_true(dls_world_link_load(s.w).nic_max > one.nic_max);
    /* Shifted by half a period their bursts meet less; not shifted against each other, as by
     * chance. */
    dls_world_set_shift(s.w, 0, 7);
    assert_int_equal(world_settle(&s, &changed), 0);
    dls_world_set_shift(s.w, 1, 7);
    assert_int_equal(world_settle(&s, &changed), 0);
    dls_world_set_shift(s.w, 1, 7 + alone / 2);
    assert_int_equal(world_settle(&s, &changed), 2);
    assert_true(world_seconds(&s, &changed[0]) < shared && world_seconds(&s, &changed[0]) >= alone);
    dls_world_stop(s.w, 1);
    assert_int_equal(world_settle(&s, &changed), 1);
    NEAR(world_seconds(&s, &changed[0]), alone, 1e-5);
    dls_world_stop(s.w, 0);
    dls_world_stop(s.w, 3);
    assert_int_equal(world_settle(&s, &changed), 0);
    assert_true(dls_world_link_load(s.w).nic_mean == 0.0F &&
                dls_world_link_load(s.w).nic_max == 0.0F);
}

TEST(test_interleave)
{
    const dls_drift none = dls_drift_of(0, 0.05);
    const dls_burst a = {1, 0.3, 0.1, 0}, after = {1, 0.3, 0.5, 0}, half = {1, 0.3, 0.25, 0};
    const dls_burst twice = {0.5, 0.1, 0.1, 0}, odd = {0.7, 0.1, 0.1, 0}, any = {1, 0.3, (double)NAN, 0};
    assert_true(dls_interleave(&a, &after, &none) == 0 && dls_interleave(&after, &a, &none) == 0);
    assert_true(dls_interleave(&a, &a, &none) == 1); /* not worse than by chance */
    /* 0.15 of 0.3 meet, where chance has 0.3 of it meet: worse. Of a later one 0.05. */
    assert_true(dls_interleave(&a, &half, &none) == 1);
    const dls_burst late = {1, 0.3, 0.35, 0};
    NEAR(dls_interleave(&a, &late, &none), 0.05 / 0.3 / 0.3, 1e-9);
    NEAR(dls_interleave(&late, &a, &none), 0.05 / 0.3 / 0.3, 1e-9);
    /* Half the period: [0.1, 0.2) of [0.1, 0.4), by chance 0.2 of it. */
    assert_true(dls_interleave(&a, &twice, &none) == 1);
    const dls_burst between = {0.5, 0.1, 0.4, 0};
    assert_true(dls_interleave(&a, &between, &none) == 0 && dls_interleave(&between, &a, &none) == 0);
    assert_true(dls_interleave(&a, &odd, &none) == 1 && dls_interleave(&a, &any, &none) == 1);
    const dls_burst wrapped = {1, 0.3, 1e6 + 0.5, 0};
    assert_true(dls_interleave(&a, &wrapped, &none) < 1e-6);
}

/* Nodes of one type, some on a network of unknown speed, which limits nobody: what a job is said to take alone on the
 * best nodes of the type is what it takes there, in whatever order the nodes are named. */
TEST(test_unknown_links)
{
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}, {"vgg16", 2, 32, 1, 0}};
    const world_group known_first[] = {{"V100", 4, 4, 4, 10}, {"V100", 4, 4, 4, 0}},
                      unknown_first[] = {{"V100", 4, 4, 4, 0}, {"V100", 4, 4, 4, 10}};
    for (int first = 0; first < 2; first++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        world_init(&s, "operator", first ? unknown_first : known_first, 2, jobs, 2);
        world_open(&s);
        world_start(&s, 0, 0, 0, 2, 1, 0);
        world_start(&s, 1, 0, 4, 2, 1, 0);
        assert_int_equal(world_settle(&s, &changed), 2);
        const double alone = world_solo(&s, 0, 0, 2, 2, 1).iteration_s;
        NEAR(world_seconds(&s, &changed[first ? 0 : 1]), alone, 1e-5);
        assert_true(world_seconds(&s, &changed[first ? 1 : 0]) > 1.2 * alone);
    }
}

/* Without contention each has the links to itself. */
TEST(test_no_contention)
{
    const world_job jobs[] = {{"vgg16", 4, 32, 1, 0}, {"vgg16", 4, 32, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "operator", two_racks, 1, jobs, 2);
    s.p.contention = false;
    world_open(&s);
    world_start(&s, 0, 0, 0, 4, 1, 0);
    world_start(&s, 1, 0, 0, 4, 1, 1);
    assert_int_equal(world_settle(&s, &changed), 2);
    NEAR(world_seconds(&s, &changed[0]), world_solo(&s, 0, 0, 4, 4, 1).iteration_s, 1e-5);
    assert_true(changed[0].rate == changed[1].rate);
}

/* But not more of them than is left: each is as fast as one that is alone on links that are shared. */
TEST(test_no_contention_on_half_a_link)
{
    const world_job jobs[] = {{"vgg16", 4, 32, 1, 0}, {"vgg16", 4, 32, 1, 0}, {"vgg16", 4, 32, 1, 0}};
    const dls_rate_change *changed;
    int64_t alone = 0;
    for (int shared = 1; shared >= 0; shared--) {
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", two_racks, 1, jobs, 3);
        s.p.contention = shared == 1;
        world_open(&s);
        world_start(&s, 0, 0, 0, 4, 1, 0);
        for (int32_t j = 1; j < 3 && !shared; j++) {
            world_start(&s, j, 0, 3 * (j - 1), 4, 1, j); /* nodes 0 to 3, and 3 to 6 */
        }
        assert_int_equal(world_settle(&s, &changed), shared ? 1 : 3);
        const int64_t whole = changed[0].rate;
        dls_world_link_scale(s.w, 1, 0.25);
        assert_int_equal(world_settle(&s, &changed), shared ? 1 : 2);
        assert_true((double)changed[0].rate < 0.7 * (double)whole);
        if (shared) {
            alone = changed[0].rate;
            continue;
        }
        assert_true(changed[0].job == 0 && changed[1].job == 1);
        NEAR((double)changed[0].rate, (double)alone, 1e-3);
        assert_true(changed[0].rate == changed[1].rate);
        dls_world_link_scale(s.w, 1, 1);
        assert_int_equal(world_settle(&s, &changed), 2);
        assert_true(changed[0].rate == whole);
    }
}

/* Jobs of different nodes meet on the uplink of their rack, or in the core. */
TEST(test_uplinks)
{
    const world_job jobs[] = {
        {"vgg16", 2, 32, 1, 0}, {"vgg16", 2, 32, 1, 0}, {"vgg16", 2, 32, 1, 0}};
    for (int core = 0; core < 2; core++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        dls_seat across[2] = {{1, 0}, {1, 4}};
        world_init(&s, "operator", two_racks, 1, jobs, 3);
        *(core ? &s.cluster.core_bps : &s.cluster.rack_uplink_bps) = 1.25e9;
        world_open(&s);
        world_start(&s, 2, 0, 2, 2, 1, 0); /* inside a rack: crosses neither */
        for (int32_t j = 0; j < 2; j++) {
            assert_int_equal(dls_world_start(s.w, j, 0, across, 2, NULL), DLS_OK);
            across[0].node++;
            across[1].node++;
        }
        assert_int_equal(world_settle(&s, &changed), 3);
        const double alone = world_solo(&s, 0, 0, 2, 2, 2).iteration_s;
        assert_true(world_seconds(&s, &changed[0]) > 1.3 * alone);
        assert_true(changed[0].rate == changed[1].rate);
        NEAR(world_seconds(&s, &changed[2]), world_solo(&s, 2, 0, 2, 2, 1).iteration_s, 1e-5);
        assert_true((dls_world_link_load(s.w).uplink_max > 0.8F) == (core == 0));
        dls_world_stop(s.w, 1);
        assert_int_equal(world_settle(&s, &changed), 1);
        NEAR(world_seconds(&s, &changed[0]), alone, 1e-5);
    }
}

/* Two jobs that meet on uplinks: not on two paths, and on one by priority: who is served first does
 * not notice the other, who has what is left. */
TEST(test_routes)
{
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}, {"vgg16", 2, 32, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    dls_seat across[2] = {{1, 0}, {1, 4}};
    world_init(&s, "operator", two_racks, 1, jobs, 2);
    s.cluster.rack_uplink_bps = 1.25e9;
    s.cluster.uplinks = 4;
    world_open(&s);
    for (int32_t j = 0; j < 2; j++) {
        assert_int_equal(dls_world_start(s.w, j, 0, across, 2, NULL), DLS_OK);
        assert_int_equal(dls_world_set_route(s.w, j, 1, 0, NULL), DLS_OK);
        across[0].node++;
        across[1].node++;
    }
    assert_int_equal(world_settle(&s, &changed), 2);
    const double alone = world_solo(&s, 0, 0, 2, 2, 2).iteration_s;
    const double shared = world_seconds(&s, &changed[0]);
    assert_true(shared > 1.3 * alone && changed[0].rate == changed[1].rate);
    assert_int_equal(dls_world_set_route(s.w, 1, 3, 0, NULL), DLS_OK);
    assert_int_equal(world_settle(&s, &changed), 2);
    NEAR(world_seconds(&s, &changed[0]), alone, 1e-5);
    NEAR(world_seconds(&s, &changed[1]), alone, 1e-5);
    assert_int_equal(dls_world_set_route(s.w, 1, 1, 2, NULL), DLS_OK);
    assert_int_equal(world_settle(&s, &changed), 1);
    assert_int_equal(changed[0].job, 1);
    const double used = (double)dls_world_link_load(s.w).uplink_max;
    assert_true(world_seconds(&s, &changed[0]) > 1.2 * shared && used > 0.95 && used <= 1);
    assert_int_equal(dls_world_set_route(s.w, 0, 1, 7, NULL), DLS_OK); /* the other way round */
    const int64_t second = changed[0].rate;
    assert_int_equal(world_settle(&s, &changed), 2);
    NEAR(world_seconds(&s, &changed[1]), alone, 1e-5);
    assert_true(changed[0].job == 0 && changed[0].rate == second);
    dls_world_stop(s.w, 1);
    assert_int_equal(world_settle(&s, &changed), 1);
    NEAR(world_seconds(&s, &changed[0]), alone, 1e-5);
}

/* Jobs of the same nodes on rails have a link for each of their GPUs; in an NVLink domain they do
 * not use the network. */
TEST(test_rails_and_domains)
{
    const world_job jobs[] = {
        {"vgg16", 4, 32, 1, 0}, {"vgg16", 4, 32, 1, 0}, {"vgg16", 8, 32, 1, 0}};
    for (int domain = 0; domain < 2; domain++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        world_init(&s, "operator", two_racks, 1, jobs, 3);
        s.cluster.groups[0].rails = true;
        s.cluster.rack_nvlink_bps = domain ? 100e9 : 0;
        world_open(&s);
        world_start(&s, 0, 0, 0, 2, 2, 0);
        world_start(&s, 1, 0, 0, 2, 2, 2);
        assert_int_equal(world_settle(&s, &changed), 2);
        assert_true(changed[0].rate == changed[1].rate);
        const dls_solo half = world_solo(&s, 0, 0, 4, 2, 1), whole = world_solo(&s, 2, 0, 8, 2, 1);
        NEAR(world_seconds(&s, &changed[0]), half.iteration_s, 1e-5);
        NEAR(half.line_bps, domain ? whole.line_bps : whole.line_bps / 2, 1e-12);
        assert_true((dls_world_link_load(s.w).nic_max == 0.0F));
        NEAR(half.line_bps, (domain ? 100e9 : 10e9 / 8 / 2) * 0.92, 1e-9);
    }
}

/* Nodes of one type with unlike links: what a shape says is of the best of them, what a running job had alone
 * is of those that it has, though what is drawn for these is another. */
TEST(test_links_of_one_type)
{
    static const world_group unlike[] = {{"V100", 2, 8, 0, 40}, {"V100", 2, 4, 0, 10}, {"V100", 2, 2, 0, 1}};
    const world_job jobs[] = {{"vgg16", 8, 32, 1, 0}};
    for (uint64_t seed = 0; seed < 8; seed++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        world_init(&s, "operator", unlike, 3, jobs, 1);
        s.cluster.groups[0].rails = s.cluster.groups[1].rails = true;
        s.p.residual_sigma = s.p.network_residual_sigma = 0.2;
        s.p.seed = seed;
        world_open(&s);
        NEAR(world_solo(&s, 0, 0, 8, 2, 1).line_bps, 20e9 / 8 * 0.92, 1e-9);
        NEAR(world_solo(&s, 0, 0, 2, 2, 1).line_bps, 5e9 / 8 * 0.92, 1e-9);
        world_start(&s, 0, 0, 2, 2, 4, 0);
        assert_int_equal(world_settle(&s, &changed), 1);
        assert_true(changed[0].rate == dls_world_alone_rate(s.w, 0));
        dls_world_stop(s.w, 0);
    }
}

/* Two NVLink domains in a node: a gang in one is as fast as ever, one over both exchanges at the link between
 * them, on one node and on several; policies are told what the best GPUs give. */
TEST(test_domains_in_a_node)
{
    static const char *const exchanges[] = {"allreduce", "ps-sync"};
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}, {"vgg16", 2, 32, 1, 0}, {"vgg16", 4, 32, 1, 0},
                              {"vgg16", 8, 32, 1, 0}};
    for (int i = 0; i < 2; i++) {
        DLS_OWN(world_fini) world_setup plain = {0}, s = {0};
        const dls_rate_change *changed;
        world_init(&plain, "operator", two_racks, 1, jobs, 4);
        plain.p.exchange = exchanges[i];
        world_open(&plain);
        world_init(&s, "operator", two_racks, 1, jobs, 4);
        s.p.exchange = exchanges[i];
        s.cluster.groups[0].domain_gpus = 2;
        s.cluster.groups[0].domain_bps = 5e9;
        world_open(&s);
        world_start(&s, 0, 0, 0, 1, 2, 0); /* GPUs 0 and 1 */
        world_start(&s, 1, 0, 1, 1, 2, 1); /* 1 and 2 */
        world_start(&s, 2, 0, 2, 1, 4, 0);
        world_start(&s, 3, 0, 3, 2, 4, 0);
        assert_int_equal(world_settle(&s, &changed), 4);
        const double one = world_solo(&plain, 0, 0, 2, 1, 1).iteration_s;
        NEAR(world_seconds(&s, &changed[0]), one, 1e-5);
        NEAR(world_solo(&s, 0, 0, 2, 1, 1).iteration_s, one, 1e-12);
        const double torn = world_seconds(&s, &changed[1]);
        assert_true(torn > 1.05 * one);
        const double four = world_seconds(&s, &changed[2]), eight = world_seconds(&s, &changed[3]);
        NEAR(world_solo(&s, 2, 0, 4, 1, 1).iteration_s, four, 1e-5);
        NEAR(world_solo(&s, 3, 0, 8, 2, 1).iteration_s, eight, 1e-5);
        assert_true(four > 1.05 * world_solo(&plain, 2, 0, 4, 1, 1).iteration_s);
        assert_true(eight > world_solo(&plain, 3, 0, 8, 2, 1).iteration_s);
        /* A ring of four moves 3/2 of VGG-16's parameters over the link: half as fast, so much longer; with servers
         * four workers push and pull. */
        const double fixed_s = world_solo(&s, 2, 0, 4, 1, 1).fixed_s;
        dls_world_destroy(s.w);
        s.cluster.groups[0].domain_bps = 2.5e9;
        world_open(&s);
        NEAR(world_solo(&s, 2, 0, 4, 1, 1).fixed_s - fixed_s,
             (i == 0 ? 1.5 : 8) * 4 * 138357544.0 / (5e9 * 0.92), 1e-6);
    }
}

/* Half of one link on an uncrowded cluster: the jobs that cross it and no others. */
TEST(test_half_a_link)
{
    const world_job jobs[] = {{"vgg16", 8, 32, 1, 0},
                              {"vgg16", 8, 32, 1, 0},
                              {"resnet50", 4, 32, 1, 0},
                              {"bert", 4, 8, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "operator", two_racks, 1, jobs, 4);
    world_open(&s);
    world_start(&s, 0, 0, 0, 2, 4, 0);
    world_start(&s, 1, 0, 2, 2, 4, 0);
    world_start(&s, 2, 0, 4, 1, 4, 0);
    world_start(&s, 3, 0, 5, 2, 2, 0);
    assert_int_equal(world_settle(&s, &changed), 4);
    const int64_t before = changed[1].rate;
    for (int32_t node = 0; node < 8; node++) {
        dls_world_link_scale(s.w, node, 0.5);
        const int32_t want = node < 2 ? 0 : node < 4 ? 1 : node == 5 || node == 6 ? 3 : -1;
        const size_t n = world_settle(&s, &changed);
        assert_int_equal(n, want < 0 ? 0 : 1);
        assert_true(n == 0 || changed[0].job == want);
        dls_world_link_scale(s.w, node, 1);
        assert_int_equal(world_settle(&s, &changed), n);
        assert_true(want != 1 || changed[0].rate == before);
    }
    /* Of next to nothing a job uses all, and no more. */
    dls_world_link_scale(s.w, 0, 1e-300);
    assert_int_equal(world_settle(&s, &changed), 1);
    const dls_link_load load = dls_world_link_load(s.w);
    assert_true(load.nic_max == 1.0F && load.nic_mean > 0 && load.nic_mean <= 1);
    dls_world_link_scale(s.w, 0, 1);
    assert_int_equal(world_settle(&s, &changed), 1);
}
