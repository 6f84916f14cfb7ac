/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pods of gangs. tests/cli/site_kubernetes.sh guards it.
 */
#include "site/kube_pods.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/csv.h"
#include "dlsim/trace.h"

#include <string.h>

void dls_kube_pods_fini(dls_kube_pods *p)
{
    dls_strdict_fini(&p->keys);
    dls_strdict_fini(&p->names);
    dls_free(p->at);
}

dls_status dls_kube_pods_put(dls_kube_pods *p, const char *key, const char *name, dls_kube_pod *pod,
                             dls_error *err)
{
    const size_t before = p->keys.n;
    int32_t code;
    DLS_TRY(dls_strdict_put(&p->keys, key, strlen(key), &code, err));
    DLS_TRY(dls_strdict_put(&p->names, name, strlen(name), &pod->name, err));
    DLS_TRY(dls_grow(&p->at, &p->cap, p->keys.n, sizeof *p->at, err));
    p->again += p->keys.n == before;
    if (p->keys.n > before || pod->end_us >= 0 || p->at[code].end_us < 0) {
        p->at[code] = *pod;
    }
    return DLS_OK;
}

typedef struct writing {
    const dls_kube_pods *pods;
    const dls_strdict *jobs;
} writing;

static dls_status put_pods(FILE *out, void *what, dls_error *err)
{
    const writing *w = what;
    fputs("pod,job_id,start,end\n", out);
    for (size_t i = 0; i < w->pods->keys.n; i++) {
        const dls_kube_pod *pod = &w->pods->at[i];
        if (pod->start_us < 0) {
            continue;
        }
        dls_csv_put(out, dls_strdict_get(&w->pods->names, pod->name));
        fputc(',', out);
        dls_csv_put(out, dls_strdict_get(w->jobs, pod->gang));
        fputc(',', out);
        dls_csv_put_scaled(out, pod->start_us, 6);
        fputc(',', out);
        if (pod->end_us >= 0) {
            dls_csv_put_scaled(out, pod->end_us, 6);
        }
        fputc('\n', out);
    }
    return DLS_OK;
}

dls_status dls_kube_pods_write(const dls_kube_pods *p, const dls_strdict *jobs, const char *path, dls_error *err)
{
    return dls_atomicfile_write(path, put_pods, &(writing){p, jobs}, err);
}

/* A pod gets its GPUs, or gives them back. */
typedef struct step {
    int32_t gang;
    int64_t at_us, gpus, cpu_milli;
} step;

DLS_BY(by_time, step, DLS_UP(gang), DLS_UP(at_us), DLS_UP(gpus));

static void sweep(const step *steps, size_t n, dls_kube_gathered *out)
{
    int64_t gpus = 0, cpu_milli = 0;
    for (size_t i = 0; i < n; i++) {
        dls_kube_gathered *g = &out[steps[i].gang];
        if (i == 0 || steps[i].gang != steps[i - 1].gang) {
            gpus = cpu_milli = 0;
        }
        gpus += steps[i].gpus;
        cpu_milli += steps[i].cpu_milli;
        if (gpus > g->gpus) {
            g->gpus = gpus;
            g->cpu_milli = cpu_milli;
            g->start_us = steps[i].at_us;
        }
    }
}

dls_status dls_kube_pods_gather(const dls_kube_pods *p, size_t gangs, dls_kube_gathered *out, dls_error *err)
{
    step *steps = NULL;
    size_t n = 0;
    DLS_TRY(dls_alloc_array(&steps, 2 * p->keys.n + 1, sizeof *steps, "pods", err));
    for (size_t i = 0; i < gangs; i++) {
        out[i] = (dls_kube_gathered){.start_us = DLS_ABSENT, .end_us = DLS_ABSENT};
    }
    for (size_t i = 0; i < p->keys.n; i++) {
        const dls_kube_pod *pod = &p->at[i];
        dls_kube_gathered *g = &out[pod->gang];
        g->some = true;
        g->undated |= pod->undated;
        g->unbound |= pod->start_us < 0;
        g->running |= pod->start_us >= 0 && pod->end_us < 0;
        g->failed |= pod->failed;
        g->all_gpus += pod->gpus;
        g->end_us = pod->end_us > g->end_us ? pod->end_us : g->end_us;
        if (pod->start_us >= 0) {
            steps[n++] = (step){pod->gang, pod->start_us, pod->gpus, pod->cpu_milli};
        }
        if (pod->start_us >= 0 && pod->end_us >= 0) { /* after it began, and before what begins then */
            const int64_t end_us = pod->end_us > pod->start_us ? pod->end_us : pod->start_us + 1;
            steps[n++] = (step){pod->gang, end_us, -pod->gpus, -pod->cpu_milli};
        }
    }
    dls_sort(steps, n, sizeof *steps, by_time);
    sweep(steps, n, out);
    dls_free(steps);
    return DLS_OK;
}
