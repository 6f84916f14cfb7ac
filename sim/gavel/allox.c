/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * AlloX (Le et al., EuroSys 2020) as Gavel's and Shockwave's simulators have it: jobs without GPUs
 * are matched with places in the queues of machines, and those at the heads start.
 *
 * Machines of one type are the same, so many assignments are the best one. The choice among them is
 * that of SciPy's linear_sum_assignment (Crouse, "On implementing 2D rectangular assignment
 * algorithms", IEEE TAES 2016); places of one queue cost multiples of one row, which are computed
 * and not stored.
 */
#include "gavel/core.h"

#include "base/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* m jobs to m x n places: place p is the (p / n + 1)-th from the end on machine p % n. */
typedef struct matching {
    int32_t m, n;
    double *base; /* [m * n] seconds */
    double *age;  /* [m] */
    double *u, *v, *best;
    int32_t *from, *remaining, *row_of, *place_of;
    int32_t *seen_row, *seen_col; /* of one search */
} matching;

static double cost(const matching *x, int32_t row, int32_t col)
{
    const double base = x->base[(size_t)row * (size_t)x->n + (size_t)(col % x->n)];
    return (double)(col / x->n + 1) * base + x->age[row];
}

/* The shortest augmenting path from a row; its free place. */
static int32_t search(matching *x, int32_t row)
{
    const int32_t n_cols = x->m * x->n;
    int32_t left = n_cols, rows = 0, cols = 0, i = row, sink = -1;
    double reached = 0;
    for (int32_t k = 0; k < n_cols; k++) {
        x->remaining[k] = n_cols - 1 - k;
        x->best[k] = (double)INFINITY;
    }
    while (sink < 0) {
        int32_t at = -1;
        double low = (double)INFINITY;
        x->seen_row[rows++] = i;
        for (int32_t k = 0; k < left; k++) {
            const int32_t col = x->remaining[k];
            const double r = reached + cost(x, i, col) - x->u[i] - x->v[col];
            if (r < x->best[col]) {
                x->from[col] = i;
                x->best[col] = r;
            }
            if (x->best[col] < low || (x->best[col] == low && x->row_of[col] < 0)) {
                low = x->best[col];
                at = k;
            }
        }
        reached = low;
        const int32_t col = x->remaining[at];
        if (x->row_of[col] < 0) {
            sink = col;
        } else {
            i = x->row_of[col];
        }
        x->seen_col[cols++] = col;
        x->remaining[at] = x->remaining[--left];
    }
    x->u[row] += reached;
    for (int32_t k = 0; k < rows; k++) {
        const int32_t r = x->seen_row[k];
        if (r != row) {
            x->u[r] += reached - x->best[x->place_of[r]];
        }
    }
    for (int32_t k = 0; k < cols; k++) {
        x->v[x->seen_col[k]] -= reached - x->best[x->seen_col[k]];
    }
    return sink;
}

static void assign(matching *x)
{
    const int32_t n_cols = x->m * x->n;
    for (int32_t k = 0; k < n_cols; k++) {
        x->row_of[k] = -1;
    }
    for (int32_t i = 0; i < x->m; i++) {
        x->place_of[i] = -1;
    }
    for (int32_t row = 0; row < x->m; row++) {
        int32_t col = search(x, row), i;
        do {
            i = x->from[col];
            x->row_of[col] = i;
            const int32_t next = x->place_of[i];
            x->place_of[i] = col;
            col = next;
        } while (i != row);
    }
}

static dls_status room_for(matching *x, dls_error *err)
{
    const size_t m = (size_t)x->m, cols = m * (size_t)x->n;
    x->base = dls_alloc((cols * 3 + m * 2) * sizeof *x->base);
    x->from = dls_alloc((cols * 4 + m * 2) * sizeof *x->from);
    if (!x->base || !x->from || cols > INT32_MAX / 4) {
        return dls_nomem(err, "assignment", cols * 40);
    }
    x->v = x->base + cols;
    x->best = x->v + cols;
    x->age = x->best + cols;
    x->u = x->age + m;
    x->remaining = x->from + cols;
    x->row_of = x->remaining + cols;
    x->seen_col = x->row_of + cols;
    x->place_of = x->seen_col + cols;
    x->seen_row = x->place_of + m;
    memset(x->v, 0, cols * sizeof *x->v);
    memset(x->u, 0, m * sizeof *x->u);
    return DLS_OK;
}

