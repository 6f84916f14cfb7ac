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

/* Progress is neither the passing of time nor a job that starts and is preempted within a second. A policy gets
 * nowhere if there has been none at so many instants, and either jobs wait and none runs, so that only the
 * policy can change that, or the instants are less than a millisecond apart on average. */
dls_status dls_stall_check(dls_engine *e, uint64_t instants, dls_error *err)
{
    const dls_sim_params *p = e->params;
    const uint64_t seen = e->clock.next_arrival + e->jobs.done + e->stall.stints +
                          e->rec->node_failures + e->rec->gpu_failures +
                          e->rec->rack_failures + e->rec->job_failures + e->rec->node_drains;
    const bool stands = seen == e->stall.seen;
    e->stall.seen = seen;
    e->stall.instants = stands ? e->stall.instants + instants : 0;
    if (e->stall.instants < p->patience || p->patience == 0) {
        e->stall.since_us = stands ? e->stall.since_us : e->clock.now_us;
        return DLS_OK;
    }
    const int64_t took_us = e->clock.now_us - e->stall.since_us;
    const bool could = e->view.running_jobs == 0 && e->view.waiting_jobs > 0;
    if (!could && (uint64_t)took_us / 1000 >= e->stall.instants) {
        e->stall.instants = 0; /* long jobs, short rounds */
        e->stall.since_us = e->clock.now_us;
        return DLS_OK;
    }
    return dls_fail(err, DLS_EPOLICY, p->sched->name,
                    "gets nowhere (with placement '%s'): at %llu instants within %.6g s no job has been "
                    "submitted, has finished or has run for a second; %d run, %d wait",
                    p->placement->name, (unsigned long long)e->stall.instants, (double)took_us / 1e6,
                    e->view.running_jobs, e->view.waiting_jobs);
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
