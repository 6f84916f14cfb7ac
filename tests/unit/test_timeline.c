/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The timeline of a step: a hand-made network in settings worked out by hand, conservation of bytes
 * and of GPU time for real ones, samples against the timeline they were taken from.
 */
#include "base/alloc.h"
#include "predictor/measure/burst.h"
#include "support/refuse.h"
#include "workload/operator/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

/* A GPU of 1 Tflop/s and 1 GB/s whose constants are 1; two layers of one second a kernel. */
static const dls_hw_gpu unit_gpu = {
    .name = "unit", .fp32_flops = 1e12, .mem_bps = 1e9, .mem_bytes = 1e12};

static dls_opmodel unit_model(void)
{
    dls_opmodel m = {0};
    for (int n = 0; n < DLS_OPMODEL_NUMERICS; n++) {
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            m.eta[n][f] = 1;
        }
    }
    return m;
}

static dls_kernel unit_kernel[] = {
    {.family = DLS_KERNEL_MATMUL, .repeats = 1, .layer = 0, .tensor = -1, .flops = 1e12},
    {.family = DLS_KERNEL_MATMUL,
     .repeats = 1,
     .layer = 0,
     .backward = 1,
     .tensor = 0,
     .flops = 1e12,
     .moved = 1.25e8},
    {.family = DLS_KERNEL_MATMUL, .repeats = 1, .layer = 1, .tensor = -1, .flops = 1e12},
    {.family = DLS_KERNEL_MATMUL,
     .repeats = 1,
     .layer = 1,
     .backward = 1,
     .tensor = 1,
     .flops = 1e12}};
static double unit_tensor[] = {3e7, 1e7};
static const dls_workload unit_net = {.kernel = unit_kernel,
                                      .n_kernels = 4,
                                      .tensor = unit_tensor,
                                      .n_tensors = 2,
                                      .params = 4e7,
                                      .optimiser = DLS_OPTIMISER_SGD};

/* Rate just before a moment. */
static double rate_at(const dls_track *t, double at_s)
{
    return (dls_track_integral(t, at_s) - dls_track_integral(t, at_s - 1e-6)) / 1e-6;
}

TEST(one_worker_by_hand)
{
    const dls_opmodel m = unit_model();
    const dls_work_setting s = {.gpu = &unit_gpu, .batch = 1, .n_workers = 1};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    /* two forward seconds, two backward, 4 * 3 * 4e7 bytes of update at 1 GB/s */
    assert_true(near(t.step_s, 4.48, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_GPU], t.step_s), 4.48, 1e-9));
    /* The first layer's backward kernel is the last: half a gigabyte in its second. */
    assert_true(near(rate_at(&t.track[DLS_TRACK_GPU_MEM], 3.5), 0.5, 1e-6));
    assert_true(rate_at(&t.track[DLS_TRACK_GPU_MEM], 2.5) == 0);
    assert_true(near(rate_at(&t.track[DLS_TRACK_GPU_MEM], 4.2), 1, 1e-6));
    assert_true(dls_track_integral(&t.track[DLS_TRACK_TX], t.step_s) == 0);
}

TEST(ring_by_hand)
{
    const dls_opmodel m = unit_model();
    /* 2 workers: 160 MB at 160 MB/s, one second, a quarter of it for the second tensor */
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    const dls_work_setting s = {.gpu = &unit_gpu, .batch = 1, .n_workers = 2, .fabric = &f};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 5.48, 1e-12));
    const dls_track *tx = &t.track[DLS_TRACK_TX];
    assert_true(dls_track_integral(tx, 2.99) == 0); /* the last layer's gradient is ready at 3 */
    assert_true(near(dls_track_integral(tx, 3.25), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 4.0), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 4.75), 1.6e8, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_RX], t.step_s), 1.6e8, 1e-9));
    /* GPU waits from 4 to 5. */
    assert_true(rate_at(&t.track[DLS_TRACK_GPU], 4.5) == 0);
    dls_timeline_fini(&t);

    /* Hidden completely: the network is as fast as the step demands, bytes are the same. */
    const dls_fabric hidden = {.bps = 1.6e8, .gamma = 1000};
    dls_work_setting squeezed = s;
    squeezed.fabric = &hidden;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &squeezed, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 4.48, 1e-3));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], t.step_s), 1.6e8, 1e-9));
    /* 2.75 s from the first gradient's layer on become the 2 s before the update, so both tensors
     * leave at 160 MB/s * 2.75 / 2; the first from 2 + 2 / 2.75 s on. */
    tx = &t.track[DLS_TRACK_TX];
    assert_true(near(rate_at(tx, 2.8), 2.2e8, 1e-3));
    assert_true(near(rate_at(tx, 3.9), 2.2e8, 1e-3));
    assert_true(rate_at(tx, 2.72) == 0 && rate_at(tx, 3.3) == 0);
    assert_true(near(dls_track_integral(tx, 4.001), 1.6e8, 1e-9));
}

