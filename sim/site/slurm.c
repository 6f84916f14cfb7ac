/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes the files of an imported Slurm site:
 *
 *      sacct -P            --> trace.csv       (traces/sacct.c reads it)
 *      scontrol show nodes --> cluster.cfg     nodes with GPUs, in Slurm's order
 *      slurm.conf          --> cluster.cfg     options of the scheduler `slurm`
 *      topology.conf, gres.conf
 *                          --> cluster.cfg     racks, types of GPUs
 *      sshare -a -P        --> shares.csv
 *      slurmctld's log     --> runs.csv        when the schedulers ran (option `runs`)
 *      scontrol show nodes, partitions
 *                          --> partitions.csv  their nodes and tiers (option `partitions`)
 *      sacct -P            --> jobs.csv        what else is known of jobs (option `jobs`)
 *      sacctmgr show qos, event, scontrol show reservations
 *                          --> qos.csv, outages.csv  (options `qos`, `outages`)
 *      sacct -P            --> cpu_jobs.csv    jobs without GPUs on nodes with GPUs (option `cpu_jobs`)
 *
 * What may be changed here: which fields are read. tests/cli/site.sh guards it, with recordings of
 * a real Slurm in tests/slurm.
 */
#include "dlsim/site.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/guard.h"
#include "base/owners.h"
#include "base/strdict.h"
#include "dlsim/trace.h"
#include "site/nodes.h"
#include "site/slurm_conf.h"
#include "site/slurm_held.h"
#include "site/slurm_jobs.h"
#include "site/slurm_topology.h"
#include "traces/date.h"
#include "traces/sacct_json.h"
#include "traces/trace_impl.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct making {
    const dls_site_slurm *site;
    dls_site_rules rules;
    const dls_trace_source *sacct;
    dls_site_nodes *nodes;
    const dls_trace *trace;
    dls_site_held *held;
    dls_site_jobs *jobs;
    dls_site_topology *topology;
    const dls_site_log *log; /* NULL: none */
    FILE *to;
} making;

/* ---- nodes ----------------------------------------------------------------------------------- */

/* One entry of a node's Gres, "gpu:a100:8(S:0-1)" or "gpu:8": how many, and the type. */
static int64_t gpus_named(const char *entry, char type[64])
{
    char *end;
    type[0] = '\0';
    if (strncmp(entry, "gpu:", 4) != 0) {
        return 0;
    }
    entry += 4;
    long n = strtol(entry, &end, 10);
    if (end == entry ||
        !strchr(",(", *end)) { /* a type, of which 1g.5gb is one, stands before the number */
        const size_t len = strcspn(entry, ":,(");
        snprintf(type, 64, "%.*s", (int)len, entry);
        n = entry[len] == ':' ? strtol(entry + len + 1, &end, 10) : 1;
    }
    return n > 0 && n <= 1024 ? n : 0;
}

/* "gpu:a100:4,gpu:v100:2,shard:...": the GPUs of the type that has most, the first of those;
 * *others: those of other types. */
static int32_t gpus_of(const char *gres, char type[64], int64_t *others)
{
    int64_t most = 0, all = 0;
    type[0] = '\0';
    for (const char *p = gres; *p; p += strcspn(p, ","), p += *p == ',') {
        char name[64], same[64];
        int64_t sum = 0;
        all += gpus_named(p, name);
        for (const char *q = gres; *q; q += strcspn(q, ","), q += *q == ',') {
            const int64_t n = gpus_named(q, same);
            sum += strcmp(same, name) == 0 ? n : 0;
        }
        if (sum > most && gpus_named(p, name) > 0) {
            most = sum;
            memcpy(type, name, sizeof name);
        }
    }
    *others = all - most;
    return most <= 64 ? (int32_t)most : 0;
}

static dls_status add_node(void *user, char *line, dls_error *err)
{
    const making *m = user;
    dls_site_group g = {.count = 1};
    char gres[256], cpus[32], mem[32], state[64], partitions[4096];
    bool again;
    dls_site_value_of(line, "NodeName", g.name, sizeof g.name);
    dls_site_value_of(line, "Gres", gres, sizeof gres);
    dls_site_value_of(line, "CPUTot", cpus, sizeof cpus);
    dls_site_value_of(line, "RealMemory", mem, sizeof mem);
    g.cpus = strtoll(cpus, NULL, 10);
    g.mem_mib = m->rules.memory ? strtoll(mem, NULL, 10) : 0;
    if (!g.name[0] || g.cpus < 0 || g.cpus > 1000000 || g.mem_mib < 0 ||
        g.mem_mib > DLS_SITE_MEM_MIB) {
        m->nodes->odd++;
        return DLS_OK;
    }
    int64_t others;
    g.gpus = gpus_of(gres, g.type, &others);
    dls_site_topology_place(m->topology, &g);
    dls_site_value_of(line, "State", state, sizeof state);
    dls_site_value_of(line, "Partitions", partitions, sizeof partitions);
    DLS_TRY(dls_site_held_node(m->held, &g, state, partitions, &again, err));
    m->nodes->other_gpus += again ? 0 : others;
    return again ? DLS_OK : dls_site_nodes_add(m->nodes, &g, err);
}

