/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked of an application (app.h): gain by batch size, times by placement.
 */
#include "pollux/app.h"

#include "dlsim/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const dls_pollux_app *dls_pollux_app_find(const dls_pollux_apps *apps, const char *name)
{
    for (size_t i = 0; i < apps->n; i++) {
        if (strcmp(apps->app[i].name, name) == 0) {
            return &apps->app[i];
        }
    }
    return NULL;
}

bool dls_pollux_is_fixed(const dls_pollux_app *a)
{
    return strcmp(a->name, "ncf") == 0;
}

double dls_pollux_between(const dls_pollux_app *a, int column, int32_t batch, int32_t epoch)
{
    int32_t high = 0;
    assert(epoch >= 0 && epoch < a->epochs);
    while (high + 1 < a->n_sizes && a->sizes[high] < batch) {
        high++;
    }
    const int32_t low = high > 0 && batch < a->sizes[high] ? high - 1 : high;
    const double x = a->row[low][epoch * DLS_POLLUX_COLS + column];
    const double y = a->row[high][epoch * DLS_POLLUX_COLS + column];
    return low == high ? x
                       : ((batch - a->sizes[low]) * y + (a->sizes[high] - batch) * x) /
                             (a->sizes[high] - a->sizes[low]);
}

double dls_pollux_gain(double sqr, double var, double scale)
{
    const double denominator = var / scale + sqr;
    return denominator > 0 ? (var + sqr) / denominator : 1;
}

void dls_pollux_key(const int32_t *gpus, int32_t nodes, char key[DLS_POLLUX_REPLICAS + 1])
{
    int32_t best = 0;
    assert(nodes >= 1 && nodes <= DLS_POLLUX_REPLICAS);
    for (int32_t from = 1; from < nodes; from++) {
        for (int32_t i = 0; i < nodes; i++) {
            const int32_t x = gpus[(from + i) % nodes], y = gpus[(best + i) % nodes];
            if (x != y) {
                best = x < y ? from : best;
                break;
            }
        }
    }
    for (int32_t i = 0; i < nodes; i++) {
        key[i] = (char)('0' + gpus[(best + i) % nodes]);
    }
    key[nodes] = '\0';
}

DLS_BY(by_key, dls_pollux_curve, strcmp(x->key, y->key));

void dls_pollux_find(const dls_pollux_app *a, const int32_t *gpus, int32_t nodes,
                     dls_pollux_where *out)
{
    dls_pollux_curve wanted;
    *out = (dls_pollux_where){.nodes = nodes};
    for (int32_t i = 0; i < nodes; i++) {
        out->replicas += gpus[i];
    }
    dls_pollux_key(gpus, nodes, wanted.key);
    out->table = a->placements.n
                     ? bsearch(&wanted, a->placements.of, a->placements.n, sizeof wanted, by_key)
                     : NULL;
    out->points =
        a->points.n ? bsearch(&wanted, a->points.of, a->points.n, sizeof wanted, by_key) : NULL;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* As the published program computes it: to the last bit. */
static dls_pollux_times on_line(const dls_pollux_sample *x, const dls_pollux_sample *y,
                                int32_t local)
{
    const int32_t run = y->local - x->local;
    return (dls_pollux_times){x->t.step + (y->t.step - x->t.step) / run * (local - x->local),
                              x->t.sync + (y->t.sync - x->t.sync) / run * (local - x->local)};
}

static bool inside(const dls_pollux_curve *c, int32_t local, dls_pollux_times *out)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->at[i].local == local) {
            /* The end of a line is computed there as the published program computes it. */
            *out = i > 0 ? on_line(&c->at[i - 1], &c->at[i], local) : c->at[i].t;
            return true;
        }
        if (i > 0 && c->at[i - 1].local < local && local < c->at[i].local) {
            *out = on_line(&c->at[i - 1], &c->at[i], local);
            return true;
        }
    }
    return false;
}

/* Outside the measurements the nearest line goes on; times stay above what was measured least. */
static dls_pollux_times along(const dls_pollux_curve *c, int32_t local)
{
    if (c->n == 1) {
        return c->at[0].t;
    }
    size_t i = 1;
    while (i + 1 < c->n && c->at[i].local < local) {
        i++;
    }
    dls_pollux_times t = on_line(&c->at[i - 1], &c->at[i], local);
    t.sync = fmax(t.sync, 0);
    t.step = fmax(t.step, fmax(t.sync, c->at[0].t.step * 0.5));
    return t;
}