/* The last layer's gradient fills the first bucket, the first layer's the second: 40 and 120 MB. */
TEST(buckets_by_hand)
{
    const dls_opmodel m = unit_model();
    dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    dls_work_setting s = {
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .fabric = &f, .buckets = true};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    const dls_track *tx = &t.track[DLS_TRACK_TX];
    assert_true(near(t.step_s, 4.75 + 0.48, 1e-12));
    assert_true(dls_track_integral(tx, 3) == 0);
    assert_true(near(dls_track_integral(tx, 3.25), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 4), 4e7, 1e-9)); /* the bucket waits for all of it */
    assert_true(near(rate_at(tx, 4.5), 1.6e8, 1e-6));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_RX], t.step_s), 1.6e8, 1e-9));
    dls_timeline_fini(&t);

    /* All wait for the slowest, a tenth of 4 s later; each tensor costs something. */
    f.straggle = 0.2;
    f.per_tensor_s = 0.01;
    dls_step_in_setting step;
    assert_int_equal(dls_setting_step(&m, &unit_net, &s, &step, NULL), DLS_OK);
    assert_true(near(step.step_s, 4.4 + 0.75 + 0.01 + 0.48, 1e-12));

    /* Less than 1 MiB is one bucket: nothing is sent beside the backward pass. */
    double small[] = {3e4, 1e4};
    dls_workload net = unit_net;
    net.tensor = small;
    net.params = 4e4;
    f = (dls_fabric){.bps = 1.6e5, .gamma = 1};
    assert_int_equal(dls_timeline_build(&m, &net, &s, &t, NULL), DLS_OK);
    assert_true(dls_track_integral(&t.track[DLS_TRACK_TX], 3.999) == 0);
    assert_true(near(t.step_s, 5 + 0.00048, 1e-9));
}

/* A server with a link of its own: 40 MB of each worker and 120 MB, in and out again. */
TEST(servers_apart_by_hand)
{
    const dls_opmodel m = unit_model();
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1, .server_bps = 1.6e8};
    dls_work_setting s = {
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .n_servers = 1, .fabric = &f, .apart = true};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    /* in from 3 to 3.5 and 4 to 5.5 s, out from 3.5 to 4 and 5.5 to 7 s */
    assert_true(near(t.step_s, 7.48, 1e-12));
    const dls_track *tx = &t.track[DLS_TRACK_TX], *rx = &t.track[DLS_TRACK_RX];
    assert_true(near(dls_track_integral(tx, 3.25), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 4.75), 1.6e8, 1e-9));
    assert_true(dls_track_integral(rx, 3.5) == 0);
    assert_true(near(dls_track_integral(rx, 5.5), 4e7, 1e-9));
    assert_true(near(rate_at(rx, 6), 8e7, 1e-6));
    assert_true(near(dls_track_integral(rx, t.step_s), 1.6e8, 1e-9));
    dls_timeline_fini(&t);

    /* Workers take turns: the larger tensor is there at 4 s, the server's link only at 5 s. */
    const dls_fabric slow = {.bps = 4e7, .gamma = 1, .server_bps = 4e7};
    s.fabric = &slow;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(dls_track_integral(tx, 4), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 5), 4e7, 1e-9));
    assert_true(near(dls_track_integral(tx, 8), 1.6e8, 1e-9));
    assert_true(near(t.step_s, 17.48, 1e-12));
    dls_timeline_fini(&t);
    s.fabric = &f;

    s.n_servers = 2; /* one for each tensor: the larger one alone makes the end */
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 7.48, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_RX], t.step_s), 1.6e8, 1e-9));
}

