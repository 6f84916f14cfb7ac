/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks of the interior-point method (sched/interior_kkt.h).
 */
#include "sched/interior_kkt.h"

#include <math.h>
#include <string.h>

enum { EQUILIBRATIONS = 3, REFINEMENTS = 9 };
static const double rounding = 1e-14; /* relative */

/* As fmax, which the compiler does not inline; a is a number. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static void fill_job(dls_kkt_job *k, const dls_interior_job *j, int32_t w)
{
    for (int32_t t = 0; t < w; t++) {
        k->of[t].bound = -1;
        k->of[t].fit = 1;
        k->of[t].type = j->gpus;
        k->of[t].need = j->row == DLS_NEEDS ? -j->gain[t] : 0;
        k->of[t].cone[0] = k->of[t].cone[1] = -j->gain[t];
    }
    k->of[w].need = j->weight;
    k->need_t = j->row == DLS_NEEDS ? -j->level : -1;
    k->of[w].cone[0] = -1;
    k->of[w].cone[1] = 1;
}

/* The largest entry of every row and column. */
static void measure(const dls_kkt *k, double *vars, double *rows)
{
    const size_t types = k->rows - (size_t)k->w;
    memset(vars, 0, k->vars * sizeof *vars);
    memset(rows, 0, k->rows * sizeof *rows);
#define SEE(v, r, value)                                                                           \
    do {                                                                                           \
        vars[v] = larger(vars[v], fabs(value));                                                    \
        rows[r] = larger(rows[r], fabs(value));                                                    \
    } while (0)
    for (size_t j = 0; j < k->n; j++) {
        const dls_kkt_job *b = &k->job[j];
        const size_t local = b->row + (size_t)k->w;
        for (int32_t t = 0; t < k->w; t++) {
            const size_t v = b->var + (size_t)t;
            SEE(v, b->row + (size_t)t, b->of[t].bound);
            SEE(v, local, b->of[t].fit);
            SEE(v, types + (size_t)t, b->of[t].type);
        }
        for (int32_t t = 0; t < b->vars && b->local > 1; t++) {
            const size_t v = b->var + (size_t)t;
            SEE(v, local + 1, b->of[t].need);
            for (size_t i = 0; i < 2 && b->cone; i++) {
                SEE(v, local + 2 + i, b->of[t].cone[i]);
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
                b->of[t].bound /= own[t] * v;
                b->of[t].fit /= local[0] * v;
                b->of[t].type /= types[t] * v;
            }
            b->of[t].need /= b->local > 1 ? local[1] * v : 1;
            b->of[t].cone[0] /= b->cone ? local[2] * v : 1;
            b->of[t].cone[1] /= b->cone ? local[2] * v : 1;
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
            own[t] = b->of[t].bound * x[t];
            local[0] += b->of[t].fit * x[t];
            types[t] += b->of[t].type * x[t];
        }
        for (int32_t t = 0; t < b->vars && b->local > 1; t++) {
            local[1] += b->of[t].need * x[t];
            if (b->cone) {
                local[2] += b->of[t].cone[0] * x[t];
                local[3] += b->of[t].cone[1] * x[t];
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
            x[t] = t < k->w ? b->of[t].bound * own[t] + b->of[t].fit * local[0] +
                                  b->of[t].type * types[t]
                            : 0;
            x[t] += b->local > 1 ? b->of[t].need * local[1] : 0;
            x[t] += b->cone ? b->of[t].cone[0] * local[2] + b->of[t].cone[1] * local[3] : 0;
        }
        if (k->has_t && b->local > 1) {
            out[k->vars - 1] += b->need_t * local[1];
        }
    }
}

/* ---- small dense equations, as many as there are lanes ---------------------------------------- */

typedef dls_kkt_lanes lanes;

/* LU with row pivoting, in place; place: where each row went. */
static void decompose(lanes *a, int32_t n, dls_kkt_place *place)
{
    int32_t row[DLS_KKT_BLOCK];
    for (int32_t l = 0; l < DLS_KKT_ABREAST; l++) {
        for (int32_t r = 0; r < n; r++) {
            row[r] = r;
        }
        for (int32_t c = 0; c < n; c++) {
            int32_t best = c;
            for (int32_t r = c + 1; r < n; r++) {
                best = fabs(a[r * n + c].of[l]) > fabs(a[best * n + c].of[l]) ? r : best;
            }
            for (int32_t k = 0; best != c && k < n; k++) {
                const double swap = a[c * n + k].of[l];
                a[c * n + k].of[l] = a[best * n + k].of[l];
                a[best * n + k].of[l] = swap;
            }
            const int32_t swap = row[c];
            row[c] = row[best];
            row[best] = swap;
            for (int32_t r = c + 1; r < n; r++) {
                const double f = a[r * n + c].of[l] /= a[c * n + c].of[l];
                for (int32_t k = c + 1; f != 0 && k < n; k++) {
                    a[r * n + k].of[l] -= f * a[c * n + k].of[l];
                }
            }
        }
        for (int32_t r = 0; r < n; r++) {
            place[row[r]].of[l] = (int8_t)r;
        }
    }
}

/* The rows of x lie where decompose placed them. */
static void substitute(const lanes *a, int32_t n, lanes *x)
{
    for (int32_t r = 0; r < n; r++) {
        dls_kkt_two low = x[r].two[0], high = x[r].two[1];
        for (int32_t k = 0; k < r; k++) {
            low -= a[r * n + k].two[0] * x[k].two[0];
            high -= a[r * n + k].two[1] * x[k].two[1];
        }
        x[r].two[0] = low;
        x[r].two[1] = high;
    }
    for (int32_t r = n; r-- > 0;) {
        dls_kkt_two low = x[r].two[0], high = x[r].two[1];
        for (int32_t k = r + 1; k < n; k++) {
            low -= a[r * n + k].two[0] * x[k].two[0];
            high -= a[r * n + k].two[1] * x[k].two[1];
        }
        x[r].two[0] = low / a[r * n + r].two[0];
        x[r].two[1] = high / a[r * n + r].two[1];
    }
}

/* Jobs that are solved side by side with this first of them. */
static int32_t abreast(const dls_kkt *k, size_t j)
{
    int32_t n = 1;
    while (j + (size_t)n < k->n && k->job[j + (size_t)n].lane == n) {
        n++;
    }
    return n;
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

/* [D L'; L -W^2] of one job into its lane. */
static void fill_block(const dls_kkt *k, size_t j)
{
    const dls_kkt_job *b = &k->job[j];
    const int32_t v = b->vars, n = v + b->local;
    const double *scale = k->scale + b->row;
    lanes *a = b->lu;
    for (int32_t t = 0; t < v; t++) {
        const double row[4] = {t < k->w ? b->of[t].fit : 0, b->of[t].need, b->of[t].cone[0],
                               b->of[t].cone[1]};
        a[t * n + t].of[b->lane] = t < k->w ? b->of[t].bound * b->of[t].bound / scale[t] : 0;
        for (int32_t i = 0; i < b->local && i < 4; i++) {
            a[t * n + v + i].of[b->lane] = a[(v + i) * n + t].of[b->lane] = row[i];
        }
    }
    for (int32_t i = 0; i < b->local && i < 2; i++) {
        a[(v + i) * n + v + i].of[b->lane] = -scale[k->w + i];
    }
    if (b->cone) {
        double square[3][3];
        square_of(&k->cone[j], square);
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t i = 0; i < 3; i++) {
                a[(v + 2 + r) * n + v + 2 + i].of[b->lane] = -square[r][i];
            }
        }
    }
}

