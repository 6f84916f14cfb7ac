/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Least attained service with packing, in Gavel's replay: pairs that share GPUs are candidates,
 * too, so that a program has thousands of columns which jobs have in common. It is solved by GLPK's
 * simplex. Of several optimal shares upstream's solver would take others; the optimum is the same.
 */
#include "gavel/core.h"

#include "base/own.h"

#include <glpk.h>
#include <setjmp.h>

/* Of the program under construction: rows are the types, the jobs' time, the jobs' speeds. */
typedef struct program {
    glp_prob *lp;
    int *row, *col;
    double *value; /* all from 1 on */
    int32_t n, columns;
} program;

static void put_coefficient(program *p, int32_t row, int32_t col, double value)
{
    p->n++;
    p->row[p->n] = row;
    p->col[p->n] = col;
    p->value[p->n] = value;
}

/* Speed of a job in a combination, over what the whole cluster would give in proportion. */
static double normalised_speed(const dls_gv *g, const dls_gv_combo *c, int32_t member, int32_t type)
{
    const int32_t job = member == 0 ? c->a : c->b;
    const dls_gv_job *j = &g->job[job];
    double in_proportion = 0, gpus = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        in_proportion += dls_gv_alone(g, job, g->type[k]) * g->gpus[g->type[k]];
        gpus += g->gpus[g->type[k]];
    }
    const double speed =
        c->b < 0 ? dls_gv_alone(g, job, type) : dls_gv_pair(g, c->a, c->b, type)[member];
    return speed * j->gpus / (j->weight * (in_proportion / gpus));
}

/* Rows of the jobs by their place among the active ones. */
static void fill_program(const dls_gv *g, program *p, const int32_t *place)
{
    const int32_t types = g->n_types, m = g->n_active;
    glp_set_obj_dir(p->lp, GLP_MAX);
    glp_add_rows(p->lp, types + 2 * m);
    glp_add_cols(p->lp, p->columns);
    glp_set_col_bnds(p->lp, 1, GLP_LO, 0, 0); /* t */
    glp_set_obj_coef(p->lp, 1, 1);
    for (int32_t k = 0; k < types; k++) {
        glp_set_row_bnds(p->lp, 1 + k, GLP_UP, 0, g->gpus[g->type[k]]);
    }
    for (int32_t i = 0; i < m; i++) {
        glp_set_row_bnds(p->lp, 1 + types + i, GLP_UP, 0, 1);
        glp_set_row_bnds(p->lp, 1 + types + m + i, GLP_LO, 0, 0);
        put_coefficient(p, 1 + types + m + i, 1, -1);
    }
    int32_t col = 2;
    for (size_t i = 0; i < g->n_combos; i++) {
        const dls_gv_combo *c = &g->combo[i];
        for (int32_t k = 0; k < types; k++, col++) {
            const bool runs = dls_gv_least(g, c, g->type[k]) > 0;
            glp_set_col_bnds(p->lp, col, runs ? GLP_LO : GLP_FX, 0, 0);
            put_coefficient(p, 1 + k, col, g->job[c->a].gpus);
            for (int32_t of = 0; of < (c->b < 0 ? 1 : 2); of++) {
                const int32_t at = place[of == 0 ? c->a : c->b];
                put_coefficient(p, 1 + types + at, col, 1);
                if (runs) {
                    put_coefficient(p, 1 + types + m + at, col,
                                    normalised_speed(g, c, of, g->type[k]));
                }
            }
        }
    }
    glp_load_matrix(p->lp, p->n, p->row, p->col, p->value);
}

/* GLPK ends the program where it cannot go on, memory included, unless one jumps away. */
static void jump(void *to)
{
    longjmp(*(jmp_buf *)to, 1);
}

static bool solve(const dls_gv *g, program *p, const int32_t *place)
{
    jmp_buf failed;
    glp_smcp how;
    if (setjmp(failed) != 0) {
        glp_error_hook(NULL, NULL);
        return false;
    }
    glp_error_hook(jump, &failed);
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.it_lim = 100000;
    fill_program(g, p, place);
    const int end = glp_simplex(p->lp, &how);
    glp_error_hook(NULL, NULL);
    return end == 0 && glp_get_status(p->lp) == GLP_OPT;
}

static void take_shares(dls_gv *g, const program *p)
{
    int32_t col = 2;
    for (size_t i = 0; i < g->n_combos; i++) {
        for (int32_t k = 0; k < g->n_types; k++, col++) {
            const double x = glp_get_col_prim(p->lp, col);
            g->combo[i].share[g->type[k]] = x < 0 ? 0 : x > 1 ? 1 : x;
        }
    }
}

dls_status dls_gv_max_min_packed(dls_gv *g, dls_error *err)
{
    const size_t cells = 1 + (size_t)g->n_active + g->n_combos * (size_t)g->n_types * 5;
    int32_t *place = g->list;
    DLS_FREED int32_t *row = dls_alloc(cells * 2 * sizeof *row);
    DLS_FREED double *value = dls_alloc(cells * sizeof *value);
    if (!row || !value || cells > INT32_MAX) {
        return dls_nomem(err, "pairs", cells * 16);
    }
    program p = {.columns = (int32_t)(1 + g->n_combos * (size_t)g->n_types),
                 .row = row,
                 .col = row + cells,
                 .value = value,
                 .lp = glp_create_prob()};
    for (int32_t i = 0; i < g->n_active; i++) {
        place[g->active[i]] = i;
    }
    const bool solved = solve(g, &p, place);
    if (solved) {
        take_shares(g, &p);
    }
    glp_delete_prob(p.lp);
    g->unsolved += !solved;
    return solved ? DLS_OK : dls_gv_isolated(g, err);
}
