/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one allocation of Gavel's policies costs, by the number of jobs: 4 GPU types, a GPU for
 * every second job, jobs that all differ (and of 200 kinds for water filling, which looks at
 * kinds). One JSON object a line.
 *
 *   bench_timeshares           1,250 to 10,000 jobs
 *   bench_timeshares --smoke   100 jobs
 */
#include "sched/timeshares.h"

#include "base/rng.h"
#include "support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 4, KINDS = 200 };

static void fill(dls_timeshares *s, int32_t n, int32_t kinds)
{
    double gpus[TYPES];
    for (int32_t w = 0; w < TYPES; w++) {
        gpus[w] = n / 2.0 / TYPES;
    }
    dls_timeshares_reset(s, TYPES, gpus);
    for (int32_t i = 0; i < n; i++) {
        dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, (uint64_t)(i % kinds));
        dls_timeshare_job *j = dls_timeshares_add(s);
        if (!j) {
            abort();
        }
        j->id = i;
        j->gpus = (double)(1 << dls_rng_below(&rng, 4));
        j->weight = 1;
        for (int32_t w = 0; w < TYPES; w++) {
            j->speed[w] = (w + 1) * (0.5 + dls_rng_unit(&rng));
        }
        j->left = 1e3 + 1e5 * dls_rng_unit(&rng);
        j->age = 1e4 * dls_rng_unit(&rng);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        dls_status (*allocate)(dls_timeshares *, dls_interior_outcome *, dls_error *);
        int32_t kinds;
    } policies[] = {
        {"max-min", dls_timeshares_las, INT32_MAX},
        {"water filling", dls_timeshares_water_filling, KINDS},
        {"finish-time fairness", dls_timeshares_finish_time, INT32_MAX},
        {"total duration", dls_timeshares_duration, INT32_MAX},
        {"throughput", dls_timeshares_throughput, INT32_MAX},
    };
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        for (int32_t n = smoke ? 100 : 1250; n <= (smoke ? 100 : 10000); n *= 2) {
            dls_timeshares s = {0};
            dls_interior_outcome outcome;
            fill(&s, n, policies[p].kinds);
            const double from_s = cpu_s();
            if (policies[p].allocate(&s, &outcome, NULL) != DLS_OK ||
                outcome != DLS_INTERIOR_OPTIMAL) {
                fprintf(stderr, "%s: no optimum for %d jobs\n", policies[p].name, (int)n);
                return 1;
            }
            printf("{\"objective\": \"%s\", \"jobs\": %d, \"ms\": %.2f, \"steps\": %d}\n",
                   policies[p].name, (int)n, (cpu_s() - from_s) * 1e3, (int)s.lp.steps);
            dls_timeshares_fini(&s);
        }
    }
    return 0;
}
