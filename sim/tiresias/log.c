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
#include "base/own.h"
#include "base/atomicfile.h"
#include "base/csv.h"
#include "base/folder.h"
#include "tiresias/tiresias.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTER, CPU, GPU, NETWORK, MEMORY, JOB, N_FILES };

static const char *const names[N_FILES] = {"cluster.csv", "cpu.csv",    "gpu.csv",
                                           "network.csv", "memory.csv", "job.csv"};

#define BUFFER 65536

typedef struct out_file {
    dls_atomicfile atomic;
    FILE *f; /* its errors are looked at after each event */
    char buffer[BUFFER];
} out_file;

struct dls_tiresias_log {
    dls_tiresias_cluster k;
    int32_t n_nodes;
    bool by_count, gandiva, flush;
    out_file file[N_FILES]; /* f NULL: not written */
    double *mem_gb;         /* [n_nodes] scratch */
};

static dls_status write_failed(const out_file *o, dls_error *err)
{
    return dls_fail(err, DLS_EOUTPUT, o->atomic.path, "cannot be written: %s", strerror(errno));
}

static void put_int(FILE *f, int64_t v)
{
    char digits[20];
    int n = 0;
    if (v < 0) {
        putc_unlocked('-', f);
    }
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (n > 0) {
        putc_unlocked(digits[--n], f);
    }
}

/* Behind a comma: a number, and one with one decimal. */
static void put_cell(FILE *f, int64_t v)
{
    putc_unlocked(',', f);
    put_int(f, v);
}

static void put_tenths(FILE *f, int64_t tenths)
{
    put_cell(f, tenths / 10);
    putc_unlocked('.', f);
    putc_unlocked((int)('0' + tenths % 10), f);
}

static void end_row(const dls_tiresias_log *log, FILE *f)
{
    fputs("\r\n", f);
    if (log->flush) {
        fflush(f);
    }
}

