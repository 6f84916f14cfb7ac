/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The interior-point method of sched/interior.h.
 *
 * In the form minimise c'v, G v + s = h, s >= 0 with duals z; D = diag(z / s). A Newton step solves
 * G'DG dv = f. A job's own two rows are kept as unknowns beside its x (their multipliers D G dv),
 * because adding their D, up to 1e9 times that of the others, to the block would leave nothing of
 * it near the end; and slack directions are taken from the multipliers.
 */
#include "sched/interior.h"

#include "dlsim/memory.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 120, MAX_TYPES = DLS_TYPES_MAX };
/* Relative: where to stop; what will do where no more can be had. */
static const double exact = 2e-9, enough = 1e-6;

/* One inequality: slack, dual, their steps, the multiplier and the centring term of the step. */
typedef struct row {
    double s, z, ds, dz, pull, residual;
} row;

/* What a job adds to the equations in common. */
typedef struct block {
    row fit, need;    /* sum x <= 1; the need */
    row x[MAX_TYPES]; /* x >= 0: s is x itself */
    double *lu;       /* [(w + 2) * (w + 2)] of the unknowns x, fit, need */
    int8_t pivot[MAX_TYPES + 2];
    double f[MAX_TYPES]; /* right-hand side */
} block;

typedef struct solver {
    dls_interior *p;
    size_t n;
    int32_t w;
    block *b;
    row type[MAX_TYPES];
    double t, dt, f_t, residual_t;
    double q[MAX_TYPES]; /* multipliers of the types */
    bool has_t, centring;
    double unit; /* of the objective: its largest coefficient is 1 */
    double mu, rows;
} solver;

/* ---- problems ----------------------------------------------------------------------------------
 */

void dls_interior_reset(dls_interior *p, int32_t n_types, const double *gpus)
{
    p->n_types = n_types;
    memcpy(p->gpus, gpus, (size_t)n_types * sizeof *gpus);
    p->level_value = 0;
    p->n = 0;
}

dls_interior_job *dls_interior_add(dls_interior *p, double gpus)
{
    if (dls_grow(&p->job, &p->cap, p->n + 1, sizeof *p->job, NULL) != DLS_OK) {
        return NULL;
    }
    dls_interior_job *j = &p->job[p->n++];
    memset(j, 0, sizeof *j);
    j->gpus = gpus;
    return j;
}

void dls_interior_fini(dls_interior *p)
{
    dls_free(p->job);
    dls_free(p->scratch);
    memset(p, 0, sizeof *p);
}

/* ---- the start ---------------------------------------------------------------------------------
 */

static double gained(const dls_interior_job *j, const block *b, int32_t w)
{
    double sum = 0;
    for (int32_t k = 0; k < w; k++) {
        sum += j->gain[k] * b->x[k].s;
    }
    return sum;
}

/* Half of every type is used, and at most half of each job's time; t is one below what that
 * reaches. */
static void start(solver *s)
{
    const dls_interior *p = s->p;
    double gpus = 0, most = 0;
    for (size_t j = 0; j < s->n; j++) {
        gpus += p->job[j].gpus;
        for (int32_t k = 0; k < s->w; k++) {
            most = fmax(most, fabs(p->job[j].value[k]));
        }
    }
    const double dual = 1;
    s->unit = fmax(most, p->level_value);
    s->unit = s->unit > 0 && !s->centring ? s->unit : 1;
    s->t = 0;
    for (size_t j = 0; j < s->n; j++) {
        const dls_interior_job *job = &p->job[j];
        block *b = &s->b[j];
        double sum = 0;
        for (int32_t k = 0; k < s->w; k++) {
            b->x[k] = (row){.s = fmin(0.5 / s->w, 0.5 * p->gpus[k] / gpus), .z = dual};
            sum += b->x[k].s;
        }
        b->fit = (row){.s = 1 - sum, .z = dual};
        b->need = (row){.s = 1, .z = 0};
        if (job->needs && job->level > 0) {
            s->t = fmin(s->t, (gained(job, b, s->w) - job->need) / job->level);
        }
    }
    s->t -= s->has_t ? 1 : 0;
    for (size_t j = 0; j < s->n; j++) {
        const dls_interior_job *job = &p->job[j];
        block *b = &s->b[j];
        if (job->needs) {
            const double slack = gained(job, b, s->w) - job->need - job->level * s->t;
            b->need = (row){.s = fmax(slack, 1e-2), .z = dual};
        }
    }
    for (int32_t k = 0; k < s->w; k++) {
        double used = 0;
        for (size_t j = 0; j < s->n; j++) {
            used += p->job[j].gpus * s->b[j].x[k].s;
        }
        s->type[k] = (row){.s = p->gpus[k] - used, .z = dual};
    }
}

