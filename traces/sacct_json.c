/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's accounting as JSON.
 */
#include "traces/sacct_json.h"

#include "traces/outcome.h"
#include "traces/trace_impl.h"
#include "traces/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A member that is a number, or since 23.02 {"set": true, "infinite": false, "number": 60}; *out
 * stays as it is where it is not set. */
static dls_status number(const dls_walk *w, json_object *of, const char *name, const char *what,
                         int64_t *out, dls_error *err)
{
    json_object *member = NULL;
    if (!json_object_object_get_ex(of, name, &member) ||
        !json_object_is_type(member, json_type_object)) {
        return dls_walk_number(w, of, name, what, 0, 0, INT64_C(1) << 53, out, err);
    }
    if (json_object_get_boolean(json_object_object_get(member, "infinite")) ||
        !json_object_get_boolean(json_object_object_get(member, "set"))) {
        return DLS_OK;
    }
    return dls_walk_number(w, member, "number", what, 0, 0, INT64_C(1) << 53, out, err);
}

/* "COMPLETED", or since 23.02 ["COMPLETED"]. */
static const char *state_of(json_object *job)
{
    json_object *state = NULL, *current = NULL;
    if (json_object_object_get_ex(job, "state", &state)) {
        json_object_object_get_ex(state, "current", &current);
    }
    if (json_object_is_type(current, json_type_array)) {
        current = json_object_array_get_idx(current, 0);
    }
    return json_object_is_type(current, json_type_string) ? json_object_get_string(current) : "";
}

typedef struct held {
    int64_t gpus, cpus, mem_mib;
    const char *type; /* behind the ':' of "gpu:a100"; NULL: none is named */
} held;

/* A list of {"type", "name", "count"}. */
static dls_status read_tres(const dls_walk *w, json_object *list, held *h, dls_error *err)
{
    *h = (held){0, DLS_ABSENT, DLS_ABSENT, NULL};
    if (!json_object_is_type(list, json_type_array)) {
        return DLS_OK;
    }
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *tres = json_object_array_get_idx(list, i);
        const char *type = "", *name = "";
        int64_t count = DLS_ABSENT;
        DLS_TRY(dls_walk_text(w, tres, "type", &type, err));
        DLS_TRY(dls_walk_text(w, tres, "name", &name, err));
        DLS_TRY(number(w, tres, "count", "a count", &count, err));
        if (count == DLS_ABSENT) {
            continue;
        }
        if (strcmp(type, "gres") == 0 && strncmp(name, "gpu", 3) == 0 && strchr(":", name[3])) {
            h->gpus = count > h->gpus ? count : h->gpus; /* gpu is the sum of gpu:TYPE */
            h->type = name[3] ? name + 4 : h->type;
        } else if (strcmp(type, "cpu") == 0) {
            h->cpus = count;
        } else if (strcmp(type, "mem") == 0) {
            h->mem_mib = count;
        }
    }
    return DLS_OK;
}

/* As allocated or, failing that, as asked for. */
static dls_status read_held(const dls_walk *w, json_object *job, dls_job_rec *rec, dls_error *err)
{
    static const char *const lists[] = {"allocated", "requested"};
    json_object *tres = json_object_object_get(job, "tres");
    for (int k = 0; k < 2 && tres && rec->gpus_milli <= 0; k++) {
        held h;
        DLS_TRY(read_tres(w, json_object_object_get(tres, lists[k]), &h, err));
        rec->gpus_milli = h.gpus <= DLS_GPUS_MAX ? h.gpus * 1000 : 0;
        rec->cpu_milli = h.cpus > 0 && h.cpus < INT64_C(1) << 40 ? h.cpus * 1000 : DLS_ABSENT;
        rec->mem_mib = h.mem_mib > 0 ? h.mem_mib : DLS_ABSENT;
        rec->gpu_types = h.type;
    }
    return DLS_OK;
}

typedef struct times {
    int64_t submit, eligible, start, end, limit; /* s; limit: min; 0 or DLS_ABSENT: not yet */
} times;

/* NULL: a job that ran. */
static const char *why_not(const times *t, const dls_job_rec *rec)
{
    const bool none = t->submit <= 0 || t->end > DLS_TIME_MAX_US / DLS_US_PER_S;
    return t->start <= 0          ? "never started (pending, or cancelled while it was)"
           : none                 ? "a time that is none"
           : t->end <= 0          ? "no end (still running, or lost)"
           : rec->gpus_milli <= 0 ? "no GPU"
           : t->end < t->start    ? "ended before it started: the clock was set back"
                                  : NULL;
}

