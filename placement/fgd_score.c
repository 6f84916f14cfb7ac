/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FGD and the five policies that it was compared with: what a node is worth to a pod that fits it.
 */
#include "placement/fgd_score.h"

#include "dlsim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MOST 128000.0 /* of a node: what the original divides by */
#define GPU_MOST 8000.0
#define PODS_MOST 1001 /* on a node */
#define COVERED 0.95   /* of the pods */

/* ---- typical requests ------------------------------------------------------------------------ */

/* Most frequent first, then the largest request; memory does not count. */
DLS_BY(by_frequency, dls_fgd_counted, DLS_DOWN(pods), DLS_DOWN(request.cpu_milli),
       DLS_DOWN(request.gpu_milli), DLS_DOWN(request.gpus), strcmp(x->spec, y->spec));

DLS_BY(by_request, dls_fgd_counted, DLS_UP(request.cpu_milli), DLS_UP(request.gpu_milli),
       DLS_UP(request.gpus), DLS_UP(request.spec));

/* Kinds that differ in memory alone become one. Returns how many there are. */
static size_t merge(dls_fgd_counted *all, size_t n)
{
    size_t kept = 0;
    qsort(all, n, sizeof *all, by_request);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && by_request(&all[kept - 1], &all[i]) == 0) {
            all[kept - 1].pods += all[i].pods;
        } else {
            all[kept++] = all[i];
        }
    }
    return kept;
}

size_t dls_fgd_pick_typical(dls_fgd_counted *all, size_t n, dls_fgd_typical *out)
{
    int64_t pods = 0, covered = 0;
    size_t picked = 0;
    const size_t kinds = merge(all, n);
    qsort(all, kinds, sizeof *all, by_frequency);
    for (size_t i = 0; i < kinds; i++) {
        pods += all[i].pods;
    }
    for (size_t i = 0; i < kinds && (double)covered < COVERED * (double)pods; i++) {
        covered += all[i].pods;
        out[picked++] = (dls_fgd_typical){all[i].request, (double)all[i].pods};
    }
    for (size_t i = 0; i < picked; i++) {
        out[i].frequency /= (double)covered;
    }
    return picked;
}

static int32_t total_of(const dls_fgd_left *left)
{
    int32_t total = 0;
    for (int32_t g = 0; g < left->gpus; g++) {
        total += left->milli[g];
    }
    return total;
}

/* The sums are kept by reason and added in this order, as the original does. */
enum { NEITHER, NO_GPU, NO_CPU, CPU_POD_FITS, CPU_POD_WAITS, OTHER_MODEL, N_REASONS };

double dls_fgd_fragmentation(const dls_fgd_left *node, const dls_fgd_typical *typical, size_t n)
{
    double sum[N_REASONS] = {0}, all = 0;
    const int32_t total = total_of(node);
    for (size_t i = 0; i < n; i++) {
        const dls_fgd_request *p = &typical[i].request;
        const double freq = typical[i].frequency;
        const bool cpu = node->cpu_milli >= p->cpu_milli;
        if (p->gpus == 0) {
            sum[cpu ? CPU_POD_FITS : CPU_POD_WAITS] += freq * (double)total;
            continue;
        }
        if (!(p->models >> node->model & 1)) {
            sum[OTHER_MODEL] += freq * (double)total;
            continue;
        }
        int32_t fit = 0, rest = 0;
        for (int32_t g = 0; g < node->gpus; g++) {
            fit += node->milli[g] >= p->gpu_milli;
            rest += node->milli[g] < p->gpu_milli ? node->milli[g] : 0;
        }
        if (fit < p->gpus) {
            sum[cpu ? NO_GPU : NEITHER] += freq * (double)total;
        } else if (!cpu) {
            sum[NO_CPU] += freq * (double)total;
        } else {
            sum[NO_GPU] += freq * (double)rest;
        }
    }
    for (int i = 0; i < N_REASONS; i++) {
        all += sum[i];
    }
    return all;
}

