/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What DCGM's exporter measured of GPUs, as profiles of jobs: answers of Prometheus to range
 * queries (https://prometheus.io/docs/prometheus/latest/querying/api/) or tables. A series belongs
 * to the job that its labels name (dcgm-exporter's hpc_job; pod and namespace in Kubernetes), else
 * to the one that had its node to itself (an accounting's NodeList).
 *
 * What may be changed here: which metrics and labels are known. tests/cli/site_dcgm.sh guards it.
 */
#include "dlsim/site.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/guard.h"
#include "base/strdict.h"
#include "base/suggest.h"
#include "site/node_list.h"
#include "site/nodes.h"
#include "traces/date.h"
#include "traces/sacct_json.h"
#include "traces/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum metric { UTILISATION, ENGINE, MEMORY, POWER, N_METRICS } metric;

/* The fields of DCGM; unit: what one is in the profile's (parts, MiB, W). */
static const struct known {
    const char *name;
    metric metric;
    double unit, most;
} known[] = {{"DCGM_FI_DEV_GPU_UTIL", UTILISATION, 0.01, 100},
             {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", ENGINE, 1, 1}, /* where there is no GPU_UTIL */
             {"DCGM_FI_DEV_FB_USED", MEMORY, 1, 16e6},
             {"DCGM_FI_DEV_POWER_USAGE", POWER, 1, 5000}};
#define N_KNOWN (sizeof known / sizeof *known)

typedef struct profile {
    double sum[N_METRICS], most[N_METRICS];
    size_t n[N_METRICS];
    int32_t type; /* of GPU, in names; -1 */
} profile;

/* A job of the accounting comes to a node or leaves it. */
typedef struct change {
    double at_s;
    int32_t node, job; /* in names, in jobs; later: who has it to himself then */
    int32_t jobs;      /* 1, -1 */
} change;

/* A pod of a job; one made anew under its name may be of another. */
typedef struct pod {
    int32_t name, job; /* in pods, in jobs */
    double from_s;
} pod;

enum { NOBODY = -1, SEVERAL = -2 };

typedef struct reading {
    dls_strdict jobs, names, raw; /* raw: numbers of the accounting's jobs, which those of array tasks are not called by */
    profile *of;                  /* [jobs.n] */
    int32_t *of_raw;              /* [raw.n] in jobs */
    size_t cap, raw_cap;
    dls_strdict pods;             /* "namespace/name" */
    pod *pod;                     /* [n_pods] by name and time */
    size_t n_pods, pods_cap;
    change *change; /* [n_changes] by node and time */
    size_t n_changes, changes_cap;
    size_t samples, used, no_value, shared, nobody, other; /* other: series of other metrics */
    size_t odd_stays;                                      /* rows of the accounting left out */
    char where[512], odd[512]; /* of the first without a value, of those */
} reading;

static const struct known *known_of(const char *name)
{
    const size_t i = DLS_NAMED(known, name);
    return i < N_KNOWN ? &known[i] : NULL;
}

/* ---- the accounting -------------------------------------------------------------------------- */

static dls_status job_of(reading *r, const char *id, int32_t *job, dls_error *err)
{
    DLS_TRY(dls_strdict_put(&r->jobs, id, strlen(id), job, err));
    const size_t had = r->cap;
    DLS_TRY(dls_grow(&r->of, &r->cap, (size_t)*job + 1, sizeof *r->of, err));
    for (size_t i = had; i < r->cap; i++) {
        r->of[i] = (profile){.type = -1};
    }
    return DLS_OK;
}

enum { ID, START, END, LIST, RAW };

typedef struct stay {
    reading *r;
    double from_s, to_s;
    int32_t job;
} stay;

static dls_status add_stay(void *user, const char *node, dls_error *err)
{
    const stay *s = user;
    reading *r = s->r;
    int32_t code;
    DLS_TRY(dls_strdict_put(&r->names, node, strlen(node), &code, err));
    DLS_TRY(dls_grow(&r->change, &r->changes_cap, r->n_changes + 2, sizeof *r->change, err));
    r->change[r->n_changes++] = (change){s->from_s, code, s->job, 1};
    r->change[r->n_changes++] = (change){s->to_s, code, s->job, -1};
    return DLS_OK;
}

static bool time_at(dls_csv *csv, int col, double *s)
{
    int64_t us;
    const bool is = dls_date_or_seconds(csv->cell[col].s, csv->cell[col].len, &us);
    *s = is ? 1e-6 * (double)us : *s;
    return is;
}

static dls_status add_stays(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    reading *r = user;
    stay s = {.r = r, .to_s = (double)INFINITY}; /* without an end it runs yet */
    const bool whole = csv->n_cells == csv->n_header;
    if (whole && memchr(csv->cell[col[ID]].s, '.', csv->cell[col[ID]].len)) {
        return DLS_OK; /* a step */
    }
    if (!whole || !time_at(csv, col[START], &s.from_s)) {
        if (r->odd_stays++ == 0) {
            snprintf(r->odd, sizeof r->odd, "%.400s:%zu", csv->path, csv->line);
        }
        return DLS_OK;
    }
    (void)time_at(csv, col[END], &s.to_s);
    DLS_TRY(job_of(r, dls_csv_text(csv, col[ID]), &s.job, err));
    if (col[RAW] >= 0 && csv->cell[col[RAW]].len > 0) {
        int32_t code;
        DLS_TRY(dls_strdict_put(&r->raw, csv->cell[col[RAW]].s, csv->cell[col[RAW]].len, &code, err));
        DLS_TRY(dls_grow(&r->of_raw, &r->raw_cap, r->raw.n, sizeof *r->of_raw, err));
        r->of_raw[code] = s.job;
    }
    return dls_site_node_list(dls_csv_text(csv, col[LIST]), add_stay, &s, err);
}

static dls_status read_stays(reading *r, const char *path, dls_error *err)
{
    static const char *const names[] = {"JobID|JobIDRaw", "Start", "End", "NodeList", "JobIDRaw"};
    DLS_FREED char *text = NULL;
    dls_trace_source sacct = {.path = path};
    DLS_TRY(dls_sacct_text(path, &text, &sacct.len, err));
    sacct.text = text;
    return dls_sacct_rows(&sacct, names, 5, 4, add_stays, r, err);
}

DLS_BY(by_node, change, DLS_UP(node), DLS_UP(at_s), DLS_UP(jobs));

/* Changes in order of time, each with who has the node to himself from then on. */
static void settle(reading *r)
{
    int64_t jobs = 0, sum = 0; /* of one job the sum of the codes is its code */
    dls_sort(r->change, r->n_changes, sizeof *r->change, by_node);
    for (size_t i = 0; i < r->n_changes; i++) {
        change *c = &r->change[i];
        if (i == 0 || c[-1].node != c->node) {
            jobs = sum = 0;
        }
        jobs += c->jobs;
        sum += c->jobs * (int64_t)c->job;
        c->job = jobs == 0 ? NOBODY : jobs == 1 ? (int32_t)sum : SEVERAL;
    }
}

static int32_t alone_on(const reading *r, int32_t node, double at_s)
{
    const change *c = r->change;
    size_t lo; /* the first change behind */
    DLS_BISECT(lo, r->n_changes, c[lo].node < node || (c[lo].node == node && c[lo].at_s <= at_s));
    return lo > 0 && r->change[lo - 1].node == node ? r->change[lo - 1].job : NOBODY;
}

/* ---- pods ------------------------------------------------------------------------------------ */

DLS_BY(by_name, pod, DLS_UP(name), DLS_UP(from_s));

static dls_status read_pods(reading *r, const char *path, dls_error *err)
{
    int name, job, start;
    bool more;
    size_t len;
    DLS_FREED char *text = NULL;
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    const dls_csv_bind binds[] = {{"pod", &name, true}, {"job_id", &job, true}, {"start", &start, true}};
    DLS_TRY(dls_file_read_text(path, DLS_FILE_TRACE, &text, &len, err));
    dls_csv_init(&csv, path, text, len, ',');
    DLS_TRY(dls_csv_header(&csv, err));
    DLS_TRY(dls_csv_bind_all(&csv, binds, sizeof binds / sizeof *binds, err));
    for (;;) {
        DLS_TRY(dls_csv_next(&csv, &more, err));
        if (!more) {
            break;
        }
        pod is;
        if (!time_at(&csv, start, &is.from_s)) {
            return dls_fail(err, DLS_EINPUT, path, "line %zu: start is no time", csv.line);
        }
        DLS_TRY(dls_strdict_put(&r->pods, csv.cell[name].s, csv.cell[name].len, &is.name, err));
        DLS_TRY(job_of(r, dls_csv_text(&csv, job), &is.job, err));
        DLS_TRY(dls_grow(&r->pod, &r->pods_cap, r->n_pods + 1, sizeof *r->pod, err));
        r->pod[r->n_pods++] = is;
    }
    dls_sort(r->pod, r->n_pods, sizeof *r->pod, by_name);
    return DLS_OK;
}

/* The job of the last pod of that name that had begun, else of the first; -1: of none. */
static int32_t job_of_pod(const reading *r, const char *name, double at_s)
{
    const int32_t code = dls_strdict_find(&r->pods, name, strlen(name));
    const pod *p = r->pod;
    size_t lo; /* the first behind */
    if (code < 0) {
        return -1;
    }
    DLS_BISECT(lo, r->n_pods, p[lo].name < code || (p[lo].name == code && p[lo].from_s <= at_s));
    return lo > 0 && p[lo - 1].name == code ? p[lo - 1].job : p[lo].job;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* What a series is of. */
typedef struct series {
    char job[256]; /* "": by its node; of a pod "namespace/name" */
    bool pod;
    char node[256];
    char type[64];
    const struct known *metric;
} series;

/* DCGM writes numbers beyond 2^31 for what it cannot measure. */
static bool is_value(const struct known *k, double value)
{
    return isfinite(value) && value >= 0 && value <= k->most;
}

static dls_status add_sample(reading *r, const series *s, double at_s, const char *text,
                             const char *where, dls_error *err)
{
    char *end;
    const double value = strtod(text, &end);
    int32_t job = NOBODY;
    r->samples++;
    if (end == text || *end || !is_value(s->metric, value)) {
        if (r->no_value++ == 0) {
            snprintf(r->where, sizeof r->where, "%s", where);
        }
        return DLS_OK;
    }
    const int32_t raw = s->job[0] ? dls_strdict_find(&r->raw, s->job, strlen(s->job)) : -1;
    const int32_t of_pod = s->pod ? job_of_pod(r, s->job, at_s) : -1;
    if (raw >= 0) {
        job = r->of_raw[raw];
    } else if (of_pod >= 0) {
        job = of_pod;
    } else if (s->job[0]) {
        DLS_TRY(job_of(r, s->job, &job, err));
    } else {
        /* An exporter's instance has its port behind the name, a node's name often its domain. */
        const int32_t node = dls_strdict_find(&r->names, s->node, strcspn(s->node, ".:"));
        job = node < 0 ? NOBODY : alone_on(r, node, at_s);
    }
    if (job < 0) {
        r->nobody += job == NOBODY;
        r->shared += job == SEVERAL;
        return DLS_OK;
    }
    profile *p = &r->of[job];
    const metric m = s->metric->metric;
    p->sum[m] += value * s->metric->unit;
    p->most[m] = fmax(p->most[m], value * s->metric->unit);
    p->n[m]++;
    r->used++;
    if (p->type < 0 && s->type[0]) {
        DLS_TRY(dls_strdict_put(&r->names, s->type, strlen(s->type), &p->type, err));
    }
    return DLS_OK;
}

/* ---- Prometheus ------------------------------------------------------------------------------ */

static const char *label(json_object *of, const char *const *names)
{
    for (; *names; names++) {
        json_object *member;
        if (json_object_object_get_ex(of, *names, &member) &&
            json_object_is_type(member, json_type_string) && json_object_get_string_len(member)) {
            return json_object_get_string(member);
        }
    }
    return "";
}

static const char *const job_labels[] = {"hpc_job", "job_id", NULL},
                         *const pod_labels[] = {"exported_pod", "pod", NULL},
                         *const space_labels[] = {"exported_namespace", "namespace", NULL},
                         *const node_labels[] = {"Hostname", "node", "instance", NULL},
                         *const type_labels[] = {"modelName", NULL},
                         *const name_labels[] = {"__name__", NULL};

static series series_of(json_object *labels)
{
    series s = {.metric = known_of(label(labels, name_labels))};
    const char *named = label(labels, pod_labels);
    snprintf(s.job, sizeof s.job, "%s", label(labels, job_labels));
    s.pod = !s.job[0] && named[0];
    if (s.pod) {
        snprintf(s.job, sizeof s.job, "%.120s/%.120s", label(labels, space_labels), named);
    }
    snprintf(s.node, sizeof s.node, "%s", label(labels, node_labels));
    snprintf(s.type, sizeof s.type, "%s", label(labels, type_labels));
    return s;
}

/* {"metric": {labels}, "values": [[seconds, "value"], ..]} */
static dls_status add_series(void *user, dls_walk *w, json_object *item, dls_error *err)
{
    reading *r = user;
    json_object *labels, *values;
    char where[300];
    if (!json_object_object_get_ex(item, "metric", &labels) ||
        !json_object_is_type(labels, json_type_object) ||
        !json_object_object_get_ex(item, "values", &values) ||
        !json_object_is_type(values, json_type_array)) {
        return dls_walk_fail(w, err, "expected a series of a range query: metric and values");
    }
    const series s = series_of(labels);
    if (!s.metric) {
        r->other++;
        return DLS_OK;
    }
    for (size_t i = 0; i < json_object_array_length(values); i++) {
        json_object *pair = json_object_array_get_idx(values, i);
        if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2) {
            return dls_walk_fail(w, err, "value %zu of a series is no [time, \"value\"]", i + 1);
        }
        json_object *value = json_object_array_get_idx(pair, 1);
        snprintf(where, sizeof where, "%s %.100s, value %zu", s.metric->name,
                 s.job[0] ? s.job : s.node, i + 1);
        DLS_TRY(add_sample(r, &s, json_object_get_double(json_object_array_get_idx(pair, 0)),
                           value ? json_object_get_string(value) : "", where, err));
    }
    return DLS_OK;
}

/* {"status": "success", "data": {"resultType": "matrix", "result": [..]}}; `data`: in its object.
 */
static dls_status read_answer(reading *r, dls_walk *w, bool data, bool *found, dls_error *err)
{
    DLS_TRY(dls_walk_enter(w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(w, key, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (!data && strcmp(key, "data") == 0) {
            DLS_TRY(read_answer(r, w, true, found, err));
        } else if (data && strcmp(key, "result") == 0) {
            *found = true;
            DLS_TRY(dls_walk_objects(w, add_series, r, err));
        } else {
            DLS_TRY(dls_walk_skip(w, err));
        }
    }
}

static dls_status read_json(reading *r, const char *path, const char *text, size_t len,
                            dls_error *err)
{
    const dls_trace_source src = {.path = path, .text = text, .len = len};
    DLS_OWN(dls_walk_fini) dls_walk w = {0};
    bool found = false;
    DLS_TRY(dls_walk_init(&w, &src, err));
    DLS_TRY(read_answer(r, &w, false, &found, err));
    DLS_TRY(dls_walk_end(&w, err));
    return found ? DLS_OK
                 : dls_fail(err, DLS_EINPUT, path,
                            "no data.result: it takes Prometheus's answer to a range query "
                            "(api/v1/query_range)");
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct columns {
    int time, job, node, type, name, value, metric[N_KNOWN];
} columns;

static dls_status add_row(reading *r, dls_csv *csv, const columns *c, dls_error *err)
{
    series s = {.metric = NULL};
    char where[300];
    double at_s = 0;
    snprintf(s.job, sizeof s.job, "%.255s", dls_csv_text(csv, c->job));
    snprintf(s.node, sizeof s.node, "%.255s", dls_csv_text(csv, c->node));
    snprintf(s.type, sizeof s.type, "%.63s", dls_csv_text(csv, c->type));
    snprintf(where, sizeof where, "%.255s:%zu", csv->path, csv->line);
    const bool dated = time_at(csv, c->time, &at_s);
    const struct known *named = c->name >= 0 ? known_of(dls_csv_text(csv, c->name)) : NULL;
    r->other += c->name >= 0 && !named;
    for (size_t i = 0; i < N_KNOWN; i++) {
        const int col = named == &known[i] ? c->value : c->metric[i];
        if (col >= 0) {
            s.metric = &known[i];
            DLS_TRY(add_sample(r, &s, at_s, dated ? dls_csv_text(csv, col) : "", where, err));
        }
    }
    return DLS_OK;
}

static dls_status read_table(reading *r, const char *path, const char *text, size_t len,
                             dls_error *err)
{
    columns c;
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    bool more, any = false;
    const dls_csv_bind binds[] = {{"timestamp|time|Time", &c.time, true},
                                  {"hpc_job|job_id", &c.job, false},
                                  {"Hostname|node|instance|host", &c.node, false},
                                  {"modelName|gpu_type", &c.type, false},
                                  {"__name__|metric", &c.name, false},
                                  {"value|Value", &c.value, false}};
    dls_csv_init(&csv, path, text, len, ',');
    DLS_TRY(dls_csv_header(&csv, err));
    DLS_TRY(dls_csv_bind_all(&csv, binds, sizeof binds / sizeof *binds, err));
    for (size_t i = 0; i < N_KNOWN; i++) {
        c.metric[i] = dls_csv_find(&csv, known[i].name);
        any = any || c.metric[i] >= 0;
    }
    if (!any && (c.name < 0 || c.value < 0)) {
        return dls_fail(err, DLS_EINPUT, path,
                        "no column DCGM_FI_DEV_GPU_UTIL, _FB_USED, _POWER_USAGE, nor metric and "
                        "value");
    }
    for (;;) {
        DLS_TRY(dls_csv_next(&csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(add_row(r, &csv, &c, err));
    }
}

static dls_status read_metrics(reading *r, const char *path, dls_error *err)
{
    DLS_FREED char *text = NULL;
    size_t len;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TRACE, &text, &len, err));
    const char *begin = dls_past_mark(text);
    const bool json = begin[strspn(begin, " \t\r\n")] == '{';
    return (json ? read_json : read_table)(r, path, begin, len - (size_t)(begin - text), err);
}

/* ---- what is written ------------------------------------------------------------------------- */

static bool has_any(const profile *p)
{
    return p->n[UTILISATION] + p->n[ENGINE] + p->n[MEMORY] + p->n[POWER] > 0;
}

static void put_number(FILE *out, double value, bool there)
{
    fputc(',', out);
    if (there) {
        fprintf(out, "%.6g", value);
    }
}

static dls_status put_profiles(FILE *out, void *what, dls_error *err)
{
    const reading *r = what;
    fputs("job_id,gpu_type,samples,utilisation,memory_mib,power_w\n", out);
    for (int32_t j = 0; j < (int32_t)r->jobs.n; j++) {
        const profile *p = &r->of[j];
        if (!has_any(p)) {
            continue;
        }
        size_t n = 0;
        for (int m = 0; m < N_METRICS; m++) {
            n = p->n[m] > n ? p->n[m] : n;
        }
        dls_csv_put(out, dls_strdict_get(&r->jobs, j));
        fputc(',', out);
        dls_csv_put(out, p->type >= 0 ? dls_strdict_get(&r->names, p->type) : "");
        fprintf(out, ",%zu", n);
        const metric use = p->n[UTILISATION] > 0 ? UTILISATION : ENGINE; /* exporters send both: they are not one mean */
        put_number(out, p->sum[use] / (double)p->n[use], p->n[use] > 0);
        put_number(out, p->most[MEMORY], p->n[MEMORY] > 0);
        put_number(out, p->sum[POWER] / (double)p->n[POWER], p->n[POWER] > 0);
        fputc('\n', out);
    }
    return DLS_OK;
}

static void report(const reading *r, size_t jobs, const dls_site_dcgm *site, FILE *to)
{
    fprintf(to, "%s: %zu samples, %zu of them of %zu jobs\n", site->metrics, r->samples, r->used,
            jobs);
    if (r->no_value > 0) {
        fprintf(to,
                "  samples that are no value (none, or beyond what can be): %zu, the first: %s\n",
                r->no_value, r->where);
    }
    if (r->other > 0) {
        fprintf(to, "  of other metrics: %zu\n", r->other);
    }
    if (r->nobody > 0) {
        fprintf(to, "  of no job: %zu%s\n", r->nobody,
                site->sacct ? "" : " (no label names one; --sacct tells who had a node)");
    }
    if (r->shared > 0) {
        fprintf(to, "  of nodes that several jobs shared: %zu\n", r->shared);
    }
    if (r->odd_stays > 0) {
        fprintf(
            to,
            "  rows of the accounting left out, without a node or a start: %zu, the first: %s\n",
            r->odd_stays, r->odd);
    }
    fprintf(to, "  energy by them: energy.profiles = \"%s/profiles.csv\"\n", site->folder);
}

static dls_status import(reading *r, const dls_site_dcgm *site, FILE *to, dls_error *err)
{
    char path[4096];
    size_t jobs = 0;
    if (site->sacct) {
        DLS_TRY(read_stays(r, site->sacct, err));
        settle(r);
    }
    DLS_TRY(site->pods ? read_pods(r, site->pods, err) : DLS_OK);
    DLS_TRY(read_metrics(r, site->metrics, err));
    for (size_t j = 0; j < r->jobs.n; j++) {
        jobs += has_any(&r->of[j]);
    }
    if (jobs == 0) {
        return dls_fail(
            err, DLS_EINPUT, site->metrics,
            "no sample of a job: %zu samples, %zu without a value, %zu of no job, %zu of "
            "shared nodes, %zu series or rows of other metrics",
            r->samples, r->no_value, r->nobody, r->shared, r->other);
    }
    const char *const reads[] = {site->metrics, site->sacct, site->pods};
    DLS_TRY(dls_site_path(site->folder, "profiles.csv", reads, 3, path, sizeof path, err));
    DLS_TRY(dls_folder_make(site->folder, err));
    DLS_TRY(dls_atomicfile_write(path, put_profiles, r, err));
    report(r, jobs, site, to);
    return DLS_OK;
}

static void reading_fini(reading *r)
{
    dls_strdict_fini(&r->jobs);
    dls_strdict_fini(&r->names);
    dls_strdict_fini(&r->raw);
    dls_strdict_fini(&r->pods);
    DLS_FREE_ALL(r->of, r->of_raw, r->change, r->pod);
}

dls_status dls_site_import_dcgm(const dls_site_dcgm *site, FILE *to, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_OWN(reading_fini) reading r = {.cap = 0};
    return import(&r, site, to, err);
}