/* Where processors compute, messages put off the backward pass, and a server on the worker's does.
 */
TEST(messages_take_the_processor)
{
    const dls_opmodel m = unit_model();
    dls_fabric f = {.bps = 1.6e8, .gamma = 1, .message_s = 0.1};
    dls_work_setting s = {
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .fabric = &f, .buckets = true};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    /* 0.05 s before each bucket and behind it: 3.05 to 3.3 and, after three of them, 4.15 to 4.9 s
     */
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 4.95 + 0.48, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], 3.3), 4e7, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], 4.15), 4e7, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_GPU], t.step_s), 4.48 + 0.2, 1e-9));
    dls_timeline_fini(&t);

    /* Tensors in the order of their gradients, as files of graphs have them: the same messages. */
    dls_kernel turned_kernel[4];
    double turned[] = {1e7, 3e7};
    dls_workload other = unit_net;
    memcpy(turned_kernel, unit_kernel, sizeof turned_kernel);
    turned_kernel[1].tensor = 1;
    turned_kernel[3].tensor = 0;
    other.kernel = turned_kernel;
    other.tensor = turned;
    assert_int_equal(dls_timeline_build(&m, &other, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 4.95 + 0.48, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], 3.3), 4e7, 1e-9));
    dls_timeline_fini(&t);

    /* Memory is half as slow again beside others: the update's. */
    f = (dls_fabric){.bps = 1.6e8, .gamma = 1, .beside = 0.5};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 4.75 + 0.72, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_GPU], t.step_s), 4.72, 1e-9));
    dls_timeline_fini(&t);

    /* The server works 0.24 s on what it has of both, and 0.1 s goes to the worker's messages. */
    f = (dls_fabric){.bps = 1.6e8,
                     .gamma = 1,
                     .server_bps = 2e8,
                     .per_tensor_s = 0.12,
                     .message_s = 0.2,
                     .shared = 1};
    s = (dls_work_setting){
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .n_servers = 1, .fabric = &f, .apart = true};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 7.38 + 0.48, 1e-12));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_GPU], t.step_s), 4.48 + 0.4, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], 4.54), 4e7, 1e-9));
    dls_timeline_fini(&t);

    s.n_servers = 2; /* the larger tensor's is on the worker's processor */
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    assert_true(near(t.step_s, 7.04 + 0.48, 1e-12));
}

TEST(servers_and_hosts)
{
    const dls_opmodel m = unit_model();
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    const dls_host host = {.slowdown = 2, .floor_s = 9};
    dls_work_setting s = {
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .n_servers = 1, .fabric = &f, .host = &host};
    dls_timeline t;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    const double one_s = pow(pow(8.96, 4) + pow(9, 4), 0.25);
    assert_true(
        near(t.step_s, one_s + 1, 1e-9)); /* half of 2 * 160 MB at 160 MB/s, nothing hides */
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_RX], 0.25), 4e7, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_RX], t.step_s), 8e7, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_TX], t.step_s), 8e7, 1e-9));
    assert_true(near(dls_track_integral(&t.track[DLS_TRACK_GPU], t.step_s), 4.48, 1e-9));
    assert_true(dls_track_integral(&t.track[DLS_TRACK_GPU], one_s - 8.96) == 0);
    /* Kernels of 2 s from there: gradients 6 and 8 s on, sent at 160 MB/s. */
    const dls_track *tx = &t.track[DLS_TRACK_TX];
    assert_true(dls_track_integral(tx, one_s - 8.96 + 5.99) == 0);
    assert_true(near(dls_track_integral(tx, one_s - 8.96 + 6.125), 2e7, 1e-9));
    assert_true(near(dls_track_integral(tx, one_s - 8.96 + 8), 2e7, 1e-9));
    assert_true(near(dls_track_integral(tx, one_s - 8.96 + 8.1875), 5e7, 1e-9));
    dls_timeline_fini(&t);

    s.async = true;
    s.host = NULL;
    dls_step_in_setting step;
    assert_int_equal(dls_setting_step(&m, &unit_net, &s, &step, NULL), DLS_OK);
    assert_true(near(step.step_s, 4.48 + 2, 1e-9));
}

