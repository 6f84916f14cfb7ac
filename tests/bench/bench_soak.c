/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Endurance: what policies cost when traces are hostile, and whether a long run costs as much at
 * its end as at its beginning. One JSON object a line.
 *
 *   bench_soak               every scheduler with `consolidated` and every placement with
 *                            `dlas-gpu`, on five traces (support/hostile.h) of up to 100,000 jobs
 *   bench_soak NAME...       only these policies
 *   bench_soak --trace=NAME  only this trace
 *   bench_soak --jobs=N      traces of up to N jobs (100,000)
 *   bench_soak --limit=S     processor time that a run may take (5 s); then the next policy
 *   bench_soak --table       a row of a table for each policy, a cell for each trace: exponent and
 *                            microseconds an event of the largest size that ended, that size if it is not N
 *   bench_soak --long[=N]    N jobs (10,000,000) on 1,000 GPUs, 76 s apart: 24 years; dlas-gpu
 *   bench_soak --smoke       traces of up to 300 jobs, a hundredth of the long run
 *
 * exponent: of the processor time of the simulation against the size before; of n log n it is 1.09
 * between the last two sizes. tests/property/growth.c counts steps instead, of fewer jobs.
 *
 * Fails if a run does, and in the long run if an event in its ninth tenth costs more than twice
 * what it costs in the third, or if memory grows by more than a KiB for each job that ends.
 */
#include "dlsim/run.h"
#include "support/hostile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TENTHS = 9, LONG_JOBS = 10000000 };

static dls_error err;

static size_t resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) {
        exit(1);
    }
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* ---- hostile traces -------------------------------------------------------------------------- */

typedef struct cost {
    double cpu_s;
    uint64_t events;
    int status; /* 0 well, 1 failed, 2 not for this trace, 3 beyond the limit */
} cost;

static cost measure(int kind, size_t n, const char *sched, const char *place)
{
    cost c = {.status = 2};
    dls_trace *trace = hostile_trace(kind, n);
    dls_simulation *sim = NULL;
    const char *problem = NULL;
    for (int plain = 1; plain >= 0 && !sim; plain--) {
        dls_setup *setup = hostile_setup(kind, n, sched, place, plain);
        if (dls_simulation_create(setup, trace, &sim, &err) != DLS_OK) {
            sim = NULL;
            problem = dls_setup_problem(setup, 0);
        }
    }
    if (!sim) {
        fprintf(stderr, "%s\n", problem ? problem : err.msg);
        return c;
    }
    const double from = cpu_s();
    c.status = dls_simulation_run(sim, &err) != DLS_OK;
    c.cpu_s = cpu_s() - from;
    c.events = dls_simulation_counts(sim).events;
    return c;
}

/* In a process of its own, which ends at the limit. */
static cost measured(int kind, size_t n, const char *sched, const char *place, double limit_s)
{
    cost c = {.status = 3};
    int to[2];
    if (pipe(to) != 0) {
        exit(1);
    }
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {(rlim_t)limit_s, (rlim_t)limit_s + 1};
        setrlimit(RLIMIT_CPU, &limit);
        c = measure(kind, n, sched, place);
        if (c.status == 1) {
            fprintf(stderr, "%s, %s, %s: %s: %s\n", hostile[kind], sched, place, err.where, err.msg);
        }
        _exit(write(to[1], &c, sizeof c) != sizeof c);
    }
    close(to[1]);
    if (read(to[0], &c, sizeof c) != sizeof c) {
        c = (cost){.status = 3};
    }
    close(to[0]);
    waitpid(pid, NULL, 0);
    return c;
}

typedef struct options {
    size_t most;
    double limit_s;
    const char *trace; /* NULL: all */
    bool smoke, table;
} options;

static const char *const words[] = {"ok", "failed", "needs more than the trace has", "limit"};

static void print_cost(int kind, const char *sched, const char *place, size_t n, const cost *c, const cost *before)
{
    printf("{\"trace\": \"%s\", \"scheduler\": \"%s\", \"placement\": \"%s\", \"jobs\": %zu, "
           "\"status\": \"%s\", \"cpu_s\": %.4f, \"events\": %llu, \"us_per_event\": %.2f",
           hostile[kind], sched, place, n, words[c->status], c->cpu_s, (unsigned long long)c->events,
           c->events > 0 ? 1e6 * c->cpu_s / (double)c->events : 0);
    if (c->status == 0 && before->cpu_s > 0) {
        printf(", \"exponent\": %.2f, \"events_exponent\": %.2f", log(c->cpu_s / before->cpu_s) / log(4),
               log((double)c->events / (double)before->events) / log(4));
    }
    puts("}");
}

static void print_cell(size_t n, size_t most, const cost *c, const cost *before, int status)
{
    if (c->cpu_s > 0 && before->cpu_s > 0) {
        printf(" %.2f,", log(c->cpu_s / before->cpu_s) / log(4));
    }
    if (c->cpu_s > 0) {
        printf(" %.1f", 1e6 * c->cpu_s / (double)c->events);
    }
    if (c->cpu_s > 0 && n < most) {
        printf(" (to %zu)", n);
    }
    printf("%s |", n == 0 && status == 3 ? " limit" : "");
    fflush(stdout);
}

