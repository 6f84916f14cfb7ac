/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Typical pods, and how much of a node's free GPU they could not use.
 */
#include "base/alloc.h"
#include "fgd/fgd.h"

#include <stdlib.h>
#include <string.h>

#define COVERED 0.95 /* of the pods */

typedef struct counted {
    dls_fgd_request request;
    const char *spec;
    int64_t pods;
} counted;

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Most frequent first, then the largest request; memory does not count. */
static int by_frequency(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    int order = compare(y->pods, x->pods);
    order = order ? order : compare(y->request.cpu_milli, x->request.cpu_milli);
    order = order ? order : compare(y->request.gpu_milli, x->request.gpu_milli);
    order = order ? order : compare(y->request.gpus, x->request.gpus);
    return order ? order : strcmp(y->spec, x->spec);
}

static int by_request(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    int order = compare(x->request.cpu_milli, y->request.cpu_milli);
    order = order ? order : compare(x->request.gpu_milli, y->request.gpu_milli);
    order = order ? order : compare(x->request.gpus, y->request.gpus);
    return order ? order : compare(x->request.spec, y->request.spec);
}

/* Kinds that differ in memory alone become one. Returns how many there are. */
static size_t merge(counted *all, size_t n)
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

dls_status dls_fgd_find_typical(const dls_fgd_input *in, dls_fgd_typical **out, size_t *n,
                                dls_error *err)
{
    counted *all = dls_alloc_zero(in->n_kinds + 1, sizeof *all);
    *out = dls_alloc((in->n_kinds + 1) * sizeof **out);
    *n = 0;
    if (!all || !*out) {
        dls_free(all);
        dls_free(*out);
        *out = NULL;
        return dls_nomem(err, "typical pods", in->n_kinds * sizeof **out);
    }
    for (size_t i = 0; i < in->n_kinds; i++) {
        all[i].request = in->kind[i];
        all[i].spec = dls_strdict_get(&in->specs, in->kind[i].spec);
    }
    for (size_t i = 0; i < in->n_pods; i++) {
        all[in->pod_kind[i]].pods++;
    }
    const size_t kinds = merge(all, in->n_kinds);
    qsort(all, kinds, sizeof *all, by_frequency);
    int64_t covered = 0;
    for (size_t i = 0; i < kinds && (double)covered < COVERED * (double)in->n_pods; i++) {
        covered += all[i].pods;
        (*out)[(*n)++] = (dls_fgd_typical){all[i].request, (double)all[i].pods};
    }
    for (size_t i = 0; i < *n; i++) {
        (*out)[i].frequency /= (double)covered;
    }
    dls_free(all);
    return DLS_OK;
}

/* The sums are kept by reason and added in this order, as the original does. */
enum { NEITHER, NO_GPU, NO_CPU, CPU_POD_FITS, CPU_POD_WAITS, OTHER_MODEL, N_REASONS };

double dls_fgd_fragmentation(const dls_fgd_left *node, const dls_fgd_typical *typical, size_t n)
{
    double sum[N_REASONS] = {0}, all = 0;
    int32_t total = 0;
    for (int32_t g = 0; g < node->gpus; g++) {
        total += node->milli[g];
    }
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
