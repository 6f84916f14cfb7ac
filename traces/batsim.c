/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batsim workloads: a JSON object with `jobs` and `profiles`. Only delay profiles are understood;
 * one resource is one GPU. A delay longer than the walltime ends there (status timeout). The text
 * is walked twice, since profiles may stand behind the jobs.
 */
#include "base/alloc.h"
#include "base/strdict.h"
#include "traces/json.h"
#include "traces/trace_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct profile {
    int64_t delay_us; /* DLS_ABSENT: of another type */
    bool fails;       /* its `ret` is not zero */
    char type[64];
} profile;

typedef struct profiles {
    dls_strdict names;
    profile *of; /* [names.n] */
    size_t cap;
} profiles;

static dls_status read_profile(dls_json *j, profile *p, dls_error *err)
{
    *p = (profile){.delay_us = DLS_ABSENT};
    int64_t delay_us = DLS_ABSENT;
    DLS_TRY(dls_json_open(j, '{', err));
    for (bool more;;) {
        char key[DLS_JSON_TEXT], type[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(j, key, &more, err));
        if (!more) {
            break;
        }
        if (strcmp(key, "type") == 0) {
            DLS_TRY(dls_json_string(j, type, err));
            snprintf(p->type, sizeof p->type, "%.63s", type);
        } else if (strcmp(key, "delay") == 0) {
            DLS_TRY(dls_json_parse_number(j, "seconds", 6, 0, DLS_TIME_MAX_US, &delay_us, err));
        } else if (strcmp(key, "ret") == 0) {
            int64_t ret;
            DLS_TRY(dls_json_parse_number(j, "a return code", 0, INT64_MIN, INT64_MAX, &ret, err));
            p->fails = ret != 0;
        } else {
            DLS_TRY(dls_json_skip(j, err));
        }
    }
    if (strcmp(p->type, "delay") == 0 || strcmp(p->type, "DelayProfile") == 0) {
        if (delay_us == DLS_ABSENT) {
            return dls_json_fail(j, err, "the delay profile that ends here has no 'delay'");
        }
        p->delay_us = delay_us;
    }
    return DLS_OK;
}

static dls_status read_profiles(dls_json *j, profiles *all, dls_error *err)
{
    DLS_TRY(dls_json_open(j, '{', err));
    for (bool more;;) {
        char name[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(j, name, &more, err));
        if (!more) {
            return DLS_OK;
        }
        const size_t known = all->names.n;
        int32_t code = -1;
        DLS_TRY(dls_strdict_put(&all->names, name, strlen(name), &code, err));
        if (all->names.n == known) {
            return dls_json_fail(j, err, "two profiles are named '%.80s'", name);
        }
        DLS_TRY(dls_grow(&all->of, &all->cap, all->names.n, sizeof *all->of, err));
        DLS_TRY(read_profile(j, &all->of[code], err));
    }
}

/* A job's id: a string or a whole number. */
static dls_status read_id(dls_json *j, char id[DLS_JSON_TEXT], dls_error *err)
{
    if (dls_json_peek(j) == '"') {
        return dls_json_string(j, id, err);
    }
    int64_t number;
    DLS_TRY(dls_json_parse_number(j, "a string or a whole number", 0, 0, INT64_MAX, &number, err));
    snprintf(id, DLS_JSON_TEXT, "%" PRId64, number);
    return DLS_OK;
}

