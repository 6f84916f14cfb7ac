/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How many jobs wait: a replay that counts GPUs only, without placement, preemption or cost.
 */
#ifndef DLS_TRACES_SYNTH_QUEUE_H
#define DLS_TRACES_SYNTH_QUEUE_H

#include "dlsim/traces.h"

#include <stddef.h>

/* Which waiting job starts next, among those whose GPUs are free: no GPUs stay idle that any
 * waiting job could use. */
typedef enum dls_queue_order {
    DLS_QUEUE_OLDEST, /* earliest submission */
    DLS_QUEUE_LEAST   /* least GPU time */
} dls_queue_order;

/* Jobs as columns, submissions ascending, 1 <= gpus <= cluster_gpus, durations >= 0. */
typedef struct dls_queue_jobs {
    size_t n;
    const int64_t *submit_us;
    const int64_t *duration_us;
    const int32_t *gpus;
} dls_queue_jobs;

/* Measures how long at least waiting_jobs jobs wait. O(n (log n + distinct GPU counts)). */
dls_status dls_queue_replay(const dls_queue_jobs *jobs, int64_t cluster_gpus, dls_queue_order order,
                            int64_t waiting_jobs, dls_synth_queueing *out,
                            dls_error *err) DLS_MUST_CHECK;

#endif
