/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks of the interior-point method (sched/interior_kkt.h).
 */
#include "sched/interior_kkt.h"

#include <math.h>
#include <string.h>

enum { EQUILIBRATIONS = 3, REFINEMENTS = 9 };
static const double rounding = 1e-14; /* relative */

/* ---- the matrix ------------------------------------------------------------------------------ */

static void fill_job(dls_kkt_job *k, const dls_interior_job *j, int32_t w)
{
    for (int32_t t = 0; t < w; t++) {
        k->bound[t] = -1;
        k->fit[t] = 1;
        k->type[t] = j->gpus;
        k->need[t] = j->row == DLS_NEEDS ? -j->gain[t] : 0;
        k->cone_row[0][t] = k->cone_row[1][t] = -j->gain[t];
    }
    k->need[w] = j->weight;
    k->need_t = j->row == DLS_NEEDS ? -j->level : -1;
    k->cone_row[0][w] = -1;
    k->cone_row[1][w] = 1;
}

/* The largest entry of every row and column. */
static void measure(const dls_kkt *k, double *vars, double *rows)
{
    const size_t types = k->rows - (size_t)k->w;
    memset(vars, 0, k->vars * sizeof *vars);
    memset(rows, 0, k->rows * sizeof *rows);
#define SEE(v, r, value)                                                                           \
    do {                                                                                           \
        vars[v] = fmax(vars[v], fabs(value));                                                      \
        rows[r] = fmax(rows[r], fabs(value));                                                      \
    } while (0)
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        const size_t local = b->row + (size_t)k->w;
        for (int32_t t = 0; t < k->w; t++) {
            const size_t v = b->var + (size_t)t;
            SEE(v, b->row + (size_t)t, b->bound[t]);
            SEE(v, local, b->fit[t]);
            SEE(v, types + (size_t)t, b->type[t]);
        }
        for (int32_t t = 0; t < b->vars && b->local > 1; t++) {
            const size_t v = b->var + (size_t)t;
            SEE(v, local + 1, b->need[t]);
            for (size_t i = 0; i < 2 && b->cone; i++) {
                SEE(v, local + 2 + i, b->cone_row[i][t]);
            }
        }
        if (k->has_t && b->local > 1) {
            SEE(k->vars - 1, local + 1, b->need_t);
        }
    }
#undef SEE
}

/* Divide rows and columns; the rows of a cone by the same. */
static void divide(dls_kkt *k, const double *vars, const double *rows)
{
    const double *types = rows + k->rows - k->w;
    for (size_t j = 0; j < k->n; j++) {
        dls_kkt_job *b = &k->job[j];
        const double *own = rows + b->row, *local = own + k->w;
        for (int32_t t = 0; t < b->vars; t++) {
            const double v = vars[b->var + (size_t)t];
            if (t < k->w) {
                b->bound[t] /= own[t] * v;
                b->fit[t] /= local[0] * v;
                b->type[t] /= types[t] * v;
            }
            b->need[t] /= b->local > 1 ? local[1] * v : 1;
            b->cone_row[0][t] /= b->cone ? local[2] * v : 1;
            b->cone_row[1][t] /= b->cone ? local[2] * v : 1;
        }
        b->need_t /= k->has_t && b->local > 1 ? local[1] * vars[k->vars - 1] : 1;
    }
}

static double unit_of(double largest)
{
    return largest < 1e-6 ? 1 : sqrt(largest);
}

/* Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices", 2001. */
static void equilibrate(dls_kkt *k, double *vars, double *rows)
{
    for (size_t i = 0; i < k->vars; i++) {
        k->var_unit[i] = 1;
    }
    for (size_t i = 0; i < k->rows; i++) {
        k->row_unit[i] = 1;
    }
    for (int32_t round = 0; round < EQUILIBRATIONS; round++) {
        measure(k, vars, rows);
        for (size_t j = 0; j < k->n; j++) {
            double *cone = rows + k->job[j].row + k->w + 2;
            if (k->job[j].cone) {
                cone[0] = cone[1] = cone[2] = cone[0] + cone[1] + cone[2];
            }
        }
        for (size_t i = 0; i < k->vars; i++) {
            vars[i] = unit_of(vars[i]);
            k->var_unit[i] *= vars[i];
        }
        for (size_t i = 0; i < k->rows; i++) {
            rows[i] = unit_of(rows[i]);
            k->row_unit[i] *= rows[i];
        }
        divide(k, vars, rows);
    }
}

void dls_kkt_fill(dls_kkt *k, const dls_interior *p)
{
    for (size_t j = 0; j < k->n; j++) {
        fill_job(&k->job[j], &p->job[j], k->w);
    }
    /* The scaling is not needed yet: its memory serves for the sizes of rows. */
    equilibrate(k, k->var_unit + k->vars, k->scale);
}

