/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads slurmctld's log.
 */
#include "site/slurm_log.h"

#include "base/file.h"
#include "base/own.h"
#include "base/strdict.h"
#include "traces/date.h"
#include "traces/trace_impl.h"

#include <stdlib.h>
#include <string.h>

/* From the end of a job to that of its nodes' epilog, before which they are completing and given to
 * nobody, where the log does not say: in one recording (tests/slurm/mixed_fair) more than 9 ms and less than
 * 14, in others up to 42; there was no epilog to run. */
#define EPILOG_US 12000

typedef struct times {
    int64_t submit_us, start_us, end_us; /* DLS_ABSENT */
    int64_t first_us;                    /* its first start, of one that was requeued */
    int64_t clear_us;                    /* its last node's epilog was over; DLS_ABSENT */
} times;

typedef struct reading {
    dls_site_log *log;
    dls_strdict ids;
    times *job;                   /* [codes of ids] */
    int64_t zero_us, last_us;     /* last: of the line before */
    int64_t main_us, backfill_us; /* when they ran last */
} reading;

void dls_site_log_fini(dls_site_log *log)
{
    DLS_FREE_ALL(log->run, log->made_us);
    dls_strdict_fini(&log->reservations);
    *log = (dls_site_log){0};
}

/* "[2026-11-22T18:41:09.276] ": milliseconds, and microseconds for the order of lines within one. A time further
 * from the first job than DLS_SITE_NEAR_US is not of this log. */
static bool time_of(reading *r, const char *line, int64_t *us)
{
    int64_t at_us;
    char *end;
    if (line[0] != '[' || strlen(line) < 22 || !dls_date_parse(line + 1, 19, &at_us)) {
        return false;
    }
    const long ms = line[20] == '.' ? strtol(line + 21, &end, 10) : 0;
    at_us += 1000 * (ms >= 0 && ms < 1000 ? ms : 0) - r->zero_us;
    if (at_us < -DLS_SITE_NEAR_US || at_us > DLS_SITE_NEAR_US) {
        return false;
    }
    *us = at_us > r->last_us ? at_us : r->last_us + (r->last_us - at_us < 999);
    r->last_us = *us;
    return true;
}

/* The job behind "JobId=" in text; NULL: none of the trace. */
static times *job_of(const reading *r, const char *text)
{
    const char *id = strstr(text, "JobId=");
    const int32_t code = id ? dls_strdict_find(&r->ids, id + 6, strcspn(id + 6, " (.\r\n")) : -1;
    return code >= 0 ? &r->job[code] : NULL;
}

static dls_status ran(reading *r, int64_t at_us, const char *what, dls_error *err)
{
    dls_site_log *log = r->log;
    DLS_TRY(dls_grow(&log->run, &log->run_cap, log->n_runs + 1, sizeof *log->run, err));
    log->run[log->n_runs++] = (dls_site_run){at_us, what};
    return DLS_OK;
}

/* "sched: Created reservation=NAME users=.." */
static dls_status made(reading *r, int64_t at_us, const char *name, dls_error *err)
{
    dls_site_log *log = r->log;
    int32_t code;
    DLS_TRY(dls_strdict_put(&log->reservations, name, strcspn(name, " \r\n"), &code, err));
    DLS_TRY(dls_grow(&log->made_us, &log->made_cap, log->reservations.n, sizeof *log->made_us, err));
    log->made_us[code] = at_us;
    return DLS_OK;
}

static void started(times *t, int64_t at_us)
{
    t->first_us = t->first_us == DLS_ABSENT ? at_us : t->first_us;
    t->start_us = at_us;
}

static dls_status read_line(void *user, char *line, dls_error *err)
{
    reading *r = user;
    int64_t at_us;
    times *t;
    if (!time_of(r, line, &at_us)) {
        return DLS_OK;
    }
    if (strstr(line, "Running job scheduler for")) {
        r->main_us = at_us;
        return ran(r, at_us, strstr(line, "full queue") ? "full" : "main", err);
    }
    if (strstr(line, "_attempt_backfill: beginning")) {
        r->backfill_us = at_us;
        return ran(r, at_us, "backfill", err);
    }
    const char *name = strstr(line, "Created reservation=");
    if (name) {
        return made(r, at_us, name + strlen("Created reservation="), err);
    }
    if (strstr(line, "_read_last_decay_ran")) {
        r->log->decay_us = at_us;
    } else if (strstr(line, "_slurm_rpc_submit_batch_job: JobId=") && (t = job_of(r, line))) {
        t->submit_us = at_us;
    } else if (strstr(line, "sched: Allocate JobId=") && (t = job_of(r, line))) {
        started(t, r->main_us);
    } else if (strstr(line, "Started JobId=") && (t = job_of(r, line))) {
        started(t, r->backfill_us);
    } else if (((strstr(line, "_job_complete: JobId=") && strstr(line, " done")) ||
                strstr(line, "preempted JobId=")) &&
               (t = job_of(r, line))) {
        t->end_us = at_us;
    } else if (strstr(line, "_slurm_rpc_epilog_complete: JobId=") && (t = job_of(r, line))) {
        t->clear_us = at_us;
    }
    return DLS_OK;
}

