/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages of an all-reduce in buckets and of parameter servers with links of their own.
 */
#include "workload/operator/schedule.h"

#include "base/alloc.h"

#include <math.h>

#define WORD_BYTES 4.0
#define FIRST_BUCKET (1024.0 * 1024)
#define BUCKET (25 * 1024.0 * 1024)

bool dls_setting_is_scheduled(const dls_work_setting *s)
{
    return s->n_servers > 0 ? s->apart && !s->async : s->buckets && s->n_workers > 1;
}

/* Of the slowest worker. */
static double late(const dls_work_setting *s, double ready_s)
{
    return ready_s * (1 + s->fabric->straggle * (1 - 1.0 / s->n_workers));
}

static void buckets(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                    dls_transfer *tx, size_t *n)
{
    const double share = 2.0 * (s->n_workers - 1) / s->n_workers;
    double bytes = 0, ready = 0, done_s = 0, limit = FIRST_BUCKET;
    size_t tensors = 0;
    for (size_t i = w->n_tensors; i-- > 0;) {
        bytes += WORD_BYTES * w->tensor[i];
        ready = fmax(ready, late(s, ready_s[i]));
        tensors++;
        if (bytes >= limit || (i == 0 && bytes > 0)) {
            const double from_s = fmax(done_s, ready);
            done_s = from_s + dls_fabric_allreduce_s(s->fabric, s->n_workers, bytes, tensors);
            tx[(*n)++] = (dls_transfer){from_s, done_s, share * bytes};
            bytes = 0;
            tensors = 0;
            limit = BUCKET;
        }
    }
}

/* When a server's link is free, inwards and outwards. */
typedef struct server_link {
    double in_s, out_s;
} server_link;

static void through_servers(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                            server_link *server, dls_transfer *tx, dls_transfer *rx, size_t *n)
{
    const dls_fabric *f = s->fabric;
    const double bps = f->server_bps > 0 ? f->server_bps : f->bps;
    double sent_s = 0, received_s = 0;
    for (size_t i = w->n_tensors; i-- > 0;) {
        server_link *const at = &server[i % (size_t)s->n_servers];
        const double bytes = WORD_BYTES * w->tensor[i], all_s = s->n_workers * bytes / bps;
        const double ready = late(s, ready_s[i]), from_s = fmax(sent_s, fmax(at->in_s, ready));
        at->in_s = fmax(at->in_s, ready) + s->n_workers * f->per_tensor_s + all_s;
        sent_s = from_s + bytes / f->bps;
        at->out_s = fmax(at->in_s, at->out_s) + all_s;
        const double back_s = fmax(received_s, at->out_s - all_s);
        received_s = fmax(back_s + bytes / f->bps, at->out_s);
        if (bytes > 0) {
            tx[*n] = (dls_transfer){from_s, sent_s, bytes};
            rx[(*n)++] = (dls_transfer){back_s, received_s, bytes};
        }
    }
}

dls_status dls_schedule(const dls_workload *w, const dls_work_setting *s, const double *ready_s,
                        dls_transfer *tx, dls_transfer *rx, size_t *n, dls_error *err)
{
    *n = 0;
    if (s->n_servers == 0) {
        buckets(w, s, ready_s, tx, n);
        for (size_t i = 0; i < *n; i++) {
            rx[i] = tx[i];
        }
        return DLS_OK;
    }
    server_link *server = dls_alloc_zero((size_t)s->n_servers, sizeof *server);
    if (!server) {
        return dls_nomem(err, "servers", (size_t)s->n_servers * sizeof *server);
    }
    through_servers(w, s, ready_s, server, tx, rx, n);
    dls_free(server);
    return DLS_OK;
}
