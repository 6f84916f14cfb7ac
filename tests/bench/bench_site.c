/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A month of a site: 100,000 jobs on 500 nodes of 8 GPUs as `sacct -P` and as `sacct --json` would
 * print them are imported, and replayed with backfill every 30 s. Jobs are drawn as the profile
 * philly has them; they ask for one to four times their duration, in whole minutes. One JSON object
 * a line: processor time beside the aim.
 *
 *   bench_site           100,000 jobs
 *   bench_site --short   the same, which ask for 2 to 12 processors and 50 to 250 GB a GPU, so that either may be what is short
 *   bench_site --smoke   2,000 jobs on 10 nodes; fails if what was written is not what was read
 */
#include "dlsim/site.h"
#include "dlsim/traces.h"
#include "support/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_GPUS = 8, CPUS_PER_GPU = 6 };
#define EPOCH_S INT64_C(1767225600) /* 2026-01-01 UTC */

static dls_error err;
static bool is_short; /* of processors and memory */
static char folder[] = "/tmp/dlsim-bench-XXXXXX";

static const char *in(const char *name)
{
    static char path[2][256];
    static int which;
    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
    return path[which];
}

static FILE *create(const char *name)
{
    FILE *f = fopen(in(name), "w");
    if (!f) {
        perror(name);
        exit(1);
    }
    return f;
}

/* A job as it ran without waiting, on nodes of no name: what is timed does not look at it. */
static void put_job(const dls_trace_columns *c, size_t j, FILE *table, FILE *json)
{
    static const int per_gpu[] = {2, 12, 4, 9, 3, 6, 12};
    static const int64_t mem[] = {50000, 250000, 100000, 50000, 120000}; /* MiB */
    const int64_t run_s = c->duration_us[j] / 1000000 + 1,
                  start_s = EPOCH_S + c->submit_us[j] / 1000000;
    const int64_t limit_min = run_s * (int64_t)(1 + j % 4) / 60 + 1;
    const int32_t gpus = c->gpus[j], nodes = (gpus + NODE_GPUS - 1) / NODE_GPUS,
                  on_one = gpus < NODE_GPUS ? gpus : NODE_GPUS, most = NODE_GPUS / on_one * CPUS_PER_GPU,
                  asked = per_gpu[j % 7], cpus = gpus * (!is_short ? CPUS_PER_GPU : asked < most ? asked : most);
    const int64_t mem_mib = is_short && on_one < NODE_GPUS / 2 ? gpus * mem[j % 5] : 0;
    fprintf(table,
            "%zu|u%zu|a%zu|main|COMPLETED|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64
            "|%" PRId64 "|%d|%d|n%zu|cpu=%d,gres/gpu=%d|cpu=%d,mem=%" PRId64 "M,gres/gpu=%d|1|sbatch job.sh\n",
            j + 1, j % 97, j % 11, start_s, start_s, start_s, start_s + run_s, run_s, limit_min,
            (int)nodes, (int)cpus, j % 10, (int)cpus, (int)gpus, (int)cpus, mem_mib, (int)gpus);
    fprintf(json,
            "%s{\"job_id\": %zu, \"user\": \"u%zu\", \"account\": \"a%zu\", \"partition\": "
            "\"main\", \"state\": "
            "{\"current\": [\"COMPLETED\"]}, \"allocation_nodes\": %d, \"nodes\": \"n%zu\", "
            "\"steps\": [], \"time\": "
            "{\"submission\": %" PRId64 ", \"eligible\": %" PRId64 ", \"start\": %" PRId64
            ", \"end\": %" PRId64 ", \"elapsed\": %" PRId64
            ", \"limit\": {\"set\": true, \"infinite\": false, \"number\": %" PRId64
            "}}, \"priority\": {\"set\": true, \"infinite\": false, \"number\": 1}, "
            "\"submit_line\": \"sbatch job.sh\", \"tres\": {",
            j ? ",\n" : "", j + 1, j % 97, j % 11, (int)nodes, j % 10, start_s, start_s, start_s,
            start_s + run_s, run_s, limit_min);
    for (int k = 0; k < 2; k++) {
        fprintf(json,
                "%s\"%s\": [{\"type\": \"cpu\", \"name\": \"\", \"count\": %d}, {\"type\": "
                "\"gres\", \"name\": "
                "\"gpu\", \"count\": %d}]",
                k ? ", " : "", k ? "requested" : "allocated", (int)cpus, (int)gpus);
    }
    fputs("}}", json);
}

