/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When gradients travel, message by message, where that is known:
 *
 *      buckets    all-reduce as PyTorch's DistributedDataParallel does it: gradients in the order
 *                 in which the backward pass yields them, the first 1 MiB and then every 25 MiB
 *                 together, sent once the last of a bucket is there, one bucket after the other
 *      apart      parameter servers on machines of their own, tensors dealt out in turn: a gradient
 *                 is sent when it is there; a server that has it of all workers sends the parameter
 *                 back to all. A server's link takes one tensor after the other, both ways at a
 *                 time, from one worker after the other at the rate of a worker's
 *
 * per_tensor_s is what a tensor of each worker costs the server, or a bucket for each of its tensors.
 * Workers are alike, but all wait for the slowest (fabric.straggle). Other exchanges are as the
 * fabric's formulas say (comm.h).
 */
#ifndef DLS_OPERATOR_SCHEDULE_H
#define DLS_OPERATOR_SCHEDULE_H

#include "workload/operator/timeline.h"

/* What one worker sends or receives from one moment to another. */
typedef struct dls_transfer {
    double from_s, to_s, bytes;
} dls_transfer;

bool dls_setting_is_scheduled(const dls_work_setting *s);

/* ready_s: when each tensor's gradient is there, [w->n_tensors]. tx and rx: room for as many, *n of
 * each are used, in order of time. O(tensors). Errors: ENOMEM. */
dls_status dls_schedule(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                        dls_transfer *tx, dls_transfer *rx, size_t *n,
                        dls_error *err) DLS_MUST_CHECK;

#endif
