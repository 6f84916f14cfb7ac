/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs' QoS, reservations and dependencies; QoS; reservations and events of nodes.
 */
#include "site/slurm_jobs.h"

#include "base/csv.h"
#include "base/file.h"
#include "base/own.h"
#include "site/node_list.h"
#include "traces/date.h"
#include "traces/sacct_json.h"
#include "traces/trace_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct dls_site_job site_job;

void dls_site_jobs_fini(dls_site_jobs *jobs)
{
    dls_strdict_fini(&jobs->ids);
    dls_strdict_fini(&jobs->texts);
    dls_free(jobs->job);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

enum { ID, USER, NAME, QOS, RESERVATION, REQUESTED, CPUS, SUBMIT_LINE, N_COLUMNS };

typedef struct reading {
    dls_site_jobs *to;
    dls_strdict names; /* "user name" of jobs, for singleton */
    int32_t *before;   /* [names.n] the job of that name before, in ids; -1 */
    size_t before_cap;
    char after[4096]; /* ids of a row, joined by '+' */
} reading;

/* task: "_3" of a job array, "": none. */
static void add_id(reading *r, const char *id, size_t len, const char *task)
{
    const size_t had = strlen(r->after);
    if (len > 0 && had + len + strlen(task) + 2 < sizeof r->after) {
        snprintf(r->after + had, sizeof r->after - had, "%s%.*s%s", had ? "+" : "", (int)len, id, task);
    }
}

/* "afterok:12:13" (they end: what failed was not followed on record), "singleton"; own: the job's id. */
static void add_condition(reading *r, const char *text, size_t len, const char *own, int32_t same)
{
    static const char *const ends[] = {"afterany:", "afterok:", "afternotok:", "aftercorr:"};
    const char *task = strchr(own, '_');
    if (len == 9 && strncmp(text, "singleton", 9) == 0) {
        const char *id = same >= 0 ? dls_strdict_get(&r->to->ids, same) : "";
        add_id(r, id, strlen(id), "");
        return;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t word = strlen(ends[i]);
        if (len > word && strncmp(text, ends[i], word) == 0) {
            for (size_t at = word, n; at < len; at += n + 1) {
                n = strcspn(text + at, ":,? \t+");
                n = n < len - at ? n : len - at;
                const bool same_task = i == 3 && task && !memchr(text + at, '_', n);
                add_id(r, text + at, n, same_task ? task : "");
            }
            return;
        }
    }
    r->to->unknown++; /* after, afterburstbuffer, expand */
}

/* Of a command line of sbatch; own: the job's id; same: the job before of its user and name. */
static void read_dependency(reading *r, const char *line, const char *own, int32_t same)
{
    const char *p = strstr(line, " --dependency");
    const size_t word = p ? strlen(" --dependency") : strlen(" -d");
    r->after[0] = '\0';
    p = p ? p : strstr(line, " -d");
    if (!p) {
        return;
    }
    for (p += word, p += *p == '=' || *p == ' '; *p && *p != ' ';) {
        const size_t len = strcspn(p, ",? ");
        r->to->unknown += p[len] == '?'; /* one of them is enough */
        if (p[len] == '?') {
            r->after[0] = '\0';
            return;
        }
        add_condition(r, p, len, own, same);
        p += len + (p[len] == ',');
    }
}

/* ---- the accounting -------------------------------------------------------------------------- */

/* The number behind "cpu=". */
static double cpus_in(const char *tres)
{
    for (const char *p = tres; *p; p += strcspn(p, ","), p += *p == ',') {
        if (strncmp(p, "cpu=", 4) == 0) {
            const double cpus = strtod(p + 4, NULL);
            return cpus <= 1e9 ? cpus : -1; /* what option `jobs` takes */
        }
    }
    return -1;
}

static dls_status text_of(reading *r, dls_csv *csv, int col, int32_t *code, dls_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%s", dls_csv_text(csv, col));
    for (char *p = text; (p = strpbrk(p, ",+\r\n"));) {
        *p = '_'; /* of the table */
    }
    return dls_strdict_put(&r->to->texts, text, strlen(text), code, err);
}

static dls_status add_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    reading *r = user;
    dls_site_jobs *to = r->to;
    site_job j = {.cpus = -1};
    int32_t code, name;
    char both[256];
    const dls_csv_cell *id = &csv->cell[col[ID]];
    const size_t had = to->ids.n, had_names = r->names.n;
    if (csv->n_cells != csv->n_header || memchr(id->s, '.', id->len)) {
        return DLS_OK;
    }
    DLS_TRY(dls_strdict_put(&to->ids, id->s, id->len, &code, err));
    snprintf(both, sizeof both, "%.100s %.100s", dls_csv_text(csv, col[USER]),
             dls_csv_text(csv, col[NAME]));
    DLS_TRY(dls_strdict_put(&r->names, both, strlen(both), &name, err));
    DLS_TRY(dls_grow(&r->before, &r->before_cap, r->names.n, sizeof *r->before, err));
    if ((size_t)name == had_names) {
        r->before[name] = -1;
    }
    if ((size_t)code < had) {
        return DLS_OK; /* another run */
    }
    const char *line = dls_csv_text(csv, col[SUBMIT_LINE]);
    read_dependency(r, line, dls_strdict_get(&to->ids, code), r->before[name]);
    j.requeue = strstr(line, " --no-requeue") ? DLS_SITE_NO_REQUEUE
                : strstr(line, " --requeue")  ? DLS_SITE_REQUEUE
                                              : DLS_SITE_AS_ALL;
    r->before[name] = code;
    const double asked = cpus_in(dls_csv_text(csv, col[REQUESTED]));
    if (asked > 0 && asked != strtod(dls_csv_text(csv, col[CPUS]), NULL)) {
        j.cpus = asked;
        to->asked++;
    }
    DLS_TRY(text_of(r, csv, col[QOS], &j.qos, err));
    DLS_TRY(text_of(r, csv, col[RESERVATION], &j.reservation, err));
    DLS_TRY(dls_strdict_put(&to->texts, r->after, strlen(r->after), &j.after, err));
    to->dependent += r->after[0] != '\0';
    DLS_TRY(dls_grow(&to->job, &to->cap, to->ids.n, sizeof *to->job, err));
    to->job[code] = j;
    return DLS_OK;
}

