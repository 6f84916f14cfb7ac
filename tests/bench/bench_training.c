/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a training step costs: a batch of 32 graphs of 100 nodes, hidden 64, 50 layers, 100 readout
 * steps, one thread, processor time, beside the multiply-add peak measured in the same run; a step
 * of each tuning beside one of everything; working memory. Least of several rounds. On a device:
 * the same steps, many in a row, wall time. Needs no HDF5, so it also serves the GPU machine.
 *
 *     bench_training [--smoke] [--cuda MODULE]
 */
#include "base/alloc.h"
#include "predictor/driple/backend.h"
#include "predictor/training/learner.h"
#include "support/bench.h"
#include "tests/inspector_graphs.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 32 };

/* 28.8 GFLOP a step: three times the forward work of 300.4 MFLOP a graph (mean degree 5.9). */
#define FLOP_PER_GRAPH (3 * 300.4e6)

typedef struct course {
    double step_s, start_s;
    size_t bytes;
    double peak;
    char engine[64];
} course;

static course measure(const dls_inspector *insp, dls_tune tune, const char *isa,
                      const dls_graph *graphs, int rounds)
{
    dls_error err = {0};
    dls_trainee *net = NULL;
    dls_stepper *stepper = NULL;
    dls_adam adam;
    must(dls_trainee_create(insp, DLS_SETTING_BASE, tune, &net, &err), &err);
    const dls_stepper_options o = {.isa = isa, .threads = 1};
    must(dls_stepper_create(net, &o, &stepper, &err), &err);
    must(dls_adam_init(&adam, net, dls_adam_default(), &err), &err);
    double target[DLS_METRICS] = {0.5};
    double out[BATCH * DLS_METRICS];
    double *gradient = dls_alloc_zero(net->n_values, sizeof *gradient);
    dls_step_sample sample[BATCH];
    course c = {.step_s = 1e9, .peak = dls_step_engine_find(false, isa)->peak_flops()};
    const double from = cpu_s();
    for (int i = 0; i < BATCH; i++) {
        void *start = NULL;
        must(dls_stepper_start(stepper, &graphs[i], &start, &err), &err);
        sample[i] = (dls_step_sample){.graph = &graphs[i], .target = target, .start = start};
    }
    c.start_s = cpu_s() - from;
    const dls_batch batch = {.sample = sample, .n = BATCH, .out = out, .gradient = gradient};
    for (int r = 0; r < rounds; r++) {
        double loss = 0;
        const double begin = cpu_s();
        must(dls_stepper_run(stepper, &batch, &loss, &err), &err);
        dls_adam_step(&adam, net, gradient);
        dls_stepper_load(stepper);
        const double took = cpu_s() - begin;
        c.step_s = took < c.step_s ? took : c.step_s;
    }
    c.bytes = dls_stepper_bytes(stepper);
    snprintf(c.engine, sizeof c.engine, "%s", dls_stepper_describe(stepper));
    for (int i = 0; i < BATCH; i++) {
        dls_free((void *)(uintptr_t)sample[i].start);
    }
    dls_free(gradient);
    dls_adam_fini(&adam);
    dls_stepper_destroy(stepper);
    dls_trainee_destroy(net);
    return c;
}

/* ---- CUDA ----------------------------------------------------------------------------------- */

/* A round is `steps` steps and the loss, which waits for them. */
static void measure_device(const dls_learner_ops *ops, const dls_inspector *insp, dls_tune tune,
                           const dls_graph *graphs, int steps, int rounds)
{
    dls_error err = {0};
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    DLS_OWN(dls_adam_fini) dls_adam adam = {0};
    void *state = NULL;
    const dls_graph *pointer[BATCH];
    double target[BATCH * DLS_METRICS];
    size_t index[BATCH];
    uint64_t noise[BATCH] = {0};
    for (size_t i = 0; i < BATCH; i++) {
        pointer[i] = &graphs[i];
        index[i] = i;
        for (size_t k = 0; k < DLS_METRICS; k++) {
            target[i * DLS_METRICS + k] = 0.5;
        }
    }
    must(dls_trainee_create(insp, DLS_SETTING_BASE, tune, &net, &err), &err);
    must(dls_adam_init(&adam, net, dls_adam_default(), &err), &err);
    const dls_learner_config c = {.net = net,
                                  .adam = &adam,
                                  .train = {.graph = pointer, .target = target, .n = BATCH},
                                  .val = {.graph = pointer, .target = target, .n = BATCH},
                                  .batch = BATCH};
    const dls_status opened = ops->open(&c, &state, &err);
    if (opened != DLS_OK) {
        printf("{\"tune\": \"%s\", \"skipped\": \"%s\"}", dls_tune_names[tune], err.msg);
    } else {
        char device[80];
        double best = 1e9;
        const double from = wall_s();
        must(ops->freeze(state, &err), &err);
        const double start_s = wall_s() - from;
        for (int r = 0; r < rounds; r++) {
            double loss = 0;
            const double begin = wall_s();
            for (int k = 0; k < steps; k++) {
                must(ops->step(state, index, noise, BATCH, &err), &err);
            }
            must(ops->losses(state, &loss, &err), &err);
            const double took = (wall_s() - begin) / steps;
            best = took < best ? took : best;
        }
        ops->describe(state, device, sizeof device);
        printf("{\"tune\": \"%s\", \"device\": \"%s\", \"step_ms\": %.3f, \"frozen_once_ms\": "
               "%.3f, \"memory_mb\": %.1f, \"tflops\": %.2f}",
               dls_tune_names[tune], device, 1e3 * best, 1e3 * start_s,
               1e-6 * (double)ops->bytes(state), 1e-12 * BATCH * FLOP_PER_GRAPH / best);
        ops->close(state);
    }
}

