/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators: the options of all its verbs, and the verbs that have a file of their own.
 */
#ifndef DLS_CLI_OPERATORS_H
#define DLS_CLI_OPERATORS_H

#include "workload/operator/hardware.h"
#include "workload/operator/op_times.h"
#include "workload/operator/pointset.h"
#include "workload/operator/series.h"
#include "workload/operator/sized.h"
#include "workload/operator/topology.h"

/* What all verbs may be told. */
typedef struct dls_operators {
    const char *folder, *constants, *output;
    const char *model, *graph, *gpu, *fabric, *host, *link, *network;
    const char *operators, *device;
    const char *jobs, *graphs, *like; /* calibrate; a fabric */
    double seconds, most_gflop;
    dls_op_times measured; /* of --operators */
    int64_t nodes;
    dls_allreduce algorithm;
    dls_numeric numeric;
    int64_t batch, gpus, servers;
    int64_t interval_us, samples, seed, packet;
    bool points, async, left_out, by_size, buckets, apart;
    dls_sized_table kernels; /* of --sized */
    dls_hardware hw;         /* of --hardware */
    dls_pointset set;
    char **file;             /* what is no option: files of measured kernels */
    size_t n_files;
} dls_operators;

/* The GPU of the job, which must have --model or --graph. */
dls_status dls_operators_gpu(const dls_operators *o, const dls_hw_gpu **gpu,
                             dls_error *err) DLS_MUST_CHECK;

/* fit-kernels: the sized model fitted to measured kernels, and judged by those that fitted nothing;
 * kernels: those constants that are there judged. */
dls_status dls_operators_kernels(const dls_operators *o, bool fit, dls_error *err) DLS_MUST_CHECK;

/* fit-grouped: the constants of convolutions of groups fitted to measured steps, to the output. */
dls_status dls_operators_grouped(const dls_operators *o, dls_error *err) DLS_MUST_CHECK;

/* fit-host: what the host takes for a launch and a parameter fitted to measured steps, to the
 * output: the model that knows sizes. */
dls_status dls_operators_host(const dls_operators *o, dls_error *err) DLS_MUST_CHECK;

/* measure: times of a training graph's operations, added to the output, in which those of others
 * stay. */
dls_status dls_operators_measure(const dls_operators *o, dls_error *err) DLS_MUST_CHECK;

#endif
