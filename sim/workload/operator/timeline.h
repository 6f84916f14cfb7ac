/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one worker does to its GPU and its link during a training step, over time, so that the four
 * resources of the inspector can be sampled as a profiler would sample a real job.
 *
 *      parameter servers   |rx weights .....|        |..... tx gradients|
 *      ring                                 |.... tx and rx gradients ..|
 *      GPU                 |host| forward   | backward          | wait  |update|
 *
 *      buckets              |                      |....||..........|  | tx and rx of a bucket
 *
 * The GPU runs the kernels of the model, longer by the host's slowdown, with a pause for the host
 * before them and one for the network behind them; pauses are what the model's step has more than
 * its kernels. Gradients travel when their kernel is done, one after the other; a network that
 * would be late is as fast as the model's step says, so the bytes are always those of the exchange.
 * Where messages are scheduled (schedule.h) the step is as long as they make it.
 */
#ifndef DLS_OPERATOR_TIMELINE_H
#define DLS_OPERATOR_TIMELINE_H

#include "workload/operator/model.h"

/* The four resources in the order of the inspector's labels. Memory and GPU: part of the time in
 * use, 0..1; network: bytes per second. */
enum { DLS_TRACK_GPU_MEM, DLS_TRACK_GPU, DLS_TRACK_RX, DLS_TRACK_TX, DLS_TRACKS };

/* A rate that is constant between the ends of its pieces; starts at 0 s. */
typedef struct dls_track {
    double *end_s, *rate, *sum; /* [n], owned; sum: integral up to the end of the piece */
    size_t n, cap[3];
} dls_track;

typedef struct dls_timeline {
    dls_track track[DLS_TRACKS]; /* each ends at step_s */
    double step_s;
} dls_timeline;

typedef struct dls_work_setting {
    const dls_hw_gpu *gpu;
    dls_numeric numeric;
    double batch;             /* per worker */
    int n_workers;            /* >= 1 */
    int n_servers;            /* 0: all-reduce */
    bool async;               /* with servers: workers do not wait for each other */
    bool buckets, apart;      /* how gradients travel, message by message: schedule.h */
    const dls_fabric *fabric; /* NULL only for one worker without servers */
    const dls_host *host;     /* NULL: none */
} dls_work_setting;

/* What its GPU makes of the precision; where others compute beside it memory is shared
 * (fabric.beside), and *own, which has to live as long, holds what a processor's operations cost
 * so. */
dls_rates dls_setting_rates(const dls_opmodel *model, const dls_work_setting *s, dls_op_rates *own);
/* How much later than alone the slowest of the workers is (fabric.straggle), >= 1. */
double dls_setting_late(const dls_work_setting *s);

/* Seconds of a step in a setting, and of the exchange in it. */
typedef struct dls_step_in_setting {
    dls_step gpu;
    double one_s, exchange_s, step_s;
} dls_step_in_setting;
/* Errors: EINPUT (no worker, several without a fabric, async without servers). */
dls_status dls_setting_step(const dls_opmodel *model, const dls_workload *w,
                            const dls_work_setting *s, dls_step_in_setting *out,
                            dls_error *err) DLS_MUST_CHECK;
/* The same; kernel_s: [kernels] gets what each takes alone. */
dls_status dls_setting_kernels(const dls_opmodel *model, const dls_workload *w,
                               const dls_work_setting *s, double *kernel_s,
                               dls_step_in_setting *out, dls_error *err) DLS_MUST_CHECK;

/* When the messages of a scheduled exchange begin and all have come, and the backward pass ends;
 * step and kernel_s: of one GPU. Errors: ENOMEM. */
dls_status dls_timeline_messages(const dls_opmodel *model, const dls_workload *w,
                                 const dls_work_setting *s, const dls_step_in_setting *step,
                                 const double *kernel_s, double *begin_s, double *end_s, double *backward_end_s,
                                 dls_error *err) DLS_MUST_CHECK;

/* Build the timeline of a step; *out needs dls_timeline_fini only on success. O(kernels). Errors:
 * as above, ENOMEM. */
dls_status dls_timeline_build(const dls_opmodel *model, const dls_workload *w,
                              const dls_work_setting *s, dls_timeline *out,
                              dls_error *err) DLS_MUST_CHECK;
void dls_timeline_fini(dls_timeline *timeline); /* NULL-safe */
/* Integral of a track from 0 to t_s, 0 <= t_s <= step_s. O(log pieces). */
double dls_track_integral(const dls_track *track, double t_s);

#endif