static dls_status read_nodes(making *m, dls_error *err)
{
    DLS_TRY(dls_file_lines(m->site->nodes, DLS_FILE_TABLE, add_node, m, err));
    dls_site_nodes_join(m->nodes);
    return m->nodes->total_gpus > 0 ? DLS_OK
                                    : dls_fail(err, DLS_EINPUT, m->site->nodes,
                                               "no node with GPUs in it: is it the output of "
                                               "`scontrol show nodes -o`?");
}

/* ---- the configuration ----------------------------------------------------------------------- */

static bool has_partitions(const making *m)
{
    return dls_site_partitions_differ(&m->held->partitions) ||
           (m->site->partitions && m->held->partitions.names.n > 1);
}

static bool has_outages(const making *m)
{
    return m->site->events || m->site->reservations;
}

static dls_status put_cluster(FILE *cfg, void *what, dls_error *err)
{
    const making *m = what;
    dls_site_nodes_put(m->nodes, "slurm", cfg);
    fputs("placement: { name = \"first-fit\"; };\n", cfg);
    const dls_site_tables tables = {m->held->n_jobs > 0, has_partitions(m),
                                    dls_site_jobs_any(m->jobs, m->site, &m->rules), has_outages(m)};
    return dls_site_put_scheduler(cfg, m->site, m->sacct, m->nodes->cpus, tables,
                                  dls_trace_about(m->trace)->epoch, m->log, m->to, err);
}

static dls_status put_runs(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    fputs("time,scheduler\n", out);
    for (size_t i = 0; i < m->log->n_runs; i++) {
        fprintf(out, "%.6f,%s\n", 1e-6 * (double)m->log->run[i].at_us, m->log->run[i].what);
    }
    return DLS_OK;
}

static dls_status put_partitions(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    dls_site_partitions_put(&m->held->partitions, m->trace, out, m->to);
    return DLS_OK;
}

static dls_status put_cpu_jobs(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    dls_site_held_put_jobs(m->held, out);
    return DLS_OK;
}

static dls_status put_jobs(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    dls_site_jobs_put(m->jobs, m->site, &m->rules, out);
    return DLS_OK;
}

static dls_status put_qos(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    return dls_site_qos_put(m->site->qos, &m->rules, out, m->to, err);
}

static dls_status put_outages(FILE *out, void *what, dls_error *err)
{
    const making *m = what;
    return dls_site_outages_put(m->site, m->held, m->log, out, err);
}

/* sshare's columns, and the rows before this one. */
enum { ACCOUNT, USER, SHARES };

typedef struct sharing {
    FILE *out;
    dls_strdict *seen;
} sharing;

/* What a replay would refuse
 * (sched/slurm_priority.c) is told here, where the file is that it comes from. */
static dls_status put_share(dls_csv *csv, const int *col, void *to, dls_error *err)
{
    FILE *out = ((sharing *)to)->out;
    dls_strdict *seen = ((sharing *)to)->seen;
    const char *account = dls_csv_text(csv, col[ACCOUNT]), *user = dls_csv_text(csv, col[USER]);
    const size_t before = seen->n;
    char row[132];
    int64_t shares;
    int32_t code;
    if (!account[0] || strlen(account) > 63 || strlen(user) > 63 || strpbrk(account, ",\"") ||
        strpbrk(user, ",\"")) {
        return dls_csv_fail(csv, col[ACCOUNT], err,
                            "no account, or a name that Slurm does not have");
    }
    const bool root = strcmp(account, "root") == 0;
    snprintf(row, sizeof row, "%s,", account);
    if (user[0] && !root && dls_strdict_find(seen, row, strlen(row)) < 0) {
        return dls_csv_fail(csv, col[ACCOUNT], err,
                            "the row of account '%s' must stand before its users", account);
    }
    snprintf(row, sizeof row, "%s,%s", account, user);
    DLS_TRY(dls_strdict_put(seen, row, strlen(row), &code, err));
    if (seen->n == before) {
        return dls_csv_fail(csv, col[ACCOUNT], err, "%s stands there twice", row);
    }
    if (root && !user[0]) {
        return DLS_OK;
    }
    if (dls_csv_is(csv, col[SHARES], "parent")) {
        fprintf(out, "%s,parent\n", row);
        return DLS_OK;
    }
    DLS_TRY(dls_csv_i64(csv, col[SHARES], "a number of shares or `parent`", 0, 0, INT32_MAX,
                        &shares, err));
    fprintf(out, "%s,%lld\n", row, (long long)shares);
    return DLS_OK;
}