/* ---- residuals ---------------------------------------------------------------------------------
 */

/* Returns the largest residual of the rows and of the duals, relative to 1. */
static double measure(solver *s)
{
    const dls_interior *p = s->p;
    double worst = 0, sum_mu = 0, used[MAX_TYPES] = {0};
    s->residual_t = s->centring ? 0 : -p->level_value / s->unit;
    for (size_t j = 0; j < s->n; j++) {
        const dls_interior_job *job = &p->job[j];
        block *b = &s->b[j];
        double sum = 0;
        for (int32_t k = 0; k < s->w; k++) {
            sum += b->x[k].s;
            sum_mu += b->x[k].s * b->x[k].z;
            used[k] += job->gpus * b->x[k].s;
            b->f[k] = (s->centring ? 0 : -job->value[k] / s->unit) - b->x[k].z + b->fit.z +
                      job->gpus * s->type[k].z - (job->needs ? job->gain[k] * b->need.z : 0);
            worst = fmax(worst, fabs(b->f[k]));
        }
        b->fit.residual = 1 - sum - b->fit.s;
        sum_mu += b->fit.s * b->fit.z;
        worst = fmax(worst, fabs(b->fit.residual));
        if (job->needs) {
            b->need.residual = gained(job, b, s->w) - job->need - job->level * s->t - b->need.s;
            worst = fmax(worst, fabs(b->need.residual) / (1 + fabs(job->need)));
            sum_mu += b->need.s * b->need.z;
            s->residual_t += job->level * b->need.z;
        }
    }
    for (int32_t k = 0; k < s->w; k++) {
        s->type[k].residual = p->gpus[k] - used[k] - s->type[k].s;
        sum_mu += s->type[k].s * s->type[k].z;
        worst = fmax(worst, fabs(s->type[k].residual) / p->gpus[k]);
    }
    s->mu = sum_mu / s->rows;
    return s->has_t ? fmax(worst, fabs(s->residual_t)) : worst;
}

/* ---- one Newton step ---------------------------------------------------------------------------
 */

static double ratio(const row *r)
{
    return r->z / r->s;
}

/* Gaussian elimination with pivoting of the equations in common. */
static bool eliminate(double a[MAX_TYPES + 1][MAX_TYPES + 2], int32_t n)
{
    for (int32_t c = 0; c < n; c++) {
        int32_t best = c;
        for (int32_t r = c + 1; r < n; r++) {
            best = fabs(a[r][c]) > fabs(a[best][c]) ? r : best;
        }
        if (!(fabs(a[best][c]) > 0)) {
            return false;
        }
        for (int32_t k = 0; k <= n; k++) {
            const double swap = a[c][k];
            a[c][k] = a[best][k];
            a[best][k] = swap;
        }
        for (int32_t r = 0; r < n; r++) {
            const double f = r == c ? 0 : a[r][c] / a[c][c];
            for (int32_t k = c; f != 0 && k <= n; k++) {
                a[r][k] -= f * a[c][k];
            }
        }
    }
    for (int32_t c = 0; c < n; c++) {
        a[c][n] /= a[c][c];
    }
    return true;
}