static void reading_fini(reading *r)
{
    dls_strdict_fini(&r->names);
    dls_free(r->before);
}

dls_status dls_site_jobs_read(dls_site_jobs *jobs, const dls_trace_source *sacct, dls_error *err)
{
    static const char *const names[N_COLUMNS] = {
        "JobID|JobIDRaw", "User",    "JobName",         "QOS",
        "Reservation",    "ReqTRES", "NCPUS|AllocCPUS", "SubmitLine"};
    DLS_OWN(reading_fini) reading r = {.to = jobs};
    return dls_sacct_rows(sacct, names, N_COLUMNS, 1, add_row, &r, err);
}

/* ---- runs that were preempted ---------------------------------------------------------------- */

static size_t base_len(const char *id)
{
    return strcspn(id, ":");
}

/* first, last: run of each job. */
static dls_status add_merged(dls_site_jobs *jobs, const dls_trace *in, const dls_strdict *ids,
                             const size_t *first, const size_t *last, dls_trace_builder *b,
                             dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(in);
    for (size_t j = 0; j < c->n; j++) {
        dls_job_rec rec;
        char id[96];
        dls_trace_job(in, j, &rec);
        const int32_t k = dls_strdict_find(ids, rec.id, base_len(rec.id));
        if (rec.outcome == DLS_OUTCOME_PREEMPTED && last[k] != j) {
            jobs->merged++;
            continue;
        }
        if (rec.id[base_len(rec.id)] && last[k] == j) {
            snprintf(id, sizeof id, "%.*s", (int)base_len(rec.id), rec.id);
            rec.id = id;
            rec.queue_us = c->queue_us[first[k]];
            rec.submit_us = c->submit_us[first[k]];
        }
        DLS_TRY(dls_trace_builder_add(b, &rec, "preempted", err));
    }
    return DLS_OK;
}

