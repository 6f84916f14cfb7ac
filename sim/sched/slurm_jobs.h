/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a site has on record of single jobs beside the trace: processors that they asked for, QoS,
 * reservation, and jobs that have to end before; and its QoS.
 */
#ifndef DLS_SCHED_SLURM_JOBS_H
#define DLS_SCHED_SLURM_JOBS_H

#include "dlsim/policy.h"

typedef struct dls_slurm_qos {
    char name[64];
    double factor;     /* its priority over the highest */
    uint64_t preempts; /* a bit for each QoS whose running jobs give way to its own */
    enum { DLS_SLURM_REQUEUED, DLS_SLURM_CANCELLED, DLS_SLURM_STAYS } mode; /* what becomes of its jobs then */
    int64_t exempt_us; /* only once they have run for so long */
    int64_t grace_us;  /* they run on for so long when they are told to */
} dls_slurm_qos;
#define DLS_SLURM_QOS_MAX 64

typedef struct dls_slurm_named {
    int32_t job;              /* of the view */
    int32_t qos, reservation; /* -1: none of the tables */
    int32_t first, n;         /* in after[] */
    bool killed; /* cancelled where others are requeued */
    bool tested; /* a scheduler has looked at it: from then on it counts what it will get */
    int64_t told_us;          /* when it was told to give way, in this run of it or one before; DLS_ABSENT: never */
    int64_t cpus;             /* 1/1000, of all its nodes; -1: as many as it got */
} dls_slurm_named;

typedef struct dls_slurm_jobs {
    dls_slurm_qos *qos;  /* [n_qos] */
    dls_slurm_named *at; /* [n] by job */
    int32_t *after;      /* jobs of the view */
    int32_t *of;         /* [jobs] in at[], -1; NULL: there is no table */
    uint64_t *waits;     /* [jobs] number of the last look at which it waited */
    uint64_t looks;
    size_t n_qos, qos_cap, n, cap, n_after, after_cap, n_jobs;
} dls_slurm_jobs;

/* Which reservation has that name; -1: none. */
typedef int32_t (*dls_slurm_reservation_fn)(const void *reservations, const char *name);

/* Reads the tables `qos,priority,preempts[,mode,exempt,grace]` and `job,cpus,qos,reservation,after[,requeue]`, names in
 * preempts and jobs in after joined by '+'; "": there is none. Rows of jobs that the trace has not say
 * nothing, and nobody waits for those; jobs that wait for each other are refused. Errors: EINPUT with file and line,
 * ENOMEM. O(jobs). */
dls_status dls_slurm_jobs_init(dls_slurm_jobs *s, const dls_view *view, const char *qos_path,
                               const char *path, dls_slurm_reservation_fn find,
                               const void *reservations, dls_error *err) DLS_MUST_CHECK;
void dls_slurm_jobs_fini(dls_slurm_jobs *s);
dls_status dls_slurm_jobs_clone(dls_slurm_jobs *s, const dls_slurm_jobs *from,
                                dls_error *err) DLS_MUST_CHECK;

/* NULL: nothing is known of it. */
static inline const dls_slurm_named *dls_slurm_job(const dls_slurm_jobs *s, int32_t job)
{
    return s->of && (size_t)job < s->n_jobs && s->of[job] >= 0 ? &s->at[s->of[job]] : NULL;
}
/* A scheduler looks at it. */
static inline void dls_slurm_job_tested(dls_slurm_jobs *s, int32_t job)
{
    if (s->of && (size_t)job < s->n_jobs && s->of[job] >= 0) {
        s->at[s->of[job]].tested = true;
    }
}
/* Who waits now: before the next is asked. O(waiting) where jobs depend on others, else O(1). */
void dls_slurm_jobs_look(dls_slurm_jobs *s, const dls_view *view);
/* Does it wait for others to end? */
bool dls_slurm_job_depends(const dls_slurm_jobs *s, const dls_view *view, int32_t job);
/* 0: none, or not known. */
static inline double dls_slurm_qos_factor(const dls_slurm_jobs *s, int32_t job)
{
    const dls_slurm_named *j = dls_slurm_job(s, job);
    return j && j->qos >= 0 ? s->qos[j->qos].factor : 0;
}
/* Does its QoS preempt any? */
static inline bool dls_slurm_may_preempt(const dls_slurm_jobs *s, int32_t job)
{
    const dls_slurm_named *j = job >= 0 ? dls_slurm_job(s, job) : NULL;
    return j && j->qos >= 0 && s->qos[j->qos].preempts;
}
/* May one take GPUs from the other, which has run for ran_us? */
static inline bool dls_slurm_preempts(const dls_slurm_jobs *s, int32_t job, int32_t victim, int64_t ran_us)
{
    const dls_slurm_named *j = dls_slurm_job(s, job), *v = dls_slurm_job(s, victim);
    return j && v && j->qos >= 0 && v->qos >= 0 && (s->qos[j->qos].preempts >> v->qos & 1) &&
           s->qos[v->qos].mode != DLS_SLURM_STAYS && ran_us >= s->qos[v->qos].exempt_us;
}
/* A job that runs since since_us is told to give way, now or before; when it has to be gone. */
static inline int64_t dls_slurm_tell(dls_slurm_jobs *s, int32_t victim, int64_t since_us, int64_t now_us)
{
    dls_slurm_named *v = &s->at[s->of[victim]];
    v->told_us = v->told_us < since_us ? now_us : v->told_us;
    return v->told_us + s->qos[v->qos].grace_us;
}
/* The same of one that may not have been told: DLS_NEVER. */
static inline int64_t dls_slurm_gone_by(const dls_slurm_jobs *s, int32_t job, int64_t since_us)
{
    const dls_slurm_named *v = dls_slurm_job(s, job);
    return v && v->qos >= 0 && v->told_us >= since_us ? v->told_us + s->qos[v->qos].grace_us : DLS_NEVER;
}
static inline bool dls_slurm_has_grace(const dls_slurm_jobs *s, int32_t victim)
{
    return s->qos[s->at[s->of[victim]].qos].grace_us > 0;
}
/* Is a job that gives way cancelled, not requeued? */
static inline bool dls_slurm_is_cancelled(const dls_slurm_jobs *s, int32_t victim)
{
    const dls_slurm_named *v = dls_slurm_job(s, victim);
    return v && (v->killed || (v->qos >= 0 && s->qos[v->qos].mode == DLS_SLURM_CANCELLED));
}

#endif
