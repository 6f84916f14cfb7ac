/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies that fail without a word, ask for what does not exist, write where they may only read, or get
 * nowhere: each ends the run with an error that names the policy.
 */
#include "base/assert.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

dls_status dls_policy_returned(const dls_engine *e, const char *who, const char *what, int32_t job,
                               dls_status status, dls_error *err)
{
    if (status == DLS_OK) {
        return dls_policy_check(e, who, job, err);
    }
    if ((unsigned)status > DLS_EINTERRUPTED) {
        return dls_fail(err, DLS_EPOLICY, who, "`%s` returned %d, which is no status", what, (int)status);
    }
    if (!*err->msg) {
        return dls_fail(err, status, who, "`%s` failed and does not say why (%s)", what,
                        dls_status_str(status));
    }
    err->status = status;
    return status;
}

dls_status dls_policy_asked_wrong(const dls_engine *e, const char *who, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->index->first_fault.query || e->ask.predicting.status != DLS_OK);
    const dls_fault *f = e->index->fault;
    char when[48] = "";
    who = f->who ? f->who : who;
    if (e->ask.predicting.status != DLS_OK) {
        return dls_fail(err, e->ask.predicting.status, e->ask.predicting.where, "%s",
                        e->ask.predicting.msg);
    }
    if (job >= 0) {
        snprintf(when, sizeof when, ", when asked about job %d", job);
    }
    if (*f->said) {
        return dls_fail(err, DLS_EPOLICY, who, "%s%s", f->said, when);
    }
    return dls_fail(err, DLS_EPOLICY, who, "asks `%s` for number %lld of %lld%s", f->query,
                    (long long)f->asked, (long long)f->n, when);
}

/* ---- nowhere ----------------------------------------------------------------------------------- */

/* Whether a job has run since this time, and so may be making progress that shows when it stops. */
static bool runs_since(const dls_engine *e, int64_t us)
{
    for (int32_t j = 0; j < e->n; j++) {
        if (e->jobs.running[j] && e->jobs.state_since_us[j] <= us) {
            return true;
        }
    }
    return false;
}

/* Whatever starts loses all that it does, or is stopped within a second: by preemptions or failures that undo it.
 * A job that runs all the while is no part of that. */
static dls_status vain_check(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    dls_stall *s = &e->stall;
    const int64_t took_us = e->clock.now_us - s->vain_from_us;
    if (s->vain < p->patience || runs_since(e, s->vain_from_us + took_us / 2)) {
        s->vain_from_us = s->vain < p->patience ? s->vain_from_us : e->clock.now_us;
        s->vain = s->vain < p->patience ? s->vain : 0;
        return DLS_OK;
    }
    return dls_fail(err, DLS_EPOLICY, p->sched->name,
                    "gets nowhere (with placement '%s'): within %.6g s no job has been submitted or has finished, and "
                    "none of %llu starts has kept a second of work; %d run, %d wait%s",
                    p->placement->name, (double)took_us / 1e6, (unsigned long long)s->vain,
                    e->view.running_jobs, e->view.waiting_jobs,
                    p->preempt_loses ? "; with checkpoint.lost_on_preemption a preempted job goes back to its last "
                                       "periodic checkpoint (checkpoint.period)"
                    : e->failures.undo ? "; a failure takes a job back to its last checkpoint (checkpoint.period)"
                                       : "");
}

/* What the placement has to do with it, for the end of a message. */
static void refusals_text(const dls_engine *e, char *text, size_t size)
{
    const dls_stall *s = &e->stall;
    *text = '\0';
    if (s->refusals > 0) {
        snprintf(text, size,
                 "; the placement has refused %llu starts meanwhile, the last of job %d on %d GPUs with %lld free",
                 (unsigned long long)s->refusals, s->refused_job, s->refused_gpus,
                 (long long)e->index->free_gpus);
    }
}

/* Progress is neither the passing of time nor a job that starts and is preempted within a second. A policy gets
 * nowhere if there has been none at so many instants, and either jobs wait and none runs, so that only the
 * policy can change that, or the instants are less than a millisecond apart on average; or if so many starts have
 * been in vain (vain_check). */
