/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's log files, with the columns that it leaves empty or wrong filled in:
 *
 *   cluster.csv   one row per event; counted placement: busy_node = full_node = ceil(busy / G);
 *                 yarn: idle (no GPU taken), busy (some), full (all) nodes
 *   cpu.csv, gpu.csv      CPUs and GPUs used on each node
 *   network.csv           MB per iteration in and out of each node
 *   memory.csv            GB used + 2 over the nodes in use: greatest, 99th, 95th, median
 *   job.csv       jobs that ended, in the order of ending
 *
 * Line ends are CRLF. Numbers are formatted by hand: a log has a row per event.
 */
#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/folder.h"
#include "tiresias/tiresias.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLUSTER, CPU, GPU, NETWORK, MEMORY, JOB, N_FILES };

static const char *const names[N_FILES] = {"cluster.csv", "cpu.csv",    "gpu.csv",
                                           "network.csv", "memory.csv", "job.csv"};

#define BUFFER 65536
#define CELL 32 /* room for one number and its comma */

typedef struct out_file {
    dls_atomicfile atomic;
    FILE *f;
    size_t n;
    char buffer[BUFFER];
} out_file;

struct dls_tiresias_log {
    dls_tiresias_cluster k;
    int32_t n_nodes;
    bool by_count, gandiva, flush;
    out_file *file[N_FILES]; /* NULL: not written */
    double *mem_gb;          /* [n_nodes] scratch */
};

static dls_status write_failed(const out_file *o, dls_error *err)
{
    return dls_fail(err, DLS_EOUTPUT, o->atomic.path, "cannot be written: %s", strerror(errno));
}

static dls_status drain(out_file *o, dls_error *err)
{
    const size_t n = o->n;
    o->n = 0;
    return fwrite(o->buffer, 1, n, o->f) == n ? DLS_OK : write_failed(o, err);
}

static dls_status room(out_file *o, size_t bytes, dls_error *err)
{
    return o->n + bytes <= BUFFER ? DLS_OK : drain(o, err);
}

static void put_char(out_file *o, char c)
{
    o->buffer[o->n++] = c;
}

/* The caller has made room for a cell. */
static void put_int(out_file *o, int64_t v)
{
    char digits[20];
    int n = 0;
    if (v < 0) {
        put_char(o, '-');
    }
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (n > 0) {
        put_char(o, digits[--n]);
    }
}

/* A number with one decimal. */
static void put_tenths(out_file *o, int64_t tenths)
{
    put_int(o, tenths / 10);
    put_char(o, '.');
    put_char(o, (char)('0' + tenths % 10));
}

/* Text of less than BUFFER bytes. */
static dls_status put_text(out_file *o, const char *text, dls_error *err)
{
    const size_t n = strlen(text);
    DLS_TRY(room(o, n, err));
    memcpy(&o->buffer[o->n], text, n);
    o->n += n;
    return DLS_OK;
}

/* n numbers, each behind a comma. */
static dls_status put_cells(out_file *o, const int64_t *v, int n, dls_error *err)
{
    DLS_TRY(room(o, (size_t)n * CELL, err));
    for (int i = 0; i < n; i++) {
        put_char(o, ',');
        put_int(o, v[i]);
    }
    return DLS_OK;
}

static dls_status end_row(const dls_tiresias_log *log, out_file *o, dls_error *err)
{
    DLS_TRY(room(o, 2, err));
    put_char(o, '\r');
    put_char(o, '\n');
    if (log->flush) {
        DLS_TRY(drain(o, err));
        return fflush(o->f) == 0 ? DLS_OK : write_failed(o, err);
    }
    return DLS_OK;
}

static dls_status begin_row(out_file *o, int64_t t_s, dls_error *err)
{
    DLS_TRY(room(o, CELL, err));
    put_int(o, t_s);
    return DLS_OK;
}

/* ---- creation -----------------------------------------------------------------------------------
 */