/* LU with row pivoting, in place. */
static void decompose(double *a, int32_t n, int8_t *pivot)
{
    for (int32_t c = 0; c < n; c++) {
        int32_t best = c;
        for (int32_t r = c + 1; r < n; r++) {
            best = fabs(a[r * n + c]) > fabs(a[best * n + c]) ? r : best;
        }
        pivot[c] = (int8_t)best;
        for (int32_t k = 0; best != c && k < n; k++) {
            const double swap = a[c * n + k];
            a[c * n + k] = a[best * n + k];
            a[best * n + k] = swap;
        }
        for (int32_t r = c + 1; r < n; r++) {
            const double f = a[r * n + c] /= a[c * n + c];
            for (int32_t k = c + 1; f != 0 && k < n; k++) {
                a[r * n + k] -= f * a[c * n + k];
            }
        }
    }
}

static void substitute(const double *a, int32_t n, const int8_t *pivot, double *x)
{
    for (int32_t r = 0; r < n; r++) {
        const double swap = x[pivot[r]];
        x[pivot[r]] = x[r];
        x[r] = swap;
    }
    for (int32_t r = 0; r < n; r++) {
        for (int32_t k = 0; k < r; k++) {
            x[r] -= a[r * n + k] * x[k];
        }
    }
    for (int32_t r = n; r-- > 0;) {
        for (int32_t k = r + 1; k < n; k++) {
            x[r] -= a[r * n + k] * x[k];
        }
        x[r] /= a[r * n + r];
    }
}

static int32_t unknowns(const solver *s, size_t j)
{
    return s->w + (s->p->job[j].needs ? 2 : 1);
}

/* In place: a right-hand side becomes the step of x and the multipliers of fit and need. */
static void solve_own(const solver *s, size_t j, double *v)
{
    substitute(s->b[j].lu, unknowns(s, j), s->b[j].pivot, v);
}

/* What depends on the slacks and duals alone: once for predictor and corrector. */
static void factor(solver *s)
{
    for (size_t j = 0; j < s->n; j++) {
        const dls_interior_job *job = &s->p->job[j];
        block *b = &s->b[j];
        const int32_t w = s->w, n = unknowns(s, j);
        memset(b->lu, 0, (size_t)(n * n) * sizeof *b->lu);
        for (int32_t k = 0; k < w; k++) {
            b->lu[k * n + k] = ratio(&b->x[k]);
            b->lu[k * n + w] = b->lu[w * n + k] = 1;
            if (job->needs) {
                b->lu[k * n + w + 1] = b->lu[(w + 1) * n + k] = -job->gain[k];
            }
        }
        b->lu[w * n + w] = -1 / ratio(&b->fit);
        if (job->needs) {
            b->lu[(w + 1) * n + w + 1] = -1 / ratio(&b->need);
        }
        decompose(b->lu, n, b->pivot);
    }
}

/* The right-hand side of a row: what its dual moves to if nothing else moves. */
static double wanted(const row *r)
{
    return r->pull / r->s - ratio(r) * r->residual;
}

static void right_side(const solver *s, size_t j, double *f)
{
    const dls_interior_job *job = &s->p->job[j];
    const block *b = &s->b[j];
    for (int32_t k = 0; k < s->w; k++) {
        f[k] = -b->f[k] + b->x[k].pull / b->x[k].s - wanted(&b->fit) -
               job->gpus * wanted(&s->type[k]) + (job->needs ? job->gain[k] * wanted(&b->need) : 0);
    }
}

/* What one job adds to the equations in common, for types and t. */
static void add_to_common(const solver *s, size_t j, double a[MAX_TYPES + 1][MAX_TYPES + 2])
{
    const dls_interior_job *job = &s->p->job[j];
    const int32_t w = s->w, n = w + (s->has_t ? 1 : 0);
    double v[MAX_TYPES + 2] = {0};
    right_side(s, j, v);
    solve_own(s, j, v);
    for (int32_t k = 0; k < w; k++) {
        a[k][n] += job->gpus * v[k];
    }
    if (s->has_t && job->needs) {
        a[w][n] -= job->level * (v[w + 1] + wanted(&s->b[j].need));
    }
    for (int32_t c = 0; c < n; c++) { /* what moves with type c's multiplier, or with t */
        double column[MAX_TYPES + 2] = {0};
        if (c == w && !job->needs) {
            break;
        }
        column[c == w ? w + 1 : c] = c == w ? -job->level : -job->gpus;
        solve_own(s, j, column);
        for (int32_t k = 0; k < w; k++) {
            a[k][c] -= job->gpus * column[k];
        }
        if (s->has_t && job->needs) {
            a[w][c] += job->level * column[w + 1];
        }
    }
}

