/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The goodput model (goodput.h): values, best batches, and the fit, a BFGS with a line search after
 * Lewis and Overton, as the objective has kinks where an error is 0. It searches the logarithms of
 * the parameters, within bounds.
 */
#include "pollux/goodput.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define LEAST 1e-8     /* of alphas and betas */
#define GAMMA_MOST 10. /* at least 1 */

enum { P = DLS_GOODPUT_PARAMS };

static const double start[P] = {.1, .01, .1, .01, .1, .01, 1.001};

/* ---- the model ------------------------------------------------------------------------------- */

static double beyond_two(int32_t replicas)
{
    return fmax(replicas - 2, 1e-8);
}

/* Which alpha a placement has; -1: one replica does not exchange. */
static int network(int32_t nodes, int32_t replicas)
{
    return nodes > 1 ? DLS_ALPHA_N : replicas > 1 ? DLS_ALPHA_R : -1;
}

static double net_time(const double *p, int32_t nodes, int32_t replicas)
{
    const int a = network(nodes, replicas);
    const double more = beyond_two(replicas);
    return a < 0 ? 1e-8 + 1e-8 * more : p[a] + p[a + 1] * more;
}

/* Logarithm of the sum of powers, and the share of the first in it. */
static double log_time(double log_acc, double log_net, double gamma, double *share)
{
    const double most = fmax(log_acc, log_net);
    const double acc = exp(gamma * (log_acc - most)), net = exp(gamma * (log_net - most));
    *share = acc / (acc + net);
    return most + log(acc + net) / gamma;
}

/* In examples of the least batch per second. */
static double goodput_at(const dls_goodput_model *model, const dls_goodput_job *job, int32_t nodes,
                      int32_t replicas, int32_t local, int32_t accum)
{
    const double *p = model->p;
    double share;
    const double acc = p[DLS_ALPHA_C] + p[DLS_BETA_C] * local;
    const double net = net_time(p, nodes, replicas);
    const double batch = (double)replicas * local * (accum + 1);
    const double scale = batch / job->least;
    const double below = job->var / scale + job->sqr;
    const double gain = below > 0 ? (job->var + job->sqr) / below : 1;
    return batch / (accum * acc + exp(log_time(log(acc), log(net), p[DLS_GAMMA], &share))) * gain /
           scale;
}

double dls_goodput_best(const dls_goodput_model *model, const dls_goodput_job *job, int32_t nodes,
                        int32_t replicas, int32_t *local, int32_t *accum)
{
    enum { VALUES = 50 };
    const double from = fmax(job->least, (double)job->local_min * replicas);
    double best = -1, ratio = pow(job->most / from, 1. / (VALUES - 1)), batch = from;
    int32_t best_m = 0, best_a = 0, last_m = -1, last_a = -1;
    for (int i = job->fixed ? VALUES - 1 : 0; i < VALUES; i++, batch *= ratio) {
        const double share = (i == VALUES - 1 ? job->most : batch) / replicas;
        int32_t a = (int32_t)ceil(share / job->local_max - 1e-8) - 1;
        a = replicas == 1 && share > job->least + 1e-8 && a < 1 ? 1 : a;
        const int32_t m = (int32_t)ceil(share / (a + 1) - 1e-8);
        if (m == last_m && a == last_a) {
            continue;
        }
        last_m = m;
        last_a = a;
        const double good = m < job->local_min || m > job->local_max
                                ? 0
                                : goodput_at(model, job, nodes, replicas, m, a);
        if (good > best) {
            best = good;
            best_m = m;
            best_a = a;
        }
    }
    if (local) {
        *local = best_m;
        *accum = best_a;
    }
    return best;
}

/* ---- the error ------------------------------------------------------------------------------- */

