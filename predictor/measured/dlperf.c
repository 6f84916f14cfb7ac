/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DLPerf's names of GPTs and of the ways in which they are divided.
 */
#include "predictor/measured/dlperf.h"

#include <stdio.h>
#include <string.h>

/* GPTs are named by their sizes and not by their heads, of 96 numbers (of 64 at a width of 768) in
 * DLPerf's scripts. A micro-batch is all that a GPU has, or an eighth in a pipeline, of which nothing
 * is said; activations are recomputed, which 16 GB leave no choice. Two steps of Megatron-LM on one GPU
 * fitted the constants of large models. */
static bool translate_gpt(dls_measured_step *row, int dp, int tp, int pp)
{
    int hidden, layers, sequence, end = 0;
    if (sscanf(row->model, "gpt_h%d_l%d_s%d%n", &hidden, &layers, &sequence, &end) < 3 ||
        row->model[end]) {
        return false;
    }
    const int64_t each = (int64_t)row->batch * row->gpus / dp / (pp > 1 ? 8 : 1);
    snprintf(row->model, sizeof row->model, "llm-l%d-h%d-a%d-s%d-tp%d-pp%d-mb%d-re1", layers,
             hidden, hidden == 768 ? 12 : hidden / 96, sequence, tp, pp, each > 1 ? (int)each : 1);
    row->fitted |= row->gpus == 1 && strncmp(row->host, "Megatron", 8) == 0;
    return true;
}

void dls_dlperf_translate(dls_measured_step *row)
{
    int dp = 0, tp = 1, pp = 1, end = 0;
    const int n = sscanf(row->parallelism, "dp%d%n tp%d pp%d%n", &dp, &end, &tp, &pp, &end);
    if (n < 1 || row->parallelism[end] || dp < 1 || tp < 1 || pp < 1 ||
        (int64_t)dp * tp * pp != row->gpus) {
        return;
    }
    if (translate_gpt(row, dp, tp, pp) || (tp == 1 && pp == 1)) {
        snprintf(row->parallelism, sizeof row->parallelism, "dp");
    }
}