static dls_status put_shares(FILE *out, void *what, dls_error *err)
{
    static const char *const names[] = {"Account", "User", "RawShares|Raw Shares"};
    const making *m = what;
    DLS_OWN(dls_strdict_fini) dls_strdict seen = {0};
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    DLS_TRY(dls_csv_open(&csv, m->site->shares, err));
    csv.sep = '|';
    fputs("account,user,shares\n", out);
    return dls_csv_read(&csv, names, 3, 3, put_share, &(sharing){out, &seen}, err);
}

static dls_status path_in(const making *m, const char *name, char *out, size_t size, dls_error *err)
{
    const dls_site_slurm *s = m->site;
    const char *const reads[] = {s->sacct, s->nodes, s->conf, s->partitions, s->qos, s->events,
                                 s->reservations, s->shares, s->log, s->topology, s->gres};
    return dls_site_path(s->folder, name, reads, sizeof reads / sizeof *reads, out, size, err);
}

/* What a file will hold. */
typedef struct content {
    char *text; /* the C library's own */
    size_t len;
} content;

static dls_status make_content(making *m, dls_atomicfile_put_fn put, content *c, dls_error *err)
{
    FILE *out = open_memstream(&c->text, &c->len);
    const dls_status status = out ? put(out, m, err) : DLS_OK;
    return (!out || fclose(out) != 0) && status == DLS_OK ? dls_nomem(err, "site", 0) : status;
}

static dls_status put_content(FILE *out, void *what, dls_error *err)
{
    const content *c = what;
    fwrite(c->text, 1, c->len, out);
    return DLS_OK;
}

enum { FILES = 8 };

typedef struct contents {
    content of[FILES];
} contents;

static void contents_fini(contents *c)
{
    for (int i = 0; i < FILES; i++) {
        free(c->of[i].text);
    }
}

/* Everything is read before anything is written: a site that is there stays whole. */
static dls_status write_all(making *m, dls_error *err)
{
    const struct {
        const char *name;
        bool there;
        dls_atomicfile_put_fn put;
    } files[FILES] = {{"shares.csv", m->site->shares != NULL, put_shares},
                      {"partitions.csv", has_partitions(m), put_partitions},
                      {"cpu_jobs.csv", m->held->n_jobs > 0, put_cpu_jobs},
                      {"jobs.csv", dls_site_jobs_any(m->jobs, m->site, &m->rules), put_jobs},
                      {"qos.csv", m->site->qos != NULL, put_qos},
                      {"outages.csv", has_outages(m), put_outages},
                      {"runs.csv", m->log != NULL, put_runs},
                      {"cluster.cfg", true, put_cluster}};
    DLS_OWN(contents_fini) contents all = {0};
    char path[4096];
    for (int i = 0; i < FILES; i++) {
        if (files[i].there) {
            DLS_TRY(path_in(m, files[i].name, path, sizeof path, err));
            DLS_TRY(make_content(m, files[i].put, &all.of[i], err));
        }
    }
    DLS_TRY(dls_folder_make(m->site->folder, err));
    DLS_TRY(path_in(m, "trace.csv", path, sizeof path, err));
    DLS_TRY(dls_trace_save_csv(m->trace, path, err));
    for (int i = 0; i < FILES; i++) {
        DLS_TRY(path_in(m, files[i].name, path, sizeof path, err));
        if (files[i].there) {
            DLS_TRY(dls_atomicfile_write(path, put_content, &all.of[i], err));
        }
    }
    return DLS_OK;
}

/* ---- report ---------------------------------------------------------------------------------- */