/* Three sizes, unless one takes too long; whether none failed. */
static bool grows(int kind, const char *sched, const char *place, const options *o)
{
    cost before = {0}, last = {0}, c = {0};
    size_t ended = 0;
    for (size_t n = o->most / 16; n <= o->most && c.status == 0; n *= 4) {
        c = measured(kind, n, sched, place, o->limit_s);
        if (!o->table) {
            print_cost(kind, sched, place, n, &c, &last);
        }
        if (c.status == 0) {
            before = last;
            last = c;
            ended = n;
        }
    }
    if (o->table) {
        print_cell(ended, o->most / 16 * 16, &last, &before, c.status);
    }
    return c.status != 1;
}

/* One policy on all traces, in the short form on one; whether none failed. */
static bool is_soaked(const char *name, const char *sched, const char *place, int number, const options *o)
{
    bool well = true;
    if (o->table) {
        printf("| %s |", name);
    }
    for (int kind = 0; kind < TRACES; kind++) {
        if ((!o->trace || strcmp(o->trace, hostile[kind]) == 0) && (!o->smoke || number % TRACES == kind)) {
            well &= grows(kind, sched, place, o);
        }
    }
    if (o->table) {
        puts("");
    }
    return well;
}

/* ---- a long run ------------------------------------------------------------------------------ */

typedef struct tenths {
    dls_simulation *sim;
    int n;
    double cpu_s[TENTHS + 1];
    uint64_t events[TENTHS + 1];
    size_t kib[TENTHS + 1];
} tenths;

static bool note(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    tenths *t = user;
    while (t->n <= TENTHS && done >= n_jobs * (size_t)t->n / 10) {
        t->cpu_s[t->n] = cpu_s();
        t->events[t->n] = dls_simulation_counts(t->sim).events;
        t->kib[t->n++] = resident_kib();
    }
    return true;
}

static bool lasts(size_t n)
{
    static tenths t;
    char path[] = "/tmp/dlsim-soak-XXXXXX";
    double us[TENTHS + 1];
    close(mkstemp(path));
    dls_trace *trace = hostile_trace(LONG, n);
    dls_setup *setup = hostile_setup(LONG, n, "dlas-gpu", "consolidated", true);
    must(dls_simulation_create(setup, trace, &t.sim, &err), &err);
    must(dls_simulation_stream(t.sim, path, &err), &err);
    dls_simulation_watch(t.sim, note, &t);
    const double from = cpu_s();
    must(dls_simulation_run(t.sim, &err), &err);
    const double run_s = cpu_s() - from;
    for (int k = 1; k <= TENTHS; k++) {
        us[k] = 1e6 * (t.cpu_s[k] - t.cpu_s[k - 1]) / (double)(t.events[k] - t.events[k - 1]);
        printf("{\"jobs\": %zu, \"tenth\": %d, \"us_per_event\": %.3f, \"resident_mib\": %.0f}\n",
               n, k, us[k], (double)t.kib[k] / 1024);
    }
    must(dls_simulation_write(t.sim, path, "bench_soak", &err), &err);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    double days = 0;
    dls_simulation_number(t.sim, "makespan_s", &days);
    days /= 86400;
    printf(
        "{\"jobs\": %zu, \"years\": %.1f, \"events\": %llu, \"cpu_s\": %.2f, \"all_cpu_s\": %.2f, "
        "\"peak_mib\": %.0f, \"digest\": \"%016llx\"}\n",
        n, days / 365.25, (unsigned long long)dls_simulation_counts(t.sim).events, run_s, cpu_s(),
        (double)use.ru_maxrss / 1024, (unsigned long long)dls_simulation_digest(t.sim));
    unlink(path);
    dls_simulation_destroy(t.sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
    const double kib_per_job =
        ((double)t.kib[TENTHS] - (double)t.kib[2]) / ((double)n * (TENTHS - 2) / 10);
    if (us[TENTHS] > 2 * us[3] || kib_per_job > 1) {
        fprintf(stderr, "bench_soak: not flat: %.3f and %.3f us an event, %.2f KiB a job\n", us[3],
                us[TENTHS], kib_per_job);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    options o = {.most = 100000, .limit_s = 5};
    bool well = true;
    size_t n_long = 0;
    int number = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            o.smoke = true;
            o.limit_s = 1;
            o.most = 300;
        } else if (strcmp(argv[i], "--table") == 0) {
            o.table = true;
        } else if (strncmp(argv[i], "--jobs=", 7) == 0) {
            o.most = strtoull(argv[i] + 7, NULL, 10);
        } else if (strncmp(argv[i], "--trace=", 8) == 0) {
            o.trace = argv[i] + 8;
        } else if (strncmp(argv[i], "--limit=", 8) == 0) {
            o.limit_s = strtod(argv[i] + 8, NULL);
        } else if (strncmp(argv[i], "--long", 6) == 0) {
            n_long = argv[i][6] == '=' ? strtoull(argv[i] + 7, NULL, 10) : LONG_JOBS;
        }
    }
    if (n_long > 0 || o.smoke) {
        well = lasts(o.smoke ? LONG_JOBS / 100 : n_long);
    }
    for (const dls_sched_ops *const *s = dls_scheds(); *s && n_long == 0; s++, number++) {
        well &= !is_wanted((*s)->name, argc, argv) || is_soaked((*s)->name, (*s)->name, "consolidated", number, &o);
    }
    for (const dls_placement_ops *const *p = dls_placements(); *p && n_long == 0; p++, number++) {
        well &= !is_wanted((*p)->name, argc, argv) || is_soaked((*p)->name, "dlas-gpu", (*p)->name, number, &o);
    }
    return well ? 0 : 1;
}
