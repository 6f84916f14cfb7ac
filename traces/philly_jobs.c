/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Philly jobs with their scheduling attempts, as both JSON forms of the trace list them: durations,
 * waits and GPUs come from the attempts.
 *
 *   philly-log    Microsoft's trace (Jeon et al., ATC 2019) as published: cluster_job_log
 *   philly-json   its multi-GPU subset (jobs.json): id, num_gpus, runtime, attempts, submitted_time.
 *                 `runtime` (minutes, gaps inside) repeats what the attempts say and is not read
 */
#include "base/own.h"
#include "traces/date.h"
#include "traces/outcome.h"
#include "traces/trace_impl.h"
#include "traces/walk.h"

#include <string.h>

typedef struct attempts {
    int64_t n;
    int64_t first_start_us, last_end_us; /* since 1970; DLS_ABSENT */
    int64_t sum_us;                      /* of the attempts that have both times */
    int64_t n_whole;                     /* how many have */
    bool last_has_end;
    int64_t first_gpus, first_nodes; /* of the first attempt's `detail`; 0 if it has none */
} attempts;

/* A date string; "None", "" and null are DLS_ABSENT. */
static dls_status read_date(const dls_walk *w, json_object *of, const char *name, int64_t *us,
                            dls_error *err)
{
    const char *text = "";
    *us = DLS_ABSENT;
    DLS_TRY(dls_walk_text(w, of, name, &text, err));
    if (text[0] == '\0' || strcmp(text, "None") == 0 || dls_date_parse(text, strlen(text), us)) {
        return DLS_OK;
    }
    return dls_walk_fail(
        w, err, "member '%s': '%.40s' is not a date of 1970 or later, expected YYYY-MM-DD HH:MM:SS",
        name, text);
}

/* The array that a member is; NULL if there is none, or null. */
static dls_status member_array(const dls_walk *w, json_object *of, const char *name,
                               json_object **out, dls_error *err)
{
    *out = NULL;
    json_object_object_get_ex(of, name, out);
    return !*out || json_object_is_type(*out, json_type_array)
               ? DLS_OK
               : dls_walk_fail(w, err, "member '%s': expected an array", name);
}

/* Item i of the array that is the member `name`. */
static dls_status item_object(const dls_walk *w, json_object *array, size_t i, const char *name,
                              json_object **out, dls_error *err)
{
    *out = json_object_array_get_idx(array, i);
    return json_object_is_type(*out, json_type_object)
               ? DLS_OK
               : dls_walk_fail(w, err, "member '%s', item %zu: expected an object", name, i + 1);
}

/* [{"ip": "m1", "gpus": ["gpu0", ...]}, ...] */
static dls_status read_detail(const dls_walk *w, json_object *attempt, int64_t *n_gpus,
                              int64_t *n_nodes, dls_error *err)
{
    json_object *detail, *node, *gpus;
    *n_gpus = 0;
    DLS_TRY(member_array(w, attempt, "detail", &detail, err));
    const size_t n = detail ? json_object_array_length(detail) : 0;
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(item_object(w, detail, i, "detail", &node, err));
        DLS_TRY(member_array(w, node, "gpus", &gpus, err));
        *n_gpus += gpus ? (int64_t)json_object_array_length(gpus) : 0;
    }
    *n_nodes = (int64_t)n;
    return DLS_OK;
}

static dls_status read_attempt(const dls_walk *w, json_object *attempt, attempts *out,
                               dls_error *err)
{
    int64_t start_us, end_us, gpus, nodes;
    DLS_TRY(read_date(w, attempt, "start_time", &start_us, err));
    DLS_TRY(read_date(w, attempt, "end_time", &end_us, err));
    DLS_TRY(read_detail(w, attempt, &gpus, &nodes, err));
    if (out->n++ == 0) {
        out->first_start_us = start_us;
        out->first_gpus = gpus;
        out->first_nodes = nodes;
    }
    out->last_has_end = end_us != DLS_ABSENT;
    if (end_us != DLS_ABSENT) {
        out->last_end_us = end_us;
    }
    if (start_us != DLS_ABSENT && end_us != DLS_ABSENT) {
        out->n_whole++;
        out->sum_us += end_us > start_us ? end_us - start_us : 0;
    }
    return DLS_OK;
}

static dls_status read_attempts(const dls_walk *w, json_object *job, attempts *out, dls_error *err)
{
    json_object *list, *attempt;
    *out = (attempts){.first_start_us = DLS_ABSENT, .last_end_us = DLS_ABSENT};
    DLS_TRY(member_array(w, job, "attempts", &list, err));
    const size_t n = list ? json_object_array_length(list) : 0;
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(item_object(w, list, i, "attempts", &attempt, err));
        DLS_TRY(read_attempt(w, attempt, out, err));
    }
    return DLS_OK;
}

