/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of measured steps: slips of units and orders against counts of all pairs, and large files,
 * whose cost is not that of all pairs.
 */

#include "predictor/measured/judge.h"
#include "support/must.h"
#include "support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dls_hardware hardware(void)
{
    char path[4096];
    dls_hardware hw;
    snprintf(path, sizeof path, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    assert_int_equal(dls_hardware_load(path, &hw, NULL), DLS_OK);
    return hw;
}

static void read_file(const char *path, dls_measured_steps *steps)
{
    dls_hardware hw = hardware();
    MUST(dls_measured_steps_read(steps, path, &hw, NULL, &e));
    dls_hardware_fini(&hw);
}

/* ---- slips of units -------------------------------------------------------------------------- */

enum { FEW = 240 };

typedef struct written {
    int model, image, batch;
    double ms;
} written;

static bool is_slip(const written *row, int i)
{
    int others = 0, off = 0;
    for (int k = 0; k < FEW; k++) {
        if (k != i && row[k].model == row[i].model && row[k].image == row[i].image) {
            others++;
            off += fabs(log(row[k].ms / row[k].batch / (row[i].ms / row[i].batch))) > log(200);
        }
    }
    return others > 1 && 2 * off > others;
}

/* Times of all sizes, and networks with one row, two and many. */
TEST(slips)
{
    written row[FEW];
    int slips = 0;
    dls_measured_steps steps = {0};
    FILE *f = fopen(in_folder("slips.csv"), "w");
    assert_non_null(f);
    fprintf(f, "model,gpu,image,batch,step_ms\n");
    srand(7);
    for (int i = 0; i < FEW; i++) {
        const int model = i < 3 ? 100 + i / 2 : rand() % 5;
        row[i] = (written){model, 32 * (1 + rand() % 2), 1 + rand() % 64, 0};
        row[i].ms = round(exp((rand() % 2000) * 0.01)) / 1000 + 0.01;
        fprintf(f, "net%d,V100,%d,%d,%.3f\n", model, row[i].image, row[i].batch, row[i].ms);
    }
    assert_int_equal(fclose(f), 0);
    read_file(in_folder("slips.csv"), &steps);
    for (int i = 0; i < FEW; i++) {
        char where[64];
        snprintf(where, sizeof where, "slips.csv:%d:", i + 2);
        if (is_slip(row, i)) {
            assert_in_range(slips, 0, (int)steps.bad.n - 1);
            assert_non_null(strstr(steps.bad.at[slips++].text, where));
        }
    }
    assert_int_equal(slips, steps.bad.n);
    assert_int_equal(steps.n, FEW - slips);
    assert_in_range(slips, FEW / 10, FEW - FEW / 10);
    dls_measured_steps_fini(&steps);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* All pairs of one peer: networks on one GPU, and GPUs for one network of the nearest batches. */
static void count_pairs(const dls_judged *row, int n, dls_errors *out)
{
    double score = 0;
    int right = 0, apart = 0;
    *out = (dls_errors){0};
    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            const dls_judged *a = &row[i], *b = &row[k];
            const double sign = (a->measured - b->measured) * (a->predicted - b->predicted);
            if (a->gpu == b->gpu && a->network != b->network && a->measured != b->measured) {
                out->network_pairs++;
                score += (sign > 0) - (sign < 0);
            }
            if (a->gpu != b->gpu && a->network == b->network && a->batch == b->batch) {
                out->gpu_pairs++;
                apart += a->measured != b->measured; /* two that were measured alike have no order */
                right += sign > 0;
            }
        }
    }
    out->tau = score / (double)out->network_pairs;
    out->in_order = right / (double)apart;
}

TEST(pairs)
{
    dls_judged row[FEW];
    dls_errors fast, all;
    srand(11);
    for (int i = 0; i < FEW; i++) {
        row[i] = (dls_judged){.measured = 1 + rand() % 40,
                              .predicted = 1 + rand() % 40,
                              .batch = 1 << rand() % 3,
                              .network = rand() % 4,
                              .gpu = rand() % 3};
    }
    count_pairs(row, FEW, &all);
    MUST(dls_errors_of(row, FEW, &fast, &e));
    assert_int_equal(fast.network_pairs, all.network_pairs);
    assert_int_equal(fast.gpu_pairs, all.gpu_pairs);
    assert_true(fabs(fast.tau - all.tau) < 1e-12 && fabs(fast.in_order - all.in_order) < 1e-12);
    assert_true(fabs(all.tau) > 1e-3);
}