void dls_kkt_apply(const dls_kkt *k, const double *v, double *out)
{
    double *types = out + k->rows - k->w;
    memset(types, 0, (size_t)k->w * sizeof *types);
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        const double *x = v + b->var;
        double *own = out + b->row, *local = own + k->w;
        for (int32_t i = 0; i < b->local; i++) {
            local[i] = 0;
        }
        for (int32_t t = 0; t < k->w; t++) {
            own[t] = b->bound[t] * x[t];
            local[0] += b->fit[t] * x[t];
            types[t] += b->type[t] * x[t];
        }
        for (int32_t t = 0; t < b->vars && b->local > 1; t++) {
            local[1] += b->need[t] * x[t];
            if (b->cone) {
                local[2] += b->cone_row[0][t] * x[t];
                local[3] += b->cone_row[1][t] * x[t];
            }
        }
        if (k->has_t && b->local > 1) {
            local[1] += b->need_t * v[k->vars - 1];
        }
    }
}

void dls_kkt_transpose(const dls_kkt *k, const double *z, double *out)
{
    const double *types = z + k->rows - k->w;
    if (k->has_t) {
        out[k->vars - 1] = 0;
    }
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        const double *own = z + b->row, *local = own + k->w;
        double *x = out + b->var;
        for (int32_t t = 0; t < b->vars; t++) {
            x[t] =
                t < k->w ? b->bound[t] * own[t] + b->fit[t] * local[0] + b->type[t] * types[t] : 0;
            x[t] += b->local > 1 ? b->need[t] * local[1] : 0;
            x[t] += b->cone ? b->cone_row[0][t] * local[2] + b->cone_row[1][t] * local[3] : 0;
        }
        if (k->has_t && b->local > 1) {
            out[k->vars - 1] += b->need_t * local[1];
        }
    }
}

/* ---- small dense equations ------------------------------------------------------------------- */

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

/* W^2 = eta^2 (2 u u' - J) with u = (a, q), J = diag(1, -1, -1). */
static void square_of(const dls_kkt_cone *c, double out[3][3])
{
    const double u[3] = {c->a, c->q[0], c->q[1]};
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 3; i++) {
            const double sign = r == i ? r == 0 ? -1.0 : 1.0 : 0.0;
            out[r][i] = c->eta * c->eta * (2 * u[r] * u[i] + sign);
        }
    }
}

/* [D L'; L -W^2] of one job. */
static void factor_job(const dls_kkt *k, size_t j)
{
    const dls_kkt_job *b = &k->job[j];
    const int32_t v = b->vars, n = v + b->local;
    const double *scale = k->scale + b->row;
    double *a = b->lu;
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int32_t t = 0; t < v; t++) {
        const double row[4] = {t < k->w ? b->fit[t] : 0, b->need[t], b->cone_row[0][t],
                               b->cone_row[1][t]};
        a[t * n + t] = t < k->w ? b->bound[t] * b->bound[t] / scale[t] : 0;
        for (int32_t i = 0; i < b->local && i < 4; i++) {
            a[t * n + v + i] = a[(v + i) * n + t] = row[i];
        }
    }
    for (int32_t i = 0; i < b->local && i < 2; i++) {
        a[(v + i) * n + v + i] = -scale[k->w + i];
    }
    if (b->cone) {
        double square[3][3];
        square_of(&k->cone[j], square);
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t i = 0; i < 3; i++) {
                a[(v + 2 + r) * n + v + 2 + i] = -square[r][i];
            }
        }
    }
    decompose(a, n, k->job[j].pivot);
}

void dls_kkt_factor(dls_kkt *k)
{
    const int32_t w = k->w, m = w + (k->has_t ? 1 : 0);
    memset(k->common, 0, sizeof k->common);
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        const int32_t n = b->vars + b->local, need = b->vars + 1;
        factor_job(k, j);
        for (int32_t c = 0; c < m; c++) { /* what moves with a type's dual, or with t */
            double y[DLS_KKT_BLOCK] = {0};
            if (c == w && b->local < 2) {
                break;
            }
            y[c == w ? need : c] = c == w ? -b->need_t : -b->type[c];
            substitute(b->lu, n, b->pivot, y);
            for (int32_t t = 0; t < w; t++) {
                k->common[t][c] += b->type[t] * y[t];
            }
            if (k->has_t && b->local > 1) {
                k->common[w][c] += b->need_t * y[need];
            }
        }
    }
    for (int32_t t = 0; t < w; t++) {
        k->common[t][t] -= k->scale[k->rows - (size_t)w + (size_t)t];
    }
}