/* ---- the policy ------------------------------------------------------------------------------ */

typedef struct waiting {
    int32_t *job; /* [n] */
    int32_t n;
    int32_t *machine; /* [n_machines] types */
    int32_t n_machines;
} waiting;

static bool keeps(const dls_gv *g, int32_t job)
{
    const dls_gv_combo *c = &g->combo[g->job[job].combo];
    double sum = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        sum += c->share[g->type[k]];
    }
    return sum == 1.0;
}

static double age(const dls_gv *g, int32_t job)
{
    return g->now_s - g->job[job].arrival_s;
}

/* Those without a GPU, oldest first (they are listed by arrival), and the machines that nobody
 * keeps. */
static void list_waiting(dls_gv *g, waiting *w)
{
    int32_t kept[DLS_GV_TYPES] = {0};
    for (int32_t i = 0; i < g->n_active; i++) {
        const int32_t job = g->active[i];
        if (!keeps(g, job)) {
            w->job[w->n++] = job;
            continue;
        }
        for (int32_t k = 0; k < g->n_types; k++) {
            kept[g->type[k]] += dls_gv_single(g, job)->share[g->type[k]] == 1.0;
        }
    }
    for (int32_t k = 0; k < g->n_types; k++) {
        for (int32_t i = kept[g->type[k]]; i < g->gpus[g->type[k]]; i++) {
            w->machine[w->n_machines++] = g->type[k];
        }
    }
}

static void matching_fini(matching *x)
{
    DLS_FREE_ALL(x->base, x->from);
}

static dls_status match(dls_gv *g, const waiting *w, dls_error *err)
{
    DLS_OWN(matching_fini) matching x = {.m = w->n, .n = w->n_machines};
    DLS_TRY(room_for(&x, err));
    for (int32_t i = 0; i < x.m; i++) {
        x.age[i] = age(g, w->job[i]);
        for (int32_t k = 0; k < x.n; k++) {
            const double speed = dls_gv_alone(g, w->job[i], w->machine[k]);
            x.base[(size_t)i * (size_t)x.n + (size_t)k] =
                dls_gv_left(g, w->job[i]) / (speed > 0 ? speed : 1e-10);
        }
    }
    assign(&x);
    /* The farthest from the end of each machine's queue is its head. */
    for (int32_t k = 0; k < x.n; k++) {
        int32_t head = -1;
        for (int32_t i = 0; i < x.m; i++) {
            if (x.place_of[i] % x.n == k && (head < 0 || x.place_of[i] > x.place_of[head])) {
                head = i;
            }
        }
        if (head >= 0) {
            const int32_t job = w->job[head];
            dls_gv_single(g, job)->share[w->machine[k]] =
                g->p->shockwave ? 1.0 / g->job[job].gpus : 1.0;
        }
    }
    return DLS_OK;
}

dls_status dls_gv_allox(dls_gv *g, dls_error *err)
{
    const double alpha = g->p->shockwave ? 0.2 : 1.0;
    waiting w = {0};
    size_t gpus = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        gpus += (size_t)g->gpus[g->type[k]];
    }
    DLS_FREED int32_t *job = NULL;
    DLS_TRY(dls_alloc_array(&job, (size_t)g->n + gpus, sizeof *job, "jobs without a GPU", err));
    w.job = job;
    w.machine = w.job + g->n;
    list_waiting(g, &w);
    const int32_t cut = (int32_t)(alpha * w.n);
    const int32_t most = cut > w.n_machines ? cut : w.n_machines;
    w.n = w.n < most ? w.n : most;
    return w.n > 0 && w.n_machines > 0 ? match(g, &w, err) : DLS_OK;
}