static bool solve_common(solver *s)
{
    double a[MAX_TYPES + 1][MAX_TYPES + 2] = {{0}};
    const int32_t w = s->w, n = w + (s->has_t ? 1 : 0);
    if (s->has_t) {
        a[w][n] = -s->residual_t;
    }
    for (size_t j = 0; j < s->n; j++) {
        add_to_common(s, j, a);
    }
    for (int32_t k = 0; k < w; k++) {
        a[k][k] += 1 / ratio(&s->type[k]);
    }
    if (!eliminate(a, n)) {
        return false;
    }
    for (int32_t k = 0; k < w; k++) {
        s->q[k] = a[k][n];
    }
    s->dt = s->has_t ? a[w][n] : 0;
    return true;
}

/* The steps of a row from its multiplier. */
static void step_row(row *r, double multiplier)
{
    r->ds = r->residual - multiplier / ratio(r);
    r->dz = wanted(r) + multiplier;
}

static void step_job(solver *s, size_t j)
{
    const dls_interior_job *job = &s->p->job[j];
    block *b = &s->b[j];
    double v[MAX_TYPES + 2] = {0};
    right_side(s, j, v);
    for (int32_t k = 0; k < s->w; k++) {
        v[k] -= job->gpus * s->q[k];
    }
    if (job->needs) {
        v[s->w + 1] = -job->level * s->dt;
    }
    solve_own(s, j, v);
    step_row(&b->fit, v[s->w]);
    if (job->needs) {
        step_row(&b->need, v[s->w + 1]);
    }
    for (int32_t k = 0; k < s->w; k++) {
        row *x = &b->x[k];
        x->ds = v[k];
        x->dz = x->pull / x->s - ratio(x) * x->ds;
    }
}

static bool newton(solver *s)
{
    if (!solve_common(s)) {
        return false;
    }
    for (size_t j = 0; j < s->n; j++) {
        step_job(s, j);
    }
    for (int32_t k = 0; k < s->w; k++) {
        step_row(&s->type[k], s->q[k]);
    }
    return true;
}

/* ---- all rows ----------------------------------------------------------------------------------
 */

typedef void (*row_visit)(row *r, void *user);

static void every_row(solver *s, row_visit visit, void *user)
{
    for (size_t j = 0; j < s->n; j++) {
        block *b = &s->b[j];
        for (int32_t k = 0; k < s->w; k++) {
            visit(&b->x[k], user);
        }
        visit(&b->fit, user);
        if (s->p->job[j].needs) {
            visit(&b->need, user);
        }
    }
    for (int32_t k = 0; k < s->w; k++) {
        visit(&s->type[k], user);
    }
}

typedef struct reach {
    double primal, dual, mu; /* lengths of the step; sum of products there */
} reach;

static void pull_to_zero(row *r, void *user)
{
    (void)user;
    r->pull = -r->s * r->z;
}

static void pull_to(row *r, void *user)
{
    r->pull = *(const double *)user - r->s * r->z;
}

static void pull_corrected(row *r, void *user)
{
    r->pull = *(const double *)user - r->s * r->z - r->ds * r->dz;
}

static void limit(row *r, void *user)
{
    reach *l = user;
    l->primal = r->ds < 0 ? fmin(l->primal, -r->s / r->ds) : l->primal;
    l->dual = r->dz < 0 ? fmin(l->dual, -r->z / r->dz) : l->dual;
}

static void add_product(row *r, void *user)
{
    reach *l = user;
    l->mu += (r->s + l->primal * r->ds) * (r->z + l->dual * r->dz);
}

static void advance(row *r, void *user)
{
    const reach *l = user;
    r->s += l->primal * r->ds;
    r->z += l->dual * r->dz;
}

static void off_centre(row *r, void *user)
{
    double *worst = user;
    *worst = fmax(*worst, fabs(r->s * r->z - 1));
}

/* ---- solving -----------------------------------------------------------------------------------
 */