/* The step of a job's variables and the duals of its local rows for steps of what is common. */
static void solve_job(const dls_kkt *k, size_t j, const double *bx, const double *bz,
                      const double *common, double *y)
{
    const dls_kkt_job *b = &k->job[j];
    for (int32_t t = 0; t < b->vars; t++) {
        y[t] = bx[b->var + (size_t)t];
        if (t < k->w) {
            const size_t row = b->row + (size_t)t;
            y[t] += b->bound[t] * bz[row] / k->scale[row];
            y[t] -= common ? b->type[t] * common[t] : 0;
        }
    }
    for (int32_t i = 0; i < b->local; i++) {
        y[b->vars + i] = bz[b->row + (size_t)(k->w + i)];
    }
    if (common && k->has_t && b->local > 1) {
        y[b->vars + 1] -= b->need_t * common[k->w];
    }
    substitute(b->lu, b->vars + b->local, b->pivot, y);
}

static bool solve_once(const dls_kkt *k, const double *bx, const double *bz, double *dx, double *dz)
{
    const int32_t w = k->w, m = w + (k->has_t ? 1 : 0);
    const size_t types = k->rows - (size_t)w;
    double a[(DLS_KKT_TYPES + 1) * (DLS_KKT_TYPES + 1)], step[DLS_KKT_TYPES + 1], y[DLS_KKT_BLOCK];
    int8_t pivot[DLS_KKT_TYPES + 1];
    for (int32_t t = 0; t < m; t++) {
        step[t] = t < w ? bz[types + (size_t)t] : bx[k->vars - 1];
        memcpy(a + t * m, k->common[t], (size_t)m * sizeof *a);
    }
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        solve_job(k, j, bx, bz, NULL, y);
        for (int32_t t = 0; t < w; t++) {
            step[t] -= b->type[t] * y[t];
        }
        step[w] -= k->has_t && b->local > 1 ? b->need_t * y[b->vars + 1] : 0;
    }
    decompose(a, m, pivot);
    substitute(a, m, pivot, step);
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        solve_job(k, j, bx, bz, step, y);
        memcpy(dx + b->var, y, (size_t)b->vars * sizeof *y);
        memcpy(dz + b->row + w, y + b->vars, (size_t)b->local * sizeof *y);
        for (int32_t t = 0; t < w; t++) {
            const size_t row = b->row + (size_t)t;
            dz[row] = (b->bound[t] * y[t] - bz[row]) / k->scale[row];
        }
    }
    for (int32_t t = 0; t < w; t++) {
        dz[types + (size_t)t] = step[t];
    }
    if (k->has_t) {
        dx[k->vars - 1] = step[w];
    }
    bool finite = true;
    for (int32_t t = 0; t < m; t++) {
        finite &= isfinite(step[t]) != 0;
    }
    return finite;
}

/* left = b - [0 G'; G -W^2] d; its largest entry. */
static double remaining(const dls_kkt *k, const double *bx, const double *bz, const double *dx,
                        const double *dz)
{
    double worst = 0;
    dls_kkt_transpose(k, dz, k->left_x);
    dls_kkt_apply(k, dx, k->left_z);
    for (size_t i = 0; i < k->vars; i++) {
        k->left_x[i] = bx[i] - k->left_x[i];
        worst = fmax(worst, fabs(k->left_x[i]));
    }
    for (size_t j = 0; j < k->n; j++) {
        const size_t row = k->job[j].row + (size_t)k->w + 2;
        double square[3][3];
        if (!k->job[j].cone) {
            continue;
        }
        square_of(&k->cone[j], square);
        for (size_t r = 0; r < 3; r++) {
            k->left_z[row + r] -=
                square[r][0] * dz[row] + square[r][1] * dz[row + 1] + square[r][2] * dz[row + 2];
        }
    }
    for (size_t i = 0; i < k->rows; i++) { /* the scale of the rows of cones is 0 */
        k->left_z[i] = bz[i] - k->left_z[i] + k->scale[i] * dz[i];
        worst = fmax(worst, fabs(k->left_z[i]));
    }
    return worst;
}

static double largest(const double *a, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

bool dls_kkt_solve(const dls_kkt *k, const double *bx, const double *bz, double *dx, double *dz)
{
    const double size = 1 + fmax(largest(bx, k->vars), largest(bz, k->rows));
    if (!solve_once(k, bx, bz, dx, dz)) {
        return false;
    }
    double left = remaining(k, bx, bz, dx, dz);
    for (int32_t i = 0; i < REFINEMENTS && left > rounding * size; i++) {
        const double before = left;
        if (!solve_once(k, k->left_x, k->left_z, k->more_x, k->more_z)) {
            break;
        }
        for (size_t v = 0; v < k->vars; v++) {
            dx[v] += k->more_x[v];
        }
        for (size_t r = 0; r < k->rows; r++) {
            dz[r] += k->more_z[r];
        }
        left = remaining(k, bx, bz, dx, dz);
        if (!(left < before)) { /* back to the better one */
            for (size_t v = 0; v < k->vars; v++) {
                dx[v] -= k->more_x[v];
            }
            for (size_t r = 0; r < k->rows; r++) {
                dz[r] -= k->more_z[r];
            }
            break;
        }
        if (left > before / 2) {
            break;
        }
    }
    return true;
}