/* Duration, wait, attempts and flags of rec. Returns why the job cannot be used, or NULL. */
static const char *apply_attempts(const attempts *a, bool span, dls_job_rec *rec)
{
    if (a->n == 0) {
        return "no attempt";
    }
    if (a->first_start_us == DLS_ABSENT) {
        return "no start time";
    }
    if (span ? a->last_end_us == DLS_ABSENT : a->n_whole == 0) {
        return "no end time";
    }
    rec->attempts = a->n;
    if (span) {
        rec->duration_us =
            a->last_end_us > a->first_start_us ? a->last_end_us - a->first_start_us : 0;
        rec->flags |= a->n > 1 ? DLS_JOB_SPAN_INCLUDES_GAPS : 0u;
    } else {
        rec->duration_us = a->sum_us;
    }
    if (!a->last_has_end) {
        rec->flags |= DLS_JOB_CENSORED;
        rec->outcome = DLS_OUTCOME_RUNNING;
    }
    if (a->first_start_us >= rec->submit_us) {
        rec->queue_us = a->first_start_us - rec->submit_us;
    }
    return NULL;
}

static dls_status read_job(const dls_walk *w, json_object *job, dls_trace_builder *b,
                           dls_error *err)
{
    dls_job_rec rec;
    attempts a;
    const char *status = "";
    dls_job_rec_init(&rec);
    rec.gpus_milli = DLS_ABSENT;
    DLS_TRY(dls_walk_text(w, job, "id", &rec.id, err));
    DLS_TRY(dls_walk_text(w, job, "jobid", &rec.id, err));
    DLS_TRY(dls_walk_text(w, job, "vc", &rec.vc, err));
    DLS_TRY(dls_walk_text(w, job, "user", &rec.user, err));
    DLS_TRY(dls_walk_text(w, job, "status", &status, err));
    DLS_TRY(dls_walk_number(w, job, "num_gpus", "a number of GPUs", 3, 0,
                            INT64_C(1000) * DLS_GPUS_MAX, &rec.gpus_milli, err));
    DLS_TRY(read_date(w, job, "submitted_time", &rec.submit_us, err));
    DLS_TRY(read_attempts(w, job, &a, err));
    if (*status && !dls_outcome_parse(status, strlen(status), &rec.outcome)) {
        dls_trace_builder_noted(b, "status not known");
    }
    if (rec.gpus_milli == DLS_ABSENT) {
        rec.gpus_milli = a.first_gpus * 1000;
    }
    rec.nodes = a.first_nodes > 0 ? a.first_nodes : DLS_ABSENT;
    const char *skip = apply_attempts(&a, dls_trace_builder_options(b)->philly_span, &rec);
    if (!skip && rec.submit_us == DLS_ABSENT) {
        skip = "no submission time";
    }
    if (!skip && rec.gpus_milli == 0) {
        skip = "no GPU";
    }
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    return dls_walk_add(w, b, &rec, err);
}

static dls_status read_jobs(dls_walk *w, dls_trace_builder *b, dls_error *err)
{
    DLS_TRY(dls_walk_enter(w, '[', err));
    while (!dls_trace_builder_full(b)) {
        bool more;
        DLS_HOLD(json_object_put) json_object *job = NULL;
        DLS_TRY(dls_walk_item(w, ']', &more, err));
        if (!more) {
            return dls_walk_end(w, err);
        }
        DLS_TRY(dls_walk_object(w, &job, err));
        DLS_TRY(read_job(w, job, b, err));
    }
    return DLS_OK;
}

/* An array of jobs. Keys: id or jobid, submitted_time, attempts (start_time, end_time, detail), and
 * if there num_gpus, status, vc, user. GPUs are num_gpus, else those of the first attempt. The
 * duration is the sum of the attempts that have both times, or with options.philly_span from the
 * first start to the last end. Left out, with the reason: jobs without attempt, submission, start,
 * end or GPU. A last attempt without end: running when the log was taken, flagged CENSORED. */
static dls_status read_file(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    DLS_OWN(dls_walk_fini) dls_walk w = {0};
    dls_trace_builder_rebase(b, "");
    DLS_TRY(dls_walk_init(&w, src, err));
    return read_jobs(&w, b, err);
}

/* Does the text start as an array of objects with "attempts" and this key (quotes included)? */
static int sniff(const dls_trace_source *src, const char *quoted_key)
{
    /* Keys have no order and the attempts may be long, so look into a good part of the file. */
    static const char attempts_key[] = "\"attempts\"";
    const size_t len = src->len < 65536 ? src->len : 65536;
    return src->text[strspn(src->text, " \t\r\n")] == '[' &&
                   memmem(src->text, len, attempts_key, sizeof attempts_key - 1) &&
                   memmem(src->text, len, quoted_key, strlen(quoted_key))
               ? 90
               : 0;
}

static int sniff_log(const dls_trace_source *src)
{
    return sniff(src, "\"jobid\"");
}

static int sniff_json(const dls_trace_source *src)
{
    return sniff(src, "\"num_gpus\"");
}

const dls_trace_format dls_trace_format_philly_log = {
    .name = "philly-log",
    .summary = "Philly, the published cluster_job_log (JSON)",
    .sniff = sniff_log,
    .read = read_file,
};

const dls_trace_format dls_trace_format_philly_json = {
    .name = "philly-json",
    .summary = "Philly, the multi-GPU subset jobs.json with attempts",
    .sniff = sniff_json,
    .read = read_file,
};
