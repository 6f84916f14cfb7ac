/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a profiler wrote down kernel by kernel, as a recording of a process's GPUs: their busy time, and apart
 * that of computing, exchanging and copying, exact at every begin and end. A sampled utilisation
 * shows the same, coarser.
 */
#ifndef DLS_MEASURE_PROFILER_H
#define DLS_MEASURE_PROFILER_H

#include "predictor/measure/recording.h"

/* Reads one of two formats, plain or gzip:
 *  - a trace of PyTorch's profiler (Chrome's trace events, JSON): complete events of the categories
 *    kernel, gpu_memcpy, gpu_memset; kernels whose name begins with "nccl" exchange; annotations
 *    ProfilerStep#N are the steps;
 *  - a table with columns start_us, duration_us, kind (compute, exchange, copy..., memset, step)
 *    and, if there is one, bytes.
 * Columns: gpu0.busy_seconds (any of them), gpu0.compute_seconds,
 * gpu0.exchange_seconds, gpu0.copy_seconds as far as there are such events, and gpu0.exchange_bytes
 * where exchanges say how many, spread evenly over each; of a trace with several GPUs (up to 16) likewise
 * gpu1, ..., in the order of their numbers. notes tells the profiler's own steps.
 * interval_s: what the recording says it was taken at. O(n log n) for n events. Errors: EINPUT with
 * file and place, ENOMEM. *out is to be released in any case. */
dls_status dls_recording_of_profile(const char *path, double interval_s, dls_recording *out,
                                    dls_error *err) DLS_MUST_CHECK;

#endif