dls_status dls_stall_check(dls_engine *e, uint64_t instants, dls_error *err)
{
    const dls_sim_params *p = e->params;
    dls_stall *s = &e->stall;
    const uint64_t progress = e->clock.next_arrival + e->jobs.done + s->stints;
    const uint64_t seen = progress + e->rec->node_failures + e->rec->gpu_failures +
                          e->rec->rack_failures + e->rec->job_failures + e->rec->node_drains;
    char refusals[160];
    if (progress != s->progress) {
        s->progress = progress;
        s->vain = s->refusals = 0;
        s->vain_from_us = e->clock.now_us;
    }
    if (p->patience == 0) {
        return DLS_OK;
    }
    DLS_TRY(vain_check(e, err));
    const bool stands = seen == s->seen;
    s->seen = seen;
    s->instants = stands ? s->instants + instants : 0;
    s->since_us = stands ? s->since_us : e->clock.now_us;
    if (s->instants < p->patience) {
        return DLS_OK;
    }
    const int64_t took_us = e->clock.now_us - s->since_us;
    const bool could = e->view.running_jobs == 0 && e->view.waiting_jobs > 0;
    if (!could && (uint64_t)took_us / 1000 >= s->instants) {
        s->instants = 0; /* long jobs, short rounds */
        s->since_us = e->clock.now_us;
        return DLS_OK;
    }
    refusals_text(e, refusals, sizeof refusals);
    return dls_fail(err, DLS_EPOLICY, p->sched->name,
                    "gets nowhere (with placement '%s'): at %llu instants within %.6g s no job has been "
                    "submitted, has finished or has run for a second; %d run, %d wait%s",
                    p->placement->name, (unsigned long long)s->instants, (double)took_us / 1e6,
                    e->view.running_jobs, e->view.waiting_jobs, refusals);
}

/* ---- read only --------------------------------------------------------------------------------- */

enum { SEAL_JOBS = 128 };

static uint64_t sum_of(const void *bytes, size_t n)
{
    uint64_t sum = n;
    const unsigned char *p = bytes;
    for (; n > 0; n -= n < 8 ? n : 8, p += 8) {
        uint64_t word = 0;
        memcpy(&word, p, n < 8 ? n : 8);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 29;
    }
    return sum;
}

/* The k-th thing that a policy is given to read: the view first, as the columns are found by it. */
static uint64_t seal_of(const dls_engine *e, int k, const char **name)
{
    const dls_view *v = &e->view;
    const struct {
        const char *name;
        const void *bytes;
        size_t n;
    } sealed[DLS_SEALED] = {
        {"dls_view", v, sizeof *v},
#define COLUMN(member) {#member, v->member, v->member ? (size_t)e->n * sizeof *v->member : 0}
        COLUMN(gpus),
        COLUMN(min_gpus),
        COLUMN(max_gpus),
        COLUMN(held_gpus),
        COLUMN(held_type),
        COLUMN(user),
        COLUMN(vc),
        COLUMN(model),
        COLUMN(job_class),
        COLUMN(batch),
        COLUMN(priority),
        COLUMN(deadline_us),
        COLUMN(limit_us),
        COLUMN(nodes),
        COLUMN(gpus_milli),
        COLUMN(starts),
        COLUMN(failures),
        COLUMN(submit_us),
        COLUMN(duration_us),
        COLUMN(estimate_us),
        COLUMN(first_start_us),
        COLUMN(since_us),
        COLUMN(progress_us),
        COLUMN(running),
#undef COLUMN
    };
    *name = sealed[k].name;
    return sum_of(sealed[k].bytes, sealed[k].n);
}

void dls_seal_set(dls_engine *e)
{
    const char *name;
    e->audit.sealed = e->audit.calls++ % (1 + (uint64_t)e->n / SEAL_JOBS) == 0;
    for (int k = 0; k < DLS_SEALED && e->audit.sealed; k++) {
        e->audit.seal[k] = seal_of(e, k, &name);
    }
}

dls_status dls_seal_compare(const dls_engine *e, dls_error *err)
{
    const char *name;
    for (int k = 0; k < DLS_SEALED; k++) {
        if (e->audit.seal[k] != seal_of(e, k, &name)) {
            return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                            "has written to `%s`, which it may only read", name);
        }
    }
    return DLS_OK;
}