dls_status dls_site_jobs_merge(dls_site_jobs *jobs, dls_trace **trace, dls_error *err)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    const size_t n = dls_trace_cols(*trace)->n;
    dls_trace_builder *b;
    dls_trace *out = NULL;
    DLS_OWN(dls_strdict_fini) dls_strdict ids = {0};
    DLS_FREED size_t *first = NULL, *last = NULL;
    DLS_TRY(DLS_ALLOC_ALL("runs", err, DLS_ARRAY(first, n), DLS_ARRAY(last, n)));
    for (size_t j = 0; j < n; j++) {
        const char *id = dls_trace_id(*trace, j);
        const size_t had = ids.n;
        int32_t k;
        DLS_TRY(dls_strdict_put(&ids, id, base_len(id), &k, err));
        first[k] = (size_t)k == had ? j : first[k];
        last[k] = j;
    }
    if (ids.n == n) {
        return DLS_OK;
    }
    DLS_TRY(dls_trace_builder_create(&opts, &b, err));
    *dls_trace_builder_info(b) = *dls_trace_about(*trace);
    DLS_TRY(dls_trace_builder_end(b, add_merged(jobs, *trace, &ids, first, last, b, err), &out,
                                  err));
    dls_trace_destroy(*trace);
    *trace = out;
    return DLS_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Is it killed where others that give way are requeued? */
static bool is_killed(const site_job *j, const dls_site_rules *rules)
{
    return rules->preempt && (j->requeue == DLS_SITE_NO_REQUEUE || (j->requeue == DLS_SITE_AS_ALL && rules->no_requeue));
}

static bool says_any(const site_job *j, const dls_site_jobs *jobs, const dls_site_slurm *site,
                     const dls_site_rules *rules)
{
    return j->cpus > 0 || is_killed(j, rules) || dls_strdict_get(&jobs->texts, j->after)[0] ||
           (site->qos && dls_strdict_get(&jobs->texts, j->qos)[0]) ||
           (site->reservations && dls_strdict_get(&jobs->texts, j->reservation)[0]);
}

bool dls_site_jobs_any(const dls_site_jobs *jobs, const dls_site_slurm *site, const dls_site_rules *rules)
{
    for (size_t i = 0; i < jobs->ids.n; i++) {
        if (says_any(&jobs->job[i], jobs, site, rules)) {
            return true;
        }
    }
    return false;
}

void dls_site_jobs_put(const dls_site_jobs *jobs, const dls_site_slurm *site, const dls_site_rules *rules, FILE *out)
{
    fputs("job,cpus,qos,reservation,after,requeue\n", out);
    for (int32_t i = 0; i < (int32_t)jobs->ids.n; i++) {
        const site_job *j = &jobs->job[i];
        const char *id = dls_strdict_get(&jobs->ids, i);
        if (!says_any(j, jobs, site, rules) || strpbrk(id, ",+")) {
            continue;
        }
        char cpus[32] = "";
        if (j->cpus > 0) {
            snprintf(cpus, sizeof cpus, "%.15g", j->cpus);
        }
        fprintf(out, "%s,%s,%s,%s,%s,%s\n", id, cpus, dls_strdict_get(&jobs->texts, j->qos),
                dls_strdict_get(&jobs->texts, j->reservation),
                dls_strdict_get(&jobs->texts, j->after), is_killed(j, rules) ? "no" : "");
    }
}

void dls_site_jobs_report(const dls_site_jobs *jobs, FILE *to)
{
    if (jobs->dependent > 0) {
        fprintf(to, "  jobs that waited for others to end (SubmitLine): %zu\n", jobs->dependent);
    }
    if (jobs->unknown > 0) {
        fprintf(to, "  dependencies that are not modelled: %zu\n", jobs->unknown);
    }
    if (jobs->merged > 0) {
        fprintf(to, "  runs that were preempted, left to the replay: %zu\n", jobs->merged);
    }
}

