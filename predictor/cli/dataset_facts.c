/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints burst and idle statistics of simulated jobs beside the published ones (dataset/facts.h) as
 * a Markdown table, for `dlsim dataset facts`.
 */
#include "predictor/cli/dataset.h"

#include <stdio.h>

static void row_patterns(const dls_facts *f, int resource, const char *name, const char *published)
{
    const double *p = f->pattern[resource];
    printf("| %s: bursts and pauses / pause only / burst only, %% | %s | %.1f / %.1f / %.1f |\n",
           name, published, 100 * p[DLS_PATTERN_BIB], 100 * p[DLS_PATTERN_I],
           100 * p[DLS_PATTERN_B]);
}

static void row_workload(const dls_fact_workload *w, const char *published)
{
    const dls_burst *b = &w->burst;
    if (w->resource == DLS_RES_NET_RX || w->resource == DLS_RES_NET_TX) {
        printf("| %s: received, burst; pause | %s | %.0f MB/s, %.2f s; %.1f MB/s, %.2f s |\n",
               w->name, published, 1e-6 * b->burst_amount, b->burst_s, 1e-6 * b->idle_amount,
               b->idle_s);
    } else {
        printf("| %s: %s, burst; pause | %s | %.1f %%, %.2f s; %.1f %%, %.2f s |\n", w->name,
               w->resource == DLS_RES_GPU ? "GPU" : "GPU memory", published, 100 * b->burst_amount,
               b->burst_s, 100 * b->idle_amount, b->idle_s);
    }
}

void dls_dataset_facts_print(const dls_facts *f)
{
    static const char *const kinds[DLS_FACT_KINDS] = {"burst amount", "burst duration",
                                                      "pause duration", "pause amount"};
    static const char *const by_workload[DLS_FACT_KINDS] = {"most", "-", "-", "least"};
    static const char *const by_setting[DLS_FACT_KINDS] = {"-", "changes", "changes", "-"};
    puts("| fact | published | here |\n|---|---|---|");
    row_patterns(f, DLS_RES_GPU, "GPU", "92.0 / 7.8 / 0.2");
    row_patterns(f, DLS_RES_GPU_MEM, "GPU memory", "90.6 / 9.3 / 0.1");
    row_patterns(f, DLS_RES_NET_RX, "received", "100 / 0 / 0");
    row_patterns(f, DLS_RES_NET_TX, "sent", "100 / 0 / 0");
    printf("| burst shorter than pause, sent, %% | 88 | %.0f |\n",
           100 * f->shorter[DLS_RES_NET_TX]);
    printf("| burst shorter than pause, received, %% | - | %.0f |\n",
           100 * f->shorter[DLS_RES_NET_RX]);
    for (int k = 0; k < DLS_FACT_KINDS; k++) {
        printf("| workloads of a setting: spread of %s over its mean | %s | %.2f |\n", kinds[k],
               by_workload[k], f->by_workload[k]);
    }
    for (int k = 0; k < DLS_FACT_KINDS; k++) {
        printf("| settings of a workload: spread of %s over its mean | %s | %.2f |\n", kinds[k],
               by_setting[k], f->by_setting[k]);
    }
    row_workload(&f->workload[0], "374.3 MB/s, 0.33 s; 4.5 MB/s, 0.70 s");
    row_workload(&f->workload[1], "98.8 %, 0.19 s; 84.6 %, 0.21 s");
    row_workload(&f->workload[2], "54.4 %, 0.64 s; 16.8 %, 0.28 s");
}