double dls_goodput_error(const dls_goodput_seen *seen, size_t n, const double *p, double *gradient)
{
    double acc2 = 0, opt2 = 0, by_acc[P] = {0}, by_opt[P] = {0};
    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        const dls_goodput_seen *s = &seen[i];
        const int a = network(s->nodes, s->replicas);
        const double more = beyond_two(s->replicas), net = net_time(p, s->nodes, s->replicas);
        const double acc = p[DLS_ALPHA_C] + p[DLS_BETA_C] * s->local;
        const double log_acc = log(acc), log_net = log(net);
        double share;
        const double log_opt = log_time(log_acc, log_net, p[DLS_GAMMA], &share);
        const double e_acc = log_acc - log(s->step - s->sync), e_opt = log_opt - log(s->step);
        acc2 += e_acc * e_acc;
        opt2 += e_opt * e_opt;
        by_acc[DLS_ALPHA_C] += e_acc / acc;
        by_acc[DLS_BETA_C] += e_acc / acc * s->local;
        by_opt[DLS_ALPHA_C] += e_opt * share / acc;
        by_opt[DLS_BETA_C] += e_opt * share / acc * s->local;
        if (a >= 0) {
            by_opt[a] += e_opt * (1 - share) / net;
            by_opt[a + 1] += e_opt * (1 - share) / net * more;
        }
        by_opt[DLS_GAMMA] +=
            e_opt * (share * log_acc + (1 - share) * log_net - log_opt) / p[DLS_GAMMA];
    }
    const double rms_acc = sqrt(acc2 / (double)n), rms_opt = sqrt(opt2 / (double)n);
    const double n_ratio = p[DLS_BETA_N] / p[DLS_ALPHA_N], r_ratio = p[DLS_BETA_R] / p[DLS_ALPHA_R];
    const double off = p[DLS_GAMMA] - 1;
    for (int k = 0; gradient && k < P; k++) {
        gradient[k] = (rms_acc > 0 ? by_acc[k] / (double)n / rms_acc : 0) +
                      (rms_opt > 0 ? by_opt[k] / (double)n / rms_opt : 0);
    }
    if (gradient) {
        gradient[DLS_GAMMA] += 2e-3 * off;
        gradient[DLS_BETA_N] += 2e-2 * n_ratio / p[DLS_ALPHA_N];
        gradient[DLS_ALPHA_N] -= 2e-2 * n_ratio * n_ratio / p[DLS_ALPHA_N];
        gradient[DLS_BETA_R] += 2e-2 * r_ratio / p[DLS_ALPHA_R];
        gradient[DLS_ALPHA_R] -= 2e-2 * r_ratio * r_ratio / p[DLS_ALPHA_R];
    }
    return rms_acc + rms_opt + 1e-3 * off * off + 1e-2 * (n_ratio * n_ratio + r_ratio * r_ratio);
}

/* ---- the fit --------------------------------------------------------------------------------- */

typedef struct search {
    const dls_goodput_seen *seen;
    size_t n;
    const bool *pinned;
    double x[P], g[P], f; /* x: logarithms, and gamma itself */
    double h[P][P];       /* inverse of the curvature */
} search;

static double value(const search *s, const double *x, double *g)
{
    double p[P];
    for (int k = 0; k < P; k++) {
        p[k] = k == DLS_GAMMA ? x[k] : exp(x[k]);
    }
    const double f = dls_goodput_error(s->seen, s->n, p, g);
    for (int k = 0; k < P; k++) {
        g[k] = s->pinned[k] ? 0 : k == DLS_GAMMA ? g[k] : g[k] * p[k];
    }
    return f;
}

static double within(int k, double x)
{
    const double least = k == DLS_GAMMA ? 1 : log(LEAST), most = k == DLS_GAMMA ? GAMMA_MOST : 30;
    return fmin(fmax(x, least), most);
}

/* At a bound, and it would get better beyond it. */
static bool is_stuck(int k, double x, double g)
{
    return (g > 0 && within(k, x - 1e-12) == x) || (g < 0 && within(k, x + 1e-12) == x);
}

static void forget(search *s)
{
    memset(s->h, 0, sizeof s->h);
    for (int k = 0; k < P; k++) {
        s->h[k][k] = 1;
    }
}

/* Downhill, in bounds; false: there is no such direction. */
static bool direction(const search *s, double *d, double *slope)
{
    bool stuck[P];
    *slope = 0;
    for (int k = 0; k < P; k++) {
        stuck[k] = s->pinned[k] || is_stuck(k, s->x[k], s->g[k]);
    }
    for (int k = 0; k < P; k++) {
        d[k] = 0;
        for (int l = 0; l < P; l++) {
            d[k] -= stuck[k] || stuck[l] ? 0 : s->h[k][l] * s->g[l];
        }
        *slope += d[k] * s->g[k];
    }
    return *slope < 0;
}