/* The QoS of a cell, several joined by `,`; those that a table can hold. */
static dls_status add_qos(dls_strdict *names, const dls_csv *csv, int col, dls_error *err)
{
    enum { QOS_MAX = 64, NAME_BYTES = 63 }; /* of option `qos` */
    int32_t code;
    const char *p = csv->cell[col].s, *end = p + csv->cell[col].len;
    for (size_t len; p < end; p += len + 1) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        len = (size_t)((comma ? comma : end) - p);
        if (len == 0 || len > NAME_BYTES) {
            return dls_csv_fail(csv, col, err, "a name of %zu bytes, not 1 to %d", len, NAME_BYTES);
        }
        DLS_TRY(dls_strdict_put(names, p, len, &code, err));
    }
    return names->n <= QOS_MAX ? DLS_OK : dls_csv_fail(csv, col, err, "more than %d QoS", QOS_MAX);
}

enum { QOS_NAME, QOS_PRIORITY, QOS_PREEMPT, QOS_MODE, QOS_EXEMPT, QOS_GRACE, N_QOS };

/* What becomes of jobs of a QoS that give way; one of no mode has the cluster's. */
static const char *mode_of(dls_csv *csv, const int col[N_QOS], const dls_site_rules *rules, FILE *to)
{
    const char *own = dls_site_preempt_mode(dls_csv_text(csv, col[QOS_MODE])), *mode = own[0] ? own : rules->mode;
    if (rules->preempt && strcmp(mode, "none") == 0) {
        fprintf(to, "  QoS %s: PreemptMode=SUSPEND is not modelled: its jobs do not give way\n",
                dls_csv_text(csv, col[QOS_NAME]));
    }
    return mode;
}

typedef struct putting_qos {
    const dls_site_rules *rules;
    dls_strdict *names;
    FILE *out, *to;
} putting_qos;

static dls_status put_qos_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    putting_qos *p = user;
    char others[4200];
    int64_t priority;
    if (csv->cell[col[QOS_NAME]].len == 0 || memchr(csv->cell[col[QOS_NAME]].s, ',', csv->cell[col[QOS_NAME]].len)) {
        return dls_csv_fail(csv, col[QOS_NAME], err, "expected a name");
    }
    DLS_TRY(add_qos(p->names, csv, col[QOS_NAME], err));
    DLS_TRY(dls_csv_i64(csv, col[QOS_PRIORITY], "a priority", 0, 0, INT64_C(10000000000), &priority, err));
    if (col[QOS_PREEMPT] >= 0) {
        DLS_TRY(add_qos(p->names, csv, col[QOS_PREEMPT], err));
    }
    snprintf(others, sizeof others, "%s", dls_csv_text(csv, col[QOS_PREEMPT]));
    for (char *comma = others; (comma = strchr(comma, ','));) {
        *comma = '+';
    }
    fprintf(p->out, "%s,%lld,%s", dls_csv_text(csv, col[QOS_NAME]), (long long)priority, others);
    const char *own = dls_csv_text(csv, col[QOS_EXEMPT]);
    const double exempt_s = own[0] ? dls_site_span_of(own) : p->rules->exempt_s;
    fprintf(p->out, ",%s,%.15g,%.15g\n", mode_of(csv, col, p->rules, p->to), exempt_s,
            dls_site_span_of(dls_csv_text(csv, col[QOS_GRACE])));
    return DLS_OK;
}

dls_status dls_site_qos_put(const char *path, const dls_site_rules *rules, FILE *out, FILE *to,
                            dls_error *err)
{
    static const char *const names[N_QOS] = {"Name",        "Priority",          "Preempt",
                                             "PreemptMode", "PreemptExemptTime", "GraceTime"};
    DLS_OWN(dls_strdict_fini) dls_strdict seen = {0};
    putting_qos p = {rules, &seen, out, to};
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    DLS_TRY(dls_csv_open(&csv, path, err));
    csv.sep = '|';
    fputs("qos,priority,preempts,mode,exempt,grace\n", out);
    return dls_csv_read(&csv, names, N_QOS, QOS_PREEMPT, put_qos_row, &p, err);
}

