/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a policy that interleaves jobs believes about a group: how long one iteration of all members
 * takes when each stage of an iteration uses another resource (Muri, SIGCOMM 2022: data
 * preparation, the GPU, the network).
 */
#ifndef DLS_SCHED_STAGES_H
#define DLS_SCHED_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define DLS_STAGES_JOBS 4 /* as many as there are slots in a cycle */

/* One iteration of a job alone, in any unit of time. */
typedef struct dls_stages {
    double data, compute, exchange; /* >= 0 */
    double iteration;               /* > 0, need not be the sum of the three */
} dls_stages;

/* Time of one iteration of each of k jobs that run in step on the same GPUs, in the best of all
 * orders. A cycle has a slot for each job: while one prepares data another computes and a third
 * exchanges; a job alone needs its `iteration`.
 *
 *      f(i+1) = max(f(i) + exchange of the job of slot i+1, f(i) + compute of i+2, f(i-1) + data of i+3)
 *
 * and the time is how much f grows in a cycle (four slots), once two cycles differ by less than
 * 0.1 %. overhead[k] multiplies it. `monotone`: a slot never ends before the one before it, which the
 * published program allows where a slot holds a data stage only; `worst`: in the worst order, an
 * ablation of theirs. 1 <= k <= DLS_STAGES_JOBS. */
double dls_stages_group_time(const dls_stages *const job[], int32_t k,
                             const double overhead[DLS_STAGES_JOBS + 1], bool monotone, bool worst);

/* Measured by Muri's authors; 1.015 is their profiler's, which is in the jobs' iteration times. */
#define DLS_STAGES_PROFILER 1.015
extern const double dls_stages_overhead[DLS_STAGES_JOBS + 1];

/* How well a group uses the resources: the members' stages over the time that the resources are
 * held. */
static inline double dls_stages_weight(const dls_stages *const job[], int32_t k, double time)
{
    double sum = 0;
    for (int32_t i = 0; i < k; i++) {
        sum += job[i]->data + job[i]->compute + job[i]->exchange;
    }
    return sum / (time * DLS_STAGES_JOBS);
}

#endif
