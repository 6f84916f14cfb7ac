/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times of gradient exchange: a ring, all-reduce and parameter servers of a fabric, and the overlap
 * with the backward pass.
 */
#include "workload/operator/comm.h"

#include <math.h>

#define FORWARD_FRAC (1.0 / 3.0)
#define WORD_BYTES 4.0

double dls_ring_s(int n, double bytes, double bps, double latency_s)
{
    return n < 2 ? 0 : 2.0 * (n - 1) * (bytes / n / bps + latency_s);
}

double dls_ps_hot_bytes(const double *tensor_elements, size_t n_tensors, int n_servers)
{
    double hot = 0;
    for (int s = 0; s < n_servers; s++) {
        double bytes = 0;
        for (size_t i = (size_t)s; i < n_tensors; i += (size_t)n_servers) {
            bytes += WORD_BYTES * tensor_elements[i];
        }
        hot = fmax(hot, bytes);
    }
    return hot;
}

double dls_ps_served_bytes(double workers_elsewhere, double hot_bytes)
{
    return 2 * workers_elsewhere * hot_bytes;
}

double dls_fabric_allreduce_s(const dls_fabric *f, int n, double bytes, size_t n_tensors)
{
    if (n < 2) {
        return 0;
    }
    return 2.0 * (n - 1) / n * bytes / f->bps + f->per_tensor_s * (double)n_tensors +
           f->per_doubling_s * log2(n);
}

double dls_ps_remote_frac(int n_workers)
{
    return n_workers < 2 ? 1 : (double)(n_workers - 1) / n_workers;
}

double dls_fabric_ps_s(const dls_fabric *f, int n_workers, double bytes, double hot_bytes,
                       size_t n_tensors)
{
    const double worker =
        dls_ps_remote_frac(n_workers) * (2 * bytes / f->bps + f->per_tensor_s * (double)n_tensors);
    const double server =
        f->server_bps > 0 ? dls_ps_served_bytes(n_workers, hot_bytes) / f->server_bps : 0;
    return fmax(worker, server);
}

double dls_fabric_step_s(const dls_fabric *f, int n, double step_s, double exchange_s)
{
    if (n < 2 && !(exchange_s > 0)) {
        return step_s;
    }
    const double backward = (1 - FORWARD_FRAC) * step_s, longer = fmax(backward, exchange_s);
    if (!(longer > 0)) {
        return step_s;
    }
    const double both =
        longer *
        pow(pow(backward / longer, f->gamma) + pow(exchange_s / longer, f->gamma), 1 / f->gamma);
    return FORWARD_FRAC * step_s + both + f->straggle * step_s * (1 - 1.0 / n);
}

double dls_fabric_async_s(const dls_fabric *f, int n_workers, double step_s, double bytes,
                          double hot_bytes, size_t n_tensors)
{
    const double exchange = 2 * bytes / f->bps + f->per_tensor_s * (double)n_tensors;
    const double server =
        f->server_bps > 0 ? dls_ps_served_bytes(n_workers, hot_bytes) / f->server_bps : 0;
    return fmax(step_s + exchange, server);
}
