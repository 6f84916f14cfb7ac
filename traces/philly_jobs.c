/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/philly_jobs.h"

#include "traces/date.h"
#include "traces/json.h"
#include "traces/outcome.h"
#include "traces/trace_impl.h"

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
static dls_status read_date(dls_json *j, int64_t *us, dls_error *err)
{
    *us = DLS_ABSENT;
    if (dls_json_peek(j) == 'n') {
        return dls_json_skip(j, err);
    }
    const char *start = j->p;
    char text[DLS_JSON_TEXT];
    DLS_TRY(dls_json_string(j, text, err));
    if (text[0] == '\0' || strcmp(text, "None") == 0) {
        return DLS_OK;
    }
    if (!dls_date_parse(text, strlen(text), us)) {
        j->p = start;
        return dls_json_fail(
            j, err, "'%.40s' is not a date of 1970 or later, expected YYYY-MM-DD HH:MM:SS", text);
    }
    return DLS_OK;
}

/* [{"ip": "m1", "gpus": ["gpu0", ...]}, ...] */
static dls_status read_detail(dls_json *j, int64_t *n_gpus, int64_t *n_nodes, dls_error *err)
{
    *n_gpus = *n_nodes = 0;
    if (dls_json_peek(j) == 'n') {
        return dls_json_skip(j, err);
    }
    DLS_TRY(dls_json_open(j, '[', err));
    for (bool more;;) {
        DLS_TRY(dls_json_item(j, &more, err));
        if (!more) {
            return DLS_OK;
        }
        (*n_nodes)++;
        DLS_TRY(dls_json_open(j, '{', err));
        for (;;) {
            char key[DLS_JSON_TEXT];
            DLS_TRY(dls_json_key(j, key, &more, err));
            if (!more) {
                break;
            }
            if (strcmp(key, "gpus") != 0) {
                DLS_TRY(dls_json_skip(j, err));
                continue;
            }
            DLS_TRY(dls_json_open(j, '[', err));
            for (;;) {
                DLS_TRY(dls_json_item(j, &more, err));
                if (!more) {
                    break;
                }
                (*n_gpus)++;
                DLS_TRY(dls_json_skip(j, err));
            }
        }
    }
}

static dls_status read_attempt(dls_json *j, attempts *out, dls_error *err)
{
    int64_t start_us = DLS_ABSENT, end_us = DLS_ABSENT, gpus = 0, nodes = 0;
    DLS_TRY(dls_json_open(j, '{', err));
    for (bool more;;) {
        char key[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(j, key, &more, err));
        if (!more) {
            break;
        }
        if (strcmp(key, "start_time") == 0) {
            DLS_TRY(read_date(j, &start_us, err));
        } else if (strcmp(key, "end_time") == 0) {
            DLS_TRY(read_date(j, &end_us, err));
        } else if (strcmp(key, "detail") == 0) {
            DLS_TRY(read_detail(j, &gpus, &nodes, err));
        } else {
            DLS_TRY(dls_json_skip(j, err));
        }
    }
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

static dls_status read_attempts(dls_json *j, attempts *out, dls_error *err)
{
    *out = (attempts){.first_start_us = DLS_ABSENT, .last_end_us = DLS_ABSENT};
    if (dls_json_peek(j) == 'n') {
        return dls_json_skip(j, err);
    }
    DLS_TRY(dls_json_open(j, '[', err));
    for (bool more;;) {
        DLS_TRY(dls_json_item(j, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(read_attempt(j, out, err));
    }
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

typedef struct job_text {
    char id[DLS_JSON_TEXT], vc[DLS_JSON_TEXT], user[DLS_JSON_TEXT], status[DLS_JSON_TEXT];
} job_text;

/* The members of one job, in any order. */
static dls_status read_members(dls_json *j, dls_job_rec *rec, job_text *text, attempts *a,
                               dls_error *err)
{
    DLS_TRY(dls_json_open(j, '{', err));
    for (bool more;;) {
        char key[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(j, key, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (dls_json_peek(j) == 'n') {
            DLS_TRY(dls_json_skip(j, err)); /* null: as if it were not there */
        } else if (strcmp(key, "id") == 0 || strcmp(key, "jobid") == 0) {
            DLS_TRY(dls_json_string(j, text->id, err));
        } else if (strcmp(key, "vc") == 0) {
            DLS_TRY(dls_json_string(j, text->vc, err));
        } else if (strcmp(key, "user") == 0) {
            DLS_TRY(dls_json_string(j, text->user, err));
        } else if (strcmp(key, "status") == 0) {
            DLS_TRY(dls_json_string(j, text->status, err));
        } else if (strcmp(key, "num_gpus") == 0) {
            DLS_TRY(dls_json_parse_number(j, "a number of GPUs", 3, 0, INT64_C(1000) * DLS_GPUS_MAX,
                                          &rec->gpus_milli, err));
        } else if (strcmp(key, "attempts") == 0) {
            DLS_TRY(read_attempts(j, a, err));
        } else if (strcmp(key, "submitted_time") == 0) {
            DLS_TRY(read_date(j, &rec->submit_us, err));
        } else {
            DLS_TRY(dls_json_skip(j, err));
        }
    }
}

static dls_status read_job(dls_json *j, dls_trace_builder *b, dls_error *err)
{
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.submit_us = rec.gpus_milli = DLS_ABSENT;
    job_text text;
    text.id[0] = text.vc[0] = text.user[0] = text.status[0] = '\0';
    attempts a = {.first_start_us = DLS_ABSENT, .last_end_us = DLS_ABSENT};
    dls_json_peek(j);
    const char *start = j->p;
    DLS_TRY(read_members(j, &rec, &text, &a, err));
    rec.id = text.id;
    rec.vc = text.vc;
    rec.user = text.user;
    if (text.status[0] && !dls_outcome_parse(text.status, strlen(text.status), &rec.outcome)) {
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
    const char *after = j->p;
    j->p = start; /* a complaint names the start of the job */
    DLS_TRY(dls_json_add(j, b, &rec, err));
    j->p = after;
    return DLS_OK;
}

dls_status dls_philly_read_jobs(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    dls_json j;
    dls_json_init(&j, src);
    dls_trace_builder_rebase(b, "");
    DLS_TRY(dls_json_open(&j, '[', err));
    while (!dls_trace_builder_full(b)) {
        bool more;
        DLS_TRY(dls_json_item(&j, &more, err));
        if (!more) {
            return dls_json_end(&j, err);
        }
        DLS_TRY(read_job(&j, b, err));
    }
    return DLS_OK;
}

int dls_philly_sniff(const dls_trace_source *src, const char *quoted_key)
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
