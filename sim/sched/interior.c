/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The iteration of sched/interior.h: minimise c'x subject to G x + s = h, s in a product of half
 * lines and cones of three, embedded with tau and kappa.
 */
#include "sched/interior.h"

#include "dlsim/memory.h"
#include "sched/interior_kkt.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 100 };
static const double exact = 1e-8, enough = 1e-6; /* residuals and gap: to stop; to do */
static const double sigma_least = 1e-4, step_least = 1e-6, step_most = 0.999, damping = 0.99;

typedef struct solver {
    dls_kkt k;
    double *c, *x, *dx1, *dx2, *rx, *bx;                                  /* [vars] */
    double *h, *s, *z, *dz1, *dz2, *rz, *bz, *lambda, *ds_w, *dz_w, *tmp; /* [rows] */
    double tau, kappa, rt, mu, gap, cx, hz;
    double degree;                    /* rows, cones counted once */
    double size_c, size_h;            /* norms, at least 1 */
    double feasibility, relative_gap; /* of the point */
} solver;

/* ---- vectors --------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double norm(const double *a, size_t n)
{
    return sqrt(dot(a, a, n));
}

/* What is done to rows: one by one, or to the three of a cone. */
typedef void (*on_row)(solver *s, size_t row, void *user);
typedef void (*on_cone)(solver *s, size_t row, dls_kkt_cone *cone, void *user);

static void every(solver *s, on_row line, on_cone cone, void *user)
{
    const int32_t w = s->k.w;
    for (size_t j = 0; j < s->k.n; j++) {
        const dls_kkt_job *b = &s->k.job[j];
        const int32_t lines = w + (b->local < 2 ? b->local : 2);
        for (int32_t i = 0; i < lines; i++) {
            line(s, b->row + (size_t)i, user);
        }
        if (b->cone) {
            cone(s, b->row + (size_t)w + 2, &s->k.cone[j], user);
        }
    }
    for (int32_t t = 0; t < w; t++) {
        line(s, s->k.rows - (size_t)w + (size_t)t, user);
    }
}

/* ---- the start ------------------------------------------------------------------------------- */

typedef struct shift {
    double *v;
    double alpha;
} shift;

static void worst_line(solver *s, size_t row, void *user)
{
    shift *o = user;
    o->alpha = o->v[row] <= 0 ? fmax(o->alpha, -o->v[row]) : o->alpha;
}

static void worst_cone(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    shift *o = user;
    const double left = o->v[row] - norm(o->v + row + 1, 2);
    o->alpha = left <= 0 ? fmax(o->alpha, -left) : o->alpha;
}

static void move_line(solver *s, size_t row, void *user)
{
    const shift *o = user;
    o->v[row] += 1 + o->alpha;
}

static void move_cone(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    move_line(s, row, user);
}

/* Along the unit of the cones until it is inside. */
static void bring_inside(solver *s, double *v)
{
    shift o = {v, -damping};
    every(s, worst_line, worst_cone, &o);
    every(s, move_line, move_cone, &o);
}

static void unit_line(solver *s, size_t row, void *user)
{
    s->k.scale[row] = 1;
}

static void unit_cone(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    s->k.scale[row] = s->k.scale[row + 1] = s->k.scale[row + 2] = 0; /* not used */
    *cone = (dls_kkt_cone){.eta = 1, .a = 1};
}

static bool start_point(solver *s)
{
    const size_t n = s->k.vars, m = s->k.rows;
    every(s, unit_line, unit_cone, NULL);
    dls_kkt_factor(&s->k);
    memset(s->bx, 0, n * sizeof *s->bx);
    if (!dls_kkt_solve(&s->k, s->bx, s->h, s->x, s->s)) {
        return false;
    }
    for (size_t i = 0; i < m; i++) {
        s->s[i] = -s->s[i];
        s->bz[i] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        s->bx[i] = -s->c[i];
    }
    bring_inside(s, s->s);
    if (!dls_kkt_solve(&s->k, s->bx, s->bz, s->dx2, s->z)) {
        return false;
    }
    bring_inside(s, s->z);
    s->tau = s->kappa = 1;
    return true;
}

/* ---- residuals ------------------------------------------------------------------------------- */