/* A step that descends enough and flattens the slope; false: none. */
static bool line_search(const search *s, const double *d, double slope, double *x, double *g,
                        double *f)
{
    double low = 0, high = (double)INFINITY, t = 1;
    bool found = false;
    for (int i = 0; i < 40; i++) {
        double at[P], at_g[P], at_slope = 0;
        for (int k = 0; k < P; k++) {
            at[k] = within(k, s->x[k] + t * d[k]);
        }
        const double at_f = value(s, at, at_g);
        for (int k = 0; k < P; k++) {
            at_slope += at_g[k] * d[k];
        }
        if (!(at_f <= s->f + 1e-4 * t * slope)) {
            high = t;
        } else {
            found = true;
            memcpy(x, at, sizeof at);
            memcpy(g, at_g, sizeof at_g);
            *f = at_f;
            if (at_slope >= 0.9 * slope) {
                return true;
            }
            low = t;
        }
        if (!isinf(high) && high - low < 1e-10 * high) {
            break;
        }
        t = isinf(high) ? 2 * low : (low + high) / 2;
        if (t > 1e6) {
            break;
        }
    }
    return found;
}

static void update(search *s, const double *x, const double *g)
{
    double dx[P], dg[P], hg[P], xg = 0, ghg = 0;
    for (int k = 0; k < P; k++) {
        dx[k] = x[k] - s->x[k];
        dg[k] = g[k] - s->g[k];
        xg += dx[k] * dg[k];
    }
    if (!(xg > 1e-14)) {
        return;
    }
    for (int k = 0; k < P; k++) {
        hg[k] = 0;
        for (int l = 0; l < P; l++) {
            hg[k] += s->h[k][l] * dg[l];
        }
        ghg += hg[k] * dg[k];
    }
    for (int k = 0; k < P; k++) {
        for (int l = 0; l < P; l++) {
            s->h[k][l] +=
                (1 + ghg / xg) * dx[k] * dx[l] / xg - (hg[k] * dx[l] + dx[k] * hg[l]) / xg;
        }
    }
}

static void descend(search *s)
{
    bool fresh = true;
    forget(s);
    for (int i = 0; i < 300; i++) {
        double d[P], x[P], g[P], f = 0, slope;
        const bool down = direction(s, d, &slope) && line_search(s, d, slope, x, g, &f);
        if (!down && fresh) {
            return;
        }
        if (!down) { /* once more along the gradient */
            forget(s);
            fresh = true;
            continue;
        }
        const double won = s->f - f;
        update(s, x, g);
        memcpy(s->x, x, sizeof x);
        memcpy(s->g, g, sizeof g);
        s->f = f;
        fresh = false;
        if (won < 1e-10 * fmax(f, 1e-3)) {
            return;
        }
    }
}

/* What nothing was seen of is held where it does not count. */
static void pin(const dls_goodput_seen *seen, size_t n, bool *pinned, double *p)
{
    bool several_local = false, on_nodes = false, on_one = false, beyond = false;
    double compute = 0;
    for (size_t i = 0; i < n; i++) {
        several_local = several_local || seen[i].local != seen[0].local;
        on_nodes = on_nodes || seen[i].nodes > 1;
        on_one = on_one || (seen[i].nodes == 1 && seen[i].replicas > 1);
        beyond = beyond || seen[i].replicas > 2;
        compute += seen[i].step - seen[i].sync;
    }
    const bool at[P] = {[DLS_ALPHA_C] = !several_local,
                        [DLS_ALPHA_N] = !on_nodes,
                        [DLS_BETA_N] = !on_nodes || !beyond,
                        [DLS_ALPHA_R] = !on_one,
                        [DLS_BETA_R] = !on_one || !beyond};
    memcpy(pinned, at, sizeof at);
    for (int k = 0; k < P; k++) {
        p[k] = pinned[k] ? LEAST : p[k];
    }
    if (!several_local) {
        p[DLS_ALPHA_C] = fmax(compute / (double)n / 2, LEAST);
    }
}

void dls_goodput_fit(dls_goodput_model *model, const dls_goodput_seen *seen, size_t n)
{
    bool pinned[P];
    double *p = model->p;
    search s = {.seen = seen, .n = n, .pinned = pinned};
    memcpy(p, start, sizeof start);
    pin(seen, n, pinned, p);
    for (int k = 0; k < P; k++) {
        s.x[k] = k == DLS_GAMMA ? p[k] : log(p[k]);
    }
    s.f = value(&s, s.x, s.g);
    descend(&s);
    for (int k = 0; k < P; k++) {
        p[k] = k == DLS_GAMMA ? s.x[k] : exp(s.x[k]);
    }
    if (pinned[DLS_ALPHA_N]) {
        p[DLS_ALPHA_N] = fmax(p[DLS_ALPHA_N], 1.1 * p[DLS_ALPHA_R]);
        p[DLS_BETA_N] = fmax(p[DLS_BETA_N], 1.1 * p[DLS_BETA_R]);
    }
    model->fitted = true;
}
