/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Time of a group by the order in which its members take their turns, all orders tried.
 */
#include "sched/stages.h"

#include <math.h>

enum { SLOTS = DLS_STAGES_JOBS, STEPS = 8 };

const double dls_stages_overhead[DLS_STAGES_JOBS + 1] = {
    1, 1, 1.33 / DLS_STAGES_PROFILER, 1.5 / DLS_STAGES_PROFILER, 1.37 / DLS_STAGES_PROFILER};

/* fmax is a call. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-3 * larger(fabs(a), fabs(b));
}

/* Time of a cycle when the jobs take their turns in this order. */
static double period(const dls_stages *const p[], int32_t k, bool monotone)
{
    double f[STEPS + 1] = {0};
    for (int32_t i = 0; i < STEPS; i++) {
        const int32_t sends = (i + 1) % SLOTS, computes = (i + 2) % SLOTS, reads = (i + 3) % SLOTS;
        double end = monotone ? f[i] : 0;
        if (sends < k) {
            end = larger(end, f[i] + p[sends]->exchange);
        }
        if (computes < k) {
            end = larger(end, f[i] + p[computes]->compute);
        }
        if (reads < k && i > 0) {
            end = larger(end, f[i - 1] + p[reads]->data);
        }
        f[i + 1] = end;
        if (i >= SLOTS && same(f[i + 1] - f[i + 1 - SLOTS], f[i] - f[i - SLOTS])) {
            return f[i + 1] - f[i + 1 - SLOTS];
        }
    }
    return f[STEPS] - f[STEPS - SLOTS];
}

/* The next order of the jobs, lexicographic; false behind the last. */
static bool next_order(int32_t *order, int32_t k)
{
    int32_t i = k - 2, j = k - 1;
    while (i >= 0 && order[i] > order[i + 1]) {
        i--;
    }
    if (i < 0) {
        return false;
    }
    while (order[j] < order[i]) {
        j--;
    }
    int32_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
    for (int32_t a = i + 1, b = k - 1; a < b; a++, b--) {
        swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    return true;
}

double dls_stages_group_time(const dls_stages *const job[], int32_t k,
                             const double overhead[DLS_STAGES_JOBS + 1], bool monotone, bool worst)
{
    int32_t order[DLS_STAGES_JOBS] = {0, 1, 2, 3};
    double chosen = worst ? 0 : (double)INFINITY;
    if (k == 1) {
        return job[0]->iteration;
    }
    do {
        const dls_stages *p[DLS_STAGES_JOBS];
        for (int32_t i = 0; i < k; i++) {
            p[i] = job[order[i]];
        }
        const double time = period(p, k, monotone);
        chosen = worst ? fmax(chosen, time) : fmin(chosen, time);
    } while (next_order(order, k));
    if (k == 2) { /* an empty slot between the two */
        const double time = fmax(job[0]->data, job[1]->compute + job[1]->exchange) +
                            fmax(job[1]->data, job[0]->compute + job[0]->exchange);
        chosen = worst ? fmax(chosen, time) : fmin(chosen, time);
    }
    return chosen * overhead[k];
}