static void load_model(dls_hardware *hw, dls_opmodel *m)
{
    char path[4200], folder[4096];
    const char *source = getenv("DLSIM_SOURCE");
    snprintf(folder, sizeof folder, "%s/configs/hardware", source ? source : ".");
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    assert_int_equal(dls_hardware_load(folder, hw, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_load(path, m, NULL), DLS_OK);
}

/* Every network on every GPU: bytes of the exchange, GPU time of the kernels, rates in range. */
TEST(nothing_is_lost)
{
    static dls_opmodel m;
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    load_model(&hw, &m);
    for (const char *const *name = dls_workload_names(); *name; name++) {
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        assert_int_equal(dls_workload_build(*name, &w, NULL), DLS_OK);
        for (size_t g = 0; g < hw.n_gpus; g++) {
            for (int servers = 0; servers < 3; servers++) {
                const dls_work_setting s = {.gpu = &hw.gpu[g],
                                            .batch = 32,
                                            .n_workers = 4,
                                            .n_servers = servers,
                                            .fabric = dls_opmodel_fabric(&m, "p100_servers")};
                dls_step_in_setting step;
                DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
                assert_int_equal(dls_setting_step(&m, &w, &s, &step, NULL), DLS_OK);
                assert_int_equal(dls_timeline_build(&m, &w, &s, &t, NULL), DLS_OK);
                const double bytes = (servers ? 0.75 : 1.5) * 4 * w.params;
                assert_true(t.step_s == step.step_s);
                for (int r = 0; r < DLS_TRACKS; r++) {
                    const dls_track *k = &t.track[r];
                    const double all = dls_track_integral(k, t.step_s);
                    assert_true(k->n > 0 && k->end_s[k->n - 1] == t.step_s);
                    for (size_t i = 0; i < k->n; i++) {
                        assert_true(k->rate[i] >= 0);
                        assert_true(i == 0 || k->end_s[i] > k->end_s[i - 1]);
                        assert_true(r > DLS_TRACK_GPU || k->rate[i] <= 1);
                    }
                    if (r == DLS_TRACK_RX || r == DLS_TRACK_TX) {
                        assert_true(near(all, bytes, 1e-6));
                    } else if (r == DLS_TRACK_GPU) {
                        assert_true(all <= step.gpu.gpu_s * (1 + 1e-9));
                        assert_true(all > 0.3 * step.gpu.gpu_s);
                    }
                }
            }
        }
    }
}

#define N 4000
static double buffer[2][DLS_TRACKS][N];

static dls_status sample(const dls_timeline *t, const dls_series_options *o, int which)
{
    double *x[DLS_TRACKS];
    for (int r = 0; r < DLS_TRACKS; r++) {
        x[r] = buffer[which][r];
    }
    return dls_series_sample(t, o, x, NULL);
}

TEST(samples_match_the_timeline)
{
    const dls_opmodel m = unit_model();
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    const dls_work_setting s = {.gpu = &unit_gpu, .batch = 1, .n_workers = 2, .fabric = &f};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    /* One sample a step without noise: the mean of a step, every time. */
    dls_series_options o = {.interval_s = t.step_s, .n_samples = N, .seed = 3};
    assert_int_equal(sample(&t, &o, 0), DLS_OK);
    for (size_t i = 0; i < N; i++) {
        for (int r = 0; r < DLS_TRACKS; r++) {
            const double mean = dls_track_integral(&t.track[r], t.step_s) / t.step_s;
            assert_true(near(buffer[0][r][i], mean, 1e-6));
        }
    }
    /* With noise: phases as long as the timeline's, and the same again from the same seed. */
    o = (dls_series_options){.interval_s = 0.05,
                             .n_samples = N,
                             .step_spread = 0.02,
                             .jitter_frac = 0.1,
                             .noise_frac = 0.02,
                             .seed = 3,
                             .entity = 5};
    assert_int_equal(sample(&t, &o, 0), DLS_OK);
    assert_int_equal(sample(&t, &o, 1), DLS_OK);
    assert_memory_equal(buffer[0], buffer[1], sizeof buffer[0]);
    const dls_burst_options how = {.interval_s = 0.05, .capacity = 1};
    dls_burst b;
    assert_int_equal(dls_burst_analyze(buffer[0][DLS_TRACK_GPU], N, &how, &b, NULL), DLS_OK);
    assert_int_equal(b.pattern, DLS_PATTERN_BIB);
    assert_true(near(b.idle_s, 1, 0.1));
    assert_true(near(b.burst_s, 4.48, 0.03));
    assert_true(near(b.burst_amount, 1, 0.05));
    assert_true(b.cycle_agrees);
    o.entity = 6;
    assert_int_equal(sample(&t, &o, 1), DLS_OK);
    assert_true(memcmp(buffer[0], buffer[1], sizeof buffer[0]) != 0);
}

/* A counter that counts packets: nothing is lost, samples of a burst hold whole ones. */
TEST(packets_are_whole)
{
    const dls_opmodel m = unit_model();
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    const dls_work_setting s = {
        .gpu = &unit_gpu, .batch = 1, .n_workers = 2, .fabric = &f, .buckets = true};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, NULL), DLS_OK);
    dls_series_options o = {.interval_s = 0.01, .n_samples = N, .seed = 3};
    assert_int_equal(sample(&t, &o, 0), DLS_OK);
    o.packet_bytes = 1e6;
    assert_int_equal(sample(&t, &o, 1), DLS_OK);
    double any = 0, whole = 0, odd = 0;
    for (size_t i = 0; i < N; i++) {
        const double packets = buffer[1][DLS_TRACK_TX][i] * o.interval_s / o.packet_bytes;
        any += buffer[0][DLS_TRACK_TX][i];
        whole += buffer[1][DLS_TRACK_TX][i];
        odd += fabs(packets - rint(packets)) > 1e-6;
        assert_true(fabs(buffer[0][DLS_TRACK_GPU][i] - buffer[1][DLS_TRACK_GPU][i]) == 0);
    }
    assert_true(near(any, whole, 1e-3));
    assert_true(odd < 5 * N * o.interval_s / t.step_s); /* the ends of two bursts a step */
    o.packet_bytes = -1;
    assert_int_equal(sample(&t, &o, 1), DLS_EINPUT);
}

TEST(mistakes)
{
    const dls_opmodel m = unit_model();
    const dls_fabric f = {.bps = 1.6e8, .gamma = 1};
    dls_work_setting s = {.gpu = &unit_gpu, .batch = 1, .n_workers = 2};
    DLS_OWN(dls_timeline_fini) dls_timeline t = {0};
    dls_error err;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, &err), DLS_EINPUT);
    s.fabric = &f;
    s.async = true;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, &err), DLS_EINPUT);
    s.async = false;
    s.n_workers = 0;
    assert_int_equal(dls_timeline_build(&m, &unit_net, &s, &t, &err), DLS_EINPUT);
    s.n_workers = 2;
    EACH_REFUSED(4, dls_timeline_build(&m, &unit_net, &s, &t, NULL));
    const dls_series_options bad[] = {{.interval_s = 0, .n_samples = 1},
                                      {.interval_s = 1, .n_samples = 0},
                                      {.interval_s = 1, .n_samples = 1, .jitter_frac = 0.5},
                                      {.interval_s = 1, .n_samples = 1, .noise_frac = 1},
                                      {.interval_s = 1, .n_samples = 1, .step_spread = -1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sample(&t, &bad[i], 0), DLS_EINPUT);
    }
}
