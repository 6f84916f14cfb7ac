/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No policy costs more than n log n of the jobs, unless it is named below and its page says so. Cost: branches
 * that the simulation takes, counted by the compiler's instrumentation, so that the outcome is the same on every
 * machine. On each hostile trace the exponent of the cost from n to 4 n jobs, which is 1.16 for n log n at n = 500, is at most
 * LIMIT; of a policy that is named, at most what is written there, and, if that is more than LIMIT, more than LIMIT on some trace.
 *
 *   growth             all
 *   growth NAME...     only these policies
 *   growth --jobs=N    4 n (2,000; of the named ones what is written there)
 *   growth --table     print every exponent
 */
#define HOSTILE_SMALL
#include "support/hostile.h"

#include <math.h>

#define LIMIT 1.3
enum { MOST = 2000 };

static const struct policy {
    const char *name;
    double limit;
    size_t most;
} named[] = {
    {"allox", 3.7, 200},
    {"elasticflow", 3.0, 200},
    {"gandiva", 2.8, 200},
    {"gandiva-pack", 1.8, 200},
    {"gavel-cost", 2.4, 200},
    {"gavel-ftf", 2.6, 200},
    {"gavel-ftf-packed", 2.6, 200},
    {"gavel-isolated", 1.9, 200},
    {"gavel-las", 1.9, 200},
    {"gavel-las-packed", 1.9, 200},
    {"gavel-makespan", 2.8, 200},
    {"gavel-makespan-packed", 2.8, 200},
    {"gavel-throughput", 2.3, 200},
    {"hadar", 2.0, 200},
    {"muri-l", 2.1, 200},
    {"muri-s", 2.0, 200},
    {"optimus", 1.6, 200},
    {"pollux", 2.0, 200},
    {"shockwave", 2.4, 640}, /* a quarter of fewer have GPUs for everybody on some traces, which costs next to nothing */
    {"sia", 2.1, 200},
    {"slurm", 2.1, 200},
    /* fair-share where there are as many virtual clusters as jobs, fgd where no two jobs ask for the same. */
    {"fair-share", 2.1, 800},
    {"fgd", 1.6, 8000},
    /* Those whose cost shows with many sizes times CPUs only: easy's, and what must not cost multi-dlas-gpu anything. */
    {"easy", 1.8, 32000},
    {"multi-dlas-gpu", LIMIT, 32000},
};

void __sanitizer_cov_trace_pc(void);

static uint64_t taken;

void __sanitizer_cov_trace_pc(void)
{
    taken++;
}

static struct policy policy_of(const char *name)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(named[i].name, name) == 0) {
            return named[i];
        }
    }
    return (struct policy){name, LIMIT, MOST};
}

/* Branches of a run; 0: the trace does not say what the policy asks for. */
static uint64_t cost(int kind, size_t n, const char *sched, const char *place)
{
    dls_error err;
    dls_trace *trace = hostile_trace(kind, n);
    dls_setup *setup = NULL;
    dls_simulation *sim = NULL;
    for (int plain = 1; plain >= 0 && !sim; plain--) {
        dls_setup_destroy(setup);
        setup = hostile_setup(kind, n, sched, place, plain);
        if (dls_simulation_create(setup, trace, &sim, &err) != DLS_OK) {
            sim = NULL;
        }
    }
    const uint64_t from = taken;
    if (sim) {
        must(dls_simulation_run(sim, &err), &err);
    }
    const uint64_t all = sim ? taken - from : 0;
    dls_simulation_destroy(sim);
    dls_setup_destroy(setup);
    dls_trace_destroy(trace);
    return all;
}

/* Of one policy on all traces; most 0: as many jobs as are said above. */
static bool grows(const char *name, const char *sched, const char *place, size_t most, bool table)
{
    const struct policy policy = policy_of(name);
    double worst = 0;
    most = most > 0 ? most : policy.most;
    for (int kind = 0; kind < TRACES; kind++) {
        const uint64_t small = cost(kind, most / 4, sched, place), large = cost(kind, most, sched, place);
        const double x = small > 0 ? log((double)large / (double)small) / log(4) : 0;
        worst = fmax(worst, x);
        if (table) {
            printf("%s %s: %.2f, %.0f branches a job\n", name, hostile[kind], x, (double)large / (double)most);
        }
        if (x > policy.limit) {
            printf("%s on %s: the cost of %zu jobs is that of %zu to the power of %.2f, more than %.2f\n", name,
                   hostile[kind], most, most / 4, x, policy.limit);
        }
    }
    if (policy.limit > LIMIT && worst <= LIMIT) {
        printf("%s: at most %.2f: it need not be named any more\n", name, worst);
    }
    return worst <= policy.limit && (policy.limit <= LIMIT || worst > LIMIT);
}

int main(int argc, char **argv)
{
    size_t most = 0;
    bool table = false, well = true;
    for (int i = 1; i < argc; i++) {
        table |= strcmp(argv[i], "--table") == 0;
        most = strncmp(argv[i], "--jobs=", 7) == 0 ? strtoull(argv[i] + 7, NULL, 10) : most;
    }
    for (const dls_sched_ops *const *s = dls_scheds(); *s; s++) {
        const char *name = (*s)->name;
        well &= !is_wanted(name, argc, argv) || grows(name, name, "consolidated", most, table);
    }
    for (const dls_placement_ops *const *p = dls_placements(); *p; p++) {
        const char *name = (*p)->name;
        well &= !is_wanted(name, argc, argv) || grows(name, "dlas-gpu", name, most, table);
    }
    return well ? 0 : 1;
}