static dls_status open_file(dls_tiresias_log *log, int which, const char *dir, dls_error *err)
{
    const size_t n = strlen(dir) + strlen(names[which]) + 2;
    char *path = dls_alloc(n);
    out_file *o = log->file[which] = dls_alloc_zero(1, sizeof *o);
    if (!path || !o) {
        dls_free(path);
        return dls_nomem(err, "log file", sizeof *o);
    }
    snprintf(path, n, "%s/%s", dir, names[which]);
    const dls_status status = dls_atomicfile_begin(&o->atomic, path, err);
    dls_free(path);
    if (status != DLS_OK) {
        return status;
    }
    o->f = fopen(o->atomic.part, "w");
    if (!o->f) {
        return write_failed(o, err);
    }
    setvbuf(o->f, NULL, _IONBF, 0); /* the buffer is ours */
    return DLS_OK;
}

/* "time,cpu0,cpu1,..." with one or two columns a node. */
static dls_status node_header(const dls_tiresias_log *log, int which, const char *a, const char *b,
                              dls_error *err)
{
    out_file *o = log->file[which];
    char cell[2 * CELL];
    DLS_TRY(put_text(o, "time", err));
    for (int32_t i = 0; i < log->n_nodes; i++) {
        snprintf(cell, sizeof cell, ",%s%d", a, i);
        DLS_TRY(put_text(o, cell, err));
        if (b) {
            snprintf(cell, sizeof cell, ",%s%d", b, i);
            DLS_TRY(put_text(o, cell, err));
        }
    }
    return end_row(log, o, err);
}

static dls_status headers(const dls_tiresias_log *log, dls_error *err)
{
    out_file *cluster = log->file[CLUSTER], *job = log->file[JOB];
    DLS_TRY(put_text(cluster, "time,idle_node,busy_node,full_node,", err));
    DLS_TRY(put_text(cluster, log->gandiva ? "fra_gpu" : "idle_gpu", err));
    DLS_TRY(put_text(cluster, ",busy_gpu,pending_job,running_job,completed_job", err));
    if (log->gandiva) {
        DLS_TRY(put_text(cluster, ",len_g1,len_g2,len_g4,len_g8,len_g16,len_g32,len_g64", err));
    }
    DLS_TRY(end_row(log, cluster, err));
    DLS_TRY(put_text(job,
                     "time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,"
                     "duration,pending_time,preempt,",
                     err));
    DLS_TRY(put_text(job, log->by_count ? "resume,promote" : "promote", err));
    DLS_TRY(end_row(log, job, err));
    if (!log->by_count) {
        DLS_TRY(node_header(log, CPU, "cpu", NULL, err));
        DLS_TRY(node_header(log, GPU, "gpu", NULL, err));
        DLS_TRY(node_header(log, NETWORK, "in", "out", err));
        DLS_TRY(put_text(log->file[MEMORY], "time,max,99th,95th,med", err));
        DLS_TRY(end_row(log, log->file[MEMORY], err));
    }
    return DLS_OK;
}

static dls_status open_log(dls_tiresias_log *log, const char *dir, dls_error *err)
{
    DLS_TRY(dls_folder_make(dir, err));
    for (int i = 0; i < N_FILES; i++) {
        if (!log->by_count || i == CLUSTER || i == JOB) {
            DLS_TRY(open_file(log, i, dir, err));
        }
    }
    log->mem_gb = dls_alloc_zero((size_t)log->n_nodes, sizeof *log->mem_gb);
    if (!log->mem_gb) {
        return dls_nomem(err, "log", (size_t)log->n_nodes * sizeof *log->mem_gb);
    }
    return headers(log, err);
}

dls_status dls_tiresias_log_create(const char *dir, const dls_tiresias_params *p, bool flush,
                                 dls_tiresias_log **out, dls_error *err)
{
    dls_tiresias_log *log = dls_alloc_zero(1, sizeof *log);
    if (!log) {
        return dls_nomem(err, "log", sizeof *log);
    }
    log->k = p->cluster;
    log->n_nodes = p->cluster.switches * p->cluster.nodes_per_switch;
    log->by_count = strcmp(p->scheme, "count") == 0;
    log->gandiva = strcmp(p->scheme, "gandiva") == 0;
    log->flush = flush;
    const dls_status status = open_log(log, dir, err);
    if (status != DLS_OK) {
        dls_tiresias_log_destroy(log);
        return status;
    }
    *out = log;
    return DLS_OK;
}

