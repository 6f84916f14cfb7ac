/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages of an all-reduce in buckets and of parameter servers with links of their own.
 */
#include "workload/operator/schedule.h"

#include "base/own.h"

#include <math.h>
#include <stdlib.h>

#define WORD_BYTES 4.0
#define FIRST_BUCKET (1024.0 * 1024)
#define BUCKET (25 * 1024.0 * 1024)

bool dls_setting_is_scheduled(const dls_work_setting *s)
{
    return s->n_servers > 0 ? s->apart && !s->async : s->buckets && s->n_workers > 1;
}

/* Half of what a worker's processor does for some tensors: before they go, after they have come. */
static double half_s(const dls_fabric *f, size_t tensors, double bytes)
{
    return 0.5 * f->message_s * (double)tensors + f->byte_s * bytes;
}

double dls_handling_s(const dls_workload *w, const dls_work_setting *s)
{
    return dls_setting_is_scheduled(s) ? 2 * half_s(s->fabric, w->n_tensors, WORD_BYTES * w->params)
                                       : 0;
}

/* What one worker sends and receives so far, and what its processor had to do for it. */
typedef struct traffic {
    dls_transfer *tx, *rx;
    size_t n, served, come; /* of rx: what is handled */
    dls_handling handling;
} traffic;

/* A moment of the backward pass, put off by what has come until then. */
static double put_off(traffic *t, double ready_s)
{
    for (;;) {
        const double now_s = ready_s + t->handling.own_s + t->handling.served_s;
        if (t->served < t->n && t->rx[t->served].from_s <= now_s) {
            t->handling.served_s += t->rx[t->served++].served_s;
        } else if (t->come < t->n && t->rx[t->come].to_s <= now_s) {
            t->handling.own_s += t->rx[t->come++].handling_s;
        } else {
            return now_s;
        }
    }
}

/* A gradient is there, and out_s of the processor later on its way. */
static double leaves_s(traffic *t, double ready_s, double out_s)
{
    const double now_s = put_off(t, ready_s);
    t->handling.own_s += out_s;
    return now_s + out_s;
}

static void finish(traffic *t, double backward_end_s)
{
    dls_handling *h = &t->handling;
    h->backward_end_s = h->end_s = put_off(t, backward_end_s);
    for (size_t i = t->come; i < t->n; i++) {
        h->end_s = fmax(h->end_s, t->rx[i].to_s) + t->rx[i].handling_s;
        h->later_s += t->rx[i].handling_s;
    }
}

/* A gradient and when it is there. Tensors stand in the order of the layers, or of the file that a
 * graph comes from. */
typedef struct gradient {
    double ready_s;
    size_t tensor;
} gradient;

DLS_BY(by_time, gradient, DLS_UP(ready_s), DLS_DOWN(tensor));

static void buckets(const dls_workload *w, const dls_work_setting *s, const gradient *g, traffic *t)
{
    const double share = 2.0 * (s->n_workers - 1) / s->n_workers, late = dls_setting_late(s);
    double bytes = 0, ready = 0, done_s = 0, limit = FIRST_BUCKET;
    size_t tensors = 0;
    for (size_t k = 0; k < w->n_tensors; k++) {
        const double size = WORD_BYTES * w->tensor[g[k].tensor];
        bytes += size;
        ready = fmax(ready, leaves_s(t, late * g[k].ready_s, half_s(s->fabric, 1, size)));
        tensors++;
        if (bytes >= limit || (k + 1 == w->n_tensors && bytes > 0)) {
            const double from_s = fmax(done_s, ready) + s->fabric->per_tensor_s * (double)tensors;
            done_s = from_s + dls_fabric_allreduce_s(s->fabric, s->n_workers, bytes, 0);
            t->tx[t->n] = (dls_transfer){from_s, done_s, share * bytes, 0, 0};
            t->rx[t->n] = t->tx[t->n];
            t->rx[t->n++].handling_s = half_s(s->fabric, tensors, bytes);
            bytes = 0;
            tensors = 0;
            limit = BUCKET;
        }
    }
}

/* When a server's link is free, inwards and outwards; what it holds. */
typedef struct server {
    double in_s, out_s, bytes;
} server;

/* The server of each tensor, [n_tensors]: in turn, or the one that has the fewest bytes so far,
 * from the first layer on. */
static void deal(const dls_workload *w, const dls_work_setting *s, const gradient *g, server *at,
                 int *home)
{
    for (size_t k = w->n_tensors; k-- > 0;) {
        const size_t i = g[k].tensor;
        home[i] = (int)(i % (size_t)s->n_servers);
        for (int other = 0; s->fabric->shared > 0 && other < s->n_servers; other++) {
            home[i] = other == 0 || at[other].bytes < at[home[i]].bytes ? other : home[i];
        }
        at[home[i]].bytes += w->tensor[i];
    }
}

static void through_servers(const dls_workload *w, const dls_work_setting *s, const gradient *g,
                            server *servers, const int *home, traffic *t)
{
    const dls_fabric *f = s->fabric;
    const double bps = f->server_bps > 0 ? f->server_bps : f->bps;
    const double late = dls_setting_late(s);
    double sent_s = 0, received_s = 0;
    for (size_t k = 0; k < w->n_tensors; k++) {
        const size_t i = g[k].tensor;
        server *const at = &servers[home[i]];
        const double bytes = WORD_BYTES * w->tensor[i], all_s = s->n_workers * bytes / bps;
        const double half = half_s(f, 1, bytes);
        const double served_s = s->n_workers * (f->per_tensor_s + 2 * f->byte_s * bytes);
        const bool here = f->shared > 0 && home[i] == 0;
        const double ready = leaves_s(t, late * g[k].ready_s, half);
        const double from_s = fmax(sent_s, fmax(at->in_s, ready));
        at->in_s = fmax(at->in_s, ready) + served_s + (here ? half : 0) + all_s;
        sent_s = from_s + bytes / f->bps;
        at->out_s = fmax(at->in_s, at->out_s) + all_s;
        const double back_s = fmax(received_s, at->out_s - all_s);
        received_s = fmax(back_s + bytes / f->bps, at->out_s);
        if (bytes > 0) {
            t->tx[t->n] = (dls_transfer){from_s, sent_s, bytes, 0, 0};
            t->rx[t->n++] = (dls_transfer){back_s, received_s, bytes, half, here ? served_s : 0};
        }
    }
}

dls_status dls_schedule(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                        double backward_end_s, dls_transfer *tx, dls_transfer *rx, size_t *n,
                        dls_handling *handling, dls_error *err)
{
    traffic t = {.tx = tx, .rx = rx};
    DLS_FREED server *servers = NULL;
    DLS_FREED int *home = NULL;
    DLS_FREED gradient *g = NULL;
    DLS_TRY(dls_alloc_array(&g, w->n_tensors + 1, sizeof *g, "gradients", err));
    for (size_t i = 0; i < w->n_tensors; i++) {
        g[i] = (gradient){ready_s[i], i};
    }
    qsort(g, w->n_tensors, sizeof *g, by_time);
    if (s->n_servers == 0) {
        buckets(w, s, g, &t);
    } else {
        DLS_TRY(DLS_ALLOC_ALL("servers", err, DLS_ARRAY(servers, (size_t)s->n_servers + 1),
                              DLS_ARRAY(home, w->n_tensors + 1)));
        deal(w, s, g, servers, home);
        through_servers(w, s, g, servers, home, &t);
    }
    finish(&t, dls_setting_late(s) * backward_end_s);
    *n = t.n;
    *handling = t.handling;
    return DLS_OK;
}