static bool step(solver *s)
{
    reach l = {.primal = 1, .dual = 1};
    double target = 1;
    factor(s);
    if (s->centring) {
        every_row(s, pull_to, &target);
    } else {
        every_row(s, pull_to_zero, NULL);
        if (!newton(s)) {
            return false;
        }
        every_row(s, limit, &l);
        every_row(s, add_product, &l);
        const double left = l.mu / s->rows / s->mu;
        target = s->mu * left * left * left;
        every_row(s, pull_corrected, &target);
    }
    if (!newton(s)) {
        return false;
    }
    l = (reach){.primal = 1 / 0.99, .dual = 1 / 0.99};
    every_row(s, limit, &l);
    l.primal = fmin(1, 0.99 * l.primal);
    l.dual = fmin(1, 0.99 * l.dual);
    every_row(s, advance, &l);
    s->t += l.primal * s->dt;
    return true;
}

static double objective(const solver *s)
{
    double sum = s->has_t ? s->p->level_value * s->t : 0;
    for (size_t j = 0; j < s->n; j++) {
        for (int32_t k = 0; k < s->w; k++) {
            sum += s->p->job[j].value[k] * s->b[j].x[k].s;
        }
    }
    return sum / s->unit;
}

/* How far the point is from being the answer, relative. */
static double distance(solver *s)
{
    const double residual = measure(s);
    if (s->centring) {
        double worst = 0;
        every_row(s, off_centre, &worst);
        return fmax(residual, 1e-3 * worst);
    }
    return fmax(residual, s->mu * s->rows / (1 + fabs(objective(s))));
}

static void keep(const solver *s)
{
    dls_interior *p = s->p;
    p->level = s->t;
    p->gap = s->mu * s->rows * s->unit;
    for (size_t j = 0; j < p->n; j++) {
        p->job[j].dual = p->job[j].needs ? s->b[j].need.z * s->unit : 0;
        for (int32_t k = 0; k < p->n_types; k++) {
            p->job[j].x[k] = fmin(fmax(s->b[j].x[k].s, 0), 1);
        }
    }
}

static dls_status make_room(dls_interior *p, solver *s, dls_error *err)
{
    const size_t blocks = (p->n + 1) * sizeof(block) / sizeof *p->scratch + 1;
    const size_t lu = (size_t)(p->n_types + 2) * (size_t)(p->n_types + 2);
    DLS_TRY(dls_grow(&p->scratch, &p->scratch_cap, blocks + p->n * lu, sizeof *p->scratch, err));
    *s = (solver){.p = p, .n = p->n, .w = p->n_types, .b = (block *)(void *)p->scratch};
    s->rows = (double)p->n_types;
    for (size_t j = 0; j < p->n; j++) {
        s->rows += p->n_types + 1 + (p->job[j].needs ? 1 : 0);
        s->b[j].lu = p->scratch + blocks + j * lu;
    }
    return DLS_OK;
}

/* The nearest point is kept: steps beyond what the arithmetic can tell apart lead away again. */
static dls_status solve(dls_interior *p, bool centring, dls_interior_outcome *outcome,
                        dls_error *err)
{
    solver s;
    double best = (double)INFINITY;
    DLS_TRY(make_room(p, &s, err));
    s.centring = centring;
    s.has_t = !centring && p->level_value > 0;
    start(&s);
    for (p->steps = 0; p->steps < MAX_STEPS && best > exact; p->steps++) {
        const double far = distance(&s);
        if (far < best) {
            best = far;
            keep(&s);
        } else if (best <= enough && !(far < 1e3 * best)) {
            break;
        }
        if (best > exact && !step(&s)) {
            break;
        }
    }
    *outcome = best <= enough ? DLS_INTERIOR_OPTIMAL : DLS_INTERIOR_INFEASIBLE;
    return DLS_OK;
}

dls_status dls_interior_solve(dls_interior *p, dls_interior_outcome *outcome, dls_error *err)
{
    return solve(p, false, outcome, err);
}

dls_status dls_interior_centre(dls_interior *p, dls_interior_outcome *outcome, dls_error *err)
{
    return solve(p, true, outcome, err);
}