/* ---- places ---------------------------------------------------------------------------------- */

bool dls_fgd_fits(const dls_fgd_left *left, const dls_fgd_request *r)
{
    if (left->cpu_milli < r->cpu_milli || left->mem_mib < r->mem_mib || left->pods >= PODS_MOST) {
        return false;
    }
    int32_t fit = 0;
    for (int32_t g = 0; g < left->gpus && r->gpus > 0; g++) {
        fit += left->milli[g] >= r->gpu_milli;
    }
    return fit >= r->gpus && (r->gpus == 0 || (r->models >> left->model & 1));
}

uint32_t dls_fgd_choose_gpus(const dls_fgd_left *left, const dls_fgd_request *r)
{
    uint32_t taken = 0;
    int32_t n = 0, best = -1;
    for (int32_t g = 0; g < left->gpus; g++) {
        if (left->milli[g] < r->gpu_milli || r->gpus == 0) {
            continue;
        }
        if (r->gpu_milli == DLS_FGD_MILLI && n < r->gpus) {
            taken |= UINT32_C(1) << g;
            n++;
        }
        best = best < 0 || left->milli[g] < left->milli[best] ? g : best;
    }
    return r->gpu_milli == DLS_FGD_MILLI || best < 0 ? taken : UINT32_C(1) << best;
}

void dls_fgd_take(dls_fgd_left *left, const dls_fgd_request *r, uint32_t gpus)
{
    left->cpu_milli -= r->cpu_milli;
    left->mem_mib -= r->mem_mib;
    left->pods++;
    for (int32_t g = 0; g < left->gpus; g++) {
        left->milli[g] -= gpus >> g & 1 ? r->gpu_milli : 0;
    }
}

/* ---- FGD */

static double gain_of(const dls_fgd_world *w, const dls_fgd_left *left, const dls_fgd_held *held,
                      const dls_fgd_request *r, uint32_t gpus)
{
    dls_fgd_left after = *left;
    dls_fgd_take(&after, r, gpus);
    const double less =
        held->fragmentation - dls_fgd_fragmentation(&after, w->typical, w->n_typical);
    return w->exact ? less : trunc(100 / (1 + exp(-less / 1000)));
}

static dls_fgd_score fgd(const dls_fgd_world *w, const dls_fgd_left *left, const dls_fgd_held *held,
                         const dls_fgd_request *r)
{
    dls_fgd_score best = {-HUGE_VAL, -1};
    if (r->gpus != 1 || r->gpu_milli == DLS_FGD_MILLI) {
        best.value = gain_of(w, left, held, r, dls_fgd_choose_gpus(left, r));
        return best;
    }
    for (int32_t g = 0; g < left->gpus; g++) {
        bool seen = false; /* GPUs with as much left score the same */
        for (int32_t k = 0; k < g; k++) {
            seen = seen || left->milli[k] == left->milli[g];
        }
        if (left->milli[g] >= r->gpu_milli && !seen) {
            const double value = gain_of(w, left, held, r, UINT32_C(1) << g);
            best = value > best.value ? (dls_fgd_score){value, g} : best;
        }
    }
    return best;
}

/* ---- the others */

static dls_fgd_score best_fit(const dls_fgd_world *w, const dls_fgd_left *left,
                              const dls_fgd_held *held, const dls_fgd_request *r)
{
    const double cpu = (double)(left->cpu_milli - r->cpu_milli) / CPU_MOST;
    const double gpu = (double)(total_of(left) - r->gpus * r->gpu_milli) / GPU_MOST;
    return (dls_fgd_score){trunc(100 * (1 - 0.5 * cpu - 0.5 * gpu)), -1};
}