typedef struct putting {
    const dls_site_held *held;
    const dls_site_log *log; /* NULL: none */
    const char *name, *path;
    double begin_s, end_s; /* end < begin: for good */
    size_t n;              /* reservations */
    FILE *out;
} putting;

static dls_status put_node(void *user, const char *node, dls_error *err)
{
    const putting *p = user;
    const int32_t code = dls_strdict_find(&p->held->names, node, strlen(node));
    if (code >= 0 && p->held->node[code].gpus > 0) {
        char end[32] = "", known[32] = "";
        const int32_t made =
            p->log ? dls_strdict_find(&p->log->reservations, p->name, strlen(p->name)) : -1;
        if (made >= 0) {
            snprintf(known, sizeof known, "%.6f", 1e-6 * (double)p->log->made_us[made]);
        }
        if (p->end_s >= p->begin_s) {
            snprintf(end, sizeof end, "%.15g", p->end_s);
        }
        fprintf(p->out, "%s,%s,%.15g,%s,%d,%d\n", p->name, known, p->begin_s, end,
                (int)p->held->node[code].at, (int)p->held->node[code].at);
    }
    return DLS_OK;
}

/* Seconds of the trace; false: not a date ("Unknown": it goes on). */
static bool date_s(const char *text, size_t len, double zero_s, double *s)
{
    int64_t us;
    const bool good = dls_date_or_seconds(text, len, &us);
    *s = good ? 1e-6 * (double)us - zero_s : 0;
    return good;
}

static dls_status put_event(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    putting *p = user;
    const dls_csv_cell *from = &csv->cell[col[1]], *to = &csv->cell[col[2]];
    if (!date_s(from->s, from->len, p->held->zero_s, &p->begin_s)) {
        return dls_csv_fail(csv, col[1], err, "expected a date");
    }
    if (!date_s(to->s, to->len, p->held->zero_s, &p->end_s)) {
        p->end_s = p->begin_s - 1;
    }
    return dls_site_node_list(dls_csv_text(csv, col[0]), put_node, p, err);
}

static dls_status put_events(putting *p, dls_error *err)
{
    static const char *const names[] = {"NodeName", "TimeStart|Start", "TimeEnd|End"};
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    DLS_TRY(dls_csv_open(&csv, p->path, err));
    csv.sep = '|';
    return dls_csv_read(&csv, names, 3, 3, put_event, p, err);
}

static dls_status put_reservation(void *user, char *line, dls_error *err)
{
    putting *p = user;
    char name[64], start[64], end[64], nodes[4096];
    dls_site_value_of(line, "ReservationName", name, sizeof name);
    dls_site_value_of(line, "StartTime", start, sizeof start);
    dls_site_value_of(line, "EndTime", end, sizeof end);
    dls_site_value_of(line, "Nodes", nodes, sizeof nodes);
    if (!name[0] || !date_s(start, strlen(start), p->held->zero_s, &p->begin_s) ||
        !date_s(end, strlen(end), p->held->zero_s, &p->end_s)) {
        return DLS_OK;
    }
    p->n++;
    p->name = name;
    return dls_site_node_list(nodes, put_node, p, err);
}

static dls_status put_reservations(putting *p, dls_error *err)
{
    DLS_TRY(dls_file_lines(p->path, DLS_FILE_TABLE, put_reservation, p, err));
    return p->n > 0 ? DLS_OK
                    : dls_fail(err, DLS_EINPUT, p->path,
                               "no reservation in it: is it the output of `scontrol show "
                               "reservations -o`?");
}

dls_status dls_site_outages_put(const dls_site_slurm *site, const dls_site_held *held,
                                const dls_site_log *log, FILE *out, dls_error *err)
{
    putting p = {.held = held, .log = log, .name = "", .path = site->events, .out = out};
    fputs("reservation,known,start,end,first,last\n", out);
    if (site->events) {
        DLS_TRY(put_events(&p, err));
    }
    p.path = site->reservations;
    return site->reservations ? put_reservations(&p, err) : DLS_OK;
}
