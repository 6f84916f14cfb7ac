/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps of large models against published ones: the table of Megatron-LM on 32 to 3,072 A100,
 * measured steps of GPT on 1 to 32 V100 (DLPerf) and in fp32 on one and four (NeuSight), there
 * beside the operator model's step of the same network, too. Two constants are fitted to two rows of
 * DLPerf, one GPU each; all else is judged. The bounds are what came out, rounded up
 * (docs/large-models.md).
 */
#include "base/csv.h"
#include "support/test.h"
#include "workload/operator/llm.h"
#include "workload/kinds.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dls_opmodel model;
static dls_sized_table kernels;
static dls_hardware hw;

static dls_llm_machine machine(const char *gpu, dls_numeric numeric, int gpus, int nodes,
                               double line_bps)
{
    const dls_hw_gpu *row = dls_hardware_gpu_variant(&hw, gpu);
    const dls_hw_link *peer;
    dls_error err;
    assert_non_null(row);
    assert_int_equal(dls_hardware_link(&hw, row->link, &peer, &err), DLS_OK);
    const dls_rates rates = dls_opmodel_rates(&model, row, numeric);
    dls_llm_machine m = dls_llm_machine_of(row, peer, &rates, numeric, &kernels);
    m.gpus = gpus;
    m.nodes = nodes;
    m.line_bps = line_bps;
    return m;
}

static double step_ms(const char *name, const dls_llm_machine *on, double batch)
{
    dls_llm llm;
    dls_llm_step step;
    dls_error err;
    assert_int_equal(dls_llm_parse(name, &llm, &err), DLS_OK);
    const dls_status status = dls_llm_time(&llm, on, batch, &step, &err);
    if (status != DLS_OK) {
        fail_msg("%s: %s", name, err.msg);
    }
    return 1e3 * step.step_s;
}

/* Narayanan et al., SC 2021, table 1: sequences of 2,048, vocabulary 51,200, activations
 * recomputed; TFLOP/s of a GPU over F = 96 B s l h^2 (1 + s / 6h + V / 16lh). Eight links of 200
 * Gb/s a node. */
TEST(megatron)
{
    static const struct {
        int heads, hidden, layers, tensor, pipeline, gpus, batch;
        double tflops;
    } rows[] = {
        {24, 2304, 24, 1, 1, 32, 512, 137},        {32, 3072, 30, 2, 1, 64, 512, 138},
        {32, 4096, 36, 4, 1, 128, 512, 142},       {48, 6144, 40, 8, 1, 256, 1024, 135},
        {64, 8192, 48, 8, 2, 512, 1536, 138},      {80, 10240, 60, 8, 4, 1024, 1792, 140},
        {96, 12288, 80, 8, 8, 1536, 2304, 148},    {128, 16384, 96, 8, 16, 1920, 2160, 155},
        {128, 20480, 105, 8, 35, 2520, 2520, 163}, {160, 25600, 128, 8, 64, 3072, 3072, 163}};
    const size_t n = sizeof rows / sizeof rows[0];
    double sum = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        char name[120];
        const double l = rows[i].layers, h = rows[i].hidden, s = 2048, v = 51200;
        const double flops =
            96 * rows[i].batch * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
        const double published_ms = 1e3 * flops / (rows[i].gpus * rows[i].tflops * 1e12);
        const dls_llm_machine on =
            machine("A100-80GB", DLS_NUMERIC_FP16, rows[i].gpus, rows[i].gpus / 8, 0.92 * 200e9);
        snprintf(name, sizeof name, "llm-l%.0f-h%.0f-a%d-tp%d-pp%d-re1", l, h, rows[i].heads,
                 rows[i].tensor, rows[i].pipeline);
        const double off = step_ms(name, &on, rows[i].batch) / published_ms - 1;
        printf("%5d GPUs, tp %d, pp %2d: published %8.0f ms, off by %+.1f %%\n", rows[i].gpus,
               rows[i].tensor, rows[i].pipeline, published_ms, 100 * off);
        sum += fabs(off);
        worst = fmax(worst, fabs(off));
    }
    printf("Megatron-LM: %.1f %% in the mean, %.1f %% at worst\n", 100 * sum / (double)n,
           100 * worst);
    assert_true(sum / (double)n < 0.05 && worst < 0.09);
}

/* Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022 (arXiv 2205.05198), tables 3 and 5:
 * seconds of a step with all activations recomputed, and with sequence parallelism and selective recomputation; sequences of
 * 2,048, vocabulary 51,200, one copy of the model; two with three chunks of layers on a GPU. The last, eight copies: its abstract's
 * parts of the peak, 42.1 and 54.2 %. */
TEST(interleaved)
{
    static const struct {
        const char *name;
        int gpus;
        double published_s[2];
    } rows[] = {{"llm-l48-h6144-a64-tp8-mb4-b4", 8, {1.42, 1.10}},
                {"llm-l96-h12288-a96-tp8-pp8-vp3-b64", 64, {18.13, 13.75}},
                {"llm-l105-h20480-a128-tp8-pp35-vp3-b280", 280, {49.05, 37.83}},
                {"llm-l128-h25600-a160-tp8-pp64-b512", 512, {94.42, 71.49}},
                {"llm-l105-h20480-a128-tp8-pp35-vp3-b2240", 2240, {21.202 / 0.421, 21.202 / 0.542}}};
    static const char *const how[] = {"-re1", "-sp1-re2"};
    for (int k = 0; k < 2; k++) {
        double sum = 0, worst = 0;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char name[120];
            const dls_llm_machine on =
                machine("A100-80GB", DLS_NUMERIC_FP16, rows[i].gpus, rows[i].gpus / 8, 0.92 * 200e9);
            snprintf(name, sizeof name, "%s%s", rows[i].name, how[k]);
            const double off = 1e-3 * step_ms(name, &on, 0) / rows[i].published_s[k] - 1;
            printf("%-45s published %6.2f s, off by %+.1f %%\n", name, rows[i].published_s[k], 100 * off);
            sum += fabs(off);
            worst = fmax(worst, fabs(off));
        }
        printf("%s: %.1f %% in the mean, %.1f %% at worst\n", how[k], 100 * sum / 5, 100 * worst);
        assert_true(sum / 5 < (k ? 0.07 : 0.03) && worst < (k ? 0.09 : 0.05));
    }
}

/* The same, table 4: milliseconds of a layer of the first, forward and backward. */
TEST(layer)
{
    static const struct {
        const char *how;
        double published_ms;
    } rows[] = {{"-re0", 19.6}, {"-sp1-re0", 19.0}, {"-re1", 27.2}, {"-re2", 20.9}, {"-sp1-re2", 20.3}};
    double sum = 0, worst = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[120];
        dls_llm l;
        dls_llm_step step;
        dls_error err;
        const dls_llm_machine on = machine("A100-80GB", DLS_NUMERIC_FP16, 8, 1, 0);
        snprintf(name, sizeof name, "llm-l48-h6144-a64-tp8-mb4-b4%s", rows[i].how);
        assert_int_equal(dls_llm_parse(name, &l, &err), DLS_OK);
        assert_int_equal(dls_llm_time(&l, &on, 0, &step, &err), DLS_OK);
        const double off = 1e3 * (step.compute_s + step.tensor_s) / 48 / rows[i].published_ms - 1;
        printf("a layer%-9s published %.1f ms, off by %+.1f %%; %.1f GB of activations\n", rows[i].how,
               rows[i].published_ms, 100 * off, 1e-9 * step.activation_bytes);
        sum += fabs(off);
        worst = fmax(worst, fabs(off));
    }
    printf("layers: %.1f %% in the mean, %.1f %% at worst\n", 100 * sum / 5, 100 * worst);
    assert_true(sum / 5 < 0.06 && worst < 0.10);
}

typedef struct judged {
    const char *kind;
    double sum, worst;
    int n;
} judged;