static void set_times(const times *t, dls_job_rec *rec, dls_trace_builder *b)
{
    int64_t submit = t->submit;
    if (t->eligible > submit) {
        submit = t->eligible;
        dls_trace_builder_changed(b, "submitted when it became eligible");
    }
    if (t->start < submit) {
        submit = t->start;
        dls_trace_builder_changed(b, "started before it was submitted: the clock was set back");
    }
    rec->submit_us = submit * DLS_US_PER_S;
    rec->queue_us = (t->start - submit) * DLS_US_PER_S;
    rec->duration_us = (t->end - t->start) * DLS_US_PER_S;
    rec->limit_us =
        t->limit > 0 && t->limit < INT64_C(1) << 30 ? t->limit * 60 * DLS_US_PER_S : DLS_ABSENT;
}

static dls_status read_job(const dls_walk *w, json_object *job, dls_trace_builder *b,
                           dls_error *err)
{
    dls_job_rec rec;
    times t = {DLS_ABSENT, DLS_ABSENT, DLS_ABSENT, DLS_ABSENT, DLS_ABSENT};
    int64_t id = DLS_ABSENT, task = DLS_ABSENT;
    char text[48], again[96];
    json_object *time = json_object_object_get(job, "time");
    json_object *array = json_object_object_get(job, "array");
    dls_job_rec_init(&rec);
    DLS_TRY(number(w, job, "job_id", "a number", &id, err));
    if (id == DLS_ABSENT || !json_object_is_type(time, json_type_object)) {
        return dls_walk_fail(w, err, "this job lacks '%s'", id == DLS_ABSENT ? "job_id" : "time");
    }
    DLS_TRY(number(w, time, "submission", "seconds", &t.submit, err));
    DLS_TRY(number(w, time, "eligible", "seconds", &t.eligible, err));
    DLS_TRY(number(w, time, "start", "seconds", &t.start, err));
    DLS_TRY(number(w, time, "end", "seconds", &t.end, err));
    DLS_TRY(number(w, time, "limit", "minutes", &t.limit, err));
    DLS_TRY(read_held(w, job, &rec, err));
    const char *skip = why_not(&t, &rec);
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    if (json_object_is_type(array, json_type_object)) {
        DLS_TRY(number(w, array, "task_id", "a number", &task, err));
        int64_t whole = DLS_ABSENT;
        DLS_TRY(number(w, array, "job_id", "a number", &whole, err));
        id = task >= 0 && whole > 0 ? whole : id;
    }
    snprintf(text, sizeof text, task >= 0 ? "%" PRId64 "_%" PRId64 : "%" PRId64, id, task);
    rec.id = dls_trace_builder_new_id(b, text, again, sizeof again);
    if (rec.id == again) {
        dls_trace_builder_noted(b, "an id again (sacct -D, or ids that wrapped): a run of its own");
    }
    set_times(&t, &rec, b);
    DLS_TRY(number(w, job, "allocation_nodes", "a number of nodes", &rec.nodes, err));
    rec.nodes = rec.nodes > 0 && rec.nodes <= INT32_MAX ? rec.nodes : DLS_ABSENT;
    DLS_TRY(number(w, job, "priority", "a priority", &rec.priority, err));
    DLS_TRY(dls_walk_text(w, job, "user", &rec.user, err));
    DLS_TRY(dls_walk_text(w, job, "account", &rec.job_class, err));
    DLS_TRY(dls_walk_text(w, job, "partition", &rec.vc, err));
    const char *state = state_of(job);
    if (!dls_outcome_parse(state, strlen(state), &rec.outcome)) {
        dls_trace_builder_noted(b, "state not known");
    }
    return dls_walk_add(w, b, &rec, err);
}

static dls_status read_jobs(dls_walk *w, dls_trace_builder *b, dls_error *err)
{
    const char *counted = w->src->text;
    size_t line = 1;
    DLS_TRY(dls_walk_enter(w, '[', err));
    for (bool more;;) {
        json_object *job;
        DLS_TRY(dls_walk_item(w, ']', &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(dls_walk_object(w, &job, err));
        for (; (counted = memchr(counted, '\n', (size_t)(w->at - counted))); counted++) {
            line++;
        }
        counted = w->at;
        dls_trace_builder_line(b, line);
        const dls_status status = dls_trace_builder_full(b) ? DLS_OK : read_job(w, job, b, err);
        json_object_put(job);
        DLS_TRY(status);
    }
}

static dls_status read_all(dls_walk *w, dls_trace_builder *b, dls_error *err)
{
    bool found = false;
    DLS_TRY(dls_walk_enter(w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(w, key, &more, err));
        if (!more) {
            break;
        }
        if (strcmp(key, "jobs") == 0) {
            found = true;
            DLS_TRY(read_jobs(w, b, err));
        } else {
            DLS_TRY(dls_walk_skip(w, err));
        }
    }
    DLS_TRY(dls_walk_end(w, err));
    return found ? DLS_OK : dls_fail(err, DLS_EINPUT, w->src->path, "has no list 'jobs'");
}

dls_status dls_sacct_read_json(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    dls_walk w;
    DLS_TRY(dls_walk_init(&w, src, err));
    w.p = src->text;
    dls_trace_builder_rebase(b, "");
    const dls_status status = read_all(&w, b, err);
    dls_walk_fini(&w);
    return status;
}