static void write_site(int64_t n_jobs, int n_nodes)
{
    dls_synth_params params;
    dls_trace *trace;
    dls_synth_params_init(&params);
    params.profile = "philly";
    params.n_jobs = n_jobs;
    params.cluster_gpus = (int64_t)n_nodes * NODE_GPUS;
    params.load = 0.8;
    params.seed = 1;
    must(dls_synth_generate(&params, &trace, NULL, &err), &err);
    const dls_trace_columns *c = dls_trace_cols(trace);
    FILE *table = create("sacct.txt"), *json = create("sacct.json"), *nodes = create("nodes.txt");
    fputs("JobID|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|"
          "NNodes|NCPUS|"
          "NodeList|ReqTRES|AllocTRES|Priority|SubmitLine\n",
          table);
    fputs("{\"meta\": {\"slurm\": {}}, \"jobs\": [\n", json);
    for (size_t j = 0; j < c->n; j++) {
        put_job(c, j, table, json);
    }
    fputs("]}\n", json);
    for (int k = 0; k < n_nodes; k++) {
        fprintf(nodes,
                "NodeName=n%d CPUTot=%d Gres=gpu:A100:%d RealMemory=1000000 State=IDLE "
                "Partitions=main\n",
                k, NODE_GPUS * CPUS_PER_GPU, NODE_GPUS);
    }
    dls_trace_destroy(trace);
    if (fclose(table) != 0 || fclose(json) != 0 || fclose(nodes) != 0) {
        perror(folder);
        exit(1);
    }
}

static void import(const char *accounting, const char *to, double aim_s)
{
    char sacct[256], nodes[256], site[256];
    FILE *quiet = fopen("/dev/null", "w");
    snprintf(sacct, sizeof sacct, "%s", in(accounting));
    snprintf(nodes, sizeof nodes, "%s", in("nodes.txt"));
    snprintf(site, sizeof site, "%s", in(to));
    char conf[256];
    snprintf(conf, sizeof conf, "%s", in("slurm.conf"));
    const dls_site_slurm what = {
        .sacct = sacct, .nodes = nodes, .conf = is_short ? conf : NULL, .folder = site};
    const double from_s = cpu_s();
    must(dls_site_import_slurm(&what, quiet, &err), &err);
    printf("{\"bench\": \"import %s\", \"cpu_s\": %.2f, \"aim_s\": %g}\n", accounting,
           cpu_s() - from_s, aim_s);
    fclose(quiet);
}

/* Jobs that were read. */
static size_t replay(void)
{
    char path[256];
    dls_setup *setup;
    dls_trace *trace;
    dls_simulation *sim;
    snprintf(path, sizeof path, "%s", in("table/trace.csv"));
    must(dls_setup_create(&setup, &err), &err);
    must(dls_setup_file(setup, in("table/cluster.cfg"), &err), &err);
    must(dls_trace_load(path, NULL, NULL, &trace, &err), &err);
    const size_t n_jobs = dls_trace_cols(trace)->n;
    const double from_s = cpu_s();
    must(dls_simulation_create(setup, trace, &sim, &err), &err);
    must(dls_simulation_run(sim, &err), &err);
    printf("{\"bench\": \"replay with backfill%s\", \"jobs\": %zu, \"cpu_s\": %.2f, \"aim_s\": 5}\n",
           is_short ? ", processors and memory short" : "", n_jobs, cpu_s() - from_s);
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
    return n_jobs;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const int64_t n = smoke ? 2000 : 100000;
    char command[600];
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    is_short = argc > 1 && strcmp(argv[1], "--short") == 0;
    write_site(n, smoke ? 10 : 500);
    FILE *conf = create("slurm.conf");
    fputs("SelectTypeParameters=CR_CPU_Memory\n", conf);
    if (fclose(conf) != 0) {
        return 1;
    }
    import("sacct.txt", "table", 3);
    if (!is_short) {
        import("sacct.json", "json", 3);
    }
    const size_t n_jobs = replay();
    snprintf(command, sizeof command, "diff -r '%s' '%s'", in("table"), in("json"));
    const bool same = is_short || system(command) == 0;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 && same && n_jobs == (size_t)n ? 0 : 1;
}
