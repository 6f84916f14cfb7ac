/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who held the processors of nodes with GPUs, by the lists of nodes in Slurm's accounting.
 */
#include "site/slurm_held.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "site/node_list.h"
#include "site/nodes.h"
#include "traces/date.h"
#include "traces/sacct_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dls_site_held_fini(dls_site_held *held)
{
    dls_strdict_fini(&held->names);
    dls_strdict_fini(&held->people);
    dls_site_partitions_fini(&held->partitions);
    DLS_FREE_ALL(held->node, held->job);
}

static bool in_service(const char *state)
{
    static const char *const words[] = {"DOWN", "DRAIN", "FAIL", "FUTURE", "UNKNOWN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(state, words[i])) {
            return false;
        }
    }
    return true;
}

dls_status dls_site_held_node(dls_site_held *held, const dls_site_group *node, const char *state,
                              const char *partitions, bool *again, dls_error *err)
{
    int32_t code;
    const size_t known = (size_t)held->names.n;
    DLS_TRY(dls_strdict_put(&held->names, node->name, strlen(node->name), &code, err));
    *again = (size_t)code < known;
    if (*again) {
        held->again++;
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&held->node, &held->cap, known + 1, sizeof *held->node, err));
    held->node[code].cpus = node->cpus;
    held->node[code].gpus = node->gpus;
    held->node[code].at = (int32_t)held->partitions.n;
    held->node[code].used = false;
    held->down += node->gpus > 0 && !in_service(state);
    held->overlapping += node->gpus > 0 && strchr(partitions, ',');
    return node->gpus > 0 ? dls_site_partitions_add(&held->partitions, partitions, err) : DLS_OK;
}

/* ---- lists of nodes -------------------------------------------------------------------------- */

/* The nodes of one job. */
typedef struct found {
    int32_t nodes, with_gpus, gone;
    double cpus; /* of those with GPUs */
} found;

/* What dls_site_node_list finds. */
typedef struct finding {
    dls_site_held *held;
    found found;
} finding;

static dls_status one_node(void *user, const char *name, dls_error *err)
{
    finding *to = user;
    found *f = &to->found;
    dls_site_held *held = to->held;
    const int32_t code = dls_strdict_find(&held->names, name, strlen(name));
    f->nodes++;
    if (code < 0) {
        f->gone++;
        return DLS_OK;
    }
    held->node[code].used = true;
    if (held->node[code].gpus > 0) {
        f->with_gpus++;
        f->cpus += (double)held->node[code].cpus;
    }
    return DLS_OK;
}

/* ---- the accounting -------------------------------------------------------------------------- */

enum {
    ID,
    START,
    END,
    TRES,
    CPUS,
    LIST,
    SUBMIT,
    ELIGIBLE,
    LIMIT,
    USER,
    ACCOUNT,
    PARTITION,
    N_COLUMNS
};

static void count(dls_site_count *c, size_t line)
{
    c->line = c->n++ == 0 ? line : c->line;
}

static bool time_of(dls_csv *csv, int col, double *s)
{
    int64_t us;
    const char *text = dls_csv_text(csv, col);
    const bool is = dls_date_or_seconds(text, strlen(text), &us) && us > 0;
    *s = is ? 1e-6 * (double)us : *s;
    return is;
}

/* MiB behind "mem=" of AllocTRES; 0: none, or more than a node can have. */
static double mem_in(const char *tres)
{
    const char *p = strstr(tres, "mem=");
    char *end;
    const double value = p ? strtod(p + 4, &end) : 0;
    const double mib = !p            ? 0
                       : *end == 'K' ? value / 1024
                       : *end == 'G' ? value * 1024
                       : *end == 'T' ? value * 1048576
                                     : value;
    return mib > 0 && mib <= DLS_SITE_MEM_MIB ? mib : 0;
}

static dls_status name_of(dls_site_held *held, const char *text, int32_t *code, dls_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s", text);
    for (char *p = name; (p = strpbrk(p, ",\r\n"));) {
        *p = '_'; /* of the table */
    }
    return dls_strdict_put(&held->people, name, strlen(name), code, err);
}

/* As the reader of the trace has it: submitted when it became eligible; before time 0 if it came before the
 * first job with GPUs. */
static dls_status add_cpu_job(dls_site_held *held, dls_csv *csv, const int col[N_COLUMNS],
                              dls_site_cpu_job *job, const char *id, double start_s, double end_s,
                              dls_error *err)
{
    double at_s;
    job->submit_s = start_s;
    if (time_of(csv, col[SUBMIT], &at_s) && at_s < start_s) {
        job->submit_s = at_s;
    }
    if (time_of(csv, col[ELIGIBLE], &at_s) && at_s > job->submit_s && at_s <= start_s) {
        job->submit_s = at_s;
    }
    job->line = csv->line;
    job->duration_s = end_s - start_s;
    job->submit_s -= held->zero_s;
    if (!dls_date_span(dls_csv_text(csv, col[LIMIT]), &job->limit_s)) {
        job->limit_s = 0;
    }
    DLS_TRY(name_of(held, id, &job->id, err));
    DLS_TRY(name_of(held, dls_csv_text(csv, col[USER]), &job->user, err));
    DLS_TRY(name_of(held, dls_csv_text(csv, col[ACCOUNT]), &job->account, err));
    DLS_TRY(name_of(held, dls_csv_text(csv, col[PARTITION]), &job->partition, err));
    DLS_TRY(dls_grow(&held->job, &held->jobs_cap, held->n_jobs + 1, sizeof *held->job, err));
    held->job[held->n_jobs++] = *job;
    return DLS_OK;
}

