/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds the timeline of one training step as pieces of constant rate on tracks for GPU, GPU memory
 * and network.
 */
#include "workload/operator/schedule.h"

#include "base/own.h"

#include <math.h>

#define WORD_BYTES 4.0

void dls_timeline_fini(dls_timeline *timeline)
{
    if (timeline) {
        for (int r = 0; r < DLS_TRACKS; r++) {
            DLS_FREE_ALL(timeline->track[r].end_s, timeline->track[r].rate, timeline->track[r].sum);
        }
        *timeline = (dls_timeline){0};
    }
}

static double end_of(const dls_track *t)
{
    return t->n ? t->end_s[t->n - 1] : 0;
}

/* A piece of the given rate up to end_s; nothing if that is not later than the last one. */
static dls_status piece(dls_track *t, double end_s, double rate, dls_error *err)
{
    const double from = end_of(t), sum = t->n ? t->sum[t->n - 1] : 0;
    if (!(end_s > from)) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&t->end_s, &t->cap[0], t->n + 1, sizeof *t->end_s, err));
    DLS_TRY(dls_grow(&t->rate, &t->cap[1], t->n + 1, sizeof *t->rate, err));
    DLS_TRY(dls_grow(&t->sum, &t->cap[2], t->n + 1, sizeof *t->sum, err));
    t->end_s[t->n] = end_s;
    t->rate[t->n] = rate;
    t->sum[t->n] = sum + rate * (end_s - from);
    t->n++;
    return DLS_OK;
}

double dls_track_integral(const dls_track *track, double t_s)
{
    size_t low; /* first piece that ends at t_s or later */
    DLS_BISECT(low, track->n, track->end_s[low] < t_s);
    if (low == track->n) {
        return track->n ? track->sum[track->n - 1] : 0;
    }
    return track->sum[low] - track->rate[low] * (track->end_s[low] - t_s);
}

/* What the build knows while it goes along. */
typedef struct builder {
    const dls_workload *w;
    const dls_work_setting *s;
    const dls_rates *rates;
    const double *kernel_s; /* [kernels] what they take alone */
    dls_timeline *out;  /* NULL: only moments are asked for */
    double stretch;     /* slowdown of the host */
    double away;        /* part of its time that a processor is others' */
    double own, served; /* what messages take in the backward pass, a part of it */
    double now_s;
    double sent_until_s; /* when the last gradient so far has left, were the network free */
    double exchange_s;   /* of all gradients */
    dls_error *err;
} builder;

static dls_status gpu_piece(builder *b, double seconds, double busy, double memory)
{
    b->now_s += seconds;
    if (!b->out) {
        return DLS_OK;
    }
    DLS_TRY(piece(&b->out->track[DLS_TRACK_GPU], b->now_s, busy, b->err));
    return piece(&b->out->track[DLS_TRACK_GPU_MEM], b->now_s, memory, b->err);
}

/* A launch is time in which a GPU does nothing; where a processor computes it is work, too, and so
 * are messages. */
static dls_status run_kernel(builder *b, size_t i)
{
    const dls_kernel *k = &b->w->kernel[i];
    const double kernel_s = b->kernel_s[i];
    const double alone_s = b->stretch * kernel_s;
    const double own_s = k->backward ? b->own * alone_s : 0;
    const double seconds =
        (1 + b->away) * alone_s + own_s + (k->backward ? b->served * alone_s : 0);
    if (!(seconds > 0)) {
        return DLS_OK;
    }
    const double launch_s = b->rates->op ? 0 : b->rates->launch_s;
    const double working_s = own_s + fmax(0, kernel_s - b->rates->derate * k->repeats * launch_s);
    const double bytes = dls_kernel_bytes(k, b->rates, b->s->batch);
    return gpu_piece(b, seconds, working_s / seconds,
                     fmin(1, bytes / (b->s->gpu->mem_bps * seconds)));
}

/* Bytes of a share of all parameters from one moment to another. */
static dls_status travel(builder *b, int track, double from_s, double to_s, double bytes)
{
    dls_track *t = &b->out->track[track];
    DLS_TRY(piece(t, from_s, 0, b->err));
    return piece(t, to_s, bytes / (to_s - from_s), b->err);
}

/* Gradients as the backward pass yields them: queued, in the order of the kernels. Positions are
 * first those of a free network; squeeze maps them to end no later than the update begins. */
static dls_status send_gradients(builder *b, const double *ready_s, double squeeze_from_s,
                                 double squeeze, double bytes)
{
    const dls_workload *w = b->w;
    double done_s = 0;
    for (size_t i = w->n_tensors; i-- > 0;) {
        const double share = w->tensor[i] / w->params;
        const double start_s = fmax(done_s, ready_s[i]);
        done_s = start_s + share * b->exchange_s;
        b->sent_until_s = done_s;
        if (squeeze > 0 && share > 0) {
            const double from = squeeze_from_s + squeeze * (start_s - squeeze_from_s);
            const double to = squeeze_from_s + squeeze * (done_s - squeeze_from_s);
            DLS_TRY(travel(b, DLS_TRACK_TX, from, to, share * bytes));
            if (b->s->n_servers == 0) {
                DLS_TRY(travel(b, DLS_TRACK_RX, from, to, share * bytes));
            }
        }
    }
    return DLS_OK;
}

