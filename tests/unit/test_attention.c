/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention in one kernel: what a graph has of it, how long it takes beside what was published, where nothing is
 * known of it.
 */
#include "support/test.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static dls_opgraph *graph_of(const char *model, unsigned runner)
{
    const dls_zoo_model *z = dls_zoo_find(model);
    dls_zoo_options options = dls_zoo_defaults(z);
    dls_opgraph *g = NULL;
    options.runner = runner;
    options.numeric = DLS_NUMERIC_BF16;
    options.batch = 2;
    options.sequence = 512;
    assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_OK);
    return g;
}

static size_t nodes_of(const dls_opgraph *g, dls_op_kind kind, const dls_op_node **one)
{
    size_t n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].kind == (int32_t)kind) {
            *one = &g->nodes[i];
            n++;
        }
    }
    return n;
}

/* LLaMA 3.2 1B: 16 layers of 32 heads of 64 numbers that share keys and values by fours. Five products back
 * where the way there has two, of half the scores; nothing has as many numbers as there are scores. */
TEST(kernels_of_a_decoder)
{
    enum { HEADS = 2 * 32, T = 512, DEPTH = 64, Q = 2 * HEADS * T * DEPTH, KV = Q / 4, SUMS = 4 * HEADS * T };
    const dls_op_node *there = NULL, *back = NULL, *none = NULL;
    dls_opgraph *g = graph_of("llama3_2_1b", DLS_RUN_EAGER | DLS_RUN_FUSED_ATTENTION);
    assert_int_equal(nodes_of(g, DLS_OP_ATTENTION, &there), 16);
    assert_int_equal(nodes_of(g, DLS_OP_ATTENTION_GRAD, &back), 16);
    assert_int_equal(nodes_of(g, DLS_OP_BATCH_MATMUL, &none) + nodes_of(g, DLS_OP_SOFTMAX, &none), 0);
    assert_true(there->flops == 2 * 2. * HEADS * T * T * DEPTH / 2 && back->flops == 2.5 * there->flops);
    assert_int_equal(there->read_bytes, Q + 2 * KV);
    assert_int_equal(there->write_bytes, Q + SUMS);
    assert_int_equal(back->read_bytes, 3 * Q + 2 * KV + SUMS);
    assert_int_equal(back->write_bytes, Q + 2 * KV);
    dls_opgraph_destroy(g);
}

/* What is added to scores has no such kernel. */
TEST(networks_without)
{
    static const char *const model[] = {"t5_base", "bloom_560m", "gemma2_2b"};
    for (size_t i = 0; i < sizeof model / sizeof model[0]; i++) {
        const dls_op_node *none = NULL;
        dls_opgraph *fused = graph_of(model[i], DLS_RUN_EAGER | DLS_RUN_FUSED_ATTENTION);
        dls_opgraph *eager = graph_of(model[i], DLS_RUN_EAGER);
        assert_int_equal(nodes_of(fused, DLS_OP_ATTENTION, &none), 0);
        assert_int_equal(fused->n_nodes, eager->n_nodes);
        dls_opgraph_destroy(fused);
        dls_opgraph_destroy(eager);
    }
}

/* Memory grows with the sequence, not with its square. */
TEST(memory_without_scores)
{
    double kept[2];
    for (int i = 0; i < 2; i++) {
        const unsigned fused = i == 0 ? 0 : DLS_RUN_FUSED_ATTENTION;
        dls_opgraph *g = graph_of("llama3_2_1b", DLS_RUN_EAGER | fused);
        dls_workload w;
        assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
        kept[i] = w.kept;
        assert_int_equal(w.attention, i == 1);
        dls_workload_fini(&w);
        dls_opgraph_destroy(g);
    }
    /* a softmax's input in 32 bits and its output, as 16 bits too, in each of 16 layers: two tables and more */
    assert_true(kept[0] - kept[1] > 16 * 2. * 32 * 512 * 512);
}

typedef struct tables {
    dls_hardware hw;
    dls_sized_table kernels; /* of the model */
    dls_opmodel model;
} tables;

static void load(tables *t)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    assert_int_equal(dls_hardware_load(folder, &t->hw, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_of(folder, &t->kernels, &t->model, NULL), DLS_OK);
}