static void measure(solver *s)
{
    const size_t n = s->k.vars, m = s->k.rows;
    dls_kkt_transpose(&s->k, s->z, s->rx);
    dls_kkt_apply(&s->k, s->x, s->rz);
    for (size_t i = 0; i < n; i++) {
        s->rx[i] = -s->rx[i] - s->c[i] * s->tau;
    }
    for (size_t i = 0; i < m; i++) {
        s->rz[i] += s->s[i] - s->h[i] * s->tau;
    }
    s->cx = dot(s->c, s->x, n);
    s->hz = dot(s->h, s->z, m);
    s->rt = s->kappa + s->cx + s->hz;
    s->gap = dot(s->s, s->z, m);
    s->mu = (s->gap + s->kappa * s->tau) / (s->degree + 1);
    const double nx = norm(s->x, n), ns = norm(s->s, m), nz = norm(s->z, m);
    const double primal = norm(s->rz, m) / fmax(s->size_h + nx + ns, 1) / s->tau;
    const double dual = norm(s->rx, n) / fmax(s->size_c + nz, 1) / s->tau;
    const double cost = s->cx / s->tau, bound = -s->hz / s->tau;
    s->feasibility = fmax(primal, dual);
    s->relative_gap = cost < 0 ? s->gap / -cost : bound > 0 ? s->gap / bound : (double)INFINITY;
}

static bool is_optimal(const solver *s)
{
    return (-s->cx > 0 || -s->hz >= -exact) && s->feasibility < exact &&
           (s->gap < exact || s->relative_gap < exact);
}

/* ---- scaling --------------------------------------------------------------------------------- */

/* out = W v, or W times the three of a cone. */
static void times_cone(const dls_kkt_cone *c, const double *v, double *out)
{
    const double along = c->q[0] * v[1] + c->q[1] * v[2], lead = v[0];
    const double factor = lead + along / (1 + c->a), v1 = v[1], v2 = v[2];
    out[0] = c->eta * (c->a * lead + along);
    out[1] = c->eta * (v1 + factor * c->q[0]);
    out[2] = c->eta * (v2 + factor * c->q[1]);
}

typedef struct through {
    const double *v;
    double *out;
} through;

static void times_line(solver *s, size_t row, void *user)
{
    const through *t = user;
    t->out[row] = sqrt(s->k.scale[row]) * t->v[row];
}

static void times_cone_row(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    const through *t = user;
    times_cone(cone, t->v + row, t->out + row);
}

static void times_w(solver *s, const double *v, double *out)
{
    through t = {v, out};
    every(s, times_line, times_cone_row, &t);
}

static double hyperbolic(const double *v)
{
    return v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
}

static void scale_line(solver *s, size_t row, void *user)
{
    s->k.scale[row] = s->s[row] / s->z[row];
    s->lambda[row] = sqrt(s->s[row] * s->z[row]);
}

