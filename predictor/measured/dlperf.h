/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How Oneflow-Inc/DLPerf names what it measured, in this program's words: GPTs by their sizes, and how
 * GPUs divide a network.
 */
#ifndef DLS_MEASURED_DLPERF_H
#define DLS_MEASURED_DLPERF_H

#include "predictor/measured/steps.h"

/* A row whose model, parallelism, host, GPUs and batch are read; others than DLPerf's stay as they are.
 * "dp8 tp1 pp1" and "dp8" become "dp". "gpt_h1536_l16_s2048" on "dp2 tp4 pp1" becomes a large model
 * (llm.h) that is divided so, and is fitted where it fitted the constants of large models. */
void dls_dlperf_translate(dls_measured_step *row);

#endif