static dls_pollux_times mix(dls_pollux_times x, dls_pollux_times y, double part)
{
    return (dls_pollux_times){x.step + part * (y.step - x.step), x.sync + part * (y.sync - x.sync)};
}

/* On the nodes of curves first..end-1, which differ in replicas. */
static dls_pollux_times at_density(const dls_pollux_curve *c, size_t n, double replicas,
                                   int32_t local)
{
    size_t i = 0;
    while (i < n && c[i].replicas < replicas) {
        i++;
    }
    if (i == 0 || i == n) {
        return along(&c[i == 0 ? 0 : n - 1], local);
    }
    return mix(along(&c[i - 1], local), along(&c[i], local),
               (replicas - c[i - 1].replicas) / (c[i].replicas - c[i - 1].replicas));
}

/* The measured numbers of nodes below and above, each with its curves. */
static dls_pollux_times on_lattice(const dls_pollux_curves *l, const dls_pollux_where *w,
                                   int32_t local)
{
    const dls_pollux_curve *low = NULL, *high = NULL;
    size_t n_low = 0, n_high = 0;
    for (size_t begin = 0, end; begin < l->n && !high; begin = end) {
        const int32_t nodes = l->of[begin].nodes;
        for (end = begin; end < l->n && l->of[end].nodes == nodes; end++) {
        }
        if (nodes <= w->nodes) {
            low = &l->of[begin];
            n_low = end - begin;
        }
        if (nodes >= w->nodes) {
            high = &l->of[begin];
            n_high = end - begin;
        }
    }
    if (!high) { /* more nodes than were measured */
        return at_density(low, n_low, w->replicas, local);
    }
    const double density = (double)w->replicas / w->nodes;
    const dls_pollux_times above = at_density(high, n_high, density * high->nodes, local);
    if (!low || low == high) {
        return above;
    }
    return mix(at_density(low, n_low, density * low->nodes, local), above,
               (double)(w->nodes - low->nodes) / (high->nodes - low->nodes));
}

int32_t dls_pollux_most_local(const dls_pollux_app *a, const dls_pollux_where *w)
{
    int32_t most = w->table ? w->table->at[w->table->n - 1].local : 0;
    for (size_t i = 0; i < a->lattice.n && !w->table; i++) {
        const dls_pollux_curve *c = &a->lattice.of[i];
        const int32_t last = c->at[c->n - 1].local;
        most = c->nodes >= w->nodes && c->replicas >= w->replicas && last > most ? last : most;
    }
    return most;
}

int32_t dls_pollux_most_local_of(const dls_pollux_app *a, int32_t replicas)
{
    int32_t most = 0;
    for (size_t i = 0; i < a->lattice.n; i++) {
        const dls_pollux_curve *c = &a->lattice.of[i];
        const int32_t last = c->at[c->n - 1].local;
        most = c->replicas == replicas && last > most ? last : most;
    }
    return most;
}

int32_t dls_pollux_most_nodes(const dls_pollux_apps *apps)
{
    int32_t most = 1;
    for (size_t i = 0; i < apps->n; i++) {
        const dls_pollux_curves *c = &apps->app[i].lattice;
        for (size_t k = 0; k < c->n; k++) {
            most = c->of[k].nodes > most ? c->of[k].nodes : most;
        }
    }
    return most < 16 ? most : 16;
}

double dls_pollux_alone(const dls_pollux_app *a)
{
    const int32_t one = 1;
    dls_pollux_where w;
    double longest = 0;
    dls_pollux_find(a, &one, 1, &w);
    for (size_t i = 0; w.table && i < w.table->n; i++) {
        longest = fmax(longest, w.table->at[i].t.step);
    }
    return longest > 0 ? w.table->at[w.table->n - 1].local / longest : 0;
}

bool dls_pollux_step(const dls_pollux_app *a, const dls_pollux_where *w, int32_t local,
                     dls_pollux_times *out)
{
    if (w->table) {
        return inside(w->table, local, out);
    }
    for (size_t i = 0; w->points && i < w->points->n; i++) {
        if (w->points->at[i].local == local) {
            *out = w->points->at[i].t;
            return true;
        }
    }
    if (local < a->local_min || local > a->local_max || a->lattice.n == 0) {
        return false;
    }
    *out = on_lattice(&a->lattice, w, local);
    return true;
}
