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
 * Gradients go in the order in which they are there, whatever that of the tensors is. per_tensor_s
 * is what a tensor of each worker costs the server, or a bucket for each of its tensors before it
 * is sent. Workers are alike, but all wait for the slowest (fabric.straggle). Other exchanges are
 * as the fabric's formulas say (comm.h).
 *
 * Where processors compute, messages are handled by the processor that computes: what comes and
 * goes during the backward pass puts it off, by message_s and byte_s, and so does the first server
 * if it has the same processor (shared); whatever comes goes first. Behind the backward pass
 * messages are handled one after the other.
 */
#ifndef DLS_OPERATOR_SCHEDULE_H
#define DLS_OPERATOR_SCHEDULE_H

#include "workload/operator/timeline.h"

/* What one worker sends or receives from one moment to another. */
typedef struct dls_transfer {
    double from_s, to_s, bytes;
    double handling_s; /* of its processor when it has come */
    double served_s;   /* of a server on its processor before it comes */
} dls_transfer;

/* Messages on the processor that computes, and when it is done with them. */
typedef struct dls_handling {
    double own_s, served_s;       /* in the backward pass, which takes so much longer */
    double later_s;               /* the worker's behind it */
    double backward_end_s, end_s; /* of the pass so, of the exchange */
} dls_handling;

bool dls_setting_is_scheduled(const dls_work_setting *s);

/* Seconds of a worker's processor for all messages of a step. */
double dls_handling_s(const dls_workload *w, const dls_work_setting *s);

/* ready_s: when each tensor's gradient would be there, were there no messages, [w->n_tensors]; the
 * backward pass would end at backward_end_s. tx and rx: room for as many, *n of each are used, in
 * order of time. O(tensors). Errors: ENOMEM. */
dls_status dls_schedule(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                        double backward_end_s, dls_transfer *tx, dls_transfer *rx, size_t *n,
                        dls_handling *handling, dls_error *err) DLS_MUST_CHECK;

#endif
