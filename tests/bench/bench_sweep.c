/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a sweep costs beside the simulations: planning a point, and running one in a process of its
 * own with its result written. Prints JSON. --smoke: few points.
 */
#include "config/prepare.h"
#include "dlsim/trace.h"
#include "results/write.h"
#include "sweep/merge.h"
#include "sweep/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this process and of those that it has waited for. */
static double cpu_s(void)
{
    double sum = 0;
    for (int who = 0; who < 2; who++) {
        struct rusage use;
        getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &use);
        sum += (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    }
    return sum;
}

/* Seconds inside simulations, of all workers: one at a time writes them. */
typedef struct simulated {
    double wall_s, cpu_s;
} simulated;
static simulated *simulating;

static dls_status load_trace(void *user, const dls_config *config, dls_trace **out, dls_error *err)
{
    (void)user;
    return dls_trace_load(config->trace_path, config->trace_format, &config->trace_options, out,
                          err);
}

static dls_status run(void *user, const dls_config *config, const dls_trace *trace,
                      const char *path, dls_error *err)
{
    (void)user;
    dls_prepared p;
    dls_record *rec;
    dls_summary summary;
    const double start = now_s(), cpu = cpu_s();
    DLS_TRY(dls_prepare(config, trace, &p, err));
    DLS_TRY(dls_sim_run(&p.params, &rec, err));
    simulating->wall_s += now_s() - start;
    simulating->cpu_s += cpu_s() - cpu;
    DLS_TRY(dls_summary_make(trace, rec, 0, 0, 1, &summary, err));
    const dls_results_meta meta = {.scheduler = config->scheduler,
                                   .placement = config->placement,
                                   .config_text = config->text,
                                   .cluster = &config->cluster};
    return dls_results_write(path, &meta, trace, rec, &summary, err);
}

static bool interrupted(void *user)
{
    (void)user;
    return false;
}

static void progress(void *user, const dls_sweep_progress *now)
{
    (void)user;
    (void)now;
}

static dls_status measure(const char *sample, size_t n, const char *folder, bool last,
                          dls_error *err)
{
    static const dls_sweep_host host = {load_trace, run, interrupted, progress, NULL};
    const char *source = getenv("DLSIM_SOURCE");
    char config[512], trace[512], merged[600];
    char(*values)[16] = calloc(n, sizeof *values);
    const char **value = calloc(n, sizeof *value);
    dls_registry *registry;
    dls_sweep *sweep;
    dls_sweep_plan *plan;
    dls_sweep_progress done;
    dls_problems problems = {0};
    size_t n_merged;
    snprintf(config, sizeof config, "%s/configs/quickstart.cfg", source ? source : ".");
    snprintf(trace, sizeof trace, "%s/traces/samples/%s", source ? source : ".", sample);
    snprintf(merged, sizeof merged, "%s/merged.h5", folder);
    for (size_t i = 0; i < n; i++) {
        snprintf(values[i], sizeof values[i], "%zu s", i);
        value[i] = values[i];
    }
    DLS_TRY(dls_registry_create(&registry, err));
    DLS_TRY(dls_sweep_create(config, &sweep, err));
    DLS_TRY(dls_sweep_add_list(sweep, "scheduler.restore_cost", value, n, "bench", err));
    const dls_override override = {"trace.path", trace, "bench"};
    const dls_sweep_request request = {.sweep = sweep,
                                       .overrides = &override,
                                       .n_overrides = 1,
                                       .registry = registry,
                                       .program = "bench",
                                       .host = &host};
    *simulating = (simulated){0, 0};
    const double t0 = now_s();
    DLS_TRY(dls_sweep_plan_make(&request, &problems, &plan, err));
    const double t1 = now_s(), cpu1 = cpu_s();
    DLS_TRY(dls_sweep_store_open(folder, err));
    DLS_TRY(dls_sweep_run(plan, folder, 1, &done, err));
    const double t2 = now_s(), cpu2 = cpu_s();
    DLS_TRY(dls_sweep_merge(plan, folder, merged, false, &n_merged, err));
    const double t3 = now_s();
    if (done.finished != n || n_merged != n) {
        return dls_fail(err, DLS_ERUN, NULL, "%zu of %zu points are finished", done.finished, n);
    }
    const double points = (double)n;
    printf("  {\"trace\": \"%s\", \"points\": %zu, \"plan_ms\": %.3f, \"simulation_ms\": %.2f, "
           "\"overhead_ms\": %.2f, \"overhead_cpu_ms\": %.2f, \"merge_ms\": %.2f}%s\n",
           sample, n, 1e3 * (t1 - t0) / points, 1e3 * simulating->wall_s / points,
           1e3 * (t2 - t1 - simulating->wall_s) / points,
           1e3 * (cpu2 - cpu1 - simulating->cpu_s) / points, 1e3 * (t3 - t2) / points,
           last ? "" : ",");
    dls_sweep_plan_destroy(plan);
    dls_sweep_destroy(sweep);
    dls_registry_destroy(registry);
    free(value);
    free(values);
    return DLS_OK;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    static const char *const samples[] = {"quick_60.csv", "philly_like_5000.csv"};
    const char *where = getenv("TMPDIR");
    simulating =
        mmap(NULL, sizeof *simulating, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (simulating == MAP_FAILED) {
        return 1;
    }
    puts("{\"per point\": [");
    for (size_t i = 0; i < 2; i++) {
        char folder[256], command[300];
        dls_error err = {0};
        snprintf(folder, sizeof folder, "%.200s/dlsim-bench-XXXXXX", where ? where : "/tmp");
        if (!mkdtemp(folder)) {
            return 1;
        }
        /* In a process of its own, so that what one leaves on the heap is not copied for the next.
         */
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            const dls_status status = measure(samples[i], smoke ? 5 : 200, folder, i == 1, &err);
            if (status != DLS_OK) {
                fprintf(stderr, "bench_sweep: %s: %s\n", err.where, err.msg);
            }
            fflush(stdout);
            _exit(status != DLS_OK);
        }
        int how = -1;
        waitpid(pid, &how, 0);
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        if (system(command) != 0 || how != 0) {
            return 1;
        }
    }
    puts("]}");
    return 0;
}
