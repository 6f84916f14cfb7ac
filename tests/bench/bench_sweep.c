/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a sweep costs beside the simulations: planning a point, and running one in a process of its
 * own with its result written. Prints JSON. --smoke: few points. --thousand: 1,000 points of 5,000
 * jobs on all cores (5 schedulers, 20 restore costs, 10 seeds), with the machine's load.
 */
#include "support/bench.h"
#include "sweep/store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COSTS_MAX = 200 };

/* Of this process and of those that it has waited for. */
static double all_cpu_s(void)
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

/* Inside simulations, of all workers. */
typedef struct simulated {
    atomic_llong wall_ns, cpu_ns;
} simulated;
static simulated *simulating;

static dls_status run(void *user, dls_simulation *sim, dls_error *err)
{
    const double start = wall_s(), cpu = all_cpu_s();
    DLS_TRY(dls_simulation_run(sim, err));
    atomic_fetch_add(&simulating->wall_ns, (long long)(1e9 * (wall_s() - start)));
    atomic_fetch_add(&simulating->cpu_ns, (long long)(1e9 * (all_cpu_s() - cpu)));
    return DLS_OK;
}

/* ---- the sweeps ------------------------------------------------------------------------------ */

typedef struct workload {
    const char *sample;
    size_t costs;    /* values of scheduler.restore_cost */
    bool schedulers; /* and of scheduler.name */
    size_t seeds;
    int workers;
} workload;

static dls_status make_sweep(const workload *w, const char *config, dls_sweep **out, dls_error *err)
{
    static const char *const schedulers[] = {"fifo", "srtf", "dlas-gpu", "gittins", "easy"};
    char values[COSTS_MAX][24];
    const char *value[COSTS_MAX];
    for (size_t i = 0; i < w->costs; i++) {
        snprintf(values[i], sizeof values[i], "%zu s", i);
        value[i] = values[i];
    }
    DLS_TRY(dls_sweep_create(config, out, err));
    if (w->schedulers) {
        DLS_TRY(dls_sweep_add_list(*out, "scheduler.name", schedulers, 5, "bench", err));
    }
    DLS_TRY(dls_sweep_add_list(*out, "scheduler.restore_cost", value, w->costs, "bench", err));
    (*out)->n_seeds = w->seeds;
    return DLS_OK;
}

static dls_status measure(const workload *w, const char *folder, bool last, dls_error *err)
{
    static const dls_study_watch watch = {.run = run};
    const char *source = getenv("DLSIM_SOURCE");
    char config[512], trace[512], merged[600];
    dls_registry *registry;
    dls_sweep *sweep;
    dls_sweep_plan *plan;
    dls_study_progress done;
    dls_problems problems = {0};
    double load[2] = {0, 0};
    size_t n;
    snprintf(config, sizeof config, "%s/configs/quickstart.cfg", source ? source : ".");
    snprintf(trace, sizeof trace, "%s/traces/samples/%s", source ? source : ".", w->sample);
    snprintf(merged, sizeof merged, "%s/merged.h5", folder);
    DLS_TRY(dls_registry_create(&registry, err));
    DLS_TRY(make_sweep(w, config, &sweep, err));
    const dls_override override = {"trace.path", trace, "bench"};
    const dls_sweep_request request = {.sweep = sweep,
                                       .overrides = &override,
                                       .n_overrides = 1,
                                       .registry = registry,
                                       .watch = &watch};
    atomic_store(&simulating->wall_ns, 0);
    atomic_store(&simulating->cpu_ns, 0);
    const double t0 = wall_s();
    DLS_TRY(dls_sweep_plan_make(&request, &problems, &plan, err));
    (void)!getloadavg(&load[0], 1);
    const double t1 = wall_s(), cpu1 = all_cpu_s();
    DLS_TRY(dls_sweep_store_open(folder, err));
    DLS_TRY(dls_sweep_run(plan, folder, w->workers, &done, err));
    const double t2 = wall_s(), cpu2 = all_cpu_s();
    (void)!getloadavg(&load[1], 1);
    DLS_TRY(dls_sweep_merge(plan, folder, merged, false, &n, err));
    const double t3 = wall_s();
    if (done.finished != plan->n || n != plan->n) {
        return dls_fail(err, DLS_ERUN, NULL, "%zu of %zu points are finished", done.finished,
                        plan->n);
    }
    const double sim_s = 1e-9 * (double)atomic_load(&simulating->wall_ns);
    const double sim_cpu_s = 1e-9 * (double)atomic_load(&simulating->cpu_ns);
    const double per_point = 1e3 / (double)n;
    printf("  {\"trace\": \"%s\", \"points\": %zu, \"workers\": %d, \"run_s\": %.2f, "
           "\"run_cpu_s\": %.2f, \"load\": [%.2f, %.2f], \"plan_ms\": %.3f, "
           "\"simulation_ms\": %.2f, \"simulation_cpu_ms\": %.2f, \"overhead_ms\": %.2f, "
           "\"overhead_cpu_ms\": %.2f, \"merge_ms\": %.2f}%s\n",
           w->sample, n, w->workers, t2 - t1, cpu2 - cpu1, load[0], load[1], per_point * (t1 - t0),
           per_point * sim_s, per_point * sim_cpu_s,
           per_point * ((double)w->workers * (t2 - t1) - sim_s),
           per_point * (cpu2 - cpu1 - sim_cpu_s), per_point * (t3 - t2), last ? "" : ",");
    dls_sweep_plan_destroy(plan);
    dls_sweep_destroy(sweep);
    dls_registry_destroy(registry);
    return DLS_OK;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const bool thousand = argc > 1 && strcmp(argv[1], "--thousand") == 0;
    const size_t costs = smoke ? 5 : COSTS_MAX;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const workload each[] = {{"quick_60.csv", costs, false, 1, 1},
                             {"philly_like_5000.csv", costs, false, 1, 1}};
    const workload all[] = {{"philly_like_5000.csv", 20, true, 10, cores > 0 ? (int)cores : 1}};
    const workload *workloads = thousand ? all : each;
    const size_t n = thousand ? 1 : 2;
    const char *where = getenv("TMPDIR");
    simulating =
        mmap(NULL, sizeof *simulating, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (simulating == MAP_FAILED) {
        return 1;
    }
    puts("{\"sweeps\": [");
    for (size_t i = 0; i < n; i++) {
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
            const dls_status status = measure(&workloads[i], folder, i + 1 == n, &err);
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