static dls_status read_text(reading *r, const char *path, dls_error *err)
{
    DLS_TRY(dls_file_lines(path, DLS_FILE_TRACE, read_line, r, err));
    return r->log->n_runs > 0 ? DLS_OK
                              : dls_fail(err, DLS_EINPUT, path,
                                         "no run of a scheduler in it: SlurmctldDebug=debug logs them");
}

static void reading_fini(reading *r)
{
    dls_strdict_fini(&r->ids);
    dls_free(r->job);
}

/* Are all its times in the log, in order? Those of jobs without GPUs may be before 0. */
static bool timed(const times *t)
{
    return t->submit_us != DLS_ABSENT && t->start_us != DLS_ABSENT && t->end_us != DLS_ABSENT &&
           t->start_us >= t->submit_us && t->end_us >= t->start_us;
}

/* When its nodes are given to others. */
static int64_t cleared(const times *t)
{
    return t->clear_us != DLS_ABSENT && t->clear_us >= t->end_us ? t->clear_us
                                                                 : t->end_us + EPILOG_US;
}

static dls_status add_all(const reading *r, const dls_trace *in, dls_trace_builder *b,
                          dls_error *err)
{
    for (size_t j = 0; j < dls_trace_cols(in)->n; j++) {
        dls_job_rec rec;
        dls_trace_job(in, j, &rec);
        const times *t = &r->job[dls_strdict_find(&r->ids, rec.id, strlen(rec.id))];
        if (timed(t)) {
            rec.submit_us = t->submit_us;
            rec.queue_us = t->first_us - t->submit_us;
            rec.duration_us = cleared(t) - t->start_us;
            r->log->timed++;
        }
        DLS_TRY(dls_trace_builder_add(b, &rec, "log", err));
    }
    return DLS_OK;
}

static void set_times(const reading *r, const dls_site_held *held, dls_site_cpu_job *job)
{
    const char *id = dls_strdict_get(&held->people, job->id);
    const times *t = &r->job[dls_strdict_find(&r->ids, id, strlen(id))];
    if (timed(t)) {
        job->submit_s = 1e-6 * (double)t->submit_us;
        job->duration_s = 1e-6 * (double)(cleared(t) - t->start_us);
    }
}

static dls_status rebuild(const reading *r, dls_trace **trace, dls_error *err)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    dls_trace_builder *b;
    dls_trace *out = NULL;
    DLS_TRY(dls_trace_builder_create(&opts, &b, err));
    *dls_trace_builder_info(b) = *dls_trace_about(*trace);
    DLS_TRY(dls_trace_builder_end(b, add_all(r, *trace, b, err), &out, err));
    dls_trace_destroy(*trace);
    *trace = out;
    return DLS_OK;
}

dls_status dls_site_log_apply(const char *path, dls_trace **trace, dls_site_held *held,
                              dls_site_log *log, dls_error *err)
{
    const size_t n = dls_trace_cols(*trace)->n;
    const char *epoch = dls_trace_about(*trace)->epoch;
    DLS_OWN(reading_fini) reading r = {
        .log = log, .last_us = INT64_MIN / 2, .main_us = DLS_ABSENT, .backfill_us = DLS_ABSENT};
    *log = (dls_site_log){.decay_us = DLS_ABSENT};
    if (!dls_date_parse(epoch, strlen(epoch), &r.zero_us)) {
        return dls_fail(err, DLS_EINPUT, path,
                        "the accounting has no dates that it could belong to");
    }
    DLS_TRY(dls_alloc_array(&r.job, n + held->n_jobs, sizeof *r.job, "times", err));
    for (size_t j = 0; j < n + held->n_jobs; j++) {
        int32_t code;
        const char *id =
            j < n ? dls_trace_id(*trace, j) : dls_strdict_get(&held->people, held->job[j - n].id);
        r.job[j] = (times){DLS_ABSENT, DLS_ABSENT, DLS_ABSENT, DLS_ABSENT, DLS_ABSENT};
        DLS_TRY(dls_strdict_put(&r.ids, id, strlen(id), &code, err));
    }
    DLS_TRY(read_text(&r, path, err));
    DLS_TRY(rebuild(&r, trace, err));
    for (size_t k = 0; k < held->n_jobs; k++) {
        set_times(&r, held, &held->job[k]);
    }
    return DLS_OK;
}