static void report(const making *m)
{
    const dls_trace_info *info = dls_trace_about(m->trace);
    const dls_trace_columns *c = dls_trace_cols(m->trace);
    int64_t wait_us = 0, service_us = 0;
    for (size_t i = 0; i < c->n; i++) {
        wait_us += c->queue_us && c->queue_us[i] > 0 ? c->queue_us[i] : 0;
        service_us += c->duration_us[i] > 0 ? c->duration_us[i] * c->gpus[i] : 0;
    }
    fprintf(m->to, "%s: %zu jobs of GPUs from %s on, mean wait %.0f s, %.0f GPU-hours\n",
            m->site->sacct, c->n, info->epoch, 1e-6 * (double)wait_us / (double)c->n,
            (double)service_us / 3.6e9);
    fprintf(m->to, "%s: %d nodes with %lld GPUs", m->site->nodes,
            (int)(m->nodes->total - m->nodes->without), (long long)m->nodes->total_gpus);
    if (m->nodes->without) {
        fprintf(m->to, "; %d nodes without GPUs left out", (int)m->nodes->without);
    }
    if (m->log) {
        fprintf(m->to, "; %zu jobs and %zu runs of the schedulers by the log", m->log->timed,
                m->log->n_runs);
    }
    fputs(m->nodes->odd ? "; some lines are no nodes\n" : "\n", m->to);
    if (m->nodes->other_gpus > 0) {
        fprintf(m->to,
                "  GPUs of a type that their node has fewer of than of another: %lld, left out\n",
                (long long)m->nodes->other_gpus);
    }
    for (const char *line = info->notes; *line; line += strcspn(line, "\n") + 1) {
        fprintf(m->to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
    dls_site_held_put(m->held, m->to);
    dls_site_jobs_report(m->jobs, m->to);
    dls_site_topology_report(m->topology, m->nodes, m->to);
    if (has_partitions(m)) {
        fprintf(m->to, "  partitions: %d%s\n", (int)m->held->partitions.names.n,
                m->site->partitions ? "" : "; their tiers are not known (--partitions)");
    }
}

static dls_status read_held(dls_site_held *held, const dls_trace_source *sacct,
                            const dls_trace *trace, dls_error *err)
{
    const char *epoch = dls_trace_about(trace)->epoch;
    int64_t zero_us;
    return dls_date_parse(epoch, strlen(epoch), &zero_us)
               ? dls_site_held_read(held, sacct, 1e-6 * (double)zero_us, err)
               : dls_fail(err, DLS_EINPUT, sacct->path, "has no dates");
}

/* The accounting, and what the log says of it. */
static dls_status read_all(making *m, dls_trace **trace, dls_site_log *log, dls_error *err)
{
    const dls_site_slurm *site = m->site;
    DLS_TRY(dls_site_rules_read(site->conf, &m->rules, err));
    DLS_TRY(dls_trace_of_text(m->sacct, "sacct", trace, err));
    DLS_TRY(site->partitions ? dls_site_partitions_read(&m->held->partitions, site->partitions, err)
                             : DLS_OK);
    DLS_TRY(dls_site_topology_read(m->topology, site->topology, site->gres, err));
    DLS_TRY(read_nodes(m, err));
    DLS_TRY(read_held(m->held, m->sacct, *trace, err));
    DLS_TRY(dls_site_jobs_read(m->jobs, m->sacct, err));
    if (m->rules.preempt && site->qos) {
        DLS_TRY(dls_site_jobs_merge(m->jobs, trace, err));
    }
    if (site->log) {
        DLS_TRY(dls_site_log_apply(site->log, trace, m->held, log, err));
        m->log = log;
    }
    m->trace = *trace;
    report(m);
    return write_all(m, err);
}

dls_status dls_site_import_slurm(const dls_site_slurm *site, FILE *to, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_OWN(dls_site_nodes_fini) dls_site_nodes nodes = {0};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_OWN(dls_site_log_fini) dls_site_log log = {0};
    DLS_OWN(dls_site_held_fini) dls_site_held held = {0};
    DLS_OWN(dls_site_jobs_fini) dls_site_jobs jobs = {0};
    DLS_OWN(dls_site_topology_fini) dls_site_topology topology = {.all_type = -1};
    static const dls_trace_options opts;
    dls_trace_source sacct = {strcmp(site->sacct, "-") == 0 ? "<stdin>" : site->sacct, NULL, 0,
                              &opts};
    DLS_FREED char *text = NULL;
    DLS_TRY(dls_sacct_text(site->sacct, &text, &sacct.len, err));
    sacct.text = text;
    making m = {.site = site,
                .sacct = &sacct,
                .nodes = &nodes,
                .held = &held,
                .jobs = &jobs,
                .topology = &topology,
                .to = to};
    return read_all(&m, &trace, &log, err);
}