/* Kernels forward, then layers from the last to the first, each layer's in their order. */
static dls_status compute(builder *b, double *ready_s, double *backward_at_s)
{
    const dls_workload *w = b->w;
    for (size_t i = 0; i < w->n_kernels; i++) {
        if (!w->kernel[i].backward) {
            DLS_TRY(run_kernel(b, i));
        }
    }
    *backward_at_s = b->now_s;
    for (size_t end = w->n_kernels; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && w->kernel[start - 1].layer == w->kernel[end - 1].layer) {
            start--;
        }
        for (size_t i = start; i < end; i++) {
            const dls_kernel *k = &w->kernel[i];
            if (k->backward) {
                DLS_TRY(run_kernel(b, i));
                if (k->tensor >= 0) {
                    ready_s[k->tensor] = b->now_s;
                }
            }
        }
        end = start;
    }
    /* Scales and biases, whose gradients no kernel names, come with their neighbours. */
    size_t first = 0;
    while (first + 1 < w->n_tensors && !(ready_s[first] > 0)) {
        first++;
    }
    for (size_t i = 0; i < w->n_tensors; i++) {
        if (!(ready_s[i] > 0)) {
            ready_s[i] = ready_s[i < first ? first : i - 1];
        }
    }
    return DLS_OK;
}

/* Weights come from the servers in the order of the layers, from the start of the step. */
static dls_status fetch_weights(builder *b, double seconds, double bytes)
{
    return seconds > 0 ? travel(b, DLS_TRACK_RX, 0, fmin(seconds, b->out->step_s), bytes) : DLS_OK;
}

/* *n messages each way; tx and rx: [n_tensors], one array that the caller frees. */
static dls_status messages(const builder *b, const double *ready_s, dls_transfer **tx,
                           dls_transfer **rx, size_t *n, dls_handling *handling)
{
    DLS_TRY(dls_alloc_array(tx, 2 * b->w->n_tensors + 1, sizeof **tx, "messages", b->err));
    *rx = *tx + b->w->n_tensors;
    return dls_schedule(b->w, b->s, ready_s, b->now_s, *tx, *rx, n, handling, b->err);
}

static dls_status send_messages(builder *b, const dls_transfer *tx, const dls_transfer *rx,
                                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(travel(b, DLS_TRACK_TX, tx[i].from_s, tx[i].to_s, tx[i].bytes));
        DLS_TRY(travel(b, DLS_TRACK_RX, rx[i].from_s, rx[i].to_s, rx[i].bytes));
    }
    return DLS_OK;
}

static dls_status network(builder *b, const double *ready_s, double backward_at_s,
                          double update_at_s, double exchange_s)
{
    const dls_work_setting *s = b->s;
    const bool servers = s->n_servers > 0;
    const double words = WORD_BYTES * b->w->params, n = s->n_workers;
    const double bytes = servers ? (s->async ? 1 : dls_ps_remote_frac(s->n_workers)) * words
                                 : 2 * (n - 1) / n * words;
    if (!(exchange_s > 0)) {
        return DLS_OK;
    }
    /* Servers: half of the exchange fetches weights. */
    b->exchange_s = servers ? exchange_s / 2 : exchange_s;
    DLS_TRY(send_gradients(b, ready_s, 0, 0, 0));
    const double longest = update_at_s - backward_at_s, needed = b->sent_until_s - backward_at_s;
    const double squeeze = needed > longest ? longest / needed : 1;
    DLS_TRY(send_gradients(b, ready_s, backward_at_s, squeeze, bytes));
    return servers ? fetch_weights(b, exchange_s / 2, bytes) : DLS_OK;
}

/* The host's time, then forward and backward pass. */
static dls_status passes(builder *b, const dls_step_in_setting *step, double *ready_s,
                         double *backward_at_s)
{
    DLS_TRY(gpu_piece(b, fmax(0, step->one_s - b->stretch * step->gpu.gpu_s), 0, 0));
    return compute(b, ready_s, backward_at_s);
}

/* All that the GPU does; what waits for the exchange handles its messages meanwhile, for later_s.
 */
