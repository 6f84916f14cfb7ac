/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The world: work, rates alone, shared GPUs, what is refused and what is counted.
 */

#include "support/must.h"
#include "support/world_setup.h"

#include "base/alloc.h"
#include "support/refuse.h"
#include "workload/operator/residual.h"

#include <math.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))

static const world_group two_racks[] = {{"V100", 8, 4, 4, 10}};

TEST(test_trace)
{
    const world_job jobs[] = {{"vgg16", 8, 32, 100, 5000}, {NULL, 1, 0, 7, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "trace", two_racks, 1, jobs, 2);
    world_open(&s);
    assert_int_equal(dls_world_work_us(s.w, 0), 100000000);
    assert_int_equal(dls_world_work_us(s.w, 1), 7000000);
    world_start(&s, 0, 0, 0, 8, 1, 0); /* as far apart as can be */
    world_start(&s, 1, 0, 0, 1, 1, 0); /* on a GPU of the other */
    assert_int_equal(world_settle(&s, &changed), 2);
    assert_int_equal(changed[0].job, 0);
    assert_true(changed[0].rate == DLS_RATE_ONE && changed[1].rate == DLS_RATE_ONE);
    dls_world_stop(s.w, 0);
    assert_int_equal(world_settle(&s, &changed), 0);
}

TEST(test_work)
{
    const world_group groups[] = {{"P100", 2, 4, 0, 100}, {"V100", 2, 4, 0, 100}};
    const world_job jobs[] = {{"resnet50", 1, 64, 100, 0}, /* a duration alone */
                              {"resnet50", 1, 64, 5, 100}, /* iterations count more */
                              {"mystery", 1, 64, 50, 100}, /* unless the model is unknown */
                              {"mystery", 1, 64, 0, 100},
                              {"resnet50", 4, 64, 100, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "operator", groups, 2, jobs, 5);
    s.p.residual_sigma = s.p.network_residual_sigma = 0.3;
    world_open(&s);
    const double p100_s = world_solo(&s, 0, 0, 1, 1, 1).iteration_s;
    const double v100_s = world_solo(&s, 0, 1, 1, 1, 1).iteration_s;
    assert_true(dls_world_reference_s(s.w, 0) == p100_s);
    assert_int_equal(dls_world_work_us(s.w, 0), 100000000);
    assert_int_equal(dls_world_work_us(s.w, 1), llround(100e6 * p100_s));
    assert_int_equal(dls_world_work_us(s.w, 2), 50000000);
    assert_true(dls_world_work_us(s.w, 3) > 0);
    world_start(&s, 0, 0, 0, 1, 1, 0);
    world_start(&s, 1, 1, 2, 1, 1, 0);
    world_start(&s, 4, 0, 1, 1, 4, 0);
    assert_int_equal(world_settle(&s, &changed), 3);
    assert_true(changed[0].rate == DLS_RATE_ONE); /* at the reference, residual or not */
    NEAR((double)changed[1].rate / DLS_RATE_ONE, p100_s / v100_s, 1e-5);
    assert_true(changed[2].rate == DLS_RATE_ONE);
    assert_int_equal(dls_world_about(s.w).unknown_model_jobs, 2);
    world_fini(&s);
    /* A reference that the cluster does not have. */
    world_init(&s, "operator", groups, 2, jobs, 5);
    s.p.reference_gpu = "A100";
    world_open(&s);
    assert_true(dls_world_reference_s(s.w, 0) < 0.9 * world_solo(&s, 0, 1, 1, 1, 1).iteration_s);
}

/* A model at another size of its images is another workload, whichever of the two comes first. */
TEST(test_sizes_of_images)
{
    const world_group groups[] = {{"V100", 2, 4, 0, 100}};
    const world_job jobs[] = {{"vit_base", 1, 16, 100, 0}, {"vit_base_patch16_384", 1, 16, 100, 0}};
    double step_s[2][2];
    for (int turned = 0; turned < 2; turned++) {
        const world_job order[] = {jobs[turned], jobs[1 - turned]};
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", groups, 1, order, 2);
        world_open(&s);
        for (int32_t j = 0; j < 2; j++) {
            step_s[turned][turned ? 1 - j : j] = world_solo(&s, j, 0, 1, 1, 1).iteration_s;
        }
    }
    assert_true(step_s[0][0] == step_s[1][0] && step_s[0][1] == step_s[1][1]);
    assert_true(step_s[0][1] > 2 * step_s[0][0]); /* 577 tokens instead of 197 */
}

/* Seeded noise per model, GPU and link: the same for every batch and gang, of the sizes asked for
 * in one node and in several. */
/* The spread stays what it is however much of it is shared; what is shared is alike. */
TEST(test_shared_residual)
{
    static const double part[3] = {0, 0.5, 1};
    enum { N = 4000 };
    for (int k = 0; k < 3; k++) {
        double square = 0, pair = 0;
        for (int i = 0; i < N; i++) {
            char gpu[16];
            snprintf(gpu, sizeof gpu, "g%d", i);
            const dls_residual_key a = {"resnet50", gpu, "node", "resnet", "f"};
            dls_residual_key b = a;
            b.model = "resnet101";
            const double x = log(dls_residual_shared(7, &a, 0.2, part[k]));
            const double y = log(dls_residual_shared(7, &b, 0.2, part[k]));
            square += x * x / N;
            pair += x * y / N;
            if (k == 0) {
                assert_true(exp(x) == dls_residual(7, "resnet50", gpu, "node", 0.2));
            }
        }
        assert_true(fabs(square / 0.04 - 1) < 0.1);
        assert_true(fabs(pair / square - part[k]) < 0.06);
    }
}

TEST(test_residual)
{
    const world_job jobs[] = {{"resnet50", 1, 64, 1, 0}, {"resnet50", 8, 32, 1, 0}};
    world_setup plain, noisy;
    double sum = 0, squares = 0, spread_squares = 0;
    enum { N = 400 };
    world_init(&plain, "operator", two_racks, 1, jobs, 2);
    world_open(&plain);
    const double alone = world_solo(&plain, 0, 0, 1, 1, 1).iteration_s;
    const double spread = world_solo(&plain, 1, 0, 8, 2, 1).iteration_s;
    for (uint64_t seed = 0; seed < N; seed++) {
        world_init(&noisy, "operator", two_racks, 1, jobs, 2);
        noisy.p.residual_sigma = 0.2;
        noisy.p.network_residual_sigma = 0.4;
        noisy.p.seed = seed;
        world_open(&noisy);
        const double one = log(world_solo(&noisy, 0, 0, 1, 1, 1).iteration_s / alone);
        const double eight = log(world_solo(&noisy, 1, 0, 8, 2, 1).iteration_s / spread);
        const double four = world_solo(&noisy, 0, 0, 4, 1, 1).iteration_s;
        NEAR(four, world_solo(&plain, 0, 0, 4, 1, 1).iteration_s * exp(one), 1e-9);
        assert_true(one != eight);
        sum += one;
        squares += one * one;
        spread_squares += eight * eight;
        world_fini(&noisy);
    }
    assert_true(fabs(sum / N) < 0.2 * 3 / sqrt(N));
    NEAR(sqrt(squares / N), 0.2, 0.12);
    NEAR(sqrt(spread_squares / N), 0.4, 0.12);
    world_fini(&plain);
}

/* The Tiresias paper's finding (NSDI 2019, section 3): with P100s and 100 Gb/s, models with one
 * large tensor suffer when their workers are spread over nodes, the others hardly do. */
TEST(test_who_suffers)
{
    const world_group p100[] = {{"P100", 8, 4, 0, 100}};
    static const struct {
        const char *model;
        double servers, allreduce; /* spread over consolidated speed */
    } want[] = {{"alexnet", 0.355, 0.429}, {"vgg11", 0.468, 0.931},  {"vgg16", 0.714, 0.993},
                {"vgg19", 0.798, 0.997},   {"resnet50", 1.0, 1.0},   {"resnet101", 1.0, 1.0},
                {"resnet152", 1.0, 1.0},   {"inception3", 1.0, 1.0}, {"inception4", 1.0, 1.0},
                {"googlenet", 0.995, 1.0}};
    enum { N = sizeof want / sizeof want[0] };
    world_job jobs[N];
    for (int i = 0; i < N; i++) {
        jobs[i] = (world_job){want[i].model, 4, 32, 1, 0};
    }
    for (int servers = 0; servers < 2; servers++) {
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", p100, 1, jobs, N);
        s.p.exchange = servers ? "ps-sync" : "allreduce";
        world_open(&s);
        for (int i = 0; i < N; i++) {
            const double ratio = world_solo(&s, i, 0, 4, 1, 1).iteration_s /
                                 world_solo(&s, i, 0, 4, 4, 1).iteration_s;
            if (fabs(ratio - (servers ? want[i].servers : want[i].allreduce)) > 0.006) {
                fail_msg("%s %s: %.4f", want[i].model, s.p.exchange, ratio);
            }
        }
    }
}

/* What two models do to each other is theirs: the same for every job of theirs, another beside
 * another. */
TEST(test_interference)
{
    const world_job jobs[] = {{"resnet50", 1, 32, 1, 0}, {"vgg16", 1, 32, 1, 0},
                              {"resnet50", 1, 32, 1, 0}, {"vgg16", 1, 32, 1, 0},
                              {"resnet50", 1, 32, 1, 0}, {"alexnet", 1, 32, 1, 0}};
    int64_t rate[2][6];
    for (int drawn = 0; drawn < 2; drawn++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        world_init(&s, "operator", two_racks, 1, jobs, 6);
        s.p.interference_sigma = drawn ? 0.07 : 0;
        world_open(&s);
        for (int32_t j = 0; j < 6; j++) {
            world_start(&s, j, 0, j / 2, 1, 1, 0);
        }
        assert_int_equal(world_settle(&s, &changed), 6);
        for (int32_t j = 0; j < 6; j++) {
            rate[drawn][j] = changed[j].rate;
        }
        assert_true(rate[drawn][0] == rate[drawn][2] && rate[drawn][1] == rate[drawn][3]);
        dls_world_stop(s.w, 1);
        assert_int_equal(world_settle(&s, &changed), 1);
        NEAR(world_seconds(&s, &changed[0]), world_solo(&s, 0, 0, 1, 1, 1).iteration_s, 1e-5);
    }
    assert_true(rate[1][0] != rate[0][0] && rate[1][1] != rate[0][1] && rate[1][4] != rate[1][0]);
    assert_true(llabs(rate[1][0] - rate[0][0]) < rate[0][0] / 2);
}

TEST(test_shared_gpus)
{
    const world_job jobs[] = {{"resnet50", 2, 32, 1, 0},
                              {"resnet50", 2, 32, 1, 0},
                              {"alexnet", 4, 128, 1, 0},
                              {"vgg19", 2, 64, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    const dls_rate_change *changed;
    world_init(&s, "operator", two_racks, 1, jobs, 4);
    world_open(&s);
    const dls_solo solo = world_solo(&s, 0, 0, 2, 1, 1);
    world_start(&s, 0, 0, 0, 1, 2, 0);
    world_start(&s, 1, 0, 0, 1, 2, 0);
    assert_int_equal(world_settle(&s, &changed), 2);
    const double speed = 1 - 0.310 * (2 * solo.gpu_util - 0.80);
    assert_true(solo.gpu_util > 0.9);
    NEAR(world_seconds(&s, &changed[0]), solo.iteration_s / speed, 1e-4);
    /* A third on one of the two GPUs: three in turn. */
    world_start(&s, 2, 0, 0, 1, 4, 1);
    assert_int_equal(world_settle(&s, &changed), 3);
    const double three =
        0.310 * (2 * solo.gpu_util + world_solo(&s, 2, 0, 4, 1, 1).gpu_util - 0.80);
    NEAR(world_seconds(&s, &changed[0]), solo.iteration_s / fmax(1 - three, 1.0 / 3), 1e-4);
    /* Memory: 16 GiB hold no two VGG-19 with 64 samples and what is there. */
    const dls_seat there = {3, 0};
    assert_false(dls_world_shares(s.w, 3, 0, &there, 1));
    MUST_FAIL(DLS_EPOLICY, "memory", dls_world_start(s.w, 3, 0, &there, 1, &e));
    assert_int_equal(world_settle(&s, &changed), 0);
    const dls_seat free_ = {3, 1};
    assert_true(dls_world_shares(s.w, 3, 0, &free_, 1));
    dls_world_stop(s.w, 2);
    assert_int_equal(world_settle(&s, &changed), 2);
    NEAR(world_seconds(&s, &changed[0]), solo.iteration_s / speed, 1e-4);
    dls_world_stop(s.w, 1);
    assert_int_equal(world_settle(&s, &changed), 1);
    assert_true(changed[0].rate == DLS_RATE_ONE);
}

/* Three that use more of the memory's bandwidth than there is are slowed down to what there is, where the law of
 * utilisations leaves them more. */
TEST(test_memory_bandwidth)
{
    const world_job jobs[] = {
        {"resnet50", 1, 32, 1, 0}, {"resnet50", 1, 32, 1, 0}, {"resnet50", 1, 32, 1, 0}};
    double seconds[2];
    for (int k = 0; k < 2; k++) {
        DLS_OWN(world_fini) world_setup s = {0};
        const dls_rate_change *changed;
        world_init(&s, "operator", two_racks, 1, jobs, 3);
        s.p.memory_bandwidth = k;
        s.p.interference_slope = 0;
        world_open(&s);
        const dls_solo solo = world_solo(&s, 0, 0, 1, 1, 1);
        for (int32_t j = 0; j < 3; j++) {
            world_start(&s, j, 0, 0, 1, 1, 0);
        }
        assert_int_equal(world_settle(&s, &changed), 3);
        seconds[k] = world_seconds(&s, &changed[0]) / solo.iteration_s;
        assert_true(3 * solo.mem_util > 1.05);
        NEAR(seconds[k], k ? 3 * solo.mem_util : 1, 1e-4);
    }
}

TEST(test_memory)
{
    const world_group mixed[] = {{"A100-80GB", 1, 8, 0, 100}, {"RTX2080TI", 1, 4, 0, 1}};
    const world_job jobs[] = {{"resnet50", 1, 256, 1, 0}, {"bert_large", 1, 1, 1, 0}};
    const world_job llama[] = {{"llama_7b", 1, 1, 1, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "operator", mixed, 2, jobs, 2);
    world_open(&s);
    assert_int_equal(dls_world_about(s.w).split_batch_shapes, 0);
    const dls_solo whole = world_solo(&s, 0, 0, 1, 1, 1), parts = world_solo(&s, 0, 1, 1, 1, 1);
    assert_int_equal(dls_world_about(s.w).split_batch_shapes, 1);
    assert_true(whole.mem_bytes > 20e9 && parts.mem_bytes < 11.0 * 1024 * 1024 * 1024);
    assert_true(dls_world_fits(s.w, 0, 1) && dls_world_fits(s.w, 1, 0));
    world_fini(&s);
    const dls_seat seat = {1, 0};
    world_init(&s, "operator", mixed, 2, llama, 1);
    world_open(&s);
    assert_false(dls_world_fits(s.w, 0, 0) || dls_world_fits(s.w, 0, 1));
    MUST_FAIL(DLS_EPOLICY, "does not fit", dls_world_start(s.w, 0, 0, &seat, 1, &e));
}

TEST(test_refusals)
{
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}}, empty[] = {{"vgg16", 2, 32, 0, 0}};
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    for (int i = 0; i < 8; i++) {
        world_init(&s, i < 7 ? "operator" : "trace", two_racks, 1, i < 6 ? jobs : empty, 1);
        s.p.model = i == 0 ? "oprator" : s.p.model;
        s.p.exchange = i == 1 ? "gossip" : s.p.exchange;
        s.p.numeric = i == 2 ? "fp8" : s.p.numeric;
        s.p.host = i == 3 ? "nowhere" : NULL;
        s.p.fabric = i == 4 ? "nothing" : NULL;
        s.p.reference_gpu = i == 5 ? "B9000" : NULL;
        const dls_status want = i < 6 ? DLS_ECONFIG : DLS_EINPUT;
        assert_int_equal(dls_world_create(&s.p, &s.w, &err), want);
        assert_true(i != 0 || strstr(err.msg, "did you mean 'operator'"));
        assert_true(strlen(err.msg) > 10);
        world_fini(&s);
    }
    world_init(&s, "operator", two_racks, 1, jobs, 1);
    s.p.hardware_dir = "/nonexistent";
    assert_int_equal(dls_world_create(&s.p, &s.w, &err), DLS_ECONFIG);
    world_fini(&s);
    /* Seats that cannot be. */
    world_init(&s, "operator", two_racks, 1, jobs, 1);
    world_open(&s);
    dls_seat seat = {1, 99};
    assert_int_equal(dls_world_start(s.w, 0, 0, &seat, 1, NULL), DLS_EINPUT);
    seat = (dls_seat){0, 1};
    assert_int_equal(dls_world_start(s.w, 0, 0, &seat, 1, NULL), DLS_EINPUT);
    assert_int_equal(dls_world_start(s.w, 0, 0, &seat, 0, NULL), DLS_EINPUT);
    seat = (dls_seat){3, 1};
    assert_int_equal(dls_world_start(s.w, 0, 1, &seat, 1, NULL), DLS_EINPUT);
    assert_int_equal(dls_world_start(s.w, 0, 0, &seat, 1, NULL), DLS_OK);
    assert_int_equal(dls_world_start(s.w, 0, 0, &seat, 1, NULL), DLS_EINPUT); /* runs */
    dls_world_stop(s.w, 0);
    dls_world_stop(s.w, 0); /* does nothing */
}

static dls_status life(world_setup *s)
{
    const dls_rate_change *changed;
    const dls_seat seats[2][2] = {{{1, 0}, {1, 1}}, {{2, 0}, {2, 1}}};
    size_t n;
    DLS_TRY(dls_world_create(&s->p, &s->w, NULL));
    for (int32_t j = 0; j < 2; j++) {
        DLS_TRY(dls_world_start(s->w, j, 0, seats[j], 2, NULL));
    }
    DLS_TRY(dls_world_settle(s->w, &changed, &n, NULL));
    dls_world_stop(s->w, 0);
    return dls_world_settle(s->w, &changed, &n, NULL);
}

/* Each allocation fails once; all is given back. (The first few hundred, and then some.) */
TEST(test_no_memory)
{
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}, {"alexnet", 2, 32, 1, 0}};
    dls_status status = DLS_ENOMEM;
    for (int n = 0; status != DLS_OK; n++) {
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", two_racks, 1, jobs, 2);
        REFUSED(status, n, life(&s));
        assert_true(status == DLS_OK || status == DLS_ENOMEM);
        assert_true(status != DLS_OK || n > 20);
    }
}

/* Once its arrays have grown, running needs no memory. */
TEST(test_hot_path)
{
    const world_job jobs[] = {{"vgg16", 2, 32, 1, 0}, {"alexnet", 2, 32, 1, 0}};
    const dls_rate_change *changed;
    DLS_OWN(world_fini) world_setup s = {0};
    int left = 0;
    world_init(&s, "operator", two_racks, 1, jobs, 2);
    world_open(&s);
    for (int round = 0; round < 3; round++) {
        world_start(&s, 0, 0, 0, 2, 1, 0);
        world_start(&s, 1, 0, 1, 2, 1, 1);
        assert_int_equal(world_settle(&s, &changed), 2);
        dls_world_stop(s.w, 0);
        assert_int_equal(world_settle(&s, &changed), 1);
        dls_world_stop(s.w, 1);
        world_settle(&s, &changed);
        dls_alloc_set_hook(refuse, &left); /* from the second round on none may be asked for */
    }
    dls_alloc_set_hook(NULL, NULL);
}