void dls_tiresias_log_destroy(dls_tiresias_log *log)
{
    if (!log) {
        return;
    }
    for (int i = 0; i < N_FILES; i++) {
        out_file *o = log->file[i];
        if (o) {
            if (o->f) {
                fclose(o->f);
            }
            dls_atomicfile_abort(&o->atomic);
            dls_free(o);
        }
    }
    dls_free(log->mem_gb);
    dls_free(log);
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

static dls_status cluster_row(const dls_tiresias_log *log, const dls_tiresias_event *e, dls_error *err)
{
    const int64_t per_node = log->k.gpus_per_node, nodes = log->n_nodes;
    int64_t busy_nodes = (e->busy_gpus + per_node - 1) / per_node, full_nodes = busy_nodes;
    int64_t idle_nodes = nodes - busy_nodes, idle_gpus = nodes * per_node - e->busy_gpus;
    if (e->node) {
        idle_nodes = full_nodes = 0;
        for (int32_t i = 0; i < e->n_nodes; i++) {
            idle_nodes += e->node[i].free_gpus == per_node;
            full_nodes += e->node[i].free_gpus == 0;
        }
        busy_nodes = nodes - idle_nodes - full_nodes;
    } else if (log->gandiva) {
        idle_nodes = e->idle_nodes;
        busy_nodes = nodes - idle_nodes;
        full_nodes = 0;
        idle_gpus = busy_nodes * per_node - e->busy_gpus;
    }
    const int64_t cells[] = {idle_nodes,   busy_nodes,      full_nodes,      idle_gpus,
                             e->busy_gpus, e->pending_jobs, e->running_jobs, e->finished_jobs};
    out_file *o = log->file[CLUSTER];
    DLS_TRY(begin_row(o, e->t_s, err));
    DLS_TRY(put_cells(o, cells, 8, err));
    for (int i = 0; log->gandiva && i < DLS_TIRESIAS_GANDIVA_SETS; i++) {
        const int64_t sets = e->sets[i];
        DLS_TRY(put_cells(o, &sets, 1, err));
    }
    return end_row(log, o, err);
}

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int32_t at_share(int32_t n, double share)
{
    const int32_t i = (int32_t)ceil(n * share);
    return i < n ? i : n - 1;
}

/* Only when some node is in use; the places in the descending list are the original's. */
static dls_status memory_row(const dls_tiresias_log *log, const dls_tiresias_event *e, dls_error *err)
{
    out_file *o = log->file[MEMORY];
    int32_t n = 0;
    for (int32_t i = 0; i < e->n_nodes; i++) {
        const double used = log->k.mem_gb_per_node - e->node[i].free_mem_gb + 2;
        if (used > 2) {
            log->mem_gb[n++] = used;
        }
    }
    if (n == 0) {
        return DLS_OK;
    }
    qsort(log->mem_gb, (size_t)n, sizeof *log->mem_gb, compare_down);
    const int32_t at[] = {0, at_share(n, 0.01), at_share(n, 0.05), (n - 1) / 2};
    DLS_TRY(begin_row(o, e->t_s, err));
    DLS_TRY(room(o, 4 * CELL, err));
    for (int i = 0; i < 4; i++) {
        put_char(o, ',');
        put_tenths(o, llround(log->mem_gb[at[i]] * 10));
    }
    return end_row(log, o, err);
}

static dls_status node_rows(const dls_tiresias_log *log, const dls_tiresias_event *e, dls_error *err)
{
    out_file *cpu = log->file[CPU], *gpu = log->file[GPU], *net = log->file[NETWORK];
    DLS_TRY(begin_row(cpu, e->t_s, err));
    DLS_TRY(begin_row(gpu, e->t_s, err));
    DLS_TRY(begin_row(net, e->t_s, err));
    for (int32_t i = 0; i < e->n_nodes; i++) {
        const dls_tiresias_node *node = &e->node[i];
        const int64_t cpus = log->k.cpus_per_node - node->free_cpus;
        const int64_t gpus = log->k.gpus_per_node - node->free_gpus;
        DLS_TRY(put_cells(cpu, &cpus, 1, err));
        DLS_TRY(put_cells(gpu, &gpus, 1, err));
        DLS_TRY(room(net, 2 * CELL, err));
        for (int way = 0; way < 2; way++) {
            put_char(net, ',');
            put_tenths(net, node->net_tenth_mb);
        }
    }
    DLS_TRY(end_row(log, cpu, err));
    DLS_TRY(end_row(log, gpu, err));
    DLS_TRY(end_row(log, net, err));
    return memory_row(log, e, err);
}

dls_status dls_tiresias_log_event(void *log, const dls_tiresias_event *event, dls_error *err)
{
    DLS_TRY(cluster_row(log, event, err));
    return event->node ? node_rows(log, event, err) : DLS_OK;
}

/* An id as a CSV cell: quoted when it has to be. */
static dls_status put_id(out_file *o, const char *id, dls_error *err)
{
    if (!id[strcspn(id, ",\"\r\n")] && strlen(id) < BUFFER) {
        return put_text(o, id, err);
    }
    DLS_TRY(put_text(o, "\"", err));
    for (; *id; id++) {
        const char twice[] = {*id, *id == '"' ? '"' : '\0', '\0'};
        DLS_TRY(put_text(o, twice, err));
    }
    return put_text(o, "\"", err);
}

static dls_status job_row(const dls_tiresias_log *log, const dls_trace *trace, const dls_record *rec,
                          int32_t j, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    out_file *o = log->file[JOB];
    const int64_t s = DLS_US_PER_S, start_s = rec->start_us[j] / s, end_s = rec->end_us[j] / s;
    const int64_t submit_s = c->submit_us[j] / s;
    const int64_t cells[] = {c->gpus[j],
                             submit_s,
                             start_s,
                             end_s,
                             end_s - start_s,
                             end_s - submit_s,
                             c->duration_us[j] / s,
                             rec->pending_us[j] / s,
                             rec->preempts[j]};
    const int64_t tail[] = {rec->resumes[j], rec->promotes[j]};
    DLS_TRY(begin_row(o, end_s, err));
    DLS_TRY(put_text(o, ",", err));
    DLS_TRY(put_id(o, dls_trace_id(trace, (size_t)j), err));
    DLS_TRY(put_cells(o, cells, 9, err));
    DLS_TRY(put_cells(o, log->by_count ? tail : tail + 1, log->by_count ? 2 : 1, err));
    return end_row(log, o, err);
}

static dls_status close_file(out_file *o, dls_error *err)
{
    DLS_TRY(drain(o, err));
    FILE *f = o->f;
    o->f = NULL;
    return fclose(f) == 0 ? DLS_OK : write_failed(o, err);
}

dls_status dls_tiresias_log_finish(dls_tiresias_log *log, const dls_trace *trace, const dls_record *rec,
                                 const int32_t *completed, dls_error *err)
{
    size_t ended = 0;
    for (size_t j = 0; j < rec->n_jobs; j++) {
        ended += rec->state[j] == DLS_JOB_FINISHED;
    }
    for (size_t i = 0; i < ended; i++) {
        DLS_TRY(job_row(log, trace, rec, completed[i], err));
    }
    for (int i = 0; i < N_FILES; i++) {
        if (log->file[i]) {
            DLS_TRY(close_file(log->file[i], err));
        }
    }
    for (int i = 0; i < N_FILES; i++) {
        if (log->file[i]) {
            DLS_TRY(dls_atomicfile_commit(&log->file[i]->atomic, err));
        }
    }
    return DLS_OK;
}