static dls_status all_work(builder *b, const dls_step_in_setting *step, double later_s,
                           double *ready_s, double *backward_at_s)
{
    const double update_s = b->stretch * step->gpu.update_s;
    DLS_TRY(passes(b, step, ready_s, backward_at_s));
    const double wait_s = fmax(0, b->out->step_s - update_s - b->now_s);
    DLS_TRY(gpu_piece(b, wait_s, later_s > 0 ? fmin(1, later_s / wait_s) : 0, 0));
    if (update_s > 0) {
        const double working = step->gpu.update_s / update_s;
        DLS_TRY(gpu_piece(b, update_s, working,
                          working * fmin(1, b->rates->mem_bps / b->s->gpu->mem_bps)));
    }
    return DLS_OK;
}

/* First as if there were no messages, to find them; then with what they take. */
static dls_status build_scheduled(builder *b, const dls_step_in_setting *step, double *ready_s)
{
    DLS_FREED dls_transfer *tx = NULL;
    dls_transfer *rx;
    dls_handling took;
    size_t n;
    double backward_at_s;
    builder before = *b;
    before.out = NULL;
    if (b->rates
            ->op) { /* a GPU waits for the slowest, a processor is what others use all the while */
        b->away = dls_setting_late(b->s) - 1;
    }
    DLS_TRY(passes(&before, step, ready_s, &backward_at_s));
    DLS_TRY(messages(&before, ready_s, &tx, &rx, &n, &took));
    const double backward_s = before.now_s - backward_at_s;
    if (backward_s > 0) {
        b->own = took.own_s / backward_s;
        b->served = took.served_s / backward_s;
    }
    DLS_TRY(all_work(b, step, took.later_s, ready_s, &backward_at_s));
    return send_messages(b, tx, rx, n);
}

static dls_status build(builder *b, const dls_step_in_setting *step, double *ready_s)
{
    double backward_at_s = 0;
    if (dls_setting_is_scheduled(b->s)) {
        DLS_TRY(build_scheduled(b, step, ready_s));
    } else {
        const double update_at_s = b->out->step_s - b->stretch * step->gpu.update_s;
        DLS_TRY(all_work(b, step, 0, ready_s, &backward_at_s));
        DLS_TRY(network(b, ready_s, backward_at_s, update_at_s, step->exchange_s));
    }
    for (int r = 0; r < DLS_TRACKS; r++) {
        dls_track *t = &b->out->track[r];
        DLS_TRY(piece(t, b->out->step_s, 0, b->err));
        t->end_s[t->n - 1] = b->out->step_s; /* not a rounding error less */
    }
    return DLS_OK;
}

static builder builder_of(const dls_workload *w, const dls_work_setting *s, const dls_rates *rates,
                          const double *kernel_s, dls_timeline *out, dls_error *err)
{
    return (builder){.w = w,
                     .s = s,
                     .rates = rates,
                     .kernel_s = kernel_s,
                     .out = out,
                     .stretch = s->host ? s->host->slowdown : 1,
                     .err = err};
}

dls_status dls_timeline_messages(const dls_opmodel *model, const dls_workload *w,
                                 const dls_work_setting *s, const dls_step_in_setting *step,
                                 const double *kernel_s, double *begin_s, double *end_s, double *backward_end_s,
                                 dls_error *err)
{
    dls_op_rates own;
    const dls_rates rates = dls_setting_rates(model, s, &own);
    DLS_FREED dls_transfer *tx = NULL;
    dls_transfer *rx;
    dls_handling took;
    DLS_FREED double *ready_s = NULL;
    double backward_at_s;
    size_t n = 0;
    DLS_TRY(dls_alloc_array(&ready_s, w->n_tensors + 1, sizeof *ready_s, "gradients", err));
    builder b = builder_of(w, s, &rates, kernel_s, NULL, err);
    DLS_TRY(passes(&b, step, ready_s, &backward_at_s));
    DLS_TRY(messages(&b, ready_s, &tx, &rx, &n, &took));
    *backward_end_s = took.backward_end_s;
    *begin_s = n > 0 ? tx[0].from_s : took.backward_end_s;
    *end_s = took.end_s;
    return DLS_OK;
}

dls_status dls_timeline_build(const dls_opmodel *model, const dls_workload *w,
                              const dls_work_setting *s, dls_timeline *out, dls_error *err)
{
    dls_step_in_setting step;
    DLS_FREED double *kernel_s = NULL;
    DLS_TRY(dls_alloc_array(&kernel_s, w->n_kernels + 1, sizeof *kernel_s, "kernels", err));
    DLS_TRY(dls_setting_kernels(model, w, s, kernel_s, &step, err));
    dls_op_rates own;
    const dls_rates rates = dls_setting_rates(model, s, &own);
    DLS_FREED double *ready_s = NULL;
    DLS_TRY(dls_alloc_array(&ready_s, w->n_tensors + 1, sizeof *ready_s, "gradients", err));
    *out = (dls_timeline){.step_s = step.step_s};
    builder b = builder_of(w, s, &rates, kernel_s, out, err);
    const dls_status status = build(&b, &step, ready_s);
    if (status != DLS_OK) {
        dls_timeline_fini(out);
    }
    return status;
}