static void bench_device(const char *path, const dls_inspector *insp, const dls_graph *graphs,
                         bool smoke)
{
    dls_error err = {0};
    const dls_learner_ops *ops = NULL;
    void *module = NULL;
    must(dls_learner_cuda(path, &ops, &module, &err), &err);
    printf("\n  \"cuda\": [");
    static const dls_tune tunes[] = {DLS_TUNE_BASE, DLS_TUNE_CONV_MLP, DLS_TUNE_MLP};
    for (int t = 0; t < 3; t++) {
        printf("%s\n    ", t ? "," : "");
        measure_device(ops, insp, tunes[t], graphs, smoke ? 1 : 50, smoke ? 1 : 6);
    }
    printf("\n  ],");
    fflush(stdout);
    dls_driple_module_close(module);
}

int main(int argc, char **argv)
{
    bool smoke = false;
    const char *module = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            smoke = true;
        } else if (strcmp(argv[i], "--cuda") == 0 && i + 1 < argc) {
            module = argv[++i];
        } else {
            fprintf(stderr, "usage: bench_training [--smoke] [--cuda MODULE]\n");
            return 2;
        }
    }
    const int32_t nodes = smoke ? 12 : 100;
    const int rounds = smoke ? 1 : 15;
    dls_error err = {0};
    const dls_arch arch = dls_arch_default();
    dls_inspector *insp = NULL;
    dls_graph graphs[BATCH];
    must(dls_inspector_create(&arch, &insp, &err), &err);
    must(dls_inspector_randomise(insp, 1, 0, 1, &err), &err);
    for (int i = 0; i < BATCH; i++) {
        random_graph(&graphs[i], nodes, arch.n_features, (uint64_t)i + 1,
                     (graph_kind){.density = 5.9 / nodes});
    }
    printf("{\n  \"graphs\": %d, \"nodes\": %d, \"layers\": %d,", BATCH, (int)nodes,
           (int)dls_arch_layers(&arch, nodes));
    if (module) {
        bench_device(module, insp, graphs, smoke); /* first: the rest takes a minute */
    }
    printf("\n  \"steps\": [");
    static const char *const isas[] = {"avx512", "avx2", "scalar"};
    bool first = true;
    for (int i = 0; i < 3; i++) {
        if (!dls_step_engine_find(false, isas[i]) || (i == 2 && !smoke)) {
            continue;
        }
        const course c = measure(insp, DLS_TUNE_BASE, isas[i], graphs, rounds);
        printf("%s\n    {\"engine\": \"%s\", \"step_ms\": %.1f, \"peak_gflops\": %.1f",
               first ? "" : ",", c.engine, 1e3 * c.step_s, 1e-9 * c.peak);
        if (!smoke) {
            printf(", \"gflops\": %.1f, \"of_peak\": %.3f",
                   1e-9 * BATCH * FLOP_PER_GRAPH / c.step_s,
                   BATCH * FLOP_PER_GRAPH / c.step_s / c.peak);
        }
        printf(", \"memory_mb\": %.1f}", 1e-6 * (double)c.bytes);
        first = false;
    }
    printf("\n  ],\n  \"tunings\": [");
    for (int t = 0; t < DLS_TUNE_COUNT; t++) {
        const course c = measure(insp, (dls_tune)t, NULL, graphs, rounds);
        printf("%s\n    {\"tune\": \"%s\", \"step_ms\": %.1f, \"frozen_once_ms\": %.1f}",
               t ? "," : "", dls_tune_names[t], 1e3 * c.step_s, 1e3 * c.start_s);
    }
    printf("\n  ]\n}\n");
    for (int i = 0; i < BATCH; i++) {
        random_graph_free(&graphs[i]);
    }
    dls_inspector_destroy(insp);
    return 0;
}
