/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace whose jobs a block describes, one after the other; jobs of no duration are kept:
 *
 *      dls_trace *trace;
 *      EACH_JOB(job, 3, &trace) {
 *          job.rec.duration_us = DLS_US_PER_S * job.i;
 *      }
 *
 * Texts of a record must live until the loop ends.
 */
#ifndef SUPPORT_TRACE_OF_H
#define SUPPORT_TRACE_OF_H

#include "dlsim/trace.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct each_job {
    int32_t i, n;
    dls_job_rec rec;
    dls_trace_builder *builder;
    dls_trace **to;
} each_job;

/* The job before is added, the next begun; aborts where the trace refuses. */
static inline bool next_job(each_job *at)
{
    const dls_trace_options keep = {.keep_zero_duration = true};
    dls_error err = {0};
    const dls_status added = at->builder ? dls_trace_builder_add(at->builder, &at->rec, "case", &err)
                                         : dls_trace_builder_create(&keep, &at->builder, &err);
    dls_job_rec_init(&at->rec);
    const bool more = ++at->i < at->n;
    if (added != DLS_OK || (!more && dls_trace_builder_finish(at->builder, at->to, &err) != DLS_OK)) {
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
        abort();
    }
    return more;
}

#define EACH_JOB(job, count, trace)                                                                \
    for (each_job job = {.i = -1, .n = (int32_t)(count), .to = (trace)}; next_job(&job);)

#endif