static dls_status add_job(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_site_held *held = user;
    double start_s, end_s;
    held->unlisted = col[LIST] < 0;
    const char *id = dls_csv_text(csv, col[ID]);
    if (csv->n_cells != csv->n_header || strchr(id, '.') || !time_of(csv, col[START], &start_s) ||
        !time_of(csv, col[END], &end_s)) {
        return DLS_OK;
    }
    const char *tres = dls_csv_text(csv, col[TRES]);
    const bool gpus = strstr(tres, "gres/gpu") != NULL;
    const char *list = dls_csv_text(csv, col[LIST]);
    finding to = {held, {0, 0, 0, 0}};
    DLS_TRY(dls_site_node_list(strcmp(list, "None assigned") == 0 ? "" : list, one_node, &to, err));
    const found f = to.found;
    const double cpus = fmax(0, strtod(dls_csv_text(csv, col[CPUS]), NULL)); /* not below, not NAN */
    if (!gpus) {
        count(&held->cpu_only, csv->line);
    }
    if (f.gone > 0) {
        count(&held->gone, csv->line);
    }
    if (!gpus && f.nodes == 0) {
        count(&held->unplaced, csv->line);
    }
    if (f.with_gpus == 0 || !(f.cpus > 0) || !(end_s > start_s)) {
        return DLS_OK;
    }
    /* The job's processors spread evenly over its nodes; a node's share is that of its processors.
     */
    const double here = cpus * f.with_gpus / f.nodes;
    const double node_h =
        (here < f.cpus ? here / f.cpus : 1) * f.with_gpus * (end_s - start_s) / 3600;
    held->all_h += node_h;
    if (gpus) {
        return DLS_OK;
    }
    count(&held->on_gpus, csv->line);
    held->cpu_only_h += node_h;
    dls_site_cpu_job job = {.cpus = here < f.cpus ? cpus / f.nodes : f.cpus / f.with_gpus,
                            .mem_mib = mem_in(tres) / f.nodes,
                            .nodes = f.with_gpus};
    return add_cpu_job(held, csv, col, &job, id, start_s, end_s, err);
}

dls_status dls_site_held_read(dls_site_held *held, const dls_trace_source *sacct, double zero_s,
                              dls_error *err)
{
    static const char *const names[N_COLUMNS] = {
        "JobID|JobIDRaw", "Start",    "End",  "AllocTRES|ReqTRES",      "NCPUS|AllocCPUS",
        "NodeList",       "Submit",   "Eligible", "TimelimitRaw|Timelimit", "User",
        "Account",        "Partition"};
    held->zero_s = zero_s;
    return dls_sacct_rows(sacct, names, N_COLUMNS, TRES + 1, add_job, held, err);
}

/* ---- report ---------------------------------------------------------------------------------- */

static void put_nodes(const dls_site_held *held, FILE *to)
{
    size_t idle = 0;
    for (int32_t i = 0; i < (int32_t)held->names.n; i++) {
        idle += held->node[i].gpus > 0 && !held->node[i].used;
    }
    if (held->again > 0) {
        fprintf(to, "  nodes named again: %d, taken once\n", (int)held->again);
    }
    if (held->down > 0) {
        fprintf(to,
                "  nodes with GPUs that were not in service when they were listed: %d, replayed "
                "as if they were\n",
                (int)held->down);
    }
    if (held->overlapping > 0) {
        fprintf(to, "  nodes with GPUs in several partitions: %d\n", (int)held->overlapping);
    }
    if (idle > 0 && !held->unlisted) {
        fprintf(to, "  nodes with GPUs that no job ran on: %zu\n", idle);
    }
}

void dls_site_held_put(const dls_site_held *held, FILE *to)
{
    put_nodes(held, to);
    if (held->gone.n > 0) {
        fprintf(to, "  ran on nodes that are not among the nodes: %zu, first in line %zu\n",
                held->gone.n, held->gone.line);
    }
    if (held->cpu_only.n > 0) {
        fprintf(to, "  jobs without GPUs: %zu, first in line %zu", held->cpu_only.n,
                held->cpu_only.line);
        if (held->unlisted || held->unplaced.n == held->cpu_only.n) {
            fputs("; not replayed, for where they ran is not known (NodeList)\n", to);
        } else {
            fprintf(to,
                    "; on nodes with GPUs %zu, which held %.1f node-hours of their processors, "
                    "%.1f %% of what all jobs held there; replayed: %zu\n",
                    held->on_gpus.n, held->cpu_only_h,
                    held->all_h > 0 ? 100 * held->cpu_only_h / held->all_h : 0, held->n_jobs);
        }
    }
}

DLS_BY(by_submission, dls_site_cpu_job, DLS_UP(submit_s), DLS_UP(line));

void dls_site_held_put_jobs(dls_site_held *held, FILE *out)
{
    dls_sort(held->job, held->n_jobs, sizeof *held->job, by_submission);
    fputs("submit,duration,limit,nodes,cpus,mem_mib,user,account,partition\n", out);
    for (size_t i = 0; i < held->n_jobs; i++) {
        const dls_site_cpu_job *j = &held->job[i];
        char limit[32] = "";
        if (j->limit_s > 0) {
            snprintf(limit, sizeof limit, "%.15g", j->limit_s);
        }
        char mem[32] = "";
        if (j->mem_mib > 0) {
            snprintf(mem, sizeof mem, "%.15g", floor(j->mem_mib));
        }
        fprintf(out, "%.15g,%.15g,%s,%d,%.6g,%s,%s,%s,%s\n", j->submit_s, j->duration_s, limit,
                (int)j->nodes, j->cpus, mem, dls_strdict_get(&held->people, j->user),
                dls_strdict_get(&held->people, j->account),
                dls_strdict_get(&held->people, j->partition));
    }
}