/* Teraflops a second of 16,384 tokens of 2,048 numbers, as FlashAttention counts: half for a causal mask. */
static double rate_of(const tables *t, const char *name, double depth, double keys, bool causal, bool there, bool back)
{
    const dls_hw_gpu *gpu;
    assert_int_equal(dls_hardware_gpu(&t->hw, name, &gpu, NULL), DLS_OK);
    const dls_rates rates = dls_opmodel_rates(&t->model, gpu, DLS_NUMERIC_FP16);
    const double heads = 16384 / keys * 2048 / depth, seen = causal ? keys / 2 : keys;
    double s = 0, flops = 0;
    for (int i = !there; i < 1 + back; i++) {
        const double mine = 2 * (i ? 5 : 2) * heads * keys * seen * depth;
        const dls_kernel k = {.family = DLS_KERNEL_MATMUL,
                              .backward = i == 1,
                              .repeats = 1,
                              .attention = 1,
                              .flops = mine,
                              .product = {heads, keys, depth, seen, 1, DLS_GROWS_COUNT}};
        s += dls_kernel_s(&k, &rates, 1) - rates.launch_s;
        flops += mine;
    }
    return flops / s / 1e12;
}

/* T. Dao: FlashAttention-2 (arXiv 2307.08691), figures 5 to 7, which fitted; then an RTX A5000 that fitted nothing
 * (gpu-mode/ring-attention, issue 10: at 8,192 tokens). */
TEST(published_rates)
{
    static const struct {
        const char *gpu;
        double depth, keys;
        bool causal, there, back;
        double measured, within;
    } row[] = {
        {"A100", 64, 8192, false, true, false, 192, 0.05},   {"A100", 128, 1024, true, true, false, 126, 0.05},
        {"A100", 64, 1024, true, false, true, 111, 0.06},    {"A100", 128, 4096, false, false, true, 193, 0.07},
        {"H100", 64, 4096, false, true, true, 288, 0.05},    {"H100", 128, 2048, true, true, true, 265, 0.02},
        {"H100", 64, 512, true, true, true, 141, 0.03},      {"A5000", 64, 8192, false, true, false, 81.86, 0.20},
        {"A5000", 64, 8192, false, false, true, 77.42, 0.22},
    };
    tables *t = calloc(1, sizeof *t);
    load(t);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const double says = rate_of(t, row[i].gpu, row[i].depth, row[i].keys, row[i].causal, row[i].there, row[i].back);
        if (!(fabs(says / row[i].measured - 1) < row[i].within)) {
            fail_msg("%s, %g keys of %g: %g TFLOP/s, measured %g", row[i].gpu, row[i].keys, row[i].depth, says,
                     row[i].measured);
        }
    }
    dls_sized_table_fini(&t->kernels);
    dls_hardware_fini(&t->hw);
    free(t);
}

/* GeForce's matrix units add up in 32 bits at half their rate: twice that of tf32, as others'. */
TEST(sums_in_32_bits)
{
    tables *t = calloc(1, sizeof *t);
    load(t);
    const double geforce = rate_of(t, "RTX3090", 128, 4096, true, true, true);
    const double a100 = rate_of(t, "A100", 128, 4096, true, true, true);
    assert_true(fabs(geforce / a100 / (35.6 / 156) - 1) < 1e-9);
    dls_sized_table_fini(&t->kernels);
    dls_hardware_fini(&t->hw);
    free(t);
}

TEST(where_nothing_is_known)
{
    static const struct {
        const char *gpu;
        dls_numeric numeric;
        bool known;
    } row[] = {
        {"A100-80GB", DLS_NUMERIC_BF16, true}, {"RTX4090", DLS_NUMERIC_FP16, true},
        {"H200", DLS_NUMERIC_BF16, true},      {"A100", DLS_NUMERIC_FP32, false},
        {"A100", DLS_NUMERIC_TF32, false},     {"V100", DLS_NUMERIC_FP16, false},
        {"RTX5090", DLS_NUMERIC_FP16, false},
    };
    tables *t = calloc(1, sizeof *t);
    dls_workload w;
    load(t);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const dls_hw_gpu *gpu;
        assert_int_equal(dls_hardware_gpu(&t->hw, row[i].gpu, &gpu, NULL), DLS_OK);
        t->model.sized = &t->kernels;
        w = (dls_workload){.attention = true};
        assert_int_equal(dls_opmodel_knows(&t->model, gpu, row[i].numeric, &w, NULL), row[i].known ? DLS_OK : DLS_EINPUT);
        t->model.sized = NULL;
        assert_int_equal(dls_opmodel_knows(&t->model, gpu, row[i].numeric, &w, NULL), DLS_EINPUT);
        w.attention = false;
        assert_int_equal(dls_opmodel_knows(&t->model, gpu, row[i].numeric, &w, NULL), DLS_OK);
    }
    dls_sized_table_fini(&t->kernels);
    dls_hardware_fini(&t->hw);
    free(t);
}