/* Without equal batches the two that are nearest; the first ones, if several are. */
TEST(nearest_batches)
{
    dls_errors e_of;
    const dls_judged row[] = {
        {.measured = 1, .predicted = 1, .batch = 8},           {.measured = 1, .predicted = 1, .batch = 64},
        {.measured = 2, .predicted = 8, .batch = 4, .gpu = 1}, {.measured = 2, .predicted = 3, .batch = 48, .gpu = 1},
        {.measured = 2, .predicted = 9, .batch = 512, .gpu = 1}};
    MUST(dls_errors_of(row, 5, &e_of, &e));
    assert_int_equal(e_of.gpu_pairs, 1);
    assert_true(fabs(e_of.ratio_median - 0.5) < 1e-12); /* (1 / 2) / (1 / 3) - 1 */
}

/* Which GPU comes first in a file says nothing: every figure is the same to the last bit. */
TEST(order_of_gpus)
{
    dls_judged row[FEW], turned[FEW];
    dls_errors one, other;
    srand(12);
    for (int i = 0; i < FEW; i++) {
        row[i] = (dls_judged){.measured = 1 + rand() % 40,
                              .predicted = 1 + rand() % 40,
                              .batch = 1 + i / 12,
                              .network = i % 4,
                              .gpu = i / 4 % 3};
        row[i].batch *= row[i].gpu && row[i].network ? 1.5 : 1; /* some networks have equal batches */
        turned[i] = row[i];
        turned[i].gpu = 2 - row[i].gpu;
    }
    MUST(dls_errors_of(row, FEW, &one, &e));
    MUST(dls_errors_of(turned, FEW, &other, &e));
    assert_true(one.gpu_pairs == other.gpu_pairs && one.gpu_pairs > 3 * FEW / 12);
    assert_true(one.in_order == other.in_order && one.ratio_median == other.ratio_median && one.tau == other.tau);
}

/* ---- large files ----------------------------------------------------------------------------- */

enum { MANY = FEWER(20000), MANY_SECONDS = 15 };

/* Processor time. Compared each with each, 20,000 rows took 12 s to read, and as long again for each source; now
 * all of it takes 3. Networks that nobody knows: what an answer costs is not asked here. */
TEST(many_rows)
{
    static const char *const sources[] = {"again", "habitat"};
    dls_verdict_options options = {.sources = sources, .n_sources = 2};
    dls_measured_steps steps = {0};
    dls_verdicts v;
    char path[4096];
    FILE *f = fopen(in_folder("many.csv"), "w");
    assert_non_null(f);
    fprintf(f, "model,gpu,batch,step_ms\n");
    for (int i = 0; i < MANY; i++) {
        const int batch = 1 + i / 2 % 500;
        fprintf(f, "unheard-of-%d,%s,%d,%d\n", i % 2, i % 3 ? "V100" : "A100", batch,
                batch * (100 + i % 7));
    }
    assert_int_equal(fclose(f), 0);
    const clock_t start = clock();
    read_file(in_folder("many.csv"), &steps);
    assert_int_equal(steps.n, MANY);
    snprintf(path, sizeof path, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    options.hardware_dir = path;
    MUST(dls_verdicts_ask(&steps, &options, &v, &e));
    assert_true(v.predicted[0] > 0.1 && v.predicted[0] < 0.107);
    assert_string_equal(dls_strdict_get(&v.reasons, v.why[1]), "unknown model \"unheard-of-0\"");
    dls_verdicts_fini(&v);
    dls_measured_steps_fini(&steps);
    assert_in_range((clock() - start) / CLOCKS_PER_SEC, 0, MANY_SECONDS - 1);
}

GROUP(make_folder, drop_folder)
