/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Daydream (USENIX ATC 2020): profiles one step as tasks of a GPU stream and a network stream,
 * edits them (mixed precision, more workers), and replays them with all-reduces of gradient
 * buckets.
 */
#include "predictor/baselines/daydream.h"

#include "base/alloc.h"
#include "predictor/baselines/roofline.h"
#include "workload/operator/comm.h"

#include <math.h>

#define WORD_BYTES 4.0
#define BUCKET_BYTES 25e6 /* of PyTorch's DistributedDataParallel */
#define COMPUTE_GAIN 3.0
#define MEMORY_GAIN 2.0

void dls_daydream_fini(dls_daydream *d)
{
    if (d) {
        DLS_FREE_ALL(d->kernel_s, d->computes);
        *d = (dls_daydream){0};
    }
}

dls_status dls_daydream_profile(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                                double batch, double measured_s, dls_daydream *d, dls_error *err)
{
    double sum = 0;
    const dls_roofline roof = dls_roofline_of(gpu, numeric);
    *d = (dls_daydream){.w = w,
                        .kernel_s = dls_alloc_zero(w->n_kernels + 1, sizeof *d->kernel_s),
                        .computes = dls_alloc_zero(w->n_kernels + 1, sizeof *d->computes),
                        .n_workers = 1};
    if (!d->kernel_s || !d->computes) {
        dls_daydream_fini(d);
        return dls_nomem(err, "kernels", w->n_kernels * sizeof *d->kernel_s);
    }
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        const double compute_s = dls_roofline_compute_s(&roof, k, batch);
        const double memory_s = dls_roofline_memory_s(&roof, k, batch);
        d->kernel_s[i] = fmax(compute_s, memory_s);
        d->computes[i] = compute_s > memory_s;
        sum += d->kernel_s[i];
    }
    d->update_s = WORD_BYTES * dls_optimiser_moved(w->optimiser) * w->params / gpu->mem_bps;
    sum += d->update_s;
    const double scale = sum > 0 ? measured_s / sum : 0;
    for (size_t i = 0; i < w->n_kernels; i++) {
        d->kernel_s[i] *= scale;
    }
    d->update_s *= scale;
    return DLS_OK;
}

void dls_daydream_mixed_precision(dls_daydream *d)
{
    for (size_t i = 0; i < d->w->n_kernels; i++) {
        d->kernel_s[i] /= d->computes[i] ? COMPUTE_GAIN : MEMORY_GAIN;
    }
}

void dls_daydream_distribute(dls_daydream *d, int n_workers, const dls_hw_link *link)
{
    d->n_workers = n_workers;
    d->bps = link->goodput_bps;
    d->latency_s = link->latency_s;
}

/* Where the streams stand, and the gradients that wait for their bucket to be full. */
typedef struct streams {
    const dls_daydream *d;
    double gpu_s, network_s;
    double bucket_bytes;
    bool *sent; /* [n_tensors] */
} streams;

static void flush(streams *s)
{
    if (s->bucket_bytes > 0) {
        s->network_s = fmax(s->network_s, s->gpu_s) +
                       dls_ring_s(s->d->n_workers, s->bucket_bytes, s->d->bps, s->d->latency_s);
        s->bucket_bytes = 0;
    }
}

static void gradient(streams *s, size_t tensor)
{
    if (s->d->n_workers > 1 && !s->sent[tensor]) {
        s->sent[tensor] = true;
        s->bucket_bytes += WORD_BYTES * s->d->w->tensor[tensor];
        if (s->bucket_bytes >= BUCKET_BYTES) {
            flush(s);
        }
    }
}

/* Forward kernels in order, then the layers from the last to the first. */
static void replay(streams *s)
{
    const dls_workload *w = s->d->w;
    for (size_t i = 0; i < w->n_kernels; i++) {
        s->gpu_s += w->kernel[i].backward ? 0 : s->d->kernel_s[i];
    }
    for (size_t end = w->n_kernels; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && w->kernel[start - 1].layer == w->kernel[end - 1].layer) {
            start--;
        }
        for (size_t i = start; i < end; i++) {
            if (w->kernel[i].backward) {
                s->gpu_s += s->d->kernel_s[i];
                if (w->kernel[i].tensor >= 0) {
                    gradient(s, (size_t)w->kernel[i].tensor);
                }
            }
        }
        end = start;
    }
    for (size_t t = w->n_tensors; t-- > 0;) { /* scales and biases, which no kernel names */
        gradient(s, t);
    }
    flush(s);
}

dls_status dls_daydream_replay(const dls_daydream *d, double *step_s, dls_error *err)
{
    streams s = {.d = d, .sent = dls_alloc_zero(d->w->n_tensors + 1, sizeof *s.sent)};
    if (!s.sent) {
        return dls_nomem(err, "gradients", d->w->n_tensors);
    }
    replay(&s);
    dls_free(s.sent);
    *step_s = fmax(s.gpu_s, s.network_s) + d->update_s;
    return DLS_OK;
}