static dls_fgd_score dot_product(const dls_fgd_world *w, const dls_fgd_left *left,
                                 const dls_fgd_held *held, const dls_fgd_request *r)
{
    const double cpu = (double)left->cpu_milli / CPU_MOST * ((double)r->cpu_milli / CPU_MOST);
    const double gpu =
        (double)total_of(left) / GPU_MOST * ((double)(r->gpus * r->gpu_milli) / GPU_MOST);
    return (dls_fgd_score){trunc(100 * (1 - (cpu + gpu) / 2)), -1};
}

int32_t dls_fgd_packing_score(const dls_fgd_left *left, int32_t gpus, int32_t gpu_milli)
{
    int32_t idle = 0, opened = 0, share = 0;
    uint32_t taken = 0;
    for (int32_t g = 0; g < left->gpus; g++) {
        idle += left->milli[g] == DLS_FGD_MILLI;
    }
    if (idle == left->gpus) {
        return 33 - idle > idle ? 33 - idle : idle;
    }
    for (int32_t k = 0; k < gpus; k++) { /* least left first */
        int32_t best = -1;
        for (int32_t g = 0; g < left->gpus; g++) {
            if (!(taken >> g & 1) && left->milli[g] >= gpu_milli &&
                (best < 0 || left->milli[g] < left->milli[best])) {
                best = g;
            }
        }
        if (best >= 0) {
            taken |= UINT32_C(1) << best;
            opened += left->milli[best] == DLS_FGD_MILLI;
            share += 100 * left->milli[best] / DLS_FGD_MILLI;
        }
    }
    if (opened > 0) {
        return 50 - opened > 33 ? 50 - opened : 33;
    }
    return 100 - share / 10 > 50 ? 100 - share / 10 : 50;
}

static dls_fgd_score packing(const dls_fgd_world *w, const dls_fgd_left *left,
                             const dls_fgd_held *held, const dls_fgd_request *r)
{
    const int32_t score = r->gpus > 0 ? dls_fgd_packing_score(left, r->gpus, r->gpu_milli) : 0;
    return (dls_fgd_score){score, -1};
}

static dls_fgd_score clustering(const dls_fgd_world *w, const dls_fgd_left *left,
                                const dls_fgd_held *held, const dls_fgd_request *r)
{
    if (r->gpus == 0) {
        return (dls_fgd_score){0, -1};
    }
    int32_t all = held->shares;
    for (int32_t k = 1; k <= DLS_FGD_GPUS; k++) {
        all += held->gangs[k];
    }
    const int32_t own = r->gpu_milli < DLS_FGD_MILLI ? held->shares : held->gangs[r->gpus];
    const int32_t kin = all == 0 ? 25 : own == 0 ? 0 : own == all ? 75 : 50;
    return (dls_fgd_score){25 * (8000 - total_of(left)) / 8000 + kin, -1};
}

static const dls_fgd_scheme schemes[] = {
    {.policy = {"fgd", "where the least GPU becomes useless to typical pods"},
     .fragmentation = true,
     .score = fgd},
    {.policy = {"bestfit", "where least is left"}, .stretched = true, .score = best_fit},
    {.policy = {"dotproduct", "where least of what is asked for is left"}, .score = dot_product},
    {.policy = {"gpupacking", "GPUs in use first, then nodes in use"}, .score = packing},
    {.policy = {"gpuclustering", "beside pods that ask for as many GPUs"}, .score = clustering},
    {.policy = {"random", "a node, and a GPU of it, at random"}, .drawn = true},
};
enum { N_SCHEMES = sizeof schemes / sizeof *schemes };

const dls_fgd_scheme *dls_fgd_find_scheme(const char *name)
{
    for (int i = 0; i < N_SCHEMES; i++) {
        if (strcmp(schemes[i].policy.name, name) == 0) {
            return &schemes[i];
        }
    }
    return NULL;
}

const char *dls_fgd_policy_at(size_t i, const char **summary)
{
    *summary = i < N_SCHEMES ? schemes[i].policy.summary : NULL;
    return i < N_SCHEMES ? schemes[i].policy.name : NULL;
}