static void count(judged *j, double off)
{
    j->sum += fabs(off);
    j->worst = fmax(j->worst, fabs(off));
    j->n++;
}

static void tell(const judged *j, double bound)
{
    printf("%-28s %2d rows, %.1f %% in the mean, %.1f %% at worst\n", j->kind, j->n,
           100 * j->sum / j->n, 100 * j->worst);
    assert_true(j->n > 0 && j->sum / j->n < bound);
}

static judged gpts[3]; /* fitted, Megatron-LM, OneFlow */

static dls_status dlperf_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    int hidden, layers, sequence, dp, tp, pp;
    char text[6][64];
    for (int i = 0; i < 6; i++) {
        snprintf(text[i], sizeof text[i], "%.*s", (int)csv->cell[col[i]].len, csv->cell[col[i]].s);
    }
    if (sscanf(text[0], "gpt_h%d_l%d_s%d", &hidden, &layers, &sequence) != 3 ||
        sscanf(text[1], "dp%d tp%d pp%d", &dp, &tp, &pp) != 3) {
        return DLS_OK;
    }
    const int nodes = atoi(text[2]), gpus = atoi(text[3]);
    const double batch = atof(text[4]) * gpus, ms = atof(text[5]);
    dls_llm_machine on = machine("V100", DLS_NUMERIC_FP16, gpus, nodes, 0.92 * 12.5e9);
    on.mem_bytes = 16.0 * (1 << 30);
    char name[120];
    /* How many micro-batches a pipeline had is not said: taken for 8. */
    snprintf(name, sizeof name, "llm-l%d-h%d-a%d-s%d-tp%d-pp%d-mb%.0f", layers, hidden,
             hidden == 768 ? 12 : hidden / 96, sequence, tp, pp,
             fmax(1, batch / dp / (pp > 1 ? 8 : 1)));
    const double off = step_ms(name, &on, batch) / ms - 1;
    const bool megatron = strncmp(dls_csv_text(csv, col[6]), "Megatron", 8) == 0;
    printf("V100 %-50s %2d GPUs %-12s %8.0f ms, off by %+.1f %%\n", name, gpus,
           megatron ? "Megatron-LM" : "OneFlow", ms, 100 * off);
    count(&gpts[gpus == 1 && megatron ? 0 : megatron ? 1 : 2], off);
    return DLS_OK;
}

static judged four, one, beside;

static const struct {
    const char *model, *sizes;
    int sequence;
} neusights[] = {{"gpt2_large", "llm-l36-h1280-a20-s1024-v50257", 1024},
                 {"gpt3_27", "llm-l32-h2560-a32-s2048-v50257", 2048},
                 {"gpt3_xl", "llm-l24-h3072-a24-s2048-v50257", 2048}};

/* The operator model's forward and backward pass of what PyTorch launches. */
static double operator_ms(size_t i, const dls_llm_machine *on, double batch)
{
    dls_model_names names = dls_model_lookup(neusights[i].model);
    dls_workload work;
    dls_error err;
    dls_model_resize(&names, 0, neusights[i].sequence);
    names.runner = DLS_RUN_EAGER;
    assert_int_equal(dls_model_workload(&names, DLS_NUMERIC_FP32, &work, &err), DLS_OK);
    const dls_step step = dls_step_time(&work, &on->rates, batch);
    dls_workload_fini(&work);
    return 1e3 * (step.forward_s + step.backward_s);
}