static void scale_cone(solver *s, size_t row, dls_kkt_cone *c, void *user)
{
    const double *a = s->s + row, *b = s->z + row;
    const double na = hyperbolic(a), nb = hyperbolic(b);
    if (!(na > 0) || !(nb > 0)) {
        *(bool *)user = false;
        return;
    }
    const double sa = sqrt(na), sb = sqrt(nb);
    const double gamma = sqrt(0.5 * (1 + (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (sa * sb)));
    c->eta = sqrt(sa / sb);
    c->a = (a[0] / sa + b[0] / sb) / (2 * gamma);
    c->q[0] = (a[1] / sa - b[1] / sb) / (2 * gamma);
    c->q[1] = (a[2] / sa - b[2] / sb) / (2 * gamma);
    times_cone(c, b, s->lambda + row);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* The right-hand side of the corrector's rows, from the predictor's W^-1 ds and W dz: into tmp what
 * lambda is to be multiplied with, into ds_w that divided by lambda. */
static void correct_line(solver *s, size_t row, void *user)
{
    const double l = s->lambda[row], target = *(const double *)user;
    s->tmp[row] = l * l + s->ds_w[row] * s->dz_w[row] - target;
    s->ds_w[row] = s->tmp[row] / l;
}

static void correct_cone(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    const double *l = s->lambda + row, *a = s->ds_w + row, *b = s->dz_w + row;
    double *v = s->tmp + row, *out = s->ds_w + row;
    v[0] = dot(l, l, 3) + dot(a, b, 3) - *(const double *)user;
    v[1] = 2 * l[0] * l[1] + a[0] * b[1] + b[0] * a[1];
    v[2] = 2 * l[0] * l[2] + a[0] * b[2] + b[0] * a[2];
    const double rho = hyperbolic(l), along = l[1] * v[1] + l[2] * v[2];
    const double factor = (along / l[0] - v[0]) / rho;
    out[0] = (l[0] * v[0] - along) / rho;
    out[1] = factor * l[1] + v[1] / l[0];
    out[2] = factor * l[2] + v[2] / l[0];
}

static void limit_line(solver *s, size_t row, void *user)
{
    double *least = user; /* of ds and dz over lambda */
    *least = fmin(*least, fmin(s->ds_w[row], s->dz_w[row]) / s->lambda[row]);
}

static double leaves_cone(const double *l, const double *d)
{
    const double size = sqrt(hyperbolic(l));
    const double bar[3] = {l[0] / size, l[1] / size, l[2] / size};
    const double along = bar[0] * d[0] - bar[1] * d[1] - bar[2] * d[2];
    const double factor = (along + d[0]) / (bar[0] + 1);
    const double rest[2] = {(d[1] - factor * bar[1]) / size, (d[2] - factor * bar[2]) / size};
    return norm(rest, 2) - along / size;
}

static void limit_cone(solver *s, size_t row, dls_kkt_cone *cone, void *user)
{
    double *least = user;
    *least = fmin(*least, -leaves_cone(s->lambda + row, s->ds_w + row));
    *least = fmin(*least, -leaves_cone(s->lambda + row, s->dz_w + row));
}

static double step_length(solver *s, double dtau, double dkappa)
{
    double least = 0;
    every(s, limit_line, limit_cone, &least);
    double alpha = least < 0 ? -1 / least : 1e13;
    alpha = dtau < 0 ? fmin(alpha, -s->tau / dtau) : alpha;
    alpha = dkappa < 0 ? fmin(alpha, -s->kappa / dkappa) : alpha;
    return fmin(fmax(alpha, step_least), step_most);
}

/* dtau of a direction: (x2, z2) for its own right-hand side, (x1, z1) for tau. */
static double tau_of(const solver *s, double right)
{
    const double along =
        s->kappa / s->tau - dot(s->c, s->dx1, s->k.vars) - dot(s->h, s->dz1, s->k.rows);
    return (right + dot(s->c, s->dx2, s->k.vars) + dot(s->h, s->dz2, s->k.rows)) / along;
}

static bool predict(solver *s, double *dtau, double *dkappa)
{
    for (size_t i = 0; i < s->k.vars; i++) {
        s->bx[i] = -s->c[i];
    }
    bool fine = dls_kkt_solve(&s->k, s->bx, s->h, s->dx1, s->dz1);
    for (size_t i = 0; i < s->k.rows; i++) {
        s->bz[i] = s->s[i] - s->rz[i];
    }
    fine = fine && dls_kkt_solve(&s->k, s->rx, s->bz, s->dx2, s->dz2);
    *dtau = tau_of(s, s->rt - s->kappa);
    for (size_t i = 0; i < s->k.rows; i++) {
        s->dz2[i] += *dtau * s->dz1[i];
    }
    times_w(s, s->dz2, s->dz_w);
    for (size_t i = 0; i < s->k.rows; i++) {
        s->ds_w[i] = -s->dz_w[i] - s->lambda[i];
    }
    *dkappa = -s->kappa - s->kappa / s->tau * *dtau;
    return fine;
}

static bool correct(solver *s, double *dtau, double *dkappa)
{
    const double left = 1 - step_length(s, *dtau, *dkappa);
    const double sigma = fmin(fmax(left * left * left, sigma_least), 1);
    double target = sigma * s->mu;
    every(s, correct_line, correct_cone, &target);
    times_w(s, s->ds_w, s->tmp);
    for (size_t i = 0; i < s->k.rows; i++) {
        s->bz[i] = s->tmp[i] - (1 - sigma) * s->rz[i];
    }
    for (size_t i = 0; i < s->k.vars; i++) {
        s->bx[i] = (1 - sigma) * s->rx[i];
    }
    const double both = s->kappa * s->tau + *dkappa * *dtau - target;
    const bool fine = dls_kkt_solve(&s->k, s->bx, s->bz, s->dx2, s->dz2);
    *dtau = tau_of(s, (1 - sigma) * s->rt - both / s->tau);
    for (size_t i = 0; i < s->k.vars; i++) {
        s->dx2[i] += *dtau * s->dx1[i];
    }
    for (size_t i = 0; i < s->k.rows; i++) {
        s->dz2[i] += *dtau * s->dz1[i];
    }
    times_w(s, s->dz2, s->dz_w);
    for (size_t i = 0; i < s->k.rows; i++) {
        s->ds_w[i] = -(s->ds_w[i] + s->dz_w[i]);
    }
    *dkappa = -(both + s->kappa * *dtau) / s->tau;
    return fine;
}

static bool take_step(solver *s)
{
    double dtau, dkappa;
    bool inside = true;
    every(s, scale_line, scale_cone, &inside);
    if (!inside) {
        return false;
    }
    dls_kkt_factor(&s->k);
    if (!predict(s, &dtau, &dkappa) || !correct(s, &dtau, &dkappa)) {
        return false;
    }
    const double alpha = damping * step_length(s, dtau, dkappa);
    times_w(s, s->ds_w, s->tmp);
    for (size_t i = 0; i < s->k.vars; i++) {
        s->x[i] += alpha * s->dx2[i];
    }
    for (size_t i = 0; i < s->k.rows; i++) {
        s->s[i] += alpha * s->tmp[i];
        s->z[i] += alpha * s->dz2[i];
    }
    s->tau += alpha * dtau;
    s->kappa += alpha * dkappa;
    return s->tau > 0 && isfinite(s->tau);
}

/* ---- problems -------------------------------------------------------------------------------- */

void dls_interior_reset(dls_interior *p, int32_t n_types, const double *gpus)
{
    p->n_types = n_types;
    memcpy(p->gpus, gpus, (size_t)n_types * sizeof *gpus);
    p->cost = 0;
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
    DLS_FREE_ALL(p->job, p->scratch);
    memset(p, 0, sizeof *p);
}

/* The shape of a job's block and its place behind the one before, if there is one. */
static dls_kkt_job next_block(const dls_interior *p, size_t j, const dls_kkt_job *before)
{
    const bool cone = p->job[j].row == DLS_RATIO;
    dls_kkt_job b = {.cone = cone, .vars = p->n_types + cone};
    b.local = p->job[j].row == DLS_NO_ROW ? 1 : cone ? 5 : 2;
    if (before) {
        b.var = before->var + (size_t)before->vars;
        b.row = before->row + (size_t)(p->n_types + before->local);
        b.lane = before->vars == b.vars && before->local == b.local
                     ? (before->lane + 1) % DLS_KKT_ABREAST
                     : 0;
    }
    return b;
}

/* Sizes of everything, and one piece of memory for it. */
static dls_status make_room(dls_interior *p, solver *s, dls_error *err)
{
    size_t lu = 0, places = 0;
    dls_kkt_job last = {0};
    *s = (solver){.k = {.n = p->n, .w = p->n_types, .has_t = p->cost > 0}};
    for (size_t j = 0; j < p->n; j++) {
        last = next_block(p, j, j > 0 ? &last : NULL);
        const size_t n = last.lane == 0 ? (size_t)(last.vars + last.local) : 0;
        lu += n * n;
        places += n;
        s->degree += p->n_types + (last.cone ? 3 : last.local);
    }
    s->k.vars = last.var + (size_t)last.vars;
    s->k.rows = p->n > 0 ? last.row + (size_t)(p->n_types + last.local) : 0;
    s->k.vars += s->k.has_t;
    s->k.rows += (size_t)p->n_types;
    s->degree += p->n_types;
    lu *= DLS_KKT_ABREAST;
    places = places * sizeof(dls_kkt_place) / sizeof(double) + 1;
    const size_t jobs = p->n * sizeof(dls_kkt_job) / sizeof(double) + 1;
    const size_t cones = p->n * sizeof(dls_kkt_cone) / sizeof(double) + 1;
    const size_t all = lu + places + jobs + cones + 10 * s->k.vars + 15 * s->k.rows;
    DLS_TRY(dls_grow(&p->scratch, &p->scratch_cap, all, sizeof(double), err));
    double *at = p->scratch;
    s->k.job = (dls_kkt_job *)(void *)at;
    s->k.cone = (dls_kkt_cone *)(void *)(at + jobs);
    at += jobs + cones;
    dls_kkt_place *place = (dls_kkt_place *)(void *)at;
    at += places;
    for (size_t j = 0; j < p->n; j++) {
        dls_kkt_job *b = &s->k.job[j];
        *b = next_block(p, j, j > 0 ? b - 1 : NULL);
        const int32_t n = b->vars + b->local;
        b->lu = b->lane > 0 ? b[-1].lu : (dls_kkt_lanes *)(void *)at;
        b->place = b->lane > 0 ? b[-1].place : place;
        at += b->lane > 0 ? 0 : DLS_KKT_ABREAST * n * n;
        place += b->lane > 0 ? 0 : n;
    }
    double **const of_vars[] = {&s->k.var_unit, &s->c,  &s->x,        &s->dx1,     &s->dx2,
                                &s->rx,         &s->bx, &s->k.left_x, &s->k.more_x};
    double **const of_rows[] = {&s->k.row_unit, &s->k.scale, &s->h,   &s->s,        &s->z,
                                &s->dz1,        &s->dz2,     &s->rz,  &s->bz,       &s->lambda,
                                &s->ds_w,       &s->dz_w,    &s->tmp, &s->k.left_z, &s->k.more_z};
    for (size_t i = 0; i < sizeof of_vars / sizeof *of_vars; i++) {
        *of_vars[i] = at;
        at += (i == 0 ? 2 : 1) * s->k.vars; /* equilibration needs twice as much */
    }
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        *of_rows[i] = at;
        at += s->k.rows;
    }
    return DLS_OK;
}

/* c and h, equilibrated. */
static void fill_program(solver *s, const dls_interior *p)
{
    const int32_t w = p->n_types;
    memset(s->c, 0, s->k.vars * sizeof *s->c);
    memset(s->h, 0, s->k.rows * sizeof *s->h);
    dls_kkt_fill(&s->k, p);
    for (size_t j = 0; j < p->n; j++) {
        const dls_interior_job *job = &p->job[j];
        const dls_kkt_job *b = &s->k.job[j];
        double *local = s->h + b->row + w;
        for (int32_t t = 0; t < w; t++) {
            s->c[b->var + (size_t)t] = -job->value[t];
        }
        local[0] = 1;
        if (job->row == DLS_NEEDS) {
            local[1] = -job->need;
        } else if (job->row == DLS_RATIO) {
            local[1] = -job->offset;
            local[4] = 2;
        }
    }
    for (int32_t t = 0; t < w; t++) {
        s->h[s->k.rows - (size_t)w + (size_t)t] = p->gpus[t];
    }
    if (s->k.has_t) {
        s->c[s->k.vars - 1] = p->cost;
    }
    for (size_t i = 0; i < s->k.vars; i++) {
        s->c[i] /= s->k.var_unit[i];
    }
    for (size_t i = 0; i < s->k.rows; i++) {
        s->h[i] /= s->k.row_unit[i];
    }
    s->size_c = fmax(1, norm(s->c, s->k.vars));
    s->size_h = fmax(1, norm(s->h, s->k.rows));
}

static void keep_answer(const solver *s, dls_interior *p)
{
    for (size_t j = 0; j < p->n; j++) {
        const dls_kkt_job *b = &s->k.job[j];
        const size_t need = b->row + (size_t)s->k.w + 1;
        for (int32_t t = 0; t < s->k.w; t++) {
            const size_t v = b->var + (size_t)t;
            p->job[j].x[t] = fmin(fmax(s->x[v] / s->tau / s->k.var_unit[v], 0), 1);
        }
        p->job[j].dual = b->local > 1 ? s->z[need] / s->tau / s->k.row_unit[need] : 0;
    }
    p->t = s->k.has_t ? s->x[s->k.vars - 1] / s->tau / s->k.var_unit[s->k.vars - 1] : 0;
}

/* The nearest point is kept: steps beyond what the arithmetic can tell apart lead away again. */
dls_status dls_interior_solve(dls_interior *p, dls_interior_outcome *outcome, dls_error *err)
{
    solver s;
    double best = (double)INFINITY;
    DLS_TRY(make_room(p, &s, err));
    fill_program(&s, p);
    *outcome = DLS_INTERIOR_INFEASIBLE;
    bool going = start_point(&s);
    for (p->steps = 0; going && p->steps <= MAX_STEPS; p->steps++) {
        measure(&s);
        const double far = fmax(s.feasibility, fmin(s.gap, s.relative_gap));
        if (is_optimal(&s)) {
            best = 0;
            keep_answer(&s, p);
            break;
        }
        if (far < best && (-s.cx > 0 || -s.hz >= -enough)) {
            best = far;
            keep_answer(&s, p);
        }
        going = (best > enough || far < 1e3 * best) && take_step(&s);
    }
    *outcome = best <= enough ? DLS_INTERIOR_OPTIMAL : DLS_INTERIOR_INFEASIBLE;
    return DLS_OK;
}