void dls_kkt_factor(dls_kkt *k)
{
    const int32_t w = k->w, m = w + (k->has_t ? 1 : 0);
    memset(k->common, 0, sizeof k->common);
    for (size_t j = 0, some; j < k->n; j += some) {
        const dls_kkt_job *b = &k->job[j];
        const int32_t n = b->vars + b->local, need = b->vars + 1;
        some = (size_t)abreast(k, j);
        memset(b->lu, 0, (size_t)(n * n) * sizeof *b->lu);
        for (int32_t i = 0; i < n; i++) {
            for (size_t l = some; l < DLS_KKT_ABREAST; l++) {
                b->lu[i * n + i].of[l] = 1;
            }
        }
        for (size_t l = 0; l < some; l++) {
            fill_block(k, j + l);
        }
        decompose(b->lu, n, b->place);
        for (int32_t c = 0; c < m; c++) { /* what moves with a type's dual, or with t */
            lanes y[DLS_KKT_BLOCK] = {0};
            if (c == w && b->local < 2) {
                break;
            }
            for (size_t l = 0; l < some; l++) {
                y[b->place[c == w ? need : c].of[l]].of[l] =
                    c == w ? -b[l].need_t : -b[l].of[c].type;
            }
            substitute(b->lu, n, y);
            for (size_t l = 0; l < some; l++) {
                for (int32_t t = 0; t < w; t++) {
                    k->common[t][c] += b[l].of[t].type * y[t].of[l];
                }
                if (k->has_t && b->local > 1) {
                    k->common[w][c] += b[l].need_t * y[need].of[l];
                }
            }
        }
    }
    for (int32_t t = 0; t < w; t++) {
        k->common[t][t] -= k->scale[k->rows - (size_t)w + (size_t)t];
    }
}