static dls_status neusight_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    char text[7][64];
    size_t i = 0;
    for (int c = 0; c < 7; c++) {
        snprintf(text[c], sizeof text[c], "%.*s", (int)csv->cell[col[c]].len, csv->cell[col[c]].s);
    }
    const size_t n = sizeof neusights / sizeof neusights[0];
    while (i < n && strcmp(text[1], neusights[i].model) != 0) {
        i++;
    }
    if (i == n || strcmp(text[2], "train") != 0) {
        return DLS_OK;
    }
    const char *plan = text[5];
    const int gpus = atoi(text[4]);
    const bool tp = strncmp(plan, "tp", 2) == 0, pp = strncmp(plan, "pp", 2) == 0;
    const double batch = atof(text[3]), ms = atof(text[6]);
    char name[120];
    snprintf(name, sizeof name, "%s-tp%d-pp%d-mb%.0f-re0", neusights[i].sizes, tp ? 4 : 1,
             pp ? 4 : 1, tp || pp ? batch : batch / gpus);
    char *board = strstr(text[0], "-SXM");
    if (board) {
        *board = '\0';
    }
    const dls_llm_machine on = machine(text[0], DLS_NUMERIC_FP32, gpus, 1, 0);
    dls_llm llm;
    dls_llm_step step;
    assert_int_equal(dls_llm_parse(name, &llm, err), DLS_OK);
    assert_int_equal(dls_llm_time(&llm, &on, batch, &step, err), DLS_OK);
    if (gpus == 1) { /* no update was measured */
        const double own = 1e3 * (step.step_s - step.update_s), theirs = operator_ms(i, &on, batch);
        printf("%s %s %.0f: %.0f ms, off by %+.1f %%, of the operator model %+.1f %%\n", text[0],
               name, batch, ms, 100 * (own / ms - 1), 100 * (own / theirs - 1));
        count(&one, own / ms - 1);
        count(&beside, own / theirs - 1);
    } else {
        const double off = 1e3 * step.step_s / ms - 1;
        printf("%s %-50s %s %8.0f ms, off by %+.1f %%\n", text[0], name, plan, ms, 100 * off);
        count(&four, off);
    }
    return DLS_OK;
}

TEST(measured)
{
    static const char *const dlperf[] = {"model",         "parallelism", "nodes",    "gpus",
                                         "batch_per_gpu", "step_ms",     "framework"};
    static const char *const neusight[] = {"gpu",    "model",       "mode",   "batch",
                                           "n_gpus", "parallelism", "step_ms"};
    const char *shared = getenv("DLSIM_SHARED");
    char path[4096];
    dls_error err;
    snprintf(path, sizeof path, "%s/data/measured/steps/dlperf_v100.csv", shared ? shared : "");
    if (!shared || access(path, R_OK) != 0) {
        printf("skipped: no measured steps: %s\n", path);
        skip();
    }
    gpts[0].kind = "V100, one, fitted";
    gpts[1].kind = "V100, Megatron-LM";
    gpts[2].kind = "V100, OneFlow";
    four.kind = "four A100 or H100, fp32";
    one.kind = "one V100, A100 or H100, fp32";
    beside.kind = "the same, operator model";
    assert_int_equal(dls_csv_rows(path, dlperf, 7, 7, dlperf_row, NULL, &err), DLS_OK);
    snprintf(path, sizeof path, "%s/data/measured/steps/neusight.csv", shared);
    assert_int_equal(dls_csv_rows(path, neusight, 7, 7, neusight_row, NULL, &err), DLS_OK);
    tell(&gpts[0], 0.12);
    tell(&gpts[1], 0.10);
    tell(&gpts[2], 0.17);
    tell(&four, 0.06);
    tell(&one, 0.08);
    tell(&beside, 0.01);
    assert_true(beside.worst < 0.01);
}