static dls_status read_job(dls_json *j, const profiles *all, dls_trace_builder *b, dls_error *err)
{
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.submit_us = DLS_ABSENT;
    char id[DLS_JSON_TEXT] = "", name[DLS_JSON_TEXT] = "";
    int64_t res = DLS_ABSENT;
    dls_json_peek(j);
    const char *start = j->p;
    DLS_TRY(dls_json_open(j, '{', err));
    for (bool more;;) {
        char key[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(j, key, &more, err));
        if (!more) {
            break;
        }
        if (strcmp(key, "id") == 0) {
            DLS_TRY(read_id(j, id, err));
        } else if (strcmp(key, "subtime") == 0) {
            DLS_TRY(
                dls_json_parse_number(j, "seconds", 6, 0, DLS_TIME_MAX_US, &rec.submit_us, err));
        } else if (strcmp(key, "res") == 0) {
            DLS_TRY(
                dls_json_parse_number(j, "a number of resources", 0, 0, DLS_GPUS_MAX, &res, err));
        } else if (strcmp(key, "profile") == 0) {
            DLS_TRY(dls_json_string(j, name, err));
        } else if (strcmp(key, "walltime") == 0) {
            DLS_TRY(dls_json_parse_number(j, "seconds", 6, -DLS_US_PER_S, DLS_TIME_MAX_US,
                                          &rec.limit_us, err));
            rec.limit_us = rec.limit_us > 0 ? rec.limit_us : DLS_ABSENT; /* older files: -1 */
        } else {
            DLS_TRY(dls_json_skip(j, err));
        }
    }
    const char *after = j->p;
    j->p = start; /* complaints name the start of the job */
    if (rec.submit_us == DLS_ABSENT || res == DLS_ABSENT || !*name) {
        return dls_json_fail(j, err, "this job lacks '%s'",
                             rec.submit_us == DLS_ABSENT ? "subtime"
                             : res == DLS_ABSENT         ? "res"
                                                         : "profile");
    }
    const int32_t code = dls_strdict_find(&all->names, name, strlen(name));
    if (code < 0) {
        return dls_json_fail(j, err, "no profile is named '%.80s'", name);
    }
    const profile *p = &all->of[code];
    if (p->delay_us == DLS_ABSENT) {
        return dls_json_fail(j, err, "profile '%.80s' is of type '%s', only delays are understood",
                             name, p->type);
    }
    if (res == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        j->p = after;
        return DLS_OK;
    }
    const bool cut = rec.limit_us != DLS_ABSENT && p->delay_us > rec.limit_us;
    rec.id = id;
    rec.gpus_milli = res * 1000;
    rec.duration_us = cut ? rec.limit_us : p->delay_us;
    rec.outcome = cut ? DLS_OUTCOME_TIMEOUT : p->fails ? DLS_OUTCOME_FAILED : DLS_OUTCOME_COMPLETED;
    DLS_TRY(dls_json_add(j, b, &rec, err));
    j->p = after;
    return DLS_OK;
}

static dls_status read_jobs(dls_json *j, const profiles *all, dls_trace_builder *b, dls_error *err)
{
    DLS_TRY(dls_json_open(j, '[', err));
    for (bool more;;) {
        DLS_TRY(dls_json_item(j, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (dls_trace_builder_full(b)) {
            DLS_TRY(dls_json_skip(j, err));
        } else {
            DLS_TRY(read_job(j, all, b, err));
        }
    }
}

/* One walk over the outer object: the profiles, or (b) the jobs. */
static dls_status walk(const dls_trace_source *src, profiles *all, dls_trace_builder *b,
                       dls_error *err)
{
    dls_json j;
    dls_json_init(&j, src);
    DLS_TRY(dls_json_open(&j, '{', err));
    for (bool more;;) {
        char key[DLS_JSON_TEXT];
        DLS_TRY(dls_json_key(&j, key, &more, err));
        if (!more) {
            return dls_json_end(&j, err);
        }
        if (!b && strcmp(key, "profiles") == 0) {
            DLS_TRY(read_profiles(&j, all, err));
        } else if (b && strcmp(key, "jobs") == 0) {
            DLS_TRY(read_jobs(&j, all, b, err));
        } else {
            DLS_TRY(dls_json_skip(&j, err));
        }
    }
}

static dls_status read_batsim(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    profiles all = {0};
    dls_strdict_init(&all.names);
    dls_status status = walk(src, &all, NULL, err);
    if (status == DLS_OK) {
        status = walk(src, &all, b, err);
    }
    dls_strdict_fini(&all.names);
    dls_free(all.of);
    return status;
}

static int sniff(const dls_trace_source *src)
{
    return src->text[strspn(src->text, " \t\r\n")] == '{' &&
                   memmem(src->text, src->len, "\"jobs\"", 6) &&
                   memmem(src->text, src->len, "\"profiles\"", 10)
               ? 80
               : 0;
}

const dls_trace_format dls_trace_format_batsim = {
    .name = "batsim",
    .summary = "Batsim workload (JSON) with delay profiles, one resource = one GPU",
    .sniff = sniff,
    .read = read_batsim,
};
