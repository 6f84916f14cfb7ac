/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batsim workloads: a JSON object with `jobs` and `profiles`. Only delay profiles are understood;
 * one resource is one GPU. A delay longer than the walltime ends there (status timeout). The text
 * is walked twice, since profiles may stand behind the jobs.
 */
#include "base/alloc.h"
#include "base/strdict.h"
#include "traces/trace_impl.h"
#include "traces/walk.h"

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
    dls_trace_builder *b; /* NULL while profiles are read */
} profiles;

static dls_status read_profile(const dls_walk *w, json_object *from, profile *p, dls_error *err)
{
    const char *type = "";
    int64_t delay_us = DLS_ABSENT, ret = 0;
    DLS_TRY(dls_walk_text(w, from, "type", &type, err));
    DLS_TRY(dls_walk_number(w, from, "delay", "seconds", 6, 0, DLS_TIME_MAX_US, &delay_us, err));
    DLS_TRY(dls_walk_number(w, from, "ret", "a return code", 0, INT64_MIN, INT64_MAX, &ret, err));
    *p = (profile){.delay_us = DLS_ABSENT, .fails = ret != 0};
    snprintf(p->type, sizeof p->type, "%.63s", type);
    if (strcmp(type, "delay") == 0 || strcmp(type, "DelayProfile") == 0) {
        if (delay_us == DLS_ABSENT) {
            return dls_walk_fail(w, err, "this delay profile has no 'delay'");
        }
        p->delay_us = delay_us;
    }
    return DLS_OK;
}

static dls_status read_profiles(dls_walk *w, profiles *all, dls_error *err)
{
    DLS_TRY(dls_walk_enter(w, '{', err));
    for (bool more;;) {
        char name[DLS_WALK_TEXT];
        DLS_HOLD(json_object_put) json_object *from = NULL;
        DLS_TRY(dls_walk_key(w, name, &more, err));
        if (!more) {
            return DLS_OK;
        }
        const size_t known = all->names.n;
        int32_t code = -1;
        DLS_TRY(dls_strdict_put(&all->names, name, strlen(name), &code, err));
        if (all->names.n == known) {
            return dls_walk_fail(w, err, "two profiles are named '%.80s'", name);
        }
        DLS_TRY(dls_grow(&all->of, &all->cap, all->names.n, sizeof *all->of, err));
        DLS_TRY(dls_walk_object(w, &from, err));
        DLS_TRY(read_profile(w, from, &all->of[code], err));
    }
}

static dls_status read_job(void *user, dls_walk *w, json_object *job, dls_error *err)
{
    const profiles *all = user;
    dls_trace_builder *b = all->b;
    dls_job_rec rec;
    int64_t res = DLS_ABSENT, number = DLS_ABSENT;
    char id[24];
    const char *name = "";
    if (dls_trace_builder_full(b)) {
        return DLS_OK;
    }
    dls_job_rec_init(&rec);
    rec.submit_us = DLS_ABSENT;
    if (json_object_is_type(json_object_object_get(job, "id"), json_type_string)) {
        DLS_TRY(dls_walk_text(w, job, "id", &rec.id, err));
    } else {
        DLS_TRY(dls_walk_number(w, job, "id", "a string or a whole number", 0, 0, INT64_MAX,
                                &number, err));
        snprintf(id, sizeof id, "%" PRId64, number);
        rec.id = number >= 0 ? id : NULL;
    }
    DLS_TRY(
        dls_walk_number(w, job, "subtime", "seconds", 6, 0, DLS_TIME_MAX_US, &rec.submit_us, err));
    DLS_TRY(dls_walk_number(w, job, "res", "a number of resources", 0, 0, DLS_GPUS_MAX, &res, err));
    DLS_TRY(dls_walk_text(w, job, "profile", &name, err));
    DLS_TRY(dls_walk_number(w, job, "walltime", "seconds", 6, -DLS_US_PER_S, DLS_TIME_MAX_US,
                            &rec.limit_us, err));
    rec.limit_us = rec.limit_us > 0 ? rec.limit_us : DLS_ABSENT; /* older files: -1 */
    if (rec.submit_us == DLS_ABSENT || res == DLS_ABSENT || !*name) {
        return dls_walk_fail(w, err, "this job lacks '%s'",
                             rec.submit_us == DLS_ABSENT ? "subtime"
                             : res == DLS_ABSENT         ? "res"
                                                         : "profile");
    }
    const int32_t code = dls_strdict_find(&all->names, name, strlen(name));
    if (code < 0) {
        return dls_walk_fail(w, err, "no profile is named '%.80s'", name);
    }
    const profile *p = &all->of[code];
    if (p->delay_us == DLS_ABSENT) {
        return dls_walk_fail(w, err, "profile '%.80s' is of type '%s', only delays are understood",
                             name, p->type);
    }
    if (res == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    const bool cut = rec.limit_us != DLS_ABSENT && p->delay_us > rec.limit_us;
    rec.gpus_milli = res * 1000;
    rec.duration_us = cut ? rec.limit_us : p->delay_us;
    rec.outcome = cut ? DLS_OUTCOME_TIMEOUT : p->fails ? DLS_OUTCOME_FAILED : DLS_OUTCOME_COMPLETED;
    return dls_walk_add(w, b, &rec, err);
}

/* One walk over the outer object: the profiles, or the jobs. */
static dls_status walk(dls_walk *w, profiles *all, dls_error *err)
{
    w->p = w->src->text;
    DLS_TRY(dls_walk_enter(w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(w, key, &more, err));
        if (!more) {
            return dls_walk_end(w, err);
        }
        if (!all->b && strcmp(key, "profiles") == 0) {
            DLS_TRY(read_profiles(w, all, err));
        } else if (all->b && strcmp(key, "jobs") == 0) {
            DLS_TRY(dls_walk_objects(w, read_job, all, err));
        } else {
            DLS_TRY(dls_walk_skip(w, err));
        }
    }
}

static void profiles_fini(profiles *all)
{
    dls_strdict_fini(&all->names);
    dls_free(all->of);
}

static dls_status read_batsim(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    DLS_OWN(profiles_fini) profiles all = {0};
    DLS_OWN(dls_walk_fini) dls_walk w = {0};
    DLS_TRY(dls_walk_init(&w, src, err));
    DLS_TRY(walk(&w, &all, err));
    all.b = b;
    return walk(&w, &all, err);
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