/* Properties: what a way of dividing must do to bytes, memory and time. */
TEST(ways)
{
    dls_llm l;
    dls_llm_step a, b;
    dls_error err;
    const dls_llm_machine on = machine("A100-80GB", DLS_NUMERIC_FP16, 64, 8, 25e9);
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp8-b512-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
    /* ZeRO: less memory, the same time but the update's. */
    double last = a.mem_bytes;
    for (int z = 1; z <= 3; z++) {
        l.zero = z;
        assert_int_equal(dls_llm_time(&l, &on, 0, &b, &err), DLS_OK);
        assert_true(b.mem_bytes < last && b.update_s < a.update_s && b.compute_s == a.compute_s);
        last = b.mem_bytes;
    }
    assert_true(b.data_bytes > a.data_bytes);
    /* A tensor group that leaves the node is slow; a pipeline has a bubble that more micro-batches
     * hide. */
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp16-b512-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 0, &b, &err), DLS_OK);
    assert_true(b.tensor_s > 4 * a.tensor_s);
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp8-pp8-b64-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
    assert_true(fabs(a.bubble_s / (a.compute_s + a.tensor_s) - 7.0 / 64) < 1e-9);
    /* Interleaved stages: a third of the bubble, three times the messages, more activations begun. */
    assert_int_equal(dls_llm_parse("llm-l96-h4096-a32-tp8-pp8-vp3-b64-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 0, &b, &err), DLS_OK);
    assert_true(fabs(b.bubble_s / (b.compute_s + b.tensor_s) - 7.0 / 64 / 3) < 1e-9);
    l.chunks = 1;
    assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
    assert_true(b.pipeline_bytes == 3 * a.pipeline_bytes && b.pipeline_s > 2 * a.pipeline_s);
    assert_true(b.mem_bytes > a.mem_bytes && b.compute_s == a.compute_s && b.step_s < a.step_s);
    /* Sequence parallelism and selective recomputation: no more messages, less time than all again; the same paper's abstract and
     * section 5: a fifth of the activations, of which scores are 70 % of GPT-3 and 65 % of 530 billion parameters. */
    static const struct {
        const char *name;
        double scores;
    } kept[] = {{"llm-l96-h12288-a96-b8", 0.70}, {"llm-l105-h20480-a128-b8", 0.65}};
    for (int i = 0; i < 2; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s-re0", kept[i].name);
        assert_int_equal(dls_llm_parse(name, &l, &err), DLS_OK);
        assert_int_equal(dls_llm_time(&l, &on, 64, &a, &err), DLS_OK);
        l.recompute = DLS_LLM_SCORES;
        assert_int_equal(dls_llm_time(&l, &on, 64, &b, &err), DLS_OK);
        assert_true(fabs(1 - b.activation_bytes / a.activation_bytes - kept[i].scores) < 0.01);
        l.tensor = 8;
        l.recompute = DLS_LLM_KEEP;
        assert_int_equal(dls_llm_time(&l, &on, 64, &a, &err), DLS_OK);
        l.recompute = DLS_LLM_SCORES;
        l.sharded = 1;
        assert_int_equal(dls_llm_time(&l, &on, 64, &b, &err), DLS_OK);
        assert_true(a.activation_bytes > 4.5 * b.activation_bytes && a.activation_bytes < 5.5 * b.activation_bytes);
        assert_true(b.tensor_s == a.tensor_s && b.compute_s < 1.05 * a.compute_s);
        l.recompute = DLS_LLM_ALL;
        assert_int_equal(dls_llm_time(&l, &on, 64, &a, &err), DLS_OK);
        assert_true(a.compute_s > 1.2 * b.compute_s && fabs(a.tensor_s / b.tensor_s - 1.5) < 1e-9);
    }
    /* Nodes of four GPUs: a tensor group of 16 is slow between them, and as within a node in a domain of 64. In two domains
     * the gradients of 16 rings cross by eight links each. */
    dls_llm_machine small = machine("A100-80GB", DLS_NUMERIC_FP16, 64, 16, 25e9);
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp16-b512-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &small, 0, &a, &err), DLS_OK);
    small.domains = 1;
    assert_int_equal(dls_llm_time(&l, &small, 0, &b, &err), DLS_OK);
    assert_true(a.tensor_s > 4 * b.tensor_s && a.link_bytes > 0 && b.link_bytes == 0);
    small.domains = 2;
    assert_int_equal(dls_llm_time(&l, &small, 0, &a, &err), DLS_OK);
    assert_true(a.tensor_s == b.tensor_s && a.link_bytes > 0);
    assert_true(fabs(a.link_bytes - 2 * 0.5 * 2 * a.params * 16 / 8) < 1e-3 * a.link_bytes);
    /* Experts: the work of two of them, the memory of all. */
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp8-e8-ep8-b512-re1", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 0, &b, &err), DLS_OK);
    assert_true(b.expert_bytes > 0 && b.expert_s > 0);
    l.expert = 1;
    assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
    assert_true(a.expert_s == 0 && a.params > 2 * b.params && a.mem_bytes > b.mem_bytes);
    /* Fused attention keeps no scores: all that selective recomputation spares, and less time; its first version takes longer
     * for long sequences. Known in 16 bits from Ampere to Hopper. */
    dls_llm_step fused[3];
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-s8192-tp8-b512-re0", &l, &err), DLS_OK);
    for (int version = 0; version < 3; version++) {
        l.fused = version;
        assert_int_equal(dls_llm_time(&l, &on, 0, &fused[version], &err), DLS_OK);
    }
    assert_true(fused[2].compute_s < 0.95 * fused[1].compute_s && fused[1].compute_s < 0.8 * fused[0].compute_s);
    assert_true(fused[1].mem_bytes == fused[2].mem_bytes && fused[2].activation_bytes < 0.25 * fused[0].activation_bytes);
    l.recompute = DLS_LLM_SCORES;
    assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
    assert_true(a.compute_s == fused[2].compute_s && a.activation_bytes == fused[2].activation_bytes);
    static const char *const without[] = {"V100", "B200", "A100-80GB"};
    for (int i = 0; i < 3; i++) {
        const dls_llm_machine other = machine(without[i], i < 2 ? DLS_NUMERIC_FP16 : DLS_NUMERIC_TF32, 64, 8, 25e9);
        assert_int_equal(dls_llm_time(&l, &other, 0, &a, &err), DLS_EINPUT);
        assert_non_null(strstr(err.msg, "fused attention"));
    }
    /* ZeRO 3 gathers its part of the weights for each micro-batch, stages before it exchange once a step. */
    for (int zero = 2; zero <= 3; zero++) {
        assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp8-b512-re1", &l, &err), DLS_OK);
        l.zero = zero;
        assert_int_equal(dls_llm_time(&l, &on, 0, &a, &err), DLS_OK);
        l.micro = 2;
        assert_int_equal(dls_llm_time(&l, &on, 0, &b, &err), DLS_OK);
        assert_true(fabs(a.data_bytes / b.data_bytes - zero + 1) < 1e-9);
    }
    /* What cannot be. */
    assert_int_equal(dls_llm_parse("llm-l32-h4096-a32-tp3", &l, &err), DLS_OK);
    assert_int_equal(dls_llm_time(&l, &on, 8, &b, &err), DLS_EINPUT);
    static const char *const wrong[] = {"llm-",
                                        "llm-l32-h4096",
                                        "llm-l32-h4096-a32-x5",
                                        "llm-l32-h4096-a",
                                        "llm-l0-h4096-a32",
                                        "llm-l32-h4096-a32-z4",
                                        "llm-l1.5-h64-a2",
                                        "llm-l32-h4096-a32-e8-ep3",
                                        "llm-l32-h4096-a32-re3",
                                        "llm-l32-h4096-a32-fa3",
                                        "llm-l32-h4096-a32-vp2",
                                        "llm-l32-h4096-a32-pp4-vp3"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(dls_llm_parse(wrong[i], &l, &err), DLS_EINPUT);
    }
}

static int load(void **state)
{
    char buf[4096];
    dls_error err;
    snprintf(buf, sizeof buf, "%s/configs/hardware",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    return dls_opmodel_of(buf, &kernels, &model, &err) != DLS_OK ||
           dls_hardware_load(buf, &hw, &err) != DLS_OK;
}

static int unload(void **state)
{
    dls_hardware_fini(&hw);
    dls_sized_table_fini(&kernels);
    return 0;
}

GROUP(load, unload)