/* The steps of the variables of jobs side by side and the duals of their local rows for steps of what is
 * common. */
static void solve_jobs(const dls_kkt *k, size_t j, int32_t some, const double *bx, const double *bz,
                       const double *common, lanes *y)
{
    const dls_kkt_job *first = &k->job[j];
    const int32_t n = first->vars + first->local;
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t l = 0; l < some; l++) {
        const dls_kkt_job *b = &first[l];
        for (int32_t t = 0; t < b->vars; t++) {
            double x = bx[b->var + (size_t)t];
            if (t < k->w) {
                const size_t row = b->row + (size_t)t;
                x += b->of[t].bound * bz[row] / k->scale[row];
                x -= common ? b->of[t].type * common[t] : 0;
            }
            y[b->place[t].of[l]].of[l] = x;
        }
        for (int32_t i = 0; i < b->local; i++) {
            double z = bz[b->row + (size_t)(k->w + i)];
            z -= i == 1 && common && k->has_t ? b->need_t * common[k->w] : 0;
            y[b->place[b->vars + i].of[l]].of[l] = z;
        }
    }
    substitute(first->lu, n, y);
}

static bool solve_once(const dls_kkt *k, const double *bx, const double *bz, double *dx, double *dz)
{
    const int32_t w = k->w, m = w + (k->has_t ? 1 : 0);
    const size_t types = k->rows - (size_t)w;
    lanes a[(DLS_KKT_TYPES + 1) * (DLS_KKT_TYPES + 1)], both[DLS_KKT_TYPES + 1], y[DLS_KKT_BLOCK];
    double step[DLS_KKT_TYPES + 1];
    dls_kkt_place place[DLS_KKT_TYPES + 1];
    for (int32_t t = 0; t < m; t++) {
        step[t] = t < w ? bz[types + (size_t)t] : bx[k->vars - 1];
        for (int32_t i = 0; i < m * DLS_KKT_ABREAST; i++) {
            a[t * m + i / DLS_KKT_ABREAST].of[i % DLS_KKT_ABREAST] =
                k->common[t][i / DLS_KKT_ABREAST];
        }
    }
    for (size_t j = 0, some; j < k->n; j += some) {
        const dls_kkt_job *b = &k->job[j];
        some = (size_t)abreast(k, j);
        solve_jobs(k, j, (int32_t)some, bx, bz, NULL, y);
        for (size_t l = 0; l < some; l++) {
            for (int32_t t = 0; t < w; t++) {
                step[t] -= b[l].of[t].type * y[t].of[l];
            }
            step[w] -= k->has_t && b->local > 1 ? b[l].need_t * y[b->vars + 1].of[l] : 0;
        }
    }
    decompose(a, m, place);
    memset(both, 0, sizeof both);
    for (int32_t t = 0; t < m; t++) {
        both[place[t].of[0]].of[0] = step[t];
    }
    substitute(a, m, both);
    for (int32_t t = 0; t < m; t++) {
        step[t] = both[t].of[0];
    }
    for (size_t j = 0, some; j < k->n; j += some) {
        some = (size_t)abreast(k, j);
        solve_jobs(k, j, (int32_t)some, bx, bz, step, y);
        for (size_t l = 0; l < some; l++) {
            const dls_kkt_job *b = &k->job[j + l];
            for (int32_t t = 0; t < b->vars; t++) {
                dx[b->var + (size_t)t] = y[t].of[l];
            }
            for (int32_t i = 0; i < b->local; i++) {
                dz[b->row + (size_t)(w + i)] = y[b->vars + i].of[l];
            }
            for (int32_t t = 0; t < w; t++) {
                const size_t row = b->row + (size_t)t;
                dz[row] = (b->of[t].bound * y[t].of[l] - bz[row]) / k->scale[row];
            }
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
        worst = larger(worst, fabs(k->left_x[i]));
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
        worst = larger(worst, fabs(k->left_z[i]));
    }
    return worst;
}

static double largest(const double *a, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = larger(most, fabs(a[i]));
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
