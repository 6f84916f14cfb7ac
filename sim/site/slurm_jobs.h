/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Slurm has on record of single jobs, QoS, reservations and nodes out of service, as tables of
 * the scheduler `slurm`.
 */
#ifndef DLS_SITE_SLURM_JOBS_H
#define DLS_SITE_SLURM_JOBS_H

#include "dlsim/site.h"
#include "site/slurm_conf.h"
#include "site/slurm_held.h"
#include "site/slurm_log.h"

typedef struct dls_site_jobs {
    dls_strdict ids, texts;
    struct dls_site_job {
        int32_t qos, reservation, after;   /* in texts */
        double cpus;                       /* asked for; < 0: as many as it got */
        enum { DLS_SITE_AS_ALL, DLS_SITE_REQUEUE, DLS_SITE_NO_REQUEUE } requeue; /* by SubmitLine */
    } * job;                               /* [ids.n] */
    size_t cap, asked, dependent, unknown; /* unknown: dependencies of other kinds */
    size_t merged; /* runs that were preempted: the replay preempts by itself */
} dls_site_jobs;

void dls_site_jobs_fini(dls_site_jobs *jobs);
/* Reads ReqTRES, QOS, Reservation and SubmitLine of jobs with GPUs. O(bytes). Errors: EINPUT,
 * ENOMEM. */
dls_status dls_site_jobs_read(dls_site_jobs *jobs, const dls_trace_source *sacct,
                              dls_error *err) DLS_MUST_CHECK;
/* Of a job that was preempted and ran again (sacct -D) one job remains, which came when it first
 * did. */
dls_status dls_site_jobs_merge(dls_site_jobs *jobs, dls_trace **trace,
                               dls_error *err) DLS_MUST_CHECK;
/* Whether any is to be said of them; and the table `job,cpus,qos,reservation,after,requeue`. */
bool dls_site_jobs_any(const dls_site_jobs *jobs, const dls_site_slurm *site, const dls_site_rules *rules);
void dls_site_jobs_put(const dls_site_jobs *jobs, const dls_site_slurm *site, const dls_site_rules *rules,
                       FILE *out);
void dls_site_jobs_report(const dls_site_jobs *jobs, FILE *to);

/* `sacctmgr -P show qos` as `qos,priority,preempts,mode,exempt,grace`. Modes of preemption that are not modelled go to
 * `to`. Errors: EINPUT. */
dls_status dls_site_qos_put(const char *path, const dls_site_rules *rules, FILE *out, FILE *to,
                            dls_error *err) DLS_MUST_CHECK;
/* `sacctmgr -P show event` and `scontrol show reservations -o` (NULL: none) as
 * `reservation,known,start,end,first,last`, nodes as in the cluster; log (NULL: none) tells when
 * reservations were made. Errors: EINPUT. */
dls_status dls_site_outages_put(const dls_site_slurm *site, const dls_site_held *held,
                                const dls_site_log *log, FILE *out,
                                dls_error *err) DLS_MUST_CHECK;

#endif