/* Has all been written? */
static dls_status check(const dls_tiresias_log *log, dls_error *err)
{
    for (int i = 0; i < N_FILES; i++) {
        if (log->file[i].f && ferror(log->file[i].f)) {
            return write_failed(&log->file[i], err);
        }
    }
    return DLS_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

static dls_status open_file(dls_tiresias_log *log, int which, const char *dir, dls_error *err)
{
    const size_t n = strlen(dir) + strlen(names[which]) + 2;
    DLS_FREED char *path = dls_alloc(n);
    out_file *o = &log->file[which];
    if (!path) {
        return dls_nomem(err, "log file", n);
    }
    snprintf(path, n, "%s/%s", dir, names[which]);
    DLS_TRY(dls_atomicfile_begin(&o->atomic, path, err));
    o->f = fopen(o->atomic.part, "w");
    if (!o->f) {
        return write_failed(o, err);
    }
    setvbuf(o->f, o->buffer, _IOFBF, BUFFER);
    return DLS_OK;
}

/* "time,cpu0,cpu1,..." with one or two columns a node. */
static void node_header(const dls_tiresias_log *log, int which, const char *a, const char *b)
{
    FILE *f = log->file[which].f;
    fputs("time", f);
    for (int32_t i = 0; i < log->n_nodes; i++) {
        fprintf(f, ",%s%d", a, i);
        if (b) {
            fprintf(f, ",%s%d", b, i);
        }
    }
    end_row(log, f);
}

static void headers(const dls_tiresias_log *log)
{
    FILE *cluster = log->file[CLUSTER].f, *job = log->file[JOB].f;
    fprintf(
        cluster,
        "time,idle_node,busy_node,full_node,%s,busy_gpu,pending_job,running_job,completed_job%s",
        log->gandiva ? "fra_gpu" : "idle_gpu",
        log->gandiva ? ",len_g1,len_g2,len_g4,len_g8,len_g16,len_g32,len_g64" : "");
    end_row(log, cluster);
    fprintf(job,
            "time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,"
            "pending_time,preempt,%s",
            log->by_count ? "resume,promote" : "promote");
    end_row(log, job);
    if (!log->by_count) {
        node_header(log, CPU, "cpu", NULL);
        node_header(log, GPU, "gpu", NULL);
        node_header(log, NETWORK, "in", "out");
        fputs("time,max,99th,95th,med", log->file[MEMORY].f);
        end_row(log, log->file[MEMORY].f);
    }
}

static dls_status open_log(dls_tiresias_log *log, const char *dir, dls_error *err)
{
    DLS_TRY(dls_folder_make(dir, err));
    for (int i = 0; i < N_FILES; i++) {
        if (!log->by_count || i == CLUSTER || i == JOB) {
            DLS_TRY(open_file(log, i, dir, err));
        }
    }
    DLS_TRY(dls_alloc_array(&log->mem_gb, (size_t)log->n_nodes, sizeof *log->mem_gb, "log", err));
    headers(log);
    return check(log, err);
}

dls_status dls_tiresias_log_create(const char *dir, const dls_tiresias_params *p, bool flush,
                                   dls_tiresias_log **out, dls_error *err)
{
    DLS_HOLD(dls_tiresias_log_destroy) dls_tiresias_log *log = NULL;
    DLS_TRY(dls_alloc_array(&log, 1, sizeof *log, "log", err));
    log->k = p->cluster;
    log->n_nodes = p->cluster.switches * p->cluster.nodes_per_switch;
    log->by_count = strcmp(p->scheme, "count") == 0;
    log->gandiva = strcmp(p->scheme, "gandiva") == 0;
    log->flush = flush;
    DLS_TRY(open_log(log, dir, err));
    *out = dls_take(&log);
    return DLS_OK;
}

void dls_tiresias_log_destroy(dls_tiresias_log *log)
{
    if (!log) {
        return;
    }
    for (int i = 0; i < N_FILES; i++) {
        if (log->file[i].f) {
            fclose(log->file[i].f);
        }
        dls_atomicfile_abort(&log->file[i].atomic);
    }
    DLS_FREE_ALL(log->mem_gb, log);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void cluster_row(const dls_tiresias_log *log, const dls_tiresias_event *e)
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
    FILE *f = log->file[CLUSTER].f;
    put_int(f, e->t_s);
    for (int i = 0; i < 8; i++) {
        put_cell(f, cells[i]);
    }
    for (int i = 0; log->gandiva && i < DLS_TIRESIAS_GANDIVA_SETS; i++) {
        put_cell(f, e->sets[i]);
    }
    end_row(log, f);
}

DLS_BY(compare_down, double, DLS_ORDER(*y, *x));

static int32_t at_share(int32_t n, double share)
{
    const int32_t i = (int32_t)ceil(n * share);
    return i < n ? i : n - 1;
}

/* Only when some node is in use; the places in the descending list are the original's. */
static void memory_row(const dls_tiresias_log *log, const dls_tiresias_event *e)
{
    FILE *f = log->file[MEMORY].f;
    int32_t n = 0;
    for (int32_t i = 0; i < e->n_nodes; i++) {
        const double used = log->k.mem_gb_per_node - e->node[i].free_mem_gb + 2;
        if (used > 2) {
            log->mem_gb[n++] = used;
        }
    }
    if (n == 0) {
        return;
    }
    qsort(log->mem_gb, (size_t)n, sizeof *log->mem_gb, compare_down);
    const int32_t at[] = {0, at_share(n, 0.01), at_share(n, 0.05), (n - 1) / 2};
    put_int(f, e->t_s);
    for (int i = 0; i < 4; i++) {
        put_tenths(f, llround(log->mem_gb[at[i]] * 10));
    }
    end_row(log, f);
}

static void node_rows(const dls_tiresias_log *log, const dls_tiresias_event *e)
{
    FILE *cpu = log->file[CPU].f, *gpu = log->file[GPU].f, *net = log->file[NETWORK].f;
    put_int(cpu, e->t_s);
    put_int(gpu, e->t_s);
    put_int(net, e->t_s);
    for (int32_t i = 0; i < e->n_nodes; i++) {
        const dls_tiresias_node *node = &e->node[i];
        put_cell(cpu, log->k.cpus_per_node - node->free_cpus);
        put_cell(gpu, log->k.gpus_per_node - node->free_gpus);
        put_tenths(net, node->net_tenth_mb);
        put_tenths(net, node->net_tenth_mb);
    }
    end_row(log, cpu);
    end_row(log, gpu);
    end_row(log, net);
    memory_row(log, e);
}

dls_status dls_tiresias_log_event(void *log, const dls_tiresias_event *event, dls_error *err)
{
    cluster_row(log, event);
    if (event->node) {
        node_rows(log, event);
    }
    return check(log, err);
}

static void job_row(const dls_tiresias_log *log, const dls_trace *trace, const dls_record *rec,
                    int32_t j)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    FILE *f = log->file[JOB].f;
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
    put_int(f, end_s);
    putc_unlocked(',', f);
    dls_csv_put(f, dls_trace_id(trace, (size_t)j));
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        put_cell(f, cells[i]);
    }
    if (log->by_count) {
        put_cell(f, rec->resumes[j]);
    }
    put_cell(f, rec->promotes[j]);
    end_row(log, f);
}

dls_status dls_tiresias_log_finish(dls_tiresias_log *log, const dls_trace *trace,
                                   const dls_record *rec, const int32_t *completed, dls_error *err)
{
    size_t ended = 0;
    for (size_t j = 0; j < rec->n_jobs; j++) {
        ended += rec->state[j] == DLS_JOB_FINISHED;
    }
    for (size_t i = 0; i < ended; i++) {
        job_row(log, trace, rec, completed[i]);
    }
    for (int i = 0; i < N_FILES; i++) {
        FILE *f = log->file[i].f;
        log->file[i].f = NULL;
        if (f && (ferror(f) | fclose(f)) != 0) {
            return write_failed(&log->file[i], err);
        }
    }
    for (int i = 0; i < N_FILES; i++) {
        if (log->file[i].atomic.path) {
            DLS_TRY(dls_atomicfile_commit(&log->file[i].atomic, err));
        }
    }
    return DLS_OK;
}
